"""
Casts and choices of arith for each element of a vector or tensor, as `mlir-opt` prints them.

    %0 = arith.extsi %v : vector<4xi8> to vector<4xi32>
    %1 = arith.select %c, %v, %w : vector<4xi1>, vector<4xi32>
    %2 = arith.trunci %n overflow<nsw> : i64 to i32
    %3 = arith.truncf %x upward fastmath<fast> : f32 to f16
    %4 = arith.divsi %n, %m exact : i32

xDSL 0.74 has these casts and conditions for single numbers only, and of these ops no flags.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import ContainerType, UnitAttr, container_of, i1
from xdsl.irdl import IRDLOperation, OperandDef, base
from xdsl.parser import Parser
from xdsl.printer import Printer

from ..xdsl_extras.late_definitions import add_properties, use_form, use_format
from ..xdsl_extras.xdsl_internals import verification_of
from .directives import Rounding, RoundingMode

CASTS: tuple[type[IRDLOperation], ...] = (
    *(arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp, arith.IndexCastOp),
    *(arith.FPToSIOp, arith.FPToUIOp, arith.SIToFPOp, arith.UIToFPOp),
)
"""Casts of single numbers."""

EXACT = arith.DivSIOp, arith.DivUIOp, arith.ShRSIOp, arith.ShRUIOp
"""Ops of which the remainder may be promised to be zero."""

CONVERTED = "attr-dict `:` type($input) `to` type($result)"
FAST = "(`fastmath` `` $fastmath^)?"


def cast_elements(kind: type[IRDLOperation]) -> None:
    """Let a cast of single numbers be one of vectors and tensors, too."""
    definition, generated = kind.get_irdl_definition(), kind.verify_
    for _, value in (*definition.operands, *definition.results):
        one: Any = value.constr
        value.constr = OperandDef(container_of(one.constraint.constr)).constr

    def verify(self: IRDLOperation) -> None:
        definition.verify(self)
        verification = verification_of(generated)
        is_single = not isinstance(self.operands[0].type, ContainerType)
        if is_single and verification is not None and verification.further is not None:
            verification.further(self)

    kind.verify_ = verify


def parse_select(cls: type[arith.SelectOp], parser: Parser) -> arith.SelectOp:
    """Parse a choice of values, or one for each element."""
    plain, start = parser.Delimiter.NONE, parser.pos
    operands = parser.parse_comma_separated_list(plain, parser.parse_unresolved_operand)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    *condition, type = parser.parse_comma_separated_list(plain, parser.parse_type)
    types = [*(condition or [i1]), type, type]
    return cls.create(
        operands=parser.resolve_operands(operands, types, start),
        result_types=[type],
        attributes=attributes,
    )


def print_select(self: arith.SelectOp, printer: Printer) -> None:
    """Print a choice of values, or one for each element."""
    printer.print_string(" ")
    printer.print_list(self.operands, printer.print_operand)
    printer.print_op_attributes(self.attributes)
    printer.print_string(" : ")
    types = [self.result.type] if self.cond.type == i1 else [self.cond.type, self.result.type]
    printer.print_list(types, printer.print_attribute)


@cache
def mend_arith() -> None:
    """Give ops of arith what they lack, once."""
    for kind in CASTS:
        cast_elements(kind)
    add_properties(arith.TruncIOp, overflowFlags=base(arith.IntegerOverflowAttr))
    use_format(arith.TruncIOp, f"$input (`overflow` `` $overflowFlags^)? {CONVERTED}")
    for kind in (arith.ExtFOp, arith.TruncFOp):
        add_properties(kind, fastmath=base(arith.FastMathFlagsAttr))
    add_properties(arith.TruncFOp, roundingmode=RoundingMode)
    use_format(arith.ExtFOp, f"$input {FAST} {CONVERTED}")
    use_format(
        arith.TruncFOp, f"$input custom<Rounding>($roundingmode) {FAST} {CONVERTED}", Rounding
    )
    for kind in EXACT:
        add_properties(kind, isExact=base(UnitAttr))
        use_format(kind, "$lhs `,` $rhs (`exact` $isExact^)? attr-dict `:` type($result)")
    definition = arith.SelectOp.get_irdl_definition()
    dict(definition.operands)["cond"].constr = OperandDef(arith.boolLike).constr
    use_form(arith.SelectOp, parse_select, print_select)
