"""
Facts about instructions that follow from their classes.

    fields_of(Invoke)    ->    (dst, WRITE), (function, FUNCTION), (args, READS)
    reads(Invoke(4, 0, (1, 2)))    ->    (1, 2)
    writes(Invoke(4, 0, (1, 2)))    ->    (4,)
"""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple, cast

from .instructions import Instruction, Kind, Reg

READ_KINDS = frozenset(
    {Kind.READ, Kind.READS, Kind.READ_OR_INTEGER, Kind.READS_OR_INTEGERS, Kind.READ_OR_DIMS}
)
"""The kinds of fields that are, or may be, registers to read."""

WRITE_KINDS = frozenset({Kind.WRITE, Kind.WRITES})
"""The kinds of fields that are registers to write."""

REGISTER_KINDS = READ_KINDS | WRITE_KINDS

JUMP_KINDS = frozenset({Kind.JUMP})

LISTS = frozenset({Kind.READS, Kind.WRITES, Kind.READS_OR_INTEGERS, Kind.INTEGERS, Kind.SHAPE})
"""The kinds of fields that are tuples."""

_IMMEDIATE = frozenset({Kind.READ_OR_INTEGER, Kind.READS_OR_INTEGERS, Kind.READ_OR_DIMS})
"""The kinds of fields in which registers are `Reg`s and integers are immediates."""


class Field(NamedTuple):
    """A field of an instruction. An `optional` one may be absent: None, or () for a list."""

    name: str
    kind: Kind
    optional: bool

    @property
    def absent(self) -> tuple[()] | None:
        """The value of the field when it is absent."""
        return () if self.kind in LISTS else None


class Piece(NamedTuple):
    """A part of a syntax: literal text, then a field (None at the end); it may be optional."""

    words: str
    field: Field | None
    optional: bool


def _parts(syntax: str) -> list[tuple[str, str, bool]]:
    """Return the pieces of a syntax: words, the name of a field or "", and if it is optional."""
    parts: list[tuple[str, str, bool]] = []
    for part in re.findall(r"\(\?[^)]*\)|(?:(?!\(\?).)+", syntax):
        optional = part.startswith("(?")
        body = part[2:-1] if optional else part
        pairs = re.findall(r"([^$]*)(?:\$(\w+)|$)", body)
        parts += [(words, name, optional) for words, name in pairs if words or name]
    return parts


@cache
def fields_of(kind: type[Instruction]) -> tuple[Field, ...]:
    """Return the fields of an instruction class, in order."""
    optional = {name for _, name, is_optional in _parts(kind.SYNTAX) if is_optional}
    return tuple(
        Field(field.name, cast(Any, field.type).__metadata__[0], field.name in optional)
        for field in fields(cast(Any, kind))
    )


@cache
def pieces_of(kind: type[Instruction]) -> tuple[Piece, ...]:
    """Return the pieces of the syntax of an instruction class, in order."""
    by_name = {field.name: field for field in fields_of(kind)}
    return tuple(
        Piece(words, by_name[name] if name else None, optional)
        for words, name, optional in _parts(kind.SYNTAX)
    )


@cache
def fields_of_kinds(
    kind: type[Instruction], kinds: frozenset[Kind]
) -> tuple[tuple[str, bool], ...]:
    """Return the fields of these kinds: the name, and whether registers in it are `Reg`s."""
    return tuple((f.name, f.kind in _IMMEDIATE) for f in fields_of(kind) if f.kind in kinds)


def _registers(instruction: Instruction, kinds: frozenset[Kind]) -> tuple[int, ...]:
    numbers: list[int] = []
    for name, immediate in fields_of_kinds(type(instruction), kinds):
        value = getattr(instruction, name)
        items = cast("tuple[Any, ...]", value if isinstance(value, tuple) else (value,))
        if immediate:
            numbers += [item.index for item in items if isinstance(item, Reg)]
        else:
            numbers += [item for item in items if isinstance(item, int)]
    return tuple(numbers)


def reads(instruction: Instruction) -> tuple[int, ...]:
    """Return the registers that `instruction` reads, in the order of its fields."""
    return _registers(instruction, READ_KINDS)


def writes(instruction: Instruction) -> tuple[int, ...]:
    """Return the registers that `instruction` writes, or clears (`KillRegister`)."""
    return _registers(instruction, WRITE_KINDS)


def registers(instruction: Instruction) -> tuple[int, ...]:
    """Return the registers that `instruction` reads or writes, in the order of its fields."""
    return _registers(instruction, REGISTER_KINDS)


def jumps(instruction: Instruction) -> tuple[int, ...]:
    """Return the offsets by which `instruction` may jump."""
    names = fields_of_kinds(type(instruction), JUMP_KINDS)
    return tuple(getattr(instruction, name) for name, _ in names)
