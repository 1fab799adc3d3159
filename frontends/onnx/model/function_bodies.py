"""
The bodies of operators that are defined by other operators: ONNX's own, and a model's functions.

    Celu(x) {alpha = 2}    ->    a body with a node `Constant {value = @alpha}`, …

In the nodes of a body, attributes may refer to those of the node that is replaced: `bound` copies a
node with the values instead.

The schema of an operator also says what ONNX requires of a node: the inputs and their dtypes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from onnx import AttributeProto, FunctionProto, NodeProto, TensorProto, TypeProto, defs, helper
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute

from ....dialects.relay.language.language_types import AdtType
from ....dialects.tensors import as_tensor, dtype_name
from ....operators.element_types import ELEMENT_TABLE
from ..convert.node import Node
from ..convert.onnx_data import OPTION, is_data, is_tensor, part_of, type_of
from ..convert.onnx_values import SUPPORTED_DTYPES, dtype_of
from ..convert.scope import with_inner
from ..errors import OnnxError
from .onnx_model import domain_of, opsets_of

_TYPE_NAMES = {
    dtype: f"tensor({TensorProto.DataType.Name(ELEMENT_TABLE[dtype].onnx).lower()})"
    for dtype in SUPPORTED_DTYPES
}


@dataclass(frozen=True)
class Signature:
    """The required number of inputs, and the dtypes allowed for each."""

    min_inputs: int
    max_inputs: int
    dtypes: tuple[frozenset[np.dtype[Any]], ...]
    """By input; the last one applies to all further inputs."""
    is_data: tuple[bool, ...]
    """By input, whether it may be a sequence or an optional value."""


@cache
def signature_of(op_type: str, opset: int, domain: str) -> Signature | None:
    """Return the signature of an operator; None when the package does not know it."""
    try:
        schema = defs.get_schema(op_type, opset, domain)
    except defs.SchemaError:
        return None
    dtypes = tuple(
        frozenset(np.dtype(d) for d, name in _TYPE_NAMES.items() if name in parameter.types)
        for parameter in schema.inputs
    )
    is_data = tuple(
        any(not name.startswith("tensor") for name in parameter.types)
        for parameter in schema.inputs
    )
    return Signature(schema.min_input, schema.max_input, dtypes, is_data)


def require_signature(node: Node) -> None:
    """Raise `OnnxError` if the inputs of `node` do not match its operator's signature."""
    signature = signature_of(node.op_type, node.opset, node.domain)
    if signature is None:
        return
    count = len(node.inputs)
    if not signature.min_inputs <= count <= signature.max_inputs:
        raise node.error(
            f"there are {count} inputs; supported: {signature.min_inputs} to {signature.max_inputs}"
        )
    for i, value in enumerate(node.inputs):
        if value is None:
            continue
        at = min(i, len(signature.dtypes) - 1)
        dtypes, is_data = signature.dtypes[at], signature.is_data[at]
        if not is_tensor(value):
            if not is_data:
                raise node.error(f"input {i} is a sequence or optional; supported: tensors")
            continue
        if not dtypes:
            raise node.error(f"input {i} is a tensor; supported: sequences and optional values")
        dtype = dtype_of(value)
        if dtype not in dtypes:
            supported = ", ".join(d for d in SUPPORTED_DTYPES if np.dtype(d) in dtypes)
            raise node.error(f"input {i} has dtype {dtype}; supported: {supported}")


Attributes = Mapping[str, AttributeProto]


@dataclass(frozen=True)
class Body:
    """
    The nodes that replace one node: `inputs` and `outputs` are the names of its operands and
    results in them, `opsets` the versions of the operator sets that they use.
    """

    inputs: Sequence[str]
    outputs: Sequence[str]
    nodes: Sequence[NodeProto]
    opsets: Mapping[str, int]
    attributes: Attributes

    @staticmethod
    def of(function: FunctionProto, defaults: Attributes, node: Node) -> Body:
        """Return the body of `function` for `node`, whose attributes have these `defaults`."""
        given = {attribute.name: attribute for attribute in node.proto.attribute}
        return Body(
            list(function.input),
            list(function.output),
            list(function.node),
            {**node.opsets, **opsets_of(function.opset_import)},
            {**defaults, **given},
        )


Key = tuple[str, str, str]
"""Domain, name and overload of a function."""


def functions_by_key(functions: Iterable[FunctionProto]) -> dict[Key, FunctionProto]:
    """Return the functions that a model defines; raise `OnnxError` if one is defined twice."""
    by_key: dict[Key, FunctionProto] = {}
    for function in functions:
        key = domain_of(function.domain), function.name, function.overload
        if key in by_key:
            raise OnnxError(f'the model defines function "{function.name}" twice')
        by_key[key] = function
    return by_key


def model_body(node: Node, functions: Mapping[Key, FunctionProto]) -> Body | None:
    """Return the body of the model's function that `node` calls, if it calls one."""
    function = functions.get(node.function)
    if function is None:
        return None
    return Body.of(function, {a.name: a for a in function.attribute_proto}, node)


def schema_body(node: Node) -> Body | None:
    """
    Return the body by which ONNX defines the operator of `node`, if it does.

    It may be of operators of a later set than the model's.
    """
    try:
        schema: Any = defs.get_schema(node.op_type, node.opset, node.domain)
    except defs.SchemaError:
        return None
    defaults = {
        name: attribute.default_value
        for name, attribute in schema.attributes.items()
        if attribute.default_value.type != AttributeProto.UNDEFINED
    }
    versions: list[int] = schema.function_opset_versions
    fixed = [v for v in versions if v <= node.opset] or sorted(versions)[:1]
    dependent = schema.context_dependent_function_opset_versions
    by_types: list[int] = [v for v in dependent if v <= node.opset]
    if fixed:
        data: bytes = schema.get_function_with_opset_version(max(fixed))
    elif by_types:
        types = [
            _type_of(None if value is None else type_of(value)).SerializeToString()
            for value in node.inputs
        ]
        data = schema.get_context_dependent_function_with_opset_version(
            max(by_types), node.proto.SerializeToString(), types
        )
    else:
        return None
    return Body.of(FunctionProto.FromString(data), defaults, node) if data else None


def has_body(node: Node) -> bool:
    """Test whether ONNX defines the operator of `node` by a body, for some operands."""
    try:
        schema: Any = defs.get_schema(node.op_type, node.opset, node.domain)
    except defs.SchemaError:
        return False
    return bool(schema.function_opset_versions or schema.context_dependent_function_opset_versions)


def _type_of(type: Attribute | None) -> TypeProto:
    """Return the type of an operand; an empty one if it is omitted, or not known."""
    tensor = None if type is None else as_tensor(type)
    if tensor is not None:
        number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype_name(tensor.element_type)))
        dims = [None if dim == DYNAMIC_INDEX else dim for dim in tensor.get_shape()]
        return helper.make_tensor_type_proto(number, dims)
    if not isinstance(type, AdtType):
        return TypeProto()
    part = _type_of(part_of(type))
    if is_data(type, OPTION):
        return helper.make_optional_type_proto(part)
    return helper.make_sequence_type_proto(part)


def bound(node: NodeProto, attributes: Attributes) -> NodeProto:
    """
    Return `node` with the values of `attributes` instead of references to them.

    An attribute that refers to one without a value is absent.
    """
    if not _refers(node):
        return node
    copied = NodeProto()
    copied.CopyFrom(node)
    _bind(copied, attributes)
    return copied


def _refers(node: NodeProto) -> bool:
    """Test whether an attribute of `node`, or of a node in its graphs, is a reference."""
    return any(a.ref_attr_name for inner in with_inner([node]) for a in inner.attribute)


def _bind(node: NodeProto, attributes: Attributes) -> None:
    for inner in with_inner([node]):
        kept: list[AttributeProto] = []
        for attribute in inner.attribute:
            value = AttributeProto()
            if not attribute.ref_attr_name:
                value.CopyFrom(attribute)
            elif attribute.ref_attr_name in attributes:
                value.CopyFrom(attributes[attribute.ref_attr_name])
                value.name = attribute.name
            else:
                continue
            kept.append(value)
        del inner.attribute[:]
        inner.attribute.extend(kept)
