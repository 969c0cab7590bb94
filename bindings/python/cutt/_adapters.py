"""The adapters of PyTorch, CuPy, JAX and of any other library that speaks DLPack or __cuda_array_interface__.

None of these libraries is imported here: whoever hands over an array of one has done it.
"""

from __future__ import annotations

import functools
import math
import sys
from typing import Any, Sequence

import numpy as np

from . import _cuda, _dlpack
from ._views import CPU, NUMPY, READ_ONLY, Adapter, DType, View, numpy_dtype, packed_strides

_LEGACY_STREAM = 1  # DLPack's number for CUDA's default stream


class Torch(Adapter):
    name = "PyTorch"
    vouches = True

    @staticmethod
    @functools.lru_cache(maxsize=64)
    def _dtype(dtype: Any) -> DType:
        torch = sys.modules["torch"]
        name = str(dtype).replace("torch.", "")
        if name.startswith(("q", "bits")):
            raise TypeError(f"elements of type {dtype} are not taken")
        return DType(name, torch.empty((), dtype=dtype).element_size(), dtype)

    def view(self, array: Any) -> View:
        torch = sys.modules["torch"]
        if array.layout != torch.strided or array.is_nested:
            layout = "nested" if array.is_nested else array.layout
            raise TypeError(f"the tensor's layout is {layout}; it must be torch.strided")
        if array.device.type not in ("cpu", "cuda"):
            raise TypeError(f"the tensor is on device {array.device}; it must be on the CPU or on a CUDA device")
        if array.requires_grad and torch.is_grad_enabled():
            raise TypeError(
                "the tensor requires a gradient, which only cutt.torch gives: pass a.detach(), or use torch.no_grad()"
            )
        fixed = "is a lazily conjugated tensor: give out.resolve_conj()" if array.is_conj() else None
        if array.is_neg():
            array = array.resolve_neg()  # the imaginary part of a lazily conjugated tensor: rare
            fixed = "is a lazily negated tensor: give out.resolve_neg()"
        dtype = self._dtype(array.dtype)
        device = CPU if array.device.type == "cpu" else ("cuda", array.device.index)
        shape, strides = tuple(array.shape), tuple(step * dtype.itemsize for step in array.stride())
        if array.numel():
            last = sum((n - 1) * step for n, step in zip(shape, strides))
            needed = array.storage_offset() * dtype.itemsize + last + dtype.itemsize
            if needed > array.untyped_storage().nbytes():  # storages can be resized under their tensors
                raise ValueError(
                    f"its storage has {array.untyped_storage().nbytes()} bytes, and shape {shape} with strides "
                    f"{array.stride()} takes {needed}"
                )
        return View(array.data_ptr(), shape, strides, dtype, device, self, array, array.is_conj(), fixed)

    def empty(self, shape: Sequence[int], like: View) -> Any:
        return sys.modules["torch"].empty(tuple(shape), dtype=like.dtype.native, device=like.owner.device)

    def one(self, like: View) -> Any:
        return sys.modules["torch"].ones((), dtype=like.dtype.native, device=like.owner.device)

    def number(self, value: Any, like: View) -> Any:
        return sys.modules["torch"].full((), value, dtype=like.dtype.native, device=like.owner.device)

    def workspace(self, size: int, like: View) -> Any:
        torch = sys.modules["torch"]
        return torch.empty(size, dtype=torch.uint8, device=like.owner.device)

    def stream(self, view: View) -> int:
        return sys.modules["torch"].cuda.current_stream(view.device[1]).cuda_stream

    def finish(self, array: Any, scalar: bool) -> Any:
        return array


class Cupy(Adapter):
    name = "CuPy"
    vouches = True

    def view(self, array: Any) -> View:
        return View(
            array.data.ptr, array.shape, array.strides, numpy_dtype(array.dtype), ("cuda", array.device.id), self, array
        )

    def _on(self, like: View) -> Any:
        return sys.modules["cupy"].cuda.Device(like.device[1])

    def empty(self, shape: Sequence[int], like: View) -> Any:
        with self._on(like):
            return sys.modules["cupy"].empty(tuple(shape), like.dtype.native)

    def one(self, like: View) -> Any:
        with self._on(like):
            return sys.modules["cupy"].ones((), like.dtype.native)

    def number(self, value: Any, like: View) -> Any:
        with self._on(like):
            return sys.modules["cupy"].full((), value, like.dtype.native)

    def workspace(self, size: int, like: View) -> Any:
        with self._on(like):
            return sys.modules["cupy"].empty(size, np.uint8)

    def stream(self, view: View) -> int:
        with self._on(view):
            return sys.modules["cupy"].cuda.get_current_stream().ptr

    def finish(self, array: Any, scalar: bool) -> Any:
        return array


class Dlpack(Adapter):
    """Any library with DLPack. Its results are made through its Array API namespace, where it has one; without, results
    on the CPU are NumPy's."""

    name = "DLPack"

    def view(self, array: Any) -> View:
        kind, number = array.__dlpack_device__()
        kind = int(kind)
        if kind in (_dlpack.DEVICE_CPU, _dlpack.DEVICE_CUDA_HOST):
            device, memory = CPU, _dlpack.take(array)
        elif kind in (_dlpack.DEVICE_CUDA, _dlpack.DEVICE_CUDA_MANAGED):
            device, memory = ("cuda", int(number)), _dlpack.take(array, _LEGACY_STREAM)
        else:
            raise TypeError(
                f"the array is on a device of DLPack's kind {kind}; it must be on the CPU or on a CUDA device"
            )
        dtype = DType(memory.name, memory.itemsize, getattr(array, "dtype", None))
        view = View(memory.pointer, memory.shape, memory.strides, dtype, device, self, (array, memory.capsule))
        view.fixed = memory.fixed
        return view

    def _namespace(self, like: View) -> Any:
        array = like.owner[0]
        if hasattr(array, "__array_namespace__"):
            return array.__array_namespace__(), {"dtype": array.dtype, "device": array.device}
        if like.device == CPU:
            try:
                return np, {"dtype": np.dtype(like.dtype.name)}
            except TypeError:
                pass
        raise TypeError(f"no array of {type(array).__qualname__}'s library can be made for the result: give out=")

    def empty(self, shape: Sequence[int], like: View) -> Any:
        namespace, keys = self._namespace(like)
        return namespace.empty(tuple(shape), **keys)

    def one(self, like: View) -> Any:
        namespace, keys = self._namespace(like)
        return namespace.ones((), **keys)

    def waits(self) -> bool:
        return True

    def finish(self, array: Any, scalar: bool) -> Any:
        return NUMPY.finish(array, scalar) if isinstance(array, np.ndarray) else array


class Jax(Dlpack):
    """JAX's arrays are not written to once they have a user. On the CPU a result is written into memory of NumPy's,
    which JAX then takes over as it is; on a GPU into a fresh array of JAX's, before anybody else has seen it."""

    name = "JAX"
    alignment = 64  # with less, JAX would copy

    def view(self, array: Any) -> View:
        jax = sys.modules["jax"]
        if isinstance(array, jax.core.Tracer):
            raise TypeError("cuTT works on arrays; inside of jax.jit, jax.grad and their like only cutt.jax does")
        array.block_until_ready()
        if len(array.devices()) != 1:
            raise TypeError("the array is spread over several devices; it must be on one")
        kind = np.dtype(array.dtype)
        # The types of NumPy's relatives (bfloat16, float8_...) are read as integers would be: only their size counts.
        view = super().view(array)
        view.dtype = DType(kind.name, kind.itemsize, kind)
        return view

    def host(self, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
        size = math.prod(shape) * dtype.itemsize
        memory = np.empty(size + self.alignment, np.uint8)
        start = -memory.__array_interface__["data"][0] % self.alignment
        return np.ndarray(tuple(shape), dtype, memory, start)

    def empty(self, shape: Sequence[int], like: View) -> Any:
        if like.device == CPU:
            return self.host(shape, like.dtype.native)
        jax = sys.modules["jax"]
        device = next(iter(like.owner[0].devices()))
        made = jax.numpy.empty(tuple(shape), like.dtype.native, device=device)
        return made.block_until_ready()

    def one(self, like: View) -> Any:
        if like.device == CPU:
            return np.ones((), like.dtype.native)
        jax = sys.modules["jax"]
        return jax.device_put(np.ones((), like.dtype.native), next(iter(like.owner[0].devices()))).block_until_ready()

    def number(self, value: Any, like: View) -> Any:
        jax, made = sys.modules["jax"], np.full((), value, like.dtype.native)
        return jax.device_put(made, next(iter(like.owner[0].devices()))).block_until_ready()

    def finish(self, array: Any, scalar: bool) -> Any:
        if not isinstance(array, np.ndarray):
            return array
        jax = sys.modules["jax"]
        try:
            return jax.dlpack.from_dlpack(array)
        except (TypeError, BufferError, RuntimeError, ValueError):  # a type that NumPy's DLPack does not know
            return jax.device_put(array, jax.devices("cpu")[0])


def is_tracer(kind: Any) -> bool:
    """Of a type of JAX's."""
    return issubclass(kind, sys.modules["jax"].core.Tracer)


class CudaInterface(Adapter):
    """Device arrays of other libraries (Numba's, for one). Their results need out=, but Numba's."""

    name = "__cuda_array_interface__"

    def view(self, array: Any) -> View:
        facts = array.__cuda_array_interface__
        if facts.get("mask") is not None:
            raise TypeError("masked arrays are not taken")
        dtype = numpy_dtype(np.dtype(facts["typestr"] if not facts["typestr"][1:2] == "V" else facts["descr"]))
        pointer, read_only = facts["data"]
        shape = tuple(facts["shape"])
        strides = facts.get("strides") or packed_strides(shape, dtype.itemsize)
        device = _cuda.device_of(pointer) if pointer else 0
        stream = facts.get("stream")
        fixed = READ_ONLY if read_only else None
        return View(pointer, shape, tuple(strides), dtype, ("cuda", device), self, array, False, fixed, stream)

    def _numba(self, like: View) -> Any:
        if type(like.owner).__module__.partition(".")[0] != "numba":
            raise TypeError(f"no array like {type(like.owner).__qualname__} can be made for the result: give out=")
        return sys.modules["numba"].cuda

    def empty(self, shape: Sequence[int], like: View) -> Any:
        return self._numba(like).device_array(tuple(shape), like.dtype.native)

    def one(self, like: View) -> Any:
        return self._numba(like).to_device(np.ones((), like.dtype.native))

    def stream(self, view: View) -> int:
        # 1 and 2 are CUDA's own default streams, legacy and of the thread, and the driver takes both by these numbers.
        return view.stream or 0

    def waits(self) -> bool:
        return True

    def finish(self, array: Any, scalar: bool) -> Any:
        return array


TORCH, CUPY, JAX, DLPACK, CUDA_INTERFACE = Torch(), Cupy(), Jax(), Dlpack(), CudaInterface()
