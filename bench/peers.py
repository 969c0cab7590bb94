#!/usr/bin/env python3
"""Compares libcutt with NumPy and, when a library of it is given, HPTT, on the same tensors and the same buffers.

    cutt bench set1 --dtype f4 --list > set1-f4.csv
    bench/peers.py set1-f4.csv --dtype f4 --threads 1 --hptt libhptt.so [--shim adapter.so] --json peers.json
    bench/peers.py --tiny [--shim adapter.so] --json tiny.json

The cases come from a file id,dims,perm as `cutt bench --list` or `--csv` writes it. For each case the contestants take
turns (A B C A B C ...), so that a machine whose memory speed drifts is the same machine for all of them; medians are
compared. Every result is compared with NumPy's, all of it, on a poisoned output: a library that leaves elements
unwritten is counted, not believed.

NumPy is the faster of np.copyto(out, a.transpose(axes)) and np.ascontiguousarray(a.transpose(axes)); it has one thread
whatever --threads says. HPTT's C interface makes an estimate plan in each call, some microseconds, which is nothing to a
tensor of 100 MB but much to a small one; with --shim, an adapter as described in tiny.c, its plan is made beforehand and
only the execution is timed, as it is for libcutt, and the faster of the two ways counts.

--tiny runs the program `tiny` on tensors of less than 4 KB in C loops, and adds NumPy by timeit for a rough comparison.
"""
import argparse
import ctypes
import json
import math
import mmap
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time
import timeit

from cutt_types import Options, Problem

try:
    import numpy as np
except ImportError:
    sys.exit("peers.py: NumPy is needed (Debian: python3-numpy, and /usr/bin/python3 to run this)")

ROOT = pathlib.Path(__file__).resolve().parent.parent
BYTES_OF = {"b1": 1, "i1": 1, "u1": 1, "i2": 2, "u2": 2, "f2": 2, "i4": 4, "u4": 4, "f4": 4, "i8": 8, "u8": 8, "f8": 8,
            "c8": 8, "c16": 16}
POISON = 0xA5
CPU = 1  # CUTT_BACKEND_CPU


def fail(message):
    sys.exit(f"peers.py: {message}")


# ------------------------------------------------------------------------------------------------------------- cases

class Case:
    """A tensor and its permutation: first index fastest, output mode i is input mode perm[i]."""

    def __init__(self, name, dims, perm):
        self.id, self.dims, self.perm = name, dims, perm
        self.volume = math.prod(dims)

    @property
    def axes(self):
        """The axes of np.transpose: NumPy counts from the slowest index."""
        rank = len(self.dims)
        return [rank - 1 - self.perm[rank - 1 - axis] for axis in range(rank)]

    @property
    def text(self):
        return f"{self.id} {'x'.join(map(str, self.dims))} ({' '.join(map(str, self.perm))})"


def read_cases(path):
    cases = []
    try:
        file = open(path, encoding="utf-8")
    except OSError as error:
        fail(f"{path} can't be read: {error.strerror}")
    with file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line or line.startswith("#") or line == "id,dims,perm":
                continue
            try:
                name, dims, perm = line.split(",")
                dims = [int(d) for d in dims.split("x")] if dims else []
                perm = [int(p) for p in perm.split()]
                if sorted(perm) != list(range(len(dims))) or min(dims, default=1) < 1:
                    raise ValueError
            except ValueError:
                fail(f"{path}:{number}: '{line}' is not a case; a case is a line such as '1,48x28x28,2 0 1'")
            cases.append(Case(name, dims, perm))
    if not cases:
        fail(f"{path}: there are no cases")
    return cases


# ----------------------------------------------------------------------------------------------------------- libraries

class Info(ctypes.Structure):
    """cuttPlanInfo_t"""
    _fields_ = [("struct_size", ctypes.c_size_t), ("backend", ctypes.c_int), ("method", ctypes.c_char_p),
                ("isa", ctypes.c_char_p), ("threads", ctypes.c_int), ("fused_rank", ctypes.c_int),
                ("fused_elem_bytes", ctypes.c_int), ("bytes_moved", ctypes.c_int64),
                ("predicted_seconds", ctypes.c_double), ("measured_seconds", ctypes.c_double),
                ("create_seconds", ctypes.c_double)]


def load(path, option):
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        return fail(f"{option}: {error}")


class Cutt:
    """libcutt: a plan for a case, then executions of it."""
    name = "cutt"

    def __init__(self, path, threads):
        self.path, self.lib, self.threads, self.plan = path, load(path, "--lib"), threads, None
        self.lib.cuttLastError.restype = ctypes.c_char_p
        self.lib.cuttPlanExecute.argtypes = [ctypes.c_void_p] * 4
        self.lib.cuttPlanDestroy.argtypes = [ctypes.c_void_p]

    def start(self, case, elem_bytes, source, target):
        rank = len(case.dims)
        extents, perm = (ctypes.c_int64 * rank)(*case.dims), (ctypes.c_int * rank)(*case.perm)
        problem = Problem(ctypes.sizeof(Problem), rank, elem_bytes, extents, perm)
        options = Options(ctypes.sizeof(Options), CPU, self.threads)
        plan = ctypes.c_void_p()
        if self.lib.cuttPlanCreate(ctypes.byref(plan), ctypes.byref(problem), ctypes.byref(options)):
            fail(f"case {case.text}: no plan: {self.lib.cuttLastError().decode()}")
        self.plan = plan
        info = Info(ctypes.sizeof(Info))
        self.lib.cuttPlanGetInfo(plan, ctypes.byref(info))
        execute = self.lib.cuttPlanExecute

        def run():
            execute(plan, source, target, None)
        run.facts = {"method": (info.method or b"").decode(), "isa": (info.isa or b"").decode()}
        return run

    def stop(self):
        self.lib.cuttPlanDestroy(self.plan)
        self.plan = None


class HpttCalls:
    """HPTT's C interface: one call plans by estimate and executes."""
    name = "hptt"
    calls = {4: ("sTensorTranspose", ctypes.c_float), 8: ("dTensorTranspose", ctypes.c_double)}

    def __init__(self, path, threads):
        self.lib, self.threads = load(path, "--hptt"), threads

    def start(self, case, elem_bytes, source, target):
        if elem_bytes not in self.calls or not case.dims or max(case.dims) >= 2 ** 31:
            return None
        name, scalar = self.calls[elem_bytes]
        function, rank = getattr(self.lib, name), len(case.dims)
        function.restype = None
        ints = ctypes.c_int * rank
        perm, dims, threads = ints(*case.perm), ints(*case.dims), self.threads

        def run():
            function(perm, rank, scalar(1), ctypes.c_void_p(source), dims, None, scalar(0), ctypes.c_void_p(target),
                     None, threads, 0)
        run.facts = {}
        return run

    def stop(self):
        pass


class Adapter:
    """Another library behind the functions that tiny.c describes: plan once, then execute."""

    def __init__(self, path, threads):
        self.lib, self.threads, self.plan = load(path, "--shim"), threads, None
        for function in ("peer_name", "peer_plan", "peer_execute", "peer_destroy"):
            if not hasattr(self.lib, function):
                fail(f"--shim: {path} lacks {function}; tiny.c says what it must have")
        self.lib.peer_name.restype = ctypes.c_char_p
        self.lib.peer_plan.restype = ctypes.c_void_p
        self.lib.peer_plan.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
                                       ctypes.c_void_p, ctypes.c_double, ctypes.c_int]
        self.lib.peer_execute.argtypes = [ctypes.c_void_p] * 3
        self.lib.peer_execute.restype = None
        self.lib.peer_destroy.argtypes = [ctypes.c_void_p]
        self.lib.peer_destroy.restype = None
        self.name = self.lib.peer_name().decode().lower() + "_planned"

    def start(self, case, elem_bytes, source, target):
        if not case.dims or max(case.dims) >= 2 ** 31:
            return None
        ints = ctypes.c_int * len(case.dims)
        self.plan = self.lib.peer_plan(elem_bytes, len(case.dims), ints(*case.dims), ints(*case.perm), source, target,
                                       0.0, self.threads)
        if not self.plan:
            return None
        execute, plan = self.lib.peer_execute, self.plan

        def run():
            execute(plan, source, target)
        run.facts = {}
        return run

    def stop(self):
        if self.plan:
            self.lib.peer_destroy(self.plan)
        self.plan = None


# ------------------------------------------------------------------------------------------------------------- memory

def huge_buffer(size):
    """Zeroed bytes at a 2 MiB boundary, huge pages asked for."""
    page = 2 << 20
    memory = mmap.mmap(-1, size + page)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    array = np.frombuffer(memory, dtype=np.uint8)
    offset = -array.ctypes.data % page
    return array[offset:offset + size]


def fill(array, elem_bytes):
    """Values that differ from element to element, and that are ordinary numbers (no NaN, no denormals) when they are
    read as floating point, so that a library that multiplies by 1 keeps them as they are."""
    count = array.size // min(elem_bytes, 8)
    chunk = 1 << 22
    for begin in range(0, count, chunk):
        index = np.arange(begin, min(begin + chunk, count), dtype=np.uint64)
        if elem_bytes >= 8:
            array.view(np.uint64)[begin:begin + chunk] = index + np.uint64(0x3FF0000000000000)
        elif elem_bytes == 4:
            array.view(np.uint32)[begin:begin + chunk] = index % np.uint64(1 << 29) + np.uint64(0x20000000)
        else:
            shift = np.uint64(64 - 8 * elem_bytes)
            array.view(f"u{elem_bytes}")[begin:begin + chunk] = (index * np.uint64(0x9E3779B97F4A7C15)) >> shift


def element_type(elem_bytes):
    """What NumPy is given: numbers where it has them, so that it takes its fastest way."""
    return {1: "u1", 2: "u2", 4: "f4", 8: "f8", 16: "c16"}[elem_bytes]


def count_wrong(target, reference, elem_bytes):
    """Elements of target that are not reference's, and how many of them still hold poison."""
    words = f"u{min(elem_bytes, 8)}"
    per_element = max(1, elem_bytes // 8)
    wrong = unwritten = 0
    chunk = 1 << 24
    for begin in range(0, target.size, chunk):
        a, b = target[begin:begin + chunk].view(words), reference[begin:begin + chunk].view(words)
        if np.array_equal(a, b):
            continue
        differ = (a != b).reshape(-1, per_element).any(axis=1)
        wrong += int(differ.sum())
        poison = (target[begin:begin + chunk].reshape(-1, elem_bytes) == POISON).all(axis=1)
        unwritten += int((differ & poison).sum())
    return wrong, unwritten


# ------------------------------------------------------------------------------------------------------------- timing

def timed(run, calls):
    began = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - began) / calls


def numpy_ways(case, source, target, elem_bytes):
    """NumPy's two ways, as functions without arguments."""
    dtype, size = element_type(elem_bytes), case.volume * elem_bytes
    a = source[:size].view(dtype).reshape(case.dims[::-1]).transpose(case.axes)
    out = target[:size].view(dtype).reshape(a.shape)
    ways = {"copyto": lambda: np.copyto(out, a)}
    if not a.flags.c_contiguous:  # else it would copy nothing
        ways["ascontiguousarray"] = lambda: np.ascontiguousarray(a)
    return ways


def compare_case(case, elem_bytes, contestants, buffers, seconds):
    source, target, reference = buffers
    size = case.volume * elem_bytes
    numpy_ways(case, source, reference, elem_bytes)["copyto"]()
    result = {"id": case.id, "dims": case.dims, "perm": case.perm, "elem_bytes": elem_bytes}
    runs = {}
    for contestant in contestants:
        run = contestant.start(case, elem_bytes, source.ctypes.data, target.ctypes.data)
        if run is None:
            continue
        target[:size] = POISON
        run()
        wrong, unwritten = count_wrong(target[:size], reference[:size], elem_bytes)
        result[f"{contestant.name}_wrong"], result[f"{contestant.name}_unwritten"] = wrong, unwritten
        result.update(run.facts)
        runs[contestant.name] = run
    ways = numpy_ways(case, source, target, elem_bytes)
    once = {name: timed(way, 1) for name, way in ways.items()}
    if case.volume * elem_bytes < 1 << 20:  # the first call is not the speed of a small one
        once = {name: min(timeit.repeat(way, number=10, repeat=3)) / 10 for name, way in ways.items()}
    result["numpy_way"] = min(once, key=once.get)
    runs["numpy"] = ways[result["numpy_way"]]

    calls = {name: max(1, int(1e-3 / max(timed(run, 1), 1e-7))) for name, run in runs.items()}
    took = {name: [] for name in runs}
    # What ran before may leave dirty lines in the caches, for the next one to wait for: a copy past the caches cleans them.
    cleaner = Cutt(contestants[0].path, contestants[0].threads)
    clean = cleaner.start(Case("copy", [case.volume], [0]), elem_bytes, source.ctypes.data, target.ctypes.data)
    began, rounds = time.perf_counter(), 0
    while rounds < 5 or (rounds < 31 and time.perf_counter() - began < seconds):
        for name, run in runs.items():
            clean()
            took[name].append(timed(run, calls[name]))
        rounds += 1
    for name, list_of in took.items():
        result[f"{name}_seconds"] = statistics.median(list_of)
    result["rounds"] = rounds
    for contestant in [*contestants, cleaner]:
        contestant.stop()
    return result


# ------------------------------------------------------------------------------------------------------------- report

def geometric_mean(numbers):
    return math.exp(statistics.fmean(math.log(n) for n in numbers)) if numbers else None


def ratios_of(results, mine, other):
    """(other / mine, result) where both have a time, smallest (worst for us) first."""
    pairs = [(r[other] / r[mine], r) for r in results if r.get(mine) and r.get(other)]
    return sorted(pairs, key=lambda pair: pair[0])


def summarize(results, mine, others):
    """Prints and returns, for each of the others, how many times as long as ours it takes."""
    summary = {}
    for label, key in others.items():
        pairs = ratios_of(results, mine, key)
        if not pairs:
            continue
        ratios = [ratio for ratio, _ in pairs]
        slower = sum(ratio < 1 for ratio in ratios)
        summary[label] = {"cases": len(pairs), "geometric_mean": geometric_mean(ratios), "worst": ratios[0],
                          "median": statistics.median(ratios), "best": ratios[-1], "slower": slower,
                          "worst_cases": [{"id": r["id"], "ratio": ratio} for ratio, r in pairs[:10]]}
        s = summary[label]
        print(f"\nagainst {label}: {s['geometric_mean']:.2f}x (geometric mean of {len(pairs)} cases); "
              f"worst {s['worst']:.2f}x, median {s['median']:.2f}x, best {s['best']:.2f}x; slower in {slower}")
        for ratio, r in pairs[:10]:
            print(f"  {ratio:6.2f}x  {r['id']}  {'x'.join(map(str, r['dims']))}  {' '.join(map(str, r['perm']))}"
                  f"  {r['elem_bytes']}-byte  {r.get('method', '')}")
    return summary


def machine(threads):
    name = platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            name = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), name)
    except OSError:
        pass
    return {"cpu": name, "cores": os.cpu_count(), "threads": threads, "python": platform.python_version(),
            "numpy": np.__version__, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}


def open_json(arguments):
    """The file of --json, opened before anything is measured; or None."""
    if not arguments.json:
        return None
    path = pathlib.Path(arguments.json)
    if path.is_file() and path.stat().st_size and not arguments.force:
        fail(f"--json: {path} exists; --force replaces it")
    try:
        return open(path, "w", encoding="utf-8")
    except OSError as error:
        return fail(f"--json: {path} can't be written: {error.strerror}")


def write_json(file, facts, results, summary):
    if file is None:
        return
    with file:
        lines = ",\n".join(json.dumps(result, default=float) for result in results)
        file.write(f'{{"machine": {json.dumps(facts)},\n"results": [\n{lines}],\n"summary": {json.dumps(summary)}}}\n')


# ---------------------------------------------------------------------------------------------------------------- main

def run_large(arguments):
    cases, elem_bytes = read_cases(arguments.cases), BYTES_OF[arguments.dtype]
    contestants = [Cutt(arguments.lib, arguments.threads)]
    if arguments.hptt:
        contestants.append(HpttCalls(arguments.hptt, arguments.threads))
    if arguments.shim:
        contestants.append(Adapter(arguments.shim, arguments.threads))
    file = open_json(arguments)
    size = max(case.volume for case in cases) * elem_bytes
    try:
        buffers = [huge_buffer(size) for _ in range(3)]
    except (OSError, ValueError, OverflowError) as error:
        fail(f"three buffers of {size / 1e9:.1f} GB can't be had: {error}")
    fill(buffers[0], elem_bytes)
    buffers[1][:] = 0
    results = []
    peers = [c.name for c in contestants[1:]] + ["numpy"]
    print(f"{'GB/s:':>8} {'cutt':>8} " + " ".join(f"{name:>14}" for name in peers))
    for case in cases:
        r = compare_case(case, elem_bytes, contestants, buffers, arguments.seconds)
        # The best that the other library can do counts against us.
        times = [r[key] for key in ("hptt_seconds", "hptt_planned_seconds") if key in r]
        if times:
            r["hptt_best_seconds"] = min(times)
        results.append(r)
        gigabytes = 2e-9 * case.volume * elem_bytes
        row = " ".join(f"{gigabytes / r[n + '_seconds']:14.2f}" if n + "_seconds" in r else f"{'-':>14}" for n in peers)
        notes = [f"{n}: {r[n + '_wrong']} elements wrong" for n in ["cutt"] + peers if r.get(n + "_wrong")]
        print(f"{'':8} {gigabytes / r['cutt_seconds']:8.2f} {row}  {case.text} {r['method']}"
              + (f"  [{'; '.join(notes)}]" if notes else ""), flush=True)
    others = {"HPTT": "hptt_best_seconds", "HPTT, planning in each call": "hptt_seconds",
              "HPTT, planned beforehand": "hptt_planned_seconds", "NumPy": "numpy_seconds"}
    if not arguments.shim:
        others = {"HPTT": "hptt_seconds", "NumPy": "numpy_seconds"}
    summary = summarize(results, "cutt_seconds", others)
    wrong = [r for r in results if r["cutt_wrong"]]
    for name in peers:
        bad = [r for r in results if r.get(name + "_wrong")]
        if bad:
            print(f"\n{name} is wrong in {len(bad)} of {len(results)} cases: " + ", ".join(r["id"] for r in bad[:10]))
        summary[name + "_wrong_cases"] = len(bad)
    summary["cutt_wrong_cases"] = len(wrong)
    write_json(file, machine(arguments.threads), results, summary)
    if wrong:
        fail("libcutt is wrong in " + ", ".join(r["id"] for r in wrong[:10]))


def run_tiny(arguments):
    program = pathlib.Path(arguments.tiny_program)
    if not program.exists():
        fail(f"{program} is not there; build it (cmake --build {program.parent.parent} --target cutt_tiny), or say "
             "where it is with --tiny-program")
    file = open_json(arguments)
    command = [str(program), "--samples", str(arguments.samples)]
    command += ["--shim", arguments.shim] if arguments.shim else []
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        fail(f"{program} ended with {done.returncode} and gave no result")
    results, peer = report["results"], report["peer"]
    buffers = [huge_buffer(1 << 16) for _ in range(2)]
    fill(buffers[0], 8)
    for r in results:
        case = Case(r["id"], r["dims"], r["perm"])
        way = numpy_ways(case, buffers[0], buffers[1], r["elem_bytes"])["copyto"]
        calls = max(1, int(1e-4 / max(timed(way, 100), 1e-8)))
        r["numpy_seconds"] = statistics.median(timed(way, calls) for _ in range(5))
    others = {"the naive loop": "naive_seconds", "NumPy (with what a call from Python costs)": "numpy_seconds"}
    if peer:
        others[f"{peer}, planned beforehand"] = "peer_seconds"
    mine = statistics.median(r["seconds"] for r in results)
    plan = statistics.median(r["plan_us"] for r in results)
    print(f"{len(results)} tensors of less than 4 KB: median {1e9 * mine:.0f} ns, plan {plan:.2f} us")
    summary = summarize(results, "seconds", others)
    summary["wrong_cases"] = sum(not r["right"] for r in results)
    write_json(file, machine(1), results, summary)
    if done.returncode or summary["wrong_cases"]:
        fail(f"{program} ended with {done.returncode}; {summary['wrong_cases']} cases are wrong")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="?", metavar="CASES.csv", help="id,dims,perm; from `cutt bench SET --list`")
    parser.add_argument("--dtype", default="f8", choices=sorted(BYTES_OF), help="element type (default: f8)")
    parser.add_argument("--threads", type=int, default=1, help="threads of libcutt and HPTT (default: 1)")
    parser.add_argument("--lib", default=ROOT / "build/lib/libcutt.so", help="libcutt.so (default: build/lib's)")
    parser.add_argument("--hptt", help="libhptt.so")
    parser.add_argument("--shim", help="adapter library, see tiny.c")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for a case (default: 1; 5 rounds at least)")
    parser.add_argument("--json", help="write the figures there")
    parser.add_argument("--force", action="store_true", help="replace the file of --json")
    parser.add_argument("--tiny", action="store_true", help="tensors of less than 4 KB")
    parser.add_argument("--tiny-program", default=ROOT / "build/bench/tiny", help="default: build/bench/tiny")
    parser.add_argument("--samples", type=int, default=4, help="--tiny: tensors of each rank and width (default: 4)")
    arguments = parser.parse_args()
    if arguments.threads < 1:
        parser.error("--threads must be 1 or more")
    if arguments.tiny == bool(arguments.cases):
        parser.error("CASES.csv or --tiny is needed, one of the two")
    if arguments.tiny:
        run_tiny(arguments)
    else:
        run_large(arguments)


if __name__ == "__main__":
    main()
