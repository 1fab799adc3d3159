"""
Resizing, to the nearest element or by interpolation.

With static sizes it is known which input element each output element copies: `nn.upsampling` where
rows and columns are only repeated, as by scales that are integers whatever the sizes are, otherwise
`take`, axis by axis. Otherwise the program computes
the indices to take, by the same formulas. Coordinates are computed in float32, as in onnxruntime:
5 rows scaled by 2.6 are 13, not 12. Sizes by known scales of 2, 3 or 1/2 are integers all along, so
that the sizes of what follows are functions of the input's dims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import frexp
from operator import add

import numpy as np

from ...between import filtered, taps, wide_taps
from ..convert.computed import Computed, Number
from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import (
    Array,
    Constant,
    Value,
    dims_of,
    dtype_of,
    has_static_shape,
    rank_of,
    shape_of,
)
from .linear import product
from .rule import Rule, Rules

FLOAT, INT = np.dtype(np.float32), np.dtype(np.int64)


CoordinateMap = Callable[[Computed, Number, Computed, Computed], Computed]
"""Maps coordinates in the result, scale, old size and new size to coordinates in the input."""


def _half_pixel(x: Computed, scale: Number, old: Computed, new: Computed) -> Computed:
    return (x + 0.5) / scale - 0.5


COORDINATE_MAPS: dict[str, CoordinateMap] = {
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": lambda x, scale, old, new: (
        _half_pixel(x, scale, old, new) + old / 2 * (1 - new / (old * scale))
    ),
    "pytorch_half_pixel": lambda x, scale, old, new: (x * 0.0).where(
        new < 2, _half_pixel(x, scale, old, new)
    ),
    "align_corners": lambda x, scale, old, new: (x * 0.0).where(
        new < 2, x * ((old - 1) / (new - 1))
    ),
    "asymmetric": lambda x, scale, old, new: x / scale,
}

Rounding = Callable[[Computed, Number], Computed]
"""Rounds coordinates in the input, given the scale, to elements."""

ROUNDINGS: dict[str, Rounding] = {
    "round_prefer_floor": lambda x, _: (x - 0.5).ceil(),
    "round_prefer_ceil": lambda x, _: (x + 0.5).floor(),
    "floor": lambda x, _: x.floor(),
    "ceil": lambda x, _: x.ceil(),
}


def _round_as_opset_10(x: Computed, scale: Number) -> Computed:
    """Round as in opset 10, following its examples and onnxruntime: up when downsampling."""
    return x.ceil().where(scale < 1, x.floor())


POLICIES = ("stretch", "not_larger", "not_smaller")


def upsample(node: Node, b: Builder) -> Value:
    """Convert Upsample, and Resize of opset 10; the scales are an attribute in opsets 7 and 8."""
    node.choice("mode", "nearest", ("nearest",))
    axes, numbers = range(rank_of(node.input(0))), node.floats("scales")
    scales = node.input(1) if numbers is None else b.constant(np.asarray(numbers, FLOAT))
    targets = _by_scales(node, scales, axes, b)
    return _copied(node, _places(node, axes, targets, "asymmetric", b), _round_as_opset_10, b)


def resize(node: Node, b: Builder) -> Value:
    """Convert from opset 11 on: to scales or to sizes, of all axes or some."""
    mode = node.choice("mode", "nearest", ("nearest", *METHODS))
    transformation = node.choice(
        "coordinate_transformation_mode", "half_pixel", (*COORDINATE_MAPS, CROP)
    )
    if mode != "nearest":
        return _interpolated(node, mode, transformation, b)
    rounding = node.choice("nearest_mode", "round_prefer_floor", tuple(ROUNDINGS))
    node.ignore("cubic_coeff_a", "exclude_outside")
    if node.flag("antialias", False):
        raise node.error("attribute antialias is 1; supported: 0")
    x = node.input(0)
    named = node.ints("axes")
    axes = list(range(rank_of(x))) if named is None else node.axes(named, rank_of(x))
    targets = _targets(node, axes, b)
    if (transformation, rounding) in REPEATS and not has_static_shape(x):
        factors = dict(zip(axes, map(_factor, targets), strict=True))
        if None not in factors.values() and rank_of(x) == 4 and {*factors.values()} != {1.0}:
            height, width = (factors.pop(axis, 1.0) for axis in (2, 3))
            if all(factor == 1 for factor in factors.values()):
                return b.op("nn.upsampling", x, scale_h=height, scale_w=width, layout="NCHW")
    return _copied(node, _places(node, axes, targets, transformation, b), ROUNDINGS[rounding], b)


REPEATS = {("asymmetric", "floor"), ("half_pixel", "round_prefer_floor")}
"""With these, a scale that is an integer repeats each element so many times."""


def _factor(target: Target | None) -> float | None:
    """Return a scale that is an integer; None if it is not, or not known."""
    if target is None:
        return 1.0
    value = target.scale.value
    scale = float(value.array) if isinstance(value, Constant) else 0.5
    return scale if scale.is_integer() else None


METHODS = ("linear", "cubic")
INTERPOLATED = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
"""The coordinate transformations of `image.resize2d`."""


def _interpolated(node: Node, mode: str, transformation: str, b: Builder) -> Value:
    """Convert to `image.resize2d` what that computes; otherwise, interpolate along each axis."""
    x = node.input(0)
    alpha, exclude = node.number("cubic_coeff_a", -0.75), node.flag("exclude_outside", False)
    node.ignore("nearest_mode")
    wide = node.flag("antialias", False)
    named = node.ints("axes")
    axes = list(range(rank_of(x))) if named is None else node.axes(named, rank_of(x))
    targets = _targets(node, axes, b)
    known = [target for target in targets if target is None or target.is_known]
    if len(known) == len(axes) and has_static_shape(x) and transformation in INTERPOLATED:
        sizes, is_exact = [*shape_of(x)], not wide
        for axis, target in zip(axes, known, strict=True):
            if target is not None:
                ratio = target.number / max(sizes[axis], 1)
                scale = _known_scale(target.scale) or 0.0
                is_exact &= abs(ratio - scale) <= 1e-6 * max(scale, 1.0)
                sizes[axis] = target.number
        if is_exact and len(sizes) == 4 and tuple(sizes[:2]) == shape_of(x)[:2]:
            node.ignore("extrapolation_value")
            return b.op(
                "image.resize2d",
                x,
                size=sizes[2:],
                method=mode,
                coordinate_transformation_mode=transformation,
                cubic_alpha=alpha,
                cubic_exclude=int(exclude),
            )
    places = _places(node, axes, targets, transformation, b, interpolated=True)
    dtype, x = dtype_of(x), b.cast(x, FLOAT)
    for place in places:
        scale = _known_scale(place.scale)
        if wide and scale is None:
            x = place.extrapolated(_filtered(node, place, x, (mode, alpha, exclude), b))
            continue
        around = [(tap, w) for tap, w in taps(place.at, mode, alpha) if w is not None]
        if wide and scale is not None:
            around = wide_taps(place.at, mode, alpha, scale)
        if exclude:
            around = [(tap, place.within(tap) * weight) for tap, weight in around]
        if exclude or wide:
            total = reduce(add, (weight for _, weight in around))
            around = [(tap, weight / total) for tap, weight in around]
        terms = [
            b.op("multiply", place.taken(x, tap), place.along(weight, x)) for tap, weight in around
        ]
        x = place.extrapolated(reduce(lambda y, term: b.op("add", y, term), terms))
    return b.cast(x, dtype)


def _known_scale(scale: Number) -> float | None:
    """Return a scale that is known: the number of elements of a filter depends on it."""
    if not isinstance(scale, Computed):
        return scale
    return float(scale.value.array) if isinstance(scale.value, Constant) else None


def _filtered(
    node: Node, place: Places, x: Value, how: tuple[str, float, bool], b: Builder
) -> Value:
    """
    Multiply by a weight for each element that a filter may reach, and each place.

    A filter is as wide as `1 / scale` requires, which is not known. Elements outside are the
    nearest ones inside, or do not count.
    """
    mode, alpha, exclude = how
    scale = place.size.like(place.scale).minimum(1.0)
    more = (scale.like(1.0 if mode == "linear" else 2.0) / scale).ceil() + 1.0
    count = (place.size + more * 2.0).cast("int64")
    elements = Computed(b.cast(b.counting(count.value), FLOAT), b) - more
    distance = (elements.expand_dims(axis=1) - place.at) * scale
    weights = filtered(distance.abs(), mode, alpha)
    if exclude:
        weights = weights * place.within(elements).expand_dims(axis=1)
    weights = weights / weights.sum(axis=[0], keepdims=True)
    order = [*(i for i in range(rank_of(x)) if i != place.axis), place.axis]
    y = product(node, b.transpose(place.taken(x, elements), order), weights.value, b)
    return b.transpose(y, [order.index(i) for i in range(len(order))])


# -------------------------------------------------------------------- at run time


@dataclass(frozen=True)
class Target:
    """The scale of an axis that changes in float32, and its new size in i64: scalars."""

    scale: Computed
    size: Value

    @property
    def is_known(self) -> bool:
        return isinstance(self.size, Constant) and isinstance(self.scale.value, Constant)

    @property
    def number(self) -> int:
        """The new size, which is known."""
        assert isinstance(self.size, Constant), "a known target"
        return int(self.size.array)


def _old_sizes(x: Value, axes: Sequence[int], b: Builder) -> list[Computed]:
    return [Computed(b.cast(b.size(dims_of(x)[axis]), FLOAT), b) for axis in axes]


def _numbers(node: Node, given: Value, count: int, what: str, b: Builder) -> list[Value]:
    """Return the `count` numbers of a vector as scalars."""
    if rank_of(given) != 1 or (has_static_shape(given) and dims_of(given) != (count,)):
        raise node.error(f"{what} must be a vector of {count} numbers")
    given = b.reshape(given, (count,))
    return [b.reshape(b.slice(given, 0, i, i + 1), ()) for i in range(count)]


def _by_scales(node: Node, given: Value, axes: Sequence[int], b: Builder) -> list[Target | None]:
    """Return the target of each axis, None for one that stays as it is."""
    known = [None] * len(axes)
    if isinstance(given, Constant):
        known = [float(scale) for scale in given.array.reshape(-1)]
        if len(known) != len(axes) or not all(0 < scale < np.inf for scale in known):
            raise node.error(f"scales are {known}; supported: {len(axes)} numbers above 0")
    scales = [Computed(v, b) for v in _numbers(node, given, len(axes), "scales", b)]
    targets: list[Target | None] = []
    for axis, scale, value in zip(axes, scales, known, strict=True):
        size = b.size(dims_of(node.input(0))[axis])
        if value == 1:
            targets.append(None)
            continue
        if value is not None and value.is_integer():
            size = b.op("multiply", size, b.scalar(int(value), INT))
        elif value is not None and (1 / value).is_integer() and frexp(value)[0] == 0.5:
            size = b.op("floor_divide", size, b.scalar(int(1 / value), INT))
        else:
            scaled = (Computed(b.cast(size, FLOAT), b) * scale).floor()
            size = b.cast(scaled.value, INT)
        targets.append(Target(scale, size))
    return targets


def _targets(node: Node, axes: Sequence[int], b: Builder) -> Sequence[Target | None]:
    policy = node.choice("keep_aspect_ratio_policy", "stretch", POLICIES)
    scales = node.optional(2)
    if scales is not None and dims_of(scales) != (0,):
        return _by_scales(node, scales, axes, b)
    given = node.input(3)
    if isinstance(given, Constant):
        wanted = node.required_ints(3, "sizes")
        if len(wanted) != len(axes) or min(wanted, default=1) < 1:
            raise node.error(f"sizes are {wanted}; supported: {len(axes)} integers of at least 1")
    sizes = [b.cast(v, INT) for v in _numbers(node, given, len(axes), "sizes", b)]
    old = _old_sizes(node.input(0), axes, b)
    ratios = [Computed(b.cast(n, FLOAT), b) / o for n, o in zip(sizes, old, strict=True)]
    if policy == "stretch":
        return [Target(ratio, size) for ratio, size in zip(ratios, sizes, strict=True)]
    name = "minimum" if policy == "not_larger" else "maximum"
    scale = Computed(reduce(lambda a, c: b.op(name, a, c), [r.value for r in ratios]), b)
    return [Target(scale, b.cast((n * scale + 0.5).floor().value, INT)) for n in old]


@dataclass(frozen=True)
class Places:
    """The positions `at` of elements of a result, on an `axis` of `size` elements of the input."""

    axis: int
    scale: Number
    size: Computed
    at: Computed
    outside: float | None
    """The number of elements whose places are outside, if that is not the nearest one's."""

    def within(self, places: Computed) -> Computed:
        """Return 1 for places that are in the input, 0 for others."""
        b, (below, above) = places.b, (places < 0, self.size - 1 < places)
        inside = b.op("logical_not", b.op("logical_or", below.value, above.value))
        return Computed(b.cast(inside, FLOAT), b)

    def indices(self, places: Computed) -> Value:
        """Return places, which are integers, or the first one, as indices."""
        b = places.b
        return b.cast(b.op("maximum", places.value, b.scalar(0, FLOAT)), INT)

    def taken(self, x: Value, places: Computed) -> Value:
        """Take the elements of `x` at places, or the nearest ones."""
        return places.b.op("take", x, self.indices(places), axis=self.axis, mode="clip")

    def along(self, numbers: Computed, x: Value) -> Value:
        """Return a number for each place, such that they are multiplied along the axis."""
        after = [1] * (rank_of(x) - self.axis - 1)
        return numbers.b.op("reshape", numbers.value, newshape=(-1, *after))

    def extrapolated(self, y: Value) -> Value:
        if self.outside is None:
            return y
        b = self.at.b
        inside = b.cast(self.along(self.within(self.at), y), np.dtype(np.bool_))
        return b.op("where", inside, y, b.scalar_like(self.outside, y))


CROP = "tf_crop_and_resize"
"""The coordinate transformation of a region, whose start and end are an input."""


def _places(
    node: Node,
    axes: Sequence[int],
    targets: Sequence[Target | None],
    transformation: str,
    b: Builder,
    interpolated: bool = False,
) -> list[Places]:
    """Return the places along each axis that changes."""
    x, outside, region = node.input(0), None, list[Computed]()
    if transformation == CROP:
        outside = node.number("extrapolation_value", 0.0)
        numbers = _numbers(node, node.input(1), 2 * len(axes), "roi", b)
        region = [Computed(b.cast(number, FLOAT), b) for number in numbers]
    else:
        node.ignore("extrapolation_value")
    places: list[Places] = []
    for i, (axis, target, old) in enumerate(
        zip(axes, targets, _old_sizes(x, axes, b), strict=True)
    ):
        if target is None and not region:
            continue
        size = b.size(dims_of(x)[axis]) if target is None else target.size
        scale = 1.0 if target is None else target.scale
        pixels = Computed(b.cast(b.counting(size), FLOAT), b)
        # interpolation aligns corners before the new size is rounded, as ONNX's definition does
        is_rounded = transformation != "align_corners" or not interpolated
        new = Computed(b.cast(size, FLOAT), b) if is_rounded else old * scale
        if region:
            start, end = region[i], region[i + len(axes)]
            step = (end - start) * (old - 1) / (new - 1)
            middle = (start + end) * 0.5 * (old - 1) + pixels * 0.0
            at = middle.where(new < 2, start * (old - 1) + pixels * step)
        else:
            at = COORDINATE_MAPS[transformation](pixels, scale, old, new)
        places.append(Places(axis, scale, old, at, outside))
    return places


def _copied(node: Node, places: Sequence[Places], rounding: Rounding, b: Builder) -> Value:
    """Resize by copying the nearest element of the input, along one axis after the other."""
    x = node.input(0)
    indices_of = [(place, place.indices(rounding(place.at, place.scale))) for place in places]
    picks: dict[int, Array] = {}
    if has_static_shape(x) and all(place.outside is None for place in places):
        for place, indices in indices_of:
            if isinstance(indices, Constant):
                picks[place.axis] = np.minimum(indices.array, max(shape_of(x)[place.axis] - 1, 0))
    if len(picks) < len(indices_of):
        for place, indices in indices_of:
            x = place.extrapolated(b.op("take", x, indices, axis=place.axis, mode="clip"))
        return x
    shape = shape_of(x)
    picks = {a: p for a, p in picks.items() if not np.array_equal(p, np.arange(shape[a]))}
    factors = {axis: len(pick) // max(shape[axis], 1) for axis, pick in picks.items()}
    repeats = all(
        len(pick) == shape[axis] * factors[axis]
        and np.array_equal(pick, np.arange(len(pick)) // factors[axis])
        for axis, pick in picks.items()
    )
    if picks and repeats and len(shape) == 4 and set(picks) <= {2, 3}:
        height, width = (float(factors.get(a, 1)) for a in (2, 3))
        return b.op("nn.upsampling", x, scale_h=height, scale_w=width, layout="NCHW")
    for axis, pick in picks.items():
        x = b.op("take", x, b.constant(pick), axis=axis, mode="clip")
    return x


RULES: Rules = {
    "Resize": (Rule(upsample, 10, 11), Rule(resize, 11)),
    "Upsample": (Rule(upsample, 7, 10),),
}
