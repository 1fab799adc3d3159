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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsTerminator

from .bytes.aliases import AliasClasses, bodies_of
from .bytes.block_orders import BlockOrders
from .bytes.live_bytes import Row, Rows, peaks_of, rows_of, storages_in
from .bytes.steps import steps_of
from .sizes.reader import Sizes
from .support.diagnostics import OptionError, emit_remark
from .support.levels import Level
from .support.rewriting import rewrite_each

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
class ReorderForMemoryPass(ModulePass):
    """Reorder ops so that fewer bytes are live at the worst moment."""

    name = "reorder-for-memory"
    accepts: ClassVar[Level] = "manifest"

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
