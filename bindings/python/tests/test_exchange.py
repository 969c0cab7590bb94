"""Arrays of a library that has DLPack's table of functions (__dlpack_c_exchange_api__), made here of NumPy's; and what the
compiled module has in common with the functions in Python."""

import contextlib
import inspect
import pickle
import sys
import unittest
import unittest.mock
import warnings

import numpy as np

import cutt
from cutt import _compiled
from cutt._compiled import in_python as IN_PYTHON
from exchange import HAS_FLAGS, library
from support import close, distinct, has_blas, noise, same

warnings.simplefilter("ignore", RuntimeWarning)
KEPT = [library() for _ in range(2)]  # tables live as long as the process


@unittest.skipIf(_compiled.calls is None, "CUTT_COMPILED=0: there is no compiled module to serve arrays")
class Served(unittest.TestCase):
    def make(self, **keys):
        made = library(**keys)
        KEPT.append(made)
        return made

    def after(self, array):
        """Nothing is held any more, and what the capsule's way was asked for."""
        self.assertEqual((array.calls["alive"], array.held), (0, {}))
        return array.calls["__dlpack__"]

    def test_transpose(self):
        for borrows in (True, False):
            Array = self.make(borrows=borrows)
            for dtype in ("i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16", "?"):
                a = distinct((3, 4, 5), dtype)
                for view in (a, a.T, a[::2, ::-1, 1:], a[:1, :, :1]):
                    for _ in range(2):
                        mine = cutt.transpose(Array(view), (2, 0, 1))
                        self.assertIs(type(mine), Array)
                        self.assertTrue(same(mine.inner, view.transpose(2, 0, 1)), (dtype, view.strides))
                    out = Array(np.empty_like(mine.inner))
                    self.assertIs(cutt.transpose(Array(view), (2, 0, 1), out=out), out)
                    self.assertTrue(same(out.inner, mine.inner))
            self.assertEqual(self.after(Array), 0)
            self.assertEqual(bool(Array.calls["tensor_of"]), borrows)

    def test_more(self):
        Array, a = self.make(), distinct((3, 4), "f8")
        out = Array(np.ones((4, 3)))
        self.assertIs(cutt.transpose(Array(a), out=out, alpha=2, beta=3.0), out)
        self.assertTrue(same(out.inner, 2 * a.T + 3))
        plan = cutt.Plan(Array(a))
        self.assertTrue(same(plan(Array(a)).inner, a.T))
        self.assertIs(plan(Array(a), out=out), out)
        self.assertTrue(same(cutt.einsum("ij->ji", Array(a)).inner, a.T))
        if has_blas():
            b = noise(np.random.default_rng(1), (4, 5), "f8")
            for _ in range(2):
                self.assertTrue(close(cutt.einsum("ij,jk", Array(a), Array(b)).inner, a @ b, 99))
                self.assertTrue(close(cutt.einsum("ij,ij->", Array(a), Array(a)).inner, np.array((a * a).sum()), 9999))
                for count in (3, 11):  # a network, on the CPU: no memory of the library's but the result's
                    square, before = noise(np.random.default_rng(2), (5, 5), "f8"), Array.calls["allocate"]
                    spec = ",".join(chr(ord("a") + place) + chr(ord("b") + place) for place in range(count))
                    spec += f"->a{chr(ord('a') + count)}"
                    made = cutt.einsum(spec, *[Array(square)] * count)
                    self.assertTrue(close(made.inner, np.linalg.matrix_power(square, count), 99999))
                    self.assertEqual(Array.calls["allocate"] - before, 1)
            made = cutt.ContractionPlan("ij,jk", a, b)(Array(a), Array(b))
            self.assertTrue(type(made) is Array and close(made.inner, a @ b, 99))
        self.after(Array)

    def test_written(self):
        """Only the table's managed tensors tell what may be written to."""
        Array, a = self.make(), distinct((3, 4), "f4")
        inner = np.zeros((4, 3), "f4")
        inner.setflags(write=False)
        with self.assertRaisesRegex((ValueError, TypeError), "^out "):
            cutt.transpose(Array(a), out=Array(inner, 1))
        self.assertFalse(inner.any())
        self.after(Array)

    def test_without_namespace(self):
        """Results are NumPy's, as the functions in Python make them; what is given as out is written by the table."""
        Array, a = self.make(namespace=False), distinct((3, 4), "f4")
        self.assertTrue(same(cutt.transpose(Array(a)), a.T))
        before = Array.calls["__dlpack__"]
        out = Array(np.zeros((4, 3), "f4"))
        self.assertIs(cutt.transpose(Array(a), out=out), out)
        self.assertTrue(same(out.inner, a.T))
        self.assertEqual(self.after(Array), before)

    def test_failing(self):
        """What the table can't describe comes by the capsule; no memory is an error."""
        for borrows in (True, False):
            Array, a = self.make(borrows=borrows), distinct((3, 4), "f4")
            Array.failing = frozenset(["tensor_of" if borrows else "managed_of"])
            self.assertTrue(same(cutt.transpose(Array(a)).inner, a.T))
            self.assertGreater(self.after(Array), 0)
            Array.failing = frozenset(["allocate"])
            with self.assertRaisesRegex(MemoryError, "could not make"):
                cutt.transpose(Array(a))
            self.after(Array)

    def test_versions(self):
        """A table of a newer version that has one of version 1 behind it; and what is none."""
        a, behind = distinct((3, 4), "f4"), self.make()
        Array = self.make(major=2, previous=behind.table)
        self.assertTrue(same(cutt.transpose(Array(a)).inner, a.T))
        self.assertEqual((self.after(Array), Array.calls["tensor_of"]), (0, 0))
        self.assertGreater(behind.calls["tensor_of"], 0)
        for keys in ({"major": 2}, {"capsule": b"another"}):
            Array = self.make(**keys)
            self.assertTrue(same(cutt.transpose(Array(a)).inner, a.T))
            self.assertGreater(self.after(Array), 0)

    def test_mixed(self):
        Array, a = self.make(), distinct((3, 4), "f4")
        mine = cutt.transpose(Array(a), out=np.zeros((4, 3), "f4"))
        self.assertTrue(same(mine, a.T))
        if HAS_FLAGS:
            out = KEPT[0](np.zeros((4, 3), "f4"))
            cutt.transpose(Array(a), out=out)
            self.assertTrue(same(out.inner, a.T))
        with self.assertRaisesRegex(TypeError, "device of DLPack's kind 10"):
            cutt.transpose(Array(a, device=10))
        self.after(Array)


@unittest.skipIf(_compiled.calls is None, "CUTT_COMPILED=0: there is no compiled module to compare with")
class Alike(unittest.TestCase):
    """The compiled functions and those in Python that they leave calls to."""

    def outcome(self, call, *arguments, **keys):
        try:
            return None, call(*arguments, **keys)
        except Exception as error:
            return type(error), str(error)

    def test_arguments(self):
        a, c = distinct((3, 4), "f8"), distinct((3, 4), "c16")
        odd = ((), (a, None, 3), (a, (1, 0), out), (a, (1.0, 0))) if (out := np.zeros((4, 3))) is not None else ()
        cases = [(given, {}) for given in odd + ((a,), (a, [1, 0]), (a, (-1, 0)), (a, np.array([1, 0])), (a, (0, 0)))]
        for keys in (
            {"axes": (1, 0)},
            {"axis": 1},
            {"out": None},
            {"alpha": 2},
            {"alpha": 2.5},
            {"alpha": True},
            {"alpha": np.float32(2)},
            {"alpha": 10**400},
            {"alpha": 10**30},
            {"alpha": 1j},
            {"alpha": "x"},
            {"alpha": None},
            {"beta": 1},
            {"beta": 0.0},
            {"conj": True},
            {"conj": 1},
            {"conj": None},
            {"threads": 1},
            {"threads": 0},
            {"threads": 5000},
            {"threads": True},
            {"threads": 10**30},
            {"a": a},
        ):
            cases += [((a,), keys), ((c,), keys), ((a.astype("i4"),), keys), ((a.astype("f4"),), keys)]
            cases += [((a.astype("i8"),), {**keys, "out": np.ones((4, 3), "i8")})]
            cases += [((a,), {**keys, "out": np.ones((4, 3))}), ((a,), {**keys, "out": np.ones((3, 4))})]
        for given, keys in cases:
            results = []
            for call in (cutt.transpose, IN_PYTHON["transpose"]):
                held = {**keys, "out": keys["out"].copy()} if isinstance(keys.get("out"), np.ndarray) else keys
                results.append(self.outcome(call, *given, **held))
            (mine, said), (theirs, text) = results
            self.assertIs(mine, theirs, (given, keys, said, text))
            self.assertTrue(same(said, text) if mine is None else said == text, (given, keys, said, text))

    def test_einsum(self):
        if not has_blas():
            self.skipTest("no BLAS with the CBLAS interface is here")
        random = np.random.default_rng(1)
        square, long = noise(random, (4, 4), "f8"), noise(random, (4, 4, 5), "f8")
        cases = []
        for spec in (
            "ij,jk->ik",
            "ij,jk",
            "ij,ij->",
            "ij,kl",
            "ii,jj->ij",
            "ij->ji",
            "ii->i",
            "ij->j",
            "ij->",
            "...i,i...",
            "",
        ):
            for arrays in (
                (square, square),
                (square,),
                (square, long),
                (long, square[:1]),
                (square.astype("f4"), square),
            ):
                for keys in (
                    {},
                    {"alpha": 2},
                    {"threads": 1},
                    {"optimize": False},
                    {"conj": (True, True)},
                    {"beta": 1},
                ):
                    cases.append(((spec, *arrays), keys))
        cases += [
            ((square, [0, 1], square, [1, 2]), {}),
            (("ij,jk", square, square), {"out": np.ones((4, 4)), "beta": 2}),
        ]
        cases += [(("ij,jk", square, square[:, :0]), {}), (("ij,jk", square, [1, 2]), {}), (("i\udc80", square), {})]
        self.alike("einsum", cases)

    def alike(self, name, cases):
        """Twice each: by a plan that is made, and by one that is kept."""
        for given, keys in cases:
            for _ in range(2):
                results = []
                for call in (getattr(cutt, name), IN_PYTHON[name]):
                    held = {**keys, "out": keys["out"].copy()} if "out" in keys else keys
                    results.append(self.outcome(call, *given, **held))
                (mine, said), (theirs, text) = results
                self.assertIs(mine, theirs, (given, keys, said, text))
                self.assertIs(type(said), type(text), (given, keys))
                self.assertTrue(same(said, text) if mine is None else said == text, (given, keys, said, text))

    def test_reduce(self):
        random, cases = np.random.default_rng(1), []
        square, long = noise(random, (4, 4), "f8"), noise(random, (4, 4, 5), "f8")
        for spec in ("ij,jk->ik", "ij,ij->", "ii->i", "ij->ji", "ij->j", "ij->", "...i,i...", "", "i\udc80"):
            for arrays in ((square, square), (square,), (square, long), (long, square[:1]), (square.astype("f4"), square)):
                for keys in (
                    *({"op": op} for op in ("add", "multiply", "max", "min", "mean", 2, None)),
                    {"op": "max", "alpha": -2},
                    {"op": "min", "threads": 1},
                    {"conj": [False] * len(arrays)},
                    {"beta": 1},
                    {"optimize": False},
                ):
                    cases.append(((spec, *arrays), keys))
        for dtype in ("f2", "f4", "c16", "i4", "u4", "i8", "i2", "?", "O", ">f8"):
            for op in ("add", "multiply", "max", "min"):
                cases.append((("ij->j", (9 * square).astype(dtype)), {"op": op}))
                cases.append((("ij->j", (9 * square).astype(dtype)), {"op": op, "out": np.ones(4, dtype), "beta": 3}))
        cases += [((spec, square[:, :0]), {"op": op}) for spec in ("ij->i", "ij->j") for op in ("multiply", "max")]
        cases += [(("ij->j", square), {"out": out}) for out in (np.ones(5), np.ones(4, "f4"), square[:, 0])]
        self.alike("reduce", cases + [((), {}), (("->",), {}), (("i,i,i->i", square[0], square[0], square[0]), {})])

    def test_elementwise(self):
        random, cases = np.random.default_rng(1), []
        a, b, c = noise(random, (4, 4), "f8"), noise(random, (4, 4), "f8"), noise(random, (4,), "f8")
        for spec, arrays in (
            ("ij,ji->ij", (a, b)),
            ("ij,ji->ij", (a, b, None)),
            ("ij,ji,i->ij", (a, b, c)),
            ("ij,j,ji->ji", (a[:1], c, b)),
            ("...j,j...->...j", (a, b)),
            ("i,j->ij", (c, c[::-1])),
            ("ii,i->i", (a, c)),
            (",->", (np.array(2.0), np.array(3.0))),
            ("ij,ij->i", (a, b)),
            ("ij,ji->ij", (a, b[:3])),
            ("ij,ji->ij", (a, b.astype("f4"))),
            ("ij,ji->ij", (a, b.tolist())),
            ("ij,ji->ij", (a[:, :0], b[:0])),
            ("ij,ji\udc80->ij", (a, b)),
        ):
            for keys in (
                {},
                {"alpha": 2, "beta": -0.5, "gamma": 3},
                {"beta": 0, "gamma": 0.0},
                {"alpha": 1j},
                {"gamma": "x"},
                {"alpha": None},
                {"op": "max", "op2": "multiply"},
                {"op": "minus"},
                {"op2": 1},
                {"threads": 1},
                {"threads": 0},
                {"conj": [True] * len(arrays)},
                {"out": np.ones((4, 4))},
                {"out": np.ones((4, 4), "f4")},
                {"out": np.ones((4, 5))},
                {"outer": 1},
            ):
                cases.append(((spec, *arrays), keys))
        for dtype in ("f2", "c8", "i4", "u4", "i8", "i2", "?", "O", ">f8"):
            for op in ("add", "multiply", "max", "min"):
                keys = {"alpha": 3, "op": op}
                cases.append((("ij,ji->ij", (9 * a).astype(dtype), (9 * b).astype(dtype)), keys))
                cases.append((("ij,ji->ij", (9 * a).astype(dtype), (9 * b).astype(dtype)), {**keys, "op2": "max"}))
        self.alike("elementwise", cases + [((), {}), ((a, b), {}), (("i,i->i", c), {})])
        by_name = cutt.elementwise(spec="ij,ji,i->ij", a=a, b=b, c=c, alpha=2)
        self.assertTrue(same(by_name, IN_PYTHON["elementwise"]("ij,ji,i->ij", a, b, c, alpha=2)))
        in_place = a.copy()
        self.assertIs(cutt.elementwise("ij,ji->ij", in_place, b, out=in_place), in_place)
        self.assertTrue(np.allclose(in_place, a + b.T))
        before = cutt.plan_cache.hits
        for beta in (1, 1, 2):
            cutt.elementwise("ij,ij->ij", a, b, beta=beta)
        self.assertEqual(cutt.plan_cache.hits, before + 1)

    def test_elementwise_plans(self):
        random = np.random.default_rng(2)
        a, b, c = noise(random, (4, 5), "f8"), noise(random, (5, 4), "f8"), noise(random, (5,), "f8")
        two, three = cutt.ElementwisePlan("ij,ji->ij", a, b), cutt.ElementwisePlan("ij,ji,j->ij", a, b, c)
        for plan, good in ((two, (a, b)), (three, (a, b, c))):
            out = np.empty((4, 5))
            for given, keys in (
                (good, {}),
                (good, {"out": out}),
                (good, {"out": None}),
                ((a, b, None, out), {}),
                ((*good, out), {}),
                ((a, b, c, out), {}),
                ((a, b), {"c": c}),
                ((a, b, None, out), {"out": out}),
                ((a, b, out), {}),
                ((a,), {}),
                ((b, a, c), {}),
                ((*good[:1], b.astype("f4"), *good[2:]), {}),
                ((a, np.asfortranarray(b), *good[2:]), {}),
                (good, {"out": np.empty((5, 4))}),
                (good, {"out": out[:, ::-1]}),
            ):
                mine, theirs = self.outcome(plan, *given, **keys), self.outcome(plan._call, *given, **keys)
                self.assertIs(mine[0], theirs[0], (given, keys, mine, theirs))
                self.assertTrue(same(mine[1], theirs[1]) if mine[0] is None else mine == theirs, (mine, theirs))

    def test_tensordot(self):
        if not has_blas():
            self.skipTest("no BLAS with the CBLAS interface is here")
        a, b = noise(np.random.default_rng(1), (3, 4, 5), "f8"), noise(np.random.default_rng(2), (4, 3, 5), "f8")
        numbers = (0, 1, 2, 3, -1, 4, 10**18, True, np.int64(1), 1.5, None, "ab")
        lists = (
            [2, 2],
            ([2], [2]),
            ((0, 1), (1, 0)),
            ([0, -1], [1, -1]),
            ([0, 0], [1, 1]),
            ([0], [0, 1]),
            ([9], [0]),
            ([[0]], [0]),
        )
        for axes in numbers + lists + ((np.array([0]), np.array([1])), ([], []), ((0,), (1,), (2,))):
            for right in (b, b[:1, :1, :1], b.astype("f4"), b.tolist(), a):
                mine, said = self.outcome(cutt.tensordot, a, right, axes)
                with unittest.mock.patch.object(_compiled, "calls", None):
                    theirs, text = self.outcome(cutt.tensordot, a, right, axes)
                self.assertIs(mine, theirs, (axes, said, text))
                self.assertIs(type(said), type(text), axes)
                self.assertTrue(close(said, text, 99) if mine is None else said == text, (axes, said, text))

    def test_looks(self):
        self.assertEqual(
            str(inspect.signature(cutt.transpose)),
            "(a, axes=None, *, out=None, alpha=1, beta=0, conj=False, threads=None)",
        )
        self.assertEqual(list(inspect.signature(cutt.einsum).parameters)[:2], ["operands", "out"])
        self.assertEqual(str(inspect.signature(cutt.elementwise))[:37], "(spec, a, b, c=None, *, alpha=1, beta")
        self.assertEqual(list(inspect.signature(cutt.reduce).parameters)[:3], ["spec", "operands", "op"])
        for function in (cutt.transpose, cutt.einsum, cutt.reduce, cutt.elementwise):
            self.assertIs(pickle.loads(pickle.dumps(function)), function)
            self.assertIn("Parameters", function.__doc__)
            self.assertEqual(inspect.getdoc(function), inspect.getdoc(IN_PYTHON[function.__name__]))

    def test_nothing_leaks(self):
        a, out, spec = distinct((3, 4), "f8"), np.zeros((4, 3)), "ij,jk->ik "[:9]
        axes, plan, wrong = (1, 0), cutt.Plan((3, 4)), np.zeros((9, 9))
        both = cutt.ElementwisePlan("ij,ji->ij", a, out)
        things = (a, out, spec, axes, plan, wrong, a.dtype, np.ndarray, IN_PYTHON["transpose"])

        def work():
            for _ in range(300):
                cutt.transpose(a, axes)
                cutt.transpose(a, axes, out=out)
                cutt.transpose(a, axes=axes, out=out, alpha=2, beta=0.5)
                plan(a), plan(a, out), plan(a, out=out)
                with contextlib.suppress(ValueError):
                    cutt.transpose(a, axes, out=wrong)
                with contextlib.suppress(ValueError):
                    plan(wrong)
                cutt.elementwise("ij,ji->ij", a, out), cutt.elementwise("ij,ji->ij", a, out, out=a)
                both(a, out), both(a, out, out=a), cutt.reduce("ij->j", a, op="max"), cutt.reduce("ij->", a)
                for call in (cutt.elementwise, cutt.reduce):
                    with contextlib.suppress(ValueError):
                        call(spec, a, wrong)
                if has_blas():
                    cutt.einsum(spec, a, out)
                    with contextlib.suppress(ValueError):
                        cutt.einsum(spec, a, wrong)

        work()
        before = [sys.getrefcount(thing) for thing in things]
        work()
        for thing, count in zip(things, before):
            self.assertLess(abs(sys.getrefcount(thing) - count), 20, type(thing))


class Asked(unittest.TestCase):
    def test_without(self):
        """CUTT_COMPILED=0 is a way of its own, and a missing module is an ImportError."""
        import os
        import subprocess
        import tempfile

        program = "import numpy as np, cutt\nassert (cutt.transpose(np.eye(3)) == np.eye(3)).all()\nprint(type(cutt.transpose))\n"
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "CUTT_COMPILED": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertIn("function", done.stdout, done.stderr)
        self.assertNotIn("builtin", done.stdout)
        given = os.environ.get("CUTT_LIBRARY_DIR")
        if not given:
            self.skipTest("the package is installed")
        with tempfile.TemporaryDirectory() as folder:
            for name in os.listdir(given):
                if name.startswith("libcutt") and ".so" in name:
                    os.symlink(os.path.join(given, name), os.path.join(folder, name))
            environment = {**os.environ, "CUTT_LIBRARY_DIR": folder, "CUTT_COMPILED": "1"}
            done = subprocess.run(
                [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
            )
            self.assertRegex(done.stderr, "ImportError: _calls.abi3.so is neither .*CUTT_COMPILED=0")
            with open(f"{folder}/_calls.abi3.so", "w", encoding="ascii") as file:
                file.write("no module\n")
            done = subprocess.run(
                [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
            )
            self.assertRegex(done.stderr, "ImportError: .*_calls.abi3.so can't be loaded: .*CUTT_COMPILED=0")


if __name__ == "__main__":
    unittest.main()
