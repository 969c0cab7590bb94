"""A library of arrays that has DLPack's table of functions (__dlpack_c_exchange_api__), made of NumPy's."""

import ctypes

import numpy as np

HAS_FLAGS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"  # its DLPack says what may be written to
P, I32, I64, U64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_uint64


class Tensor(ctypes.Structure):
    _fields_ = [("data", P), ("device", I32), ("number", I32), ("rank", I32), ("code", ctypes.c_uint8)]
    _fields_ += [("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", P), ("strides", P), ("offset", U64)]


class Managed(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", P), ("release", P)]
    _fields_ += [("flags", U64), ("tensor", Tensor)]


class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", P), ("allocate", P)]
    _fields_ += [("managed_of", P), ("array_of", P), ("tensor_of", P), ("current_stream", P)]


SET_ERROR = ctypes.PYFUNCTYPE(None, P, ctypes.c_char_p, ctypes.c_char_p)
RELEASE = ctypes.PYFUNCTYPE(None, P)
ALLOCATE = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Tensor), ctypes.POINTER(P), P, SET_ERROR)
MANAGED_OF = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(P))
ARRAY_OF = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Managed), ctypes.POINTER(P))
TENSOR_OF = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, I32, I32, ctypes.POINTER(P))

_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.argtypes, _capsule.restype = [P, ctypes.c_char_p, P], ctypes.py_object
FAILED = -1  # without an exception, which a callback of ctypes can't leave
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


def library(major=1, previous=None, borrows=True, namespace=True, capsule=b"dlpack_exchange_api"):
    """A type of arrays, with the calls that were made of its table in `calls`."""

    class Array:
        calls = {"allocate": 0, "managed_of": 0, "array_of": 0, "tensor_of": 0, "__dlpack__": 0, "alive": 0}
        failing = frozenset()
        number = 0  # of the device
        stream = None
        held = {}

        def __init__(self, inner, flags=0, device=1):
            self.inner, self.flags, self.device_type = inner, flags, device
            self.shape_kept = (I64 * inner.ndim)(*inner.shape)
            self.strides_kept = (I64 * inner.ndim)(*(s // inner.itemsize for s in inner.strides))

        def tensor(self):
            a = self.inner
            shape, strides = (ctypes.cast(kept, P).value for kept in (self.shape_kept, self.strides_kept))
            data = a.__array_interface__["data"][0] - 16  # the offset counts
            return Tensor(
                data, self.device_type, Array.number, a.ndim, CODES[a.dtype.kind], 8 * a.itemsize, 1, shape, strides, 16
            )

        def __dlpack__(self, **keys):
            Array.calls["__dlpack__"] += 1
            keys.pop("stream", None)
            return self.inner.__dlpack__(**keys)

        def __dlpack_device__(self):
            return self.device_type, 0

        device = "cpu"

        @property
        def dtype(self):
            return self.inner.dtype

    def hold(array, flags):
        managed = Managed(1, 0, None, ctypes.cast(release, P).value, flags, array.tensor())
        address = ctypes.addressof(managed)
        Array.held[address] = managed, array
        Array.calls["alive"] += 1
        return address

    @RELEASE
    def release(address):
        del Array.held[address]
        Array.calls["alive"] -= 1

    @ALLOCATE
    def allocate(like, made, context, set_error):
        Array.calls["allocate"] += 1
        if "allocate" in Array.failing:
            return FAILED
        t = like.contents
        shape = (I64 * t.rank).from_address(t.shape) if t.rank else ()
        kind = {code: kind for kind, code in CODES.items()}[t.code]
        made[0] = hold(Array(np.empty(tuple(shape), f"{kind}{t.bits // 8}"), 0, t.device), 0)
        return 0

    @MANAGED_OF
    def managed_of(array, made):
        Array.calls["managed_of"] += 1
        if "managed_of" in Array.failing:
            return FAILED
        made[0] = hold(array, array.flags)
        return 0

    @ARRAY_OF
    def array_of(managed, made):
        Array.calls["array_of"] += 1
        array = Array.held[ctypes.addressof(managed.contents)][1]
        release(ctypes.addressof(managed.contents))
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(array))
        made[0] = id(array)
        return 0

    @TENSOR_OF
    def tensor_of(array, made):
        Array.calls["tensor_of"] += 1
        if "tensor_of" in Array.failing:
            return FAILED
        made[0] = array.tensor()
        return 0

    @STREAM
    def current_stream(device, number, stream):
        Array.asked = device, number
        stream[0] = Array.stream
        return 0 if "current_stream" not in Array.failing else FAILED

    table = Table(
        major,
        0,
        previous,
        *(ctypes.cast(call, P).value for call in (allocate, managed_of, array_of)),
        ctypes.cast(tensor_of, P).value if borrows else None,
        ctypes.cast(current_stream, P).value,
    )
    Array.kept = table, allocate, managed_of, array_of, tensor_of, current_stream, release
    Array.table = ctypes.addressof(table)
    Array.__dlpack_c_exchange_api__ = _capsule(Array.table, capsule, None)
    if namespace:

        class Namespace:
            @staticmethod
            def empty(shape, *, dtype, device):
                assert device == "cpu"
                return Array(np.empty(shape, dtype))

            @staticmethod
            def ones(shape, *, dtype, device):
                return Array(np.ones(shape, dtype))

        Array.__array_namespace__ = lambda self: Namespace
    return Array
