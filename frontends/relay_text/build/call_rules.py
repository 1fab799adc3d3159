"""Calls of operators, constructors, global functions and closures; all of these as values."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, OpResult, Region, SSAValue
from xdsl.irdl import VarResultDef

from ....dialects import relay
from ....dialects.relay.language.annotations import ATTRS
from ....dialects.relay.opaque import is_operator_name
from ..errors import nearest
from ..text import syntax as ast
from ..text.type_grammar import HOLE
from ..tvm_operators import BY_NAME, is_variadic, operand_count, returns_tuple
from ..tvm_weights import WEIGHTS
from . import function_rules, generic_rules, match_rules
from .build_context import Context
from .deferred import when_known
from .operators.call_site import Site, call_operator, prepare
from .operators.calls_of_kernels import KERNEL_CALLS, call_of_scopes, kernel_call
from .operators.composite_operators import COMPOSITES, EAGER, composite
from .operators.opaque_calls import opaque_call


def call(context: Context, expr: ast.Call) -> SSAValue:
    """
    Build a call.

    Calls that are each other's first argument, as infix operators make them, cause no recursion.
    """
    spine = [expr]
    while True:
        first, name = next(iter(spine[-1].args), None), spine[-1].name
        if not isinstance(first, ast.Call) or not name or name in KERNEL_CALLS:
            break
        spine.append(first)
    value: SSAValue | None = None
    while spine:
        each = spine.pop()
        value = _call(context, each, value)
    assert value is not None
    return value


def _call(context: Context, expr: ast.Call, first: SSAValue | None) -> SSAValue:
    """Build a call; `first` is the value of its first argument, if already built."""
    if expr.name in KERNEL_CALLS:
        return kernel_call(context, expr)
    if expr.name:
        args = [context.emit(arg) for arg in (expr.args if first is None else expr.args[1:])]
        return call_name(context, expr, args if first is None else [first, *args])
    value = _call_function(context, expr.callee, expr)
    attrs = context.attributes(expr.attrs, expr.offset)
    if attrs is not None:
        assert isinstance(value, OpResult)
        value.op.attributes[ATTRS] = attrs
    return value


def call_name(context: Context, expr: ast.Call, args: Sequence[SSAValue]) -> SSAValue:
    """Build a call of an operator or a constructor."""
    name = expr.name
    if name in context.program.constructors:
        for attribute in expr.attrs:
            text = f"unexpected attribute {attribute}: a constructor has none"
            raise context.error(text, expr.offset)
        return match_rules.construct(context, name, args, expr)
    weight = WEIGHTS.get(name)
    if weight is not None and any(type(arg.type) is not TensorType for arg in args[1:]):
        context.weights.append((weight, args, expr.attrs))
    if name in EAGER:
        return EAGER[name](Site(context, expr, args))
    if name in COMPOSITES:
        return when_known(context, composite, expr, args)
    if name in BY_NAME:
        return call_operator(context, expr, args)
    if context.xdsl.allow_unregistered and is_operator_name(name):  # a saved module may have others
        return opaque_call(context, name, args, expr)
    raise _unknown_name(context, name, expr.offset)


def _call_function(context: Context, callee: ast.Expr, expr: ast.Call) -> SSAValue:
    if isinstance(callee, ast.Global):
        args = [context.emit(arg) for arg in expr.args]
        return function_rules.call_global(context, callee, args, expr)
    generic = generic_rules.named(context, callee)
    if generic is not None:
        return generic_rules.call(context, generic, expr)
    function = context.emit(callee)
    args = [context.emit(a) for a in expr.args]
    kernel = call_of_scopes(context, function, args, expr)
    return kernel or function_rules.call_value(context, function, args, expr)


# ------------------------------------------------------------- names as values


def operator_program(context: Context, expr: ast.Name) -> FuncOp:
    """
    Build the `@main` of a program that is one operator, whose operands are the parameters.

    Their types, and those of the results, remain to be inferred.
    """
    cls, properties, _ = prepare(context, expr.name, {}, expr.offset)
    definition = cls.get_irdl_definition()
    is_fixed = not any(isinstance(d, VarResultDef) for _, d in definition.results)
    if is_variadic(expr.name) or not is_fixed:
        raise _only_called(context, expr)
    block = Block()
    for name, _ in definition.operands:
        block.insert_arg(HOLE, len(block.args)).name_hint = name
    results = [HOLE] * len(definition.results)
    op = cls.create(operands=block.args, properties=properties, result_types=results)
    with context.writing(block):
        context.add(op, expr.offset)
        value = op.results[0]
        if returns_tuple(expr.name, len(results)):
            value = context.value(relay.TupleOp(op.results), expr.offset)
        context.add(ReturnOp(value), expr.offset)
    function = FuncOp("main", ([HOLE] * len(block.args), [value.type]), Region(block))
    function.location = context.source_map.location(expr.offset)
    return function


def _only_called(context: Context, expr: ast.Name) -> Exception:
    text = f"{expr.name} can only be called, not used as a value"
    return context.error(text, expr.offset, len(expr.name))


def _unknown_name(context: Context, name: str, at: int) -> Exception:
    """Return the error about a name that is neither an operator nor a constructor."""
    known = [*BY_NAME, *EAGER, *COMPOSITES, *KERNEL_CALLS, *context.program.constructors]
    text = f"unknown operator or constructor {name}{nearest(name, known)}"
    return context.error(text, at, len(name))


def name_value(context: Context, expr: ast.Name) -> SSAValue:
    """Build a constructor or an operator as a value: a closure around a call of it."""
    name = expr.name
    bare = ast.Call(expr.offset, expr, (), {}, expr.offset + len(name))
    is_constructor = name in context.program.constructors
    if is_constructor:
        count = len(match_rules.instance(context, name)[1])
        if not count:
            return match_rules.construct(context, name, [], bare)
    elif name in BY_NAME and not is_variadic(name):
        count = operand_count(name)
    else:
        if name in BY_NAME or name in EAGER or name in COMPOSITES or name in KERNEL_CALLS:
            raise _only_called(context, expr)
        raise _unknown_name(context, name, expr.offset)
    types = [context.types.fresh() for _ in range(count)]
    block = Block()
    for type in types:
        context.note(block.insert_arg(type, len(block.args)))
    with context.writing(block):
        if is_constructor:
            value = match_rules.construct(context, name, block.args, bare)
        else:
            value = call_operator(context, bare, list(block.args))
        context.add(relay.YieldOp(value), expr.offset)
    return context.value(relay.FnOp(types, value.type, Region(block)), expr.offset)
