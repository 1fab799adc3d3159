"""
Compute the offsets of ordered packs.

    %p = memory.pack ordered align 64 : !memory.pack
    %x = memory.slice %p [0, 2) %a                            %above = arith.addi %a, 63
    %y = memory.slice %p [1, 3) %b on (%x)               ->   %y = arith.andi %above, -64
    %total = memory.total %p                                  %total = arith.addi %y, %b

A slice starts at the highest end of the slices that it lies on, rounded up where a divisor of their
sizes does not make that needless. Of two or more orders, the smallest arena is taken at run time.
The size of a workspace is computed in the function and in its callers, which replaces
`memory.workspace_size`. A size that is negative, as it may be of an arm that is not taken, counts
as 0. Late: what follows cannot tell any more why no live bytes overlap. Level `memory-planned`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import memory
from ..dialects.xdsl_extras.walking import ops_of
from ..operators.orders import Layout
from ..operators.sizes.size_expressions import Expr
from .sizes.reader import Sizes
from .sizes.size_code import SizeCode
from .support.changes import ReportingPass
from .support.rewriting import apply_patterns, erase_unused
from .support.walk import outside_primitives
from .workspaces.replaced_packs import ListedCode, fold_constants, parts_of, replace_pack
from .workspaces.workspace_sizes import ComputeWorkspaceSize, Totals


def layout_of(packing: memory.Packing, sizes: Sizes, code: SizeCode) -> Layout[SSAValue]:
    """Compute the layout of an ordered pack."""
    orders = packing.orders
    assert orders is not None, "an ordered pack"
    expressions = [sizes.size_or(size) for size in packing.sizes]
    values: dict[Expr, int | SSAValue] = {}  # equal sizes are one, so that none is compared twice
    for size, expression in zip(packing.sizes, expressions, strict=True):
        if expression not in values:
            is_natural = expression.is_natural
            values[expression] = size if is_natural else code.apply("max", size, 0)
    natural = [values[expression] for expression in expressions]
    return orders.layout(natural, code.apply, [expression.divisor for expression in expressions])


@dataclass(frozen=True)
class ExpandPack(RewritePattern):
    """Replace an ordered pack by the arithmetic of its order."""

    sizes: Sizes
    totals: Totals
    made: list[Operation] = field(default_factory=lambda: [])
    """The ops that compute sizes of workspaces, which their functions need not use."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memory.PackOp, rewriter: PatternRewriter, /) -> None:
        if op.orders is None:
            return
        packing, code = memory.Packing(op), ListedCode()
        layout = layout_of(packing, self.sizes, code)
        if op.workspace is not None:
            self.made.extend(code.ops)
        replace_pack(packing, layout, code, self.totals, rewriter)


class ExpandPacksPass(ReportingPass):
    name = "expand-packs"
    accepts = "memory-planned"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        totals, changed = Totals({}), False
        expand = ExpandPack(Sizes(), totals)
        for part in parts_of(op, totals):
            inside = [*outside_primitives(part)]
            asked = ops_of(inside, memory.WorkspaceSizeOp)
            packs = [pack for pack in ops_of(inside, memory.PackOp) if pack.orders is not None]
            if asked:
                changed |= apply_patterns(op, ComputeWorkspaceSize(totals), only=asked)
            if packs:
                expand.sizes.read(part)
                changed |= apply_patterns(op, expand, only=packs)
        erase_unused(expand.made)
        return fold_constants(op) or changed
