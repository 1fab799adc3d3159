"""
Choose the offsets of packed slices.

    %p = memory.pack align 64 : !memory.pack
    %x = memory.slice %p [0, 2) 64
    %y = memory.slice %p [1, 3) 100
    %z = memory.slice %p [2, 4) 64                       %s = memory.alloc_storage 192 align 64
    %total = memory.total %p                       ->    %a = memory.alloc_tensor %s[0]
    %s = memory.alloc_storage %total align 64            %b = memory.alloc_tensor %s[64]
    %a = memory.alloc_tensor %s[%x]                      %c = memory.alloc_tensor %s[0]
    …

    %q = memory.pack align 64 : !memory.pack             %q = memory.pack ordered align 64 …
    %x = memory.slice %q [0, 2) %n                 ->    %x = memory.slice %q [0, 2) %n
    %y = memory.slice %q [1, 3) %m                       %y = memory.slice %q [1, 3) %m on (%x)

Static sizes are planned by `xrelay.planning`, whose strategies these are; constant sizes and
offsets become attributes of the allocations. If a size is dynamic, the pack is `ordered`: the order
of the slices from the bottom up is right for all sizes, and it is chosen for sample values of the
sizes' symbols (`unknown_sizes`), which respect the bounds of named dims (`relay.dim_bounds`).
When no order is good at all samples, up to three are kept, and the one with the smallest arena is
taken at run time. The pack keeps them, as the proof of the plan, until `expand-packs` computes
them. With `dynamic=at-bind`, the machine plans when it knows the sizes, but for a workspace. With
strategy `coalesce`, slices lie one after the other. `xrelay-opt --remarks` reports the choices.
Slices with gaps that need more than other storages leave of `peak` are planned again, by moves.
Levels `manifest` and `memory-planned`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal, TypeVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import memory
from ..dialects.dense import integer
from ..dialects.xdsl_extras.walking import ops_of
from ..operators.orders import Layout, Life, On, Orders, Row
from ..planning import Arm, Buffer, Infeasible, Interval, Plan, Pool, Problem, ProblemError, solve
from ..planning.buffers import LIMIT, TooManyPairs
from ..planning.unknown_sizes.choice import Choice, choose
from ..planning.unknown_sizes.piece_orders import choose_rows, placed_rows
from .sizes.reader import Sizes
from .sizes.sample_sizes import Sample, samples_of
from .support.changes import LevelPass
from .support.diagnostics import PassError, emit_remark, wants_remarks
from .support.peak_option import peak_in
from .support.rewriting import apply_patterns, rewrite_each
from .support.walk import outside_primitives
from .workspaces.replaced_packs import ListedCode, fold_constants, parts_of, replace_pack
from .workspaces.workspace_sizes import ComputeWorkspaceSize, Totals

Strategy = Literal[
    "auto", "exact", "greedy-by-size", "greedy-by-breadth", "first-fit", "best-fit", "coalesce"
]


Dynamic = Literal["symbolic", "at-bind"]

SLACK = 1024
"""Bytes above the lower bound that do not make one more order worth its arithmetic."""

MAX_NOTES = 8
"""The most buffers that an error points at."""

MAX_SUM = LIMIT // 2**16
"""Samples with a sum of sizes from this on are not planned for."""


def static_size(size: int | SSAValue) -> int | None:
    """Return `size` if it is known at compile time."""
    return size if isinstance(size, int) else integer(size)


def is_static(packing: memory.Packing) -> bool:
    """Test whether all sizes are known at compile time."""
    return all(static_size(size) is not None for size in packing.sizes)


def problem_of(
    packing: memory.Packing, sizes: Sequence[int] | None = None, with_arms: bool = True
) -> Problem:
    """
    Return the packing problem of the slices, which have static sizes, or have these `sizes`.

    An order of dynamic sizes has one alignment for all.
    """
    lives, alignments = packing.lives, [packing.alignment] * len(packing.lives)
    if sizes is None:
        alignments = packing.alignments
        sizes = [known for size in packing.sizes if (known := static_size(size)) is not None]
    spans = [Interval(life.times[0][0], life.times[-1][1]) for life in lives]
    if not with_arms or not any(life.arms for life in lives):
        lower, upper = ([span[k] for span in spans] for k in (0, 1))
        return Problem.of(lower, upper, sizes, alignments)
    return Problem(
        tuple(
            Buffer(
                str(i),
                span,
                size,
                alignments[i],
                arms=tuple(Arm(str(branch), str(arm)) for branch, arm in op.arms),
            )
            for i, (op, span, size) in enumerate(zip(packing.slices, spans, sizes, strict=True))
        ),
        (Pool("arena"),),
    )


Planned = TypeVar("Planned")


def planned(packing: memory.Packing, plan: Callable[[bool], Planned]) -> Planned:
    """
    Return what `plan(with_arms)` returns; an error at the pack if its sizes have no meaning.

    Arms only let slices share more bytes: when there are too many slices, arms are ignored.
    """
    try:
        try:
            return plan(True)
        except TooManyPairs:
            return plan(False)
    except ProblemError as error:
        op = packing.op
        total = sum(known for size in packing.sizes if (known := static_size(size)) is not None)
        if total >= LIMIT - packing.alignment * len(packing.slices):
            raise PassError(
                f"this tensor, and those that share memory with it, have {total} bytes, but "
                "must have fewer than 2^62",
                op,
            ) from error
        raise PassError(f"these slices cannot be packed: {error}", op) from error


def solution_of(
    packing: memory.Packing, strategy: Strategy, sizes: Sequence[int] | None = None
) -> Plan | Infeasible:
    """Plan slices of static sizes, or of these `sizes`."""
    pool = packing.op.pool
    capacity = None if pool is None else pool.capacity

    def solved(with_arms: bool) -> Plan | Infeasible:
        problem = problem_of(packing, sizes, with_arms).with_capacity(capacity)
        plan = solve(problem, strategy)
        # assign-pools searched without a strategy: one that needs more must not fail.
        return solve(problem) if isinstance(plan, Infeasible) else plan

    return planned(packing, solved)


def plan_of(packing: memory.Packing, strategy: Strategy) -> Plan:
    """Plan slices of static sizes; an error if they do not fit in their pool."""
    plan = solution_of(packing, strategy)
    if isinstance(plan, Infeasible):
        raise no_room(packing, plan.height, plan.shortfall, plan.rows, plan.proved)
    return plan


def require_room(packing: memory.Packing, strategy: Strategy, sizes: Sizes) -> None:
    """Check that slices fit in their pool when their dynamic sizes are as small as they can be."""
    pool = packing.op.pool
    if pool is not None and pool.capacity is not None and not has_pieces(packing):
        bounds = (sizes.size_or(size).range[0] for size in packing.sizes)
        least = [0 if low == -inf else max(0, int(low)) for low in bounds]
        plan = solution_of(packing, strategy, least) if sum(least) > pool.capacity else None
        if isinstance(plan, Infeasible) and plan.proved:
            raise no_room(packing, plan.height, plan.shortfall, plan.rows, least=least)


def no_room(
    packing: memory.Packing,
    total: int,
    missing: int,
    rows: Sequence[int] = (),
    proved: bool = True,
    least: Sequence[int] | None = None,
) -> PassError:
    """Return the error that slices do not fit in their pool, at the moment when `rows` are live."""
    pool, slices = packing.op.pool, packing.slices
    assert pool is not None, "an arena without a capacity"
    sizes, bound = (packing.sizes, "") if least is None else (least, "at least ")
    message = (
        f"{len(slices)} buffers need {bound}{total} bytes, but pool {pool.label} has "
        f"{pool.capacity}: {missing} bytes are missing{' here' if rows else ''}"
    )
    if not proved:
        message += " (the search found no plan; one may exist)"
    users = {row: next((u.operation for u in slices[row].offset.uses), slices[row]) for row in rows}
    latest = max(rows, key=lambda row: slices[row].life.times[0][0], default=None)
    notes = [(users[row], f"{bound}{sizes[row]} bytes are live then") for row in rows[:MAX_NOTES]]
    return PassError(message, packing.op if latest is None else users[latest], notes)


def static_layout(
    packing: memory.Packing, strategy: Strategy, room: int | None = None
) -> Layout[SSAValue]:
    """Lay out slices of static sizes, in `room` if it can be."""
    if not has_pieces(packing):
        plan = plan_of(packing, strategy)
        return Layout((plan.height,), plan.offsets)
    sizes = [known for size in packing.sizes if (known := static_size(size)) is not None]
    rows, lives = rows_and_lives(packing)

    def placed(with_arms: bool) -> Sequence[int]:
        return placed_rows(rows, lives, sizes, packing.alignment, strategy, with_arms, room)

    offsets = planned(packing, placed)
    totals = [0] * (1 + max((row.pool for row in rows), default=0))
    for row, offset, size in zip(rows, offsets, sizes, strict=True):
        totals[row.pool] = max(totals[row.pool], offset + max(size, 0))
    pool = packing.op.pool
    if pool is not None and pool.capacity is not None and max(totals, default=0) > pool.capacity:
        raise no_room(packing, max(totals), max(totals) - pool.capacity)
    return Layout((*totals,), (*offsets,))


def has_pieces(packing: memory.Packing) -> bool:
    """Test whether slices have places, pools, or several intervals."""
    return bool(packing.rows) or any(len(life.times) != 1 for life in packing.lives)


def orders_of_pieces(packing: memory.Packing, samples: Sequence[Sequence[int]]) -> list[On]:
    """Choose orders of slices that have places, pools, or several intervals."""
    rows, lives = rows_and_lives(packing)
    return planned(
        packing,
        lambda with_arms: choose_rows(rows, lives, samples, packing.alignment, with_arms),
    )


def rows_and_lives(packing: memory.Packing) -> tuple[Sequence[Row], Sequence[Life]]:
    rows = packing.rows or (Row(),) * len(packing.slices)
    return rows, packing.lives


def choice_of(packing: memory.Packing, samples: Sequence[Sample]) -> Choice:
    """Choose orders of slices for dynamic sizes."""
    sizes = [sample.sizes for sample in samples] or [(1,) * len(packing.slices)]
    return planned(
        packing,
        lambda with_arms: choose(
            [problem_of(packing, each, with_arms) for each in sizes], slack=SLACK
        ),
    )


def summary_of(choice: Choice, samples: Sequence[Sample]) -> str:
    """Return the orders of slices that are kept, and how near their arenas are to the bounds."""
    count = len(choice.orientations)
    kept = "1 order" if count == 1 else f"the smallest arena of {count} orders"
    ratios = "; ".join(
        f"{ratio:.4f} at {sample}" for ratio, sample in zip(choice.ratios, samples, strict=True)
    )
    return f"{kept} of slices, with these ratios to the lower bound: {ratios or 'none computed'}"


@dataclass(frozen=True)
class LayOutSlices(RewritePattern):
    """Replace a pack of static sizes by its offsets, and order one of dynamic sizes."""

    strategy: Strategy
    sizes: Sizes
    totals: Totals
    remark: Callable[[Operation, str], None]
    peak: int | None = None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.PackOp, rewriter: PatternRewriter, /) -> None:
        packing = memory.Packing(op)
        if is_static(packing):
            layout = static_layout(packing, self.strategy, self.room(op))
            replace_pack(packing, layout, ListedCode(), self.totals, rewriter)
            return
        if op.orders is not None:
            return
        require_room(packing, self.strategy, self.sizes)
        packing.order(self.orders(packing))
        packing = memory.Packing(op)
        for changed in (op, *packing.slices):
            rewriter.notify_op_modified(changed)
        if op.workspace is not None:
            self.totals.record(op, packing)

    def room(self, op: memory.PackOp) -> int | None:
        """Return what the other storages of its function leave to a pack, below the peak."""
        function = op.parent_op()
        if self.peak is None or not isinstance(function, func.FuncOp):
            return None
        storages = ops_of([*outside_primitives(function)], memory.AllocStorageOp)
        return self.peak - sum(storage.size.value.data for storage in storages if storage.size)

    def orders(self, packing: memory.Packing) -> Sequence[On]:
        op, count = packing.op, len(packing.slices)
        if self.strategy == "coalesce":
            self.remark(op, f"{count} slices of dynamic size lie one after the other")
            return Orders.one_after_the_other(packing.alignment, count, packing.rows).on
        samples = samples_of(
            [self.sizes.size_or(size) for size in packing.sizes],
            MAX_SUM,
        )
        if has_pieces(packing):
            self.remark(op, f"{count} slices of dynamic size, with places or gaps")
            sizes = [sample.sizes for sample in samples] or [(1,) * count]
            return orders_of_pieces(packing, sizes)
        choice = choice_of(packing, samples)
        self.remark(op, f"{count} slices of dynamic size: {summary_of(choice, samples)}")
        return [orientation.below for orientation in choice.orientations]


@dataclass(frozen=True)
class LayoutSlicesPass(LevelPass):
    name = "layout-slices"
    accepts = "manifest"

    strategy: Strategy = "auto"
    """The planner's strategy; see `docs/planning.md`."""

    dynamic: Dynamic = "symbolic"
    """The offsets of slices of dynamic size: arithmetic, or planned when sizes are known."""

    peak: str = ""
    """The most bytes of a function, such as `256KiB`, for which slices with gaps are moved long."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        def remark(pack: Operation, message: str) -> None:
            if wants_remarks(ctx):
                emit_remark(ctx, pack, message)

        def leave_to_machine(pack: memory.PackOp, rewriter: PatternRewriter) -> None:
            if pack.at_bind is None:
                pack.at_bind = UnitAttr()
                rewriter.notify_op_modified(pack)
                count = len(memory.Packing(pack).slices)
                remark(pack, f"{count} slices of dynamic size: planned when sizes are known")

        totals = Totals({})
        lay_out = LayOutSlices(self.strategy, Sizes(), totals, remark, peak_in(self.peak))
        for part in parts_of(op, totals):
            inside = [*outside_primitives(part)]
            asked = ops_of(inside, memory.WorkspaceSizeOp)
            packs = ops_of(inside, memory.PackOp)
            if asked:
                apply_patterns(op, ComputeWorkspaceSize(totals), only=asked)
            dynamic = [pack for pack in packs if not is_static(memory.Packing(pack))]
            if self.dynamic == "at-bind":
                left = [
                    pack
                    for pack in dynamic
                    if pack.workspace is None
                    and not pack.orders
                    and not has_pieces(memory.Packing(pack))
                ]
                rewrite_each(left, leave_to_machine)
            packs = [pack for pack in packs if pack.at_bind is None]
            if any(pack.at_bind is None for pack in dynamic):
                lay_out.sizes.read(part)
            if packs:
                apply_patterns(op, lay_out, only=packs)
        fold_constants(op)
