"""tensordot, which is an einsum whose subscripts follow from the axes."""

from __future__ import annotations

import functools
import operator
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _compiled, _types
from ._arguments import threads_of
from ._arrays import view_of
from ._contract import _LETTERS
from ._einsum import compute, converted


@functools.lru_cache(maxsize=256)
def _dot(left: int, right: int, axes: Any) -> Optional[tuple]:
    """(subscripts, pairs of axes) of a tensordot of arrays of these ranks; None where something is wrong, or unusual."""
    if isinstance(axes, int):
        if not 0 <= axes <= min(left, right):
            return None
        pairs = tuple(zip(range(left - axes, left), range(axes)))
    else:
        sides = [(side,) if isinstance(side, int) else side for side in axes]
        if len(sides) != 2 or len(sides[0]) != len(sides[1]):
            return None
        pairs = tuple(zip(*sides))
        if not all(-left <= a < left and -right <= b < right for a, b in pairs):
            return None
        pairs = tuple((a % left, b % right) for a, b in pairs)
    if left + right > len(_LETTERS) or any(len({pair[side] for pair in pairs}) < len(pairs) for side in (0, 1)):
        return None
    terms = [list(_LETTERS[:left]), list(_LETTERS[left : left + right])]
    for a, b in pairs:
        terms[1][b] = terms[0][a]
    summed = {terms[0][a] for a, _ in pairs}
    kept = [label for label in terms[0] + terms[1] if label not in summed]
    return f"{''.join(terms[0])},{''.join(terms[1])}->{''.join(kept)}", pairs


def _served_dot(a: Any, b: Any, axes: Any, out: Any, alpha: Any, beta: Any, threads: Any) -> Any:
    """tensordot() by the compiled module; NotImplemented where that does not serve it."""
    left, right = getattr(a, "shape", None), getattr(b, "shape", None)
    if left is None or right is None:
        return NotImplemented
    if isinstance(axes, (list, tuple)):
        axes = tuple(tuple(side) if isinstance(side, list) else side for side in axes)
    try:
        spec, pairs = _dot(len(left), len(right), axes) or ("", ())
    except TypeError:
        return NotImplemented
    if not spec or any(left[i] != right[j] for i, j in pairs):
        return NotImplemented
    made = _compiled.calls.try_einsum(spec, a, b, out=out, alpha=alpha, beta=beta, threads=threads)
    return np.asarray(made) if isinstance(made, np.generic) else made  # of rank 0 an array


def _number(value: Any) -> Any:
    """An int, or None: arrays of NumPy have __index__ too, and most of them raise."""
    try:
        return operator.index(value)
    except TypeError:
        return None


def tensordot(
    a: Any,
    b: Any,
    axes: Union[int, Sequence] = 2,
    *,
    out: Any = None,
    alpha: Any = 1,
    beta: Any = 0,
    threads: Optional[int] = None,
) -> Any:
    """Sum products of two arrays over pairs of axes, as ``numpy.tensordot``.

    Parameters
    ----------
    a, b : array
        As for `einsum`.
    axes : int or (sequence of int, sequence of int), optional
        A number: the last that many axes of `a` with the first of `b`. Else the axes of `a` and those of `b`, which are
        taken in pairs.
    out, alpha, beta, threads
        As for `einsum`.

    Returns
    -------
    array
        The axes of `a` that are left, then those of `b`; as for `einsum`, but of rank 0 an array.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        As `einsum`.
    """
    if _compiled.calls is not None:
        made = _served_dot(a, b, axes, out, alpha, beta, threads)
        if made is not NotImplemented:
            return made
    views = [view_of(a, "a"), view_of(b, "b")]
    ranks = [len(view.shape) for view in views]
    count = _number(axes)
    if count is not None:
        if not 0 <= count <= min(ranks):
            raise ValueError(
                f"axes is {count}; for arrays of {ranks[0]} and {ranks[1]} axes it must be 0 to {min(ranks)}"
            )
        pairs = [list(range(ranks[0] - count, ranks[0])), list(range(count))]
    else:
        try:
            left, right = axes  # type: ignore[misc]
            pairs = [
                [axis.__index__() for axis in side] if _number(side) is None else [_number(side)]
                for side in (left, right)
            ]
        except (TypeError, AttributeError, ValueError):
            raise TypeError(f"axes is {axes!r}; it must be an int, or two sequences of ints") from None
    if len(pairs[0]) != len(pairs[1]):
        raise ValueError(f"axes has {len(pairs[0])} axes of a and {len(pairs[1])} of b; they are taken in pairs")
    terms = []
    for place, (rank, side) in enumerate(zip(ranks, pairs)):
        for axis in side:
            if not -rank <= axis < rank:
                raise ValueError(f"axes has {axis} for {'ab'[place]}, which has {rank} axes")
        term = [f"{'ab'[place]}{axis}" for axis in range(rank)]
        for pair, axis in enumerate(side):
            if term[axis][0] == "k":
                raise ValueError(f"axes has axis {axis} of {'ab'[place]} twice")
            term[axis] = f"k{pair}"
        terms.append(tuple(term))
    for left, right in zip(*pairs):
        if views[0].shape[left] != views[1].shape[right]:
            raise ValueError(
                f"axis {left} of a has extent {views[0].shape[left]}, and axis {right} of b {views[1].shape[right]}"
            )
    labels = tuple(label for term in terms for label in term if label[0] != "k")
    number, kind = threads_of(threads), _types.common(views, terms, labels, None, "safe")
    if kind is None:
        return compute(views, tuple(terms), labels, out, alpha, beta, False, number, False)
    return converted(views, tuple(terms), labels, out, alpha, beta, False, number, False, kind, "safe")
