"""Contraction of two operands by cutt_contract.h.

Operands come with a label for each axis. What the C library need not see is settled here, in strides alone: repeated
labels (a diagonal steps by the sum of the strides) and axes of extent 1 that are broadcast (which are left out).
"""

from __future__ import annotations

import functools
import sys
import warnings
from ctypes import byref, c_void_p
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

from . import _compiled
from . import _library as L
from ._arrays import check_device, scalar, view_of
from ._cache import choosing, plan_cache
from ._library import Handle
from ._permute import misfit, packed, run
from ._views import View
from ._wisdom import Wisdom

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Operand:
    """A view with a label for each axis, each label once."""

    __slots__ = ("view", "labels")

    def __init__(self, view: View, labels: Sequence[str], extents: Mapping[str, int]):
        steps: dict[str, int] = {}
        if len(set(labels)) == len(labels) and all(extents[label] == n for label, n in zip(labels, view.shape)):
            self.view, self.labels = view, tuple(labels)
            return
        for label, n, step in zip(labels, view.shape, view.strides):
            if n == 1 and extents[label] != 1:
                continue  # broadcast
            steps[label] = steps.get(label, 0) + step
        self.labels = tuple(steps)
        self.view = view.like([extents[label] for label in steps], list(steps.values()))


def extents_of(terms: Sequence[Sequence[str]], views: Sequence[View]) -> dict[str, int]:
    """The extent of each label; ValueError where operands disagree."""
    extents: dict[str, int] = {}
    for place, (labels, view) in enumerate(zip(terms, views)):
        if len(set(labels)) != len(labels):
            own: dict[str, int] = {}
            for label, n in zip(labels, view.shape):
                if own.setdefault(label, n) != n:
                    raise ValueError(
                        f"label {label} of operand {place} is given to extents {own[label]} and {n}: a diagonal"
                    )
        for axis, (label, n) in enumerate(zip(labels, view.shape)):
            known = extents.setdefault(label, n)
            if known == n or n == 1:
                continue
            if known != 1:
                name = "of the ellipsis" if label.startswith("...") else label
                raise ValueError(f"axis {axis} of operand {place} has extent {n}, and label {name} has {known} before")
            extents[label] = n
    return extents


def _span(view: View) -> tuple:
    """The first byte and the one behind the last."""
    steps = [(n - 1) * step for n, step in zip(view.shape, view.strides)]
    low = view.pointer + sum(step for step in steps if step < 0)
    return low, view.pointer + sum(step for step in steps if step > 0) + view.dtype.itemsize


def name_overlap(views: Sequence[View], result: View) -> None:
    """ValueError in the words of einsum's caller, if an operand is what the result overlaps with; the library knows left and right."""
    low, high = _span(result)
    for place, view in enumerate(views):
        first, end = _span(view)
        if first < high and low < end:
            raise ValueError(
                f"operand {place} spans bytes [{first:#x}, {end:#x}) and out [{low:#x}, {high:#x}), which overlap; "
                "out must have memory of its own"
            ) from None


def contractible(view: View) -> bool:
    """Does the library multiply such elements?"""
    code = view.dtype.code
    return code in (L.F16, L.BF16, L.F32, L.F64, L.C32, L.C64) or (code in (L.I32, L.I64) and view.device[0] == "cpu")


def check_type(first: View, others: Sequence[View]) -> int:
    """cutt.h's type for a contraction."""
    for place, view in enumerate(others, 1):
        if view.dtype.name != first.dtype.name:
            raise TypeError(
                f"operand {place} has elements of type {view.dtype.name}, and operand 0 of type {first.dtype.name}: "
                "all must be of one type"
            )
        check_device(view, first, f"operand {place}")
    if contractible(first):
        return first.dtype.code
    raise TypeError(
        f"elements of type {first.dtype.name} can't be contracted or summed on {first.device[0]}: float16, bfloat16, "
        "float32, float64, complex64 and complex128 can, and on the CPU integers of 4 and 8 bytes, in native byte order"
    )


class ContractionHandle(Handle):
    __slots__ = ("workspace", "provider")
    workspace: int
    provider: str


def pattern_of(operands: Sequence[Sequence[str]], result: Sequence[str]) -> bytes:
    """In the library's order, the fastest mode first. By the caller's letters where they are letters."""
    labels = dict.fromkeys(label for term in (*operands, result) for label in term)
    if all(label in _LETTERS for label in labels):
        names = {label: label for label in labels}
    elif len(labels) <= len(_LETTERS):
        names = dict(zip(labels, _LETTERS))
    else:
        names = {label: f"m{number}" for number, label in enumerate(labels)}
        texts = [",".join(names[label] for label in reversed(term)) for term in (result, *operands)]
        return ("D({})=" + "*".join(["T({})"] * len(operands))).format(*texts).encode()
    texts = ["".join(names[label] for label in reversed(term)) for term in (*operands, result)]
    return f"{','.join(texts[:-1])}->{texts[-1]}".encode()


def pair_key(
    left: Operand,
    right: Optional[Operand],
    labels: Sequence[str],
    result: View,
    code: int,
    alpha: Any,
    beta: Any,
    threads: int,
    limit: int = L.NO_LIMIT,
    provider: Optional[bytes] = None,
    algorithm: Optional[bytes] = None,
    reduce: int = 0,
) -> tuple:
    """All that a plan depends on, in NumPy's order and strides in elements."""
    operands = [left] if right is None else [left, right]
    size = result.dtype.itemsize
    if misfit(result):
        raise ValueError(f"the strides of out are not multiples of the {size} bytes of an element")
    views = [operand.view for operand in operands]
    strides = [tuple(s // size for s in view.strides) for view in (*views, result)]
    scalars = [scalar(value, code, name, result.dtype.name) for value, name in ((alpha, "alpha"), (beta, "beta"))]
    return (
        pattern_of([operand.labels for operand in operands], labels),
        code,
        (*(view.shape for view in views), result.shape),
        tuple(strides),
        *scalars,
        tuple(view.conj for view in views),
        threads,
        L.BACKENDS[result.device[0]],
        limit,
        provider,
        algorithm,
        reduce,
    )


def create(key: tuple, wisdom: Optional[Wisdom] = None, **more: Any) -> ContractionHandle:
    """The library's plan of a pair_key(). more: further fields of cuttContractionOptions_t."""
    (
        pattern,
        code,
        shapes,
        strides,
        alpha,
        beta,
        conj,
        threads,
        backend,
        limit,
        provider,
        algorithm,
        reduce,
    ) = key
    lib = L.contract_lib()
    problem, options = L.Contraction(), L.ContractionOptions()
    problem.struct_size, options.struct_size = L.ctypes.sizeof(problem), L.ctypes.sizeof(options)
    problem.pattern, problem.type = pattern, code
    for name, shape, steps in zip(("left", "result") if len(shapes) == 2 else ("left", "right", "result"), shapes, strides):
        setattr(problem, f"{name}_rank", len(shape))
        setattr(problem, f"{name}_extents", L.int64s(shape[::-1]))
        setattr(problem, f"{name}_strides", L.int64s(steps[::-1]))
    scalars = [L.ctypes.create_string_buffer(value, 16) for value in (alpha, beta)]
    problem.alpha, problem.beta = (L.ctypes.addressof(value) for value in scalars)
    problem.conjugate_left, problem.conjugate_right = int(conj[0]), int(conj[-1] and len(conj) == 2)
    problem.reduce = reduce
    options.backend, options.threads, options.workspace_limit = backend, threads, limit
    options.provider, options.algorithm = provider, algorithm
    known = None if wisdom is None else wisdom.handle  # held here, whoever clears it meanwhile
    options.wisdom = None if known is None else known.value
    for field, value in more.items():
        setattr(options, field, value)
    plan = c_void_p()
    L.check(lib.cuttContractionPlanCreate(byref(plan), byref(problem), byref(options)))
    handle = ContractionHandle(plan, lib.cuttContractionPlanDestroy)
    facts = info_of(handle)
    handle.workspace, handle.provider = facts.workspace_bytes, facts.provider.decode()
    if backend == L.BACKENDS["cpu"] and provider is None and facts.algorithm == b"ttgt":
        warn_of_slow_kernels(handle.provider)
    return handle


def create_kept(key: tuple) -> ContractionHandle:
    """A plan of einsum(), by the wisdom that plan_cache has."""
    return create(key, plan_cache.wisdom, **choosing.options())


def facts_of(handle: ContractionHandle, shape: tuple) -> tuple:
    """What the compiled module has to know of a plan."""
    _compiled.bind_contraction()
    return handle, 1, handle.value.value or 0, handle.workspace, tuple(shape)


def info_of(handle: Handle) -> Any:
    facts = L.ContractionInfo()
    facts.struct_size = L.ctypes.sizeof(facts)
    L.check(L.contract_lib().cuttContractionGetInfo(handle.value, byref(facts)))
    return facts


@functools.lru_cache(maxsize=None)
def warn_of_slow_kernels(provider: str) -> None:
    """Once in a process: the BLAS in use has picked kernels of an older processor, and an environment override would help."""
    for found in L.json_of(L.contract_lib().cuttProvidersDescribe)["providers"]:
        if found["name"] == provider and found["backend"] == "cpu" and found.get("environment_override"):
            package, depth = str(Path(__file__).parent), 1
            frame = sys._getframe(1)
            while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
                frame, depth = frame.f_back, depth + 1
            warnings.warn(
                f"{provider} {found.get('version', '')} multiplies with its kernels for {found['kernels']}, which are "
                f"slow on this processor. Set {found['environment_override']} in the environment before Python starts; "
                "cutt.providers() tells more.",
                RuntimeWarning,
                stacklevel=depth + 1,
            )


def contract(
    left: Operand,
    right: Optional[Operand],
    labels: Sequence[str],
    result: View,
    code: int,
    alpha: Any = 1,
    beta: Any = 0,
    threads: int = 0,
    reduce: int = 0,
) -> None:
    """result[labels] = alpha * left * right + beta * result, by a plan of the cache. Some element must be in each."""
    operands = [left] if right is None else [left, right]
    for operand in operands:
        if misfit(operand.view):
            operand.view = packed(operand.view)
    key = pair_key(left, right, labels, result, code, alpha, beta, threads, reduce=reduce)

    def call(stream: int) -> None:
        plan = plan_cache.get((result.device, key, choosing.seconds), lambda: create_kept(key))
        execute(plan, left.view, right.view if right is not None else None, result, stream)

    run(left.view, (*(operand.view for operand in operands[1:]), result), call)


def execute(
    plan: ContractionHandle,
    left: View,
    right: Optional[View],
    result: View,
    stream: int,
    workspace: Optional[View] = None,
) -> None:
    """workspace: checked, or None."""
    if workspace is None and plan.workspace and hasattr(left.adapter, "workspace"):
        # Of the array's library, whose pool is quicker than CUDA's own, and which knows the stream.
        workspace = view_of(left.adapter.workspace(plan.workspace, left), "workspace")
    pointer, size = None, 0
    if workspace is not None and plan.workspace:
        pointer, size = workspace.pointer, workspace.size * workspace.dtype.itemsize
    call = L.contract_lib().cuttContractionExecute
    L.check(call(plan.value, left.pointer, right and right.pointer, result.pointer, pointer, size, stream or None))
