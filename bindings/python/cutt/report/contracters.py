"""Who contracts: this library, the matrix product alone as the ceiling, and every other library that is found.

As in permuters.py. Operands are on the host, and copied to a GPU for each contestant that works there. A result is
right when it is as near to NumPy's as sums in another order can be.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _library as native
from .memory import Device, Host, Unusable, timed
from .permuters import _import, find_library
from .records import GEMM, OURS, Contraction

Run = Callable[[], Any]
TYPES = {"f4": native.F32, "f8": native.F64, "c8": native.C32, "c16": native.C64}


def modes_of(case: Contraction) -> list[str]:
    operands, result = case.pattern.split("->")
    return [*operands.split(","), result]


def shape(case: Contraction, modes: str) -> tuple[int, ...]:
    """NumPy's, slowest mode first."""
    return tuple(case.extents[letter] for letter in reversed(modes))


def numpy_pattern(case: Contraction) -> str:
    left, right, result = (modes[::-1] for modes in modes_of(case))
    return f"{left},{right}->{result}"


def counts(pattern: str, extents: dict[str, int], dtype: str) -> tuple[float, float]:
    """Operations, and the paper's arithmetic intensity."""
    operands, result = pattern.split("->")
    volumes = [math.prod(extents[letter] for letter in modes) for modes in [*operands.split(","), result]]
    used = set(operands.replace(",", ""))
    flops = 2.0 * math.prod(extents[letter] for letter in used) * (4 if dtype[0] == "c" else 1)
    return flops, 2 * math.sqrt(math.prod(volumes)) / sum(volumes)


class Contracter:
    name = ""

    def __init__(self, memory: Host, dtype: str, threads: int) -> None:
        self.memory, self.dtype, self.threads = memory, np.dtype(dtype), threads

    def start(self, case: Contraction, arrays: list[np.ndarray]) -> Run:
        raise NotImplementedError

    def wait(self) -> None:
        self.memory.wait()

    def sample(self, run: Run, calls: int) -> float:
        return timed(run, calls, self.wait)

    def result(self) -> np.ndarray | None:
        """What the last run gave, on the host; None: nothing that can be compared."""
        return None

    def stop(self) -> None:
        """Lets go of what the case took."""


class InMemory(Contracter):
    """One that takes pointers: the operands, copied to a GPU where it works there."""

    def place(self, arrays: list[np.ndarray]) -> list[int]:
        self.out = arrays[2]
        if not isinstance(self.memory, Device):
            self.held: list[int] = []
            return [array.ctypes.data for array in arrays]
        self.held = [self.memory.allocate(array.nbytes) for array in arrays]
        for memory, array in zip(self.held, arrays):
            self.memory.copy(memory, array.ctypes.data, array.nbytes)
        return list(self.held)

    def scratch(self, size: int) -> int:
        if isinstance(self.memory, Device):
            self.held.append(self.memory.allocate(size))
            return self.held[-1]
        self.space = np.empty(size + 64, np.uint8)
        return self.space.ctypes.data + -self.space.ctypes.data % 64

    def result(self) -> np.ndarray | None:
        if isinstance(self.memory, Device):
            self.memory.copy(self.out.ctypes.data, self.held[2], self.out.nbytes)
        return self.out

    def stop(self) -> None:
        if isinstance(self.memory, Device):
            for memory in self.held:
                self.memory.release(memory)
        self.held = []


class Cutt(InMemory):
    """This library: a plan with its workspace, then executions."""

    name = OURS

    def start(self, case: Contraction, arrays: list[np.ndarray]) -> Run:
        lib = native.contract_lib()
        modes = modes_of(case)
        extents = [(ctypes.c_int64 * len(m))(*(case.extents[letter] for letter in m)) for m in modes]
        problem = native.Contraction(
            ctypes.sizeof(native.Contraction),
            case.pattern.encode(),
            TYPES[self.dtype.str[1:]],
            *(len(m) for m in modes),
            *extents,
        )
        options = native.ContractionOptions(
            ctypes.sizeof(native.ContractionOptions),
            native.BACKENDS[self.memory.backend],
            self.threads,
            native.NO_LIMIT,
        )
        self.plan = ctypes.c_void_p()
        native.check(
            lib.cuttContractionPlanCreate(ctypes.byref(self.plan), ctypes.byref(problem), ctypes.byref(options))
        )
        info = native.ContractionInfo(ctypes.sizeof(native.ContractionInfo))
        native.check(lib.cuttContractionGetInfo(self.plan, ctypes.byref(info)))
        pointers = self.place(arrays)
        self.arguments = [self.plan, *pointers, self.scratch(info.workspace_bytes), info.workspace_bytes, None]
        flags = zip("LRD", (info.permutes_left, info.permutes_right, info.permutes_result))
        case.permuted = "".join(letter if flag else "-" for letter, flag in flags)
        case.why = native.text_of(lib.cuttContractionDescribe, self.plan).rstrip()
        self.provider = (info.provider or b"").decode()
        execute, arguments = lib.cuttContractionExecute, self.arguments

        def run() -> None:
            native.check(execute(*arguments))

        return run

    def permute_percent(self) -> float:
        """The share of the time that permuting takes, from runs whose steps are timed."""
        times = (native.ContractionTimes * 3)()
        native.check(native.contract_lib().cuttContractionTime(*self.arguments, 3, times))
        return 100 * sorted(one.permute / one.total if one.total > 0 else 0.0 for one in times)[1]

    def stop(self) -> None:
        native.contract_lib().cuttContractionPlanDestroy(self.plan)
        super().stop()


class Gemm(Contracter):
    """The ceiling: the matrix product alone, of the plan of the contestant before it."""

    name = GEMM

    def __init__(self, ours: Cutt) -> None:
        self.ours, self.memory = ours, ours.memory

    def start(self, case: Contraction, arrays: list[np.ndarray]) -> Run:
        return lambda: self.sample(lambda: None, 1)

    def sample(self, run: Run, calls: int) -> float:
        seconds = (ctypes.c_double * calls)()
        native.check(native.contract_lib().cuttContractionTimeGemm(self.ours.plan, None, calls, seconds))
        return sum(seconds) / calls


class Numpy(Contracter):
    """The faster of einsum with its own path, and tensordot with a copy into the order of the result."""

    name = "NumPy"

    def start(self, case: Contraction, arrays: list[np.ndarray]) -> Run:
        left, right, self.out = arrays
        pattern, out = numpy_pattern(case), self.out
        path = np.einsum_path(pattern, left, right, optimize=True)[0]
        ways: list[Run] = [lambda: np.copyto(out, np.einsum(pattern, left, right, optimize=path))]
        l, r, d = (modes[::-1] for modes in modes_of(case))
        both = [letter for letter in l if letter in r]
        have = [letter for letter in l + r if letter not in both]
        if sorted(have) == sorted(d) and len({*l}) == len(l) and len({*r}) == len(r):
            axes = [[m.index(letter) for letter in both] for m in (l, r)]
            order = [have.index(letter) for letter in d]
            ways.append(lambda: np.copyto(out, np.tensordot(left, right, axes).transpose(order)))
        return min(ways, key=lambda way: min(timed(way, 1, self.wait) for _ in range(2)))

    def result(self) -> np.ndarray | None:
        return self.out


class Torch(Contracter):
    """torch.einsum, without TF32."""

    def __init__(self, memory: Host, dtype: str, threads: int) -> None:
        super().__init__(memory, dtype, threads)
        self.torch = _import("torch")
        self.on_gpu = memory.backend == "cuda"
        self.name = "PyTorch" if self.on_gpu else "PyTorch (CPU)"
        if self.on_gpu and not self.torch.cuda.is_available():
            raise Unusable("PyTorch sees no GPU")
        if self.on_gpu:
            self.torch.backends.cuda.matmul.allow_tf32 = False
        else:
            self.torch.set_num_threads(threads)

    def start(self, case: Contraction, arrays: list[np.ndarray]) -> Run:
        left, right = (self.torch.from_numpy(array) for array in arrays[:2])
        if self.on_gpu:
            left, right = left.cuda(), right.cuda()
        pattern, einsum = numpy_pattern(case), self.torch.einsum

        def run() -> None:
            self.out = einsum(pattern, left, right).contiguous()  # a view in another order is half the work

        return run

    def wait(self) -> None:
        if self.on_gpu:
            self.torch.cuda.synchronize()

    def result(self) -> np.ndarray | None:
        return self.out.cpu().numpy()

    def stop(self) -> None:
        self.out = None
        if self.on_gpu:
            self.torch.cuda.empty_cache()


class Cupy(Contracter):
    """cupy.einsum."""

    name = "CuPy"

    def __init__(self, memory: Host, dtype: str, threads: int) -> None:
        super().__init__(memory, dtype, threads)
        self.cupy = _import("cupy")

    def start(self, case: Contraction, arrays: list[np.ndarray]) -> Run:
        left, right = (self.cupy.asarray(array) for array in arrays[:2])
        pattern = numpy_pattern(case)

        def run() -> None:
            self.out = self.cupy.ascontiguousarray(self.cupy.einsum(pattern, left, right))

        return run

    def wait(self) -> None:
        self.cupy.cuda.Device().synchronize()

    def result(self) -> np.ndarray | None:
        return self.cupy.asnumpy(self.out)

    def stop(self) -> None:
        self.out = None
        self.cupy.get_default_memory_pool().free_all_blocks()


class Jax(Contracter):
    """A compiled jnp.einsum at the highest precision, which is that of the type."""

    name = "JAX"

    def __init__(self, memory: Host, dtype: str, threads: int) -> None:
        super().__init__(memory, dtype, threads)
        self.jax = _import("jax")
        self.jax.config.update("jax_enable_x64", True)
        try:
            self.device = self.jax.devices("cuda" if memory.backend == "cuda" else "cpu")[0]
        except RuntimeError as error:
            raise Unusable(f"JAX has no such device: {error}") from error

    def start(self, case: Contraction, arrays: list[np.ndarray]) -> Run:
        left, right = (self.jax.device_put(array, self.device) for array in arrays[:2])
        pattern = numpy_pattern(case)
        function = self.jax.jit(lambda a, b: self.jax.numpy.einsum(pattern, a, b, precision="highest"))

        def run() -> None:
            self.out = function(left, right)

        run()
        return run

    def wait(self) -> None:
        self.out.block_until_ready()

    def result(self) -> np.ndarray | None:
        return np.asarray(self.out)

    def stop(self) -> None:
        self.out = None


class Cutensor(InMemory):
    """cuTENSOR 2, with the plan that it chooses by itself."""

    name = "cuTENSOR"
    types = {"f4": (0, "32F"), "f8": (1, "64F"), "c8": (4, "32F"), "c16": (5, "64F")}

    def __init__(self, memory: Host, dtype: str, threads: int, path: str | None = None) -> None:
        super().__init__(memory, dtype, threads)
        self.lib = find_library("cutensor", path, ["libcutensor.so.2"])
        self.type, compute = self.types[dtype]
        self.compute = ctypes.c_void_p.in_dll(self.lib, f"CUTENSOR_COMPUTE_DESC_{compute}")
        self.one, self.zero = np.ones(1, dtype), np.zeros(1, dtype)
        self.handle = ctypes.c_void_p()
        self.call("cutensorCreate", ctypes.byref(self.handle))

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.lib, name)(*arguments)
        if status:
            raise Unusable(f"{name} gives status {status}")

    def start(self, case: Contraction, arrays: list[np.ndarray]) -> Run:
        sides: list[Any] = []
        self.made: list[tuple[str, ctypes.c_void_p]] = []
        for modes in modes_of(case):
            extents = (ctypes.c_int64 * len(modes))(*(case.extents[letter] for letter in modes))
            descriptor = ctypes.c_void_p()
            self.call(
                "cutensorCreateTensorDescriptor",
                self.handle,
                ctypes.byref(descriptor),
                ctypes.c_uint32(len(modes)),
                extents,
                None,
                ctypes.c_int(self.type),
                ctypes.c_uint32(128),
            )
            self.made.append(("cutensorDestroyTensorDescriptor", descriptor))
            sides += [descriptor, (ctypes.c_int32 * len(modes))(*map(ord, modes)), ctypes.c_int(1)]
        operation, preference, plan = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        size = ctypes.c_uint64()
        self.call("cutensorCreateContraction", self.handle, ctypes.byref(operation), *sides, *sides[6:8], self.compute)
        self.call(
            "cutensorCreatePlanPreference", self.handle, ctypes.byref(preference), ctypes.c_int(-1), ctypes.c_int(0)
        )
        self.call(
            "cutensorEstimateWorkspaceSize", self.handle, operation, preference, ctypes.c_int(2), ctypes.byref(size)
        )
        self.call("cutensorCreatePlan", self.handle, ctypes.byref(plan), operation, preference, size)
        self.made += [
            ("cutensorDestroyOperationDescriptor", operation),
            ("cutensorDestroyPlanPreference", preference),
            ("cutensorDestroyPlan", plan),
        ]
        left, right, out = (ctypes.c_void_p(pointer) for pointer in self.place(arrays))
        workspace = ctypes.c_void_p(self.scratch(size.value))
        one, zero = (ctypes.c_void_p(number.ctypes.data) for number in (self.one, self.zero))
        contract = self.lib.cutensorContract

        def run() -> None:
            if contract(self.handle, plan, one, left, right, zero, out, out, workspace, size, None):
                raise Unusable("cutensorContract failed")

        return run

    def stop(self) -> None:
        for destroy, held in reversed(self.made):
            getattr(self.lib, destroy)(held)
        super().stop()


class Tblis(InMemory):
    """TBLIS by its C interface: it contracts tensors as they lie, without permuting them first."""

    name = "TBLIS"
    letters = {"f4": "s", "f8": "d", "c8": "c", "c16": "z"}

    def __init__(self, memory: Host, dtype: str, threads: int, path: str | None = None) -> None:
        super().__init__(memory, dtype, threads)
        if dtype not in self.letters:
            raise Unusable(f"TBLIS has no {dtype}")
        self.lib = find_library("tblis", path, ["libtblis.so"])
        self.lib.tblis_set_num_threads(ctypes.c_uint(threads))
        letter, real = self.letters[dtype], ctypes.c_float if dtype in ("f4", "c8") else ctypes.c_double
        self.init = getattr(self.lib, f"tblis_init_tensor_{letter}")
        self.init_scaled = getattr(self.lib, f"tblis_init_tensor_scaled_{letter}")

        class Zero(ctypes.Structure):
            """A complex number is passed as two real ones are."""

            _fields_ = [("parts", real * 2)]

        self.zero = Zero() if dtype[0] == "c" else real(0)

    def start(self, case: Contraction, arrays: list[np.ndarray]) -> Run:
        tensors: list[Any] = []
        kept: list[Any] = []  # TBLIS keeps pointers to extents and strides
        for modes, pointer in zip(modes_of(case), self.place(arrays)):
            extents = [case.extents[letter] for letter in modes]
            lengths = (ctypes.c_ssize_t * len(modes))(*extents)
            strides = (ctypes.c_ssize_t * len(modes))(*(math.prod(extents[:mode]) for mode in range(len(modes))))
            tensor = ctypes.create_string_buffer(256)  # more than a tblis_tensor takes
            arguments = (ctypes.c_uint(len(modes)), lengths, ctypes.c_void_p(pointer), strides)
            if len(tensors) == 4:
                self.init_scaled(tensor, self.zero, *arguments)
            else:
                self.init(tensor, *arguments)
            tensors += [tensor, ctypes.c_char_p(modes.encode())]
            kept += [lengths, strides]
        multiply = self.lib.tblis_tensor_mult

        def run(_kept: list[Any] = kept) -> None:
            multiply(None, None, *tensors)

        return run


def tolerance(case: Contraction, dtype: np.dtype) -> float:
    """32 times what rounding comes to when as many random products of size 1 are summed one after the other."""
    result = modes_of(case)[2]
    summed = math.prod(extent for letter, extent in case.extents.items() if letter not in result)
    return 32 * float(np.finfo(dtype).eps) / 2 * (math.sqrt(summed) + 2) * math.sqrt(summed)


def find(
    memory: Host, dtype: str, threads: int, cutensor: str | None, tblis: str | None = None
) -> tuple[list[Contracter], dict[str, str]]:
    """All that can take part, ours first, and why the others can't."""
    ours = Cutt(memory, dtype, threads)
    makers: dict[str, Callable[[], Contracter]] = {}
    if memory.backend == "cpu":
        makers["NumPy"] = lambda: Numpy(memory, dtype, threads)
        makers["PyTorch (CPU)"] = lambda: Torch(memory, dtype, threads)
        makers["TBLIS"] = lambda: Tblis(memory, dtype, threads, tblis)
    else:
        makers["PyTorch"] = lambda: Torch(memory, dtype, threads)
        makers["CuPy"] = lambda: Cupy(memory, dtype, threads)
        makers["cuTENSOR"] = lambda: Cutensor(memory, dtype, threads, cutensor)
    makers["JAX"] = lambda: Jax(memory, dtype, threads)
    found: list[Contracter] = [ours, Gemm(ours)]
    absent = {}
    for name, make in makers.items():
        try:
            found.append(make())
        except (Unusable, AttributeError, ValueError) as error:
            if (name == "cuTENSOR" and cutensor) or (name == "TBLIS" and tblis):
                raise
            absent[name] = str(error)
    return found, absent
