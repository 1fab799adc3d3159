"""
The encoding of instructions, derived from the kinds of the fields of their classes.

A file lists the instructions that it uses by mnemonic, each with the names and the kinds of its
fields, so that it can be read when instructions are numbered otherwise, and when fields with a
default were added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from enum import IntEnum
from functools import cache
from typing import Any, cast

from ..program.instruction_table import fields_of
from ..program.instructions import INSTRUCTIONS, Instruction, Kind, Reg
from ..program.records import record
from .words import WordReader, WordWriter


class FieldKind(IntEnum):
    """The kind of a field, as it is numbered in files."""

    INTEGER = 0
    TEXT = 1
    INTEGERS = 2
    INTEGER_OR_REGISTER = 3
    OPTIONAL_INTEGER = 4
    INTEGERS_OR_REGISTERS = 5
    SHAPE_OR_REGISTER = 6


_KINDS: Mapping[Kind, FieldKind] = {
    **dict.fromkeys(
        (Kind.READ, Kind.WRITE, Kind.FUNCTION, Kind.KERNEL, Kind.CONSTANT, Kind.DEVICE),
        FieldKind.INTEGER,
    ),
    **dict.fromkeys((Kind.JUMP, Kind.INTEGER), FieldKind.INTEGER),
    **dict.fromkeys((Kind.READS, Kind.WRITES, Kind.INTEGERS, Kind.SHAPE), FieldKind.INTEGERS),
    **dict.fromkeys((Kind.DTYPE, Kind.TEXT), FieldKind.TEXT),
    Kind.READ_OR_INTEGER: FieldKind.INTEGER_OR_REGISTER,
    Kind.READS_OR_INTEGERS: FieldKind.INTEGERS_OR_REGISTERS,
    Kind.READ_OR_DIMS: FieldKind.SHAPE_OR_REGISTER,
}


def _put_int_or_reg(writer: WordWriter, value: int | Reg) -> None:
    writer.put(*((1, value.index) if isinstance(value, Reg) else (0, value)))


def _put_ints_or_regs(writer: WordWriter, value: tuple[int | Reg, ...]) -> None:
    writer.put(len(value))
    for item in value:
        _put_int_or_reg(writer, item)


def _put_shape_or_reg(writer: WordWriter, value: tuple[int, ...] | Reg) -> None:
    writer.put(isinstance(value, Reg))
    if isinstance(value, Reg):
        writer.put(value.index)
    else:
        writer.put_many(value)


def _int_or_reg(reader: WordReader) -> int | Reg:
    return Reg(reader.take()) if reader.below(2, "flag") else reader.take()


def _ints_or_regs(reader: WordReader) -> tuple[int | Reg, ...]:
    return tuple(_int_or_reg(reader) for _ in range(reader.count("numbers", 2)))


def _shape_or_reg(reader: WordReader) -> tuple[int, ...] | Reg:
    return Reg(reader.take()) if reader.below(2, "flag") else reader.take_many("dims")


PUT: dict[FieldKind, Callable[[WordWriter, Any], None]] = {
    FieldKind.INTEGER: WordWriter.put,
    FieldKind.TEXT: WordWriter.put_text,
    FieldKind.INTEGERS: WordWriter.put_many,
    FieldKind.INTEGER_OR_REGISTER: _put_int_or_reg,
    FieldKind.OPTIONAL_INTEGER: WordWriter.put_optional,
    FieldKind.INTEGERS_OR_REGISTERS: _put_ints_or_regs,
    FieldKind.SHAPE_OR_REGISTER: _put_shape_or_reg,
}
"""Writers of a field, by its kind."""

TAKE: dict[FieldKind, Callable[[WordReader], Any]] = {
    FieldKind.INTEGER: WordReader.take,
    FieldKind.TEXT: WordReader.text,
    FieldKind.INTEGERS: lambda reader: reader.take_many("numbers"),
    FieldKind.INTEGER_OR_REGISTER: _int_or_reg,
    FieldKind.OPTIONAL_INTEGER: WordReader.optional,
    FieldKind.INTEGERS_OR_REGISTERS: _ints_or_regs,
    FieldKind.SHAPE_OR_REGISTER: _shape_or_reg,
}
"""Readers of a field, by its kind."""


@cache
def encoding_of(kind: type[Instruction]) -> dict[str, FieldKind]:
    """Return the kinds of the fields of an instruction in files, by name and in order."""
    return {
        field.name: FieldKind.OPTIONAL_INTEGER
        if field.absent is None and field.optional
        else _KINDS[field.kind]
        for field in fields_of(kind)
    }


@record
class Opcode:
    """An instruction of a file's opcode table: its class, and how its fields are read."""

    kind: type[Instruction]
    names: tuple[str, ...] | None
    """The names of the fields; None if they are those of the class, in its order."""
    takes: tuple[Callable[[WordReader], Any], ...]

    def read(self, reader: WordReader) -> Instruction:
        """Read the fields, and return the instruction."""
        values = [take(reader) for take in self.takes]
        if self.names is None:
            return self.kind(*values)
        return self.kind(**dict(zip(self.names, values, strict=True)))


def write_opcodes(writer: WordWriter, kinds: list[type[Instruction]]) -> None:
    """Write the opcode table: for each instruction its mnemonic and its fields."""
    writer.put(len(kinds))
    for kind in kinds:
        writer.put_text(kind.mnemonic)
        members = encoding_of(kind)
        writer.put(len(members))
        for name, field in members.items():
            writer.put_text(name)
            writer.put(field)


def read_opcodes(reader: WordReader) -> list[Opcode]:
    """Read the opcode table."""
    return [_read_opcode(reader) for _ in range(reader.count("opcodes", 2))]


def _read_opcode(reader: WordReader) -> Opcode:
    mnemonic = reader.text("mnemonic")
    kind = INSTRUCTIONS.get(mnemonic)
    if kind is None:
        raise reader.fault(f"unknown instruction '{mnemonic}': the file needs a newer version")
    expected = encoding_of(kind)
    found: dict[str, FieldKind] = {}
    for _ in range(reader.count("fields", 2)):
        name = reader.text("field")
        number = reader.take()
        if name in found or expected.get(name) != number:
            raise reader.fault(f"{mnemonic} has an unknown field '{name}' of kind {number}")
        found[name] = expected[name]
    for field in fields(cast(Any, kind)):
        if field.name not in found and field.default is MISSING:
            raise reader.fault(f"{mnemonic} lacks the field '{field.name}'")
    in_order = list(found) == list(expected)
    return Opcode(kind, None if in_order else tuple(found), tuple(TAKE[f] for f in found.values()))
