"""
Leave the data of large tensors out of a serialized model.

    initializer { name: "w" dims: 4096 dims: 4096 raw_data: "…" }      (or float_data, …)
      ->
    initializer { name: "w" dims: 4096 dims: 4096
                  data_location: EXTERNAL external_data { "location": … "offset": … } }

A parser copies all bytes of a model. What is left here has a few, and refers to the others where
they are: in the file, which is mapped into memory. A model may have any size then, although the
parser's limit is 2 GiB. Elements that are varints (int32_data, …) are decoded when they are used.

Fields are found without a definition of the message, as
https://protobuf.dev/programming-guides/encoding says. The data are not trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np
from google.protobuf.descriptor import Descriptor
from onnx import ModelProto, StringStringEntryProto, TensorProto, helper

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


LIMIT = 1 << 14
"""Data of at least so many bytes are left out, and only messages of as many are looked into."""

DEPTH = 90
"""The nesting of messages that is followed; parsers reject more than 100."""

MODEL = cast("Descriptor", ModelProto.DESCRIPTOR)
TENSOR = TensorProto.DESCRIPTOR.full_name
DATA_TYPE = TensorProto.DATA_TYPE_FIELD_NUMBER
RAW = TensorProto.RAW_DATA_FIELD_NUMBER
VARINTS = (
    TensorProto.INT32_DATA_FIELD_NUMBER,
    TensorProto.INT64_DATA_FIELD_NUMBER,
    TensorProto.UINT64_DATA_FIELD_NUMBER,
)
DATA = (RAW, TensorProto.FLOAT_DATA_FIELD_NUMBER, TensorProto.DOUBLE_DATA_FIELD_NUMBER, *VARINTS)
"""The fields of elements, of which those of varints are encoded."""
CHUNK = 1 << 16
"""The number of bytes of varints that are decoded at once."""
ELSEWHERE = (TensorProto.EXTERNAL_DATA_FIELD_NUMBER, TensorProto.DATA_LOCATION_FIELD_NUMBER)


def without_data(data: memoryview, location: str, encoded: str) -> bytes | None:
    """
    Return the model in `data` with its large tensors in the external files `location` and
    `encoded`: the latter are varints.

    Their offsets there are those in `data`. None if the data are malformed.
    """
    try:
        return b"".join(_message(data, 0, len(data), MODEL, (location, encoded), DEPTH))
    except Malformed:
        return None


def _message(
    data: memoryview, start: int, stop: int, type: Descriptor, files: tuple[str, str], depth: int
) -> Iterator[bytes | memoryview]:
    if type.full_name == TENSOR:
        yield from _tensor(data, start, stop, files)
        return
    inner = _with_tensors(type)
    kept = start
    for field in fields(data, start, stop):
        type_of_field = inner.get(field.number)
        if type_of_field is None or field.kind != LENGTH or field.stop - field.contents < LIMIT:
            continue
        if not depth:
            raise Malformed("it is nested too deeply")
        yield data[kept : field.start]
        pieces = [*_message(data, field.contents, field.stop, type_of_field, files, depth - 1)]
        yield _header(field.number, sum(map(len, pieces)))
        yield from pieces
        kept = field.stop
    yield data[kept:stop]


def _tensor(
    data: memoryview, start: int, stop: int, files: tuple[str, str]
) -> Iterator[bytes | memoryview]:
    stored: list[Field] = []
    element = 0
    for field in fields(data, start, stop):
        if field.number == DATA_TYPE:
            element = varint(data, field.contents, field.stop)[0]
        elif field.number in DATA:
            stored.append(field)
        if field.number in ELSEWHERE or len(stored) > 1:
            stored.clear()
            break
    if not stored or stored[0].kind != LENGTH or stored[0].number not in (RAW, _field_of(element)):
        yield data[start:stop]
        return
    (field,) = stored
    size, location = field.stop - field.contents, files[field.number in VARINTS]
    described = {"location": location, "offset": str(field.contents), "length": str(size)}
    entries = [StringStringEntryProto(key=key, value=text) for key, text in described.items()]
    left = TensorProto(data_location=TensorProto.EXTERNAL, external_data=entries)
    yield data[start : field.start]
    yield left.SerializeToString()
    yield data[field.stop : stop]


def _field_of(element: int) -> int | None:
    """Return the field of elements of this type that are not raw data; None if there is none."""
    try:
        return TensorProto.DESCRIPTOR.fields_by_name[helper.tensor_dtype_to_field(element)].number
    except KeyError:
        return None


def decoded(data: memoryview, count: int, width: int) -> np.ndarray[Any, np.dtype[Any]]:
    """
    Return `count` varints as numbers of `width` bytes, in little-endian order.

    Raises `Malformed` if there are not so many.
    """
    if not count <= len(data) <= 10 * count:
        raise Malformed(f"{len(data)} bytes are not {count} numbers")
    numbers = np.empty(count, f"<u{width}")
    groups = -(-8 * width // 7)  # of 7 bits, a byte each: what is above is not of the element
    word = np.dtype("<u4" if groups < 5 else "<u8")
    chunk = np.zeros(CHUNK + 16, np.uint8)
    words = np.ndarray(CHUNK + 8, word, chunk.data, strides=(1,))
    masks = np.array([(1 << 8 * min(k, word.itemsize)) - 1 for k in range(11)], word)
    at = done = 0
    while at < len(data):
        part = np.frombuffer(data[at : at + CHUNK], np.uint8)
        if part.max() < 128 and done + len(part) <= count:
            numbers[done : done + len(part)] = part
            done, at = done + len(part), at + len(part)
            continue
        chunk[: len(part)] = part
        stops = np.flatnonzero(part < 128) + 1
        lengths = np.diff(stops, prepend=0)
        if not len(stops) or lengths.max() > 10 or done + len(stops) > count:
            raise Malformed(f"they are not {count} numbers of up to 10 bytes")
        values = np.zeros(len(stops), word)
        longest = min(groups, int(lengths.max()))
        for first in range(0, longest, word.itemsize):
            bits = words[stops - lengths + first] & masks[np.maximum(lengths - first, 0)]
            for k in range(first, min(longest, first + word.itemsize)):
                group = bits >> word.type(8 * (k - first)) & word.type(127)
                values |= group << word.type(7 * k)
        numbers[done : done + len(stops)] = values
        done, at = done + len(stops), at + int(stops[-1])
    if done < count:
        raise Malformed(f"they are {done} numbers")
    return numbers


def _header(number: int, size: int) -> bytes:
    out = bytearray()
    for value in (number << 3 | LENGTH, size):
        while value > 127:
            out.append(value & 127 | 128)
            value >>= 7
        out.append(value)
    return bytes(out)


@cache
def _with_tensors(type: Descriptor) -> Mapping[int, Descriptor]:
    """Return the fields that are tensors, or messages with tensors inside."""
    messages = {f.number: f.message_type for f in type.fields if f.message_type is not None}
    return {number: inner for number, inner in messages.items() if _reaches(inner, set())}


def _reaches(type: Descriptor, seen: set[str]) -> bool:
    """Test whether messages of this type can have tensors inside."""
    if type.full_name == TENSOR:
        return True
    if type.full_name in seen:
        return False
    seen.add(type.full_name)
    return any(f.message_type is not None and _reaches(f.message_type, seen) for f in type.fields)
