"""
Fill in result types from operand types.

    %y = relay.nn.relu %x : (tensor<4xf32>) -> !relay.incomplete
    ->
    %y = relay.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>

Types keep the devices that they carry. A declared type that contradicts the operands is an error
that names both, and so is a type that nothing determines. Function arguments must be complete,
with dims below 2^63; function results are inferred from what the function returns, calls from their
callee. A complete type of what a call passes stays: it is that of the parameter. Level: any with
`relay` operators; the level stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ..dialects import relay
from ..dialects.interfaces import InferTypes
from ..dialects.relay.incomplete import is_incomplete, refine
from ..dialects.relay.operator import infer_result_types, refined_result_types, stands_for_tuple
from ..dialects.tensors import as_tensor
from ..dialects.type_algebra import leaves
from ..dialects.type_rules import infers_from_types
from ..dialects.xdsl_extras.walking import walk
from ..dialects.xdsl_extras.xdsl_internals import operands_of
from ..operators.measures import MAX_SIZE
from .functions.calls import is_passed, recast
from .functions.signatures import set_types
from .functions.unify_types import unify_types, values_of
from .support.changes import ReportingPass
from .support.diagnostics import PassError
from .support.rewriting import apply_patterns, op_trait_rewrite_pattern


def agreed(declared: Attribute, found: Attribute, op: Operation, what: str) -> Attribute:
    """Fill `declared` in from `found`; an error at `op` if they contradict each other."""
    refined = refine(declared, found)
    if refined is None:
        raise PassError(f"{what} is {found}, but is declared as {declared}", op)
    return refined


def unknown_value(module: ModuleOp) -> SSAValue | None:
    """Return the first value, in program order, whose type is incomplete."""
    return next((value for value in values_of(module) if is_incomplete(value.type)), None)


def has_stale_call(module: ModuleOp, functions: dict[str, func.FuncOp]) -> bool:
    """Test whether a function's result types were filled in after one of its calls was visited."""
    for op in walk(module):
        if isinstance(op, func.CallOp):
            callee = functions.get(op.callee.string_value())
            if callee is not None and callee.function_type.outputs.data != tuple(op.result_types):
                return True
    return False


def pass_as(value: OpResult, type: Attribute, rewriter: PatternRewriter) -> None:
    """Let calls get `value`, which holds tensors, as one of `type`, which knows fewer dims."""
    if not any(isinstance(use.operation, func.CallOp) for use in value.uses):
        return
    ops = recast(value, type)
    if not ops:
        return
    rewriter.insert(ops, InsertPoint.after(value.op))
    rewriter.replace_uses_with_if(
        value, ops[-1].results[0], lambda use: isinstance(use.operation, func.CallOp)
    )


def expand_result(op: Operation, rewriter: PatternRewriter) -> None:
    """
    Give an operator the results that it has, where a tuple of unknown type stands for them.

    %t = relay.split %x : (T) -> !relay.incomplete
    ->
    %0, %1 = relay.split %x : (T) -> (U, U)
    %t = relay.tuple %0, %1 : (U, U) -> tuple<U, U>
    """
    types = infer_result_types(op)
    if types is None:
        return
    new = type(op).create(
        operands=op.operands, result_types=types, properties=op.properties, location=op.location
    )
    rewriter.replace(op, [new, relay.TupleOp(new.results)])


@dataclass(frozen=True)
class RefineResults(RewritePattern):
    """Fill in the result types of an op that has a type rule."""

    agreeing: dict[tuple[object, ...], object] = field(default_factory=lambda: {})
    """Op classes, properties and types, by identity, that agree; these are kept alive."""

    @op_trait_rewrite_pattern(InferTypes)
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        kind, properties = type(op), op.properties
        contents = [value.type for value in (*operands_of(op), *op.results)]
        contents += properties.values()
        key = (kind, len(op.results), *properties, *map(id, contents))
        if key in self.agreeing:
            return
        types = refined_result_types(op)
        if types is None and stands_for_tuple(op):
            expand_result(op, rewriter)
            return
        if types == list(op.result_types):
            if infers_from_types(kind):
                self.agreeing[key] = contents
            return
        for result, refined in zip(op.results, types or (), strict=False):
            if result.type == refined:
                continue
            if is_incomplete(result.type) or not is_passed(result):
                rewriter.replace_value_with_new_type(result, refined)


def check_sizes(value: SSAValue) -> None:
    """Raise an error if a dim of a tensor in the type of `value` is 2^63 or more."""
    for tensor in map(as_tensor, leaves(value.type)):
        for axis, dim in enumerate(() if tensor is None else tensor.get_shape()):
            if dim > MAX_SIZE:
                raise PassError(f"dim {axis} of {tensor} must be below 2^63, but is {dim}", value)


class RefineSignature(RewritePattern):
    """Fill in a function's result types from what it returns."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.FuncOp, rewriter: PatternRewriter, /) -> None:
        for block in op.body.blocks:
            for arg in block.args:
                check_sizes(arg)
            if isinstance(block.last_op, func.ReturnOp):
                self._refine(op, block.last_op, rewriter)

    @staticmethod
    def _refine(op: func.FuncOp, last: func.ReturnOp, rewriter: PatternRewriter) -> None:
        declared = op.function_type.outputs.data
        if len(declared) != len(last.operands):
            raise PassError(
                f"@{op.sym_name.data} returns {len(last.operands)} values, "
                f"but {len(declared)} are declared",
                last,
            )
        outputs = [
            t
            if is_incomplete(v.type)
            else agreed(t, v.type, last, f"result {i} of @{op.sym_name.data}")
            for i, (t, v) in enumerate(zip(declared, last.operands, strict=True))
        ]
        if tuple(outputs) != declared:
            set_types(op, outputs=outputs)
            rewriter.notify_op_modified(op)


@dataclass(frozen=True)
class RefineCall(RewritePattern):
    """Fill in the result types of a call from the function that it names."""

    functions: dict[str, func.FuncOp]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.CallOp, rewriter: PatternRewriter, /) -> None:
        callee = self.functions.get(op.callee.string_value())
        if callee is None:
            return
        outputs = callee.function_type.outputs.data
        for i, (result, type) in enumerate(zip(op.results, outputs, strict=False)):
            if is_incomplete(type):
                continue
            what = f"result {i} of @{callee.sym_name.data}"
            refined = agreed(result.type, type, op, what)
            if refined != result.type:
                declared = result.type
                rewriter.replace_value_with_new_type(result, refined)
                if not is_incomplete(declared):
                    pass_as(op.results[i], declared, rewriter)


@dataclass(frozen=True)
class RefineConstructed(RewritePattern):
    """Fill in the type arguments of a value of a data type from the fields it is made of."""

    definitions: dict[str, relay.TypeDataOp]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.ConstructOp, rewriter: PatternRewriter, /) -> None:
        type = op.result.type
        if not is_incomplete(type):
            return
        definition = self.definitions.get(type.adt.string_value())
        if definition is None:
            return
        completed = definition.completed(type, op.constructor.data, op.fields.types)
        if completed != type:
            rewriter.replace_value_with_new_type(op.result, completed)


def refine_types(module: ModuleOp, only: Sequence[Operation] | None = None) -> bool:
    """
    Complete and refine the types of a module, or of `only` some ops; return whether any changed.

    Raises an error where types contradict each other, or one is unknown.
    """
    functions = {f.sym_name.data: f for f in module.ops if isinstance(f, func.FuncOp)}
    definitions = {d.sym_name.data: d for d in module.ops if isinstance(d, relay.TypeDataOp)}
    patterns = (
        RefineResults(),
        RefineSignature(),
        RefineCall(functions),
        *([RefineConstructed(definitions)] if definitions else []),
    )
    # One walk is enough except for calls of functions further down.
    refined = changed = apply_patterns(module, *patterns, walk_regions_first=True, only=only)
    symbols = {**functions, **definitions}
    while (value := unknown_value(module)) is not None or (
        changed and has_stale_call(module, functions)
    ):
        changed = apply_patterns(module, *patterns, walk_regions_first=True, only=only)
        if not changed and not unify_types(module, symbols.get):
            break
        refined = True
    if value is not None:
        raise PassError("the type of this value cannot be inferred", value)
    return refined


class InferTypesPass(ReportingPass):
    """Fill in result types from operand types, and check those that are declared."""

    name = "infer-types"
    accepts = "every"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        return refine_types(op)
