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
from typing import NamedTuple

from xdsl.dialects import scf
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block

from ...linalg.builder import tensor_of
from ..linalg_generics import is_parallel, ops_of, store_of
from .nests import Nest
from .tiles import Tile

THREADS = "threads"
"""The kind of schedule."""

FEWEST, MOST = 4, 16
"""The number of chunks."""

TRANSCENDENTAL = 16
"""The multiplications that a function of `math` takes."""

LEAST_AN_ELEMENT = 32
"""Those of one turn of loops, all or most of which are open."""

OPEN_ROWS = 16
"""The rows of a chunk if their number is open."""


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

    If there are not, each turn of an open loop over batches is one. Where a block of columns stays
    in the cache for all rows, columns are divided, not rows; a chunk that is smaller is the block.
    """
    last = len(nest.parallel) - 1
    order = tile.order if tile.block is None else [last]
    chosen = _chunk(nest.sizes, tile.sizes, order, tile.block)
    if chosen is None:
        is_open = (i for i in order if tile.sizes[i] == 1 and nest.sizes[i] is None)
        chosen = next(((i, 1) for i in is_open), None)
    if chosen is None:
        return None
    loop, turns = chosen
    if nest.has_consumer:
        return Chunk(loop, turns, last + 1)
    return Chunk(nest.parallel[loop], turns, len(nest.iterators))


def loop_chunk(kernel: FuncOp) -> tuple[Chunk, int] | None:
    """
    Return chunks of a kernel that computes the elements of its result in one loop, and the work of
    an element.
    """
    loops = ops_of(kernel, linalg.GenericOp)
    if len(loops) != 1 or store_of(loops[0]) is None or not is_parallel(loops[0]):
        return None
    shape = tensor_of(loops[0].results[0]).get_shape()
    chosen = rows_chunk([None if n == DYNAMIC_INDEX else n for n in shape[:-1]])
    return chosen and (Chunk(*chosen, len(shape)), work_of(loops))


def rows_chunk(sizes: Sequence[int | None]) -> tuple[int, int] | None:
    """Return the one of loops of `sizes` over rows that is divided, and the turns of a chunk."""
    chosen = _chunk(sizes, [1] * len(sizes), range(len(sizes)))
    if chosen is None and None in sizes:
        chosen = max(i for i, size in enumerate(sizes) if size is None), OPEN_ROWS
    return chosen


def loops_over_rows(kernel: FuncOp) -> list[scf.ForOp]:
    """Return the loops over the rows of a kernel that computes these one by one."""
    loops: list[scf.ForOp] = []
    block: Block | None = kernel.body.block
    while block is not None:
        loop = next((op for op in block.ops if isinstance(op, scf.ForOp)), None)
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
    block: int | None = None,
) -> tuple[int, int] | None:
    candidates: list[tuple[int, int, int, int]] = []
    for place, loop in enumerate(order):
        size, unit = sizes[loop], units[loop]
        if size is None or size % unit:
            continue
        turns = size // unit
        counts = [n for n in range(FEWEST, MOST + 1) if turns % n == 0]
        if block is not None:
            counts = [n for n in counts if size // n <= block or size // n % block == 0]
        if counts:
            candidates.append((min(turns, MOST), -place, loop, size // counts[-1]))
    return max(candidates)[2:] if candidates else None


def known_turns(shape: Sequence[int]) -> int:
    """Return the product of the dims that are known."""
    return prod(size for size in shape if size != DYNAMIC_INDEX)
