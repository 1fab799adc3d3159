"""
What the functions made of generic closures (`generics.py`) capture becomes parameters.

    def @main_pair[A](%x: A) { (%x, %y) }           def @main_pair[A](%x: A, %y: int32) { (%x, %y) }
    def @main(%y: int32) {                    ->    def @main(%y: int32) {
      @main_pair(1)                                   @main_pair(1, %y)

A function captures what its body uses and does not define, and what the functions that it calls
capture, unless its body defines it: the smallest such sets. Likewise it keeps those of the type
parameters of the functions around that something in its body, or in what it calls, needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress

from xdsl.dialects.builtin import ArrayAttr, FunctionType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects.relay import FnOp, GlobalOp, InvokeOp
from ...dialects.relay.control import YieldOp
from ...dialects.relay.language_types import TypeVarType
from ...dialects.type_algebra import parts
from ...dialects.walking import walk
from .errors import RelayTextError
from .program import Generic
from .syntax import Local

LIMIT = 100_000
"""How many arguments may be added to the calls of a program (a few seconds' work)."""


@dataclass(eq=False, repr=False)
class _Body:
    """What the body of a function defines, captures and calls."""

    generic: Generic
    defined: set[SSAValue]
    captured: dict[SSAValue, None]
    """In the order of the first uses."""
    params: set[str]
    """The type parameters in its types."""
    called: list[_Body] = field(default_factory=list["_Body"])


def pass_captures(generics: Mapping[str, Generic]) -> None:
    """
    Let each function take what it captures, and its uses pass it; all types are known.

    `generics` are the functions by their names in the IR.
    """
    bodies = [_body(generic, generics) for generic in generics.values()]
    by_use: dict[Operation, _Body] = {use: body for body in bodies for use in body.generic.uses}
    for body in bodies:
        ops = walk(body.generic.signature.block)
        body.called = list(dict.fromkeys(by_use[op] for op in ops if op in by_use))
    _close(bodies)
    for body in bodies:
        _drop_unused_params(body)
        for use in body.generic.uses if body.captured else ():
            _pass(use, body.captured, body.generic)
    for body in bodies:
        if body.captured:
            _receive(body)


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
        if isinstance(op, InvokeOp | GlobalOp):
            callee = generics.get(op.callee.string_value())
            types += op.type_args.data[: None if callee is None else len(callee.own)]
    types += [value.type for value in (*defined, *used)]
    params = {name for type in types for name in type_params(type)}
    return _Body(generic, defined, {v: None for v in used if v not in defined}, params)


def type_params(type: Attribute) -> Iterator[str]:
    """The type parameters in `type`."""
    if isinstance(type, TypeVarType):
        yield type.parameter.data
    for part in parts(type):
        yield from type_params(part)


def _close(bodies: Sequence[_Body]) -> None:
    """Add what the functions that are called capture, until there is nothing to add."""
    changed = True
    while changed:
        changed = False
        if sum(len(body.captured) * len(body.generic.uses) for body in bodies) > LIMIT:
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
        f"which makes more than {LIMIT} arguments of functions with type parameters: "
        "pass some of them in a tuple",
        signature.places.location(signature.definition.at),
    )


def _drop_unused_params(body: _Body) -> None:
    """Drop type parameters of the functions around; the function's own come first."""
    generic, function = body.generic, body.generic.signature.definition.function
    own = len(generic.own)
    kept = [i < own or p in body.params for i, p in enumerate(function.type_params)]
    function.type_params = list(compress(function.type_params, kept))
    for use in generic.uses:
        use.type_args = ArrayAttr(compress(use.type_args, kept))


def _pass(use: InvokeOp | GlobalOp, captured: Mapping[SSAValue, None], generic: Generic) -> None:
    """Pass `captured`, too; a function as a value becomes a closure that does."""
    if isinstance(use, InvokeOp):
        use.operands = [*use.operands, *captured]
        return
    type, at = use.result.type, use.parent
    assert isinstance(type, FunctionType)
    assert at is not None, "what is used stands in a block"
    block = Block(arg_types=type.inputs.data)
    for argument, param in zip(block.args, generic.signature.block.args, strict=True):
        argument.name_hint = param.name_hint
    (result,) = type.outputs.data
    call = InvokeOp(use.callee, use.type_args.data, [*block.args, *captured], result)
    block.add_ops([call, YieldOp(call.result)])
    closure = FnOp(type.inputs.data, result, Region(block))
    for op in (closure, *block.ops):
        op.location = use.location
    closure.result.name_hint = use.result.name_hint
    at.insert_op_before(closure, use)
    use.result.replace_all_uses_with(closure.result)
    at.erase_op(use)


def _receive(body: _Body) -> None:
    """Take what is captured as parameters behind those that are there."""
    signature, inside = body.generic.signature, dict[SSAValue, SSAValue]()
    function, block = signature.definition.function, signature.block
    here = signature.places.location(function.at)
    for value in body.captured:
        argument = inside[value] = block.insert_arg(value.type, len(block.args))
        argument.name_hint = value.name_hint
        argument.location = here
        name = value.name_hint or "captured"
        function.params.append(Local(name, function.at, None, function.region))
    for op in walk(block):
        if any(operand in inside for operand in op.operands):
            op.operands = [inside.get(operand, operand) for operand in op.operands]
    inputs = [argument.type for argument in block.args]
    signature.type = FunctionType.from_lists(inputs, signature.type.outputs.data)
