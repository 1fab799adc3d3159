"""
A node of an ONNX graph as its converter sees it.

Inputs are values, attributes are read by name and type, and every error names the node. Attributes
that the converter does not read are reported as unsupported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto, ValueInfoProto, helper
from xdsl.dialects.builtin import FileLineColLoc, LocationAttr, NameLoc, StringAttr

from ..errors import OnnxError
from ..model.external import ExternalData, array_of, dtype_of_number
from ..model.onnx_model import domain_of
from .onnx_data import Datum, is_tensor
from .onnx_values import Array, Constant, Value, rank_of

_KINDS = {
    AttributeProto.INT: "an integer",
    AttributeProto.INTS: "a list of integers",
    AttributeProto.FLOAT: "a float",
    AttributeProto.FLOATS: "a list of floats",
    AttributeProto.STRING: "a string",
    AttributeProto.TENSOR: "a tensor",
    AttributeProto.GRAPH: "a graph",
    AttributeProto.STRINGS: "a list of strings",
}


def _kind(number: int) -> str:
    """Describe an attribute type."""
    for kind, words in _KINDS.items():
        if kind == number:
            return words
    return f"of type {number}"


class NodeError(OnnxError):
    """
    A node cannot be converted, for a `reason`.

    `unknown` is the value that is computed at run time, but must be known; or, if it `needs_shape`,
    its shape.
    """

    def __init__(
        self, node: Node, reason: str, unknown: Value | None = None, needs_shape: bool = False
    ):
        self.operator = f"{node.op_type}, opset {node.opset}"
        super().__init__(f'node "{node.title}" ({self.operator}): {reason}', node.place)
        self.title = node.title
        self.reason = reason
        self.unknown = unknown
        self.needs_shape = needs_shape


@dataclass
class Node:
    """A node with resolved inputs; `inputs[i]` is None if optional and omitted."""

    proto: NodeProto
    opsets: Mapping[str, int]
    place: FileLineColLoc
    inputs: Sequence[Datum | None] = ()
    used: frozenset[str] = frozenset()
    """The names among `outputs` that the graph uses."""
    declared: Mapping[str, ValueInfoProto] = field(default_factory=dict[str, ValueInfoProto])
    """The types that the model declares for results, by name."""
    external: ExternalData | None = None
    """The files of tensors in attributes."""
    op_type: str = field(init=False)
    domain: str = field(init=False)
    opset: int = field(init=False)
    """The version of its operator set; 1 if the model does not say."""
    outputs: Sequence[str] = field(init=False)
    """The names of the results; "" for an optional one that is omitted."""
    _attributes: dict[str, AttributeProto] = field(init=False)
    _read: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.op_type = self.proto.op_type
        self.domain = domain_of(self.proto.domain)
        self.opset = self.opsets.get(self.domain, 1)
        self.outputs = list(self.proto.output)
        self._attributes = {a.name: a for a in self.proto.attribute}

    # ------------------------------------------------------------- identity

    @property
    def function(self) -> tuple[str, str, str]:
        """Domain, name and overload of the function that it calls, if it calls one."""
        return self.domain, self.op_type, self.proto.overload

    @cached_property
    def title(self) -> str:
        """The node's name or, if it has none, that of its first output."""
        return self.proto.name or next((o for o in self.outputs if o), self.op_type)

    @cached_property
    def location(self) -> LocationAttr:
        return NameLoc(StringAttr(self.title), self.place)

    def error(
        self, message: str, unknown: Value | None = None, needs_shape: bool = False
    ) -> NodeError:
        """
        Return the error `message`, prefixed with node, operator and opset.

        `unknown` is the value that must be known, or whose shape must be.
        """
        return NodeError(self, message, unknown, needs_shape)

    # --------------------------------------------------------------- inputs

    def optional_datum(self, index: int) -> Datum | None:
        """Return input `index`, also a sequence or an optional value; None if it is omitted."""
        return self.inputs[index] if index < len(self.inputs) else None

    def datum(self, index: int) -> Datum:
        """Return input `index`, also a sequence or an optional value."""
        value = self.optional_datum(index)
        if value is None:
            raise self.error(f"input {index} is missing")
        return value

    def optional(self, index: int) -> Value | None:
        """Return input `index`, a tensor, or None if it is omitted."""
        value = self.optional_datum(index)
        if value is None or is_tensor(value):
            return value
        raise self.error(f"input {index} is a sequence or optional; supported: tensors")

    def input(self, index: int) -> Value:
        """Return input `index`, which the operator requires."""
        value = self.optional(index)
        if value is None:
            raise self.error(f"input {index} is missing")
        return value

    def variadic(self) -> list[Value]:
        """Return all inputs, of which there must be at least one."""
        return [self.input(i) for i in range(max(1, len(self.inputs)))]

    def is_known(self, *indices: int) -> bool:
        """Test whether the inputs at `indices` are known at compile time, or omitted."""
        return all(isinstance(self.optional_datum(i), Constant | None) for i in indices)

    def optional_array(self, index: int, what: str) -> Array | None:
        """Return input `index` as an array known at compile time, or None if it is omitted."""
        value = self.optional(index)
        if value is None:
            return None
        if not isinstance(value, Constant):
            raise self.error(
                f"{what} (input {index}) is computed at run time; supported: initializers, "
                "constants, and what is computed from these and from static shapes",
                value,
            )
        return value.array

    def array(self, index: int, what: str) -> Array:
        """Return input `index` as an array known at compile time."""
        self.input(index)
        array = self.optional_array(index, what)
        assert array is not None
        return array

    def ints_at(self, index: int, what: str) -> list[int] | None:
        """Return input `index` as integers known at compile time, or None if it is omitted."""
        array = self.optional_array(index, what)
        if array is None:
            return None
        if array.dtype.kind not in "iu" or array.ndim > 1:
            raise self.error(
                f"{what} (input {index}) must be a vector of integers, but is "
                f"{array.dtype} of shape {list(array.shape)}"
            )
        return [int(i) for i in array.reshape(-1)]

    def required_ints(self, index: int, what: str) -> list[int]:
        """Return input `index`, which the operator requires, as a list of integers."""
        self.input(index)
        return self.ints_at(index, what) or []

    def scalar_at(self, index: int, what: str) -> Any | None:
        """Return the only element of input `index`, which must be known; None if it is omitted."""
        array = self.optional_array(index, what)
        if array is None:
            return None
        if array.size != 1:
            raise self.error(f"{what} (input {index}) must have one element, but has {array.size}")
        return array.reshape(-1)[0]

    # ----------------------------------------------------------- attributes

    def _attribute(self, name: str, kind: int) -> Any:
        """Return the value of the attribute `name`, which must be of a kind; None if absent."""
        self._read.add(name)
        attribute = self._attributes.get(name)
        if attribute is None:
            return None
        if attribute.ref_attr_name:
            raise self.error(f"attribute {name} refers to one of a function, but is not in one")
        if attribute.type != kind:
            wanted, actual = _kind(kind), _kind(attribute.type)
            raise self.error(f"attribute {name} must be {wanted}, but is {actual}")
        return helper.get_attribute_value(attribute)

    def _required(self, name: str, value: Any) -> Any:
        if value is None:
            raise self.error(f"attribute {name} is missing")
        return value

    def optional_int(self, name: str) -> int | None:
        """Return the integer attribute `name`, if present."""
        return self._attribute(name, AttributeProto.INT)

    def integer(self, name: str, default: int) -> int:
        """Return the integer attribute `name`."""
        value = self.optional_int(name)
        return default if value is None else value

    def flag(self, name: str, default: bool) -> bool:
        """Return the attribute `name`, which is 0 or 1."""
        value = self.integer(name, int(default))
        if value not in (0, 1):
            raise self.error(f"attribute {name} is {value}; supported: 0, 1")
        return bool(value)

    def ints(self, name: str) -> list[int] | None:
        """Return the attribute `name`, a list of integers, if present."""
        return self._attribute(name, AttributeProto.INTS)

    def optional_float(self, name: str) -> float | None:
        """Return the float attribute `name`, if present."""
        return self._attribute(name, AttributeProto.FLOAT)

    def number(self, name: str, default: float) -> float:
        """Return the float attribute `name`."""
        value = self.optional_float(name)
        return default if value is None else value

    def floats(self, name: str) -> list[float] | None:
        """Return the attribute `name`, a list of floats, if present."""
        return self._attribute(name, AttributeProto.FLOATS)

    def choice(self, name: str, default: str, supported: Sequence[str]) -> str:
        """Return the string attribute `name`, which must be one of `supported`."""
        text = self._attribute(name, AttributeProto.STRING)
        value = default if text is None else text.decode("utf-8", "replace")
        if value not in supported:
            raise self.error(f'attribute {name} is "{value}"; supported: {", ".join(supported)}')
        return value

    def text(self, name: str) -> str:
        """Return the required string attribute `name`."""
        text = self._required(name, self._attribute(name, AttributeProto.STRING))
        return text.decode("utf-8", "replace")

    def tensor(self, name: str) -> Array | None:
        """Return the tensor attribute `name`, if present."""
        tensor = self._attribute(name, AttributeProto.TENSOR)
        if tensor is None:
            return None
        try:
            return array_of(tensor, self.external)
        except OnnxError as error:
            raise self.error(f"attribute {name}: {error.message}") from None

    def graph(self, name: str) -> GraphProto:
        """Return the required graph attribute `name`."""
        return self._required(name, self._attribute(name, AttributeProto.GRAPH))

    def words(self, name: str) -> list[str] | None:
        """Return the attribute `name`, a list of strings, if present."""
        texts = self._attribute(name, AttributeProto.STRINGS)
        return None if texts is None else [text.decode("utf-8", "replace") for text in texts]

    def dtype(self, name: str) -> np.dtype[Any]:
        """Return the required attribute `name`, a dtype by ONNX's number."""
        number = self._required(name, self.optional_int(name))
        try:
            return dtype_of_number(number)
        except OnnxError as error:
            raise self.error(f"attribute {name}: {error.message}") from None

    def ignore(self, *names: str) -> None:
        """Accept the attributes `names`, whose values have no effect."""
        self._read.update(names)

    def require_all_read(self) -> None:
        """Reject the attributes that the converter has not read."""
        unknown = sorted(self._attributes.keys() - self._read)
        if unknown:
            supported = ", ".join(sorted(self._read)) or "none"
            raise self.error(
                f"attribute {unknown[0]} is not supported; supported attributes: {supported}"
            )

    # --------------------------------------------------------------- checks

    def int_list(self, name: str, index: int) -> list[int] | None:
        """Return integers from attribute `name` (old opsets) or input `index` (new opsets)."""
        numbers = self.ints(name)
        return self.ints_at(index, name) if numbers is None else numbers

    def axis(self, axis: int, rank: int, what: str = "axis") -> int:
        """Return `axis` of a tensor of `rank` dims, counted from the front."""
        if not -rank <= axis < rank:
            raise self.error(
                f"{what} must be in [{-rank}, {rank}), but is {axis}"
                if rank
                else f"{what} is {axis}, but the tensor has no dims"
            )
        return axis % rank

    def axes(self, axes: Sequence[int], rank: int) -> list[int]:
        """Return distinct `axes` of a tensor of `rank` dims, counted from the front, sorted."""
        axes_from_front = [self.axis(a, rank, "an axis") for a in axes]
        if len(set(axes_from_front)) != len(axes_from_front):
            raise self.error(f"axes must differ, but are {list(axes)}")
        return axes_from_front

    def require_rank(self, value: Value, ranks: Sequence[int], what: str) -> None:
        """Require that the rank of `value` is one of `ranks`."""
        rank = rank_of(value)
        if rank not in ranks:
            raise self.error(
                f"{what} has rank {rank}; supported: {', '.join(str(r) for r in ranks)}"
            )

    def output_rank(self, index: int = 0) -> int | None:
        """Return the rank that the model declares for output `index`; None if it does not."""
        info = self.declared.get(self.outputs[index]) if index < len(self.outputs) else None
        if info is None or not info.type.tensor_type.HasField("shape"):
            return None
        return len(info.type.tensor_type.shape.dim)

    def is_used(self, index: int) -> bool:
        """Test whether output `index` is used."""
        return index < len(self.outputs) and self.outputs[index] in self.used

    def require_unused(self, index: int, what: str) -> None:
        """Require that output `index` is not used."""
        if self.is_used(index):
            raise self.error(f"output {index} ({what}) is used; supported: output 0 only")
