"""Parts that forms of upstream dialects have in common: functions, and directives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IndexType, i32
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import IRDLOperation, VariadicDef
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    RegionVariable,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator

INDEX, PAREN, SQUARE = IndexType(), Parser.Delimiter.PAREN, Parser.Delimiter.SQUARE


def segments(*groups: Sequence[object]) -> dict[str, Attribute]:
    """Return the property that tells groups of operands apart."""
    return {"operandSegmentSizes": DenseArrayBase.from_list(i32, [*map(len, groups)])}


def parse_operands(
    parser: Parser, type: Attribute = INDEX, delimiter: Parser.Delimiter = PAREN
) -> list[SSAValue]:
    """Parse operands of one type between delimiters."""
    return parser.parse_comma_separated_list(delimiter, lambda: parser.parse_operand(type))


def parse_optional_operands(
    parser: Parser, type: Attribute = INDEX, delimiter: Parser.Delimiter = PAREN
) -> list[SSAValue]:
    """Parse operands of one type between delimiters, if there are any."""
    listed = parser.parse_optional_comma_separated_list(
        delimiter, lambda: parser.parse_operand(type)
    )
    return listed or []


def parse_arguments(parser: Parser) -> list[Parser.Argument]:
    """Parse indices that a loop defines."""
    return parser.parse_comma_separated_list(
        PAREN, lambda: parser.parse_argument(expect_type=False).resolve(INDEX)
    )


def print_group(
    printer: Printer,
    word: str,
    values: Iterable[Any],
    print: Callable[[Any], Any] | None = None,
    brackets: str = "()",
) -> None:
    """Print a word, and values between brackets."""
    printer.print_string(word + brackets[0])
    printer.print_list(values, print or printer.print_operand)
    printer.print_string(brackets[1])


def parse_assignment(parser: Parser) -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
    """Parse an argument and its first value."""
    argument = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    return argument, parser.parse_unresolved_operand()


def resolve_assignments(
    parser: Parser,
    pairs: Sequence[tuple[Parser.UnresolvedArgument, UnresolvedOperand]],
    types: Sequence[Attribute],
    start: int,
) -> tuple[list[Parser.Argument], Sequence[SSAValue]]:
    """Return arguments and their first values."""
    values = parser.resolve_operands([value for _, value in pairs], types, start)
    return [each.resolve(type) for (each, _), type in zip(pairs, types, strict=True)], values


def print_assignments(
    printer: Printer, word: str, arguments: Iterable[SSAValue], values: Iterable[SSAValue]
) -> None:
    """Print a word, and arguments with their first values."""

    def print_assignment(pair: tuple[SSAValue, SSAValue]) -> None:
        printer.print_ssa_value(pair[0])
        printer.print_string(" = ")
        printer.print_operand(pair[1])

    print_group(printer, word, zip(arguments, values, strict=True), print_assignment)


def parse_results(parser: Parser) -> Sequence[Attribute]:
    """Parse the types of results, if there are any."""
    if parser.parse_optional_punctuation("->") is None:
        return ()
    listed = parser.parse_optional_comma_separated_list(PAREN, parser.parse_type)
    return [parser.parse_type()] if listed is None else listed


def print_results(printer: Printer, types: Sequence[Attribute]) -> None:
    """Print the types of results, if there are any."""
    if types:
        print_group(printer, " -> ", types, printer.print_attribute)


def parse_body(
    parser: Parser, end: type[IRDLOperation], arguments: Sequence[Parser.Argument] | None = None
) -> Region:
    """Parse a region whose terminator, of class `end`, is omitted if it is empty."""
    body = parser.parse_region(arguments)
    block = body.blocks[-1]
    last = block.last_op
    if last is None or not last.has_trait(IsTerminator, value_if_unregistered=False):
        regions = (part for _, part in end.get_irdl_definition().regions)
        fixed = [Region() for part in regions if not isinstance(part, VariadicDef)]
        block.add_op(end.create(regions=fixed))
    return body


def print_body(printer: Printer, body: Region) -> None:
    """Print a region without its arguments, and without its terminator if this is empty."""
    last = body.blocks[-1].last_op
    is_empty = last is not None and not (last.operands or any(r.blocks for r in last.regions))
    printer.print_string(" ")
    printer.print_region(
        body,
        print_entry_block_args=False,
        print_empty_block=False,
        print_block_terminators=not is_empty or len(body.blocks) > 1,
    )


# ----------------------------------------------------------------------------- directives


@irdl_custom_directive
class Results(CustomDirective):
    """The types of results: `-> T`, `-> (T, U)`, or nothing for none."""

    results: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.results.set(state, parse_results(parser))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        print_results(printer, self.results.get(op))


class Body(CustomDirective):
    """A region without arguments, whose terminator is omitted if it is empty."""

    END: ClassVar[type[IRDLOperation]]
    """The class of the terminator."""

    region: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.region.set(state, parse_body(parser, self.END))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        print_body(printer, self.region.get(op))

    def is_anchorable(self) -> bool:
        return True

    def is_present(self, op: IRDLOperation) -> bool:
        return self.region.is_present(op)

    def set_empty(self, state: ParsingState) -> None:
        self.region.set_empty(state)
