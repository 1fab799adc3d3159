"""An instruction as an op: its fields are properties, and its syntax is that of the machine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import I64, ArrayAttr, IntegerAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ...runtime.program import instructions as vm
from ...runtime.program.instruction_table import fields_of, pieces_of
from .fields import FORMS, RegisterAttr, Resolve, print_field


@dataclass
class Renaming:
    """New registers of a function, by number; each attribute is made once."""

    new: Mapping[int, int]
    _registers: dict[int, RegisterAttr] = field(default_factory=dict[int, RegisterAttr])
    _lists: dict[tuple[int, ...], Attribute] = field(
        default_factory=dict[tuple[int, ...], Attribute]
    )

    def renamed(self, value: Attribute) -> Attribute:
        """Return a field with the new registers."""
        if type(value) is RegisterAttr:
            return self.register(self.new[value.data])
        if type(value) is not ArrayAttr:
            return value
        items = value.data
        numbers = [self.new[item.data] for item in items if type(item) is RegisterAttr]
        if len(numbers) < len(items):
            return ArrayAttr([self.renamed(item) for item in items])
        renamed_list = self._lists.get(key := tuple(numbers))
        if renamed_list is None:
            renamed_list = self._lists[key] = ArrayAttr(
                [self.register(number) for number in numbers]
            )
        return renamed_list

    def register(self, number: int) -> RegisterAttr:
        attribute = self._registers.get(number)
        if attribute is None:
            attribute = self._registers[number] = RegisterAttr(number)
        return attribute


class Instruction(IRDLOperation):
    """One instruction of a function."""

    INSTRUCTION: ClassVar[type[vm.Instruction]]
    """Its class in the machine."""
    SYNTAX: ClassVar[str]
    READS: ClassVar[Sequence[str]]
    """The fields that are, or may be, registers to read."""
    WRITES: ClassVar[Sequence[str]]
    """The fields that are registers to write or clear."""
    JUMPS: ClassVar[Sequence[str]]
    """The fields that are offsets."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """
        Parse the fields by the syntax that the machine states, not a format of xDSL.

        An optional part is present if its first word is.
        """
        properties: dict[str, Attribute] = {}
        for piece in pieces_of(cls.INSTRUCTION):
            tokens = re.findall(r"->|\w+|[^\s\w]", piece.words)
            if piece.optional and not _found_literal(tokens.pop(0), parser):
                continue
            for token in tokens:
                _parse_literal(token, parser)
            if piece.field is not None:
                properties[piece.field.name] = FORMS[piece.field.kind].parse(parser)
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
        values: list[Any] = []
        for each in fields_of(self.INSTRUCTION):
            value = self.properties.get(each.name)
            values.append(each.absent if value is None else FORMS[each.kind].value(value, resolve))
        return self.INSTRUCTION(*values)

    @property
    def jumps(self) -> tuple[int, ...]:
        """The offsets by which the instruction may jump."""
        if not self.JUMPS:
            return ()
        offsets = (self.properties[name] for name in self.JUMPS)
        return tuple(cast("IntegerAttr[I64]", offset).value.data for offset in offsets)

    def uses_register_from(self, number: int) -> bool:
        """Test whether the instruction uses register `number` or a later one."""
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
        for name, offset in zip(self.JUMPS, offsets, strict=True):
            self.properties[name] = IntegerAttr(offset, i64)

    @property
    def reads(self) -> list[int]:
        """The numbers of the registers that the instruction reads."""
        return self._registers_in(self.READS)

    @property
    def writes(self) -> list[int]:
        """The numbers of the registers that the instruction writes or clears."""
        return self._registers_in(self.WRITES)

    def rename(self, renaming: Renaming) -> None:
        """Give the instruction its new registers."""
        properties = self.properties
        for name in (*self.READS, *self.WRITES):
            value = properties.get(name)
            if value is not None:
                properties[name] = renaming.renamed(value)

    def _registers_in(self, names: Iterable[str]) -> list[int]:
        numbers: list[int] = []
        for name in names:
            value = self.properties.get(name)
            if type(value) is RegisterAttr:
                numbers.append(value.data)
            elif type(value) is ArrayAttr:
                items = value.data
                numbers += [item.data for item in items if type(item) is RegisterAttr]
        return numbers


def _parse_literal(token: str, parser: Parser) -> None:
    if token[0].isalpha():
        parser.parse_keyword(token)
    else:
        parser.parse_punctuation(cast(Any, token))


def _found_literal(token: str, parser: Parser) -> bool:
    if token[0].isalpha():
        return parser.parse_optional_keyword(token) is not None
    return parser.parse_optional_punctuation(cast(Any, token)) is not None
