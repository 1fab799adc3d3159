"""The kernels of the operators of `demo`: NumPy, without xDSL."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from xrelay.runtime.kernels.bind import Array, Attrs, Bind, Thunk, fold, integers, number, sequence
from xrelay.runtime.kernels.checked import CheckedKernel, Reuse

from . import rules


def scaled_tanh(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Compute tanh(scale * x), with the output as scratch memory."""
    (x,), (y,) = ins, outs
    scale = x.dtype.type(number(attrs, "scale"))
    return sequence(partial(np.multiply, x, scale, y), partial(np.tanh, y, y))


def as_rows(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Copy the elements: a step of a larger kernel cannot be a view."""
    (x,), (y,) = ins, outs
    return partial(np.copyto, y, x.reshape(y.shape))


def min_max(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Compute the minima into one output and the maxima into the other."""
    (x,), (least, greatest) = ins, outs
    axes = integers(attrs, "axes") if "axes" in attrs else tuple(range(x.ndim))
    return sequence(
        fold(np.minimum, x, axes, least, keep=False),
        fold(np.maximum, x, axes, greatest, keep=False),
    )


KERNELS: dict[str, Bind] = {
    "demo.scaled_tanh": CheckedKernel(
        "demo.scaled_tanh", rules.scaled_tanh, scaled_tanh, Reuse.ELEMENTWISE
    ),
    "demo.as_rows": CheckedKernel("demo.as_rows", rules.as_rows, as_rows, Reuse.RESHAPE),
    "demo.min_max": CheckedKernel("demo.min_max", rules.min_max, min_max),
}
