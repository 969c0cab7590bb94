"""Arrays of any library as one kind of view: a pointer, extents, strides in bytes, an element type and a device.

Nothing is copied here. Of NumPy, PyTorch and CuPy the attributes are read, which is quick and keeps strides of any
sign; everything else comes through __cuda_array_interface__, DLPack or the buffer protocol. Each library has an
adapter, which also makes the arrays for results and tells the stream that the library's user is working in.
"""

from __future__ import annotations

import functools
import math
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
_COPY = "may be a copy, which is what its __array__ gives; it must be an array whose own memory can be written to"


class DType:
    """An element type: its name, which two types of the same elements share in any library; its size; cutt.h's type for
    arithmetic, 0 where there is none; and the library's own object for it."""

    __slots__ = ("name", "itemsize", "code", "native")

    def __init__(self, name: str, itemsize: int, native: Any):
        self.name, self.itemsize, self.native = name, itemsize, native
        self.code = ARITHMETIC.get(name, 0)

    @property
    def is_complex(self) -> bool:
        """Also of types that are only moved: in another byte order, of long double, of halves."""
        return getattr(self.native, "kind", "") == "c" or self.name.startswith("complex")


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
    vouches = False  # that what it has on a GPU is memory of that GPU

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
        fixed = None
        try:
            array = np.asarray(memoryview(array))
        except TypeError:
            if isinstance(array, (int, float, complex, list, tuple, np.generic)) or hasattr(
                array, "__array_interface__"
            ):
                array = np.asarray(array)
            elif hasattr(type(array), "__array__"):  # of xarray, pandas, Dask, h5py and others
                array, fixed = np.asarray(array), _COPY
            else:
                raise TypeError(
                    f"{type(array).__module__}.{type(array).__qualname__} is not an array: it has neither __dlpack__ "
                    "nor __cuda_array_interface__ nor __array__ nor the buffer protocol"
                ) from None
        view = NUMPY.view(array)
        view.fixed = fixed or view.fixed
        return view


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


def packed_strides(shape: Sequence[int], itemsize: int) -> tuple:
    """Of C order, in bytes."""
    strides, step = [], itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))
