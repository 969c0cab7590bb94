"""The pictures of contractions: Fig. 11 to 13 of the paper, and case by case for the listed sets."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from . import stats
from .records import GEMM, OURS, Contraction, Series
from .style import CEILING, INK, WIDTH, look


def _speeds(cases: Sequence[Contraction], name: str) -> list[float]:
    return [case.gflops(name) for case in cases if name in case.seconds]


def _plain(value: float, _place: int) -> str:
    return f"{value:g}" if value < 10000 else f"{value:,.0f}"


def _between(value: float, _place: int) -> str:
    """Of the ticks between powers of ten, 2 and 5 are told."""
    return _plain(value, 0) if f"{value:e}"[0] in "25" else ""


def intensity(series: Series) -> Figure:
    """Fig. 11 to 13: GFLOP/s against arithmetic intensity, best, mean and worst in each of eight ranges; below it
    the share of the time that permuting takes."""
    bins = stats.intensity_bins(series.cases)
    shares = any(case.permute_percent is not None for case in series.cases)
    rows = 2 if shares else 1
    figure, panels = plt.subplots(
        rows, 1, figsize=(WIDTH, 5.6 if shares else 4.0), sharex=True, squeeze=False, height_ratios=[2.4, 1][:rows]
    )
    _speed_panel(panels[0][0], series, bins)
    if shares:
        _share_panel(panels[1][0], series, bins)
    panels[-1][0].set_xlabel("arithmetic intensity, flops per element")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=4, handlelength=2.6)
    return figure


def _speed_panel(axes: Axes, series: Series, bins: Sequence[stats.Bin]) -> None:
    ours = [case for case in series.cases if OURS in case.seconds]
    shape = look(OURS)
    axes.plot(
        [case.intensity for case in ours],
        [case.gflops(OURS) for case in ours],
        ".",
        color=shape.light,
        alpha=0.35,
        markersize=5,
        zorder=2,
    )
    lines = (("best", "^", "--"), ("mean", "o", "-"), ("worst", "v", ":"))
    held = [(one, stats.spread(_speeds(one.cases, OURS))) for one in bins]
    xs = [one.middle for one, found in held if found]
    for which, marker, line in lines:
        ys = [getattr(found, which) for _, found in held if found]
        axes.plot(
            xs,
            ys,
            marker=marker,
            linestyle=line,
            color=shape.light,
            linewidth=2 if which == "mean" else 1.2,
            markersize=5.5,
            label=f"{OURS}, {which}",
            zorder=4,
        )
    ceiling = [(one.middle, stats.spread(_speeds(one.cases, GEMM))) for one in bins]
    if any(found for _, found in ceiling):
        axes.plot(
            [x for x, found in ceiling if found],
            [found.mean for _, found in ceiling if found],
            color=CEILING.light,
            linestyle=CEILING.line,
            linewidth=1.4,
            label="matrix product alone, mean",
        )
    for at, name in enumerate(series.contestants()):
        if name == OURS:
            continue
        other = look(name, at)
        points = [(one.middle, stats.spread(_speeds(one.cases, name))) for one in bins]
        axes.plot(
            [x for x, found in points if found],
            [found.mean for _, found in points if found],
            other.marker,
            linestyle=other.line,
            color=other.light,
            linewidth=1.4,
            markersize=5,
            label=f"{name}, mean",
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylabel("GFLOP/s")
    axes.xaxis.set_major_formatter(FuncFormatter(_plain))
    axes.yaxis.set_major_formatter(FuncFormatter(_plain))
    axes.yaxis.set_minor_formatter(FuncFormatter(_between))
    axes.xaxis.set_minor_formatter(FuncFormatter(_between))


def _share_panel(axes: Axes, series: Series, bins: Sequence[stats.Bin]) -> None:
    known = [case for case in series.cases if case.permute_percent is not None]
    shape = look(OURS)
    axes.plot(
        [case.intensity for case in known],
        [case.permute_percent for case in known],
        ".",
        color=shape.light,
        alpha=0.35,
        markersize=5,
    )
    means = [
        (one.middle, stats.spread(case.permute_percent for case in one.cases if case.permute_percent is not None))
        for one in bins
    ]
    axes.plot(
        [x for x, found in means if found],
        [found.mean for _, found in means if found],
        "o-",
        color=shape.light,
        linewidth=2,
        markersize=5,
    )
    axes.set_ylim(0, 100)
    axes.set_ylabel("% permuting")


def bars(series: Series) -> Figure:
    """A few contractions, in GFLOP/s: a bar for each contestant."""
    names = [GEMM, *reversed(series.contestants())]
    names = [name for name in names if any(name in case.seconds for case in series.cases)]
    step = len(names) + 1
    figure, axes = plt.subplots(figsize=(WIDTH, 0.8 + 0.3 * step * len(series.cases)))
    for row, case in enumerate(reversed(series.cases)):
        for at, name in enumerate(names):
            if name not in case.seconds:
                continue
            shape = CEILING if name == GEMM else look(name, at)
            speed = case.gflops(name)
            axes.barh(row * step + at, speed, 0.8, color=shape.light)
            label = "matrix product alone" if name == GEMM else name
            place = (speed, row * step + at)
            axes.annotate(f"{label}, {speed:.3g}", place, (5, 0), textcoords="offset points", va="center", color=INK)
    top = max(case.gflops(name) for case in series.cases for name in names if name in case.seconds)
    axes.set_xlim(0, 1.45 * top)
    places = [row * step + (len(names) - 1) / 2 for row in range(len(series.cases))]
    axes.set_yticks(places, [case.id for case in reversed(series.cases)])
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("GFLOP/s")
    return figure


def by_case(series: Series) -> Figure:
    """Each contraction of a listed set, in GFLOP/s."""
    names = [GEMM, *reversed(series.contestants())]
    figure, axes = plt.subplots(figsize=(WIDTH, 3.7))
    for at, name in enumerate(names):
        shape = CEILING if name == GEMM else look(name, at)
        points = [(place, case.gflops(name)) for place, case in enumerate(series.cases, 1) if name in case.seconds]
        if points:
            axes.plot(
                [x for x, _ in points],
                [y for _, y in points],
                shape.marker,
                color=shape.light,
                linestyle=shape.line,
                linewidth=1.4 if name == OURS else 0.9,
                markersize=9 if name == GEMM else 5 if name == OURS else 4,
                label="matrix product alone" if name == GEMM else name,
                zorder=4 if name == OURS else 3,
            )
    axes.set_ylim(0, None)
    axes.set_xlim(0.2, len(series.cases) + 0.8)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.set_major_formatter(FuncFormatter(_plain))
    axes.set_ylabel("GFLOP/s")
    axes.set_xlabel("case, in the order of the list")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside upper left", ncols=4, handlelength=2.8)
    return figure
