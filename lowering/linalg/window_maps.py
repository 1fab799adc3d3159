"""
Windows that slide over the height and width of images.

    0 0 0 0 0        a side of 3 cells, padded with 1 before and 1 after;
    |---|            windows of 2 cells, at a stride of 2:
        |---|        the last cell of the padding is in none, and is not made
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from .builder import Builder, Size, Unsupported

MOST_PADDED = 1 << 22
"""Limit on the elements of a padded tensor that is much larger than the unpadded one."""


@dataclass(frozen=True)
class Side:
    """The windows along height or width."""

    cells: Size
    """The number of cells of a window, which are `dilation` apart."""
    stride: int
    dilation: int
    before: int
    after: int
    """The padding."""
    ceil: bool = False
    """True if the last window may extend beyond the padding."""

    def reach(self, b: Builder) -> Size:
        """Return the distance from the first cell of a window to beyond its last."""
        return b.add(b.mul(b.sub(self.cells, 1), self.dilation), 1)

    def count(self, b: Builder, size: Size) -> Size:
        """Return the number of windows on an image of this size."""
        padded = b.add(b.add(size, self.before), self.after)
        last = b.sub(padded, self.reach(b))
        return b.add(b.floordiv(b.add(last, self.stride - 1 if self.ceil else 0), self.stride), 1)

    def is_inside(self, padding_counts: bool) -> bool:
        """Test whether all windows are within the image, or within the padded one."""
        return not self.ceil and (padding_counts or self.before == self.after == 0)

    def missing(self, b: Builder, size: Size, count: Size) -> Size:
        """Return how many cells after the image (and `before`) `count` windows need."""
        if self.after == 0 and not self.ceil:
            return 0
        if self.stride == 1 and not self.ceil:
            return self.after
        end = b.add(b.mul(b.sub(count, 1), self.stride), self.reach(b))
        return b.maximum(b.sub(b.sub(end, self.before), size), 0)

    def place(self, window: int, cell: int | None) -> AffineExpr:
        """Return where the cell of loop `cell` (None: the only one) of window loop `window` is."""
        place = AffineExpr.dimension(window) * self.stride
        return place if cell is None else place + AffineExpr.dimension(cell) * self.dilation


def cells_before(b: Builder, end: Size, start: Size, step: int, count: Size) -> Size:
    """Return how many of `count` places from `start` on, every `step`, are below `end`."""
    cells = b.floordiv(b.add(b.sub(end, start), step - 1), step)
    return b.minimum(b.maximum(cells, 0), count)


def padded(
    b: Builder,
    value: SSAValue,
    axes: Sequence[int],
    sides: Sequence[Side],
    counts: Sequence[Size],
    number: SSAValue,
) -> SSAValue:
    """Return images with as much padding of `number` as the windows along `axes` read."""
    dims = b.dims(value)
    low: list[Size] = [0] * len(dims)
    high: list[Size] = [0] * len(dims)
    for axis, side, count in zip(axes, sides, counts, strict=True):
        low[axis] = side.before
        high[axis] = side.missing(b, dims[axis], count)
    sizes = [b.add(b.add(d, x), y) for d, x, y in zip(dims, low, high, strict=True)]
    elements = prod(size for size in sizes if isinstance(size, int))
    if elements > max(MOST_PADDED, 16 * prod(dim for dim in dims if isinstance(dim, int))):
        raise Unsupported(f"padding to {elements} elements")
    return b.pad(value, low, high, number)
