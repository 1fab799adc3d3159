"""
Operators that the dialect does not have, where `--allow-unregistered-dialect` permits them.

    nn.fancy(%x, depth=3) /* ty=Tensor[(4), float32] */
    ->
    %y = relay.call_opaque "nn.fancy"(%x) {depth = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>

The type of the result is what TVM's printer notes behind the call (what a saved module says of
it), or what its use demands. Once all types are known, tuples of tensors become their fields.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ...dialects.attributes import attribute_of as plain_attribute
from ...dialects.relay import CallOpaqueOp, TupleGetItemOp, TupleOp
from ...dialects.relay.opaque import is_operator_name
from ...dialects.relay.tuples import erase_unused, fields_of
from ...dialects.tensors import as_tensor
from ...dialects.xdsl_internals import set_type
from . import syntax as ast
from .errors import Places
from .writer import Value

if TYPE_CHECKING:
    from .emit import Emitter

_NOTED = re.compile(r"\s*/\*\s*ty=(.*?)(?:\s+span=.*?)?\s*\*/", re.DOTALL)


def opaque_call(emitter: Emitter, name: str, args: Sequence[SSAValue], call: ast.Call) -> Value:
    """A call of an operator about which nothing is known but its name."""
    if not is_operator_name(name):  # of a saved module
        raise emitter.unknown_name(name, call.at)
    attributes = _attributes(emitter, name, call)
    type = noted_type(emitter, call) or emitter.solver.fresh()
    op = CallOpaqueOp(name, args, [type], attributes)
    places = emitter.places
    emitter.completions.append(lambda: _complete(op, places, call))
    return emitter.value(op, call.at)


def _attributes(emitter: Emitter, name: str, call: ast.Call) -> dict[str, Attribute]:
    from .functions import attribute_of

    made: dict[str, Attribute] = {}
    for key, value in call.attrs.items():
        attr = plain_attribute(value) or attribute_of(value)
        if attr is None or not is_operator_name(key):
            raise emitter.error(f"the value of {name}'s attribute {key} is not supported", call.at)
        made[key] = attr
    return made


def noted_type(emitter: Emitter, call: ast.Call) -> Attribute | None:
    """The type in the comment `/* ty=… */` behind `call`, if there is one that can be read."""
    from .errors import RelayTextError
    from .lexer import tokenize
    from .metadata import Metadata
    from .type_grammar import TypeGrammar

    if call.type is not None:
        type = call.type()
        return None if type is None else emitter.annotation(type)
    match = _NOTED.match(emitter.source, call.end)
    if match is None:
        return None
    places = Places("", match[1])
    try:
        grammar = TypeGrammar(tokenize(match[1], places), places, Metadata(None))
        type = grammar.type()
        grammar.take("end")
    except RelayTextError:
        return None
    return emitter.annotation(type)


# ------------------------------------------------- once all types are known


def _complete(op: CallOpaqueOp, places: Places, call: ast.Call) -> None:
    """Let `op` take and give tensors: those that are in tuples one by one."""
    name = op.operator.data
    args: list[SSAValue | Sequence[SSAValue]] = []
    for i, arg in enumerate(op.args):
        tensors = _tensors(arg.type)
        if tensors is None:
            at = call.args[i].at if i < len(call.args) else call.at
            raise _no_tensor(f"argument {i} of {name}", arg, places, at)
        args.append(_fields(arg, op) if isinstance(arg.type, TupleType) else arg)
    (result,) = op.results
    types = _tensors(result.type)
    if not types:
        raise _no_tensor(f"the result of {name}", result, places, call.at)
    block = op.parent
    assert block is not None, "the op was written"
    new = CallOpaqueOp(name, args, types, op.given)
    new.location = op.location
    block.insert_op_before(new, op)
    if isinstance(result.type, TupleType):
        _give_fields(result, new)
    else:
        new.results[0].name_hint = result.name_hint
        result.replace_all_uses_with(new.results[0])
    made = [arg.owner for arg in op.args if isinstance(arg.owner, TupleOp)]
    block.erase_op(op)
    for owner in dict.fromkeys(made):
        erase_unused(owner)


def _tensors(type: Attribute) -> Sequence[Attribute] | None:
    """The tensors that a value of `type` is; None when it is something else."""
    if isinstance(type, TupleType):
        fields = type.types.data
        return None if any(as_tensor(t) is None for t in fields) else fields
    return None if as_tensor(type) is None else (type,)


def _no_tensor(what: str, value: SSAValue, places: Places, at: int) -> Exception:
    from .type_text import type_text

    return places.error(
        f"{what} must be a tensor or a tuple of tensors, as the operator is not known, "
        f"but is of type {type_text(value.type)}",
        at,
    )


def _fields(tuple: SSAValue, before: Operation) -> Sequence[SSAValue]:
    """The fields of `tuple`; projections that find them stand before an op."""

    def write(op: Operation) -> None:
        op.location = before.location
        assert before.parent is not None
        before.parent.insert_op_before(op, before)

    return fields_of(tuple, write)


def _give_fields(result: OpResult, new: CallOpaqueOp) -> None:
    """Let the results of `new` be the fields of the tuple `result`."""
    for use in list(result.uses):
        user = use.operation
        if isinstance(user, TupleGetItemOp) and user.parent is not None:
            field = new.results[user.index.value.data]
            field.name_hint = field.name_hint or user.result.name_hint
            user.result.replace_all_uses_with(field)
            user.parent.erase_op(user)
    if result.first_use is None:
        return
    tuple = TupleOp(new.results)
    tuple.location = new.location
    set_type(tuple.result, result.type)
    tuple.result.name_hint = result.name_hint
    assert new.parent is not None
    new.parent.insert_op_after(tuple, new)
    result.replace_all_uses_with(tuple.result)
