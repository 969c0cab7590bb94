"""One HTML page that needs nothing else: the pictures are in it, and so are its few lines of style."""

from __future__ import annotations

import dataclasses
import html
import math
import re
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from . import plots, plots_contract, stats, style, tables
from .records import BYTES_OF, GEMM, OURS, Contraction, Permutation, Report, Series

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:0 auto;padding:1rem 1.5rem 4rem;color:#1f1f1f;
background:#fff}h1{font-size:1.7rem;margin-bottom:.2rem}h2{margin-top:2.5rem;border-bottom:1px solid #d0d0d0}h3{margin:2rem 0 .3rem}
figure{margin:.5rem 0 .6rem}figcaption,.note{color:#4a4a4a;max-width:52rem}
svg{width:100%;height:auto;display:block}
.wide{overflow-x:auto;border:1px solid #d0d0d0;border-radius:4px;margin:.4rem 0 0}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;width:100%}
th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid #e4e4e4}
th{background:#f3f3f3;vertical-align:bottom}
th:first-child,td:first-child,.t{text-align:left}td:not(.t){white-space:nowrap}td.long{overflow-wrap:anywhere}
pre{font-size:.85rem;white-space:pre-wrap;overflow-wrap:anywhere;background:#f3f3f3;padding:.6rem .8rem;border-radius:4px;margin:.3rem 0}
summary{cursor:pointer}nav a{margin-right:1rem}a{color:#0058a0}
.warn{border-left:4px solid #c65102;background:#fff3e8;padding:.5rem .9rem;margin:1rem 0}
@media (max-width:56rem){th,td{padding:.2rem .35rem}table{font-size:.8rem}}
@media (prefers-color-scheme:dark){body{color:#ececec;background:#161616}figcaption,.note{color:#b9b9b9}
.wide,h2{border-color:#444}th,pre{background:#242424}td,th{border-color:#333}a{color:#7cc0ff}
.warn{background:#33261a;border-color:#ff9650}}
"""

_NAMES = {
    "set1": "Set 1: ranks 2 to 7, random permutations",
    "set2": "Set 2: ranks 8 and 12",
    "set3": "Set 3: the 57 permutations of TTC",
    "align": "Nearly square matrices and alignment",
    "figures1": "Set 1: the model's choice beside the fastest",
    "figures2": "Set 2: the model's choice beside the fastest",
    "random": "Random contractions",
    "tccg48": "The 48 contractions of TCCG",
    "talsh48": "The 48 contractions of TAL-SH",
}
_TYPES = {
    "b1": "bool",
    "i": "int",
    "u": "uint",
    "f": "float",
    "c": "complex",
}
_PAPER = {
    "set1": "Fig. 5 to 7",
    "figures1": "Fig. 5 to 7",
    "align": "Fig. 8",
    "set2": "Fig. 9",
    "figures2": "Fig. 9",
    "set3": "Fig. 10",
    "random": "Fig. 11 to 13",
    "tccg48": "as Fig. 11 to 13",
    "talsh48": "as Fig. 11 to 13",
}


_BUSY = 0.5  # of the load average: half a core
_FEW = 8  # contractions: with fewer, ranges of intensity would have one each


@dataclasses.dataclass
class Picture:
    name: str  # a word for ids and names of files
    figure: Figure
    title: str
    caption: str
    table: tables.Table


def slug(series: Series, what: str) -> str:
    threads = f"-{series.threads}t" if series.threads else ""
    return f"{series.set}-{series.dtype}-{series.backend}{threads}-{what}"


def type_of(series: Series) -> str:
    """As people say it: float64 for f8."""
    name = series.dtype
    if name in _TYPES or name[:1] not in _TYPES or not name[1:].isdigit():
        return _TYPES.get(name, name)
    return f"{_TYPES[name[0]]}{8 * int(name[1:])}"


def set_name(series: Series) -> str:
    return _NAMES.get(series.set, f"Cases of {series.set}")


def title_of(series: Series) -> str:
    return f"{set_name(series)}; {type_of(series)}, {series.where}"


def _compared(series: Series, others: list[str]) -> str:
    """The heading of the ratios."""
    return f"{set_name(series).partition(':')[0]}: time of {_listed(others)} beside cuTT's; {type_of(series)}, {series.where}"


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


# ---------------------------------------------------------------------------------------------------------- captions


def _others(series: Series) -> list[str]:
    return [name for name in series.contestants() if name != OURS and stats.ratio(series, name)]


def _beside(series: Series) -> str:
    said = []
    for name in _others(series):
        found = stats.ratio(series, name)
        assert found
        times = f"{name} takes {found.mean:.2f} times as long as cutt"
        spread = f" in the geometric mean (from {found.worst:.2f} to {found.best:.2f})" if found.cases > 1 else ""
        said.append(times + spread)
    return "; ".join(said) + "." if said else ""


_SEEN = {
    "set1": "Lines go from the worst to the best case of a rank, marks are medians.",
    "set2": "Left: lines from the worst to the best case, marks at the medians. Right: how many cases reach "
    "what share, in steps of 5 percent.",
    "align": "The larger the power of two that divides the bytes of a row, the fewer units of memory two rows share.",
}


def caption(series: Series) -> str:
    cases, found = series.cases, stats.spread(stats.percents(series.cases, OURS))
    kind = series.set.replace("figures", "set")
    paper = f"{_PAPER[series.set]} of the paper. " if series.set in _PAPER else ""
    if not found:
        return paper
    plain = sum(case.trivial for case in cases)
    seen = _SEEN.get(kind, "Every case in the order of the list.")
    if kind == "set1" and len(cases) == len(stats.groups_of(series)):
        seen = "Every mark is one case."
    text = f"{paper}{seen} cutt, {_count(len(cases), 'case')}: "
    if len(cases) == 1:
        text += f"{found.median:.0f} percent of a copy of the same bytes"
    else:
        text += f"median {found.median:.0f} percent of a copy of the same bytes, worst {found.worst:.0f}, best {found.best:.0f}"
    text += f"; {plain} of them are plain copies. " if plain else ". "
    return text + _beside(series)


def caption_contract(series: Series) -> str:
    found = stats.spread(
        100 * case.seconds[GEMM] / case.seconds[OURS]
        for case in series.cases
        if GEMM in case.seconds and OURS in case.seconds
    )
    paper = f"{_PAPER[series.set]} of the paper. " if series.set in _PAPER else ""
    ranges = len(stats.intensity_bins(series.cases))
    text = f"{paper}{_count(len(series.cases), 'contraction')} in {_count(ranges, 'range')} of arithmetic intensity; "
    text += "every dot is one. "
    if found and found.cases > 1:
        text += (
            f"cutt has {found.median:.0f} percent of the speed of the matrix product alone in the median "
            f"(worst {found.worst:.0f}). "
        )
    elif found:
        text += f"cutt has {found.median:.0f} percent of the speed of the matrix product alone. "
    return text + _beside(series)


# ----------------------------------------------------------------------------------------------------------- pictures


def pictures(series: Series, for_page: bool) -> list[Picture]:
    """All that is drawn of a series. The figures are the caller's, to be closed."""
    with matplotlib.rc_context(style.settings(for_page)):
        return _contracted(series) if series.contracts else _permuted(series)


def _permuted(series: Series) -> list[Picture]:
    held = []
    title = title_of(series)
    if plots.has_percent(series):
        grouped = series.set.replace("figures", "set") in ("set1", "set2")
        table = tables.groups(series) if grouped else tables.by_case(series)
        held.append(Picture(slug(series, "speed"), plots.figure_of(series), title, caption(series), table))
    others = _others(series)
    if others:
        lead = "Every mark is a case, the bar the geometric mean. "
        held.append(
            Picture(
                slug(series, "ratio"),
                plots.ratios(series, others),
                _compared(series, others),
                lead + _beside(series),
                tables.ratios(series, others),
            )
        )
    return held


def _contracted(series: Series) -> list[Picture]:
    title, held = title_of(series), []
    few = len(series.cases) < _FEW
    if not few:
        held.append(
            Picture(
                slug(series, "intensity"),
                plots_contract.intensity(series),
                title,
                caption_contract(series),
                tables.intensities(series),
            )
        )
    if few or series.set != "random":
        text = "Every contraction of the list. "
        if few:
            text = (
                f"{_count(len(series.cases), 'contraction')}, too few to be drawn over arithmetic intensity as Fig. 11 to 13 "
                "of the paper: --samples draws more. "
            ) + _beside(series)
        held.append(
            Picture(
                slug(series, "cases"),
                plots_contract.bars(series) if few else plots_contract.by_case(series),
                title if few else f"{set_name(series)}, case by case; {type_of(series)}, {series.where}",
                text,
                tables.contractions(series),
            )
        )
    others = _others(series)
    if others:
        lead = "Every mark is a contraction, the bar the geometric mean. "
        held.append(
            Picture(
                slug(series, "ratio"),
                plots.ratios(series, others),
                _compared(series, others),
                lead + _beside(series),
                tables.ratios(series, others),
            )
        )
    return held


# --------------------------------------------------------------------------------------------------------------- HTML


def escape(text: Any) -> str:
    return html.escape(str(text))


_WORDY = ("set", "type", "where", "case", "library", "what", "permuted", "percent of")
_LONG = ("why", "slowest beside it")  # which may be broken anywhere


def _table(table: tables.Table) -> str:
    """Words stand at the left of their column, with their heads, and numbers at the right."""
    kinds = []
    for name in table.head:
        long = name in _LONG or name.endswith((" and permutation", " and extents"))
        kinds.append(" class='t long'" if long else " class=t" if name in _WORDY else "")

    def cells(tag: str, row: list[str]) -> str:
        scope = " scope=col" if tag == "th" else ""
        return "".join(f"<{tag}{kind}{scope}>{escape(cell)}</{tag}>" for kind, cell in zip(kinds, row))

    rows = "".join(f"<tr>{cells('td', row)}</tr>\n" for row in table.rows)
    head = f"<tr>{cells('th', table.head)}</tr>"
    return f"<div class=wide><table><thead>{head}</thead>\n<tbody>\n{rows}</tbody></table></div>"


def _picture(picture: Picture) -> str:
    svg = style.to_page(picture.figure, picture.name, picture.title)
    rows = len(picture.table.rows)
    return (
        f"<h3 id={picture.name}>{escape(picture.title)}</h3>\n<figure>{svg}"
        f"<figcaption>{escape(picture.caption)}</figcaption></figure>\n"
        f"<details{' open' if rows <= 10 else ''}><summary>The numbers: {_count(rows, 'row')}</summary>\n"
        f"{_table(picture.table)}</details>\n"
    )


def _worst(report: Report) -> str:
    """The ten worst of each kind by name, each with what its plan says."""
    parts = []
    kinds: list[tuple[str, list[tuple[Series, Any]]]] = [
        ("Permutations: the lowest shares of copy speed", stats.worst_permutations(report.series)),
        ("Contractions: the lowest shares of the matrix product alone", stats.worst_contractions(report.series)),
    ]
    for heading, held in kinds:
        if not held:
            continue
        parts.append(f"<h3>{escape(heading)}</h3>\n")
        for series, case in held:
            parts.append(_one_worst(series, case))
    return "".join(parts)


def _one_worst(series: Series, case: Permutation | Contraction) -> str:
    if isinstance(case, Permutation):
        share = f"{case.percent[OURS]:.0f}% of copy, {case.gbs(OURS):,.1f} GB/s"
    else:
        share = f"{100 * case.seconds[GEMM] / case.seconds[OURS]:.0f}% of the product, {case.gflops(OURS):,.1f} GFLOP/s"
    why = case.why or "The file that this case is from does not say how it was planned; cutt plan does."
    return (
        f"<details><summary><b>{share}</b> &nbsp; {escape(case.name)} &nbsp; <span class=note>{escape(series.set)} "
        f"{escape(case.id)}, {escape(series.dtype)}, {escape(series.where)}</span></summary>"
        f"<pre>{escape(why)}</pre></details>\n"
    )


def _machine(facts: dict[str, Any]) -> str:
    device = facts.get("device")
    told = {"measured in": facts.get("source")}
    if isinstance(device, dict):
        told["device"] = device.get("name")
        told["driver"] = device.get("driver")
    elif device:
        told["device"] = device
    for key in (
        "cpu",
        "isa",
        "cores",
        "threads",
        "memory",
        "system",
        "compiler",
        "date",
        "version",
        "load",
        "numpy_blas",
        "blas_found",
        "provider",
        "python",
        "numpy",
        "torch",
        "cuda",
    ):
        if facts.get(key) not in (None, ""):
            told[key] = facts[key]
    if isinstance(told.get("memory"), int):
        told["memory"] = f"{facts['memory'] / 2**30:.0f} GiB"
    names = {
        "isa": "instruction set",
        "version": "cuTT",
        "load": "load when it began",
        "numpy_blas": "BLAS of NumPy",
        "blas_found": "BLAS found",
        "cuda": "CUDA",
    }
    rows = [[names.get(key, key), str(value)] for key, value in told.items() if value is not None]
    rows += [[name, version] for name, version in facts.get("versions", {}).items()]
    body = "".join(f"<tr><td>{escape(a)}</td><td class=t>{escape(b)}</td></tr>" for a, b in rows)
    return f"<div class=wide><table><tbody>{body}</tbody></table></div>\n"


def _wrong(report: Report) -> str:
    rows = [
        [name, case.name, set_name(one), type_of(one), why]
        for one in report.series
        for case in one.cases
        for name, why in case.wrong.items()
    ]
    if not rows:
        return "<p>Every result that was checked was right.</p>\n" if report.series else ""
    text = "<p>Left out where a result was wrong or a library refused:</p>\n"
    return text + _table(tables.Table(["library", "case", "set", "type", "why"], rows))


def warnings(report: Report) -> list[str]:
    """What a reader has to know before the figures: whether they are of caches, and whether the machine was busy."""
    told = []
    for facts in report.machines:
        load, cores = facts.get("load"), facts.get("cores")
        if isinstance(load, (int, float)) and load > _BUSY:
            many = f" of {cores} cores" if cores else ""
            told.append(
                f"The load was {load:.1f} when it began: other programs kept that many{many} busy, and memory too. Shares of a "
                "copy that took its turn stand, more or less; seconds and GB/s do not."
            )
    small: dict[tuple, list[str]] = {}
    for series in report.series:
        cache = _cache_of(report, series.device)
        sizes = [_bytes_of(case, series.dtype) for case in series.cases]
        fit = sum(size <= cache for size in sizes)
        if fit:
            many = "all" if fit == len(sizes) else f"{fit} of {len(sizes)}"
            name = set_name(series).partition(":")[0]
            small.setdefault((series.device, cache), []).append(f"{name}, {type_of(series)} ({many})")
    for (device, cache), names in small.items():
        told.append(
            f"These cases fit, with all their tensors, into the last cache of {device} ({cache / 1e6:,.0f} MB), so that they "
            f"tell about caches and not about memory: {'; '.join(names)}. --volume makes them larger."
        )
    return told


def _bytes_of(case: Permutation | Contraction, dtype: str) -> int:
    """Of all tensors of a case."""
    if isinstance(case, Permutation):
        return case.bytes
    letters = [name for name in re.split(r"[^A-Za-z]+", case.pattern) if name]
    elements = sum(math.prod(case.extents.get(letter, 1) for letter in name) for name in letters)
    return elements * BYTES_OF.get(dtype, 8)


def _cache_of(report: Report, device: str) -> int:
    """The last cache of a device; 0 where the files do not say."""
    for facts in report.machines:
        held = facts.get("device")
        if isinstance(held, dict) and held.get("name") == device:
            sizes = [held.get(f"l{level}_bytes") for level in (1, 2, 3)]
            return max([int(size) for size in sizes if isinstance(size, (int, float))], default=0)
    return 0


def build(report: Report) -> str:
    """The whole page."""
    permutations = [one for one in report.series if not one.contracts]
    contractions = [one for one in report.series if one.contracts]
    where = ", ".join(dict.fromkeys(one.where for one in report.series)) or "nothing was measured"
    dates = sorted({str(one["date"])[:10] for one in report.machines if one.get("date")})
    when = " to ".join(dict.fromkeys([dates[0], dates[-1]])) if dates else "undated"
    parts = [
        f"<!DOCTYPE html>\n<html lang=en>\n<head><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<meta name=color-scheme content='light dark'><title>cuTT: figures</title>\n<style>{style.css()}{_STYLE}</style>"
        f"</head>\n<body>\n<h1>cuTT: permutation and contraction, measured</h1>\n<p class=note>{escape(where)}; "
        f"{escape(when)}. In each case all contestants took turns, and medians are compared. A permutation is given as a "
        "share of the speed of a copy of as many bytes that took its turn too, a contraction beside the matrix product "
        "alone.</p>\n<nav><a href='#overview'>overview</a><a href='#permutations'>permutations</a>"
        "<a href='#contractions'>contractions</a><a href='#worst'>worst cases</a><a href='#machine'>machine and "
        "commands</a></nav>\n"
    ]
    parts += [f"<p class=warn>{escape(text)}</p>\n" for text in warnings(report)]
    parts.append(f"<h2 id=overview>Overview</h2>\n<p class=note>Below a library's name: its time / cutt's, in the geometric mean.</p>\n{_table(tables.overview(report.series, set_name, type_of))}\n")
    for name, held in (("permutations", permutations), ("contractions", contractions)):
        parts.append(f"<h2 id={name}>{name.capitalize()}</h2>\n")
        if not held:
            parts.append("<p>None were measured.</p>\n")
        for series in held:
            for picture in pictures(series, for_page=True):
                parts.append(_picture(picture))
                style.close(picture.figure)
    parts.append(
        f"<h2 id=worst>The worst cases, and why</h2>\n<p class=note>What takes the time, as cutt plan tells it.</p>\n"
        f"{_worst(report)}"
    )
    parts.append("<h2 id=checks>Checks</h2>\n" + _wrong(report))
    parts.append("<h2 id=machine>Machine, versions and commands</h2>\n")
    parts += [_machine(facts) for facts in report.machines]
    if report.absent:
        rows = [[name, why] for name, why in report.absent.items()]
        parts.append("<h3>Not measured</h3>\n" + _table(tables.Table(["what", "why"], rows)))
    if report.commands:
        lines = "\n".join(report.commands)
        parts.append(f"<h3>How to repeat it</h3>\n<pre>{escape(lines)}</pre>\n")
    parts.append("</body>\n</html>\n")
    return "".join(parts)
