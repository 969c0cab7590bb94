"""Plan, ContractionPlan, the cache of plans, and what tells of the machine."""

import copy
import gc
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock
import warnings
from pathlib import Path

import numpy as np

import cutt
from support import close, distinct, has_blas, noise, rounds, same

warnings.simplefilter("ignore", RuntimeWarning)


class Plan(unittest.TestCase):
    def test_call(self):
        a = distinct((4, 5, 6), "f4")
        plan = cutt.Plan(a, (2, 0, 1))
        self.assertEqual((plan.shape, plan.out_shape, plan.workspace), ((4, 5, 6), (6, 4, 5), 0))
        for _ in range(3):
            a += 1
            self.assertTrue(same(plan(a), a.transpose(2, 0, 1)))
        out = np.zeros((6, 4, 5), "f4")
        self.assertIs(plan(a, out), out)
        self.assertTrue(same(out, a.transpose(2, 0, 1)))
        self.assertTrue(same(cutt.Plan((4, 5, 6), dtype="f4")(a), a.T))

    def test_strides(self):
        grown = distinct((8, 10), "f8")
        a = grown[::2, ::-1]
        plan = cutt.Plan(a, out_strides=(8, 80))
        out = np.zeros((4, 10)).T
        self.assertTrue(same(plan(a, out), a.T))
        plan = cutt.Plan((4, 10), dtype="f8", strides=a.strides, alpha=2, beta=1)
        out = np.ones((10, 4))
        plan(a, out)
        self.assertTrue(same(out, 2 * a.T + 1))
        with self.assertRaisesRegex(ValueError, "must be given an out"):
            plan(a)
        with self.assertRaisesRegex(ValueError, "strides"):
            plan(grown[:4], out)

    def test_refused(self):
        plan = cutt.Plan((4, 5))
        for a in (np.zeros((5, 4)), np.zeros((4, 5), "f4"), np.zeros((5, 4)).T):
            with self.assertRaisesRegex(ValueError, "the plan is for"):
                plan(a)
        with self.assertRaises(ValueError):
            plan(np.zeros((4, 5)), np.zeros((4, 5)).T)
        for arguments, keys, error in (
            (((4, -5),), {}, ValueError),
            (((4, 5),), {"dtype": "nothing"}, TypeError),
            (((4, 5),), {"strides": (8,)}, ValueError),
            (((4, 5),), {"out_strides": (8,)}, ValueError),
            (((4, 5),), {"backend": "tpu"}, ValueError),
            (((4, 5),), {"model": "mine"}, ValueError),
            (((4, 5),), {"device": "nothing"}, ValueError),
            (((4, 5),), {"candidate": 100000}, ValueError),
            ((np.zeros(3),), {"dtype": "f8"}, TypeError),
            ((np.zeros(3),), {"backend": "cuda"}, ValueError),
        ):
            with self.assertRaises(error, msg=(arguments, keys)):
                cutt.Plan(*arguments, **keys)

    def test_told(self):
        plan = cutt.Plan((64, 300, 256, 3), (0, 3, 1, 2), dtype="f4", threads=1)
        self.assertEqual(plan.info["backend"], "cpu")
        self.assertEqual(plan.info["bytes_moved"], 2 * 4 * 64 * 300 * 256 * 3)
        self.assertIn("canonical", plan.describe())
        self.assertGreater(len(plan.describe("json")["candidates"]), 1)
        self.assertIn("<svg", plan.draw("svg"))
        self.assertTrue(plan.draw())
        self.assertIn(plan.info["method"], repr(plan))
        for call in (plan.describe, plan.draw):
            with self.assertRaises(ValueError):
                call("html")
        there = cutt.Plan((60, 43, 37, 3), dtype="f4", device="k20x", model="paper")
        self.assertIn("canonical", there.describe("json"))
        with self.assertRaises((RuntimeError, ValueError)):
            there(np.zeros((60, 43, 37, 3), "f4"))

    def test_measure_and_time(self):
        a = distinct((50, 60, 70), "f8")
        plan = cutt.Plan(a, (1, 2, 0), measure=0.05)
        self.assertGreater(plan.info["measured_seconds"], 0)
        out = plan(a)
        seconds = plan.time(a, out, 3)
        self.assertTrue(len(seconds) == 3 and min(seconds) > 0)
        self.assertTrue(same(cutt.Plan(a, (1, 2, 0), candidate=2)(a), a.transpose(1, 2, 0)))
        with self.assertRaises(ValueError):
            plan.time(a, out, 0)

    def test_empty(self):
        self.assertEqual(cutt.Plan((4, 0))(np.zeros((4, 0))).shape, (0, 4))


class Pickled(unittest.TestCase):
    """A plan that is loaded is planned again, and is for the same arrays."""

    def check(self, plan, *arrays, out=None):
        loaded = pickle.loads(pickle.dumps(plan))
        self.assertIsNot(loaded, plan)
        results = []
        for one in (plan, loaded):
            result = None if out is None else out.copy(order="K")
            results.append(one(*arrays) if out is None else one(*arrays, result))
        self.assertTrue(same(*results))
        self.assertEqual(repr(loaded), repr(plan))
        with self.assertRaisesRegex(ValueError, "the plan is for"):
            loaded(*[array[:1] for array in arrays])

    def test_permutations(self):
        a = distinct((8, 10, 3), "f8")
        self.check(cutt.Plan(a, (2, 0, 1)), a)
        self.check(cutt.Plan(a[::2, ::-1], (2, 0, 1), threads=1), a[::2, ::-1])
        self.check(cutt.Plan(a, (0, 2, 1), alpha=2, beta=3), a, out=np.ones((8, 3, 10)))
        self.check(cutt.Plan(a, (0, 2, 1), out_strides=(8, 64, 192)), a, out=np.zeros((10, 3, 8)).T)
        self.check(cutt.Plan(a, candidate=2), a)
        self.check(cutt.Plan(a, measure=0.01), a)
        for dtype in (">f8", "S3", "c16", [("x", "f4"), ("y", "i2")]):
            b = np.zeros((3, 4), dtype)
            self.check(cutt.Plan(b), b)
        c = distinct((3, 4), "c16")
        self.check(cutt.Plan(c, conj=True, alpha=2j), c)
        there = cutt.Plan((60, 43, 37, 3), dtype="f4", device="k20x", model="paper")
        told = [one.describe().partition("plan made in")[0] for one in (there, pickle.loads(pickle.dumps(there)))]
        self.assertEqual(*told)

    def test_contractions(self):
        if not has_blas():
            self.skipTest("no BLAS with the CBLAS interface is here")
        random = np.random.default_rng(3)
        a, b = noise(random, (4, 5, 6), "c16"), noise(random, (6, 7), "c16")
        self.check(cutt.ContractionPlan("abc,cd->abd", a, b), a, b)
        out = np.ones((4, 5, 7), "c16")
        more = {"alpha": 2, "beta": 1j, "conj": (True, False), "threads": 1, "workspace_limit": 1 << 12}
        self.check(cutt.ContractionPlan("abc,cd->abd", a, b, **more), a, b, out=out)
        # What is measured again may be another algorithm, with another order of its terms: sums of these are exact.
        a, b = distinct((4, 5, 6), "c16"), distinct((6, 7), "c16")
        self.check(cutt.ContractionPlan("abc,cd->abd", a, b, measure=0.01, algorithm="one-pass"), a, b)

    def test_in_another_process(self):
        plan, a = cutt.Plan((40, 50), dtype="f4"), distinct((40, 50), "f4")
        program = "import pickle, sys; plan, a = pickle.load(sys.stdin.buffer); sys.stdout.buffer.write(plan(a).tobytes())"
        done = subprocess.run(
            [sys.executable, "-c", program], input=pickle.dumps((plan, a)), capture_output=True, check=True
        )
        self.assertEqual(done.stdout, a.T.tobytes())


class Batch(unittest.TestCase):
    def test_lists(self):
        random = np.random.default_rng(4)
        for count in (1, 2, 50):
            for dtype, part in (("f4", slice(None)), ("i2", slice(None, None, -2))):
                arrays = [(distinct((9, 5, 6), dtype) + n)[part] for n in range(count)]
                axes = tuple(random.permutation(3))
                plan = cutt.Plan(arrays[0], axes)
                for given in (arrays, tuple(arrays), iter(arrays)):
                    mine = plan.execute_batch(given)
                    self.assertTrue(len(mine) == count and all(map(same, mine, [b.transpose(axes) for b in arrays])))
                out = [np.zeros_like(result) for result in mine]
                self.assertIs(plan.execute_batch(arrays, out), out)
                self.assertTrue(all(map(same, out, mine)))
        self.assertEqual(plan.execute_batch([]), [])

    def test_one_array(self):
        """A further first axis is as good as a list."""
        a = distinct((7, 4, 5), "f8")
        plan, out = cutt.Plan(a[0]), np.zeros((7, 5, 4))
        self.assertTrue(all(map(same, plan.execute_batch(a), a.transpose(0, 2, 1))))
        self.assertIs(plan.execute_batch(a, out), out)
        self.assertTrue(same(out, a.transpose(0, 2, 1)))

    def test_interleaved(self):
        """Results that lie between each other, and do not overlap."""
        a, out = distinct((6, 4, 5), "f8"), np.full((5, 4, 6), np.nan)
        plan = cutt.Plan(a[0], out_strides=(4 * 6 * 8, 6 * 8))
        plan.execute_batch(list(a), [out[:, :, n] for n in range(6)])
        self.assertTrue(same(out, a.transpose(2, 1, 0)))
        with self.assertRaisesRegex(ValueError, r"^out\[\d\] overlaps with out\[\d\]"):
            plan.execute_batch(list(a), [out[:, :, n] for n in (0, 1, 2, 3, 4, 0)])

    def test_added(self):
        a = distinct((3, 4, 5), "f8")
        plan, out = cutt.Plan(a[0], alpha=2, beta=1), np.ones((3, 5, 4))
        plan.execute_batch(list(a), list(out))
        self.assertTrue(same(out, 2 * a.transpose(0, 2, 1) + 1))
        with self.assertRaisesRegex(ValueError, "must be given an out"):
            plan.execute_batch(list(a))

    def test_refused(self):
        a, out = distinct((5, 3, 4), "f8"), np.zeros((5, 4, 3))
        plan = cutt.Plan(a[0])
        before = out.copy()
        frozen = np.zeros((4, 3))
        frozen.flags.writeable = False
        for arrays, results, text in (
            ([*a[:4], a[4, :2]], list(out), "^pair 4: the shape of a is"),
            ([*a[:4], a[4].astype("f4")], list(out), "^pair 4: the type of a is"),
            (list(a), list(out[:4]), "^out has 4 arrays, and there are 5 inputs"),
            (list(a), [*out[:4], frozen], "^pair 4: out is read-only"),
            (list(a), [*out[:4], np.zeros((3, 4))], "^pair 4: out has shape"),
            (list(a), [*out[:4], out[0]], r"^out\[4\] overlaps with out\[0\]"),
            ([*a[:4], out[1].reshape(3, 4)], list(out), r"^out\[1\] overlaps with input 4"),
            ([*a[:4], out[4].reshape(3, 4)], list(out), "overlap"),
            (list(a), [*out[:4], None], "^pair 4: "),
            (3, list(out), "^arrays is of type int"),
            (list(a), 3, "^out is of type int"),
        ):
            with self.assertRaisesRegex((TypeError, ValueError), text):
                plan.execute_batch(arrays, results)
            self.assertTrue(same(out, before), text)

    def test_threads(self):
        """As many threads as a batch is worth, and inputs that are the same array."""
        a = distinct((60, 70), "f8")
        plan = cutt.Plan(a)
        for result in plan.execute_batch([a] * 300):
            self.assertTrue(same(result, a.T))

    def test_nothing_leaks(self):
        a, plan, wrong = distinct((30, 40), "f8"), cutt.Plan((30, 40)), np.zeros((9, 9))
        out, counts = [np.zeros((40, 30)) for _ in range(3)], []
        for _ in range(40):
            plan.execute_batch([a] * 3)
            plan.execute_batch([a] * 3, out)
            for arrays, results in (([a, a, wrong], out), ([a] * 3, [out[0], out[1], out[0]]), ([a] * 2, out)):
                with self.assertRaises((TypeError, ValueError)):
                    plan.execute_batch(arrays, results)
            gc.collect()
            counts.append([sys.getrefcount(thing) for thing in (a, wrong, *out, a.dtype)])
        self.assertEqual(counts[5], counts[-1])


class Wisdom(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name, "choices.wisdom")

    def test_kept(self):
        a = distinct((40, 50, 6), "f8")
        wisdom = cutt.Wisdom()
        plan = cutt.Plan(a, (2, 0, 1), measure=0.01, wisdom=wisdom)
        self.assertTrue(same(plan(a), a.transpose(2, 0, 1)))
        seconds = plan.info["measured_seconds"]
        self.assertGreater(seconds, 0)
        self.assertEqual(cutt.Plan(a, (2, 0, 1)).info["measured_seconds"], 0)
        wisdom.save(self.path)
        for again in (wisdom, cutt.Wisdom(self.path), cutt.Wisdom(str(self.path))):
            found = cutt.Plan(a, (2, 0, 1), wisdom=again)
            self.assertAlmostEqual(found.info["measured_seconds"], seconds, delta=1e-3 * seconds)
            self.assertTrue(same(found(a), a.transpose(2, 0, 1)))
        wisdom.clear()
        self.assertEqual(cutt.Plan(a, (2, 0, 1), wisdom=wisdom).info["measured_seconds"], 0)
        loaded = wisdom.load(self.path)
        self.assertEqual((loaded.used, loaded.ignored, loaded.why), (1, 0, ""))
        self.assertGreater(cutt.Plan(a, (2, 0, 1), wisdom=wisdom).info["measured_seconds"], 0)

    def test_of_functions(self):
        """The plans that transpose() keeps are made by it, from when it is set."""
        a = distinct((41, 50, 6), "f8")
        wisdom = cutt.Wisdom()
        cutt.Plan(a, (2, 0, 1), measure=0.01, wisdom=wisdom)
        made, create = [], cutt._permute.create

        def watched(key, known=None, **more):
            made.append(known)
            return create(key, known, **more)

        try:
            with unittest.mock.patch.object(cutt._permute, "create", watched):
                for given in (None, wisdom, None):
                    cutt.plan_cache.wisdom = given
                    self.assertEqual(len(cutt.plan_cache), 0)
                    self.assertTrue(same(cutt.transpose(a, (2, 0, 1)), a.transpose(2, 0, 1)))
                    self.assertTrue(same(cutt.transpose(a, (2, 0, 1)), a.transpose(2, 0, 1)))
                    self.assertIs(cutt.plan_cache.wisdom, given)
        finally:
            cutt.plan_cache.wisdom = None
        self.assertEqual(made, [None, wisdom, None])

    def test_damaged(self):
        self.path.write_text("nothing that is known\n", encoding="utf-8")
        try:
            loaded = cutt.Wisdom().load(self.path)
        except ValueError:
            return
        self.assertEqual(loaded.used, 0)
        self.assertTrue(loaded.ignored and loaded.why)

    def test_refused(self):
        wisdom = cutt.Wisdom()
        with self.assertRaisesRegex(ValueError, "none.wisdom"):
            wisdom.load(Path(self.folder.name, "none.wisdom"))
        with self.assertRaises((ValueError, RuntimeError)):
            wisdom.save(Path(self.folder.name, "none", "a.wisdom"))
        for call in (wisdom.load, wisdom.save):
            for path in (None, 3, "a\0b"):
                with self.assertRaisesRegex((TypeError, ValueError), "^path is"):
                    call(path)
        for bad in ("a", 3, self.path):
            with self.assertRaisesRegex(TypeError, "^wisdom is"):
                cutt.Plan((3, 4), wisdom=bad)
            with self.assertRaisesRegex(TypeError, "^wisdom is"):
                cutt.plan_cache.wisdom = bad
        with self.assertRaisesRegex(TypeError, "save"):
            copy.deepcopy(wisdom)

    def test_cleared_while_planning(self):
        wisdom, wrong, done = cutt.Wisdom(), [], threading.Event()

        def plan():
            while not done.is_set():
                try:
                    cutt.Plan((20, 30), wisdom=wisdom)
                except Exception as error:
                    wrong.append(error)
                    return

        threads = [threading.Thread(target=plan) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(200):
            wisdom.clear()
        done.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class ContractionPlan(unittest.TestCase):
    def setUp(self):
        if not has_blas():
            self.skipTest("no BLAS with the CBLAS interface is here")

    def test_call(self):
        random = np.random.default_rng(1)
        for spec, left, right in (
            ("abc,cd->abd", (4, 5, 6), (6, 7)),
            ("...ab,...bc", (3, 4, 5), (1, 5, 2)),
            ("aab,bc->ca", (3, 3, 4), (4, 5)),
            ("ab,->a", (3, 4), ()),
        ):
            a, b = noise(random, left, "c8"), noise(random, right, "c8")
            for plan in (cutt.ContractionPlan(spec, a, b), cutt.ContractionPlan(spec, left, right, dtype="c8")):
                self.assertTrue(close(plan(a, b), np.asarray(np.einsum(spec, a, b)), 9))
                self.assertEqual(plan.shape, np.einsum(spec, a, b).shape)

    def test_more(self):
        random = np.random.default_rng(2)
        a, b = noise(random, (20, 30, 40), "f8"), noise(random, (40, 20, 50), "f8")
        theirs = np.einsum("abc,cad->bd", a, b)
        free = cutt.ContractionPlan("abc,cad->bd", a, b)
        tight = cutt.ContractionPlan("abc,cad->bd", a, b, workspace_limit=1 << 12)
        none = cutt.ContractionPlan("abc,cad->bd", a, b, workspace_limit=0, threads=1)
        self.assertLessEqual(tight.workspace, 1 << 12)
        self.assertEqual(none.workspace, 0)
        for plan in (free, tight, none):
            self.assertTrue(close(plan(a, b), theirs, 800))
            self.assertEqual(plan.info["flops"], 2.0 * 30 * 50 * 40 * 20)
            self.assertIn("products", plan.describe())
            self.assertTrue(plan.describe("json") and repr(plan))
        if free.workspace:
            memory = np.zeros(free.workspace + 64, np.uint8)
            memory = memory[-memory.ctypes.data % 64 :][: free.workspace]
            self.assertTrue(close(free(a, b, workspace=memory), theirs, 800))
            with self.assertRaises(ValueError):
                free(a, b, workspace=memory[:-64])
        out = np.ones((30, 50))
        scaled = cutt.ContractionPlan("abc,cad->bd", a, b, alpha=2, beta=3, conj=(True, False))
        self.assertIs(scaled(a, b, out), out)
        self.assertTrue(close(out, 2 * theirs + 3, 1600))
        times = free.time(a, b, np.zeros_like(theirs), 2)
        self.assertTrue(len(times) == 2 and times[0]["total"] > 0)
        self.assertEqual(len(free.time_gemm(2)), 2)

    def test_refused(self):
        plan = cutt.ContractionPlan("ab,bc", (2, 3), (3, 4))
        for a, b in (((2, 3), (4, 3)), ((3, 3), (3, 4))):
            with self.assertRaisesRegex(ValueError, "the plan is for"):
                plan(np.zeros(a), np.zeros(b))
        with self.assertRaisesRegex(ValueError, "for 1 operands"):
            cutt.ContractionPlan("ab", (2, 3), (3, 4))
        with self.assertRaises(TypeError):
            cutt.ContractionPlan("ab,bc", (2, 3), (3, 4), dtype="i2")
        with self.assertRaisesRegex(ValueError, "provider is 'nothing"):
            cutt.ContractionPlan("ab,bc", (2, 3), (3, 4), provider="nothing")
        with self.assertRaises((RuntimeError, ValueError)):
            cutt.ContractionPlan("ab,bc", (2, 3), (3, 4), provider="/nothing/of/this/name.so")
        with self.assertRaises(ValueError):
            cutt.ContractionPlan("ab,bc", (2, 3), (3, 4), workspace_limit=-1)
        with self.assertRaisesRegex(ValueError, "algorithm is 'none'"):
            cutt.ContractionPlan("ab,bc", (2, 3), (3, 4), algorithm="none")
        with self.assertRaisesRegex(TypeError, "algorithm is 3"):
            cutt.ContractionPlan("ab,bc", (2, 3), (3, 4), algorithm=3)

    def test_algorithm(self):
        random = np.random.default_rng(21)
        a, b = noise(random, (20, 30), "f8"), noise(random, (30, 40), "f8")
        for name in ("ttgt", "one-pass"):
            plan = cutt.ContractionPlan("ab,bc", a, b, algorithm=name)
            self.assertEqual(name, plan.info["algorithm"])
            self.assertTrue(close(plan(a, b), a @ b, 30))
            self.assertEqual(name, pickle.loads(pickle.dumps(plan)).info["algorithm"])
        self.assertIn(cutt.ContractionPlan("ab,bc", a, b).info["algorithm"], ("ttgt", "one-pass"))

    def test_empty(self):
        plan = cutt.ContractionPlan("ab,bc", (2, 0), (0, 4))
        self.assertTrue(same(plan(np.zeros((2, 0)), np.zeros((0, 4))), np.zeros((2, 4))))


    def test_measured(self):
        random = np.random.default_rng(22)
        a, b = noise(random, (20, 30, 40), "f8"), noise(random, (40, 20, 50), "f8")
        wisdom, spec, theirs = cutt.Wisdom(), "abc,cad->bd", np.einsum("abc,cad->bd", a, b)
        plan = cutt.ContractionPlan(spec, a, b, measure=0.02, wisdom=wisdom)
        self.assertTrue(close(plan(a, b), theirs, 800))
        told = plan.describe("json")
        self.assertEqual(told["by"], "measured")
        self.assertTrue(told["timed"] and plan.info["measured_seconds"] > 0)
        self.assertAlmostEqual(told["measured_seconds"] / plan.info["measured_seconds"], 1)
        known = cutt.ContractionPlan(spec, a, b, wisdom=wisdom)
        self.assertEqual(known.describe("json")["by"], "wisdom")
        self.assertTrue(close(known(a, b), theirs, 800))
        self.assertEqual(cutt.ContractionPlan(spec, a, b).info["measured_seconds"], 0)
        for bad in (-1, float("inf")):
            with self.assertRaisesRegex(ValueError, "^measure is"):
                cutt.ContractionPlan(spec, a, b, measure=bad)
        with self.assertRaisesRegex(TypeError, "^wisdom is"):
            cutt.ContractionPlan(spec, a, b, wisdom=1)
        cutt.plan_cache.wisdom = wisdom
        try:
            self.assertTrue(close(cutt.einsum(spec, a, b), theirs, 800))
        finally:
            cutt.plan_cache.wisdom = None


class Cache(unittest.TestCase):
    def test_kept(self):
        cutt.plan_cache.clear()
        hits, misses = cutt.plan_cache.hits, cutt.plan_cache.misses
        a = distinct((3, 4, 5), "f8")
        for _ in range(5):
            cutt.transpose(a)
        self.assertEqual((cutt.plan_cache.hits - hits, cutt.plan_cache.misses - misses), (4, 1))
        self.assertEqual(len(cutt.plan_cache), 1)
        cutt.transpose(a, threads=1)
        cutt.transpose(a, alpha=2)
        cutt.transpose(a.astype("f4"))
        cutt.transpose(a, (0, 2, 1))
        self.assertEqual(len(cutt.plan_cache), 5)
        self.assertIn("5 of at most", repr(cutt.plan_cache))

    def test_limit(self):
        limit = cutt.plan_cache.limit
        try:
            cutt.plan_cache.limit = 3
            for n in range(1, 20):
                a = distinct((n, 3), "i4")
                self.assertTrue(same(cutt.transpose(a), a.T))
                self.assertLessEqual(len(cutt.plan_cache), 3)
            cutt.plan_cache.limit = 0
            self.assertTrue(same(cutt.transpose(a), a.T))
            self.assertEqual(len(cutt.plan_cache), 0)
        finally:
            cutt.plan_cache.limit = limit


class Threads(unittest.TestCase):
    def test_at_once(self):
        """Threads that share plans, and a cache that loses them meanwhile; results are those of one thread."""
        blas, limit = has_blas(), cutt.plan_cache.limit
        wrong, started = [], threading.Barrier(8)
        shared = cutt.Plan((20, 30, 11), (2, 0, 1))

        def work(seed):
            random = np.random.default_rng(seed)
            started.wait()
            try:
                for _ in range(rounds(60)):
                    shape = tuple(int(n) for n in random.integers(1, 9, 3))
                    a, axes = noise(random, shape, "f8"), tuple(random.permutation(3))
                    if not same(cutt.transpose(a, axes), a.transpose(axes)):
                        wrong.append(("transpose", shape, axes))
                    b = noise(random, (20, 30, 11), "f8")
                    if not same(shared(b), b.transpose(2, 0, 1)):
                        wrong.append("plan")
                    if blas and not close(cutt.einsum("abc,cbd->ad", a, a.T), np.einsum("abc,cbd->ad", a, a.T), 99):
                        wrong.append(("einsum", shape))
            except Exception as error:
                wrong.append(error)

        try:
            cutt.plan_cache.limit = 20
            threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            cutt.plan_cache.limit = limit
        self.assertEqual(wrong, [])

    def test_gil_is_released(self):
        """While one thread is in the library, another runs."""
        a = np.ones((64, 1 << 20), "f4")
        out, ticks, done = np.empty((1 << 20, 64), "f4"), [0, 0], threading.Event()

        def work():
            for _ in range(3):
                cutt.transpose(a, out=out, threads=1)
                ticks[1] += 1
            done.set()

        thread = threading.Thread(target=work)
        thread.start()
        seen = set()
        while not done.wait(0.0005):
            ticks[0] += 1
            seen.add(ticks[1])
        thread.join()
        self.assertGreater(ticks[0], 10)

    def test_errors_are_the_threads_own(self):
        failures = []

        def work(extent):
            for _ in range(200):
                square = np.zeros((extent, extent))
                try:
                    cutt.Plan((extent,), candidate=100000 + extent)
                except ValueError as error:
                    if str(100000 + extent) not in str(error):
                        failures.append(str(error))
                cutt.transpose(square)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(3, 7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


class Machine(unittest.TestCase):
    def test_told(self):
        self.assertRegex(cutt.__version__, r"^\d+\.\d+\.\d+$")
        self.assertEqual(cutt.devices()["version"], cutt.__version__)
        names = {backend["name"]: backend["usable"] for backend in cutt.devices()["backends"]}
        self.assertTrue(names["cpu"])
        self.assertIn("providers", cutt.providers())
        self.assertGreater(cutt.copy_bandwidth(1 << 24, backend="cpu", count=3), 0.1)
        for keys in ({"backend": "tpu"}, {"nbytes": 0}, {"count": 0}):
            with self.assertRaises(ValueError):
                cutt.copy_bandwidth(**keys)
        if not names.get("cuda"):
            with self.assertRaises(RuntimeError):
                cutt.copy_bandwidth(1 << 20, backend="cuda")

    def test_no_memory(self):
        with self.assertRaises(MemoryError):
            cutt.copy_bandwidth(1 << 62, backend="cpu")

    def test_documented(self):
        """What is public has a docstring with its sections, and a signature that pyi-less tools can read."""
        for name in cutt.__all__:
            text = getattr(cutt, name).__doc__
            self.assertTrue(text, name)
            if name in ("transpose", "einsum", "tensordot", "permute_dims"):
                for section in ("Parameters", "Returns", "Raises"):
                    self.assertTrue(re.search(rf"^ *{section}\n *-+$", text, re.MULTILINE), (name, section))

    def test_plans_are_destroyed(self):
        for n in range(200):
            cutt.Plan((n + 1, 3))
        gc.collect()


if __name__ == "__main__":
    unittest.main()
