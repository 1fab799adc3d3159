"""
Rules of the resizing of images.

Which pixels each row and column of the result is computed from, and their weights, are vectors. The
nearest pixels are extracted at once; otherwise one `linalg.generic` resizes the rows, and a second
one the columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, f32, f64, i64
from xdsl.ir import Operation, SSAValue

from ....dialects import relay
from ....dialects.attributes import plain_attributes
from ....operators.resizing import nearest, offsets, position, weights
from ....operators.vision import Resizing
from ..builder import Builder, Rule, Size, element_of, tensor_of
from ..moving import clamped, element_size, gathered
from ..numbers import Scalar, number, number_of
from ..scalars import is_float
from ..sums import rounded, sum_type


def _whole(b: Builder, size: Size) -> Size:
    """Return a size without its fraction."""
    if isinstance(size, SSAValue) and is_float(size.type):
        return b.index(_integer(number(b, size)))
    return size


def _integer(x: Scalar) -> SSAValue:
    """Return the whole float `x` as an i64."""
    return x.b.insert(arith.FPToSIOp(x.value, i64))


def _nearest(b: Builder, how: Resizing, old: Size, new: Size, count: Size) -> SSAValue:
    """Return the index of the pixel nearest to each of `count`, the whole part of `new`."""

    def find(inner: Builder, at: Sequence[SSAValue]) -> SSAValue:
        pixel, sides = number_of(inner, at[0], f32), (number_of(inner, x, f32) for x in (old, new))
        whole = cast(Scalar, nearest(how, pixel, *sides))
        return number_of(inner, clamped(inner, inner.index(_integer(whole)), old), i64).value

    return gathered(b, [count], i64, find)


def _nearest_pixels(
    b: Builder,
    how: Resizing,
    x: SSAValue,
    sizes: Sequence[Size],
    new: Mapping[int, Size],
) -> SSAValue:
    axes = [*new]
    positions = [_nearest(b, how, b.dim(x, axis), new[axis], sizes[axis]) for axis in axes]
    every = range(len(sizes))

    def body(inner: Builder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        at: list[Size] = [inner.loop_index(i) for i in every]
        for axis, index in zip(axes, elements[:2], strict=True):
            at[axis] = inner.index(index)
        return [inner.extract(x, at)]

    out = b.empty(sizes, element_of(x))
    return b.nest(positions, [[axis] for axis in axes], [out], every, body)[0]


def _interpolated(
    b: Builder, how: Resizing, x: SSAValue, axis: int, new: Size, count: Size
) -> SSAValue:
    """Resize `axis` of `x` to `new`, of which `count` are whole, in the type of `sum_type`."""
    old, sizes = b.dim(x, axis), b.dims(x)
    sizes[axis] = count
    summed = sum_type(element_of(x))

    def exact(inner: Builder, at: Sequence[SSAValue]) -> Scalar:
        pixel, sides = number_of(inner, at[0], f64), (number_of(inner, x, f64) for x in (old, new))
        return cast(Scalar, position(how, pixel, *sides))

    def first(inner: Builder, at: Sequence[SSAValue]) -> SSAValue:
        return _integer(exact(inner, at).math("floor"))

    def weight(inner: Builder, at: Sequence[SSAValue], i: int) -> SSAValue:
        found = weights(how, exact(inner, at), number_of(inner, old, f64))[i]
        return cast(Scalar, found).value

    def vector(i: int) -> SSAValue:
        return rounded(b, gathered(b, [count], f64, partial(weight, i=i)), summed)

    def body(inner: Builder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        at: list[Size] = [inner.loop_index(i) for i in range(len(sizes))]
        start, total = inner.index(elements[0]), number(inner, inner.constant(0, summed))
        for offset, factor in zip(offsets(how), elements[1:-1], strict=True):
            at[axis] = clamped(inner, inner.add(start, offset), old)
            pixel = number(inner, inner.extract(x, at)).widened()
            total = total + pixel * number(inner, factor)
        return [total.value]

    vectors = [gathered(b, [count], i64, first), *map(vector, range(len(offsets(how))))]
    reads, out = [[axis]] * len(vectors), b.empty(sizes, summed)
    return b.nest(vectors, reads, [out], range(len(sizes)), body)[0]


def _resized(
    b: Builder, op: relay.vision.Resizing, x: SSAValue, new: Sequence[Size]
) -> Sequence[SSAValue]:
    sizes, shape = b.dims(x), tensor_of(op.results[0]).get_shape()
    how = Resizing.of(plain_attributes(op))
    by_axis = dict(zip(map(how.layout.index, "HW"), new, strict=True))
    for axis, size in by_axis.items():
        sizes[axis] = _whole(b, size) if shape[axis] == DYNAMIC_INDEX else shape[axis]
    if how.method == "nearest_neighbor":
        return [_nearest_pixels(b, how, x, sizes, by_axis)]
    element = element_of(x)
    for axis, size in by_axis.items():
        x = _interpolated(b, how, x, axis, size, sizes[axis])
    return [rounded(b, x, element)]


def resize2d(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Resize to the size in the attribute."""
    assert isinstance(op, relay.vision.Resize2dOp)
    return _resized(b, op, operands[0], op.size.get_values())


def dyn_resize2d(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Resize to the size in an operand."""
    assert isinstance(op, relay.vision.DynResize2dOp)
    x, size, _ = operands
    read = b.extract if is_float(element_of(size)) else partial(element_size, b)
    return _resized(b, op, x, [read(size, [i]) for i in range(2)])


RULES: Mapping[str, Rule] = {
    "relay.dyn.image.resize2d": dyn_resize2d,
    "relay.image.resize2d": resize2d,
}
