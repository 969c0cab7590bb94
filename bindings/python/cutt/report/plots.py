"""The pictures of permutations: Fig. 5 to 10 of the paper, and how many times as long the others take.

Each takes a series and gives a matplotlib figure. The main axis is percent of the speed of a copy that was timed beside
each case; the second one is in GB/s, by the median of the copies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from . import stats
from .records import OURS, Permutation, Series
from .style import CEILING, FAINT, WIDTH, look


def second_axis(axes: Axes, cases: Sequence[Permutation]) -> None:
    """GB/s, for the reader who thinks in them: exact where the copy ran at its median speed."""
    speed = stats.copy_speed(cases)
    if not speed:
        return
    right = axes.secondary_yaxis("right", functions=(lambda p: p * speed / 100, lambda g: g * 100 / speed))
    right.set_ylabel(f"GB/s, where a copy runs at {speed:,.0f}", color=FAINT)
    right.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    right.spines["right"].set_visible(False)


def percent_axis(axes: Axes, tops: Sequence[float], label: bool = True) -> None:
    axes.set_ylim(0, max(105.0, 1.04 * max(tops, default=100)))
    axes.axhline(100, color=CEILING.light, linestyle=CEILING.line, linewidth=1, zorder=1)
    if label:
        axes.set_ylabel("percent of copy speed")


def legend_above(figure: Figure, axes: Axes, columns: int = 5) -> None:
    handles, labels = axes.get_legend_handles_labels()
    held = dict(zip(labels, handles))
    figure.legend(held.values(), held.keys(), loc="outside upper left", ncols=columns, handlelength=2.4)


def ranges(
    axes: Axes, places: Sequence[float], groups: Sequence[Sequence[Permutation]], names: Sequence[str]
) -> list[float]:
    """For each group and contestant a line from the worst to the best, and a mark at the median."""
    tops = []
    width = 0.8 / max(len(names), 1)
    for at, name in enumerate(names):
        shape = look(name, at)
        xs, spreads = [], []
        for place, cases in zip(places, groups):
            found = stats.spread(stats.percents(cases, name))
            if found:
                xs.append(place + (at - (len(names) - 1) / 2) * width)
                spreads.append(found)
        axes.vlines(
            xs,
            [s.worst for s in spreads],
            [s.best for s in spreads],
            color=shape.light,
            linewidth=3.2 if name == OURS else 2,
            alpha=0.45,
            zorder=2,
        )
        for edge in ("worst", "best"):
            axes.plot(xs, [getattr(s, edge) for s in spreads], "_", color=shape.light, markersize=6, zorder=3)
        axes.plot(
            xs, [s.median for s in spreads], shape.marker, color=shape.light, markersize=5.5, label=name, zorder=4
        )
        tops += [s.best for s in spreads]
    return tops


def set1(series: Series) -> Figure:
    """Fig. 5 to 7: a panel for each ratio of extents, a place for each rank."""
    names = [name for name in series.contestants() if stats.percents(series.cases, name)]
    split = {group: tuple(group.removeprefix("rank ").split(", ", 1)) for group in stats.groups_of(series)}
    ratios = sorted({ratio for _, ratio in split.values()}, key=lambda ratio: float(ratio.split(":")[0]))
    figure, panels = plt.subplots(1, len(ratios), figsize=(WIDTH, 3.7), sharey=True, squeeze=False)
    tops: list[float] = []
    for place, (axes, ratio) in enumerate(zip(panels[0], ratios)):
        ranks = sorted((int(rank), group) for group, (rank, other) in split.items() if other == ratio)
        groups = [[case for case in series.cases if case.group == group] for _, group in ranks]
        tops += ranges(axes, range(len(ranks)), groups, names)
        axes.set_xticks(range(len(ranks)), [str(rank) for rank, _ in ranks])
        axes.set_xlabel("rank")
        axes.set_title(f"largest : smallest extent {ratio}")
        axes.grid(axis="x", visible=False)
        if place == len(ratios) - 1:
            second_axis(axes, series.cases)
    for place, axes in enumerate(panels[0]):
        percent_axis(axes, tops, label=place == 0)
    legend_above(figure, panels[0][0])
    return figure


def set2(series: Series) -> Figure:
    """Fig. 9: worst, median and best of each rank, and beside it how the cases are distributed."""
    names = [name for name in series.contestants() if stats.percents(series.cases, name)]
    groups = stats.groups_of(series)
    members = [[case for case in series.cases if case.group == group] for group in groups]
    count = 1 + len(groups)
    figure, panels = plt.subplots(
        1, count, figsize=(WIDTH, 3.6), squeeze=False, width_ratios=[1.1] + [1.3] * len(groups)
    )
    axes = panels[0][0]
    percent_axis(axes, ranges(axes, range(len(groups)), members, names))
    axes.set_xticks(range(len(groups)), groups)
    axes.set_xlim(-0.6, len(groups) - 0.4)
    axes.set_title("worst, median, best")
    axes.grid(axis="x", visible=False)
    second_axis(axes, series.cases)
    edges = [stats.STEP * i for i in range(len(stats.histogram([])) + 1)]
    for axes, group, cases in zip(panels[0][1:], groups, members):
        most = 0
        for at, name in enumerate(names):
            values = stats.percents(cases, name)
            counts = stats.histogram(values)
            most = max([most, *counts])
            shape = look(name, at)
            axes.stairs(counts, edges, color=shape.light, fill=name == OURS, alpha=0.35 if name == OURS else 1)
            axes.stairs(counts, edges, color=shape.light, linestyle=shape.line, linewidth=1.5, label=None)
        axes.set_ylim(0, 1.08 * most if most else 1)
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.set_xlim(0, edges[-1])
        axes.set_xlabel("percent of copy speed")
        axes.set_ylabel(f"cases, of {len(cases)}")
        axes.set_title(group)
    legend_above(figure, panels[0][0])
    return figure


def by_case(series: Series) -> Figure:
    """Fig. 10: every case of set 3 (or of a file) in its order."""
    names = [name for name in series.contestants() if stats.percents(series.cases, name)]
    figure, axes = plt.subplots(figsize=(WIDTH, 3.7))
    tops: list[float] = []
    for at, name in reversed(list(enumerate(names))):
        shape = look(name, at)
        points = [(place, case.percent[name]) for place, case in enumerate(series.cases, 1) if name in case.percent]
        tops += [y for _, y in points]
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            shape.marker,
            linestyle=shape.line,
            color=shape.light,
            linewidth=1.2 if name == OURS else 0.8,
            markersize=5 if name == OURS else 3.6,
            label=name,
            zorder=4 if name == OURS else 3,
        )
    percent_axis(axes, tops)
    axes.set_xlabel("case, in the order of the list")
    axes.set_xlim(0.2, len(series.cases) + 0.8)
    axes.xaxis.get_major_locator().set_params(integer=True)
    second_axis(axes, series.cases)
    _legend_in_order(figure, axes, names)
    return figure


def _legend_in_order(figure: Figure, axes: Axes, names: Sequence[str]) -> None:
    handles, labels = axes.get_legend_handles_labels()
    held = dict(zip(labels, handles))
    order = [name for name in names if name in held]
    figure.legend([held[name] for name in order], order, loc="outside upper left", ncols=4, handlelength=2.8)


def alignment(series: Series) -> Figure:
    """Fig. 8: nearly square matrices, whose side decides how rows lie in memory."""
    names = [name for name in series.contestants() if stats.percents(series.cases, name)]
    cases = sorted(series.cases, key=lambda case: case.dims[0])
    base = cases[0].dims[0] // 32 * 32
    figure, axes = plt.subplots(figsize=(WIDTH, 3.6))
    tops: list[float] = []
    for at, name in reversed(list(enumerate(names))):
        shape = look(name, at)
        held = [case for case in cases if name in case.percent]
        ys = [case.percent[name] for case in held]
        tops += ys
        axes.plot(
            [case.dims[0] - base for case in held],
            ys,
            shape.marker,
            linestyle=shape.line,
            color=shape.light,
            linewidth=1.4,
            markersize=5.5,
            label=name,
            zorder=4 if name == OURS else 3,
        )
    percent_axis(axes, tops)
    offsets = sorted({case.dims[0] - base for case in cases})
    axes.set_xticks(offsets, [_alignment_label(base + offset, offset, cases[0].elem_bytes) for offset in offsets])
    axes.set_xlabel(f"side of the matrix less {base:,}; below it, the bytes that every row is aligned to")
    second_axis(axes, series.cases)
    _legend_in_order(figure, axes, names)
    return figure


def row_alignment(side: int, elem_bytes: int) -> int:
    """The largest power of two, up to a line of 128 bytes, that divides the bytes of a row."""
    return math.gcd(side * elem_bytes, 128)


def _alignment_label(side: int, offset: int, elem_bytes: int) -> str:
    return f"{offset}\n{row_alignment(side, elem_bytes)}"


def ratios(series: Series, names: Sequence[str]) -> Figure:
    """How many times as long each of the others takes: every case a dot, on a logarithmic scale."""
    found = [held for held in (stats.ratio(series, name) for name in names) if held]
    figure, axes = plt.subplots(figsize=(WIDTH, 0.9 + 0.55 * len(found)))
    for place, held in enumerate(found):
        shape = look(held.name, place)
        count = len(held.all)
        # Dots one above the other in a fixed pattern: no chance, so that the same file gives the same picture.
        heights = [place + 0.28 * (((i * 7919) % 101) / 50 - 1) for i in range(count)]
        axes.plot(held.all, heights, shape.marker, color=shape.light, markersize=3.6, alpha=0.55, markeredgewidth=0)
        axes.plot([held.mean] * 2, [place - 0.38, place + 0.38], color=shape.light, linewidth=2.6)
        axes.annotate(f"{held.mean:.2f} x", (held.mean, place + 0.4), ha="center", va="bottom", fontsize=10)
    axes.set_xscale("log")
    low = min([1.0, *(min(held.all) for held in found)])
    high = max([2.0, *(max(held.all) for held in found)])
    axes.set_xlim(low / 1.12, high * 1.12)
    ticks = [
        t
        for t in (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500)
        if low / 1.12 <= t <= high * 1.12
    ]
    axes.set_xticks(ticks)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
    axes.minorticks_off()
    axes.axvline(1, color=CEILING.light, linestyle=CEILING.line, linewidth=1)
    axes.set_yticks(range(len(found)), [held.name for held in found])
    axes.set_ylim(-0.6, len(found) - 0.25)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("its time / cutt's: right of 1 cutt is faster (bar: geometric mean)")
    return figure


def figure_of(series: Series) -> Figure:
    """The one that suits the set."""
    kind = series.set.replace("figures", "set")
    if series.set == "align":
        return alignment(series)
    if kind == "set1" and all("," in group for group in stats.groups_of(series)):
        return set1(series)
    if kind == "set2":
        return set2(series)
    return by_case(series)


def has_percent(series: Series) -> bool:
    return any(case.percent for case in series.cases)
