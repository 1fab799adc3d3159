"""
The ops of MLIR's `async` dialect that run code later.

    %t = async.execute { … }
    %t2, %r = async.execute [%t] (%v as %x: !async.value<T>) -> !async.value<U> {
      …
      async.yield %y : U
    }
    async.await %t2 : !async.token
"""

from __future__ import annotations

from typing import Self

from xdsl.ir import Attribute, Dialect, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_result_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsTerminator,
    MemoryReadEffect,
    MemoryWriteEffect,
    Pure,
    RecursiveMemoryEffect,
)

from ..interfaces import HoldsNoTensors, ResultAliases
from .declared_ops import declared
from .form_parts import (
    PAREN,
    SQUARE,
    parse_body,
    parse_optional_operands,
    parse_results,
    print_group,
    print_results,
    segments,
)


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute, HoldsNoTensors):
    """Completes when code has run."""

    name = "async.token"


@irdl_attr_definition
class ValueType(ParametrizedAttribute, TypeAttribute):
    """A value that is there when code has run."""

    name = "async.value"

    type: Attribute


YieldOp = declared(
    "async.yield",
    "End the region of `async.execute` with its results.",
    "values: any*",
    "attr-dict ($values^ `:` type($values))?",
    *(IsTerminator(), Pure()),
)
YieldOp.__module__ = __name__  # the reference lists it with the others


@irdl_op_definition
class AwaitOp(IRDLOperation):
    """Wait for a token or a value."""

    name = "async.await"

    operand = operand_def(TokenType | ValueType)
    result = opt_result_def(AnyAttr())

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect(), ResultAliases((0,)))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        return cls.create(
            operands=[parser.resolve_operand(operand, type)],
            attributes=attributes,
            result_types=[type.type] if isinstance(type, ValueType) else [],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operand.type)


@irdl_op_definition
class ExecuteOp(IRDLOperation):
    """Run a region when its operands are there, possibly at once with what follows."""

    name = "async.execute"

    dependencies = var_operand_def(TokenType)
    bodyOperands = var_operand_def(AnyAttr())
    token = result_def(TokenType)
    bodyResults = var_result_def(AnyAttr())
    bodyRegion = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(RecursiveMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        tokens = parse_optional_operands(parser, TokenType(), SQUARE)

        def parse_value() -> tuple[SSAValue, Parser.Argument]:
            value = parser.parse_unresolved_operand()
            parser.parse_keyword("as")
            argument = parser.parse_argument(expect_type=False)
            parser.parse_punctuation(":")
            type = parser.parse_type()
            inner = type.type if isinstance(type, ValueType) else type
            return parser.resolve_operand(value, type), argument.resolve(inner)

        values = parser.parse_optional_comma_separated_list(PAREN, parse_value) or []
        types = parse_results(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parse_body(parser, YieldOp, [argument for _, argument in values])
        return cls.create(
            operands=[*tokens, *(value for value, _ in values)],
            properties=segments(tokens, values),
            attributes={} if attributes is None else attributes.data,
            result_types=[TokenType(), *types],
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        if self.dependencies:
            print_group(printer, " ", self.dependencies, brackets="[]")
        if self.bodyOperands:
            pairs = zip(self.bodyOperands, self.bodyRegion.block.args, strict=True)
            print_group(printer, " ", pairs, lambda pair: self._print_value(printer, *pair))
        print_results(printer, self.bodyResults.types)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.bodyRegion, print_entry_block_args=False)

    @staticmethod
    def _print_value(printer: Printer, value: SSAValue, argument: SSAValue) -> None:
        printer.print_operand(value)
        printer.print_string(" as ")
        printer.print_ssa_value(argument)
        printer.print_string(": ")
        printer.print_attribute(value.type)


Async = Dialect("async", [ExecuteOp, AwaitOp, YieldOp], [TokenType, ValueType])
