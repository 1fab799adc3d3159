"""Parsing and printing that xDSL does not provide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FunctionType, IntegerAttr, i64
from xdsl.ir import Attribute, Block, BlockArgument
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    OptionalOperandVariable,
    ParsingState,
    PrintingState,
    RegionVariable,
    TypeDirective,
    VariableDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer


def parse_function_type(parser: Parser) -> FunctionType:
    """Parse a function type."""
    start = parser.pos
    type = parser.parse_type()
    if not isinstance(type, FunctionType):
        parser.raise_error(f"expected a function type, but got {type}", start, parser.pos)
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


def parse_signature(
    parser: Parser, state: ParsingState, groups: Sequence[TypeDirective], result: TypeDirective
) -> None:
    """Parse the function type from parsed operands, in groups, to one result."""
    start, type = parser.pos, parser.parse_type()
    counts = [len(state.operands[variable_of(group).index] or ()) for group in groups]
    wanted = sum(counts), 1
    if not isinstance(type, FunctionType) or (len(type.inputs), len(type.outputs)) != wanted:
        expected = f"expected a function type of {sum(counts)} operands and a result"
        parser.raise_error(f"{expected}, but got {type}", start, parser.pos)
    types = iter(type.inputs)
    for group, count in zip(groups, counts, strict=True):
        group.set(state, [next(types) for _ in range(count)])
    result.set(state, type.outputs.data)


def variable_of(type: TypeDirective) -> VariableDirective:
    """Return the variable whose type a directive stands for."""
    return cast(VariableDirective, type.inner)


class PropertyForm(CustomDirective):
    """A property in a form of its own; nothing if it is absent, or an array without elements."""

    READ: ClassVar[Callable[[Parser], Attribute | None]]
    WRITE: ClassVar[Callable[[Printer, Any], object]]
    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        attribute = type(self).READ(parser)
        if attribute is not None:
            self.attribute.set(state, attribute)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        attribute = op.properties.get(self.attribute.name)
        if attribute is not None and not (isinstance(attribute, DenseArrayBase) and not attribute):
            state.print_whitespace(printer)
            type(self).WRITE(printer, attribute)


def form(
    name: str, read: Callable[[Parser], Attribute | None], write: Callable[[Printer, Any], object]
) -> type[PropertyForm]:
    """Return the directive of a property that is parsed and printed by functions."""
    members = {
        "READ": staticmethod(read),
        "WRITE": staticmethod(write),
        "__module__": __name__,
        "__annotations__": {"attribute": AttributeVariable},
    }
    return irdl_custom_directive(type(name, (PropertyForm,), members))


@irdl_custom_directive
class FunctionTypeOf(CustomDirective):
    """
    `(T, U) -> R` for a group of operands and results, one of which may be a function.

    A function type as the result is printed in parentheses, `(T) -> ((A) -> B)`: xDSL's
    `functional-type` parses them, but does not print them.
    """

    operands: TypeDirective
    result: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        parse_signature(parser, state, [self.operands], self.result)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_function_type(self.operands.get(op), self.result.get(op))


@irdl_custom_directive
class StaticOrDynamic(CustomDirective):
    """An integer, which is a property, or an operand: `128` or `%n`."""

    static: AttributeVariable
    dynamic: OptionalOperandVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        value = parser.parse_optional_integer(allow_boolean=False)
        if value is not None:
            self.static.set(state, IntegerAttr(value, i64))
        self.dynamic.set(state, None if value is not None else parser.parse_unresolved_operand())

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        static = self.static.get(op)
        if static is None:
            self.dynamic.print(printer, state, op)
            return
        state.print_whitespace(printer)
        printer.print_string(str(cast("IntegerAttr[Any]", static).value.data))


@irdl_custom_directive
class Qualified(CustomDirective):
    """An attribute with its name; its class is checked where it is parsed."""

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        start, attribute = parser.pos, parser.parse_attribute()
        declared = state.op_type.get_irdl_definition().properties[self.attribute.name]
        base = next(iter(declared.constr.get_bases() or (Attribute,)))
        if not isinstance(attribute, base):
            parser.raise_error(f"expected a #{base.name}, but got {attribute}", start, parser.pos)
        self.attribute.set(state, attribute)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_attribute(cast(Attribute, self.attribute.get(op)))

    def is_anchorable(self) -> bool:
        return self.attribute.is_anchorable()

    def is_present(self, op: IRDLOperation) -> bool:
        return self.attribute.is_present(op)


@irdl_custom_directive
class OneBlock(CustomDirective):
    """A region of one block, which may be empty."""

    region: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        region = parser.parse_region()
        if not region.blocks:
            region.add_block(Block())
        self.region.set(state, region)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        self.region.print(printer, state, op)


@irdl_custom_directive
class TypeArguments(CustomDirective):
    """Types or names of type parameters, `<[T, U]>`, or nothing for none."""

    types: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        types: list[Attribute] = []
        if parser.parse_optional_punctuation("<") is not None:
            square = parser.Delimiter.SQUARE
            types = parser.parse_comma_separated_list(square, parser.parse_attribute)
            parser.parse_punctuation(">")
        self.types.set(state, ArrayAttr(types))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        types = cast("ArrayAttr[Attribute] | None", self.types.get(op))
        if types:
            printer.print_string("<[")
            printer.print_list(types, printer.print_attribute)
            printer.print_string("]>")
