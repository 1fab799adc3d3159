"""
Write the schedule of a reduction in tiles of registers.

The file register_tile.mlir is filled in. The tiles at the ends of the result's dims are smaller: a
loop is peeled into one over whole tiles and one turn for the rest; the rest of a row is cut into
powers of two, as vectors of other lengths are slow.
"""

from __future__ import annotations

from collections.abc import Iterable

from .nests import REDUCTION, Nest
from .templates import FOR, filled, ops
from .tiles import Tile, widths


def register_tile(nest: Nest, tile: Tile) -> str:
    """Return the steps for `nest` in tiles of `tile`."""
    sizes = tile.sizes(nest)
    loops = [i for i in tile.order if sizes[i]]
    reduced = [kind == REDUCTION for kind in nest.iterators]
    steps = sum(reduced)
    root_sizes = sizes if nest.has_consumer else _spread(nest, sizes)
    root_order = list(tile.order) if nest.has_consumer else _spread_order(nest, tile.order)
    return filled(
        "register_tile",
        iterators=", ".join(f"#linalg.iterator_type<{kind}>" for kind in nest.iterators),
        block=_block(nest, tile),
        of="%block" if tile.block else "%root",
        sizes=_list(root_sizes),
        order=_list(root_order),
        tile=_handles("loop", loops, first="%tile"),
        tile_types=ops(1 + len(loops)),
        rests=_rests(nest, tile, sizes),
        steps=_handles("step", range(steps)),
        step_types=ops(steps),
        step_sizes=_list(int(is_reduced) for is_reduced in reduced),
        rows=_single_rows(nest, tile),
    )


def _block(nest: Nest, tile: Tile) -> str:
    """Write the step that divides the columns into blocks."""
    if tile.block is None:
        return ""
    sizes = _list(_spread(nest, _only(nest, len(nest.parallel) - 1, tile.block)))
    return (
        f"%block, %block_loop = transform.structured.fuse %root tile_sizes [{sizes}]"
        " {apply_cleanup} : (!op) -> (!op, !op)"
    )


def _rests(nest: Nest, tile: Tile, sizes: list[int]) -> str:
    """Write the steps that peel loops whose last tile is smaller."""
    lines: list[str] = []
    parts = 1
    row_size = 1 if tile.row is None else nest.sizes[tile.row]
    if tile.row is not None and (row_size is None or row_size % tile.rows):
        parts = 2
        lines += [
            f"%rows_for = transform.cast %loop{tile.row} : !op to {FOR}",
            f"%whole_rows, %rest_rows = transform.loop.peel %rows_for : ({FOR}) -> (!op, !op)",
        ]
        if row_size is None:
            lines += [
                "%rest_root = transform.structured.match attributes{xrelay.root} in %rest_rows"
                " : (!op) -> !op",
                "%one_row, %one_row_loop = transform.structured.fuse %rest_root tile_sizes "
                f"[{_list(_spread(nest, _only(nest, tile.row, 1)))}] {{apply_cleanup}}"
                " : (!op) -> (!op, !op)",
            ]
    vector = len(nest.parallel) - 1
    size = nest.sizes[vector]
    assert size is not None
    rest = widths(size, tile.width)
    if sizes[vector] and rest:
        lines += [
            f"%columns_for = transform.cast %loop{vector} : !op to {FOR}",
            "%whole_columns, %rest_columns = transform.loop.peel %columns_for"
            f" : ({FOR}) -> (!op, !op)",
        ]
        for number, width in enumerate(rest[:-1]):
            lines += _column_rest(nest, number, width, parts)
    return "\n".join(lines)


def _column_rest(nest: Nest, number: int, width: int, parts: int) -> list[str]:
    """Peel the next `width` columns off the remainder loop, one per peeled part."""
    count = parts * (number + 1)
    last = ", ".join(f"%root{number}_{i}" for i in range(number, count, number + 1))
    match = (
        f"transform.structured.match attributes{{xrelay.root}} in %rest_columns : (!op) -> {ops(1)}"
    )
    names = ", ".join(f"%root{number}_{i}" for i in range(count))
    sizes = _list(_spread(nest, _only(nest, len(nest.parallel) - 1, width)))
    return [
        f"%roots{number} = {match}",
        f"{names} = transform.split_handle %roots{number} : (!op) -> ({ops(count)})"
        if count > 1
        else f"%root{number}_0 = transform.merge_handles %roots{number} : !op",
        f"%last{number} = transform.merge_handles {last} : !op",
        f"%cut{number}, %cut_loop{number} = transform.structured.fuse %last{number} tile_sizes "
        f"[{sizes}] {{apply_cleanup}} : (!op) -> (!op, {FOR})",
        f"%cut_whole{number}, %cut_rest{number} = transform.loop.peel %cut_loop{number}"
        f" : ({FOR}) -> (!op, !op)",
    ]


def _single_rows(nest: Nest, tile: Tile) -> str:
    """Write the steps that give each row vectors of its own: those of one slice are adjacent."""
    if not tile.is_strided(nest):
        return ""
    assert tile.row is not None
    sizes = [0] * len(nest.iterators)
    sizes[nest.parallel[tile.row]] = 1
    return (
        "%single, %single_loop = transform.structured.tile_using_for %step tile_sizes "
        f"[{_list(sizes)}] : (!op) -> (!op, !op)\n"
        f"transform.loop.unroll %single_loop {{factor = {tile.rows}}} : !op"
    )


def _only(nest: Nest, loop: int, size: int) -> list[int]:
    return [size if i == loop else 0 for i in range(len(nest.parallel))]


def _spread(nest: Nest, sizes: list[int]) -> list[int]:
    """Return the sizes for all loops of the root: those that reduce are not cut."""
    if nest.has_consumer:
        return sizes
    spread = [0] * len(nest.iterators)
    for loop, size in zip(nest.parallel, sizes, strict=True):
        spread[loop] = size
    return spread


def _spread_order(nest: Nest, order: tuple[int, ...]) -> list[int]:
    reduced = [i for i, kind in enumerate(nest.iterators) if kind == REDUCTION]
    return [*(nest.parallel[i] for i in order), *reduced]


def _handles(name: str, numbers: Iterable[int], *, first: str | None = None) -> str:
    given = [] if first is None else [first]
    return ", ".join([*given, *(f"%{name}{number}" for number in numbers)])


def _list(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))
