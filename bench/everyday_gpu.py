#!/usr/bin/env python3
"""Everyday arrays on a GPU beside PyTorch: what `bench/everyday.py --random` draws, and views that go with other orders of axes.

    bench/everyday_gpu.py --lib libcutt.so [--lib OLD.so] [--random N] [--seed S] [--most BYTES] [--only 'TEXT|TEXT'] [--json FILE]

Each case is an array and a view of it, to be written to an output that may have gaps: by a plan of each library, by PyTorch's
copy_ (rows backwards by flip, since PyTorch has no negative strides), and, for its speed, PyTorch's copy of as many bytes. They
take turns on the same buffers; times are of the device, by events, the least of several; results are compared with PyTorch's,
every element. --device cpu does the same on the CPU, by the clock.
"""
import argparse
import ctypes
import json
import math
import random
import statistics
import sys
import time

from cutt_types import Options, Problem

NOT_HERE = 77  # exit status: nothing to run on
ROUNDS, SAMPLE_SECONDS, LEAST_BYTES, MOST_CALLS = 6, 2e-3, 1 << 20, 20
BACKENDS = {"cpu": 1, "cuda": 2}  # cuttBackend_t
KINDS = ("transpose", "fliplr", "flipud", "rot90", "fliplr of a.T", "a[..., ::s]", "axes of a[..., ::s]", "out[..., ::s]",
         "out[..., ::s] = a.T", "crop", "crop, transposed", "part of out", "part of out, axes", "row", "column",
         "repeated axis", "axes", "pixels", "planes", "swap")

try:
    import torch
except ImportError:
    print("everyday_gpu.py: PyTorch is needed", file=sys.stderr)
    sys.exit(NOT_HERE)

TYPES = {torch.uint8: 1, torch.float16: 32, torch.float32: 34, torch.float64: 35, torch.complex128: 37}  # cuttType_t


def packed(shape):
    """Strides of an array of this shape, and its elements."""
    strides, elements = [], 1
    for extent in reversed(shape):
        strides.insert(0, elements)
        elements *= extent
    return strides, elements


class Case:
    """A view of an array, `perm` of which is written to an output; strides in elements, of the array from its first one."""

    def __init__(self, choose, most):
        self.kind, self.dtype = choose.choice(KINDS), choose.choice(list(TYPES))
        elements = 2.0 ** choose.uniform(math.log2(LEAST_BYTES), math.log2(most)) / torch.empty(0, dtype=self.dtype).element_size()
        step, rank = choose.choice((2, 3, 4)), choose.choice((2, 3, 4))
        if self.kind in ("transpose", "rot90", "fliplr", "flipud", "fliplr of a.T", "out[..., ::s] = a.T", "crop",
                         "crop, transposed"):
            rank = 2
        elif self.kind in ("swap", "pixels", "planes"):
            rank = 3
        self.shape = self.shape_of(choose, elements, rank)
        if self.kind == "pixels":
            self.shape = [*self.shape_of(choose, elements / step, 2), step]
        elif self.kind == "planes":
            self.shape = [step, *self.shape_of(choose, elements / step, 2)]
        self.perm = {"pixels": [2, 0, 1], "planes": [1, 2, 0], "swap": [0, 2, 1]}.get(self.kind, list(range(rank)))
        if "axes" in self.kind or self.kind == "repeated axis":
            choose.shuffle(self.perm)
        elif self.kind in ("transpose", "rot90", "fliplr of a.T", "out[..., ::s] = a.T", "crop, transposed"):
            self.perm = [1, 0]
        self.flips = {"fliplr": [1], "rot90": [1], "fliplr of a.T": [0], "flipud": [0]}.get(self.kind, [])
        self.lay_out(choose, step)

    @staticmethod
    def shape_of(choose, elements, rank):
        shares = [choose.random() + 0.2 for _ in range(rank)]
        return [max(2, round(elements ** (share / sum(shares)))) for share in shares]

    @staticmethod
    def larger(choose, shape):
        return [extent + choose.randrange(1, max(2, extent // 3 + 2)) for extent in shape]

    def lay_out(self, choose, step):
        """The strides of both sides, and how many elements their arrays have."""
        array, repeated = list(self.shape), None
        if self.kind.endswith("a[..., ::s]"):
            array[-1] *= step
        elif self.kind.startswith("crop"):
            array = self.larger(choose, array)
        elif self.kind in ("row", "column", "repeated axis"):
            repeated = {"row": 0, "column": len(array) - 1}.get(self.kind, choose.randrange(len(array)))
            array[repeated] = 1
        self.in_strides, self.in_elements = packed(array)
        if self.kind.endswith("a[..., ::s]"):
            self.in_strides[-1] *= step
        if repeated is not None:
            self.in_strides[repeated] = 0
        self.out_shape = [self.shape[axis] for axis in self.perm]
        array = list(self.out_shape)
        if self.kind.startswith("out"):
            array[-1] *= step
        elif self.kind.startswith("part"):
            array = self.larger(choose, array)
        self.out_strides, self.out_elements = packed(array)
        if self.kind.startswith("out"):
            self.out_strides[-1] *= step

    def name(self):
        return f"{self.kind} {'x'.join(map(str, self.shape))} {self.perm} {str(self.dtype)[6:]}"


class Library:
    """libcutt, by ctypes."""

    def __init__(self, path, device):
        self.lib, self.device = ctypes.CDLL(path), device
        self.lib.cuttLastError.restype = ctypes.c_char_p
        self.lib.cuttPlanExecute.argtypes = [ctypes.c_void_p] * 4
        self.lib.cuttPlanDestroy.argtypes = [ctypes.c_void_p]

    def plan(self, case):
        """Modes are counted from the fastest; the permutation is in the input's strides. Also: the view's first element."""
        rank, first, strides = len(case.perm), 0, []
        for axis in case.perm:
            back = axis in case.flips
            first += (case.shape[axis] - 1) * case.in_strides[axis] if back else 0
            strides.append(-case.in_strides[axis] if back else case.in_strides[axis])
        integers, numbers = ctypes.c_int64 * rank, ctypes.c_int * rank
        sides = [integers(*side[::-1]) for side in (strides, case.out_strides)]
        problem = Problem(ctypes.sizeof(Problem), rank, TYPES[case.dtype], integers(*case.out_shape[::-1]), numbers(*range(rank)),
                          *(ctypes.cast(side, ctypes.c_void_p) for side in sides))
        options, plan = Options(ctypes.sizeof(Options), BACKENDS[self.device]), ctypes.c_void_p()
        if self.lib.cuttPlanCreate(ctypes.byref(plan), ctypes.byref(problem), ctypes.byref(options)):
            sys.exit(f"everyday_gpu.py: {case.name()}: no plan: {self.lib.cuttLastError().decode()}")
        return plan, first

    def work(self, plan, first, source, target):
        stream = torch.cuda.current_stream().cuda_stream if self.device == "cuda" else None
        execute, from_, to = self.lib.cuttPlanExecute, source.data_ptr() + first * source.element_size(), target.data_ptr()
        return lambda: execute(plan, from_, to, stream)


def by_torch(case, view, target):
    if not case.flips:
        return lambda: target.copy_(view.permute(case.perm))
    if case.perm == sorted(case.perm):
        return lambda: view.flip(case.flips)
    return lambda: target.copy_(view.flip(case.flips).permute(case.perm))


def seconds_of(work, calls, device):
    if device == "cpu":
        began = time.perf_counter()
        for _ in range(calls):
            work()
        return (time.perf_counter() - began) / calls
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(100000)  # pylint: disable=protected-access  # so that the calls are all there when the first one begins
    begin.record()
    for _ in range(calls):
        work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3 / calls


def measure(case, libraries, device):
    source = (torch.arange(case.in_elements, device=device) % 251).to(case.dtype)
    room = torch.zeros(case.out_elements, dtype=case.dtype, device=device)
    view, target = source.as_strided(case.shape, case.in_strides), room.as_strided(case.out_shape, case.out_strides)
    expected = (view.flip(case.flips) if case.flips else view).permute(case.perm)
    plans = [library.plan(case) for library in libraries]
    works, right = [], True
    for library, (plan, first) in zip(libraries, plans):
        works.append(library.work(plan, first, source, room))
        room.zero_()
        right = works[-1]() == 0 and torch.equal(target, expected) and right
    size = math.prod(case.shape) * source.element_size()
    beside = [torch.empty(size, dtype=torch.uint8, device=device) for _ in range(2)]
    works += [by_torch(case, view, target), lambda: beside[0].copy_(beside[1])]
    calls = max(1, min(MOST_CALLS, int(SAMPLE_SECONDS / (size * 2 / (4e12 if device == "cuda" else 2e10)))))
    times = [[] for _ in works]
    for turn in range(ROUNDS):
        for i in range(len(works))[:: -1 if turn % 2 else 1]:
            times[i].append(seconds_of(works[i], calls, device))
    for library, (plan, _) in zip(libraries, plans):
        library.lib.cuttPlanDestroy(plan)
    times = [min(column) for column in times]
    return {"case": case.name(), "kind": case.kind, "right": right, "seconds": times[:-2], "torch": times[-2], "copy": times[-1]}


def summary(rows):
    for kind in (*KINDS, None):
        chosen = [row for row in rows if kind in (None, row["kind"])]
        if not chosen:
            continue
        ratios = [row["torch"] / row["seconds"][0] for row in chosen]
        text = f"{kind or 'all':22} {len(chosen):4}: {statistics.geometric_mean(ratios):.2f} x PyTorch, worst {min(ratios):.2f}"
        if len(chosen[0]["seconds"]) > 1:
            ratios = [row["seconds"][1] / row["seconds"][0] for row in chosen]
            mean = statistics.geometric_mean(ratios)
            text += f"; the second library takes {mean:.2f} times as long ({min(ratios):.2f} to {max(ratios):.2f})"
        print(text)


def main():
    parser = argparse.ArgumentParser(description="Everyday arrays on a GPU: libcutt beside PyTorch.")
    parser.add_argument("--lib", action="append", required=True, help="libcutt.so; twice: the second takes turns with the first")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--random", type=int, default=300, metavar="N", help="arrays that are drawn (default: 300)")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn (default: 1)")
    parser.add_argument("--most", type=float, default=192e6, help="bytes of what is drawn, at most (default: 192e6)")
    parser.add_argument("--only", help="cases whose names have one of these texts, divided by bars: 'rot90|flip'")
    parser.add_argument("--json", help="write the times to this file")
    options = parser.parse_args()
    if options.random < 1 or options.most <= LEAST_BYTES:
        parser.error(f"--random must be 1 or more, and --most more than {LEAST_BYTES}")
    if options.device == "cuda" and not torch.cuda.is_available():
        print("everyday_gpu.py: PyTorch finds no GPU", file=sys.stderr)
        return NOT_HERE
    torch.set_num_threads(1)
    libraries = [Library(path, options.device) for path in options.lib]
    choose, texts, rows = random.Random(options.seed), options.only.split("|") if options.only else [""], []
    for _ in range(options.random):
        case = Case(choose, options.most)
        if not any(text in case.name() for text in texts):
            continue
        row = measure(case, libraries, options.device)
        rows.append(row)
        own = row["seconds"][0]
        print(f"{row['case']:60} {own * 1e6:10.1f} us {row['torch'] / own:6.2f} x PyTorch {100 * row['copy'] / own:5.0f}% of copy",
              *(f"{seconds * 1e6:10.1f}" for seconds in row["seconds"][1:]), "" if row["right"] else "WRONG", flush=True)
    summary(rows)
    if options.json:
        with open(options.json, "w", encoding="ascii") as file:
            json.dump({"device": options.device, "cases": rows}, file, indent=1)
    return 0 if all(row["right"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
