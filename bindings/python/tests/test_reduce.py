"""reduce against NumPy."""

import unittest

import numpy as np

import cutt
from likegpu import CudaArray, OnDevice
from support import noise

WAYS = {"add": np.add, "multiply": np.multiply, "max": np.maximum, "min": np.minimum}


class Reduce(unittest.TestCase):
    def test_one_operand(self):
        random = np.random.default_rng(1)
        for dtype in ("f2", "f4", "f8", "c8", "c16", "i4", "i8"):
            a = noise(random, (4, 5, 60), "f8")
            a = (a * 9 if dtype[0] == "i" else a / 10 + 1).astype(dtype)
            for op, way in WAYS.items():
                if dtype[0] == "c" and op in ("max", "min"):
                    continue
                for spec, axes in (("abc->b", (2, 0)), ("abc->", (2, 1, 0)), ("abc->ca", (1,)), ("...c->...", (2,))):
                    wanted = a
                    for axis in axes:
                        wanted = way.reduce(wanted, axis=axis, dtype=None if dtype != "f2" else "f4")
                    wanted = np.moveaxis(wanted, 0, -1) if spec == "abc->ca" else wanted
                    mine = cutt.reduce(spec, a, op=op)
                    exact = op in ("max", "min") or dtype[0] == "i"
                    allowed = 0 if exact else 2e-3 if dtype == "f2" else 1e-4
                    self.assertTrue(np.allclose(mine, wanted, rtol=allowed, atol=0), (dtype, op, spec, mine, wanted))
                    self.assertEqual(mine.dtype, a.dtype)

    def test_two_operands(self):
        random = np.random.default_rng(2)
        a, b = noise(random, (7, 9), "f8"), noise(random, (9, 11), "f8")
        terms = a[:, :, None] * b[None]
        for op, way in WAYS.items():
            self.assertTrue(np.allclose(cutt.reduce("ij,jk->ik", a, b, op=op), way.reduce(terms, axis=1)), op)
        self.assertTrue(np.array_equal(cutt.reduce("ij,k->k", a, b[0], op="min"), (a[:, :, None] * b[0]).min((0, 1))))
        z = noise(random, (5, 6), "c16")
        product = cutt.reduce("ij,ij->i", z, z, op="multiply", conj=(True, False))
        self.assertTrue(np.allclose(product, (np.conj(z) * z).prod(1)))

    def test_strides_and_scalars(self):
        random = np.random.default_rng(3)
        a = noise(random, (8, 10, 12), "f8")[::-2, 1::3, ::-1]
        out = noise(random, (12, 4), "f8")
        wanted = 3 * a.max(1).T - out / 2
        self.assertIs(cutt.reduce("abc->ca", a, op="max", out=out, alpha=3, beta=-0.5, threads=2), out)
        self.assertTrue(np.allclose(out, wanted))
        square = noise(random, (6, 6), "f4")
        self.assertEqual(cutt.reduce("ii->", square, op="min"), np.diagonal(square).min())
        self.assertEqual(cutt.reduce("i->", np.zeros(0), op="multiply"), 1)
        self.assertEqual(cutt.reduce("i->", np.zeros(0)), 0)
        self.assertEqual(cutt.reduce("ij->j", np.zeros((0, 0)), op="max").shape, (0,))

    def test_nan(self):
        for length in (1, 3, 17, 300):
            a = np.linspace(-1, 1, 2 * length).reshape(2, length)
            a[1, length // 2] = np.nan
            for op, way in (("max", np.max), ("min", np.min)):
                self.assertTrue(np.array_equal(cutt.reduce("ab->a", a, op=op), way(a, 1), equal_nan=True))
                self.assertTrue(np.array_equal(cutt.reduce("ab->b", a, op=op), way(a, 0), equal_nan=True))
        self.assertTrue(np.array_equal(cutt.reduce("ab->a", a, op="max", alpha=0), np.zeros(2)))  # nothing is read

    def test_refused(self):
        a = np.ones((2, 3))
        for wrong, call in (
            (ValueError, lambda: cutt.reduce("ab->a", a, op="mean")),
            (TypeError, lambda: cutt.reduce("ab->a", a.astype("c16"), op="max")),
            (TypeError, lambda: cutt.reduce("ab->a", a.astype("i2"), op="max")),
            (TypeError, lambda: cutt.reduce("ab->a", a.astype("u4"), op="max")),  # which it would compare as signed ones
            (TypeError, lambda: cutt.reduce("ab->a", a.astype("u8"), op="min")),
            (ValueError, lambda: cutt.reduce("ab->a", np.zeros((2, 0)), op="max")),
            (ValueError, lambda: cutt.reduce("ab->a", a, beta=1)),
            (ValueError, lambda: cutt.reduce("->")),
            (ValueError, lambda: cutt.reduce("a,a,a->a", a[0], a[0], a[0])),
            (ValueError, lambda: cutt.reduce("ab->a", a, out=a[:, 0])),
        ):
            with self.assertRaises(wrong):
                call()


class Gpu(OnDevice):
    def test_operators(self):
        a = noise(np.random.default_rng(5), (20, 30), "f8")
        for op, way in (("multiply", np.prod), ("max", np.max), ("min", np.min)):
            out = CudaArray(np.full(20, np.nan), 0x60)
            self.assertIs(cutt.reduce("ij->i", CudaArray(a, 0x60), op=op, out=out), out)
            self.assertTrue(np.allclose(out.inner, way(a, 1)))
            self.told_of(0x60)


if __name__ == "__main__":
    unittest.main()
