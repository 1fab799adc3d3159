"""
Small boxes of a large plan, drawn as one path: which cells of a grid they cover.

The size of the path is bounded by that of the grid, however many boxes there are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .panels import Box

CELL = 2
"""The width and height of a cell in pixels."""


class Grid:
    """Columns and offsets as cells."""

    def __init__(self, columns: int, ceiling: int, wide: int, tall: int) -> None:
        self.wide, self.tall = wide // CELL, tall // CELL
        self.columns, self.ceiling = columns, ceiling

    def across(self, column: int) -> int:
        return column * self.wide // self.columns

    def up(self, offset: int) -> int:
        return offset * self.tall // self.ceiling


def rest_path(boxes: Sequence[Box], grid: Grid, left: float, base: float) -> str:
    """Return the path of the cells that `boxes` cover, in runs along each row."""
    covered = np.zeros((grid.tall + 1, grid.wide + 2), dtype=np.int8)
    for box in boxes:
        low, high = grid.up(box.low), grid.up(box.low + box.size)
        first, last = grid.across(box.left), grid.across(box.right)
        covered[low : max(high, low + 1), first + 1 : max(last, first + 1) + 1] = 1
    parts: list[str] = []
    for row in range(grid.tall + 1):
        change = np.flatnonzero(np.diff(covered[row]))
        y = base - (row + 1) * CELL
        for start, stop in zip(change[::2].tolist(), change[1::2].tolist(), strict=True):
            x, wide = left + start * CELL, (stop - start) * CELL
            parts.append(f"M{x:.0f} {y:.0f}h{wide}v{CELL}h-{wide}z")
    return "".join(parts)
