"""Contractions of integers, exact modulo 2^n as NumPy's, by matrix products in double precision.

A sum of products that stays within 2^53 is exact there. Where it might not, both operands are taken apart into digits so
short that the sums of products of two digits are, and these are put together modulo 2^64.
"""

from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np

from . import _library as L
from ._arrays import array_of, view_of
from ._contract import Operand, contract
from ._views import View

_EXACT = 53  # bits of an integer that a float64 has


def _largest(array: np.ndarray) -> int:
    return max(abs(int(array.max())), abs(int(array.min())), 1)


def _product(left: np.ndarray, right: np.ndarray, terms: tuple, labels: Sequence[str], threads: int) -> np.ndarray:
    """In float64, of operands whose labels are those of the axes, each once."""
    extents = {label: n for array, term in zip((left, right), terms) for label, n in zip(term, array.shape)}
    operands = [
        Operand(view_of(np.asarray(array, np.float64), "an operand"), term, extents)
        for array, term in zip((left, right), terms)
    ]
    result = np.empty(tuple(extents[label] for label in labels))
    contract(operands[0], operands[1], labels, view_of(result, "the product"), L.F64, threads=threads)
    return result


def _digit(array: np.ndarray, place: int, bits: int) -> np.ndarray:
    return array >> np.uint64(place * bits) & np.uint64((1 << bits) - 1)


def contract_integers(
    left: Operand,
    right: Operand,
    labels: Sequence[str],
    result: View,
    code: int = 0,
    alpha: Any = 1,
    beta: Any = 0,
    threads: int = 0,
) -> None:
    """As contract(), of integers of any size in NumPy's arrays. alpha and beta are ints, and code is of no use."""
    arrays, out = [array_of(operand.view) for operand in (left, right)], array_of(result)
    terms = (left.labels, right.labels)
    extents = {label: n for array, term in zip(arrays, terms) for label, n in zip(term, array.shape)}
    count = math.prod(n for label, n in extents.items() if label not in labels)
    width = 8 * out.dtype.itemsize
    total = np.zeros(out.shape, np.uint64)
    if _largest(arrays[0]) * _largest(arrays[1]) * count <= 1 << _EXACT:
        total += _product(*arrays, terms, labels, threads).astype(np.int64).view(np.uint64)
    else:
        bits = (_EXACT - count.bit_length()) // 2
        digits = -(-width // bits)
        unsigned = [
            array.astype(np.int64 if array.dtype.kind == "i" else np.uint64).view(np.uint64) for array in arrays
        ]
        for first in range(digits):
            for second in range(digits - first):
                parts = [_digit(array, place, bits) for array, place in zip(unsigned, (first, second))]
                part = _product(*parts, terms, labels, threads).astype(np.int64).view(np.uint64)
                total += part << np.uint64((first + second) * bits)
    if alpha != 1:
        total *= np.uint64(alpha % (1 << 64))
    if beta != 0:
        total += out.astype(np.int64 if out.dtype.kind == "i" else np.uint64).view(np.uint64) * np.uint64(
            beta % (1 << 64)
        )
    out[...] = total.astype(out.dtype)
