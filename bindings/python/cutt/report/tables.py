"""The numbers beside each picture, as rows of text: head, and body."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from . import stats
from .records import GEMM, OURS, Contraction, Series


@dataclasses.dataclass
class Table:
    head: list[str]
    rows: list[list[str]]


def _three(found: stats.Spread | None) -> str:
    return f"{found.worst:.0f} / {found.median:.0f} / {found.best:.0f}" if found else "-"


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
    head = ["time over ours", "cases", "geometric mean", "least", "most", "we are slower in", "the least"]
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
                " / ".join(_number(value) for value in (ours.worst, ours.mean, ours.best)) if ours else "-",
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


def overview(series: Sequence[Series]) -> Table:
    """A line for each series: how fast, and how much slower the others are."""
    names = list(dict.fromkeys(name for one in series for name in one.contestants() if name != OURS))
    head = ["set", "type", "where", "cases", "worst / median / best", *(f"{name} / ours" for name in names)]
    rows = []
    for one in series:
        if one.contracts:
            found = stats.spread(
                100 * case.seconds[GEMM] / case.seconds[OURS]
                for case in one.cases
                if GEMM in case.seconds and OURS in case.seconds
            )
            share = f"{_three(found)}% of the matrix product" if found else "-"
        else:
            found = stats.spread(stats.percents(one.cases, OURS))
            share = f"{_three(found)}% of copy" if found else "-"
        means = [stats.ratio(one, name) for name in names]
        rows.append(
            [
                one.set,
                one.dtype,
                one.where,
                str(len(one.cases)),
                share,
                *(f"{mean.mean:.2f}" if mean else "" for mean in means),
            ]
        )
    return Table(head, rows)
