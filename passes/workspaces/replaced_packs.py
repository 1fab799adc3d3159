"""
Replace packs by code that computes their totals and offsets; constant ones become attributes.

    %x = memory.slice %p [0, 2) 64               %t = memory.alloc_tensor %s[0]
    %t = memory.alloc_tensor %s[%x]        ->
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import I64, IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects import memory
from ...operators.orders import Layout
from ..functions.call_graph import CallGraph
from ..sizes.size_code import SizeCode
from ..support.rewriting import apply_patterns
from ..support.walk import outside_primitives
from .workspace_sizes import Totals, has_workspaces


def constant_of(value: SSAValue | None) -> int | None:
    """Return the integer that `value` always is; None if it is not a constant."""
    owner = None if value is None else value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    if isinstance(owner, arith.AddiOp):
        lhs, rhs = _literal(owner.lhs), _literal(owner.rhs)
        return None if lhs is None or rhs is None else lhs + rhs
    return None


def _literal(value: SSAValue) -> int | None:
    return constant_of(value) if isinstance(value.owner, arith.ConstantOp) else None


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
        if isinstance(user, memory.AllocTensorOp):
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


def erase_unused(value: SSAValue | None, rewriter: PatternRewriter) -> None:
    """Erase the constant that `value` is, or the sum of constants, when its uses were folded."""
    owner = None if value is None else value.owner
    if not isinstance(owner, arith.ConstantOp | arith.AddiOp) or owner.result.uses:
        return
    operands = list(owner.operands)
    rewriter.erase(owner)
    for operand in dict.fromkeys(operands):
        erase_unused(operand, rewriter)


def is_computed(op: Operation) -> bool:
    """Test whether the size or the offset of `op` is an operand."""
    kind = type(op)
    if kind is memory.AllocTensorOp:
        return "offset" not in op.properties
    if kind is memory.AllocStorageOp:
        return "size" not in op.properties
    return kind is memory.SliceStorageOp


class FoldSize(RewritePattern):
    """Make a constant size of a storage an attribute."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.AllocStorageOp, rewriter: PatternRewriter, /) -> None:
        size = constant_of(op.dynamic_size)
        if size is None:
            return
        before = op.dynamic_size
        properties = {**op.properties, "size": IntegerAttr(size, i64)}
        rewriter.replace(
            op,
            memory.AllocStorageOp.create(
                properties=properties, attributes=op.attributes, result_types=[op.storage.type]
            ),
        )
        erase_unused(before, rewriter)


class FoldOffset(RewritePattern):
    """Make a constant offset of a tensor an attribute."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.AllocTensorOp, rewriter: PatternRewriter, /) -> None:
        offset = constant_of(op.dynamic_offset)
        if offset is None:
            return
        before = op.dynamic_offset
        op.place(op.storage, offset)
        rewriter.notify_op_modified(op)
        erase_unused(before, rewriter)


class FoldSlice(RewritePattern):
    """Make a constant offset and size of a slice of a storage attributes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.SliceStorageOp, rewriter: PatternRewriter, /) -> None:
        offset, size = constant_of(op.dynamic_offset), constant_of(op.dynamic_size)
        if offset is None and size is None:
            return
        before = [value for value in (op.dynamic_offset, op.dynamic_size) if value is not None]
        folded = memory.SliceStorageOp(
            op.storage,
            _folded(offset, op.offset, op.dynamic_offset),
            _folded(size, op.size, op.dynamic_size),
            op.alignment.value.data,
        )
        folded.attributes = op.attributes
        folded.slice.name_hint = op.slice.name_hint
        rewriter.replace(op, folded)
        for value in dict.fromkeys(before):
            erase_unused(value, rewriter)


def _folded(
    constant: int | None, static: IntegerAttr[I64] | None, dynamic: SSAValue | None
) -> int | SSAValue:
    if constant is not None:
        return constant
    if static is not None:
        return static.value.data
    assert dynamic is not None, "verified: static or dynamic"
    return dynamic


def parts_of(op: ModuleOp, totals: Totals) -> list[Operation]:
    """Return the parts of a module, callees first: callers need the sizes of their workspaces."""
    if not has_workspaces(op):
        return [op]
    graph = CallGraph.of(op)
    totals.functions = graph.symbols
    return [graph.symbols[name] for name in graph.callees_first()]


def fold_constants(op: ModuleOp) -> None:
    """Make constant sizes and offsets attributes."""
    computed = [inside for inside in outside_primitives(op) if is_computed(inside)]
    apply_patterns(op, FoldSize(), FoldOffset(), FoldSlice(), only=computed)
