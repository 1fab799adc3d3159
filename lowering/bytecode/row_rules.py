"""
Lowering of loops, and of copies of rows, which may be other ones in each turn.

A copy that clips is of the rows that its tensor has; if one is not there, all are filled before:

    memory.copy_rows ins(%x) fill(%z) outs(%t) {start = -2, step = 3}
      ->
    copy_rows %z -> %t[0] rows (4 or 0);   copy_rows %x[first] -> %t[low] rows count
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import bytecode, memory, relay
from ...dialects.bytecode.fields import RegisterAttr
from ...dialects.integers import i64_attribute
from ...dialects.relay.moving_rows import bounded, first_row, rows_to_fill, turns, window
from ...dialects.tensors import tensor_of
from .bytecode_builder import BytecodeBuilder, Rule
from .size_rules import compute, immediate

Number: TypeAlias = RegisterAttr | int


class Writer(NamedTuple):
    """Emits instructions for an op."""

    builder: BytecodeBuilder
    op: Operation

    def register(self, number: Number) -> RegisterAttr:
        return immediate(self.builder, self.op, number) if isinstance(number, int) else number

    def __call__(self, name: str, *args: Number) -> RegisterAttr:
        """Compute an operation on numbers."""
        return compute(self.builder, self.op, name, *map(self.register, args))

    def rows_of(self, tensor: SSAValue, axis: int) -> Number:
        """Return the number of rows of a tensor."""
        if (rows := tensor_of(tensor).get_shape()[axis]) != DYNAMIC_INDEX:
            return rows
        register, of = self.builder.new_register(), self.builder.registers[tensor]
        self.builder.emit(bytecode.ShapeOfOp, self.op, dst=register, tensor=of)
        return self("extract", register, axis)

    def copy(self, src: SSAValue, start: Number, out: SSAValue, to: Number, rows: Number) -> None:
        """Copy rows, or write a scalar over them."""
        places = {"start": start, "out_start": to, "rows": rows}
        fields: Mapping[str, Attribute] = {
            name: i64_attribute(place) if isinstance(place, int) else place
            for name, place in places.items()
        }
        registers = {"src": self.builder.registers[src], "out": self.builder.registers[out]}
        axis = self.op.properties["axis"]
        self.builder.emit(bytecode.CopyRowsOp, self.op, axis=axis, **registers, **fields)


def lower_loop(builder: BytecodeBuilder, op: Operation) -> None:
    """Start to count turns; what they carry stays in its registers."""
    assert isinstance(op, relay.LoopOp)
    for result, operand in zip(op.results, op.operands, strict=True):
        builder.share(result, operand)
    builder.turn = immediate(builder, op, 0)
    builder.head = len(builder.code)


def lower_end_of_loop(builder: BytecodeBuilder, op: Operation) -> None:
    """Count the turn, and jump back unless it is the last."""
    assert isinstance(op, relay.EndLoopOp)
    assert builder.turn is not None, "verified: a loop starts before it ends"
    moved: list[RegisterAttr] = []
    for carried, operand, result in zip(op.start.carried, op.next, op.last, strict=True):
        target, source = builder.registers[carried], builder.registers[operand]
        builder.share(result, operand)
        if target != source:
            builder.emit(bytecode.MoveOp, op, dst=target, src=source)
            moved.append(target)
    following = compute(builder, op, "addi", builder.turn, immediate(builder, op, 1))
    builder.emit(bytecode.MoveOp, op, dst=builder.turn, src=following)
    count = turns_of(op, Writer(builder, op))
    fields = {"true_offset": i64_attribute(1)}
    fields["false_offset"] = i64_attribute(builder.head - len(builder.code))
    builder.emit(bytecode.IfOp, op, test=builder.turn, target=count, **fields)
    builder.turn = None
    if builder.lifetimes is not None:
        builder.clear(moved, op)


def turns_of(end: relay.EndLoopOp, w: Writer) -> RegisterAttr:
    """Return the number of turns of a loop."""
    start = end.start
    if start.count is not None:
        return w.register(start.count.value.data)
    return turns(start, w.rows_of(end.next[-1], start.axis.value.data), w)


def lower_row_copy(builder: BytecodeBuilder, op: Operation) -> None:
    """Copy rows into a new tensor, or over rows of one; in a loop, they depend on the turn."""
    assert isinstance(op, memory.CopyRowsOp | relay.WriteRowsOp)
    w, axis = Writer(builder, op), op.axis.value.data
    is_write = isinstance(op, relay.WriteRowsOp)
    data, out = op.operands[0], op.operands[1 if is_write else -1]
    moving = out if is_write else data
    rows, fixed = (op.count.value.data, op.source.value.data) if is_write else (op.rows, 0)
    if memory.clips(op, tensor_of(moving).get_shape()[axis]):
        there = window(first_row(op, builder.turn, w), rows, w.rows_of(moving, axis), w)
        if isinstance(op, memory.CopyRowsOp) and op.fill is not None:
            w.copy(op.fill, 0, out, 0, rows_to_fill(there, rows, w))
        place, count = there.first, there.number
        fixed = w("addi", there.low, fixed) if fixed else there.low
    else:
        place, count = first_row(op, builder.turn, w), rows
        if op.wraps is not None and not isinstance(place, int):
            place = w("remsi", place, w.rows_of(moving, axis))
    start, to = (fixed, place) if is_write else (place, fixed)
    w.copy(data, start, out, to, count)
    builder.share(op.result, out)


def lower_fill(builder: BytecodeBuilder, op: Operation) -> None:
    """Write over the rows before those of a tensor, and over those after them."""
    assert isinstance(op, relay.FillRowsOp)
    w, axis = Writer(builder, op), op.axis.value.data
    rows = w.rows_of(op.target, axis)
    assert isinstance(rows, int), "verified: rows that are known"
    bound = bounded(w("extract", builder.registers[op.shape], axis), w)
    there = window(first_row(op, builder.turn, w), rows, bound, w)
    w.copy(op.value, 0, op.target, 0, there.low)
    w.copy(op.value, 0, op.target, there.high, w("subi", rows, there.high))
    builder.share(op.result, op.target)


ROW_RULES: dict[type[Operation], Rule] = {
    relay.LoopOp: lower_loop,
    relay.EndLoopOp: lower_end_of_loop,
    relay.WriteRowsOp: lower_row_copy,
    relay.FillRowsOp: lower_fill,
    memory.CopyRowsOp: lower_row_copy,
}
"""The rule of each op."""
