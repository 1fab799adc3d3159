"""
Sequences and optional values: data of the types `List` and `Option` of Relay's prelude.

    SequenceConstruct(x, y)  ->  Items((x, y))  ->  relay.construct @Cons(%x, @Cons(%y, @Nil()))
    Optional()               ->  Absent()       ->  relay.construct @None()

A sequence of known length is its elements, and an optional value that is there is itself, until an
op needs data. The dims of tensors in data are open, so that equal ranks are equal types.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeGuard

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue

from ....dialects.device import tensor_type
from ....dialects.relay.incomplete import IncompleteType
from ....dialects.relay.language.language_types import AdtType
from ....dialects.tensors import as_tensor
from .onnx_values import Constant, Value, tensor_type_of

LIST, OPTION = "List", "Option"


@dataclass(frozen=True, eq=False)
class Items:
    """A sequence of known length."""

    elements: tuple[Datum, ...]


@dataclass(frozen=True, eq=False)
class Absent:
    """An optional value that is not there."""


Datum: TypeAlias = Value | Items | Absent


def constructors_in(type: Attribute) -> Iterator[str]:
    """Yield a constructor of each data type in `type`."""
    while isinstance(type, AdtType):
        yield "Cons" if is_data(type, LIST) else "Some"
        type = part_of(type)


class MixedTypes(Exception):
    """Values that must have a common type have none."""


def is_tensor(value: Datum | None) -> TypeGuard[Value]:
    """Test whether `value` is a tensor, not a sequence or an optional value."""
    if isinstance(value, SSAValue):
        return as_tensor(value.type) is not None
    return isinstance(value, Constant)


def is_data(type: Attribute, name: str) -> bool:
    """Test whether `type` is `List` or `Option`."""
    return isinstance(type, AdtType) and type.adt.string_value() == name


def part_of(type: Attribute) -> Attribute:
    """Return the type of what is in data of `type`."""
    assert isinstance(type, AdtType), f"{type} is not data"
    (part,) = type.args
    return part


def data_type(name: str, part: Attribute) -> AdtType:
    """Return the type of a `List` or an `Option` of `part`."""
    tensor = as_tensor(part)
    if tensor is not None:
        part = tensor_type(tensor.element_type, [DYNAMIC_INDEX] * tensor.get_num_dims())
    return AdtType(name, [part])


def type_of(value: Datum) -> Attribute:
    """Return the type of `value` once an op needs it."""
    if isinstance(value, Items):
        part: Attribute = IncompleteType()
        for element in value.elements:
            part = part_of(data_type(LIST, common(part, type_of(element))))
        return data_type(LIST, part)
    if isinstance(value, Absent):
        return data_type(OPTION, IncompleteType())
    return tensor_type_of(value) if isinstance(value, Constant) else value.type


def common(a: Attribute, b: Attribute) -> Attribute:
    """Return the type of values that are `a` or `b`; raise `MixedTypes` if there is none."""
    if isinstance(a, IncompleteType) or a == b:
        return b
    if isinstance(b, IncompleteType):
        return a
    for name in (OPTION, LIST):
        parts = [part_of(type) if is_data(type, name) else type for type in (a, b)]
        if parts == [a, b]:
            continue
        if name == LIST and (parts[0] is a or parts[1] is b):
            break
        return data_type(name, common(*parts))
    x, y = as_tensor(a), as_tensor(b)
    if x is not None and y is not None and x.element_type == y.element_type:
        dims = list(zip(x.get_shape(), y.get_shape(), strict=False))
        if len(dims) == x.get_num_dims() == y.get_num_dims():
            return tensor_type(x.element_type, [m if m == n else DYNAMIC_INDEX for m, n in dims])
    raise MixedTypes(f"{a} and {b} are not of one rank and element type")
