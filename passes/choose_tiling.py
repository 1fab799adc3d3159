"""
Choose the chains of operators to compute in stripes of rows, and note it on the ops.

    %a = relay.nn.conv2d %x, %w {padding …}
    %y = relay.nn.max_pool2d %a {pool_size …}
      ->
    %a = relay.nn.conv2d %x, %w {padding …, relay.stripes = {chain = 0, step = 0, carried}}
    %y = relay.nn.max_pool2d %a {pool_size …,
                                 relay.stripes = {chain = 0, step = 1, axis = 2, height = "4"}}

Nothing else changes: `tile-for-memory` computes the chains in stripes. A step is what becomes one
kernel. The attribute of the last step says along which axis of its result the rows are, and how
many of them a stripe has, which may be a fraction. The rows of a step that two stripes need are
`carried` from one to the next; without that, they are computed again.

The chains are those of the least peak of live bytes with at most `work` times the work of the whole
program, or of the least work that reaches `peak`; of these, those that read the fewest bytes of
weights again and copy the fewest bytes of halos. A peak that cannot be reached is an error. Work
is multiplications in sums of products, and elements of all other results.

Before `fuse-ops`, whose groups are the steps. From level `relay` to the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from ..dialects.relay.operator import Operator
from ..planning.pool_text import parse_pool
from ..planning.stripes.chosen_chains import Choice, choose
from ..planning.stripes.network import Network
from .analysis.fusion import fusion_groups
from .support.diagnostics import PassError, emit_remark
from .support.levels import Level
from .tiling.step_network import Axes, Group, read_network
from .tiling.stripe_attributes import STRIPES, Stripes


def seed(axes: Axes, ops: Sequence[Operation]) -> None:
    """Let images have their rows along their height."""
    for op in ops:
        layout = op.properties.get("data_layout", op.properties.get("layout"))
        if isinstance(op, Operator) and "H" in (letters := str(layout).strip('"')):
            axes.of.setdefault(op.results[0], letters.index("H"))


def groups_of(block: Block) -> list[Group]:
    """Return the steps of a block: its future kernels, and its other ops with operands."""
    groups: list[Group] = [*fusion_groups(block, 256)]
    grouped = {op for group in groups for op in group}
    groups += [[op] for op in block.ops if op not in grouped and op.operands and op.results]
    order = {op: at for at, op in enumerate(block.ops)}
    return sorted(groups, key=lambda group: order[group[-1]])


def network_of(block: Block) -> tuple[Network, Sequence[Group], Axes]:
    """Return the steps of a block, and the axes of rows."""
    axes, ops = Axes(), [*block.ops]
    seed(axes, ops)
    axes.spread(ops)
    groups = groups_of(block)
    net, number = read_network(groups, axes, block.args)
    assert block.last_op is not None, "a block has a terminator"
    for operand in block.last_op.operands:
        if operand in number:
            value = net.values[number[operand]]
            value.stop, value.is_returned = len(net.steps), not value.is_lent
    return net, groups, axes


def write(choice: Choice, net: Network, groups: Sequence[Group], axes: Axes) -> None:
    """Note the chains of `choice` on the ops of their steps."""
    for chain, (this, *_) in enumerate(choice.chains):
        for at in range(this.first, this.last + 1):
            is_last = at == this.last
            result = groups[at][-1].results[0]
            result = groups[at][-1].operands[0] if net.steps[at].reduces else result
            stripes = Stripes(
                chain,
                at - this.first,
                net.steps[at].writes in this.carried,
                axes.of[result] if is_last else None,
                this.height if is_last else None,
            )
            for op in groups[at]:
                op.attributes[STRIPES] = stripes.attribute


@dataclass(frozen=True)
class ChooseTilingPass(ModulePass):
    """Choose the chains of operators to compute in stripes of rows, and note it on the ops."""

    name = "choose-tiling"
    accepts: ClassVar[Level] = "relay"

    work: float | None = None
    """
    The most work, as a ratio of that of the whole program; 1.0 by default, any with `peak` alone.
    """

    peak: str = ""
    """
    The most bytes that may be live, such as `256KiB`, with those of results, which have memory of
    their own; by default, the fewest possible.
    """

    copies: bool = True
    """Slices and concatenations of rows are copied, as where rows are not contiguous."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        try:
            peak = parse_pool(f"peak={self.peak}").capacity
        except ValueError:
            raise PassError(
                f"peak must be bytes, such as 256KiB, but is '{self.peak}'", op
            ) from None
        if self.work is not None and not self.work >= 0:
            raise PassError(f"work must be at least 0, but is {self.work}", op)
        work = 1.0 if self.work is None and peak is None else self.work
        for function in op.ops:
            if isinstance(function, func.FuncOp) and len(function.body.blocks) == 1:
                self.choose_in(ctx, function, work, peak)

    def choose_in(
        self, ctx: Context, function: func.FuncOp, work: float | None, peak: int | None
    ) -> None:
        net, groups, axes = network_of(function.body.block)
        net.copies = self.copies
        choice = choose(net, work, peak)
        if peak is not None and choice.peak > peak:
            by = "" if work is None else f" with {work} times the work"
            raise PassError(
                f"a peak of {peak} bytes is not reached{by}: the least is {choice.peak}", function
            )
        write(choice, net, groups, axes)
        extra = round(100 * choice.extra / max(net.work, 1), 1) + 0.0  # no negative zero
        before = max(net.loads(), default=0)
        emit_remark(
            ctx,
            function,
            f"peak of live bytes from {before} to {choice.peak}, work {extra:+.1f} %, "
            f"{len(choice.chains)} chains",
        )
