"""
The layout of an executable file: a header, a table of sections, and the sections.

    0   magic           8 bytes
    8   major, minor    u16, u16
    12  sections        u32
    16  file length     u64
    24  checksum        u32, of the header without it and of the table
    28  zero            u32
    32  table           48 bytes for each section: name (16 bytes, padded with zeros), offset (u64),
                        length (u64), checksum (u32), flags (u32), zero (u64)

Sections begin at multiples of 64, in the order of the table, with zeros between them.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from functools import partial
from zlib import crc32

from ...operators.records import record
from ..errors import MachineError
from ..files import START, kind_of


class ExecutableError(MachineError):
    """A file that is not an executable, is damaged, or does not fit its weights."""

    __module__ = "xrelay"  # the name that tracebacks show


def damaged(section: str, offset: int, fault: str) -> ExecutableError:
    """Return the error for a `fault` at byte `offset` of the file, in `section`."""
    return ExecutableError(f"section '{section}', byte {offset}: {fault}")


MAGIC = b"\x89XRX\r\n\x1a\n"
"""The first bytes: one is not ASCII and some are line ends, which text transfers change."""

VERSION = (7, 2)
"""Major and minor version of the format that is written."""

ALIGNMENT = 64
"""Sections and constants begin at multiples of it, as vector instructions like."""

OPTIONAL = 1
"""The flag of a section that a reader may ignore."""

UNSUMMED = 2
"""The flag of a section without a checksum: the constants in it have their own."""

_HEADER = struct.Struct("<8sHHIQII")
_SUMMED = 24
_ENTRY = struct.Struct("<16sQQIIQ")
MAX_SECTIONS = 64


@record
class Section:
    """A section: its place in the file, its checksum (CRC-32) and its flags."""

    name: str
    offset: int
    length: int
    checksum: int
    flags: int

    @property
    def is_optional(self) -> bool:
        return bool(self.flags & OPTIONAL)

    @property
    def has_checksum(self) -> bool:
        return not self.flags & UNSUMMED


@record
class Layout:
    """The version of a file's format, and its sections in order."""

    version: tuple[int, int]
    sections: tuple[Section, ...]


fault = partial(damaged, "header")
"""Return the error for a fault at a byte of the header or the table."""


def is_section_name(name: str) -> bool:
    """Test whether a section can have this name: up to 16 ASCII letters, digits and `-`."""
    return len(name) <= 16 and name.isascii() and name.replace("-", "x").isalnum()


def aligned(offset: int) -> int:
    """Return the least multiple of `ALIGNMENT` that is not below `offset`."""
    return -(-offset // ALIGNMENT) * ALIGNMENT


def laid_out(contents: Mapping[str, Sequence[memoryview]], flags: Mapping[str, int]) -> Layout:
    """Lay out sections with these contents, in pieces, one after the other."""
    offset = aligned(_HEADER.size + _ENTRY.size * len(contents))
    sections: list[Section] = []
    for name, pieces in contents.items():
        flag = flags.get(name, 0)
        checksum = 0
        for piece in pieces if not flag & UNSUMMED else ():
            checksum = crc32(piece, checksum)
        length = sum(piece.nbytes for piece in pieces)
        sections.append(Section(name, offset, length, checksum, flag))
        offset = aligned(offset + length)
    return Layout(VERSION, tuple(sections))


def header_of(layout: Layout) -> bytes:
    """Return the header and the table."""
    last = layout.sections[-1]
    table = b"".join(
        _ENTRY.pack(s.name.encode("ascii"), s.offset, s.length, s.checksum, s.flags, 0)
        for s in layout.sections
    )
    fixed = (MAGIC, *layout.version, len(layout.sections), last.offset + last.length)
    checksum = crc32(table, crc32(_HEADER.pack(*fixed, 0, 0)[:_SUMMED]))
    return _HEADER.pack(*fixed, checksum, 0) + table


def read_layout(data: memoryview) -> Layout:
    """
    Read the header and the table of the file `data`, and check the checksums of the sections.

    Raises `ExecutableError`.
    """
    if bytes(data[: len(MAGIC)]) != MAGIC:
        if not data:
            raise ExecutableError("not an executable: the file is empty")
        if MAGIC.startswith(bytes(data)):
            raise fault(len(data), "the file ends in its magic number")
        kind = kind_of(bytes(data[:START]))
        if kind in ("data", "an executable"):
            raise ExecutableError("not an executable: its magic number is wrong")
        raise ExecutableError(f"not an executable, but {kind}")
    if len(data) < _HEADER.size:
        raise fault(len(data), f"the file ends before byte {_HEADER.size}")
    _, major, minor, count, length, checksum, zero = _HEADER.unpack_from(data)
    if major != VERSION[0]:
        reads = f"this program reads {VERSION[0]}.x; compile the model again"
        raise fault(8, f"the format is version {major}.{minor}, but {reads}")
    if length != len(data):
        raise fault(16, f"the file has {len(data)} bytes, but should have {length}")
    if count > MAX_SECTIONS:
        raise fault(12, f"at most {MAX_SECTIONS} sections are allowed, but got {count}")
    end = _HEADER.size + _ENTRY.size * count
    if end > len(data):
        raise fault(12, f"{count} sections end at {end}, after the file")
    if crc32(data[_HEADER.size : end], crc32(data[:_SUMMED])) != checksum or zero:
        raise fault(_SUMMED, "the checksum of the table is wrong: the file is damaged")
    sections = [_section(data, i) for i in range(count)]
    _check_order(data, sections, end)
    for section in sections:
        _check_sum(data, section)
    return Layout((major, minor), tuple(sections))


def _section(data: memoryview, index: int) -> Section:
    at = _HEADER.size + _ENTRY.size * index
    raw, offset, length, checksum, flags, zero = _ENTRY.unpack_from(data, at)
    name = raw.rstrip(b"\0")
    if not name.isascii() or not is_section_name(name.decode("ascii")):
        raise fault(at, f"{raw!r} is not the name of a section")
    if zero:
        raise fault(at + 40, f"expected 0, but got {zero}")
    if flags & ~(OPTIONAL | UNSUMMED):
        raise fault(at + 36, f"unknown flags {flags:#x}")
    return Section(name.decode("ascii"), offset, length, checksum, flags)


def _check_order(data: memoryview, sections: Sequence[Section], end: int) -> None:
    """Check that the sections fill the file from byte `end` on, with zeros between them."""
    seen: set[str] = set()
    for i, section in enumerate(sections):
        at = _HEADER.size + _ENTRY.size * i
        if section.name in seen:
            raise fault(at, f"there are two sections '{section.name}'")
        seen.add(section.name)
        if section.offset != aligned(end):
            places = f"{aligned(end)}, not at {section.offset}"
            raise fault(at + 16, f"section '{section.name}' must begin at {places}")
        if section.length > len(data) - min(section.offset, len(data)):
            bytes_there = f"{section.length} bytes from {section.offset} on"
            text = f"section '{section.name}' has {bytes_there}, but the file ends at {len(data)}"
            raise fault(at + 24, text)
        if any(data[end : section.offset]):
            raise fault(end, f"the bytes before section '{section.name}' are not zero")
        end = section.offset + section.length
    if end != len(data):
        raise fault(16, f"the last section ends at {end}, the file at {len(data)}")


def _check_sum(data: memoryview, section: Section) -> None:
    if not section.has_checksum:
        return
    checksum = crc32(data[section.offset : section.offset + section.length])
    if checksum != section.checksum:
        sums = f"must be {section.checksum:08x}, but is {checksum:08x}"
        raise damaged(section.name, section.offset, f"the checksum {sums}: the file is damaged")
