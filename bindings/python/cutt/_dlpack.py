"""DLPack, read: what lies in the capsule that an array's __dlpack__ gives.

The capsule is kept, unconsumed, for as long as its memory is used: its destructor then gives the memory back.
https://dmlc.github.io/dlpack/latest/
"""

from __future__ import annotations

import ctypes
from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any, NamedTuple, Optional

from ._views import READ_ONLY

DEVICE_CPU, DEVICE_CUDA, DEVICE_CUDA_HOST, DEVICE_CUDA_MANAGED = 1, 2, 3, 13
_READ_ONLY, _IS_COPIED = 1, 2
_COPY = "would be a copy, by what its __dlpack__ gives; it must be an array whose own memory can be written to"
_OLD = "may be read-only: its DLPack is older than version 1.0, which does not tell; it must be an array that does"
_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex"}
_BOOL = 6


class _Tensor(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class _Managed(Structure):
    _fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", c_void_p)]


class _Versioned(Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", _Tensor),
    ]


_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes, _is_valid.restype = [ctypes.py_object, c_char_p], c_int
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = [ctypes.py_object, c_char_p], c_void_p


class Memory(NamedTuple):
    pointer: int
    shape: tuple
    strides: tuple  # in bytes
    name: str  # of the element type, as NumPy has it
    itemsize: int
    device_type: int
    device_id: int
    fixed: Optional[str]  # as View has it
    capsule: Any


def element_of(code: int, bits: int, lanes: int) -> tuple:
    """(name, bytes) of an element type, the name as NumPy has it where it has the type."""
    whole = bits * lanes
    if whole % 8 or not whole:
        raise TypeError(f"elements of {whole} bits are not whole bytes")
    if code == _BOOL and whole == 8:
        return "bool", 1
    if code in _KINDS and lanes == 1:
        return f"{_KINDS[code]}{whole}", whole // 8
    return f"DLPack type {code}, {bits} bits x {lanes}", whole // 8


def take(array: Any, stream: Optional[int] = None) -> Memory:
    """What array.__dlpack__() gives; stream: in which the memory will be used, once what writes it is done."""
    arguments = {} if stream is None else {"stream": stream}
    try:
        capsule = array.__dlpack__(max_version=(1, 0), **arguments)
    except TypeError:  # of a library older than versions
        capsule = array.__dlpack__(**arguments)
    if _is_valid(capsule, b"dltensor_versioned"):
        managed: Any = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        if managed.major != 1:
            raise TypeError(
                f"{type(array).__name__}.__dlpack__ gives version {managed.major} of DLPack; 1 is known here"
            )
        fixed = READ_ONLY if managed.flags & _READ_ONLY else _COPY if managed.flags & _IS_COPIED else None
    elif _is_valid(capsule, b"dltensor"):
        managed, fixed = _Managed.from_address(_pointer(capsule, b"dltensor")), _OLD
    else:
        raise TypeError(f"{type(array).__name__}.__dlpack__ does not give a DLPack capsule")
    t = managed.tensor
    name, itemsize = element_of(t.code, t.bits, t.lanes)
    shape = tuple(t.shape[i] for i in range(t.ndim))
    if t.strides:
        strides = tuple(t.strides[i] * itemsize for i in range(t.ndim))
    else:
        steps, step = [], itemsize
        for extent in reversed(shape):
            steps.append(step)
            step *= extent
        strides = tuple(reversed(steps))
    pointer = (t.data or 0) + t.byte_offset
    return Memory(pointer, shape, strides, name, itemsize, t.device_type, t.device_id, fixed, capsule)
