"""
Convolution of images.

Computed in blocks of output rows: the windows of a block become the columns of a matrix
(im2col), which is multiplied by the weights. Blocks keep that matrix small. If each cell of the
image is a window (a 1x1 convolution), the image itself is the matrix. Convolutions with a channel
per group (depthwise) are products with matrices of one row, in blocks of few channels; with
channels last they are sums of one product per cell of the window. `winograd` is for windows of 3x3.

Names: N images, g groups, C input and O output channels per group, K = C * kh * kw.
"""

from collections.abc import Sequence
from functools import partial
from math import prod

import numpy as np

from ...operators.windows import WINOGRAD
from ..memory.scratch import scratch
from . import winograd
from .bind import Array, Attrs, Bind, Thunk, borders, integer, pair, sequence, widen_half, word
from .windows import Axis, blocks, landing

COLUMNS_SIZE = 1 << 20
"""
Limit in bytes on the matrix of a block, unless the block has one row of one group.

It fits the second-level cache of current processors, with what it is computed from.
"""
WIDE_COLUMNS_SIZE = 4 << 20
"""The limit if the weights are at least that large: each block reads them all."""
CELLS_SIZE = 1 << 18
"""Limit in bytes on a block of a depthwise convolution with channels last."""


def _count(size: int, most: int, limit: int) -> int:
    """Return how many items of `size` bytes `limit` holds, in 1 … `most`."""
    return max(1, min(most, limit // max(1, size)))


def _matrix(kernels: Array, shape: tuple[int, ...], y: Array, steps: list[Thunk]) -> Array:
    """Return `kernels` as `shape` in `y`'s element type: a view, or a copy that a step fills."""
    matrix = kernels.reshape(shape)
    if matrix.dtype == y.dtype and np.may_share_memory(matrix, kernels):
        return matrix
    copied = scratch(shape, y.dtype)
    steps.append(partial(np.copyto, copied.reshape(kernels.shape), kernels, "unsafe"))
    return copied


def _by_columns(
    x: Array, kernels: Array, y: Array, axes: tuple[Axis, Axis], channels_last: bool
) -> list[Thunk]:
    """
    Convolve `x` (N, g * C, height, width) with `kernels` (g, O, C, kh, kw) into `y`.

    `x` and `kernels` are views; `y` is in its own layout.
    """
    images, (groups, out_channels, channels) = x.shape[0], kernels.shape[:3]
    height, width = y.shape[1:3] if channels_last else y.shape[2:]
    size = prod(kernels.shape[2:])
    steps: list[Thunk] = []
    if channels_last:  # K is in the order kh, kw, C
        shape = (groups, size, out_channels)
        matrix = _matrix(kernels.transpose(0, 3, 4, 2, 1), shape, y, steps)
        results = y.reshape(images, height * width, groups, out_channels).transpose(0, 2, 1, 3)
    else:
        matrix = _matrix(kernels, (groups, out_channels, size), y, steps)
        results = y.reshape(images, groups, out_channels, height * width)

    if x.dtype == y.dtype and all(axis.is_each_cell for axis in axes):
        if channels_last:
            cells = x.transpose(0, 2, 3, 1).reshape(images, height * width, groups, channels)
            return [*steps, partial(np.matmul, cells.transpose(0, 2, 1, 3), matrix, results)]
        cells = x.reshape(images, groups, channels, height * width)
        return [*steps, partial(np.matmul, matrix, cells, results)]

    limit = min(WIDE_COLUMNS_SIZE, max(COLUMNS_SIZE, matrix[:1].nbytes))
    row_size = size * width * y.itemsize
    at_once = groups if channels_last else _count(row_size * height, groups, limit)
    rows = _count(at_once * row_size, height, limit)
    buffer = scratch((at_once * size * rows * width,), y.dtype)
    for block in blocks(x, (height, width), rows, max(1, at_once * channels), axes, channels_last):
        count = block.windows.shape[3]
        start = block.channels.start // max(1, channels)
        chosen = slice(start, min(start + at_once, groups))
        windows = block.windows.reshape(chosen.stop - start, channels, *block.windows.shape[1:])
        steps += block.load
        columns = buffer[: windows.size]
        part = slice(block.first * width, (block.first + count) * width)
        if channels_last:
            windows = windows.transpose(0, 4, 5, 2, 3, 1)
            cells = columns.reshape(groups, count * width, size)
            product = partial(np.matmul, cells, matrix, results[block.image, :, part])
        else:
            cells = columns.reshape(chosen.stop - start, size, count * width)
            result = results[block.image, chosen, :, part]
            product = partial(np.matmul, matrix[chosen], cells, result)
        load = partial(np.copyto, columns.reshape(windows.shape), windows, "unsafe")
        steps += [load, product]
    return steps


def _by_cells(x: Array, kernels: Array, y: Array, axes: tuple[Axis, Axis]) -> list[Thunk]:
    """
    Convolve like `_by_columns` if C is 1 and channels are last.

    The weights are repeated for each column of the output: so a row of it is one loop, which is
    three times as fast for 8 channels of 224x224.
    """
    groups, out_channels, _, kh, kw = kernels.shape
    y = y.transpose(0, 3, 1, 2)
    height, width = y.shape[2:]
    rows = _count(y.shape[1] * width * y.itemsize, height, CELLS_SIZE)
    buffer = scratch((rows, width, y.shape[1]), y.dtype).transpose(2, 0, 1)
    factors = scratch((kh, kw, width, groups, out_channels), y.dtype)
    each_column = kernels[:, :, 0].transpose(2, 3, 0, 1)[:, :, None]
    steps: list[Thunk] = [partial(np.copyto, factors, each_column, "unsafe")]

    def grouped(image: Array) -> Array:
        return image.reshape(groups, out_channels, *image.shape[1:])

    for block in blocks(x, (height, width), rows, groups, axes, True):
        count = block.windows.shape[3]
        total = grouped(y[block.image, :, block.first : block.first + count])
        product = grouped(buffer[:, :count])
        steps += block.load
        for i in range(kh):
            for j in range(kw):
                factor = factors[i, j].transpose(1, 2, 0)[:, :, None]
                to = product if i or j else total
                window = block.windows[:, None, i, j]
                multiply = partial(np.multiply, dtype=y.dtype, casting="unsafe")
                steps.append(partial(multiply, window, factor, to))
                if i or j:
                    steps.append(partial(np.add, total, product, total))
    return steps


def conv2d(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """
    Cross-correlate `data`, padded with zeros, with `weight`.

    Both are first converted to the output's element type.
    """
    (x, weight), (y,) = ins, outs
    groups = integer(attrs, "groups")
    channels_last = word(attrs, "data_layout") == "NHWC"
    if channels_last:
        x = x.transpose(0, 3, 1, 2)
    kernel_layout = word(attrs, "kernel_layout")
    if kernel_layout == "HWIO":
        weight = weight.transpose(3, 2, 0, 1)
    steps: list[Thunk] = []
    if weight.ndim == 5:  # panels
        filters = weight.transpose(0, 4, 3, 1, 2)
        panels, width, inputs = filters.shape[:3]
        if kernel_layout == WINOGRAD:
            cells = scratch((panels, width, inputs, 3, 3), y.dtype)
            steps += winograd.filters_of(filters, cells)
        else:
            cells = scratch(filters.shape, weight.dtype)
            steps.append(partial(np.copyto, cells, filters))
        weight = cells.reshape(panels * width, *cells.shape[2:])
    kernels = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    channels = (x.shape[1], y.shape[3 if channels_last else 1])
    expected = (kernels.shape[2] * groups, kernels.shape[1] * groups)
    if channels != expected:
        raise ValueError(f"expected {expected} channels, as in the weights, but got {channels}")
    if y.shape[0] != x.shape[0]:
        raise ValueError(f"expected {x.shape[0]} images, as in the data, but got {y.shape[0]}")
    strides, dilation = pair(attrs, "strides"), pair(attrs, "dilation")
    top, left, bottom, right = borders(attrs)
    axes = (
        Axis(weight.shape[2], strides[0], dilation[0], top, bottom),
        Axis(weight.shape[3], strides[1], dilation[1], left, right),
    )
    if channels_last and groups > 1 and kernels.shape[2] == 1:
        steps += _by_cells(x, kernels, y, axes)
    elif not channels_last and winograd.pays(x, kernels, y, axes):
        steps += winograd.convolve(x, kernels, y, axes)
    else:
        steps += _by_columns(x, kernels, y, axes, channels_last)
    return sequence(*steps)


def conv2d_transpose(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """
    Spread `weight` (in, out / groups, kh, kw) over the output from each cell of `data`.

    The output's borders are then cropped by `padding`: the gradient of `conv2d`. Computed as
    one matrix product per cell of the window, added to every `strides`-th output cell.
    """
    (x, weight), (y,) = ins, outs
    groups = integer(attrs, "groups")
    images, in_channels, height, width = x.shape
    channels, (out_channels, kh, kw) = in_channels // groups, weight.shape[1:]
    strides, dilation = pair(attrs, "strides"), pair(attrs, "dilation")
    top, left = borders(attrs)[:2]
    kernels = weight.reshape(groups, channels, out_channels, kh, kw).transpose(3, 4, 0, 2, 1)
    matrices = scratch(kernels.shape, y.dtype)
    cells = scratch((groups, channels, height, width), y.dtype)
    product = scratch((groups, out_channels, height, width), y.dtype)
    steps: list[Thunk] = [partial(np.copyto, matrices, kernels), partial(np.copyto, y, 0)]
    flat = (
        cells.reshape(groups, channels, height * width),
        product.reshape(groups, out_channels, height * width),
    )
    spread = product.reshape(groups * out_channels, height, width)
    for n in range(images):
        steps.append(partial(np.copyto, cells.reshape(x.shape[1:]), x[n]))
        for i in range(kh):
            for j in range(kw):
                row = landing(height, strides[0], i * dilation[0] - top, y.shape[2])
                column = landing(width, strides[1], j * dilation[1] - left, y.shape[3])
                if row is None or column is None:
                    continue
                to = y[n, :, row.places, column.places]
                steps.append(partial(np.matmul, matrices[i, j], flat[0], flat[1]))
                steps.append(partial(np.add, to, spread[:, row.cells, column.cells], to))
    return sequence(*steps)


KERNELS: dict[str, Bind] = {
    "relay.nn.conv2d": widen_half(conv2d),
    "relay.nn.conv2d_transpose": widen_half(conv2d_transpose),
}
