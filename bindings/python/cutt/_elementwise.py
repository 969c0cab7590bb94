"""elementwise: sums, products, maxima and minima of two or three permuted arrays."""

from __future__ import annotations

import contextlib
import math
from ctypes import addressof, byref, c_void_p, create_string_buffer, sizeof
from typing import Any, Optional, Sequence

from . import _compiled, _cuda
from . import _library as L
from ._arguments import flags, threads_of
from ._arrays import check_out, scalar, view_of
from ._cache import plan_cache
from ._contract import _LETTERS, Operand, check_type, extents_of, pattern_of
from ._permute import misfit, packed, run
from ._reduce import operator_of
from ._spec import parse
from ._views import View, packed_strides

NAMES = ("a", "b", "c")
_OPERATORS = tuple(L.OPERATORS)


def create(key: tuple) -> L.Handle:
    """The library's plan of what key_of() made."""
    pattern, code, shapes, strides, scalars, conj, operators, threads, backend = key
    lib = L.contract_lib()
    problem, options = L.Elementwise(), L.ElementwiseOptions()
    problem.struct_size, options.struct_size = sizeof(problem), sizeof(options)
    problem.pattern, problem.type = pattern, code
    for name, shape, steps in zip((*NAMES[: len(conj)], "result"), shapes, strides):
        setattr(problem, f"{name}_rank", len(shape))
        setattr(problem, f"{name}_extents", L.int64s(shape[::-1]))
        setattr(problem, f"{name}_strides", L.int64s(steps[::-1]))
    values = [create_string_buffer(value, 16) for value in scalars]
    for field, value in zip(("alpha", "beta", "gamma"), values):
        setattr(problem, field, addressof(value))
    for name, flag in zip(NAMES, conj):
        setattr(problem, f"conjugate_{name}", int(flag))
    problem.op_ab, problem.op_abc = operators
    options.backend, options.threads = L.BACKENDS[backend], threads
    plan = c_void_p()
    L.check(lib.cuttElementwisePlanCreate(byref(plan), byref(problem), byref(options)))
    return L.Handle(plan, lib.cuttElementwisePlanDestroy)


def facts_of(handle: L.Handle, shape: Sequence[int]) -> tuple:
    """What the compiled module has to know of a plan."""
    _compiled.bind_contraction()
    return handle, 2, handle.value.value or 0, 0, tuple(shape)


def key_of(operands: list, labels: tuple, result: View, scalars: tuple, operators: tuple, threads: int) -> tuple:
    """All that a plan depends on, in NumPy's order and strides in elements."""
    size = result.dtype.itemsize
    views = [*(operand.view for operand in operands), result]
    return (
        pattern_of([operand.labels for operand in operands], labels),
        result.dtype.code,
        tuple(view.shape for view in views),
        tuple(tuple(s // size for s in view.strides) for view in views),
        scalars,
        tuple(operand.view.conj for operand in operands),
        operators,
        threads,
        result.device[0],
    )


def operators_of(op: str, op2: str, code: int, first: View) -> tuple:
    return tuple(operator_of(value, name, code, first.dtype.name) for value, name in ((op, "op"), (op2, "op2")))


def scalars_of(values: Sequence[Any], code: int, first: View) -> tuple:
    return tuple(
        scalar(value, code, name, first.dtype.name) for value, name in zip(values, ("alpha", "beta", "gamma"))
    )


def terms_of(spec: str, views: Sequence[View]) -> tuple:
    """The labels of each operand and of the result, and the extent of each label."""
    terms, labels = parse(spec, tuple(len(view.shape) for view in views))
    extents = extents_of(terms, views)
    lost = [label for label in extents if label not in labels]
    if lost:
        raise ValueError(f"the result of {spec!r} lacks label {lost[0]}, and an elementwise operation sums nothing")
    if len(extents) > len(_LETTERS):
        raise ValueError(f"the subscripts {spec!r} have {len(extents)} labels; there may be {len(_LETTERS)}")
    return terms, labels, extents


def facts_of_elementwise(
    spec: str, arrays: Sequence[Any], out: Any, scalars: tuple, operators: tuple, threads: int
) -> Optional[tuple]:
    """The plan of an elementwise(), as the compiled module takes it; None where arrays have to be copied before."""
    views = [view_of(array, name) for array, name in zip(arrays, NAMES)]
    first = views[0]
    code = check_type(first, views[1:])
    known = operators_of(*(_OPERATORS[number] for number in operators), code, first)
    terms, labels, extents = terms_of(spec, views)
    shape = tuple(extents[label] for label in labels)
    packed_steps = packed_strides(shape, first.dtype.itemsize)
    result = first.like(shape, packed_steps) if out is None else check_out(out, shape, first)
    operands = [Operand(view, term, extents) for view, term in zip(views, terms)]
    if 0 in shape or any(misfit(operand.view) for operand in operands) or misfit(result):
        return None
    with _cuda.context(first.device[1]) if first.device[0] == "cuda" else contextlib.nullcontext():
        return facts_of(create(key_of(operands, labels, result, scalars, known, threads)), shape)


@_compiled.elementwise
def elementwise(
    spec: str,
    a: Any,
    b: Any,
    c: Any = None,
    *,
    alpha: Any = 1,
    beta: Any = 1,
    gamma: Any = 1,
    op: str = "add",
    op2: str = "add",
    out: Any = None,
    conj: Optional[Sequence[bool]] = None,
    threads: Optional[int] = None,
) -> Any:
    """Combine permuted arrays element by element, in one pass: ``alpha * a`` *op* ``beta * b`` [*op2* ``gamma * c``].

    Parameters
    ----------
    spec : str
        Subscripts as for `einsum`, of two or three operands, none of which has a label that the result has not:
        ``"ij,ji->ij"``, ``"ijk,kij,j->ijk"``. An axis that an operand lacks, or has with extent 1, is broadcast.
    a, b : array
        On one device, of one type: float16, bfloat16, float32, float64, complex64, complex128, integers of 32 and
        64 bits.
    c : array, optional
        A third operand.
    alpha, beta, gamma : scalar, optional
        An operand whose scalar is 0 is not read, and counts as 0 everywhere.
    op, op2 : {'add', 'multiply', 'max', 'min'}, optional
        How `a` and `b` are combined, and `c` with both. A maximum or minimum of which one operand is a NaN is one;
        complex numbers and unsigned integers have neither. Integers wrap around.
    out : array, optional
        Where the result goes. It may be an operand itself, if that is laid out the same way and has the same labels; else
        it may not overlap with one.
    conj : sequence of bool, optional
        Which operands to take the complex conjugate of.
    threads : int, optional
        Most threads to use on the CPU. Default: as OpenMP would.

    Returns
    -------
    array
        `out`, or a new array of `a`'s library, in C order; of rank 0 and NumPy a scalar.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        As `einsum`.

    Examples
    --------
    >>> a = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> cutt.elementwise("ij,ji->ij", a, a, alpha=0.5, beta=0.5)
    array([[1. , 2.5],
           [2.5, 4. ]])
    """
    views = [view_of(array, name) for array, name in zip((a, b) if c is None else (a, b, c), NAMES)]
    first, number = views[0], threads_of(threads)
    if conj is not None:
        for view, flag in zip(views, flags(conj, "conj", len(views))):
            view.conj = view.conj != flag
    code = check_type(first, views[1:])
    operators = operators_of(op, op2, code, first)
    terms, labels, extents = terms_of(spec, views)
    shape = tuple(extents[label] for label in labels)
    array = first.adapter.empty(shape, first) if out is None else out
    result = view_of(array, "the result") if out is None else check_out(out, shape, first)
    if misfit(result):
        raise ValueError(f"the strides of out are not multiples of the {first.dtype.itemsize} bytes of an element")
    operands = [Operand(view, term, extents) for view, term in zip(views, terms)]
    for operand in operands:
        if misfit(operand.view):
            operand.view = packed(operand.view)
    scalars = scalars_of((alpha, beta, gamma)[: len(views)], code, first)
    key = ("elementwise", *key_of(operands, labels, result, scalars, operators, number))

    def call(stream: int) -> None:
        plan = plan_cache.get((result.device, key), lambda: create(key[1:]))
        pointers = [operand.view.pointer for operand in operands] + [None] * (3 - len(operands))
        L.check(L.contract_lib().cuttElementwiseExecute(plan.value, *pointers, result.pointer, stream or None))

    if math.prod(shape):
        try:
            run(first, (*(operand.view for operand in operands[1:]), result), call)
        except ValueError as error:  # out overlaps with an operand
            raise ValueError(str(error).replace("and result [", "and out [").replace("the result's", "out's")) from None
    return first.adapter.finish(array, True) if out is None else out
