"""Activation functions, and the bias that precedes them."""

from collections.abc import Sequence
from functools import partial
from math import pi, sqrt

import numpy as np

from ..memory.scratch import scratch
from .bind import (
    Array,
    Attrs,
    Bind,
    Thunk,
    along,
    apply,
    clamp,
    integer,
    number,
    sequence,
    widen_half,
    word,
)
from .erf import bind_erf, erf


def sigmoid(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Compute 1 / (1 + exp(-x))."""
    (x,), (y,) = ins, outs
    one = np.ones((), y.dtype)
    return sequence(
        partial(np.negative, x, y),
        partial(np.exp, y, y),
        partial(np.add, y, one, y),
        partial(np.reciprocal, y, y),
    )


def relu(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Compute max(x, 0)."""
    (x,), (y,) = ins, outs
    zero = np.zeros((), x.dtype)
    highest = np.array(np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max, x.dtype)
    return clamp(x, zero, highest, y)


def leaky_relu(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Compute x where x > 0, alpha x elsewhere."""
    (x,), (y,) = ins, outs
    alpha = number(attrs, "alpha")
    if alpha == 0:
        return relu(attrs, ins, outs)
    scaled = scratch(y.shape, y.dtype)
    choose = np.maximum if alpha <= 1 else np.minimum
    return sequence(
        partial(np.multiply, x, np.array(alpha, x.dtype), scaled),
        apply(choose, x, scaled, out=y),
    )


def prelu(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Compute x where x > 0, alpha x elsewhere, with one alpha per index along `axis`."""
    (x, alpha), (y,) = ins, outs
    zero = np.zeros((), x.dtype)
    slope = along(alpha, integer(attrs, "axis"), x.ndim)
    scaled, others = scratch(y.shape, y.dtype), scratch(y.shape, np.bool_)
    return sequence(
        partial(np.multiply, x, slope, scaled),
        partial(np.greater, x, zero, others),
        partial(np.logical_not, others, others),
        partial(np.copyto, y, x),
        partial(np.copyto, y, scaled, where=others),
    )


def gelu(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """
    Compute x Φ(x), where Φ is the normal distribution function.

    With approximate="tanh": x (1 + tanh(sqrt(2/π) (x + 0.044715 x³))) / 2.
    """
    (x,), (y,) = ins, outs
    share = scratch(y.shape, y.dtype)
    half, one = np.array(0.5, y.dtype), np.ones((), y.dtype)
    if word(attrs, "approximate") == "tanh":
        cubic, scale = np.array(0.044715, y.dtype), np.array(sqrt(2 / pi), y.dtype)
        inner = sequence(
            partial(np.multiply, x, x, share),
            partial(np.multiply, share, cubic, share),
            partial(np.add, share, one, share),
            partial(np.multiply, share, x, share),
            partial(np.multiply, share, scale, share),
            partial(np.tanh, share, share),
        )
    else:
        scale = np.array(sqrt(0.5), y.dtype)
        inner = sequence(partial(np.multiply, x, scale, share), bind_erf(share, share))
    return sequence(
        inner,
        partial(np.add, share, one, share),
        partial(np.multiply, share, half, share),
        partial(np.multiply, share, x, y),
    )


def bias_add(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Add `bias` to `data` along `axis`."""
    data, bias = ins
    return partial(np.add, data, along(bias, integer(attrs, "axis"), data.ndim), outs[0])


KERNELS: dict[str, Bind] = {
    "relay.erf": widen_half(erf),
    "relay.nn.bias_add": bias_add,
    "relay.nn.gelu": widen_half(gelu),
    "relay.nn.leaky_relu": leaky_relu,
    "relay.nn.prelu": prelu,
    "relay.nn.relu": relu,
    "relay.sigmoid": widen_half(sigmoid),
}
