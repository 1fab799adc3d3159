"""ONNX's own requirements on a node: the number of inputs and their dtypes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from onnx import TensorProto, defs

from ....operators.element_types import ELEMENT_TABLE
from ..convert.node import Node
from ..convert.onnx_data import is_tensor
from ..convert.onnx_values import SUPPORTED_DTYPES, dtype_of

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
