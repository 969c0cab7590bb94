"""The numbers beside each picture, as rows of text: head, and body."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from . import stats
from .records import GEMM, OURS, Contraction, Series


@dataclasses.dataclass
class Table:
    head: list[str]
    rows: list[list[str]]


def _three(found: stats.Spread | None) -> str:
    if found is None:
        return "-"
    if found.cases == 1:
        return f"{found.median:.0f}"
    return f"{found.worst:.0f} / {found.median:.0f} / {found.best:.0f}"


def groups(series: Series) -> Table:
    """Worst, median and best percent of copy of each group, and ours in GB/s."""
    names = [name for name in series.contestants() if stats.percents(series.cases, name)]
    head = ["group", "cases", *names, "GB/s", "copy, GB/s"]
    rows = []
    for group in [*stats.groups_of(series), "all"]:
        held = [case for case in series.cases if group in (case.group, "all")]
        speed = stats.spread(case.gbs(OURS) for case in held if OURS in case.seconds)
        copy = stats.copy_speed(held)
        rows.append(
            [
                group,
                str(len(held)),
                *(_three(stats.spread(stats.percents(held, name))) for name in names),
                _three(speed),
                f"{copy:.0f}" if copy else "-",
            ]
        )
    return Table(head, rows)


def by_case(series: Series) -> Table:
    names = [name for name in series.contestants() if stats.percents(series.cases, name)]
    head = ["case", "extents and permutation", *(f"{name}, %" for name in names), "GB/s"]
    rows = []
    for case in series.cases:
        shares = [f"{case.percent[name]:.0f}" if name in case.percent else "-" for name in names]
        rows.append([case.id, case.name, *shares, f"{case.gbs(OURS):.1f}" if OURS in case.seconds else "-"])
    return Table(head, rows)


def ratios(series: Series, names: Sequence[str]) -> Table:
    head = [
        "library",
        "cases",
        "its time / cutt's, geometric mean",
        "least",
        "most",
        "cutt is slower in",
        "slowest beside it",
    ]
    rows = []
    for name in names:
        found = stats.ratio(series, name)
        if found:
            rows.append(
                [
                    name,
                    str(found.cases),
                    f"{found.mean:.2f}",
                    f"{found.worst:.2f}",
                    f"{found.best:.2f}",
                    str(found.slower),
                    found.worst_case,
                ]
            )
    return Table(head, rows)


def _gflops(cases: Sequence[Contraction], name: str) -> stats.Spread | None:
    return stats.spread(case.gflops(name) for case in cases if name in case.seconds)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _spread(found: stats.Spread | None) -> str:
    if found is None:
        return "-"
    values = (found.mean,) if found.cases == 1 else (found.worst, found.mean, found.best)
    return " / ".join(_number(value) for value in values)


def intensities(series: Series) -> Table:
    others = [name for name in series.contestants() if name != OURS]
    head = [
        "intensity",
        "cases",
        "GFLOP/s: worst / mean / best",
        "product alone, mean",
        "% of it, mean",
        "% permuting, mean",
        *(f"{name}, mean" for name in others),
    ]
    rows = []
    for one in stats.intensity_bins(series.cases):
        ours, gemm = _gflops(one.cases, OURS), _gflops(one.cases, GEMM)
        shares = stats.spread(
            100 * case.seconds[GEMM] / case.seconds[OURS]
            for case in one.cases
            if GEMM in case.seconds and OURS in case.seconds
        )
        permuting = stats.spread(case.permute_percent for case in one.cases if case.permute_percent is not None)
        means = [_gflops(one.cases, name) for name in others]
        rows.append(
            [
                f"{_number(one.low)} to {_number(one.high)}",
                str(len(one.cases)),
                _spread(ours),
                _number(gemm.mean) if gemm else "-",
                f"{shares.mean:.0f}" if shares else "-",
                f"{permuting.mean:.0f}" if permuting else "-",
                *(_number(mean.mean) if mean else "-" for mean in means),
            ]
        )
    return Table(head, rows)


def contractions(series: Series) -> Table:
    others = [name for name in series.contestants() if name != OURS]
    alone = any(GEMM in case.seconds for case in series.cases)
    head = ["case", "pattern and extents", "permuted", "GFLOP/s", *(["product alone"] if alone else []), *others]
    rows = []
    for case in series.cases:
        names = [OURS, *([GEMM] if alone else []), *others]
        speeds = [_number(case.gflops(name)) if name in case.seconds else "-" for name in names]
        rows.append([case.id, case.name, case.permuted, *speeds])
    return Table(head, rows)


def overview(series: Sequence[Series], name_of: Callable[[Series], str], type_of: Callable[[Series], str]) -> Table:
    """A line for each series: how fast, and how many times as long the others take."""
    names = list(dict.fromkeys(name for one in series for name in one.contestants() if name != OURS))
    places = len({one.where for one in series}) > 1  # else the page's first line tells it
    head = ["set", "type", *(["where"] if places else []), "cases", "worst / median / best", "percent of"]
    head += names
    rows = []
    for one in series:
        if one.contracts:
            found = stats.spread(
                100 * case.seconds[GEMM] / case.seconds[OURS]
                for case in one.cases
                if GEMM in case.seconds and OURS in case.seconds
            )
            ceiling = "the product alone"
        else:
            found = stats.spread(stats.percents(one.cases, OURS))
            ceiling = "a copy"
        means = [stats.ratio(one, name) for name in names]
        rows.append(
            [
                name_of(one),
                type_of(one),
                *([one.where] if places else []),
                str(len(one.cases)),
                _three(found),
                ceiling if found else "",
                *(f"{mean.mean:.2f}" if mean else "" for mean in means),
            ]
        )
    return Table(head, rows)
