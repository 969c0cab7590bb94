"""What the tests share: arrays whose strides are of every kind, and libraries that may not be there."""

import importlib
import os
import unittest

import numpy as np

# The package's own choice of BLAS is not what is tested, and a warning about it is tested where it belongs.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

CONTRACTED = ("float32", "float64", "complex64", "complex128")
MOVED = ("bool", "int8", "uint16", "float16", "int32", "uint64", "float32", "float64", "complex64", "complex128", ">f8")
MOVED += (">i4", "M8[s]", "S3", "U2", "V16", "longdouble", "clongdouble")


def scale():
    return float(os.environ.get("CUTT_TEST_SCALE", "0.4"))


def rounds(count):
    return max(1, int(count * scale() * 2.5))


def distinct(shape, dtype):
    """Every element another one, as far as the type has as many."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64))
    if dtype.kind in "SUV" or dtype.itemsize > 16:
        memory = np.arange(size * dtype.itemsize, dtype=np.uint32) * 2654435761 >> 7
        return memory.astype(np.uint8).view(dtype if dtype.kind != "U" else "V8").reshape(shape)
    values = np.arange(1, size + 1)
    if dtype.kind == "c":
        return (values + 1j * values[::-1]).astype(dtype).reshape(shape)
    return values.astype("i8").astype(dtype).reshape(shape)


def noise(random, shape, dtype):
    """Values for contractions, in [-1, 1)."""
    values = random.random(shape) * 2 - 1
    if np.dtype(dtype).kind == "c":
        values = values + 1j * (random.random(shape) * 2 - 1)
    return values.astype(dtype)


def strided(random, array, zero=True):
    """The same values (zero: or some of them, repeated) with other strides: views of a larger array."""
    rank = array.ndim
    kind = random.integers(6)
    if kind == 0 or rank == 0:
        return array
    if kind == 1:
        return np.asfortranarray(array)
    if kind == 2:  # steps, and the other way round
        grown = np.zeros([2 * n + 1 for n in array.shape], array.dtype)
        view = grown[tuple(slice(1, None, 2) if n else slice(0, 0) for n in array.shape)]
        view[...] = array
        turned = tuple(slice(None, None, -1) if random.integers(2) else slice(None) for _ in range(rank))
        return view[turned]
    if kind == 3:
        order = random.permutation(rank)
        return np.ascontiguousarray(array.transpose(order)).transpose(np.argsort(order))
    if kind == 4:  # not aligned
        memory = np.zeros(array.nbytes + 1, np.uint8)
        view = np.ndarray(array.shape, array.dtype, memory, 1)
        view[...] = array
        return view
    if zero and array.size:
        axis = int(random.integers(rank))
        return np.broadcast_to(np.take(array, [0], axis), array.shape)
    return array


def same(mine, theirs):
    """Of the same type, extents and bits."""
    mine, theirs = np.asarray(mine), np.asarray(theirs)
    return (
        mine.dtype == theirs.dtype
        and mine.shape == theirs.shape
        and np.ascontiguousarray(mine).tobytes() == np.ascontiguousarray(theirs).tobytes()
    )


def close(mine, theirs, terms=1):
    """As far as rounding allows sums of this many terms of size 1."""
    mine, theirs = np.asarray(mine), np.asarray(theirs)
    unit = np.finfo(theirs.dtype).eps if theirs.dtype.kind in "fc" else 0
    return (
        mine.dtype == theirs.dtype
        and mine.shape == theirs.shape
        and np.all(np.abs(mine - theirs) <= 8 * (terms + 4) * unit)
    )


def need(module, why=""):
    """The module, or the test is skipped with the reason."""
    try:
        return importlib.import_module(module)
    except Exception as error:  # a library may also fail in its own way
        raise unittest.SkipTest(f"{module} can't be imported{why}: {error}") from None


def has_blas():
    import cutt

    return any(provider["backend"] == "cpu" for provider in cutt.providers()["providers"])
