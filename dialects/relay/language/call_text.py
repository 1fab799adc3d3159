"""The syntax that all calls share, `(%x, %y) {…} : (T, U) -> R`, and the check of their types."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ....operators.records import record
from ...device import with_device
from ..incomplete import is_incomplete, refine


@record
class CallText:
    """The part of a call after the callee's name."""

    args: Sequence[SSAValue]
    attributes: dict[str, Attribute]
    type: FunctionType
    at: int
    """The position of the type in the text."""

    @property
    def result_type(self) -> Attribute:
        return self.type.outputs.data[0]


def parse_call(parser: Parser) -> CallText:
    """Parse arguments, attributes and a function type with one result."""
    unresolved = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    at = parser.pos
    type = parser.parse_type()
    if not isinstance(type, FunctionType) or len(type.outputs) != 1:
        parser.raise_error(f"expected a function type with one result, but got {type}", at)
    args = parser.resolve_operands(unresolved, type.inputs.data, at)
    return CallText(args, attributes, type, at)


def print_call(op: Operation, args: Sequence[SSAValue], printer: Printer) -> FunctionType:
    """Print what `parse_call` parses, and return the function type of `args` and `op`'s results."""
    with printer.in_parens():
        printer.print_list(args, printer.print_operand)
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    results = [result.type for result in op.results]
    type = FunctionType.from_lists([arg.type for arg in args], results)
    printer.print_attribute(type)
    return type


def verify_call(op: Operation, type: FunctionType, args: Sequence[SSAValue], what: str) -> None:
    """Check that `args` and `op`'s results have the types in `type`, ignoring devices."""
    for verb, noun, values, wanted in (
        ("expects", "argument", args, type.inputs.data),
        ("returns", "result", op.results, type.outputs.data),
    ):
        if len(values) != len(wanted):
            raise VerifyException(f"{what} {verb} {len(wanted)} {noun}s, but got {len(values)}")
        for i, (value, expected) in enumerate(zip(values, wanted, strict=True)):
            if value.type == expected or is_incomplete(value.type) or is_incomplete(expected):
                continue
            if refine(with_device(expected, None), with_device(value.type, None)) is None:
                raise VerifyException(
                    f"{noun} {i} of {what} must be {expected}, but is {value.type}"
                )
