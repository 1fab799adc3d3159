"""
One node of an ONNX graph as its converter sees it.

Inputs are values, attributes are read by name and type, and every complaint names the node.
An attribute that the converter has not read is one that it does not support.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import AttributeProto, NodeProto
from xdsl.dialects.builtin import FileLineColLoc, LocationAttr, NameLoc, StringAttr

from .errors import OnnxError
from .tensors import array_of, dtype_of_number
from .values import Array, Constant, Value, shape_of

_KINDS = {
    AttributeProto.INT: "an integer",
    AttributeProto.INTS: "a list of integers",
    AttributeProto.FLOAT: "a float",
    AttributeProto.FLOATS: "a list of floats",
    AttributeProto.STRING: "a string",
    AttributeProto.TENSOR: "a tensor",
}


def _kind(number: int) -> str:
    """A type of attributes in words."""
    for kind, words in _KINDS.items():
        if kind == number:
            return words
    return f"of type {number}"


@dataclass
class Node:
    """A node with its inputs resolved; `inputs[i]` is None where an optional one is left out."""

    proto: NodeProto
    opset: int
    place: FileLineColLoc
    inputs: Sequence[Value | None] = ()
    used: frozenset[str] = frozenset()
    """The names among `outputs` that something in the graph needs."""
    _attributes: dict[str, AttributeProto] = field(init=False)
    _read: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self._attributes = {a.name: a for a in self.proto.attribute}

    # ------------------------------------------------------------ who it is

    @property
    def op_type(self) -> str:
        return self.proto.op_type

    @property
    def outputs(self) -> Sequence[str]:
        """The names of the results; "" where an optional one is left out."""
        return list(self.proto.output)

    @property
    def title(self) -> str:
        """The node's name or, when it has none, that of its first output."""
        return self.proto.name or next((o for o in self.outputs if o), self.op_type)

    @property
    def location(self) -> LocationAttr:
        return NameLoc(StringAttr(self.title), self.place)

    def error(self, message: str) -> OnnxError:
        """An error about this node: `message` after node, operator and opset."""
        return OnnxError(
            f'node "{self.title}" ({self.op_type}, opset {self.opset}): {message}', self.place
        )

    # --------------------------------------------------------------- inputs

    def optional(self, index: int) -> Value | None:
        """Input `index`, if the node has it."""
        return self.inputs[index] if index < len(self.inputs) else None

    def input(self, index: int) -> Value:
        """Input `index`, which the operator demands."""
        value = self.optional(index)
        if value is None:
            raise self.error(f"input {index} is missing")
        return value

    def variadic(self) -> list[Value]:
        """All inputs, of which there must be at least one."""
        return [self.input(i) for i in range(max(1, len(self.inputs)))]

    def optional_array(self, index: int, what: str) -> Array | None:
        """Input `index`, if the node has it, which must be known at compile time."""
        value = self.optional(index)
        if value is None:
            return None
        if not isinstance(value, Constant):
            raise self.error(
                f"{what} (input {index}) is computed at run time; supported: initializers, "
                "constants, and what is computed from these and from static shapes"
            )
        return value.array

    def array(self, index: int, what: str) -> Array:
        """Input `index`, which must be known at compile time."""
        self.input(index)
        array = self.optional_array(index, what)
        assert array is not None
        return array

    def ints_at(self, index: int, what: str) -> list[int] | None:
        """Input `index`, if the node has it, as a list of integers known at compile time."""
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
        """Input `index`, which the operator demands, as a list of integers."""
        self.input(index)
        return self.ints_at(index, what) or []

    def scalar_at(self, index: int, what: str) -> Any | None:
        """Input `index`, if the node has it: its one element, known at compile time."""
        array = self.optional_array(index, what)
        if array is None:
            return None
        if array.size != 1:
            raise self.error(f"{what} (input {index}) must have one element, but has {array.size}")
        return array.reshape(-1)[0]

    # ----------------------------------------------------------- attributes

    def _attribute(self, name: str, kind: int) -> AttributeProto | None:
        self._read.add(name)
        found = self._attributes.get(name)
        if found is None:
            return None
        if found.ref_attr_name:
            raise self.error(f"attribute {name} refers to an attribute of a function")
        if found.type != kind:
            wanted, actual = _kind(kind), _kind(found.type)
            raise self.error(f"attribute {name} must be {wanted}, but is {actual}")
        return found

    def optional_int(self, name: str) -> int | None:
        """The integer attribute `name`, if the node has it."""
        found = self._attribute(name, AttributeProto.INT)
        return None if found is None else found.i

    def integer(self, name: str, default: int) -> int:
        """The integer attribute `name`."""
        found = self.optional_int(name)
        return default if found is None else found

    def flag(self, name: str, default: bool) -> bool:
        """The attribute `name`, which is 0 or 1."""
        value = self.integer(name, int(default))
        if value not in (0, 1):
            raise self.error(f"attribute {name} is {value}; supported: 0, 1")
        return bool(value)

    def ints(self, name: str) -> list[int] | None:
        """The attribute `name`, a list of integers, if the node has it."""
        found = self._attribute(name, AttributeProto.INTS)
        return None if found is None else list(found.ints)

    def optional_float(self, name: str) -> float | None:
        """The float attribute `name`, if the node has it."""
        found = self._attribute(name, AttributeProto.FLOAT)
        return None if found is None else found.f

    def number(self, name: str, default: float) -> float:
        """The float attribute `name`."""
        found = self.optional_float(name)
        return default if found is None else found

    def floats(self, name: str) -> list[float] | None:
        """The attribute `name`, a list of floats, if the node has it."""
        found = self._attribute(name, AttributeProto.FLOATS)
        return None if found is None else list(found.floats)

    def choice(self, name: str, default: str, supported: Sequence[str]) -> str:
        """The string attribute `name`, which must be one of `supported`."""
        found = self._attribute(name, AttributeProto.STRING)
        value = default if found is None else found.s.decode("utf-8", "replace")
        if value not in supported:
            raise self.error(f'attribute {name} is "{value}"; supported: {", ".join(supported)}')
        return value

    def tensor(self, name: str) -> Array | None:
        """The tensor attribute `name`, if the node has it."""
        found = self._attribute(name, AttributeProto.TENSOR)
        if found is None:
            return None
        try:
            return array_of(found.t)
        except OnnxError as error:
            raise self.error(f"attribute {name}: {error.message}") from None

    def dtype(self, name: str) -> np.dtype[Any]:
        """The attribute `name`, which every node has: a dtype by ONNX's number."""
        number = self.optional_int(name)
        if number is None:
            raise self.error(f"attribute {name} is missing")
        try:
            return dtype_of_number(number)
        except OnnxError as error:
            raise self.error(f"attribute {name}: {error.message}") from None

    def ignore(self, *names: str) -> None:
        """Accept the attributes `names`, whose value changes nothing."""
        self._read.update(names)

    def require_all_read(self) -> None:
        """Complain about the attributes that the converter has not asked for."""
        unknown = sorted(self._attributes.keys() - self._read)
        if unknown:
            supported = ", ".join(sorted(self._read)) or "none"
            raise self.error(
                f"attribute {unknown[0]} is not supported; supported attributes: {supported}"
            )

    # ------------------------------------------------------- what they share

    def int_list(self, name: str, index: int) -> list[int] | None:
        """Integers that are the attribute `name` in old opsets and input `index` in new ones."""
        found = self.ints(name)
        return self.ints_at(index, name) if found is None else found

    def axis(self, axis: int, rank: int, what: str = "axis") -> int:
        """`axis` of a tensor of `rank` dims, counted from the front."""
        if not -rank <= axis < rank:
            raise self.error(
                f"{what} must be in [{-rank}, {rank}), but is {axis}"
                if rank
                else f"{what} is {axis}, but the tensor has no dims"
            )
        return axis % rank

    def axes(self, axes: Sequence[int], rank: int) -> list[int]:
        """`axes` of a tensor of `rank` dims, counted from the front, in order, each once."""
        found = [self.axis(a, rank, "an axis") for a in axes]
        if len(set(found)) != len(found):
            raise self.error(f"axes must differ, but are {list(axes)}")
        return found

    def require_rank(self, value: Value, ranks: Sequence[int], what: str) -> None:
        """`value` must have one of `ranks` dims."""
        rank = len(shape_of(value))
        if rank not in ranks:
            raise self.error(
                f"{what} has rank {rank}; supported: {', '.join(str(r) for r in ranks)}"
            )

    def require_unused(self, index: int, what: str) -> None:
        """Nothing may need output `index`."""
        if index < len(self.outputs) and self.outputs[index] in self.used:
            raise self.error(f"output {index} ({what}) is used; supported: output 0 only")
