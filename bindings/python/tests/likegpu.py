"""Arrays that say that they are on a GPU, with stand-ins for the driver and for libcutt_contract's calls."""

import contextlib
import unittest
import unittest.mock

from cutt import _cuda
from cutt import _library as L

DEVICE = 3


class CudaArray:
    """Its memory is NumPy's."""

    def __init__(self, inner, stream):
        self.inner, self.stream = inner, stream

    @property
    def __cuda_array_interface__(self):
        return dict(self.inner.__array_interface__, stream=self.stream, strides=self.inner.strides)


class LikeAGpu:
    """libcutt_contract, which is told of a GPU, and plans for the CPU, where the arrays are."""

    def __init__(self):
        self.real, self.told = L.contract_lib(), []

    def __getattr__(self, name):
        return getattr(self.real, name)

    def plan(self, name, plan, problem, options):
        self.told.append(("plan", options._obj.backend))
        options._obj.backend = L.BACKENDS["cpu"]
        return getattr(self.real, name)(plan, problem, options)

    def cuttElementwisePlanCreate(self, *arguments):
        return self.plan("cuttElementwisePlanCreate", *arguments)

    def cuttContractionPlanCreate(self, *arguments):
        return self.plan("cuttContractionPlanCreate", *arguments)

    def cuttElementwiseExecute(self, *arguments):
        self.told.append(("execute", arguments[-1]))
        return self.real.cuttElementwiseExecute(*arguments[:-1], None)

    def cuttContractionExecute(self, *arguments):
        self.told.append(("execute", arguments[-1]))
        return self.real.cuttContractionExecute(*arguments[:-1], None)


class OnDevice(unittest.TestCase):
    """self.told: backends of plans, and streams of executions; self.waited: streams."""

    def setUp(self):
        library, self.waited = LikeAGpu(), []
        self.told = library.told
        stand_ins = {
            "context": lambda device: contextlib.nullcontext(self.assertEqual(device, DEVICE)),
            "wait": self.waited.append,
            "device_of": lambda pointer: DEVICE,
        }
        patches = [unittest.mock.patch.object(_cuda, *each) for each in stand_ins.items()]
        for patch in [*patches, unittest.mock.patch.object(L, "contract_lib", lambda: library)]:
            patch.start()
            self.addCleanup(patch.stop)

    def told_of(self, stream):
        """One plan for a GPU, and an execution in this stream."""
        self.assertEqual(self.told, [("plan", L.BACKENDS["cuda"]), ("execute", stream)])
        self.told.clear()
