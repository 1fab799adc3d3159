"""Read a model's bytes and check what does not depend on its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from secrets import token_hex

from google.protobuf.message import DecodeError
from onnx import (
    GraphProto,
    ModelProto,
    OperatorSetIdProto,
    TypeProto,
    ValueInfoProto,
    load_model_from_string,
)
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute

from ....dialects.device import tensor_type
from ....dialects.relay.incomplete import IncompleteType
from ....runtime.calls.input_bindings import InputBindings, option
from ..convert.onnx_data import LIST, OPTION, data_type
from ..convert.onnx_values import Constant, element_type
from ..convert.scope import graphs_of, with_inner
from ..errors import OnnxError
from .external import ExternalData, array_of, dtype_of_number
from .wire import without_data

OPSETS = range(6, 29)
"""The versions of ONNX's operator set that the converters were written for."""

DEFAULT_DOMAINS = ("", "ai.onnx")
"""The names of ONNX's own operator set."""


LARGE = 1 << 20
"""The data of a model of at least so many bytes are not copied."""


def read_model(data: bytes | memoryview | ModelProto, external: ExternalData) -> ModelProto:
    """
    Parse the model in `data`, unless it is one already.

    The data of large tensors become one more file of `external`. Raises `OnnxError` for data that
    are damaged or not a model.
    """
    if isinstance(data, ModelProto):
        _check(data)
        return data
    view, location, encoded = memoryview(data), token_hex(), token_hex()
    small = without_data(view, location, encoded) if len(view) >= LARGE else None
    external.files[location] = external.encoded[encoded] = view
    try:
        model = load_model_from_string(bytes(view) if small is None else small)
    except DecodeError:
        raise OnnxError("not an ONNX model, or damaged or truncated") from None
    _check(model)
    return model


def _check(model: ModelProto) -> None:
    """Raise `OnnxError` if `model` is not one, although it was parsed."""
    if not model.HasField("graph") or not model.opset_import:
        raise OnnxError("not an ONNX model: it has no graph or no operator set")
    # the parser returns bytes where text is invalid, whatever its types say
    if any(isinstance(name, bytes) for name in _names(model)):
        raise OnnxError("not an ONNX model, or damaged: a name is not valid UTF-8")


def _names(model: ModelProto) -> Iterator[object]:
    """Yield all text that the conversion reads."""
    yield from (opset.domain for opset in model.opset_import)
    yield from _names_in(model.graph)
    nodes = list(model.graph.node)
    for function in model.functions:
        yield from (function.domain, function.name, function.overload)
        yield from (*function.input, *function.output, *function.attribute)
        yield from (opset.domain for opset in function.opset_import)
        yield from (attribute.name for attribute in function.attribute_proto)
        nodes += function.node
    for node in with_inner(nodes):
        yield from (node.name, node.op_type, node.domain, node.overload, *node.input, *node.output)
        for attribute in node.attribute:
            yield from (attribute.name, attribute.ref_attr_name)
        for graph in graphs_of(node):
            yield from _names_in(graph)


def _names_in(graph: GraphProto) -> Iterator[object]:
    yield graph.name
    for tensor in graph.initializer:
        yield tensor.name
        for entry in tensor.external_data:
            yield from (entry.key, entry.value)
    for info in (*graph.input, *graph.output, *graph.value_info):
        yield info.name
        yield from (dim.dim_param for dim in info.type.tensor_type.shape.dim)


def domain_of(name: str) -> str:
    """Return the domain called `name`: "" is ONNX's own operator set, which has two names."""
    return "" if name in DEFAULT_DOMAINS else name


def opsets_of(imports: Iterable[OperatorSetIdProto]) -> dict[str, int]:
    """
    Return the version of each operator set by its domain.

    Raises `OnnxError` if that of ONNX's own is not in `OPSETS`.
    """
    versions: dict[str, int] = {}
    for entry in imports:
        versions.setdefault(domain_of(entry.domain), entry.version)
    opset = versions.get("", OPSETS[0])
    if opset not in OPSETS:
        raise OnnxError(
            f"the model uses opset {opset}; supported: opsets {OPSETS[0]} to {OPSETS[-1]} "
            "(onnx.version_converter can change it)"
        )
    return versions


def initializers_of(
    graph: GraphProto, external: ExternalData
) -> Iterator[tuple[str, Constant | OnnxError]]:
    """Yield the arrays stored in `graph`, or in files beside the model, by name, or an error."""
    for sparse in graph.sparse_initializer:
        name = sparse.values.name
        yield name, OnnxError(f'initializer "{name}" is sparse; supported: dense ones')
    for tensor in graph.initializer:
        try:
            yield tensor.name, Constant(tensor.name, array_of(tensor, external))
        except OnnxError as error:
            yield tensor.name, OnnxError(f'initializer "{tensor.name}": {error.message}')


def input_type(info: ValueInfoProto, dims: Sequence[int | str] | None) -> Attribute:
    """Return the type of a graph input, which has `dims` if it is a tensor."""
    what = f'input "{info.name}"'
    if info.type.WhichOneof("value") != "tensor_type":
        return value_type(what, info.type)
    element = _element(what, info.type)
    if dims is None:
        shape = f"{option('--shape', f'{info.name}=SIZExSIZE')}…"
        raise OnnxError(f"{what} has no shape; give it: {shape}")
    return tensor_type(element, [DYNAMIC_INDEX if isinstance(dim, str) else dim for dim in dims])


def _element(what: str, type: TypeProto) -> Attribute:
    """Return the element type of tensors of `type`."""
    try:
        element = element_type(dtype_of_number(type.tensor_type.elem_type))
    except OnnxError as error:
        raise OnnxError(f"{what}: {error.message}") from None
    assert element is not None, "a supported dtype has an element type"
    return element


def value_type(what: str, type: TypeProto, of_scalars: bool = False) -> Attribute:
    """
    Return the type of data of `type`, or of tensors in it.

    A rank that is not declared is inferred, and so is one of 0, which many exporters write then,
    unless it is `of_scalars`.
    """
    kind = type.WhichOneof("value")
    if kind == "tensor_type":
        element = _element(what, type)
        rank = len(type.tensor_type.shape.dim)
        if not rank and not (of_scalars and type.tensor_type.HasField("shape")):
            return IncompleteType()
        return tensor_type(element, [DYNAMIC_INDEX] * rank)
    if kind == "sequence_type":
        return data_type(LIST, value_type(what, type.sequence_type.elem_type, of_scalars))
    if kind == "optional_type":
        return data_type(OPTION, value_type(what, type.optional_type.elem_type, of_scalars))
    supported = "tensors, sequences and optional values"
    raise OnnxError(f"{what} is {kind or 'without type'}; supported: {supported}")


def input_dims(info: ValueInfoProto, bindings: InputBindings) -> list[int | str] | None:
    """
    Return the dims of a graph input: sizes, and names of dynamic ones, "" if they have none.

    Exporters write -1 for a dynamic dim, some 0: that is one to which `bindings` give a size. What
    has no letter, such as `?` for any dim that is not known, is not a name. The rank of an input
    without a shape is that of its shape in `bindings`; None without.
    """
    tensor = info.type.tensor_type
    if info.type.WhichOneof("value") == "tensor_type" and not tensor.HasField("shape"):
        shape = bindings.all_shapes.get(info.name)
        return None if shape is None else ["" for _ in shape]
    dims: list[int | str] = []
    for axis, dim in enumerate(tensor.shape.dim):
        size = dim.dim_value if dim.WhichOneof("value") == "dim_value" else -1
        is_open = size < 0 or (size == 0 and bindings.sizes_place(info.name, axis))
        dims.append(size if not is_open else dim.dim_param if is_name(dim.dim_param) else "")
    return dims


def is_name(dim: str) -> bool:
    """Test whether the symbol of a dim tells it from others, so that equal ones are one size."""
    return any(character.isalpha() or character == "_" for character in dim)


def declared_type(info: ValueInfoProto, bindings: InputBindings) -> Attribute:
    """Return the type that a model declares for a result, with the sizes of dims in `bindings`."""
    dims = input_dims(info, InputBindings())
    sizes = bindings.dims
    known = dims and [
        sizes.get(dim, dim) if isinstance(dim, str) else dim or ""  # 0 is often a dynamic dim
        for dim in dims
    ]
    return input_type(info, known)
