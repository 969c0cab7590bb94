"""Permutation: transpose and permute_dims, on cutt.h's descriptor interface.

An axis of NumPy's is a mode of cutt.h's counted from the other end, and strides are in elements there. Elements that
are only moved need not be of a size that cutt.h has, nor be stepped by whole elements (a field of a structured array):
the element is then taken apart into smaller ones, a further mode that is the fastest on both sides.
"""

from __future__ import annotations

import math
from ctypes import byref, c_void_p
from typing import Any, Callable, Optional, Sequence

from . import _compiled, _cuda
from . import _library as L
from ._arguments import threads_of
from ._arrays import check_out, is_zero, scalar, view_of
from ._cache import choosing, plan_cache
from ._library import Handle
from ._views import DType, View
from ._wisdom import Wisdom


def run(first: View, others: Sequence[View], call: Callable[[int], Any]) -> Any:
    """call(stream), on the device of the first view and in the stream that its library's user is in."""
    if first.device[0] == "cpu":
        return call(0)
    with _cuda.context(first.device[1]):
        stream = first.adapter.stream(first)
        # Another library's stream may still be writing its operand, and may free it before ours has read it.
        mixed = [view for view in others if view.adapter.stream(view) != stream]
        for view in mixed:
            _cuda.wait(view.adapter.stream(view))
        result = call(stream)
        if mixed or first.adapter.waits() or any(view.adapter.waits() for view in others):
            _cuda.wait(stream)
        return result


def normal_axes(axes: Optional[Sequence[int]], rank: int) -> tuple:
    """Axes counted from 0, each there once."""
    if axes is None:
        return tuple(range(rank - 1, -1, -1))
    try:
        try:
            given = tuple(axis.__index__() for axis in axes)
        except TypeError:  # what is no sequence may be a number
            given = (axes.__index__(),)  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        raise TypeError(f"axes is {axes!r}; it must be a sequence of integers, or None") from None
    if len(given) != rank:
        raise ValueError(f"axes has {len(given)} entries, and the array {rank} axes")
    for axis in given:
        if not -rank <= axis < rank:
            raise ValueError(f"axes has {axis}; for an array of {rank} axes it must be {-rank} to {rank - 1}")
    normal = tuple(axis % rank for axis in given)
    if len(set(normal)) != rank:
        raise ValueError(f"axes is {given}; each axis must be there once")
    return normal


def _unit(itemsize: int, strides: Sequence[int]) -> int:
    """The largest element that everything is a multiple of: a power of two, 16 at most."""
    unit = math.gcd(itemsize, *strides)
    return min(unit & -unit, 16)


def arithmetic_of(dtype: DType, alpha: Any, beta: Any, conj: bool) -> tuple:
    """(type, alpha, beta, conj) as cutt.h takes them; type 0: elements are only moved."""
    conj = bool(conj) and dtype.is_complex
    if not conj and isinstance(alpha, (int, float)) and alpha == 1 and isinstance(beta, (int, float)) and beta == 0:
        return 0, b"", b"", False
    if not dtype.code:
        raise TypeError(
            f"elements of type {dtype.name} can be permuted, but not conjugated, scaled or added to: conj, alpha "
            "and beta are for float16, bfloat16, float32, float64, complex64, complex128 and integers of 4 and 8 "
            "bytes, in native order"
        )
    return (
        dtype.code,
        scalar(alpha, dtype.code, "alpha", dtype.name),
        scalar(beta, dtype.code, "beta", dtype.name),
        conj,
    )


def create(key: tuple, wisdom: Optional[Wisdom] = None, **more: Any) -> Handle:
    """The library's plan. key is (type, extents, axes, strides, strides of the result by its own axes, alpha, beta,
    conj, threads, backend), all in NumPy's order; strides in elements. more: further fields of cuttOptions_t."""
    code, shape, axes, in_strides, out_strides, alpha, beta, conj, threads, backend = key
    rank = len(shape)
    problem, options = L.Problem(), L.Options()
    problem.struct_size, options.struct_size = L.ctypes.sizeof(problem), L.ctypes.sizeof(options)
    problem.rank, problem.type = rank, code
    problem.extents = L.int64s(shape[::-1])
    problem.perm = L.ints([rank - 1 - axis for axis in reversed(axes)])
    problem.in_strides, problem.out_strides = L.int64s(in_strides[::-1]), L.int64s(out_strides[::-1])
    if alpha:
        scalars = [L.ctypes.create_string_buffer(value, 16) for value in (alpha, beta)]
        problem.alpha, problem.beta = (L.ctypes.addressof(value) for value in scalars)
    problem.conjugate = int(conj)
    options.backend, options.threads = backend, threads
    known = None if wisdom is None else wisdom.handle  # held here, whoever clears it meanwhile
    options.wisdom = None if known is None else known.value
    for field, value in more.items():
        setattr(options, field, value)
    plan = c_void_p()
    L.check(L.lib.cuttPlanCreate(byref(plan), byref(problem), byref(options)))
    return Handle(plan, L.lib.cuttPlanDestroy)


def create_kept(key: tuple, vouched: bool = False) -> Handle:
    """A plan of transpose() and einsum(), by the wisdom that plan_cache has; vouched: nobody looks what pointers are to."""
    return create(key, plan_cache.wisdom, **({"trust_pointers": 1} if vouched else {}), **choosing.options())


def vouched_for(*views: View) -> bool:
    """Is it known of all of them that they are memory of their GPU? Executions are in that device's context, see run()."""
    return all(view.device[0] == "cuda" and view.adapter.vouches for view in views)


def facts_of(handle: Handle) -> tuple:
    """What the compiled module has to know of a plan: (plan, kind, address, workspace, shape)."""
    return handle, 0, handle.value.value or 0, 0, ()


def plan_key(
    dtype: DType,
    shape: tuple,
    axes: tuple,
    strides: tuple,
    out_strides: tuple,
    arithmetic: tuple,
    threads: int,
    backend: int,
) -> tuple:
    """What create() takes; strides here in bytes."""
    code, alpha, beta, conj = arithmetic
    unit = itemsize = dtype.itemsize
    if itemsize not in L.BYTES or any(s % itemsize for s in strides) or any(s % itemsize for s in out_strides):
        # Axes of extent 1 are never stepped along, and may have any stride.
        strides = tuple(s if n > 1 else 0 for s, n in zip(strides, shape))
        out_strides = tuple(s if shape[a] > 1 else 0 for s, a in zip(out_strides, axes))
        unit = _unit(itemsize, strides + out_strides)
        if unit != itemsize:
            if code:
                name, wrong = ("out", out_strides) if any(s % itemsize for s in out_strides) else ("a", strides)
                raise ValueError(
                    f"the strides of {name} are {wrong}, which are not multiples of the {itemsize} bytes of an element "
                    f"of type {dtype.name}; there is arithmetic with such elements only where they are"
                )
            axes += (len(shape),)
            shape += (itemsize // unit,)
            strides, out_strides = strides + (unit,), out_strides + (unit,)
    strides, out_strides = tuple(s // unit for s in strides), tuple(s // unit for s in out_strides)
    return code or unit, shape, axes, strides, out_strides, alpha, beta, conj, threads, backend


def misfit(view: View) -> bool:
    """Are there steps that are not whole elements, so that there is no arithmetic in place?"""
    return any(s % view.dtype.itemsize for s, n in zip(view.strides, view.shape) if n > 1)


def packed(view: View) -> View:
    """A packed copy, made by a permutation that is none. In the library and on the device of the view."""
    array = view.adapter.empty(view.shape, view)
    copy = view_of(array, "the copy")
    permute(view, copy, tuple(range(len(view.shape))), (0, b"", b"", False), 0)
    copy.conj = view.conj
    return copy


def permute(source: View, result: View, axes: tuple, arithmetic: tuple, threads: int) -> None:
    """result = permuted source, by a plan of the cache."""
    if not result.size:
        return
    if arithmetic[0] and misfit(source):
        source = packed(source)
        source.conj = False
    backend = L.BACKENDS[source.device[0]]
    key = plan_key(source.dtype, source.shape, axes, source.strides, result.strides, arithmetic, threads, backend)

    vouched = vouched_for(source, result)

    def call(stream: int) -> None:
        name = (source.device, key, vouched, choosing.seconds)
        plan = plan_cache.get(name, lambda: create_kept(key, vouched))
        L.check(L.lib.cuttPlanExecute(plan.value, source.pointer, result.pointer, stream or None))

    run(source, (result,), call)


@_compiled.transpose
def transpose(
    a: Any,
    axes: Optional[Sequence[int]] = None,
    *,
    out: Any = None,
    alpha: Any = 1,
    beta: Any = 0,
    conj: bool = False,
    threads: Optional[int] = None,
) -> Any:
    """Permute the axes of an array: ``alpha * conj(a).transpose(axes) + beta * out``, in memory of its own.

    Unlike ``numpy.transpose`` this gives no view: the elements are moved, at about the speed of a copy.

    Parameters
    ----------
    a : array of shape (n0, n1, ...)
        Of NumPy, PyTorch (CPU, CUDA), CuPy, JAX, or with DLPack, ``__cuda_array_interface__`` or the buffer protocol.
        Any strides, negative and zero ones included; nothing is copied beforehand. Elements of any plain type, in any
        byte order; Python objects are not.
    axes : sequence of int, optional
        Axis ``i`` of the result is axis ``axes[i]`` of `a`; each once, negative ones counted from the end. Default: all
        in reverse order.
    out : array, optional
        Where the result goes: of the result's shape, of the type and on the device of `a`, with any strides that let no
        two elements share memory, and writable; of DLPack it must be version 1.0, which tells. It may not overlap with
        `a`.
    alpha, beta : scalar, optional
        For float16, bfloat16, float32, float64, complex64, complex128 and integers of 32 and 64 bits (modulo 2**n) in
        native byte order. With beta 0 `out` is not read.
    conj : bool, optional
        Take the complex conjugate of `a`; of real elements that is nothing.
    threads : int, optional
        Most threads to use on the CPU. Default: as OpenMP would (OMP_NUM_THREADS, else all cores allowed).

    Returns
    -------
    array
        `out`; else a new array of `a`'s library, in C order. On a GPU the work is in that library's current stream, and
        need not be done on return.

    Raises
    ------
    TypeError
        `a` is no array; Python objects; `alpha` or `beta` where elements are only moved; a tensor that requires a
        gradient.
    ValueError
        Wrong axes; `out` of another shape or device, read-only, or overlapping.
    RuntimeError, MemoryError
        What the library could not do, in its words.

    Examples
    --------
    >>> import numpy as np, cutt
    >>> cutt.transpose(np.arange(6).reshape(2, 3))
    array([[0, 3],
           [1, 4],
           [2, 5]])
    """
    source = view_of(a, "a")
    axes = normal_axes(axes, len(source.shape))
    shape = tuple(source.shape[axis] for axis in axes)
    arithmetic = arithmetic_of(source.dtype, alpha, beta, bool(conj) != source.conj)
    number = threads_of(threads)
    if out is None:
        if not is_zero(beta):
            raise ValueError(f"beta is {beta!r} and there is no out to be added to")
        array = source.adapter.empty(shape, source)
        permute(source, view_of(array, "the result"), axes, arithmetic, number)
        return source.adapter.finish(array, False)
    result = check_out(out, shape, source)
    try:
        permute(source, result, axes, arithmetic, number)
    except ValueError as error:  # out overlaps with what the library calls in
        raise ValueError(str(error).replace("in spans", "a spans", 1)) from None
    return out


def permute_dims(x: Any, /, axes: Sequence[int]) -> Any:
    """Permute the axes of an array, as the Python array API standard has it.

    Parameters
    ----------
    x : array
        As for `transpose`.
    axes : tuple of int
        A permutation of ``(0, 1, ..., x.ndim - 1)``.

    Returns
    -------
    array
        A new array of `x`'s library, with the same element type.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        As `transpose`.
    """
    if axes is None:
        raise TypeError("axes must be a tuple of integers")
    return transpose(x, axes)
