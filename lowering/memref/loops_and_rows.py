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

What a loop carries is in the same buffers in all turns, so it needs no arguments.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import memory, relay
from ...dialects.xdsl_extras.walking import walk
from .conversion_state import Writer, converts
from .memref_types import as_memref


def enclose_loops(function: Operation) -> None:
    """Put the ops of each loop into a `scf.for`."""
    for start in [op for op in walk(function) if isinstance(op, relay.LoopOp)]:
        end, body = start.end, Block(arg_types=[IndexType()])
        body.args[0].name_hint = "turn"
        while (op := start.next_op) is not end:
            assert op is not None, "verified: a loop ends"
            op.detach()
            body.add_op(op)
        body.add_op(scf.YieldOp())
        numbers = [arith.ConstantOp.from_int_and_width(n, IndexType()) for n in (0, start.turns, 1)]
        first, stop, step = (number.result for number in numbers)
        loop = scf.ForOp(first, stop, step, [], Region(body))
        Rewriter.insert_op([*numbers, loop], InsertPoint.before(end))
        Rewriter.replace_op(end, [], start.operands)
        for result, initial in zip(start.results, start.operands, strict=True):
            result.replace_all_uses_with(initial)
        Rewriter.erase_op(start)


def elements(tensor: SSAValue, w: Writer) -> SSAValue:
    """View a buffer as a row of elements."""
    type = as_memref(tensor.type)
    count = prod(type.get_shape())
    flat = MemRefType(type.element_type, [count], memory_space=type.memory_space)
    return w.value(memref.ReinterpretCastOp.from_dynamic(tensor, [0], [count], [1], flat))


@converts(memory.CopyRowsOp, relay.WriteRowsOp)
def convert_row_copy(op: memory.CopyRowsOp | relay.WriteRowsOp, w: Writer) -> None:
    """Copy rows, which are contiguous for each index along the axes before theirs."""
    axis, step, block = op.axis.value.data, op.step.value.data, op.parent
    moving: SSAValue = w.index(op.start.value.data)
    if step:
        assert block is not None, "an op of a loop"
        offset = w.value(arith.MuliOp(block.args[0], w.index(step)))
        moving = w.value(arith.AddiOp(offset, moving))
    shapes = [as_memref(operand.type).get_shape() for operand in op.operands]
    if step and op.wraps is not None:
        around = shapes[isinstance(op, relay.WriteRowsOp)][axis]
        moving = w.value(arith.RemUIOp(moving, w.index(around)))
    if isinstance(op, relay.WriteRowsOp):
        first, count = (w.index(op.source.value.data), moving), op.count.value.data
    else:
        first, count = (moving, w.index(0)), op.rows
    outer, inner = prod(shapes[0][:axis]), prod(shapes[0][axis + 1 :])
    flat = [elements(operand, w) for operand in op.operands]
    at = w
    index: SSAValue | None = None
    if outer > 1:
        body = Block([scf.YieldOp()], arg_types=[IndexType()])
        assert body.last_op is not None
        w(scf.ForOp(w.index(0), w.index(outer), w.index(1), [], Region(body)))
        index, at = body.args[0], w.before(body.last_op)
    rows: list[SSAValue] = []
    for buffer, start, shape in zip(flat, first, shapes, strict=True):
        if index is not None:
            start = at.value(
                arith.AddiOp(at.value(arith.MuliOp(index, w.index(shape[axis]))), start)
            )
        place = at.value(arith.MuliOp(start, w.index(inner)))
        sizes, strides = [count * inner], [1]
        part = memref.SubviewOp.infer_result_type(as_memref(buffer.type), [place], sizes, strides)
        rows.append(at.value(memref.SubviewOp.get(buffer, [place], sizes, strides, part)))
    at(memref.CopyOp(*rows))
    w.replace(op.operands[1])
