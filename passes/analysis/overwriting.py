"""
Results that are written over operands: two tensors at the same bytes.

    %t = memory.alloc_tensor %s[0]
    %x = vm.invoke_tvm_op @f … outs(%t)
    %u = memory.alloc_tensor %s[0]
    %y = vm.invoke_tvm_op @g ins(%x) outs(%u)       %y is written over %x
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, OpResult, SSAValue

from ...dialects import memory, vm
from ...dialects.interfaces import DestinationPassing

MAX_VIEWS = 16
"""The maximum number of views between a tensor and an operand that may be overwritten."""


def tensor_of(value: SSAValue) -> memory.AllocTensorOp | None:
    """Return the tensor into which `value`, or what it views, was written, if it is known."""
    for _ in range(MAX_VIEWS):
        if not isinstance(value, OpResult):
            return None
        op = value.op
        if isinstance(op, vm.ReshapeTensorOp):
            value = op.data
        elif op.has_trait(DestinationPassing, value_if_unregistered=False):
            out = DestinationPassing.outs(op)[value.index].owner
            return out if isinstance(out, memory.AllocTensorOp) else None
        else:
            return None
    return None


def share_start(one: memory.AllocTensorOp, other: memory.AllocTensorOp) -> bool:
    """Test whether both tensors start at the same byte of one storage."""
    return (
        one.storage is other.storage
        and one.offset == other.offset
        and one.dynamic_offset is other.dynamic_offset
    )


def overwritten(op: Operation) -> Iterator[tuple[OpResult, SSAValue]]:
    """Yield the results of `op`, in destination-passing style, that are written over an operand."""
    ins = op.operands[: len(op.operands) - len(op.results)]
    for result, out in zip(op.results, DestinationPassing.outs(op), strict=True):
        tensor = out.owner
        if not isinstance(tensor, memory.AllocTensorOp):
            continue
        for operand in ins:
            source = tensor_of(operand)
            if source is not None and share_start(tensor, source):
                yield result, operand
