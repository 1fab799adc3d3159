"""
Affine ops on elements of memrefs, as `mlir-opt` prints them.

    affine.store %v, %x[%i + symbol(%n)] {…} : memref<?xf32>
    affine.dma_start %x[%i], %y[%j], %tag[0], %n : memref<8xf32>, memref<8xf32, 1>, memref<1xi32>

xDSL 0.74 reads neither symbols nor attributes of loads and stores, and lacks the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr, IndexType, MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import IRDLOperation, attr_def, irdl_op_definition, var_operand_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .affine_forms import Operands, print_expression

Access = affine.LoadOp | affine.StoreOp | affine.VectorLoadOp | affine.VectorStoreOp


def parse_access(cls: type[Access], parser: Parser) -> Access:
    """Parse a load or a store, of an element or a vector."""
    value = None
    if issubclass(cls, affine.StoreOp | affine.VectorStoreOp):
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
    memref, map, indices = parse_subscripts(parser)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    start, type = parser.pos, parser.parse_type()
    if not isinstance(type, MemRefType):
        parser.raise_error(f"expected a memref, but got {type}", start, parser.pos)
    memory = cast("MemRefType[Attribute]", type)
    accessed = memory.element_type
    if parser.parse_optional_punctuation(",") is not None:
        accessed = parser.parse_type()
    stored = [] if value is None else [parser.resolve_operand(value, accessed)]
    return cls.create(
        operands=[*stored, parser.resolve_operand(memref, memory), *indices],
        properties={"map": map},
        result_types=[] if stored else [accessed],
        attributes=attributes,
    )


def print_access(self: Access, printer: Printer) -> None:
    """Print a load or a store, of an element or a vector."""
    printer.print_string(" ")
    accessed = self.value if isinstance(self, affine.StoreOp | affine.VectorStoreOp) else None
    if accessed is not None:
        printer.print_operand(accessed)
        printer.print_string(", ")
    print_subscripts(printer, self.memref, self.map.data, self.indices)
    printer.print_op_attributes(self.attributes)
    printer.print_string(" : ")
    printer.print_attribute(self.memref.type)
    if isinstance(self, affine.VectorLoadOp | affine.VectorStoreOp):
        printer.print_string(", ")
        printer.print_attribute((accessed or self.results[0]).type)


def parse_subscripts(
    parser: Parser,
) -> tuple[UnresolvedOperand, AffineMapAttr, Sequence[SSAValue]]:
    """Parse a memref with its subscripts."""
    memref, operands = parser.parse_unresolved_operand(), Operands(parser)
    square = parser.Delimiter.SQUARE
    results = parser.parse_comma_separated_list(square, operands.parse_expression)
    return memref, operands.map_of(results), operands.values


def print_subscripts(
    printer: Printer, memref: SSAValue, map: AffineMap, operands: Sequence[SSAValue]
) -> None:
    """Print a memref with its subscripts."""
    printer.print_operand(memref)
    with printer.in_square_brackets():
        printer.print_list(map.results, lambda each: print_expression(printer, each, map, operands))


class Dma(IRDLOperation):
    """Memrefs with subscripts, and numbers of elements; what it does it does later."""

    PARTS: ClassVar[Sequence[str]]
    """Each memref, as its map is named."""

    inputs = var_operand_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        accesses, numbers = list[tuple[UnresolvedOperand, Sequence[SSAValue]]](), list[SSAValue]()
        maps: dict[str, Attribute] = {}
        for name in cls.PARTS:
            if accesses:
                parser.parse_punctuation(",")
            memref, maps[f"{name}_map"], indices = parse_subscripts(parser)
            accesses.append((memref, indices))
        while parser.parse_optional_punctuation(",") is not None:
            numbers.append(parser.parse_operand(IndexType()))
        attributes = parser.parse_optional_attr_dict()
        operands: list[SSAValue] = []
        for (memref, indices), punctuation in zip(accesses, (":", ",", ","), strict=False):
            parser.parse_punctuation(punctuation)
            operands += [parser.resolve_operand(memref, parser.parse_type()), *indices]
        return cls.create(operands=[*operands, *numbers], attributes=maps | attributes)

    def verify_(self) -> None:
        maps = (cast("AffineMapAttr", self.attributes[f"{name}_map"]).data for name in self.PARTS)
        least = sum(1 + map.num_dims + map.num_symbols for map in maps)
        if len(self.inputs) < least:
            raise VerifyException(f"expected at least {least} operands, but got {len(self.inputs)}")

    def print(self, printer: Printer) -> None:
        rest, types = [*self.operands], list[Attribute]()
        for name in self.PARTS:
            printer.print_string(", " if types else " ")
            map = cast("AffineMapAttr", self.attributes[f"{name}_map"]).data
            memref, count = rest[0], 1 + map.num_dims + map.num_symbols
            print_subscripts(printer, memref, map, rest[1:count])
            types.append(memref.type)
            del rest[:count]
        for number in rest:
            printer.print_string(", ")
            printer.print_operand(number)
        maps = {f"{name}_map" for name in self.PARTS}
        printer.print_op_attributes({k: v for k, v in self.attributes.items() if k not in maps})
        printer.print_string(" : ")
        printer.print_list(types, printer.print_attribute)


@irdl_op_definition
class DmaStartOp(Dma):
    """Begin to copy elements."""

    name = "affine.dma_start"
    PARTS: ClassVar[Sequence[str]] = ("src", "dst", "tag")

    src_map = attr_def(AffineMapAttr)
    dst_map = attr_def(AffineMapAttr)
    tag_map = attr_def(AffineMapAttr)


@irdl_op_definition
class DmaWaitOp(Dma):
    """Wait until elements are copied."""

    name = "affine.dma_wait"
    PARTS: ClassVar[Sequence[str]] = ("tag",)

    tag_map = attr_def(AffineMapAttr)
