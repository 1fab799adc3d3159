"""
Let recursive functions check the stack.

    func.func @f(%x: memref<4xf32>) {            func.func @f(%x: memref<4xf32>) {
      func.call @f(%x)                  ->         func.call @xrelay_enter()
                                                   func.call @f(%x)

`@xrelay_enter`, of the runtime, fails when the stack is nearly used up. After
`tail-calls-to-loops`: loops do not need it. Level `memref`, which stays.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ..passes.functions.symbols import CallGraph
from ..passes.support.changes import LevelPass
from ..passes.support.rewriting import apply_patterns
from .upstream_sizes.checked_functions import ENTER


@dataclass(frozen=True)
class EnterFunction(RewritePattern):
    """Check the stack at the start of a function."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.FuncOp, rewriter: PatternRewriter, /) -> None:
        rewriter.insert(func.CallOp(ENTER, [], []), InsertPoint.at_start(op.body.block))


class LimitRecursionPass(LevelPass):
    name = "limit-recursion"
    accepts = "memref"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        graph = CallGraph.of(op)
        recursive = graph.recursive()
        functions = [
            f for f in op.ops if isinstance(f, func.FuncOp) and f.sym_name.data in recursive
        ]
        apply_patterns(op, EnterFunction(), only=functions)
        if functions and ENTER not in graph.symbols:
            op.body.block.add_op(func.FuncOp.external(ENTER, [], []))
