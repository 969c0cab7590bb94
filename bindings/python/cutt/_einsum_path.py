"""einsum_path: how einsum contracts many operands, step by step, with costs."""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Union

from . import _path, _types
from ._arguments import threads_of
from ._contract import Operand, check_type, extents_of, info_of
from ._einsum import pairs_of
from ._network import Network
from ._permute import misfit, packed
from ._spec import in_numbers, interleaved, parse
from ._views import packed_strides


def einsum_path(
    *operands: Any, optimize: Union[bool, str, Sequence] = "auto", threads: Optional[int] = None
) -> tuple[list, str]:
    """How `einsum` would contract these operands, without doing it: as ``numpy.einsum_path``, with what each step costs.

    Parameters
    ----------
    spec, *operands, optimize, threads
        As for `einsum`; arrays are only looked at, and of one type that the library multiplies.

    Returns
    -------
    (list, str)
        The path, which `einsum` takes as `optimize`, and NumPy and opt_einsum too: ``['einsum_path', (1, 2), (0, 1)]``. And a
        table for people: each step with the order of axes that its result has in memory, the elements of that, additions and
        multiplications, predicted seconds, and which tensors are permuted.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        As `einsum`.

    Examples
    --------
    >>> path, text = cutt.einsum_path("ij,jk,kl->il", np.ones((9, 8)), np.ones((8, 7)), np.ones((7, 2)))
    >>> path
    ['einsum_path', (1, 2), (0, 1)]
    """
    if not operands:
        raise ValueError("einsum_path needs subscripts and operands")
    if not isinstance(operands[0], str):
        subscripts, given, numbers = interleaved(operands)
        with in_numbers(numbers):
            return einsum_path(subscripts, *given, optimize=optimize, threads=threads)
    spec, arrays = operands[0], list(operands[1:])
    if not arrays:
        raise ValueError("einsum_path needs an operand at least")
    views = _types.operands_of(arrays)
    terms, labels = parse(spec, tuple(len(view.shape) for view in views))
    extents = extents_of(terms, views)
    if len(views) == 1:
        return ["einsum_path", (0,)], "one operand: it is permuted, or summed in one pass\n"
    first = views[0]
    code = check_type(first, views[1:])
    if not all(view.size for view in views):
        raise ValueError("an operand has no elements: there is nothing to contract")
    tensors = [Operand(view, term, extents) for view, term in zip(views, terms)]
    for tensor in tensors:
        if misfit(tensor.view):
            tensor.view = packed(tensor.view)
    pairs = pairs_of(optimize, tuple(one.labels for one in tensors), [one.view for one in tensors], labels)
    shape = tuple(extents[label] for label in labels)
    result = first.like(shape, packed_strides(shape, first.dtype.itemsize))
    result.conj = False
    network = Network(tensors, labels, result, code, 1, 0, threads_of(threads), pairs)
    return ["einsum_path", *_path.placed(pairs, len(views))], _table(network, len(views))


def _name(labels: Sequence[str]) -> str:
    return "".join(label if len(label) == 1 else f"[{label}]" for label in labels)


def _duration(seconds: float) -> str:
    return f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _table(network: Network, count: int) -> str:
    rows, flops, seconds = [], 0.0, 0.0
    for number, step in enumerate(network.steps):
        info = info_of(step.handle)
        flops += info.flops
        seconds += info.predicted_seconds
        permuted = "".join(
            letter
            for letter, flag in zip("LRD", (info.permutes_left, info.permutes_right, info.permutes_result))
            if flag
        )
        terms = f"{_name(network.labels[step.left])},{_name(network.labels[step.right])}->{_name(step.labels)}"
        elements = math.prod(network.extents[label] for label in step.labels)
        rows.append(
            f"{number:4} {step.left:4} {step.right:4} {elements:11.3g} {info.flops:9.2g} "
            f"{_duration(info.predicted_seconds):>9}  {info.algorithm.decode():8} {permuted or '-':4} {terms}"
        )
    largest = max((size for size in network.sizes), default=0)
    head = [
        f"{len(network.steps)} steps, {flops:.3g} operations, predicted {_duration(seconds)}; largest result "
        f"{largest / 1e6:.3g} MB; intermediates {network.between / 1e6:.3g} MB in one block, workspace "
        f"{network.workspace / 1e6:.3g} MB",
        f"operands are 0 to {count - 1}, and step n makes {count} + n; L, R and D are permuted where it says so",
        f"{'step':>4} {'L':>4} {'R':>4} {'elements':>11} {'flops':>9} {'predicted':>9}  {'by':8} {'perm':4} axes in memory",
    ]
    return "\n".join(head + rows) + "\n"
