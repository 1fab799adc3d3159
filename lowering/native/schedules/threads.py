"""
Write the schedule that divides a kernel between threads: one parallel loop in chunks.

    %r = generic (n, p, o, [k])   ->   forall p in (0, 16) step 2 { generic (n, 2, o, [k]) }

The chunks are 4 to 16, whatever the number of threads, and no sum is divided: results are the same
bits for any. Steps that follow are on what a chunk computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg

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


class Chunk(NamedTuple):
    """The parallel loop of the result that is divided, and the turns of a chunk."""

    loop: int
    turns: int
    loops: int
    """The number of loops of the op that is divided."""


def chunk_of(nest: Nest, tile: Tile) -> Chunk | None:
    """
    Return chunks of `nest` that are whole tiles, if there are enough: the most, outermost.

    Where a block of columns stays in the cache for all rows, columns are divided, not rows; a chunk
    that is smaller is the block.
    """
    last = len(nest.parallel) - 1
    units = [1] * len(nest.sizes)
    units[last] = tile.width
    if tile.row is not None:
        units[tile.row] = tile.rows
    order = tile.order if tile.block is None else [last]
    chosen = _chunk(nest.sizes, units, order, tile.block)
    if chosen is None:
        return None
    loop, turns = chosen
    if nest.has_consumer:
        return Chunk(loop, turns, last + 1)
    return Chunk(nest.parallel[loop], turns, len(nest.iterators))


def pointwise_chunk(kernel: FuncOp) -> Chunk | None:
    """Return chunks of a kernel that is one loop, each element of whose result is by itself."""
    op = pointwise_loop(kernel)
    if op is None:
        return None
    sizes = [None if n == DYNAMIC_INDEX else n for n in tensor_of(op.results[0]).get_shape()]
    chosen = _chunk(sizes, [1] * len(sizes), range(len(sizes) - 1))
    return chosen and Chunk(*chosen, len(sizes))


def pointwise_loop(kernel: FuncOp) -> linalg.GenericOp | None:
    """Return the only loop of `kernel`, if it writes each element of the result by itself."""
    loops = ops_of(kernel, linalg.GenericOp)
    if len(loops) != 1 or not loops[0].results or store_of(loops[0]) is None:
        return None
    return loops[0] if is_parallel(loops[0]) else None


def pointwise_work(op: linalg.GenericOp) -> int:
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


def known_turns(sizes: Sequence[int | None]) -> int:
    """Return the product of the sizes that are known."""
    return prod(size for size in sizes if size is not None)
