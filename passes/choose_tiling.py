"""
Choose the chains of operators to compute in stripes of rows, and note it on the ops.

    %a = relay.nn.conv2d %x, %w {padding …}
    %y = relay.nn.max_pool2d %a {pool_size …}
      ->
    %a = relay.nn.conv2d %x, %w {padding …, relay.stripes = {chain = 0, step = 0, carried}}
    %y = relay.nn.max_pool2d %a {pool_size …,
                                 relay.stripes = {chain = 0, step = 1, axis = 2, height = "4"}}

Nothing else changes, except that `relay.tiling` on the function records the choice for reports and
pictures of memory: `tile-for-memory` computes the chains in stripes. A step becomes one kernel. The
attribute of the last step says along which axis of its result the rows are, how many of them a
stripe has, which may be a fraction, and which stripes are `joined` with the next one: those at both
ends, where fewer steps run, as far as the peak allows. The rows of a step that two stripes need are
`carried` from one to the next; without that, they are computed again. Of stripes that are parts of
a row, the `early` steps, the first ones, run for all parts before the others do, if the chain of
the least peak needs fewer bytes so: what the others hold of some parts is not live while early
steps run.

The chains are those of the least peak of live bytes with at most `work` times the work of the whole
program, or of the least work that reaches `peak`; of these, those that read the fewest bytes of
weights again and copy the fewest bytes of halos. Work is multiplications in sums of products, and
elements of all other results. A peak that cannot be reached is an error; with `refuse=false`, no
chain is chosen, and `relay.least_peak` of the function says for `check-peak` what is reached.
A chain has at most `code` calls of kernels a step, those of a loop once. One that would have more,
or more than three, is a `loop` alone, as is one of open height, if that needs no more bytes: its
turns begin above the image and end below it. The rows that they compute in vain there are up to 2 %
of the work of the whole besides `work`, and are reported.

Values that `view-slices`, `reuse-in-place` and `join-tensors` are sure to place in the bytes of
others count once; they are in the same chain as these, or in none (`tiling.placed_values`).

Chains of an open height are chosen at 512 rows, or the greatest height that its bounds allow; other
dims of their images may be open, too. A `peak` holds up to 2,048 rows, or that height: memory
outside of chains grows with the rows, so the numbers reported are those of the greatest height.

Before `fuse-ops`, whose groups are the steps. From level `relay` to the same.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from .support.changes import LevelPass
from .support.diagnostics import emit_remark
from .tiling.chosen_tiling import FunctionTiling, TilingOptions
from .tiling.stripe_attributes import LEAST, STRIPES, TILING, Stripes, TilingRecord


def write(tiling: FunctionTiling) -> None:
    """Note the chains on the ops of their steps."""
    net, groups, axes = tiling.net, tiling.groups, tiling.axes
    for chain, (this, *_) in enumerate(tiling.choice.chains):
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
                this.joined if is_last else frozenset(),
                at < this.early,
                is_last and this.is_loop,
            )
            for op in groups[at]:
                tiling.original(op).attributes[STRIPES] = stripes.attribute

    live, chains = tiling.net.loads(), [tiling.described(edge) for edge in tiling.choice.chains]
    if chains:
        tiling.function.attributes[TILING] = TilingRecord(live, chains).attribute
    if tiling.least is not None:
        tiling.function.attributes[LEAST] = tiling.least.attribute


def counted(count: int, what: str) -> str:
    """Return a count with its noun: `1 chain`, `2 chains`."""
    return f"{count} {what}{'s' * (count != 1)}"


@dataclass(frozen=True)
class ChooseTilingPass(TilingOptions, LevelPass):
    name = "choose-tiling"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for tiling in self.tilings(op):
            write(tiling)
            before, choice = max(tiling.net.loads(), default=0), tiling.choice
            unknown = f", without {counted(len(tiling.open), 'result')} of open dims"
            untried = (
                f"; not all chains were tried that end at {counted(len(tiling.net.cut), 'step')}"
            )
            emit_remark(
                ctx,
                tiling.function,
                f"peak of live bytes from {before} to {choice.peak}, "
                f"work {tiling.percent(choice.extra)}, {counted(len(choice.chains), 'chain')}"
                f"{tiling.place}"
                f"{unknown if tiling.open else ''}{untried if tiling.net.cut else ''}",
            )
