"""
Windows over an image, a block of output rows at a time.

Images here are views of shape (channels, height, width), whatever their layout in memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .bind import Array, Thunk
from .scratch import scratch


@dataclass(frozen=True)
class Geometry:
    """Where windows lie, as (height, width) pairs; `padding` is that before: (top, left)."""

    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilation: tuple[int, int]
    padding: tuple[int, int]
    after: tuple[int, int]
    """The padding at the other end: (bottom, right)."""

    def reach(self, count: int, axis: int) -> int:
        """The cells along `axis` that `count` neighbouring windows cover."""
        cells = self.dilation[axis] * (self.kernel[axis] - 1) + 1
        return (count - 1) * self.strides[axis] + cells

    def windows(self, image: Array, rows: int, columns: int) -> Array:
        """The windows of `image` from its first cell: (channels, kh, kw, rows, columns)."""
        channel, row, column = image.strides
        (sh, sw), (dh, dw) = self.strides, self.dilation
        return as_strided(
            image,
            (image.shape[0], *self.kernel, rows, columns),
            (channel, row * dh, column * dw, row * sh, column * sw),
            writeable=False,
        )


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


def _load(image: Array, padded: Array, top: int, left: int) -> tuple[Thunk, ...]:
    """Fill `padded` with `image`, whose first cell belongs at (top, left), and zeros around it."""
    height, width = image.shape[1:]
    rows, columns = padded.shape[1:]
    up, down = max(0, min(top, rows)), max(0, min(top + height, rows))
    first, last = min(left, columns), min(left + width, columns)
    around = [
        padded[:, :up],
        padded[:, down:],
        padded[:, up:down, :first],
        padded[:, up:down, last:],
    ]
    steps: list[Thunk] = [partial(np.copyto, side, 0) for side in around if side.size]
    inside = padded[:, up:down, first:last]
    if inside.size:
        source = image[:, up - top : down - top, : last - first]
        steps.append(partial(np.copyto, inside, source))
    return tuple(steps)


def blocks(
    images: Array, size: tuple[int, int], rows: int, geometry: Geometry, channels_last: bool
) -> Iterator[Block]:
    """
    The windows of `images` (N, channels, height, width) that give outputs of `size`, in blocks
    of at most `rows` rows. Raises `ValueError` when windows reach beyond the padded images.
    """
    height, width = size
    for axis, extent in enumerate(images.shape[2:]):
        reach = geometry.reach(size[axis], axis)
        if reach > extent + geometry.padding[axis] + geometry.after[axis]:
            raise ValueError(
                f"windows reach {reach} cells into an image of {extent} and its padding"
            )
    buffer = None
    if any(geometry.padding) or any(geometry.after):
        extent = (geometry.reach(rows, 0), geometry.reach(width, 1))
        buffer = image_scratch((images.shape[1], *extent), images.dtype, channels_last)
    for number, image in enumerate(images):
        for first in range(0, height, rows):
            count = min(rows, height - first)
            start = first * geometry.strides[0]
            load: tuple[Thunk, ...] = ()
            source = image[:, start:]
            if buffer is not None:
                source = buffer[:, : geometry.reach(count, 0)]
                load = _load(image, source, geometry.padding[0] - start, geometry.padding[1])
            yield Block(number, first, load, geometry.windows(source, count, width))
