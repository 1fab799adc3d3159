"""
Print operators by their TVM names, with the attributes that differ from TVM's defaults.

    relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>}
    ->
    nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3])

The rules of `tvm_operators.py`, which the reader uses too, state the differences to our attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    NoneType,
    StringAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation

from ....dialects.attributes import plain_value, properties_of
from ....dialects.device import VirtualDeviceAttr
from ....dialects.tensors import as_tensor, dtype_name
from ..errors import unprintable
from ..literals import attribute_float, string_text
from ..tvm_operators import BY_NAME, PAIRS, is_reduction, pairs_of, rule_of
from ..tvm_weights import IMPLYING, WEIGHTS, Weight
from .printer_metadata import MetadataTable

_SEGMENTS = ("operandSegmentSizes", "resultSegmentSizes")


def attribute_text(value: Attribute, table: MetadataTable, at: Operation) -> str:
    """Return the text of an attribute's value; errors are reported at `at`."""
    match value:
        case IntegerAttr():
            number = cast("IntegerAttr[IntegerType]", value)
            if number.type == i1:
                return "True" if number.value.data else "False"
            return str(number.value.data)
        case DenseArrayBase():
            numbers = cast("DenseArrayBase[Any]", value).get_values()
            return f"[{', '.join(map(str, numbers))}]"
        case FloatAttr():
            text = attribute_float(value.value.data)
            if text is not None:
                return text
        case StringAttr():
            return string_text(value.data)
        case ArrayAttr():
            return f"[{', '.join(attribute_text(part, table, at) for part in value)}]"
        case DictionaryAttr():
            entries = (
                f"{string_text(key)}={attribute_text(part, table, at)}"
                for key, part in value.data.items()
            )
            return f"{{{', '.join(entries)}}}"
        case NoneType():
            return "None"
        case DenseIntOrFPElementsAttr():
            return table.constant(cast("DenseIntOrFPElementsAttr[Any]", value), at)
        case VirtualDeviceAttr():
            return table.device(value, at)
        case _:
            name = dtype_name(value)
            if name is not None:
                return f'"{name}"'
    raise unprintable(f"the attribute value {value}", at)


def _repeated_texts(op: Operation, repeated: Weight) -> list[str]:
    """Return the attributes that repeat the shape of the weight, where that is static."""
    type = as_tensor(op.operands[repeated.operand].type)
    weight = () if type is None else type.get_shape()
    values: Mapping[str, object] = {}
    if DYNAMIC_INDEX not in weight:
        attrs = {k: plain_value(value) for k, value in op.properties.items() if k in IMPLYING}
        values = repeated.implied(attrs, weight)
    shown: list[str] = []
    for key in repeated.names:
        value: Any = values.get(key)
        text = f"{[*value]}" if isinstance(value, tuple) else f"{value}"
        text = f'"{value}"' if isinstance(value, str) else text
        text = repeated.unknown if value is None else text
        shown += [] if text is None else [f"{key}={text}"]
    return shown


def _reduction(op: Operation) -> dict[str, str]:
    """Print a reduction over no axes as one that excludes all axes: TVM's `[]` means all."""
    axis, exclude = op.properties.get("axis"), op.properties.get("exclude")
    type = as_tensor(op.operands[0].type)
    if axis != _NO_AXES or type is None or exclude == _TRUE:
        return {}
    every = ", ".join(map(str, range(type.get_num_dims())))
    return {"axis": f"[{every}]", "exclude": "True"}


_TRUE = IntegerAttr(1, i1)
_NO_AXES = DenseArrayBase.from_list(i64, [])


class OperatorTexts:
    """Texts of operators' attributes; facts about a class are computed once."""

    def __init__(self, table: MetadataTable) -> None:
        self._table = table
        self._known: dict[type[Operation], list[tuple[str, Attribute | None, str | None]]] = {}

    def attributes(self, op: Operation, name: str) -> list[str]:
        """Return `["axis=1", "epsilon=1e-05f"]`."""
        known = self._known.get(type(op))
        if known is None:
            known = self._known[type(op)] = _defaults(op, name)
        weight = WEIGHTS.get(name)
        texts = _reduction(op) if is_reduction(name) else {}
        properties = op.properties
        shown: list[str] = []
        for key, default, always in known:
            if weight is not None and key == weight.printed_before:
                shown += _repeated_texts(op, weight)
            value = properties.get(key)
            if key in texts:
                text = texts[key]
            elif value is None:
                if not always:
                    continue
                text = always
            elif always is None and (value is default or value == default):
                continue
            else:
                if key in PAIRS:
                    text = str(pairs_of(cast("DenseArrayBase[Any]", value).get_values()))
                else:
                    text = attribute_text(value, self._table, op)
            shown.append(f"{key}={text}")
        return shown


def _defaults(op: Operation, name: str) -> list[tuple[str, Attribute | None, str | None]]:
    """Return TVM's default of each property, in order, and its text if it is always printed."""
    assert isinstance(op, IRDLOperation)
    cls = type(op)
    defaults: dict[str, Attribute | None] = {
        key: definition.default_value
        for key, definition in cls.get_irdl_definition().properties.items()
        if key not in _SEGMENTS
    }
    if name in BY_NAME:
        defaults |= properties_of(cls, rule_of(name).defaults)
    always = {"padding": "", **rule_of(name).always}
    return [(key, default, always.get(key)) for key, default in defaults.items()]
