"""
Sizes of tiles: the vectors and rows of sums that stay in registers.

    512 bits, 32 registers: 2 vectors by 8 rows       256 bits, 16 registers: 2 vectors by 6 rows

The other registers hold the vectors and the element that are multiplied. If the vectors that all
rows of a tile read do not fit into the cache of the second level, tiles of one vector by more rows
read half of them at a time. If each row has vectors of its own, as in panels of weights, a tile is
as wide as a row where registers suffice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.ir.affine import AffineMap

from ..toolchain.processes import run
from ..toolchain.target_machine import Machine
from ..toolchain.tool_paths import tool
from .nests import Nest

VECTORS = 2
"""The vectors of a row: each element that is broadcast serves as many multiplications."""

ALONE = 8
"""The vectors of a row without others: enough sums to hide the time of an addition."""

MOST_ROWS = 14

LIGHT = 8
"""
The ops after a sum for which a tile may be there several times. llc keeps the constants of more,
such as those of `erf`, in registers over the loop of the sums, and these on the stack.
"""

LARGE = 512 << 10
"""The bytes of the vectors that a tile's rows share from which narrow tiles are faster."""

BLOCK = 256 << 10
"""
The bytes of a block: vectors that stay in the cache of the second level while all rows read them.
"""


@dataclass(frozen=True)
class Tile:
    """A tile of the result of a reduction."""

    row: int | None
    """The loop, among the parallel ones, that moves from row to row; None if there is one row."""
    rows: int
    width: int
    """The number of elements of a row, a power of two."""
    block: int | None
    """The columns of a block, whose loop is outside of all others; None if one block is all."""
    order: tuple[int, ...]
    """The parallel loops, outermost first."""

    def cuts(self, nest: Nest, loop: int, rows: int) -> Sequence[int]:
        """
        Return the sizes of tiles of `rows` along a parallel loop, and of those at its end.

        No sizes leave the loop whole.
        """
        size, last = nest.sizes[loop], len(nest.parallel) - 1
        if loop == self.row:
            if size is None and self.rows > 1:
                ends = widths(None, self.rows)
                return self.rows, *(ends if nest.work_after <= LIGHT else ends[-1:])
            remainder = 0 if size is None else size % self.rows
            return (self.rows, remainder) if remainder else (self.rows,)
        if loop < last:
            return (1,)
        size = self.block or size
        most = self.rows * self.width // max(rows, 1)
        width = self.width if rows == self.rows else _width(min(size or most, most), most)
        return () if size == width else (width, *widths(size, width))

    def fits(self, nest: Nest) -> bool:
        """Test whether `nest` can be computed in such tiles."""
        loops, size = len(nest.parallel), nest.sizes[-1] or self.width
        return (
            sorted(self.order) == [*range(loops)]
            and (self.rows == 1 if self.row is None else self.row in range(loops - 1))
            and self.rows >= 1
            and 1 <= self.width <= size
            and self.width.bit_count() == 1
            and (self.block is None or (self.block > 0 and self.block % self.width == 0))
        )

    def is_strided(self, nest: Nest) -> bool:
        """Test whether a step to the next row is more than one element of some operand's dim."""
        return self.row is not None and self.rows > 1 and nest.stride(nest.parallel[self.row]) > 1


def tile_of(nest: Nest, vectors: Vectors) -> Tile | None:
    """Return the tile for `nest`, or None if its rows are too short for vectors."""
    last = len(nest.parallel) - 1
    size = nest.sizes[last]
    lanes = vectors.lanes(nest.bits)
    row = _row_loop(nest)
    sums = vectors.count // 2 if vectors.count > 16 else vectors.count - 4
    if size is None:
        if row is None or not nest.has_product or not _shares_vectors(nest, row):
            return None
        rows = _rows(nest.sizes[row], sums // VECTORS, False)
        return Tile(row, rows, VECTORS * lanes, None, _order(nest, row))
    if size < min(lanes, 4):
        return None
    width = _width(size, VECTORS * lanes)
    if row is None:
        return Tile(None, 1, _width(size, ALONE * lanes), None, _order(nest, None))
    is_strided = nest.stride(nest.parallel[row]) > 1
    shares = _shares_vectors(nest, row)
    if not shares and size <= sums * lanes and size.bit_count() == 1:
        width = size  # such as a panel: it is read without gaps
    most = min(MOST_ROWS, max(1, sums // max(1, width // lanes)))
    rows = _rows(nest.sizes[row], most, is_strided)
    if shares and width > lanes and (nest.depth or 0) * width * nest.bits > 8 * LARGE:
        more = _rows(nest.sizes[row], min(MOST_ROWS, sums), is_strided)
        if 4 * more >= 3 * min(MOST_ROWS, sums):  # as many sums, or nearly
            width, rows = lanes, more
    order, block = _order(nest, row), None
    if nest.depth is not None and _shares_all_vectors(nest, row):
        columns = BLOCK * 8 // max(nest.bits * nest.depth, 1)
        block = _block(size, width, columns)
        if block is not None:
            order = (*(i for i in order if i != last), last)
    return Tile(row, rows, width, None if block == size else block, order)


def _vectors(nest: Nest) -> list[AffineMap]:
    """Return the maps of the operands that hold vectors."""
    return [map for map in nest.inputs if nest.moves(map, nest.parallel[-1])]


def _shares_vectors(nest: Nest, row: int) -> bool:
    """Test whether all rows read the same vectors of some operand."""
    return any(not nest.moves(map, nest.parallel[row]) for map in _vectors(nest))


def _shares_all_vectors(nest: Nest, row: int) -> bool:
    """Test whether all rows read the same vectors, whatever the operand."""
    return not any(nest.moves(map, nest.parallel[row]) for map in _vectors(nest))


def _block(size: int, width: int, most: int) -> int | None:
    """Return the largest part of `size` that is at most `most` and some whole tiles, if any is."""
    if size % width:
        return None
    if size <= most:
        return size
    parts = [n for n in range(2 * width, most + 1, width) if size % n == 0]
    return parts[-1] if parts else None


def _width(size: int, most: int) -> int:
    """Return the largest power of two that is at most `size` and `most`."""
    return min(most, 1 << (size.bit_length() - 1))


def _rows(size: int | None, most: int, must_divide: bool) -> int:
    """Return the number of rows: one that divides `size`, if it is not much less than `most`."""
    if size is None:
        return 1 if must_divide else most
    divisors = [rows for rows in range(1, min(most, size) + 1) if size % rows == 0]
    if must_divide or 2 * divisors[-1] >= min(most, size):
        return divisors[-1]
    return min(most, size)


def _row_loop(nest: Nest) -> int | None:
    """
    Return the parallel loop whose turns read the same vectors.

    That is the last one that does not move in some operand that holds vectors; otherwise the last
    one of more than one turn.
    """
    loops = [i for i in range(len(nest.parallel) - 1) if nest.sizes[i] != 1]
    sharing = [i for i in loops if _shares_vectors(nest, i)]
    return next(reversed(sharing or loops), None)


def _order(nest: Nest, row: int | None) -> tuple[int, ...]:
    """
    Return the order of the loops over tiles.

    First those that move in all operands (batches), then those of the operand whose vectors the
    rows share, so that it stays in the cache, then the others, and the rows last.
    """
    shared = [
        map for map in _vectors(nest) if row is not None and not nest.moves(map, nest.parallel[row])
    ]

    def place(i: int) -> int:
        if i == row:
            return 3
        loop = nest.parallel[i]
        if all(nest.moves(map, loop) for map in nest.inputs):
            return 0
        return 1 if any(nest.moves(map, loop) for map in shared) else 2

    return tuple(sorted(range(len(nest.parallel)), key=place))


def widths(size: int | None, width: int) -> list[int]:
    """
    Return the widths of tiles that cover what tiles of `width` leave of a row of `size`.

    They are powers of two; each is there once, so 58 in tiles of 32 leaves 16, 8 and 2. An open
    row may leave any.
    """
    rest = (1 << (width - 1).bit_length()) - 1 if size is None else size % width
    return [1 << bit for bit in reversed(range(rest.bit_length())) if rest >> bit & 1]


PROBE = """
define <16 x float> @probe(<16 x float> %x, <16 x float> %y) {
  %sum = fadd <16 x float> %x, %y
  ret <16 x float> %sum
}
"""
"""A function whose code shows how long the vectors are that `llc` chooses."""


@dataclass(frozen=True)
class Vectors:
    """The vector registers of a processor."""

    bytes: int
    count: int

    def lanes(self, bits: int) -> int:
        """Return the number of elements of a register, for elements of this many bits."""
        return max(1, 8 * self.bytes // max(bits, 8))


AVX512 = Vectors(64, 32)
AVX = Vectors(32, 16)
SSE = Vectors(16, 16)
NEON = Vectors(16, 32)


@cache
def vectors_of(machine: Machine) -> Vectors:
    """Return the vector registers that code for `machine` may use."""
    command = [tool("llc"), "-O1", *machine.flags, "-o", "-"]
    code = run("llc", command, PROBE.encode()).output.decode(errors="replace")
    for pattern, vectors in ((r"%zmm", AVX512), (r"%ymm", AVX), (r"%xmm", SSE)):
        if re.search(pattern, code):
            return vectors
    return NEON
