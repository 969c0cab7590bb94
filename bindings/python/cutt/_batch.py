"""batch: many permutations by one call, of arrays that may be of different shapes."""

from __future__ import annotations

from ctypes import c_void_p
from typing import Any, Optional, Sequence

from . import _compiled
from . import _library as L
from ._arguments import threads_of
from ._arrays import check_apart, check_device, check_out, is_zero, listed, view_of
from ._cache import plan_cache
from ._library import Handle
from ._permute import arithmetic_of, create_kept, misfit, normal_axes, packed, plan_key, run, vouched_for


class _Pair:
    """An input, where its result goes, and the key of its plan."""

    def __init__(self, a: Any, out: Any, axes: Any, alpha: Any, beta: Any, conj: bool, threads: int):
        self.source = source = view_of(a, "a")
        axes = normal_axes(axes, len(source.shape))
        shape = tuple(source.shape[axis] for axis in axes)
        arithmetic = arithmetic_of(source.dtype, alpha, beta, bool(conj) != source.conj)
        self.array = source.adapter.empty(shape, source) if out is None else out
        self.result = view_of(self.array, "the result") if out is None else check_out(out, shape, source)
        self.read = packed(source) if arithmetic[0] and misfit(source) and self.result.size else source
        backend = L.BACKENDS[source.device[0]]
        strides = self.read.strides, self.result.strides
        self.vouched = vouched_for(self.read, self.result)
        self.key = plan_key(source.dtype, source.shape, axes, *strides, arithmetic, threads, backend)

    def place(self) -> tuple:
        return self.read.device, self.key, self.vouched

    def plan(self) -> Handle:
        return create_kept(self.key, self.vouched)


@_compiled.batch
def batch(
    arrays: Sequence[Any],
    axes: Optional[Sequence[int]] = None,
    *,
    out: Optional[Sequence[Any]] = None,
    alpha: Any = 1,
    beta: Any = 0,
    conj: bool = False,
    threads: Optional[int] = None,
) -> Any:
    """Permute the axes of many arrays by one call, such as the blocks of a block-sparse tensor.

    As `transpose` of each, but that on the CPU the threads share all of them, and on a GPU those that are alike are one launch.

    Parameters
    ----------
    arrays : sequence of array
        As for `transpose`, of one library and on one device; their shapes may differ. Also one array with a further first axis.
    axes : sequence of int, optional
        As for `transpose`, the same for all.
    out : sequence of array, optional
        Where the results go, as many; none may overlap with another one or with an array that is another's input.
    alpha, beta, conj, threads
        As for `transpose`.

    Returns
    -------
    sequence of array
        `out`; else a list of new arrays.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        As `transpose`; arrays are named with their place. Of a call that is refused nothing is done.

    Examples
    --------
    >>> blocks = [np.random.rand(3, 4, 5), np.random.rand(6, 7, 8)]
    >>> [block.shape for block in cutt.batch(blocks, (2, 0, 1))]
    [(5, 3, 4), (8, 6, 7)]
    """
    inputs = listed(arrays, "arrays")
    results = [None] * len(inputs) if out is None else listed(out, "out")
    if len(results) != len(inputs):
        raise ValueError(f"out has {len(results)} arrays, and there are {len(inputs)} inputs")
    if out is None and not is_zero(beta):
        raise ValueError(f"beta is {beta!r} and there is no out to be added to")
    number, pairs = threads_of(threads), []
    for place, (a, result) in enumerate(zip(inputs, results)):
        try:
            if out is not None and result is None:
                raise TypeError("out is None; it must be an array")
            pairs.append(_Pair(a, result, axes, alpha, beta, conj, number))
        except (TypeError, ValueError) as error:
            kind = ValueError if isinstance(error, ValueError) else TypeError
            raise kind(f"pair {place}: {error}") from None
    if not pairs:
        return [] if out is None else out
    first = pairs[0].source
    for place, pair in enumerate(pairs):
        check_device(pair.source, first, f"input {place}")
    if out is not None:
        check_apart([pair.result for pair in pairs], [pair.source for pair in pairs])
    full = [pair for pair in pairs if pair.result.size]

    def call(stream: int) -> None:
        plans = [plan_cache.get(pair.place(), pair.plan) for pair in full]
        handles = (c_void_p * len(full))(*(plan.value for plan in plans))
        pointers = ((c_void_p * len(full))(*(pair.read.pointer for pair in full)),)
        pointers += ((c_void_p * len(full))(*(pair.result.pointer for pair in full)),)
        L.check(L.lib.cuttPlansExecute(len(full), handles, *pointers, stream or None))

    if full:
        run(first, [view for pair in full for view in (pair.read, pair.result)], call)
    return [pair.source.adapter.finish(pair.array, False) for pair in pairs] if out is None else out
