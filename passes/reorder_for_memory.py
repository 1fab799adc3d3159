"""
Reorder the ops of each block so that fewer bytes are live at the worst moment.

    %a = f(%x)   // large                       %a = f(%x)
    %b = f(%x)   // large                       %c = sum(%a)   // small
    %c = sum(%a) // small               ->      %b = f(%x)
    %d = sum(%b) // small                       %d = sum(%b)
    %e = add(%c, %d)                            %e = add(%c, %d)

A kernel call moves with its allocations and the computation of its sizes. Operands come before
their users, ops of unknown effects and conflicting effects stay in order, and no op moves above a
`relay.require` that it followed (`bytes.steps`). Branches are ordered inside out, each arm with
the bytes that are live around it. `planning.order.schedule` chooses the order; a remark says what
it gained, and whether no order that is allowed has a lower peak.

The peak is that of each device, and for dynamic sizes that at each of several values of their
symbols: none rises, and the worst of the ratios to the peaks before is minimized, then their sum.
A device that is full is not helped by another that is not. Best before `pack-storage`. Level
`manifest`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsTerminator

from ..dialects import memory
from ..planning.order.schedule import Held, Schedule, StepGraph, schedule
from .bytes.aliases import AliasClasses, bodies_of
from .bytes.live_bytes import Row, Rows, peaks_of, rows_of, storages_in
from .bytes.steps import Bytes, Steps, steps_of
from .sizes.reader import Sizes
from .support.changes import LevelPass
from .support.diagnostics import OptionError, emit_remark
from .support.rewriting import rewrite_each

MAX_APART = 16
"""The number of storages with one name up to which each has a lifetime of its own."""


@dataclass(eq=False)
class Local:
    """Bytes that a step of a block allocates, itself or in an arm."""

    key: int
    users: tuple[int, ...]
    size: Row


@dataclass(eq=False)
class Branch:
    """The bytes of a branch, as the largest of its arms needs them."""

    handed_over: dict[int, Row] = field(default_factory=lambda: {})
    """Those that its arms allocate, and that are used after it."""
    besides: Row = field(default_factory=lambda: [])


def added(rows: Iterable[Row], count: int) -> Row:
    """Return the sum of `rows`, which have `count` numbers."""
    total = [0] * count
    for row in rows:
        total = [a + b for a, b in zip(total, row, strict=True)]
    return total


def ordered_ops(steps: Steps, order: Sequence[int]) -> list[Operation]:
    """Return the ops of a block, but for its terminator, with its steps in `order`."""
    ordered: dict[Operation, None] = {}

    def place(needed: Iterable[Operation]) -> None:
        """Place ops on demand, each after those that it needs."""
        pending = [(op, False) for op in needed]
        pending.reverse()
        while pending:
            op, is_done = pending.pop()
            if is_done:
                ordered[op] = None
            elif op not in ordered:
                pending.append((op, True))
                for value in reversed(op.operands):
                    owner = value.owner
                    if isinstance(owner, Operation) and owner in steps.on_demand:
                        pending.append((owner, False))

    for step in order:
        place(steps.needs[step])
        ordered[steps.ops[step]] = None
    place(steps.on_demand)
    return list(ordered)


@dataclass(eq=False)
class BlockOrders:
    """
    Orders of the blocks of a body that keep few bytes live, found inside out.

    An arm is ordered with the bytes from above that it uses. For the block around it, the branch is
    a step that allocates what its arms hand over, the largest arm of each, and needs what they need
    besides.
    """

    bytes: Bytes
    rows: Rows
    nodes: int
    """The limit of `planning.order.schedule` for each block."""
    reordered: dict[Block, list[Operation]] = field(default_factory=lambda: {})
    branches: dict[Block, dict[int, Branch]] = field(default_factory=lambda: {})
    """For each block, the branches that allocate bytes, by step."""
    is_exact: bool = True
    """False if bytes with many storages are treated as one."""
    _storages: dict[int, list[memory.AllocStorageOp]] = field(default_factory=lambda: {})
    """The storages that each class of bytes lies in."""

    def __post_init__(self) -> None:
        counted = ((op, key) for op, key in self.bytes.key_of.items() if op in self.rows.of)
        for op, key in counted:
            self._storages.setdefault(key, []).append(op)

    def plan(self, steps: Steps) -> Schedule | None:
        """Choose the order of a block; None if there is nothing to choose."""
        own, above = self.locals_of(steps), self.from_above(steps)
        held = [
            Held(
                local.users,
                tuple(dict.fromkeys((*local.users, *steps.uses.get(local.key, ())))),
                at_end=local.key in steps.at_end,
            )
            for local in own
        ]
        sizes = [local.size for local in own]
        for step, branch in self.branches.get(steps.block, {}).items():
            held.append(Held((step,), (step,)))
            sizes.append(branch.besides)
        inner = len(held)
        for key, size in above:
            uses = tuple(steps.uses[key])
            held.append(Held((), uses, at_start=True, at_end=key in steps.at_end))
            sizes.append(size)
        if not inner:
            return None
        graph = StepGraph(steps.before, held)
        planned = schedule(graph, [list(row) for row in zip(*sizes, strict=True)], self.nodes)
        if planned.is_better:
            self.reordered[steps.block] = ordered_ops(steps, planned.order)
        if steps.around is not None:
            self.hand_over(steps, own, self.peaks(graph, planned.order, sizes[:inner]))
        return planned

    def peaks(self, graph: StepGraph, order: Sequence[int], sizes: Sequence[Row]) -> Row:
        """Return the peaks of the first of the bytes held, which have `sizes`."""
        others = [0] * (len(graph.held) - len(sizes))
        return [graph.peak(order, [*row, *others]) for row in zip(*sizes, strict=True)]

    def locals_of(self, steps: Steps) -> list[Local]:
        """Return what a block allocates."""
        local: list[Local] = []
        by_key: dict[int, list[tuple[memory.AllocStorageOp, list[int]]]] = {}
        for op, users in steps.storages.items():
            if users and op in self.rows.of:
                by_key.setdefault(self.bytes.key_of[op], []).append((op, users))
        for key, storages in by_key.items():
            if len(storages) <= MAX_APART:
                local += (Local(key, tuple(users), self.rows.of[op]) for op, users in storages)
                continue
            self.is_exact = False
            users = tuple(sorted({user for _, some in storages for user in some}))
            size = added((self.rows.of[op] for op, _ in storages), self.rows.count)
            local.append(Local(key, users, size))
        for step, branch in self.branches.get(steps.block, {}).items():
            local += (Local(key, (step,), size) for key, size in branch.handed_over.items())
        return local

    def from_above(self, steps: Steps) -> list[tuple[int, Row]]:
        """Return the bytes that an arm uses, and that blocks around it allocate."""
        if steps.around is None:
            return []
        blocks: set[Block] = set()
        around: Steps | None = steps.around
        while around is not None:
            blocks.add(around.block)
            around = around.around
        above: list[tuple[int, Row]] = []
        for key in steps.uses:
            storages = [op for op in self._storages.get(key, ()) if op.parent in blocks]
            if storages:
                above.append((key, added((self.rows.of[op] for op in storages), self.rows.count)))
        return above

    def hand_over(self, steps: Steps, own: Sequence[Local], peaks: Row) -> None:
        """Record what an arm needs for the block around it."""
        assert steps.around is not None, "an arm"
        branches = self.branches.setdefault(steps.around.block, {})
        branch = branches.setdefault(steps.at, Branch(besides=[0] * self.rows.count))
        handed: dict[int, list[Row]] = {}
        for local in own:
            if local.key in steps.at_end:
                handed.setdefault(local.key, []).append(local.size)
        total = [0] * self.rows.count
        for key, sizes in handed.items():
            size = added(sizes, self.rows.count)
            total = added((total, size), self.rows.count)
            most = branch.handed_over.get(key, size)
            branch.handed_over[key] = list(map(max, most, size))
        besides = (max(0, peak - more) for peak, more in zip(peaks, total, strict=True))
        branch.besides = list(map(max, branch.besides, besides))


NODES = 400_000
"""The default limit of the search for the order of a block."""


@dataclass(eq=False)
class Orders:
    """New orders of the blocks of a body."""

    of: Mapping[Block, Sequence[Operation]]
    least: Row | None
    """The peaks, if it is known that no orders have lower ones."""


def orders_of(classes: AliasClasses, rows: Rows, nodes: int) -> Orders:
    """Find orders of the blocks of a body that keep few bytes live."""
    bytes, blocks = steps_of(classes)
    orders = BlockOrders(bytes, rows, nodes)
    schedules = [orders.plan(steps) for steps in blocks]
    body = schedules[-1]
    is_optimal = body is not None and body.is_optimal and orders.is_exact and not orders.branches
    return Orders(orders.reordered, list(body.bounds) if body is not None and is_optimal else None)


def end_of(block: Block) -> Operation | None:
    """Return the terminator of `block`."""
    last = block.last_op
    is_end = last is not None and last.has_trait(IsTerminator, value_if_unregistered=False)
    return last if is_end else None


def reorder(orders: Mapping[Block, Sequence[Operation]]) -> None:
    """Put the ops of blocks in these orders, before their terminators."""

    def move(op: Operation, rewriter: PatternRewriter) -> None:
        assert op.parent is not None, "an op of a block"
        end = end_of(op.parent)
        if op is not end:
            at = InsertPoint.at_end(op.parent) if end is None else InsertPoint.before(end)
            op.detach()
            rewriter.insert(op, at)

    rewrite_each([op for ops in orders.values() for op in ops], move)


def described(rows: Rows, before: Row, after: Row) -> str:
    """Return what became of the peak of each device."""
    parts: list[str] = []
    for i, device in enumerate(rows.devices):
        of_device = slice(i * rows.samples, (i + 1) * rows.samples)
        pairs = list(zip(before[of_device], after[of_device], strict=True))
        where = "" if device is None or len(rows.devices) == 1 else f" on {device.spec}"
        if rows.samples == 1:
            was, now = pairs[0]
            change = f"from {was} to {now} bytes" if now < was else f"stays {was} bytes"
        else:
            ratios = [now / was for was, now in pairs if was] or [1.0]
            change = f"to {min(ratios):.3f} - {max(ratios):.3f} of what it was at sample sizes"
        parts.append(f"{change}{where}")
    return ", ".join(parts)


@dataclass(frozen=True)
class ReorderForMemoryPass(LevelPass):
    """Reorder ops so that fewer bytes are live at the worst moment."""

    name = "reorder-for-memory"
    accepts = "manifest"

    nodes: int = NODES
    """The limit of the search for the order of each block, in costs computed."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.nodes < 1:
            raise OptionError(f"nodes must be at least 1, but is {self.nodes}", "nodes")
        sizes: Sizes | None = None
        for classes in bodies_of(op, separate=False):
            storages = storages_in(classes)
            if not storages:
                continue
            if sizes is None:
                sizes = Sizes()
                if any(storage.dynamic_size is not None for storage in storages):
                    sizes.read(op)
            self.lower_peak(ctx, classes, rows_of(storages, sizes))

    def lower_peak(self, ctx: Context, classes: AliasClasses, rows: Rows) -> None:
        """Reorder a body, unless that does not lower a peak or raises one."""
        before = after = peaks_of(classes, rows)
        orders = orders_of(classes, rows, self.nodes)
        if orders.of:
            given = {block: list(block.ops) for block in orders.of}
            reorder(orders.of)
            after = peaks_of(classes.read_again(), rows)
            if after == before or any(a > b for a, b in zip(after, before, strict=True)):
                reorder(given)
                after = before
        body = classes.block.parent_op()
        assert body is not None, "a body in a module"
        least = ", the least of any order" if after == orders.least else ""
        emit_remark(ctx, body, f"peak of live bytes: {described(rows, before, after)}{least}")
