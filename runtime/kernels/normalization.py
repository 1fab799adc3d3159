"""Operators that scale a tensor by statistics, its own or given ones."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from ..memory.scratch import scratch
from .bind import (
    Array,
    Attrs,
    Bind,
    Thunk,
    along,
    flag,
    fold,
    integer,
    number,
    sequence,
    widen_half,
)


def _folded(x: Array, axis: int) -> tuple[int, ...]:
    shape = list(x.shape)
    shape[axis] = 1
    return tuple(shape)


def softmax(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Compute exp(x - max x) / sum exp(x - max x) along `axis`."""
    (x,), (y,) = ins, outs
    axis = integer(attrs, "axis")
    row = scratch(_folded(x, axis), x.dtype)
    return sequence(
        fold(np.maximum, x, axis, row, True),
        partial(np.subtract, x, row, y),
        partial(np.exp, y, y),
        fold(np.add, y, axis, row, True),
        partial(np.divide, y, row, y),
    )


def log_softmax(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Compute x - max x - log sum exp(x - max x) along `axis`."""
    (x,), (y,) = ins, outs
    axis = integer(attrs, "axis")
    row, powers = scratch(_folded(x, axis), x.dtype), scratch(x.shape, x.dtype)
    return sequence(
        fold(np.maximum, x, axis, row, True),
        partial(np.subtract, x, row, y),
        partial(np.exp, y, powers),
        fold(np.add, powers, axis, row, True),
        partial(np.log, row, row),
        partial(np.subtract, y, row, y),
    )


def layer_norm(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Compute (x - mean) / sqrt(variance + epsilon) * gamma + beta, statistics along `axis`."""
    (x, gamma, beta), (y,) = ins, outs
    if any(np.may_share_memory(y, vector) for vector in (gamma, beta)):
        kept = scratch(y.shape, y.dtype)
        return sequence(layer_norm(attrs, ins, [kept]), partial(np.copyto, y, kept))
    axis = integer(attrs, "axis")
    row, squares = scratch(_folded(x, axis), x.dtype), scratch(x.shape, x.dtype)
    count = np.array(x.shape[axis], x.dtype)
    epsilon = np.array(number(attrs, "epsilon"), x.dtype)
    steps: list[Thunk] = [
        fold(np.add, x, axis, row, True),
        partial(np.divide, row, count, row),
        partial(np.subtract, x, row, y),
        partial(np.multiply, y, y, squares),
        fold(np.add, squares, axis, row, True),
        partial(np.divide, row, count, row),
        partial(np.add, row, epsilon, row),
        partial(np.sqrt, row, row),
        partial(np.divide, y, row, y),
    ]
    if flag(attrs, "scale"):
        steps.append(partial(np.multiply, y, along(gamma, axis, x.ndim), y))
    if flag(attrs, "center"):
        steps.append(partial(np.add, y, along(beta, axis, x.ndim), y))
    return sequence(*steps)


def batch_norm(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """
    Compute (x - mean) / sqrt(variance + epsilon) * gamma + beta per channel.

    The statistics are given, and also returned unchanged (inference).
    """
    x, gamma, beta, moving_mean, moving_var = ins
    y, mean_out, var_out = outs
    axis = integer(attrs, "axis")
    scale, shift = scratch(gamma.shape, x.dtype), scratch(beta.shape, x.dtype)
    epsilon = np.array(number(attrs, "epsilon"), x.dtype)
    steps: list[Thunk] = [
        partial(np.add, moving_var, epsilon, scale),
        partial(np.sqrt, scale, scale),
        partial(np.reciprocal, scale, scale),
    ]
    if flag(attrs, "scale"):
        steps.append(partial(np.multiply, scale, gamma, scale))
    steps.append(partial(np.multiply, moving_mean, scale, shift))
    if flag(attrs, "center"):
        steps.append(partial(np.subtract, beta, shift, shift))
    else:
        steps.append(partial(np.negative, shift, shift))
    steps += [
        partial(np.multiply, x, along(scale, axis, x.ndim), y),
        partial(np.add, y, along(shift, axis, x.ndim), y),
        partial(np.copyto, mean_out, moving_mean),
        partial(np.copyto, var_out, moving_var),
    ]
    return sequence(*steps)


def lrn(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Compute x / (bias + alpha / size * s)^beta; s sums x² over `size` neighbours on `axis`."""
    (x,), (y,) = ins, outs
    size, axis = integer(attrs, "size"), integer(attrs, "axis") % x.ndim
    before = (size - 1) // 2
    squares, total = scratch(x.shape, x.dtype), scratch(x.shape, x.dtype)
    extent = x.shape[axis]
    steps: list[Thunk] = [partial(np.multiply, x, x, squares), partial(np.copyto, total, squares)]

    def part(array: Array, start: int, stop: int) -> Array:
        return array[(slice(None),) * axis + (slice(start, stop),)]

    for offset in range(max(-before, 1 - extent), min(size - before, extent)):
        first, last = max(0, -offset), min(extent, extent - offset)
        if offset == 0:
            continue
        to = part(total, first, last)
        steps.append(partial(np.add, to, part(squares, first + offset, last + offset), to))

    def constant(value: float) -> Array:
        return np.array(value, x.dtype)

    steps += [
        partial(np.multiply, total, constant(number(attrs, "alpha") / size), total),
        partial(np.add, total, constant(number(attrs, "bias")), total),
        partial(np.power, total, constant(-number(attrs, "beta")), total),
        partial(np.multiply, x, total, y),
    ]
    return sequence(*steps)


KERNELS: dict[str, Bind] = {
    "relay.nn.batch_norm": widen_half(batch_norm),
    "relay.nn.layer_norm": widen_half(layer_norm),
    "relay.nn.log_softmax": widen_half(log_softmax),
    "relay.nn.lrn": widen_half(lrn),
    "relay.nn.softmax": widen_half(softmax),
}

OF_ROWS = ("relay.nn.layer_norm", "relay.nn.log_softmax", "relay.nn.softmax")
"""Kernels whose result may be the data: they read rows of it, then each element a last time."""
