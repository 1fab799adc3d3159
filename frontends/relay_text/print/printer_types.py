"""Types in Relay text; a type without such a form is an error at the op."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, TupleType
from xdsl.ir import Attribute, Operation

from ....dialects.attributes import ELEMENT_TYPES
from ....dialects.device import VirtualDeviceAttr, device_of
from ....dialects.memory import StorageType
from ....dialects.relay.incomplete import IncompleteType
from ....dialects.relay.language.language_types import AdtType, RefType, TypeVarType
from ....dialects.tensors import as_tensor, dtype_name
from ..errors import unprintable


def tuple_type(types: list[str]) -> str:
    """Return a tuple type; Relay writes `(T)` for the tuple of one."""
    return f"({', '.join(types)})"


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
        self.mention_storage = False
        """True once a text names TVM's type of storage, which the program must then declare."""

    def text(self, type: Attribute, at: Operation) -> str:
        """
        Return `Tensor[(3, ?), float32]`, `(int32, fn (A) -> B)`, `List[A]`; errors are reported at
        `at`.
        """
        text = self._known.get(type)
        if text is None:
            text = self._known[type] = self._text(type, at)
        return text

    def _text(self, type: Attribute, at: Operation) -> str:
        tensor = as_tensor(type)
        if tensor is not None:
            dtype = dtype_text(tensor.element_type, at)
            if not tensor.get_num_dims():
                return dtype
            dims = ("?" if dim == DYNAMIC_INDEX else str(dim) for dim in tensor.get_shape())
            return f"Tensor[({', '.join(dims)}), {dtype}]"
        match type:
            case TupleType():
                return tuple_type([self.text(t, at) for t in type.types])
            case FunctionType():
                params = ", ".join(self.text(t, at) for t in type.inputs)
                return f"fn ({params}) -> {self.result(type, at)}"
            case RefType():
                return f"ref({self.text(type.contents, at)})"
            case AdtType():
                args = ", ".join(self.text(t, at) for t in type.args)
                return f"{type.adt.string_value()}[{args}]" if args else type.adt.string_value()
            case StorageType():
                self.mention_storage = True
                return "Storage[]"
            case TypeVarType():
                return type.parameter.data
            case IncompleteType():
                return "_"
            case _:
                raise unprintable(f"the type {type}", at)

    def result(self, type: FunctionType, at: Operation) -> str:
        """Return a function's result type: its one result, or a tuple of its results."""
        outputs = [self.text(t, at) for t in type.outputs]
        return outputs[0] if len(outputs) == 1 else tuple_type(outputs)


def place_of(type: Attribute) -> VirtualDeviceAttr | None:
    """Return the device of `type` in an annotation; for a function, that of its result."""
    while isinstance(type, FunctionType) and type.outputs.data:
        type = type.outputs.data[0]
    return device_of(type)
