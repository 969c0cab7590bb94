"""Memory that may not be written to: an exception that names it, and no byte is written.

What would end the process if it were let through is tried in a child.
"""

import tempfile
import threading
import unittest
import unittest.mock
import warnings

import numpy as np

import cutt
from cutt import _arrays, _compiled
from hostile import Case, Dlpack, Interface, bad_results, contents, in_child
from support import close, distinct, has_blas, need, noise, same

warnings.simplefilter("ignore", RuntimeWarning)


class Results(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def refuse_all(self, shape, call, only_empty=False):
        for what, array, kept in bad_results(shape, self.folder):
            with self.subTest(what):
                before = contents(kept)
                self.refuse(lambda a=array: call(a), "out ")
                with self.assertRaises((TypeError, ValueError)):
                    call(array)
                self.assertEqual(contents(kept), before)

    def test_transpose(self):
        a = distinct((3, 4), "f8")
        self.refuse_all((4, 3), lambda out: cutt.transpose(a, out=out))
        self.refuse_all((4, 3), lambda out: cutt.transpose(a, out=out, alpha=2, beta=3))

    def test_plan(self):
        a = distinct((3, 4), "f8")
        plan = cutt.Plan(a, threads=1)
        self.refuse_all((4, 3), lambda out: plan(a, out))
        self.refuse_all((4, 3), lambda out: plan.time(a, out, 1))

    def test_contractions(self):
        if not has_blas():
            self.skipTest("no BLAS with the CBLAS interface is here")
        a, b = distinct((3, 4), "f8"), distinct((4, 5), "f8")
        plan = cutt.ContractionPlan("ij,jk->ik", a, b, threads=1)
        self.refuse_all((3, 5), lambda out: cutt.einsum("ij,jk->ik", a, b, out=out))
        self.refuse_all((3, 5), lambda out: cutt.einsum("ij,jk,kl->il", a, b, np.eye(5), out=out))
        self.refuse_all((3, 5), lambda out: cutt.einsum("ij,jk->ik", a[:, :0], b[:0], out=out))
        self.refuse_all((4,), lambda out: cutt.einsum("ij->j", a, out=out))
        self.refuse_all((4, 3), lambda out: cutt.einsum("ij->ji", a, out=out))
        self.refuse_all((3, 5), lambda out: cutt.tensordot(a, b, 1, out=out))
        self.refuse_all((3, 5), lambda out: plan(a, b, out))
        self.refuse_all((3, 5), lambda out: plan.time(a, b, out, 1))

    def test_operands_are_no_results(self):
        a = distinct((4, 4), "f8")
        before = a.copy()
        for work in (
            lambda: cutt.transpose(a, out=a),
            lambda: cutt.transpose(a[:3, :3], out=a[1:, 1:]),
            lambda: cutt.Plan(a)(a, a),
            lambda: cutt.einsum("ij,jk", a, np.eye(4), out=a),
            lambda: cutt.tensordot(np.eye(4), a, 1, out=a),
            lambda: cutt.ContractionPlan("ij,jk", a, a)(a, np.eye(4), a),
        ):
            kind, text = in_child(work)
            if kind == "RuntimeError" and not has_blas():
                continue
            self.assertEqual(kind, "ValueError", text)
            self.assertIn("overlap", text)
        self.assertTrue(same(a, before))

    def test_good_ones(self):
        """What looks odd and is not wrong."""
        a = distinct((3, 4), "f8")
        memory = bytearray(97)
        for what, out, view in (
            ("reversed", np.zeros((4, 3))[::-1, ::-1], None),
            ("a matrix", np.matrix(np.zeros((4, 3))), None),
            ("not aligned", np.ndarray((4, 3), "f8", memory, 1), None),
            ("a bytearray", memoryview(bytearray(96)).cast("d", (4, 3)), None),
            ("an interface", Interface(np.zeros((4, 3))), "kept"),
            ("DLPack", Dlpack(np.zeros((4, 3))), "kept"),
            (
                "a mapping that is the process's own",
                np.memmap(tempfile.TemporaryFile(), "f8", "w+", shape=(4, 3)),
                None,
            ),
        ):
            with self.subTest(what):
                self.assertIs(cutt.transpose(a, out=out), out)
                written = out if view is None else out.kept[0] if isinstance(out.kept, tuple) else out.kept
                self.assertTrue(same(np.asarray(written), a.T))

    def test_sum_over_nothing(self):
        """beta times a result of any kind, and without reading it where beta is 0."""
        if not has_blas():
            self.skipTest("no BLAS with the CBLAS interface is here")
        a, b = np.zeros((3, 0)), np.zeros((0, 5))
        for beta in (0, -0.0, 2, np.float32(0.5)):
            for make in (
                lambda x: x,
                lambda x: memoryview(x.reshape(-1)).cast("B").cast("d", x.shape),
                Dlpack,
                Interface,
            ):
                inner = np.full((3, 5), np.nan if beta == 0 else 3.0)
                out = make(inner)
                self.assertIs(cutt.einsum("ij,jk", a, b, out=out, beta=beta), out)
                self.assertTrue(np.array_equal(inner, np.full((3, 5), 3.0 * beta if beta else 0.0)), (beta, inner))
        for beta in ("x", None, [1], np.array([1.0, 2.0]), 1j, 10**400, object()):
            with self.assertRaisesRegex(TypeError, "^beta is"):
                cutt.einsum("ij,jk", a, b, out=np.zeros((3, 5)), beta=beta)


class Workspaces(Case):
    def setUp(self):
        if not has_blas():
            self.skipTest("no BLAS with the CBLAS interface is here")
        random = np.random.default_rng(1)
        self.spec = "aebf,fdec->abcd"
        self.a, self.b = noise(random, (10, 10, 10, 10), "f8"), noise(random, (10, 10, 10, 10), "f8")
        self.plan = cutt.ContractionPlan(self.spec, self.a, self.b, threads=1)
        if not self.plan.workspace:
            self.skipTest("the plan needs no workspace here")
        self.theirs = np.einsum(self.spec, self.a, self.b)

    def aligned(self, size, offset=0):
        memory = np.zeros(size + 128, np.uint8)
        start = -memory.ctypes.data % 64 + offset
        return memory[start : start + size]

    def test_good(self):
        size = self.plan.workspace
        step = -(-size // 8)
        for what, workspace in (
            ("as large as needed", self.aligned(size)),
            ("larger", self.aligned(size + 1000)),
            ("of numbers", self.aligned(8 * step).view("f8")),
            ("of rank 2", self.aligned(8 * step).reshape(8, step)),
            ("a memoryview", memoryview(self.aligned(size))),
            ("DLPack", Dlpack(self.aligned(8 * step).view("f8"))),
        ):
            with self.subTest(what):
                self.assertTrue(close(self.plan(self.a, self.b, workspace=workspace), self.theirs, 200))
        none = cutt.ContractionPlan("ij,jk", (3, 4), (4, 5), workspace_limit=0, threads=1)
        self.assertEqual(none(np.ones((3, 4)), np.ones((4, 5)), workspace=np.zeros(0)).shape, (3, 5))

    def test_refused(self):
        size = self.plan.workspace
        immutable = bytes(size + 4096)
        start = -np.frombuffer(immutable, np.uint8).ctypes.data % 64
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/w.npy", np.zeros(size + 64, np.uint8))
            mapped = np.load(f"{folder}/w.npy", mmap_mode="r")
            for what, workspace, words in (
                ("a view of bytes", np.frombuffer(immutable, np.uint8, size, start), ["read-only"]),
                ("bytes", immutable, ["read-only"]),
                ("mapped for reading", mapped, ["read-only"]),
                ("broadcast", np.broadcast_to(self.aligned(1), (size + 64,)), ["read-only"]),
                (
                    "broadcast, and said to be writable",
                    np.lib.stride_tricks.as_strided(self.aligned(1), (size + 64,), (0,)),
                    ["strides", "(0,)"],
                ),
                ("reversed", self.aligned(size)[::-1], ["strides", "(-1,)"]),
                ("with gaps", self.aligned(2 * size)[::2], ["strides", "(2,)"]),
                ("of rank 2, the other way round", self.aligned(16 * size).reshape(size, 16).T, ["strides"]),
                ("too small", self.aligned(size - 1), [str(size - 1), str(size)]),
                ("empty", self.aligned(0), ["0 bytes"]),
                ("not aligned", self.aligned(size, 8), ["address", "64"]),
                ("an operand", self.a.reshape(-1), []),
                ("objects", np.zeros(size, object), ["object"]),
                ("masked", np.ma.zeros(size, np.uint8), ["masked"]),
                ("a list", [0] * size, ["list"]),
                ("a number", 12345, ["int"]),
                ("a text", "x" * size, ["str"]),
                ("an interface for reading", Interface(self.aligned(size), True), ["read-only"]),
                ("DLPack for reading", Dlpack(self.aligned(8 * size).view("f8"), 1), ["read-only"]),
                ("DLPack that does not tell", Dlpack(self.aligned(8 * size).view("f8"), None), ["DLPack"]),
            ):
                with self.subTest(what):
                    self.refuse(lambda w=workspace: self.plan(self.a, self.b, workspace=w), "workspace ", *words)
            with self.assertRaisesRegex(ValueError, "workspace"):
                self.plan(self.a, self.b, workspace=np.frombuffer(immutable, np.uint8, size, start))
        self.assertEqual(immutable, bytes(size + 4096))

    def test_overlap(self):
        size = self.plan.workspace
        whole = self.aligned(self.theirs.nbytes + size + 64)
        out = whole[: self.theirs.nbytes].view("f8").reshape(self.theirs.shape)
        far = -self.theirs.nbytes % 64 + self.theirs.nbytes
        self.assertIs(self.plan(self.a, self.b, out, workspace=whole[far : far + size]), out)
        self.assertTrue(close(out, self.theirs, 200))
        self.refuse(lambda: self.plan(self.a, self.b, out, workspace=whole[64:]), "workspace overlaps with out")
        operand = self.aligned(self.a.nbytes + size)
        a = operand[: self.a.nbytes].view("f8").reshape(self.a.shape)
        a[...] = self.a
        self.refuse(lambda: self.plan(a, self.b, workspace=operand), "workspace overlaps with left")
        self.assertTrue(same(a, self.a))

    @unittest.skipIf(_compiled.calls is None, "CUTT_COMPILED=0: there is no compiled module to serve arrays")
    def test_served(self):
        """A plain workspace needs no function in Python, and what is not plain has it."""
        size, out = self.plan.workspace, np.empty(self.plan.shape)
        wrong = AssertionError("for the function in Python")
        with unittest.mock.patch.object(cutt.ContractionPlan, "_call", side_effect=wrong):
            for workspace in (self.aligned(size), self.aligned(size + 1000), self.aligned(8 * size).reshape(8, size), None):
                self.assertIs(self.plan(self.a, self.b, out, workspace=workspace), out)
                self.assertTrue(close(out, self.theirs, 200))
                self.assertTrue(close(self.plan(self.a, self.b, out=None, workspace=workspace), self.theirs, 200))
            for workspace in (self.aligned(size - 1), self.aligned(size, 8), self.aligned(2 * size)[::2], [0] * size):
                with self.assertRaises(AssertionError):
                    self.plan(self.a, self.b, out, workspace=workspace)
            with self.assertRaises(AssertionError):
                self.plan(self.a, self.b, out, workspace=self.aligned(size), threads=1)

    def test_threads(self):
        """One plan in many threads, each with a workspace of its own."""
        wrong = []

        def work():
            workspace = self.aligned(self.plan.workspace)
            for _ in range(30):
                if not close(self.plan(self.a, self.b, workspace=workspace), self.theirs, 200):
                    wrong.append("a result")

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Torch(Case):
    @classmethod
    def setUpClass(cls):
        cls.torch = need("torch")

    def test_results(self):
        torch = self.torch
        a = torch.arange(12, dtype=torch.float64).reshape(3, 4)
        complex_ones = torch.ones((4, 3), dtype=torch.complex128)
        cut = torch.zeros((4, 3), dtype=torch.float64)
        cut.untyped_storage().resize_(40)
        for out, words in (
            (torch.zeros((1, 3), dtype=torch.float64).expand(4, 3), ["overlap"]),
            (torch.zeros((4, 3), dtype=torch.float64).as_strided((4, 3), (1, 1)), ["overlap"]),
            (torch.zeros((4, 3), dtype=torch.float32), ["float32"]),
            (cut, ["storage", "40 bytes", "96"]),
            (torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]), ["nested"]),
            (torch.zeros((4, 3), dtype=torch.float64, device="meta"), ["meta"]),
            (torch.zeros((4, 3), dtype=torch.float64).to_sparse(), ["layout"]),
            (torch.zeros((4, 3), dtype=torch.float64).requires_grad_(), ["gradient"]),
            (complex_ones.conj().imag, ["negated", "resolve_neg"]),
        ):
            kind, text = in_child(lambda o=out: cutt.transpose(a, out=o))
            self.assertIn(kind, ("TypeError", "ValueError"))
            self.assertIn("out", text)
            for word in words:
                self.assertIn(word, text)
        self.refuse(lambda: cutt.transpose(complex_ones.T, out=complex_ones.clone().conj()), "out", "resolve_conj")
        self.assertTrue(bool((complex_ones == 1).all()))

    def test_workspaces(self):
        if not has_blas():
            self.skipTest("no BLAS with the CBLAS interface is here")
        torch = self.torch
        a, b = torch.ones((10,) * 4, dtype=torch.float64), torch.ones((10,) * 4, dtype=torch.float64)
        plan = cutt.ContractionPlan("aebf,fdec->abcd", a, b, threads=1)
        if not plan.workspace:
            self.skipTest("the plan needs no workspace here")
        for workspace, word in (
            (torch.zeros(1, dtype=torch.uint8).expand(plan.workspace), "strides"),
            (torch.zeros(2 * plan.workspace, dtype=torch.uint8)[::2], "strides"),
            (torch.zeros(plan.workspace, dtype=torch.uint8, device="meta"), "meta"),
            (torch.zeros(plan.workspace - 1, dtype=torch.uint8), "bytes"),
        ):
            self.refuse(lambda w=workspace: plan(a, b, workspace=w), "workspace", word)


class Jax(Case):
    def test_immutable(self):
        jax = need("jax")
        jax.config.update("jax_enable_x64", True)
        a = jax.device_put(np.arange(12.0).reshape(4, 3), jax.devices("cpu")[0])
        with self.assertRaisesRegex(TypeError, "^out is an array of JAX"):
            cutt.transpose(np.zeros((3, 4)), out=a)
        if has_blas():
            plan = cutt.ContractionPlan("ij,jk", (3, 4), (4, 5), threads=1)
            with self.assertRaisesRegex(TypeError, "^workspace is an array of JAX"):
                plan(np.zeros((3, 4)), np.zeros((4, 5)), workspace=a)
        self.assertTrue(same(np.asarray(a), np.arange(12.0).reshape(4, 3)))


class Device(Case):
    """Memory of a GPU, as far as that can be told from here: nothing of it is touched."""

    def test_interface(self):
        class Memory:
            def __init__(self, address, read_only=False, strides=None):
                self.__cuda_array_interface__ = {
                    "data": (address, read_only),
                    "shape": (1024,),
                    "strides": strides,
                    "typestr": "|u1",
                    "version": 3,
                }

        with unittest.mock.patch("cutt._cuda.device_of", lambda pointer: 0):
            left = {"left": _arrays.view_of(Memory(1 << 20), "left")}
            self.assertEqual(_arrays.check_workspace(Memory(1 << 16), 1024, left).pointer, 1 << 16)
            for memory, words in (
                (Memory(1 << 16, True), "read-only"),
                (Memory((1 << 16) + 64), "multiple of 256"),
                (Memory(1 << 16, strides=(2,)), "strides"),
                (Memory(1 << 16, strides=(0,)), "strides"),
                (Memory((1 << 20) + 512), "overlaps with left"),
                (np.zeros(1024, np.uint8), "the CPU"),
            ):
                with self.assertRaisesRegex(ValueError, f"^workspace .*{words}"):
                    _arrays.check_workspace(memory, 1024, left)
            with self.assertRaisesRegex(ValueError, "^out is read-only"):
                _arrays.check_out(Memory(1 << 16, True), (1024,), left["left"])
            with self.assertRaisesRegex(ValueError, "^out is on CUDA device 0"):
                cutt.transpose(np.zeros(1024, np.uint8), out=Memory(1 << 16))


# ------------------------------------------------------------------------------------------------ what is no array


if __name__ == "__main__":
    unittest.main()
