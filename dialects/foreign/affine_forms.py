"""
Custom forms of ops of the affine dialect, as `mlir-opt` prints them.

    affine.if #set(%i)[%n] -> f32 { … } else { … }
    affine.parallel (%i, %j) = (0, max(%a, 1)) to (%n, 9) step (1, 2) reduce ("addf") -> (f32) { … }
    affine.store %v, %x[%i + symbol(%n)] {…} : memref<?xf32>
    affine.dma_start %x[%i], %y[%j], %tag[0], %n : memref<8xf32>, memref<8xf32, 1>, memref<1xi32>
    memref.dma_wait %tag[%i], %n : memref<1xi32>

xDSL 0.74 takes the reductions of `affine.parallel` for strings, with an operand each, reads neither
symbols nor attributes of loads and stores, has no forms of the copies of memref, takes them for
finished where they begin, and lacks the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import ClassVar, Self, cast

from xdsl.dialects import affine
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    ArrayAttr,
    DenseIntElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    IRDLOperation,
    attr_def,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    RegionVariable,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ..device import tensor_type
from ..xdsl_extras.formats import Qualified
from .declared_ops import declared
from .directives import (
    REDUCTIONS,
    Operands,
    Subscripts,
    parse_subscripts,
    print_expression,
    print_subscripts,
)
from .form_parts import (
    PAREN,
    Body,
    Results,
    parse_arguments,
    parse_body,
    parse_results,
    print_body,
    print_group,
    print_results,
)


@irdl_custom_directive
class DimsAndSymbols(CustomDirective):
    """The operands of a map or set: `(%i)[%n]`, `(%i)`, `[%n]`, or nothing."""

    operands: VariadicOperandVariable
    space: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        lists = (
            parser.parse_optional_comma_separated_list(brackets, parser.parse_unresolved_operand)
            for brackets in (PAREN, parser.Delimiter.SQUARE)
        )
        self.operands.set(state, [operand for listed in lists for operand in listed or ()])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        space = cast("AffineMapAttr | AffineSetAttr", self.space.get(op)).data
        values, dims = self.operands.get(op), space.num_dims
        print_group(printer, "", values[:dims])
        if values[dims:]:
            print_group(printer, "", values[dims:], brackets="[]")


MaxOp = declared(
    "affine.max",
    "Compute the maximum of the results of a map.",
    "mapOperands: index*, map: map -> result: index",
    "custom<Qualified>($map) custom<DimsAndSymbols>($mapOperands, ref($map)) attr-dict",
    *(Pure(), Qualified, DimsAndSymbols),
)


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
        arguments = parse_arguments(parser)
        parser.parse_punctuation("=")
        lower, lower_counts, operands = parse_bounds(parser, "max")
        parser.parse_keyword("to")
        upper, upper_counts, others = parse_bounds(parser, "min")
        steps = [1] * len(arguments)
        if parser.parse_optional_keyword("step") is not None:
            steps = parser.parse_comma_separated_list(PAREN, parser.parse_integer)
        kinds: Sequence[str] = ()
        if parser.parse_optional_keyword("reduce") is not None:
            kinds = parser.parse_comma_separated_list(PAREN, parser.parse_str_literal)
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
            regions=[parse_body(parser, affine.YieldOp, arguments)],
            result_types=results,
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        lower, upper = self.lowerBoundsMap.data, self.upperBoundsMap.data
        count = lower.num_dims + lower.num_symbols
        print_group(printer, " ", self.body.block.args)
        printer.print_string(" = ")
        print_bounds(printer, "max", lower, self.lowerBoundsGroups, self.map_operands[:count])
        printer.print_string(" to ")
        print_bounds(printer, "min", upper, self.upperBoundsGroups, self.map_operands[count:])
        if any(step.value.data != 1 for step in self.steps):
            print_group(printer, " step ", self.steps, lambda s: printer.print_int(s.value.data))
        if self.reductions.data:
            names = (REDUCTIONS[kind.value.data] for kind in self.reductions)
            print_group(printer, " reduce ", names, printer.print_string_literal)
        print_results(printer, self.result_types)
        print_body(printer, self.body)
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


@irdl_custom_directive
class YieldingBody(Body):
    """A region that ends in `affine.yield`."""

    END: ClassVar = affine.YieldOp

    region: RegionVariable


SUBSCRIPTED = "$memref custom<Subscripts>($indices, $map) attr-dict `:` type($memref)"

FORMATS: dict[type[IRDLOperation], str] = {
    affine.LoadOp: SUBSCRIPTED,
    affine.StoreOp: f"$value `,` {SUBSCRIPTED}",
    affine.VectorLoadOp: f"{SUBSCRIPTED} `,` type($result)",
    affine.VectorStoreOp: f"$value `,` {SUBSCRIPTED} `,` type($value)",
    affine.IfOp: (
        "custom<Qualified>($condition) custom<DimsAndSymbols>($args, ref($condition)) "
        "custom<Results>(type($res)) custom<YieldingBody>($then_region) "
        "(`else` custom<YieldingBody>($else_region)^)? attr-dict"
    ),
}
"""The formats of branches, loads and stores."""


DIRECTIVES = Subscripts, Qualified, DimsAndSymbols, Results, YieldingBody


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
