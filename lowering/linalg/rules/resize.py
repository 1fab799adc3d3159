"""
Rules of the resizing of images.

Which pixels each row and column of the result is computed from, and their weights, are vectors. The
nearest pixels are extracted at once; otherwise one `linalg.generic` resizes the rows, and a second
one the columns.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import partial, reduce

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, f32, f64, i64
from xdsl.ir import Operation, SSAValue

from ....dialects import relay
from ..builder import Builder, Rule, Size, element_of, tensor_of
from ..moving import clamped, element_size, gathered
from ..numbers import Scalar, number, number_of
from ..scalars import is_float
from ..sums import rounded, sum_type


def _position(op: relay.vision.Resizing, pixel: Scalar, old: Size, new: Size) -> Scalar:
    """
    Return the position of `pixel`, the index of one of `new` pixels, among `old` ones.

    `new` may be a float.
    """
    b, type = pixel.b, pixel.type
    mode, total = op.coordinate_transformation_mode.data, number_of(b, new, type)
    if mode == "align_corners":
        last = (total - 1).apply("maximum", total.constant(1))
        return pixel * (number_of(b, b.sub(old, 1), type) / last)
    scale = total / number_of(b, old, type)
    if mode == "asymmetric":
        return pixel / scale
    place = (pixel + 0.5) / scale
    if mode == "tf_half_pixel_for_nn":
        return place
    place = place - 0.5
    return (total > 1).select(place, 0) if mode == "pytorch_half_pixel" else place


def _whole(b: Builder, size: Size) -> Size:
    """Return a size without its fraction."""
    if isinstance(size, SSAValue) and is_float(size.type):
        return b.index(_integer(number(b, size)))
    return size


def _integer(x: Scalar) -> SSAValue:
    """Return the whole float `x` as an i64."""
    return x.b.insert(arith.FPToSIOp(x.value, i64))


def _nearest(b: Builder, op: relay.vision.Resizing, old: Size, new: Size, count: Size) -> SSAValue:
    """Return the index of the pixel nearest to each of `count`, the whole part of `new`."""
    corners = op.coordinate_transformation_mode.data == "align_corners"
    mode = op.rounding_method.data or ("round" if corners else "floor")
    shift = {"round": 0.5, "round_prefer_ceil": 0.5, "round_prefer_floor": -0.5}.get(mode, 0.0)

    def find(inner: Builder, at: Sequence[SSAValue]) -> SSAValue:
        place = _position(op, number_of(inner, at[0], f32), old, new)
        place = place + shift if shift else place
        whole = place.math("ceil" if mode in ("ceil", "round_prefer_floor") else "floor")
        index = clamped(inner, inner.index(_integer(whole)), old)
        return number_of(inner, index, i64).value

    return gathered(b, [count], i64, find)


def _nearest_pixels(
    b: Builder,
    op: relay.vision.Resizing,
    x: SSAValue,
    sizes: Sequence[Size],
    new: Mapping[int, Size],
) -> SSAValue:
    axes = [*new]
    positions = [_nearest(b, op, b.dim(x, axis), new[axis], sizes[axis]) for axis in axes]
    every = range(len(sizes))

    def body(inner: Builder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        at: list[Size] = [inner.loop_index(i) for i in every]
        for axis, index in zip(axes, elements[:2], strict=True):
            at[axis] = inner.index(index)
        return [inner.extract(x, at)]

    out = b.empty(sizes, element_of(x))
    return b.nest(positions, [[axis] for axis in axes], [out], every, body)[0]


def _weight(op: relay.vision.Resizing, distance: Scalar, far: bool) -> Scalar:
    """Return the weight of a pixel at `distance`, which is `far` if it may be above 1."""
    if op.method.data == "linear":
        return 1 - distance
    a = op.cubic_alpha.value.data
    if far:
        return ((distance * a + -5 * a) * distance + 8 * a) * distance + -4 * a
    return (distance * (a + 2) + -(a + 3)) * distance * distance + 1


def _interpolated(
    b: Builder, op: relay.vision.Resizing, x: SSAValue, axis: int, new: Size, count: Size
) -> SSAValue:
    """Resize `axis` of `x` to `new`, of which `count` are whole, in the type of `sum_type`."""
    old, sizes = b.dim(x, axis), b.dims(x)
    sizes[axis] = count
    summed = sum_type(element_of(x))
    places = (0, 1) if op.method.data == "linear" else (-1, 0, 1, 2)
    excludes = op.method.data == "cubic" and op.cubic_exclude.value.data != 0

    def position(inner: Builder, at: Sequence[SSAValue]) -> Scalar:
        return _position(op, number_of(inner, at[0], f64), old, new)

    def first(inner: Builder, at: Sequence[SSAValue]) -> SSAValue:
        return _integer(position(inner, at).math("floor"))

    def weights(exact: Scalar) -> Sequence[Scalar]:
        floor = exact.math("floor")
        t = exact - floor
        weights: list[Scalar] = []
        for place in places:
            offset = place - t
            weight = _weight(op, offset if place > 0 else -offset, place in (-1, 2))
            if excludes:
                pixel = floor + place
                inside = (pixel > -1) & (pixel < number_of(exact.b, old, f64))
                weight = inside.select(weight, 0)
            weights.append(weight)
        if excludes:
            total = reduce(operator.add, weights)
            weights = [weight / total for weight in weights]
        return weights

    def vector(i: int) -> SSAValue:
        exact = gathered(b, [count], f64, lambda b, at: weights(position(b, at))[i].value)
        return rounded(b, exact, summed)

    def body(inner: Builder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        at: list[Size] = [inner.loop_index(i) for i in range(len(sizes))]
        start, total = inner.index(elements[0]), number(inner, inner.constant(0, summed))
        for place, weight in zip(places, elements[1:-1], strict=True):
            at[axis] = clamped(inner, inner.add(start, place), old)
            pixel = number(inner, inner.extract(x, at)).widened()
            total = total + pixel * number(inner, weight)
        return [total.value]

    vectors = [gathered(b, [count], i64, first), *map(vector, range(len(places)))]
    reads, out = [[axis]] * len(vectors), b.empty(sizes, summed)
    return b.nest(vectors, reads, [out], range(len(sizes)), body)[0]


def _resized(
    b: Builder, op: relay.vision.Resizing, x: SSAValue, new: Sequence[Size]
) -> Sequence[SSAValue]:
    sizes, shape = b.dims(x), tensor_of(op.results[0]).get_shape()
    by_axis = dict(zip(map(op.layout.data.index, "HW"), new, strict=True))
    for axis, size in by_axis.items():
        sizes[axis] = _whole(b, size) if shape[axis] == DYNAMIC_INDEX else shape[axis]
    if op.method.data == "nearest_neighbor":
        return [_nearest_pixels(b, op, x, sizes, by_axis)]
    element = element_of(x)
    for axis, size in by_axis.items():
        x = _interpolated(b, op, x, axis, size, sizes[axis])
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
