"""
The table of opcodes: the instructions that a file uses, by mnemonic, each with its fields.

A field has its name and the number of its type in `FIELD_TYPES`, so that a file can be read when
instructions are numbered otherwise, and when fields with a default were added.
"""

from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, cast, get_args

from ..program.instructions import INSTRUCTIONS, Instruction, Reg
from ..program.records import record
from .word_format import WORDS
from .words import WordReader

FIELD_TYPES = (
    *(int, str, tuple[int, ...], int | Reg, int | None),
    *(tuple[int | Reg, ...], tuple[int, ...] | Reg),
)
"""The types of fields; a file has their numbers."""


@record
class FieldOfOpcode:
    """A field: its name, and the number of its type."""

    name: str
    type: int


@record
class Opcode:
    """An instruction: its mnemonic, and its fields in the order in which they are stored."""

    mnemonic: str
    fields: tuple[FieldOfOpcode, ...]


@cache
def opcode_of(kind: type[Instruction]) -> Opcode:
    """Return the entry of an instruction in the table."""
    listed = (
        FieldOfOpcode(field.name, FIELD_TYPES.index(get_args(field.type)[0]))
        for field in fields(cast(Any, kind))
    )
    return Opcode(kind.mnemonic, tuple(listed))


def putters_of(opcode: Opcode) -> list[tuple[str, Callable[..., None]]]:
    """Return the name of each field, and what writes it."""
    return [(field.name, WORDS.of(FIELD_TYPES[field.type]).put) for field in opcode.fields]


def reader_of(opcode: Opcode, reader: WordReader) -> Callable[[WordReader], Instruction]:
    """Return what reads the fields of an instruction; a fault of `reader` if it is unknown."""
    mnemonic = opcode.mnemonic
    kind = INSTRUCTIONS.get(mnemonic)
    if kind is None:
        raise reader.fault(f"unknown instruction '{mnemonic}': the file needs a newer version")
    expected = {field.name: field for field in opcode_of(kind).fields}
    names = [field.name for field in opcode.fields]
    for field in opcode.fields:
        if names.count(field.name) > 1 or expected.get(field.name) != field:
            raise reader.fault(
                f"{mnemonic} has an unknown field '{field.name}' of kind {field.type}"
            )
    for field in fields(cast(Any, kind)):
        if field.name not in names and field.default is MISSING:
            raise reader.fault(f"{mnemonic} lacks the field '{field.name}'")
    takes = [WORDS.of(FIELD_TYPES[field.type], field.name).take for field in opcode.fields]
    if names == list(expected):
        return lambda words: kind(*[take(words) for take in takes])
    named = list(zip(names, takes, strict=True))
    return lambda words: kind(**{name: take(words) for name, take in named})
