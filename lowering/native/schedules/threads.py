"""
Write the schedule that divides a kernel between threads: one parallel loop in chunks.

    %r = generic (n, p, o, [k])   ->   forall p in (0, 16) step 2 { generic (n, 2, o, [k]) }

The chunks are 4 to 16, or so many turns of an open loop, whatever the number of threads, and no sum
is divided: results are the same bits for any. Steps that follow are on what a chunk computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod
from typing import NamedTuple, cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, ShapedType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block

from ....operators.rules import LEAST_DIVIDED
from ..linalg_generics import PART, SIDE, UNTILED, is_parallel, ops_of, sides_of, store_of
from .nests import Nest
from .tiles import Tile, widths

THREADS = "threads"
"""The kind of schedule."""

FEWEST, MOST = 4, 16
"""The least and the greatest number of chunks."""

MOST_OF_ROWS = 64
"""The greatest number of chunks of rows, where no number up to `MOST` is even."""

BALANCED = 12
"""The number of chunks from which on it matters little that one thread computes one more."""

COLUMNS_A_ROW = 6
"""
For a product with fewer columns a row, rows are divided: a line that the other processor wrote
takes about six times as long to read as one of the weights, which no processor writes.
"""

TRANSCENDENTAL = 16
"""The multiplications that a function of `math` takes."""

MOVED = 24
"""Those that take as long as moving an element of an operand, which another processor may have."""

LEAST_AN_ELEMENT = 32
"""Those of one turn of loops, all or most of which are open."""

OPEN_ROWS = 16
"""The rows of a chunk if their number is open."""

READING = 3
"""The rows whose multiplications take as long as it takes to read the operand that they share."""


class Chunk(NamedTuple):
    """The parallel loop of the result that is divided, and the turns of a chunk."""

    loop: int
    turns: int
    loops: int
    """The number of loops of the op that is divided."""

    def nest_in(self, nest: Nest) -> Nest:
        """Return the loops of a chunk of `nest`."""
        divided = self.loop if nest.has_consumer else nest.parallel.index(self.loop)
        if nest.sizes[divided] is None:
            return nest
        sizes = (self.turns if i == divided else size for i, size in enumerate(nest.sizes))
        return replace(nest, sizes=tuple(sizes))


def chunk_of(nest: Nest, tile: Tile) -> Chunk | None:
    """
    Return chunks of `nest` that are whole tiles, if there are enough: the most, outermost.

    Rows come before columns, so that a thread reads what it computed in the loops before; not if
    there are many columns a row, whose weights would be read by every thread. If there are not
    enough, each turn of an open loop over batches is one. Where a block of columns stays in the
    cache for all rows, columns are divided, not rows; a chunk that is smaller is the block.
    """
    last = len(nest.parallel) - 1
    order = tile.order if tile.block is None else [last]
    rows = _first_rows(nest)
    if nest.panel is not None and nest.sizes[last] is not None:
        # Each chunk of rows would copy all columns.
        shared = nest.inputs[nest.panel]
        order = [i for i in order if nest.moves(shared, nest.parallel[i])]
    is_open = (i for i in rows if i in order and nest.sizes[i] is None)
    chosen = next(((i, OPEN_ROWS) for i in is_open), None) if nest.has_product else None
    chosen = chosen or _chunk(nest.sizes, tile.sizes, order, rows, tile.block)
    if chosen is None:
        is_open = (i for i in order if tile.sizes[i] == 1 and nest.sizes[i] is None)
        chosen = next(((i, 1) for i in is_open), None)
    if chosen is None and tile.block is None:
        chosen = _ragged_chunk(nest, tile)
    if chosen is None:
        return None
    loop, turns = chosen
    if nest.has_consumer:
        return Chunk(loop, turns, last + 1)
    return Chunk(nest.parallel[loop], turns, len(nest.iterators))


def _ragged_chunk(nest: Nest, tile: Tile) -> tuple[int, int] | None:
    """
    Return chunks of columns that are whole tiles and what is left, in the fewest widths.

        1000 columns in tiles of 128:   5 chunks of 128 + 64 + 8
    """
    last, size = len(nest.parallel) - 1, nest.sizes[-1] or 0
    chunks = [size // n for n in range(FEWEST, MOST + 1) if size % n == 0]
    chunks = [turns for turns in chunks if turns > tile.width]
    fewest = min(chunks, key=lambda turns: len(widths(turns, tile.width)), default=None)
    return None if fewest is None else (last, fewest)


def _first_rows(nest: Nest) -> Sequence[int]:
    """Return the loops over rows, if it is better to divide rows of `nest` than columns."""
    last = len(nest.parallel) - 1
    if not nest.has_product:
        return range(last)
    shared = [map for map in nest.inputs if nest.moves(map, nest.parallel[last])]
    rows = [i for i in range(last) if not any(nest.moves(m, nest.parallel[i]) for m in shared)]
    if not rows:
        return range(last)  # of pooling, whose windows have no weights
    columns = prod(n or 0 for i, n in enumerate(nest.sizes) if i not in rows)
    if any(nest.sizes[i] is None for i in rows):
        # A product of one row is too small to be divided, and few rows are one chunk.
        is_small = 0 < columns * (nest.depth or 0) * (1 + READING) < LEAST_DIVIDED
        return rows if is_small else ()
    return rows if 0 < columns < COLUMNS_A_ROW * prod(nest.sizes[i] or 0 for i in rows) else ()


def loop_chunk(kernel: FuncOp) -> tuple[Chunk, int] | None:
    """
    Return chunks of a kernel that has one elementwise loop, and the work of an element.

    There may also be a loop for each part of the result, if all parts have the same rows.
    """
    loops = [op for op in ops_of(kernel, linalg.GenericOp) if UNTILED not in op.attributes]
    if not loops or not all(map(is_parallel, loops)):
        return None
    shapes = [cast("ShapedType", op.outputs[0].type).get_shape() for op in loops]
    is_stored = all(PART in op.attributes for op in loops) or (
        len(loops) == 1 and bool(loops[0].results) and store_of(loops[0]) is not None
    )
    rows = shapes[0][:-1]
    if not is_stored or any(shape[:-1] != rows for shape in shapes):
        return None
    chosen = rows_chunk([None if n == DYNAMIC_INDEX else n for n in rows])
    work = max(work_of([op]) + MOVED * len(op.operands) for op in loops)
    return chosen and (Chunk(*chosen, len(rows) + 1), work)


def squares_chunk(op: linalg.GenericOp) -> tuple[Chunk, int] | None:
    """Return chunks of whole squares of a loop that transposes, and the work of an element."""
    shape = cast("ShapedType", op.outputs[0].type).get_shape()
    sides, every = sides_of(op), range(len(shape))
    others = [i for i in every if i not in sides]
    sizes = [None if n == DYNAMIC_INDEX else n for n in shape]
    chosen = _chunk(sizes, [SIDE if i in sides else 1 for i in every], every, others)
    if chosen is None:
        chosen = next(((i, 1) for i in others if sizes[i] is None), None)
    return chosen and (Chunk(*chosen, len(shape)), work_of([op]) + MOVED * len(op.operands))


def rows_chunk(sizes: Sequence[int | None]) -> tuple[int, int] | None:
    """Return the one of loops of `sizes` over rows that is divided, and the turns of a chunk."""
    every = range(len(sizes))
    chosen = _chunk(sizes, [1] * len(sizes), every, every)
    if chosen is None and None in sizes:
        chosen = max(i for i, size in enumerate(sizes) if size is None), OPEN_ROWS
    return chosen


def loops_over_rows(kernel: FuncOp) -> list[scf.ForOp]:
    """
    Return the loops over the rows of a kernel that computes these one by one.

    One whose results go from turn to turn, as of a scan, is not over rows.
    """
    loops: list[scf.ForOp] = []
    block: Block | None = kernel.body.block
    while block is not None:
        loops_of_block = (op for op in block.ops if isinstance(op, scf.ForOp))
        loop = next((loop for loop in loops_of_block if not loop.results), None)
        loops += [] if loop is None else [loop]
        block = None if loop is None else loop.body.block
    return loops


def work_of(loops: Iterable[linalg.GenericOp]) -> int:
    """Return the multiplications that take as long as one turn of each of `loops`."""
    return sum(map(_work, loops))


def _work(op: linalg.GenericOp) -> int:
    """Return the multiplications that take as long as one turn of `op`."""
    body = list(op.body.block.ops)
    functions = sum(inner.name.startswith("math.") for inner in body)
    return len(body) + len(op.operands) + TRANSCENDENTAL * functions


def _chunk(
    sizes: Sequence[int | None],
    units: Sequence[int],
    order: Sequence[int],
    rows: Sequence[int],
    block: int | None = None,
) -> tuple[int, int] | None:
    candidates: list[tuple[bool, int, int, int, int]] = []
    for place, loop in enumerate(order):
        size, unit = sizes[loop], units[loop]
        if size is None or size % unit:
            continue
        turns = size // unit
        is_row = loop in rows
        most = MOST_OF_ROWS if is_row else MOST
        counts = [n for n in range(FEWEST, most + 1) if turns % n == 0]
        if block is not None:
            counts = [n for n in counts if size // n <= block or size // n % block == 0]
        if counts:
            count = max(counts, key=_balance if is_row else None)
            is_first = is_row and (count % 2 == 0 or count >= BALANCED)
            candidates.append((is_first, min(turns, MOST), -place, loop, size // count))
    return max(candidates)[3:] if candidates else None


def _balance(count: int) -> tuple[bool, bool, int]:
    """Return the key of which the best number of chunks has the greatest: even, at most `MOST`."""
    return count % 2 == 0, count % 2 == 1 or count <= MOST, count


def known_turns(shape: Sequence[int]) -> int:
    """Return the product of the dims that are known."""
    return prod(size for size in shape if size != DYNAMIC_INDEX)
