"""
Fields of serialized protobuf messages, found without a definition of the message.

    fields(data)         Field(number=1, kind=VARINT, …), Field(number=9, kind=LENGTH, …), …

See https://protobuf.dev/programming-guides/encoding. The data are not trusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

VARINT, I64, LENGTH, I32 = 0, 1, 2, 5
"""The kinds of fields on the wire."""


class Malformed(ValueError):
    """The data are not a serialized message."""


class Field(NamedTuple):
    """A field of a message: its number, kind, and where it and its contents are in the data."""

    number: int
    kind: int
    start: int
    contents: int
    stop: int


def fields(data: memoryview, start: int = 0, stop: int | None = None) -> Iterator[Field]:
    """Yield the fields of the message from `start` to `stop`; raises `Malformed`."""
    at, stop = start, len(data) if stop is None else stop
    while at < stop:
        tag, contents = varint(data, at, stop)
        kind = tag & 7
        if kind == VARINT:
            _, end = varint(data, contents, stop)
        elif kind == LENGTH:
            size, contents = varint(data, contents, stop)
            end = contents + size
        elif kind in (I64, I32):
            end = contents + (8 if kind == I64 else 4)
        else:  # groups, which no message here has
            raise Malformed(f"byte {contents} has an unknown wire type {kind}")
        if end > stop:
            raise Malformed("it ends too early")
        yield Field(tag >> 3, kind, at, contents, end)
        at = end


def varint(data: memoryview, at: int, stop: int) -> tuple[int, int]:
    """Return the number at `at`, of 64 bits without a sign, and the position after it."""
    value = shift = 0
    while at < stop and shift < 64:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value & ((1 << 64) - 1), at
    raise Malformed("it ends too early" if at >= stop else f"byte {at} is not of a number")
