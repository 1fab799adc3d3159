"""Parameters of a function that ops replace."""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, FunctionType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint


@dataclass(frozen=True)
class ReplaceParameters(RewritePattern):
    """Replace parameters of `function`, by their index, by the result of an op in its body."""

    function: FuncOp
    ops: Mapping[int, Operation]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FuncOp, rewriter: PatternRewriter, /) -> None:
        if op is not self.function:
            return
        inputs = op.function_type.inputs.data
        kept = [i for i in range(len(inputs)) if i not in self.ops]
        types = FunctionType.from_lists([inputs[i] for i in kept], op.function_type.outputs.data)
        rewriter.insert(list(self.ops.values()), InsertPoint.at_start(op.body.block))
        for i in sorted(self.ops, reverse=True):
            argument, result = op.args[i], self.ops[i].results[0]
            result.name_hint = argument.name_hint
            argument.replace_all_uses_with(result)
            op.body.block.erase_arg(argument)
        op.function_type = types
        if op.arg_attrs is not None:
            op.arg_attrs = ArrayAttr(op.arg_attrs.data[i] for i in kept)
        rewriter.notify_op_modified(op)
