"""
Calls of operators that the dialect does not have (`--allow-unregistered-dialect`).

    nn.fancy(%x, depth=3) /* ty=Tensor[(4), float32] */
    ->
    %y = relay.call_opaque "nn.fancy"(%x) {depth = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>

The type of the result is the one that TVM's printer notes after the call (or that a saved module
records), or else the one that its use requires. Once all types are known, tuples of tensors are
replaced by their fields.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from .....dialects.attributes import attribute_of as plain_attribute
from .....dialects.relay import CallOpaqueOp, TupleOp
from .....dialects.relay.language.tuples import erase_unused, fields_of, fold_projections, rebuild
from .....dialects.relay.opaque import is_operator_name
from .....dialects.tensors import as_tensor
from ...errors import SourceMap
from ...text import syntax as ast
from ...type_texts import type_text
from ..build_context import Context, attribute_of


def opaque_call(context: Context, name: str, args: Sequence[SSAValue], call: ast.Call) -> SSAValue:
    """Build a call of an operator of which only the name is known."""
    attributes = _attributes(context, name, call)
    type = context.annotation(context.noted_type(call))
    op = CallOpaqueOp(name, args, [type], attributes)
    context.completions.append((_complete, op, (context.source_map, call)))
    return context.value(op, call.offset)


def _attributes(context: Context, name: str, call: ast.Call) -> dict[str, Attribute]:
    properties: dict[str, Attribute] = {}
    for key, value in call.attrs.items():
        attr = plain_attribute(value) or attribute_of(value)
        if attr is None or not is_operator_name(key):
            raise context.error(
                f"the value of {name}'s attribute {key} is not supported", call.offset
            )
        properties[key] = attr
    return properties


# ------------------------------------------------- once all types are known


def _complete(context: Context, op: CallOpaqueOp, source_map: SourceMap, call: ast.Call) -> None:
    """Make `op` accept and return tensors only, flattening tuples."""
    name, result = op.operator.data, op.results[0]
    for i, arg in enumerate(op.args):
        if _tensors(arg.type) is None:
            at = call.args[i].offset if i < len(call.args) else call.offset
            raise _not_a_tensor(f"argument {i} of {name}", arg, source_map, at)
    types = _tensors(result.type)
    if not types:
        raise _not_a_tensor(f"the result of {name}", result, source_map, call.offset)
    _flatten(op, types)


def _flatten(op: CallOpaqueOp, types: Sequence[Attribute]) -> None:
    """Replace `op` by a call whose arguments and results, of `types`, are tensors."""

    def insert(new: Operation) -> None:
        new.location = op.location
        Rewriter.insert_op(new, InsertPoint.before(op))

    given, result = tuple(op.args), op.results[0]
    args = [[*fields_of(a, insert)] if isinstance(a.type, TupleType) else a for a in given]
    new = CallOpaqueOp(op.operator.data, args, types, op.given)
    insert(new)
    value = rebuild(result.type, iter(new.results), insert)
    Rewriter.replace_op(op, [], [value])
    if isinstance(value.owner, TupleOp):
        fold_projections(value.owner)
    for owner in dict.fromkeys(v.owner for v in (value, *given) if isinstance(v.owner, TupleOp)):
        erase_unused(owner)


def _tensors(type: Attribute) -> Sequence[Attribute] | None:
    """Return the tensors that make up a value of `type`; None when it has other parts."""
    if isinstance(type, TupleType):
        fields = type.types.data
        return None if any(as_tensor(t) is None for t in fields) else fields
    return None if as_tensor(type) is None else (type,)


def _not_a_tensor(what: str, value: SSAValue, source_map: SourceMap, at: int) -> Exception:
    return source_map.error(
        f"{what} must be a tensor or a tuple of tensors, as the operator is unknown, "
        f"but is of type {type_text(value.type)}",
        at,
    )
