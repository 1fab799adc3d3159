"""
Calls in tail position: what they return is returned unchanged.

    func.func @f(%n: memref<i32>, %x: memref<4xf32>) -> memref<4xf32> {
      %r = scf.if %c -> (memref<4xf32>) {
        …
        %z = func.call @f(%m, %x) : …                a tail call: only frees follow
        memref.dealloc %m : memref<i32>
        scf.yield %z : memref<4xf32>
      } else {
        …
      }
      func.return %r : memref<4xf32>
    }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import arith, func, memref, scf
from xdsl.ir import Block, Operation, SSAValue

BRANCHES = (scf.IfOp, scf.IndexSwitchOp)
"""The ops whose regions are in tail position if they are."""


def frees(op: Operation) -> bool:
    """Test whether `op` frees memory, or is needed for that, and does nothing else."""
    if isinstance(op, scf.IfOp):
        return not op.results and all(
            frees(inner) or isinstance(inner, scf.YieldOp)
            for region in op.regions
            for block in region.blocks
            for inner in block.ops
        )
    return isinstance(op, memref.DeallocOp | memref.ExtractStridedMetaDataOp | arith.ConstantOp)


def without_casts(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, memref.CastOp):
        value = value.owner.source
    return value


def tail_of(block: Block) -> Operation | None:
    """Return the op of `block` whose results are all that the block passes on, unchanged."""
    end = block.last_op
    if end is None or not end.operands:
        return None
    passed = [without_casts(value) for value in end.operands]
    tail = passed[0].owner
    if not isinstance(tail, Operation) or tail.parent is not block or passed != [*tail.results]:
        return None
    op = tail.next_op
    while op is not end:
        assert op is not None
        if not frees(op) and not isinstance(op, memref.CastOp):
            return None
        op = op.next_op
    return tail


def tail_calls(block: Block) -> Iterator[func.CallOp]:
    """Yield the calls in tail position, if `block` is."""
    pending = [block]
    while pending:
        tail = tail_of(pending.pop())
        if isinstance(tail, func.CallOp):
            yield tail
        elif isinstance(tail, BRANCHES):
            pending += [region.block for region in reversed(tail.regions) if region.blocks]


def calls_itself(function: func.FuncOp) -> list[func.CallOp]:
    """Return the tail calls of `function` by itself."""
    if not function.body.blocks:
        return []
    name = function.sym_name.data
    calls = tail_calls(function.body.block)
    return [call for call in calls if call.callee.string_value() == name]


def unchanged(function: func.FuncOp, calls: Sequence[func.CallOp]) -> list[bool]:
    """Return for each parameter of `function` whether all `calls` pass it on."""
    params = function.body.block.args
    return [all(call.arguments[i] is param for call in calls) for i, param in enumerate(params)]
