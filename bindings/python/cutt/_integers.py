"""Contractions of integers of 4 and 8 bytes, exact modulo 2^n as NumPy's.

The library contracts them as they are, by kernels that read each tensor once. Where there is much to multiply for each element
a BLAS is faster, in double precision: that is done where all sums stay within 2^53, and so are exact.
"""

from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np

from . import _library as L
from ._arrays import array_of, view_of
from ._contract import Operand, contract
from ._types import MANY_OF_INTEGERS, products_per_element
from ._views import View

_EXACT = 53  # bits of an integer that a float64 has


def _largest(array: np.ndarray) -> int:
    return max(abs(int(array.max())), abs(int(array.min())), 1)


def sooner_as_float64(left: Operand, right: Operand, labels: Sequence[str]) -> bool:
    """May a BLAS be faster than the library's own kernels?"""
    terms = (left.labels, right.labels)
    extents = dict(zip(left.labels + right.labels, left.view.shape + right.view.shape))
    return products_per_element(terms, labels, extents) > MANY_OF_INTEGERS


def contract_integers(
    left: Operand,
    right: Operand,
    labels: Sequence[str],
    result: View,
    code: int,
    alpha: Any = 1,
    beta: Any = 0,
    threads: int = 0,
) -> None:
    """As contract()."""
    if sooner_as_float64(left, right, labels):
        arrays, out = [array_of(operand.view) for operand in (left, right)], array_of(result)
        extents = dict(zip(left.labels + right.labels, left.view.shape + right.view.shape))
        count = math.prod(n for label, n in extents.items() if label not in labels)
        if _largest(arrays[0]) * _largest(arrays[1]) * count <= 1 << _EXACT:
            operands = [
                Operand(view_of(array.astype(np.float64), "an operand"), operand.labels, extents)
                for array, operand in zip(arrays, (left, right))
            ]
            product = np.empty(out.shape)
            contract(*operands, labels, view_of(product, "the product"), L.F64, threads=threads)
            _add(product, out, alpha, beta)
            return
    contract(left, right, labels, result, code, alpha, beta, threads)


def _add(product: np.ndarray, out: np.ndarray, alpha: Any, beta: Any) -> None:
    """out = alpha * product + beta * out, modulo 2^64 and so modulo 2^n."""
    times, more = (np.uint64(int(np.asarray(value, object)[()].real) % (1 << 64)) for value in (alpha, beta))
    with np.errstate(over="ignore"):  # NumPy warns where single numbers wrap around
        total = product.astype(np.int64).view(np.uint64) * times
        if more:
            total += out.astype(np.int64).view(np.uint64) * more
        out[...] = total.astype(out.dtype)
