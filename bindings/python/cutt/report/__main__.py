"""python -m cutt.report"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import records

_BLAS_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS")
_AGAIN = "CUTT_REPORT_STARTED"
_NEEDED = "Matplotlib 3.7 or later is needed to draw (pip install matplotlib)"
_SETS = "set1,set2,set3,align,contract"


def parse(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m cutt.report",
        description="Measures cuTT beside the libraries that are found (NumPy, PyTorch, CuPy, JAX, HPTT, TBLIS, cuTENSOR), "
        "all taking turns and every result checked, and writes one HTML page with the figures of the cuTT paper.",
        epilog="The page needs no network and no other file. Ctrl-C ends the measuring; the page has what was done.",
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="some minutes on two cores (the default)")
    size.add_argument("--full", action="store_true", help="larger tensors, more cases: half an hour and more")
    parser.add_argument(
        "--sets",
        default=_SETS,
        metavar="LIST",
        help="of set1, set2, set3, align (nearly square matrices), figures (every candidate of sets 1 and "
        f"2, see cutt bench), random, tccg48, talsh48, contract (random,tccg48); default: {_SETS}",
    )
    parser.add_argument("--dtype", default="f8", help="element types with commas between them (default: f8)")
    parser.add_argument("--backend", default="auto", choices=["auto", "cpu", "cuda"], help="default: the GPU, if any")
    parser.add_argument("--threads", type=int, help="of all libraries on the CPU (default: all cores allowed)")
    parser.add_argument("--volume", help="elements of the mean tensor, such as 16M, or paper")
    parser.add_argument("--contract-volume", metavar="N", help="most elements of a tensor of a contraction")
    parser.add_argument("--samples", type=int, help="cases, as in cutt bench")
    parser.add_argument("--seconds", type=float, help="for the turns of one case (quick: 0.4, full: 1)")
    parser.add_argument("--seed", type=int, default=2017, help="another draw of cases")
    parser.add_argument("--measure", action="store_true", help="also plans chosen by timing candidates (full: always)")
    parser.add_argument("--hptt", metavar="FILE", help="libhptt.so (default: where the loader finds it)")
    parser.add_argument("--tblis", metavar="FILE", help="libtblis.so (default: likewise, or in the wheel pytblis)")
    parser.add_argument("--cutensor", metavar="FILE", help="libcutensor.so.2 (default: likewise, or in a wheel)")
    parser.add_argument("--program", metavar="FILE", help="the program cutt (default: $CUTT_PROGRAM, or on the path)")
    parser.add_argument(
        "--json",
        nargs="+",
        metavar="FILE",
        help="measure nothing; draw these files: of cutt bench, of " "the bench/*peers*.py, and those of --save",
    )
    parser.add_argument("--save", metavar="FILE", help="also write what was measured, as JSON")
    parser.add_argument("--out", default="report.html", metavar="FILE", help="the page (default: report.html)")
    parser.add_argument("--pictures", metavar="FOLDER", help="also each picture as an SVG file of its own")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    options = parser.parse_args(given)
    options.given = given
    _check(parser, options)
    return options


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    known = {"set1", "set2", "set3", "align", "figures", "random", "tccg48", "talsh48", "contract"}
    for name in options.sets.split(","):
        if name not in known:
            parser.error(f"--sets: '{name}' is not one of {', '.join(sorted(known))}")
    types = {"b1", "i1", "u1", "i2", "u2", "f2", "i4", "u4", "f4", "i8", "u8", "f8", "c8", "c16"}
    for name in options.dtype.split(","):
        if name not in types:
            parser.error(f"--dtype: '{name}' is not one of {', '.join(sorted(types))}")
    for name in ("threads", "samples", "seconds"):
        value = getattr(options, name)
        if value is not None and value <= 0:
            parser.error(f"--{name} is {value}; it must be more than 0")
    options.measure = options.measure or options.full


def start_again(options: argparse.Namespace) -> None:
    """Numbers of threads, and what a BLAS needs to pick good kernels here, are read from the environment when
    libraries are loaded: before NumPy is, this process is replaced by one that has them."""
    if os.environ.get(_AGAIN):
        return
    threads = str(options.threads or len(os.sched_getaffinity(0)))
    env = {**os.environ, _AGAIN: "1", **{name: threads for name in _BLAS_THREADS}}
    env.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX would take most of a GPU for itself
    for override in _overrides(options):
        name, _, value = override.partition("=")
        if name not in env:
            env[name] = value
            print(f"for all libraries: {override}, which picks better kernels here", file=sys.stderr)
    os.execve(sys.executable, [sys.executable, "-m", "cutt.report", *options.given], env)


def _overrides(options: argparse.Namespace) -> list[str]:
    from . import cases

    try:
        told: dict[str, Any] = json.loads(
            subprocess.run(
                [cases.find_program(options.program), "devices", "--json"], capture_output=True, check=True
            ).stdout
        )
    except (OSError, ValueError, subprocess.CalledProcessError, cases.NoProgram):
        return []  # said again, and as an error, when it is needed
    return [provider["environment_override"] for provider in told.get("providers", []) if provider.get("environment_override")]


def make(options: argparse.Namespace) -> int:
    """Measures or reads, and writes; 0, or 1 when something failed that the page can't tell."""
    from . import formats, records

    can_draw = _can_draw()
    if not can_draw and (options.json or not options.save):
        print(
            f"python -m cutt.report: {_NEEDED}; or --save FILE keeps what is measured here, and --json FILE draws it "
            "where it is",
            file=sys.stderr,
        )
        return 1
    if options.json:
        report = formats.load(options.json)
        names = " ".join(os.path.basename(path) for path in options.json)
        report.commands.append(f"python -m cutt.report --json {names}")
    else:
        from . import runner

        report = runner.Run(options).go()
    if options.save:
        records.save(report, options.save)
        print(f"what was measured: {os.path.abspath(options.save)}", file=sys.stderr)
    if can_draw:
        draw(report, options)
    else:
        print(f"no page was drawn: {_NEEDED}", file=sys.stderr)
    return 0


def _can_draw() -> bool:
    try:
        importlib.import_module("cutt.report.style")
    except ImportError:
        return False
    return True


def draw(report: records.Report, options: argparse.Namespace) -> None:
    from . import page, style

    with open(options.out, "w", encoding="utf-8") as file:
        file.write(page.build(report))
    if options.pictures:
        os.makedirs(options.pictures, exist_ok=True)
        for series in report.series:
            for picture in page.pictures(series, for_page=False):
                style.to_file(picture.figure, os.path.join(options.pictures, picture.name + ".svg"))
                style.close(picture.figure)
    print(f"the page: {os.path.abspath(options.out)}", file=sys.stderr)


def main(given: list[str] | None = None) -> int:
    from . import cases, formats, measure, memory

    options = parse(sys.argv[1:] if given is None else given)
    try:
        return make(options)
    except (formats.Unreadable, cases.NoProgram, measure.Wrong, memory.Unusable, OSError) as error:
        print(f"python -m cutt.report: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    chosen = parse(sys.argv[1:])
    if not chosen.json:
        start_again(chosen)
    sys.exit(main())
