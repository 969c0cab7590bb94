"""einsum: any number of operands, two at a time, in an order that opt_einsum or a greedy rule finds."""

from __future__ import annotations

import contextlib
import math
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _compiled, _cuda, _path, _types
from . import _library as L
from ._arguments import flags, seconds_of, threads_of, wholes
from ._arrays import array_of, check_out, is_zero, scalar, view_of
from ._cache import choosing, plan_cache
from ._contract import Operand, check_type, contract, extents_of, name_overlap, pair_key
from ._contract import create_kept as create_contraction
from ._contract import facts_of as contraction_facts
from ._integers import contract_integers, sooner_as_float64
from ._network import Network
from ._permute import arithmetic_of, misfit, packed, permute, plan_key, run, vouched_for
from ._permute import create_kept as create_permutation
from ._permute import facts_of as permutation_facts
from ._reduce import operator_of
from ._spec import in_numbers, interleaved, parse
from ._views import View, packed_strides

_FEW = (
    1 << 17
)  # products of integers, and four times as many as of other numbers: NumPy takes less than 0.1 ms for them
_TINY = _FEW >> 3  # the same, of more than two operands: a network takes as long to plan as NumPy for _OFTEN calls
_OFTEN = 256


def _result(first: View, shape: Sequence[int], out: Any, beta: Any) -> tuple:
    """(array, view) to write to."""
    if out is not None:
        return out, check_out(out, shape, first)
    if not is_zero(beta):
        raise ValueError(f"beta is {beta!r} and there is no out to be added to")
    array = first.adapter.empty(shape, first)
    return array, view_of(array, "the result")


def _one(operand: Operand, labels: tuple, result: View, alpha: Any, beta: Any, threads: int) -> None:
    """The einsum of one operand: a permutation, or a sum."""
    view = operand.view
    if len(operand.labels) == len(labels):
        axes = tuple(operand.labels.index(label) for label in labels)
        permute(view, result, axes, arithmetic_of(view.dtype, alpha, beta, view.conj), threads)
    else:
        code = check_type(view, ())
        contract(operand, None, labels, result, code, alpha, beta, threads)


def _scale(result: View, beta: Any, threads: int) -> None:
    """What is left of a sum over nothing: 0 times a scalar 1 that is repeated over the result, and beta times that."""
    rank = len(result.shape)
    one = view_of(result.adapter.one(result), "1").like(result.shape, (0,) * rank)
    permute(one, result, tuple(range(rank)), arithmetic_of(result.dtype, 0, beta, False), threads)


def pairs_of(optimize: Any, terms: tuple, views: Sequence[View], result: tuple) -> tuple:
    """The path, as pairs of numbers: operands first, then the intermediates."""
    if optimize is False or optimize is None:
        return _path.numbered([tuple(range(len(views)))], len(views))
    if isinstance(optimize, (list, tuple)):
        steps = tuple(optimize[1:] if optimize and isinstance(optimize[0], str) else optimize)
        if not all(isinstance(step, (list, tuple)) for step in steps):
            raise TypeError(f"optimize is {optimize!r}; a path is a list of tuples of operands")
        places = [wholes(step, f"step {number} of optimize") for number, step in enumerate(steps)]
        return _path.numbered(places, len(views))
    if optimize is True:
        optimize = "auto"
    if not isinstance(optimize, str):
        raise TypeError(f"optimize is {optimize!r}; it must be a bool, the name of a way to find a path, or a path")
    return _path.find(terms, tuple(view.shape for view in views), result, optimize)


def _pairwise(
    operands: list,
    pairs: tuple,
    labels: tuple,
    result: View,
    code: int,
    alpha: Any,
    beta: Any,
    threads: int,
    contract: Callable[..., None],
) -> None:
    """Contracts by a path, each intermediate an array of the operands' library."""
    tensors: list = list(operands)
    for number, (one, other) in enumerate(pairs):
        first, second = tensors[one], tensors[other]
        tensors[one] = tensors[other] = None
        if number == len(pairs) - 1:
            contract(first, second, labels, result, code, alpha, beta, threads)
            return
        wanted = set(labels).union(*(operand.labels for operand in tensors if operand is not None))
        kept = tuple(label for label in dict.fromkeys(first.labels + second.labels) if label in wanted)
        extents = {**dict(zip(first.labels, first.view.shape)), **dict(zip(second.labels, second.view.shape))}
        array = first.view.adapter.empty(tuple(extents[label] for label in kept), first.view)
        between = Operand(view_of(array, "an intermediate"), kept, extents)
        contract(first, second, kept, between.view, code, threads=threads)
        tensors.append(between)


def _network_of(
    operands: list, pairs: tuple, labels: tuple, result: View, code: int, alpha: Any, beta: Any, threads: int
) -> Network:
    """The one that is kept, or a new one."""
    tensors = tuple((one.labels, one.view.shape, one.view.strides, one.view.conj) for one in operands)
    scalars = tuple(scalar(value, code, name, result.dtype.name) for value, name in ((alpha, "alpha"), (beta, "beta")))
    key = (tensors, labels, result.strides, code, scalars, threads, pairs, result.device, choosing.seconds)
    network = plan_cache.networks.get(key)
    if network is None:
        network = Network(operands, labels, result, code, alpha, beta, threads, pairs)
        plan_cache.networks.put(key, network)
    return network


def _many(
    operands: list, pairs: tuple, labels: tuple, result: View, code: int, alpha: Any, beta: Any, threads: int
) -> Network:
    """Contracts by a path, with intermediates in memory of ours."""
    first = operands[0].view
    if misfit(result):
        raise ValueError(f"the strides of out are not multiples of the {result.dtype.itemsize} bytes of an element")
    for operand in operands:
        if misfit(operand.view):
            operand.view = packed(operand.view)

    def call(stream: int) -> Network:
        network = _network_of(operands, pairs, labels, result, code, alpha, beta, threads)
        pointers = [operand.view.pointer for operand in operands]
        if first.device[0] == "cpu":
            network.execute_here(pointers, result.pointer)
        else:
            memory = view_of(first.adapter.workspace(network.bytes, first), "memory for intermediates")
            network.execute(pointers, result.pointer, memory.pointer, stream)
        return network

    return run(first, [*(operand.view for operand in operands[1:]), result], call)


def _apart(out: Any, operands: Sequence[Any]) -> bool:
    """Is out an array of NumPy's that may be written to, and shares no memory with an operand for certain?"""
    if type(out) is not np.ndarray or not out.flags.writeable:
        return False
    return not any(type(one) is np.ndarray and np.may_share_memory(out, one) for one in operands)


def facts_of_einsum(
    spec: str, arrays: Sequence[Any], out: Any, alpha: Any, beta: Any, threads: int, op: Optional[str]
) -> Optional[tuple]:
    """The plan of an einsum of one or two operands, or of a reduction by op, as the compiled module takes it; None where it is
    not one plan."""
    views = [view_of(array, f"operand {place}") for place, array in enumerate(arrays)]
    first = views[0]
    terms, labels = parse(spec, tuple(len(view.shape) for view in views))
    extents = extents_of(terms, views)
    shape = tuple(extents[label] for label in labels)
    result = (
        first.like(shape, packed_strides(shape, first.dtype.itemsize)) if out is None else check_out(out, shape, first)
    )
    operands = [Operand(view, term, extents) for view, term in zip(views, terms)]
    if 0 in shape or any(misfit(operand.view) for operand in operands) or misfit(result):
        return None
    with _cuda.context(first.device[1]) if first.device[0] == "cuda" else contextlib.nullcontext():
        view = operands[0].view
        if op is None and len(operands) == 1 and len(operands[0].labels) == len(labels):
            axes = tuple(operands[0].labels.index(label) for label in labels)
            arithmetic = arithmetic_of(view.dtype, alpha, beta, view.conj)
            backend = L.BACKENDS[view.device[0]]
            key = plan_key(view.dtype, view.shape, axes, view.strides, result.strides, arithmetic, threads, backend)
            return (*permutation_facts(create_permutation(key, vouched_for(first, result)))[:-1], shape)
        code = check_type(first, views[1:])
        operator = 0 if op is None else operator_of(op, "op", code, first.dtype.name)
        if op is None and (
            _types.sooner_as_float32(views, terms, labels)
            or (code in (L.I32, L.I64) and len(operands) == 2 and sooner_as_float64(*operands, labels))
        ):
            return None
        second = operands[1] if len(operands) == 2 else None
        key = pair_key(operands[0], second, labels, result, code, alpha, beta, threads, reduce=operator)
        return contraction_facts(create_contraction(key), shape)


def facts_of_network(
    spec: str, arrays: Sequence[Any], out: Any, optimize: Any, threads: int, again: bool
) -> Optional[tuple]:
    """What an einsum of more than two arrays is done by, as the compiled module takes it: NumPy, where so little of its arrays is to be
    multiplied that it is done before anything is planned, for some calls, and a network for those that come again."""
    operands = (spec, *arrays)
    if not again and _are_few(operands, out, optimize, _FEW):
        return None, 4, 0, 0, (), _OFTEN if _are_few(operands, out, optimize, _TINY) else 1
    views = [view_of(array, f"operand {place}") for place, array in enumerate(arrays)]
    first = views[0]
    terms, labels = parse(spec, tuple(len(view.shape) for view in views))
    extents = extents_of(terms, views)
    shape = tuple(extents[label] for label in labels)
    result = (
        first.like(shape, packed_strides(shape, first.dtype.itemsize)) if out is None else check_out(out, shape, first)
    )
    tensors = [Operand(view, term, extents) for view, term in zip(views, terms)]
    if any(misfit(tensor.view) for tensor in tensors) or misfit(result):
        return None
    code = check_type(first, views[1:])
    pairs = pairs_of(optimize, tuple(one.labels for one in tensors), [one.view for one in tensors], labels)
    with _cuda.context(first.device[1]) if first.device[0] == "cuda" else contextlib.nullcontext():
        network = _network_of(tensors, pairs, labels, result, code, 1, 0, threads)
    _compiled.bind_contraction()
    return network, 3, network.table.ctypes.data, network.bytes, shape


@_compiled.einsum
def einsum(
    *operands: Any,
    out: Any = None,
    alpha: Any = 1,
    beta: Any = 0,
    conj: Optional[Sequence[bool]] = None,
    optimize: Union[bool, str, Sequence] = "auto",
    threads: Optional[int] = None,
    dtype: Any = None,
    order: str = "K",
    casting: str = "safe",
    measure: Union[bool, float] = False,
) -> Any:
    """Sum products of arrays over the axes that subscripts name: ``alpha * einsum(spec, ...) + beta * out``.

    Parameters
    ----------
    spec : str
        Subscripts as ``numpy.einsum`` has them: ``"ij,jk->ik"``, ``"ij,jk"`` (labels that are there once, in
        alphabetical order), ``"ii->i"`` (diagonals), ``"ij->j"`` (sums), ``"...ij,...jk"``. Labels are any letters
        and whatever is beyond ASCII, so that there is no limit to their number. Axes of extent 1 are broadcast. Instead, operands may come first: ``einsum(a, [0, 1], b, [1, 2], [0, 2])``.
    *operands : array
        At least one, all on one device: float16, bfloat16, float32, float64, complex64, complex128, and on the CPU
        integers of 32 and 64 bits (modulo 2**n), of one type; nothing of that is copied beforehand, but where there is
        so much to multiply that a BLAS is faster in another type. Arrays of NumPy and of CuPy may differ in type and are
        promoted as these libraries do it; of NumPy's also shorter integers, bool, long double (which NumPy itself
        computes) and other byte orders are taken. Python's numbers beside arrays of PyTorch and JAX become arrays of
        their type. One operand of which nothing is summed may have any type, as for `transpose`. Libraries and strides
        as for `transpose`.
    out : array, optional
        Where the result goes, as for `transpose`. It may not overlap with an operand. Of NumPy and CuPy it may have
        another type, where `casting` allows it.
    alpha, beta : scalar, optional
        With beta 0 `out` is not read.
    conj : sequence of bool, optional
        Which operands to take the complex conjugate of (default: none).
    optimize : bool, str or list, optional
        More than two operands are contracted two at a time. 'auto', 'greedy', 'optimal' and so on: in the order that
        ``opt_einsum.contract_path`` finds; where opt_einsum is not installed, in one found greedily, or for 'optimal' by
        ``numpy.einsum_path``. False: from left to right. A list: a path, as these functions and `einsum_path` give it.
    threads : int, optional
        Most threads to use on the CPU. Default: as OpenMP would.
    dtype : optional
        The type to compute in, of arrays of NumPy and CuPy. Default: what they are promoted to.
    order : {'K', 'C', 'F', 'A'}, optional
        How a new result lies in memory: 'F' and, where all operands are in Fortran's order, 'A': in Fortran's order;
        else in C order.
    casting : {'safe', 'no', 'equiv', 'same_kind', 'unsafe'}, optional
        Which conversions of operands and to `out` are allowed, as for NumPy.
    measure : bool or float, optional
        True, or a limit in seconds for each plan (True: 2): plans are chosen by timing the best ways, on memory of the
        library's own, instead of by the model. Later calls with the same `measure` take what was found; so do all calls
        where `plan_cache.wisdom` keeps it.

    Returns
    -------
    array
        `out`; else a new array of the first operand's library, in C order; for rank 0 and NumPy a scalar, as NumPy has
        it. On a GPU the work is in that library's current stream, and need not be done on return.

    Raises
    ------
    TypeError
        Element types that can't be contracted, that differ where they are not promoted, or that `casting` does not
        allow; what is no array.
    ValueError
        Subscripts that are wrong, or that the shapes don't fit; `out` of another shape or device, read-only,
        overlapping.
    RuntimeError, MemoryError
        What the library could not do, in its words: no BLAS was found, for one.

    Warns
    -----
    RuntimeWarning
        Once, if the BLAS has picked slow kernels and an environment override would help (see `providers`).

    Examples
    --------
    >>> cutt.einsum("ij,jk->ik", np.eye(2), np.ones((2, 2)))
    array([[1., 1.],
           [1., 1.]])
    """
    if not operands:
        raise ValueError("einsum needs subscripts and operands")
    if measure is not False:
        seconds = 0.0 if isinstance(measure, bool) else seconds_of(measure, "measure")
        with choosing.measuring(seconds) if measure else contextlib.nullcontext():
            return _sum(operands, out, alpha, beta, conj, optimize, threads, dtype, order, casting)
    plain = conj is None and dtype is None and type(alpha) is type(beta) is int and alpha == 1 and beta == 0
    if plain and (out is None or _apart(out, operands)) and _are_few(operands, out, optimize, _FEW):
        threads_of(threads)  # refuses what is no number of threads
        with contextlib.suppress(TypeError, ValueError):  # which are worded below
            made = np.einsum(*operands, out=out, order="C" if order == "K" else order, casting=casting)
            if out is not None or getattr(made, "base", None) is None:  # of one operand it may be a view
                return made
    return _sum(operands, out, alpha, beta, conj, optimize, threads, dtype, order, casting)


def _sum(
    operands: Sequence[Any],
    out: Any,
    alpha: Any,
    beta: Any,
    conj: Any,
    optimize: Any,
    threads: Optional[int],
    dtype: Any,
    order: str,
    casting: str,
) -> Any:
    """einsum() by the library."""
    if not isinstance(operands[0], str):
        spec, arrays, numbers = interleaved(operands)
        plain = conj is None and dtype is None and order == "K" and casting == "safe" and choosing.seconds is None
        with in_numbers(numbers):
            if plain and _compiled.calls is not None:
                made = _compiled.calls.try_einsum(
                    spec, *arrays, out=out, alpha=alpha, beta=beta, optimize=optimize, threads=threads
                )
                if made is not NotImplemented:
                    return made
            return _sum((spec, *arrays), out, alpha, beta, conj, optimize, threads, dtype, order, casting)
    spec, arrays = operands[0], list(operands[1:])
    if not arrays:
        raise ValueError("einsum needs an operand at least")
    views = _types.operands_of(arrays)
    terms, labels = parse(spec, tuple(len(view.shape) for view in views))
    if conj is not None:
        for view, flag in zip(views, flags(conj, "conj", len(views))):
            view.conj = view.conj != flag
    kind = _types.common(views, terms, labels, dtype, casting)
    if out is None:
        extents = extents_of(terms, views)
        out = _types.ordered(order, views, tuple(extents[label] for label in labels), kind) if is_zero(beta) else None
    elif order not in ("K", "C", "F", "A"):
        raise ValueError(f"order is {order!r}; it must be one of C, F, A, K")
    number = threads_of(threads)
    if kind is None:
        return compute(views, terms, labels, out, alpha, beta, optimize, number, True)
    return converted(views, terms, labels, out, alpha, beta, optimize, number, True, kind, casting)


def _are_few(operands: Sequence[Any], out: Any, optimize: Any, most: int) -> bool:
    """NumPy's arrays and numbers, of which so few (`most`, of integers) are multiplied that NumPy is done before anything else has
    begun: but for two operands of one type that the library multiplies, which the compiled module serves sooner. out, if it is there, is of
    their type and of the result's shape, and its elements have memory of their own."""
    spec, arrays = operands[0], operands[1:]
    if type(spec) is not str or not spec.isascii():
        return False
    if not isinstance(optimize, (bool, type(None))) and not (type(optimize) is str and optimize in _path.NAMES):
        return False
    extents: dict[str, int] = {}
    given, arrow, result = spec.partition("->")
    kinds, terms = set(), given.split(",")
    if len(terms) != len(arrays):
        return False
    for term, array in zip(terms, arrays):
        # NumPy's sum over nothing may be a NaN, and may write to memory that is not its own.
        if type(array) is np.ndarray and array.dtype.kind in "biufc" and array.ndim == len(term) and array.size:
            kinds.add(array.dtype)
            for label, n in zip(term, array.shape):
                extents[label] = max(n, extents.get(label, 0))
        elif term or not isinstance(array, (int, float, complex, np.generic)):
            return False
    served = (
        [type(array) for array in arrays] == [np.ndarray] * 2
        and len(kinds) == 1
        and next(iter(kinds)).char in "fdFDiIlLqQ"
    )
    if out is not None:
        alike = kinds == {out.dtype} and all(type(array) is np.ndarray for array in arrays) and out.flags.forc
        if not arrow or not alike or out.shape != tuple(extents.get(label, -1) for label in result):
            return False
    whole = all(kind.kind in "biu" for kind in kinds)
    return bool(kinds) and not served and math.prod(extents.values()) <= (most if whole else most >> 2)


def converted(
    views: list,
    terms: tuple,
    labels: tuple,
    out: Any,
    alpha: Any,
    beta: Any,
    optimize: Any,
    threads: int,
    scalar: bool,
    kind: np.dtype,
    casting: str,
) -> Any:
    """As compute(), of operands that become another type first, or with a result that becomes one afterwards."""
    first, extents = views[0], extents_of(terms, views)
    shape = tuple(extents[label] for label in labels)
    if out is None and not is_zero(beta):
        raise ValueError(f"beta is {beta!r} and there is no out to be added to")
    target = None if out is None else _types.out_view(out, shape, first, kind, casting)
    work = kind if _types.is_moved(terms, labels) else _types.working(kind, views, terms, labels)
    if work == kind and (kind.char not in "gG" or _types.is_moved(terms, labels)):
        views = [_types.cast(view, kind) for view in views]
        if target is None or target.dtype.name == views[0].dtype.name:
            return compute(views, terms, labels, out, alpha, beta, optimize, threads, scalar)
    if kind.kind in "biu":
        alpha, beta = _types.factors(kind, alpha, beta)
    if kind.char in "gG" and not all(view.size for view in views):
        value = np.zeros(shape, kind)
    elif kind.char in "gG":
        optimal = math.prod(extents.values()) > _FEW
        value = _types.scaled(_by_numpy(views, terms, labels, kind, optimal), alpha, kind)
    else:
        views = [_types.cast(view, work) for view in views]
        value = compute(views, terms, labels, None, alpha, 0, optimize, threads, False)
    value = (value != 0) if kind.kind == "b" else value
    if target is None:
        return first.adapter.finish(value.astype(kind, order="C"), scalar)
    held = array_of(target) if target.device[0] == "cpu" else target.owner
    if not is_zero(beta):
        value = value + (_types.scaled(held, beta, kind) if kind.kind in "iu" else beta * held)
    held[...] = value
    return out


def _by_numpy(views: list, terms: tuple, labels: tuple, kind: np.dtype, optimize: bool) -> Any:
    """Of long double, for which there is no BLAS."""
    places = {label: place for place, label in enumerate(dict.fromkeys(label for term in terms for label in term))}
    given: list = []
    for view, term in zip(views, terms):
        given += [view.owner.conj() if view.conj else view.owner, [places[label] for label in term]]
    return np.asarray(
        np.einsum(*given, [places[label] for label in labels], dtype=kind, casting="unsafe", optimize=optimize)
    )


def compute(
    views: list,
    terms: tuple,
    labels: tuple,
    out: Any,
    alpha: Any,
    beta: Any,
    optimize: Any,
    threads: int,
    scalar: bool,
) -> Any:
    first = views[0]
    extents = extents_of(terms, views)
    code = 0 if _types.is_moved(terms, labels) else check_type(first, views[1:])
    arithmetic_of(first.dtype, alpha, beta, False)  # refuses what is no scalar, whatever there is to do
    array, result = _result(first, tuple(extents[label] for label in labels), out, beta)
    operands = [Operand(view, term, extents) for view, term in zip(views, terms)]
    if not result.size:
        pass
    elif not all(view.size for view in views):
        _scale(result, beta, threads)
    else:
        try:
            _execute(operands, labels, result, code, alpha, beta, optimize, threads)
        except ValueError:
            name_overlap(views, result)
            raise
    return first.adapter.finish(array, scalar) if out is None else out


def _execute(
    operands: list, labels: tuple, result: View, code: int, alpha: Any, beta: Any, optimize: Any, threads: int
) -> None:
    """Some element is in each."""
    first, pair = operands[0].view, contract_integers if code in (L.I32, L.I64) else contract
    if len(operands) == 1:
        _one(operands[0], labels, result, alpha, beta, threads)
    elif len(operands) == 2:
        pair(operands[0], operands[1], labels, result, code, alpha, beta, threads)
    else:
        reduced = tuple(operand.labels for operand in operands)
        pairs = pairs_of(optimize, reduced, [operand.view for operand in operands], labels)
        if pair is contract and (first.device[0] == "cpu" or hasattr(first.adapter, "workspace")):
            _many(operands, pairs, labels, result, code, alpha, beta, threads)
        else:
            _pairwise(operands, pairs, labels, result, code, alpha, beta, threads, pair)
