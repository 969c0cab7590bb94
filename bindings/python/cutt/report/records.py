"""What was measured, in one form, whatever it was read from.

Files of `cutt bench --json`, `cutt bench figures --json`, `cutt bench contract --json`, of bench/peers.py,
bench/peers_gpu.py and bench/contract_peers.py, and those that this report saves, all become series: the cases of one
set on one machine, with the seconds of every contestant. What compares between files is a share: of the copy that was
timed beside a permutation, of the matrix product beside a contraction. So files of the same cases are merged by share,
and never by seconds.
"""

from __future__ import annotations

import dataclasses
import json
import math
import pathlib
from typing import Any

FORMAT = "cutt report 1"
OURS = "cutt"
MEASURED = "cutt, measured"
PAPER = "the paper's model"
COPY = "copy"
GEMM = "gemm"
UNNAMED = "GPU"

BYTES_OF = {
    "b1": 1,
    "i1": 1,
    "u1": 1,
    "i2": 2,
    "u2": 2,
    "f2": 2,
    "i4": 4,
    "u4": 4,
    "f4": 4,
    "i8": 8,
    "u8": 8,
    "f8": 8,
    "c8": 8,
    "c16": 16,
}


@dataclasses.dataclass
class Permutation:
    """One case: modes fastest first, as `cutt bench` lists them."""

    id: str
    group: str
    dims: list[int]
    perm: list[int]
    elem_bytes: int
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    percent: dict[str, float] = dataclasses.field(default_factory=dict)  # of the copy beside it
    wrong: dict[str, str] = dataclasses.field(default_factory=dict)
    trivial: bool = False
    why: str = ""  # what the plan says of its time

    @property
    def key(self) -> tuple[Any, ...]:
        return (tuple(self.dims), tuple(self.perm), self.elem_bytes)

    @property
    def bytes(self) -> int:
        return 2 * math.prod(self.dims) * self.elem_bytes

    @property
    def name(self) -> str:
        return f"{'x'.join(map(str, self.dims))} {' '.join(map(str, self.perm))}"

    def share(self) -> None:
        """Percentages from seconds, where there is a copy and the file has not given them."""
        copy = self.seconds.get(COPY)
        for name, seconds in self.seconds.items():
            if copy and name != COPY and name not in self.percent:
                self.percent[name] = 100 * copy / seconds

    def gbs(self, name: str) -> float:
        return 1e-9 * self.bytes / self.seconds[name]


@dataclasses.dataclass
class Contraction:
    """One case: patterns and extents as `cutt bench contract` lists them."""

    id: str
    group: str
    pattern: str
    extents: dict[str, int]
    flops: float
    intensity: float
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    wrong: dict[str, str] = dataclasses.field(default_factory=dict)
    permute_percent: float | None = None
    permuted: str = ""
    why: str = ""

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.pattern, tuple(sorted(self.extents.items())))

    @property
    def name(self) -> str:
        return f"{self.pattern} " + " ".join(f"{letter}:{extent}" for letter, extent in self.extents.items())

    def gflops(self, name: str) -> float:
        return 1e-9 * self.flops / self.seconds[name]


@dataclasses.dataclass
class Series:
    """Cases of one set, on one machine, of one type, with so many threads."""

    set: str  # set1, set2, set3, align, figures1, figures2, or a contraction's: talsh48, tccg48, random
    dtype: str
    backend: str
    device: str
    threads: int  # 0 on a GPU
    cases: list[Any] = dataclasses.field(default_factory=list)
    sources: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.set, self.dtype, self.backend, self.device, self.threads)

    @property
    def contracts(self) -> bool:
        return bool(self.cases) and isinstance(self.cases[0], Contraction)

    @property
    def where(self) -> str:
        threads = f", {self.threads} thread{'s' if self.threads != 1 else ''}" if self.threads else ""
        return f"{self.device}{threads}"

    def contestants(self) -> list[str]:
        """Ours first, then the others in the order that they appear in; copy and gemm are none."""
        names: dict[str, None] = {}
        for case in self.cases:
            names.update(dict.fromkeys(case.seconds))
        found = [name for name in names if name not in (COPY, GEMM)]
        return sorted(found, key=lambda name: (name != OURS, name != MEASURED, name != PAPER))


@dataclasses.dataclass
class Report:
    """All series, and what they were made with."""

    series: list[Series] = dataclasses.field(default_factory=list)
    machines: list[dict[str, Any]] = dataclasses.field(default_factory=list)  # as the files have them, with "source"
    commands: list[str] = dataclasses.field(default_factory=list)
    absent: dict[str, str] = dataclasses.field(default_factory=dict)  # contestants that could not take part, and why
    seen: set[str] = dataclasses.field(default_factory=set)

    def add(self, series: Series) -> None:
        """Joins cases that are there already, by share; else keeps the series as another one."""
        if not series.cases:
            return
        for other in self.series:
            if other.key == series.key and other.contracts == series.contracts:
                _merge(other, series)
                return
        self.series.append(series)


def _merge(into: Series, other: Series) -> None:
    known = {case.key: case for case in into.cases}
    for case in other.cases:
        mine = known.get(case.key)
        if mine is None:
            into.cases.append(case)
        elif isinstance(case, Permutation):
            _merge_permutation(mine, case)
        else:
            _merge_contraction(mine, case)
    into.sources += [source for source in other.sources if source not in into.sources]
    into.notes += [note for note in other.notes if note not in into.notes]


def _merge_permutation(mine: Permutation, other: Permutation) -> None:
    """Where both have a contestant, the run that had more of them taking turns is believed."""
    wins = len(other.seconds) > len(mine.seconds)
    for name in other.seconds:
        if wins or name not in mine.seconds:
            mine.seconds[name] = other.seconds[name]
        if name in other.percent and (wins or name not in mine.percent):
            mine.percent[name] = other.percent[name]
    mine.wrong.update(other.wrong)
    mine.why = mine.why or other.why
    mine.trivial = mine.trivial or other.trivial


def _merge_contraction(mine: Contraction, other: Contraction) -> None:
    """Seconds of the others are scaled by ours in both runs, as far as both have it."""
    scale = 1.0
    if OURS in mine.seconds and OURS in other.seconds:
        scale = mine.seconds[OURS] / other.seconds[OURS]
    for name, seconds in other.seconds.items():
        mine.seconds.setdefault(name, seconds * scale)
    mine.wrong.update(other.wrong)
    mine.why = mine.why or other.why
    if mine.permute_percent is None:
        mine.permute_percent = other.permute_percent


def save(report: Report, path: str) -> None:
    """The report's own form: all that a page is drawn from."""
    data = {
        "format": FORMAT,
        "machines": report.machines,
        "commands": report.commands,
        "absent": report.absent,
        "series": [
            {**dataclasses.asdict(series), "kind": "contraction" if series.contracts else "permutation"}
            for series in report.series
        ],
    }
    pathlib.Path(path).write_text(json.dumps(data, separators=(",", ":")) + "\n", encoding="utf-8")
