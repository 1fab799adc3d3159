"""
State which storage each tensor is in, and the bytes in use at each kernel.

    %t = memory.alloc_tensor %s[0]               -> {xrelay.storage_id = 0 : i64}
    %y = vm.invoke_tvm_op @k … outs(%t)          -> {xrelay.used_memory = 64 : i64}
    %u = memory.alloc_tensor %r[0]               -> {xrelay.storage_id = 1 : i64}
    %z = vm.invoke_tvm_op @k ins(%y) outs(%u)    -> {xrelay.used_memory = 128 : i64}

The storages of a function are numbered in the order of their first tensors. In an arena, tensors
that start at the same byte are in one. The bytes in use are those of tensors that the function
computes and needs at this point, the results of the op and its scratch among them, on all devices,
on the path through branches that uses most; inputs and constants are not counted. They are omitted
if a size depends on dims. The attributes are for profilers and tools; no pass reads them. Level
`memory-planned`, which stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter

from ..dialects import memory
from ..dialects.interfaces import DestinationPassing
from ..dialects.xdsl_extras.walking import walk
from .bytes.storages import is_destination_of_shapes
from .memory_report.loads import loads
from .memory_report.model import FunctionUse
from .memory_report.read import memory_at_ops
from .support.changes import LevelPass
from .support.rewriting import rewrite_each

STORAGE_ID = "xrelay.storage_id"
"""The number of the storage that a tensor is in."""
USED_MEMORY = "xrelay.used_memory"
"""The bytes in use while a kernel runs."""


def annotate(numbers: dict[Operation, int], name: str) -> None:
    """Give each op the attribute `name`, its number."""

    def rewrite(op: Operation, rewriter: PatternRewriter) -> None:
        op.attributes[name] = IntegerAttr(numbers[op], i64)
        rewriter.notify_op_modified(op)

    rewrite_each(numbers, rewrite)


def storage_ids(module: ModuleOp) -> dict[Operation, int]:
    """Return the number of the storage of each tensor, from 0 in each function."""
    ids: dict[Operation, int] = {}
    for function in module.ops:
        known: dict[object, int] = {}
        for op in walk(function):
            if isinstance(op, memory.AllocTensorOp) and not is_destination_of_shapes(op):
                place = op.storage, op.offset or op.dynamic_offset
                ids[op] = known.setdefault(place, len(known))
    return ids


def used_memory(use: FunctionUse, ops: Sequence[Operation | None]) -> dict[Operation, int]:
    """Return the bytes in use at each op of a function; none if a size is not known."""
    numbers = {segment.size for segment in use.live}
    known = {number: use.formulas.constant(number) for number in numbers}
    values = [0] * len(use.formulas.steps)
    for number, value in known.items():
        if value is None:
            return {}
        values[number] = value
    sizes = loads(use.live, len(use.columns), values)
    return {
        op: size
        for op, size in zip(ops, sizes, strict=True)
        if op is not None and op.has_trait(DestinationPassing)
    }


class AnnotateMemoryPass(LevelPass):
    name = "annotate-memory"
    accepts = "memory-planned"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        used: dict[Operation, int] = {}
        for use, ops in memory_at_ops(op):
            used |= used_memory(use, ops)
        ids = storage_ids(op)
        annotate(used, USED_MEMORY)
        annotate(ids, STORAGE_ID)
