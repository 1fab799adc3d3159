"""
Convolution by Winograd's minimal filtering F(2x2, 3x3): 16 products per 2x2 outputs, not 36.

A tile of 4x4 cells of the image, a kernel of 3x3 and their 2x2 outputs are

    outputs = Aᵀ (G kernel Gᵀ  *  Bᵀ tile B) A          * multiplies element by element

where the factors only add, subtract and halve. Summed over channels, the 16 products are 16
matrix products over all tiles. (Lavin and Gray 2015, https://arxiv.org/abs/1509.09308.)

The image's even and odd rows and columns are copied to four planes first (phases). Cell (i, j) of
all tiles of all channels is then one row of numbers: plane (i % 2, j % 2) from a fixed place on.
For that, each row has one tile more, and each channel a row of tiles more, which are discarded.

Rounding errors are those of `convolution`, but relative to the greatest values in the 4x4 cells of
a tile, not only in the 3x3 of a window: with values of like size, both err by 3e-7 (root mean
square, float32). An infinite cell makes all outputs of its tiles NaN. Weights are transformed in
each call.

With NumPy on one core, relative to `convolution`: 1.3 to 1.7 times as fast for 28x28 and 56x56 with
32 to 192 channels, 1.8 times for 256 and more; no faster for 14x14 or 16 channels, so it is not
used there.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from ..memory.scratch import scratch
from .bind import Array, Thunk
from .windows import Axis, landing, require_room

LEAST_TILES = 144
LEAST_CHANNELS = 32
MOST_WEIGHTS = 1 << 19
"""Limit on input times output channels: their transformed weights are 32 MiB in float32."""
TILES_SIZE = 1 << 20
"""Limit in bytes on the transformed tiles of a block; if the weights are larger, twice theirs."""
MOST_TILES_SIZE = 8 << 20
WEIGHTS_BLOCK = 1 << 13
"""Number of 3x3 kernels that are transformed at once."""


def pays(x: Array, kernels: Array, y: Array, axes: tuple[Axis, Axis]) -> bool:
    """
    Test whether `convolve` accepts the operands and is clearly faster than `convolution`.

    `x` (N, C, height, width), `kernels` (groups, O, C, kh, kw), `y` (N, O, height, width).
    """
    groups, out_channels, channels = kernels.shape[:3]
    tiles = -(-y.shape[2] // 2) * -(-y.shape[3] // 2)
    return (
        groups == 1
        and all((axis.cells, axis.stride, axis.dilation) == (3, 1, 1) for axis in axes)
        and x.dtype == kernels.dtype == y.dtype
        and y.dtype.kind == "f"
        and kernels.flags.c_contiguous
        and min(channels, out_channels) >= LEAST_CHANNELS
        and channels * out_channels <= MOST_WEIGHTS
        and tiles >= LEAST_TILES
    )


def _kernel_cells(cells: Array, to: Array) -> list[Thunk]:
    """Multiply `cells` (3, …) by G into `to` (4, …)."""
    first, middle, last = cells
    half = np.array(0.5, to.dtype)
    return [
        partial(np.add, first, last, to[0]),
        partial(np.add, to[0], middle, to[1]),
        partial(np.subtract, to[0], middle, to[2]),
        partial(np.multiply, to[1:3], half, to[1:3]),
        partial(np.copyto, to[0], first),
        partial(np.copyto, to[3], last),
    ]


def _filter_cells(cells: Array, to: Array) -> list[Thunk]:
    """Compute `to` (3, …) of which `_kernel_cells` makes `cells` (4, …)."""
    middle = partial(np.subtract, dtype=to.dtype, casting="unsafe")
    return [
        partial(np.copyto, to[::2], cells[::3], "unsafe"),
        partial(middle, cells[1], cells[2], to[1]),
    ]


def filters_of(transformed: Array, to: Array) -> list[Thunk]:
    """Compute the filters `to` (…, 3, 3) of `transformed` ones (…, 4, 4)."""
    half_done = scratch((*to.shape[:-2], 3, 4), to.dtype)
    return [
        *_filter_cells(np.moveaxis(transformed, -2, 0), np.moveaxis(half_done, -2, 0)),
        *_filter_cells(np.moveaxis(half_done, -1, 0), np.moveaxis(to, -1, 0)),
    ]


def _tile_cells(cells: Sequence[Array], to: Array) -> list[Thunk]:
    """Multiply the four `cells` by Bᵀ into `to` (4, …)."""
    a, b, c, d = cells
    return [
        partial(np.subtract, a, c, to[0]),
        partial(np.add, b, c, to[1]),
        partial(np.subtract, c, b, to[2]),
        partial(np.subtract, b, d, to[3]),
    ]


def _output_cells(products: Array) -> list[Thunk]:
    """Multiply `products` (4, …) by Aᵀ, into the first two of them."""
    a, b, c, d = products
    return [
        partial(np.add, a, b, a),
        partial(np.add, a, c, a),
        partial(np.subtract, b, c, b),
        partial(np.subtract, b, d, b),
    ]


def _weights(kernels: Array, to: Array) -> list[Thunk]:
    """Transform `kernels` (count, 9) into `to` (4, 4, count)."""
    size = min(WEIGHTS_BLOCK, len(kernels))
    cells = scratch((3, 3, size), to.dtype)
    half_done = scratch((4, 3, size), to.dtype)
    steps: list[Thunk] = []
    for first in range(0, len(kernels), size):
        part = slice(first, min(first + size, len(kernels)))
        count = part.stop - first
        by_row, by_cell = cells[..., :count], half_done[..., :count]
        steps.append(partial(np.copyto, by_row, kernels[part].T.reshape(3, 3, count)))
        steps += _kernel_cells(by_row, by_cell)
        steps += _kernel_cells(by_cell.swapaxes(0, 1), to[..., part].swapaxes(0, 1))
    return steps


def convolve(x: Array, kernels: Array, y: Array, axes: tuple[Axis, Axis]) -> list[Thunk]:
    """
    Convolve operands of which `pays` is true: `x` with `kernels` into `y`.

    Raises `ValueError` if windows exceed the padded images.
    """
    for axis, count, extent in zip(axes, y.shape[2:], x.shape[2:], strict=True):
        require_room(axis, count, extent)
    out_channels, channels = kernels.shape[1:3]
    height, width = y.shape[2:]
    down, pitch = -(-height // 2), -(-width // 2) + 1
    weights = scratch((4, 4, out_channels * channels), y.dtype)
    steps = _weights(kernels.reshape(-1, 9), weights)
    matrices = weights.reshape(16, out_channels, channels)

    limit = min(MOST_TILES_SIZE, max(TILES_SIZE, 2 * weights.nbytes))
    row_size = 16 * max(channels, out_channels) * pitch * y.itemsize
    rows = max(1, min(down, limit // row_size))
    phases = scratch((4 * channels * (rows + 1) * pitch,), y.dtype)
    half_done = scratch((8 * channels * (rows + 1) * pitch,), y.dtype)
    tiles = scratch((16 * channels * (rows + 1) * pitch,), y.dtype)
    products = scratch((16 * out_channels * rows * pitch,), y.dtype)
    for image, result in zip(x, y, strict=True):
        for first in range(0, down, rows):
            count = min(rows, down - first)
            near, all_tiles = (count + 1) * pitch, count * pitch
            size = channels * near
            planes = phases[: 4 * size].reshape(2, 2, channels, count + 1, pitch)
            steps.append(partial(np.copyto, planes, 0))
            steps += _phases(image, planes, first, axes)
            flat = planes.reshape(2, 2, size)
            by_column = half_done[: 8 * size].reshape(4, 2, size)
            cells = [flat[:, j % 2, j // 2 : size - 1 + j // 2] for j in range(4)]
            steps += _tile_cells(cells, by_column[..., : size - 1])
            found, used = tiles[: 16 * size].reshape(4, 4, size), size - 1 - pitch
            shifts = [i // 2 * pitch for i in range(4)]
            cells = [by_column[:, i % 2, shifts[i] : shifts[i] + used] for i in range(4)]
            steps += _tile_cells(cells, found[..., :used])
            multiplied = products[: 16 * out_channels * all_tiles]
            multiplied = multiplied.reshape(16, out_channels, all_tiles)
            columns = found.reshape(16, channels, near)[..., :all_tiles]
            steps.append(partial(np.matmul, matrices, columns, multiplied))
            multiplied = multiplied.reshape(4, 4, out_channels, count, pitch)
            steps += _output_cells(multiplied)
            steps += _output_cells(multiplied[:2].swapaxes(0, 1))
            part = result[:, 2 * first : 2 * (first + count)]
            for i in range(2):
                for j in range(2):
                    to = part[:, i::2, j::2]
                    source = multiplied[i, j, :, : to.shape[1], : to.shape[2]]
                    steps.append(partial(np.copyto, to, source))
    return steps


def _phases(image: Array, to: Array, first: int, axes: tuple[Axis, Axis]) -> list[Thunk]:
    """Copy the rows of `image` for tiles from row `first` on into the planes of `to`."""
    height, width = axes
    steps: list[Thunk] = []
    for i in range(2):
        for j in range(2):
            row = landing(to.shape[3], 2, 2 * first + i - height.before, image.shape[1])
            column = landing(to.shape[4], 2, j - width.before, image.shape[2])
            if row is not None and column is not None:
                cells = to[i, j, :, row.cells, column.cells]
                steps.append(partial(np.copyto, cells, image[:, row.places, column.places]))
    return steps
