"""Which element type an einsum is computed in, and what that takes: operands of NumPy's and CuPy's arrays are promoted as
these libraries do it, and types that no BLAS has are computed in one that is exact."""

from __future__ import annotations

import math
import sys
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from . import _library as L
from ._adapters import CUPY
from ._arrays import check_out, scalar, view_of
from ._contract import contractible, extents_of
from ._views import NUMPY, View, numpy_dtype

_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
_ORDERS = ("C", "F", "A", "K")


def products_per_element(terms: Sequence[Sequence[str]], labels: Sequence[str], extents: Mapping[str, int]) -> float:
    """Of all tensors' elements: how much there is to multiply, for what is read and written."""
    elements = sum(math.prod(extents[label] for label in set(term)) for term in (*terms, labels))
    return math.prod(extents.values()) / max(elements, 1)


# The kernels that contract halves and integers read each tensor once. A BLAS does not take these types, and multiplies so much
# faster that from so many products an element on it pays to convert.
MANY_OF_HALVES, MANY_OF_INTEGERS = 24, 40


def sooner_as_float32(views: Sequence[View], terms: Sequence[Sequence[str]], labels: Sequence[str]) -> bool:
    """Is an einsum of NumPy's float16 better done in float32? More than two operands always: what lies between is not rounded."""
    first = views[0]
    if first.dtype.code != L.F16 or first.adapter is not NUMPY:
        return False
    return len(views) > 2 or products_per_element(terms, labels, extents_of(terms, views)) > MANY_OF_HALVES


def operands_of(arrays: Sequence[Any]) -> list[View]:
    """Views of an einsum's operands. Python's numbers beside arrays of PyTorch, CuPy and JAX become theirs."""
    views = [view_of(array, f"operand {place}") for place, array in enumerate(arrays)]
    like = next((view for view in views if hasattr(view.adapter, "number")), None)
    if like is not None:
        for place, array in enumerate(arrays):
            if isinstance(array, (int, float, complex)):
                name = f"operand {place}"
                if like.dtype.code:
                    scalar(array, like.dtype.code, name, like.dtype.name)
                views[place] = view_of(like.adapter.number(array, like), name)  # type: ignore[attr-defined]
    return views


def common(
    views: Sequence[View], terms: Sequence[Sequence[str]], labels: Sequence[str], dtype: Any, casting: Any
) -> Optional[np.dtype]:
    """The type that operands have to become, in native order; None: they are taken as they are.

    Raises
    ------
    TypeError, ValueError
        For a dtype or a casting that is none, and for what the casting does not allow.
    """
    if casting not in _CASTINGS:
        raise ValueError(f"casting is {casting!r}; it must be one of {', '.join(_CASTINGS)}")
    first = views[0]
    alike = all(view.dtype.name == first.dtype.name for view in views)
    taken = is_moved(terms, labels) or (contractible(first) and not sooner_as_float32(views, terms, labels))
    if dtype is None and alike and taken:
        return None
    if not all(view.adapter is first.adapter and view.adapter in (NUMPY, CUPY) for view in views):
        if dtype is not None:
            raise TypeError(f"dtype is {dtype!r}; it is for arrays of NumPy and CuPy")
        return None  # which is refused where it is nothing to contract
    try:
        kind = np.result_type(*(view.owner for view in views)) if dtype is None else np.dtype(dtype)
    except TypeError as error:
        name = "the operands" if dtype is None else f"dtype is {dtype!r}, and the operands"
        raise TypeError(f"{name} have no element type in common: {error}") from None
    kind = kind.newbyteorder("=")
    for place, view in enumerate(views):
        if not np.can_cast(view.owner if view.adapter is NUMPY else view.owner.dtype, kind, casting):
            raise TypeError(
                f"operand {place} has elements of type {view.dtype.name}, which casting={casting!r} does not make "
                f"{kind.name}"
            )
    return kind


def cast(view: View, kind: np.dtype) -> View:
    """The same elements as another type; the view itself where it is that type."""
    if view.dtype.name == numpy_dtype(kind).name:
        return view
    made = view_of(view.owner.astype(kind), "an operand")
    made.conj = view.conj and kind.kind == "c"
    return made


def result_kind(kind: Optional[np.dtype], first: View) -> Any:
    return first.dtype.native if kind is None else kind


def ordered(order: Any, views: Sequence[View], shape: Sequence[int], kind: Any) -> Any:
    """An array for a result that is not to be in C order; None where it is, or may be."""
    if order not in _ORDERS:
        raise ValueError(f"order is {order!r}; it must be one of {', '.join(_ORDERS)}")
    if order in "CK":
        return None
    first = views[0]
    if first.adapter not in (NUMPY, CUPY):
        raise ValueError(f"order is {order!r}; results of {first.adapter.name} are in C order: give an out")
    if order == "A" and not all(view.owner.flags.fnc for view in views):
        return None
    library: Any = np if first.adapter is NUMPY else sys.modules["cupy"]
    return library.empty(tuple(shape), result_kind(kind, first), order="F")


def out_view(out: Any, shape: Sequence[int], first: View, kind: np.dtype, casting: str) -> View:
    """The view of a caller's `out` for a result of this type, which the casting may make another one of."""
    like = first.like(shape, first.strides)
    given = getattr(out, "dtype", None)
    plain = isinstance(given, np.dtype) and given.isnative and given.kind in "?biufc"
    like.dtype = numpy_dtype(given if plain and np.can_cast(kind, given, casting) else kind)
    return check_out(out, shape, like)


def is_moved(terms: Sequence[Sequence[str]], labels: Sequence[str]) -> bool:
    """Is nothing multiplied or summed?"""
    return len(terms) == 1 and set(labels) == set(terms[0])


def working(kind: np.dtype, views: Sequence[View], terms: Sequence[Sequence[str]], labels: Sequence[str]) -> np.dtype:
    """The type to compute in.

    Raises
    ------
    TypeError
        For what is no number.
    """
    view = views[0].like(views[0].shape, views[0].strides)
    view.dtype = numpy_dtype(kind)
    if contractible(view) and not sooner_as_float32([view, *views[1:]], terms, labels):
        return kind
    if view.device[0] == "cpu":
        if kind.kind in "iu":
            return np.dtype(np.int32)  # of which these are the last bits
        if kind.kind == "b" or kind == np.float16:
            return np.dtype(np.float32)
        if kind.kind in "fc":
            return kind  # long double, which only NumPy computes with
    raise TypeError(
        f"elements of type {kind.name} can't be contracted or summed on {view.device[0]}: numbers can, and on a GPU "
        "float16, bfloat16, float32, float64, complex64 and complex128"
    )


def scaled(value: np.ndarray, alpha: Any, kind: np.dtype) -> np.ndarray:
    """alpha times what NumPy has computed, which is of this type."""
    if kind.kind in "biu":
        return value if alpha == 1 else value * np.array(alpha % (1 << 64), np.uint64).astype(kind)
    if kind.kind == "f" and np.iscomplexobj(alpha):
        raise TypeError(f"alpha is {alpha!r}; elements of type {kind.name} can't be scaled by that")
    return value * kind.type(alpha)


def factors(kind: np.dtype, alpha: Any, beta: Any) -> tuple:
    """alpha and beta for integers, as ints; for bool only what changes nothing.

    Raises
    ------
    TypeError
        For anything else.
    """
    taken = []
    for name, value in (("alpha", alpha), ("beta", beta)):
        scalar(value, L.I64, name, kind.name)
        taken.append(int(np.asarray(value)[()].real) if not isinstance(value, int) else value)
    if kind.kind == "b" and taken != [1, 0]:
        name, value = ("alpha", alpha) if taken[0] != 1 else ("beta", beta)
        raise TypeError(f"{name} is {value!r}; elements of type bool can't be scaled by that")
    return tuple(taken)
