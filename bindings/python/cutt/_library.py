"""The two C libraries, as ctypes sees them: where they are, their structs and calls, and their errors as exceptions.

Calls go through ctypes.CDLL, which releases the GIL for as long as a call takes. cuttLastError is kept by the library
for each thread, so the text is read by the thread that made the call, before it makes another one.
"""

from __future__ import annotations

import ctypes
import json
import os
import threading
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Any, Callable, Optional

# cuttResult
SUCCESS, INVALID_PLAN, INVALID_PARAMETER, INVALID_DEVICE, INTERNAL_ERROR = range(5)

# cuttType_t: elements that are only moved are named by their size.
BYTES = (1, 2, 4, 8, 16)
F16, BF16, F32, F64, C32, C64, I32, I64 = range(32, 40)

# cuttBackend_t
BACKENDS = {"auto": 0, "cpu": 1, "cuda": 2}

# cuttOperator_t
OPERATORS = {"add": 0, "multiply": 1, "max": 2, "min": 3}

NO_LIMIT = c_size_t(-1).value
MAX_RANK = 64


class Problem(Structure):
    """cuttProblem_t"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("rank", c_int),
        ("type", c_int),
        ("extents", POINTER(c_int64)),
        ("perm", POINTER(c_int)),
        ("in_strides", POINTER(c_int64)),
        ("out_strides", POINTER(c_int64)),
        ("alpha", c_void_p),
        ("beta", c_void_p),
        ("conjugate", c_int),
    ]


class Options(Structure):
    """cuttOptions_t"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("backend", c_int),
        ("threads", c_int),
        ("choice", c_int),
        ("measure_seconds", c_double),
        ("measure_in", c_void_p),
        ("measure_out", c_void_p),
        ("wisdom", c_void_p),
        ("measure_stream", c_void_p),
        ("candidate", c_int),
        ("model", c_int),
        ("device", c_char_p),
        ("trust_pointers", c_int),
    ]


class PlanInfo(Structure):
    """cuttPlanInfo_t"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("backend", c_int),
        ("method", c_char_p),
        ("isa", c_char_p),
        ("threads", c_int),
        ("fused_rank", c_int),
        ("fused_elem_bytes", c_int),
        ("bytes_moved", c_int64),
        ("predicted_seconds", c_double),
        ("measured_seconds", c_double),
        ("create_seconds", c_double),
    ]


class Contraction(Structure):
    """cuttContraction_t"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("pattern", c_char_p),
        ("type", c_int),
        ("left_rank", c_int),
        ("right_rank", c_int),
        ("result_rank", c_int),
        ("left_extents", POINTER(c_int64)),
        ("right_extents", POINTER(c_int64)),
        ("result_extents", POINTER(c_int64)),
        ("left_strides", POINTER(c_int64)),
        ("right_strides", POINTER(c_int64)),
        ("result_strides", POINTER(c_int64)),
        ("alpha", c_void_p),
        ("beta", c_void_p),
        ("conjugate_left", c_int),
        ("conjugate_right", c_int),
        ("reduce", c_int),
    ]


class ContractionOptions(Structure):
    """cuttContractionOptions_t"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("backend", c_int),
        ("threads", c_int),
        ("workspace_limit", c_size_t),
        ("provider", c_char_p),
        ("algorithm", c_char_p),
        ("choice", c_int),
        ("measure_seconds", c_double),
        ("wisdom", c_void_p),
    ]


class ContractionInfo(Structure):
    """cuttContractionInfo_t"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("backend", c_int),
        ("provider", c_char_p),
        ("threads", c_int),
        ("permutes_left", c_int),
        ("permutes_right", c_int),
        ("permutes_result", c_int),
        ("m", c_int64),
        ("n", c_int64),
        ("k", c_int64),
        ("batch", c_int64),
        ("gemm_m", c_int64),
        ("gemm_n", c_int64),
        ("gemm_k", c_int64),
        ("gemm_count", c_int64),
        ("pieces", c_int64),
        ("workspace_bytes", c_size_t),
        ("flops", c_double),
        ("intensity", c_double),
        ("predicted_seconds", c_double),
        ("predicted_permute_seconds", c_double),
        ("create_seconds", c_double),
        ("algorithm", c_char_p),
        ("measured_seconds", c_double),
    ]


class ContractionTimes(Structure):
    """cuttContractionTimes_t"""

    _fields_ = [("total", c_double), ("permute", c_double), ("gemm", c_double)]


class Elementwise(Structure):
    """cuttElementwise_t"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("pattern", c_char_p),
        ("type", c_int),
        ("a_rank", c_int),
        ("b_rank", c_int),
        ("c_rank", c_int),
        ("result_rank", c_int),
        ("a_extents", POINTER(c_int64)),
        ("b_extents", POINTER(c_int64)),
        ("c_extents", POINTER(c_int64)),
        ("result_extents", POINTER(c_int64)),
        ("a_strides", POINTER(c_int64)),
        ("b_strides", POINTER(c_int64)),
        ("c_strides", POINTER(c_int64)),
        ("result_strides", POINTER(c_int64)),
        ("alpha", c_void_p),
        ("beta", c_void_p),
        ("gamma", c_void_p),
        ("conjugate_a", c_int),
        ("conjugate_b", c_int),
        ("conjugate_c", c_int),
        ("op_ab", c_int),
        ("op_abc", c_int),
    ]


class ElementwiseOptions(Structure):
    """cuttElementwiseOptions_t"""

    _fields_ = [("struct_size", c_size_t), ("backend", c_int), ("threads", c_int)]


_TEXT = [c_int, c_char_p, c_size_t, POINTER(c_size_t)]  # format, buffer, size, needed
_CALLS: dict[str, list] = {
    "cuttDevicesDescribe": _TEXT,
    "cuttPlanCreate": [POINTER(c_void_p), POINTER(Problem), POINTER(Options)],
    "cuttPlanExecute": [c_void_p] * 4,
    "cuttPlanExecuteBatch": [c_void_p, c_int64, POINTER(c_void_p), POINTER(c_void_p), c_void_p],
    "cuttPlansExecute": [c_int64, POINTER(c_void_p), POINTER(c_void_p), POINTER(c_void_p), c_void_p],
    "cuttPlanDestroy": [c_void_p],
    "cuttPlanTime": [c_void_p] * 4 + [c_int, POINTER(c_double)],
    "cuttPlanGetInfo": [c_void_p, POINTER(PlanInfo)],
    "cuttPlanDescribe": [c_void_p, *_TEXT],
    "cuttPlanDraw": [c_void_p, *_TEXT],
    "cuttMemoryAllocate": [c_int, c_size_t, POINTER(c_void_p)],
    "cuttMemoryFree": [c_int, c_void_p],
    "cuttMemoryCopy": [c_int, c_void_p, c_void_p, c_size_t],
    "cuttWisdomCreate": [POINTER(c_void_p)],
    "cuttWisdomDestroy": [c_void_p],
    "cuttWisdomLoad": [c_void_p, c_char_p, POINTER(c_size_t), POINTER(c_size_t)],
    "cuttWisdomSave": [c_void_p, c_char_p],
    "cuttCopyTime": [c_int, c_void_p, c_void_p, c_size_t, c_void_p, c_int, POINTER(c_double)],
}
_CONTRACT_CALLS: dict[str, list] = {
    "cuttProvidersDescribe": _TEXT,
    "cuttContractionPlanCreate": [POINTER(c_void_p), POINTER(Contraction), POINTER(ContractionOptions)],
    "cuttContractionExecute": [c_void_p] * 5 + [c_size_t, c_void_p],
    "cuttContractionPlanDestroy": [c_void_p],
    "cuttContractionGetInfo": [c_void_p, POINTER(ContractionInfo)],
    "cuttContractionDescribe": [c_void_p, *_TEXT],
    "cuttContractionTime": [c_void_p] * 5 + [c_size_t, c_void_p, c_int, POINTER(ContractionTimes)],
    "cuttElementwisePlanCreate": [POINTER(c_void_p), POINTER(Elementwise), POINTER(ElementwiseOptions)],
    "cuttElementwiseExecute": [c_void_p] * 6,
    "cuttElementwisePlanDestroy": [c_void_p],
    "cuttElementwiseDescribe": [c_void_p, *_TEXT],
    "cuttContractionTimeGemm": [c_void_p, c_void_p, c_int, POINTER(c_double)],
}


def _load(name: str, calls: dict[str, list]) -> ctypes.CDLL:
    """Where CUTT_LIBRARY_DIR says, else inside of the package, else where the system's loader finds it."""
    given = os.environ.get("CUTT_LIBRARY_DIR")
    folder = Path(given) if given else Path(__file__).parent / "lib"
    found = next((str(path) for path in (folder / f"{name}.so.0", folder / f"{name}.so") if path.exists()), None)
    if found is None and given:
        raise ImportError(f"CUTT_LIBRARY_DIR is {given}, and there is no {name}.so there")
    try:
        library = ctypes.CDLL(found or f"{name}.so.0")
    except OSError as error:
        raise ImportError(
            f"{name}.so can't be loaded: {error}. It is a part of the installed package (pip install .); a copy "
            "elsewhere is named by CUTT_LIBRARY_DIR, the folder that holds it"
        ) from error
    for call, arguments in calls.items():
        try:
            function = getattr(library, call)
        except AttributeError as error:
            raise ImportError(f"{found or name} has no {call}: it is of another version than this package") from error
        function.argtypes, function.restype = arguments, c_int
    return library


lib = _load("libcutt", _CALLS)
lib.cuttLastError.restype = c_char_p
lib.cuttVersion.restype = c_int
_contract: Optional[ctypes.CDLL] = None
_loading = threading.RLock()


def hold_over_fork(lock: Any) -> None:
    """os.fork() takes the lock first, so that the child has it from no other thread, and what it guards is whole there.
    It must be one that a thread may take twice, since a handler of signals may fork."""
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


hold_over_fork(_loading)


def contract_lib() -> ctypes.CDLL:
    """libcutt_contract, loaded by the first call that contracts."""
    global _contract
    if _contract is None:
        with _loading:
            if _contract is None:
                _contract = _load("libcutt_contract", _CONTRACT_CALLS)
    return _contract


def address_of(function: Any) -> int:
    return ctypes.cast(function, c_void_p).value or 0


class Handle:
    """A plan of the library's, destroyed with the last reference to it."""

    __slots__ = ("value", "_destroy")

    def __init__(self, value: c_void_p, destroy: Callable[[c_void_p], int]):
        self.value, self._destroy = value, destroy

    def __del__(self) -> None:
        self._destroy(self.value)

    def __deepcopy__(self, memo: Any) -> "Handle":
        return self  # nothing in a plan changes

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a plan can't be pickled: it holds addresses of this process; make it anew where it is wanted")


def version() -> str:
    """Of the library that is loaded, such as "0.1.0"."""
    number = lib.cuttVersion()
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def check(result: int) -> None:
    """Raises what a result stands for, with the library's own text."""
    if result == SUCCESS:
        return
    text = lib.cuttLastError().decode(errors="replace")
    if result == INVALID_PARAMETER:
        raise ValueError(text)
    if result == INTERNAL_ERROR and "out of memory" in text.lower().replace("_", " "):
        raise MemoryError(text)
    raise RuntimeError(text or f"cuTT failed with result {result}")


def text_of(call: Callable[..., int], *arguments: Any, form: int = 0) -> str:
    """What one of the calls that describe has to say; form 0 is text, 1 is JSON (of a drawing: SVG)."""
    size = 1 << 14
    while True:
        buffer, needed = ctypes.create_string_buffer(size), c_size_t()
        check(call(*arguments, form, buffer, size, byref(needed)))
        if needed.value <= size:
            return buffer.value.decode(errors="replace")
        size = needed.value


def json_of(call: Callable[..., int], *arguments: Any) -> Any:
    return json.loads(text_of(call, *arguments, form=1))


def int64s(values: Any) -> Any:
    for value in values:  # ctypes would take the lower 64 bits
        if not -(1 << 63) <= value < 1 << 63:
            raise ValueError(f"an extent or a stride in elements is {value}; it must fit into 64 bits")
    return (c_int64 * len(values))(*values)


def ints(values: Any) -> Any:
    return (c_int * len(values))(*values)
