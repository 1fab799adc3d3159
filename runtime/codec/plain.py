"""
The form of values as plain data: numbers, texts, lists and dictionaries, as in JSON.

    PLAIN.of(Kernel).put(kernel)    ->    {"name": "add", "ins": [{"dtype": "float32", …

A record is a dictionary. `put` returns plain data, and `take` raises an error of `DAMAGED` for what
it did not return.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING
from typing import Any, cast

import numpy as np

from ..errors import MachineError
from ..program.dtypes import element_type, type_name
from ..program.program import Array
from .notes import Check
from .value_formats import Codec, Format, Stored


def plain(put: Callable[[Any], Any], take: Callable[[Any], Any]) -> Codec:
    """Return a codec: `put` returns plain data, which `take` turns into the value."""
    return Codec(put, take)


class PlainFormat(Format):
    """
    Fields by their names, tuples as lists, arrays in base64, bytes and floats in hexadecimal.

    JSON has no infinities, and the bits of a float must not change. In a record, what is missing
    has its default. In attributes, which have no None, a number stands for it, and fields that
    have their default are omitted.
    """

    def __init__(self, scalars: Mapping[type[Any], Codec], *, for_attributes: bool = False) -> None:
        super().__init__(scalars)
        self.for_attributes = for_attributes

    def checked(self, inner: Codec, checks: Sequence[Check], what: str) -> Codec:
        def take(data: Any) -> Any:
            value = inner.take(data)
            for fault in filter(None, (check.fault(value) for check in checks)):
                raise ValueError(f"{what} {fault}")
            return value

        return plain(inner.put, take)

    def bytes(self, length: int, what: str) -> Codec:
        return plain(bytes.hex, bytes.fromhex)

    def array(self, what: str) -> Codec:
        return plain(_of_array, _array)

    def optional(self, inner: Codec) -> Codec:
        def unless_none(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
            return lambda value: None if value is None else function(value)

        return plain(unless_none(inner.put), unless_none(inner.take))

    def none_as(self, number: int, what: str) -> Codec:
        integer = self.scalars[int]
        if not self.for_attributes:
            return self.optional(integer)
        return plain(
            lambda value: number if value is None else value,
            lambda data: None if data == number else integer.take(data),
        )

    def sequence(self, item: Codec, what: str) -> Codec:
        return plain(
            lambda values: list(map(item.put, values)),
            lambda data: tuple(map(item.take, _list(data))),
        )

    def product(self, items: Sequence[Codec], make: Callable[..., Any]) -> Codec:
        def put(values: Sequence[Any]) -> list[Any]:
            return [item.put(value) for item, value in zip(items, values, strict=True)]

        def take(data: Any) -> Any:
            return make(*(item.take(p) for item, p in zip(items, _list(data), strict=True)))

        return plain(put, take)

    def mapping(self, item: Codec, what: str) -> Codec:
        def put(values: Mapping[str, Any]) -> dict[str, Any]:
            return {name: item.put(value) for name, value in values.items()}

        return plain(put, lambda data: {n: item.take(v) for n, v in _dictionary(data).items()})

    def union(self, parts: Mapping[type[Any], Codec], what: str) -> Codec:
        by_form = {_FORMS[cls]: codec for cls, codec in parts.items()}
        return plain(
            lambda value: parts[type(value)].put(value),
            lambda data: by_form[type(data)].take(data),
        )

    def record(self, cls: type[Any], stored: Sequence[Stored]) -> Codec:
        def put(value: Any) -> dict[str, Any]:
            parts = ((field, getattr(value, field.name)) for field in stored)
            return {
                field.name: field.codec.put(part)
                for field, part in parts
                if not self.for_attributes or part != field.default
            }

        def take(data: Any) -> Any:
            found = _dictionary(data)
            listed = (f for f in stored if f.name in found or f.default is MISSING)
            return cls(**{field.name: field.codec.take(found[field.name]) for field in listed})

        return plain(put, take)


def _exactly(type_: type[Any]) -> Codec:
    def take(data: Any) -> Any:
        if type(data) is not type_:
            raise ValueError(f"expected {type_.__name__}, but got {data!r:.80}")
        return data

    return plain(type_, take)


_list, _dictionary = _exactly(list).take, _exactly(dict).take


def _of_array(array: Array) -> dict[str, Any]:
    data = b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
    return {"dtype": type_name(array.dtype), "shape": list(array.shape), "data": data}


def _array(data: Any) -> Array:
    found = _dictionary(data)
    dtype = element_type(found["dtype"])
    return np.frombuffer(b64decode(found["data"]), dtype).reshape(_list(found["shape"]))


_FORMS: Mapping[type[Any], type[Any]] = {int: int, bool: bool, str: str, float: dict, tuple: list}
"""The class of the plain data that values of a class are."""

DAMAGED = (ValueError, KeyError, TypeError, AttributeError, MachineError)
"""The errors of `take` for plain data that `put` did not return."""

SCALARS: Mapping[type[Any], Codec] = {
    **{type_: _exactly(type_) for type_ in (int, bool, str)},
    float: plain(
        lambda value: {"float": cast(float, value).hex()},
        lambda data: float.fromhex(_dictionary(data)["float"]),
    ),
}
"""The codecs of numbers and texts."""

PLAIN = PlainFormat(SCALARS)
ATTRIBUTES = PlainFormat(SCALARS, for_attributes=True)
