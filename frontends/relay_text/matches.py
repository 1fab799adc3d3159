"""Data types: constructors and `match`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, TupleType, UnitAttr
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects.relay.adt import ConstructOp
from ...dialects.relay.exhaustiveness import missing_cases
from ...dialects.relay.language_types import AdtType, substituted
from ...dialects.relay.matching import MatchOp
from ...dialects.relay.patterns import (
    ConstructorPattern,
    TuplePattern,
    VarPattern,
    WildcardPattern,
)
from . import syntax as ast
from .errors import Places, nearest
from .functions import add_params
from .program import Made
from .writer import Value

if TYPE_CHECKING:
    from .emit import Emitter


def _instance(emitter: Emitter, made: Made) -> tuple[AdtType, list[Attribute]]:
    """The type that a constructor makes, at fresh arguments, and the types of its fields."""
    args = {p: emitter.solver.fresh() for p in made.of.definition.params}
    type = substituted(made.of.type(), args)
    assert isinstance(type, AdtType)
    return type, [substituted(f, args) for f in made.fields]


def construct(emitter: Emitter, name: str, args: Sequence[SSAValue], call: ast.Call) -> SSAValue:
    """The value that constructor `name` makes of `args`."""
    made = emitter.program.constructors[name]
    type, fields = _instance(emitter, made)
    if len(args) != len(fields):
        raise emitter.error(
            f"{name} takes {len(fields)} arguments, but {len(args)} are given", call.at, len(name)
        )
    for i, (arg, field) in enumerate(zip(args, fields, strict=True)):
        at = call.args[i].at if i < len(call.args) else call.at
        emitter.require(arg.type, field, f"argument {i} of {name}", at)
    return emitter.value(ConstructOp(type, name, args), call.at)


def match(emitter: Emitter, expr: ast.Match) -> Value:
    """The value of a `match`; all its cases give one type."""
    data = emitter.emit_ssa(expr.data)
    result = emitter.solver.fresh()
    joined: Attribute | None = None
    patterns: list[Attribute] = []
    regions: list[Region] = []
    for case in expr.cases:
        variables: list[ast.Local] = []
        patterns.append(_pattern(emitter, case.pattern, data.type, variables))
        block = Block()
        types = [v.type for v in variables]
        add_params(emitter, block, variables, [t for t in types if t is not None])
        value = emitter.branch(case.region, case.body, block)
        emitter.require(value.type, result, "what this case gives", case.body.result.at)
        joined = value.type if joined is None else emitter.solver.join(joined, value.type)
        regions.append(Region(block))
    op = MatchOp.create(
        operands=[data],
        properties={
            "patterns": ArrayAttr(patterns),
            **({} if expr.complete else {"partial": UnitAttr()}),
        },
        result_types=[joined or result],
        regions=regions,
    )
    assert isinstance(op, MatchOp)
    places = emitter.places
    emitter.completions.append(lambda: _complete(emitter, op, places, expr.at))
    return emitter.value(op, expr.at)


def _complete(emitter: Emitter, op: MatchOp, places: Places, at: int) -> None:
    """All types are known: give the patterns' variables theirs, and look for missing cases."""
    op.patterns = ArrayAttr([_completed(emitter, p) for p in op.patterns])
    if op.partial is not None:
        return
    missing = missing_cases(op.patterns.data, op.data.type, emitter.program.type_op)
    if missing is not None:
        what = f"does not cover {missing}" if op.patterns else "has no case"
        message = f"this match {what}: add what is missing, or write match?"
        raise places.error(message, at, len("match"))


def _completed(emitter: Emitter, pattern: Attribute) -> Attribute:
    match pattern:
        case VarPattern():
            return VarPattern(emitter.solver.resolved(pattern.type))
        case ConstructorPattern():
            fields = [_completed(emitter, p) for p in pattern.fields]
            return ConstructorPattern(pattern.adt, pattern.constructor, fields)
        case TuplePattern():
            return TuplePattern([_completed(emitter, p) for p in pattern.fields])
        case _:
            return pattern


def _pattern(
    emitter: Emitter, pattern: ast.Pattern, type: Attribute, variables: list[ast.Local]
) -> Attribute:
    """A pattern for values of `type`; its variables, with their types, go to `variables`."""
    match pattern:
        case ast.Wildcard():
            return WildcardPattern()
        case ast.Variable(at, local):
            if local.type is not None:
                annotation = emitter.annotation(local.type)
                emitter.require(type, annotation, f"%{local.name}", at)
            local.type = type
            variables.append(local)
            return VarPattern(type)
        case ast.Fields(at, parts):
            known = emitter.solver.shallow(type)
            if isinstance(known, TupleType) and len(known.types) == len(parts):
                types: Sequence[Attribute] = known.types.data
            else:
                types = [emitter.solver.fresh() for _ in parts]
                emitter.require(type, TupleType(tuple(types)), "what is matched", at)  # pyright: ignore[reportArgumentType]
            fields = [_pattern(emitter, p, t, variables) for p, t in zip(parts, types, strict=True)]
            return TuplePattern(fields)
        case ast.Constructed(at, name, parts):
            return _constructed(emitter, at, name, parts, type, variables)


def _constructed(
    emitter: Emitter,
    at: int,
    name: str,
    parts: Sequence[ast.Pattern] | None,
    type: Attribute,
    variables: list[ast.Local],
) -> Attribute:
    made = emitter.program.constructors.get(name)
    if made is None:
        hint = nearest(name, emitter.program.constructors)
        raise emitter.error(f"there is no constructor {name}{hint}", at, len(name))
    wanted, types = _instance(emitter, made)
    if not emitter.solver.unify(type, wanted):
        raise emitter.error(
            f"{name} makes values of type {emitter.text(wanted)}, "
            f"but what is matched is of type {emitter.text(type)}",
            at,
            len(name),
        )
    if parts is not None and len(parts) != len(types):
        raise emitter.error(
            f"{name} has {len(types)} fields, but the pattern has {len(parts)}", at, len(name)
        )
    if parts is None:
        fields: list[Attribute] = [WildcardPattern() for _ in types]
    else:
        fields = [_pattern(emitter, p, t, variables) for p, t in zip(parts, types, strict=True)]
    return ConstructorPattern(wanted.adt, name, fields)
