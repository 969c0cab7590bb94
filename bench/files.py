#!/usr/bin/env python3
"""cutt transpose of files that are larger than the memory it may use, beside cp and sync of the same file, by turns.

    python3 bench/files.py build/cutt FOLDER [--memory 64M,16M] [--cases 12] [--megabytes 268] [--rounds 3] [--seed 1]

FOLDER is on the disk in question, with room for three files of so many megabytes. Shapes are random, of rank 2 to 5, with elements
of 1 to 16 bytes and random permutations in which no neighbours stay together. The input is not in memory when a turn begins, as far
as the system drops it when asked. Prints a line for each case: the way that the program says, seconds, and its rate as a part of
cp's, medians; and then the worst, the median and the best, of all and of those with one pass."""
import argparse
import os
import random
import statistics
import subprocess
import sys
import time

import numpy as np

TYPES = {1: "u1", 2: "i2", 4: "f4", 8: "f8", 16: "c16"}


def random_case(rng, total):
    """A shape, a type and axes."""
    rank, size = rng.randint(2, 5), rng.choice(list(TYPES))
    elements = total // size
    while True:
        cuts = sorted(rng.random() for _ in range(rank - 1))
        shares = [b - a for a, b in zip([0.0] + cuts, cuts + [1.0])]
        shape = [max(2, round(elements**share)) for share in shares]
        longest = shape.index(max(shape))
        rest = int(np.prod(shape, dtype=object)) // shape[longest]
        shape[longest] = max(2, elements // rest)
        axes = rng.sample(range(rank), rank)
        together = any(b == a + 1 for a, b in zip(axes, axes[1:]))
        if not together and abs(int(np.prod(shape, dtype=object)) - elements) < elements // 10:
            return tuple(shape), TYPES[size], tuple(axes)


def read_case(text):
    """SHAPE:TYPE:AXES, as in 5792,5792:f8:1,0."""
    shape, dtype, axes = text.split(":")
    return tuple(map(int, shape.split(","))), dtype, tuple(map(int, axes.split(",")))


def write_input(path, shape, dtype):
    """Values that differ; the header is NumPy's."""
    out = np.lib.format.open_memmap(path, "w+", dtype, shape)
    flat, step = out.reshape(-1).view("u1"), 1 << 24
    noise = np.random.default_rng(1).integers(0, 256, step + 251, "u1")
    for k, at in enumerate(range(0, flat.size, step)):
        part = flat[at : at + step]
        part[:] = noise[k % 251 :][: part.size]
    out.flush()


def forget(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def turn(command, source, target):
    """Seconds until the output is on the disk, and what the command said."""
    if os.path.exists(target):
        os.unlink(target)
    forget(source)
    start = time.perf_counter()
    done = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True)
    descriptor = os.open(target, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
    return time.perf_counter() - start, done.stderr


def summary(name, ratios):
    if ratios:
        print("%-10s %2d cases: worst %.2f, median %.2f, best %.2f" %
              (name, len(ratios), min(ratios), statistics.median(ratios), max(ratios)))


def measure(options, memory, number, case):
    shape, dtype, axes = case
    source, target, copy = (os.path.join(options.folder, name) for name in ("in.npy", "out.npy", "copy.npy"))
    write_input(source, shape, dtype)
    command = [options.cutt, "transpose", source, target, "--axes", ",".join(map(str, axes)), "--memory", memory, "-v"]
    seconds, copies, said = [], [], ""
    for k in range(-1, options.rounds):
        copied, _ = turn(["cp", source, copy], source, copy)
        taken, said = turn(command, source, target)
        if k >= 0:
            copies.append(copied)
            seconds.append(taken)
    if options.check:
        assert (np.load(target, mmap_mode="r") == np.load(source, mmap_mode="r").transpose(axes)).all()
    for path in (source, target, copy):
        os.unlink(path)
    ratio = statistics.median(copies) / statistics.median(seconds)
    words = said.splitlines()[0].replace("cutt: ", "")
    print("%s %2d %-32s %-4s %-10s cp %.2f s, cutt %.2f s, %.2f  %s" %
          (memory, number, shape, dtype, axes, statistics.median(copies), statistics.median(seconds), ratio, words), flush=True)
    return ratio, words.startswith("one pass")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cutt")
    parser.add_argument("folder")
    parser.add_argument("--memory", default="64M,16M")
    parser.add_argument("--cases", type=int, default=12)
    parser.add_argument("--only", type=int, action="append", help="the case of this number, more than once for several")
    parser.add_argument("--case", type=read_case, action="append", help="SHAPE:TYPE:AXES instead of random ones")
    parser.add_argument("--megabytes", type=int, default=268)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="compare the last output with NumPy's")
    options = parser.parse_args()
    for memory in options.memory.split(","):
        rng = random.Random(options.seed)
        cases = options.case or [random_case(rng, options.megabytes * 10**6) for _ in range(options.cases)]
        found = [measure(options, memory, i, case) for i, case in enumerate(cases)
                 if options.only is None or i in options.only]
        summary(memory, [ratio for ratio, _ in found])
        summary("one pass", [ratio for ratio, one in found if one])


if __name__ == "__main__":
    sys.exit(main())
