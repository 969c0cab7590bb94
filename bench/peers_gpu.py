#!/usr/bin/env python3
"""Compares libcutt on a GPU with a copy, cuTENSOR, PyTorch and others that have the paper's calls, by turns.

    bench/peers_gpu.py --lib libcutt.so --program cutt --sets set3,layouts --dtypes f4,f8 [--beta] --json peers.json
    bench/peers_gpu.py --lib libcutt.so --cases bench/data/small.csv --dtypes f4
    bench/peers_gpu.py --lib libcutt.so --batch 10000                      blocks of 8 x 8 x 8 doubles, by one call
    bench/peers_gpu.py set1-f8.json [MORE.json...] [--lib libcutt.so] --json torch.json    cases of `cutt bench --json`
    bench/peers_gpu.py --summary set1-f8.json ... --json torch.json        the closing table, no GPU needed

Contestants: a copy of as many bytes, the driver's and one by a kernel, of which the faster counts; libcutt as the model
predicts, and with --measured as it measures; cuTENSOR's default (--cutensor, or where it is installed); PyTorch's copy
of a permuted view; and with --classic any library with cuttPlan, cuttExecute and cuttDestroy. With --beta the output is
also added to.

Times are of the device, by CUDA events, and medians of rounds in which everybody has a turn. Tensors of less than 16 MB
are executed many times in a CUDA graph of each contestant. Every element of each result is compared with PyTorch's.
Numbers are ordinary ones, between 1 and 2: cuTENSOR multiplies by alpha, which changes the bits of NaNs.

Cases and benches count modes from the fastest index; PyTorch from the slowest: axis a is mode rank-1-a.
"""
import argparse
import ctypes
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

from gpu_contestants import Classic, Cutensor, Cutt, Refused, array, find_cutensor

NOT_HERE = 77  # exit status: nothing to run on
LEAST_ROUNDS, MOST_ROUNDS = 5, 25
GRAPH_BYTES, GRAPH_RUNS = 16 << 20, 20
BYTES = {"i1": 1, "u1": 1, "b1": 1, "f2": 2, "i2": 2, "f4": 4, "i4": 4, "f8": 8, "i8": 8, "c8": 8, "c16": 16}


def fail(message, status=1):
    print(f"peers_gpu.py: {message}", file=sys.stderr)
    sys.exit(status)


def axes_of(perm):
    rank = len(perm)
    return [rank - 1 - perm[rank - 1 - axis] for axis in range(rank)]


# -------------------------------------------------------------------------------------------------------------- cases

def read_bench(path):
    try:
        with open(path, encoding="utf-8") as file:
            bench = json.load(file)
        bench["name"] = f"{bench['summary']['set']} {bench['summary']['dtype']}"
        return bench
    except (OSError, ValueError, KeyError) as error:
        return fail(f"{path} is not a file of `cutt bench --json`: {error}")


def cases_of_lines(lines, name, dtype):
    """Lines 'id,dims,perm' under a heading."""
    cases = []
    for line in lines[1:]:
        fields = line.strip().split(",")
        if len(fields) < 3 or line.startswith("#") or (len(fields) > 3 and fields[3]):
            continue  # strided inputs are not for all contestants
        cases.append({"id": fields[0], "dims": [int(d) for d in fields[1].split("x")],
                      "perm": [int(p) for p in fields[2].split()], "dtype": dtype, "set": name})
    return cases


def listed_cases(arguments, dtype):
    cases = []
    for name in arguments.sets.split(",") if arguments.sets else []:
        command = [arguments.program, "bench", name, "--list", "--dtype", dtype]
        if name in ("set1", "set2", "set3") and arguments.volume:
            command += ["--volume", arguments.volume]
        if name in ("set1", "set2") and arguments.samples:
            command += ["--samples", str(arguments.samples)]
        try:
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            fail(f"{' '.join(command)}: {getattr(error, 'stderr', '') or error}")
        cases += cases_of_lines(said.splitlines(), name, dtype)
    for path in arguments.cases:
        with open(path, encoding="utf-8") as file:
            cases += cases_of_lines(file.read().splitlines(), pathlib.Path(path).stem, dtype)
    return cases


# -------------------------------------------------------------------------------------------------------- contestants

class Buffers:
    """Source and target of one element type, for cases of up to so many elements, and a stream that all work is in."""

    def __init__(self, torch, dtype, elements, beta):
        self.torch, self.dtype, self.beta = torch, dtype, beta
        types = {"f2": torch.float16, "f4": torch.float32, "f8": torch.float64, "i1": torch.int8, "u1": torch.uint8,
                 "b1": torch.bool, "i2": torch.int16, "i4": torch.int32, "i8": torch.int64, "c8": torch.complex64,
                 "c16": torch.complex128}
        self.type, self.bytes = types[dtype], BYTES[dtype]
        self.source, self.first = self.ordinary(elements, 40503), self.ordinary(elements if beta else 0, 30011)
        self.target = torch.empty_like(self.source)
        self.stream = torch.cuda.Stream()
        torch.cuda.synchronize()  # that stream does not wait for the one in which the numbers were made

    def ordinary(self, elements, factor):
        """Numbers from 1 to 2 that differ as far as their width allows; any bits for integers."""
        torch = self.torch
        width = {"c8": 4, "c16": 8}.get(self.dtype, self.bytes)
        bits = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[width]
        made = torch.arange(elements * (self.bytes // width), dtype=torch.int32 if width < 8 else torch.int64,
                            device="cuda")
        fraction = {"f2": 10, "f4": 23, "c8": 23, "f8": 52, "c16": 52}.get(self.dtype)
        one = {10: 0x3c00, 23: 0x3f800000, 52: 0x3ff0000000000000}
        made.mul_(factor)
        if fraction:
            made.bitwise_and_((1 << fraction) - 1).bitwise_or_(one[fraction])
        if self.dtype == "b1":
            return made.bitwise_and_(1).to(torch.bool)
        return made.to(bits).view(self.type)

    def as_bits(self, tensor):
        return tensor.reshape(-1).view(self.torch.int8 if self.bytes == 1 else self.torch.int16 if self.bytes == 2
                                       else self.torch.int32 if self.bytes == 4 else self.torch.int64)

    def reset(self, volume):
        """What a contestant finds in the target: poison, or what it adds to."""
        if self.beta:
            self.target[:volume].copy_(self.first[:volume])
        else:
            self.as_bits(self.target[:volume]).fill_(-1)


class Libraries:
    def __init__(self, arguments):
        self.refused = {}
        self.cutt = self.open(Cutt, arguments.lib, "--lib")
        path = arguments.cutensor or find_cutensor()
        self.cutensor = self.open(Cutensor, path, "--cutensor") if path and path != "none" else None
        self.classic = self.open(Classic, arguments.classic, "--classic")
        self.measured = arguments.measured

    @staticmethod
    def open(kind, path, option):
        if not path:
            return None
        try:
            return kind(path)
        except (OSError, AttributeError, Refused) as error:
            return fail(f"{option}: {error}")

    def leave_out(self, name, case, error):
        self.refused.setdefault(f"{name} {case['set']} {case['dtype']}", []).append(f"{case['id']}: {error}")

    def contestants(self, torch, buffers, case):
        """Name to (run, stop), of those that do the case."""
        volume, beta = math.prod(case["dims"]), buffers.beta
        source, target = buffers.source[:volume], buffers.target[:volume]
        a, b, stream = source.data_ptr(), target.data_ptr(), buffers.stream.cuda_stream
        dims, perm, dtype, size = case["dims"], case["perm"], buffers.dtype, buffers.bytes
        view = source.view(dims[::-1]).permute(axes_of(perm))
        shaped = target.view(view.shape)
        words, room = buffers.as_bits(source), buffers.as_bits(target)
        if size == 1 and volume % 8 == 0:
            words, room = words.view(torch.int64), room.view(torch.int64)
        torch_run = (lambda: torch.add(shaped, view, out=shaped)) if beta else (lambda: shaped.copy_(view))
        runs = {"copy_driver": (lambda: target.copy_(source), None),
                "copy_kernel": (lambda: torch.bitwise_not(words, out=room), None), "torch": (torch_run, None)}

        def add(name, start):
            try:
                runs[name] = start()
            except Refused as error:
                self.leave_out(name, case, error)

        if self.cutt:
            add("cutt", lambda: self.cutt.start(dims, perm, dtype, size, a, b, stream, beta=beta))
            if self.measured:
                add("cutt_measured", lambda: self.cutt.start(dims, perm, dtype, size, a, b, stream, beta=beta,
                                                             measure_on=(a, b, stream)))
        if self.cutensor:
            add("cutensor", lambda: self.cutensor.start(dims, perm, dtype, a, b, stream, beta=beta))
        if self.classic and not beta:
            add("classic", lambda: self.classic.start(dims, perm, size, a, b, stream))
        return runs


# ------------------------------------------------------------------------------------------------------------- timing

def graph_of(torch, run, stream, count):
    """A replay of so many executions, without the host."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(count):
            run()
    return graph.replay


def median_times(torch, runs, seconds, stream):
    """Medians of the contestants, by turns, for about so many seconds.

    Each round has an order of its own: what one leaves in L2 is written back while the next one runs, so that who always came after
    a slow one would seem up to a twentieth faster.
    """
    took, began, shuffle = {name: [] for name in runs}, time.perf_counter(), random.Random(1).shuffle
    while True:
        pairs, turns = [], list(runs.items())
        shuffle(turns)
        for name, run in turns:
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record(stream)
            run()
            end.record(stream)
            pairs.append((name, start, end))
        torch.cuda.synchronize()
        for name, start, end in pairs:
            took[name].append(1e-3 * start.elapsed_time(end))
        rounds = len(next(iter(took.values())))
        if rounds >= MOST_ROUNDS or (rounds >= LEAST_ROUNDS and time.perf_counter() - began >= seconds):
            return {name: statistics.median(times) for name, times in took.items()}, rounds


def run_case(torch, libraries, buffers, case, seconds):
    volume = math.prod(case["dims"])
    row = {key: case[key] for key in ("id", "dims", "perm", "dtype", "set")}
    row["beta"] = int(buffers.beta)
    with torch.cuda.stream(buffers.stream):
        runs = libraries.contestants(torch, buffers, case)
        expected, wrong = None, []
        for name in ["torch"] + [name for name in runs if name != "torch" and not name.startswith("copy")]:
            buffers.reset(volume)
            try:
                runs[name][0]()
                torch.cuda.synchronize()
            except (Refused, RuntimeError) as error:
                libraries.leave_out(name, case, error)
                del runs[name]
                continue
            result = buffers.as_bits(buffers.target[:volume])
            if expected is None:
                expected = result.clone()
            elif not torch.equal(result, expected):
                wrong.append(name)
        del expected
        row["wrong"] = wrong
        if "cutt" in runs:
            row["equal"] = "cutt" not in wrong
        small = volume * buffers.bytes < GRAPH_BYTES
        count = GRAPH_RUNS if small else 1
        timed = {name: graph_of(torch, run, buffers.stream, count) if small else run for name, (run, _) in runs.items()}
        buffers.reset(volume)
        for run in timed.values():
            run()
        medians, row["rounds"] = median_times(torch, timed, seconds, buffers.stream)
        torch.cuda.synchronize()
        for _, stop in runs.values():
            if stop:
                stop()
    medians = {name: value / count for name, value in medians.items()}
    copies = {name: medians.pop(name) for name in ("copy_driver", "copy_kernel") if name in medians}
    medians["copy"] = min(copies.values())
    row["copies"] = copies
    row.update({f"{name}_seconds": value for name, value in medians.items()})
    return row


def compare(arguments, cases_by_dtype):
    torch = import_torch()
    libraries = Libraries(arguments)
    count = sum(len(cases) for cases in cases_by_dtype.values()) * (2 if arguments.beta else 1)
    began, rows = time.perf_counter(), []
    for dtype, cases in cases_by_dtype.items():
        for beta in (False, True) if arguments.beta else (False,):
            if not cases or (beta and dtype not in ("f2", "f4", "f8", "c8", "c16")):
                continue
            buffers = Buffers(torch, dtype, max(math.prod(case["dims"]) for case in cases), beta)
            for case in cases:
                if time.perf_counter() - began > arguments.seconds:
                    print(f"no time is left: {len(rows)} of {count} cases compared")
                    return rows, torch, libraries
                rows.append(run_case(torch, libraries, buffers, case, 0.4 * arguments.seconds / count))
            del buffers
            torch.cuda.empty_cache()
    return rows, torch, libraries


def import_torch():
    try:
        import torch
    except ImportError as error:
        fail(f"PyTorch can't be imported: {error}", NOT_HERE)
    if not torch.cuda.is_available():
        fail("PyTorch sees no GPU", NOT_HERE)
    return torch


# -------------------------------------------------------------------------------------------- batches and host's time

def host_seconds(run, torch, calls=400, rounds=9):
    """Of a call that enqueues: the host's time alone."""
    took = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(calls):
            run()
        took.append((time.perf_counter() - began) / calls)
    torch.cuda.synchronize()
    return statistics.median(took)


def compare_calls(arguments):
    """The host's time for an execution of a small tensor, less that of an empty call from Python."""
    torch, libraries = import_torch(), Libraries(arguments)
    if not libraries.cutt:
        fail("--calls needs --lib", 2)
    buffers = Buffers(torch, "f8", 16 * 16 * 16, False)
    dims, perm, stream = [16, 16, 16], [2, 1, 0], buffers.stream.cuda_stream
    a, b = buffers.source.data_ptr(), buffers.target.data_ptr()
    runs = {"trusted pointers": libraries.cutt.start(dims, perm, "f8", 8, a, b, stream),
            "checked pointers": libraries.cutt.start(dims, perm, "f8", 8, a, b, stream, trust=False)}
    if libraries.cutensor:
        runs["cuTENSOR"] = libraries.cutensor.start(dims, perm, "f8", a, b, stream)
    empty = ctypes.CDLL(None).labs
    empty.argtypes, empty.restype = [ctypes.c_long], ctypes.c_long

    def nothing():
        if empty(1) != 1:
            raise Refused("labs")

    base = host_seconds(nothing, torch)
    took = {name: host_seconds(run, torch) - base for name, (run, _) in runs.items()}
    print("host's time for an execution of 16 x 16 x 16 doubles, less an empty call's from Python:")
    for name, seconds in took.items():
        print(f"  {name:20} {1e6 * seconds:7.2f} us")
    for _, stop in runs.values():
        stop()
    return took


def compare_batch(arguments):
    """Small tensors of doubles, in any order, by one call, beside a copy of all of them and a launch for each."""
    torch, libraries = import_torch(), Libraries(arguments)
    if not libraries.cutt:
        fail("--batch needs --lib", 2)
    count, dims = arguments.batch, [int(extent) for extent in arguments.block.split("x")]
    perm, volume = list(range(len(dims)))[::-1], math.prod(dims)
    buffers = Buffers(torch, "f8", count * volume, False)
    order = list(range(count))
    random.Random(2017).shuffle(order)
    a, b, stream = buffers.source.data_ptr(), buffers.target.data_ptr(), buffers.stream.cuda_stream
    sources = array(ctypes.c_void_p, [a + i * volume * 8 for i in order])
    targets = array(ctypes.c_void_p, [b + i * volume * 8 for i in range(count)])
    lib = libraries.cutt.lib
    plans = {name: libraries.cutt.plan(dims, perm, "f8", 8, trust=name == "trusted") for name in ("trusted", "checked")}

    def batch(plan):
        return lambda: libraries.cutt.check(lib.cuttPlanExecuteBatch(plan, count, sources, targets, stream))

    def each():
        for i in range(count):
            libraries.cutt.check(lib.cuttPlanExecute(plans["trusted"], sources[i], targets[i], stream))

    with torch.cuda.stream(buffers.stream):
        buffers.reset(count * volume)
        batch(plans["trusted"])()
        torch.cuda.synchronize()
        blocks = buffers.source.view([count] + dims[::-1])[torch.tensor(order, device="cuda")]
        blocks = blocks.permute([0] + [len(dims) - axis for axis in range(len(dims))])
        good = torch.equal(buffers.as_bits(buffers.target), buffers.as_bits(blocks.contiguous()))
        words, room = buffers.as_bits(buffers.source), buffers.as_bits(buffers.target)
        runs = {"copy, driver's": lambda: buffers.target.copy_(buffers.source),
                "copy, a kernel's": lambda: torch.bitwise_not(words, out=room),
                "one strided plan": libraries.cutt.start(dims + [count], perm + [len(dims)], "f8", 8, a, b, stream)[0],
                "batch": batch(plans["trusted"])}
        timed = {f"{name}, in a graph": graph_of(torch, run, buffers.stream, 10) for name, run in runs.items()}
        timed.update({"batch, called": batch(plans["trusted"]), "batch, called, checked": batch(plans["checked"]),
                      "an execution each, in a graph": graph_of(torch, each, buffers.stream, 1)})
        for run in timed.values():
            run()
        medians, _ = median_times(torch, timed, 4, buffers.stream)
    for name in medians:
        medians[name] /= 10 if name.endswith("in a graph") and not name.startswith("an execution") else 1
    copy = min(value for name, value in medians.items() if name.startswith("copy"))
    print(f"{count} blocks of {' x '.join(map(str, dims))} doubles; the result is {'right' if good else 'WRONG'}")
    for name, value in medians.items():
        print(f"  {name:32} {1e6 * value:9.1f} us {100 * copy / value:6.1f}% of a copy")
    for plan in plans.values():
        lib.cuttPlanDestroy(plan)
    if not good:
        fail("the batch's result is wrong")
    return {"count": count, "block": dims, "seconds": medians, "percent": 100 * copy / medians["batch, in a graph"]}


# ------------------------------------------------------------------------------------------------------------- report

def ratios_of(rows, mine, other):
    return sorted(r[other] / r[mine] for r in rows if r.get(mine) and r.get(other))


def geometric_mean(numbers):
    return math.exp(statistics.fmean(math.log(n) for n in numbers))


def shape_of(row):
    return f"{'x'.join(map(str, row['dims']))} {' '.join(map(str, row['perm']))}"


PEERS = ("cutensor", "torch", "classic", "cutt_measured")


def print_set(name, rows):
    """The contestants in percent of a copy, and libcutt over each peer, with its worst cases by name."""
    print(f"\n{name}: {len(rows)} cases")
    for who in ("cutt",) + PEERS:
        shares = sorted((3 if r["beta"] else 2) / 2 * 100 * r["copy_seconds"] / r[f"{who}_seconds"]
                        for r in rows if r.get(f"{who}_seconds"))
        if shares:
            print(f"  {who:14} {shares[0]:6.1f} {statistics.median(shares):6.1f} {shares[-1]:6.1f}   % of a copy: "
                  f"worst, median, best of {len(shares)}")
    for who in PEERS:
        ratios = ratios_of(rows, "cutt_seconds", f"{who}_seconds")
        if ratios:
            print(f"  cutt over {who}: geometric mean {geometric_mean(ratios):.3f}, worst {ratios[0]:.2f}, "
                  f"{sum(r < 0.95 for r in ratios)} below 0.95")
    both = [r for r in rows if r.get("cutt_seconds") and r.get("cutensor_seconds")]
    for r in sorted(both, key=lambda r: r["cutensor_seconds"] / r["cutt_seconds"])[:5]:
        print(f"    {r['cutensor_seconds'] / r['cutt_seconds']:5.2f} x cuTENSOR  "
              f"{100 * (1.5 if r['beta'] else 1) * r['copy_seconds'] / r['cutt_seconds']:5.1f}% of a copy  {r['id']}  "
              f"{shape_of(r)[:90]}")


def print_peers(rows, libraries):
    sets = {}
    for row in rows:
        sets.setdefault(f"{row['set']} {row['dtype']}{' + beta' if row['beta'] else ''}", []).append(row)
    for name, own in sets.items():
        print_set(name, own)
    print()
    for name, texts in libraries.refused.items():
        print(f"left out: {name}: {len(texts)} cases, the first: {texts[0][:200]}")
    wrong = [f"{row['set']} {row['dtype']} {row['id']}: {', '.join(row['wrong'])}" for row in rows if row["wrong"]]
    print(f"results that are not PyTorch's, every element compared: {len(wrong)} of {len(rows)} cases"
          + "".join(f"\n  {text}" for text in wrong[:10]))


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


def write(arguments, rows, torch, more):
    machine = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda}
    with open(arguments.json, "w", encoding="utf-8") as file:
        lines = ",\n".join(json.dumps(row) for row in rows)
        extra = "".join(f',\n"{name}": {json.dumps(value)}' for name, value in more.items() if value)
        file.write(f'{{"machine": {json.dumps(machine)},\n"results": [\n{lines}\n]{extra}}}\n')


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benches", nargs="*", metavar="BENCH.json", help="from `cutt bench --backend cuda --json`")
    parser.add_argument("--lib", help="libcutt.so")
    parser.add_argument("--cutensor", help="libcutensor.so.2, or none (default: where it is installed)")
    parser.add_argument("--classic", metavar="LIB", help="a library with the paper's calls")
    parser.add_argument("--measured", action="store_true", help="also libcutt's choice by timing")
    parser.add_argument("--program", default="cutt", help="cutt, which lists the cases of --sets")
    parser.add_argument("--sets", help="of `cutt bench`: set1,set2,set3,everyday,layouts")
    parser.add_argument("--cases", action="append", default=[], metavar="FILE.csv", help="lines id,dims,perm")
    parser.add_argument("--dtypes", default="f8", help="such as u1,f2,f4,f8,c16 (default: f8)")
    parser.add_argument("--volume", help="of sets 1 to 3, as in `cutt bench`")
    parser.add_argument("--samples", type=int, help="of sets 1 and 2, as in `cutt bench`")
    parser.add_argument("--beta", action="store_true", help="also out = in + out")
    parser.add_argument("--batch", type=int, metavar="N", help="N small tensors by one call")
    parser.add_argument("--block", default="8x8x8", help="of --batch, reversed (default: 8x8x8)")
    parser.add_argument("--calls", action="store_true", help="the host's time for a call")
    parser.add_argument("--seconds", type=float, default=120.0, help="time for all cases together (default: 120)")
    parser.add_argument("--json", help="write the figures there (--summary: read them, if the file is there)")
    parser.add_argument("--force", action="store_true", help="replace the file of --json")
    parser.add_argument("--summary", action="store_true", help="only print the table of what has been measured")
    arguments = parser.parse_args()
    unknown = [dtype for dtype in arguments.dtypes.split(",") if dtype not in BYTES]
    if unknown:
        fail(f"--dtypes: {unknown[0]} is none of {' '.join(BYTES)}", 2)
    if arguments.batch is not None and arguments.batch < 1:
        fail(f"--batch is {arguments.batch}; it must be 1 or more", 2)
    if not (arguments.benches or arguments.sets or arguments.cases or arguments.batch or arguments.calls):
        fail("nothing to compare: give BENCH.json, --sets, --cases, --batch or --calls", 2)
    return arguments


def main():
    arguments = read_arguments()
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
    cases = {}
    for bench in sorted(benches, key=lambda b: b["summary"]["dtype"]):
        own = [dict(r, set=bench["summary"]["set"]) for r in bench["results"] if not r.get("error")]
        cases.setdefault(bench["summary"]["dtype"], []).extend(own)
    if arguments.sets or arguments.cases:
        for dtype in arguments.dtypes.split(","):
            cases.setdefault(dtype, []).extend(listed_cases(arguments, dtype))
    more = {"batch": compare_batch(arguments) if arguments.batch else None,
            "calls": compare_calls(arguments) if arguments.calls else None}
    rows, torch, libraries = compare(arguments, cases)
    if arguments.json:
        write(arguments, rows, torch, more)
    if rows:
        print_peers(rows, libraries)
    if benches:
        print_summary(benches, rows)
    wrong = [f"{r['set']} {r['dtype']} {r['id']}" for r in rows if r.get("equal") is False]
    if wrong:
        fail("libcutt's result is not PyTorch's in " + ", ".join(wrong[:10]))


if __name__ == "__main__":
    main()
