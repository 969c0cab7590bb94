"""transpose and permute_dims against NumPy."""

import itertools
import os
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np

import cutt
from support import MOVED, distinct, rounds, same, strided


class Moved(unittest.TestCase):
    def test_every_permutation(self):
        for rank in range(6):
            a = distinct((2, 3, 4, 5, 3)[:rank], "f8")
            for axes in itertools.permutations(range(rank)):
                self.assertTrue(same(cutt.transpose(a, axes), a.transpose(axes)), axes)

    def test_random(self):
        random = np.random.default_rng(1)
        for _ in range(rounds(600)):
            rank = int(random.integers(0, 8))
            dtype = MOVED[random.integers(len(MOVED))]
            extents = random.integers(1 if random.integers(8) else 0, 6, rank)
            a = strided(random, distinct(tuple(extents), dtype))
            axes = random.permutation(rank)
            axes = [int(axis) - (rank if random.integers(2) else 0) for axis in axes]
            mine, theirs = cutt.transpose(a, axes), a.transpose(axes)
            self.assertTrue(same(mine, theirs), (a.shape, a.strides, a.dtype, axes))
            self.assertTrue(mine.flags.c_contiguous and mine.flags.owndata)
            self.assertFalse(np.shares_memory(mine, a))

    def test_out(self):
        random = np.random.default_rng(2)
        for _ in range(rounds(300)):
            rank = int(random.integers(1, 6))
            dtype = MOVED[random.integers(len(MOVED))]
            a = strided(random, distinct(tuple(random.integers(1, 6, rank)), dtype))
            axes = tuple(random.permutation(rank))
            theirs = a.transpose(axes)
            out = strided(random, np.zeros(theirs.shape, theirs.dtype), zero=False)
            whole = out.base if out.base is not None else out
            outside = whole.view(np.uint8).sum() if whole.dtype.kind != "U" and whole.flags.c_contiguous else None
            self.assertIs(cutt.transpose(a, axes, out=out), out)
            self.assertTrue(same(out, theirs), (a.shape, a.strides, a.dtype, axes, out.strides))
            if outside is not None:  # nothing beside it was written
                written = np.ascontiguousarray(out).view(np.uint8).sum() if out.size else 0
                self.assertEqual(whole.view(np.uint8).sum() if whole.flags.c_contiguous else written, outside + written)

    def test_structured(self):
        a = np.zeros((5, 7), [("a", "i2"), ("b", "f8"), ("c", "S3"), ("d", "c16", (2,))])
        a["b"] = distinct(a.shape, "f8")
        a["c"] = b"xyz"
        a["d"] = distinct(a["d"].shape, "c16")
        self.assertTrue(same(cutt.transpose(a), a.T))
        for field in "abc":
            self.assertTrue(same(cutt.transpose(a[field]), a[field].T), field)
        self.assertTrue(same(cutt.transpose(a["d"], (2, 1, 0)), a["d"].transpose(2, 1, 0)))
        out = np.zeros((7, 5), a.dtype)
        cutt.transpose(a["b"], out=out["b"])
        self.assertTrue(same(out["b"], a["b"].T) and not out["a"].any())
        self.assertTrue(same(cutt.transpose(a["b"], alpha=2), 2 * a["b"].T))
        with self.assertRaisesRegex(ValueError, "not multiples"):
            cutt.transpose(a["b"], out=out["b"], beta=1)

    def test_large(self):
        a = distinct((300, 41, 500), "f4")
        for threads in (None, 1, 2, 3):
            self.assertTrue(same(cutt.transpose(a, (2, 0, 1), threads=threads), a.transpose(2, 0, 1)))

    def test_scalars_and_lists(self):
        self.assertEqual(cutt.transpose(3.5), 3.5)
        self.assertEqual(cutt.transpose(3.5).shape, ())
        self.assertTrue(same(cutt.transpose([[1, 2, 3], [4, 5, 6]]), np.array([[1, 4], [2, 5], [3, 6]])))
        self.assertTrue(same(cutt.transpose(np.float32(2)), np.array(2, "f4")))

    def test_in_place(self):
        a = distinct((4, 5), "f8")
        expected = 3 * a
        self.assertIs(cutt.transpose(a, (0, 1), out=a, alpha=3), a)
        self.assertTrue(same(a, expected))


class Computed(unittest.TestCase):
    def test_alpha_beta(self):
        random = np.random.default_rng(3)
        for dtype in ("f2", "f4", "f8", "c8", "c16", "i4", "i8", "u4", "u8"):
            for _ in range(rounds(12)):
                rank = int(random.integers(0, 5))
                a = strided(
                    random,
                    (
                        distinct(tuple(random.integers(1, 5, rank)), dtype) % 97
                        if dtype[0] != "c"
                        else distinct(tuple(random.integers(1, 5, rank)), dtype)
                    ).astype(dtype),
                )
                axes = tuple(random.permutation(rank))
                alpha, beta = (3, -2) if dtype[0] in "iu" else (0.5, -2.0)
                if dtype[0] == "c":
                    alpha = 0.5 - 2j
                out = np.ones(a.transpose(axes).shape, dtype)
                with np.errstate(over="ignore"):
                    if dtype[0] in "iu":
                        theirs = (a.transpose(axes).astype("i8") * alpha + beta).astype(dtype)
                    else:
                        theirs = (a.transpose(axes) * np.array(alpha, a.dtype) + np.array(beta, a.dtype)).astype(dtype)
                self.assertIs(cutt.transpose(a, axes, out=out, alpha=alpha, beta=beta), out)
                self.assertTrue(np.allclose(out, theirs, rtol=1e-3 if dtype == "f2" else 1e-6), (dtype, out, theirs))

    def test_alpha_without_out(self):
        a = distinct((3, 4), "f4")
        self.assertTrue(same(cutt.transpose(a, alpha=2), 2 * a.T))
        self.assertTrue(same(cutt.transpose(a, alpha=np.float32(2)), 2 * a.T))
        self.assertTrue(same(cutt.transpose(a, alpha=0), 0 * a.T))

    def test_beta_zero_does_not_read(self):
        a = distinct((3, 4), "f8")
        out = np.full((4, 3), np.nan)
        cutt.transpose(a, out=out, alpha=2)
        self.assertTrue(same(out, 2 * a.T))

    def test_conj(self):
        for dtype in ("c8", "c16"):
            a = distinct((3, 4, 5), dtype)
            self.assertTrue(same(cutt.transpose(a, (1, 2, 0), conj=True), a.conj().transpose(1, 2, 0)))
        for dtype in ("f8", "i4", "S3", "i2"):  # of what is real it is nothing
            a = distinct((3, 4), dtype)
            self.assertTrue(same(cutt.transpose(a, conj=True), a.T))

    def test_infinities_and_signs_of_zeros(self):
        parts = (0.0, -0.0, 1.0, -2.0, np.inf, -np.inf)
        for dtype in ("c8", "c16"):
            a = np.array([[complex(re, im) for re in parts] for im in parts], dtype)
            ones = np.ones((6, 6), dtype)
            self.assertTrue(same(cutt.transpose(a, conj=True), a.conj().T))
            out = ones.copy()
            cutt.transpose(a, out=out, beta=1)
            self.assertTrue(same(out, a.T + ones))
            twice = cutt.transpose(a, alpha=-2.0)
            self.assertTrue(same(twice.real, -2 * a.real.T) and same(twice.imag, -2 * a.imag.T))
        zeros = np.array([[0.0, -1.0], [2.0, -0.0]])
        self.assertTrue(same(cutt.transpose(zeros, alpha=-0.0), -0.0 * zeros.T))

    def test_integers_wrap(self):
        a = np.array([2**62, -(2**62), 5])
        self.assertTrue(same(cutt.transpose(a, alpha=4), a * 4))
        self.assertTrue(same(cutt.transpose(a.astype("i4"), alpha=2**33 + 3), a.astype("i4") * np.int32(3)))


class Axes(unittest.TestCase):
    """As NumPy takes them: a sequence of whatever says which integer it is."""

    def test_kinds(self):
        random = np.random.default_rng(5)
        a = distinct((2, 3, 4, 5), "f8")
        for _ in range(20):
            axes = random.permutation(4)
            theirs = a.transpose(axes)
            given = [axes, axes.tolist(), list(axes), tuple(axes), (axes - 4), axes.astype("u1"), axes.astype(">i4")]
            given += [np.stack((axes, axes), 1)[:, 0], range(4) if axes.tolist() == [0, 1, 2, 3] else axes]
            for one in given:
                self.assertTrue(same(cutt.transpose(a, one), theirs), one)
                self.assertTrue(same(cutt.permute_dims(a, one), theirs), one)
                self.assertTrue(same(cutt.Plan(a, one)(a), theirs), one)
                out = np.zeros_like(theirs, order="C")
                self.assertIs(cutt.transpose(a, axes=one, out=out), out)
                self.assertTrue(same(out, theirs))
        self.assertTrue(same(cutt.transpose(np.arange(3), np.array(0)), np.arange(3)))

    def test_refused(self):
        a = distinct((2, 3, 4), "f8")
        for axes in (
            np.array([2, 0]),
            np.array([2, 0, 0]),
            np.array([2, 0, 3]),
            np.array([2.0, 0.0, 1.0]),
            np.array([[2, 0, 1]]),
            np.array([[2], [0], [1]]),
            np.array([1 << 62, 0, 1]),
            [np.uint64(1 << 63), 0, 1],
        ):
            with self.assertRaisesRegex((TypeError, ValueError), "^axes "):
                cutt.transpose(a, axes)

    def test_a_list_that_changes(self):
        """What says which integer it is may have code of its own."""
        a = distinct((2, 3, 4), "f8")

        class Axis:
            def __index__(self):
                axes.clear()
                return 0

        axes = [Axis(), Axis(), Axis()]
        with self.assertRaisesRegex((TypeError, ValueError), "^axes "):
            cutt.transpose(a, axes)


class Refused(unittest.TestCase):
    def refuse(self, error, text, *arguments, **keys):
        with self.assertRaisesRegex(error, text):
            cutt.transpose(*arguments, **keys)

    def test_axes(self):
        a = np.zeros((3, 4))
        self.refuse(ValueError, "axes has 1 entries", a, (0,))
        self.refuse(ValueError, "once", a, (0, 0))
        self.refuse(ValueError, "once", a, (1, -1))
        self.refuse(ValueError, "-2 to 1", a, (0, 2))
        self.refuse(TypeError, "sequence of integers", a, (0.5, 1))
        self.refuse(TypeError, "sequence of integers", a, "ab")

    def test_types(self):
        self.refuse(TypeError, "Python objects", np.array([None]))
        self.refuse(TypeError, "builtins.object is not an array", object())
        self.refuse(TypeError, "alpha and beta are for", np.zeros(3, "i2"), alpha=2)
        self.refuse(TypeError, "alpha and beta are for", np.zeros(3, ">f8"), alpha=2)
        for dtype in (">c8", ">c16", "G"):  # which it can't conjugate, and must not leave as they are
            a = np.full(3, 1 + 2j, dtype)
            self.refuse(TypeError, "not conjugated", a, conj=True)
            with self.assertRaisesRegex(TypeError, "not conjugated"):
                cutt.einsum("i->i", a, conj=[True])
            self.assertEqual(cutt.einsum("i->", a, conj=[True]), 3 - 6j)
        self.refuse(TypeError, "alpha is 0.5", np.zeros(3, "i8"), alpha=0.5)
        self.refuse(TypeError, "alpha is 1j", np.zeros(3, "f8"), alpha=1j)
        self.refuse(TypeError, "alpha is 'a'", np.zeros(3, "f8"), alpha="a")
        self.refuse(TypeError, "masked", np.ma.zeros(3))

    def test_out(self):
        a = np.zeros((3, 4))
        self.refuse(ValueError, "out has shape", a, out=np.zeros((3, 4)))
        self.refuse(TypeError, "float32; they must be float64", a, out=np.zeros((4, 3), "f4"))
        self.refuse(TypeError, "must be float64", a, out=np.zeros((4, 3), ">f8"))
        odd = np.ndarray((4, 3), "f8", bytearray(200), strides=(36, 12))
        self.refuse(ValueError, "the strides of out are .36, 12.", a, out=odd, alpha=2)
        read_only = np.zeros((4, 3))
        read_only.flags.writeable = False
        self.refuse(ValueError, "read-only", a, out=read_only)
        self.refuse(TypeError, "must be an array", np.zeros(()), out=3.5)
        self.refuse(ValueError, "beta", a, beta=1)
        square = np.zeros((4, 4))
        self.refuse(ValueError, "^a spans bytes .* and out .* overlap", square, out=square)
        self.refuse(ValueError, "overlap", a, out=np.lib.stride_tricks.as_strided(np.zeros(4), (4, 3), (8, 0)))

    def test_threads(self):
        self.refuse(ValueError, "threads is 0", np.zeros(3), threads=0)
        self.refuse(TypeError, "threads is 'all'", np.zeros(3), threads="all")

    def test_rank(self):
        if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
            self.assertEqual(cutt.transpose(np.zeros((1,) * 64)).ndim, 64)
        self.assertEqual(cutt.transpose(np.zeros((1,) * 32)).ndim, 32)


class ArrayApi(unittest.TestCase):
    """The array API test-suite's own cases, where CUTT_ARRAY_API_TESTS names a checkout of it (with its submodule) and
    this Python has what it needs (pytest, hypothesis, ndindex, a NumPy of version 2); and cases equal to them,
    always."""

    def test_suite(self):
        checkout = os.environ.get("CUTT_ARRAY_API_TESTS")
        if not checkout:
            self.skipTest("CUTT_ARRAY_API_TESTS does not name a checkout of github.com/data-apis/array-api-tests")
        path = os.pathsep.join((str(Path(__file__).parent), checkout, os.environ.get("PYTHONPATH", "")))
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                "--max-examples",
                "1000",
                "-k",
                "permute_dims",
            ]
            + ["array_api_tests/test_manipulation_functions.py", "array_api_tests/test_signatures.py"],
            env={**os.environ, "PYTHONPATH": path, "ARRAY_API_TESTS_MODULE": "array_api_namespace"},
            cwd=checkout,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\b2 passed")

    def test_permute_dims(self):
        random = np.random.default_rng(4)
        types = ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16")
        for _ in range(rounds(400)):
            rank = int(random.integers(1, 6))
            x = distinct(tuple(random.integers(1, 7, rank)), types[random.integers(len(types))])
            axes = tuple(int(axis) for axis in random.permutation(rank))
            out = cutt.permute_dims(x, axes)
            self.assertEqual(out.dtype, x.dtype)
            self.assertEqual(out.shape, tuple(x.shape[axis] for axis in axes))
            for index in itertools.islice(np.ndindex(*x.shape), 0, None, 7):
                self.assertEqual(out[tuple(index[axis] for axis in axes)], x[index])

    def test_signature(self):
        x = distinct((2, 3), "f8")
        self.assertTrue(same(cutt.permute_dims(x, axes=(1, 0)), x.T))
        with self.assertRaises(TypeError):
            cutt.permute_dims(x=x, axes=(1, 0))
        with self.assertRaises(TypeError):
            cutt.permute_dims(x, None)


if __name__ == "__main__":
    unittest.main()
