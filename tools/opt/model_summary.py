"""The summary of an ONNX model, without converting it, and why it cannot be converted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod
from pathlib import Path

from onnx import GraphProto, ModelProto, ValueInfoProto

from ...frontends.onnx.convert.importer import convert_model
from ...frontends.onnx.convert.scope import graphs_of, with_inner
from ...frontends.onnx.errors import OnnxError
from ...frontends.onnx.model.external import ExternalData, dtype_of_number, element_name
from ...frontends.onnx.model.onnx_model import domain_of, input_dims, read_model
from ...operators.element_types import ELEMENT_TABLE
from ...runtime.calls.input_bindings import BindingError, InputBindings
from ...runtime.python.call_signature import Value
from ..api.bindings import UNBOUND
from ..api.source import Source
from .summary import Function, Summary


def summary_of_model(source: Source, bindings: InputBindings) -> tuple[Summary, OnnxError | None]:
    """
    Return the facts about an ONNX model, and the reasons why it cannot be converted.

    Operators and weights are counted in graphs of nodes and functions, too. Raises `OnnxError` for
    what is not a model, and for `bindings` that do not fit.
    """
    external = ExternalData(Path(source.name).parent if source.is_file else None)
    model = read_model(source.data, external)
    graphs = list(_graphs(model))
    initialized = {tensor.name for graph in graphs[:1] for tensor in graph.initializer}
    infos = [info for info in model.graph.input if info.name not in initialized]
    known = [(info.name, input_dims(info, bindings)) for info in infos]
    try:
        bound = bindings.bind(known)
    except BindingError as error:
        raise OnnxError(str(error)) from None
    values = [
        _value(info, None if dims is None else sizes)
        for info, (_, dims), sizes in zip(infos, known, bound, strict=True)
        if info.name not in bindings.values
    ]
    nodes = [node for graph in graphs for node in graph.node]
    nodes += with_inner(node for function in model.functions for node in function.node)
    weights: dict[str, tuple[int, int]] = {}
    for tensor in (tensor for graph in graphs for tensor in graph.initializer):
        number, size = weights.get(dtype := _dtype(tensor.data_type), (0, 0))
        weights[dtype] = number + 1, size + prod(tensor.dims) * _item_size(dtype)
    outputs = [_value(info, input_dims(info, UNBOUND)) for info in model.graph.output]
    operators = Counter(_operator(node.domain, node.op_type) for node in nodes)
    title, main = f"{source.name}: {_title(model)}", Function("main", values, outputs)
    try:
        convert_model(model, source.name, bindings=bindings, external=external)
    except OnnxError as error:
        return Summary(title, [main], operators, weights), error
    return Summary(title, [main], operators, weights), None


def _graphs(model: ModelProto) -> Iterable[GraphProto]:
    pending = [model.graph]
    while pending:
        graph = pending.pop()
        yield graph
        pending += (inner for node in graph.node for inner in graphs_of(node))


def _title(model: ModelProto) -> str:
    opsets = (
        f"{domain_of(entry.domain) or 'ai.onnx'} {entry.version}" for entry in model.opset_import
    )
    producer = " ".join(filter(None, (model.producer_name, model.producer_version)))
    return f"ONNX, opset {', '.join(opsets)}" + f", made by {producer}" * bool(producer)


def _operator(domain: str, name: str) -> str:
    domain = domain_of(domain)
    return f"{domain}.{name}" if domain else name


def _value(info: ValueInfoProto, dims: Sequence[int | str] | None) -> Value:
    kind = info.type.WhichOneof("value")
    if kind != "tensor_type":
        return Value(info.name, kind or "without type", None)
    tensor, shape = info.type.tensor_type, None
    if dims is not None and tensor.HasField("shape"):
        shape = tuple(None if dim == "" else dim for dim in dims)
    return Value(info.name, _dtype(tensor.elem_type), shape)


def _dtype(number: int) -> str:
    try:
        return dtype_of_number(number).name
    except OnnxError:
        return element_name(number)


def _item_size(dtype: str) -> int:
    return -(-ELEMENT_TABLE[dtype].bits // 8) if dtype in ELEMENT_TABLE else 1
