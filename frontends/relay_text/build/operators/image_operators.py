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
from math import inf, sqrt

from ....between import sampled
from .call_site import Rule, Site
from .layouts import change_layout
from .operator_formulas import Numbers, array, by_formula, combined, require_few

_FLOATS = ("float16", "float32", "float64")

# ------------------------------------------------------------------------------- numbers


def _require_floats(value: Numbers, rank: int) -> None:
    if len(value.shape) != rank or value.dtype not in _FLOATS:
        given = value.site.text(value.value)
        raise value.site.problem(f"expected floats of rank {rank}, but the tensor is of {given}")


def _size(site: Site, name: str) -> tuple[int, int]:
    height, width = site.integers(name, 2)
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
        data: Numbers, boxes: Sequence[Numbers], batch: Numbers, order: Sequence[int]
    ) -> _Regions:
        """Take images; `order` has the columns of `boxes` that are top, bottom, left and right."""
        _require_floats(data, 4)
        layout = data.site.choice("layout", "NCHW", "NHWC")
        images = Numbers(data.site, change_layout(data.site, data.value, layout, "NHWC"))
        _, *sides, channels = images.dims
        image = images.take(batch.cast("int64"), axis=0)
        top, bottom, left, right = (boxes[i].cast(data.dtype) for i in order)
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

    def result(self, image: Numbers) -> Numbers:
        site = image.site
        return Numbers(site, change_layout(site, image.value, "NHWC", self.layout))


def _columns(boxes: Numbers, count: int) -> list[Numbers]:
    _require_floats(boxes, 2)
    if boxes.shape[1] != count:
        given = boxes.site.text(boxes.value)
        raise boxes.site.problem(f"expected {count} columns, but the boxes are of {given}")
    return [boxes.part(i, 1) for i in range(count)]


def _around(at: Numbers, size: int) -> Numbers:
    """Return the share that each of `size` pixels has in what is linearly between them."""
    apart = at.expand_dims(axis=-1) - at.counted(size)
    return (1.0 - apart.abs()).maximum(0.0)


def _crop_and_resize(site: Site, data: Numbers, boxes: Numbers, batch: Numbers) -> Numbers:
    sizes = _size(site, "crop_size")
    method = site.choice("method", "bilinear", "nearest_neighbor")
    outside = site.number("extrapolation_value")
    regions = _Regions.of(data, _columns(boxes, 4), batch, (0, 2, 1, 3))
    weights, inside = list[Numbers](), list[Numbers]()
    for (start, end), size, count in zip(regions.bounds, regions.sides, sizes, strict=True):
        start, end = (bound.viewed(-1, 1) * (size - 1.0) for bound in (start, end))
        if count == 1:
            at = (start + end) * 0.5
        else:
            at = start + (end - start) / (count - 1.0) * start.counted(count)
        inside.append(at.is_within(0.0, size - 1.0))
        weights.append(_around(at.round() if method == "nearest_neighbor" else at, size))
    pixels = regions.interpolated(weights, sizes)
    is_inside = inside[0].viewed(-1, sizes[0], 1, 1) & inside[1].viewed(-1, 1, sizes[1], 1)
    result = regions.result(pixels.where(is_inside, outside))
    return result.cast(site["out_dtype"] or result.dtype)


def _roi_align(site: Site, data: Numbers, rois: Numbers) -> Numbers:
    """
    The mean or maximum of samples in each bin; pixels are 0 further than 1 from the image.

    A bin has `sample_ratio` samples along an axis; if that is not above 0, as many as it has
    pixels, rounded up. These are more than half a pixel apart, so that at most twice the size of
    the image and a few are in it or next to it: those from `first`.
    """
    pooled, columns = _size(site, "pooled_size"), _columns(rois, 5)
    mode = site.choice("mode", "avg", "max")
    regions = _Regions.of(data, columns, columns[0], (2, 4, 1, 3))
    scale, ratio = site.number("spatial_scale"), site["sample_ratio"]
    if not isinstance(ratio, int) or ratio > _MOST:
        raise site.problem(f"sample_ratio must be a number of samples, but is {ratio!r}")
    weights, counts, samples = list[Numbers](), list[Numbers](), list[int]()
    for (start, end), size, bins in zip(regions.bounds, regions.sides, pooled, strict=True):
        start, end = (bound.viewed(-1, 1, 1) * scale for bound in (start, end))
        extent = (end - start).maximum(1.0) / float(bins)
        origin = start + extent * start.counted(bins, bins, 1)
        samples.append(ratio if ratio > 0 else 2 * size + 6)
        index, count = start.counted(samples[-1]), extent * 0.0 + float(ratio)
        if ratio <= 0:
            count = extent.ceil()
            before = ((-1.0 - origin) / (extent / count)).floor() - 1.0
            index = before.clamped(0.0, count - 1.0) + index
        if mode == "max":  # what is past the last sample repeats it
            index = index.minimum(count - 1.0)
        at = origin + (index + 0.5) * extent / count
        is_counted = (at * 0.0 + index).less(count) & at.is_within(-1.0, float(size))
        share = _around(at.clamped(0.0, size - 1.0), size)
        weights.append(share.where(is_counted.expand_dims(axis=-1), 0.0))
        counts.append(count)
    if mode == "avg":
        sums = [share.sum(axis=(2,)) for share in weights]
        count = counts[0].viewed(-1, 1, 1, 1) * counts[1].viewed(-1, 1, 1, 1)
        return regions.result(regions.interpolated(sums, pooled) / count)
    sizes = [bins * count for bins, count in zip(pooled, samples, strict=True)]
    lines = [
        w.viewed(-1, n, side) for w, n, side in zip(weights, sizes, regions.sides, strict=True)
    ]
    pixels = regions.interpolated(lines, sizes)
    (height, width), (down, across) = pooled, samples
    pixels = pixels.viewed(-1, height, down, width, across, regions.channels)
    return regions.result(pixels.max(axis=(2, 4)))


def _roi_pool(site: Site, data: Numbers, rois: Numbers) -> Numbers:
    """The maximum of the pixels in each bin, 0 if it has none."""
    pooled, columns = _size(site, "pooled_size"), _columns(rois, 5)
    regions = _Regions.of(data, columns, columns[0], (2, 4, 1, 3))
    image, is_empty = regions.image.expand_dims(axis=1), list[Numbers]()
    scale = site.number("spatial_scale")
    for i, ((start, end), size, bins) in enumerate(
        zip(regions.bounds, regions.sides, pooled, strict=True)
    ):
        start, end = ((bound.viewed(-1, 1) * scale).round() for bound in (start, end))
        extent = (end - start + 1.0).maximum(1.0) / float(bins)
        index = start.counted(bins)
        low = ((extent * index).floor() + start).clamped(0.0, float(size))
        high = ((extent * (index + 1.0)).ceil() + start).clamped(0.0, float(size))
        is_empty.append(low.greater_equal(high))
        low, high = (bound.expand_dims(axis=-1) for bound in (low, high))
        is_in = low.less_equal(low.counted(size)) & high.greater(low.counted(size))
        bounds = (bins, size, 1, 1) if i == 0 else (1, bins, size, 1)
        image = image.where(is_in.viewed(-1, *bounds), -inf).max(axis=(2 + i,))
        image = image if i else image.expand_dims(axis=2)
    filled = [
        empty.viewed(-1, *shape).logical_not()
        for empty, shape in zip(is_empty, [(pooled[0], 1, 1), (1, pooled[1], 1)], strict=True)
    ]
    return regions.result(image.where(filled[0] & filled[1], 0.0))


# ------------------------------------------------------------------------------- samples


def _grid_sample(site: Site, data: Numbers, grid: Numbers) -> Numbers:
    """Samples at places of a grid, whose channels are x, y (and z), each from -1 to 1."""
    layout = site.choice("layout", "NCHW", "NCDHW")
    methods = "nearest", "bilinear", "linear", "bicubic", "cubic"
    method = site.choice("method", *methods)
    padding = site.choice("padding_mode", "zeros", "border", "reflection")
    is_aligned = bool(site["align_corners"])
    _require_floats(data, len(layout))
    _require_floats(grid, len(layout))
    batch, _, *sides = data.dims
    out = grid.dims
    if out[:2] != (batch, len(sides)):
        raise site.problem(
            f"expected a grid of {batch} x {len(sides)} channels, but it has {out[0]} x {out[1]}"
        )

    places = [grid.part(len(sides) - 1 - i, 1).cast(data.dtype) for i in range(len(sides))]
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(method, method)
    result = sampled(data, places, sides, mode, padding, is_aligned)
    return result.permuted(0, len(layout) - 1, *range(1, len(layout) - 1))


# --------------------------------------------------------------------------------- boxes


def _multibox_prior(site: Site, data: Numbers) -> Numbers:
    """Boxes of each size, and of the first size in each other ratio, around each pixel."""
    height, width = data.sides(4)[2:]
    sizes, ratios = site.numbers("sizes"), site.numbers("ratios")
    steps, offsets = site.numbers("steps", 2), site.numbers("offsets", 2)
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
    if site["clip"]:
        boxes = [min(max(place, 0.0), 1.0) for place in boxes]
    return array(site, boxes, (1, len(boxes) // 4, 4), "float64").cast(data.dtype)


def _multibox_transform_loc(
    site: Site, scores: Numbers, moves: Numbers, anchors: Numbers
) -> Sequence[Numbers]:
    """Rows of class, score and box of the anchors that have a class, and their number."""
    variances = site.numbers("variances", 4)
    threshold = site.number("threshold")
    if site["keep_background"]:
        raise site.problem("keep_background must be False")
    batch, _, count = scores.sides(3)
    objects = scores.strided_slice(begin=(1,), end=(2**31 - 1,), axes=(1,))
    score, kind = objects.max(axis=(1,)), objects.argmax(axis=(1,), dtype="int32")
    is_valid = score.greater_equal(threshold)
    left, top, right, bottom = anchors.viewed(-1, count, 4).parts(2)
    columns = zip(moves.viewed(-1, count, 4).parts(2), variances, strict=True)
    dx, dy, dw, dh = (move * variance for move, variance in columns)
    wide, tall = right - left, bottom - top
    x, y = dx * wide + (left + right) / 2.0, dy * tall + (top + bottom) / 2.0
    w, h = dw.exp() * wide / 2.0, dh.exp() * tall / 2.0
    sides = [x - w, y - h, x + w, y + h]
    if site["clip"]:
        sides = [side.clamped(0.0, 1.0) for side in sides]
    rows = combined(site, "stack", [kind.cast(scores.dtype), score, *sides], 2)
    rows = rows.where(is_valid.expand_dims(axis=2), -1.0)
    places = is_valid.cast("int32").argsort(axis=1, is_ascend=False, dtype="int64")
    batches = array(site, range(batch), (batch, 1)).broadcast_to(shape=(batch, count))
    pixels = rows.gather_nd(combined(site, "stack", [batches, places], 0))
    return [pixels, is_valid.cast("int32").sum(axis=(1,))]


def _yolo_reorg(site: Site, data: Numbers) -> Numbers:
    """Channels in blocks of rows and columns, which are read as images of the same elements."""
    (stride,) = site.integers("stride", 1)
    if len(data.dims) != 4 or stride < 1:
        raise site.problem("expected data of rank 4, and a stride above 0")
    n, c, h, w = data.dims
    if c % stride**2 or h % stride or w % stride:
        raise site.problem(f"channels must be divisible by {stride}², sides by {stride}")
    parts = data.viewed(n, c // stride**2, h, stride, w, stride)
    cells = parts.permuted(0, 3, 5, 1, 2, 4)
    return cells.viewed(n, c * stride**2, h // stride, w // stride)


IMAGES: Mapping[str, Rule] = {
    "image.crop_and_resize": by_formula(
        _crop_and_resize,
        crop_size=None,
        layout="NCHW",
        method="bilinear",
        extrapolation_value=0.0,
        out_dtype="",
    ),
    "image.grid_sample": by_formula(
        _grid_sample, method="bilinear", layout="NCHW", padding_mode="zeros", align_corners=True
    ),
    "vision.multibox_prior": by_formula(
        _multibox_prior,
        sizes=(1.0,),
        ratios=(1.0,),
        steps=(-1.0, -1.0),
        offsets=(0.5, 0.5),
        clip=False,
    ),
    "vision.multibox_transform_loc": by_formula(
        _multibox_transform_loc,
        clip=True,
        threshold=0.01,
        variances=(0.1, 0.1, 0.2, 0.2),
        keep_background=False,
    ),
    "vision.roi_align": by_formula(
        _roi_align, pooled_size=None, spatial_scale=1.0, sample_ratio=-1, layout="NCHW", mode="avg"
    ),
    "vision.roi_pool": by_formula(_roi_pool, pooled_size=None, spatial_scale=1.0, layout="NCHW"),
    "vision.yolo_reorg": by_formula(_yolo_reorg, stride=1),
}
"""The rule of each of these operators, by its TVM name."""
