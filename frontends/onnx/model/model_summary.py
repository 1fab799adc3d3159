"""A model's signature, operators and weights, and the reasons why it cannot be converted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from onnx import GraphProto, ModelProto, ValueInfoProto

from ....operators.element_types import ELEMENT_TABLE
from ....runtime.calls.input_bindings import BindingError, InputBindings
from ..convert.importer import convert_model
from ..convert.scope import graphs_of, with_inner
from ..errors import OnnxError
from .external import ExternalData
from .onnx_model import domain_of, input_dims, read_model
from .onnx_tensors import dtype_of_number, element_name

NONE = InputBindings()


@dataclass(frozen=True)
class Value:
    """An input or an output of a graph: its dims are sizes and names, None without one."""

    name: str
    dtype: str
    dims: tuple[int | str | None, ...] | None


@dataclass(frozen=True)
class ModelSummary:
    """The facts; `operators` and `weights` are counted in graphs of nodes and functions, too."""

    title: str
    inputs: Sequence[Value]
    outputs: Sequence[Value]
    operators: Counter[str]
    weights: Counter[str]
    """The number of weights by element type."""
    sizes: Counter[str]
    """Their bytes by element type."""
    error: OnnxError | None
    """The reasons why the model cannot be converted."""


def summarize(
    data: bytes | memoryview | ModelProto,
    name: str,
    bindings: InputBindings = NONE,
    folder: Path | None = None,
) -> ModelSummary:
    """
    Return the facts about the model in `data`, the contents of the file `name`.

    Raises `OnnxError` for what is not a model, and for `bindings` that do not fit.
    """
    external = ExternalData(folder)
    model = read_model(data, external)
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
    weights, sizes = Counter[str](), Counter[str]()
    for tensor in (tensor for graph in graphs for tensor in graph.initializer):
        dtype = _dtype(tensor.data_type)
        weights[dtype] += 1
        sizes[dtype] += prod(tensor.dims) * _item_size(dtype)
    return ModelSummary(
        _title(model),
        values,
        [_value(info, input_dims(info, NONE)) for info in model.graph.output],
        Counter(_operator(node.domain, node.op_type) for node in nodes),
        weights,
        sizes,
        _error(model, name, bindings, external),
    )


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


def _error(
    model: ModelProto, name: str, bindings: InputBindings, external: ExternalData
) -> OnnxError | None:
    try:
        convert_model(model, name, bindings=bindings, external=external)
    except OnnxError as error:
        return error
    return None
