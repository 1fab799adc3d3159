"""Parsing and printing that xDSL does not provide."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import BlockArgument
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


def parse_function_type(parser: Parser, what: str = "a function type") -> FunctionType:
    """Parse a function type; the error for any other type says that `what` is expected."""
    start = parser.pos
    type = parser.parse_type()
    if not isinstance(type, FunctionType):
        parser.raise_error(f"expected {what}, but got {type}", start, parser.pos)
    return type


def parse_location(parser: Parser, argument: Parser.Argument) -> Parser.Argument:
    """Parse the `loc(…)` that may follow `argument`, and return `argument` with it."""
    argument.location = parser.parse_optional_location()
    return argument


def print_location(printer: Printer, argument: BlockArgument) -> None:
    """Print the location of `argument` if locations are printed."""
    if printer.print_debuginfo:
        printer.print_string(" ")
        printer.print_attribute(argument.location)


@irdl_custom_directive
class FunctionTypeOf(CustomDirective):
    """
    `(T) -> U` for an op with one operand and one result that may be a function.

    A function type as the result is printed in parentheses, `(T) -> ((A) -> B)`: xDSL's
    `functional-type` parses them, but does not print them.
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
