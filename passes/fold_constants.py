"""
Compute operators whose operands are all constants.

    %a = relay.constant dense<1.0> : tensor<2xf32>
    %b = relay.nn.relu %a : (tensor<2xf32>) -> tensor<2xf32>
    ->
    %b = relay.constant dense<1.0> : tensor<2xf32>

Only results small enough for the text (1 KiB) are computed; a `relay.param` is never read. An
operator of more than `max-work` is left for run time, as is one with effects, and one whose value
another operator reads and would reject: that operator may never run. Primitives stay as they are.
A branch on a constant is replaced by the branch taken, a projection of a tuple by the field.
Constants and tuples that this leaves unused are removed. (TVM: FoldConstant.) Level: `relay`.
"""

from dataclasses import dataclass
from functools import cached_property
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Use
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.utils.exceptions import VerifyException

from ..dialects import relay
from ..dialects.device import device_of
from ..dialects.interfaces import Fusible, has_effects
from ..dialects.relay.constants import fits_inline
from ..dialects.tensors import as_tensor, tensor_of
from ..dialects.type_rules import data_operands
from ..dialects.xdsl_extras.walking import ops_of, walk
from ..dialects.xdsl_extras.xdsl_internals import operands_of
from ..runtime.kernels.loading import load_kernels
from .analysis.arrays import Array, array_of, dense_of, numpy_dtype
from .evaluation.kernel_calls import OperatorEvaluator
from .support.changes import ReportingPass
from .support.diagnostics import OptionError
from .support.rewriting import apply_patterns, erase_unused, op_trait_rewrite_pattern


def is_on_constants(op: Operation) -> bool:
    """Test whether `op` has operands, all of them constants."""
    operands = operands_of(op)
    for operand in operands:
        if type(operand.owner) is not relay.ConstantOp:
            return False
    return bool(operands)


def constant_operands(op: Operation) -> list[Array] | None:
    """Return the values of `op`'s operands; None unless all are constants that NumPy can hold."""
    arrays: list[Array] = []
    for operand in op.operands:
        owner = operand.owner
        array = array_of(owner.value) if isinstance(owner, relay.ConstantOp) else None
        if array is None:
            return None
        arrays.append(array)
    return arrays


def computable(op: Operation) -> bool:
    """Test whether every result is a small tensor that NumPy can hold."""
    types = [as_tensor(result.type) for result in op.results]
    return all(t is not None and fits_inline(t) and numpy_dtype(t) is not None for t in types)


def work(op: Operation) -> int:
    """
    Return a bound on the steps of `op`: its results' elements times its operands', as if each of
    the former were computed from all of the latter. All shapes are static.
    """
    results, operands = (
        sum(prod(type.get_shape()) for value in values if (type := as_tensor(value.type)))
        for values in (op.results, op.operands)
    )
    return results * operands


def is_rejected(constant: relay.ConstantOp, use: Use) -> bool:
    """Test whether the op of `use` reads the value's elements and rejects those of `constant`."""
    op = use.operation
    if use.index not in data_operands(op):
        return False
    operands = list(op.operands)
    operands[use.index] = constant.result
    trial = type(op).create(
        operands=operands,
        result_types=[result.type for result in op.results],
        properties=op.properties,
    )
    try:
        trial.verify(verify_nested_ops=False)
    except VerifyException:
        return True
    finally:
        trial.drop_all_references()
    return False


@dataclass(frozen=True)
class FoldOperator(RewritePattern):
    """Replace an operator on constants by its results, if it takes at most `max_work`."""

    max_work: int

    @cached_property
    def operators(self) -> OperatorEvaluator:
        """Created, and kernels loaded, when the first operator folds."""
        return OperatorEvaluator(load_kernels())

    @op_trait_rewrite_pattern(Fusible)
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not is_on_constants(op) or not computable(op) or has_effects(op):
            return
        if isinstance(op.parent_op(), relay.PrimitiveOp | relay.PrimFuncOp):
            return
        args = constant_operands(op)
        if args is None or work(op) > self.max_work or not self.operators.has_kernel(op):
            return
        constants: list[relay.ConstantOp] = []
        arrays = self.operators.apply(op, args)
        for result, array in zip(op.results, arrays, strict=True):
            type = tensor_of(result)
            constants.append(relay.ConstantOp(dense_of(array, type), device_of(type)))
            if any(is_rejected(constants[-1], use) for use in result.uses):
                return
        rewriter.replace(op, constants, [c.result for c in constants])


@dataclass(frozen=True)
class FoldConstantsPass(ReportingPass):
    name = "fold-constants"
    accepts = "relay"

    max_work: int = 2**24
    """The maximum of an operator's result elements times its operand elements."""

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        if self.max_work < 0:
            raise OptionError(f"max-work must be at least 0, but is {self.max_work}", "max-work")
        # In program order, so that a chain of operators folds in one walk; the next round walks
        # the branches that were inlined.
        fold = FoldOperator(self.max_work), *relay.TupleGetItemOp.get_canonicalization_patterns()
        branches = relay.IfOp.get_canonicalization_patterns()
        changed = apply_patterns(op, *fold, *branches)
        while apply_patterns(op, *branches):
            apply_patterns(op, *fold)
        return erase_unused(ops_of(walk(op), relay.ConstantOp)) or changed
