#!/usr/bin/env python3
"""Prints contractions drawn at random, for contract_peers.py and contract_choices.py.

    bench/contract_draw.py [--dtype f8] [--seed S] [--flops F] COUNT > cases.csv

Modes of each role (the left operand's, the right one's, summed, and a fifth of the time of batches) are one to three, in any order
in each tensor or, three times of ten, in the usual one. Extents are drawn by their logarithms, or all the same, or two numbers as of
occupied and virtual orbitals, or powers of two. The largest tensor has 1 to 400 MB, and all products at most F operations.
"""
import argparse
import math
import random

LETTERS = "abcdefghijkl"
LEAST_BYTES, MOST_BYTES = 1e6, 400e6
BYTES = {"f2": 2, "f4": 4, "f8": 8, "c8": 8, "c16": 16}


def draw_extents(choose, kind, letters):
    if kind == "cubes":
        extent = round(math.exp(choose.uniform(math.log(8), math.log(400 if len(letters) < 4 else 80))))
        return {letter: extent for letter in letters}
    if kind == "orbitals":
        occupied, virtual = choose.randint(8, 40), choose.randint(40, 160)
        return {letter: choose.choice([occupied, virtual]) for letter in letters}
    if kind == "powers":
        return {letter: 2 ** choose.randint(1, 10) for letter in letters}
    most = math.log(1500 if len(letters) < 4 else 300)
    return {letter: round(math.exp(choose.uniform(math.log(3), most))) for letter in letters}


def draw(choose, element, most_flops):
    """A kind, a pattern whose first letters are the fastest modes, and extents."""
    while True:
        kind = choose.choice(["any", "any", "cubes", "orbitals", "powers", "batch"])
        counts = [choose.choice([1, 1, 2, 2, 3]) for _ in range(3)] + [choose.choice([1, 1, 2]) if kind == "batch" else 0]
        letters = LETTERS[:sum(counts)]
        extents = draw_extents(choose, kind, letters)
        roles, begin = [], 0
        for count in counts:
            roles.append(list(letters[begin:begin + count]))
            begin += count
        rows, columns, terms, batch = roles
        tensors = [rows + terms + batch, terms + columns + batch, rows + columns + batch]
        largest = element * max(math.prod(extents[letter] for letter in t) for t in tensors)
        if not LEAST_BYTES <= largest <= MOST_BYTES or 2 * math.prod(extents.values()) > most_flops:
            continue
        if choose.random() >= 0.3:
            for tensor in tensors:
                choose.shuffle(tensor)
        left, right, result = ("".join(tensor) for tensor in tensors)
        return kind, f"{left},{right}->{result}", extents


def main():
    parser = argparse.ArgumentParser(description="Contractions drawn at random, one a line: id;group;pattern;extents.")
    parser.add_argument("count", type=int, metavar="COUNT", help="how many")
    parser.add_argument("--dtype", choices=sorted(BYTES), default="f8", help="whose bytes the tensors' sizes are in (default: f8)")
    parser.add_argument("--seed", type=int, default=2017, help="another draw (default: 2017)")
    parser.add_argument("--flops", type=float, default=1.2e11, help="most operations of one (default: 1.2e11)")
    arguments = parser.parse_args()
    choose = random.Random(arguments.seed)
    print("id;group;pattern;extents")
    for number in range(arguments.count):
        kind, pattern, extents = draw(choose, BYTES[arguments.dtype], arguments.flops)
        print(f"{kind}_{number};{kind};{pattern};" + " ".join(f"{letter}:{extent}" for letter, extent in extents.items()))


if __name__ == "__main__":
    main()
