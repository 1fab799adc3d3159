"""Random changes to structured inputs: JSON, protobufs, archives, programs."""

import dataclasses
import io
import json
import struct
import warnings
import zipfile
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any, cast

from google.protobuf.message import Message
from onnx import ModelProto

from .mutate import NUMBERS, mutate_bytes, mutate_text

_WEIRD: list[Any] = [
    *(None, True, -1, 0, 1, 2**70, 1.5, float("inf"), [], [1], [[1]], {}, {"a": 1}),
    *("", "x", "-1", "0", "1", "9" * 20, "9" * 5000, "1e999", "0x10", "nan", "\u00b2", "\0"),
]
"""Unexpected values for a field."""


def mutate_json(random: Random, data: bytes, other: bytes) -> bytes:
    """Replace, remove or repeat elements of a document."""
    try:
        document, foreign = json.loads(data), json.loads(other)
    except ValueError:
        return mutate_text(random, data.decode(), other.decode()).encode()
    places = [*_places(document)]
    for _ in range(random.choice((1, 1, 2, 3))):
        holder, key = random.choice(places)
        if not _has(holder, key):
            continue  # an earlier change removed it
        match random.randrange(6):
            case 0:
                holder[key] = random.choice(_WEIRD)
            case 1:
                number = random.choice((*NUMBERS, random.randrange(200), random.randrange(200)))
                holder[key] = str(number) if isinstance(holder[key], str) else number
            case 2 if isinstance(holder, list):
                elements = cast("list[Any]", holder)
                elements.insert(key, random.choice(elements))
            case 3:
                del holder[key]
            case 4:
                there, its = random.choice([*_places(foreign)])
                holder[key] = there[its]
            case _:
                there, its = random.choice(places)
                if _has(there, its):
                    holder[key] = json.loads(json.dumps(there[its]))
    return json.dumps(document).encode()


def _has(holder: Any, key: Any) -> bool:
    return key in holder if isinstance(holder, dict) else key < len(holder)


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every (container, key) inside `node`."""
    stack = [node]
    while stack:
        holder = stack.pop()
        if isinstance(holder, dict | list):
            keys = (
                list(cast("dict[Any, Any]", holder))
                if isinstance(holder, dict)
                else range(len(cast("list[Any]", holder)))
            )
            for key in keys:
                yield holder, key
                stack.append(holder[key])


def mutate_onnx(random: Random, data: bytes, other: bytes) -> bytes:
    """Change any fields of a model; sometimes its bytes."""
    if random.randrange(8) == 0:
        return mutate_bytes(random, data, other)
    model, foreign = ModelProto(), ModelProto()
    model.ParseFromString(data)
    foreign.ParseFromString(other)
    for _ in range(random.choice((1, 1, 2, 3))):
        messages = [*_messages(model.graph, 6), model]
        message = random.choice(messages)
        _mutate_message(random, message, messages, [*_messages(foreign.graph, 6)])
    return model.SerializeToString()


def messages(model: Message) -> list[Message]:
    """Yield every message inside `model`, itself included."""
    return [*_messages(model, 8)]


def _messages(message: Message, depth: int) -> Iterator[Message]:
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None and depth:
            for inner in value if field.is_repeated else (value,):
                yield from _messages(inner, depth - 1)


def _mutate_message(random: Random, message: Any, ours: list[Any], theirs: list[Any]) -> None:
    fields = [f for f, _ in message.ListFields()] or list(message.DESCRIPTOR.fields)
    field = random.choice(fields if random.randrange(8) else list(message.DESCRIPTOR.fields))
    value = getattr(message, field.name)
    if field.message_type is not None:
        like = [m for m in (*ours, *theirs) if m.DESCRIPTOR is field.message_type]
        if not field.is_repeated:
            if like and random.randrange(2):
                value.CopyFrom(deepcopy(random.choice(like)))
            else:
                message.ClearField(field.name)
        elif value and random.randrange(2):
            del value[random.randrange(len(value))]
        elif like:
            copied = deepcopy(random.choice(like))  # first, because it may contain `value`
            value.add().CopyFrom(copied)
        return
    same = [getattr(m, field.name) for m in (*ours, *theirs) if m.DESCRIPTOR is message.DESCRIPTOR]
    if not field.is_repeated:
        setattr(message, field.name, _scalar(random, field, value, same))
        return
    flat = [entry for entries in same for entry in entries]
    match random.randrange(3):
        case 0 if value:
            del value[random.randrange(len(value))]
        case 1 if value:
            at = random.randrange(len(value))
            value[at] = _scalar(random, field, value[at], flat)
        case _:
            value.append(_scalar(random, field, value[0] if value else None, flat))


def _scalar(random: Random, field: Any, value: Any, same: list[Any]) -> Any:
    """Return another value for a field: one from elsewhere in the model, or an extreme one."""
    if same and random.randrange(2):
        return random.choice(same)
    match field.cpp_type:
        case field.CPPTYPE_ENUM:
            return random.choice([entry.number for entry in field.enum_type.values])
        case field.CPPTYPE_INT32 | field.CPPTYPE_INT64 | field.CPPTYPE_UINT64:
            bits = 63 if field.cpp_type in (field.CPPTYPE_INT64, field.CPPTYPE_UINT64) else 31
            low = 0 if field.cpp_type == field.CPPTYPE_UINT64 else -(2**bits)
            near = (value or 0) + random.choice((-1, 1))
            numbers = [n for n in (*NUMBERS, near, near, near) if low <= n < 2**bits]
            return random.choice(numbers)
        case field.CPPTYPE_FLOAT | field.CPPTYPE_DOUBLE:
            return random.choice((0.0, -1.0, 1e38, float("nan"), float("inf")))
        case field.CPPTYPE_BOOL:
            return not value
        case _ if field.type == field.TYPE_BYTES:
            return mutate_bytes(random, value or b"", b"")
        case _:
            return random.choice(("", "x", "y", "z", "%", "a/b", value or ""))


def mutate_npz(random: Random, data: bytes, other: bytes) -> bytes:
    """Change the headers of arrays, or how they are packed; sometimes any bytes."""
    if random.randrange(3) == 0:
        return mutate_bytes(random, data, other)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    at = random.randrange(len(members))
    name, array = members[at]
    match random.randrange(6):
        case 0:
            members[at] = mutate_text(random, name, "", ("x.npy", "w", "../x.npy")), array
        case 1:
            members[at] = name, mutate_bytes(random, array, other)
        case 2:
            members.append(members[at])
        case _:
            length = struct.unpack("<H", array[8:10])[0]
            text = array[10 : 10 + length].decode("latin-1")
            words = (
                "'|O'",
                "'>f4'",
                "'<f8'",
                "'|b1'",
                "[('a', '<f4')]",
                "True",
                "()",
                "(2,)",
                "'<U3'",
            )
            header = mutate_text(random, text, text, words).encode("utf-8")[:65535]
            members[at] = (
                name,
                array[:8] + struct.pack("<H", len(header)) + header + array[10 + length :],
            )
    out = io.BytesIO()
    method = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", method) as archive:
        warnings.simplefilter("ignore")  # a duplicate name
        for name, array in members:
            archive.writestr(zipfile.ZipInfo(name or "x"), array, method)
    return (
        mutate_bytes(random, out.getvalue(), other) if random.randrange(4) == 0 else out.getvalue()
    )


def mutate_safetensors(random: Random, data: bytes, other: bytes) -> bytes:
    """Change the JSON header while keeping its length valid, or change any bytes."""
    if random.randrange(3) == 0:
        return mutate_bytes(random, data, other)
    length = int.from_bytes(data[:8], "little")
    header, rest = data[8 : 8 + length], data[8 + length :]
    if random.randrange(2):
        header = mutate_json(random, header, header)
    else:
        words = ('"F16"', '"BF16"', '"BOOL"', '"I64"', '"F8_E4M3"', "[]", "{}", "null")
        header = mutate_text(random, header.decode(), header.decode(), words).encode()
    return len(header).to_bytes(8, "little") + header + rest


def mutate_fields(random: Random, root: Any) -> list[tuple[list[Any], Any]]:
    """Draw edits of a tree of dataclasses, tuples and dicts: (path to a value, new value)."""
    places = [*_values(root, [])]
    edits: list[tuple[list[Any], Any]] = []
    for _ in range(random.choice((1, 1, 2, 3))):
        way, value = random.choice(places)
        match value:
            case bool():
                new: Any = not value
            case int():
                near = value + random.choice((-1, 1))
                new = random.choice((near, near, near, random.randrange(8), random.choice(NUMBERS)))
            case str():
                new = random.choice([v for _, v in places if isinstance(v, str)])
            case tuple():
                values = list(cast("tuple[Any, ...]", value))
                new = random.choice((values[1:], values[:-1], values + values[:1], values[::-1]))
            case _:
                new = random.choice((0, -1, 2))
        edits.append((way, new))
    return edits


def _parts(node: Any) -> list[tuple[Any, Any]]:
    """Yield the children of `node`, each with the last step of its path."""
    if isinstance(node, tuple):
        return [*enumerate(cast("tuple[Any, ...]", node))]
    if isinstance(node, dict):
        return [*cast("dict[Any, Any]", node).items()]
    if dataclasses.is_dataclass(node):
        return [(field.name, getattr(node, field.name)) for field in dataclasses.fields(node)]
    return []


def _values(node: Any, way: list[Any]) -> Iterator[tuple[list[Any], Any]]:
    """Yield every number, text and tuple of numbers inside `node`; None only as a dimension."""
    for step, value in _parts(node):
        here = [*way, step]
        if isinstance(value, int | float | str) or (value is None and isinstance(node, tuple)):
            yield here, value
        elif isinstance(value, tuple):
            inner = cast("tuple[Any, ...]", value)
            if all(isinstance(v, int) for v in inner):
                yield here, inner
        yield from _values(value, here)


def edited(node: Any, way: list[Any], new: Any) -> Any:
    """Replace the value at the path `way` in `node`; return `node` itself if there is none."""
    if not way:
        return tuple(cast("list[Any]", new)) if isinstance(new, list) else new
    step, *rest = way
    parts = dict(_parts(node))
    if step not in parts:
        return node
    part = edited(parts[step], rest, new)
    if isinstance(node, tuple):
        return (*node[:step], part, *node[step + 1 :])
    if isinstance(node, dict):
        return {**cast("dict[Any, Any]", node), step: part}
    return dataclasses.replace(node, **{step: part})
