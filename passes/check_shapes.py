"""
Check the sizes that an operator requires, where they are known only at run time.

    %y = relay.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    ->
    %s = vm.shape_of %a : tensor<?xf32> -> tensor<1xi64>
    %n = tensor.extract %s[%i0] : tensor<1xi64>
    …
    relay.require broadcast %n, %m, "relay.add: …"
    %y = relay.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>

The checks are those of the operator's shape rule, which `create-shape-functions` puts into shape
functions: this pass is for levels that have none. That a dim is what the declared type says is
checked too. Level `relay`; the level stays.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from ..dialects.interfaces import Fusible
from ..dialects.tensors import has_dynamic
from ..dialects.type_rules import data_operands, rule_of
from ..operators.sizes import product
from .sizes.dynamic_results import HostCode
from .sizes.rule_reader import as_expr
from .support.changes import LevelPass
from .support.rewriting import apply_patterns


def is_open(op: Operation) -> bool:
    """Test whether the shapes of operands or results of `op` are known only at run time."""
    values = (*op.operands, *op.results)
    return bool(data_operands(op)) or any(has_dynamic(value.type) for value in values)


class CheckSizes(RewritePattern):
    """Put the checks of an operator's rule before it."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not op.has_trait(Fusible) or not is_open(op) or rule_of(op) is None:
            return
        code = HostCode(None)
        results = code.results(op)
        if data_operands(op):
            for tensor in results:
                for dim in tensor.dims:
                    code.write(as_expr(dim))  # a measure checks its own arguments
                code.write(as_expr(product(tensor.dims)))  # which must fit in 64 bits
        if code.ops:
            rewriter.insert(code.ops, InsertPoint.before(op))


class CheckShapesPass(LevelPass):
    """Check the sizes that operators require, where they are known only at run time."""

    name = "check-shapes"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, CheckSizes())
