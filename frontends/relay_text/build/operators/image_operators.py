"""
Operators of the text that read images between pixels or by regions, as several of the dialect's.

    image.crop_and_resize, vision.roi_align    each region as W₁ · image · W₂ᵀ: row i of a matrix
                                               has the weights of the pixels around place i
    vision.roi_pool                            the maximum of the pixels that are in a bin
    image.grid_sample                          pixels that are gathered, times their weights
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import add, mul
from typing import Any

from xdsl.ir import SSAValue

from .call_site import Rule, Site, dtype_of
from .decomposed_operators import array, dims_of
from .layouts import change_layout

_FLOATS = ("float16", "float32", "float64")

# ------------------------------------------------------------------------------- numbers


@dataclass(frozen=True)
class _Number:
    """Numbers that the program computes."""

    site: Site
    value: SSAValue

    def call(self, name: str, *others: _Number | float, **attrs: Any) -> _Number:
        """Build an operator; floats become constants of the dtype of these numbers."""
        values = (
            other.value if isinstance(other, _Number) else self._constant(other) for other in others
        )
        return _Number(self.site, self.site.value(name, self.value, *values, **attrs))

    def _constant(self, value: float) -> SSAValue:
        return self.site.scalar(value, dtype_of(self.value))

    def __add__(self, other: _Number | float) -> _Number:
        return self.call("add", other)

    def __sub__(self, other: _Number | float) -> _Number:
        return self.call("subtract", other)

    def __rsub__(self, other: float) -> _Number:
        return self.call("negative") + other

    def __mul__(self, other: _Number | float) -> _Number:
        return self.call("multiply", other)

    def __truediv__(self, other: _Number | float) -> _Number:
        return self.call("divide", other)

    def __and__(self, other: _Number) -> _Number:
        return self.call("logical_and", other)

    def clamped(self, low: _Number | float, high: _Number | float) -> _Number:
        return self.call("maximum", low).call("minimum", high)

    def is_within(self, low: _Number | float, high: _Number | float) -> _Number:
        return self.call("greater_equal", low) & self.call("less_equal", high)

    def viewed(self, *shape: int) -> _Number:
        return self.call("reshape", newshape=shape)

    def permuted(self, *axes: int) -> _Number:
        return self.call("transpose", axes=axes)

    def cast(self, dtype: str) -> _Number:
        return _Number(self.site, self.site.cast(self.value, dtype))

    def where(self, condition: _Number, other: _Number | float) -> _Number:
        """Return these numbers where the condition is true, others elsewhere."""
        if not isinstance(other, _Number):
            other = _Number(self.site, self._constant(other))
        return condition.call("where", self, other)

    def counted(self, count: int, *shape: int) -> _Number:
        """Return 0, 1, … in the dtype of these numbers, as a vector or a tensor of `shape`."""
        numbers = _Number(self.site, array(self.site, range(count), shape or (count,), "int64"))
        return numbers.cast(dtype_of(self.value))


def _of_floats(site: Site, value: SSAValue, rank: int) -> _Number:
    if len(site.tensor(value).get_shape()) != rank or dtype_of(value) not in _FLOATS:
        raise site.problem(
            f"expected floats of rank {rank}, but the tensor is of {site.text(value)}"
        )
    return _Number(site, value)


def _size(site: Site, name: str, value: Any) -> tuple[int, int]:
    height, width = site.integers(name, value, 2)
    if not (0 < height <= _MOST and 0 < width <= _MOST):
        raise site.problem(f"{name} must be in [1, {_MOST}], but is {[height, width]}")
    return height, width


_MOST = 2**16
"""The greatest height and width, and number of samples along an axis of a bin."""


# ------------------------------------------------------------------------------- regions


@dataclass(frozen=True)
class _Regions:
    """For each region its image, channels last, and along both axes where it starts and ends."""

    image: _Number
    sides: Sequence[int]
    channels: int
    bounds: Sequence[tuple[_Number, _Number]]
    layout: str

    @staticmethod
    def of(
        data: _Number, boxes: Sequence[_Number], batch: _Number, order: Sequence[int], layout: Any
    ) -> _Regions:
        """Take images; `order` has the columns of `boxes` that are top, bottom, left and right."""
        site = data.site
        layout = site.choice("layout", layout, "NCHW", "NHWC")
        images = change_layout(site, data.value, layout, "NHWC")
        _, *sides, channels = dims_of(site, images)
        image = _Number(site, images).call("take", batch.cast("int64"), axis=0)
        top, bottom, left, right = (boxes[i].cast(dtype_of(data.value)) for i in order)
        return _Regions(image, sides, channels, [(top, bottom), (left, right)], layout)

    def interpolated(self, weights: Sequence[_Number], sizes: Sequence[int]) -> _Number:
        """Multiply images by matrices of so many rows, of weights of their rows and columns."""
        (rows, cols), (height, width) = weights, sizes
        (old_height, old_width), n = self.sides, self.channels
        image = self.image.viewed(-1, old_height, old_width * n)
        lines = rows.call("nn.batch_matmul", image, transpose_b=False)
        lines = lines.viewed(-1, height, old_width, n).permuted(0, 2, 1, 3)
        lines = lines.viewed(-1, old_width, height * n)
        made = cols.call("nn.batch_matmul", lines, transpose_b=False)
        return made.viewed(-1, width, height, n).permuted(0, 2, 1, 3)

    def result(self, image: _Number) -> SSAValue:
        return change_layout(image.site, image.value, "NHWC", self.layout)


def _columns(boxes: _Number, count: int) -> list[_Number]:
    if boxes.site.tensor(boxes.value).get_shape()[1] != count:
        raise boxes.site.problem(
            f"expected {count} columns, but the boxes are of {boxes.site.text(boxes.value)}"
        )
    indices = (array(boxes.site, [i], (), "int64") for i in range(count))
    return [boxes.call("take", _Number(boxes.site, i), axis=1) for i in indices]


def _around(at: _Number, size: int) -> _Number:
    """Return the share that each of `size` pixels has in what is linearly between them."""
    apart = at.call("expand_dims", axis=-1) - at.counted(size)
    return (1.0 - apart.call("abs")).call("maximum", 0.0)


def _crop_and_resize(site: Site) -> SSAValue:
    data, boxes, batch = site.values(3)
    attrs = site.attributes(
        crop_size=None, layout="NCHW", method="bilinear", extrapolation_value=0.0, out_dtype=""
    )
    sizes = _size(site, "crop_size", attrs["crop_size"])
    method = site.choice("method", attrs["method"], "bilinear", "nearest_neighbor")
    outside = site.number("extrapolation_value", attrs["extrapolation_value"])
    columns = _columns(_of_floats(site, boxes, 2), 4)
    images = _of_floats(site, data, 4)
    regions = _Regions.of(images, columns, _Number(site, batch), (0, 2, 1, 3), attrs["layout"])
    weights, inside = list[_Number](), list[_Number]()
    for (start, end), size, count in zip(regions.bounds, regions.sides, sizes, strict=True):
        start, end = (bound.viewed(-1, 1) * (size - 1.0) for bound in (start, end))
        if count == 1:
            at = (start + end) * 0.5
        else:
            at = start + (end - start) / (count - 1.0) * start.counted(count)
        inside.append(at.is_within(0.0, size - 1.0))
        weights.append(_around(at.call("round") if method == "nearest_neighbor" else at, size))
    made = regions.interpolated(weights, sizes)
    is_inside = inside[0].viewed(-1, sizes[0], 1, 1) & inside[1].viewed(-1, 1, sizes[1], 1)
    result = regions.result(made.where(is_inside, outside))
    return site.cast(result, attrs["out_dtype"] or dtype_of(result))


def _roi_align(site: Site) -> SSAValue:
    """
    The mean or maximum of samples in each bin; pixels are 0 further than 1 from the image.

    A bin has `sample_ratio` samples along an axis; if that is not above 0, as many as it has
    pixels, rounded up. These are more than half a pixel apart, so that at most twice the size of
    the image and a few are in it or next to it: those from `first`.
    """
    data, rois = site.values(2)
    attrs = site.attributes(
        pooled_size=None, spatial_scale=1.0, sample_ratio=-1, layout="NCHW", mode="avg"
    )
    pooled = _size(site, "pooled_size", attrs["pooled_size"])
    mode = site.choice("mode", attrs["mode"], "avg", "max")
    columns = _columns(_of_floats(site, rois, 2), 5)
    images = _of_floats(site, data, 4)
    regions = _Regions.of(images, columns, columns[0], (2, 4, 1, 3), attrs["layout"])
    scale, ratio = site.number("spatial_scale", attrs["spatial_scale"]), attrs["sample_ratio"]
    if not isinstance(ratio, int) or ratio > _MOST:
        raise site.problem(f"sample_ratio must be a number of samples, but is {ratio!r}")
    weights, counts, samples = list[_Number](), list[_Number](), list[int]()
    for (start, end), size, bins in zip(regions.bounds, regions.sides, pooled, strict=True):
        start, end = (bound.viewed(-1, 1, 1) * scale for bound in (start, end))
        extent = (end - start).call("maximum", 1.0) / float(bins)
        origin = start + extent * start.counted(bins, bins, 1)
        samples.append(ratio if ratio > 0 else 2 * size + 6)
        index, count = start.counted(samples[-1]), extent * 0.0 + float(ratio)
        if ratio <= 0:
            count = extent.call("ceil")
            before = ((-1.0 - origin) / (extent / count)).call("floor") - 1.0
            index = before.clamped(0.0, count - 1.0) + index
        if mode == "max":  # what is past the last sample repeats it
            index = index.call("minimum", count - 1.0)
        at = origin + (index + 0.5) * extent / count
        is_counted = (at * 0.0 + index).call("less", count) & at.is_within(-1.0, float(size))
        share = _around(at.clamped(0.0, size - 1.0), size)
        weights.append(share.where(is_counted.call("expand_dims", axis=-1), 0.0))
        counts.append(count)
    if mode == "avg":
        sums = [share.call("sum", axis=(2,)) for share in weights]
        count = counts[0].viewed(-1, 1, 1, 1) * counts[1].viewed(-1, 1, 1, 1)
        return regions.result(regions.interpolated(sums, pooled) / count)
    sizes = [bins * count for bins, count in zip(pooled, samples, strict=True)]
    lines = [
        w.viewed(-1, n, side) for w, n, side in zip(weights, sizes, regions.sides, strict=True)
    ]
    made = regions.interpolated(lines, sizes)
    (height, width), (down, across) = pooled, samples
    made = made.viewed(-1, height, down, width, across, regions.channels)
    return regions.result(made.call("max", axis=(2, 4)))


_EXPONENTS = {16: (10, 15), 32: (23, 127), 64: (52, 1023)}
"""Of floats by their width in bits: the bits of the fraction, and the greatest exponent."""


def _lowest(dtype: str) -> float:
    """Return the least finite number of a type of floats."""
    fraction, exponent = _EXPONENTS[int(dtype.removeprefix("float"))]
    return -(2.0 - 2.0**-fraction) * 2.0**exponent


def _roi_pool(site: Site) -> SSAValue:
    """The maximum of the pixels in each bin, 0 if it has none."""
    data, rois = site.values(2)
    attrs = site.attributes(pooled_size=None, spatial_scale=1.0, layout="NCHW")
    pooled = _size(site, "pooled_size", attrs["pooled_size"])
    columns = _columns(_of_floats(site, rois, 2), 5)
    images = _of_floats(site, data, 4)
    regions = _Regions.of(images, columns, columns[0], (2, 4, 1, 3), attrs["layout"])
    image, is_empty = regions.image.call("expand_dims", axis=1), list[_Number]()
    scale, lowest = site.number("spatial_scale", attrs["spatial_scale"]), _lowest(dtype_of(data))
    for i, ((start, end), size, bins) in enumerate(
        zip(regions.bounds, regions.sides, pooled, strict=True)
    ):
        start, end = ((bound.viewed(-1, 1) * scale).call("round") for bound in (start, end))
        extent = (end - start + 1.0).call("maximum", 1.0) / float(bins)
        index = start.counted(bins)
        low = ((extent * index).call("floor") + start).clamped(0.0, float(size))
        high = ((extent * (index + 1.0)).call("ceil") + start).clamped(0.0, float(size))
        is_empty.append(low.call("greater_equal", high))
        low, high = (bound.call("expand_dims", axis=-1) for bound in (low, high))
        is_in = low.call("less_equal", low.counted(size)) & high.call("greater", low.counted(size))
        bounds = (bins, size, 1, 1) if i == 0 else (1, bins, size, 1)
        image = image.where(is_in.viewed(-1, *bounds), lowest).call("max", axis=(2 + i,))
        image = image if i else image.call("expand_dims", axis=2)
    filled = [
        empty.viewed(-1, *shape).call("logical_not")
        for empty, shape in zip(is_empty, [(pooled[0], 1, 1), (1, pooled[1], 1)], strict=True)
    ]
    return regions.result(image.where(filled[0] & filled[1], 0.0))


# ------------------------------------------------------------------------------- samples


def _reflected(at: _Number, size: int, is_aligned: bool) -> _Number:
    """Reflect places at the centers of the outer pixels or at the edges, as often as needed."""
    start, period = (0.0, max(size - 1.0, 1.0)) if is_aligned else (-0.5, float(size))
    distance = (at - start).call("abs")
    times = (distance / period).call("floor")
    rest = distance - times * period
    is_odd = (times - (times * 0.5).call("floor") * 2.0).call("greater", 0.5)
    reflected = (period - rest).where(is_odd, rest) + start
    return at.where(at.is_within(start, period + start), reflected)


def _taps(at: _Number, method: str) -> list[tuple[_Number, _Number | None]]:
    """Return the places of pixels from which a sample is interpolated, and their weights."""
    if method == "nearest":
        return [(at.call("round"), None)]
    low = at.call("floor")
    part = at - low
    if method in ("bilinear", "linear"):
        return [(low, 1.0 - part), (low + 1.0, part)]
    a, taps = -0.75, list[tuple[_Number, _Number | None]]()
    for i in range(-1, 3):
        t = (part - float(i)).call("abs")
        if i in (0, 1):
            weight = (t * (a + 2.0) - (a + 3.0)) * t * t + 1.0
        else:
            weight = ((t * a - 5.0 * a) * t + 8.0 * a) * t - 4.0 * a
        taps.append((low + float(i), weight))
    return taps


def _grid_sample(site: Site) -> SSAValue:
    """Samples at places of a grid, whose channels are x, y (and z), each from -1 to 1."""
    data, grid = site.values(2)
    attrs = site.attributes(
        method="bilinear", layout="NCHW", padding_mode="zeros", align_corners=True
    )
    layout = site.choice("layout", attrs["layout"], "NCHW", "NCDHW")
    methods = "nearest", "bilinear", "linear", "bicubic", "cubic"
    method = site.choice("method", attrs["method"], *methods)
    padding = site.choice("padding_mode", attrs["padding_mode"], "zeros", "border", "reflection")
    is_aligned = bool(attrs["align_corners"])
    images, places = (_of_floats(site, value, len(layout)) for value in (data, grid))
    batch, _, *sides = dims_of(site, data)
    out = dims_of(site, grid)
    if out[:2] != (batch, len(sides)):
        raise site.problem(
            f"expected a grid of {batch} x {len(sides)} channels, but it has {out[0]} x {out[1]}"
        )

    def padded(at: _Number, size: int) -> _Number:
        if padding == "zeros":
            return at
        at = _reflected(at, size, is_aligned) if padding == "reflection" else at
        return at.clamped(0.0, size - 1.0)

    along = list[list[tuple[_Number, _Number | None]]]()
    for i, size in enumerate(sides):
        channel = array(site, [len(sides) - 1 - i], (), "int64")
        at = places.call("take", _Number(site, channel), axis=1).cast(dtype_of(data)) + 1.0
        at = at * (size - 1.0) / 2.0 if is_aligned else at * float(size) / 2.0 - 0.5
        if method in ("bicubic", "cubic"):
            along.append([(padded(tap, size), weight) for tap, weight in _taps(at, method)])
        else:
            along.append(_taps(padded(at, size), method))
    channels_last = images.permuted(0, *range(2, len(layout)), 1)
    index = _Number(site, array(site, range(batch), (batch, *(1 for _ in sides)), "int64"))
    rows = index.call("broadcast_to", shape=(batch, *out[2:]))
    terms = list[_Number]()
    for taps in product(*along):
        places_of = [tap.cast("int64").value for tap, _ in taps]
        stacked = site.context.packed([rows.value, *places_of], site.call.offset)
        indices = _Number(site, site.value("stack", stacked, axis=0))
        term = channels_last.call("gather_nd", indices)
        insides = [tap.is_within(0.0, n - 1.0) for (tap, _), n in zip(taps, sides, strict=True)]
        weights = [weight for _, weight in taps if weight is not None]
        if weights:
            term = term * reduce(mul, weights).call("expand_dims", axis=-1)
        is_inside = reduce(_Number.__and__, insides).call("expand_dims", axis=-1)
        terms.append(term.where(is_inside, 0.0))
    result = reduce(add, terms)
    return result.permuted(0, len(layout) - 1, *range(1, len(layout) - 1)).value


IMAGES: Mapping[str, Rule] = {
    "image.crop_and_resize": _crop_and_resize,
    "image.grid_sample": _grid_sample,
    "vision.roi_align": _roi_align,
    "vision.roi_pool": _roi_pool,
}
"""The rule of each of these operators, by its TVM name."""
