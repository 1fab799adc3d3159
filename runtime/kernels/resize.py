"""Resizing of images."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

import numpy as np

from ...operators.meaning.number import Number
from ...operators.resizing import nearest, offsets, position, weights
from ...operators.vision import Resizing
from ..memory.scratch import scratch
from .bind import Array, Attrs, Bind, Thunk, sequence, widen_half
from .recorded_formulas import Recorded, Tape


def _computed(formula: Callable[[Recorded], Number], numbers: Array) -> Array:
    """Return what a formula computes of numbers."""
    tape, y = Tape([numbers]), np.empty_like(numbers)
    with np.errstate(all="ignore"):
        tape.plan(cast(Recorded, formula(tape.operands[0])), y).bound([numbers], y)()
    return y


def _inside(places: Array, old: int) -> Array:
    return np.clip(places, 0, old - 1).astype(np.intp)


def _nearest(how: Resizing, old: int, new: float) -> Array:
    """Return the index of the nearest pixel, computed in float32, as in onnxruntime."""
    pixels: Array = np.arange(int(new), dtype=np.float32)
    whole = _computed(lambda x: nearest(how, x, x.constant(old), x.constant(new)), pixels)
    return _inside(whole, old)


def _interpolate(how: Resizing, x: Array, y: Array, axis: int, new: float) -> Thunk:
    """Return a thunk that resizes `axis` of `x` to that of `y`, of the whole part of `new`."""
    part, old = scratch(y.shape, y.dtype), x.shape[axis]
    pixels: Array = np.arange(int(new), dtype=np.float64)
    at = _computed(lambda x: position(how, x, x.constant(old), x.constant(new)), pixels)
    steps: list[Thunk] = [partial(y.fill, 0)]
    for i, offset in enumerate(offsets(how)):
        factors = _computed(lambda x, i=i: weights(how, x, x.constant(old))[i], at)
        along = factors.astype(y.dtype).reshape(-1, *[1] * (y.ndim - axis - 1))
        steps += [
            partial(np.take, x, _inside(np.floor(at) + offset, old), axis, part, "clip"),
            partial(np.multiply, part, along, part),
            partial(np.add, y, part, y),
        ]
    return sequence(*steps)


def resize2d(
    attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array], size: Sequence[float] = ()
) -> Thunk:
    """Resize rows, then columns; `size` is that of the result unless it has fractions."""
    x, (y,) = ins[0], outs
    how = Resizing.of(attrs)
    h = how.layout.index("H")
    tall = scratch((*x.shape[:h], y.shape[h], *x.shape[h + 1 :]), x.dtype)
    size = size or y.shape[h : h + 2]
    if how.method == "nearest_neighbor":
        rows, columns = (_nearest(how, x.shape[h + i], size[i]) for i in range(2))
        return sequence(
            partial(np.take, x, rows, h, tall, "clip"),
            partial(np.take, tall, columns, h + 1, y, "clip"),
        )
    return sequence(
        _interpolate(how, x, tall, h, size[0]), _interpolate(how, tall, y, h + 1, size[1])
    )


def sized(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Resize to the size of the result; fractions of the operand `size` are read at each run."""
    x, size = ins[:2]
    if size.dtype.kind != "f":
        return widen_half(resize2d)(attrs, [x], outs)

    def run() -> None:
        widen_half(partial(resize2d, size=size.tolist()))(attrs, [x], outs)()

    return run


KERNELS: dict[str, Bind] = {
    "relay.dyn.image.resize2d": sized,
    "relay.image.resize2d": widen_half(resize2d),
}
