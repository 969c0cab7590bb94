"""The kinds of JSON files that become series: each is known by what it has at its top."""

from __future__ import annotations

import json
import math
import pathlib
from typing import Any

from .records import (
    BYTES_OF,
    COPY,
    FORMAT,
    GEMM,
    MEASURED,
    OURS,
    PAPER,
    Contraction,
    Permutation,
    Report,
    Series,
    UNNAMED,
)

# Which contestant a key of the comparisons' files is. Those of HPTT are one: the better of its two ways counts.
_PEERS = {
    "cutt": OURS,
    "numpy": "NumPy",
    "torch": "PyTorch",
    "hptt": "HPTT",
    "hptt_best": "HPTT",
    "tblis": "TBLIS",
    "cutensor": "cuTENSOR",
    "copy": COPY,
    "gemm": GEMM,
    "cupy": "CuPy",
    "jax": "JAX",
}


class Unreadable(Exception):
    """A file is not what it should be; the text says which file and why."""


def add(report: Report, data: Any, source: str) -> None:
    """Adds what a file holds; raises KeyError, TypeError or ValueError when it is of no known kind."""
    if data.get("format") == FORMAT:
        _own(report, data)
        return
    machine = data["machine"]
    if "cases" in data and "settings" in data:
        series = [_bench_contract(data, source)]
    elif "results" in data and "set" in data.get("summary", {}):
        series = _bench(data, source)
    elif not data["results"]:
        raise ValueError("there are no results in it")
    elif "pattern" in data["results"][0]:
        series = [_contract_peers(data, source)]
    else:
        series = _permute_peers(data, source)
    report.machines.append({**_without_long_lists(machine), "source": source})
    for one in series:
        report.add(one)


def _own(report: Report, data: dict[str, Any]) -> None:
    for held in data["series"]:
        held = dict(held)
        kind = Contraction if held.pop("kind") == "contraction" else Permutation
        cases = [kind(**case) for case in held.pop("cases")]
        report.add(Series(cases=cases, **held))
    report.machines += [machine for machine in data["machines"] if machine not in report.machines]
    report.commands += [command for command in data["commands"] if command not in report.commands]
    report.absent.update(data["absent"])


def _without_long_lists(machine: dict[str, Any]) -> dict[str, Any]:
    """The list of all that plans can be described for is no part of the machine."""
    return {key: value for key, value in machine.items() if key != "devices"}


def device_of(machine: dict[str, Any]) -> str:
    device = machine.get("device")
    if isinstance(device, str):
        return device
    if device and machine.get("backend") == "cuda":
        return device["name"]
    if machine.get("backend") == "cuda":
        return UNNAMED
    return machine.get("cpu") or "CPU"


def _threads(machine: dict[str, Any]) -> int:
    on_gpu = machine.get("backend") == "cuda" or isinstance(machine.get("device"), str)
    return 0 if on_gpu else int(machine["threads"])


def load(paths: list[str]) -> Report:
    """Reads files of any of the kinds."""
    report = Report()
    for path in paths:
        try:
            text = pathlib.Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise Unreadable(f"{path} can't be read: {error.strerror}") from error
        try:
            data = json.loads(text)
        except ValueError as error:
            raise Unreadable(f"{path} is not JSON: {error}") from error
        try:
            add(report, data, pathlib.Path(path).name)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise Unreadable(
                f"{path} has not the form of any file that is known here "
                f"({type(error).__name__}: {error}); docs/report.md lists them"
            ) from error
    _name_gpu(report)
    return report


def _name_gpu(report: Report) -> None:
    """bench/contract_peers.py does not tell which GPU it ran on; beside files of one GPU it is that one."""
    names = {series.device for series in report.series if series.backend == "cuda"} - {UNNAMED}
    if len(names) != 1:
        return
    held, report.series = report.series, []
    for series in held:
        if series.device == UNNAMED:
            series.device = next(iter(names))
        report.add(series)


# ------------------------------------------------------------------------------------------------------------- bench


def _bench(data: dict[str, Any], source: str) -> list[Series]:
    summary, machine = data["summary"], data["machine"]
    series: dict[str, Series] = {}
    for result in data["results"]:
        if result.get("error"):
            continue
        name = summary["set"]
        if name == "figures":
            name = f"figures{result['set']}"
        if name not in series:
            series[name] = Series(
                name, summary["dtype"], summary["backend"], device_of(machine), _threads(machine), sources=[source]
            )
        series[name].cases.append(_bench_case(result))
    return list(series.values())


def _bench_case(result: dict[str, Any]) -> Permutation:
    case = Permutation(
        result["id"],
        result["group"],
        result["dims"],
        result["perm"],
        result["elem_bytes"],
        trivial=bool(result.get("trivial")),
    )
    case.seconds = {OURS: result["seconds"], COPY: result["copy_seconds"]}
    case.percent = {OURS: result["percent"]}
    choice = result.get("choice")
    if choice:
        # Those that were timed beside each other in the final, the choice of the model among them.
        for name, key in ((OURS, "predicted"), (MEASURED, "measured"), (PAPER, "paper")):
            pick = choice.get(key)
            if pick and pick.get("candidate"):
                case.seconds[name], case.percent[name] = pick["seconds"], pick["percent"]
    if result.get("candidate"):
        case.why = explain(result["candidate"], result["seconds"])
    return case


def duration(seconds: float) -> str:
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / 1e-9:.3g} ns"


def explain(candidate: dict[str, Any], measured: float | None = None) -> str:
    """A chosen candidate as `cutt plan --json` has it, in the words of `cutt plan`."""
    lines = [
        f"{candidate['method']}: tile of {candidate['rows']:g} input runs of {candidate['row_length']:g} elements, "
        f"{candidate['columns']:g} output runs of {candidate['column_length']:g}; {candidate['tiles']:g} tiles"
    ]
    least = candidate.get("least_units")
    if least:
        moved = (candidate["read_units"] + candidate["written_units"]) / (2 * least)
        lines.append(f"{candidate['unit']} moved over those needed at least: {moved:.2f}")
    predicted = candidate["predicted_seconds"]
    said = f"predicted {duration(predicted)}, {candidate['percent_of_copy']:.0f}% of a copy"
    lines.append(said + (f"; took {duration(measured)}" if measured else ""))
    terms = [term for term in candidate.get("terms", []) if term["seconds"] >= 0.04 * predicted]
    for term in terms[:5]:
        lines.append(f"{100 * term['seconds'] / predicted:4.0f}%  {term['name']}: {term['what']}")
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------------- comparisons


def _times(result: dict[str, Any], on_gpu: bool) -> dict[str, float]:
    times: dict[str, float] = {}
    for key, value in result.items():
        name = _PEERS.get(key[: -len("_seconds")]) if key.endswith("_seconds") else None
        if name and value and math.isfinite(value):
            times[name] = min(value, times.get(name, math.inf))
    if "PyTorch" in times and not on_gpu:
        times["PyTorch (CPU)"] = times.pop("PyTorch")
    return times


def _wrong(result: dict[str, Any]) -> dict[str, str]:
    said = {
        _PEERS.get(key[:-6], key[:-6]): f"{count} elements"
        for key, count in result.items()
        if key.endswith("_wrong") and count
    }
    if result.get("equal") is False:
        said[OURS] = "not PyTorch's result"
    for key, off in result.items():
        if key.endswith("_off") and off > 1:
            said[_PEERS.get(key[:-4], key[:-4])] = f"off by {off:.3g} times what rounding explains"
    return said


def _permute_peers(data: dict[str, Any], source: str) -> list[Series]:
    """Files of bench/peers.py and bench/peers_gpu.py. Only the latter say which set a case is of; the ids tell."""
    machine, series = data["machine"], {}
    on_gpu = isinstance(machine.get("device"), str)
    for result in data["results"]:
        if "perm" not in result:
            raise KeyError("perm")
        dtype = result.get("dtype") or {1: "u1", 2: "f2", 4: "f4", 8: "f8", 16: "c16"}[result["elem_bytes"]]
        name = result.get("set") or set_of(result["id"])
        if (name, dtype) not in series:
            series[name, dtype] = Series(
                name, dtype, "cuda" if on_gpu else "cpu", device_of(machine), _threads(machine), sources=[source]
            )
        case = Permutation(result["id"], group_of(result["id"]), result["dims"], result["perm"], BYTES_OF[dtype])
        case.seconds, case.wrong = _times(result, on_gpu), _wrong(result)
        case.share()
        series[name, dtype].cases.append(case)
    return list(series.values())


def set_of(name: str) -> str:
    """The set of a case, by the ids that `cutt bench --list` gives: r3_5to1_001, r8_reverse, 17."""
    if name.isdigit():
        return "set3"
    if name.startswith("align_"):
        return "align"
    if name.startswith(("r8_", "r12_")):
        return "set2"
    return "set1" if name.startswith("r") and "to1" in name else "cases"


def group_of(name: str) -> str:
    rank, _, rest = name.partition("_")
    if set_of(name) == "set1":
        return f"rank {rank[1:]}, {rest.split('_')[0].replace('to', ':')}"
    return f"rank {rank[1:]}" if set_of(name) == "set2" else set_of(name)


def _contract_peers(data: dict[str, Any], source: str) -> Series:
    machine = data["machine"]
    on_gpu = machine["backend"] == "cuda"
    name = data["results"][0]["id"].rsplit("_", 1)[0]
    series = Series(name, machine["dtype"], machine["backend"], device_of(machine), _threads(machine), sources=[source])
    for result in data["results"]:
        case = Contraction(
            result["id"],
            result["group"],
            result["pattern"],
            result["extents"],
            result["flops"],
            result["intensity"],
            permuted=result.get("permuted", ""),
        )
        case.seconds, case.wrong = _times(result, on_gpu), _wrong(result)
        series.cases.append(case)
    return series


def _bench_contract(data: dict[str, Any], source: str) -> Series:
    settings, machine = data["settings"], data["machine"]
    series = Series(
        settings["set"], settings["dtype"], settings["backend"], device_of(machine), _threads(machine), sources=[source]
    )
    for result in data["cases"]:
        if result.get("error") or not result.get("seconds"):
            continue
        case = Contraction(
            result["id"],
            result["group"],
            result["pattern"],
            result["extents"],
            result["flops"],
            result["intensity"],
            permute_percent=result["permute_percent"],
            permuted=result["permuted"],
        )
        case.seconds = {OURS: result["seconds"], GEMM: result["gemm_seconds"]}
        case.why = explain_contraction(result)
        series.cases.append(case)
    return series


def explain_contraction(result: dict[str, Any]) -> str:
    names = {"L": "left operand", "R": "right operand", "D": "result"}
    which = [names[letter] for letter in result["permuted"] if letter in names]
    lines = [
        f"permuted: {', '.join(which) or 'nothing'}; {result['gemm_count']:,} matrix products of at most "
        f"{result['gemm_m']} x {result['gemm_k']} x {result['gemm_n']} (m x k x n), in {result['pieces']} pieces, "
        f"by {result['provider']}",
        f"permuting takes {result['permute_percent']:.0f}% of the time; the matrix products alone "
        f"{duration(result['gemm_seconds'])} of {duration(result['seconds'])}",
    ]
    return "\n".join(lines)
