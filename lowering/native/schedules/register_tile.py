"""
Write the schedule of a reduction in tiles of registers: the reduction, whose sums stay in registers
over the loops that reduce, and the elementwise op that reads it, if any.

    for n, h, w, 6:  for o, 16:                            tiles: some vectors by some rows
      for kh:  for kw:  for c:  sums += x * w              one step of the reduction

The loops over tiles also hold the start of the sums and the elementwise op. The tiles at the ends
of the result's dims are smaller: a loop is peeled into one over whole tiles and one turn for the
remainder; that of a row is cut into powers of two, as vectors of other lengths are slow.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, StringAttr, UnitAttr
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import SSAValue

from ....dialects.integers import i64_attribute
from .nests import REDUCTION, Nest
from .scheduling import Steps
from .tiles import Tile, widths

ROOT = "xrelay.root"
TRUE = BoolAttr.from_bool(True)
STRICT = {"pass_through_empty_handle": TRUE, "fail_on_payload_too_small": TRUE}
"""Fail if there are fewer ops than handles."""


def register_tile(nest: Nest, tile: Tile, steps: Steps, func: SSAValue) -> None:
    """Append the steps for `nest` in tiles of `tile`."""
    (root,) = steps.include("mark_root", func)
    kinds = ArrayAttr(IteratorTypeAttr(IteratorType(kind)) for kind in nest.iterators)
    reduction = steps.match(func, "linalg.generic", iterator_types=kinds)
    steps.op("annotate", reduction, properties={"name": StringAttr("xrelay.reduction")})
    vector = len(nest.parallel) - 1
    if tile.block is not None:
        root, _ = steps.fuse(root, _only(nest, vector, tile.block))
    sizes = tile.sizes(nest)
    _, *loops = steps.fuse(root, _spread(nest, sizes), _spread_order(nest, tile.order))
    by_number = dict(zip((i for i in tile.order if sizes[i]), loops, strict=True))
    _peel(nest, tile, by_number, steps)
    (tiles,) = steps.include("reduction_in_tiles", func)
    step, *_ = steps.tile(tiles, [int(kind == REDUCTION) for kind in nest.iterators])
    if tile.is_strided(nest):
        # Each row gets vectors of its own: those of one slice are adjacent.
        assert tile.row is not None
        rows = [int(i == nest.parallel[tile.row]) for i in range(len(nest.iterators))]
        _, single = steps.tile(step, rows)
        steps.op("loop.unroll", single, properties={"factor": i64_attribute(tile.rows)})
    steps.include("vectorize_tiles", func)


def _peel(nest: Nest, tile: Tile, loops: dict[int, SSAValue], steps: Steps) -> None:
    """Peel the loops whose last tile is smaller."""
    parts = 1
    row_size = 1 if tile.row is None else nest.sizes[tile.row]
    if tile.row is not None and (row_size is None or row_size % tile.rows):
        parts = 2
        remainder = steps.peel(loops[tile.row])
        if row_size is None:
            root = steps.match(remainder, **{ROOT: UnitAttr()})
            steps.fuse(root, _only(nest, tile.row, 1))
    vector = len(nest.parallel) - 1
    size = nest.sizes[vector]
    assert size is not None
    narrow = widths(size, tile.width)
    if vector in loops and narrow:
        remainder = steps.peel(loops[vector])
        for number, width in enumerate(narrow[:-1]):
            # The next columns are peeled off the remainder loop of each part, which is the last.
            roots = steps.match(remainder, **{ROOT: UnitAttr()})
            count = parts * (number + 1)
            each = steps.op("split_handle", roots, results=count, properties=STRICT)
            (last,) = steps.op("merge_handles", *each[number :: number + 1], results=1)
            _, loop = steps.fuse(last, _only(nest, vector, width))
            steps.peel(loop)


def _only(nest: Nest, loop: int, size: int) -> Sequence[int]:
    """Return the sizes of tiles that cut one of the parallel loops."""
    return _spread(nest, [size if i == loop else 0 for i in range(len(nest.parallel))])


def _spread(nest: Nest, sizes: Sequence[int]) -> Sequence[int]:
    """Return the sizes for all loops of the root: those that reduce are not cut."""
    if nest.has_consumer:
        return sizes
    spread = [0] * len(nest.iterators)
    for loop, size in zip(nest.parallel, sizes, strict=True):
        spread[loop] = size
    return spread


def _spread_order(nest: Nest, order: Sequence[int]) -> Sequence[int]:
    if nest.has_consumer:
        return order
    reduced = [i for i, kind in enumerate(nest.iterators) if kind == REDUCTION]
    return [*(nest.parallel[i] for i in order), *reduced]
