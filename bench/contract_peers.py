#!/usr/bin/env python3
"""Compares libcutt_contract with other libraries that contract, on the same tensors in the same run.

    cutt bench contract --set tccg48 --list > tccg48.csv
    bench/contract_peers.py tccg48.csv --dtype f8 --threads 1 --tblis libtblis.so --json peers.json

The cases come from a file id;group;pattern;extents as `cutt bench contract --list` or `--csv` writes it. For each
case the contestants take turns (A B C A B C ...), so that a machine whose speed drifts is the same machine for all of
them; medians are compared. Every result is compared with libcutt_contract's, all of it, on a poisoned result.

Contestants, where they are found: NumPy, by the fastest of einsum(optimize=True), tensordot with a transposing copy,
and matmul where the contraction is a matrix product as it stands; TBLIS (--tblis); PyTorch's einsum. With --backend
cuda: PyTorch on the GPU, and cuTENSOR 2. All have the same number of threads. Where `cutt devices` knows how a BLAS
picks better kernels on this machine, that is in the environment of all of them, so NumPy's BLAS is at its best too.
With several threads nothing else should run: each contestant has threads of its own, and they wait for one another.
"""
import argparse
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEAST_ROUNDS, MOST_ROUNDS = 3, 31
POISON = 0xFF  # NaN


def fail(message):
    sys.exit(f"contract_peers.py: {message}")


# ------------------------------------------------------------------------------------------------- before NumPy loads

def set_environment(arguments):
    """Threads, and the variables with which the BLAS libraries here are at their best: read when they are loaded."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(arguments.threads)
    overrides = {}
    try:
        told = subprocess.run([arguments.program, "devices", "--json"], stdout=subprocess.PIPE, check=True).stdout
        overrides = {p["name"]: p["environment_override"] for p in json.loads(told).get("providers", []) if p.get("environment_override")}
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"no environment override is known for slow kernels: {arguments.program} devices: {error}")
    for name, override in overrides.items():
        variable, _, value = override.partition("=")
        if variable not in os.environ:
            os.environ[variable] = value
            print(f"for all: {override}, with which {name} picks better kernels here")


# ------------------------------------------------------------------------------------------------------------- cases

def read_cases(path):
    from contract_contestants import Case
    cases = []
    try:
        with open(path, encoding="utf-8") as file:
            lines = list(enumerate(file, 1))
    except OSError as error:
        return fail(f"{path} can't be read: {error.strerror}")
    for number, line in lines:
        line = line.strip()
        if not line or line.startswith("#") or line == "id;group;pattern;extents":
            continue
        try:
            name, group, pattern, extents = line.split(";")
            pairs = (item.split(":") for item in extents.split())
            cases.append(Case(name, group, pattern, {letter: int(extent) for letter, extent in pairs}))
        except ValueError:
            fail(f"{path}:{number}: '{line}' is not a case; a case is a line such as '1;a;ab,bc->ac;a:2 b:3 c:4'")
    return cases or fail(f"{path}: there are no cases")


def find_contestants(arguments):
    """Ours first; the others that are here."""
    from contract_contestants import Cutensor, Cutt, Device, Host, Numpy, Tblis, Torch, Unusable, find_tblis, load
    host = arguments.backend == "cpu"
    try:
        memory = Host() if host else Device(load(arguments.lib))
        ours = Cutt(arguments.lib, arguments.dtype, arguments.threads, memory, arguments.provider)
    except (Unusable, AttributeError) as error:
        return fail(f"--lib: {error}")
    makers = {"torch": lambda: Torch(arguments.threads, memory)}
    if host:
        makers = {"numpy": Numpy,
                  "tblis": lambda: Tblis(find_tblis(arguments.tblis), arguments.dtype, arguments.threads), **makers}
    else:
        makers["cutensor"] = lambda: Cutensor(arguments.cutensor, arguments.dtype, memory)
    found = [ours]
    for name, make in makers.items():
        try:
            found.append(make())
        except (Unusable, AttributeError, ValueError) as error:
            if name == "tblis" and arguments.tblis:
                fail(f"--tblis: {error}")
            print(f"without {name}: {error}")
    return memory, found


# ------------------------------------------------------------------------------------------------------------- running

class Comparison:
    """The operands, large enough for all cases, and the contestants."""

    def __init__(self, arguments, cases):
        import numpy as np
        from contract_contestants import DTYPES
        self.np, self.arguments = np, arguments
        self.memory, self.contestants = find_contestants(arguments)
        self.type = np.dtype(DTYPES[arguments.dtype][1])
        random = np.random.default_rng(arguments.seed)
        self.operands = []
        for tensor in range(2):
            size = max(case.volume(tensor) for case in cases)
            values = random.random(size * (2 if self.type.kind == "c" else 1), self.type.type(0).real.dtype)
            values *= 2
            values -= 1
            self.operands.append(values.view(self.type))
        size = max(case.volume(2) for case in cases)
        self.results = [np.zeros(size, self.type) for _ in range(2)]

    def arrays_of(self, case, result):
        buffers = [*self.operands, result]
        return [buffers[t][:case.volume(t)].reshape(case.shape(t)) for t in range(3)]

    def tolerance(self, case):
        """32 times what rounding comes to when as many random products are summed one after the other."""
        unit = self.np.finfo(self.type).eps / 2
        return 32 * unit * (math.sqrt(case.contracted) + 2) * math.sqrt(case.contracted)

    def off_by(self, case, mine, theirs):
        """The largest difference, over what is allowed; infinite where the other has no number."""
        np, worst, chunk = self.np, 0.0, 1 << 22
        a, b = mine.reshape(-1), theirs.reshape(-1)
        for begin in range(0, a.size, chunk):
            difference = np.abs(a[begin:begin + chunk] - b[begin:begin + chunk]).max()
            worst = max(worst, float(difference) if np.isfinite(difference) else math.inf)
        return worst / self.tolerance(case)

    def timed(self, contestant, run, calls):
        wait = getattr(contestant, "wait", self.memory.wait)
        wait()
        began = time.perf_counter()
        for _ in range(calls):
            run()
        wait()
        return (time.perf_counter() - began) / calls

    def fetch(self, contestant, pointer, array):
        if hasattr(contestant, "fetch"):
            contestant.fetch()
        else:
            self.memory.get(pointer, array)

    def run_case(self, case):
        from contract_contestants import Unusable
        result = {"id": case.id, "group": case.group, "pattern": case.pattern, "extents": case.extents}
        runs = {}
        for place, contestant in enumerate(self.contestants):
            arrays = self.arrays_of(case, self.results[place > 0])
            arrays[2].view(self.np.uint8)[...] = POISON
            if place < 2:
                pointers = [self.memory.put(array) for array in arrays]
            else:
                self.memory.put_again(pointers[2], arrays[2])
            try:
                made = contestant.start(case, arrays, pointers)
                ways = made if isinstance(made, dict) else {"": made}
                for way in ways.values():
                    way()
                self.fetch(contestant, pointers[2], arrays[2])
            except Unusable as error:
                if place == 0:
                    fail(f"case {case.text}: {error}")
                result[f"{contestant.name}_error"] = str(error)
                continue
            if place == 0:
                result.update(contestant.facts)
            else:
                ours = self.arrays_of(case, self.results[0])[2]
                result[f"{contestant.name}_off"] = self.off_by(case, ours, arrays[2])
            once = {name: min(self.timed(contestant, way, 1) for _ in range(2)) for name, way in ways.items()}
            best = min(once, key=once.get)
            if best:
                result[f"{contestant.name}_way"] = best
            runs[contestant.name] = (contestant, ways[best], max(1, int(self.arguments.sample / max(once[best], 1e-7))))
        took = {name: [] for name in runs}
        began, rounds, turns, shuffle = time.perf_counter(), 0, list(runs.items()), random.Random(1).shuffle
        while rounds < LEAST_ROUNDS or (rounds < MOST_ROUNDS and time.perf_counter() - began < self.arguments.seconds):
            shuffle(turns)  # what one leaves in a cache is written back while the next one runs
            for name, run in turns:
                took[name].append(self.timed(*run))
            rounds += 1
        for name, list_of in took.items():
            result[f"{name}_seconds"] = statistics.median(list_of)
        result["rounds"] = rounds
        for contestant in self.contestants:
            contestant.stop()
        self.memory.free()
        return result


# ------------------------------------------------------------------------------------------------------------- report

def summarize(results, names):
    """Prints and returns, for each of the others, how many times as long as ours it takes; by groups too."""
    from peers import geometric_mean, ratios_of
    summary = {}
    for name in names:
        pairs = ratios_of(results, "cutt_seconds", f"{name}_seconds")
        if not pairs:
            continue
        ratios = [ratio for ratio, _ in pairs]
        groups = {}
        for ratio, r in pairs:
            groups.setdefault(r["group"], []).append(ratio)
        summary[name] = {"cases": len(pairs), "geometric_mean": geometric_mean(ratios), "worst": ratios[0],
                         "median": statistics.median(ratios), "best": ratios[-1],
                         "slower": sum(ratio < 1 for ratio in ratios),
                         "groups": {group: geometric_mean(list_of) for group, list_of in sorted(groups.items())},
                         "worst_cases": [{"id": r["id"], "ratio": ratio} for ratio, r in pairs[:10]]}
        s = summary[name]
        print(f"\nagainst {name}: {s['geometric_mean']:.2f}x (geometric mean of {len(pairs)} cases); worst "
              f"{s['worst']:.2f}x, median {s['median']:.2f}x, best {s['best']:.2f}x; slower in {s['slower']}")
        if len(groups) > 1:
            print("  " + ", ".join(f"{group} {mean:.2f}x" for group, mean in s["groups"].items()))
        for ratio, r in pairs[:10]:
            way = f"  by {r[name + '_way']}" if f"{name}_way" in r else ""
            extents = " ".join(f"{letter}:{extent}" for letter, extent in r["extents"].items())
            print(f"  {ratio:6.2f}x  {r['id']}  {r['pattern']}  {extents}  permuted: {r['permuted']}{way}")
    return summary


def compare(arguments):
    from peers import machine, open_json, write_json
    cases = read_cases(arguments.cases)
    if arguments.only:
        cases = [case for case in cases if case.id in arguments.only.split(",")] or fail("--only leaves no case")
    file = open_json(arguments)
    comparison = Comparison(arguments, cases)
    names = [c.name for c in comparison.contestants]
    print(f"{'GFLOP/s:':11} " + " ".join(f"{name:>9}" for name in names) + "  intensity permuted")
    results = []
    for case in cases:
        r = comparison.run_case(case)
        results.append(r)
        times = (r.get(n + "_seconds") for n in names)
        speeds = (f"{1e-9 * r['flops'] / seconds:9.2f}" if seconds else f"{'-':>9}" for seconds in times)
        notes = [f"{n}: off by {r[n + '_off']:.3g} times what is allowed" for n in names if r.get(n + "_off", 0) > 1]
        print(f"{case.id:11} " + " ".join(speeds) + f"  {r['intensity']:9.1f} {r['permuted']}  {case.pattern}"
              + (f"  [{'; '.join(notes)}]" if notes else ""), flush=True)
    summary = summarize(results, names[1:])
    for name in names[1:]:
        wrong = [r["id"] for r in results if r.get(name + "_off", 0) > 1]
        summary[name + "_wrong_cases"] = len(wrong)
        if wrong:
            print(f"\n{name} and cutt disagree in {len(wrong)} of {len(results)} cases: " + ", ".join(wrong[:10]))
    facts = {**machine(arguments.threads), "backend": arguments.backend, "dtype": arguments.dtype,
             "provider": results[0]["provider"]}
    write_json(file, facts, results, summary)
    if any(summary[name + "_wrong_cases"] for name in names[1:]):
        fail("results disagree")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", metavar="CASES.csv", help="from `cutt bench contract --set SET --list`")
    parser.add_argument("--dtype", default="f8", choices=["f4", "f8", "c8", "c16"], help="element type (default: f8)")
    parser.add_argument("--threads", type=int, default=1, help="threads of all (default: 1)")
    parser.add_argument("--backend", default="cpu", choices=["cpu", "cuda"], help="where (default: cpu)")
    parser.add_argument("--provider", help="our library of matrix products (default: the fastest that is found)")
    parser.add_argument("--lib", default=ROOT / "build/lib/libcutt_contract.so",
                        help="libcutt_contract.so (default: build/lib's)")
    parser.add_argument("--program", default=ROOT / "build/cutt", help="the program cutt (default: build/cutt)")
    parser.add_argument("--tblis", help="libtblis.so (default: where the system finds it)")
    parser.add_argument("--cutensor", help="libcutensor.so.2 (default: where the system finds it)")
    parser.add_argument("--only", help="only the cases of these ids, with commas between them")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for a case (default: 1; 3 rounds at least)")
    parser.add_argument("--sample", type=float, default=1e-3, help="seconds that a sample takes at least")
    parser.add_argument("--seed", type=int, default=2017, help="of the operands' values")
    parser.add_argument("--json", help="write the figures there")
    parser.add_argument("--force", action="store_true", help="replace the file of --json")
    arguments = parser.parse_args()
    if arguments.threads < 1:
        parser.error("--threads must be 1 or more")
    set_environment(arguments)
    try:
        import numpy  # pylint: disable=unused-import,import-outside-toplevel
    except ImportError:
        fail("NumPy is needed (Debian: python3-numpy, and /usr/bin/python3 to run this)")
    compare(arguments)


if __name__ == "__main__":
    main()
