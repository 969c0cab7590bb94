#!/usr/bin/env python3
"""How good the model's choices of contraction plans are: its first way beside the fastest of those that are measured.

    cutt bench contract --set tccg48 --list --dtype f8 > cases.csv
    bench/contract_choices.py cases.csv [--dtype f8] [--threads N] [--seconds S] [--scale F] [--json FILE]

The cases come from a file id;group;pattern;extents as `cutt bench contract --list` writes it. A plan is made with CUTT_MEASURE and S
seconds a case; all its ways are timed by turns, and the fastest run of each counts. The quality of a choice is the time of the
fastest way over that of the model's first. --scale multiplies all extents.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def read_cases(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith(("#", "id;")):
                name, group, pattern, extents = line.strip().split(";")
                yield name, group, pattern, {item.split(":")[0]: int(item.split(":")[1]) for item in extents.split()}


def main():
    parser = argparse.ArgumentParser(description="The model's choices of contraction plans beside measured ones.")
    parser.add_argument("cases")
    parser.add_argument("--dtype", default="f8")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    os.environ.setdefault("CUTT_LIBRARY_DIR", str(ROOT / "build" / "lib"))
    sys.path.insert(0, str(ROOT / "bindings" / "python"))
    import cutt

    found = []
    print(f"{'case':8} {'pattern':28} {'quality':>8} {'first ms':>9} {'best ms':>9}  ways   the fastest")
    for name, group, pattern, extents in read_cases(arguments.cases):
        extents = {letter: max(1, round(n * arguments.scale)) for letter, n in extents.items()}
        shapes = [tuple(extents[letter] for letter in term) for term in pattern.split("->")[0].split(",")]
        plan = cutt.ContractionPlan(pattern, *shapes, dtype=arguments.dtype, threads=arguments.threads, measure=arguments.seconds)
        timed = plan.describe("json")["timed"]
        ran = [way for way in timed if way["seconds"] is not None]
        best = min(ran, key=lambda way: way["seconds"])
        first = timed[0]["seconds"]
        quality = best["seconds"] / first
        found.append({"case": name, "group": group, "pattern": pattern, "quality": quality, "timed": timed})
        print(f"{name:8} {pattern:28} {quality:8.3f} {1e3 * first:9.3f} {1e3 * best['seconds']:9.3f}  "
              f"{len(ran):2} of {len(timed):2}  {best['way']}", flush=True)
    values = [one["quality"] for one in found]
    print(f"{len(values)} cases: mean quality {statistics.fmean(values):.3f}, geometric {statistics.geometric_mean(values):.3f}, "
          f"worst {min(values):.3f}; {sum(value > 0.98 for value in values)} of them at most 2% from the fastest")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
