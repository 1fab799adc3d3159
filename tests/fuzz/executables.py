"""
Mutants of executable files: damaged, and damaged with checksums that are right again.

With right checksums the reader sees what a hostile program could write; such a file may be a valid
program that does something else.
"""

import json
import struct
from collections.abc import Iterable
from dataclasses import replace
from io import BytesIO
from random import Random
from zlib import crc32

from xrelay.runtime.executable import (
    MAGIC,
    VERSION,
    PlannedMemory,
    executable_of,
    write_executable,
)
from xrelay.runtime.executable.layout import UNSUMMED, aligned
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.program import (
    Function,
    Kernel,
    Late,
    Program,
    Step,
    TensorSpec,
    WeightFunction,
)

from .structures import mutate_json

HEADER, ENTRY = struct.Struct("<8sHHIQII"), struct.Struct("<16sQQIIQ")
EXTREMES = (0, 1, -1, 64, 1 << 31, 1 << 62, (1 << 63) - 1, -(1 << 63), 1 << 63, 1 << 200)


def file_of(program: Program, memory: Iterable[PlannedMemory] = ()) -> bytes:
    """Return the executable of `program`."""
    out = BytesIO()
    write_executable(out, executable_of(program, memory=memory))
    return out.getvalue()


def file_with_a_weight() -> bytes:
    """Return the executable of a program with a weight that is computed from another."""
    spec = TensorSpec("float32", (4,))
    code = (vm.LoadConst(0, 0), vm.Ret(0))
    program = Program((Function("main", (), 1, code),), (Late("w", spec),))
    add = Step("relay.add", {}, (0, 0), (1,))
    kernel = Kernel("weight", (spec,), (), (spec,), (add,), (1,))
    file = replace(executable_of(program), weights=(WeightFunction("w", ("v",), kernel),))
    out = BytesIO()
    write_executable(out, file)
    return out.getvalue()


def sections(data: bytes) -> list[list[int]]:
    """Return the entries of the table of sections: place, offset, length, flags."""
    (_, _, _, count, *_) = HEADER.unpack_from(data)
    found: list[list[int]] = []
    for i in range(count):
        at = HEADER.size + ENTRY.size * i
        _, offset, length, _, flags, _ = ENTRY.unpack_from(data, at)
        found.append([at, offset, length, flags])
    return found


def mended(data: bytearray) -> bytes:
    """Set the length and all checksums of `data` to what they must be, as far as possible."""
    if len(data) < HEADER.size:
        return bytes(data)
    magic, major, minor, count, _, _, zero = HEADER.unpack_from(data)
    end = HEADER.size + ENTRY.size * count
    if end > len(data):
        return bytes(data)
    for i in range(count):
        at = HEADER.size + ENTRY.size * i
        name, offset, length, _, flags, last = ENTRY.unpack_from(data, at)
        found = 0 if flags & UNSUMMED else crc32(data[offset : offset + length])
        ENTRY.pack_into(data, at, name, offset, length, found, flags, last)
    HEADER.pack_into(data, 0, magic, major, minor, count, len(data), 0, zero)
    found = crc32(data[HEADER.size : end], crc32(data[:24]))
    HEADER.pack_into(data, 0, magic, major, minor, count, len(data), found, zero)
    return bytes(data)


def rebuilt(contents: dict[bytes, tuple[bytes, int]]) -> bytes:
    """Return a file of these sections: name, contents and flags."""
    offset = aligned(HEADER.size + ENTRY.size * len(contents))
    table, body = b"", b""
    for name, (content, flags) in contents.items():
        table += ENTRY.pack(name, offset + len(body), len(content), 0, flags, 0)
        body += content
        body += bytes(aligned(len(body)) - len(body))
    last = list(contents.values())[-1][0] if contents else b""
    gap = aligned(len(last)) - len(last)
    body = body[: len(body) - gap]
    head = HEADER.pack(MAGIC, *VERSION, len(contents), 0, 0, 0) + table
    head += bytes(aligned(len(head)) - len(head))
    return mended(bytearray(head + body))


def contents_of(data: bytes) -> dict[bytes, tuple[bytes, int]]:
    """Return the contents of the sections of a file."""
    found: dict[bytes, tuple[bytes, int]] = {}
    for at, offset, length, flags in sections(data):
        name = data[at : at + 16]
        found[name] = data[offset : offset + length], flags
    return found


def mutate(random: Random, data: bytes, other: bytes) -> bytes:
    """Return a mutant of `data`; `other` is a file to take parts of."""
    kinds = (_json, _json, _json, _json, _json, _flips, _truncated, _swapped, _spliced, _resized)
    changed = random.choice(kinds)(random, data, other)
    if random.randrange(4):
        changed = mended(bytearray(changed))
    return changed


def _any_offset(random: Random, data: bytes) -> int:
    """Return an offset: sections are equally likely, however long they are."""
    _, offset, length, _ = random.choice(sections(data))
    return offset + random.randrange(length) if length else random.randrange(len(data))


def _json(random: Random, data: bytes, other: bytes) -> bytes:
    """Change the JSON of a section; what it takes from elsewhere is of the same one of `other`."""
    contents, others = contents_of(data), contents_of(other)
    name = random.choice([name for name in contents if name.rstrip(b"\0") != b"data"])
    content, flags = contents[name]
    try:
        contents[name] = mutate_json(random, content, others.get(name, (content, 0))[0]), flags
    except (IndexError, RecursionError):  # a document without places
        contents[name] = json.dumps(random.choice(EXTREMES)).encode(), flags
    return rebuilt(contents)


def _flips(random: Random, data: bytes, other: bytes) -> bytes:
    """Flip some bits, also of the header and the table."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4, 16))):
        at = random.choice((_any_offset(random, data), random.randrange(len(data))))
        changed[at] ^= 1 << random.randrange(8)
    return bytes(changed)


def _truncated(random: Random, data: bytes, other: bytes) -> bytes:
    """End at a boundary of a section, near one, or anywhere."""
    _, offset, length, _ = random.choice(sections(data))
    edge = random.choice((offset, offset + length)) + random.choice((-8, -1, 0, 0, 1, 8))
    return data[: max(0, random.choice((edge, random.randrange(len(data)))))]


def _swapped(random: Random, data: bytes, other: bytes) -> bytes:
    """Exchange the contents or the order of two sections, or those of two files; or leave one."""
    contents = contents_of(data)
    one, two = random.choice(list(contents)), random.choice(list(contents))
    kind = random.randrange(4)
    if kind == 0:
        contents[one], contents[two] = contents[two], contents[one]
    elif kind == 1:
        contents[one] = contents_of(other).get(one, contents[one])
    elif kind == 2:
        del contents[one]
    else:
        names = list(contents)
        random.shuffle(names)
        contents = {name: contents[name] for name in names}
    return rebuilt(contents)


def _spliced(random: Random, data: bytes, other: bytes) -> bytes:
    """Replace a range by another one, of this file or the other."""
    source = random.choice((data, other))
    start, size = _any_offset(random, source), random.choice((1, 8, 16, 64, 200))
    at = _any_offset(random, data)
    gone = random.choice((0, size, size))
    return data[:at] + source[start : start + size] + data[at + gone :]


def _resized(random: Random, data: bytes, other: bytes) -> bytes:
    """Repeat, insert or remove bytes within a section, so that all others are still in place."""
    contents = contents_of(data)
    name = random.choice(list(contents))
    content, flags = contents[name]
    words = [content[i : i + 8] for i in range(0, len(content), 8)]
    at, count = random.randrange(len(words) + 1), random.choice((1, 1, 2, 5))
    kind = random.randrange(3)
    if kind == 0:
        del words[at : at + count]
    elif kind == 1:
        words[at:at] = words[at : at + count] * random.choice((1, 1, 2, 100))
    else:
        words[at:at] = [str(random.choice(EXTREMES)).encode()] * count
    contents[name] = b"".join(words), flags
    return rebuilt(contents)
