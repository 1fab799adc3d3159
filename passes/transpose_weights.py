"""
Store the weights of products as their kernels read them: one row for each element of a sum.

    %w = relay.param "w" : tensor<8x4xf32>      %w = relay.param "w" : tensor<8x4xf32>
    %y = relay.nn.dense %x, %w             ->   %t = relay.transpose %w : … -> tensor<4x8xf32>
                                                %y = relay.nn.matmul %x, %t

A vector of units then gets the products with one element of `%x` from one row, which is contiguous.
Products with matrices that are not constant stay. `fold-constants` and `fold-weights` after it
compute the transposition. Level: `relay`.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, ModuleOp
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects.relay import matmul
from .support.changes import LevelPass
from .support.operator_steps import RearrangedWeights, is_weight, rank_of, transposed
from .support.rewriting import apply_patterns


@dataclass(frozen=True)
class TransposeWeightOfDense(RewritePattern):
    """Replace a dense layer by a product with its transposed weights."""

    transposed: RearrangedWeights

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matmul.DenseOp, rewriter: PatternRewriter, /) -> None:
        if (rank_of(op.data) or 0) < 2 or not is_weight(op.weight):
            return
        weight = self.transposed.of(op.weight, rewriter)
        rewriter.replace(op, matmul.MatmulOp.on([op.data, weight], op.properties))


@dataclass(frozen=True)
class TransposeWeightOfMatmul(RewritePattern):
    """Transpose the weights of a product beforehand."""

    transposed: RearrangedWeights

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matmul.MatmulOp, rewriter: PatternRewriter, /) -> None:
        if not op.transpose_b.value.data or not is_weight(op.b):
            return
        weight = self.transposed.of(op.b, rewriter)
        kept = {**op.properties, "transpose_b": BoolAttr.from_bool(False)}
        rewriter.replace(op, matmul.MatmulOp.on([op.a, weight], kept))


class TransposeWeightsPass(LevelPass):
    """Store the weights of products as their kernels read them."""

    name = "transpose-weights"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        weights = RearrangedWeights(lambda steps, matrix: steps.add(transposed(matrix, (1, 0))))
        apply_patterns(op, TransposeWeightOfDense(weights), TransposeWeightOfMatmul(weights))
