"""
Rules of the resizing of images.

Which pixels each row and column of the result is computed from, and their weights, are vectors. The
nearest pixels are extracted at once; otherwise one `linalg.generic` resizes the rows, and a second
one the columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import DYNAMIC_INDEX, f32, f64, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects import relay
from ..builder import INDEX, Builder, Rule, Size, element_of, tensor_of
from ..moving import element_size, gathered
from ..scalars import compare, convert, is_float, select, widened
from ..sums import rounded, sum_type
from .reduce import number_of


def _position(
    b: Builder, op: relay.vision.Resizing, at: SSAValue, old: Size, new: Size, type: Attribute
) -> SSAValue:
    """
    Return the position of the pixel at index `at` of `new` ones among `old` ones.

    `new` may be a float.
    """
    mode = op.coordinate_transformation_mode.data
    pixel, half = number_of(b, at, type), b.constant(0.5, type)
    total = _number(b, new, type)
    if mode == "align_corners":
        one = b.constant(1, type)
        last = b.insert(arith.MaximumfOp(b.insert(arith.SubfOp(total, one)), one))
        step = b.insert(arith.DivfOp(number_of(b, b.sub(old, 1), type), last))
        return b.insert(arith.MulfOp(pixel, step))
    scale = b.insert(arith.DivfOp(total, number_of(b, old, type)))
    if mode != "asymmetric":
        pixel = b.insert(arith.AddfOp(pixel, half))
    place = b.insert(arith.DivfOp(pixel, scale))
    if mode in ("asymmetric", "tf_half_pixel_for_nn"):
        return place
    place = b.insert(arith.SubfOp(place, half))
    if mode == "pytorch_half_pixel":
        single = compare(b, "ole", total, b.constant(1, type))
        return select(b, single, b.constant(0, type), place)
    return place


def _whole(b: Builder, size: Size) -> Size:
    """Return a size without its fraction."""
    if isinstance(size, SSAValue) and is_float(size.type):
        return b.insert(arith.IndexCastOp(b.insert(arith.FPToSIOp(size, i64)), INDEX))
    return size


def _number(b: Builder, size: Size, type: Attribute) -> SSAValue:
    """Return a size, which may be a float, as a float of `type`."""
    if isinstance(size, SSAValue) and is_float(size.type):
        return convert(b, size, size.type, type)
    return number_of(b, size, type)


def _nearest(b: Builder, op: relay.vision.Resizing, old: Size, new: Size, count: Size) -> SSAValue:
    """Return the index of the pixel nearest to each of `count`, the whole part of `new`."""
    corners = op.coordinate_transformation_mode.data == "align_corners"
    mode = op.rounding_method.data or ("round" if corners else "floor")
    shift = {"round": 0.5, "round_prefer_ceil": 0.5, "round_prefer_floor": -0.5}.get(mode, 0.0)
    kind = math.CeilOp if mode in ("ceil", "round_prefer_floor") else math.FloorOp

    def find(inner: Builder, at: Sequence[SSAValue]) -> SSAValue:
        place = _position(inner, op, at[0], old, new, f32)
        if shift:
            place = inner.insert(arith.AddfOp(place, inner.constant(shift, f32)))
        return _clamped(inner, inner.insert(kind(place)), old)

    return gathered(b, [count], i64, find)


def _clamped(b: Builder, place: SSAValue, old: Size) -> SSAValue:
    """Return the whole float `place` as an index below `old`."""
    index = b.insert(arith.IndexCastOp(b.insert(arith.FPToSIOp(place, i64)), INDEX))
    inside = b.maximum(b.minimum(index, b.sub(old, 1)), 0)
    return b.insert(arith.IndexCastOp(b.index(inside), i64))


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
            at[axis] = inner.insert(arith.IndexCastOp(index, INDEX))
        return [inner.extract(x, at)]

    out = b.empty(sizes, element_of(x))
    return b.nest(positions, [[axis] for axis in axes], [out], every, body)[0]


def _weight(b: Builder, op: relay.vision.Resizing, distance: SSAValue, far: bool) -> SSAValue:
    """Return the weight of a pixel at `distance`, which is `far` if it may be above 1."""

    def number(value: float) -> SSAValue:
        return b.constant(value, f64)

    def times_plus(x: SSAValue, y: SSAValue, value: float) -> SSAValue:
        return b.insert(arith.AddfOp(b.insert(arith.MulfOp(x, y)), number(value)))

    if op.method.data == "linear":
        return b.insert(arith.SubfOp(number(1), distance))
    a = op.cubic_alpha.value.data
    if far:
        inner = times_plus(times_plus(number(a), distance, -5 * a), distance, 8 * a)
        return times_plus(inner, distance, -4 * a)
    inner = times_plus(number(a + 2), distance, -(a + 3))
    return times_plus(b.insert(arith.MulfOp(inner, distance)), distance, 1)


def _interpolated(
    b: Builder, op: relay.vision.Resizing, x: SSAValue, axis: int, new: Size, count: Size
) -> SSAValue:
    """Resize `axis` of `x` to `new`, of which `count` are whole, in the type of `sum_type`."""
    old, sizes = b.dim(x, axis), b.dims(x)
    sizes[axis] = count
    summed = sum_type(element_of(x))
    places = (0, 1) if op.method.data == "linear" else (-1, 0, 1, 2)
    excludes = op.method.data == "cubic" and op.cubic_exclude.value.data != 0

    def first(inner: Builder, at: Sequence[SSAValue]) -> SSAValue:
        floor = inner.insert(math.FloorOp(_position(inner, op, at[0], old, new, f64)))
        return inner.insert(arith.FPToSIOp(floor, i64))

    def weights(inner: Builder, at: SSAValue) -> list[SSAValue]:
        position = _position(inner, op, at, old, new, f64)
        floor = inner.insert(math.FloorOp(position))
        t = inner.insert(arith.SubfOp(position, floor))
        weights: list[SSAValue] = []
        for place in places:
            offset = inner.insert(arith.SubfOp(inner.constant(place, f64), t))
            distance = offset if place > 0 else inner.insert(arith.NegfOp(offset))
            weight = _weight(inner, op, distance, place in (-1, 2))
            if excludes:
                pixel = inner.insert(arith.AddfOp(floor, inner.constant(place, f64)))
                least = compare(inner, "oge", pixel, inner.constant(0, f64))
                most = compare(inner, "olt", pixel, number_of(inner, old, f64))
                inside = inner.insert(arith.AndIOp(least, most))
                weight = select(inner, inside, weight, inner.constant(0, f64))
            weights.append(weight)
        if excludes:
            total = weights[0]
            for weight in weights[1:]:
                total = inner.insert(arith.AddfOp(total, weight))
            weights = [inner.insert(arith.DivfOp(weight, total)) for weight in weights]
        return weights

    def vector(number: int) -> SSAValue:
        return rounded(
            b, gathered(b, [count], f64, lambda inner, at: weights(inner, at[0])[number]), summed
        )

    def body(inner: Builder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        at: list[Size] = [inner.loop_index(i) for i in range(len(sizes))]
        start = inner.insert(arith.IndexCastOp(elements[0], INDEX))
        total = inner.constant(0, summed)
        for place, weight in zip(places, elements[1:-1], strict=True):
            pixel = inner.maximum(inner.minimum(inner.add(start, place), inner.sub(old, 1)), 0)
            at[axis] = pixel
            value = widened(inner, inner.extract(x, at))
            total = inner.insert(arith.AddfOp(total, inner.insert(arith.MulfOp(value, weight))))
        return [total]

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
