"""reduce: sums, products, maxima and minima over axes."""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence

from . import _compiled
from . import _library as L
from ._arguments import flags, threads_of
from ._arrays import check_out, is_zero, view_of
from ._contract import Operand, check_type, contract, extents_of, name_overlap
from ._spec import parse


def operator_of(value: Any, name: str, code: int, dtype: str) -> int:
    """cutt_contract.h's number of an operator, which has to be one of the type's."""
    if not isinstance(value, str) or value not in L.OPERATORS:
        raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(L.OPERATORS)}")
    if code in (L.C32, L.C64) and value in ("max", "min"):
        raise TypeError(f"{name} is {value!r}, and elements of type {dtype} have no order")
    if dtype.startswith("uint") and value in ("max", "min"):
        raise TypeError(f"{name} is {value!r}, which compares signed integers, and elements are of type {dtype}")
    return L.OPERATORS[value]


@_compiled.reduce
def reduce(
    spec: str,
    *operands: Any,
    op: str = "add",
    out: Any = None,
    alpha: Any = 1,
    beta: Any = 0,
    conj: Optional[Sequence[bool]] = None,
    threads: Optional[int] = None,
) -> Any:
    """Reduce over the axes that subscripts name and the result does not have: ``alpha * reduce(a * b) + beta * out``.

    Parameters
    ----------
    spec : str
        Subscripts as for `einsum`: ``"ijk->j"``, ``"ii->"``, ``"ij,jk->ik"``.
    *operands : array
        One or two, as for `einsum`, of one type: float16, bfloat16, float32, float64, complex64, complex128, and on the
        CPU integers of 32 and 64 bits. Of two, products of elements are reduced.
    op : {'add', 'multiply', 'max', 'min'}, optional
        A maximum or minimum with a NaN among its elements is one, as NumPy's is; complex numbers and unsigned integers
        have neither. Integers wrap around.
    out, alpha, beta, conj, threads
        As for `einsum`. With alpha 0 operands are not read.

    Returns
    -------
    array
        As `einsum`.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        As `einsum`; ValueError for a maximum or minimum of no elements.

    Examples
    --------
    >>> cutt.reduce("ij->j", np.array([[1.0, 5.0], [3.0, 4.0]]), op="max")
    array([3., 5.])
    """
    views = [view_of(array, f"operand {place}") for place, array in enumerate(operands)]
    if len(views) not in (1, 2):
        raise ValueError(f"reduce takes one or two operands, and {len(views)} are given")
    if conj is not None:
        for view, flag in zip(views, flags(conj, "conj", len(views))):
            view.conj = view.conj != flag
    first, number = views[0], threads_of(threads)
    code = check_type(first, views[1:])
    operator = operator_of(op, "op", code, first.dtype.name)
    terms, labels = parse(spec, tuple(len(view.shape) for view in views))
    extents = extents_of(terms, views)
    shape = tuple(extents[label] for label in labels)
    if out is None and not is_zero(beta):
        raise ValueError(f"beta is {beta!r} and there is no out to be added to")
    array = first.adapter.empty(shape, first) if out is None else out
    result = view_of(array, "the result") if out is None else check_out(out, shape, first)
    own = [Operand(view, term, extents) for view, term in zip(views, terms)]
    if math.prod(shape):
        try:
            contract(own[0], own[1] if len(own) > 1 else None, labels, result, code, alpha, beta, number, operator)
        except ValueError:
            name_overlap(views, result)
            raise
    return first.adapter.finish(array, True) if out is None else out
