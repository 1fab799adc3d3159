"""
Store the weights of products as their kernels read them: one row for each element of a sum.

    %w = relay.param "w" : tensor<8x4xf32>      %w = relay.param "w" : tensor<8x4xf32>
    %y = relay.nn.dense %x, %w             ->   %t = relay.transpose %w : … -> tensor<4x8xf32>
                                                %y = relay.nn.matmul %x, %t

A vector of units then gets the products with one element of `%x` from one row, which is contiguous.
Products with other matrices than constant ones stay. The transposition is for `fold-constants` and
`fold-weights` after it. Level: `relay`.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ..dialects import relay
from ..dialects.relay import matmul, rearrange, reshape
from ..dialects.relay.properties import ints
from ..dialects.tensors import as_tensor
from .support.rewriting import apply_patterns


def rank_of(value: SSAValue) -> int | None:
    type = as_tensor(value.type)
    return None if type is None else type.get_num_dims()


def is_constant(value: SSAValue) -> bool:
    """Test whether `value` is a constant or a weight, maybe with its elements rearranged."""
    owner = value.owner
    while isinstance(owner, rearrange.TransposeOp | reshape.ReshapeOp) and len(owner.operands) == 1:
        owner = owner.operands[0].owner
    return isinstance(owner, relay.ConstantOp | relay.ParamOp)


@dataclass
class Transposed:
    """The weights that were transposed, each once."""

    made: dict[SSAValue, SSAValue]

    def of(self, weight: SSAValue, rewriter: PatternRewriter) -> SSAValue | None:
        """Return the transpose of the matrix `weight`, right after it; None if it is computed."""
        if weight not in self.made:
            if not is_constant(weight) or not isinstance(weight.owner, Operation):
                return None
            op = rearrange.TransposeOp.on([weight], {"axes": ints((1, 0))})
            op.result.name_hint = weight.name_hint
            rewriter.insert(op, InsertPoint.after(weight.owner))
            self.made[weight] = op.result
        return self.made[weight]


@dataclass(frozen=True)
class TransposeWeightOfDense(RewritePattern):
    """Replace a dense layer by a product with its transposed weights."""

    transposed: Transposed

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matmul.DenseOp, rewriter: PatternRewriter, /) -> None:
        weight = None if (rank_of(op.data) or 0) < 2 else self.transposed.of(op.weight, rewriter)
        if weight is None:
            return
        rewriter.replace(op, matmul.MatmulOp.on([op.data, weight], op.properties))


@dataclass(frozen=True)
class TransposeWeightOfMatmul(RewritePattern):
    """Transpose the weights of a product beforehand."""

    transposed: Transposed

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matmul.MatmulOp, rewriter: PatternRewriter, /) -> None:
        weight = self.transposed.of(op.b, rewriter) if op.transpose_b.value.data else None
        if weight is None:
            return
        kept = {**op.properties, "transpose_b": BoolAttr.from_bool(False)}
        rewriter.replace(op, matmul.MatmulOp.on([op.a, weight], kept))


@dataclass(frozen=True)
class TransposeWeightsPass(ModulePass):
    """Store the weights of products as their kernels read them."""

    name = "transpose-weights"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        transposed = Transposed({})
        apply_patterns(op, TransposeWeightOfDense(transposed), TransposeWeightOfMatmul(transposed))
