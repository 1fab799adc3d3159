"""
Replace packs by code that computes their totals and offsets; constant ones become attributes.

    %x = memory.slice %p [0, 2) 64               %t = memory.alloc_tensor %s[0]
    %t = memory.alloc_tensor %s[%x]        ->
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint
from xdsl.utils.symbol_table import get_name_if_symbol

from ...dialects import memory
from ...dialects.dense import integer
from ...dialects.xdsl_extras.walking import ops_of
from ...operators.orders import Layout
from ..functions.symbols import CallGraph
from ..sizes.size_code import SizeCode
from ..support.rewriting import apply_patterns, erase_unused
from ..support.walk import outside_primitives
from .workspace_sizes import Totals, has_workspaces

Size = int | SSAValue
"""A number of bytes, static or an i64."""


class ListedCode(SizeCode):
    """Code that is inserted later."""

    def __init__(self) -> None:
        self.ops: list[Operation] = []
        super().__init__(self.ops.append)


def place_tensors(at: SSAValue, offset: int, rewriter: PatternRewriter) -> None:
    """Place the tensors whose offset is the value `at` at the constant `offset`."""
    for use in list(at.uses):
        user = use.operation
        if isinstance(user, memory.PlacedOp):
            user.place(user.start[0], offset)
            rewriter.notify_op_modified(user)


def replace_pack(
    packing: memory.Packing,
    layout: Layout[SSAValue],
    code: ListedCode,
    totals: Totals,
    rewriter: PatternRewriter,
) -> None:
    """Replace a pack by its totals and offsets, which `code` computes."""
    after = packing.members[-1].next_op if packing.members else packing.op
    assert after is not None, "a terminator follows"
    offsets = {
        op.results[0]: offset for op, offset in zip(packing.slices, layout.offsets, strict=True)
    }
    sizes = {op.results[0]: layout.totals[op.pool_number] for op in packing.totals}
    if packing.op.workspace is not None:
        totals.record(packing.op, layout.totals[0])
    members = set[Operation](packing.members)
    replaced: list[tuple[Operation, Size | None]] = []
    for op in reversed(packing.members):
        result = op.results[0]
        size = offsets.get(result, sizes.get(result))
        if result in offsets and isinstance(size, int):
            place_tensors(result, size, rewriter)
        is_used = any(use.operation not in members for use in result.uses)
        replaced.append((op, size if is_used else None))
    computed = {op: code.value(size) for op, size in replaced[::-1] if size is not None}
    added = set(code.ops)
    for op in packing.members:
        value = offsets.get(op.results[0], sizes.get(op.results[0]))
        value = computed.get(op) if isinstance(value, int) else value
        if value is not None and value.owner in added:
            value.name_hint = value.name_hint or op.results[0].name_hint
    rewriter.insert(code.ops, InsertPoint.before(after))
    for op, size in replaced:
        rewriter.replace(op, [], [computed[op] if size is not None else None])
    rewriter.erase(packing.op)


def parts_of(op: ModuleOp, totals: Totals) -> list[Operation]:
    """Return the parts of a module, callees first: callers need the sizes of their workspaces."""
    if not has_workspaces(op):
        return [op]
    graph = CallGraph.of(op)
    totals.functions = graph.symbols
    others = (part for part in op.ops if get_name_if_symbol(part) is None)
    return [*(graph.symbols[name] for name in graph.callees_first()), *others]


FOLDED = (memory.AllocStorageOp, memory.PlacedOp, memory.SliceStorageOp)
"""The ops of which constant sizes and offsets become attributes."""


def fold_constants(op: ModuleOp) -> bool:
    """
    Make constant sizes and offsets attributes, and erase the constants that only they used.

    Returns whether there were any.
    """
    users = ops_of(outside_primitives(op), *FOLDED)
    constants: dict[Operation, None] = {}
    for value in (operand for user in users for operand in user.operands):
        if isinstance(value.owner, Operation) and integer(value) is not None:
            summands = (o.owner for o in value.owner.operands if isinstance(o.owner, Operation))
            constants.update(dict.fromkeys((*summands, value.owner)))
    patterns = (p for kind in FOLDED for p in kind.get_canonicalization_patterns())
    if constants:
        apply_patterns(op, *patterns, only=users)
        erase_unused(constants)
    return bool(constants)
