"""Directives of assembly formats that xDSL does not have."""

from __future__ import annotations

from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer


@irdl_custom_directive
class FunctionTypeOf(CustomDirective):
    """
    `(T) -> U` for an op with one operand and one result that may be a function.

    A function as the result is written in brackets, `(T) -> ((A) -> B)`: xDSL's `functional-type`
    reads these, but leaves them away.
    """

    operand: TypeDirective
    result: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        parser.parse_punctuation("(")
        self.operand.set(state, [parser.parse_type()])
        parser.parse_punctuation(")")
        parser.parse_punctuation("->")
        in_brackets = parser.parse_optional_punctuation("(") is not None
        self.result.set(state, [parser.parse_type()])
        if in_brackets:
            parser.parse_punctuation(")")

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_function_type(self.operand.get(op), self.result.get(op))
