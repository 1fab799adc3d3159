"""Ops whose text follows from one line, their `SYNTAX`."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.irdl import (
    IRDLOperation,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from .fields import (
    parse_by_syntax,
    print_by_syntax,
)


class Written(IRDLOperation):
    """An op whose custom text is its `SYNTAX`: literal words and `$fields`."""

    SYNTAX: ClassVar[str]
    """For example `$dst, $storage[$offset] : $type`; an optional part stands in `(? …)`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties = parse_by_syntax(cls.SYNTAX, parser)
        return cls.create(properties=properties, attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        if self.SYNTAX:
            printer.print_string(" ")
        print_by_syntax(self.SYNTAX, self.properties, printer)
        printer.print_op_attributes(self.attributes)
