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

Static sizes are planned by `xrelay.planning`, whose strategies these are; constant sizes and
offsets become attributes of the allocations. If a size is dynamic, offsets are sums and maxima of
sizes, which are right for all of them: only the order of the slices from the bottom up is planned,
for sample values of the sizes' symbols (`planning.choice`), which respect the bounds of named dims
(`relay.dim_bounds`). When no order is good at all samples, up to three are computed, and the one
with the smallest arena is taken at run time. With `dynamic=at-bind`, the pack stays, and the
machine plans when it knows the sizes, but for a workspace. With strategy `coalesce`, slices are
concatenated. The size of a workspace is computed in the function and in its callers, which replaces
`memory.workspace_size`. A size that is negative, as it may be of an arm that is not taken, counts
as 0. `xrelay-opt --remarks` reports the choices. Levels `manifest` and `memory-planned`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import ClassVar, Literal, TypeVar

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import I64, IntegerAttr, ModuleOp, UnitAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import memory
from ..dialects.memory import Slice
from ..operators.sizes.size_expressions import Expr
from ..operators.sizes.size_table import ALIGN, CHOOSE
from ..planning import Arm, Buffer, Infeasible, Interval, Plan, Pool, Problem, ProblemError, solve
from ..planning.buffers import LIMIT, TooManyPairs
from ..planning.unknown_sizes.choice import Choice, choose
from ..planning.unknown_sizes.orientation import Orientation
from .functions.call_graph import CallGraph
from .sizes.reader import Sizes, read_sizes
from .sizes.sample_sizes import Sample, samples_of
from .sizes.size_code import SizeCode
from .support.diagnostics import PassError, emit_remark, wants_remarks
from .support.levels import Level
from .support.rewriting import apply_patterns
from .support.walk import outside_primitives
from .workspaces.workspace_sizes import (
    ComputeWorkspaceSize,
    EraseUnusedSize,
    Totals,
    has_workspaces,
)

Strategy = Literal[
    "auto", "exact", "greedy-by-size", "greedy-by-breadth", "first-fit", "best-fit", "coalesce"
]


Dynamic = Literal["symbolic", "at-bind"]

SLACK = 1024
"""Bytes above the lower bound that do not make one more order worth its arithmetic."""

MAX_SUM = LIMIT // 2**16
"""Samples with a sum of sizes from this on are not planned for."""


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


def is_static(op: memory.PackOp) -> bool:
    """Test whether all sizes are known at compile time."""
    return all(static_size(slice) is not None for slice in op.slices)


def problem_of(
    op: memory.PackOp, sizes: Sequence[int] | None = None, with_arms: bool = True
) -> Problem:
    """Return the packing problem of the slices, which have static sizes, or have these `sizes`."""
    alignment, slices = op.alignment.value.data, op.slices
    if sizes is None:
        sizes = [size for slice in slices if (size := static_size(slice)) is not None]
    if op.arms is None or not with_arms:
        times: tuple[int, ...] = op.lifetimes.get_values()
        return Problem.of(times[::2], times[1::2], sizes, [alignment] * len(slices))
    return Problem(
        tuple(
            Buffer(
                str(i),
                Interval(slice.start, slice.stop),
                size,
                alignment,
                arms=tuple(Arm(str(branch), str(arm)) for branch, arm in slice.arms),
            )
            for i, (slice, size) in enumerate(zip(slices, sizes, strict=True))
        ),
        (Pool("arena"),),
    )


Planned = TypeVar("Planned")


def planned(op: memory.PackOp, plan: Callable[[bool], Planned]) -> Planned:
    """
    Return what `plan(with_arms)` returns; an error at `op` if its sizes have no meaning.

    Arms only let slices share more bytes: when there are too many slices, arms are ignored.
    """
    try:
        try:
            return plan(True)
        except TooManyPairs:
            return plan(False)
    except ProblemError as error:
        total = sum(size for slice in op.slices if (size := static_size(slice)) is not None)
        if total >= LIMIT - op.alignment.value.data * len(op.slices):
            raise PassError(
                f"this tensor, and those that share memory with it, have {total} bytes, but "
                "must have fewer than 2^62",
                op,
            ) from error
        raise PassError(f"these slices cannot be packed: {error}", op) from error


def plan_of(op: memory.PackOp, strategy: Strategy) -> Plan:
    """Plan slices of static sizes."""
    plan = planned(op, lambda with_arms: solve(problem_of(op, None, with_arms), strategy))
    assert not isinstance(plan, Infeasible), "an arena without a capacity"
    return plan


def choice_of(op: memory.PackOp, samples: Sequence[Sample]) -> Choice:
    """Choose orders of slices for dynamic sizes."""
    sizes = [sample.sizes for sample in samples] or [(1,) * len(op.offsets)]
    return planned(
        op,
        lambda with_arms: choose([problem_of(op, each, with_arms) for each in sizes], slack=SLACK),
    )


def summary_of(choice: Choice, samples: Sequence[Sample]) -> str:
    """Return the orders of slices that are kept, and how near their arenas are to the bounds."""
    count = len(choice.orientations)
    kept = "1 order" if count == 1 else f"the smallest arena of {count} orders"
    ratios = "; ".join(
        f"{ratio:.4f} at {sample}" for ratio, sample in zip(choice.ratios, samples, strict=True)
    )
    return f"{kept} of slices, with these ratios to the lower bound: {ratios or 'none computed'}"


Size = int | SSAValue
"""A number of bytes, static or an i64."""

Layout = tuple[Size, list[Size]]
"""The size of an arena, and the offset of each slice."""


def highest(ends: Sequence[Size], code: SizeCode) -> Size:
    """Compute the largest of `ends`, none of which is negative."""
    static = max((end for end in ends if isinstance(end, int)), default=0)
    dynamic = dict.fromkeys(end for end in ends if not isinstance(end, int))
    values = [*([static] if static else []), *dynamic]
    return reduce(lambda one, other: code.apply("max", one, other), values) if values else 0


def stacked(
    orientation: Orientation, sizes: Sequence[Size], divisors: Sequence[int], code: SizeCode
) -> Layout:
    """Compute the layout of slices that lie on each other as `orientation` says."""
    rounded = set(orientation.rounded(divisors))
    offsets: list[Size] = [0] * len(sizes)
    ends: list[Size] = [0] * len(sizes)
    for i in orientation.order:
        at = highest([ends[j] for j in orientation.below[i]], code)
        offsets[i] = code.apply(ALIGN, at, orientation.alignment[i]) if i in rounded else at
        ends[i] = code.apply("add", offsets[i], sizes[i])
    return highest([ends[i] for i in orientation.tops], code), offsets


def concatenated(sizes: Sequence[Size], alignment: int, code: SizeCode) -> Layout:
    """Compute the layout of slices one after the other."""
    end: Size = 0
    offsets: list[Size] = []
    for size in sizes:
        unaligned = offsets and alignment > 1
        offsets.append(code.apply(ALIGN, end, alignment) if unaligned else end)
        end = code.apply("add", offsets[-1], size)
    return end, offsets


def smaller(one: Layout, other: Layout, code: SizeCode) -> Layout:
    """Compute the layout with the smaller arena."""
    choice = code.apply("lt", one[0], other[0])
    pairs = zip((one[0], *one[1]), (other[0], *other[1]), strict=True)
    total, *offsets = [code.apply(CHOOSE, choice, left, right) for left, right in pairs]
    return total, offsets


def place_tensors(at: SSAValue, offset: int, rewriter: PatternRewriter) -> None:
    """Place the tensors whose offset is the value `at` at the constant `offset`."""
    for use in list(at.uses):
        user = use.operation
        if isinstance(user, memory.AllocTensorOp):
            user.place(user.start[0], offset)
            rewriter.notify_op_modified(user)


@dataclass(frozen=True)
class LayOutSlices(RewritePattern):
    """Replace a pack by its offsets."""

    strategy: Strategy
    sizes: Sizes
    totals: Totals
    remark: Callable[[Operation, str], None]
    made: list[Operation] = field(default_factory=list[Operation])
    """The ops that compute sizes of workspaces, which their functions need not use."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.PackOp, rewriter: PatternRewriter, /) -> None:
        ops: list[Operation] = []
        code = SizeCode(ops.append)
        total, offsets = self.layout(op, code)
        for result, offset in zip(op.offsets, offsets, strict=True):
            if isinstance(offset, int):
                place_tensors(result, offset, rewriter)
        results = [
            None if result.first_use is None else code.value(size)
            for result, size in zip(op.results, (total, *offsets), strict=True)
        ]
        made = set(ops)
        if op.workspace is not None:
            self.totals.record(op, total)
            self.made.extend(ops)
        named = [total if isinstance(total, SSAValue) else results[0], *results[1:]]
        for value, hint in zip(named, ("total", *["offset"] * len(offsets)), strict=True):
            if value is not None and value.owner in made:
                value.name_hint = value.name_hint or hint
        rewriter.replace(op, ops, results)

    def layout(self, op: memory.PackOp, code: SizeCode) -> Layout:
        if is_static(op):
            plan = plan_of(op, self.strategy)
            return plan.height, list(plan.offsets)
        alignment, slices = op.alignment.value.data, op.slices
        known = [static_size(slice) for slice in slices]
        sizes = [s.size if size is None else size for s, size in zip(slices, known, strict=True)]
        polynomials = [
            self.sizes.size(size) if isinstance(size, SSAValue) else Expr.of(size) for size in sizes
        ]
        sizes = [
            size if polynomial.is_natural else code.apply("max", size, 0)
            for size, polynomial in zip(sizes, polynomials, strict=True)
        ]
        if self.strategy == "coalesce":
            self.remark(op, f"{len(slices)} slices of dynamic size lie one after the other")
            return concatenated(sizes, alignment, code)
        # A size of 0 is divided by everything.
        divisors = [polynomial.divisor or alignment for polynomial in polynomials]
        samples = samples_of(polynomials, MAX_SUM)
        choice = choice_of(op, samples)
        self.remark(op, f"{len(slices)} slices of dynamic size: {summary_of(choice, samples)}")
        layouts = [
            stacked(orientation, sizes, divisors, code) for orientation in choice.orientations
        ]
        found = layouts[0]
        for layout in layouts[1:]:
            found = smaller(layout, found, code)
        return found


@dataclass(frozen=True)
class LeaveToMachine(RewritePattern):
    """Mark a pack whose offsets the machine chooses."""

    remark: Callable[[Operation, str], None]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.PackOp, rewriter: PatternRewriter, /) -> None:
        if op.at_bind is not None:
            return
        op.at_bind = UnitAttr()
        rewriter.notify_op_modified(op)
        self.remark(op, f"{len(op.offsets)} slices of dynamic size: planned when sizes are known")


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


@dataclass(frozen=True)
class LayoutSlicesPass(ModulePass):
    """Choose the offsets of packed slices."""

    name = "layout-slices"
    accepts: ClassVar[Level] = "manifest"

    strategy: Strategy = "auto"
    """The planner's strategy; see `docs/planning.md`."""

    dynamic: Dynamic = "symbolic"
    """The offsets of slices of dynamic size: arithmetic, or planned when sizes are known."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        def remark(pack: Operation, message: str) -> None:
            if wants_remarks(ctx):
                emit_remark(ctx, pack, message)

        parts: list[Operation] = [op]
        totals = Totals({})
        if has_workspaces(op):
            graph = CallGraph.of(op)
            totals.functions = graph.symbols
            parts = [graph.symbols[name] for part in graph.components() for name in part]
        lay_out = LayOutSlices(self.strategy, Sizes(), totals, remark)
        for part in parts:  # callees first: callers need the sizes of their workspaces
            inside = [*outside_primitives(part)]
            asked = [size for size in inside if isinstance(size, memory.WorkspaceSizeOp)]
            packs = [pack for pack in inside if isinstance(pack, memory.PackOp)]
            if asked:
                apply_patterns(op, ComputeWorkspaceSize(totals), only=asked)
            dynamic = [pack for pack in packs if not is_static(pack)]
            if self.dynamic == "at-bind":
                left = [pack for pack in dynamic if pack.workspace is None]
                apply_patterns(op, LeaveToMachine(remark), only=left)
            packs = [pack for pack in packs if pack.at_bind is None]
            if any(pack.at_bind is None for pack in dynamic):
                read_sizes(part, lay_out.sizes)
            if packs:
                apply_patterns(op, lay_out, only=packs)
        apply_patterns(op, EraseUnusedSize(), only=lay_out.made[::-1])
        computed = [inside for inside in outside_primitives(op) if is_computed(inside)]
        apply_patterns(op, FoldSize(), FoldOffset(), FoldSlice(), only=computed)
