"""An instruction as an op: its fields are properties, and its syntax is that of the machine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import I64, ArrayAttr, IntegerAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ...runtime import instructions as vm
from ...runtime.instruction_table import (
    JUMP_KINDS,
    READ_KINDS,
    WRITE_KINDS,
    fields_of,
    fields_of_kinds,
    pieces_of,
)
from ...runtime.instructions import Kind
from .fields import (
    RegisterAttr,
    Resolve,
    parse_field,
    print_field,
    value_of,
)


class Instruction(IRDLOperation):
    """One instruction of a function."""

    INSTRUCTION: ClassVar[type[vm.Instruction]]
    """Its class in the machine."""
    SYNTAX: ClassVar[str]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the fields in order; an optional part is present if its first word is."""
        properties: dict[str, Attribute] = {}
        for piece in pieces_of(cls.INSTRUCTION):
            tokens = re.findall(r"->|\w+|[^\s\w]", piece.words)
            if piece.optional and not _found_literal(tokens.pop(0), parser):
                continue
            for token in tokens:
                _parse_literal(token, parser)
            if piece.field is not None:
                properties[piece.field.name] = parse_field(piece.field.kind, parser)
        return cls.create(properties=properties, attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        """Print the fields in order, without the optional ones that are absent."""
        printer.print_string(" " if self.SYNTAX else "")
        for piece in pieces_of(self.INSTRUCTION):
            field = piece.field
            if field is None:
                printer.print_string(piece.words)
            elif not piece.optional or field.name in self.properties:
                printer.print_string(piece.words)
                print_field(self.properties[field.name], field.kind, printer)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if self.INSTRUCTION.faults is vm.Instruction.faults:
            return
        for fault in self.for_machine(lambda kind, value: 0).faults():
            raise VerifyException(fault)

    def for_machine(self, resolve: Resolve) -> vm.Instruction:
        """Return the instruction for the machine, with the indices that `resolve` returns."""
        return self.INSTRUCTION(
            *(
                field.absent if value is None else value_of(value, field.kind, resolve)
                for field in fields_of(self.INSTRUCTION)
                for value in (self.properties.get(field.name),)
            )
        )

    @property
    def jumps(self) -> tuple[int, ...]:
        """The offsets by which the instruction may jump."""
        names = fields_of_kinds(self.INSTRUCTION, JUMP_KINDS)
        if not names:
            return ()
        return tuple(cast("IntegerAttr[I64]", v).value.data for v in self._of(JUMP_KINDS))

    def uses_register_from(self, number: int) -> bool:
        """Test whether the instruction reads or writes register `number` or a later one."""
        for value in self.properties.values():
            if type(value) is RegisterAttr:
                if value.data >= number:
                    return True
            elif type(value) is ArrayAttr:
                for item in value.data:
                    if type(item) is RegisterAttr and item.data >= number:
                        return True
        return False

    def set_jumps(self, offsets: Sequence[int]) -> None:
        """Replace the offsets that `jumps` returns."""
        names = fields_of_kinds(self.INSTRUCTION, JUMP_KINDS)
        for (name, _), offset in zip(names, offsets, strict=True):
            self.properties[name] = IntegerAttr(offset, i64)

    @property
    def reads(self) -> tuple[RegisterAttr, ...]:
        """The registers that the instruction reads."""
        return tuple(r for value in self._of(READ_KINDS) for r in _registers_in(value))

    @property
    def writes(self) -> tuple[RegisterAttr, ...]:
        """The registers that the instruction writes or clears."""
        return tuple(r for value in self._of(WRITE_KINDS) for r in _registers_in(value))

    def rename(
        self,
        read: Mapping[RegisterAttr, RegisterAttr],
        written: Mapping[RegisterAttr, RegisterAttr] | None = None,
    ) -> None:
        """Rename the registers that are read by `read`, others by `written` (default: `read`)."""
        for kinds, names in (
            (READ_KINDS, read),
            (WRITE_KINDS, read if written is None else written),
        ):
            for name, _ in fields_of_kinds(self.INSTRUCTION, kinds):
                value = self.properties.get(name)
                if value is not None:
                    self.properties[name] = _renamed(value, names)

    def _of(self, kinds: frozenset[Kind]) -> Iterator[Attribute]:
        for name, _ in fields_of_kinds(self.INSTRUCTION, kinds):
            value = self.properties.get(name)
            if value is not None:
                yield value


def _parse_literal(token: str, parser: Parser) -> None:
    if token[0].isalpha():
        parser.parse_keyword(token)
    else:
        parser.parse_punctuation(cast(Any, token))


def _found_literal(token: str, parser: Parser) -> bool:
    if token[0].isalpha():
        return parser.parse_optional_keyword(token) is not None
    return parser.parse_optional_punctuation(cast(Any, token)) is not None


def _registers_in(value: Attribute) -> tuple[RegisterAttr, ...]:
    if isinstance(value, RegisterAttr):
        return (value,)
    items = cast("ArrayAttr[Attribute]", value) if isinstance(value, ArrayAttr) else ()
    return tuple(item for item in items if isinstance(item, RegisterAttr))


def _renamed(value: Attribute, registers: Mapping[RegisterAttr, RegisterAttr]) -> Attribute:
    if isinstance(value, RegisterAttr):
        return registers.get(value, value)
    if isinstance(value, ArrayAttr):
        items = cast("ArrayAttr[Attribute]", value)
        return ArrayAttr([_renamed(item, registers) for item in items])
    return value
