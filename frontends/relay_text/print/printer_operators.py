"""
Print operators by their TVM names, with the attributes that differ from TVM's defaults.

    relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>}
    ->
    nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3])

This is the inverse of `operators.py`, whose rules state the differences. Attributes that TVM's
printer writes although types imply them (channels, units), or although they have a default here
(padding), are written too.
"""

from __future__ import annotations

from collections.abc import Callable
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

from ....dialects.attributes import properties_of
from ....dialects.device import VirtualDeviceAttr
from ....dialects.relay import BY_NAME
from ....dialects.tensors import as_tensor, dtype_name
from ..errors import unprintable
from ..tvm_operators import rule_of
from .printer_literals import attribute_float, string_text
from .printer_metadata import MetadataTable

_SEGMENTS = ("operandSegmentSizes", "resultSegmentSizes")
_ALWAYS: dict[str, dict[str, str]] = {
    "nn.avg_pool2d": {"padding": ""},
    "nn.conv2d": {"padding": ""},
    "nn.conv2d_transpose": {"padding": ""},
    "nn.max_pool2d": {"padding": ""},
    "nn.upsampling": {"scale_h": "", "scale_w": ""},
    "repeat": {"axis": ""},
    "reverse": {"axis": ""},
    "strided_slice": {"strides": "[]", "axes": "None"},
    "transpose": {"axes": "None"},
}
"""
Attributes that are printed although they have our default, because TVM has none or prints them
too, with their text where they are absent.
"""


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


def _pairs(value: Attribute) -> str:
    """Return the text of `pad_width`: the numbers before and after, for each dimension."""
    numbers = cast("DenseArrayBase[Any]", value).get_values()
    pairs = zip(numbers[::2], numbers[1::2], strict=False)
    return f"[{', '.join(f'[{before}, {after}]' for before, after in pairs)}]"


# ------------------------------------------------ what only repeats the types


def _static_dims(op: Operation, operand: int) -> tuple[int, ...]:
    """Return the dims of an operand; empty when one is unknown."""
    type = as_tensor(op.operands[operand].type)
    dims = () if type is None else type.get_shape()
    return () if DYNAMIC_INDEX in dims else dims


def _conv2d(op: Operation) -> list[str]:
    dims = _static_dims(op, 1)
    order = cast(StringAttr, op.properties["kernel_layout"]).data
    if len(dims) != 4 or sorted(order) != sorted("OIHW"):
        return []
    channels, *sizes = (dims[order.index(side)] for side in "OHW")
    return [f"channels={channels}", f"kernel_size=[{sizes[0]}, {sizes[1]}]"]


def _conv2d_transpose(op: Operation) -> list[str]:
    dims = _static_dims(op, 1)
    groups = cast("IntegerAttr[IntegerType]", op.properties["groups"]).value.data
    if len(dims) != 4:
        return []
    return [f"channels={dims[1] * groups}", f"kernel_size=[{dims[2]}, {dims[3]}]"]


def _dense(op: Operation) -> list[str]:
    dims = _static_dims(op, 1)
    return [f"units={dims[0]}"] if len(dims) == 2 else []


def _matmul(op: Operation) -> list[str]:
    dims = _static_dims(op, 1)
    transposed = cast("IntegerAttr[IntegerType]", op.properties["transpose_b"]).value.data
    return [f"units={dims[0 if transposed else 1] if len(dims) == 2 else None}"]


_REPEATED: dict[str, tuple[str | None, Callable[[Operation], list[str]]]] = {
    "nn.conv2d": ("data_layout", _conv2d),
    "nn.conv2d_transpose": ("data_layout", _conv2d_transpose),
    "nn.dense": ("out_dtype", _dense),
    "nn.matmul": ("out_dtype", _matmul),
}
"""The attributes that repeat types, by the attribute they are printed before."""


# ------------------------------------------------------- what means another thing


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
_REDUCTIONS = ("sum", "mean", "max", "min", "prod", "all", "any", "argmax", "argmin")
_OTHERWISE = dict.fromkeys(_REDUCTIONS, _reduction)
"""Attributes whose text differs from that of their value."""


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
        before, repeated = _REPEATED.get(name, (None, None))
        texts = _OTHERWISE[name](op) if name in _OTHERWISE else {}
        properties = op.properties
        shown: list[str] = []
        for key, default, always in known:
            if key == before and repeated is not None:
                shown += repeated(op)
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
                text = _pairs(value) if key == "pad_width" else None
                text = text or attribute_text(value, self._table, op)
            shown.append(f"{key}={text}")
        return shown


def _defaults(op: Operation, name: str) -> list[tuple[str, Attribute | None, str | None]]:
    """
    Return TVM's default of each property, in order, and its text in `_ALWAYS` if there is one.
    """
    assert isinstance(op, IRDLOperation)
    cls = type(op)
    defaults: dict[str, Attribute | None] = {
        key: definition.default_value
        for key, definition in cls.get_irdl_definition().properties.items()
        if key not in _SEGMENTS
    }
    if name in BY_NAME:
        defaults |= properties_of(cls, rule_of(name).defaults)
    always = _ALWAYS.get(name, {})
    return [(key, default, always.get(key)) for key, default in defaults.items()]
