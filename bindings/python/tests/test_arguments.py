"""Arguments that are not what they should be: an exception that names them."""

import copy
import pickle
import unittest
import warnings

import numpy as np

import cutt
from hostile import Case
from support import distinct, has_blas, same

warnings.simplefilter("ignore", RuntimeWarning)


class Arguments(Case):
    HUGE = 10**30

    def test_arrays(self):
        for array in (
            None,
            object(),
            {},
            "abc",
            np.ndarray,
            [object()],
            np.array([None]),
            [[1], [2, 3]],
            np.zeros(3, "V0"),
        ):
            with self.assertRaisesRegex((TypeError, ValueError), "^a can't be taken"):
                cutt.transpose(array)
            with self.assertRaisesRegex((TypeError, ValueError), "^operand 0 can't be taken"):
                cutt.einsum("...", array)
            with self.assertRaisesRegex((TypeError, ValueError), "^b can't be taken"):
                cutt.tensordot(np.zeros(3), array, 0)

    def test_axes(self):
        a = np.zeros((3, 4))
        for axes in (
            (1.5, 0),
            "ab",
            (1,),
            (self.HUGE, 0),
            (0, -self.HUGE),
            (None, 0),
            {},
            3,
            (0, 0),
            float("nan"),
            (0, 2),
        ):
            for call in (cutt.transpose, cutt.permute_dims, cutt.Plan):
                with self.assertRaisesRegex((TypeError, ValueError), "^axes "):
                    call(a, axes)
        for axes in (
            3,
            -1,
            1.5,
            self.HUGE,
            None,
            "ab",
            {},
            (1,),
            ([0], [0, 1]),
            ([2], [0]),
            ([-3], [0]),
            ([0, 0], [0, 1]),
        ):
            with self.assertRaisesRegex((TypeError, ValueError), "^axes "):
                cutt.tensordot(a, a, axes)
        for axes in (np.array([1, 0]), [np.int64(1), np.int8(0)], range(1, -1, -1), iter((1, 0))):
            self.assertEqual(cutt.transpose(a, axes).shape, (4, 3))
        self.assertEqual(cutt.transpose(np.zeros(3), 0).shape, (3,))

    def test_scalars(self):
        a = np.ones((3, 4))
        for value in ("x", None, [1], np.array([1.0, 2.0]), 1j, 10**400, object(), b"1"):
            for name in ("alpha", "beta"):
                with self.assertRaisesRegex(TypeError, f"^{name} is"):
                    cutt.transpose(a, out=np.ones((4, 3)), **{name: value})
                with self.assertRaisesRegex(TypeError, f"^{name} is"):
                    cutt.Plan(a, **{name: value})
                if has_blas():
                    with self.assertRaisesRegex(TypeError, f"^{name} is"):
                        cutt.einsum("ij,jk", a, a.T, out=np.ones((3, 3)), **{name: value})
                    with self.assertRaisesRegex(TypeError, f"^{name} is"):
                        cutt.ContractionPlan("ij,jk", a, a.T, **{name: value})
        whole = np.ones((3, 4), "i4")
        for value in (float("nan"), float("inf"), 0.5):
            with self.assertRaisesRegex(TypeError, "^alpha is"):
                cutt.transpose(whole, alpha=value)
        self.assertTrue(same(cutt.transpose(whole, alpha=2**70 + 3), 3 * whole.T))
        self.assertTrue(same(cutt.transpose(a, alpha=2**70), a.T * 2.0**70))
        self.assertTrue(np.isnan(cutt.transpose(a, alpha=float("nan"))).all())
        self.assertTrue(same(cutt.transpose(a, beta=-0.0), a.T))

    def test_numbers(self):
        """Numbers that ctypes would cut, and what is no number."""
        a = np.zeros((3, 4))
        plan, out = cutt.Plan(a), np.zeros((4, 3))
        calls = [
            ("threads", 1, lambda n: cutt.transpose(a, threads=n)),
            ("threads", 1, lambda n: cutt.Plan(a, threads=n)),
            ("candidate", 0, lambda n: cutt.Plan(a, candidate=n)),
            ("count", 1, lambda n: plan.time(a, out, n)),
            ("nbytes", 1, lambda n: cutt.copy_bandwidth(n, count=1, backend="cpu")),
            ("count", 1, lambda n: cutt.copy_bandwidth(100, count=n, backend="cpu")),
            ("limit", 0, lambda n: setattr(cutt.plan_cache, "limit", n)),
            ("the shape of a", 0, lambda n: cutt.Plan((n, 3), out_strides=(0, 0))),
            ("strides", None, lambda n: cutt.Plan((3, 4), strides=(n, 8))),
            ("out_strides", None, lambda n: cutt.Plan((3, 4), out_strides=(8, n))),
        ]
        if has_blas():
            made = cutt.ContractionPlan("ij,jk", (3, 4), (4, 5))
            calls += [
                ("threads", 1, lambda n: cutt.einsum("ij,jk", a, a.T, threads=n)),
                ("threads", 1, lambda n: cutt.tensordot(a, a.T, 1, threads=n)),
                ("workspace_limit", 0, lambda n: cutt.ContractionPlan("ij,jk", (3, 4), (4, 5), workspace_limit=n)),
                ("count", 1, lambda n: made.time(a, np.zeros((4, 5)), np.zeros((3, 5)), n)),
                ("count", 1, made.time_gemm),
                ("the shape of left", 0, lambda n: cutt.ContractionPlan("ij,jk", (n, 4), (4, 5))),
                ("strides of left", None, lambda n: cutt.ContractionPlan("ij,jk", (3, 4), (4, 5), left_strides=(n, 8))),
                ("out_strides", None, lambda n: cutt.ContractionPlan("ij,jk", (3, 4), (4, 5), out_strides=(n, 8))),
            ]
        limit = cutt.plan_cache.limit
        for name, low, call in calls:
            bad = ["x", 1.5, float("nan"), None, self.HUGE, -self.HUGE, 2**64 + 1]
            bad += [] if low is None else [low - 1]
            for value in bad:
                if value is None and name in ("threads", "workspace_limit"):
                    continue
                with self.assertRaisesRegex((TypeError, ValueError), name, msg=(name, value)):
                    call(value)
        self.assertEqual(cutt.plan_cache.limit, limit)
        with self.assertRaisesRegex(ValueError, "64 bits"):
            cutt.Plan((1 << 40, 1 << 40, 1 << 40))
        with self.assertRaisesRegex(TypeError, "shape of a"):
            cutt.Plan((3.5, 4))

    def test_texts(self):
        for device in (3, "h200\0", "h\x00200"):
            with self.assertRaisesRegex((TypeError, ValueError), "^device is"):
                cutt.Plan((3, 4), device=device)
        for keys in ({"model": 3}, {"backend": 3}, {"measure": "x"}, {"measure": -1}, {"measure": float("nan")}):
            with self.assertRaisesRegex((TypeError, ValueError), f"^{next(iter(keys))} is"):
                cutt.Plan((3, 4), **keys)
        for spec in (3, None, b"ij,jk"):
            with self.assertRaisesRegex(TypeError, "^the subscripts are"):
                cutt.ContractionPlan(spec, (3, 4), (4, 5))
        for provider in (3, "openblas\0"):
            with self.assertRaisesRegex((TypeError, ValueError), "^provider is"):
                cutt.ContractionPlan("ij,jk", (3, 4), (4, 5), provider=provider)
        for conj in (3, (True,), "abc"):
            with self.assertRaisesRegex((TypeError, ValueError), "^conj "):
                cutt.ContractionPlan("ij,jk", (3, 4), (4, 5), conj=conj)
            with self.assertRaisesRegex((TypeError, ValueError), "^conj "):
                cutt.einsum("ij,jk", np.zeros((3, 4)), np.zeros((4, 5)), conj=conj)
        a = np.zeros((3, 3))
        for path in ([(0, 1.5), (0, 1)], [("a", "b")], [(0, 9), (0, 1)], [(0, self.HUGE)], [], 3.5):
            with self.assertRaises((TypeError, ValueError)):
                cutt.einsum("ij,jk,kl", a, a, a, optimize=path)


class Plans(Case):
    def test_copies(self):
        a = distinct((3, 4), "f8")
        plans = [(cutt.Plan(a), (a,), a.T)]
        if has_blas():
            plans.append((cutt.ContractionPlan("ij,kj->ik", a, a), (a, a), a @ a.T))
        for plan, arrays, theirs in plans:
            for made in (copy.copy(plan), copy.deepcopy(plan), copy.deepcopy([plan, plan])[1]):
                self.assertTrue(same(made(*arrays), theirs))
            del made
            self.assertTrue(same(plan(*arrays), theirs))
            for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
                self.assertTrue(same(pickle.loads(pickle.dumps(plan, protocol))(*arrays), theirs))


if __name__ == "__main__":
    unittest.main()
