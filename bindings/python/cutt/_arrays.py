"""Which adapter takes an array, and the checks of arrays that results and workspaces are written to."""

from __future__ import annotations

import functools
import sys
from typing import Any, Optional, Sequence

import numpy as np

from . import _adapters
from . import _library as L
from ._views import CPU, LISTS, NUMPY, Adapter, View, packed_strides


@functools.lru_cache(maxsize=64)
def adapter_of(kind: Any) -> Optional[Adapter]:
    """The adapter of a type of array, as far as its classes tell."""
    roots = {(c.__module__.partition(".")[0], c.__name__) for c in kind.__mro__}
    if ("torch", "Tensor") in roots:
        return _adapters.TORCH
    if ("cupy", "ndarray") in roots:
        return _adapters.CUPY
    if ("jax", "Tracer") in roots or ("jax" in sys.modules and issubclass(kind, sys.modules["jax"].Array)):
        return _adapters.JAX
    if hasattr(kind, "__cuda_array_interface__"):
        return _adapters.CUDA_INTERFACE
    if hasattr(kind, "__dlpack__"):
        return _adapters.DLPACK
    return None


def view_of(array: Any, name: str) -> View:
    """name: what the caller calls it.

    Raises
    ------
    TypeError, ValueError
        For what is no array, and for elements or memory that can't be taken.
    """
    try:
        if isinstance(array, np.ndarray):
            return NUMPY.view(array)
        adapter = adapter_of(type(array))  # type: ignore[arg-type]
        if adapter is None and hasattr(array, "__cuda_array_interface__"):  # CuPy's kin say it by instance
            adapter = adapter_of(type("interface", (), {"__cuda_array_interface__": None}))
        return (adapter or LISTS).view(array)
    except (TypeError, ValueError, BufferError) as error:  # of any library
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(f"{name} can't be taken: {error}") from None


def array_of(view: View) -> np.ndarray:
    """A view on the CPU, of a type that NumPy has, as an array of NumPy's: of the same memory."""
    facts = {"version": 3, "typestr": np.dtype(view.dtype.name).str, "data": (view.pointer, view.fixed is not None)}
    facts.update(shape=view.shape, strides=view.strides)
    return np.asarray(type("memory", (), {"__array_interface__": facts, "owner": view.owner})())


def check_device(view: View, first: View, name: str) -> None:
    if view.device != first.device:
        raise ValueError(f"{name} is on {device_text(view)}, and the first operand on {device_text(first)}")


def device_text(view: View) -> str:
    return "the CPU" if view.device[0] == "cpu" else f"CUDA device {view.device[1]}"


def _written(array: Any, name: str) -> View:
    """The view of an array of the caller's that is to be written to."""
    if isinstance(array, (int, float, complex, list, tuple, np.generic)):
        raise TypeError(f"{name} is of type {type(array).__name__}; it must be an array")
    view = view_of(array, name)
    if view.adapter.name == "JAX":
        raise TypeError(f"{name} is an array of JAX, and those are never written to")
    if view.fixed is not None:
        raise ValueError(f"{name} {view.fixed}")
    return view


def check_out(out: Any, shape: Sequence[int], like: View) -> View:
    """The view of a caller's `out`, which has to be what a result would have been."""
    view = _written(out, "out")
    if view.shape != tuple(shape):
        raise ValueError(f"out has shape {view.shape}; it must be {tuple(shape)}")
    if view.dtype.name != like.dtype.name:
        raise TypeError(f"out has elements of type {view.dtype.name}; they must be {like.dtype.name}")
    check_device(view, like, "out")
    if view.size and any(n > 1 and s == 0 for n, s in zip(view.shape, view.strides)):
        raise ValueError(
            f"out has strides {view.strides}, which make its elements overlap; each must have memory of its own"
        )
    return view


def _span(view: View) -> tuple:
    """The bytes from the first to the last element."""
    if not view.size:
        return view.pointer, view.pointer
    reach = [(n - 1) * s for n, s in zip(view.shape, view.strides)]
    low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    return view.pointer + low, view.pointer + high + view.dtype.itemsize


def _share(first: View, second: View) -> bool:
    """Do elements of the two lie in the same bytes? Yes, where telling would take too long."""

    def laid_out(view: View) -> np.ndarray:
        facts = {"version": 3, "typestr": f"|V{view.dtype.itemsize}", "data": (view.pointer, True)}
        facts.update(shape=view.shape, strides=view.strides)
        return np.asarray(type("memory", (), {"__array_interface__": facts})())

    try:
        return np.shares_memory(laid_out(first), laid_out(second), max_work=100000)
    except RuntimeError:  # NumPy's TooHardError
        return True


def listed(arrays: Any, name: str) -> list:
    """The arrays of a batch."""
    try:
        return list(arrays)
    except TypeError:
        raise TypeError(f"{name} is of type {type(arrays).__name__}; it must be a sequence of arrays") from None


def check_apart(outs: Sequence[View], ins: Sequence[View]) -> None:
    """No result of a batch may overlap with another one or with another's input, which the C library takes on trust.
    Two overlap or not by their layouts and their distance, which is often the same for many."""
    spans = [
        (*_span(view), place, written, view)
        for written, views in ((1, outs), (0, ins))
        for place, view in enumerate(views)
    ]
    spans.sort(key=lambda span: span[0])

    def layout_of(of: View) -> tuple:
        return of.shape, of.strides, of.dtype.itemsize

    known: dict[tuple, bool] = {}
    reaching: list[tuple] = []  # those that go on beyond where the sweep is
    for span in spans:
        low, _, place, written, view = span
        reaching = [other for other in reaching if other[1] > low]
        for _, _, before, other_written, other in reaching:
            if not (written or other_written) or (place == before and written != other_written):
                continue
            key = (view.pointer - other.pointer, *layout_of(view), *layout_of(other))
            if key not in known:
                known[key] = _share(view, other)
            if known[key]:
                names = [
                    f"out[{n}]" if is_out else f"input {n}" for n, is_out in ((before, other_written), (place, written))
                ]
                names.sort(reverse=True)
                raise ValueError(f"{names[0]} overlaps with {names[1]}; each result must have memory of its own")
        reaching.append(span)


def check_workspace(workspace: Any, needed: int, views: dict[str, View]) -> View:
    """The view of a caller's workspace for an execution on these views, by name."""
    view, like = _written(workspace, "workspace"), next(iter(views.values()))
    check_device(view, like, "workspace")
    packed = packed_strides(view.shape, view.dtype.itemsize)
    if view.size and any(n > 1 and s != p for n, s, p in zip(view.shape, view.strides, packed)):
        raise ValueError(
            f"workspace has shape {view.shape} and strides {view.strides}; it must be contiguous, in C order: {packed}"
        )
    size = view.size * view.dtype.itemsize
    if size < needed:
        raise ValueError(f"workspace has {size} bytes; it must have {needed} or more, as the plan's workspace says")
    alignment = 64 if like.device == CPU else 256
    if needed and view.pointer % alignment:
        raise ValueError(f"workspace is at address {view.pointer:#x}; it must be at a multiple of {alignment}")
    low, high = _span(view)
    for name, other in views.items():
        first, last = _span(other)
        if low < last and first < high:
            raise ValueError(f"workspace overlaps with {name}; it must have memory of its own")
    return view


def scalar(value: Any, code: int, name: str, dtype: str) -> bytes:
    """A scalar as cutt.h takes it: of the element's type, but float for the half types."""
    number: Any = value
    try:
        if not isinstance(value, int):  # which may be of any length
            array = np.asarray(value)
            if array.ndim or array.dtype.kind not in "biufc":
                raise TypeError
            number = array[()]
        if code in (L.C32, L.C64):
            return np.array(complex(number), np.complex64 if code == L.C32 else np.complex128).tobytes()
        if number.imag != 0:
            raise TypeError
        if code in (L.I32, L.I64):
            if number.real != int(number.real):
                raise TypeError
            bits = 32 if code == L.I32 else 64
            return (int(number.real) % (1 << bits)).to_bytes(bits // 8, sys.byteorder)
        return np.array(float(number.real), np.float64 if code == L.F64 else np.float32).tobytes()
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} is {value!r}; elements of type {dtype} can't be scaled by that") from None


def is_zero(value: Any) -> bool:
    """Of a scalar that scalar() takes: -0.0 too."""
    return bool(np.all(np.asarray(value) == 0))
