"""
Results that are written over operands: two tensors at the same bytes.

    %t = memory.alloc_tensor %s[0]
    %x = vm.invoke_tvm_op @f … outs(%t)
    %u = memory.alloc_tensor %s[0]
    %y = vm.invoke_tvm_op @g ins(%x) outs(%u)       %y is written over %x
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from xdsl.ir import Operation, OpResult, SSAValue

from ...dialects import memory, vm
from ...dialects.interfaces import DestinationPassing
from ...dialects.xdsl_internals import operands_of

MAX_VIEWS = 16
"""The maximum number of views between a tensor and an operand that may be overwritten."""


@cache
def writes(kind: type[Operation]) -> bool:
    """Test whether ops of class `kind` are in destination-passing style."""
    return kind.get_trait(DestinationPassing) is not None


def tensor_of(value: SSAValue) -> memory.AllocTensorOp | None:
    """Return the tensor into which `value`, or what it views, was written, if it is known."""
    for _ in range(MAX_VIEWS):
        if not isinstance(value, OpResult):
            return None
        op = value.op
        kind = type(op)
        if kind is vm.ReshapeTensorOp:
            value = operands_of(op)[0]
        elif writes(kind):
            out = operands_of(op)[value.index - len(op.results)].owner
            return out if isinstance(out, memory.AllocTensorOp) else None
        else:
            return None
    return None


def share_start(one: memory.AllocTensorOp, other: memory.AllocTensorOp) -> bool:
    """Test whether both tensors start at the same byte of one storage."""
    return one.start == other.start


def is_alone(tensor: memory.AllocTensorOp) -> bool:
    """Test whether nothing else is in the storage of `tensor`."""
    return operands_of(tensor)[0].has_one_use()


def overwritten(op: Operation) -> Iterator[tuple[OpResult, SSAValue]]:
    """Yield the results of `op`, in destination-passing style, that are written over an operand."""
    operands = operands_of(op)
    count = len(operands) - len(op.results)
    ins = operands[:count]
    for result, out in zip(op.results, operands[count:], strict=True):
        tensor = out.owner
        if not isinstance(tensor, memory.AllocTensorOp) or is_alone(tensor):
            continue
        for operand in ins:
            source = tensor_of(operand)
            if source is not None and share_start(tensor, source):
                yield result, operand
