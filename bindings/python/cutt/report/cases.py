"""Which cases are run: those that `cutt bench --list` draws, so that a case has one name everywhere, and the sweep of
nearly square matrices of the paper's Fig. 8, which the program does not have."""

from __future__ import annotations

import json
import math
import os
import pathlib
import shutil
import subprocess
from typing import Any

from .contracters import counts
from .formats import group_of, set_of
from .records import BYTES_OF, Contraction, Permutation

ALIGNED_STEP = 32  # elements: sides begin at a multiple of it, as in the paper


class NoProgram(Exception):
    """The program `cutt` is not there, or would not do it."""


def find_program(given: str | None) -> str:
    """As said; else $CUTT_PROGRAM, beside the libraries, of the clone that this file is in, or on the path."""
    places = [given] if given else [os.environ.get("CUTT_PROGRAM")]
    if not given:
        package = pathlib.Path(__file__).resolve().parents[1]
        places += [str(package / "bin" / "cutt"), str(package.parents[2] / "build" / "cutt"), shutil.which("cutt")]
        library = os.environ.get("CUTT_LIBRARY_DIR")
        if library:
            places.insert(1, str(pathlib.Path(library).parent / "cutt"))
    for place in places:
        if place and os.access(place, os.X_OK) and os.path.isfile(place):
            return place
    raise NoProgram(
        f"{given} is not a program"
        if given
        else "the program cutt, which draws the cases, is not found; --program says where it is (make builds build/cutt)"
    )


def ask(program: str, *arguments: str) -> str:
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoProgram(f"{program} can't be run: {error}") from error
    if done.returncode:
        raise NoProgram(f"{program} {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def devices(program: str) -> dict[str, Any]:
    return json.loads(ask(program, "devices", "--json"))


def permutations(program: str, name: str, dtype: str, volume: str, samples: int | None, seed: int) -> list[Permutation]:
    options = ["--dtype", dtype, "--volume", volume, "--seed", str(seed), "--list"]
    if samples and name != "set3":
        options += ["--samples", str(samples)]
    cases = []
    for line in ask(program, "bench", name, *options).splitlines()[1:]:
        if not line:
            continue
        label, dims, perm = line.split(",")
        sides, order = [int(side) for side in dims.split("x")], [int(mode) for mode in perm.split()]
        # The lists of sets have ids that say which group a case is of; those of a file have not.
        group = group_of(label) if set_of(label) == name else name
        cases.append(Permutation(label, group, sides, order, BYTES_OF[dtype], trivial=order == sorted(order)))
    return cases


def alignments(dtype: str, volume: float, count: int = 17) -> list[Permutation]:
    """n x n transposed, n = base, base + 1, ..., base + count - 1, base a multiple of 32 near the root of volume."""
    base = max(ALIGNED_STEP, round(math.sqrt(volume) / ALIGNED_STEP) * ALIGNED_STEP)
    return [
        Permutation(f"align_{offset:02}", f"{base} + {offset}", [base + offset] * 2, [1, 0], BYTES_OF[dtype])
        for offset in range(count)
    ]


def contractions(
    program: str, name: str, dtype: str, volume: str | None, samples: int | None, seed: int
) -> list[Contraction]:
    options = ["--set", name, "--dtype", dtype, "--list"]
    if volume:
        options += ["--volume", volume]
    if name == "random":
        options += ["--seed", str(seed), *(["--samples", str(samples)] if samples else [])]
    cases = []
    for line in ask(program, "bench", "contract", *options).splitlines()[1:]:
        if not line:
            continue
        label, group, pattern, extents = line.split(";")
        sides = {letter: int(extent) for letter, extent in (item.split(":") for item in extents.split())}
        cases.append(Contraction(label, group, pattern, sides, *counts(pattern, sides, dtype)))
    return cases


def elements(text: str, paper: float = 200e6) -> float:
    """A volume as the program takes it: 16M, 1.5Gi, 100000; `paper` is the paper's."""
    if text == "paper":
        return paper
    factors = {"k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}
    for suffix in sorted(factors, key=len, reverse=True):
        if text.endswith(suffix):
            return float(text[: -len(suffix)]) * factors[suffix]
    return float(text)
