"""
Compute operators on weights when the weights are read, not when the program runs.

    %w = relay.param "w" : tensor<8x3x3x3xf32>
    %t = relay.transpose %w {axes = array<i64: 2, 3, 1, 0>}
      ->
    %t = relay.param "=relay.transpose('w', axes=(2, 3, 1, 0))" : tensor<3x3x3x8xf32>

The name is a formula, which whoever reads the weights evaluates (`runtime.derived_weights`): the
machine when a program is loaded, a target when it writes weights. So no pass reads or copies data,
and a chain of operators becomes one formula. Folded are operators that are at most injective
(reshapes, transpositions, casts, arithmetic …), as their work is linear in their operands; whose
operands are weights, at least one, and constants in the text; and whose result is not much larger
than these. A formula has at most 4,096 characters. Weights that this leaves unused are removed.
After `fold-constants`, before device planning. Level: `relay`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.utils.exceptions import VerifyException

from ..dialects import relay
from ..dialects.attributes import plain_values
from ..dialects.interfaces import Fusible, FusionKind, kernel_attributes, kernel_name
from ..dialects.tensors import as_tensor, is_static
from ..dialects.type_rules import data_operands
from ..operators.rules import RULES
from ..runtime.derived_weights import MAX_EXTRA, MAX_FORMULA, MAX_GROWTH, formula_of
from ..runtime.kernels.loading import load_kernels
from .analysis.arrays import Array, array_of, numpy_dtype
from .support.rewriting import apply_patterns


def operands_of(op: Operation) -> list[str | Array] | None:
    """Return the weights, by name, and constants that `op` reads; None if it reads others."""
    found: list[str | Array] = []
    for operand in op.operands:
        owner = operand.owner
        if isinstance(owner, relay.ParamOp):
            found.append(owner.param.data)
            continue
        array = array_of(owner.value) if isinstance(owner, relay.ConstantOp) else None
        if array is None:
            return None
        found.append(array)
    return found if any(isinstance(one, str) for one in found) else None


def size_of(types: Sequence[Attribute]) -> int | None:
    """Return the bytes of tensors of these types; None unless all are static, and NumPy's."""
    total = 0
    for type in types:
        tensor = as_tensor(type)
        dtype = None if tensor is None else numpy_dtype(tensor)
        if tensor is None or dtype is None or not is_static(tensor):
            return None
        count = 1
        for dim in tensor.get_shape():
            count *= dim
        total += count * dtype.itemsize
    return total


@dataclass(frozen=True)
class FoldOperator(RewritePattern):
    """Replace an operator on weights by the weight that it computes."""

    @cached_property
    def kernels(self) -> frozenset[str]:
        return frozenset(load_kernels())

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        fusible = op.get_trait(Fusible)
        if fusible is None or fusible.kind > FusionKind.INJECTIVE or len(op.results) != 1:
            return
        if isinstance(op.parent_op(), relay.PrimitiveOp | relay.PrimFuncOp) or data_operands(op):
            return
        operands, name = operands_of(op), kernel_name(op)
        if operands is None or name not in RULES or name not in self.kernels:
            return
        before, after = (size_of([v.type for v in values]) for values in (op.operands, op.results))
        if before is None or after is None or after > MAX_GROWTH * before + MAX_EXTRA:
            return
        try:
            formula = formula_of(name, operands, plain_values(kernel_attributes(op), name))
        except VerifyException:
            return
        if len(formula) > MAX_FORMULA:
            return
        weight = relay.ParamOp(formula, op.results[0].type)
        weight.result.name_hint = op.results[0].name_hint
        rewriter.replace(op, weight)


class RemoveUnusedWeight(RewritePattern):
    """Remove a weight or constant that nothing uses."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: relay.ParamOp | relay.ConstantOp, rewriter: PatternRewriter, /
    ) -> None:
        if not op.result.uses:
            rewriter.erase(op)


@dataclass(frozen=True)
class FoldWeightsPass(ModulePass):
    """Compute operators on weights when the weights are read."""

    name = "fold-weights"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if apply_patterns(op, FoldOperator()):
            apply_patterns(op, RemoveUnusedWeight())
