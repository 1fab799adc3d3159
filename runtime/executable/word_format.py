"""The form of values as words: `put(writer, value)` writes one, and `take(reader)` reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from math import prod
from typing import Any

import numpy as np

from ..codec.notes import Check
from ..codec.value_formats import Codec, Format, Stored, in_tuple
from ..errors import MachineError
from ..memory.limits import MAX_EXTENT
from ..program.dtypes import element_type
from ..program.program import Array, TensorSpec, spec_of
from .content import bytes_of
from .words import WORD, WordReader, WordWriter

_INTEGER = (WordWriter.put, WordReader.take)


def codec(put: Callable[..., None], take: Callable[[WordReader], Any], least: int = 1) -> Codec:
    """Return a codec of values that take at least `least` words."""
    return Codec(put, take, least)


class WordFormat(Format):
    """
    Fields in their order; sequences and mappings after their length; None is 0, others follow a 1.

    A value of several classes follows the number of its own, and an array its type.
    """

    def checked(self, inner: Codec, checks: Sequence[Check], what: str) -> Codec:
        def take(reader: WordReader) -> Any:
            value = inner.take(reader)
            for fault in filter(None, (check.fault(value) for check in checks)):
                raise reader.fault(f"{what} {fault}")
            return value

        return inner._replace(take=take)

    def bytes(self, length: int, what: str) -> Codec:
        words = -(-length // WORD)
        return codec(WordWriter.put_bytes, lambda reader: bytes(reader.raw(length, what)), words)

    def array(self, what: str) -> Codec:
        spec = self.of(TensorSpec, what)

        def put(writer: WordWriter, array: Array) -> None:
            spec.put(writer, spec_of(array))
            writer.put_bytes(bytes(bytes_of(array)))

        def take(reader: WordReader) -> Array:
            type = spec.take(reader)
            return array_of(type, reader, lambda size: reader.raw(size, what)).copy()

        return codec(put, take, spec.least)

    def optional(self, inner: Codec) -> Codec:
        def put(writer: WordWriter, value: Any) -> None:
            writer.put(value is not None)
            if value is not None:
                inner.put(writer, value)

        return codec(put, lambda reader: inner.take(reader) if reader.below(2, "flag") else None)

    def none_as(self, number: int, what: str) -> Codec:
        def take(reader: WordReader) -> int | None:
            value = reader.take()
            if value < 0 and value != number:
                expected = f"must be at least 0, or {number} if unknown"
                raise reader.fault(f"{what} {expected}, but is {value}")
            return None if value == number else value

        def put(writer: WordWriter, value: int | None) -> None:
            writer.put(number if value is None else value)

        return codec(put, take)

    def sequence(self, item: Codec, what: str) -> Codec:
        if item[:2] == _INTEGER:
            return codec(WordWriter.put_many, lambda reader: reader.take_many(what))
        put_item, take_item, least = item

        def put(writer: WordWriter, values: Sequence[Any]) -> None:
            writer.put(len(values))
            for value in values:
                put_item(writer, value)

        def take(reader: WordReader) -> tuple[Any, ...]:
            return tuple([take_item(reader) for _ in range(reader.count(what, least))])

        return codec(put, take)

    def product(self, items: Sequence[Codec], make: Callable[..., Any]) -> Codec:
        def put(writer: WordWriter, values: Sequence[Any]) -> None:
            for item, value in zip(items, values, strict=True):
                item.put(writer, value)

        def take(reader: WordReader) -> Any:
            return make(*[item.take(reader) for item in items])

        return codec(put, take, sum(item.least for item in items))

    def mapping(self, item: Codec, what: str) -> Codec:
        pairs = self.sequence(self.product([self.of(str, "name"), item], in_tuple), what)

        def put(writer: WordWriter, values: Mapping[str, Any]) -> None:
            pairs.put(writer, [*values.items()])

        def take(reader: WordReader) -> dict[str, Any]:
            values: dict[str, Any] = {}
            for name, value in pairs.take(reader):
                if name in values:
                    raise reader.fault(f"'{name}' is there twice")
                values[name] = value
            return values

        return codec(put, take)

    def union(self, parts: Mapping[type[Any], Codec], what: str) -> Codec:
        numbers = {cls: number for number, cls in enumerate(parts)}
        codecs = [*parts.values()]

        def put(writer: WordWriter, value: Any) -> None:
            number = numbers[type(value)]
            writer.put(number)
            codecs[number].put(writer, value)

        def take(reader: WordReader) -> Any:
            return codecs[reader.below(len(codecs), f"kind of {what}")].take(reader)

        return codec(put, take, 1 + min(part.least for part in codecs))

    def record(self, cls: type[Any], stored: Sequence[Stored]) -> Codec:
        names = [field.name for field in stored]
        are_first = [field.name for field in fields(cls)][: len(names)] == names

        def by_name(*values: Any) -> Any:
            return cls(**dict(zip(names, values, strict=True)))

        made = self.product([field.codec for field in stored], cls if are_first else by_name)
        puts = [(field.name, field.codec.put) for field in stored]

        def put(writer: WordWriter, value: Any) -> None:
            for name, put_field in puts:
                put_field(writer, getattr(value, name))

        return made._replace(put=put)


def array_of(spec: TensorSpec, reader: WordReader, data: Callable[[int], memoryview]) -> Array:
    """Return an array of a type whose bytes are what `data` returns for their number."""
    if not spec.is_static:
        raise reader.fault(f"a constant must have a static shape, but is {spec}")
    shape = spec.dims
    try:
        dtype = element_type(spec.dtype)
    except MachineError as error:
        raise reader.fault(str(error)) from None
    if prod(dim for dim in shape if dim) * dtype.itemsize > MAX_EXTENT:
        raise reader.fault(f"{spec} exceeds NumPy's array size limit")
    bytes = data(prod(shape) * dtype.itemsize)
    if dtype == np.bool_ and np.any(np.frombuffer(bytes, np.uint8) > 1):
        raise reader.fault("a bool must be 0 or 1")
    array = np.frombuffer(bytes, dtype.newbyteorder("<")).reshape(shape)
    return array.astype(dtype, copy=False)


WORDS = WordFormat(
    {
        int: codec(*_INTEGER),
        float: codec(WordWriter.put_float, WordReader.real),
        bool: codec(WordWriter.put, lambda reader: bool(reader.below(2, "bool"))),
        str: codec(WordWriter.put_text, WordReader.text),
    }
)
