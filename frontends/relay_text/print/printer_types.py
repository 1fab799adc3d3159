"""Types in Relay text; a type without such a form is an error at the op."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Operation

from ....dialects.attributes import ELEMENT_TYPES
from ....dialects.device import VirtualDeviceAttr, device_of
from ....dialects.tensors import dtype_name
from ..errors import unprintable
from ..type_texts import type_text


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
        outputs = [self.text(t, at) for t in type.outputs]
        return outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"


def _refuse(what: str, at: Operation) -> str:
    raise unprintable(what, at)


def place_of(type: Attribute) -> VirtualDeviceAttr | None:
    """Return the device of `type` in an annotation; for a function, that of its result."""
    while isinstance(type, FunctionType) and type.outputs.data:
        type = type.outputs.data[0]
    return device_of(type)
