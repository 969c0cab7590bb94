"""elementwise and ElementwisePlan against NumPy."""

import copy
import pickle
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
        for spec in ("ij,ij->i", "ij,ij", "ij,ik->ij"):  # as the caller wrote it
            with self.assertRaisesRegex(ValueError, f"the result of {spec!r} lacks label [ijk],"):
                cutt.elementwise(spec, a, a)
        with self.assertRaisesRegex(ValueError, r"^b spans bytes .* and out \[.*, or out's address"):
            cutt.elementwise("ij,ij->ij", a.copy(), a[:, ::-1], out=a)


class Plans(unittest.TestCase):
    def test_calls(self):
        random = np.random.default_rng(5)
        for dtype in ("f4", "f8", "c16", "i4"):
            a, b, c = ((noise(random, s, "f8") * 90).astype(dtype) for s in ((40, 50), (50, 40), (50,)))
            plan = cutt.ElementwisePlan("ij,ji,j->ij", a, b, c, alpha=2, beta=-1, op2="multiply", threads=2)
            self.assertEqual(plan.shape, (40, 50))
            self.assertTrue(np.allclose(plan(a, b, c), (2 * a - b.T) * c, rtol=1e-5), dtype)
            out = np.empty((40, 50), dtype)
            self.assertIs(plan(a + a, b, c, out=out), out)
            self.assertTrue(np.allclose(out, (4 * a - b.T) * c, rtol=1e-5), dtype)
        plan = cutt.ElementwisePlan("ij,ji->ij", (40, 50), (50, 40), beta=0.5)
        a, b = noise(random, (40, 50), "f8"), noise(random, (50, 40), "f8")
        wanted = a + 0.5 * b.T
        self.assertIs(plan(a, b, out=a), a)  # in place
        self.assertTrue(np.allclose(a, wanted))
        self.assertEqual(cutt.ElementwisePlan("ij,j->ij", (0, 3), (3,))(np.ones((0, 3)), np.ones(3)).shape, (0, 3))

    def test_layouts(self):
        random = np.random.default_rng(6)
        a, b = noise(random, (30, 40), "c8")[::-2, 3:], noise(random, (40, 30), "c8")[3:, ::2]
        out = np.full((15, 74), np.nan, "c8")[:, ::2]
        plan = cutt.ElementwisePlan("ij,ji->ij", a, b, conj=(True, False), out_strides=out.strides)
        same = cutt.ElementwisePlan("ij,ji->ij", a.shape, b.shape, dtype="c8", strides=(a.strides, b.strides),
                                    out_strides=out.strides, conj=(True, False))
        for made in (plan, same, copy.copy(plan), pickle.loads(pickle.dumps(plan))):
            out[:] = np.nan
            self.assertIs(made(a, b, out=out), out)
            self.assertTrue(np.allclose(out, a.conj() + b.T))
        self.assertEqual(repr(plan), "<cutt.ElementwisePlan 'ij,ji->ij' (15, 37), (37, 15) -> (15, 37) complex64>")

    def test_describe(self):
        plan = cutt.ElementwisePlan("ij,ji->ij", (40, 50), (50, 40), op="max", alpha=3)
        self.assertIn("D = alpha A CUTT_OP_MAX B", plan.describe())
        facts = plan.describe("json")
        self.assertEqual(facts["bytes_moved"], 3 * 8 * 2000)
        self.assertEqual(facts["operators"], ["CUTT_OP_MAX"])

    def test_refused(self):
        a = np.ones((2, 3))
        plan = cutt.ElementwisePlan("ij,ij->ij", a, a)
        for text, call in (
            ("the shape of b", lambda: plan(a, a.T)),
            ("the strides of a", lambda: plan(np.ones((2, 6))[:, ::2], a)),
            ("the type of a", lambda: plan(a.astype("f4"), a)),
            ("there are 3 arrays", lambda: plan(a, a, a)),
            ("out has shape", lambda: plan(a, a, out=np.ones((3, 2)))),
            ("the strides of out", lambda: plan(a, a, out=np.ones((2, 6))[:, ::2])),
            ("format is 'xml'", lambda: plan.describe("xml")),
            ("strides has 1 entries", lambda: cutt.ElementwisePlan("ij,ij->ij", a.shape, a.shape, strides=[None])),
            ("out_strides has 1 entries", lambda: cutt.ElementwisePlan("ij,ij->ij", a, a, out_strides=(8,))),
            ("not multiples of the 8 bytes", lambda: cutt.ElementwisePlan("i,i->i", (3,), (3,), out_strides=(9,))),
            ("op is 'minus'", lambda: cutt.ElementwisePlan("ij,ij->ij", a, a, op="minus")),
        ):
            with self.assertRaisesRegex(ValueError, text):
                call()


class Gpu(OnDevice):
    def test_plan(self):
        random = np.random.default_rng(7)
        a, b = noise(random, (20, 30), "f4"), noise(random, (30, 20), "f4")
        out = CudaArray(np.full((20, 30), np.nan, "f4"), 0x50)
        plan = cutt.ElementwisePlan("ij,ji->ij", CudaArray(a, 0x50), CudaArray(b, 0x50))
        self.assertIs(plan(CudaArray(a, 0x50), CudaArray(b, 0x50), out=out), out)
        self.assertTrue(np.allclose(out.inner, a + b.T))
        self.told_of(0x50)

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
