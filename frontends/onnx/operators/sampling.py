"""
Elements between those of a tensor, at places that the program computes.

    GridSample, DeformConv, RoiAlign    the elements around each place, times their weights

A place is a coordinate for each dim after batch and channel, in elements, as float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod
from operator import add

import numpy as np

from ...between import Tap, clamped, sampled, taps, terms
from ..convert.computed import Computed
from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Dim, Value, dims_of, rank_of, shape_of
from .linear import product as matrix_product
from .resize import FLOAT, INT
from .rule import Rules, since
from .windows import known_dims, per_dim


def _sizes(b: Builder, dims: Sequence[Dim]) -> list[Computed | int]:
    return [dim if isinstance(dim, int) else Computed(b.size(dim), b) for dim in dims]


def grid_sample(node: Node, b: Builder) -> Value:
    """Sample at the places of the grid, from -1 to 1, whose last dim is x, y (and z)."""
    x, grid = node.input(0), node.input(1)
    modes = {"bilinear": "linear", "bicubic": "cubic", "linear": "linear", "cubic": "cubic"}
    mode = node.choice("mode", "linear", ("nearest", *modes))
    mode = modes.get(mode, mode)
    padding = node.choice("padding_mode", "zeros", ("zeros", "border", "reflection"))
    aligned, dims = node.flag("align_corners", False), dims_of(x)[2:]
    *first, count = dims_of(grid)
    if rank_of(grid) != rank_of(x) or (isinstance(count, int) and count != len(dims)):
        raise node.error(f"the grid must have rank {rank_of(x)}, and {len(dims)} coordinates last")
    grid = b.reshape(grid, (*first, len(dims)))
    last = [b.scalar(len(dims) - 1 - i, INT) for i in range(len(dims))]
    places = [Computed(b.cast(b.op("take", grid, i, axis=-1), FLOAT), b) for i in last]
    result = sampled(Computed(x, b), places, _sizes(b, dims), mode, padding, aligned).value
    return b.transpose(result, (0, rank_of(x) - 1, *range(1, rank_of(x) - 1)))


def deform_conv(node: Node, b: Builder) -> Value:
    """Convolve windows whose elements are moved by offsets, and weighted by a mask."""
    x, weight, offset = (node.input(i) for i in range(3))
    bias, mask = node.optional(3), node.optional(4)
    n, c, *sides = dims_of(x)
    (c,) = known_dims(node, [c], "attribute offset_group")
    count, _, *kernel = shape_of(weight)
    out, rank, cells = dims_of(offset)[2:], len(sides), prod(kernel)
    groups, parts = node.integer("group", 1), node.integer("offset_group", 1)
    strides, dilations = (per_dim(node, name, rank, 1) for name in ("strides", "dilations"))
    pads = per_dim(node, "pads", 2 * rank, 0)
    if (node.ints("kernel_shape") or kernel) != kernel or groups < 1 or parts < 1 or c % parts:
        raise node.error("attributes kernel_shape, group and offset_group do not fit the shapes")
    batch = b.op("multiply", b.sizes([n]), b.ints([parts]))

    def parted(value: Value, *dims: Dim) -> Value:
        return b.op("dyn.reshape", value, b.joined([batch, b.sizes(dims)]), allowzero=True)

    moves = parted(offset, cells, rank, *out)
    along: list[list[Tap[Computed]]] = []
    for i in range(rank):
        inside = np.indices(kernel)[i].reshape(-1, *[1] * rank) * dilations[i] - pads[i]
        start = b.cast(b.op("multiply", b.counting(out[i]), b.scalar(strides[i], INT)), FLOAT)
        start = b.op("expand_dims", start, axis=1, num_newaxis=rank - 1 - i)
        move = b.op("take", moves, b.scalar(i, INT), axis=2)
        base = b.op("add", b.constant(inside.astype(np.float32)), start)
        at = Computed(b.op("add", b.cast(move, FLOAT), base), b)
        along.append(taps(at, "linear"))
    images = Computed(parted(x, c // parts, *sides), b)
    samples = reduce(add, terms(images, along, _sizes(b, sides), True)).value
    if mask is not None:
        samples = b.op("multiply", samples, parted(mask, cells, *out, 1))
    columns = b.transpose(samples, (0, rank + 2, *range(1, rank + 2)))
    inner, places = c // groups * cells, b.op("prod", b.sizes(out), axis=(0,), keepdims=True)
    shape = b.joined([b.sizes([n, groups, inner]), places])
    columns = b.op("dyn.reshape", columns, shape, allowzero=True)
    rows = b.reshape(weight, (1, groups, count // groups, inner))
    y = b.reshape(matrix_product(node, rows, columns, b), (n, count, *out))
    return y if bias is None else b.op("nn.bias_add", y, bias, axis=1)


def roi_align(node: Node, b: Builder) -> Value:
    """Return the mean, or the maximum, of samples in the cells of a grid over each region."""
    x, regions, batches = (node.input(i) for i in range(3))
    height, width = node.integer("output_height", 1), node.integer("output_width", 1)
    ratio, scale = node.integer("sampling_ratio", 0), node.number("spatial_scale", 1.0)
    is_mean = node.choice("mode", "avg", ("avg", "max")) == "avg"
    kinds, half = ("half_pixel", "output_half_pixel"), "coordinate_transformation_mode"
    is_half = node.opset >= 16 and node.choice(half, kinds[0], kinds) == kinds[0]
    if ratio < 1 or height < 1 or width < 1:
        raise node.error(f"attribute sampling_ratio is {ratio}; supported: 1 and more")
    images = b.op("take", x, batches, axis=0)
    count = dims_of(regions)[0]
    corners = [
        Computed(b.cast(b.op("take", regions, b.scalar(i, INT), axis=1), FLOAT), b) * scale
        for i in range(4)
    ]
    corners = [corner - 0.5 if is_half else corner for corner in corners]
    along: list[list[Tap[Computed]]] = []
    outside: list[Computed] = []
    sizes = _sizes(b, dims_of(x)[2:])
    for i, cells in enumerate((height, width)):
        low, high, dim = corners[1 - i], corners[3 - i], sizes[i]
        length = high - low if is_half else (high - low).maximum(1.0)
        steps = ((np.arange(cells * ratio) + 0.5) / (cells * ratio)).astype(np.float32)
        shape = (1, len(steps), 1) if i == 0 else (1, 1, len(steps))
        low, length = (Computed(b.reshape(v.value, (count, 1, 1)), b) for v in (low, length))
        at = low + length * Computed(b.constant(steps.reshape(shape)), b)
        size = float(dim) if isinstance(dim, int) else dim.cast("float32")
        outside += [at.less(-1.0), at.greater(size)]
        along.append(taps(clamped(at, size), "linear"))
    grid = reduce(lambda one, other: one.logical_or(other), outside).value
    full = (count, height * ratio, width * ratio)
    zero = b.op("expand_dims", grid, axis=-1)
    along = [
        [(Computed(b.broadcast_to(at.value, full), b), weight) for at, weight in taps]
        for taps in along
    ]
    around = terms(Computed(images, b), along, sizes, False)
    sample = reduce(add if is_mean else lambda one, other: one.maximum(other), around).value
    sample = b.op("where", zero, b.scalar_like(0.0, x), sample)
    cells = b.reshape(sample, (count, height, ratio, width, ratio, dims_of(x)[1]))
    y = b.op("mean" if is_mean else "max", cells, axis=(2, 4))
    return b.transpose(y, (0, 3, 1, 2))


RULES: Rules = {
    "DeformConv": since(19, deform_conv),
    "GridSample": since(16, grid_sample),
    "RoiAlign": since(10, roi_align),
}
