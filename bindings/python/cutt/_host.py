"""What the compiled module calls in Python: to learn of a type that it has not seen, and to make a plan that is not kept.

`bind()` hands it over, once all of the package is loaded.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any, Optional

import numpy as np

from . import _adapters, _compiled, _cuda, _dlpack, _permute
from . import _library as L
from ._arrays import adapter_of
from ._cache import plan_cache
from ._einsum import facts_of_einsum, facts_of_network
from ._elementwise import facts_of_elementwise
from ._network import pool
from ._views import DType, numpy_dtype

MOST_AXES = 16  # of arrays that the compiled module serves
EXCHANGE = "__dlpack_c_exchange_api__"


def _described(dtype: DType) -> tuple:
    return _compiled.number_of(dtype), dtype.itemsize, dtype.code


def describe_dtype(dtype: np.dtype) -> Optional[tuple]:
    """(number, bytes, cutt.h's type) of an element type of NumPy's; None: the functions in Python see to it."""
    try:
        return _described(numpy_dtype(dtype))
    except TypeError:
        return None


def describe_dlpack(code: int, bits: int, lanes: int) -> Optional[tuple]:
    try:
        name, itemsize = _dlpack.element_of(code, bits, lanes)
    except TypeError:
        return None
    return _described(DType(name, itemsize, None))


def describe_library(kind: Any) -> Optional[tuple]:
    """(DLPack's table of functions, or None for its capsules, of PyTorch what tells whether gradients are recorded, whether results are arrays of
    the library, whether what it has on a GPU is memory of that GPU) for a type of arrays."""
    adapter = adapter_of(kind)
    if adapter is _adapters.TORCH:
        torch = sys.modules["torch"]
        if kind is torch.Tensor and hasattr(kind, EXCHANGE):
            return getattr(kind, EXCHANGE), torch.is_grad_enabled, True, adapter.vouches
        return None
    if adapter is _adapters.JAX:  # on the CPU by capsules; its tracers are another type, and refused
        return (None, None, True, False) if hasattr(kind, "__dlpack__") and not _adapters.is_tracer(kind) else None
    if adapter is None or EXCHANGE not in vars(kind):
        return None
    makes = adapter is _adapters.CUPY or hasattr(kind, "__array_namespace__")
    return getattr(kind, EXCHANGE), None, makes, adapter.vouches


def create_permutation(
    number: int,
    code: int,
    shape: tuple,
    axes: tuple,
    strides: tuple,
    out_strides: tuple,
    alpha: bytes,
    beta: bytes,
    conj: int,
    threads: int,
    device: int,
    vouched: int,
) -> tuple:
    """The plan of a transpose(), as _calls takes it; strides in bytes, device -1 is the CPU."""
    backend = L.BACKENDS["cpu" if device < 0 else "cuda"]
    arithmetic = (code, alpha, beta, bool(conj))
    key = _permute.plan_key(_compiled.types[number], shape, axes, strides, out_strides, arithmetic, threads, backend)
    return _permute.facts_of(_permute.create_kept(key, bool(vouched)))


def create_einsum(
    spec: str, left: Any, right: Any, out: Any, alpha: Any, beta: Any, threads: int, op: int
) -> Optional[tuple]:
    """The plan of an einsum() of one or two operands (op: -1), or of a reduce() by an operator's number, as _calls takes it; None: the
    function in Python sees to it."""
    name = None if op < 0 else tuple(L.OPERATORS)[op]
    try:
        facts = facts_of_einsum(spec, [left] if right is None else [left, right], out, alpha, beta, threads, name)
    except (TypeError, ValueError):  # which the function in Python words
        return None
    return facts if facts is not None and len(facts[-1]) <= MOST_AXES else None


def create_elementwise(
    spec: str, a: Any, b: Any, c: Any, out: Any, alpha: bytes, beta: bytes, gamma: bytes, op: int, op2: int, threads: int
) -> Optional[tuple]:
    """The plan of an elementwise(), as _calls takes it; None: elementwise() in Python sees to it."""
    arrays = [a, b] if c is None else [a, b, c]
    try:
        facts = facts_of_elementwise(spec, arrays, out, (alpha, beta, gamma)[: len(arrays)], (op, op2), threads)
    except (TypeError, ValueError):  # which elementwise() words
        return None
    return facts if facts is not None and len(facts[-1]) <= MOST_AXES else None


def create_network(
    spec: str, arrays: tuple, out: Any, optimize: Any, threads: int, again: int
) -> Optional[tuple]:
    """What an einsum() of more than two arrays is done by, as _calls takes it; None: einsum() in Python sees to it."""
    try:
        facts = facts_of_network(spec, arrays, out, optimize, threads, bool(again))
    except (TypeError, ValueError):  # which einsum() words
        return None
    return facts if facts is not None and len(facts[4]) <= MOST_AXES else None


def make_jax(array: Any, shape: tuple) -> np.ndarray:
    return _adapters.JAX.host(shape, np.dtype(array.dtype))


def finish_jax(memory: np.ndarray) -> Any:
    return _adapters.JAX.finish(memory, False)


check, driver, primary_context = L.check, _cuda.context_calls, _cuda.primary
plans = plan_cache.kept
take_memory, give_memory = pool.take, pool.give
execute = L.address_of(L.lib.cuttPlanExecute)
execute_batch = L.address_of(L.lib.cuttPlanExecuteBatch)
execute_plans = L.address_of(L.lib.cuttPlansExecute)

numpy_array = np.ndarray
_core = "numpy._core" if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else "numpy.core"
_umath = importlib.import_module(f"{_core}._multiarray_umath")
numpy_table, numpy_einsum = _umath._ARRAY_API, _umath.c_einsum
numpy_sample = np.empty((2, 3), np.float32)
numpy_facts = (
    numpy_sample.__array_interface__["data"][0],
    numpy_sample.shape,
    numpy_sample.strides,
    numpy_sample.dtype,
)


def bind() -> None:
    if _compiled.calls is not None:
        _compiled.calls.bind(sys.modules[__name__])
