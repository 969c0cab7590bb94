#!/usr/bin/env python3
"""Compares libcutt on a GPU with PyTorch's permute().contiguous(), on the cases of benches that were run before.

    cutt bench set1 --backend cuda --json set1-f8.json
    bench/peers_gpu.py set1-f8.json [MORE.json...] [--lib libcutt.so] --json torch.json
    bench/peers_gpu.py --summary set1-f8.json ... --json torch.json      the closing table, no GPU needed

On the same buffers and by turns (A B C A B C ...): a plain copy of as many bytes, tensor.permute(axes).contiguous(), and,
with --lib, a plan of libcutt executed in PyTorch's own stream. Times are by CUDA events; medians are compared. Every
element of libcutt's result is compared with PyTorch's on the device. A permutation that PyTorch sees as contiguous
already, and would not copy, is cloned.

Benches count modes from the fastest index; PyTorch from the slowest: axis a is mode rank-1-a.
"""
import argparse
import ctypes
import json
import math
import os
import pathlib
import statistics
import sys
import time

from cutt_types import Options, Problem

CUDA = 2  # CUTT_BACKEND_CUDA
NOT_HERE = 77  # exit status: nothing to run on
LEAST_ROUNDS, MOST_ROUNDS = 5, 25


def fail(message, status=1):
    print(f"peers_gpu.py: {message}", file=sys.stderr)
    sys.exit(status)


def read_bench(path):
    try:
        with open(path, encoding="utf-8") as file:
            bench = json.load(file)
        bench["name"] = f"{bench['summary']['set']} {bench['summary']['dtype']}"
        return bench
    except (OSError, ValueError, KeyError) as error:
        return fail(f"{path} is not a file of `cutt bench --json`: {error}")


def axes_of(perm):
    rank = len(perm)
    return [rank - 1 - perm[rank - 1 - axis] for axis in range(rank)]


# ------------------------------------------------------------------------------------------------------------ libcutt

class Cutt:
    """A plan at a time."""

    def __init__(self, path):
        try:
            self.lib = ctypes.CDLL(os.path.abspath(path))
        except OSError as error:
            fail(f"--lib: {error}")
        self.lib.cuttLastError.restype = ctypes.c_char_p
        self.lib.cuttPlanExecute.argtypes = [ctypes.c_void_p] * 4
        self.lib.cuttPlanDestroy.argtypes = [ctypes.c_void_p]
        self.plan = None

    def check(self, result, what):
        if result:
            fail(f"{what}: {self.lib.cuttLastError().decode()}")

    def start(self, result, source, target, stream):
        rank = len(result["dims"])
        problem = Problem(ctypes.sizeof(Problem), rank, result["elem_bytes"],
                          (ctypes.c_int64 * rank)(*result["dims"]), (ctypes.c_int * rank)(*result["perm"]))
        options = Options(ctypes.sizeof(Options), CUDA)
        self.plan = ctypes.c_void_p()
        what = f"case {result['id']}"
        self.check(self.lib.cuttPlanCreate(ctypes.byref(self.plan), ctypes.byref(problem), ctypes.byref(options)), what)
        execute, plan = self.lib.cuttPlanExecute, self.plan
        return lambda: self.check(execute(plan, source, target, stream), what)

    def stop(self):
        self.lib.cuttPlanDestroy(self.plan)
        self.plan = None


# ------------------------------------------------------------------------------------------------------------- timing

class Comparison:
    """The buffers of one element type, and the cases that are run in them."""

    def __init__(self, torch, name, elem_bytes, elements, library):
        types = {"f2": torch.float16, "f4": torch.float32, "f8": torch.float64, "i1": torch.int8, "u1": torch.uint8,
                 "b1": torch.bool, "i2": torch.int16, "i4": torch.int32, "i8": torch.int64, "c8": torch.complex64,
                 "c16": torch.complex128}
        self.torch, self.library = torch, library
        self.type = types.get(name, {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}.get(elem_bytes))
        self.bits = {1: torch.int8, 2: torch.int16, 4: torch.int32}.get(elem_bytes, torch.int64)
        words = elements * max(1, elem_bytes // 8)
        numbers = torch.arange(words, dtype=torch.int32 if elem_bytes < 8 else torch.int64, device="cuda")
        self.source = numbers.to(self.bits)
        if self.type is not torch.bool:
            self.source = self.source.view(self.type)
        else:
            self.source = self.source.bitwise_and(1).view(torch.bool)
        self.target = torch.empty_like(self.source)
        del numbers

    def equal(self, a, b):
        return self.torch.equal(a.reshape(-1).view(self.bits), b.reshape(-1).view(self.bits))

    def median_times(self, runs, seconds):
        """Medians of the contestants, by turns, for about so many seconds."""
        event = lambda: self.torch.cuda.Event(enable_timing=True)
        for run in runs.values():
            run()
        took, began = {name: [] for name in runs}, time.perf_counter()
        while True:
            pairs = []
            for name, run in runs.items():
                start, end = event(), event()
                start.record()
                run()
                end.record()
                pairs.append((name, start, end))
            self.torch.cuda.synchronize()
            for name, start, end in pairs:
                took[name].append(1e-3 * start.elapsed_time(end))
            rounds = len(next(iter(took.values())))
            if rounds >= MOST_ROUNDS or (rounds >= LEAST_ROUNDS and time.perf_counter() - began >= seconds):
                return {name: statistics.median(times) for name, times in took.items()}, rounds

    def run_case(self, result, seconds):
        torch, volume = self.torch, math.prod(result["dims"])
        source, target = self.source[:volume], self.target[:volume]
        view = source.view(result["dims"][::-1]).permute(axes_of(result["perm"]))
        move = view.clone if view.is_contiguous() else view.contiguous
        runs = {"copy": lambda: target.copy_(source), "torch": move}
        row = {"id": result["id"], "dims": result["dims"], "perm": result["perm"], "dtype": result["dtype"]}
        if self.library:
            runs["cutt"] = self.library.start(result, source.data_ptr(), target.data_ptr(),
                                              torch.cuda.current_stream().cuda_stream)
            target.view(self.bits).fill_(-1)
            runs["cutt"]()
            row["equal"] = self.equal(target, move())
        medians, row["rounds"] = self.median_times(runs, seconds)
        row.update({f"{name}_seconds": value for name, value in medians.items()})
        if self.library:
            self.library.stop()
        return row


def compare(arguments, benches):
    try:
        import torch
    except ImportError as error:
        fail(f"PyTorch can't be imported: {error}", NOT_HERE)
    if not torch.cuda.is_available():
        fail("PyTorch sees no GPU", NOT_HERE)
    library = Cutt(arguments.lib) if arguments.lib else None
    cases = sum(len(bench["results"]) for bench in benches)
    began, rows, comparison, last = time.perf_counter(), [], None, None
    for bench in sorted(benches, key=lambda b: b["summary"]["dtype"]):
        dtype = bench["summary"]["dtype"]
        results = [r for r in bench["results"] if not r.get("error")]
        if dtype != last:
            comparison, last = None, dtype  # lets go of the memory first
            largest = max((math.prod(r["dims"]) for b in benches if b["summary"]["dtype"] == dtype
                           for r in b["results"]), default=0)
            comparison = Comparison(torch, dtype, results[0]["elem_bytes"], largest, library) if results else None
        for result in results:
            if time.perf_counter() - began > arguments.seconds:
                print(f"no time is left: {len(rows)} of {cases} cases compared")
                return rows, torch
            row = comparison.run_case(result, 0.5 * arguments.seconds / cases)
            row["set"] = bench["summary"]["set"]
            rows.append(row)
    return rows, torch


# ------------------------------------------------------------------------------------------------------------- report

def ratios_of(rows, mine, other):
    return sorted(r[other] / r[mine] for r in rows if r.get(mine) and r.get(other))


def geometric_mean(numbers):
    return math.exp(statistics.fmean(math.log(n) for n in numbers))


def print_summary(benches, rows):
    """For each bench: GB/s, the share of copy speed, and how many times as long PyTorch takes."""
    device = next((b["machine"].get("device") for b in benches if b["machine"].get("device")), None) or {}
    print(f"{device.get('name', 'unknown device')}; plain copies of a set are left out of 'moved'")
    print(f"{'set':10} {'cases':>5} {'wrong':>5}  {'GB/s':>8}  {'% of copy: worst':>16} {'median':>7} {'best':>6}  "
          f"{'moved: worst':>12} {'median':>7}  {'torch/cutt: worst':>17} {'geom. mean':>10}")
    for bench in benches:
        all_of, moved = bench["summary"]["all"], bench["summary"]["all_but_plain_copies"]
        own = [r for r in rows if f"{r['set']} {r['dtype']}" == bench["name"]]
        ratios = ratios_of(own, "cutt_seconds", "torch_seconds")
        torch = f"{ratios[0]:17.2f} {geometric_mean(ratios):10.2f}" if ratios else f"{'-':>17} {'-':>10}"
        wrong = bench["summary"]["failed"] + sum(r.get("equal") is False for r in own)
        print(f"{bench['name']:10} {all_of['cases']:5} {wrong:5}  {all_of['gbs']['median']:8.0f}  "
              f"{all_of['percent']['worst']:16.1f} {all_of['percent']['median']:7.1f} {all_of['percent']['best']:6.1f}  "
              f"{moved['percent']['worst']:12.1f} {moved['percent']['median']:7.1f}  {torch}")
    equal = [r["equal"] for r in rows if "equal" in r]
    if equal:
        print(f"libcutt's result is PyTorch's, every element compared, in {sum(equal)} of {len(equal)} cases")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benches", nargs="+", metavar="BENCH.json", help="from `cutt bench --backend cuda --json`")
    parser.add_argument("--lib", help="libcutt.so, to be timed and compared in the same run")
    parser.add_argument("--seconds", type=float, default=120.0, help="time for all cases together (default: 120)")
    parser.add_argument("--json", help="write the figures there (--summary: read them, if the file is there)")
    parser.add_argument("--force", action="store_true", help="replace the file of --json")
    parser.add_argument("--summary", action="store_true", help="only print the table of what has been measured")
    arguments = parser.parse_args()
    benches = [read_bench(path) for path in arguments.benches]
    if arguments.summary:
        rows = []
        if arguments.json and pathlib.Path(arguments.json).exists():
            with open(arguments.json, encoding="utf-8") as file:
                rows = json.load(file)["results"]
        print_summary(benches, rows)
        return
    if arguments.json and os.path.exists(arguments.json) and not arguments.force:
        fail(f"--json: {arguments.json} exists; --force replaces it", 2)
    rows, torch = compare(arguments, benches)
    machine = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda}
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            lines = ",\n".join(json.dumps(row) for row in rows)
            file.write(f'{{"machine": {json.dumps(machine)},\n"results": [\n{lines}\n]}}\n')
    print_summary(benches, rows)
    wrong = [f"{r['set']} {r['dtype']} {r['id']}" for r in rows if r.get("equal") is False]
    if wrong:
        fail("libcutt's result is not PyTorch's in " + ", ".join(wrong[:10]))


if __name__ == "__main__":
    main()
