"""
Blocks of tiles for Winograd's F(2x2, 3x3): so many that transformed cells stay in caches.

    55 x 55 pixels, 16 channels:  28 x 28 tiles in 28 blocks of a line, products of 4 at a time

Each tile has 4x4 cells for 2x2 results. All transformed weights are read for each block.
"""

from dataclasses import dataclass

from .tiles import Vectors, step_cycles

PANEL = 16
"""The filters of a panel, and the channels that are transformed at once."""

LEAST_ROWS = 14
"""The least rows of a product, if the image has them: with fewer, tiles of registers are small."""

SMALL = 1 << 20
"""The bytes of all transformed weights that stay in the cache of the second level."""

LARGEST = 512 << 10
"""The bytes of the transformed cells of a block, if larger weights are read for each block."""


@dataclass(frozen=True)
class Blocks:
    """The blocks of an image, and the products of a block that stay in registers."""

    height: int
    width: int
    """Of an image, in tiles."""
    lines: int
    """The tile rows of a block."""
    rows: int
    """The tiles whose products are computed in registers."""

    @property
    def count(self) -> int:
        """The blocks of an image."""
        return -(-self.height // self.lines)

    @property
    def tiles(self) -> int:
        """The tiles of a block."""
        return self.lines * self.width


def blocks_of(height: int, width: int, channels: int, filters: int, vectors: Vectors) -> Blocks:
    """Return the blocks for a result of `height` and `width`."""
    height, width = -(-height // 2), -(-width // 2)
    least = LEAST_ROWS
    if 64 * channels * filters > SMALL:
        least = max(least, LARGEST // (64 * channels))
    count = -(-height // -(-least // width)) if least < height * width else 1
    lines = -(-height // count)
    last = height % lines or lines
    registers = PANEL // vectors.lanes(32) or 1
    most = max(1, min(LEAST_ROWS, (vectors.count - 4) // registers, last * width))

    def cycles(rows: int) -> float:
        return -(-lines * width // rows) * step_cycles(rows, registers)

    return Blocks(height, width, lines, min(range(most, 0, -1), key=cycles))
