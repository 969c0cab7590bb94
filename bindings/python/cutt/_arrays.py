"""Arrays of any library as one kind of view: a pointer, extents, strides in bytes, an element type and a device.

Nothing is copied here. Of NumPy, PyTorch and CuPy the attributes are read, which is quick and keeps strides of any
sign; everything else comes through __cuda_array_interface__, DLPack or the buffer protocol. Each library has an
adapter, which also makes the arrays for results and tells the stream that the library's user is working in.
"""

from __future__ import annotations

import functools
import math
import sys
from typing import Any, Optional, Sequence

import numpy as np

from . import _library as L

# Element types that the library computes on, by name. Unsigned integers are two's complement too, and modulo 2^n the
# same.
ARITHMETIC = {
    "float16": L.F16,
    "bfloat16": L.BF16,
    "float32": L.F32,
    "float64": L.F64,
    "complex64": L.C32,
    "complex128": L.C64,
    "int32": L.I32,
    "uint32": L.I32,
    "int64": L.I64,
    "uint64": L.I64,
}
CPU = ("cpu", 0)
READ_ONLY = "is read-only; it must be an array that may be written to"


class DType:
    """An element type: its name, which two types of the same elements share in any library; its size; cutt.h's type for
    arithmetic, 0 where there is none; and the library's own object for it."""

    __slots__ = ("name", "itemsize", "code", "native")

    def __init__(self, name: str, itemsize: int, native: Any):
        self.name, self.itemsize, self.native = name, itemsize, native
        self.code = ARITHMETIC.get(name, 0)

    @property
    def is_complex(self) -> bool:
        return self.code in (L.C32, L.C64)


class View:
    """What the C library has to know of an array, and what a result has to know of its input."""

    __slots__ = ("pointer", "shape", "strides", "dtype", "device", "adapter", "owner", "conj", "fixed", "stream")

    def __init__(
        self,
        pointer: int,
        shape: tuple,
        strides: tuple,
        dtype: DType,
        device: tuple,
        adapter: "Adapter",
        owner: Any,
        conj: bool = False,
        fixed: Optional[str] = None,
        stream: Optional[int] = None,
    ):
        self.pointer, self.shape, self.strides, self.dtype = pointer, shape, strides, dtype
        self.device, self.adapter, self.owner = device, adapter, owner
        self.conj = conj  # PyTorch's lazy conjugation: the elements are the conjugates of what lies in memory
        self.fixed = fixed  # why it may not be written to, in words that follow a name; None: it may
        self.stream = stream  # what the data was written in, where the array itself says so

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def like(self, shape: Sequence[int], strides: Sequence[int]) -> "View":
        """The same memory with other extents and strides."""
        return View(
            self.pointer,
            tuple(shape),
            tuple(strides),
            self.dtype,
            self.device,
            self.adapter,
            self.owner,
            self.conj,
            self.fixed,
            self.stream,
        )


class Adapter:
    """What differs from library to library. This one is NumPy's, the others inherit."""

    name = "NumPy"

    def view(self, array: Any) -> View:
        if isinstance(array, np.ma.MaskedArray):
            raise TypeError("masked arrays are not taken: fill them first (a.filled())")
        return View(
            array.__array_interface__["data"][0],
            array.shape,
            array.strides,
            numpy_dtype(array.dtype),
            CPU,
            self,
            array,
            False,
            None if array.flags.writeable else READ_ONLY,
        )

    def empty(self, shape: Sequence[int], like: View) -> Any:
        """A packed array of the library's own (C order), of like's type and device."""
        return np.empty(shape, like.dtype.native)

    def one(self, like: View) -> Any:
        """A scalar 1 of like's type and device."""
        return np.ones((), like.dtype.native)

    def stream(self, view: View) -> int:
        """The CUDA stream to work in."""
        return 0

    def waits(self) -> bool:
        """Does the library work in streams that it keeps to itself, so that a result has to be waited for?"""
        return False

    def finish(self, array: Any, scalar: bool) -> Any:
        """What the user is given of what empty() made; scalar: no array of rank 0, as NumPy's einsum does."""
        return array[()] if scalar and not array.shape else array


class Lists(Adapter):
    """Python's numbers, lists and whatever else NumPy makes arrays of, and objects with the buffer protocol."""

    name = "the buffer protocol"

    def view(self, array: Any) -> View:
        try:
            array = np.asarray(memoryview(array))
        except TypeError:
            if not isinstance(array, (int, float, complex, list, tuple, np.generic)) and not hasattr(
                array, "__array_interface__"
            ):
                raise TypeError(
                    f"{type(array).__module__}.{type(array).__qualname__} is not an array: it has neither __dlpack__ "
                    "nor __cuda_array_interface__ nor the buffer protocol"
                ) from None
            array = np.asarray(array)
        return NUMPY.view(array)


NUMPY, LISTS = Adapter(), Lists()


@functools.lru_cache(maxsize=256)
def numpy_dtype(dtype: np.dtype) -> DType:
    if dtype.hasobject:
        raise TypeError(f"elements of type {dtype} are Python objects; only elements of plain memory can be moved")
    if dtype.itemsize == 0:
        raise TypeError(f"elements of type {dtype} have no size")
    # The name of a type in another byte order must not be that of the native one.
    name = dtype.name if dtype.isnative and dtype.kind in "?biufcV" and dtype.names is None else repr(dtype)
    return DType(name, dtype.itemsize, dtype)


@functools.lru_cache(maxsize=64)
def _adapter_of(kind: Any) -> Optional[Adapter]:
    """The adapter of a type of array, as far as its classes tell."""
    roots = {(c.__module__.partition(".")[0], c.__name__) for c in kind.__mro__}
    from . import _adapters

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
        adapter = _adapter_of(type(array))  # type: ignore[arg-type]
        if adapter is None and hasattr(array, "__cuda_array_interface__"):  # CuPy's kin say it by instance
            adapter = _adapter_of(type("interface", (), {"__cuda_array_interface__": None}))
        return (adapter or LISTS).view(array)
    except (TypeError, ValueError, BufferError) as error:  # of any library
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(f"{name} can't be taken: {error}") from None


def packed_strides(shape: Sequence[int], itemsize: int) -> tuple:
    """Of C order, in bytes."""
    strides, step = [], itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


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
