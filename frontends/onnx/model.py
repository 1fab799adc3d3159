"""Read a model's bytes and check what does not depend on its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from google.protobuf.message import DecodeError
from onnx import ModelProto, ValueInfoProto, load_model_from_string
from xdsl.dialects.builtin import DYNAMIC_INDEX

from ...dialects.device import tensor_type
from ...dialects.tensors import Tensor
from .errors import OnnxError
from .tensors import array_of, dtype_of_number
from .values import Constant, element_type

OPSETS = range(6, 29)
"""The versions of ONNX's operator set that the converters were written for."""

DEFAULT_DOMAINS = ("", "ai.onnx")
"""The names of ONNX's own operator set."""


def read_model(data: bytes) -> ModelProto:
    """Parse the model in `data`; raises `OnnxError` when it is damaged or not a model."""
    try:
        model = load_model_from_string(data)
    except DecodeError:
        raise OnnxError("not an ONNX model, or damaged or truncated") from None
    if not model.HasField("graph") or not model.opset_import:
        raise OnnxError("not an ONNX model: it has no graph or no operator set")
    # the parser returns bytes where text is invalid, whatever its types say
    if any(isinstance(name, bytes) for name in _names(model)):
        raise OnnxError("not an ONNX model, or damaged: a name is not valid UTF-8")
    return model


def _names(model: ModelProto) -> Iterator[object]:
    """Yield all text that the conversion reads."""
    graph = model.graph
    yield graph.name
    for opset in model.opset_import:
        yield opset.domain
    for tensor in graph.initializer:
        yield tensor.name
    for info in (*graph.input, *graph.output):
        yield info.name
        yield from (dim.dim_param for dim in info.type.tensor_type.shape.dim)
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (attribute.name for attribute in node.attribute)


def opset_of(model: ModelProto) -> int:
    """Return the version of the default operator set, which must be in `OPSETS`."""
    versions = [o.version for o in model.opset_import if o.domain in DEFAULT_DOMAINS]
    if not versions:
        domains = ", ".join(o.domain for o in model.opset_import)
        raise OnnxError(f"the model uses operator sets {domains}; supported: ai.onnx")
    if versions[0] not in OPSETS:
        raise OnnxError(
            f"the model uses opset {versions[0]}; supported: opsets {OPSETS[0]} to {OPSETS[-1]} "
            "(onnx.version_converter can change it)"
        )
    return versions[0]


def initializers_of(model: ModelProto) -> Iterator[Constant]:
    """Yield the arrays stored in the model."""
    if model.graph.sparse_initializer:
        name = model.graph.sparse_initializer[0].values.name
        raise OnnxError(f'initializer "{name}" is sparse; supported: dense ones')
    for tensor in model.graph.initializer:
        try:
            yield Constant(tensor.name, array_of(tensor))
        except OnnxError as error:
            raise OnnxError(f'initializer "{tensor.name}": {error.message}') from None


def input_type(info: ValueInfoProto, dims: Sequence[int | str]) -> Tensor:
    """Return the type of a graph input of `dims`, which must be a tensor of known rank."""
    what = f'input "{info.name}"'
    if info.type.WhichOneof("value") != "tensor_type":
        kind = info.type.WhichOneof("value") or "without type"
        raise OnnxError(f"{what} is {kind}; supported: tensors")
    tensor = info.type.tensor_type
    try:
        element = element_type(dtype_of_number(tensor.elem_type))
    except OnnxError as error:
        raise OnnxError(f"{what}: {error.message}") from None
    assert element is not None, "a supported dtype has an element type"
    if not tensor.HasField("shape"):
        raise OnnxError(f"{what} has no shape; supported: shapes of known rank")
    return tensor_type(element, [DYNAMIC_INDEX if isinstance(dim, str) else dim for dim in dims])


def input_dims(info: ValueInfoProto) -> list[int | str]:
    """Return the dims of a graph input: sizes, and names of dynamic ones, "" if they have none."""
    return [
        dim.dim_value
        if dim.WhichOneof("value") == "dim_value" and dim.dim_value >= 0
        else dim.dim_param  # "" of a negative dim, which some exporters write for a dynamic one
        for dim in info.type.tensor_type.shape.dim
    ]
