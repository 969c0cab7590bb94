"""Who permutes: this library, a copy as the ceiling, and every other library that is found when the report runs.

A contestant is made once (Unusable: it is not here, and why), and started for each case: `start` gives the function
that is timed. Plans, compilation and views are made there, since that is how these libraries are used where it matters.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _library as native
from .memory import Device, Host, Unusable, timed
from .records import COPY, MEASURED, OURS, Permutation

OWN_COPY = "copy by cutt"  # becomes a part of COPY when it has been measured

Run = Callable[[], Any]


def axes_of(perm: list[int]) -> list[int]:
    """NumPy's axes, which count from the slowest mode."""
    rank = len(perm)
    return [rank - 1 - perm[rank - 1 - axis] for axis in range(rank)]


class Contestant:
    name = ""

    def __init__(self, memory: Host, dtype: str, threads: int) -> None:
        self.memory, self.dtype, self.threads = memory, np.dtype(dtype if dtype != "b1" else "?"), threads

    def view(self, case: Permutation) -> np.ndarray:
        """The host's input of a case, its axes in the order of the output."""
        size = math.prod(case.dims) * case.elem_bytes
        return self.memory.source[:size].view(self.dtype).reshape(case.dims[::-1])

    def whole(self) -> np.ndarray:
        """All of the host's input."""
        size = self.memory.source.size // self.dtype.itemsize * self.dtype.itemsize
        return self.memory.source[:size].view(self.dtype)

    def start(self, case: Permutation) -> Run:
        raise NotImplementedError

    def wait(self) -> None:
        self.memory.wait()

    def sample(self, run: Run, calls: int) -> float:
        return timed(run, calls, self.wait)

    def wrong(self, case: Permutation) -> int:
        """Elements of the result that are not NumPy's."""
        return self.memory.wrong(case.elem_bytes)

    def stop(self) -> None:
        """Lets go of what the case took."""


class Cutt(Contestant):
    """This library: a plan, then executions."""

    name = OURS
    choice = 0

    def start(self, case: Permutation) -> Run:
        return self.start_of(case.dims, case.perm, case)

    def start_of(self, dims: list[int], perm: list[int], case: Permutation | None) -> Run:
        rank = len(dims)
        extents, order = (ctypes.c_int64 * rank)(*dims), (ctypes.c_int * rank)(*perm)
        problem = native.Problem(ctypes.sizeof(native.Problem), rank, self.dtype.itemsize, extents, order)
        options = native.Options(
            ctypes.sizeof(native.Options), native.BACKENDS[self.memory.backend], self.threads, self.choice, 1.0
        )
        if self.choice:
            options.measure_in, options.measure_out = self.memory.into, self.memory.out
        self.plan = ctypes.c_void_p()
        native.check(native.lib.cuttPlanCreate(ctypes.byref(self.plan), ctypes.byref(problem), ctypes.byref(options)))
        if case is not None and not self.choice:
            case.why = self.describe()
        execute, plan = native.lib.cuttPlanExecute, self.plan
        source, target = self.memory.into, self.memory.out

        def run() -> None:
            native.check(execute(plan, source, target, None))

        return run

    def describe(self) -> str:
        """What `cutt plan` says of the choice, without the candidates that were not chosen."""
        text = native.text_of(native.lib.cuttPlanDescribe, self.plan)
        lines = text[max(text.find("choice  "), 0) :].rstrip().splitlines()
        return "\n".join(line for line in lines if not line.lstrip().startswith("plan made"))

    def stop(self) -> None:
        native.lib.cuttPlanDestroy(self.plan)


class Measured(Cutt):
    """The same, the plan chosen by timing candidates."""

    name = MEASURED
    choice = 1


class Copy(Contestant):
    """The ceiling: as many bytes by the system's own copy, on a GPU the driver's. Measured with OwnCopy beside it, of
    which the faster counts."""

    name = COPY

    def start(self, case: Permutation) -> Run:
        self.bytes = case.bytes // 2
        return lambda: self.sample(lambda: None, 1)

    def sample(self, run: Run, calls: int) -> float:
        seconds = (ctypes.c_double * calls)()
        native.check(
            native.lib.cuttCopyTime(
                native.BACKENDS[self.memory.backend],
                self.memory.out,
                self.memory.into,
                self.bytes,
                None,
                calls,
                seconds,
            )
        )
        return sum(seconds) / calls

    def wrong(self, case: Permutation) -> int:
        return 0


class OwnCopy(Cutt):
    """The ceiling as this library copies: with several threads and past the caches, where that is faster."""

    name = OWN_COPY

    def start(self, case: Permutation) -> Run:
        return self.start_of([math.prod(case.dims)], [0], None)

    def wrong(self, case: Permutation) -> int:
        return 0


class Numpy(Contestant):
    """np.copyto into memory that is there; one thread whatever was asked for."""

    name = "NumPy"

    def start(self, case: Permutation) -> Run:
        view = self.view(case).transpose(axes_of(case.perm))
        out = self.memory.target[: case.bytes // 2].view(self.dtype).reshape(view.shape)
        return lambda: np.copyto(out, view)


class Torch(Contestant):
    """permute(), and copy_ into memory that is there (on a GPU contiguous(), whose memory comes from a pool)."""

    def __init__(self, memory: Host, dtype: str, threads: int) -> None:
        super().__init__(memory, dtype, threads)
        self.torch = _import("torch")
        self.flat: Any = None  # all of the input, copied to the GPU once
        self.on_gpu = memory.backend == "cuda"
        self.name = "PyTorch" if self.on_gpu else "PyTorch (CPU)"
        if self.on_gpu and not self.torch.cuda.is_available():
            raise Unusable("PyTorch sees no GPU")
        if not self.on_gpu:
            self.torch.set_num_threads(threads)

    def start(self, case: Permutation) -> Run:
        if not self.on_gpu:
            view = self.torch.from_numpy(self.view(case)).permute(axes_of(case.perm))
            out = self.torch.from_numpy(self.memory.target[: case.bytes // 2].view(self.dtype)).view(view.shape)
            return lambda: out.copy_(view)
        if self.flat is None:
            self.flat = self.torch.from_numpy(self.whole()).cuda()
        held = self.flat[: math.prod(case.dims)].view(case.dims[::-1]).permute(axes_of(case.perm))
        make = held.clone if held.is_contiguous() else held.contiguous

        def run() -> None:
            self.out = make()

        return run

    def wait(self) -> None:
        if self.on_gpu:
            self.torch.cuda.synchronize()

    def wrong(self, case: Permutation) -> int:
        if not self.on_gpu:
            return super().wrong(case)
        assert isinstance(self.memory, Device)
        return self.memory.wrong_at(self.out.data_ptr(), case.elem_bytes)

    def stop(self) -> None:
        self.out = None
        if self.on_gpu:
            self.torch.cuda.empty_cache()


class Cupy(Contestant):
    """cupy.ascontiguousarray of a transposed view."""

    name = "CuPy"

    def __init__(self, memory: Host, dtype: str, threads: int) -> None:
        super().__init__(memory, dtype, threads)
        self.flat: Any = None
        self.cupy = _import("cupy")
        try:
            self.cupy.cuda.runtime.getDeviceCount()
        except Exception as error:  # CuPy's own class, known only after it could be imported
            raise Unusable(f"CuPy sees no GPU: {error}") from error

    def start(self, case: Permutation) -> Run:
        cupy = self.cupy
        if self.flat is None:
            self.flat = cupy.asarray(self.whole())
        view = self.flat[: math.prod(case.dims)].reshape(case.dims[::-1]).transpose(axes_of(case.perm))
        make = view.copy if view.flags.c_contiguous else lambda: cupy.ascontiguousarray(view)

        def run() -> None:
            self.out = make()

        return run

    def wait(self) -> None:
        self.cupy.cuda.Device().synchronize()

    def wrong(self, case: Permutation) -> int:
        assert isinstance(self.memory, Device)
        return self.memory.wrong_at(self.out.data.ptr, case.elem_bytes)

    def stop(self) -> None:
        self.out = None
        self.cupy.get_default_memory_pool().free_all_blocks()


class Jax(Contestant):
    """A compiled jnp.transpose; its threads on a CPU are as it pleases."""

    name = "JAX"

    def __init__(self, memory: Host, dtype: str, threads: int) -> None:
        super().__init__(memory, dtype, threads)
        self.flat: Any = None
        self.jax = _import("jax")
        self.jax.config.update("jax_enable_x64", True)
        try:
            self.device = self.jax.devices("cuda" if memory.backend == "cuda" else "cpu")[0]
        except RuntimeError as error:
            raise Unusable(f"JAX has no such device: {error}") from error

    def start(self, case: Permutation) -> Run:
        axes = axes_of(case.perm)
        if self.flat is None:
            self.flat = self.jax.device_put(self.whole(), self.device)
        held = self.flat[: math.prod(case.dims)].reshape(case.dims[::-1])
        # An identity would be forwarded, and not copied; a copy after a transpose would be a second one.
        moved = axes != sorted(axes)
        function = self.jax.jit((lambda a: self.jax.numpy.transpose(a, axes)) if moved else self.jax.numpy.copy)
        self.out = function(held)

        def run() -> None:
            self.out = function(held)

        return run

    def wait(self) -> None:
        self.out.block_until_ready()

    def wrong(self, case: Permutation) -> int:
        if isinstance(self.memory, Device):
            return self.memory.wrong_at(self.out.unsafe_buffer_pointer(), case.elem_bytes)
        self.memory.target[: case.bytes // 2] = np.asarray(self.out).reshape(-1).view(np.uint8)
        return self.memory.wrong(case.elem_bytes)

    def stop(self) -> None:
        self.out = None


class Hptt(Contestant):
    """HPTT's C interface, one call of which makes an estimate plan and executes it."""

    name = "HPTT"
    calls = {
        "f4": ("sTensorTranspose", 1, ctypes.c_float),
        "f8": ("dTensorTranspose", 1, ctypes.c_double),
        "c8": ("cTensorTranspose", 2, ctypes.c_float),
        "c16": ("zTensorTranspose", 2, ctypes.c_double),
    }

    def __init__(self, memory: Host, dtype: str, threads: int, path: str | None = None) -> None:
        super().__init__(memory, dtype, threads)
        if dtype not in self.calls:
            raise Unusable(f"HPTT has no {dtype}")
        self.lib = find_library("hptt", path, ["libhptt.so"])
        name, parts, real = self.calls[dtype]
        self.function = getattr(self.lib, name)
        self.function.restype = None

        class Scalar(ctypes.Structure):
            """A complex number is passed as two real ones are."""

            _fields_ = [("parts", real * parts)]

        self.scalar = (lambda value: real(value)) if parts == 1 else (lambda value: Scalar((real * 2)(value, 0)))

    def start(self, case: Permutation) -> Run:
        if not case.dims or max(case.dims) >= 2**31:
            raise Unusable("HPTT counts in 32 bits")
        rank = len(case.dims)
        perm, dims = (ctypes.c_int * rank)(*case.perm), (ctypes.c_int * rank)(*case.dims)
        one, zero = self.scalar(1), self.scalar(0)
        source, target = ctypes.c_void_p(self.memory.into), ctypes.c_void_p(self.memory.out)
        # Complex calls take one argument more: whether to conjugate.
        conjugate = [False] if self.dtype.kind == "c" else []
        arguments = [perm, rank, one, *conjugate, source, dims, None, zero, target, None, self.threads, 0]
        return lambda: self.function(*arguments)


class Cutensor(Contestant):
    """cuTENSOR 2: a plan of cutensorCreatePermutation, then executions."""

    name = "cuTENSOR"
    types = {"f2": (2, "32F"), "f4": (0, "32F"), "f8": (1, "64F"), "c8": (4, "32F"), "c16": (5, "64F")}

    def __init__(self, memory: Host, dtype: str, threads: int, path: str | None = None) -> None:
        super().__init__(memory, dtype, threads)
        if dtype not in self.types:
            raise Unusable(f"cuTENSOR has no {dtype}")
        self.lib = find_library("cutensor", path, ["libcutensor.so.2"])
        self.type, compute = self.types[dtype]
        self.compute = ctypes.c_void_p.in_dll(self.lib, f"CUTENSOR_COMPUTE_DESC_{compute}")
        self.one = np.ones(1, np.float32 if dtype == "f2" else dtype)
        self.handle = ctypes.c_void_p()
        self.call("cutensorCreate", ctypes.byref(self.handle))

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.lib, name)(*arguments)
        if status:
            raise Unusable(f"{name} gives status {status}")

    def side(self, extents: list[int], modes: list[int]) -> list[Any]:
        descriptor, rank = ctypes.c_void_p(), len(modes)
        self.call(
            "cutensorCreateTensorDescriptor",
            self.handle,
            ctypes.byref(descriptor),
            ctypes.c_uint32(rank),
            (ctypes.c_int64 * rank)(*extents),
            None,
            ctypes.c_int(self.type),
            ctypes.c_uint32(128),
        )
        self.made.append(("cutensorDestroyTensorDescriptor", descriptor))
        return [descriptor, (ctypes.c_int32 * rank)(*modes), ctypes.c_int(1)]

    def start(self, case: Permutation) -> Run:
        self.made: list[tuple[str, ctypes.c_void_p]] = []
        source = self.side(case.dims, list(range(len(case.dims))))
        target = self.side([case.dims[mode] for mode in case.perm], case.perm)
        operation, preference, plan = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cutensorCreatePermutation", self.handle, ctypes.byref(operation), *source, *target[:2], self.compute)
        self.made.append(("cutensorDestroyOperationDescriptor", operation))
        self.call(
            "cutensorCreatePlanPreference", self.handle, ctypes.byref(preference), ctypes.c_int(-1), ctypes.c_int(0)
        )
        self.made.append(("cutensorDestroyPlanPreference", preference))
        self.call("cutensorCreatePlan", self.handle, ctypes.byref(plan), operation, preference, ctypes.c_uint64(0))
        self.made.append(("cutensorDestroyPlan", plan))
        permute, one = self.lib.cutensorPermute, ctypes.c_void_p(self.one.ctypes.data)
        into, out = ctypes.c_void_p(self.memory.into), ctypes.c_void_p(self.memory.out)

        def run() -> None:
            if permute(self.handle, plan, one, into, out, None):
                raise Unusable("cutensorPermute failed")

        return run

    def stop(self) -> None:
        for destroy, held in reversed(self.made):
            getattr(self.lib, destroy)(held)


def find_library(name: str, path: str | None, names: list[str]) -> ctypes.CDLL:
    """A library that was named, or that the loader or the folders of Python's packages have."""
    if path:
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            raise Unusable(str(error)) from error
    for candidate in [*names, ctypes.util.find_library(name), *_in_packages(names)]:
        try:
            if candidate:
                return ctypes.CDLL(candidate)
        except OSError:
            continue
    raise Unusable(f"{names[0]} is not found by the loader")


def _in_packages(names: list[str]) -> list[str]:
    """Wheels of libraries lie where the loader does not look, and some have their names with a number."""
    import glob
    import site

    folders = [*site.getsitepackages(), site.getusersitepackages()]
    patterns = [
        f"{folder}/{where}/lib/{name}" for folder in folders for where in ("cutensor", "nvidia/*") for name in names
    ]
    patterns += [f"{folder}/*.libs/{name.replace('.so', '-*.so')}" for folder in folders for name in names]
    return [path for pattern in patterns for path in sorted(glob.glob(pattern))]


def _import(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except Exception as error:  # a broken installation of a peer may raise anything, and is only absent
        raise Unusable(f"{name} can't be imported: {error}") from error


def find(
    memory: Host, dtype: str, threads: int, measure: bool, hptt: str | None, cutensor: str | None
) -> tuple[list[Contestant], dict[str, str]]:
    """All that can take part, and why the others can't. A library that was named and is not there is an error."""
    makers: dict[str, Callable[[], Contestant]] = {}
    if memory.backend == "cpu":
        makers["NumPy"] = lambda: Numpy(memory, dtype, threads)
        makers["HPTT"] = lambda: Hptt(memory, dtype, threads, hptt)
        makers["PyTorch (CPU)"] = lambda: Torch(memory, dtype, threads)
    else:
        makers["PyTorch"] = lambda: Torch(memory, dtype, threads)
        makers["CuPy"] = lambda: Cupy(memory, dtype, threads)
        makers["cuTENSOR"] = lambda: Cutensor(memory, dtype, threads, cutensor)
    makers["JAX"] = lambda: Jax(memory, dtype, threads)
    found: list[Contestant] = [maker(memory, dtype, threads) for maker in (Copy, OwnCopy, Cutt)]
    if measure:
        found.append(Measured(memory, dtype, threads))
    absent = {}
    for name, make in makers.items():
        try:
            found.append(make())
        except (Unusable, AttributeError, ValueError) as error:
            if (name == "HPTT" and hptt) or (name == "cuTENSOR" and cutensor):
                raise
            absent[name] = str(error)
    return found, absent
