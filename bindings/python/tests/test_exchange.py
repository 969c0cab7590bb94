"""Arrays of a library that has DLPack's table of functions (__dlpack_c_exchange_api__), made here of NumPy's; and what the
compiled module has in common with the functions in Python."""

import contextlib
import ctypes
import inspect
import pickle
import sys
import types
import unittest
import unittest.mock
import warnings

import numpy as np

import cutt
from cutt import _adapters, _compiled, _host, _permute
from cutt._compiled import in_python as IN_PYTHON
from cutt._views import NUMPY
from exchange import P, library
from support import close, distinct, has_blas, noise, same

warnings.simplefilter("ignore", RuntimeWarning)
KEPT = [library() for _ in range(2)]  # tables live as long as the process
HAS_FLAGS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"  # its DLPack says what may be written to


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


@unittest.skipIf(_compiled.calls is None, "CUTT_COMPILED=0: there is no compiled module to serve arrays")
class OnDevice(unittest.TestCase):
    """Arrays that say that they are on a GPU, with stand-ins for the driver and for the library's call."""

    def setUp(self):
        self.told, self.current, self.result = [], None, 0
        execute = ctypes.CFUNCTYPE(ctypes.c_int, P, P, P, P)(self.execute)
        context = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(P))
        driver = context(self.get_current), ctypes.CFUNCTYPE(ctypes.c_int, P)(self.push), context(self.pop)
        self.kept = execute, driver
        names = {name: value for name, value in vars(_host).items() if not name.startswith("__")}
        names["driver"] = lambda: tuple(ctypes.cast(call, P).value for call in driver)
        names["primary_context"] = lambda device: 0x1000 + device
        names["create_permutation"] = lambda *facts: (self.told.append(facts[-3:]), 0, 0x77, 0, ())
        names["create_elementwise"] = lambda *facts: (self.told.append(facts[-6:]), 2, 0x78, 0, (3, 4))
        names["create_network"] = lambda *facts: (self.told.append(facts[3:]), *self.network)[1:]
        names["create_einsum"] = lambda *facts: (self.told.append(facts[4:]), 1, 0x79, 1001, (4,))
        names["execute"] = ctypes.cast(execute, P).value
        cutt.plan_cache.clear()
        _compiled.calls.bind(types.SimpleNamespace(**names))
        self.addCleanup(_host.bind)
        self.addCleanup(cutt.plan_cache.clear)

    def execute(self, plan, source, result, stream):
        self.told.append((plan, source, result, stream, self.current))
        return self.result

    def get_current(self, context):
        context[0] = self.current
        return 0

    def push(self, context):
        self.pushed, self.current = self.current, context
        return 0

    def pop(self, context):
        context[0], self.current = self.current, self.pushed
        return 0

    def test_context_and_stream(self):
        Array, a = library(), distinct((3, 4), "f4")
        KEPT.append(Array)
        Array.number, Array.stream = 3, 0x5000
        source = Array(a, 0, 2)
        out = Array(np.empty((4, 3), "f4"), 0, 2)
        addresses = [array.inner.__array_interface__["data"][0] for array in (source, out)]
        for current in (None, 0x1003, 0x99):  # none, the device's own, another one's
            self.current = current
            self.assertIs(cutt.transpose(source, out=out, threads=1), out)
            self.assertEqual(self.told[-1], (0x77, *addresses, 0x5000, 0x1003))
            self.assertEqual((self.current, Array.asked), (current, (2, 3)))
        self.assertEqual(
            [told for told in self.told if len(told) == 3], [(1, 3, 0)]
        )  # planned once: (threads, device, vouched)
        made = cutt.transpose(source, threads=1)
        self.assertEqual((type(made), made.device_type), (Array, 2))
        Array.number, Array.stream = 4, None  # another device is another plan
        cutt.transpose(Array(a, 0, 2), threads=1)
        self.assertEqual(self.told[-2:][0], (1, 4, 0))
        self.assertEqual(self.told[-1][3:], (None, 0x1004))

    def test_elementwise(self):
        Array, a = library(), distinct((3, 4), "f4")
        KEPT.append(Array)
        combine = ctypes.CFUNCTYPE(ctypes.c_int, P, P, P, P, P, P)(self.combine)
        _compiled.calls.bind_contraction(0, ctypes.cast(combine, P).value)
        self.addCleanup(setattr, _compiled, "_bound", False)  # the next plan that is made tells it again
        self.addCleanup(cutt.elementwise, "i,i->i", np.ones(1), np.ones(1))
        Array.number, Array.stream = 3, 0x5000
        first, second, out = (Array(x, 0, 2) for x in (a, a.T.copy(), np.empty((3, 4), "f4")))
        addresses = [array.inner.__array_interface__["data"][0] for array in (first, second, out)]
        self.assertIs(cutt.elementwise("ij,ji->ij", first, second, beta=2, op="max", out=out, threads=1), out)
        two = [np.array([value], "f4").tobytes().ljust(16, b"\0") for value in (1, 2, 1)]
        self.assertEqual(self.told, [(*two, 2, 0, 1), (0x78, *addresses[:2], None, addresses[2], 0x5000, 0x1003)])
        self.assertIs(cutt.elementwise("ij,ji,ij->ij", first, second, first, out=out), out)
        self.assertEqual(self.told[-1], (0x78, *addresses[:2], addresses[0], addresses[2], 0x5000, 0x1003))

    def combine(self, *told):
        self.told.append((*told, self.current))
        return self.result

    def test_network(self):
        """Steps one after another in the stream; intermediates and workspace are one array of the library's on the operands' device."""
        contract = ctypes.CFUNCTYPE(ctypes.c_int, P, P, P, P, P, ctypes.c_size_t, P)(self.combine)
        Array = library()
        KEPT.append(Array)
        Array.number, Array.stream = 3, 0x5000
        self.addCleanup(setattr, _compiled, "_bound", False)
        for count in (3, 12):
            cutt.plan_cache.clear()
            _compiled.calls.bind_contraction(ctypes.cast(contract, P).value, 0)
            rows = [[0x100 + step, 0 if not step else count + step - 1, step + 1, 512 * (step % 2), 256 * step]
                    for step in range(count - 1)]  # plan, left, right, workspace, place of the result
            table = np.array([count - 1, 4096, *(number for row in rows for number in row)], np.int64)
            self.network = (table, 3, table.ctypes.data, 8192, (4,))
            operands = [Array(distinct((4, 4), "f4"), 0, 2) for _ in range(count)]
            out = Array(np.empty(4, "f4"), 0, 2)
            given = [array.inner.__array_interface__["data"][0] for array in (*operands, out)]
            spec = ",".join(chr(ord("a") + place) + chr(ord("b") + place) for place in range(count)) + "->a"
            for turn in range(3):
                self.told.clear()
                before = Array.calls["allocate"]
                self.result = 3 if turn == 1 else 0
                if self.result:  # the steps end where one fails, and nothing is left behind
                    with self.assertRaises((RuntimeError, ValueError)):
                        cutt.einsum(spec, *operands, out=out, threads=1)
                    self.assertEqual(len(self.told), 1)
                else:
                    self.assertIs(cutt.einsum(spec, *operands, out=out, threads=1), out)
                    if not turn:
                        self.assertEqual(self.told.pop(0), (True, 1, 0))
                    self.assertEqual([told[0] for told in self.told], [0x100 + step for step in range(count - 1)])
                    memory = self.told[0][3]
                    self.assertEqual(memory % 256, 0)
                    made = [memory + 256 * step for step in range(count - 2)] + [given[-1]]
                    for step, (_, left, right, result, space, size, stream, context) in enumerate(self.told):
                        self.assertEqual((left, right), (made[step - 1] if step else given[0], given[step + 1]))
                        self.assertEqual((result, size), (made[step], 512 * (step % 2)))
                        self.assertEqual(space, memory + 4096 if size else None)
                        self.assertEqual((stream, context), (0x5000, 0x1003))
                self.assertEqual(Array.calls["allocate"] - before, 1)
                self.assertEqual((Array.calls["alive"], self.current), (0, None))

    def test_sum(self):
        """A sum of one operand, whose workspace is the library's own, on the operand's device, where that makes arrays."""
        for namespace in (True, False):
            Array, a = library(namespace=namespace), distinct((3, 4), "f4")
            KEPT.append(Array)
            Array.number, Array.stream = 3, 0x5000
            contract = ctypes.CFUNCTYPE(ctypes.c_int, P, P, P, P, P, ctypes.c_size_t, P)(self.combine)
            cutt.plan_cache.clear()
            self.told.clear()
            _compiled.calls.bind_contraction(ctypes.cast(contract, P).value, 0)
            self.addCleanup(setattr, _compiled, "_bound", False)
            source, out = Array(a, 0, 2), Array(np.empty(4, "f4"), 0, 2)
            addresses = [array.inner.__array_interface__["data"][0] for array in (source, out)]
            before = Array.calls["allocate"]
            self.assertIs(cutt.einsum("ij->j", source, out=out, threads=1), out)
            planned, (plan, left, right, result, space, size, stream, context) = self.told
            self.assertEqual((plan, left, right, result), (0x79, addresses[0], None, addresses[1]))
            self.assertEqual((planned, stream, context), ((1, 0, 1, -1), 0x5000, 0x1003))
            self.assertEqual((size, bool(space)), (1001, True) if namespace else (0, False))
            self.assertEqual(Array.calls["allocate"] - before, int(namespace))
            self.assertEqual(Array.calls["alive"], 0)

    def test_vouched_for(self):
        """Of PyTorch's and CuPy's arrays on a GPU nobody looks what memory they are of; of others, and on the CPU, somebody does."""
        self.assertTrue(_adapters.TORCH.vouches and _adapters.CUPY.vouches)
        self.assertFalse(
            any(each.vouches for each in (NUMPY, _adapters.JAX, _adapters.DLPACK, _adapters.CUDA_INTERFACE))
        )
        Array, a = library(), distinct((3, 4), "f4")
        KEPT.append(Array)
        with unittest.mock.patch.object(_adapters.DLPACK, "vouches", True, create=True):
            for device in (2, 1):  # a GPU, the CPU
                cutt.transpose(Array(a, 0, device), out=Array(np.empty((4, 3), "f4"), 0, device), threads=2)
                planned = [told for told in self.told if len(told) == 3][-1]
                self.assertEqual((2, 0, 1) if device == 2 else (2, -1, 0), planned)
        made = []
        with unittest.mock.patch.object(_permute, "create", lambda *key, **more: made.append(more)):
            _permute.create_kept((), True)
            _permute.create_kept(())
        self.assertEqual([{"trust_pointers": 1}, {}], made)
        place = ("cuda", 0)
        views = [types.SimpleNamespace(device=place, adapter=each) for each in (_adapters.TORCH, _adapters.JAX)]
        self.assertTrue(_permute.vouched_for(views[0], views[0]))
        self.assertFalse(_permute.vouched_for(*views))

    def test_failing(self):
        Array, a = library(), distinct((3, 4), "f4")
        KEPT.append(Array)
        out = Array(np.empty((4, 3), "f4"), 0, 2)
        self.result, self.current = 3, 0x99
        with self.assertRaises((RuntimeError, ValueError)):
            cutt.transpose(Array(a, 0, 2), out=out)
        self.assertEqual(self.current, 0x99)  # popped
        with self.assertRaisesRegex(ValueError, "^out is on " if HAS_FLAGS else "^out may be read-only"):
            cutt.transpose(Array(a), out=out)


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
