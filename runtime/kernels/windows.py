"""
Windows along the axes of an image, and where they touch it.

Images here are views of shape (channels, height, width), whatever their layout in memory.
NumPy checks every access: windows that attributes would put outside their image are an error,
never other memory. Loops and scratch memory are bounded by the cells of the image and of its
windows, however far strides, dilation and padding reach.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .bind import Array, Thunk
from .scratch import scratch


class Landing(NamedTuple):
    """Those of the cells of one axis that land in another axis, and where."""

    cells: slice
    places: slice


def landing(count: int, stride: int, shift: int, extent: int) -> Landing | None:
    """
    Of the cells 0 … count - 1, moved to `cell * stride + shift`, those that land in an axis of
    `extent`; None when none does.
    """
    first = max(0, -(shift // stride))
    last = min(count, (extent - 1 - shift) // stride + 1)
    if first >= last:
        return None
    start = first * stride + shift
    return Landing(slice(first, last), slice(start, (last - 1) * stride + shift + 1, stride))


@dataclass(frozen=True)
class Axis:
    """Windows of so many `cells` along an axis."""

    cells: int
    stride: int
    dilation: int
    before: int = 0
    """The padding before the image's first cell."""
    after: int = 0
    """The padding after its last cell."""

    @property
    def is_padded(self) -> bool:
        return self.before != 0 or self.after != 0

    @property
    def is_each_cell(self) -> bool:
        """True when the windows are exactly the image's cells."""
        return self.cells == self.stride == 1 and not self.is_padded

    def reach(self, count: int) -> int:
        """The cells that `count` neighbouring windows span, those between them included."""
        return (count - 1) * self.stride + (self.cells - 1) * self.dilation + 1

    def place(self, window: int, cell: int) -> int:
        """The place of cell number `cell` of a window; the image's first cell is at 0."""
        return window * self.stride + cell * self.dilation - self.before

    def cells_inside(self, window: int, low: int, high: int) -> range:
        """The cells of window number `window` at a place from `low` to before `high`."""
        start = self.place(window, 0)
        first = max(0, -((start - low) // self.dilation))
        return range(first, max(first, min(self.cells, -((start - high) // self.dilation))))

    def _is_dense(self, count: int) -> bool:
        return self.reach(count) <= count * self.cells

    def packed(self, count: int) -> "Axis":
        """`count` such windows without padding, one beside the other where they are sparse."""
        if self._is_dense(count):
            return Axis(self.cells, self.stride, self.dilation)
        return Axis(self.cells, stride=self.cells, dilation=1)

    def loads(self, first: int, count: int, extent: int) -> Iterator[Landing]:
        """
        Which cells of the packed axis of `count` windows, from window `first` on, are in an image
        of `extent`, and where; the other cells are padding.
        """
        start = self.place(first, 0)
        if self._is_dense(count):
            found = landing(self.reach(count), 1, start, extent)
            if found is not None:
                yield found
            return
        for cell in range(self.cells):
            found = landing(count, self.stride, start + cell * self.dilation, extent)
            if found is not None:
                windows = range(count)[found.cells]
                at = slice(windows[0] * self.cells + cell, windows[-1] * self.cells + cell + 1)
                yield Landing(slice(at.start, at.stop, self.cells), found.places)


def windows(image: Array, height: Axis, width: Axis, rows: int, columns: int) -> Array:
    """The first windows of `image`, padding aside: (channels, kh, kw, rows, columns)."""
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


@dataclass(frozen=True)
class Block:
    """
    The windows of the output rows from `first` on of image number `image`:
    (channels, kh, kw, rows, columns). They may be read once `load` has run, until the next
    block's has.
    """

    image: int
    first: int
    load: tuple[Thunk, ...]
    windows: Array


def image_scratch(shape: tuple[int, int, int], dtype: np.dtype, channels_last: bool) -> Array:
    """Scratch memory for an image of `shape` (channels, height, width)."""
    if not channels_last:
        return scratch(shape, dtype)
    return scratch((*shape[1:], shape[0]), dtype).transpose(2, 0, 1)


def _require_room(axis: Axis, count: int, extent: int) -> None:
    reach = axis.reach(count)
    if reach > extent + axis.before + axis.after:
        raise ValueError(f"windows reach {reach} cells into an image of {extent} and its padding")


def blocks(
    images: Array,
    size: tuple[int, int],
    rows: int,
    axes: tuple[Axis, Axis],
    channels_last: bool,
) -> Iterator[Block]:
    """
    The windows of `images` (N, channels, height, width) that give outputs of `size`, in blocks
    of at most `rows` rows. Raises `ValueError` when windows reach beyond the padded images.
    """
    height, width = axes
    channels, *extents = images.shape[1:]
    for axis, count, extent in zip(axes, size, extents, strict=True):
        _require_room(axis, count, extent)
    wide = width.packed(size[1])
    buffer = None
    if height.is_padded or width.is_padded:
        shape = (channels, height.packed(rows).reach(rows), wide.reach(size[1]))
        buffer = image_scratch(shape, images.dtype, channels_last)
    for number, image in enumerate(images):
        for first in range(0, size[0], rows):
            count = min(rows, size[0] - first)
            if buffer is None:
                source = image[:, first * height.stride :]
                yield Block(number, first, (), windows(source, height, width, count, size[1]))
                continue
            high = height.packed(count)
            source = buffer[:, : high.reach(count)]
            load: list[Thunk] = [partial(np.copyto, source, 0)]
            for row in height.loads(first, count, extents[0]):
                for column in width.loads(0, size[1], extents[1]):
                    to = source[:, row.cells, column.cells]
                    load.append(partial(np.copyto, to, image[:, row.places, column.places]))
            yield Block(number, first, tuple(load), windows(source, high, wide, count, size[1]))
