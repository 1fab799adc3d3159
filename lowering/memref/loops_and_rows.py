"""
Loops, and copies of rows.

    %b = relay.loop %a {count = 4}
    %r = memory.copy_rows ins(%x) outs(%t) {start = 2, step = 3, axis = 1}
    …
    %z = relay.end_loop %c
    ->
    scf.for %turn = %c0 to %c4 step %c1 {
      %first = … %turn * 3 + 2 …
      %rows = memref.subview %x_elements[…] [8] [1]
      memref.copy %rows, …
      …
    }

What a loop carries is in the same buffers in all turns, so it needs no arguments. A copy that clips
is of the rows that its tensor has: how many is the size of the `memref.subview`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import NamedTuple, TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith, memref, scf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerType,
    MemRefType,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import memory, relay, vm
from ...dialects.device import device_of, tensor_type
from ...dialects.relay.moving_rows import (
    Compute,
    RowsOp,
    bounded,
    first_row,
    rows_to_fill,
    turns,
    window,
)
from ...dialects.tensors import tensor_of
from ...dialects.xdsl_extras.walking import walk
from .conversion_state import Writer, converts
from .memref_types import as_memref

INDEX = IndexType()

Number: TypeAlias = SSAValue | int
"""An index, or one that is known."""


def enclose_loops(function: Operation) -> None:
    """Put the ops of each loop into a `scf.for`."""
    for start in [op for op in walk(function) if isinstance(op, relay.LoopOp)]:
        end, body = start.end, Block(arg_types=[INDEX])
        body.args[0].name_hint = "turn"
        while (op := start.next_op) is not end:
            assert op is not None, "verified: a loop ends"
            op.detach()
            body.add_op(op)
        body.add_op(scf.YieldOp())
        builder = Builder(InsertPoint.before(end))
        numbers = [builder.insert(arith.ConstantOp.from_int_and_width(n, INDEX)) for n in (0, 1)]
        first, step = (number.result for number in numbers)
        builder.insert(scf.ForOp(first, turns_of(start, builder), step, [], Region(body)))
        Rewriter.replace_op(end, [], start.operands)
        for result, initial in zip(start.results, start.operands, strict=True):
            result.replace_all_uses_with(initial)
        Rewriter.erase_op(start)


def turns_of(start: relay.LoopOp, builder: Builder) -> SSAValue:
    """Return the number of turns of a loop."""

    def number(value: int, type: IndexType | IntegerType) -> SSAValue:
        return builder.insert(arith.ConstantOp.from_int_and_width(value, type)).result

    if start.count is not None:
        return number(start.count.value.data, INDEX)
    data, axis = start.initial[-1], number(start.axis.value.data, INDEX)
    shape = tensor_type(i64, [len(tensor_of(data).get_shape())], device_of(data.type))
    dims = builder.insert(vm.ShapeOfOp.create(operands=[data], result_types=[shape])).result
    rows = builder.insert(tensor.ExtractOp(dims, [axis], i64)).result
    count = turns(start, rows, arithmetic(builder.insert, lambda n: number(n, i64)))
    return builder.insert(arith.IndexCastOp(count, INDEX)).result


def size_of(buffer: SSAValue, w: Writer, first: int = 0, end: int | None = None) -> Number:
    """Return the product of the dims of a buffer from axis `first` on."""
    dims = as_memref(buffer.type).get_shape()
    axes = range(*slice(first, end).indices(len(dims)))
    size: Number = prod(dims[axis] for axis in axes if dims[axis] != DYNAMIC_INDEX)
    for axis in axes:
        if dims[axis] == DYNAMIC_INDEX:
            size = times(w.dim(buffer, axis), size, w)
    return size


def times(one: Number, other: Number, w: Writer) -> Number:
    """Multiply two sizes; of constants, the product is one."""
    if isinstance(one, int) and isinstance(other, int):
        return one * other
    return one if other == 1 else arithmetic(w, w.index)("muli", one, other)


def elements(tensor: SSAValue, w: Writer) -> SSAValue:
    """View a buffer as a row of elements."""
    type = as_memref(tensor.type)
    count = size_of(tensor, w)
    flat = MemRefType(type.element_type, [DYNAMIC_INDEX])
    if isinstance(count, int):
        flat = MemRefType(type.element_type, [count], memory_space=type.memory_space)
    return w.value(memref.ReinterpretCastOp.from_dynamic(tensor, [0], [count], [1], flat))


def arithmetic(
    insert: Callable[[Operation], Operation], number: Callable[[int], SSAValue]
) -> Compute[SSAValue]:
    """Return what inserts ops of `arith` on integers, of which constants are a `number`."""

    def compute(name: str, one: SSAValue | int, other: SSAValue | int) -> SSAValue:
        a, b = (number(arg) if isinstance(arg, int) else arg for arg in (one, other))
        return insert(OPERATIONS[name](a, b)).results[0]

    return compute


OPERATIONS: Mapping[str, Callable[[SSAValue, SSAValue], Operation]] = {
    op.name.removeprefix("arith."): op
    for op in (
        *(arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.FloorDivSIOp),
        *(arith.MinSIOp, arith.MaxSIOp),
    )
}


def moving_row(op: RowsOp, w: Writer) -> SSAValue:
    """Return the first of the rows that move from turn to turn."""
    turn = None if op.parent is None or not op.step.value.data else op.parent.args[0]
    row = first_row(op, turn, arithmetic(w, w.index))
    return w.index(row) if isinstance(row, int) else row


class Rows(NamedTuple):
    """Rows of a buffer, from `first` on."""

    buffer: SSAValue
    first: SSAValue


def each_block(outer: Number, w: Writer) -> tuple[SSAValue, Writer]:
    """Return an index along the axes before that of the rows, and a writer of code for each."""
    if outer == 1:
        return w.index(0), w
    body = Block([scf.YieldOp()], arg_types=[INDEX])
    assert body.last_op is not None
    end = w.index(outer) if isinstance(outer, int) else outer
    w(scf.ForOp(w.index(0), end, w.index(1), [], Region(body)))
    return body.args[0], w.before(body.last_op)


def copy(rows: Sequence[Rows], count: Number, axis: int, w: Writer) -> None:
    """Copy rows, which are contiguous for each index along the axes before theirs."""
    (outer, inner), flat = around(rows[0], axis, w), [elements(buffer, w) for buffer, _ in rows]
    bounds = [size_of(buffer, w, axis, axis + 1) if outer != 1 else 1 for buffer, _ in rows]
    size = times(count, inner, w)
    index, at = each_block(outer, w)
    compute, parts = arithmetic(at, at.index), list[SSAValue]()
    for (_, start), buffer, bound in zip(rows, flat, bounds, strict=True):
        if outer != 1:
            start = compute("addi", compute("muli", index, bound), start)
        place = compute("muli", start, inner)
        part = memref.SubviewOp.infer_result_type(as_memref(buffer.type), [place], [size], [1])
        parts.append(at.value(memref.SubviewOp.get(buffer, [place], [size], [1], part)))
    at(memref.CopyOp(*parts))


def around(rows: Rows, axis: int, w: Writer) -> tuple[Number, Number]:
    """Return the products of the dims before those of rows, and after them."""
    return size_of(rows.buffer, w, 0, axis), size_of(rows.buffer, w, axis + 1)


def fill(value: SSAValue, out: Rows, count: SSAValue, axis: int, w: Writer) -> None:
    """Write a scalar over rows."""
    (outer, inner), rows = around(out, axis, w), as_memref(out.buffer.type).get_shape()[axis]
    flat, number, compute = elements(out.buffer, w), w.load(value), arithmetic(w, w.index)
    size = compute("muli", count, inner)
    index, at = each_block(outer, w)
    compute = arithmetic(at, at.index)
    first = compute("muli", compute("addi", compute("muli", index, rows), out.first), inner)
    body = Block(arg_types=[INDEX])
    body.add_ops([memref.StoreOp.get(number, flat, [body.args[0]]), scf.YieldOp()])
    at(scf.ForOp(first, compute("addi", first, size), w.index(1), [], Region(body)))


@converts(memory.CopyRowsOp, relay.WriteRowsOp)
def convert_row_copy(op: memory.CopyRowsOp | relay.WriteRowsOp, w: Writer) -> None:
    """Copy rows; if it clips, those that there are."""
    axis, data = op.axis.value.data, op.operands[0]
    if isinstance(op, relay.WriteRowsOp):
        out, moving, rows, start = op.target, op.target, op.count.value.data, op.source.value.data
    else:
        out, moving, rows, start = op.outs, data, op.rows, 0
    fixed, dim = w.index(start), as_memref(moving.type).get_shape()[axis]
    count: Number = rows
    if memory.clips(op, dim):
        first, compute = moving_row(op, w), arithmetic(w, w.index)
        there = window(first, rows, size_of(moving, w, axis, axis + 1), compute)
        if isinstance(op, memory.CopyRowsOp) and op.fill is not None:
            fill(op.fill, Rows(out, w.index(0)), rows_to_fill(there, rows, compute), axis, w)
        place, count = there.first, there.number
        fixed = w.value(arith.AddiOp(there.low, fixed))
    else:
        place = moving_row(op, w)
        if op.step.value.data and op.wraps is not None:
            place = w.value(arith.RemUIOp(place, w.index(dim)))
    first, to = (fixed, place) if moving is out else (place, fixed)
    copy([Rows(data, first), Rows(out, to)], count, axis, w)
    w.replace(out)


@converts(relay.FillRowsOp)
def convert_fill(op: relay.FillRowsOp, w: Writer) -> None:
    """Write over the rows before those of a tensor, and over those after them."""
    axis, target = op.axis.value.data, op.target
    rows = as_memref(target.type).get_shape()[axis]
    compute = arithmetic(w, w.index)
    size = w.value(arith.IndexCastOp(w.load(op.shape, w.index(axis)), INDEX))
    there = window(moving_row(op, w), rows, bounded(size, compute), compute)
    after = w.value(arith.SubiOp(w.index(rows), there.high))
    fill(op.value, Rows(target, w.index(0)), there.low, axis, w)
    fill(op.value, Rows(target, there.high), after, axis, w)
    w.replace(target)
