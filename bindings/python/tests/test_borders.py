"""What comes in besides arrays of NumPy: the buffer protocol, DLPack, and objects that only look like arrays."""

import array
import os
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy as np

import cutt
from support import close, distinct, has_blas, noise, same

warnings.simplefilter("ignore", RuntimeWarning)

OLD_NUMPY = np.lib.NumpyVersion(np.__version__) < "2.1.0"

class Dlpack:
    """An array of a library that speaks DLPack only."""

    def __init__(self, inner):
        self.inner = inner

    def __dlpack__(self, **keys):
        return self.inner.__dlpack__(**keys)

    def __dlpack_device__(self):
        return self.inner.__dlpack_device__()


class OldDlpack(Dlpack):
    """From before versions of DLPack were negotiated."""

    def __dlpack__(self, stream=None):
        return self.inner.__dlpack__()


class Standard(OldDlpack):
    """An array of a library that follows the array API standard."""

    device = "cpu"

    @property
    def dtype(self):
        return self.inner.dtype

    def __array_namespace__(self):
        return Namespace


class Namespace:
    @staticmethod
    def empty(shape, *, dtype, device):
        assert device == "cpu"
        return Standard(np.empty(shape, dtype))

    @staticmethod
    def ones(shape, *, dtype, device):
        return Standard(np.ones(shape, dtype))


class Buffers(unittest.TestCase):
    def test_buffer_protocol(self):
        values = array.array("d", range(12))
        self.assertTrue(same(cutt.transpose(values), np.arange(12.0)))
        table = memoryview(values).cast("B").cast("d", (3, 4))
        self.assertTrue(same(cutt.transpose(table), np.arange(12.0).reshape(3, 4).T))
        out = array.array("d", [0] * 12)
        self.assertIs(cutt.transpose(np.arange(12.0), out=out), out)
        self.assertEqual(out, values)
        self.assertTrue(same(cutt.transpose(b"abc"), np.frombuffer(b"abc", "u1")))
        with self.assertRaisesRegex(ValueError, "read-only"):
            cutt.transpose(np.frombuffer(b"abc", "u1"), out=b"xyz")

    def test_mapped_file(self):
        a = distinct((30, 40), "f4")
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/a.npy", a)
            self.assertTrue(same(cutt.transpose(np.load(f"{folder}/a.npy", mmap_mode="r")), a.T))

    def test_interface(self):
        class Array:
            __array_interface__ = np.arange(6).reshape(2, 3).__array_interface__
            keep = np.arange(6)

        inner = np.arange(6).reshape(2, 3)
        Array.__array_interface__ = inner.__array_interface__
        self.assertTrue(same(cutt.transpose(Array()), inner.T))

    def test_subclass(self):
        a = distinct((3, 4), "f8").view(np.recarray)
        self.assertTrue(same(cutt.transpose(a), np.asarray(a).T))

    def test_nothing_is_copied(self):
        """Memory is read where it lies: a view of 2 EiB of one zero would not fit otherwise."""
        a = np.lib.stride_tricks.as_strided(np.zeros(1), (1 << 29, 1 << 29), (0, 0))
        self.assertEqual(cutt.transpose(a[:2, 3:5]).shape, (2, 2))
        out = np.ones((3, 2))
        self.assertTrue(same(cutt.transpose(a[:2, :3], out=out), np.zeros((3, 2))))


class Capsules(unittest.TestCase):
    def test_read(self):
        for kind in (Dlpack, OldDlpack):
            for dtype in ("i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"):
                a = distinct((3, 4, 5), dtype)
                for view in (a, a.T, a[::2, ::-1, 1:], a[:0]):
                    mine = cutt.transpose(kind(view), (2, 0, 1))
                    self.assertTrue(isinstance(mine, np.ndarray) and same(mine, view.transpose(2, 0, 1)), dtype)

    def test_namespace(self):
        a = distinct((3, 4), "f4")
        mine = cutt.transpose(Standard(a))
        self.assertTrue(isinstance(mine, Standard) and same(mine.inner, a.T))

    def test_namespace_einsum(self):
        if not has_blas():
            self.skipTest("no BLAS with the CBLAS interface is here")
        a = distinct((3, 4), "f4")
        mine = cutt.einsum("ab->b", Standard(a))
        self.assertTrue(isinstance(mine, Standard) and close(mine.inner, a.sum(0), 3))
        self.assertIsInstance(cutt.einsum("ab,cb", Standard(a), a), Standard)
        self.assertIsInstance(cutt.einsum("ab,cb", a, Standard(a)), np.ndarray)

    def test_out_refused(self):
        """DLPack from before 1.0 does not say what may be written to."""
        a = distinct((3, 4), "f4")
        for refused in [OldDlpack(np.zeros((4, 3), "f4"))] + [Dlpack(np.zeros((4, 3), "f4"))] * OLD_NUMPY:
            with self.assertRaisesRegex(ValueError, "older than version 1.0"):
                cutt.transpose(a, out=refused)
            self.assertFalse(refused.inner.any())

    @unittest.skipIf(OLD_NUMPY, "NumPy before 2.1 has no DLPack 1.0, which says what may be written to")
    def test_out(self):
        a, out = distinct((3, 4), "f4"), Dlpack(np.zeros((4, 3), "f4"))
        self.assertIs(cutt.transpose(a, out=out), out)
        self.assertTrue(same(out.inner, a.T))

    def test_memory_lives(self):
        """The memory of an array that nobody else holds is there until the call is done, and given back after."""
        for _ in range(20):
            self.assertTrue(same(cutt.transpose(Dlpack(np.full((300, 400), 7.0))), np.full((400, 300), 7.0)))
        a = np.zeros(1000)
        before = sys.getrefcount(a)
        for _ in range(10):
            cutt.transpose(Dlpack(a))
        self.assertEqual(sys.getrefcount(a), before)

    def test_refused(self):
        class Elsewhere(Dlpack):
            def __dlpack_device__(self):
                return 10, 0

        class Wrong(Dlpack):
            def __dlpack__(self, **keys):
                return 3

        for kind in (Elsewhere, Wrong):
            with self.assertRaisesRegex(TypeError, "device of DLPack|DLPack capsule"):
                cutt.transpose(kind(np.zeros(3)))


class Mixed(unittest.TestCase):
    def setUp(self):
        if not has_blas():
            self.skipTest("no BLAS with the CBLAS interface is here")

    def test_operands(self):
        a, b = noise(np.random.default_rng(1), (3, 4), "f8"), noise(np.random.default_rng(2), (4, 5), "f8")
        self.assertTrue(close(cutt.einsum("ij,jk", Dlpack(a), b), a @ b, 4))
        self.assertTrue(close(cutt.einsum("ij,jk", a.tolist(), Dlpack(b)), a @ b, 4))
        self.assertTrue(close(cutt.einsum("ij,->ij", a, 2.0), 2 * a, 4))


class Loading(unittest.TestCase):
    def run_python(self, program, **environment):
        return subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def test_no_library(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_python("import cutt", CUTT_LIBRARY_DIR=folder)
            self.assertIn("ImportError: CUTT_LIBRARY_DIR is", done.stderr)
            done = self.run_python("import cutt", CUTT_COMPILED="no")
            self.assertIn("ImportError: CUTT_COMPILED is 'no'; it must be 0 or 1", done.stderr)
            with open(f"{folder}/libcutt.so", "w", encoding="ascii") as file:
                file.write("no library\n")
            done = self.run_python("import cutt", CUTT_LIBRARY_DIR=folder)
            self.assertIn("ImportError: libcutt.so can't be loaded", done.stderr)

    def test_no_blas(self):
        """Permuting works without; contracting says what was looked for."""
        program = (
            "import numpy as np, cutt\n"
            "assert (cutt.transpose(np.eye(3)) == np.eye(3)).all()\n"
            "assert (cutt.einsum('ij->ji', np.eye(3)) == np.eye(3)).all()\n"
            "try: cutt.einsum('ij,jk', np.eye(3), np.eye(3))\n"
            "except RuntimeError as error: print('RuntimeError:', error)\n"
        )
        done = self.run_python(program, CUTT_CBLAS="/there/is/no/such.so")
        self.assertIn("RuntimeError:", done.stdout, done.stderr)
        self.assertIn("/there/is/no/such.so", done.stdout)

    def test_exit(self):
        """Plans that are alive when Python ends are no trouble."""
        done = self.run_python("import numpy as np, cutt\nplan = cutt.Plan((3, 4))\ncutt.transpose(np.eye(3))\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
