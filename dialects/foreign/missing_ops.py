"""
Ops of upstream dialects that xDSL lacks, each with its effects and aliases.

    memref.prefetch %a[%i], read, locality<3>, data : memref<4xf32>
    scf.forall (%i, %j) in (%n, 4) { … }
    linalg.batch_matmul ins(%a, %b : …) outs(%c : …)

A named op of linalg is its name and its operands: the ins, which it reads, and the outs, which it
reads and writes. Its body follows from the name, so that the custom form omits it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
    UnrankedMemRefType,
    i32,
    i64,
)
from xdsl.dialects.linalg import ops as linalg_ops
from xdsl.dialects.utils.dynamic_index_list import (
    parse_dynamic_index_list_without_types,
    print_dynamic_index_list,
)
from xdsl.ir import Attribute, Block, Operation, ParametrizedAttribute, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import (
    IsTerminator,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoMemoryEffect,
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
)

from ..interfaces import ResultAliases
from . import affine_accesses, affine_forms

AnyMemRef = base(MemRefType) | base(UnrankedMemRefType)


# ------------------------------------------------------------------------------ memref


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """View a memref with its dims permuted."""

    name = "memref.transpose"

    source = operand_def(MemRefType)
    permutation = prop_def(AffineMapAttr)
    result = result_def(MemRefType)

    traits = traits_def(NoMemoryEffect(), ResultAliases())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        map = parser.parse_affine_map()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        parser.parse_keyword("to")
        return cls.create(
            operands=[parser.resolve_operand(source, type)],
            properties={"permutation": AffineMapAttr(map)},
            attributes=attributes,
            result_types=[parser.parse_type()],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.source)
        printer.print_string(f" {self.permutation.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)


class Prefetch(IRDLOperation):
    """Fetch bytes into a cache."""

    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    isWrite = prop_def(BoolAttr)
    localityHint = prop_def(IntegerAttr)
    isDataCache = prop_def(BoolAttr)

    @staticmethod
    def parse_hints(parser: Parser) -> dict[str, Attribute]:
        def parse_whether(word: str, other: str) -> BoolAttr:
            is_word = parser.parse_optional_keyword(word) is not None
            if not is_word:
                parser.parse_keyword(other)
            return BoolAttr.from_bool(is_word)

        parser.parse_punctuation(",")
        is_write = parse_whether("write", "read")
        parser.parse_punctuation(",")
        parser.parse_keyword("locality")
        with parser.in_angle_brackets():
            locality = parser.parse_integer()
        parser.parse_punctuation(",")
        return {
            "isWrite": is_write,
            "localityHint": IntegerAttr(locality, i32),
            "isDataCache": parse_whether("data", "instr"),
        }

    def print_hints(self, printer: Printer) -> None:
        printer.print_string(", write" if self.isWrite.value.data else ", read")
        printer.print_string(f", locality<{self.localityHint.value.data}>")
        printer.print_string(", data" if self.isDataCache.value.data else ", instr")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.memref.type)


@irdl_op_definition
class PrefetchOp(Prefetch):
    """Fetch bytes into a cache."""

    name = "memref.prefetch"

    traits = traits_def(MemoryReadEffect())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        memref = parser.parse_unresolved_operand()
        square = parser.Delimiter.SQUARE
        indices = parser.parse_comma_separated_list(
            square, lambda: parser.parse_operand(IndexType())
        )
        hints, attributes = cls.parse_hints(parser), parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operands = [parser.resolve_operand(memref, parser.parse_type()), *indices]
        return cls.create(operands=operands, properties=hints, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.memref)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_operand)
        self.print_hints(printer)


@irdl_op_definition
class AffinePrefetchOp(Prefetch):
    """Fetch bytes into a cache; the subscripts are affine."""

    name = "affine.prefetch"

    map = prop_def(AffineMapAttr)

    traits = traits_def(MemoryReadEffect())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        memref, map, indices = affine_accesses.parse_subscripts(parser)
        hints, attributes = cls.parse_hints(parser), parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operands = [parser.resolve_operand(memref, parser.parse_type()), *indices]
        return cls.create(
            operands=operands, properties={**hints, "map": map}, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        affine_accesses.print_subscripts(printer, self.memref, self.map.data, self.indices)
        self.print_hints(printer)


@irdl_op_definition
class ReallocOp(IRDLOperation):
    """Allocate a memref of another size, with the contents of `source`, which it frees."""

    name = "memref.realloc"

    source = operand_def(MemRefType)
    dynamicResultSize = opt_operand_def(IndexType)
    alignment = opt_prop_def(IntegerAttr)
    result = result_def(MemRefType)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$source (`(` $dynamicResultSize^ `)`)? attr-dict `:` type($source) `to` type($result)"
    )


@irdl_op_definition
class ReshapeOp(IRDLOperation):
    """View a memref with the dims that `shape` holds."""

    name = "memref.reshape"

    source = operand_def(AnyMemRef)
    shape = operand_def(MemRefType)
    result = result_def(AnyMemRef)

    traits = traits_def(MemoryReadEffect(), ResultAliases((0,)))

    assembly_format = "$source `(` $shape `)` attr-dict `:` functional-type(operands, results)"


@irdl_op_definition
class AtomicYieldOp(IRDLOperation):
    """Yield the value that `memref.generic_atomic_rmw` stores."""

    name = "memref.atomic_yield"

    result = operand_def(AnyAttr())

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "$result attr-dict `:` type($result)"


@irdl_op_definition
class GenericAtomicRMWOp(IRDLOperation):
    """Replace an element by what its region computes of it."""

    name = "memref.generic_atomic_rmw"

    T: ClassVar = VarConstraint("T", AnyAttr())

    memref = operand_def(MemRefType.constr(T))
    indices = var_operand_def(IndexType)
    result = result_def(T)
    atomic_body = region_def()

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$memref `[` $indices `]` `:` type($memref) $atomic_body attr-dict"


@irdl_op_definition
class DistinctObjectsOp(IRDLOperation):
    """Name memrefs that share no bytes."""

    name = "memref.distinct_objects"

    arguments = var_operand_def(MemRefType)
    res = var_result_def(MemRefType)

    traits = traits_def(NoMemoryEffect(), ResultAliases())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        plain = parser.Delimiter.NONE
        operands = parser.parse_comma_separated_list(plain, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start, types = parser.pos, parser.parse_comma_separated_list(plain, parser.parse_type)
        values = parser.resolve_operands(operands, types, start)
        return cls.create(operands=values, result_types=types, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.arguments, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(self.res.types, printer.print_attribute)


# --------------------------------------------------------------------------------- scf


@irdl_op_definition
class InParallelOp(IRDLOperation):
    """End the body of `scf.forall`; on tensors, with the slices that it inserts."""

    name = "scf.forall.in_parallel"

    region = region_def()

    traits = traits_def(IsTerminator(), RecursiveMemoryEffect(), NoTerminator())

    assembly_format = "$region attr-dict"


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
    """Sizes in parentheses, static or operands: `(2, %n)`."""

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


# ------------------------------------------------------------------------------ affine


@irdl_op_definition
class DelinearizeIndexOp(IRDLOperation):
    """Compute the indices of an element from its number."""

    name = "affine.delinearize_index"

    linear_index = operand_def(IndexType)
    dynamic_basis = var_operand_def(IndexType)
    static_basis = prop_def(DenseArrayBase.constr(i64))
    multi_index = var_result_def(IndexType)

    traits = traits_def(Pure())
    custom_directives = (Sizes,)
    assembly_format = (
        "$linear_index `into` custom<Sizes>($dynamic_basis, $static_basis) attr-dict `:` "
        "type($multi_index)"
    )


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


@irdl_op_definition
class LinearizeIndexOp(IRDLOperation):
    """Compute the number of an element from its indices."""

    name = "affine.linearize_index"

    multi_index = var_operand_def(IndexType)
    dynamic_basis = var_operand_def(IndexType)
    static_basis = prop_def(DenseArrayBase.constr(i64))
    disjoint = opt_prop_def(AnyAttr())
    linear_index = result_def(IndexType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())
    custom_directives = (Sizes, Disjoint)
    assembly_format = (
        "custom<Disjoint>($disjoint) `[` $multi_index `]` `by` custom<Sizes>($dynamic_basis, "
        "$static_basis) attr-dict `:` type($linear_index)"
    )


@irdl_op_definition
class ForallOp(IRDLOperation):
    """Run the body for each point of a space, in any order, possibly at once."""

    name = "scf.forall"

    dynamicLowerBound = var_operand_def(IndexType)
    dynamicUpperBound = var_operand_def(IndexType)
    dynamicStep = var_operand_def(IndexType)
    outputs = var_operand_def(AnyAttr())
    staticLowerBound = prop_def(DenseArrayBase.constr(i64))
    staticUpperBound = prop_def(DenseArrayBase.constr(i64))
    staticStep = prop_def(DenseArrayBase.constr(i64))
    mapping = opt_prop_def(ArrayAttr)
    results_ = var_result_def(AnyAttr())
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(RecursiveMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        paren, groups = parser.Delimiter.PAREN, list[list[UnresolvedOperand]]([[], [], []])
        indices = parser.parse_comma_separated_list(
            paren, lambda: parser.parse_argument(expect_type=False)
        )
        count = len(indices)
        lower = DenseArrayBase.from_list(i64, [0] * count)
        step = DenseArrayBase.from_list(i64, [1] * count)
        if parser.parse_optional_keyword("in") is not None:
            upper = parse_sizes(parser, groups[1])
        else:
            parser.parse_punctuation("=")
            lower = parse_sizes(parser, groups[0])
            parser.parse_keyword("to")
            upper = parse_sizes(parser, groups[1])
            parser.parse_keyword("step")
            step = parse_sizes(parser, groups[2])
        arguments = [index.resolve(IndexType()) for index in indices]
        bounds = [parser.resolve_operand(v, IndexType()) for group in groups for v in group]
        shared: list[SSAValue] = []
        types: Sequence[Attribute] = ()
        if parser.parse_optional_keyword("shared_outs") is not None:

            def parse_output() -> tuple[Parser.UnresolvedArgument, Any]:
                argument = parser.parse_argument(expect_type=False)
                parser.parse_punctuation("=")
                return argument, parser.parse_unresolved_operand()

            outputs = parser.parse_comma_separated_list(paren, parse_output)
            parser.parse_punctuation("->")
            types = parser.parse_comma_separated_list(paren, parser.parse_type)
            for (argument, operand), type in zip(outputs, types, strict=True):
                arguments.append(argument.resolve(type))
                shared.append(parser.resolve_operand(operand, type))
        body = parser.parse_region(arguments)
        if body.block.last_op is None or not body.block.last_op.has_trait(IsTerminator):
            body.block.add_op(InParallelOp.create(regions=[Region()]))
        attributes = parser.parse_optional_attr_dict()
        properties: dict[str, Attribute] = {
            "staticLowerBound": lower,
            "staticUpperBound": upper,
            "staticStep": step,
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [*map(len, (*groups, shared))]),
        }
        if "mapping" in attributes:
            properties["mapping"] = attributes.pop("mapping")
        return cls.create(
            operands=[*bounds, *shared],
            properties=properties,
            attributes=attributes,
            result_types=types,
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        count = len(self.staticUpperBound.get_values())
        arguments = self.body.block.args
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(arguments[:count], printer.print_ssa_value)
        lower, step = self.staticLowerBound.get_values(), self.staticStep.get_values()
        if set(lower) <= {0} and set(step) <= {1}:
            printer.print_string(" in ")
            print_sizes(printer, self.staticUpperBound, self.dynamicUpperBound)
        else:
            printer.print_string(" = ")
            print_sizes(printer, self.staticLowerBound, self.dynamicLowerBound)
            printer.print_string(" to ")
            print_sizes(printer, self.staticUpperBound, self.dynamicUpperBound)
            printer.print_string(" step ")
            print_sizes(printer, self.staticStep, self.dynamicStep)
        if self.outputs:

            def print_output(pair: tuple[SSAValue, SSAValue]) -> None:
                printer.print_ssa_value(pair[0])
                printer.print_string(" = ")
                printer.print_operand(pair[1])

            printer.print_string(" shared_outs")
            with printer.in_parens():
                pairs = zip(arguments[count:], self.outputs, strict=True)
                printer.print_list(pairs, print_output)
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(self.outputs.types, printer.print_attribute)
        printer.print_string(" ")
        last = self.body.block.last_op
        is_empty = isinstance(last, InParallelOp) and not last.region.blocks
        printer.print_region(
            self.body, print_entry_block_args=False, print_block_terminators=not is_empty
        )
        mapping = {} if self.mapping is None else {"mapping": self.mapping}
        printer.print_op_attributes({**self.attributes, **mapping})


# ------------------------------------------------------------------------------ linalg


class StructuredOp(IRDLOperation):
    """
    A named op of linalg.

    ```mlir
    linalg.batch_matmul ins(%a, %b : …) outs(%c : …)
    linalg.softmax dimension(1) ins(%x : …) outs(%y : …)
    ```
    """

    @property
    def groups(self) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
        """The ins and the outs."""
        return self.operands[:-1], self.operands[-1:]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("dimension") is not None:
            with parser.in_parens():
                properties["dimension"] = IntegerAttr(parser.parse_integer(), i64)
        for name in ("kind", "indexing_maps"):
            if parser.parse_optional_keyword(name) is not None:
                parser.parse_punctuation("=")
                properties[name] = parser.parse_attribute()
        return cls.parse_operands(parser, properties)

    @classmethod
    def parse_operands(cls, parser: Parser, properties: dict[str, Attribute]) -> Self:
        """Parse attributes, the ins and outs, and the types of results."""
        attributes = parser.parse_optional_attr_dict()
        groups = [parse_group(parser, name) for name in ("ins", "outs")]
        results: Sequence[Attribute] = ()
        if parser.parse_optional_punctuation("->") is not None:
            paren = parser.Delimiter.PAREN
            listed = parser.parse_optional_comma_separated_list(paren, parser.parse_type)
            results = [parser.parse_type()] if listed is None else listed
        declared = cls.get_irdl_definition().properties
        properties |= {name: attributes.pop(name) for name in declared if name in attributes}
        if issubclass(cls, NamedOp):
            properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, [*map(len, groups)])
        return cls.create(
            operands=[value for group in groups for value in group],
            properties=properties,
            attributes=attributes,
            result_types=results,
        )

    def print(self, printer: Printer) -> None:
        shown = {**self.properties, **self.attributes}
        shown.pop("operandSegmentSizes", None)
        dimension = shown.pop("dimension", None)
        if isinstance(dimension, IntegerAttr):
            printer.print_string(f" dimension({dimension.value.data})")
        for name in ("kind", "indexing_maps"):
            if name in shown and (name == "kind" or "kind" not in self.properties):
                printer.print_string(f" {name} = ")
                printer.print_attribute(shown[name])
            shown.pop(name, None)
        printer.print_op_attributes(shown)
        self.print_operands(printer)

    def print_operands(self, printer: Printer) -> None:
        """Print the ins and outs, and the types of results."""
        for name, values in zip(("ins", "outs"), self.groups, strict=True):
            if values:
                printer.print_string(f" {name}(")
                printer.print_list(values, printer.print_operand)
                printer.print_string(" : ")
                printer.print_list([value.type for value in values], printer.print_attribute)
                printer.print_string(")")
        if self.results:
            printer.print_string(" -> ")
            printer.print_list(self.results.types, printer.print_attribute)


def parse_group(parser: Parser, name: str) -> Sequence[SSAValue]:
    """Parse `ins(%a, %b : …)`, if it is there."""
    if parser.parse_optional_keyword(name) is None:
        return ()
    with parser.in_parens():
        none, start = parser.Delimiter.NONE, parser.pos
        operands = parser.parse_comma_separated_list(none, parser.parse_unresolved_operand)
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(none, parser.parse_type)
        return parser.resolve_operands(operands, types, start)


class NamedOp(StructuredOp):
    """An op of linalg that is one of `NAMED`."""

    inputs = var_operand_def(AnyAttr())
    outputs = var_operand_def(AnyAttr())
    res = var_result_def(AnyAttr())
    body = var_region_def("single_block")
    kind = opt_prop_def(AnyAttr())
    """The computation of `linalg.elementwise`."""
    indexing_maps = opt_prop_def(ArrayAttr)
    strides = opt_prop_def(AnyAttr())
    dilations = opt_prop_def(AnyAttr())
    cast = opt_prop_def(AnyAttr())

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())

    @property
    def groups(self) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
        return self.inputs, self.outputs


@irdl_op_definition
class SoftmaxOp(StructuredOp):
    """Compute the softmax of `input` along a dim."""

    name = "linalg.softmax"

    input = operand_def(AnyAttr())
    output = operand_def(AnyAttr())
    dimension = prop_def(IntegerAttr)
    res = var_result_def(AnyAttr())


@irdl_op_definition
class MapOp(StructuredOp):
    """Apply a scalar computation to each element."""

    name = "linalg.map"

    inputs = var_operand_def(AnyAttr())
    init = operand_def(AnyAttr())
    res = var_result_def(AnyAttr())
    mapper = region_def("single_block")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        short = None
        if parser.parse_optional_punctuation("{") is not None:
            short = parser.parse_identifier()
            options = parser.parse_optional_attr_dict()
            parser.parse_punctuation("}")
        else:
            options = {}
        op = cls.parse_operands(parser, {})
        if short is None:
            arguments = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_argument
            )
            op.add_region(parser.parse_region(arguments))
            return op
        block = Block(arg_types=[element_of(value.type) for value in op.operands])
        inner = parser.ctx.get_op(short).create(
            operands=block.args[:-1], result_types=[block.args[-1].type], attributes=options
        )
        block.add_ops([inner, linalg_ops.YieldOp(*inner.results)])
        op.add_region(Region(block))
        return op

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        self.print_operands(printer)
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(self.mapper.block.args, printer.print_block_argument)
        printer.print_string(" ")
        printer.print_region(self.mapper, print_entry_block_args=False)


def element_of(type: Attribute) -> Attribute:
    """Return the type of an element of a shaped type, or `type`."""
    if not isinstance(type, TensorType | MemRefType):
        return type
    return cast("MemRefType[Attribute]", type).element_type


@irdl_attr_definition
class ElementwiseKindAttr(ParametrizedAttribute):
    """The computation of `linalg.elementwise`."""

    name = "linalg.elementwise_kind"

    kind: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [StringAttr(parser.parse_identifier())]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.kind.data)


class MappingAttr(ParametrizedAttribute):
    """The processors that run a dim of `scf.forall`."""

    dim: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [StringAttr(parser.parse_identifier())]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.dim.data)


def mapping_attribute(name: str) -> type[MappingAttr]:
    """Return the class of `#gpu.NAME<x>`."""
    members = {"name": f"gpu.{name}", "__module__": __name__, "__doc__": MappingAttr.__doc__}
    return irdl_attr_definition(type(f"{name.title()}MappingAttr", (MappingAttr,), members))


NAMED = """
    abs ceil floor negf reciprocal round rsqrt square tanh erf div div_unsigned powf elementwise
    contract matvec vecmat dot mmt4d batch_mmt4d batch_matmul batch_matvec batch_vecmat
    batch_reduce_matmul quantized_batch_matmul fill_rng_2d conv_1d conv_2d conv_3d conv_1d_ncw_fcw
    conv_1d_nwc_wcf conv_2d_nchw_fchw_q conv_2d_ngchw_gfchw_q conv_2d_nhwc_fhwc_q
    conv_2d_nhwc_hwcf_q conv_2d_nhwgc_gfhwc_q conv_3d_ncdhw_fcdhw conv_3d_ndhwc_dhwcf
    conv_3d_ndhwc_dhwcf_q depthwise_conv_1d_ncw_cw depthwise_conv_1d_nwc_wc
    depthwise_conv_1d_nwc_wcm depthwise_conv_2d_nchw_chw depthwise_conv_2d_nhwc_hwc
    depthwise_conv_2d_nhwc_hwc_q depthwise_conv_2d_nhwc_hwcm depthwise_conv_2d_nhwc_hwcm_q
    depthwise_conv_3d_ncdhw_cdhw depthwise_conv_3d_ndhwc_dhwc depthwise_conv_3d_ndhwc_dhwcm
    pooling_nchw_sum pooling_ncw_max pooling_ncw_sum pooling_ndhwc_max pooling_ndhwc_min
    pooling_ndhwc_sum pooling_nhwc_max pooling_nhwc_max_unsigned pooling_nhwc_min
    pooling_nhwc_min_unsigned pooling_nhwc_sum pooling_nwc_max pooling_nwc_max_unsigned
    pooling_nwc_min pooling_nwc_min_unsigned pooling_nwc_sum
""".split()
"""The named ops of linalg that xDSL lacks, apart from `linalg.map` and `linalg.softmax`."""


def named_op(name: str) -> type[NamedOp]:
    """Return the class of the op `linalg.NAME`."""
    attributes = {"name": f"linalg.{name}", "__module__": __name__, "__doc__": NamedOp.__doc__}
    return irdl_op_definition(type(f"{name.title().replace('_', '')}Op", (NamedOp,), attributes))


MISSING: dict[str, Callable[[], Sequence[type[Operation]]]] = {
    "memref": lambda: (
        TransposeOp,
        PrefetchOp,
        ReallocOp,
        ReshapeOp,
        GenericAtomicRMWOp,
        AtomicYieldOp,
        DistinctObjectsOp,
    ),
    "scf": lambda: (ForallOp, InParallelOp),
    "affine": lambda: (
        affine_forms.ParallelOp,
        affine_forms.MaxOp,
        AffinePrefetchOp,
        affine_accesses.DmaStartOp,
        affine_accesses.DmaWaitOp,
        DelinearizeIndexOp,
        LinearizeIndexOp,
    ),
    "linalg": lambda: (MapOp, SoftmaxOp, *map(named_op, NAMED)),
}
"""The ops that each dialect lacks."""

ATTRIBUTES: dict[str, Callable[[], Sequence[type[Attribute]]]] = {
    "linalg": lambda: [ElementwiseKindAttr],
    "gpu": lambda: [*map(mapping_attribute, ("block", "thread", "warp", "warpgroup", "lane"))],
}
"""The attributes that each dialect lacks."""
