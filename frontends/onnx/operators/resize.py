"""
Resizing to the nearest element.

Sizes are static, so it is known which input element each output element copies: `nn.upsampling`
where rows and columns are only repeated, otherwise `take`, axis by axis. Coordinates are computed
in float32, as in onnxruntime: 5 rows scaled by 2.6 are 13, not 12.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor

import numpy as np

from ..builder import Builder
from ..node import Node
from ..values import Array, Value, shape_of
from .rule import Rule, Rules

CoordinateMap = Callable[[Array, float, int, int], Array]
"""Maps coordinates in the result, scale, old size and new size to coordinates in the input."""


def _aligned_corners(x: Array, scale: float, old: int, new: int) -> Array:
    return x * ((old - 1) / (new - 1)) if new > 1 else x * 0.0


def _pytorch_half_pixel(x: Array, scale: float, old: int, new: int) -> Array:
    return (x + 0.5) / scale - 0.5 if new > 1 else x * 0.0


def _half_pixel_symmetric(x: Array, scale: float, old: int, new: int) -> Array:
    adjustment = new / (scale * old)
    centre = old / 2
    return centre * (1 - adjustment) + (x + 0.5) / scale - 0.5


COORDINATE_MAPS: dict[str, CoordinateMap] = {
    "half_pixel": lambda x, scale, old, new: (x + 0.5) / scale - 0.5,
    "half_pixel_symmetric": _half_pixel_symmetric,
    "pytorch_half_pixel": _pytorch_half_pixel,
    "align_corners": _aligned_corners,
    "asymmetric": lambda x, scale, old, new: x / scale,
}

Rounding = Callable[[Array, float], Array]
"""Rounds coordinates in the input, given the scale, to elements."""

ROUNDINGS: dict[str, Rounding] = {
    "round_prefer_floor": lambda x, _: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x, _: np.floor(x + 0.5),
    "floor": lambda x, _: np.floor(x),
    "ceil": lambda x, _: np.ceil(x),
}


def _round_as_opset_10(x: Array, scale: float) -> Array:
    """Round as in opset 10, following its examples and onnxruntime: up when downsampling."""
    return np.ceil(x) if scale < 1 else np.floor(x)


def upsample_by_attribute(node: Node, b: Builder) -> Value:
    """Convert for opsets 7 and 8, where the scales are an attribute."""
    scales = node.floats("scales")
    if scales is None:
        raise node.error("attribute scales is missing")
    return _scaled(node, scales, b)


def upsample_by_input(node: Node, b: Builder) -> Value:
    """Convert Upsample of opset 9 and Resize of opset 10, where the scales are an input."""
    return _scaled(node, [float(s) for s in node.array(1, "scales").reshape(-1)], b)


def _scaled(node: Node, scales: Sequence[float], b: Builder) -> Value:
    node.choice("mode", "nearest", ("nearest",))
    x = node.input(0)
    _require_scales(node, scales, len(shape_of(x)))
    sizes = [_scaled_size(n, s) for n, s in zip(shape_of(x), scales, strict=True)]
    return _resized(x, sizes, list(scales), COORDINATE_MAPS["asymmetric"], _round_as_opset_10, b)


def resize(node: Node, b: Builder) -> Value:
    """Convert from opset 11 on: to scales or to sizes, of all axes or some."""
    node.choice("mode", "nearest", ("nearest",))
    coordinate_map = node.choice(
        "coordinate_transformation_mode", "half_pixel", tuple(COORDINATE_MAPS)
    )
    rounding = node.choice("nearest_mode", "round_prefer_floor", tuple(ROUNDINGS))
    node.ignore("cubic_coeff_a", "exclude_outside", "extrapolation_value")
    if node.flag("antialias", False):
        raise node.error("attribute antialias is 1; supported: 0")
    x = node.input(0)
    shape = shape_of(x)
    named = node.ints("axes")
    axes = list(range(len(shape))) if named is None else node.axes(named, len(shape))
    scales, sizes = _targets(node, axes, shape)
    return _resized(x, sizes, scales, COORDINATE_MAPS[coordinate_map], ROUNDINGS[rounding], b)


def _targets(
    node: Node, axes: Sequence[int], shape: Sequence[int]
) -> tuple[list[float], list[int]]:
    """Return scale and new size of every axis; those not in `axes` are unchanged."""
    policies = ("stretch", "not_larger", "not_smaller")
    policy = node.choice("keep_aspect_ratio_policy", "stretch", policies)
    scales, sizes = [1.0] * len(shape), list(shape)
    given = node.optional_array(2, "scales")
    if given is not None and given.size:
        _require_scales(node, [float(s) for s in given.reshape(-1)], len(axes))
        for axis, scale in zip(axes, given.reshape(-1), strict=True):
            scales[axis] = float(scale)
            sizes[axis] = _scaled_size(shape[axis], float(scale))
        return scales, sizes
    wanted = node.ints_at(3, "sizes")
    if wanted is None or len(wanted) != len(axes) or any(n < 1 for n in wanted):
        raise node.error(f"sizes are {wanted}; supported: {len(axes)} integers of at least 1")
    ratios = [n / max(shape[a], 1) for a, n in zip(axes, wanted, strict=True)]
    for axis, size, ratio in zip(axes, wanted, ratios, strict=True):
        if policy == "stretch":
            scales[axis], sizes[axis] = ratio, size
        else:
            scales[axis] = min(ratios) if policy == "not_larger" else max(ratios)
            sizes[axis] = floor(scales[axis] * shape[axis] + 0.5)
    return scales, sizes


def _scaled_size(size: int, scale: float) -> int:
    return floor(np.float32(size) * np.float32(scale))


def _require_scales(node: Node, scales: Sequence[float], count: int) -> None:
    if len(scales) != count or not all(0 < s < np.inf for s in scales):
        raise node.error(f"scales are {list(scales)}; supported: {count} numbers above 0")


def _resized(
    x: Value,
    sizes: Sequence[int],
    scales: Sequence[float],
    coordinate_map: CoordinateMap,
    rounding: Rounding,
    b: Builder,
) -> Value:
    """Resize `x` to `sizes`, copying the nearest element of the input."""
    shape = shape_of(x)
    picks: dict[int, Array] = {}
    for axis, (old, new, scale) in enumerate(zip(shape, sizes, scales, strict=True)):
        b.require_size(new, f"axis {axis} of the result")
        places = coordinate_map(np.arange(new, dtype=np.float32), scale, old, new)
        found = np.clip(rounding(places, scale), 0, max(old - 1, 0)).astype(np.int64)
        if old != new or not np.array_equal(found, np.arange(old)):
            picks[axis] = found
    factors = {a: sizes[a] // max(shape[a], 1) for a in picks}
    repeats = all(
        sizes[a] == shape[a] * factors[a]
        and np.array_equal(found, np.arange(sizes[a]) // factors[a])
        for a, found in picks.items()
    )
    if picks and repeats and len(shape) == 4 and set(picks) <= {2, 3}:
        height, width = (float(factors.get(a, 1)) for a in (2, 3))
        return b.op("nn.upsampling", x, scale_h=height, scale_w=width, layout="NCHW")
    for axis, found in picks.items():
        x = b.op("take", x, b.constant(found), axis=axis, mode="clip")
    return x


RULES: Rules = {
    "Resize": (Rule(upsample_by_input, 10, 11), Rule(resize, 11)),
    "Upsample": (Rule(upsample_by_attribute, 7, 9), Rule(upsample_by_input, 9, 10)),
}
