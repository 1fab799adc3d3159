"""
Leave the data of large tensors out of a serialized model.

    initializer { name: "w" dims: 4096 dims: 4096 raw_data: "…" }      (or float_data)
      ->
    initializer { name: "w" dims: 4096 dims: 4096
                  data_location: EXTERNAL external_data { "location": … "offset": … } }

A parser copies all bytes of a model. What is left here has a few, and refers to the others where
they are: in the file, which is mapped into memory. A model may have any size then, although the
parser's limit is 2 GiB. Elements that are varints (int32_data, …) become raw data, as a parser
makes a Python object of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

import numpy as np
from google.protobuf.descriptor import Descriptor
from onnx import ModelProto, StringStringEntryProto, TensorProto

from ....runtime.protobuf import LENGTH, Field, Malformed, fields, varint

LIMIT = 1 << 14
"""Data of at least so many bytes are left out, and only messages of as many are looked into."""

DEPTH = 90
"""The nesting of messages that is followed; parsers reject more than 100."""

MODEL = cast("Descriptor", ModelProto.DESCRIPTOR)
TENSOR = TensorProto.DESCRIPTOR.full_name
DATA_TYPE = TensorProto.DATA_TYPE_FIELD_NUMBER
RAW = {
    TensorProto.RAW_DATA_FIELD_NUMBER: None,
    TensorProto.FLOAT_DATA_FIELD_NUMBER: TensorProto.FLOAT,
    TensorProto.DOUBLE_DATA_FIELD_NUMBER: TensorProto.DOUBLE,
}
"""The fields whose bytes are those of the elements, if these are of this type."""
INT32: Mapping[int, str] = {
    TensorProto.FLOAT16: "<u2",
    TensorProto.BFLOAT16: "<u2",
    TensorProto.INT8: "u1",
    TensorProto.UINT8: "u1",
    TensorProto.INT16: "<u2",
    TensorProto.UINT16: "<u2",
    TensorProto.INT32: "<u4",
    TensorProto.BOOL: "?",
}
VARINTS: Mapping[int, Mapping[int, str]] = {
    TensorProto.INT32_DATA_FIELD_NUMBER: INT32,
    TensorProto.INT64_DATA_FIELD_NUMBER: {TensorProto.INT64: "<u8"},
    TensorProto.UINT64_DATA_FIELD_NUMBER: {
        TensorProto.UINT32: "<u4",
        TensorProto.UINT64: "<u8",
    },
}
"""The fields of varints, with the types of elements, and what these are as raw data."""
CHUNK = 1 << 20
"""The number of bytes of varints that are decoded at once."""
ELSEWHERE = (TensorProto.EXTERNAL_DATA_FIELD_NUMBER, TensorProto.DATA_LOCATION_FIELD_NUMBER)


def without_data(data: memoryview, location: str) -> bytes | None:
    """
    Return the model in `data` with its large tensors in the external file `location`.

    Their offsets there are those in `data`. None if the data are malformed.
    """
    try:
        return b"".join(_message(data, 0, len(data), MODEL, location, DEPTH))
    except Malformed:
        return None


def _message(
    data: memoryview, start: int, stop: int, type: Descriptor, location: str, depth: int
) -> Iterator[bytes | memoryview]:
    if type.full_name == TENSOR:
        yield from _tensor(data, start, stop, location)
        return
    inner = _with_tensors(type)
    kept = start
    for field in fields(data, start, stop):
        found = inner.get(field.number)
        if found is None or field.kind != LENGTH or field.stop - field.contents < LIMIT:
            continue
        if not depth:
            raise Malformed("it is nested too deeply")
        yield data[kept : field.start]
        pieces = [*_message(data, field.contents, field.stop, found, location, depth - 1)]
        yield _header(field.number, sum(map(len, pieces)))
        yield from pieces
        kept = field.stop
    yield data[kept:stop]


def _tensor(data: memoryview, start: int, stop: int, location: str) -> Iterator[bytes | memoryview]:
    raw: list[Field] = []
    element = 0
    for field in fields(data, start, stop):
        if field.number == DATA_TYPE:
            element = varint(data, field.contents, field.stop)[0]
        elif field.number in RAW or field.number in VARINTS:
            raw.append(field)
        if field.number in ELSEWHERE or (raw and (len(raw) > 1 or raw[0].kind != LENGTH)):
            raw.clear()
            break
    if raw and (dtype := VARINTS.get(raw[0].number, {}).get(element)) is not None:
        pieces = [*_decoded(data, raw[0], dtype)]
        yield data[start : raw[0].start]
        yield _header(TensorProto.RAW_DATA_FIELD_NUMBER, sum(map(len, pieces)))
        yield from pieces
        yield data[raw[0].stop : stop]
        return
    if not raw or RAW.get(raw[0].number, -1) not in (None, element):
        yield data[start:stop]
        return
    (field,) = raw
    size = field.stop - field.contents
    described = {"location": location, "offset": str(field.contents), "length": str(size)}
    entries = [StringStringEntryProto(key=key, value=text) for key, text in described.items()]
    left = TensorProto(data_location=TensorProto.EXTERNAL, external_data=entries)
    yield data[start : field.start]
    yield left.SerializeToString()
    yield data[field.stop : stop]


def _decoded(data: memoryview, field: Field, dtype: str) -> Iterator[bytes]:
    """Yield the elements of a field of varints, in little-endian order."""
    at = field.contents
    while at < field.stop:
        chunk = np.frombuffer(data[at : min(at + CHUNK, field.stop)], np.uint8)
        stops = np.flatnonzero(chunk < 128) + 1
        starts = np.append(0, stops[:-1])[: len(stops)]
        if not len(stops) or (longest := int((stops - starts).max())) > 10:
            raise Malformed("a number is longer than 10 bytes, or is not whole")
        values = np.zeros(len(stops), np.uint64)
        rest: np.ndarray[Any, np.dtype[np.intp]] = np.arange(len(stops))
        for k in range(longest):
            part = (chunk[starts[rest] + k] & 127).astype(np.uint64)
            values[rest] |= part << np.uint64(7 * k)
            rest = rest[stops[rest] - starts[rest] > k + 1]
        yield values.astype(dtype).tobytes()
        at += int(stops[-1])


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
    found = {f.number: f.message_type for f in type.fields if f.message_type is not None}
    return {number: inner for number, inner in found.items() if _reaches(inner, set())}


def _reaches(type: Descriptor, seen: set[str]) -> bool:
    """Test whether messages of this type can have tensors inside."""
    if type.full_name == TENSOR:
        return True
    if type.full_name in seen:
        return False
    seen.add(type.full_name)
    return any(f.message_type is not None and _reaches(f.message_type, seen) for f in type.fields)
