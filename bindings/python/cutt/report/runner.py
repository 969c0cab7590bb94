"""Runs the chosen sets and gives a report. An interruption (Ctrl-C) ends the measuring, not the report."""

from __future__ import annotations

import argparse
import dataclasses
import os
import shlex
import sys
import tempfile
from typing import Any

from . import cases, contracters, formats, machine, measure, permuters, records
from .formats import device_of
from .interrupt import Interrupt
from .memory import Device, Host
from .progress import Progress
from .records import Report, Series

PERMUTATIONS = ("set1", "set2", "set3", "align")
CONTRACTIONS = ("random", "tccg48", "talsh48")
SETS = (*PERMUTATIONS, "figures", "contract", *CONTRACTIONS)


@dataclasses.dataclass(frozen=True)
class Scale:
    """How much of everything: --quick and --full. Volumes are elements of the mean tensor, of each backend."""

    volume: dict[str, str]
    samples1: int  # of each rank and ratio
    samples2: int  # random permutations of each tensor
    contract_volume: dict[str, str]
    contractions: int  # of the random sample
    figures_samples: int
    seconds: float  # for the turns of one case


QUICK = Scale({"cpu": "12M", "cuda": "48M"}, 2, 6, {"cpu": "1M", "cuda": "16M"}, 24, 1, 0.4)
FULL = Scale({"cpu": "42M", "cuda": "paper"}, 4, 30, {"cpu": "4M", "cuda": "paper"}, 100, 3, 1.0)


class Run:
    """One `python -m cutt.report` that measures."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.scale = FULL if options.full else QUICK
        self.program = cases.find_program(options.program)
        self.devices = cases.devices(self.program)
        usable = {one["name"]: one.get("usable") for one in self.devices["backends"]}
        self.backend = options.backend
        if self.backend == "auto":
            self.backend = "cuda" if usable.get("cuda") else "cpu"
        if not usable.get(self.backend):
            why = next((one.get("why") for one in self.devices["backends"] if one["name"] == self.backend), None)
            raise cases.NoProgram(f"--backend {self.backend}: not usable here: {why}")
        self.dtype = ""  # the one of --dtype that is under way
        self.threads = options.threads or len(os.sched_getaffinity(0))
        self.volume = options.volume or self.scale.volume[self.backend]
        self.report = Report()
        self.facts = machine.describe(self.backend, self.threads, self.devices)
        self.report.machines.append(self.facts)
        self.report.commands.append(shlex.join(["python", "-m", "cutt.report", *options.given]))

    def series(self, name: str, held: list[Any]) -> Series:
        return Series(
            name,
            self.dtype,
            self.backend,
            device_of(self.facts),
            self.threads if self.backend == "cpu" else 0,
            cases=held,
            sources=["this report"],
        )

    # ---------------------------------------------------------------------------------------------------------- cases

    def chosen(self) -> list[str]:
        names = [name for name in self.options.sets.split(",") if name]
        if "contract" in names:
            at = names.index("contract")
            names[at : at + 1] = ["random", "tccg48"]
        return list(dict.fromkeys(names))

    def permutation_cases(self, name: str) -> list[records.Permutation]:
        dtype, scale = self.dtype, self.scale
        if name == "align":
            return cases.alignments(dtype, cases.elements(self.volume))
        samples = self.options.samples or {"set1": scale.samples1, "set2": scale.samples2}.get(name)
        return cases.permutations(self.program, name, dtype, self.volume, samples, self.options.seed)

    def contraction_cases(self, name: str) -> list[records.Contraction]:
        samples = self.options.samples or self.scale.contractions
        volume = self.options.contract_volume or self.scale.contract_volume[self.backend]
        if volume == "paper" and name != "random":
            volume = ""  # as listed
        return cases.contractions(self.program, name, self.dtype, volume, samples, self.options.seed)

    # -------------------------------------------------------------------------------------------------------- running

    def go(self) -> Report:
        jobs: list[tuple[str, str, list[Any]]] = []  # type, set, cases
        for dtype in self.options.dtype.split(","):
            self.dtype = dtype
            for name in self.chosen():
                if name in PERMUTATIONS:
                    jobs.append((dtype, name, self.permutation_cases(name)))
                elif name in CONTRACTIONS and dtype in contracters.TYPES:
                    jobs.append((dtype, name, self.contraction_cases(name)))
                elif name in CONTRACTIONS:
                    self.report.absent[f"contractions of {dtype}"] = "only f4, f8, c8 and c16 are run"
        self.interrupt = Interrupt()
        progress = Progress(sum(len(held) for _, _, held in jobs), self.options.quiet)
        try:
            with self.interrupt:
                self.go_through(jobs, progress)
        except KeyboardInterrupt:
            print("interrupted: the page has what was measured until here", file=sys.stderr)
            self.report.absent["the rest"] = "the run was interrupted"
        finally:
            progress.close()
        return self.report

    def go_through(self, jobs: list[tuple[str, str, list[Any]]], progress: Progress) -> None:
        for dtype in self.options.dtype.split(","):
            self.dtype = dtype
            for kind, run in ((PERMUTATIONS, self.run_permutations), (CONTRACTIONS, self.run_contractions)):
                sets = {name: held for of, name, held in jobs if of == dtype and name in kind}
                if sets:
                    run(sets, progress)
        progress.close()
        if "figures" in self.chosen():
            for dtype in self.options.dtype.split(","):
                self.dtype = dtype
                self.run_figures()

    def memory(self, size: int) -> Host:
        return Device(size) if self.backend == "cuda" else Host(size)

    def run_permutations(self, sets: dict[str, list[records.Permutation]], progress: Progress) -> None:
        memory = self.memory(max(case.bytes // 2 for held in sets.values() for case in held))
        try:
            memory.filled(records.BYTES_OF[self.dtype])
            contestants, absent = permuters.find(
                memory, self.dtype, self.threads, self.options.measure, self.options.hptt, self.options.cutensor
            )
            self.report.absent.update(absent)
            for name, held in sets.items():
                names = ", ".join(one.name for one in contestants if "copy" not in one.name)
                progress.stage(f"{name} {self.dtype}: {names}", len(held))
                done: list[Any] = []
                try:
                    for case in held:
                        self.interrupt.check()
                        measure.permutation(case, contestants, memory, self.seconds())
                        done.append(case)
                        progress.advance()
                finally:
                    self.report.add(self.series(name, done))
        finally:
            memory.free()

    def run_contractions(self, sets: dict[str, list[records.Contraction]], progress: Progress) -> None:
        memory = self.memory(64)
        try:
            contestants, absent = contracters.find(
                memory, self.dtype, self.threads, self.options.cutensor, self.options.tblis
            )
            for name, why in absent.items():
                self.report.absent.setdefault(name, why)
            for name, held in sets.items():
                names = ", ".join(one.name for one in contestants if one.name != records.GEMM)
                progress.stage(f"{name} {self.dtype}: {names}", len(held))
                operands = measure.Operands(held, self.dtype, self.options.seed)
                done: list[Any] = []
                try:
                    for case in held:
                        self.interrupt.check()
                        measure.contraction(case, contestants, operands, self.seconds())
                        done.append(case)
                        progress.advance()
                finally:
                    self.report.add(self.series(name, done))
        finally:
            memory.free()

    def seconds(self) -> float:
        return self.options.seconds or self.scale.seconds

    def run_figures(self) -> None:
        """The program's own: every candidate timed, the model's choice beside the fastest, the paper's on a GPU."""
        import subprocess

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "figures.json")
            samples = str(self.options.samples or self.scale.figures_samples)
            command = [
                self.program,
                "bench",
                "figures",
                "--backend",
                self.backend,
                "--dtype",
                self.dtype,
                "--volume",
                self.volume,
                "--threads",
                str(self.threads),
                "--seed",
                str(self.options.seed),
                "--samples",
                samples,
                "--no-check",
                "--json",
                path,
                "--force",
            ]
            if self.backend == "cpu":
                command += ["--candidates", "12"]
            if self.options.quiet:
                command.append("--quiet")
            try:
                subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
            finally:
                if os.path.exists(path) and os.path.getsize(path):
                    held = formats.load([path])
                    for series in held.series:
                        series.device, series.sources = device_of(self.facts), ["cutt bench figures"]
                        self.report.add(series)
                    shown = [word for word in command if word != self.program]
                    shown[shown.index(path)] = "figures.json"
                    self.report.commands.append(shlex.join(["cutt", *shown]))
