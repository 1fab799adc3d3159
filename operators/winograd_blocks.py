"""
Blocks of tiles for Winograd's F(2x2, 3x3): so many that transformed cells stay in caches.

    55 x 55 pixels, 16 channels:  28 x 28 tiles in 28 blocks of a line

Each tile has 4x4 cells for 2x2 results. All transformed weights are read for each block.
"""

from .records import record
from .rules import LEAST_DIVIDED
from .windows import PANELS, WINOGRAD

PANEL = PANELS[WINOGRAD]
"""The filters of a panel, and the channels that are transformed at once."""

LEAST_ROWS = 14
"""The least rows of a product, if the image has them: with fewer, tiles of registers are small."""

SMALL = 3 << 19
"""The bytes of all transformed weights that stay in the cache of the second level."""

LARGEST = 512 << 10
"""The bytes of the transformed cells of a block, if larger weights are read for each block."""


@record
class Blocks:
    """The blocks of an image."""

    height: int
    width: int
    """Of an image, in tiles."""
    lines: int
    """The tile rows of a block."""
    room: int
    """The tiles for which a block has memory: at least those of lower images as wide."""

    @property
    def count(self) -> int:
        """The blocks of an image."""
        return -(-self.height // self.lines)

    @property
    def tiles(self) -> int:
        """The tiles of a block."""
        return self.lines * self.width


def blocks_of(height: int, width: int, channels: int, filters: int) -> Blocks:
    """Return the blocks for a result of `height` and `width`."""
    height, width = -(-height // 2), -(-width // 2)
    least = LEAST_ROWS
    if 64 * channels * filters > SMALL:
        least = max(least, LARGEST // (64 * channels))
    most = min(-(-least // width), height)
    return Blocks(height, width, -(-height // -(-height // most)), most * width)


def scratch_shapes(
    images: int, height: int, width: int, channels: int, filters: int, parts: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """
    Return the shapes of the cells of a block and of its products with a panel, both transformed.

    At most `parts` threads compute blocks at a time, each with a part of both for itself. If there
    are fewer blocks, but not two, they compute panels of one block, whose cells one of them has
    transformed; a small convolution is not divided.
    """
    blocks = blocks_of(height, width, channels, filters)
    divided = images * filters * channels * 4 * height * width >= LEAST_DIVIDED
    cells = products = 1
    if divided and parts > 1 and (blocks.count >= parts or blocks.count == 2):
        cells = products = -(-blocks.count // -(-blocks.count // parts))
    elif divided:
        products = min(MOST_PANELS, filters // PANEL)
    return (cells, 4, 4, blocks.room, channels), (products, 4, 4, blocks.room, PANEL)


MOST_PANELS = 4
"""The chunks of the panels of a block, if threads do not compute blocks."""
