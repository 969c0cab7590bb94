"""Arrays with DLPack's table of functions that say that they are on a GPU; stand-ins for the driver and for the library's call."""

import ctypes
import types
import unittest
import unittest.mock
import warnings

import numpy as np

import cutt
from cutt import _adapters, _compiled, _host, _permute
from cutt._views import NUMPY
from exchange import HAS_FLAGS, P, library
from support import distinct

warnings.simplefilter("ignore", RuntimeWarning)
KEPT = []  # tables live as long as the process


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


if __name__ == "__main__":
    unittest.main()
