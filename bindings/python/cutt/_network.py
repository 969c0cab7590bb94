"""A network of tensors: many operands, contracted two at a time by plans that are all made beforehand.

The order of an intermediate's axes is nobody else's business, and so it is chosen: of a few orders, that which makes the contraction
that computes it and the one that needs it fastest together, by the library's predicted times. All intermediates and the workspace of
all steps lie in one block of memory, where those that are not needed any more make room.
"""

from __future__ import annotations

import itertools
import math
import threading
from typing import Any, NamedTuple, Optional, Sequence

import numpy as np

from . import _library as L
from ._cache import choosing, plan_cache
from ._contract import ContractionHandle, Operand, create, create_kept, info_of, pair_key
from ._views import View, packed_strides

_ALIGNMENT = 256
_SMALL = 1 << 13  # elements: planning takes longer than what another order spares
_KEPT_BYTES = 1 << 28  # most memory for intermediates that waits for the next execution


class Step(NamedTuple):
    left: int  # numbers of tensors: operands first, then the results of steps
    right: int
    labels: tuple  # of the result, in its order
    handle: ContractionHandle


class _Pool:
    """Memory on the host that the last execution had, for the next one: fresh pages cost more than small contractions."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._block: Optional[np.ndarray] = None
        L.hold_over_fork(self._lock)

    def take(self, size: int) -> np.ndarray:
        with self._lock:
            block, self._block = self._block, None
        return block if block is not None and block.size >= size else np.empty(size, np.uint8)

    def give(self, block: np.ndarray) -> None:
        if block.size <= _KEPT_BYTES:
            with self._lock:
                self._block = block

    def clear(self) -> None:
        with self._lock:
            self._block = None


pool = _Pool()
plan_cache.drops.append(pool.clear)


def _lay_out(sizes: Sequence[int], until: Sequence[int]) -> tuple:
    """(offsets, bytes in all) of blocks of memory, one made at each step and needed until another: each where it fits first."""
    live: list[tuple] = []  # (offset, end, until)
    offsets, most = [], 0
    for step, (size, last) in enumerate(zip(sizes, until)):
        live = sorted(block for block in live if block[2] >= step)
        offset = 0
        for start, end, _ in live:
            if start - offset >= size:
                break
            offset = max(offset, end)
        live.append((offset, offset + size, last))
        offsets.append(offset)
        most = max(most, offset + size)
    return offsets, most


class Network:
    """All that an execution needs, made once for operands of these labels, extents, strides and type."""

    def __init__(
        self,
        operands: Sequence[Operand],
        labels: tuple,
        result: View,
        code: int,
        alpha: Any,
        beta: Any,
        threads: int,
        pairs: Sequence[tuple],
    ):
        maker = _Maker(operands, labels, result, code, threads, pairs)
        self.steps = maker.steps(alpha, beta)
        count, itemsize = len(operands), result.dtype.itemsize
        self.labels = [operand.labels for operand in operands] + [step.labels for step in self.steps]
        self.extents = maker.extents
        self.sizes = [math.prod(self.extents[label] for label in step.labels) * itemsize for step in self.steps]
        rounded = [-(-size // _ALIGNMENT) * _ALIGNMENT for size in self.sizes[:-1]]
        until = [maker.consumer[count + number] for number in range(len(rounded))]
        self.offsets, self.between = _lay_out(rounded, until)
        self.workspace = max(step.handle.workspace for step in self.steps)
        self.bytes = self.between + self.workspace + _ALIGNMENT
        self._calls = [(step.handle.value.value, step.left, step.right, step.handle.workspace) for step in self.steps]
        rows = [[*call, offset] for call, offset in zip(self._calls, [*self.offsets, 0])]
        # For the compiled module (calls/run.c).
        self.table = np.array([len(rows), self.between, *itertools.chain(*rows)], np.int64)

    def execute_here(self, pointers: Sequence[int], result: int) -> None:
        """On the CPU, with memory of the pool."""
        block = pool.take(self.bytes)
        self.execute(pointers, result, block.__array_interface__["data"][0], 0)
        pool.give(block)

    def execute(self, pointers: Sequence[int], result: int, memory: int, stream: int) -> None:
        """memory: the address of as many bytes as self.bytes says."""
        call = L.contract_lib().cuttContractionExecute
        base = -(-memory // _ALIGNMENT) * _ALIGNMENT
        at = [*pointers, *(base + offset for offset in self.offsets), result]
        made, workspace, where = len(pointers), base + self.between, stream or None
        for plan, left, right, size in self._calls:
            code = call(plan, at[left], at[right], at[made], workspace if size else None, size, where)
            if code:
                L.check(code)
            made += 1


class _Maker:
    """Chooses the order of each intermediate, and plans all steps."""

    def __init__(
        self, operands: Sequence[Operand], labels: tuple, result: View, code: int, threads: int, pairs: Sequence[tuple]
    ):
        self.labels, self.result, self.code, self.threads, self.pairs = labels, result, code, threads, pairs
        self.tensors = list(operands)
        self.extents = {label: n for one in operands for label, n in zip(one.labels, one.view.shape)}
        self.consumer = {number: step for step, pair in enumerate(pairs) for number in pair}
        self.first = len(operands)
        self.kept = self._all_kept([frozenset(one.labels) for one in operands])

    def _all_kept(self, terms: list) -> list:
        """The labels of each step's result."""
        uses: dict[str, int] = {}
        for label in itertools.chain(self.labels, *terms):
            uses[label] = uses.get(label, 0) + 1
        kept = []
        for one, other in self.pairs:
            left, right = terms[one], terms[other]
            made = frozenset(label for label in left | right if uses[label] > (label in left) + (label in right))
            for label in left | right:
                uses[label] -= (label in left) + (label in right) - (label in made)
            terms.append(made)
            kept.append(made)
        return kept

    def _packed(self, labels: Sequence[str]) -> Operand:
        shape = tuple(self.extents[label] for label in labels)
        view = self.result.like(shape, packed_strides(shape, self.result.dtype.itemsize))
        view.conj, view.pointer = False, _ALIGNMENT
        return Operand(view, labels, self.extents)

    def _plan(self, left: Operand, right: Operand, made: Operand, alpha: Any = 1, beta: Any = 0) -> ContractionHandle:
        key = pair_key(left, right, made.labels, made.view, self.code, alpha, beta, self.threads)
        return create(key, plan_cache.wisdom)

    def _orders(self, step: int) -> list:
        """Orders of an intermediate to choose among: as a matrix product leaves it, and as the one that needs it takes it."""
        one, other = self.pairs[step]
        left, right, kept = self.tensors[one].labels, self.tensors[other].labels, self.kept[step]
        both = [label for label in left if label in right and label in kept]
        rows = [label for label in left if label in kept and label not in right]
        columns = [label for label in right if label in kept and label not in left]
        natural = [*both, *rows, *columns]
        orders = [tuple(natural), (*both, *columns, *rows)]
        consumer = self.consumer.get(self.first + step)
        if consumer is not None:
            partner = sum(self.pairs[consumer]) - self.first - step
            known = self.tensors[partner].labels if partner < len(self.tensors) else ()
            theirs = set(known or (self.kept[partner - self.first] if partner >= self.first else ()))
            batch = [label for label in natural if label in theirs and label in self.kept[consumer]]
            summed = [label for label in natural if label in theirs and label not in self.kept[consumer]]
            if known:
                summed.sort(key=known.index)
            free = [label for label in natural if label not in theirs]
            orders = [(*batch, *free, *summed), (*batch, *summed, *free), *orders]
        return list(dict.fromkeys(orders))

    def _consumed(self, step: int, order: tuple) -> float:
        """Predicted seconds of the contraction that needs the result of a step, if that is in this order."""
        made, number = self._packed(order), self.first + step
        consumer = self.consumer[number]
        partner = sum(self.pairs[consumer]) - number
        kept = self.kept[consumer]
        if partner < len(self.tensors):
            other = self.tensors[partner]
        else:
            theirs = self.kept[partner - self.first]
            other = self._packed([*(a for a in order if a in theirs), *sorted(a for a in theirs if a not in order)])
        if consumer == len(self.pairs) - 1:
            result = Operand(self.result, self.labels, self.extents)
        else:
            both = dict.fromkeys((*made.labels, *other.labels))
            result = self._packed([label for label in both if label in kept])
        return float(info_of(self._plan(made, other, result)).predicted_seconds)

    def _choose(self, step: int) -> tuple:
        left, right = (self.tensors[number] for number in self.pairs[step])
        orders = self._orders(step)
        size = math.prod(self.extents[label] for label in self.kept[step])
        best: Optional[tuple] = None
        if len(orders) == 1 or size <= _SMALL:
            made = self._packed(orders[0])
            return made, self._plan(left, right, made)
        for order in orders:
            made = self._packed(order)
            handle = self._plan(left, right, made)
            seconds = info_of(handle).predicted_seconds + self._consumed(step, order)
            if best is None or seconds < best[0]:
                best = (seconds, made, handle)
        assert best is not None
        return best[1:]

    def steps(self, alpha: Any, beta: Any) -> list:
        steps = []
        for number, (one, other) in enumerate(self.pairs):
            if number == len(self.pairs) - 1:
                made = Operand(self.result, self.labels, self.extents)
                handle = self._plan(self.tensors[one], self.tensors[other], made, alpha, beta)
            else:
                made, handle = self._choose(number)
            if choosing.seconds is not None:  # orders are chosen by the model, which takes no time
                last = number == len(self.pairs) - 1
                scalars = (alpha, beta) if last else (1, 0)
                left, right = self.tensors[one], self.tensors[other]
                key = pair_key(left, right, made.labels, made.view, self.code, *scalars, self.threads)
                handle = create_kept(key)
            self.tensors.append(made)
            steps.append(Step(one, other, made.labels, handle))
        return steps
