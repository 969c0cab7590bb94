"""The contestants of contract_peers.py: each makes a function of a case that contracts once.

A case has patterns whose first letter is the fastest mode, as the library's; arrays here are NumPy's, in C order,
with the letters the other way round. Every contestant has to leave the result packed in the order that the pattern
says, in the memory that it is given: a view of a result in another order is half the work.
"""
import ctypes
import math
import os

import numpy as np

from cutt_types import Contraction, ContractionInfo, ContractionOptions

CPU, CUDA = 1, 2  # cuttBackend_t
DTYPES = {"f4": (34, np.float32), "f8": (35, np.float64), "c8": (36, np.complex64), "c16": (37, np.complex128)}


class Unusable(Exception):
    """This contestant can't take part, and why."""


class Case:
    """A contraction: the modes of L, R and D as letters, the first the fastest, and their extents."""

    def __init__(self, name, group, pattern, extents):
        self.id, self.group, self.pattern, self.extents = name, group, pattern, extents
        operands, result = pattern.split("->")
        self.modes = [*operands.split(","), result]
        if len(self.modes) != 3 or not all(set(m) <= set(extents) for m in self.modes):
            raise ValueError

    def shape(self, tensor):
        """NumPy's."""
        return tuple(self.extents[letter] for letter in reversed(self.modes[tensor]))

    def volume(self, tensor):
        return math.prod(self.shape(tensor))

    @property
    def contracted(self):
        """How many products are summed for an element of the result."""
        return math.prod(e for letter, e in self.extents.items() if letter not in self.modes[2])

    @property
    def numpy_pattern(self):
        left, right, result = (modes[::-1] for modes in self.modes)
        return f"{left},{right}->{result}"

    @property
    def text(self):
        return f"{self.id} {self.pattern} " + " ".join(f"{k}:{v}" for k, v in self.extents.items())


def load(path):
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise Unusable(str(error)) from error


# ------------------------------------------------------------------------------------------------------------ memory

class Host:
    """Operands and results are NumPy's arrays as they are."""
    backend = CPU

    def put(self, array):
        return array.ctypes.data

    def put_again(self, memory, array):
        pass

    def get(self, memory, array):
        pass

    def wait(self):
        pass

    def free(self):
        pass


class Device:
    """Memory of the GPU, through libcutt."""
    backend = CUDA

    def __init__(self, lib):
        self.lib, self.held = lib, []
        for name in ("cuttMemoryAllocate", "cuttMemoryFree", "cuttMemoryCopy"):
            getattr(lib, name).restype = ctypes.c_int
        lib.cuttLastError.restype = ctypes.c_char_p
        lib.cuttMemoryCopy.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
        self.word = np.zeros(1)
        self.spare = self.put(self.word)

    def allocate(self, size):
        memory = ctypes.c_void_p()
        if self.lib.cuttMemoryAllocate(CUDA, ctypes.c_size_t(max(size, 1)), ctypes.byref(memory)):
            raise Unusable(f"{size} bytes of the GPU's memory can't be had: {self.lib.cuttLastError().decode()}")
        self.held.append(memory)
        return memory.value

    def put(self, array):
        memory = self.allocate(array.nbytes)
        self.put_again(memory, array)
        return memory

    def put_again(self, memory, array):
        self.lib.cuttMemoryCopy(CUDA, memory, array.ctypes.data, array.nbytes)

    def get(self, memory, array):
        self.lib.cuttMemoryCopy(CUDA, array.ctypes.data, memory, array.nbytes)

    def wait(self):
        """A copy in the default stream ends when all before it has."""
        self.lib.cuttMemoryCopy(CUDA, self.word.ctypes.data, self.spare, self.word.nbytes)

    def free(self):
        """All but the word to wait for."""
        for memory in self.held[1:]:
            self.lib.cuttMemoryFree(CUDA, memory)
        del self.held[1:]


# ----------------------------------------------------------------------------------------------------------- libraries

class Cutt:
    """libcutt_contract: a plan with its workspace, then executions."""
    name = "cutt"

    def __init__(self, path, dtype, threads, memory, provider):
        self.lib, self.threads, self.memory = load(path), threads, memory
        self.type, self.provider = DTYPES[dtype][0], provider.encode() if provider else None
        self.lib.cuttContractionExecute.argtypes = [ctypes.c_void_p] * 5 + [ctypes.c_size_t, ctypes.c_void_p]
        self.lib.cuttContractionPlanDestroy.argtypes = [ctypes.c_void_p]
        self.lib.cuttLastError.restype = ctypes.c_char_p
        self.plan = self.workspace = None

    def start(self, case, arrays, pointers):
        extents = [(ctypes.c_int64 * len(m))(*(case.extents[letter] for letter in m)) for m in case.modes]
        problem = Contraction(ctypes.sizeof(Contraction), case.pattern.encode(), self.type,
                              *(len(m) for m in case.modes), *extents)
        options = ContractionOptions(ctypes.sizeof(ContractionOptions), self.memory.backend, self.threads,
                                     ctypes.c_size_t(-1).value, self.provider)
        plan = ctypes.c_void_p()
        if self.lib.cuttContractionPlanCreate(ctypes.byref(plan), ctypes.byref(problem), ctypes.byref(options)):
            raise Unusable(self.lib.cuttLastError().decode())
        self.plan = plan
        info = ContractionInfo(ctypes.sizeof(ContractionInfo))
        self.lib.cuttContractionGetInfo(plan, ctypes.byref(info))
        size = info.workspace_bytes
        if isinstance(self.memory, Device):
            workspace = self.memory.allocate(size)
        else:
            self.workspace = np.empty(size + 64, np.uint8)
            workspace = self.workspace.ctypes.data + -self.workspace.ctypes.data % 64
        execute, lib = self.lib.cuttContractionExecute, self.lib

        def run():
            if execute(plan, *pointers, workspace, size, None):
                raise Unusable(lib.cuttLastError().decode())
        permuted = "".join(letter if flag else "-" for letter, flag in
                           zip("LRD", (info.permutes_left, info.permutes_right, info.permutes_result)))
        self.facts = {"permuted": permuted, "flops": info.flops, "intensity": info.intensity,
                      "provider": (info.provider or b"").decode(), "workspace_bytes": size}
        return run

    def stop(self):
        self.lib.cuttContractionPlanDestroy(self.plan)
        self.plan = self.workspace = None


class Numpy:
    """The fastest of einsum(optimize=True), tensordot with a copy into the result's order, and matmul on views where
    the contraction is a matrix product as it stands."""
    name = "numpy"

    def start(self, case, arrays, pointers):
        ways = {"einsum": self.einsum(case, arrays)}
        for name, way in (("tensordot", self.tensordot(case, arrays)), ("matmul", self.matmul(case, arrays))):
            if way:
                ways[name] = way
        return ways

    @staticmethod
    def einsum(case, arrays):
        left, right, out = arrays
        pattern = case.numpy_pattern
        path = np.einsum_path(pattern, left, right, optimize=True)[0]
        return lambda: np.copyto(out, np.einsum(pattern, left, right, optimize=path))

    @staticmethod
    def tensordot(case, arrays):
        (left, right, out), (l, r, d) = arrays, (m[::-1] for m in case.modes)
        both = [letter for letter in l if letter in r]
        if any(letter in d for letter in both) or len(set(l)) < len(l) or len(set(r)) < len(r):
            return None
        axes = [[m.index(letter) for letter in both] for m in (l, r)]
        have = [letter for letter in l + r if letter not in both]
        if sorted(have) != sorted(d):
            return None
        order = [have.index(letter) for letter in d]
        return lambda: np.copyto(out, np.tensordot(left, right, axes).transpose(order))

    @staticmethod
    def matmul(case, arrays):
        (left, right, out), (l, r, d) = arrays, (m[::-1] for m in case.modes)
        k = "".join(letter for letter in l if letter in r)
        m, n = ("".join(letter for letter in x if letter not in k) for x in (l, r))
        size = [math.prod(case.extents[letter] for letter in x) for x in (m, n, k)]
        if any(letter in d for letter in k):
            return None

        def matrix(array, text, rows, columns, shape):
            if text == rows + columns:
                return array.reshape(shape)
            return array.reshape(shape[::-1]).T if text == columns + rows else None
        a, b = matrix(left, l, m, k, (size[0], size[2])), matrix(right, r, k, n, (size[2], size[1]))
        c = matrix(out, d, m, n, (size[0], size[1]))
        if a is None or b is None or c is None or not np.shares_memory(c, out):
            return None
        return (lambda: np.matmul(a, b, out=c)) if c.flags.c_contiguous else (lambda: np.matmul(b.T, a.T, out=c.T))

    def stop(self):
        pass


class Tblis:
    """TBLIS, by its C interface: it contracts without permuting whole tensors."""
    name = "tblis"
    letters = {"f4": "s", "f8": "d", "c8": "c", "c16": "z"}

    def __init__(self, path, dtype, threads):
        self.lib = load(path)
        self.lib.tblis_set_num_threads(ctypes.c_uint(threads))
        self.init = getattr(self.lib, "tblis_init_tensor_" + self.letters[dtype])
        self.init_scaled = getattr(self.lib, "tblis_init_tensor_scaled_" + self.letters[dtype])
        part = ctypes.c_float if dtype in ("f4", "c8") else ctypes.c_double

        class Pair(ctypes.Structure):
            """A complex number, which ctypes lacks; it is passed as this is."""
            _fields_ = [("real", part), ("imaginary", part)]
        self.zero = Pair(0, 0) if dtype[0] == "c" else part(0)

    def start(self, case, arrays, pointers):
        tensors, kept = [], []
        for tensor, (modes, pointer) in enumerate(zip(case.modes, pointers)):
            lengths = (ctypes.c_ssize_t * len(modes))(*(case.extents[letter] for letter in modes))
            strides = (ctypes.c_ssize_t * len(modes))()
            stride = 1
            for i, letter in enumerate(modes):
                strides[i] = stride
                stride *= case.extents[letter]
            blob = ctypes.create_string_buffer(256)  # more than a tblis_tensor takes
            arguments = (ctypes.c_uint(len(modes)), lengths, ctypes.c_void_p(pointer), strides)
            if tensor == 2:
                self.init_scaled(blob, self.zero, *arguments)
            else:
                self.init(blob, *arguments)
            tensors += [blob, ctypes.c_char_p(modes.encode())]
            kept += [lengths, strides]
        multiply = self.lib.tblis_tensor_mult
        multiply.restype = None

        def run(_kept=kept):
            multiply(None, None, *tensors)
        return run

    def stop(self):
        pass


class Torch:
    """torch.einsum, and a copy of what it gives into the result."""
    name = "torch"

    def __init__(self, threads, memory):
        try:
            import torch  # pylint: disable=import-outside-toplevel
        except ImportError as error:
            raise Unusable(f"PyTorch can't be imported: {error}") from error
        self.torch, self.on_gpu = torch, memory.backend == CUDA
        if self.on_gpu and not torch.cuda.is_available():
            raise Unusable("PyTorch sees no GPU")
        torch.set_num_threads(threads)
        if self.on_gpu:
            torch.backends.cuda.matmul.allow_tf32 = False

    def start(self, case, arrays, pointers):
        left, right, out = (self.torch.from_numpy(a) for a in arrays)
        if self.on_gpu:
            left, right, out = left.cuda(), right.cuda(), out.cuda()
        self.out, self.host = out, arrays[2]
        pattern, einsum = case.numpy_pattern, self.torch.einsum
        return lambda: out.copy_(einsum(pattern, left, right))

    def wait(self):
        if self.on_gpu:
            self.torch.cuda.synchronize()

    def fetch(self):
        if self.on_gpu:
            self.host[...] = self.out.cpu().numpy()

    def stop(self):
        self.out = None


class Cutensor:
    """cuTENSOR 2 by its C interface, with the plan that it chooses by itself."""
    name = "cutensor"
    types = {"f4": (0, "CUTENSOR_COMPUTE_DESC_32F"), "f8": (1, "CUTENSOR_COMPUTE_DESC_64F"),
             "c8": (4, "CUTENSOR_COMPUTE_DESC_32F"), "c16": (5, "CUTENSOR_COMPUTE_DESC_64F")}

    def __init__(self, path, dtype, memory):
        self.lib, self.memory = load(path or "libcutensor.so.2"), memory
        self.type, compute = self.types[dtype]
        self.compute = ctypes.c_void_p.in_dll(self.lib, compute)
        self.handle = ctypes.c_void_p()
        self.call("cutensorCreate", ctypes.byref(self.handle))
        number = DTYPES[dtype][1]
        scalar = np.float64 if number == np.float64 else np.float32 if number == np.float32 else number
        self.one, self.zero = np.ones(1, scalar), np.zeros(1, scalar)

    def call(self, name, *arguments):
        status = getattr(self.lib, name)(*arguments)
        if status:
            raise Unusable(f"{name} gives status {status}")

    def start(self, case, arrays, pointers):
        sides = []
        for modes in case.modes:
            extents = (ctypes.c_int64 * len(modes))(*(case.extents[letter] for letter in modes))
            descriptor = ctypes.c_void_p()
            self.call("cutensorCreateTensorDescriptor", self.handle, ctypes.byref(descriptor),
                      ctypes.c_uint32(len(modes)), extents, None, ctypes.c_int(self.type), ctypes.c_uint32(128))
            sides += [descriptor, (ctypes.c_int32 * len(modes))(*map(ord, modes)), ctypes.c_int(1)]
        operation, preference, plan = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        size = ctypes.c_uint64()
        self.call("cutensorCreateContraction", self.handle, ctypes.byref(operation), *sides, *sides[6:8], self.compute)
        self.call("cutensorCreatePlanPreference", self.handle, ctypes.byref(preference), ctypes.c_int(-1),
                  ctypes.c_int(0))
        self.call("cutensorEstimateWorkspaceSize", self.handle, operation, preference, ctypes.c_int(2),
                  ctypes.byref(size))
        self.call("cutensorCreatePlan", self.handle, ctypes.byref(plan), operation, preference, size)
        left, right, out = (ctypes.c_void_p(p) for p in pointers)
        workspace = ctypes.c_void_p(self.memory.allocate(size.value))
        one, zero = (ctypes.c_void_p(s.ctypes.data) for s in (self.one, self.zero))
        contract = self.lib.cutensorContract

        def run():
            if contract(self.handle, plan, one, left, right, zero, out, out, workspace, size, None):
                raise Unusable("cutensorContract failed")
        return run

    def stop(self):
        """Plans and descriptors are small, and live until the process ends."""


def find_tblis(path):
    """Where TBLIS is: as said, or where the system finds it."""
    return path or os.environ.get("TBLIS_LIBRARY") or "libtblis.so"
