"""Measuring one case: every contestant is started and checked, and then they take turns (A B C A B C ...), so that a
machine whose memory speed drifts is the same machine for all of them. Medians are compared."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from . import contracters, permuters
from .memory import Host, Unusable
from .records import COPY, OURS, Contraction, Permutation

SAMPLE = 2e-3  # seconds that one sample takes at least, of as many calls as that needs
LEAST, MOST = 3, 31  # rounds


class Wrong(Exception):
    """This library's own result is wrong: nothing that follows is worth measuring."""


def take_turns(runs: dict[str, tuple[Any, Callable[[], Any]]], seconds: float) -> dict[str, float]:
    """Medians over the rounds that fit into so many seconds."""
    calls = {
        name: max(1, math.ceil(SAMPLE / max(min(one.sample(run, 1) for _ in range(2)), 1e-7)))
        for name, (one, run) in runs.items()
    }
    took: dict[str, list[float]] = {name: [] for name in runs}
    began, rounds = time.perf_counter(), 0
    while rounds < LEAST or (rounds < MOST and time.perf_counter() - began < seconds):
        for name, (one, run) in runs.items():
            took[name].append(one.sample(run, calls[name]))
        rounds += 1
    return {name: statistics.median(times) for name, times in took.items()}


def permutation(case: Permutation, contestants: list[permuters.Contestant], memory: Host, seconds: float) -> None:
    """Fills in seconds, shares of the copy and what was wrong."""
    size = case.bytes // 2
    numpy = permuters.Numpy(memory, contestants[0].dtype.str[1:], 1)
    memory.refer(numpy.view(case).transpose(permuters.axes_of(case.perm)))
    runs: dict[str, tuple[Any, Callable[[], Any]]] = {}
    started: list[permuters.Contestant] = []
    try:
        for one in contestants:
            try:
                run = one.start(case)
            except Unusable as error:
                case.wrong[one.name] = str(error)
                continue
            started.append(one)
            memory.poison()
            run()
            one.wait()
            wrong = one.wrong(case)
            if wrong and one.name == OURS:
                raise Wrong(f"cutt: {wrong} elements of {case.id} {case.name} are wrong")
            if wrong:
                case.wrong[one.name] = f"{wrong:,} of {size // case.elem_bytes:,} elements wrong"
            else:
                runs[one.name] = (one, run)
        took = take_turns(runs, seconds)
        took[COPY] = min(took[COPY], took.pop(permuters.OWN_COPY))
        case.seconds.update(took)
    finally:
        for one in started:
            one.stop()
    case.share()


class Operands:
    """Two operands and a result, large enough for every case of a set."""

    def __init__(self, cases: list[Contraction], dtype: str, seed: int) -> None:
        self.dtype = np.dtype(dtype)
        random = np.random.default_rng(seed)
        self.buffers = []
        for tensor in range(3):
            count = max(math.prod(contracters.shape(case, contracters.modes_of(case)[tensor])) for case in cases)
            if tensor == 2:
                self.buffers.append(np.zeros(count, self.dtype))
                continue
            parts = count * (2 if self.dtype.kind == "c" else 1)
            values = random.random(parts, np.float64 if self.dtype.itemsize // (parts // count) == 8 else np.float32)
            values *= 2
            values -= 1
            self.buffers.append(values.view(self.dtype))

    def arrays(self, case: Contraction) -> list[np.ndarray]:
        shapes = [contracters.shape(case, modes) for modes in contracters.modes_of(case)]
        return [buffer[: math.prod(shape)].reshape(shape) for buffer, shape in zip(self.buffers, shapes)]


def _difference(got: np.ndarray, expected: np.ndarray) -> float:
    off = float(np.abs(got.reshape(expected.shape) - expected).max(initial=0))
    return off if math.isfinite(off) else math.inf


def contraction(
    case: Contraction, contestants: list[contracters.Contracter], operands: Operands, seconds: float
) -> None:
    arrays = operands.arrays(case)
    expected = np.einsum(contracters.numpy_pattern(case), arrays[0], arrays[1], optimize=True)
    allowed = contracters.tolerance(case, operands.dtype)
    runs: dict[str, tuple[Any, Callable[[], Any]]] = {}
    started: list[contracters.Contracter] = []
    try:
        for one in contestants:
            arrays[2].view(np.uint8)[...] = 0xFF  # NaN
            try:
                run = one.start(case, arrays)
            except Unusable as error:
                case.wrong[one.name] = str(error)
                continue
            started.append(one)
            run()
            one.wait()
            got = one.result()
            off = _difference(got, expected) / allowed if got is not None else 0.0
            if off > 1 and one.name == OURS:
                raise Wrong(f"cutt: {case.id} {case.name} is off by {off:.3g} times what rounding explains")
            if off > 1:
                case.wrong[one.name] = f"off by {off:.3g} times what rounding explains"
            else:
                runs[one.name] = (one, run)
        case.seconds.update(take_turns(runs, seconds))
        for one in started:
            if isinstance(one, contracters.Cutt):
                case.permute_percent = one.permute_percent()
    finally:
        for one in reversed(started):
            one.stop()
