"""
Turn the captures of lifted generic closures (`generics.py`) into parameters.

    def @main_pair[A](%x: A) { (%x, %y) }           def @main_pair[A](%x: A, %y: int32) { (%x, %y) }
    def @main(%y: int32) {                    ->    def @main(%y: int32) {
      @main_pair(1)                                   @main_pair(1, %y)

A function captures the values that its body uses but does not define, and those that its callees
capture, unless its body defines them: the least fixed point. Likewise it keeps only those type
parameters of the enclosing functions that its body or its callees need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress

from xdsl.dialects.builtin import ArrayAttr, FunctionType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ....dialects import relay
from ....dialects.xdsl_extras.walking import walk
from ....passes.functions.captures import type_variables
from ..build.definitions_of_program import Generic
from ..errors import RelayTextError
from ..text.syntax import Local

MAX_ADDED_ARGUMENTS = 100_000
"""Maximum number of arguments added to the calls of a program (a few seconds' work)."""


@dataclass(eq=False, repr=False)
class _Body:
    """The definitions, captures and calls of a function's body."""

    generic: Generic
    defined: set[SSAValue]
    captured: dict[SSAValue, None]
    """In order of first use."""
    params: set[str]
    """The type parameters in its types."""
    called: list[_Body] = field(default_factory=list["_Body"])


def pass_captures(generics: Mapping[str, Generic]) -> None:
    """
    Add a parameter for each capture, and pass the captures at every use; all types are known.

    `generics` are the functions by their names in the IR.
    """
    bodies = [_body(generic, generics) for generic in generics.values()]
    by_use: dict[Operation, _Body] = {use: body for body in bodies for use in body.generic.uses}
    for body in bodies:
        ops = walk(body.generic.signature.block)
        body.called = list(dict.fromkeys(by_use[op] for op in ops if op in by_use))
    _propagate_captures(bodies)
    for body in bodies:
        _drop_unused_params(body)
        for use in body.generic.uses if body.captured else ():
            _pass_captures(use, body.captured, body.generic)
    for body in bodies:
        if body.captured:
            _add_parameters(body)


def _body(generic: Generic, generics: Mapping[str, Generic]) -> _Body:
    block = generic.signature.block
    defined: set[SSAValue] = set(block.args)
    used: dict[SSAValue, None] = {}
    types: list[Attribute] = []
    for op in walk(block):
        used.update(dict.fromkeys(op.operands))
        defined.update(op.results)
        for region in op.regions:
            for inner in region.blocks:
                defined.update(inner.args)
        if isinstance(op, relay.InvokeOp | relay.GlobalOp):
            callee = generics.get(op.callee.string_value())
            types += op.type_args.data[: None if callee is None else len(callee.own)]
    types += [value.type for value in (*defined, *used)]
    params = {name for type in types for name in type_variables(type)}
    return _Body(generic, defined, {v: None for v in used if v not in defined}, params)


def _propagate_captures(bodies: Sequence[_Body]) -> None:
    """Propagate captures and type parameters from callees to callers up to a fixed point."""
    changed = True
    while changed:
        changed = False
        if (
            sum(len(body.captured) * len(body.generic.uses) for body in bodies)
            > MAX_ADDED_ARGUMENTS
        ):
            raise _too_many(max(bodies, key=lambda body: len(body.captured)))
        for body in bodies:
            before = len(body.captured), len(body.params)
            for called in body.called:
                body.params |= called.params.difference(called.generic.own)
                for value in called.captured:
                    if value not in body.defined:
                        body.captured.setdefault(value)
            changed |= (len(body.captured), len(body.params)) != before


def _too_many(body: _Body) -> RelayTextError:
    generic, signature = body.generic, body.generic.signature
    return RelayTextError(
        f"%{generic.name} and the functions that it calls capture {len(body.captured)} values, "
        f"which adds more than {MAX_ADDED_ARGUMENTS} arguments to calls of generic functions; "
        "pass some of them in a tuple",
        signature.source_map.location(signature.definition.offset),
    )


def _drop_unused_params(body: _Body) -> None:
    """Drop unused type parameters of the enclosing functions; the function's own come first."""
    generic, signature = body.generic, body.generic.signature
    own = len(generic.own)
    kept = [i < own or p in body.params for i, p in enumerate(signature.type_params)]
    signature.type_params = list(compress(signature.type_params, kept))
    for use in generic.uses:
        use.type_args = ArrayAttr(compress(use.type_args, kept))


def _pass_captures(
    use: relay.InvokeOp | relay.GlobalOp, captured: Mapping[SSAValue, None], generic: Generic
) -> None:
    """Pass `captured` as additional arguments; a function value becomes a closure that does so."""
    if isinstance(use, relay.InvokeOp):
        use.operands = [*use.operands, *captured]
        return
    type, at = use.result.type, use.parent
    assert isinstance(type, FunctionType)
    assert at is not None, "a use is in a block"
    block = Block(arg_types=type.inputs.data)
    for argument, param in zip(block.args, generic.signature.block.args, strict=True):
        argument.name_hint = param.name_hint
    (result,) = type.outputs.data
    call = relay.InvokeOp(use.callee, use.type_args.data, [*block.args, *captured], result)
    block.add_ops([call, relay.YieldOp(call.result)])
    closure = relay.FnOp(type.inputs.data, result, Region(block))
    for op in (closure, *block.ops):
        op.location = use.location
    closure.result.name_hint = use.result.name_hint
    at.insert_op_before(closure, use)
    use.result.replace_all_uses_with(closure.result)
    at.erase_op(use)


def _add_parameters(body: _Body) -> None:
    """Append one parameter for each captured value."""
    signature, inside = body.generic.signature, dict[SSAValue, SSAValue]()
    block, at = signature.block, signature.definition.function.offset
    here = signature.source_map.location(at)
    for value in body.captured:
        argument = inside[value] = block.insert_arg(value.type, len(block.args))
        argument.name_hint = value.name_hint
        argument.location = here
        name = value.name_hint or "captured"
        signature.params = [*signature.params, Local(name, at, None)]
    for op in walk(block):
        if any(operand in inside for operand in op.operands):
            op.operands = [inside.get(operand, operand) for operand in op.operands]
    inputs = [argument.type for argument in block.args]
    signature.type = FunctionType.from_lists(inputs, signature.type.outputs.data)
