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

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import DenseArrayBase, i32
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


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute, HoldsNoTensors):
    """Completes when code has run."""

    name = "async.token"


@irdl_attr_definition
class ValueType(ParametrizedAttribute, TypeAttribute):
    """A value that is there when code has run."""

    name = "async.value"

    type: Attribute


@irdl_op_definition
class YieldOp(IRDLOperation):
    """End the region of `async.execute` with its results."""

    name = "async.yield"

    values = var_operand_def(AnyAttr())

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "attr-dict ($values^ `:` type($values))?"


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
        square, paren = parser.Delimiter.SQUARE, parser.Delimiter.PAREN
        tokens = parser.parse_optional_comma_separated_list(
            square, lambda: parser.parse_operand(TokenType())
        )

        def parse_value() -> tuple[SSAValue, Parser.Argument]:
            value = parser.parse_unresolved_operand()
            parser.parse_keyword("as")
            argument = parser.parse_argument(expect_type=False)
            parser.parse_punctuation(":")
            type = parser.parse_type()
            inner = type.type if isinstance(type, ValueType) else type
            return parser.resolve_operand(value, type), argument.resolve(inner)

        values = parser.parse_optional_comma_separated_list(paren, parse_value) or []
        types: Sequence[Attribute] = ()
        if parser.parse_optional_punctuation("->") is not None:
            listed = parser.parse_optional_comma_separated_list(paren, parser.parse_type)
            types = [parser.parse_type()] if listed is None else listed
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([argument for _, argument in values])
        if body.block.last_op is None or not body.block.last_op.has_trait(IsTerminator):
            body.block.add_op(YieldOp.create())
        counts = DenseArrayBase.from_list(i32, [len(tokens or ()), len(values)])
        return cls.create(
            operands=[*(tokens or ()), *(value for value, _ in values)],
            properties={"operandSegmentSizes": counts},
            attributes={} if attributes is None else attributes.data,
            result_types=[TokenType(), *types],
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        if self.dependencies:
            printer.print_string(" ")
            with printer.in_square_brackets():
                printer.print_list(self.dependencies, printer.print_operand)
        if self.bodyOperands:
            pairs = zip(self.bodyOperands, self.bodyRegion.block.args, strict=True)
            printer.print_string(" ")
            with printer.in_parens():
                printer.print_list(pairs, lambda pair: self._print_value(printer, *pair))
        if self.bodyResults:
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(self.bodyResults.types, printer.print_attribute)
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
