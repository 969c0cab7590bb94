"""elementwise against NumPy."""

import unittest

import numpy as np

import cutt
from likegpu import CudaArray, OnDevice
from support import noise

WAYS = {"add": np.add, "multiply": np.multiply, "max": np.maximum, "min": np.minimum}


class Elementwise(unittest.TestCase):
    def test_two(self):
        random = np.random.default_rng(1)
        for dtype in ("f4", "f8", "c8", "c16", "i4", "i8"):
            a, b = (noise(random, shape, "f8") * 90 for shape in ((70, 80, 3), (3, 70, 80)))
            a, b = a.astype(dtype), b.astype(dtype)
            for op, way in WAYS.items():
                if dtype[0] == "c" and op in ("max", "min"):
                    continue
                mine = cutt.elementwise("abc,cab->abc", a, b, alpha=3, beta=-2, op=op)
                wanted = way(a * np.array(3, dtype), b.transpose(1, 2, 0) * np.array(-2, dtype))
                self.assertTrue(np.allclose(mine, wanted, rtol=1e-5), (dtype, op))
                self.assertEqual(mine.dtype, a.dtype)

    def test_three(self):
        random = np.random.default_rng(2)
        a, b, c = noise(random, (40, 50), "f8"), noise(random, (50, 40), "f8"), noise(random, (50,), "f8")
        for op, first in WAYS.items():
            for op2, second in WAYS.items():
                mine = cutt.elementwise("ij,ji,j->ij", a, b, c, gamma=0.25, op=op, op2=op2, threads=2)
                self.assertTrue(np.allclose(mine, second(first(a, b.T), 0.25 * c)), (op, op2))
        mine = cutt.elementwise("...j,j...->...j", a, b, beta=0.5)
        self.assertTrue(np.allclose(mine, a + 0.5 * b.T))
        mine = cutt.elementwise("ij,ij->ji", a[:, :1], a)  # an axis of extent 1 is broadcast
        self.assertTrue(np.allclose(mine, (a[:, :1] + a).T))

    def test_layouts(self):
        random = np.random.default_rng(3)
        a, b = noise(random, (30, 40), "f8"), noise(random, (40, 30), "f8")
        wanted = a[::-2, 3:] * 2 + b[3:, ::2].T
        out = np.full((15, 74), np.nan)[:, ::2]
        self.assertIs(cutt.elementwise("ij,ji->ij", a[::-2, 3:], b[3:, ::2], alpha=2, out=out), out)
        self.assertTrue(np.allclose(out, wanted))
        again = a.copy()
        cutt.elementwise("ij,ji->ij", again, b, beta=-1, out=again)  # a -= b.T
        self.assertTrue(np.allclose(again, a - b.T))
        z = noise(random, (6, 7), "c16")
        self.assertTrue(np.allclose(cutt.elementwise("ij,ij->ji", z, z, conj=(True, False)), 2 * z.real.T))
        self.assertEqual(cutt.elementwise(",->", np.float64(2), np.float64(3), op="multiply"), 6)
        self.assertEqual(cutt.elementwise("ij,ij->ij", np.ones((0, 3)), np.ones((0, 3))).shape, (0, 3))

    def test_nan(self):
        a, b = np.array([1.0, np.nan, 3.0]), np.array([np.nan, 2.0, 4.0])
        self.assertTrue(np.array_equal(cutt.elementwise("i,i->i", a, b, op="max"), np.maximum(a, b), equal_nan=True))
        self.assertTrue(np.array_equal(cutt.elementwise("i,i->i", a, b, beta=0), a, equal_nan=True))

    def test_refused(self):
        a = np.ones((2, 3))
        for wrong, call in (
            (ValueError, lambda: cutt.elementwise("ij,ij->i", a, a)),
            (ValueError, lambda: cutt.elementwise("ij,ji->ij", a, a)),
            (ValueError, lambda: cutt.elementwise("ij,ij->ij", a, a, op="minus")),
            (ValueError, lambda: cutt.elementwise("ij,ij,ij->ij", a, a)),
            (ValueError, lambda: cutt.elementwise("ij,ij->ij", a, a[:, ::-1], out=a)),
            (TypeError, lambda: cutt.elementwise("ij,ij->ij", a, a.astype("f4"))),
            (TypeError, lambda: cutt.elementwise("ij,ij->ij", a.astype("c8"), a.astype("c8"), op2="min")),
            (TypeError, lambda: cutt.elementwise("ij,ij->ij", a.astype("u4"), a.astype("u4"), op="max")),
        ):
            with self.assertRaises(wrong):
                call()


class Gpu(OnDevice):
    def test_stream(self):
        random = np.random.default_rng(4)
        a, b, c = noise(random, (20, 30), "f4"), noise(random, (30, 20), "f4"), noise(random, (30,), "f4")
        out = CudaArray(np.full((20, 30), np.nan, "f4"), 0x50)
        mine = cutt.elementwise("ij,ji,j->ij", *(CudaArray(x, 0x50) for x in (a, b, c)), op="max", beta=2, out=out)
        self.assertIs(mine, out)
        self.assertTrue(np.allclose(out.inner, np.maximum(a, 2 * b.T) + c))
        self.told_of(0x50)
        self.assertIn(0x50, self.waited)  # nobody says in which stream these arrays are read

    def test_refused(self):
        a = np.ones((2, 3))
        with self.assertRaisesRegex(ValueError, "CUDA device 3"):
            cutt.elementwise("ij,ij->ij", CudaArray(a, 1), a, out=CudaArray(a.copy(), 1))
        with self.assertRaisesRegex(ValueError, "CUDA device 3"):
            cutt.elementwise("ij,ij->ij", a, a, out=CudaArray(a.copy(), 1))
        self.assertEqual(self.told, [])


if __name__ == "__main__":
    unittest.main()
