"""Libraries that permute on a GPU, by ctypes, for peers_gpu.py. Each gives calls that start one execution."""

import ctypes
import glob
import os
import sys

from cutt_types import Options, Problem

CUDA = 2  # CUTT_BACKEND_CUDA
MEASURE = 1  # CUTT_MEASURE


class Refused(Exception):
    """A library does not do this problem; the text says why."""


def array(ctype, values):
    return (ctype * max(1, len(values)))(*values)


# What a type is called where: cuTT's number for elements that are computed with, CUDA's cudaDataType_t, and cuTENSOR's
# compute descriptor.
TYPES = {"f2": (32, 2, "32F"), "f4": (34, 0, "32F"), "f8": (35, 1, "64F"), "c8": (36, 4, "32F"), "c16": (37, 5, "64F"),
         "i1": (None, 3, "32F"), "u1": (None, 8, "32F")}


def one_of(name):
    """The number 1 as a scalar of the type's computation, for both libraries."""
    return {"f8": array(ctypes.c_double, [1]), "c8": array(ctypes.c_float, [1, 0]),
            "c16": array(ctypes.c_double, [1, 0])}.get(name, array(ctypes.c_float, [1]))


class Cutt:
    """libcutt. Pointers are trusted unless said otherwise."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(os.path.abspath(path))
        self.lib.cuttLastError.restype = ctypes.c_char_p
        self.lib.cuttPlanExecute.argtypes = [ctypes.c_void_p] * 4
        self.lib.cuttPlanExecuteBatch.argtypes = [ctypes.c_void_p, ctypes.c_int64] + [ctypes.c_void_p] * 3
        self.lib.cuttPlanDestroy.argtypes = [ctypes.c_void_p]

    def check(self, result):
        if result:
            raise Refused(self.lib.cuttLastError().decode())

    def plan(self, dims, perm, dtype, elem_bytes, beta=False, trust=True, measure_on=None, seconds=0.3):
        """measure_on: (in, out, stream) of a choice by timing."""
        rank, one = len(dims), one_of(dtype)
        number = TYPES.get(dtype, (None,))[0] if beta else elem_bytes
        if number is None:
            raise Refused(f"{dtype} can't be added")
        problem = Problem(ctypes.sizeof(Problem), rank, number, array(ctypes.c_int64, dims), array(ctypes.c_int, perm))
        if beta:
            problem.beta = ctypes.cast(one, ctypes.c_void_p)
        options = Options(ctypes.sizeof(Options), CUDA)
        options.trust_pointers = int(trust)
        if measure_on:
            options.choice, options.measure_seconds = MEASURE, seconds
            options.measure_in, options.measure_out, options.measure_stream = measure_on
        plan = ctypes.c_void_p()
        self.check(self.lib.cuttPlanCreate(ctypes.byref(plan), ctypes.byref(problem), ctypes.byref(options)))
        return plan

    def start(self, dims, perm, dtype, elem_bytes, source, target, stream, **how):
        plan = self.plan(dims, perm, dtype, elem_bytes, **how)
        execute = self.lib.cuttPlanExecute
        return (lambda: self.check(execute(plan, source, target, stream))), lambda: self.lib.cuttPlanDestroy(plan)


class Cutensor:
    """cuTENSOR 2: its default algorithm, without its just-in-time compiler."""

    IDENTITY, ADD, ALGO_DEFAULT, JIT_NONE = 1, 3, -1, 0

    def __init__(self, path):
        self.lib = ctypes.CDLL(os.path.abspath(path))
        self.lib.cutensorGetErrorString.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        self.check(self.lib.cutensorCreate(ctypes.byref(self.handle)))
        self.compute = {name: ctypes.c_void_p.in_dll(self.lib, f"CUTENSOR_COMPUTE_DESC_{name}")
                        for name in ("32F", "64F")}

    def check(self, status):
        if status:
            raise Refused(f"cuTENSOR: {self.lib.cutensorGetErrorString(status).decode()}")

    def start(self, dims, perm, dtype, source, target, stream, beta=False):
        if dtype not in TYPES:
            raise Refused(f"cuTENSOR has no {dtype}")
        lib, made = self.lib, []
        rank, (_, number, compute) = len(dims), TYPES[dtype]

        def create(function, release, *arguments):
            thing = ctypes.c_void_p()
            self.check(getattr(lib, function)(self.handle, ctypes.byref(thing), *arguments))
            made.append((release, thing))
            return thing

        def stop():
            while made:
                release, thing = made.pop()
                getattr(lib, release)(thing)

        def tensor(extents):
            return create("cutensorCreateTensorDescriptor", "cutensorDestroyTensorDescriptor", ctypes.c_uint32(rank),
                          array(ctypes.c_int64, extents), None, ctypes.c_int(number), ctypes.c_uint32(256))

        try:
            modes_in, modes_out = array(ctypes.c_int32, range(rank)), array(ctypes.c_int32, perm)
            a, b = tensor(dims), tensor([dims[p] for p in perm])
            if beta:
                operation = create("cutensorCreateElementwiseBinary", "cutensorDestroyOperationDescriptor", a, modes_in,
                                   self.IDENTITY, b, modes_out, self.IDENTITY, b, modes_out, self.ADD,
                                   self.compute[compute])
            else:
                operation = create("cutensorCreatePermutation", "cutensorDestroyOperationDescriptor", a, modes_in,
                                   self.IDENTITY, b, modes_out, self.compute[compute])
            wish = create("cutensorCreatePlanPreference", "cutensorDestroyPlanPreference", self.ALGO_DEFAULT,
                          self.JIT_NONE)
            plan = create("cutensorCreatePlan", "cutensorDestroyPlan", operation, wish, ctypes.c_uint64(0))
        except Refused:
            stop()
            raise
        one, handle = one_of(dtype), self.handle
        if beta:
            execute = lib.cutensorElementwiseBinaryExecute
            execute.argtypes = [ctypes.c_void_p] * 8
            return (lambda: self.check(execute(handle, plan, one, source, one, target, target, stream))), stop
        execute = lib.cutensorPermute
        execute.argtypes = [ctypes.c_void_p] * 6
        return (lambda: self.check(execute(handle, plan, one, source, target, stream))), stop


class Classic:
    """Anything with cuttPlan, cuttExecute and cuttDestroy, as C or as C++ names: the original library, or this one."""

    NAMES = {"cuttPlan": "_Z8cuttPlanPjiPiS0_mP11CUstream_st", "cuttExecute": "_Z11cuttExecutejPvS_",
             "cuttDestroy": "_Z11cuttDestroyj"}

    def __init__(self, path):
        lib = ctypes.CDLL(os.path.abspath(path))
        call = {plain: getattr(lib, plain, None) or getattr(lib, mangled) for plain, mangled in self.NAMES.items()}
        self.plan, self.execute, self.destroy = call["cuttPlan"], call["cuttExecute"], call["cuttDestroy"]
        self.plan.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
                              ctypes.c_void_p]
        self.execute.argtypes = [ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p]
        self.destroy.argtypes = [ctypes.c_uint]

    def start(self, dims, perm, elem_bytes, source, target, stream):
        if elem_bytes not in (4, 8) or len(dims) < 2 or any(d >= 2**31 for d in dims):
            raise Refused("not a problem of the original's")
        handle = ctypes.c_uint()
        result = self.plan(ctypes.byref(handle), len(dims), array(ctypes.c_int, dims), array(ctypes.c_int, perm),
                           elem_bytes, stream)
        if result:
            raise Refused(f"cuttPlan gives {result}")
        execute, number = self.execute, handle.value

        def run():
            if execute(number, source, target):
                raise Refused("cuttExecute fails")

        return run, lambda: self.destroy(number)


def find_cutensor():
    """The library of an installed Python package, or of the system; None: there is none."""
    system = "/usr/lib/x86_64-linux-gnu/libcutensor/"
    folders = [os.path.join(folder, "cutensor", "lib") for folder in sys.path]
    folders += [system + "12", system + "13", "/usr/local/cuda/lib64"]
    found = [file for folder in folders for file in glob.glob(os.path.join(folder, "libcutensor.so.2*"))]
    return found[0] if found else None
