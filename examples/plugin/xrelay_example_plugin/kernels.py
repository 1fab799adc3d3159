"""
NumPy kernels of the operators of `demo`: imported to run a program, without xDSL.

Each is bound once to its attributes and arrays, and then called as often as the program runs.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from xrelay.runtime.kernels.bind import Array, Attrs, Bind, Thunk, number, sequence
from xrelay.runtime.kernels.checked import CheckedKernel

from . import signatures


def scaled_tanh(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """tanh(scale * x), computed in the output."""
    (x,), (y,) = ins, outs
    scale = x.dtype.type(number(attrs, "scale"))
    return sequence(partial(np.multiply, x, scale, y), partial(np.tanh, y, y))


def as_rows(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """The same bytes as a matrix, for when it is fused into a kernel and is no view."""
    (x,), (y,) = ins, outs
    return partial(np.copyto, y, x.reshape(y.shape))


KERNELS: dict[str, Bind] = {
    "demo.scaled_tanh": CheckedKernel("demo.scaled_tanh", signatures.scaled_tanh, scaled_tanh),
    "demo.as_rows": CheckedKernel("demo.as_rows", signatures.as_rows, as_rows),
}
