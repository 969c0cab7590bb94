"""Thins out what `cutt bench --all-candidates --json` has written to what tests/test_recorded.c reads:

    for i in 1 2 3; do cutt bench FILE.csv --dtype f4 --threads 1 --all-candidates --no-check --json run$i.json; done
    thin_out.py [--problems N] [--stream-bytes N] run*.json >recorded-NAME.json

A candidate's time is its least over the runs. --problems takes N of them, spread evenly; --stream-bytes says from where on the
library stores past the caches there, as `cutt devices` prints it (default: 16 MiB, what it is with large caches)."""

import argparse
import json
import math

PARAMS = ("kernel", "vector_bytes", "stream", "step", "walk", "prefetch")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--problems", type=int, default=0)
    parser.add_argument("--stream-bytes", type=int, default=16 << 20)
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    problems, machine = {}, None
    for path in arguments.files:
        with open(path, encoding="utf-8") as file:
            run = json.load(file)
        machine = run["machine"]
        for result in run["results"]:
            key = (result["elem_bytes"], tuple(result["dims"]), tuple(result["perm"]))
            times = problems.setdefault(key, {})
            for candidate in result.get("candidates", []):
                if "seconds" not in candidate:  # it was not reached in time
                    continue
                params = tuple(candidate["params"].get(name, 0) for name in PARAMS)
                which = tuple(candidate[name] for name in ("m", "k", "split_m", "split_k", "threads")) + params
                times[which] = min(times.get(which, math.inf), candidate["seconds"])
    chosen = [item for item in problems.items() if len(item[1]) > 1]
    if arguments.problems:
        count = len(chosen)
        chosen = [chosen[i * count // arguments.problems] for i in range(min(count, arguments.problems))]
    device = machine["device"]
    described = {name: device[name] for name in ("name", "l1_bytes", "l2_bytes", "l3_bytes")}
    described["vector_bytes"] = max(isa["vector_bytes"] for isa in device["instruction_sets"] if isa["used"])
    described["stream_bytes"] = arguments.stream_bytes
    print("{")
    print(f' "device": {json.dumps(described)},')
    print(f' "columns": {json.dumps(["m", "k", "split_m", "split_k", "threads", *PARAMS, "microseconds"])},')
    print(' "problems": [')
    for number, ((width, extents, perm), times) in enumerate(chosen):
        print(f'  {{"elem_bytes": {width}, "extents": {json.dumps(extents)}, "perm": {json.dumps(perm)}, "candidates": [')
        rows = [json.dumps([*which, round(seconds * 1e6, 1)], separators=(",", ":")) for which, seconds in times.items()]
        print(",\n".join("   " + row for row in rows))
        print("  ]}" + "," * (number + 1 < len(chosen)))
    print(" ]\n}")


if __name__ == "__main__":
    main()
