"""
Lowering of loops, and of copies of rows, which may be other ones in each turn.

    memory.copy_rows ins(%x) outs(%t) {start = 2}              copy_rows %x[row] -> %t[0]
    memory.copy_rows ins(%x) fill(%z) outs(%t) {…}     ->      read_rows %x[row] -> %t fill %z
    relay.write_rows %t, %y {clips, …}                         write_rows %t[0] -> %y[row]

What ops of a turn compute of its number, such as `row`, they share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import bytecode, memory, relay
from ...dialects.bytecode.fields import RegisterAttr
from ...dialects.dense import constant_tensor, integers
from ...dialects.integers import i64_attribute
from ...dialects.relay.moving_rows import first_row, turns
from ...dialects.tensors import tensor_of
from .bytecode_builder import BytecodeBuilder, Rule
from .size_rules import compute, immediate, new_immediate

Number: TypeAlias = RegisterAttr | int


class Writer(NamedTuple):
    """Emits instructions for an op."""

    builder: BytecodeBuilder
    op: Operation

    def register(self, number: Number) -> RegisterAttr:
        if not isinstance(number, int):
            return number
        return immediate(self.builder, self.op, number)

    def __call__(self, name: str, *args: Number) -> RegisterAttr:
        """Compute an operation on numbers."""
        registers = [*map(self.register, args)]
        key = name, *registers
        return self.once(key, lambda: compute(self.builder, self.op, name, *registers))

    def once(self, key: tuple[object, ...], write: Callable[[], RegisterAttr]) -> RegisterAttr:
        """Return a number that ops of a turn share."""
        numbers = self.builder.in_turn
        if self.builder.turn is None or self.op.parent is not self.builder.repeated:
            return write()
        if key not in numbers:
            numbers[key] = write()
        return numbers[key]

    def rows_of(self, tensor: SSAValue, axis: int) -> Number:
        """Return the number of rows of a tensor."""
        if (rows := tensor_of(tensor).get_shape()[axis]) != DYNAMIC_INDEX:
            return rows
        register, of = self.builder.new_register(), self.builder.registers[tensor]
        self.builder.emit(bytecode.ShapeOfOp, self.op, dst=register, tensor=of)
        return self("extract", register, axis)

    def emit(self, kind: type[Operation], **fields: SSAValue | Number) -> None:
        """Emit an instruction on rows along the axis of the op."""
        attributes: dict[str, Attribute] = {"axis": self.op.properties["axis"]}
        for name, field in fields.items():
            register = self.builder.registers[field] if isinstance(field, SSAValue) else field
            attributes[name] = i64_attribute(register) if isinstance(register, int) else register
        self.builder.emit(kind, self.op, **attributes)


def lower_loop(builder: BytecodeBuilder, op: Operation) -> None:
    """Start to count turns; what they carry stays in its registers."""
    assert isinstance(op, relay.LoopOp)
    for result, operand in zip(op.results, op.operands, strict=True):
        builder.share(result, operand)
    builder.turn, builder.repeated = new_immediate(builder, op, 0), op.parent
    builder.in_turn.clear()
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
            if builder.lifetimes is not None and builder.lifetimes.holds(carried):
                moved.append(target)
    following = compute(builder, op, "addi", builder.turn, immediate(builder, op, 1))
    builder.emit(bytecode.MoveOp, op, dst=builder.turn, src=following)
    count = turns_of(op, Writer(builder, op))
    fields = {"true_offset": i64_attribute(1)}
    fields["false_offset"] = i64_attribute(builder.head - len(builder.code))
    builder.emit(bytecode.IfOp, op, test=builder.turn, target=count, **fields)
    builder.turn = None
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
    new = None if is_write or op.fill is not None else builder.allocation_of(op.outs)
    data, out = op.operands[0], op.operands[1 if is_write else -1]
    moving, place = out if is_write else data, first_row(op, builder.turn, w)
    rows, fixed = (op.count.value.data, op.source.value.data) if is_write else (op.rows, 0)
    builder.share(op.result, out)
    if memory.clips(op, tensor_of(moving).get_shape()[axis]):
        if isinstance(op, relay.WriteRowsOp):
            w.emit(bytecode.WriteRowsOp, src=data, source=fixed, out=out, start=place, rows=rows)
        else:
            assert op.fill is not None, "verified: what clips is filled"
            w.emit(bytecode.ReadRowsOp, src=data, start=place, out=out, fill=op.fill)
        return
    if op.wraps is not None and not isinstance(place, int):
        place = w("remsi", place, w.rows_of(moving, axis))
    if new is not None:
        place = i64_attribute(place) if isinstance(place, int) else place
        fields = {"src": builder.registers[data], "start": place, "axis": op.axis}
        builder.emit(bytecode.TakeRowsOp, op, **new.properties, **fields)
        return
    start, to = (fixed, place) if is_write else (place, fixed)
    w.emit(bytecode.CopyRowsOp, src=data, start=start, out=out, out_start=to, rows=rows)


def lower_fill(builder: BytecodeBuilder, op: Operation) -> None:
    """Write over the rows before those of a tensor, and over those after them."""
    assert isinstance(op, relay.FillRowsOp)
    w, axis, shape = Writer(builder, op), op.axis.value.data, constant_tensor(op.shape)
    if shape is not None:
        bound = integers(shape, len(tensor_of(op.target).get_shape()))[axis]
    else:
        bound = w("extract", builder.registers[op.shape], axis)
    first = first_row(op, builder.turn, w)
    w.emit(bytecode.FillRowsOp, fill=op.value, out=op.target, start=first, bound=bound)
    builder.share(op.result, op.target)


ROW_RULES: dict[type[Operation], Rule] = {
    relay.LoopOp: lower_loop,
    relay.EndLoopOp: lower_end_of_loop,
    relay.WriteRowsOp: lower_row_copy,
    relay.FillRowsOp: lower_fill,
    memory.CopyRowsOp: lower_row_copy,
}
"""The rule of each op."""
