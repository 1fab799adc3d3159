"""Types in Relay's notation, for the printer and for messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, TupleType
from xdsl.ir import Attribute, Operation

from ...dialects import relay
from ...dialects.attributes import ELEMENT_TYPES
from ...dialects.device import VirtualDeviceAttr, device_of
from ...dialects.memory import StorageType
from ...dialects.tensors import as_tensor, dtype_name
from .errors import unprintable

STORAGE = "Storage"
"""TVM's name of the type of a storage."""


def is_storage(op: relay.TypeDataOp) -> bool:
    """Return whether a definition is that of TVM's type of storage, not of a data type."""
    return op.sym_name.data == STORAGE and not op.params.data and not op.constructors.data


def dims_text(dims: Sequence[int]) -> str:
    """Return `4, ?`."""
    return ", ".join("?" if dim == DYNAMIC_INDEX else str(dim) for dim in dims)


def type_text(type: Attribute, without_form: Callable[[str], str] | None = None) -> str:
    """
    Return `Tensor[(3, ?), float32]`, `fn (A) -> B`, `List[A]`; an unknown type is `_`.

    `without_form` is called with what has no form in Relay text; by default it is written as in IR.
    """

    def text(type: Attribute) -> str:
        return type_text(type, without_form)

    def refused(what: str, shown: str) -> str:
        return shown if without_form is None else without_form(what)

    tensor = as_tensor(type)
    if tensor is not None:
        dtype = dtype_name(tensor.element_type)
        if dtype not in ELEMENT_TYPES:
            dtype = refused(f"elements of type {tensor.element_type}", str(tensor.element_type))
        if not tensor.get_num_dims():
            return dtype
        return f"Tensor[({dims_text(tensor.get_shape())}), {dtype}]"
    match type:
        case TupleType():
            return f"({', '.join(map(text, type.types))})"
        case FunctionType():
            return f"fn ({', '.join(map(text, type.inputs))}) -> {result_text(type, without_form)}"
        case relay.RefType():
            return f"ref({text(type.contents)})"
        case relay.AdtType():
            args = f"[{', '.join(map(text, type.args))}]" if type.args.data else ""
            return f"{type.adt.string_value()}{args}"
        case StorageType():
            return f"{STORAGE}[]"
        case relay.TypeVarType():
            return type.parameter.data
        case relay.IncompleteType():
            return "_"
        case _:
            return refused(f"the type {type}", "_")


def result_text(type: FunctionType, without_form: Callable[[str], str] | None = None) -> str:
    """Return a function's result type: its one result, or a tuple of its results."""
    outputs = [type_text(output, without_form) for output in type.outputs]
    return outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"


# ------------------------------------------------------------------ printing


def tuple_text(fields: Sequence[str]) -> str:
    """Return a tuple of expressions: `(a, b)`, `(a,)` or `()`."""
    return f"({fields[0]},)" if len(fields) == 1 else f"({', '.join(fields)})"


def dtype_text(element_type: Attribute, at: Operation) -> str:
    """Return the dtype of elements: `float32`, `bool`, `uint8`."""
    name = dtype_name(element_type)
    if name not in ELEMENT_TYPES:
        raise unprintable(f"elements of type {element_type}", at)
    return name


class TypeTexts:
    """The texts of types, without devices; computed once for each."""

    def __init__(self) -> None:
        self._known: dict[Attribute, str] = {}

    @property
    def mention_storage(self) -> bool:
        """True if a text names TVM's type of storage, which the program must then declare."""
        return any("Storage[]" in text for text in self._known.values())

    def text(self, type: Attribute, at: Operation) -> str:
        """Return the text of a type; errors are reported at `at`."""
        text = self._known.get(type)
        if text is None:
            text = self._known[type] = type_text(type, lambda what: _refuse(what, at))
        return text

    def result(self, type: FunctionType, at: Operation) -> str:
        """Return a function's result type: its one result, or a tuple of its results."""
        return result_text(type, lambda what: _refuse(what, at))


def _refuse(what: str, at: Operation) -> str:
    raise unprintable(what, at)


def place_of(type: Attribute) -> VirtualDeviceAttr | None:
    """Return the device of `type` in an annotation; for a function, that of its result."""
    while isinstance(type, FunctionType) and type.outputs.data:
        type = type.outputs.data[0]
    return device_of(type)
