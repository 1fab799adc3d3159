"""
Sizes of tiles: the vectors and rows of sums that stay in registers.

    512 bits, 32 registers: 2 vectors by 8 rows       256 bits, 16 registers: 2 vectors by 6 rows

The other registers hold the vectors and the element that are multiplied. Where all rows read the
same vectors, as in products and convolutions, the tile is the one that takes the fewest cycles with
the smaller tiles at the ends; its rows may be of several lines of an image:

    14 x 14 pixels in tiles of 3 x 2:   12 lines in 28 tiles of 6 rows, 2 lines in 7 tiles of 4

A panel of weights may be one vector: a tile then has several panels. If each row has vectors of its
own, as in panels of weights, a tile is as wide as a row where registers suffice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import gcd, prod
from typing import NamedTuple

from xdsl.ir.affine import AffineMap

from ....operators.winograd_blocks import PANEL, Blocks
from ..toolchain.processes import run
from ..toolchain.target_machine import Machine
from ..toolchain.tool_paths import tool
from .nests import Nest

VECTORS = 2
"""The vectors of a row: each element that is broadcast serves as many multiplications."""

ALONE = 8
"""The vectors of a row without others: enough sums to hide the time of an addition."""

MOST_ROWS = 14

MOST_PANELS = 4
"""Of which each vector is of a panel of its own: enough for the latency of sums of one row."""

LATENCY = 4
"""The cycles of a multiplication; two begin in each cycle, and two loads."""

LOOP = 0.5
"""The cycles that a step of a reduction takes besides."""

ANOTHER = 0.02
"""The share of time for which another size of tiles, which is code of its own, pays."""

LIGHT = 8
"""
The ops after a sum for which a tile may be there several times. llc keeps the constants of more,
such as those of `erf`, in registers over the loop of the sums, and these on the stack.
"""

LARGE = 512 << 10
"""The bytes of weights that are read from memory again for few rows of an open number."""

BLOCK = 256 << 10
"""The bytes of a block: vectors that stay in the second-level cache while all rows read them."""


@dataclass(frozen=True)
class Tile:
    """A tile of the result of a reduction."""

    sizes: tuple[int, ...]
    """Those along the parallel loops; the last is the width of a row, a power of two."""
    block: int | None
    """The columns of a block, whose loop is outside of all others; None if one block is all."""
    order: tuple[int, ...]
    """The parallel loops, outermost first."""

    @property
    def width(self) -> int:
        """The number of elements of a row."""
        return self.sizes[-1]

    @property
    def rows(self) -> int:
        """The number of rows, of all loops."""
        return prod(self.sizes[:-1])

    def cuts(self, nest: Nest, loop: int, outer: Mapping[int, int]) -> Sequence[int]:
        """
        Return the sizes of tiles along a parallel loop, and of those at its end.

        `outer` has the sizes of these tiles along loops outside. No sizes leave the loop whole.
        """
        size, last = nest.sizes[loop], len(nest.parallel) - 1
        if loop == last:
            size = self.block or size
            rows = prod(outer.get(i, n) for i, n in enumerate(self.sizes[:-1]))
            most = self.rows * self.width // max(rows, 1)
            width = self.width if rows == self.rows else _width(min(size or most, most), most)
            return () if size == width else (width, *widths(size, width))
        rows = self.sizes[loop]
        if size is None:
            ends = widths(None, rows)
            return rows, *(ends if nest.work_after <= LIGHT else ends[-1:])
        lines = prod(n for i, n in outer.items() if i != last)
        if loop == self._row and lines < self.rows // rows:
            rows = _best_rows(size, self.rows, lines)
        remainder = size % rows
        return (rows, remainder) if remainder else (rows,)

    @property
    def _row(self) -> int:
        """The loop from row to row."""
        return next(i for i in reversed(self.order) if i != len(self.sizes) - 1)

    def fits(self, nest: Nest) -> bool:
        """Test whether `nest` can be computed in such tiles."""
        loops, size = len(nest.parallel), nest.sizes[-1] or self.width
        return (
            sorted(self.order) == [*range(loops)]
            and len(self.sizes) == loops
            and all(size >= 1 for size in self.sizes)
            and self.width <= size
            and self.width.bit_count() == 1
            and (self.block is None or (self.block > 0 and self.block % self.width == 0))
        )


def tile_of(nest: Nest, vectors: Vectors) -> Tile | None:
    """Return the tile for `nest`, or None if its rows are too short for vectors or it is empty."""
    if 0 in nest.sizes:
        return None
    last = len(nest.parallel) - 1
    size = nest.sizes[last]
    lanes = vectors.lanes(nest.bits)
    row = _row_loop(nest)
    sums = vectors.count // 2 if vectors.count > 16 else vectors.count - 4
    order = _order(nest, row)

    def tile(rows: int, width: int, lines: int = 1, block: int | None = None) -> Tile:
        sizes = [1] * last + [min(width, size or width)]
        if width > sizes[last]:
            sizes[last - 1] = width // sizes[last]  # panels
        if row is not None:
            sizes[row] = rows
        if row and lines > 1:
            sizes[row - 1] = lines
        return Tile(tuple(sizes), block, order)

    if size is None or nest.panel is not None:
        if row is None or not nest.has_product or not _shares_vectors(nest, row):
            return None
        return tile(_rows(nest.sizes[row], sums // VECTORS), VECTORS * lanes)
    if size < min(lanes, 4):
        return None
    if row is None:
        return tile(1, _width(size, ALONE * lanes))
    if not _shares_all_vectors(nest, row):
        width = _width(size, VECTORS * lanes)
        if not _shares_vectors(nest, row) and size <= sums * lanes and size.bit_count() == 1:
            width = size  # such as a panel: it is read without gaps
        most = min(MOST_ROWS, max(1, sums // max(1, width // lanes)))
        return tile(_rows(nest.sizes[row], most), width)
    panels = _panels(nest, row) if size.bit_count() == 1 else 1
    width, known = _width(size * panels, VECTORS * lanes), nest.sizes[row]
    if known is None:
        weights = panels > 1 and (nest.depth or 0) * size * (nest.sizes[-2] or 1) * nest.bits
        most = 3 * vectors.count // 4 if weights > 8 * LARGE else sums
        rows = min(MOST_ROWS, most // max(1, width // lanes))
        chosen = tile(rows, width)
    else:
        lines = nest.sizes[row - 1] if row and _shares_all_vectors(nest, row - 1) else 1
        area = Area(lines or 1, known, size * panels)
        chosen = tile(*area.best_tile(lanes, vectors.count))
    if nest.depth is None:
        return chosen
    columns = BLOCK * 8 // max(nest.bits * nest.depth, 1)
    block = _block(size, chosen.width, columns)
    if block is None:
        return chosen
    order = (*(i for i in order if i != last), last)
    return replace(chosen, block=None if block == size else block, order=order)


def reads_panels(nest: Nest) -> bool:
    """Test whether the rows of `nest` read the same panels of weights, each of which lies alone."""
    row, width = _row_loop(nest), nest.sizes[-1] or 0
    is_shared = row is not None and nest.has_product and _shares_all_vectors(nest, row)
    return row is not None and is_shared and width.bit_count() == 1 and _panels(nest, row) > 1


def step_cycles(rows: int, vectors: int) -> float:
    """Return the cycles of a step of a tile."""
    return max(rows * vectors / 2, (rows + vectors) / 2, LATENCY) + LOOP


def winograd_rows(blocks: Blocks, vectors: Vectors) -> int:
    """Return the tiles of Winograd's `blocks` whose products with a panel stay in registers."""
    registers = PANEL // vectors.lanes(32) or 1
    last = (blocks.height % blocks.lines or blocks.lines) * blocks.width
    most = max(1, min(MOST_ROWS, (vectors.count - 4) // registers, last))

    def cycles(rows: int) -> float:
        return -(-blocks.tiles // rows) * step_cycles(rows, registers)

    return min(range(most, 0, -1), key=cycles)


def _along(size: int, rows: int, lines: int, vectors: int) -> float:
    """Return the cycles of a step of all tiles along `size` rows of so many lines."""
    end = size % rows
    cycles = size // rows * step_cycles(lines * rows, vectors)
    return cycles + bool(end) * step_cycles(lines * end, vectors)


def _best_rows(size: int, most: int, lines: int) -> int:
    """Return the rows of a tile of so many lines, which has `most` at most."""
    choices = range(max(1, min(size, most // lines)), 0, -1)
    return min(choices, key=lambda rows: _along(size, rows, lines, VECTORS))


class Area(NamedTuple):
    """The rows of a result whose tiles read the same vectors."""

    lines: int
    rows: int
    """Of a line."""
    width: int

    def best_tile(self, lanes: int, registers: int) -> tuple[int, int, int]:
        """Return the rows, width and lines of the tiles that take the fewest cycles."""
        counts = [n for n in (1, 2, 4, 8) if n == 1 or n * lanes <= self.width]
        tiles = [
            (rows, _width(self.width, vectors * lanes), lines)
            for vectors in counts
            for lines in range(1, min(MOST_ROWS, self.lines) + 1)
            for rows in range(1, min(MOST_ROWS // lines, self.rows) + 1)
            if (rows * lines + 1) * vectors < registers
        ]
        return min(tiles, key=lambda tile: self._cycles(*tile, lanes))

    def _cycles(self, rows: int, width: int, lines: int, lanes: int) -> tuple[float, int]:
        """Return the cycles of a step of all tiles of a size; of the same, the most rows."""
        end, total, sizes = self.lines % lines, 0.0, 0
        end_rows = _best_rows(self.rows, rows * lines, end) if end else 1
        for columns in (width, *widths(self.width, width)):
            vectors = -(-columns // lanes)
            cycles = self.lines // lines * _along(self.rows, rows, lines, vectors)
            cycles += bool(end) * _along(self.rows, end_rows, end, vectors)
            total += (self.width // width if columns == width else 1) * cycles
            sizes += 1 + bool(self.rows % rows) + bool(end) * (1 + bool(self.rows % end_rows))
        return total * (1 + ANOTHER * sizes), -rows


def _vectors(nest: Nest) -> list[AffineMap]:
    """Return the maps of the operands that hold vectors."""
    return [map for map in nest.inputs if nest.moves(map, nest.parallel[-1])]


def _shares_vectors(nest: Nest, row: int) -> bool:
    """Test whether all rows read the same vectors of some operand."""
    return any(not nest.moves(map, nest.parallel[row]) for map in _vectors(nest))


def _shares_all_vectors(nest: Nest, row: int) -> bool:
    """Test whether all rows read the same vectors, whatever the operand."""
    return not any(nest.moves(map, nest.parallel[row]) for map in _vectors(nest))


def _panels(nest: Nest, row: int) -> int:
    """Return the number of panels that a tile may have: 4, 2 or 1 that divides their number."""
    loop, column = nest.parallel[-2:]
    number = nest.sizes[-2] or 1
    along = [nest.moves(map, loop) == nest.moves(map, column) for map in nest.inputs]
    return gcd(number, MOST_PANELS) if all(along) and row != len(nest.parallel) - 2 else 1


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


def _rows(size: int | None, most: int) -> int:
    """Return the number of rows: one that divides `size`, if it is not much less than `most`."""
    if size is None:
        return most
    divisors = [rows for rows in range(1, min(most, size) + 1) if size % rows == 0]
    if 2 * divisors[-1] >= min(most, size):
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
