"""
Operators of the text on images, regions and boxes, as several of the dialect's.

    image.crop_and_resize, vision.roi_align    each region as W₁ · image · W₂ᵀ: row i of a matrix
                                               has the weights of the pixels around place i
    vision.roi_pool                            the maximum of the pixels that are in a bin
    image.grid_sample                          pixels that are gathered, times their weights
    vision.multibox_prior                      a constant: boxes around places of the image
    vision.multibox_transform_loc              arithmetic on boxes; those of a class come first
    vision.yolo_reorg                          a permutation of the parts of axes
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import sqrt
from operator import add, mul
from typing import Any, cast

from xdsl.ir import SSAValue

from .call_site import Rule, Site, dtype_of
from .computed_numbers import Numbers
from .decomposed_operators import array, dims_of, require_few
from .layouts import change_layout

_FLOATS = ("float16", "float32", "float64")

# ------------------------------------------------------------------------------- numbers


def _of_floats(site: Site, value: SSAValue, rank: int) -> Numbers:
    if len(site.tensor(value).get_shape()) != rank or dtype_of(value) not in _FLOATS:
        raise site.problem(
            f"expected floats of rank {rank}, but the tensor is of {site.text(value)}"
        )
    return Numbers(site, value)


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

    image: Numbers
    sides: Sequence[int]
    channels: int
    bounds: Sequence[tuple[Numbers, Numbers]]
    layout: str

    @staticmethod
    def of(
        data: Numbers, boxes: Sequence[Numbers], batch: Numbers, order: Sequence[int], layout: Any
    ) -> _Regions:
        """Take images; `order` has the columns of `boxes` that are top, bottom, left and right."""
        site = data.site
        layout = site.choice("layout", layout, "NCHW", "NHWC")
        images = change_layout(site, data.value, layout, "NHWC")
        _, *sides, channels = dims_of(site, images)
        image = Numbers(site, images).call("take", batch.cast("int64"), axis=0)
        top, bottom, left, right = (boxes[i].cast(dtype_of(data.value)) for i in order)
        return _Regions(image, sides, channels, [(top, bottom), (left, right)], layout)

    def interpolated(self, weights: Sequence[Numbers], sizes: Sequence[int]) -> Numbers:
        """Multiply images by matrices of so many rows, of weights of their rows and columns."""
        (rows, cols), (height, width) = weights, sizes
        (old_height, old_width), n = self.sides, self.channels
        image = self.image.viewed(-1, old_height, old_width * n)
        lines = rows.call("nn.batch_matmul", image, transpose_b=False)
        lines = lines.viewed(-1, height, old_width, n).permuted(0, 2, 1, 3)
        lines = lines.viewed(-1, old_width, height * n)
        sums = cols.call("nn.batch_matmul", lines, transpose_b=False)
        return sums.viewed(-1, width, height, n).permuted(0, 2, 1, 3)

    def result(self, image: Numbers) -> SSAValue:
        return change_layout(image.site, image.value, "NHWC", self.layout)


def _columns(boxes: Numbers, count: int) -> list[Numbers]:
    if boxes.site.tensor(boxes.value).get_shape()[1] != count:
        raise boxes.site.problem(
            f"expected {count} columns, but the boxes are of {boxes.site.text(boxes.value)}"
        )
    indices = (array(boxes.site, [i], (), "int64") for i in range(count))
    return [boxes.call("take", Numbers(boxes.site, i), axis=1) for i in indices]


def _around(at: Numbers, size: int) -> Numbers:
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
    regions = _Regions.of(images, columns, Numbers(site, batch), (0, 2, 1, 3), attrs["layout"])
    weights, inside = list[Numbers](), list[Numbers]()
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
    weights, counts, samples = list[Numbers](), list[Numbers](), list[int]()
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
    image, is_empty = regions.image.call("expand_dims", axis=1), list[Numbers]()
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


def _reflected(at: Numbers, size: int, is_aligned: bool) -> Numbers:
    """Reflect places at the centers of the outer pixels or at the edges, as often as needed."""
    start, period = (0.0, max(size - 1.0, 1.0)) if is_aligned else (-0.5, float(size))
    distance = (at - start).call("abs")
    times = (distance / period).call("floor")
    rest = distance - times * period
    is_odd = (times - (times * 0.5).call("floor") * 2.0).call("greater", 0.5)
    reflected = (period - rest).where(is_odd, rest) + start
    return at.where(at.is_within(start, period + start), reflected)


def _taps(at: Numbers, method: str) -> list[tuple[Numbers, Numbers | None]]:
    """Return the places of pixels from which a sample is interpolated, and their weights."""
    if method == "nearest":
        return [(at.call("round"), None)]
    low = at.call("floor")
    part = at - low
    if method in ("bilinear", "linear"):
        return [(low, 1.0 - part), (low + 1.0, part)]
    a, taps = -0.75, list[tuple[Numbers, Numbers | None]]()
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

    def padded(at: Numbers, size: int) -> Numbers:
        if padding == "zeros":
            return at
        at = _reflected(at, size, is_aligned) if padding == "reflection" else at
        return at.clamped(0.0, size - 1.0)

    along = list[list[tuple[Numbers, Numbers | None]]]()
    for i, size in enumerate(sides):
        channel = array(site, [len(sides) - 1 - i], (), "int64")
        at = places.call("take", Numbers(site, channel), axis=1).cast(dtype_of(data)) + 1.0
        at = at * (size - 1.0) / 2.0 if is_aligned else at * float(size) / 2.0 - 0.5
        if method in ("bicubic", "cubic"):
            along.append([(padded(tap, size), weight) for tap, weight in _taps(at, method)])
        else:
            along.append(_taps(padded(at, size), method))
    channels_last = images.permuted(0, *range(2, len(layout)), 1)
    index = Numbers(site, array(site, range(batch), (batch, *(1 for _ in sides)), "int64"))
    rows = index.call("broadcast_to", shape=(batch, *out[2:]))
    terms = list[Numbers]()
    for taps in product(*along):
        places_of = [tap.cast("int64").value for tap, _ in taps]
        stacked = site.context.packed([rows.value, *places_of], site.call.offset)
        indices = Numbers(site, site.value("stack", stacked, axis=0))
        term = channels_last.call("gather_nd", indices)
        insides = [tap.is_within(0.0, n - 1.0) for (tap, _), n in zip(taps, sides, strict=True)]
        weights = [weight for _, weight in taps if weight is not None]
        if weights:
            term = term * reduce(mul, weights).call("expand_dims", axis=-1)
        is_inside = reduce(Numbers.__and__, insides).call("expand_dims", axis=-1)
        terms.append(term.where(is_inside, 0.0))
    result = reduce(add, terms)
    return result.permuted(0, len(layout) - 1, *range(1, len(layout) - 1)).value


# --------------------------------------------------------------------------------- boxes


def _number_list(site: Site, name: str, value: Any, count: int | None = None) -> list[float]:
    listed = cast("tuple[Any, ...]", value if isinstance(value, tuple) else (value,))
    numbers = [site.number(name, number) for number in listed]
    if count not in (None, len(numbers)):
        raise site.problem(f"{name} must have {count} entries, but has {len(numbers)}")
    return numbers


def _multibox_prior(site: Site) -> SSAValue:
    """Boxes of each size, and of the first size in each other ratio, around each pixel."""
    (data,) = site.values(1)
    attrs = site.attributes(
        sizes=(1.0,), ratios=(1.0,), steps=(-1.0, -1.0), offsets=(0.5, 0.5), clip=False
    )
    if len(dims := dims_of(site, data)) != 4:
        raise site.problem(f"data must have rank 4, but has rank {len(dims)}")
    height, width = dims[2:]
    sizes, ratios = (_number_list(site, name, attrs[name]) for name in ("sizes", "ratios"))
    steps, offsets = (_number_list(site, name, attrs[name], 2) for name in ("steps", "offsets"))
    if not sizes or min(ratios, default=0) <= 0:
        raise site.problem("expected a size, and ratios above 0")
    halves = [(size / 2, size / 2) for size in sizes]
    halves += [(sizes[0] / sqrt(ratio) / 2, sizes[0] * sqrt(ratio) / 2) for ratio in ratios[1:]]
    require_few(site, height * width * len(halves) * 4)
    down, across = (
        [(i + offset) * (step if step > 0 else 1 / size) for i in range(size)]
        for offset, step, size in zip(offsets, steps, (height, width), strict=True)
    )
    boxes = list[float]()
    for y in down:
        for x in across:
            for h, w in ((h, w * height / width) for h, w in halves):
                boxes += [x - w, y - h, x + w, y + h]
    if attrs["clip"]:
        boxes = [min(max(place, 0.0), 1.0) for place in boxes]
    anchors = array(site, boxes, (1, len(boxes) // 4, 4), "float64")
    return site.cast(anchors, dtype_of(data))


def _multibox_transform_loc(site: Site) -> SSAValue:
    """Rows of class, score and box of the anchors that have a class, and their number."""
    scores, moves, anchors = (Numbers(site, value) for value in site.values(3))
    attrs = site.attributes(
        clip=True, threshold=0.01, variances=(0.1, 0.1, 0.2, 0.2), keep_background=False
    )
    variances = _number_list(site, "variances", attrs["variances"], 4)
    threshold = site.number("threshold", attrs["threshold"])
    if attrs["keep_background"]:
        raise site.problem("keep_background must be False")
    batch, _, count = dims_of(site, scores.value)
    dtype = dtype_of(scores.value)

    def columns(value: Numbers) -> list[Numbers]:
        parts = (Numbers(site, array(site, [i], (), "int64")) for i in range(4))
        return [value.viewed(-1, count, 4).call("take", part, axis=2) for part in parts]

    objects = scores.call("strided_slice", begin=(1,), end=(2**31 - 1,), axes=(1,))
    score = objects.call("max", axis=(1,))
    kind = objects.call("argmax", axis=(1,), dtype="int32")
    is_valid = score.call("greater_equal", threshold)
    left, top, right, bottom = columns(anchors)
    dx, dy, dw, dh = (
        move * variance for move, variance in zip(columns(moves), variances, strict=True)
    )
    wide, tall = right - left, bottom - top
    x, y = dx * wide + (left + right) / 2.0, dy * tall + (top + bottom) / 2.0
    w, h = dw.call("exp") * wide / 2.0, dh.call("exp") * tall / 2.0
    sides = [x - w, y - h, x + w, y + h]
    if attrs["clip"]:
        sides = [side.clamped(0.0, 1.0) for side in sides]
    row = [part.value for part in (kind.cast(dtype), score, *sides)]
    rows = Numbers(site, site.value("stack", site.context.packed(row, site.call.offset), axis=2))
    rows = rows.where(is_valid.call("expand_dims", axis=2), -1.0)
    places = is_valid.cast("int32").call("argsort", axis=1, is_ascend=False, dtype="int64")
    batches = Numbers(site, array(site, range(batch), (batch, 1), "int64"))
    batches = batches.call("broadcast_to", shape=(batch, count))
    both = site.context.packed([batches.value, places.value], site.call.offset)
    made = rows.call("gather_nd", Numbers(site, site.value("stack", both, axis=0)))
    valid = is_valid.cast("int32").call("sum", axis=(1,))
    return site.context.packed([made.value, valid.value], site.call.offset, from_operator=True)


def _yolo_reorg(site: Site) -> SSAValue:
    """Channels in blocks of rows and columns, which are read as images of the same elements."""
    (data,) = site.values(1)
    stride = site.integers("stride", site.attributes(stride=1)["stride"], 1)[0]
    if len(dims := dims_of(site, data)) != 4 or stride < 1:
        raise site.problem("expected data of rank 4, and a stride above 0")
    n, c, h, w = dims
    if c % stride**2 or h % stride or w % stride:
        raise site.problem(f"channels must be divisible by {stride}², sides by {stride}")
    parts = Numbers(site, data).viewed(n, c // stride**2, h, stride, w, stride)
    cells = parts.permuted(0, 3, 5, 1, 2, 4)
    return cells.viewed(n, c * stride**2, h // stride, w // stride).value


IMAGES: Mapping[str, Rule] = {
    "image.crop_and_resize": _crop_and_resize,
    "image.grid_sample": _grid_sample,
    "vision.multibox_prior": _multibox_prior,
    "vision.multibox_transform_loc": _multibox_transform_loc,
    "vision.roi_align": _roi_align,
    "vision.roi_pool": _roi_pool,
    "vision.yolo_reorg": _yolo_reorg,
}
"""The rule of each of these operators, by its TVM name."""
