"""
Report what `choose-tiling` with the same options chooses, and why; the program stays as it is.

    remark: 73728 bytes are live at most, 17408 in stripes
    func.func @main …
    note: the least, by the ratio of the work: 17408 with 1.0, 17408 with 1.15, 15360 with any
    note: the most are live here
      %b = relay.nn.max_pool2d %a …
    remark: 3 steps in 32 stripes of 1/2 rows: 17408 bytes live, not 73728; work +0.0 %, 0 bytes
            of weights read again, 243712 bytes of rows copied, 9 calls of kernels
      %y = relay.nn.max_pool2d %b …
    note: the first step of the chain; the rows of 2 of 3 steps are carried

If a step outside of all chains has the peak, a note names it. At a step of open dims, a remark says
what keeps it out of chains. `relay` level, before `fuse-ops`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..planning.stripes.chosen_chains import Edge, choose
from .support.changes import InspectionPass
from .support.diagnostics import Place, emit_remark
from .tiling.chosen_tiling import FunctionTiling, TilingOptions

WORKS = (1.0, 1.15, None)
"""The work for which the least peak is reported, as ratios of that of the whole program; any."""


def explain_peaks(ctx: Context, tiling: FunctionTiling) -> None:
    """Report the most live bytes, before and after, where they are, and what else is reachable."""
    net, choice, loads = tiling.net, tiling.choice, tiling.net.loads()
    if not loads:
        return
    most = max(loads)
    unreachable = 1  # so the least peak is chosen, whatever it costs besides work
    least = ", ".join(f"{choose(net, w, unreachable).peak} with {w or 'any'}" for w in WORKS)
    notes: list[tuple[Place, str]] = [
        (tiling.function, f"the least, by the ratio of the work: {least}"),
        (tiling.groups[loads.index(most)][-1], "the most bytes are live here"),
    ]
    inside = {at for edge in choice.chains for at in range(edge.chain.first, edge.chain.last + 1)}
    rest = [at for at, load in enumerate(loads) if load == choice.peak and at not in inside]
    if rest and choice.chains:
        outside = "in stripes, the most are here, outside of all chains"
        notes.append((tiling.groups[rest[0]][-1], outside))
    text = f"{most} bytes are live at most, {choice.peak} in stripes"
    emit_remark(ctx, tiling.function, text, notes)


def explain_chain(ctx: Context, tiling: FunctionTiling, edge: Edge) -> None:
    """Report the stripes of a chain, what they save, and what they cost."""
    chain = edge.chain
    first, last = chain.first, chain.last
    notes: list[tuple[Place, str]] = [
        (
            tiling.groups[first][-1],
            f"the first step; the rows of {len(chain.carried)} of {last - first} are carried",
        )
    ]
    emit_remark(ctx, tiling.groups[last][-1], tiling.described(edge), notes)


@dataclass(frozen=True)
class ExplainTilingPass(TilingOptions, InspectionPass):
    """Report which chains of operators would be computed in stripes, why, and what they cost."""

    name = "explain-tiling"
    accepts = "relay"

    def inspect(self, ctx: Context, op: ModuleOp) -> None:
        for tiling in self.tilings(op):
            explain_peaks(ctx, tiling)
            for edge in tiling.choice.chains:
                explain_chain(ctx, tiling, edge)
            for step, reason in tiling.closed.items():
                if reason is not None:
                    emit_remark(ctx, step, f"this step is in no chain: {reason}")
