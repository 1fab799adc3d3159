"""
Divide kernels between threads: a schedule that cuts one of their loops into chunks.

    func.func private @k(…) attributes {xrelay.kernel, xrelay.schedule = [
        {kind = "register-tile", …}]}
    ->
    func.func private @k(…) attributes {xrelay.kernel, xrelay.schedule = [
        {kind = "threads", loop = 1, turns = 64, loops = 2}, {kind = "register-tile", …}]}

A kernel whose work (multiplications) is known and too small is not divided; one whose work depends
on dims says first how much it is, and threads.c decides:

    call @xrelay_work(%n * 4096)

Buffers that are copied side by side into one are copied row by row, in one loop.

At level `memref`, after `choose-schedules`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects import bufferization, func, memref, scf
from xdsl.dialects.arith import IndexCastOp
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.attributes import plain_value
from ....dialects.dense import integer
from ....operators.rules import LEAST_DIVIDED
from ...linalg.builder import INDEX, Builder, Size, tensor_of
from ..kernel_pass import KernelPass, kernels_of
from ..linalg_generics import buffer_dims, maps_of, ops_of
from ..schedules import KIND, schedules_of, tile_in, transposing_loop
from ..schedules.nests import nest_of
from ..schedules.scheduling import SCHEDULE
from ..schedules.threads import (
    LEAST_AN_ELEMENT,
    MOVED,
    READING,
    THREADS,
    Chunk,
    chunk_of,
    known_turns,
    loop_chunk,
    loops_over_rows,
    rows_chunk,
    squares_chunk,
    work_of,
)

BLOCK = "block"
"""The columns of a block, in a schedule of tiles."""

WORK = "xrelay_work"
"""The function of threads.c that is told the multiplications of the next parallel loop."""

LEAST_A_TURN = 2_000
"""Those of one turn of the open loops, which are over rows, for which a kernel is divided."""


def _result_of(kernel: FuncOp) -> SSAValue:
    """Return the buffer of the last result of `kernel`; scratch memory after it has no use."""
    return next(a for a in reversed(kernel.body.block.args) if a.first_use is not None)


def _division(kernel: FuncOp) -> tuple[Chunk, int, bool] | None:
    """Return the chunks of `kernel`, the work of known loops, and whether rows share operands."""
    schedules = schedules_of(kernel)
    if not schedules:
        loop = loop_chunk(kernel)
        return loop and (*loop, False)
    transposing = transposing_loop(kernel)
    if transposing is not None and tile_in(schedules) is None:
        squares = squares_chunk(transposing)
        return squares and (*squares, False)
    tile, nest = tile_in(schedules), nest_of(kernel)
    if tile is None or nest is None:
        return None
    chunk = chunk_of(nest, tile)
    return chunk and (chunk, nest.depth or 1, True)


def _open_depth(kernel: FuncOp) -> list[tuple[SSAValue, int]]:
    """Return the operands of `kernel`, and the axes, that have the open loops of its reduction."""
    axes: dict[int, tuple[SSAValue, int]] = {}
    for op in ops_of(kernel, linalg.GenericOp):
        kinds = [kind.data for kind in op.iterator_types]
        for operand, map in zip(op.inputs, maps_of(op), strict=False):
            owner = operand.owner
            if not isinstance(owner, bufferization.ToTensorOp):
                continue
            shape = tensor_of(operand).get_shape()
            for axis, expr in enumerate(map.results):
                if (
                    isinstance(expr, AffineDimExpr)
                    and kinds[expr.position] == IteratorType.REDUCTION
                    and shape[axis] == DYNAMIC_INDEX
                    and isinstance(owner.memref, BlockArgument)
                ):
                    axes.setdefault(expr.position, (owner.memref, axis))
    return list(axes.values())


def _without_block(schedule: Attribute, chunk: Chunk) -> Attribute:
    """Return `schedule` without the block of its tile if a chunk is not larger."""
    assert isinstance(schedule, DictionaryAttr), "schedules_of has checked it"
    block = plain_value(schedule.data.get(BLOCK, UnitAttr()))
    if not isinstance(block, int) or chunk.turns > block:
        return schedule
    return DictionaryAttr({n: value for n, value in schedule.data.items() if n != BLOCK})


def _joined_rows(copies: Sequence[memref.CopyOp]) -> tuple[int, int] | None:
    """Return the axis of the rows of buffers that are copied side by side, and their number."""
    shapes = [cast("MemRefType[Attribute]", copy.source.type).get_shape() for copy in copies]
    axis = next((i for i, size in enumerate(shapes[0]) if size != 1), None) if shapes else None
    is_large = sum(map(known_turns, shapes)) * MOVED >= LEAST_DIVIDED
    if len(copies) < 2 or axis is None or not is_large:
        return None
    sizes = {shape[axis] for shape in shapes}
    return (axis, sizes.pop()) if len(sizes) == 1 and DYNAMIC_INDEX not in sizes else None


def _row_of(build: Builder, buffer: SSAValue, axis: int, index: SSAValue) -> SSAValue:
    """Return the row `index` of a buffer."""
    type = cast("MemRefType[Attribute]", buffer.type)
    offsets: list[SSAValue | int] = [0] * type.get_num_dims()
    sizes, strides = [*type.get_shape()], [1] * type.get_num_dims()
    offsets[axis], sizes[axis] = index, 1
    row = memref.SubviewOp.infer_result_type(type, offsets, sizes, strides)
    return build.insert(memref.SubviewOp.get(buffer, offsets, sizes, strides, row))


@dataclass(frozen=True)
class DivideBetweenThreadsPass(KernelPass):
    name = "divide-between-threads"

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        if loops := loops_over_rows(kernel):
            self._divide_rows(kernel, loops)
            return
        copies = ops_of(kernel, memref.CopyOp)
        if rows := _joined_rows(copies):
            self._divide_copies(copies, *rows)
            return
        division = _division(kernel)
        if division is None:
            return
        chunk, work, shares = division
        shape = cast("MemRefType[Attribute]", _result_of(kernel).type).get_shape()
        is_open = DYNAMIC_INDEX in shape
        work *= known_turns(shape)
        depth = _open_depth(kernel) if shares else []
        is_row = shares and shape[-1] != DYNAMIC_INDEX and not depth
        if work < (LEAST_DIVIDED if not is_open else LEAST_A_TURN if is_row else LEAST_AN_ELEMENT):
            return
        fields: dict[str, Attribute] = {KIND: StringAttr(THREADS)}
        fields |= {name: IntegerAttr(number, i64) for name, number in chunk._asdict().items()}
        before = kernel.attributes.get(SCHEDULE, ArrayAttr([]))
        others = cast("ArrayAttr[Attribute]", before)  # schedules_of has checked it
        tiles = (_without_block(schedule, chunk) for schedule in others)
        kernel.attributes[SCHEDULE] = ArrayAttr([DictionaryAttr(fields), *tiles])
        if is_open:
            self._tell(kernel, work, shares, depth)

    def _divide_rows(self, kernel: FuncOp, loops: Sequence[scf.ForOp]) -> None:
        """
        Divide one of `loops` over the rows of `kernel` into chunks, in a loop around all.

        What lies between the loops over one row is on the stack of each thread; if it is too large
        for that, the kernel is not divided.
        """
        work = work_of(op for op in loops[-1].walk() if isinstance(op, linalg.GenericOp))
        shape = cast("MemRefType[Attribute]", _result_of(kernel).type).get_shape()
        is_open, work = DYNAMIC_INDEX in shape, work * known_turns(shape)
        sizes: list[Size] = [loop.ub if (n := integer(loop.ub)) is None else n for loop in loops]
        chosen = rows_chunk([size if isinstance(size, int) else None for size in sizes])
        is_large = bool(ops_of(kernel, memref.AllocOp))
        if chosen is None or is_large or work < (LEAST_AN_ELEMENT if is_open else LEAST_DIVIDED):
            return
        number, turns = chosen
        first, size, inner = loops[0], sizes[number], Builder(Block(arg_types=[INDEX]))
        build = Builder(Block())
        build.location = inner.location = first.location
        chunks = build.floordiv(build.add(size, turns - 1), turns)
        low, high, step = (build.index(bound) for bound in (0, chunks, 1))
        start = inner.mul(inner.block.args[0], turns)
        stop = inner.add(start, turns)
        if not isinstance(size, int) and turns > 1:
            stop = inner.minimum(stop, size)
        for operand, bound in enumerate((start, stop)):
            loops[number].operands[operand] = inner.index(bound)
        build.insert_all(scf.ParallelOp([low], [high], [step], Region(inner.block)))
        Rewriter.inline_block(build.block, InsertPoint.before(first))
        for op in (*ops_of(kernel, memref.AllocaOp), first):
            op.detach()
            inner.insert_all(op)
        inner.insert_all(scf.ReduceOp())
        if is_open:
            self._tell(kernel, work, shares=False, depth=[])

    def _divide_copies(self, copies: Sequence[memref.CopyOp], axis: int, size: int) -> None:
        """Copy row by row: a thread has the rows that it computed before, of all buffers."""
        build, inner = Builder(Block()), Builder(Block(arg_types=[INDEX]))
        build.location = inner.location = copies[0].location
        for copy in copies:
            ends = (copy.source, copy.destination)
            rows = [_row_of(inner, end, axis, inner.block.args[0]) for end in ends]
            inner.insert_all(memref.CopyOp(*rows))
        inner.insert_all(scf.ReduceOp())
        low, high, step = (build.index(bound) for bound in (0, size, 1))
        build.insert_all(scf.ParallelOp([low], [high], [step], Region(inner.block)))
        Rewriter.inline_block(build.block, InsertPoint.before(copies[-1]))
        for copy in copies:
            Rewriter.erase_op(copy)

    def _tell(
        self, kernel: FuncOp, work: int, shares: bool, depth: Sequence[tuple[SSAValue, int]]
    ) -> None:
        """Let `kernel` say its work: that of so many rows, and what reading operands takes."""
        build = Builder(Block())
        build.location = kernel.location
        rows: Size = 1
        for size in buffer_dims(build, _result_of(kernel)):
            rows = rows if isinstance(size, int) else build.mul(rows, size)
        total: Size = build.mul(build.add(rows, READING * shares), work)
        for operand, axis in depth:
            total = build.mul(total, buffer_dims(build, operand)[axis])
        total = build.index(total)
        products = build.insert(IndexCastOp(total, i64))
        build.insert_all(func.CallOp(WORK, [products], []))
        first = kernel.body.block.first_op
        assert first is not None, "it stores its result"
        Rewriter.inline_block(build.block, InsertPoint.before(first))

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        super().apply(ctx, op)
        calls = (inner for kernel in kernels_of(op) for inner in kernel.body.block.ops)
        is_told = any(
            isinstance(call, func.CallOp) and call.callee.string_value() == WORK for call in calls
        )
        if is_told and not any(isinstance(f, FuncOp) and f.sym_name.data == WORK for f in op.ops):
            op.body.block.add_op(FuncOp.external(WORK, [i64], []))
