"""Variables, graph bindings, literals, statements, choices and cells."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.ir import Region as IrRegion

from ....dialects import relay
from ....dialects.dense import scalar as scalar_constant
from ....dialects.device import tensor_type
from ....dialects.relay.constants import fits_inline
from ....dialects.relay.incomplete import is_incomplete
from ....dialects.tensors import as_tensor, dtype_name
from ....operators.element_types import NUMBER_TYPES
from ...conversion import ssa_name
from ..text import syntax as ast
from . import generic_rules
from .build_context import Context, Generic
from .deferred import has_dims, refine_dims, when_known
from .function_rules import branch, let_value

SCALAR_BOOL = tensor_type(i1, [])


def use(context: Context, use: ast.Use) -> SSAValue:
    return _instance(context, context.lookup(use), use.offset)


def node(context: Context, node: ast.Node) -> SSAValue:
    """Build a use of a graph binding."""
    return _instance(context, context.result_of(node.binding), node.offset)


def _instance(context: Context, value: SSAValue | Generic, at: int) -> SSAValue:
    return generic_rules.value(context, value, at) if isinstance(value, Generic) else value


def scalar(context: Context, scalar: ast.Scalar) -> SSAValue:
    """Build a literal; equal ones share their attribute."""
    key = (scalar.value, scalar.dtype, str(scalar.value).startswith("-"))
    constant = context.caches.get(key)
    if constant is None:
        constant = context.caches[key] = scalar_constant(scalar.value, scalar.dtype)
    assert constant is not None, f"literals are not of dtype {scalar.dtype}"
    return context.value(relay.ConstantOp(constant), scalar.offset)


def dense(context: Context, constant: ast.Dense) -> SSAValue:
    if context.separate and _belongs_in_file(constant.value.type):
        context.params.setdefault(constant.name, constant.value)
        return context.value(relay.ParamOp(constant.name, constant.value.type), constant.offset)
    return context.value(relay.ConstantOp(constant.value), constant.offset)


def _belongs_in_file(type: Attribute) -> bool:
    """
    Test whether constants of this type go to the side file; NumPy, which writes it, lacks bf16.
    """
    tensor = as_tensor(type)
    return (
        tensor is not None
        and not fits_inline(type)
        and dtype_name(tensor.element_type) in NUMBER_TYPES
    )


def statement(context: Context, statement: ast.Statement) -> SSAValue | Generic:
    """Build a statement, and bind its variable."""
    local = statement.local
    if local is None:
        return context.named(context.emit(statement.value))
    generic = generic_rules.let(context, statement)
    if generic is not None:
        context.values[local] = generic
        return generic
    annotation = None if local.type is None else context.annotation(local.type)
    value = let_value(context, local, statement.value, annotation)
    if annotation is not None:
        context.require(value.type, annotation, f"%{local.name}", local.offset)
        if is_incomplete(value.type) and has_dims(annotation) and not is_incomplete(annotation):
            value = context.named(when_known(context, _itself, local, [value], result=annotation))
        else:
            value = refine_dims(context, value, annotation, local.offset)
    if value.name_hint is None and value not in context.units:
        value.name_hint = ssa_name(local.name)
    context.values[local] = value
    return value


def _itself(context: Context, local: ast.Local, args: Sequence[SSAValue]) -> SSAValue:
    """Return the value of a variable, which then adopts the declared dims."""
    return args[0]


def if_(context: Context, expr: ast.If) -> SSAValue:
    condition = context.emit(expr.condition)
    context.require(condition.type, SCALAR_BOOL, "the condition", expr.condition.offset)
    then, other = Block(), Block()
    value = branch(context, expr.then, then)
    otherwise = branch(context, expr.other, other)
    text = (
        "both branches must have the same type, but the first is of type <wanted> and the second "
        "of <given>"
    )
    type = context.common(value.type, otherwise.type, text, expr.offset, 2)
    regions = [IrRegion(then), IrRegion(other)]
    return context.value(
        relay.IfOp.create(operands=[condition], result_types=[type], regions=regions), expr.offset
    )


def cell(context: Context, expr: ast.Cell) -> SSAValue:
    """Build the creation of a cell, or a read or a write of one."""
    ref = context.emit(expr.operands[0])
    if expr.word == "ref":
        return context.value(relay.RefCreateOp(ref), expr.offset)
    type = ref.type
    if not isinstance(type, relay.RefType):
        type = relay.RefType(context.types.fresh())
        context.require(ref.type, type, "this", expr.operands[0].offset)
    if expr.word == "ref_read":
        op = relay.RefReadOp.create(operands=[ref], result_types=[type.contents])
        return context.value(op, expr.offset)
    value = context.emit(expr.operands[1])
    context.require(value.type, type.contents, "the value written", expr.operands[1].offset)
    return context.value(relay.RefWriteOp(ref, value), expr.offset)
