"""
Choose the offsets of packed slices.

    %total, %offsets:3 = memory.pack align 64 {
      [0, 2) 64
      [1, 3) 100                                         %s = memory.alloc_storage 192 align 64
      [2, 4) 64                                    ->    %a = memory.alloc_tensor %s[0]
    }                                                    %b = memory.alloc_tensor %s[64]
    %s = memory.alloc_storage %total align 64            %c = memory.alloc_tensor %s[0]
    %a = memory.alloc_tensor %s[%offsets#0]
    …

Slices of static size are planned by `xrelay.passes.planning`, whose strategies these are. Slices of
dynamic size are concatenated above them, by arithmetic, and a remark says so: no bytes are reused
there. Constant sizes and offsets become attributes of the allocations. Levels `manifest` and
`memory-planned`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import memory
from ..dialects.memory import Slice
from .planning import Arm, Buffer, Infeasible, Interval, Plan, Pool, Problem, ProblemError, solve
from .support.diagnostics import PassError, emit_remark
from .support.rewriting import apply_patterns

Strategy = Literal[
    "auto", "exact", "greedy-by-size", "greedy-by-breadth", "first-fit", "best-fit", "coalesce"
]


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


def static_size(slice: Slice) -> int | None:
    """Return the size of `slice` if it is known at compile time."""
    return slice.size if isinstance(slice.size, int) else constant_of(slice.size)


def problem_of(op: memory.PackOp) -> Problem:
    """Return the packing problem of the slices of static size."""
    alignment = op.alignment.value.data
    return Problem(
        tuple(
            Buffer(
                str(i),
                Interval(slice.start, slice.stop),
                size,
                alignment,
                arms=tuple(Arm(str(branch), str(arm)) for branch, arm in slice.arms),
            )
            for i, slice in enumerate(op.slices)
            if (size := static_size(slice)) is not None
        ),
        (Pool("arena"),),
    )


def plan_of(op: memory.PackOp, strategy: Strategy) -> Plan:
    """Plan the slices of static size; an error at `op` if their sizes have no meaning."""
    try:
        plan = solve(problem_of(op), strategy)
    except ProblemError as error:
        raise PassError(f"these slices cannot be packed: {error}", op) from error
    assert not isinstance(plan, Infeasible), "an arena without a capacity"
    return plan


def concatenated(
    sizes: Sequence[SSAValue], start: int, alignment: int
) -> tuple[list[Operation], list[SSAValue]]:
    """Return the offsets of slices of `sizes`, and last their end, with the ops that compute it."""
    at = arith.ConstantOp.from_int_and_width(-(-start // alignment) * alignment, i64)
    ops: list[Operation] = [at]
    ends: list[SSAValue] = [at.result]
    if alignment > 1:
        below = arith.ConstantOp.from_int_and_width(alignment - 1, i64)
        mask = arith.ConstantOp.from_int_and_width(-alignment, i64)
        ops += [below, mask]
    for size in sizes:
        end = arith.AddiOp(ends[-1], size)
        ops.append(end)
        if alignment > 1:
            above = arith.AddiOp(end.result, below.result)
            end = arith.AndIOp(above.result, mask.result)
            ops += [above, end]
        ends.append(end.result)
    return ops, ends


@dataclass(frozen=True)
class LayOutSlices(RewritePattern):
    """Replace a pack by its offsets."""

    ctx: Context
    strategy: Strategy

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.PackOp, rewriter: PatternRewriter, /) -> None:
        plan = plan_of(op, self.strategy)
        static = iter(plan.offsets)
        sizes = [s.size for s in op.slices if static_size(s) is None]
        dynamic = [size for size in sizes if isinstance(size, SSAValue)]
        ops, ends = concatenated(dynamic, plan.height, op.alignment.value.data)
        if dynamic:
            emit_remark(
                self.ctx,
                op,
                f"{len(dynamic)} of {len(op.slices)} slices have dynamic sizes: "
                "they are concatenated, and share no bytes",
            )
        else:
            ops, ends = [total := arith.ConstantOp.from_int_and_width(plan.height, i64)], []
            ends.append(total.result)
        total, above = ends[-1], iter(ends)
        offsets: list[SSAValue] = []
        for slice in op.slices:
            if static_size(slice) is None:
                offsets.append(next(above))
                continue
            constant = arith.ConstantOp.from_int_and_width(next(static), i64)
            ops.append(constant)
            offsets.append(constant.result)
        total.name_hint = "total"
        for offset in offsets:
            offset.name_hint = "offset"
        rewriter.replace(op, ops, [total, *offsets])


def erase_unused(value: SSAValue | None, rewriter: PatternRewriter) -> None:
    """Erase the constant that `value` is, or the sum of constants, when its uses were folded."""
    owner = None if value is None else value.owner
    if not isinstance(owner, arith.ConstantOp | arith.AddiOp) or owner.result.uses:
        return
    operands = list(owner.operands)
    rewriter.erase(owner)
    for operand in dict.fromkeys(operands):
        erase_unused(operand, rewriter)


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
        folded = memory.AllocTensorOp(op.storage, offset, op.tensor.type, op.shape)
        folded.attributes = op.attributes
        before = op.dynamic_offset
        rewriter.replace(op, folded)
        erase_unused(before, rewriter)


@dataclass(frozen=True)
class LayoutSlicesPass(ModulePass):
    """Choose the offsets of packed slices."""

    name = "layout-slices"

    strategy: Strategy = "auto"
    """The planner's strategy; see `docs/planning.md`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if apply_patterns(op, LayOutSlices(ctx, self.strategy)):
            apply_patterns(op, FoldSize(), FoldOffset())
