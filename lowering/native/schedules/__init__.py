"""
Schedules: good loops for each kind of kernel and machine.

    func.func private @k(…) attributes {xrelay.kernel, xrelay.schedule = [
        {kind = "register-tile", sizes = array<i64: 8, 32>, order = array<i64: 0, 1>}]}

`SCHEDULES` says on which loops of which kernels each kind works, and why. `choose` writes the
attribute, `steps_of` reads it; tests and users may set it, too. Kernels without tiles have no
schedule: LLVM makes vectors of their loops.

The steps are ops of transform dialect: those that depend on the kernel are written by `squares` and
`register_tile`, the others are in common_steps.mlir.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, SSAValue

from ....dialects.attributes import attribute_of, plain_value
from ....dialects.integers import i64_array
from ....passes.support.diagnostics import PassError
from ..linalg_generics import PART, SIDE, TRANSPOSING, ops_of, sides_of
from ..toolchain.target_machine import Machine
from .nests import nest_of
from .register_tile import register_tile
from .scheduling import SCHEDULE, Schedule, Steps, root_in
from .threads import THREADS, Chunk
from .tiles import Tile, reads_panels, tile_of, vectors_of

KIND = "kind"

TILED, PREFETCH = "register-tile", "prefetch"
"""Kinds that others ask for."""

Sizes: TypeAlias = Mapping[str, Attribute]
"""The numbers that a schedule is written with, by name."""


@dataclass(frozen=True)
class ScheduleKind:
    """A kind of schedule: the loops that it is for, how it is chosen, and its steps."""

    name: str
    loops: str
    """The loops that it works on, and the kernels that have them."""
    reason: str
    """Why the code is faster."""
    choose: Callable[[FuncOp, Machine], Sizes | None]
    """Returns the sizes for a kernel; None if it has no such loops."""
    write: Callable[[FuncOp, Sizes, Schedule], bool]
    """Appends the steps for a kernel; False if it has no such loops, or the sizes are wrong."""


def transposing_loop(kernel: FuncOp) -> linalg.GenericOp | None:
    """Return the loop of `kernel` that transposes, if there is one."""
    loops = ops_of(kernel, linalg.GenericOp)
    return next((op for op in loops if TRANSPOSING in op.attributes), None)


def _choose_squares(kernel: FuncOp, machine: Machine) -> Sizes | None:
    return None if transposing_loop(kernel) is None else {}


def _write_squares(kernel: FuncOp, sizes: Sizes, schedule: Schedule) -> bool:
    """
    Tile a loop that transposes into squares.

        for i, 16:  for j, 16:  %out[i .. i + 16, j .. j + 16] =
                                    transpose %in[j .. j + 16, i .. i + 16]
    """
    op = transposing_loop(kernel)
    if op is None:
        return False
    steps, func, out = schedule.on_tensors, _prepared(schedule), op.outputs[0].type
    assert isinstance(out, MemRefType), "loops that transpose write buffers"
    shape = out.get_shape()
    sides = sides_of(op)
    transposing = steps.match(func, "linalg.generic", **{TRANSPOSING: UnitAttr()})
    _, *loops = steps.tile(transposing, [SIDE if i in sides else 1 for i in range(len(shape))])
    for loop in sorted(sides, reverse=True):
        if shape[loop] == DYNAMIC_INDEX or shape[loop] % SIDE:
            end = steps.match(steps.peel(loops[loop]), "linalg.generic")
            # Its few turns are not the innermost ones, of which each start costs.
            order = sorted(range(len(shape)), key=lambda i, loop=loop: (i in sides, i != loop))
            properties = {"iterator_interchange": i64_array(order)}
            (end,) = steps.op("structured.interchange", end, results=1, properties=properties)
            steps.op("structured.convert_to_loops", end, results=1)
    steps.include("vectorize_squares", func)
    return True


def _choose_tile(kernel: FuncOp, machine: Machine) -> Sizes | None:
    nest = nest_of(kernel)
    tile = nest and tile_of(nest, vectors_of(machine))
    return tile and _sizes_of(tile)


def _write_tile(kernel: FuncOp, sizes: Sizes, schedule: Schedule) -> bool:
    nest, tile = nest_of(kernel), _tile_from(sizes)
    if nest is None or tile is None or not tile.fits(nest):
        return False
    chunks = (_chunk_from(other) for other in schedules_of(kernel) if _kind_name(other) == THREADS)
    for chunk in filter(None, chunks):
        nest = chunk.nest_in(nest)
    register_tile(nest, tile, schedule.on_tensors, _prepared(schedule))
    return True


def _prepared(schedule: Schedule) -> SSAValue:
    """Return the handle of the function that tiles are made in; the first of them prepares it."""
    steps = schedule.on_tensors
    if not steps:
        steps.include("prepare", steps.kernel)
    first = steps.block.first_op
    assert first is not None
    return first.results[0]


def _write_threads(kernel: FuncOp, sizes: Sizes, schedule: Schedule) -> bool:
    """Cut one loop of the result into chunks, which threads compute."""
    chunk, steps = _chunk_from(sizes), schedule.on_tensors
    if chunk is None:
        return False
    func = _prepared(schedule)
    cut = [chunk.turns if i == chunk.loop else 0 for i in range(chunk.loops)]
    loops = ops_of(kernel, linalg.GenericOp)
    for mark in (PART, TRANSPOSING):
        if any(mark in op.attributes for op in loops):
            steps.divide_loops(steps.match(func, "linalg.generic", **{mark: UnitAttr()}), cut)
            return True
    steps.divide(root_in(func, steps), cut)
    if not is_tiled(kernel):
        steps.include("merge_tiles", func)
    return True


def _chunk_from(sizes: Sizes) -> Chunk | None:
    match [plain_value(sizes[name]) for name in Chunk._fields if name in sizes]:
        case [int(loop), int(turns), int(loops)] if 0 <= loop < loops and turns > 0:
            return Chunk(loop, turns, loops)
        case _:
            return None


def _never(kernel: FuncOp, machine: Machine) -> None:
    """Choose no schedule."""


def _choose_prefetch(kernel: FuncOp, machine: Machine) -> Sizes | None:
    nest = nest_of(kernel)
    return {} if nest is not None and reads_panels(nest) else None


def _write_nothing(kernel: FuncOp, sizes: Sizes, schedule: Schedule) -> bool:
    """Leave the kernel to a pass of LLVM, which inserts the prefetches."""
    return True


def _write_transform(kernel: FuncOp, sizes: Sizes, schedule: Schedule) -> bool:
    for name, steps in zip(Schedule._fields, schedule, strict=True):
        text = sizes.get(name)
        if isinstance(text, StringAttr):
            steps.write_text(text.data)
    return True


SCHEDULES = (
    ScheduleKind(
        THREADS,
        "one loop of the kernel's result, with what it reads (`divide-between-threads`)",
        "several threads compute chunks of it; it comes before the tiles, which are in chunks",
        _never,
        _write_threads,
    ),
    ScheduleKind(
        "squares",
        "loops that read along one dim and write along another (`write-transposed`, "
        "`transpose-operands`)",
        "a square is transposed in registers, so that memory is read and written in whole vectors",
        _choose_squares,
        _write_squares,
    ),
    ScheduleKind(
        TILED,
        "the one reduction along rows of a kernel, and the elementwise loop that reads it: "
        "products, convolutions, windows, sums of columns",
        "sums stay in registers over the loops that reduce, and each vector that is loaded serves "
        "several rows",
        _choose_tile,
        _write_tile,
    ),
    ScheduleKind(
        PREFETCH,
        "products whose rows read panels of weights",
        "the next vectors of a panel are on their way from memory while one is multiplied; LLVM's "
        "`loop-data-prefetch` inserts this",
        _choose_prefetch,
        _write_nothing,
    ),
    ScheduleKind(
        "transform",
        "any; its steps, `on_tensors` and `on_buffers`, are text of transform dialect in which "
        "`%kernel` is the function",
        "it is never chosen: tests and users set it",
        _never,
        _write_transform,
    ),
)
"""All kinds, in the order in which they are applied."""


def choose(kernel: FuncOp, machine: Machine) -> ArrayAttr[DictionaryAttr] | None:
    """Return the schedules of `kernel` for `machine`, if it has any."""
    chosen = [(kind.name, kind.choose(kernel, machine)) for kind in SCHEDULES]
    entries = [
        DictionaryAttr({KIND: StringAttr(name), **sizes})
        for name, sizes in chosen
        if sizes is not None
    ]
    return ArrayAttr(entries) if entries else None


def steps_of(kernel: FuncOp) -> Schedule | None:
    """
    Return the steps of the schedules that `kernel` has, if it has any.

    Raises `PassError` if one is not for its loops.
    """
    schedules = sorted(schedules_of(kernel), key=_is_written)
    steps = Schedule(Steps(), Steps())
    for schedule in schedules:
        _write(kernel, schedule, steps)
    if not all(map(_is_written, schedules)):
        steps.on_buffers.include("lower_vectors", steps.on_buffers.kernel)
    return steps if schedules else None


def _is_written(schedule: Sizes) -> bool:
    """Test whether the steps are those of a user; they come after those that make tiles."""
    return _kind_name(schedule) == "transform"


def tile_in(schedules: Sequence[Sizes]) -> Tile | None:
    """Return the tile of the first of `schedules` that has one."""
    return next((_tile_from(s) for s in schedules if _kind_name(s) == TILED), None)


def is_tiled(kernel: FuncOp) -> bool:
    """Test whether `kernel` has a schedule with tiles for its reduction."""
    return any(_kind_name(schedule) == TILED for schedule in schedules_of(kernel))


def prefetches(kernel: FuncOp) -> bool:
    """Test whether vectors are prefetched in the innermost loops of `kernel`."""
    return any(_kind_name(schedule) == PREFETCH for schedule in schedules_of(kernel))


def schedules_of(kernel: FuncOp) -> Sequence[Sizes]:
    """Return the schedules of `kernel` as its attribute has them. Raises `PassError`."""
    attribute = kernel.attributes.get(SCHEDULE, ArrayAttr([]))
    if not isinstance(attribute, ArrayAttr):
        raise PassError(f"{SCHEDULE} must be an array, but is {attribute}", kernel)
    schedules: list[Sizes] = []
    for schedule in cast("ArrayAttr[Attribute]", attribute):
        if not isinstance(schedule, DictionaryAttr):
            raise PassError(f"a schedule must be a dictionary, but is {schedule}", kernel)
        schedules.append(schedule.data)
    return schedules


def _write(kernel: FuncOp, schedule: Sizes, steps: Schedule) -> None:
    name = _kind_name(schedule)
    kind = next((kind for kind in SCHEDULES if kind.name == name), None)
    if kind is None:
        kinds = ", ".join(kind.name for kind in SCHEDULES)
        raise PassError(f"a schedule has kind '{name}', but must be one of: {kinds}", kernel)
    if not kind.write(kernel, schedule, steps):
        text = DictionaryAttr(dict(schedule))
        raise PassError(f"the kernel has no loops that schedule {text} is for", kernel)


def _kind_name(schedule: Sizes) -> str:
    kind = schedule.get(KIND)
    return kind.data if isinstance(kind, StringAttr) else ""


def _sizes_of(tile: Tile) -> Sizes:
    """Return a tile as attributes; what it does not have is omitted."""
    sizes = ((field.name, attribute_of(getattr(tile, field.name))) for field in fields(Tile))
    return {name: attribute for name, attribute in sizes if attribute is not None}


def _tile_from(sizes: Sizes) -> Tile | None:
    values = {name: plain_value(attribute) for name, attribute in sizes.items()}
    match [values.get(field.name) for field in fields(Tile)]:
        case [tuple(extents), int() | None as block, tuple(order)]:
            return Tile(extents, block, order)
        case _:
            return None
