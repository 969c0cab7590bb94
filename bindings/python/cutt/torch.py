"""Operators for PyTorch: permute and einsum with gradients of any order, which torch.compile takes as they are.

>>> import torch, cutt.torch
>>> a = torch.rand(64, 3, 224, 224, requires_grad=True)
>>> cutt.torch.permute(a, (0, 2, 3, 1)).sum().backward()

They are torch.ops.cutt.permute and torch.ops.cutt.einsum of torch.library, for the CPU and for CUDA devices, where the
work is in the current stream. It takes PyTorch 2.4 or later.
"""

from typing import Any, Sequence

import torch
from torch import Tensor

from ._einsum import einsum as _compute
from ._gradient import gradient_of, shape_of
from ._permute import normal_axes, transpose

__all__ = ["einsum", "permute"]

if not hasattr(torch.library, "custom_op"):
    raise ImportError(
        f"cutt.torch takes PyTorch 2.4 or later, which has torch.library.custom_op; this is {torch.__version__}"
    )


@torch.library.custom_op("cutt::permute", mutates_args=())
def _permute(a: Tensor, axes: Sequence[int]) -> Tensor:
    with torch.no_grad():
        return transpose(a, tuple(axes))


@_permute.register_fake
def _(a: Tensor, axes: Sequence[int]) -> Tensor:
    return a.new_empty([a.shape[axis] for axis in axes])


def _keep_axes(ctx: Any, inputs: tuple, output: Tensor) -> None:
    ctx.axes = list(inputs[1])


def _permute_back(ctx: Any, grad: Tensor) -> tuple:
    inverse = sorted(range(len(ctx.axes)), key=lambda place: ctx.axes[place])
    return _permute(grad, inverse), None


_permute.register_autograd(_permute_back, setup_context=_keep_axes)


@torch.library.custom_op("cutt::einsum", mutates_args=())
def _einsum(spec: str, operands: Sequence[Tensor]) -> Tensor:
    with torch.no_grad():
        return _compute(spec, *operands)


@_einsum.register_fake
def _(spec: str, operands: Sequence[Tensor]) -> Tensor:
    return operands[0].new_empty(shape_of(spec, [operand.shape for operand in operands]))


def _keep_operands(ctx: Any, inputs: tuple, output: Tensor) -> None:
    ctx.spec = inputs[0]
    ctx.save_for_backward(*inputs[1])


def _gradient(place: int, spec: str, operands: Sequence[Tensor], grad: Tensor) -> Tensor:
    shape = operands[place].shape
    told = gradient_of(place, spec, [operand.shape for operand in operands])
    others = [operand.conj() for number, operand in enumerate(operands) if number != place]
    part = _einsum(told.spec, [grad, *others])
    spread = told.spread()
    for axis, at in enumerate(spread):
        if at is None:
            part = part.unsqueeze(axis)
    part = part.expand(told.extents)
    if told.is_plain:
        return part
    index = []
    for axis in told.axes:
        along = [1] * len(told.own)
        if axis is None:
            index.append(torch.zeros(along, dtype=torch.long, device=grad.device))
        else:
            along[axis] = told.extents[axis]
            index.append(torch.arange(told.extents[axis], device=grad.device).reshape(along))
    return grad.new_zeros(shape).index_put(tuple(index), part)


def _einsum_back(ctx: Any, grad: Tensor) -> tuple:
    operands = ctx.saved_tensors
    wanted = ctx.needs_input_grad[1]
    return None, [
        _gradient(place, ctx.spec, operands, grad) if wanted[place] else None for place in range(len(operands))
    ]


_einsum.register_autograd(_einsum_back, setup_context=_keep_operands)


def permute(a: Tensor, axes: Sequence[int]) -> Tensor:
    """As ``a.permute(axes)``, in memory of its own; the gradient is permuted back.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        As `cutt.transpose`.
    """
    return _permute(a, list(normal_axes(axes, a.dim())))


def einsum(spec: str, *operands: Tensor) -> Tensor:
    """As `cutt.einsum`, of tensors of one type on one device. A gradient is an einsum of the result's gradient and the
    other operands.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        As `cutt.einsum`.
    """
    return _einsum(spec, list(operands))
