"""
Accesses of elements of memrefs with affine subscripts, and copies that go on in the background.

    affine.store %v, %x[%i + symbol(%n)] {…} : memref<?xf32>
    affine.dma_start %x[%i], %y[%j], %tag[0], %n : memref<8xf32>, memref<8xf32, 1>, memref<1xi32>
    memref.dma_wait %tag[%i], %n : memref<1xi32>

xDSL 0.74 reads neither symbols nor attributes of loads and stores, has no forms of the copies of
memref, takes them for finished where they begin, and lacks the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr, IndexType, MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import IRDLOperation, attr_def, irdl_op_definition, var_operand_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .directives import parse_subscripts, print_subscripts

SUBSCRIPTED = "$memref custom<Subscripts>($indices, $map) attr-dict `:` type($memref)"

FORMATS: dict[type[IRDLOperation], str] = {
    affine.LoadOp: SUBSCRIPTED,
    affine.StoreOp: f"$value `,` {SUBSCRIPTED}",
    affine.VectorLoadOp: f"{SUBSCRIPTED} `,` type($result)",
    affine.VectorStoreOp: f"$value `,` {SUBSCRIPTED} `,` type($value)",
}
"""The formats of loads and stores."""


class Dma(IRDLOperation):
    """Memrefs with subscripts, and numbers of elements; what it does it does later."""

    MEMREFS: ClassVar[int]
    MAPS: ClassVar[Sequence[str]] = ()
    """The maps of the subscripts, if these are affine."""

    inputs = var_operand_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        names, maps = iter(cls.MAPS), dict[str, Attribute]()

        def parse_input() -> tuple[UnresolvedOperand, Sequence[SSAValue] | None]:
            input = parser.parse_unresolved_operand()
            if name := next(names, None):
                maps[name], operands = parse_subscripts(parser)
                return input, operands.values
            return input, parser.parse_optional_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parser.parse_operand(IndexType())
            )

        plain = parser.Delimiter.NONE
        inputs = parser.parse_comma_separated_list(plain, parse_input)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        types = iter(parser.parse_comma_separated_list(plain, parser.parse_type))
        operands: list[SSAValue] = []
        for input, indices in inputs:
            type = IndexType() if indices is None else next(types, None)
            if type is None:
                parser.raise_error("expected a type of each memref", start, parser.pos)
            operands += [parser.resolve_operand(input, type), *(indices or ())]
        return cls.create(operands=operands, attributes=maps | attributes)

    def with_indices(self) -> Iterator[tuple[SSAValue, Sequence[SSAValue], AffineMap | None]]:
        """Yield the memrefs and numbers, each with its indices, and their map."""
        rest = [*self.inputs]
        maps = iter([cast("AffineMapAttr", self.attributes[name]).data for name in self.MAPS])
        while rest:
            type, map, count = rest[0].type, None, 0
            if isinstance(type, MemRefType):
                map, count = next(maps, None), type.get_num_dims()
                count = count if map is None else map.num_dims + map.num_symbols
            yield rest[0], rest[1 : 1 + count], map
            if len(rest) <= count:
                raise VerifyException(f"expected {count} indices, but got {len(rest) - 1}")
            del rest[: 1 + count]

    def verify_(self) -> None:
        memrefs = sum(isinstance(each.type, MemRefType) for each, *_ in self.with_indices())
        if memrefs != self.MEMREFS:
            raise VerifyException(f"expected {self.MEMREFS} memrefs, but got {memrefs}")

    def print(self, printer: Printer) -> None:
        inputs = [*self.with_indices()]

        def print_input(each: tuple[SSAValue, Sequence[SSAValue], AffineMap | None]) -> None:
            input, indices, map = each
            printer.print_operand(input)
            if map is not None:
                print_subscripts(printer, map, indices)
            elif isinstance(input.type, MemRefType):
                with printer.in_square_brackets():
                    printer.print_list(indices, printer.print_operand)

        printer.print_string(" ")
        printer.print_list(inputs, print_input)
        shown = {k: v for k, v in self.attributes.items() if k not in self.MAPS}
        printer.print_op_attributes(shown)
        printer.print_string(" : ")
        memrefs = (each for each, *_ in inputs if isinstance(each.type, MemRefType))
        printer.print_list(memrefs, lambda each: printer.print_attribute(each.type))


@irdl_op_definition
class StartOp(Dma):
    """Begin to copy elements."""

    name = "memref.dma_start"
    MEMREFS: ClassVar[int] = 3


@irdl_op_definition
class WaitOp(Dma):
    """Wait until elements are copied."""

    name = "memref.dma_wait"
    MEMREFS: ClassVar[int] = 1


@irdl_op_definition
class AffineStartOp(Dma):
    """Begin to copy elements."""

    name = "affine.dma_start"
    MEMREFS: ClassVar[int] = 3
    MAPS: ClassVar[Sequence[str]] = ("src_map", "dst_map", "tag_map")

    src_map = attr_def(AffineMapAttr)
    dst_map = attr_def(AffineMapAttr)
    tag_map = attr_def(AffineMapAttr)


@irdl_op_definition
class AffineWaitOp(Dma):
    """Wait until elements are copied."""

    name = "affine.dma_wait"
    MEMREFS: ClassVar[int] = 1
    MAPS: ClassVar[Sequence[str]] = ("tag_map",)

    tag_map = attr_def(AffineMapAttr)
