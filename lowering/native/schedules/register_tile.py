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

from collections.abc import Iterator, Mapping, Sequence, Set
from math import gcd

from xdsl.dialects.builtin import ArrayAttr, StringAttr, UnitAttr
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import SSAValue

from ....dialects.integers import i64_attribute
from ..linalg_generics import SIDE
from .nests import REDUCTION, Nest
from .scheduling import ROOT, Steps, root_in
from .tiles import Tile

PANEL = "xrelay.panel"
"""The attribute of the loop that copies an operand, and of its tiles."""

ROWS = "xrelay.rows"
"""With the number of a loop: the attribute of the loops over the rows of a tile along it."""


def register_tile(nest: Nest, tile: Tile, steps: Steps, func: SSAValue) -> None:
    """Append the steps for `nest` in tiles of `tile`."""
    root = root_in(func, steps)
    kinds = ArrayAttr(IteratorTypeAttr(IteratorType(kind)) for kind in nest.iterators)
    reduction = steps.match(func, "linalg.generic", iterator_types=kinds)
    steps.op("annotate", reduction, properties={"name": StringAttr("xrelay.reduction")})
    if nest.panel is not None:
        number = {"operand_number": i64_attribute(nest.panel)}
        (panel,) = steps.op("get_producer_of_operand", reduction, results=1, properties=number)
        steps.op("annotate", panel, properties={"name": StringAttr(PANEL)})
    if tile.block is not None:
        root, _ = steps.fuse(root, _spread(nest, {len(nest.parallel) - 1: tile.block}))
    sizes = list(_cut(nest, tile, steps, root, {}))
    (tiles,) = steps.include("reduction_in_tiles", func)
    step, *_ = steps.tile(tiles, [int(kind == REDUCTION) for kind in nest.iterators])
    strided = [
        i
        for i, loop in enumerate(nest.parallel[:-1])
        if nest.stride(loop) > 1 and any(outer[i] > 1 for outer in sizes)
    ]
    if strided:
        # Each row gets vectors of its own: those of one slice are adjacent.
        loops = [nest.parallel[i] for i in strided]
        _, *singles = steps.tile(step, [int(i in loops) for i in range(len(nest.iterators))])
        for loop, single in zip(strided, singles, strict=True):
            steps.op("annotate", single, properties={"name": StringAttr(f"{ROWS}{loop}")})
        for loop in reversed(strided):
            _unroll_rows(f"{ROWS}{loop}", {outer[loop] for outer in sizes}, steps, func)
    steps.include("vectorize_tiles", func)


def _unroll_rows(name: str, counts: Set[int], steps: Steps, func: SSAValue) -> None:
    """Unroll the loops of this attribute, of which each has one of the trip counts."""
    for count in sorted(counts - {1}, reverse=True):
        # What is left of a loop of fewer turns is the whole of it.
        single = steps.match(func, "scf.for", **{name: UnitAttr()})
        steps.op("loop.unroll", single, properties={"factor": i64_attribute(count)})


def _cut(
    nest: Nest, tile: Tile, steps: Steps, root: SSAValue, outer: Mapping[int, int]
) -> Iterator[Mapping[int, int]]:
    """
    Cut `root` along the loops of the tile's order that are not in `outer`, whose tiles it is.

    Return the sizes of all tiles.
    """
    sizes: dict[int, int] = {}
    for loop in tile.order[len(outer) :]:
        first, *ends = tile.cuts(nest, loop, outer) or (0,)
        if first:
            sizes[loop] = first
        is_panel = nest.panel is not None and loop == len(nest.parallel) - 1
        if ends or is_panel:
            loops = list[SSAValue]()
            if sizes:
                spread = _spread(nest, sizes), _spread_order(nest, tile.order)
                root, *loops = steps.fuse(root, *spread)
            parts = _peeled(nest, steps, loops[-1], loop, ends) if ends else [root]
            if is_panel:
                around = "scf.for" if loops or any(outer.values()) else "func.func"
                _copy_columns(nest, steps, parts, (first or tile.width, *ends), around)
            for part, size in zip(parts, (first, *ends), strict=True):
                yield from _cut(nest, tile, steps, part, {**outer, loop: size})
            return
        outer = {**outer, loop: first}
    if sizes:
        steps.fuse(root, _spread(nest, sizes), _spread_order(nest, tile.order))
    yield outer


def _copy_columns(
    nest: Nest, steps: Steps, parts: Sequence[SSAValue], widths: Sequence[int], around: str
) -> None:
    """Copy the columns of each of `parts`, so many, before the loops over rows in it."""
    name = {"op_name": StringAttr(around)}
    for part, width in zip(parts, widths, strict=True):
        (columns,) = steps.op("get_parent_op", part, results=1, properties=name)
        if len(parts) > 1:
            # Only then: a copy would be taken for its operand.
            steps.include("canonicalize_tiles", columns)
        panel = steps.match(columns, **{PANEL: UnitAttr()})
        batches = [1] * (len(nest.inputs[nest.panel or 0].results) - 2)
        steps.tile(panel, [*batches, gcd(nest.depth or 1, SIDE), min(width, SIDE)])
        steps.include("vectorize_panel", columns)


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
