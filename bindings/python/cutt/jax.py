"""Functions for JAX: permute and einsum inside of jax.jit, with gradients (jax.grad, jax.vjp) and jax.vmap.

>>> import jax, cutt.jax
>>> jax.jit(lambda a: cutt.jax.permute(a, (2, 0, 1)).sum())(jax.numpy.ones((4, 5, 6)))

Each is a callback to the host (jax.pure_callback), where cutt works on JAX's own memory: on a GPU, arrays would be copied
to the host and back, and there cutt.transpose and cutt.einsum outside of jax.jit are what to use.
"""

from __future__ import annotations

import functools
from typing import Any, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from ._einsum import einsum as _compute
from ._gradient import gradient_of, shape_of
from ._permute import normal_axes, transpose

__all__ = ["einsum", "permute"]


def _call(function: Any, shape: Sequence[int], *arrays: Any) -> Any:
    told = jax.ShapeDtypeStruct(tuple(shape), arrays[0].dtype)
    return jax.pure_callback(lambda *given: function(*map(np.asarray, given)), told, *arrays, vmap_method="sequential")


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def _permute(a: Any, axes: tuple) -> Any:
    return _call(lambda array: transpose(array, axes), [a.shape[axis] for axis in axes], a)


def _permute_forth(a: Any, axes: tuple) -> tuple:
    return _permute(a, axes), None


def _permute_back(axes: tuple, _: None, grad: Any) -> tuple:
    return (_permute(grad, tuple(sorted(range(len(axes)), key=lambda place: axes[place]))),)


_permute.defvjp(_permute_forth, _permute_back)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _einsum(spec: str, *operands: Any) -> Any:
    shape = shape_of(spec, [operand.shape for operand in operands])
    return _call(lambda *arrays: np.asarray(_compute(spec, *arrays)), shape, *operands)


def _einsum_forth(spec: str, *operands: Any) -> tuple:
    return _einsum(spec, *operands), operands


def _gradient(place: int, spec: str, operands: Sequence[Any], grad: Any) -> Any:
    shape = operands[place].shape
    told = gradient_of(place, spec, [operand.shape for operand in operands])
    part = _einsum(told.spec, grad, *(operand for number, operand in enumerate(operands) if number != place))
    missing = tuple(axis for axis, at in enumerate(told.spread()) if at is None)
    part = jnp.broadcast_to(jnp.expand_dims(part, missing), told.extents)
    if told.is_plain:
        return part
    index = []
    for axis in told.axes:
        along = [1] * len(told.own)
        if axis is None:
            index.append(np.zeros(along, np.int32))
        else:
            along[axis] = told.extents[axis]
            index.append(np.arange(told.extents[axis]).reshape(along))
    return jnp.zeros(shape, grad.dtype).at[tuple(index)].set(part)


def _einsum_back(spec: str, operands: Sequence[Any], grad: Any) -> tuple:
    return tuple(_gradient(place, spec, operands, grad) for place in range(len(operands)))


_einsum.defvjp(_einsum_forth, _einsum_back)


def permute(a: Any, axes: Sequence[int]) -> Any:
    """As ``jax.numpy.transpose(a, axes)``; the gradient is permuted back.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        As `cutt.transpose`.
    """
    a = jnp.asarray(a)
    return _permute(a, normal_axes(axes, a.ndim))


def einsum(spec: str, *operands: Any) -> Any:
    """As `cutt.einsum`, of arrays of one type. A gradient is an einsum of the result's gradient and the other operands.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        As `cutt.einsum`.
    """
    arrays = [jnp.asarray(operand) for operand in operands]
    for place, array in enumerate(arrays):
        if array.dtype != arrays[0].dtype:
            raise TypeError(
                f"operand {place} has elements of type {array.dtype}, and operand 0 of type {arrays[0].dtype}"
            )
    if not arrays:
        raise ValueError("einsum needs an operand at least")
    return _einsum(spec, *arrays)
