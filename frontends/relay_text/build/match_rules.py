"""Data types: constructors and `match`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, TupleType, UnitAttr
from xdsl.ir import Attribute, Block, Region, SSAValue

from ....dialects import relay
from ....dialects.relay.language.exhaustiveness import missing_cases
from ....dialects.relay.language.language_types import replaced_in
from ....dialects.type_algebra import tuple_of
from ..errors import SourceMap, nearest
from ..text import syntax as ast
from .build_context import Context
from .constraints import Requirement
from .function_rules import add_params, branch, require_args


def instance(context: Context, name: str) -> tuple[relay.AdtType, list[Attribute]]:
    """Return the type that a constructor makes at fresh type arguments, and its field types."""
    definition, _ = context.program.constructors[name]
    args = [context.types.fresh() for _ in definition.params]
    type = relay.AdtType(definition.sym_name.data, args)
    return type, definition.field_types(name, args)


def construct(context: Context, name: str, args: Sequence[SSAValue], call: ast.Call) -> SSAValue:
    """Build a value of constructor `name` from `args`."""
    type, fields = instance(context, name)
    require_args(context, fields, args, call, name)
    for arg, field in zip(args, fields, strict=True):
        context.constrain(Requirement(field, arg.type, "", context.source_map, 0, common=field))
    return context.value(relay.ConstructOp(type, name, args), call.offset)


def match(context: Context, expr: ast.Match) -> SSAValue:
    """Build a `match`, all of whose cases have one type."""
    data = context.emit(expr.data)
    result: Attribute | None = None
    patterns: list[Attribute] = []
    regions: list[Region] = []
    for case in expr.cases:
        variables: list[tuple[ast.Local, Attribute]] = []
        patterns.append(_pattern(context, case.pattern, data.type, variables))
        block = Block()
        add_params(context, block, [v for v, _ in variables], [type for _, type in variables])
        value = branch(context, case.body, block)
        text = "the result of this case must be of type <wanted>, but is of type <given>"
        at = case.body.result.offset
        result = context.common(result, value.type, text, at, 1) if result else value.type
        regions.append(Region(block))
    op = relay.MatchOp.create(
        operands=[data],
        properties={
            "patterns": ArrayAttr(patterns),
            **({} if expr.complete else {"partial": UnitAttr()}),
        },
        result_types=[result or context.types.fresh()],
        regions=regions,
    )
    assert isinstance(op, relay.MatchOp)
    context.completions.append((_complete, op, (context.source_map, expr.offset)))
    return context.value(op, expr.offset)


def _complete(context: Context, op: relay.MatchOp, source_map: SourceMap, at: int) -> None:
    """Complete the types of pattern variables and check that all cases are covered."""
    op.patterns = ArrayAttr([replaced_in(p, context.types.resolved) for p in op.patterns])
    if op.partial is not None:
        return
    missing = missing_cases(op.patterns.data, op.data.type, context.program.types.get)
    if missing is not None:
        what = f"does not cover {missing}" if op.patterns else "has no case"
        message = f"this match {what}; add what is missing, or write match?"
        raise source_map.error(message, at, len("match"))


def _pattern(
    context: Context,
    pattern: ast.Pattern,
    type: Attribute,
    variables: list[tuple[ast.Local, Attribute]],
) -> Attribute:
    """Convert a pattern for values of `type`; append its typed variables to `variables`."""
    match pattern:
        case ast.Wildcard():
            return relay.WildcardPattern()
        case ast.Variable(at, local):
            if local.type is not None:
                annotation = context.annotation(local.type)
                context.require(type, annotation, f"%{local.name}", at)
            variables.append((local, type))
            return relay.VarPattern(type)
        case ast.Fields(at, parts):
            if isinstance(type, TupleType) and len(type.types) == len(parts):
                types: Sequence[Attribute] = type.types.data
            else:
                types = [context.types.fresh() for _ in parts]
                context.require(type, tuple_of(types), "the matched value", at)
            fields = [_pattern(context, p, t, variables) for p, t in zip(parts, types, strict=True)]
            return relay.TuplePattern(fields)
        case ast.Constructed(at, name, parts):
            return _constructed(context, at, name, parts, type, variables)


def _constructed(
    context: Context,
    at: int,
    name: str,
    parts: Sequence[ast.Pattern] | None,
    type: Attribute,
    variables: list[tuple[ast.Local, Attribute]],
) -> Attribute:
    if name not in context.program.constructors:
        hint = nearest(name, context.program.constructors)
        raise context.error(f"unknown constructor {name}{hint}", at, len(name))
    wanted, types = instance(context, name)
    text = f"{name} makes values of type <wanted>, but the matched value is of type <given>"
    context.constrain(Requirement(wanted, type, text, context.source_map, at, len(name)))
    if parts is not None and len(parts) != len(types):
        raise context.error(
            f"{name} has {len(types)} fields, but the pattern has {len(parts)}", at, len(name)
        )
    if parts is None:
        fields: list[Attribute] = [relay.WildcardPattern() for _ in types]
    else:
        fields = [_pattern(context, p, t, variables) for p, t in zip(parts, types, strict=True)]
    return relay.ConstructorPattern(wanted.adt, name, fields)
