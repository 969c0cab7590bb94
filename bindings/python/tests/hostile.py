"""What the tests of wrong arguments share: work in a child, which may end it, and arrays that are not what they say."""

import ctypes
import mmap
import os
import signal
import unittest

import numpy as np


def in_child(work):
    """(type, text) of the exception that work() raises, or (None, its result as text); fails when the process dies."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(60)
            try:
                told = f"None\0{work()}"
            except Exception as error:
                told = f"{type(error).__name__}\0{error}"
            os.write(into, told[:60000].encode())
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as pipe:
        told = pipe.read().decode()
    status = os.waitpid(child, 0)[1]
    if status or not told:
        raise AssertionError(f"the process ended with status {status}")
    kind, text = told.split("\0", 1)
    return (None if kind == "None" else kind), text


class Case(unittest.TestCase):
    def refuse(self, work, name, *words, kinds=("ValueError", "TypeError")):
        """work() is refused, in a child, by an exception whose text begins with this name and has these words."""
        kind, text = in_child(work)
        self.assertIn(kind, kinds, text)
        self.assertTrue(text.startswith(name), text)
        for word in words:
            self.assertIn(word, text)


class Interface:
    """What only says where its memory is."""

    def __init__(self, array, read_only=False):
        facts = dict(array.__array_interface__)
        facts["data"] = (facts["data"][0], read_only)
        self.__array_interface__, self.kept = facts, array


# ------------------------------------------------------------------------------------------------ DLPack, version 1.0


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.argtypes, _capsule.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p], ctypes.py_object


class Dlpack:
    """float64 of NumPy's as an array of another library; flags None: of before version 1.0."""

    def __init__(self, array, flags=0):
        rank = array.ndim
        self.kept = (
            array,
            (ctypes.c_int64 * rank)(*array.shape),
            (ctypes.c_int64 * rank)(*(s // 8 for s in array.strides)),
        )
        tensor = Tensor(array.ctypes.data, 1, 0, rank, 2, 64, 1, self.kept[1], self.kept[2], 0)
        if flags is None:
            self.managed, self.name = Managed(tensor, None, None), b"dltensor"
        else:
            self.managed, self.name = Versioned(1, 0, None, None, flags, tensor), b"dltensor_versioned"

    def __dlpack__(self, **keys):
        return _capsule(ctypes.addressof(self.managed), self.name, None)

    def __dlpack_device__(self):
        return 1, 0


# ------------------------------------------------------------------------------------------------ written to


def bad_results(shape, folder):
    """(what it is, an array that may not be a result of this shape and float64, bytes that must not change)"""
    size = int(np.prod(shape))
    immutable = bytes(8 * size)
    frozen, readable = np.zeros(shape), np.zeros(shape)
    frozen.setflags(write=False)
    path = f"{folder}/out.npy"
    np.save(path, np.zeros(shape))
    first = np.zeros((1,) + shape[1:])
    reading = mmap.mmap(-1, 8 * size, prot=mmap.PROT_READ)
    yield "read-only", frozen, frozen
    yield "a view of bytes", np.frombuffer(immutable).reshape(shape), immutable
    yield "bytes", immutable, immutable
    yield "a memoryview of bytes", memoryview(immutable).cast("d", shape), immutable
    yield "a file mapped for reading", np.load(path, mmap_mode="r"), path
    yield "a mapping for reading", memoryview(reading).cast("d", shape), None
    yield "broadcast", np.broadcast_to(first, shape), first
    yield "broadcast, and said to be writable", np.lib.stride_tricks.as_strided(
        first, shape, (0,) + first.strides[1:]
    ), first
    yield "an interface for reading", Interface(readable, True), readable
    yield "DLPack for reading", Dlpack(readable, 1), readable
    yield "DLPack that is a copy", Dlpack(readable, 2), readable
    yield "DLPack that does not tell", Dlpack(readable, None), readable
    yield "of another byte order", np.zeros(shape, ">f8"), None
    yield "of another type", np.zeros(shape, "f4"), None
    yield "of a record", np.zeros(shape, [("x", "f8")]), None
    yield "of objects", np.zeros(shape, object), None
    yield "of times", np.zeros(shape, "M8[s]"), None
    yield "of another shape", np.zeros(shape + (1,)), None
    yield "empty", np.zeros((0,) + shape[1:]), None
    yield "masked", np.ma.zeros(shape), None
    yield "a list", np.zeros(shape).tolist(), None
    yield "a tuple", tuple(np.zeros(shape)), None
    yield "a number", 1.5, None
    yield "a scalar of NumPy", np.float64(1), None
    yield "a text", "out", None
    yield "a class", np.ndarray, None
    yield "an object", object(), None


def contents(kept):
    if isinstance(kept, str):
        with open(kept, "rb") as file:
            return file.read()
    return bytes(kept) if kept is not None else b""
