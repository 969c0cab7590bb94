"""Worst, median and best; eight ranges of intensity; histograms; ratios."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Iterable, Sequence

from .records import OURS, Contraction, Permutation, Series

BINS = 8  # of intensity, as in the paper's Fig. 11 to 13
STEP = 5  # percent of copy, of a bar of a histogram


@dataclasses.dataclass(frozen=True)
class Spread:
    """Of a list of numbers of which larger is better."""

    cases: int
    worst: float
    median: float
    mean: float
    best: float


def spread(values: Iterable[float]) -> Spread | None:
    held = sorted(values)
    if not held:
        return None
    return Spread(len(held), held[0], statistics.median(held), statistics.fmean(held), held[-1])


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(statistics.fmean(math.log(value) for value in values))


def groups_of(series: Series) -> list[str]:
    """In the order that they come in."""
    return list(dict.fromkeys(case.group for case in series.cases))


def percents(cases: Iterable[Permutation], name: str) -> list[float]:
    return [case.percent[name] for case in cases if name in case.percent]


def copy_speed(cases: Iterable[Permutation]) -> float | None:
    """Median GB/s of the copies: what 100 percent is, more or less."""
    speeds = [case.gbs("copy") for case in cases if case.seconds.get("copy")]
    return statistics.median(speeds) if speeds else None


def histogram(values: Iterable[float], step: int = STEP, top: int = 120) -> list[int]:
    """Cases by percent, `step` wide; the last takes all from top up."""
    counts = [0] * (top // step + 1)
    for value in values:
        counts[min(int(max(value, 0) // step), top // step)] += 1
    return counts


@dataclasses.dataclass(frozen=True)
class Bin:
    """The contractions of a range of intensities; the range of the last takes its upper bound in."""

    low: float
    high: float
    cases: list[Contraction]

    @property
    def middle(self) -> float:
        """Where the cases are, in the geometric mean: the outer ranges are often filled on one side only."""
        return geometric_mean([case.intensity for case in self.cases])


def intensity_bins(cases: Sequence[Contraction], count: int = BINS) -> list[Bin]:
    """Ranges of equal width on a logarithmic scale, as `cutt bench contract` makes them; empty ones are left out."""
    known = [case for case in cases if case.intensity > 0]
    if not known:
        return []
    low, high = min(case.intensity for case in known), max(case.intensity for case in known)
    step = (high / low) ** (1 / count)
    held: list[list[Contraction]] = [[] for _ in range(count)]
    for case in known:
        at = int(math.log(case.intensity / low) / math.log(step) + 1e-9) if step > 1 else 0
        held[min(max(at, 0), count - 1)].append(case)
    return [Bin(low * step**at, low * step ** (at + 1), cases) for at, cases in enumerate(held) if cases]


@dataclasses.dataclass(frozen=True)
class Ratio:
    """How many times as long another contestant takes as we do, over the cases that both have."""

    name: str
    cases: int
    mean: float  # geometric
    worst: float
    best: float
    slower: int  # cases in which we are
    worst_case: str
    all: list[float]


def ratio(series: Series, name: str) -> Ratio | None:
    pairs = []
    for case in series.cases:
        if isinstance(case, Permutation) and OURS in case.percent and name in case.percent:
            pairs.append((case.percent[OURS] / case.percent[name], case.name))
        elif OURS in case.seconds and name in case.seconds:
            pairs.append((case.seconds[name] / case.seconds[OURS], case.name))
    if not pairs:
        return None
    pairs.sort()
    values = [value for value, _ in pairs]
    slower = sum(value < 1 for value in values)
    return Ratio(name, len(values), geometric_mean(values), values[0], values[-1], slower, pairs[0][1], values)


def worst_permutations(series: Sequence[Series], count: int = 10) -> list[tuple[Series, Permutation]]:
    """The lowest shares of copy speed of the library's own choice, in all series; each case once in a series."""
    held = [(one, case) for one in series if not one.contracts for case in one.cases if OURS in case.percent]
    return sorted(held, key=lambda pair: pair[1].percent[OURS])[:count]


def worst_contractions(series: Sequence[Series], count: int = 10) -> list[tuple[Series, Contraction]]:
    """The lowest shares of the speed of the matrix product alone."""
    held = [
        (one, case)
        for one in series
        if one.contracts
        for case in one.cases
        if OURS in case.seconds and "gemm" in case.seconds
    ]
    return sorted(held, key=lambda pair: pair[1].seconds["gemm"] / pair[1].seconds[OURS])[:count]
