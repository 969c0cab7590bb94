#!/usr/bin/env python3
"""Everyday arrays beside NumPy: pictures, flips, rotations, broadcasts, strided views on both sides, batches, scaling.

    bench/everyday.py [--libraries build/lib] [--threads N] [--only 'TEXT|TEXT'] [--json FILE]
    bench/everyday.py --small ...        # 304 arrays of 1 KB to 1 MB instead
    bench/everyday.py --random N [--seed S] [--most BYTES] ...       # N that are drawn at random, of 1 KB and more
    bench/everyday.py --lib NEW.so --lib OLD.so ...

Each case is an array and a view of it, to be written to an output: by a plan of the package, by np.copyto (with alpha and beta
by what NumPy has for them), and, for its speed, a memmove of as many bytes as the output has. They take turns; medians are
compared, and results are compared with NumPy's. With --lib plans of this library are executed by ctypes, which takes 0.25 us
a call; a second one, an older build say, takes its turns with the others. NumPy has one thread, whatever --threads says.
"""
import argparse
import ctypes
import json
import math
import mmap
import os
import pathlib
import random
import statistics
import sys
import time

from cutt_types import Options, Problem

try:
    import numpy as np
except ImportError:
    sys.exit("everyday.py: NumPy is needed (Debian: python3-numpy, and /usr/bin/python3 to run this)")

ROOT = pathlib.Path(__file__).resolve().parent.parent
CPU = 1  # CUTT_BACKEND_CPU
TYPES = {"u1": 1, "u2": 2, "f2": 32, "f4": 34, "f8": 35, "c8": 36, "c16": 37}  # cuttType_t
HUGE_PAGE = 2 << 20
ROUNDS, SAMPLE_SECONDS = 8, 0.002


class Case:
    """An array of a shape and type, the view of it that is the input, and what is computed on the way.
    spread: the output is every so many-th element of each of its rows."""

    def __init__(self, name, shape, dtype, view, spread=1, alpha=None, beta=None, conjugate=False):
        self.name, self.shape, self.dtype, self.view = f"{name} {dtype}", shape, dtype, view
        self.spread, self.alpha, self.beta, self.conjugate = spread, alpha, beta, conjugate


def views(dtype):
    """What is asked of matrices of every type."""
    return [
        Case("rot90 6000x6000", (6000, 6000), dtype, lambda a: a[:, ::-1].T),
        Case("rot90 600x600", (600, 600), dtype, lambda a: a[:, ::-1].T),
        Case("transpose 6000x6000", (6000, 6000), dtype, lambda a: a.T),
        Case("fliplr 3000x4000", (3000, 4000), dtype, lambda a: a[:, ::-1]),
        Case("fliplr 300x400", (300, 400), dtype, lambda a: a[:, ::-1]),
        Case("flipud 3000x4000", (3000, 4000), dtype, lambda a: a[::-1]),
        Case("rot180 3000x4000", (3000, 4000), dtype, lambda a: a[::-1, ::-1]),
        Case("scalar to 6000x6000", (1, 1), dtype, lambda a: np.broadcast_to(a, (6000, 6000))),
        Case("row to 6000x6000", (1, 6000), dtype, lambda a: np.broadcast_to(a, (6000, 6000))),
        Case("column to 6000x6000", (6000, 1), dtype, lambda a: np.broadcast_to(a, (6000, 6000))),
        Case("column to 300x300", (300, 1), dtype, lambda a: np.broadcast_to(a, (300, 300))),
        Case("a[:, ::2] 4000x8000", (4000, 8000), dtype, lambda a: a[:, ::2]),
        Case("a[:, ::2] 400x800", (400, 800), dtype, lambda a: a[:, ::2]),
        Case("a[:, ::3] 400x900", (400, 900), dtype, lambda a: a[:, ::3]),
        Case("out[:, ::2] 4000x4000", (4000, 4000), dtype, lambda a: a, spread=2),
        Case("out[:, ::2] 400x400", (400, 400), dtype, lambda a: a, spread=2),
        Case("out[:, ::3] = a.T 400x400", (400, 400), dtype, lambda a: a.T, spread=3),
    ] + [Case(f"transpose {n}x{n}", (n, n), dtype, lambda a: a.T) for n in (16, 32, 64, 128, 256, 512, 1024, 2048)]


def pictures(dtype):
    return [
        Case(f"{name} {height}x{width}", shape, dtype, view)
        for height, width in ((224, 224), (1080, 1920), (4000, 5000))
        for name, shape, view in (
            ("HWC to CHW", (height, width, 3), lambda a: a.transpose(2, 0, 1)),
            ("CHW to HWC", (3, height, width), lambda a: a.transpose(1, 2, 0)),
            ("RGBA to CHW", (height, width, 4), lambda a: a.transpose(2, 0, 1)),
            ("RGB to BGR", (height, width, 3), lambda a: a[:, :, ::-1]),
            ("drop alpha", (height, width, 4), lambda a: a[:, :, :3]),
            ("transpose HWC", (height, width, 3), lambda a: a.transpose(1, 0, 2)),
            ("rot90 HWC", (height, width, 3), lambda a: a[:, ::-1].transpose(1, 0, 2)),
            ("crop HWC", (height, width, 3), lambda a: a[: a.shape[0] // 4 * 3, : a.shape[1] // 4 * 3]),
        )
        if dtype == "u1" or height < 2000
    ]


def others():
    def axes(*order):
        return lambda a: a.transpose(order)

    def same(a):
        return a

    cases = [
        Case("2x2 matrices", (2000000, 2, 2), "u1", axes(0, 2, 1)),
        Case("4x4 matrices", (1000000, 4, 4), "f4", axes(0, 2, 1)),
        Case("3x3 matrices", (1000000, 3, 3), "f8", axes(0, 2, 1)),
        Case("8x2 matrices", (1000000, 8, 2), "c16", axes(0, 2, 1)),
        Case("NHWC to NCHW 32x224x224x3", (32, 224, 224, 3), "f4", axes(0, 3, 1, 2)),
        Case("NCHW to NHWC 32x3x224x224", (32, 3, 224, 224), "f4", axes(0, 2, 3, 1)),
        Case("NCHW to NHWC 32x64x56x56", (32, 64, 56, 56), "f4", axes(0, 2, 3, 1)),
        Case("NHWC to NCHW 32x56x56x64", (32, 56, 56, 64), "f2", axes(0, 3, 1, 2)),
        Case("attention 8x1024x16x64", (8, 1024, 16, 64), "f4", axes(0, 2, 1, 3)),
        Case("attention 8x1024x16x64", (8, 1024, 16, 64), "f2", axes(0, 2, 1, 3)),
        Case("attention keys 8x16x1024x64", (8, 16, 1024, 64), "f4", axes(0, 1, 3, 2)),
        Case("reverse 20x20x20", (20, 20, 20), "f8", axes(2, 1, 0)),
        Case("reverse 136x136x136", (136, 136, 136), "f8", axes(2, 1, 0)),
        Case("(50, 64, 64) to 0, 2, 1", (50, 64, 64), "f4", axes(0, 2, 1)),
        Case("(50, 64, 64) to 0, 2, 1", (50, 64, 64), "f8", axes(0, 2, 1)),
        Case("292x292x292 to 1, 0, 2", (292, 292, 292), "f8", axes(1, 0, 2)),
        Case("2 of 22 qubits swapped", (2,) * 22, "c8", axes(21, *range(1, 21), 0)),
        Case("scaled 4096x4096", (4096, 4096), "f4", same, alpha=2),
        Case("scaled 4096x4096", (4096, 4096), "c8", same, alpha=2 - 1j),
        Case("2 a + 3 out 4096x4096", (4096, 4096), "f4", same, alpha=2, beta=3),
        Case("conj(a) + out / 2 4096x4096", (4096, 4096), "c8", same, beta=0.5, conjugate=True),
        Case("a.T + out 4096x4096", (4096, 4096), "f4", lambda a: a.T, beta=1),
        Case("a.T + out 4096x4096", (4096, 4096), "f2", lambda a: a.T, beta=1),
    ]
    for n in (2, 3, 5, 8, 16, 32):
        cases.append(Case(f"(1000000, {n}) transposed", (1000000, n), "u1", lambda a: a.T))
        cases.append(Case(f"({n}, 1000000) transposed", (n, 1000000), "u1", lambda a: a.T))
        cases.append(Case(f"({n}, 100000) transposed", (n, 100000), "f4", lambda a: a.T))
    return cases


def small_arrays():
    """304 of them: 19 views of arrays of four types, of 1 KB to 1 MB."""
    def axes(*order):
        return lambda a: a.transpose(order)

    def broadcast(a):
        return np.broadcast_to(a, (max(a.shape),) * 2)

    cases = []
    for dtype in ("u1", "f4", "f8", "c16"):
        for size in (1 << 10, 1 << 14, 1 << 17, 1 << 20):
            count = size // np.dtype(dtype).itemsize
            side, third, cube = math.isqrt(count), math.isqrt(count // 3), max(2, round(count ** (1 / 3)))
            cases += [Case(f"{name} {'x'.join(map(str, shape))}", shape, dtype, view) for name, shape, view in (
                ("transpose", (side, side), axes(1, 0)),
                ("transpose", (side - 1, side + 1), axes(1, 0)),
                ("CHW to HWC", (3, third, third), axes(1, 2, 0)),
                ("HWC to CHW", (third, third, 3), axes(2, 0, 1)),
                ("0, 2, 1 of", (cube, cube, cube), axes(0, 2, 1)),
                ("1, 0, 2 of", (cube, cube, cube), axes(1, 0, 2)),
                ("2, 1, 0 of", (cube, cube, cube), axes(2, 1, 0)),
                ("2, 0, 1 of", (cube, cube, cube), axes(2, 0, 1)),
                ("heads", (4, max(1, count // 256), 4, 16), axes(0, 2, 1, 3)),
                ("copy", (count,), axes(0)),
                ("flipud", (side, side), lambda a: a[::-1]),
                ("fliplr", (side, side), lambda a: a[:, ::-1]),
                ("rot90", (side, side), lambda a: a[:, ::-1].T),
                ("a[:, ::2]", (side, 2 * side), lambda a: a[:, ::2]),
                ("column to a square", (side, 1), broadcast),
                ("row to a square", (1, side), broadcast),
                ("2x2 matrices", (count // 4, 2, 2), axes(0, 2, 1)),
                ("transpose", (count // 2, 2), axes(1, 0)),
                ("transpose", (2, count // 2), axes(1, 0)),
            )]
    return cases


def draw(seed, count, most):
    """So many arrays of 1 KB to `most` bytes, each with a view of one of the kinds above."""
    choose, cases = random.Random(seed), []
    kinds = ("transpose", "fliplr", "flipud", "rot90", "a[:, ::s]", "out[:, ::s]", "out[:, ::s] = a.T", "crop", "row",
             "column", "axes", "axes", "axes", "pixels", "planes", "swap", "copy")

    def shape_of(elements, rank):
        shares = [choose.random() + 0.2 for _ in range(rank)]
        return tuple(max(2, round(elements ** (share / sum(shares)))) for share in shares)

    for _ in range(count):
        dtype, kind = choose.choice(("u1", "f2", "f4", "f8", "c16")), choose.choice(kinds)
        size = 2.0 ** choose.uniform(10, math.log2(most))
        elements, step = size / np.dtype(dtype).itemsize, choose.choice((2, 3))
        rows, columns = shape = shape_of(elements, 2)
        pixels = shape_of(elements / 3, 2)
        order = tuple(choose.sample(range(4), 4))[:choose.choice((3, 4))]
        order = tuple(sorted(order).index(axis) for axis in order)
        swapped = choose.choice(((0, 2, 1), (1, 0, 2), (0, 2, 1, 3), (2, 1, 0)))
        made = {
            "transpose": (shape, lambda a: a.T),
            "fliplr": (shape, lambda a: a[:, ::-1]),
            "flipud": (shape, lambda a: a[::-1]),
            "rot90": (shape, lambda a: a[:, ::-1].T),
            "a[:, ::s]": ((rows, columns * step), lambda a, s=step: a[:, ::s]),
            "out[:, ::s]": (shape, lambda a: a),
            "out[:, ::s] = a.T": (shape, lambda a: a.T),
            "crop": ((rows * 4 // 3, columns * 4 // 3), lambda a, r=rows, c=columns: a[:r, :c]),
            "row": ((1, columns), lambda a, to=shape: np.broadcast_to(a, to)),
            "column": ((rows, 1), lambda a, to=shape: np.broadcast_to(a, to)),
            "axes": (shape_of(elements, len(order)), lambda a, o=order: a.transpose(o)),
            "pixels": ((*pixels, 3), lambda a: a.transpose(2, 0, 1)),
            "planes": ((3, *pixels), lambda a: a.transpose(1, 2, 0)),
            "swap": (shape_of(elements, len(swapped)), lambda a, o=swapped: a.transpose(o)),
            "copy": ((int(elements),), lambda a: a),
        }[kind]
        name = kind.replace("s]", f"{step}]").replace("axes", str(order)).replace("swap", str(swapped))
        lengths = "x".join(map(str, shape if kind in ("row", "column") else made[0]))
        cases.append(Case(f"{name} {lengths}", made[0], dtype, made[1], spread=step if kind.startswith("out") else 1))
    return cases


def all_cases():
    return ([case for dtype in ("u1", "f2", "f4", "f8") for case in views(dtype)] + pictures("u1") + pictures("f4") +
            others())


class Cutt:
    """libcutt: plans for views of NumPy's arrays."""

    def __init__(self, path, threads):
        try:
            self.lib = ctypes.CDLL(str(path))
        except OSError as error:
            sys.exit(f"everyday.py: --lib: {error}")
        self.threads = threads
        self.lib.cuttLastError.restype = ctypes.c_char_p
        self.lib.cuttPlanExecute.argtypes = [ctypes.c_void_p] * 4
        self.lib.cuttPlanDestroy.argtypes = [ctypes.c_void_p]

    def plan(self, case, source, target):
        rank, word = source.ndim, source.itemsize
        integers, numbers = ctypes.c_int64 * rank, ctypes.c_int * rank
        extents, perm = integers(*source.shape[::-1]), numbers(*range(rank))
        strides = [integers(*(stride // word for stride in array.strides[::-1])) for array in (source, target)]
        scalar = np.float32 if case.dtype == "f2" else source.dtype
        factors = [None if value is None else np.array(value, scalar) for value in (case.alpha, case.beta)]
        problem = Problem(ctypes.sizeof(Problem), rank, TYPES[case.dtype], extents, perm,
                          *(ctypes.cast(list_, ctypes.c_void_p) for list_ in strides),
                          *(None if value is None else value.ctypes.data for value in factors), int(case.conjugate))
        options, plan = Options(ctypes.sizeof(Options), CPU, self.threads), ctypes.c_void_p()
        if self.lib.cuttPlanCreate(ctypes.byref(plan), ctypes.byref(problem), ctypes.byref(options)):
            sys.exit(f"everyday.py: {case.name}: no plan: {self.lib.cuttLastError().decode()}")
        return plan

    def work(self, plan, source, target):
        execute, from_, to = self.lib.cuttPlanExecute, source.ctypes.data, target.ctypes.data
        return lambda: execute(plan, from_, to, None)

    def destroy(self, plan):
        self.lib.cuttPlanDestroy(plan)


class Package:
    """The same by the Python package, whose compiled module makes the calls."""

    def __init__(self, folder, threads):
        os.environ["CUTT_LIBRARY_DIR"] = str(folder)
        sys.path.insert(0, str(ROOT / "bindings/python"))
        import cutt  # pylint: disable=import-outside-toplevel
        self.cutt, self.threads = cutt, threads

    def plan(self, case, source, target):
        scalars = {name: value for name, value in (("alpha", case.alpha), ("beta", case.beta)) if value is not None}
        return self.cutt.Plan(source, tuple(range(source.ndim)), out_strides=target.strides, threads=self.threads,
                              conj=case.conjugate, **scalars)

    def work(self, plan, source, target):
        return lambda: plan(source, target)

    def destroy(self, plan):
        """Python does."""


def by_numpy(case, source, target):
    if case.alpha is None and case.beta is None:
        return lambda: np.copyto(target, source)
    factors = [np.array(1 if value is None else value, source.dtype) for value in (case.alpha, case.beta)]

    def run():
        array = np.conj(source) if case.conjugate else source
        if case.beta is None:
            np.multiply(array, factors[0], out=target)
            return
        np.multiply(target, factors[1], out=target)
        np.add(target, array if case.alpha is None else array * factors[0], out=target)
    return run


def memory(count, dtype):
    """An array on huge pages where the system has them, aligned to a page; filled with something."""
    size = count * np.dtype(dtype).itemsize
    pages = mmap.mmap(-1, size + HUGE_PAGE)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    array = np.frombuffer(pages, np.uint8)
    begin = -array.ctypes.data % HUGE_PAGE
    array = array[begin : begin + size].view(dtype)
    pattern = (np.arange(251 * 4096) % 251).astype(dtype)
    for at in range(0, count, pattern.size):
        array[at : at + pattern.size] = pattern[: count - at]
    return array


def sampler(run):
    """A function that times enough calls to be measured, and returns the seconds of one."""
    began = time.perf_counter()
    run()
    calls = max(1, int(SAMPLE_SECONDS / max(time.perf_counter() - began, 1e-7)))

    def sample():
        start = time.perf_counter()
        for _ in range(calls):
            run()
        return (time.perf_counter() - start) / calls
    return sample


def right(case, library, plan, source, target):
    """Does an execution give what NumPy does? Half precision may be rounded once less."""
    target[...] = 1
    library.work(plan, source, target)()
    got = target.copy()
    target[...] = 1
    by_numpy(case, source, target)()
    if case.alpha is None and case.beta is None:
        return np.array_equal(got, target)
    return np.allclose(got, target, rtol=1e-2 if case.dtype == "f2" else 1e-5)


def measure(case, libraries):
    source = case.view(memory(math.prod(case.shape), case.dtype).reshape(case.shape))
    room = memory(source.size * case.spread, case.dtype)
    target = room.reshape(*source.shape[:-1], source.shape[-1] * case.spread)[..., ::case.spread]
    plans = [library.plan(case, source, target) for library in libraries]
    good = all(right(case, library, plan, source, target) for library, plan in zip(libraries, plans))
    beside = [memory(source.size, case.dtype) for _ in range(2)]
    (to, from_), size = (array.ctypes.data for array in beside), beside[0].nbytes
    samplers = [sampler(library.work(plan, source, target)) for library, plan in zip(libraries, plans)]
    samplers += [sampler(by_numpy(case, source, target)), sampler(lambda: ctypes.memmove(to, from_, size))]
    times = [[] for _ in samplers]
    for turn in range(ROUNDS):  # there and back, since what ran before leaves the caches to its liking
        for i in range(len(samplers))[:: -1 if turn % 2 else 1]:
            times[i].append(samplers[i]())
    times = [statistics.median(column) for column in times]
    for library, plan in zip(libraries, plans):
        library.destroy(plan)
    return {"case": case.name, "right": good, "seconds": times[:-2], "numpy": times[-2], "copy": times[-1]}


def main():
    parser = argparse.ArgumentParser(description="Everyday arrays: libcutt beside NumPy and memmove.")
    parser.add_argument("--libraries", default=ROOT / "build/lib", help="folder of the libraries (default: build/lib)")
    parser.add_argument("--lib", action="append", help="libcutt.so, by ctypes; twice: the second takes turns with the first")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--small", action="store_true", help="304 arrays of 1 KB to 1 MB")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="N arrays that are drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn (default: 1)")
    parser.add_argument("--most", type=float, default=32e6, help="bytes of what is drawn, at most (default: 32e6)")
    parser.add_argument("--only", help="cases whose names have one of these texts, divided by bars: 'rot90|flip'")
    parser.add_argument("--json", help="write the times to this file")
    options = parser.parse_args()
    if options.random < 0 or options.most < 2048:
        parser.error("--random must be 0 or more, and --most 2048 or more")
    libraries = [Cutt(path, options.threads) for path in options.lib or []]
    libraries = libraries or [Package(options.libraries, options.threads)]
    texts = options.only.split("|") if options.only else [""]
    cases = draw(options.seed, options.random, options.most) if options.random else (
        small_arrays() if options.small else all_cases())
    cases = [case for case in cases if any(text in case.name for text in texts)]
    if not cases:
        sys.exit(f"everyday.py: no case's name has '{options.only}'")
    print(f"{'':40} {'us':>10} {'NumPy x':>8} {'% of copy':>9}", "   other us" if len(libraries) > 1 else "")
    rows = []
    for case in cases:
        row = measure(case, libraries)
        rows.append(row)
        own = row["seconds"][0]
        print(f"{case.name:40} {own * 1e6:10.1f} {row['numpy'] / own:8.2f} {100 * row['copy'] / own:9.0f}",
              *(f"{seconds * 1e6:10.1f}" for seconds in row["seconds"][1:]), "" if row["right"] else "WRONG", flush=True)
    ratios = [row["numpy"] / row["seconds"][0] for row in rows]
    print(f"{len(rows)} cases: {math.exp(statistics.fmean(map(math.log, ratios))):.2f} x NumPy in the geometric mean, "
          f"slower in {sum(ratio < 1 for ratio in ratios)}, worst {min(ratios):.2f}")
    if options.json:
        with open(options.json, "w", encoding="ascii") as file:
            json.dump({"threads": options.threads, "cases": rows}, file, indent=1)
    return 0 if all(row["right"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
