"""
Windows along the axes of an image, and the cells they cover.

Images here are views of shape (channels, height, width), whatever their layout in memory.
NumPy checks every access: windows outside their image are an error, and never reach other
memory. Loops and scratch memory are bounded by the cells of the image and of its windows, however
large strides, dilation and padding are.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ...operators.records import record
from ..memory.scratch import scratch
from .bind import Array, Thunk


class Landing(NamedTuple):
    """The cells of one axis that land in another axis, and their places there."""

    cells: slice
    places: slice


def landing(count: int, stride: int, shift: int, extent: int) -> Landing | None:
    """
    Map cells 0 … count - 1 to `cell * stride + shift` in an axis of `extent`.

    Returns the cells that land within the axis, or None if none does.
    """
    first = max(0, -(shift // stride))
    last = min(count, (extent - 1 - shift) // stride + 1)
    if first >= last:
        return None
    start = first * stride + shift
    return Landing(slice(first, last), slice(start, (last - 1) * stride + shift + 1, stride))


@record
class Axis:
    """Windows of `cells` cells along an axis."""

    cells: int
    stride: int
    dilation: int
    before: int = 0
    """Padding before the image's first cell."""
    after: int = 0
    """Padding after the image's last cell."""

    @property
    def is_padded(self) -> bool:
        return self.before != 0 or self.after != 0

    @property
    def is_each_cell(self) -> bool:
        """True if the windows are exactly the image's cells."""
        return self.cells == self.stride == 1 and not self.is_padded

    def reach(self, count: int) -> int:
        """Return the number of cells from the first to the last of `count` adjacent windows."""
        return (count - 1) * self.stride + (self.cells - 1) * self.dilation + 1

    def place(self, window: int, cell: int) -> int:
        """Return the place of cell number `cell` of a window; the image's first cell is at 0."""
        return window * self.stride + cell * self.dilation - self.before

    def cells_inside(self, window: int, low: int, high: int) -> range:
        """Return the cells of window number `window` whose place is in [`low`, `high`)."""
        start = self.place(window, 0)
        first = max(0, -((start - low) // self.dilation))
        return range(first, max(first, min(self.cells, -((start - high) // self.dilation))))

    def _is_dense(self, count: int) -> bool:
        return self.reach(count) <= count * self.cells

    def packed(self, count: int) -> "Axis":
        """Return `count` such windows without padding, side by side if they are sparse."""
        if self._is_dense(count):
            return Axis(self.cells, self.stride, self.dilation)
        return Axis(self.cells, stride=self.cells, dilation=1)

    def loads(self, first: int, count: int, extent: int) -> Iterator[Landing]:
        """
        Map the packed axis of `count` windows, from window `first`, to an image of `extent`.

        Yields the cells inside the image and their places; the other cells are padding.
        """
        start = self.place(first, 0)
        if self._is_dense(count):
            landed = landing(self.reach(count), 1, start, extent)
            if landed is not None:
                yield landed
            return
        for cell in range(self.cells):
            landed = landing(count, self.stride, start + cell * self.dilation, extent)
            if landed is not None:
                windows = range(count)[landed.cells]
                at = slice(windows[0] * self.cells + cell, windows[-1] * self.cells + cell + 1)
                yield Landing(slice(at.start, at.stop, self.cells), landed.places)


def windows(image: Array, height: Axis, width: Axis, rows: int, columns: int) -> Array:
    """Return the first windows of `image`, unpadded: (channels, kh, kw, rows, columns)."""
    every = sliding_window_view(image, (height.reach(1), width.reach(1)), (1, 2))
    last_row, last_column = (rows - 1) * height.stride, (columns - 1) * width.stride
    chosen = every[
        :,
        : last_row + 1 : height.stride,
        : last_column + 1 : width.stride,
        :: height.dilation,
        :: width.dilation,
    ]
    expected = (image.shape[0], rows, columns, height.cells, width.cells)
    if chosen.shape != expected:
        raise ValueError(f"an image of {image.shape} has windows {chosen.shape}, not {expected}")
    return chosen.transpose(0, 3, 4, 1, 2)


def _row_windows(shifted: Array, height: Axis, rows: int) -> Array:
    """Return the first windows of `shifted` (see `_Shifted`): (channels, kh, kw, rows, columns)."""
    every = sliding_window_view(shifted, height.reach(1), 2)
    chosen = every[:, :, : (rows - 1) * height.stride + 1 : height.stride, :, :: height.dilation]
    if chosen.shape[2] != rows or chosen.shape[4] != height.cells:
        raise ValueError(f"{shifted.shape[2]} rows have windows {chosen.shape}, not {rows}")
    return chosen.transpose(0, 4, 1, 2, 3)


@record
class Block:
    """
    The windows (channels, kh, kw, rows, columns) for output rows from `first` of an image.

    `image` is its number, `channels` which of its channels. The windows are valid after `load` has
    run, until the next block's `load` runs.
    """

    image: int
    channels: slice
    first: int
    load: tuple[Thunk, ...]
    windows: Array


class _Direct:
    """Windows that are views of an image without padding."""

    def __init__(self, axes: tuple[Axis, Axis], columns: int) -> None:
        self.axes, self.columns = axes, columns

    def load(self, image: Array, first: int, count: int) -> tuple[list[Thunk], Array]:
        height, width = self.axes
        source = image[:, first * height.stride :]
        return [], windows(source, height, width, count, self.columns)


class _Padded:
    """Windows that are views of a padded copy of some rows, channels last."""

    def __init__(
        self, axes: tuple[Axis, Axis], columns: int, rows: int, channels: int, dtype: np.dtype
    ) -> None:
        self.axes, self.columns = axes, columns
        self.wide = axes[1].packed(columns)
        shape = (axes[0].packed(rows).reach(rows), self.wide.reach(columns), channels)
        self.buffer = scratch(shape, dtype).transpose(2, 0, 1)

    def load(self, image: Array, first: int, count: int) -> tuple[list[Thunk], Array]:
        height, width = self.axes
        high = height.packed(count)
        source = self.buffer[: image.shape[0], : high.reach(count)]
        steps: list[Thunk] = [partial(np.copyto, source, 0)]
        for row in height.loads(first, count, image.shape[1]):
            for column in width.loads(0, self.columns, image.shape[2]):
                to = source[:, row.cells, column.cells]
                steps.append(partial(np.copyto, to, image[:, row.places, column.places]))
        return steps, windows(source, high, self.wide, count, self.columns)


class _Shifted:
    """
    Windows that are views of copies of some rows, padded, one for each of the windows' columns:
    (channels, kw, rows, columns of the output), so the image's columns are taken apart once.

    With stride 1, all output rows of a channel and cell are then adjacent. Copying a window's cells
    from the image instead takes three times as long for images of 14 columns, twice for 28.
    """

    def __init__(
        self, axes: tuple[Axis, Axis], columns: int, rows: int, channels: int, dtype: np.dtype
    ) -> None:
        self.axes, self.columns = axes, columns
        reach = axes[0].packed(rows).reach(rows)
        self.buffer = scratch((channels, axes[1].cells, reach, columns), dtype)

    def load(self, image: Array, first: int, count: int) -> tuple[list[Thunk], Array]:
        height, width = self.axes
        high = height.packed(count)
        shifted = self.buffer[: image.shape[0], :, : high.reach(count)]
        steps: list[Thunk] = []
        if height.is_padded or width.is_padded:
            steps.append(partial(np.copyto, shifted, 0))
        for row in height.loads(first, count, image.shape[1]):
            for cell in range(width.cells):
                start = width.place(0, cell)
                column = landing(self.columns, width.stride, start, image.shape[2])
                if column is not None:
                    to = shifted[:, cell, row.cells, column.cells]
                    steps.append(partial(np.copyto, to, image[:, row.places, column.places]))
        return steps, _row_windows(shifted, high, count)


def require_room(axis: Axis, count: int, extent: int) -> None:
    """Raise `ValueError` if `count` windows exceed a padded axis of `extent` cells."""
    reach, room = axis.reach(count), extent + axis.before + axis.after
    if reach > room:
        raise ValueError(f"windows span {reach} cells, but the padded image has {room}")


def blocks(
    images: Array,
    size: tuple[int, int],
    rows: int,
    channels: int,
    axes: tuple[Axis, Axis],
    channels_last: bool,
) -> Iterator[Block]:
    """
    Yield the windows of `images` (N, channels, height, width) for outputs of `size`.

    A block has at most `rows` rows of at most `channels` channels; of all channels if they are last
    in memory (`channels_last`). Raises `ValueError` if windows exceed the padded images.
    """
    for axis, count, extent in zip(axes, size, images.shape[2:], strict=True):
        require_room(axis, count, extent)
    is_padded = any(axis.is_padded for axis in axes)
    assert not channels_last or channels >= images.shape[1], "channels are adjacent"
    if not is_padded and (channels_last or min(axis.cells for axis in axes) == 1):
        source = _Direct(axes, size[1])
    else:
        kind = _Padded if channels_last else _Shifted
        source = kind(axes, size[1], rows, channels, images.dtype)
    for number, image in enumerate(images):
        for part in range(0, max(1, len(image)), channels):
            chosen = slice(part, min(part + channels, len(image)))
            for first in range(0, size[0], rows):
                count = min(rows, size[0] - first)
                steps, cells = source.load(image[chosen], first, count)
                yield Block(number, chosen, first, tuple(steps), cells)
