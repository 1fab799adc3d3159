"""
Write the schedule of a reduction in tiles of registers: the reduction, whose sums stay in registers
over the loops that reduce, and the elementwise op that reads it, if any.

    for n, h, w, 6:  for o, 16:                            tiles: some vectors by some rows
      for kh:  for kw:  for c:  sums += x * w              one step of the reduction

The loops over tiles also hold the start of the sums and the elementwise op. The tiles at the ends
of the result's dims are smaller: a loop is peeled into one over whole tiles and a remainder, which
is cut by itself. Of columns that is into powers of two, as vectors of other lengths are slow; of an
open number of rows, too, and fewer rows have more columns, so that there are as many sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr, UnitAttr
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import SSAValue

from ....dialects.integers import i64_attribute
from .nests import REDUCTION, Nest
from .scheduling import ROOT, Steps, root_in
from .tiles import Tile


def register_tile(nest: Nest, tile: Tile, steps: Steps, func: SSAValue) -> None:
    """Append the steps for `nest` in tiles of `tile`."""
    root = root_in(func, steps)
    kinds = ArrayAttr(IteratorTypeAttr(IteratorType(kind)) for kind in nest.iterators)
    reduction = steps.match(func, "linalg.generic", iterator_types=kinds)
    steps.op("annotate", reduction, properties={"name": StringAttr("xrelay.reduction")})
    if tile.block is not None:
        root, _ = steps.fuse(root, _spread(nest, {len(nest.parallel) - 1: tile.block}))
    _cut(nest, tile, steps, root, tile.order, tile.rows)
    (tiles,) = steps.include("reduction_in_tiles", func)
    step, *_ = steps.tile(tiles, [int(kind == REDUCTION) for kind in nest.iterators])
    if tile.is_strided(nest):
        # Each row gets vectors of its own: those of one slice are adjacent.
        assert tile.row is not None
        rows = [int(i == nest.parallel[tile.row]) for i in range(len(nest.iterators))]
        _, single = steps.tile(step, rows)
        steps.op("loop.unroll", single, properties={"factor": i64_attribute(tile.rows)})
    steps.include("vectorize_tiles", func)


def _cut(
    nest: Nest, tile: Tile, steps: Steps, root: SSAValue, order: Sequence[int], rows: int
) -> None:
    """Cut `root`, which has so many rows, along the loops of `order`, the outermost first."""
    sizes: dict[int, int] = {}
    for place, loop in enumerate(order):
        first, *ends = tile.cuts(nest, loop, rows) or (0,)
        if first:
            sizes[loop] = first
        if ends:
            loops = steps.fuse(root, _spread(nest, sizes), _spread_order(nest, tile.order))
            parts = _peeled(nest, steps, loops[-1], loop, ends)
            for part, size in zip(parts, (first, *ends), strict=True):
                part_rows = size if loop == tile.row else rows
                _cut(nest, tile, steps, part, order[place + 1 :], part_rows)
            return
    if sizes:
        steps.fuse(root, _spread(nest, sizes), _spread_order(nest, tile.order))


def _peeled(
    nest: Nest, steps: Steps, over: SSAValue, loop: int, ends: Sequence[int]
) -> list[SSAValue]:
    """Peel `over`, the loop over whole tiles; return the root in it, and in tiles of `ends`."""
    roots, root = list[SSAValue](), over
    is_open = nest.sizes[loop] is None
    for size in ends:
        whole, remainder = steps.op("loop.peel", over, results=2)
        roots.append(steps.match(whole, **{ROOT: UnitAttr()}))
        root = steps.match(remainder, **{ROOT: UnitAttr()})
        if is_open and size > 1:
            # A loop of one turn: of a size that is a difference, peeling could not show that its
            # tiles are whole.
            root, _ = steps.fuse(root, _spread(nest, {loop: 2 * size}))
        if is_open or size != ends[-1]:
            root, over = steps.fuse(root, _spread(nest, {loop: size}))
    return [*roots, root]


def _spread(nest: Nest, sizes: Mapping[int, int]) -> Sequence[int]:
    """Return the sizes of tiles for all loops of the root, of those for some parallel ones."""
    loops = range(len(nest.parallel)) if nest.has_consumer else nest.parallel
    spread = [0] * (len(loops) if nest.has_consumer else len(nest.iterators))
    for number, size in sizes.items():
        spread[loops[number]] = size
    return spread


def _spread_order(nest: Nest, order: Sequence[int]) -> Sequence[int]:
    if nest.has_consumer:
        return order
    reduced = [i for i, kind in enumerate(nest.iterators) if kind == REDUCTION]
    return [*(nest.parallel[i] for i in order), *reduced]
