"""
Directives of declarative formats, for what ops of upstream dialects print in forms of their own.

    custom<Subscripts>($indices, $map)           [%i, %j + symbol(%n) * 2]
    custom<Sizes>($dynamic, $static)             (2, %n)
    custom<Map>($permutation)                    (d0, d1) -> (d1, d0)
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    i1,
    i32,
    i64,
)
from xdsl.dialects.utils.dynamic_index_list import (
    parse_dynamic_index_list_without_types,
    print_dynamic_index_list,
)
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import IntSetConstraint, IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from ..xdsl_extras.formats import PropertyForm, form
from ..xdsl_extras.xdsl_internals import parse_affine_expression

REDUCTIONS: Sequence[str] = """
    addf addi assign maximumf maxs maxu minimumf mins minu mulf muli ori andi maxnumf minnumf xori
""".split()
"""The reductions, each by its number in `arith.AtomicRMWKind`."""


def enumeration(name: str, words: str, type: IntegerType) -> builtins.type[PropertyForm]:
    """Return the directive of words, each by its number."""
    listed = words.split()

    def parse(parser: Parser) -> IntegerAttr[IntegerType]:
        start, word = parser.pos, parser.parse_identifier()
        if word not in listed:
            expected = " ".join(listed)
            parser.raise_error(f"expected one of {expected}, but got {word}", start, parser.pos)
        return IntegerAttr(listed.index(word), type)

    def print(printer: Printer, number: IntegerAttr[IntegerType]) -> None:
        printer.print_string(listed[number.value.data % len(listed)])  # true is -1

    return form(name, parse, print)


Reduction = enumeration("Reduction", " ".join(REDUCTIONS), i64)
Access = enumeration("Access", "read write", i1)
Cache = enumeration("Cache", "instr data", i1)
Winograd = enumeration("Winograd", "F_2_3 F_4_3 F_2_5", i32)


ROUNDING = "to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"
"""The rounding modes, each by its number."""

RoundingMode = IntegerAttr.constr(i32, value=IntSetConstraint(frozenset(range(len(ROUNDING)))))


def parse_rounding(parser: Parser) -> IntegerAttr[IntegerType] | None:
    for number, word in enumerate(ROUNDING):
        if parser.parse_optional_keyword(word) is not None:
            return IntegerAttr(number, i32)
    return None


Rounding = form(
    "Rounding",
    parse_rounding,
    lambda printer, mode: printer.print_string(ROUNDING[int(mode.value.data)]),
)
"""A rounding mode, or nothing."""


# ---------------------------------------------------------------------------------- sizes


def parse_sizes(parser: Parser, operands: list[UnresolvedOperand]) -> DenseArrayBase[Any]:
    """Parse sizes, static or operands, which are appended to `operands`."""
    paren = Parser.Delimiter.PAREN
    values, sizes = parse_dynamic_index_list_without_types(parser, DYNAMIC_INDEX, delimiter=paren)
    operands += values
    return DenseArrayBase.from_list(i64, sizes)


def print_sizes(
    printer: Printer, static: DenseArrayBase[Any], operands: Sequence[SSAValue]
) -> None:
    """Print sizes, static or operands."""
    paren = Parser.Delimiter.PAREN
    print_dynamic_index_list(printer, DYNAMIC_INDEX, operands, static.get_values(), delimiter=paren)


@irdl_custom_directive
class Sizes(CustomDirective):
    """Sizes in parentheses, static or operands."""

    dynamic: VariadicOperandVariable
    static: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        operands: list[UnresolvedOperand] = []
        self.static.set(state, parse_sizes(parser, operands))
        self.dynamic.set(state, operands)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        static = cast("DenseArrayBase[Any]", self.static.get(op))
        print_sizes(printer, static, self.dynamic.get(op))


@irdl_custom_directive
class Disjoint(CustomDirective):
    """`disjoint`, or nothing, also for the `false` that `mlir-opt` prints."""

    flag: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if parser.parse_optional_keyword("disjoint") is not None:
            self.flag.set(state, UnitAttr())

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        printer.print_string(" disjoint " if self.flag.get(op) == UnitAttr() else " ")
        state.should_emit_space, state.last_was_punctuation = False, True


# --------------------------------------------------------------------------------- maps


Map = form(
    "Map",
    lambda parser: AffineMapAttr(parser.parse_affine_map()),
    lambda printer, map: printer.print_string(str(map.data)),
)
"""An affine map without its keyword."""


class Operands:
    """Parses expressions of values, which become the dims and symbols of a map."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.dims: dict[tuple[str, int], tuple[int, UnresolvedOperand]] = {}
        """The number of each dim, and its operand, by the name of that."""
        self.symbols: dict[tuple[str, int], tuple[int, UnresolvedOperand]] = {}

    def parse_expression(self) -> AffineExpr:
        return parse_affine_expression(self.parser, self._parse_operand)

    def _parse_operand(self) -> AffineExpr | None:
        parser, known, kind = self.parser, self.dims, AffineExpr.dimension
        if parser.parse_optional_keyword("symbol") is not None:
            known, kind = self.symbols, AffineExpr.symbol
            with parser.in_parens():
                operand = parser.parse_unresolved_operand()
        elif (operand := parser.parse_optional_unresolved_operand()) is None:
            return None
        key = operand.operand_name, operand.index
        number, _ = known.setdefault(key, (len(known), operand))
        return kind(number)

    def map_of(self, results: Iterable[AffineExpr]) -> AffineMapAttr:
        return AffineMapAttr(AffineMap(len(self.dims), len(self.symbols), tuple(results)))

    @property
    def unresolved(self) -> Sequence[UnresolvedOperand]:
        return [operand for _, operand in (*self.dims.values(), *self.symbols.values())]

    @property
    def values(self) -> Sequence[SSAValue]:
        return [self.parser.resolve_operand(each, IndexType()) for each in self.unresolved]


def parse_subscripts(parser: Parser) -> tuple[AffineMapAttr, Operands]:
    """Parse affine subscripts."""
    operands, square = Operands(parser), parser.Delimiter.SQUARE
    results = parser.parse_comma_separated_list(square, operands.parse_expression)
    return operands.map_of(results), operands


def print_subscripts(printer: Printer, map: AffineMap, operands: Sequence[SSAValue]) -> None:
    """Print affine subscripts."""
    with printer.in_square_brackets():
        printer.print_list(map.results, lambda each: print_expression(printer, each, map, operands))


@irdl_custom_directive
class Subscripts(CustomDirective):
    """Affine subscripts of a memref."""

    indices: VariadicOperandVariable
    map: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        map, operands = parse_subscripts(parser)
        self.map.set(state, map)
        self.indices.set(state, operands.unresolved)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        map = cast("AffineMapAttr", self.map.get(op)).data
        print_subscripts(printer, map, self.indices.get(op))
        state.should_emit_space, state.last_was_punctuation = True, False


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
