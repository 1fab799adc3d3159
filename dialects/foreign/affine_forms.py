"""
Custom forms of ops of the affine dialect, as `mlir-opt` prints them.

    affine.if #set(%i)[%n] -> f32 { … } else { … }
    affine.parallel (%i, %j) = (0, max(%a, 1)) to (%n, 9) step (1, 2) reduce ("addf") -> (f32) { … }

xDSL 0.74 has none, and takes the reductions of `affine.parallel` for strings, with an operand each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import cast

from xdsl.dialects import affine
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    ArrayAttr,
    DenseIntElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, RecursiveMemoryEffect

from ..device import tensor_type
from ..xdsl_extras.xdsl_internals import parse_affine_expression

REDUCTIONS: Sequence[str] = """
    addf addi assign maximumf maxs maxu minimumf mins minu mulf muli ori andi maxnumf minnumf xori
""".split()
"""The reductions, each by its number in `arith.AtomicRMWKind`."""


def parse_body(parser: Parser, arguments: Sequence[Parser.Argument] = ()) -> Region:
    """Parse a region whose `affine.yield` is omitted if it has no operands."""
    body = parser.parse_region(arguments)
    if not isinstance(body.block.last_op, affine.YieldOp):
        body.block.add_op(affine.YieldOp.get())
    return body


def print_body(printer: Printer, body: Region, is_yielding: bool) -> None:
    printer.print_string(" ")
    printer.print_region(
        body,
        print_entry_block_args=False,
        print_empty_block=False,
        print_block_terminators=is_yielding,
    )


def parse_results(parser: Parser) -> Sequence[Attribute]:
    if parser.parse_optional_punctuation("->") is None:
        return ()
    paren = parser.Delimiter.PAREN
    listed = parser.parse_optional_comma_separated_list(paren, parser.parse_type)
    return [parser.parse_type()] if listed is None else listed


def print_results(printer: Printer, op: Operation) -> None:
    if op.results:
        printer.print_string(" -> ")
        with printer.in_parens():
            printer.print_list(op.results, lambda result: printer.print_attribute(result.type))


def parse_dims_and_symbols(parser: Parser) -> Sequence[SSAValue]:
    """Parse the operands of a map or set."""
    found: list[SSAValue] = []
    for delimiter in (Parser.Delimiter.PAREN, Parser.Delimiter.SQUARE):
        found += (
            parser.parse_optional_comma_separated_list(
                delimiter, lambda: parser.parse_operand(IndexType())
            )
            or ()
        )
    return found


def print_dims_and_symbols(printer: Printer, values: Sequence[SSAValue], dims: int) -> None:
    with printer.in_parens():
        printer.print_list(values[:dims], printer.print_operand)
    if values[dims:]:
        with printer.in_square_brackets():
            printer.print_list(values[dims:], printer.print_operand)


@irdl_op_definition
class MaxOp(IRDLOperation):
    """Compute the maximum of the results of a map."""

    name = "affine.max"

    mapOperands = var_operand_def(IndexType)
    map = prop_def(AffineMapAttr)
    result = result_def(IndexType)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> MaxOp:
        start, map = parser.pos, parser.parse_attribute()
        if not isinstance(map, AffineMapAttr):
            parser.raise_error(f"expected an affine map, but got {map}", start, parser.pos)
        return cls.create(
            operands=parse_dims_and_symbols(parser),
            properties={"map": map},
            result_types=[IndexType()],
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.map)
        print_dims_and_symbols(printer, self.mapOperands, self.map.data.num_dims)
        printer.print_op_attributes(self.attributes)


def parse_if(cls: type[affine.IfOp], parser: Parser) -> affine.IfOp:
    """Parse a branch."""
    start, condition = parser.pos, parser.parse_attribute()
    if not isinstance(condition, AffineSetAttr):
        parser.raise_error(f"expected an affine set, but got {condition}", start, parser.pos)

    operands = parse_dims_and_symbols(parser)
    results, then = parse_results(parser), parse_body(parser)
    has_else = parser.parse_optional_keyword("else") is not None
    return cls.create(
        operands=operands,
        properties={"condition": condition},
        regions=[then, parse_body(parser) if has_else else Region()],
        result_types=results,
        attributes=parser.parse_optional_attr_dict(),
    )


def print_if(self: affine.IfOp, printer: Printer) -> None:
    """Print a branch."""
    printer.print_string(" ")
    printer.print_attribute(self.condition)
    print_dims_and_symbols(printer, self.args, self.condition.data.num_dims)
    print_results(printer, self)
    print_body(printer, self.then_region, bool(self.results))
    if self.else_region.blocks:
        printer.print_string(" else")
        print_body(printer, self.else_region, bool(self.results))
    printer.print_op_attributes(self.attributes)


class Operands:
    """Parses expressions of values, which become the dims and symbols of a map."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.dims: dict[SSAValue, AffineExpr] = {}
        self.symbols: dict[SSAValue, AffineExpr] = {}

    def parse_expression(self) -> AffineExpr:
        return parse_affine_expression(self.parser, self._parse_operand)

    def _parse_operand(self) -> AffineExpr | None:
        parser, symbols, dims = self.parser, self.symbols, self.dims
        if parser.parse_optional_keyword("symbol") is not None:
            with parser.in_parens():
                value = parser.parse_operand(IndexType())
            return symbols.setdefault(value, AffineExpr.symbol(len(symbols)))
        found = parser.parse_optional_operand(IndexType())
        return found and dims.setdefault(found, AffineExpr.dimension(len(dims)))

    def map_of(self, results: Iterable[AffineExpr]) -> AffineMapAttr:
        return AffineMapAttr(AffineMap(len(self.dims), len(self.symbols), tuple(results)))

    @property
    def values(self) -> Sequence[SSAValue]:
        return [*self.dims, *self.symbols]


Bounds = tuple[AffineMapAttr, DenseIntElementsAttr, Sequence[SSAValue]]
"""The bounds of all dims, the number of those of each dim, and their operands."""


def parse_bounds(parser: Parser, word: str) -> Bounds:
    """Parse a bound for each dim: an expression, or the maximum or minimum of several."""
    operands, paren = Operands(parser), parser.Delimiter.PAREN

    def parse_group() -> list[AffineExpr]:
        if parser.parse_optional_keyword(word) is None:
            return [operands.parse_expression()]
        return parser.parse_comma_separated_list(paren, operands.parse_expression)

    groups = parser.parse_comma_separated_list(paren, parse_group)
    type = cast("TensorType[IntegerType]", tensor_type(i32, [len(groups)]))
    counts = DenseIntElementsAttr.from_list(type, [*map(len, groups)])
    return operands.map_of(chain.from_iterable(groups)), counts, operands.values


@irdl_op_definition
class ParallelOp(IRDLOperation):
    """Run the body for each point of a space of affine bounds, in any order, possibly at once."""

    name = "affine.parallel"

    map_operands = var_operand_def(IndexType)
    reductions = prop_def(ArrayAttr[IntegerAttr])
    lowerBoundsMap = prop_def(AffineMapAttr)
    lowerBoundsGroups = prop_def(DenseIntElementsAttr)
    upperBoundsMap = prop_def(AffineMapAttr)
    upperBoundsGroups = prop_def(DenseIntElementsAttr)
    steps = prop_def(ArrayAttr[IntegerAttr])
    res = var_result_def()
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> ParallelOp:
        paren = parser.Delimiter.PAREN
        arguments = parser.parse_comma_separated_list(
            paren, lambda: parser.parse_argument(expect_type=False).resolve(IndexType())
        )
        parser.parse_punctuation("=")
        lower, lower_counts, operands = parse_bounds(parser, "max")
        parser.parse_keyword("to")
        upper, upper_counts, others = parse_bounds(parser, "min")
        steps = [1] * len(arguments)
        if parser.parse_optional_keyword("step") is not None:
            steps = parser.parse_comma_separated_list(paren, parser.parse_integer)
        kinds: Sequence[str] = ()
        if parser.parse_optional_keyword("reduce") is not None:
            kinds = parser.parse_comma_separated_list(paren, parser.parse_str_literal)
        start, results = parser.pos, parse_results(parser)
        if not {*REDUCTIONS}.issuperset(kinds):
            parser.raise_error(f"expected reductions among {REDUCTIONS}", start, parser.pos)
        return cls.create(
            operands=[*operands, *others],
            properties={
                "reductions": ArrayAttr(IntegerAttr(REDUCTIONS.index(k), i64) for k in kinds),
                "lowerBoundsMap": lower,
                "lowerBoundsGroups": lower_counts,
                "upperBoundsMap": upper,
                "upperBoundsGroups": upper_counts,
                "steps": ArrayAttr(IntegerAttr(step, i64) for step in steps),
            },
            regions=[parse_body(parser, arguments)],
            result_types=results,
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        lower, upper = self.lowerBoundsMap.data, self.upperBoundsMap.data
        count = lower.num_dims + lower.num_symbols
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_ssa_value)
        printer.print_string(" = ")
        print_bounds(printer, "max", lower, self.lowerBoundsGroups, self.map_operands[:count])
        printer.print_string(" to ")
        print_bounds(printer, "min", upper, self.upperBoundsGroups, self.map_operands[count:])
        if any(step.value.data != 1 for step in self.steps):
            printer.print_string(" step ")
            with printer.in_parens():
                printer.print_list(self.steps, lambda s: printer.print_string(str(s.value.data)))
        if self.reductions.data:
            names = (REDUCTIONS[kind.value.data] for kind in self.reductions)
            printer.print_string(" reduce ")
            with printer.in_parens():
                printer.print_list(names, printer.print_string_literal)
        print_results(printer, self)
        print_body(printer, self.body, bool(self.results))
        printer.print_op_attributes(self.attributes)


def print_bounds(
    printer: Printer,
    word: str,
    map: AffineMap,
    groups: DenseIntElementsAttr,
    operands: Sequence[SSAValue],
) -> None:
    """Print the bounds of all dims."""
    results = iter(map.results)

    def print_bound(bound: AffineExpr) -> None:
        print_expression(printer, bound, map, operands)

    def print_group(count: int) -> None:
        if count == 1:
            print_bound(next(results))
            return
        printer.print_string(word)
        with printer.in_parens():
            printer.print_list(islice(results, count), print_bound)

    counts = [*groups.get_values()]
    (length,) = groups.get_shape()
    with printer.in_parens():
        printer.print_list(counts * length if len(counts) < length else counts, print_group)


def print_expression(
    printer: Printer, expression: AffineExpr, map: AffineMap, operands: Sequence[SSAValue]
) -> None:
    """Print a result of `map` with operands in place of its dims and symbols."""
    text = str(expression)
    text = text[1:-1] if text.startswith("(") else text  # parentheses around all of it
    for part in re.split(r"\b([ds]\d+)\b", text):
        if not re.fullmatch(r"[ds]\d+", part):
            printer.print_string(part)
            continue
        is_symbol, number = part[0] == "s", int(part[1:])
        printer.print_string("symbol(" if is_symbol else "")
        printer.print_operand(operands[number + is_symbol * map.num_dims])
        printer.print_string(")" if is_symbol else "")
