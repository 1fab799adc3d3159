"""
Elements between those of a tensor, at places that the program computes.

    GridSample, DeformConv, RoiAlign    the elements around each place, times their weights

A place is a coordinate for each dim after batch and channel, in elements, as float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from math import prod

import numpy as np

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Dim, Value, dims_of, dtype_of, rank_of, shape_of
from .linear import product as matrix_product
from .resize import FLOAT, INT, Computed, Number
from .rule import Rules, since
from .windows import per_dim

Tap = tuple[Computed, Computed | None]
"""The coordinate of an element along a dim, and its weight; None for 1."""


def _call(name: str, x: Number, *others: Number) -> Computed:
    return reduce(lambda one, other: one.with_(name, one, other), others, x)


def _rounded(name: str, x: Computed) -> Computed:
    return Computed(x.b.op(name, x.value), x.b)


def _size(b: Builder, dim: Dim) -> Number:
    return float(dim) if isinstance(dim, int) else Computed(b.cast(b.size(dim), FLOAT), b)


def _clamped(x: Computed, size: Number) -> Computed:
    return _call("minimum", _call("maximum", x, 0.0), size - 1.0)


def _reflected(x: Computed, size: Number, aligned: bool) -> Computed:
    """Reflect `x` at the first and the last element, or (unless `aligned`) at their outer edges."""
    low, length = (0.0, size - 1.0) if aligned else (-0.5, size + 0.0)
    if isinstance(length, float):
        length = max(length, 1e-9)
    turns = _call("mod", _rounded("abs", x - low), length * 2.0)
    return _clamped(length - _rounded("abs", turns - length) + low, size)


def _taps(at: Computed, mode: str) -> list[Tap]:
    """Return the elements around a place along a dim."""
    if mode == "nearest":
        return [(_rounded("round", at), None)]
    low = _rounded("floor", at)
    part = at - low
    if mode == "linear":
        return [(low, 1.0 - part), (low + 1.0, part)]
    a, taps = -0.75, list[Tap]()
    for i in range(-1, 3):
        t = _rounded("abs", part - float(i))
        inner, outer = (t * (a + 2.0) - (a + 3.0)) * t * t + 1.0, (t * a - 5.0 * a) * t
        taps.append((low + float(i), inner if i in (0, 1) else (outer + 8.0 * a) * t - 4.0 * a))
    return taps


def _terms(b: Builder, x: Value, along: Sequence[Sequence[Tap]], zeros: bool) -> list[Value]:
    """
    Return the weighted elements around each place of each batch, with channels last.

    Those outside of the tensor are 0, with `zeros`; otherwise, the nearest one inside.
    """
    dims = dims_of(x)[2:]
    lines = b.transpose(b.op("reshape", x, newshape=(0, 0, -1)), (0, 2, 1))
    terms: list[Value] = []
    for taps in product(*along):
        index: Value | None = None
        factor: Computed | None = None
        for (at, weight), dim in zip(taps, dims, strict=True):
            size = _size(b, dim)
            inside = _clamped(at, size)
            place = b.cast(inside.value, INT)
            index = place if index is None else b.op("multiply", index, b.size(dim))
            index = index if index is place else b.op("add", index, place)
            if zeros:
                is_inside = Computed(b.cast(_call("equal", at, inside).value, FLOAT), b)
                weight = is_inside if weight is None else weight * is_inside
            if weight is not None:
                factor = weight if factor is None else factor * weight
        assert index is not None, "at least one dim"
        term = b.op("take", lines, index, axis=1, batch_dims=1)
        if factor is not None:
            wide = b.op("expand_dims", b.cast(factor.value, dtype_of(x)), axis=-1)
            term = b.op("multiply", term, wide)
        terms.append(term)
    return terms


def _total(b: Builder, terms: Sequence[Value], name: str = "add") -> Value:
    return reduce(lambda one, other: b.op(name, one, other), terms)


def grid_sample(node: Node, b: Builder) -> Value:
    """Sample at the places of the grid, from -1 to 1, whose last dim is x, y (and z)."""
    x, grid = node.input(0), node.input(1)
    modes = {"bilinear": "linear", "bicubic": "cubic", "linear": "linear", "cubic": "cubic"}
    mode = node.choice("mode", "linear", ("nearest", *modes))
    mode = modes.get(mode, mode)
    padding = node.choice("padding_mode", "zeros", ("zeros", "border", "reflection"))
    aligned, dims = node.flag("align_corners", False), dims_of(x)[2:]
    if dims_of(grid)[-1] not in (len(dims), None) or rank_of(grid) != rank_of(x):
        raise node.error(f"the grid must have rank {rank_of(x)}, and {len(dims)} coordinates last")

    def padded(at: Computed, size: Number) -> Computed:
        if padding == "zeros":
            return at
        return _reflected(at, size, aligned) if padding == "reflection" else _clamped(at, size)

    along: list[list[Tap]] = []
    for i, dim in enumerate(dims):
        last = b.scalar(len(dims) - 1 - i, INT)
        at = Computed(b.cast(b.op("take", grid, last, axis=-1), FLOAT), b) + 1.0
        size = _size(b, dim)
        at = at * 0.5 * (size - 1.0) if aligned else (at * size - 1.0) * 0.5
        taps = _taps(at if mode == "cubic" else padded(at, size), mode)
        along.append([(padded(tap, size), weight) for tap, weight in taps])
    result = _total(b, _terms(b, x, along, padding == "zeros"))
    return b.transpose(result, (0, rank_of(x) - 1, *range(1, rank_of(x) - 1)))


def deform_conv(node: Node, b: Builder) -> Value:
    """Convolve windows whose elements are moved by offsets, and weighted by a mask."""
    x, weight, offset = (node.input(i) for i in range(3))
    bias, mask = node.optional(3), node.optional(4)
    n, c, *sides = shape_of(x)
    count, _, *kernel = shape_of(weight)
    out = shape_of(offset)[2:]
    rank = len(sides)
    groups, parts = node.integer("group", 1), node.integer("offset_group", 1)
    strides, dilations = (per_dim(node, name, rank, 1) for name in ("strides", "dilations"))
    pads = per_dim(node, "pads", 2 * rank, 0)
    if (node.ints("kernel_shape") or kernel) != kernel or groups < 1 or parts < 1 or c % parts:
        raise node.error("attributes kernel_shape, group and offset_group do not fit the shapes")
    moves = b.reshape(offset, (n * parts, prod(kernel), rank, *out))
    along: list[list[Tap]] = []
    for i in range(rank):
        inside = np.indices((*kernel, *out))[[i, rank + i]]
        base = inside[0] * dilations[i] + inside[1] * strides[i] - pads[i]
        base = base.reshape(1, prod(kernel), *out).astype(np.float32)
        move = b.op("take", moves, b.scalar(i, INT), axis=2)
        at = Computed(b.op("add", b.cast(move, FLOAT), b.constant(base)), b)
        along.append(_taps(at, "linear"))
    samples = _total(b, _terms(b, b.reshape(x, (n * parts, c // parts, *sides)), along, True))
    if mask is not None:
        factor = b.reshape(mask, (n * parts, prod(kernel), *out, 1))
        samples = b.op("multiply", samples, factor)
    columns = b.transpose(samples, (0, rank + 2, *range(1, rank + 2)))
    columns = b.reshape(columns, (n, groups, c // groups * prod(kernel), prod(out)))
    rows = b.reshape(weight, (1, groups, count // groups, c // groups * prod(kernel)))
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
    along: list[list[Tap]] = []
    outside: list[Value] = []
    for i, cells in enumerate((height, width)):
        low, high, dim = corners[1 - i], corners[3 - i], dims_of(x)[2 + i]
        length = high - low if is_half else _call("maximum", high - low, 1.0)
        steps = ((np.arange(cells * ratio) + 0.5) / (cells * ratio)).astype(np.float32)
        shape = (1, len(steps), 1) if i == 0 else (1, 1, len(steps))
        low, length = (Computed(b.reshape(v.value, (count, 1, 1)), b) for v in (low, length))
        at = low + length * Computed(b.constant(steps.reshape(shape)), b)
        size = _size(b, dim)
        outside += [_call("less", at, -1.0).value, _call("greater", at, size).value]
        along.append(_taps(_clamped(at, size), "linear"))
    grid = _total(b, outside, "logical_or")
    full = (count, height * ratio, width * ratio)
    zero = b.op("expand_dims", grid, axis=-1)
    along = [
        [(Computed(b.broadcast_to(at.value, full), b), weight) for at, weight in taps]
        for taps in along
    ]
    terms = _terms(b, images, along, False)
    sample = _total(b, terms, "add" if is_mean else "maximum")
    sample = b.op("where", zero, b.scalar_like(0.0, x), sample)
    cells = b.reshape(sample, (count, height, ratio, width, ratio, dims_of(x)[1]))
    y = b.op("mean" if is_mean else "max", cells, axis=(2, 4))
    return b.transpose(y, (0, 3, 1, 2))


RULES: Rules = {
    "DeformConv": since(19, deform_conv),
    "GridSample": since(16, grid_sample),
    "RoiAlign": since(10, roi_align),
}
