"""
Custom forms of ops of xDSL, as `mlir-opt` prints them.

    memref.copy %a, %b : memref<4xf32> to memref<4xf32>
    scf.parallel (%i) = (%c0) to (%n) step (%c1) { … }
    scf.while (%i = %c0) : (i32) -> i32 { … } do { ^bb0(%j: i32): … }

xDSL 0.74 has no form of these, reads one of several, or rejects what MLIR accepts: `memref.copy`
between a static and a dynamic dim, and convolutions whose strides are one number for all dims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects import affine, gpu, linalg, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FunctionType,
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
from xdsl.dialects.linalg import abstract_ops
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..xdsl_extras.late_definitions import LateFormat
from ..xdsl_extras.xdsl_internals import add_attribute, add_op
from . import affine_accesses, affine_forms
from .missing_ops import ATTRIBUTES, MISSING

FORMATS: dict[type[IRDLOperation], str] = {
    memref.CopyOp: "$source `,` $destination attr-dict `:` type($source) `to` type($destination)",
    memref.CastOp: "$source attr-dict `:` type($source) `to` type($dest)",
    memref.MemorySpaceCastOp: "$source attr-dict `:` type($source) `to` type($dest)",
    memref.ExtractAlignedPointerAsIndexOp: "$source attr-dict `:` type($source) `->` type(results)",
}
"""The formats of ops that have none."""


def use_form(
    kind: Any, parse: Callable[[Any, Parser], Operation], print: Callable[[Any, Printer], None]
) -> None:
    """Let ops of a class be read and printed by functions."""
    kind.parse, kind.print = classmethod(parse), print


def use_format(kind: type[IRDLOperation], text: str) -> None:
    """Let ops of a class be read and printed by a declarative format."""
    late = LateFormat(text, kind.get_irdl_definition())

    def parse(cls: type[IRDLOperation], parser: Parser) -> Operation:
        return late.parse(parser, cls)

    def print(op: IRDLOperation, printer: Printer) -> None:
        late.print(printer, op)

    use_form(kind, parse, print)


def verify_copy(op: memref.CopyOp) -> None:
    """Check that a copy is between memrefs of one element type, with shapes that may be equal."""
    op.get_irdl_definition().verify(op)
    source, destination = op.source.type, op.destination.type
    if isinstance(source, UnrankedMemRefType) or isinstance(destination, UnrankedMemRefType):
        return
    assert isinstance(source, MemRefType)
    assert isinstance(destination, MemRefType)
    if source.get_element_type() != destination.get_element_type():
        raise VerifyException("Expected source and destination to have the same element type.")
    one, other = source.get_shape(), destination.get_shape()
    pairs = zip(one, other, strict=False)
    if len(one) != len(other) or any(a != b and DYNAMIC_INDEX not in (a, b) for a, b in pairs):
        raise VerifyException("Expected source and destination to have the same shape.")


# ----------------------------------------------------------------------- memref.global


def parse_global(cls: type[memref.GlobalOp], parser: Parser) -> memref.GlobalOp:
    """Parse a global; the type of its value follows from its own."""
    properties: dict[str, Attribute] = {}
    visibility = parser.parse_optional_str_literal()
    properties["sym_visibility"] = StringAttr(visibility or "public")
    if parser.parse_optional_keyword("constant") is not None:
        properties["constant"] = UnitAttr()
    properties["sym_name"] = parser.parse_symbol_name()
    parser.parse_punctuation(":")
    start, type = parser.pos, parser.parse_type()
    if not isinstance(type, MemRefType):
        parser.raise_error(f"expected a memref, but got {type}", start, parser.pos)
    properties["type"] = type
    if parser.parse_optional_punctuation("=") is not None:
        if parser.parse_optional_keyword("uninitialized") is not None:
            properties["initial_value"] = UnitAttr()
        else:
            parser.parse_keyword("dense")
            memory = cast("MemRefType[Any]", type)
            tensor = TensorType[Any](memory.element_type, memory.get_shape())
            properties["initial_value"] = parser.parse_dense_int_or_fp_elements_attr(tensor)
    attributes = parser.parse_optional_attr_dict()
    if "alignment" in attributes:
        properties["alignment"] = attributes.pop("alignment")
    return cls.create(properties=properties, attributes=attributes)


def print_global(self: memref.GlobalOp, printer: Printer) -> None:
    """Print a global."""
    if self.sym_visibility.data != "public":
        printer.print_string(f' "{self.sym_visibility.data}"')
    if self.constant is not None:
        printer.print_string(" constant")
    printer.print_string(" ")
    printer.print_symbol_name(self.sym_name.data)
    printer.print_string(" : ")
    printer.print_attribute(self.type)
    if isinstance(self.initial_value, UnitAttr):
        printer.print_string(" = uninitialized")
    elif "initial_value" in self.properties:
        printer.print_string(" = ")
        self.initial_value.print_without_type(printer)
    alignment = {} if self.alignment is None else {"alignment": self.alignment}
    printer.print_op_attributes({**self.attributes, **alignment})


# ------------------------------------------------------------------- memref.atomic_rmw


def parse_atomic_rmw(cls: type[memref.AtomicRMWOp], parser: Parser) -> memref.AtomicRMWOp:
    """Parse an atomic update of an element."""
    start, kind = parser.pos, parser.parse_identifier()
    if kind not in affine_forms.REDUCTIONS:
        expected = " ".join(affine_forms.REDUCTIONS)
        parser.raise_error(f"expected one of {expected}, but got {kind}", start, parser.pos)
    value = parser.parse_unresolved_operand()
    parser.parse_punctuation(",")
    memref, square = parser.parse_unresolved_operand(), parser.Delimiter.SQUARE
    indices = parser.parse_comma_separated_list(square, lambda: parser.parse_operand(IndexType()))
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    start, type = parser.pos, parser.parse_function_type()
    operands = parser.resolve_operands([value, memref], type.inputs.data, start)
    return cls.create(
        operands=[*operands, *indices],
        properties={"kind": IntegerAttr(affine_forms.REDUCTIONS.index(kind), i64)},
        attributes=attributes,
        result_types=type.outputs.data,
    )


def print_atomic_rmw(self: memref.AtomicRMWOp, printer: Printer) -> None:
    """Print an atomic update of an element."""
    printer.print_string(f" {affine_forms.REDUCTIONS[self.kind.value.data]} ")
    printer.print_operand(self.value)
    printer.print_string(", ")
    printer.print_operand(self.memref)
    with printer.in_square_brackets():
        printer.print_list(self.indices, printer.print_operand)
    printer.print_op_attributes(self.attributes)
    printer.print_string(" : ")
    printer.print_attribute(FunctionType.from_lists(self.operand_types[:2], self.result_types))


# --------------------------------------------------------------------------- scf.while


def parse_while(cls: type[scf.WhileOp], parser: Parser) -> scf.WhileOp:
    """Parse a loop, with or without operands."""

    def parse_assignment() -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
        argument = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        return argument, parser.parse_unresolved_operand()

    paren = parser.Delimiter.PAREN
    pairs = parser.parse_optional_comma_separated_list(paren, parse_assignment) or []
    parser.parse_punctuation(":")
    start = parser.pos
    type = parser.parse_function_type()
    inputs: Sequence[Attribute] = type.inputs.data
    if len(inputs) != len(pairs):
        parser.raise_error(f"expected {len(pairs)} types, but got {len(inputs)}", start, parser.pos)
    arguments = [a.resolve(t) for (a, _), t in zip(pairs, inputs, strict=True)]
    operands = [parser.resolve_operand(o, t) for (_, o), t in zip(pairs, inputs, strict=True)]
    before = parser.parse_region(arguments)
    parser.parse_keyword("do")
    after = parser.parse_region()
    attributes = parser.parse_optional_attr_dict_with_keyword()
    op = cls(operands, type.outputs.data, before, after)
    op.attributes |= {} if attributes is None else attributes.data
    return op


def print_while(self: scf.WhileOp, printer: Printer) -> None:
    """Print a loop, with or without operands."""
    if self.arguments:
        pairs = zip(self.before_region.block.args, self.arguments, strict=True)
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(pairs, lambda pair: print_assignment(printer, *pair))
    printer.print_string(" : ")
    printer.print_operation_type(self)
    printer.print_string(" ")
    printer.print_region(self.before_region, print_entry_block_args=False)
    printer.print_string(" do ")
    printer.print_region(self.after_region)
    printer.print_op_attributes(self.attributes, print_keyword=True)


def print_assignment(printer: Printer, argument: SSAValue, value: SSAValue) -> None:
    printer.print_ssa_value(argument)
    printer.print_string(" = ")
    printer.print_operand(value)


# ------------------------------------------------------------------------ scf.parallel


def parse_parallel(cls: type[scf.ParallelOp], parser: Parser) -> scf.ParallelOp:
    """Parse a parallel loop."""
    paren, index = parser.Delimiter.PAREN, IndexType()

    def parse_indices() -> list[SSAValue]:
        listed = parser.parse_comma_separated_list(paren, parser.parse_unresolved_operand)
        return [parser.resolve_operand(operand, index) for operand in listed]

    arguments = parser.parse_comma_separated_list(
        paren, lambda: parser.parse_argument(expect_type=False).resolve(index)
    )
    parser.parse_punctuation("=")
    groups = [parse_indices()]
    for word in ("to", "step"):
        parser.parse_keyword(word)
        groups.append(parse_indices())
    initial: list[UnresolvedOperand] = []
    if parser.parse_optional_keyword("init") is not None:
        initial = parser.parse_comma_separated_list(paren, parser.parse_unresolved_operand)
    start, types = parser.pos, list[Attribute]()
    if parser.parse_optional_punctuation("->") is not None:
        listed = parser.parse_optional_comma_separated_list(paren, parser.parse_type)
        types = [parser.parse_type()] if listed is None else listed
    groups.append([*parser.resolve_operands(initial, types, start)])
    body = parser.parse_region(arguments)
    if not isinstance(body.block.last_op, scf.ReduceOp):
        body.block.add_op(scf.ReduceOp())
    return cls.create(
        operands=[value for group in groups for value in group],
        properties={"operandSegmentSizes": DenseArrayBase.from_list(i32, [*map(len, groups)])},
        attributes=parser.parse_optional_attr_dict(),
        result_types=types,
        regions=[body],
    )


def print_parallel(self: scf.ParallelOp, printer: Printer) -> None:
    """Print a parallel loop."""
    printer.print_string(" ")
    with printer.in_parens():
        printer.print_list(self.body.block.args, printer.print_ssa_value)
    groups = (" = ", self.lowerBound), (" to ", self.upperBound), (" step ", self.step)
    for word, values in (*groups, (" init ", self.initVals)):
        if values or word != " init ":
            printer.print_string(word)
            with printer.in_parens():
                printer.print_list(values, printer.print_operand)
    if self.res:
        printer.print_string(" -> ")
        with printer.in_parens():
            printer.print_list(self.res.types, printer.print_attribute)
    printer.print_string(" ")
    printer.print_region(self.body, print_entry_block_args=False)
    printer.print_op_attributes(self.attributes)


# -------------------------------------------------------------------------- gpu.launch


ATTRIBUTIONS = "workgroup_attributions"
"""The number of memrefs of a workgroup among the arguments."""


def parse_launch(cls: type[gpu.LaunchOp], parser: Parser) -> gpu.LaunchOp:
    """Parse a launch without clusters or memrefs of its own."""
    paren, index, token = parser.Delimiter.PAREN, IndexType(), gpu.AsyncTokenType()
    is_async = parser.parse_optional_keyword("async") is not None
    square = parser.Delimiter.SQUARE
    after = parser.parse_optional_comma_separated_list(square, parser.parse_unresolved_operand)

    def parse_argument() -> Parser.Argument:
        return parser.parse_argument(expect_type=False).resolve(index)

    def parse_size() -> tuple[Parser.Argument, SSAValue]:
        argument = parse_argument()
        parser.parse_punctuation("=")
        return argument, parser.resolve_operand(parser.parse_unresolved_operand(), index)

    ids, sizes = list[Parser.Argument](), list[tuple[Parser.Argument, SSAValue]]()
    for word in ("blocks", "threads"):
        parser.parse_keyword(word)
        ids += parser.parse_comma_separated_list(paren, parse_argument)
        parser.parse_keyword("in")
        sizes += parser.parse_comma_separated_list(paren, parse_size)
    shared: SSAValue | None = None
    if parser.parse_optional_keyword("dynamic_shared_memory_size") is not None:
        shared = parser.resolve_operand(parser.parse_unresolved_operand(), i32)
    body = parser.parse_region([*ids, *(argument for argument, _ in sizes)])
    values = [value for _, value in sizes]
    tokens = [parser.resolve_operand(operand, token) for operand in after or ()]
    op = cls(body, values[:3], values[3:], (), is_async, tokens, shared)
    op.attributes |= {ATTRIBUTIONS: IntegerAttr(0, i64), **parser.parse_optional_attr_dict()}
    return op


def print_launch(self: gpu.LaunchOp, printer: Printer) -> None:
    """Print a launch without clusters or memrefs of its own."""
    printer.print_string(" async" if self.asyncToken else "")
    if self.asyncDependencies:
        printer.print_string(" ")
        with printer.in_square_brackets():
            printer.print_list(self.asyncDependencies, printer.print_operand)
    sizes = [self.gridSizeX, self.gridSizeY, self.gridSizeZ]
    sizes += [self.blockSizeX, self.blockSizeY, self.blockSizeZ]
    args = self.body.blocks[0].args
    for k, word in ((0, "blocks"), (3, "threads")):
        printer.print_string(f" {word}")
        with printer.in_parens():
            printer.print_list(args[k : k + 3], printer.print_ssa_value)
        printer.print_string(" in ")
        with printer.in_parens():
            pairs = zip(args[k + 6 : k + 9], sizes[k : k + 3], strict=True)
            printer.print_list(pairs, lambda pair: print_assignment(printer, *pair))
    if self.dynamicSharedMemorySize is not None:
        printer.print_string(" dynamic_shared_memory_size ")
        printer.print_operand(self.dynamicSharedMemorySize)
    printer.print_string(" ")
    printer.print_region(self.body, print_entry_block_args=False)
    shown = {k: v for k, v in self.attributes.items() if k != ATTRIBUTIONS}
    printer.print_op_attributes(shown)


# ----------------------------------------------------------------------- linalg.conv_…


WINDOWED = abstract_ops.ConvOperation | abstract_ops.PoolingOperation


def with_whole_windows(maps: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let `maps` of a convolution find a stride and a dilation for each dim of its window."""

    def of(self: Operation) -> Any:
        for name in ("strides", "dilations"):
            values = self.properties.get(name)
            if isinstance(values, DenseIntOrFPElementsAttr) and values.is_splat():
                type = cast(Any, values).type
                whole = [*values.get_values()][:1] * type.element_count()
                self.properties[name] = DenseIntOrFPElementsAttr.from_list(type, whole)
        return maps(self)

    return of


def _mend_memref() -> None:
    for kind, text in FORMATS.items():
        use_format(kind, text)
    use_form(memref.GlobalOp, parse_global, print_global)
    use_form(memref.AtomicRMWOp, parse_atomic_rmw, print_atomic_rmw)
    memref.CopyOp.verify_ = verify_copy  # pyright: ignore[reportAttributeAccessIssue]


def _mend_scf() -> None:
    use_form(scf.WhileOp, parse_while, print_while)
    use_form(scf.ParallelOp, parse_parallel, print_parallel)


def _mend_gpu() -> None:
    use_form(gpu.LaunchOp, parse_launch, print_launch)
    for kind in (gpu.TerminatorOp, gpu.BarrierOp):
        use_format(kind, "attr-dict")


def _mend_linalg() -> None:
    for kind in linalg.Linalg.operations:
        if issubclass(kind, WINDOWED):
            _find_whole_windows(kind)


def _mend_affine() -> None:
    use_form(affine.IfOp, affine_forms.parse_if, affine_forms.print_if)
    for kind in (affine.LoadOp, affine.StoreOp, affine.VectorLoadOp, affine.VectorStoreOp):
        use_form(kind, affine_accesses.parse_access, affine_accesses.print_access)


def _find_whole_windows(kind: Any) -> None:
    kind.get_default_indexing_maps = with_whole_windows(kind.get_default_indexing_maps)


_MENDS: dict[str, Callable[[], None]] = {
    "memref": _mend_memref,
    "scf": _mend_scf,
    "linalg": _mend_linalg,
    "gpu": _mend_gpu,
    "affine": _mend_affine,
}
_mended: set[str] = set()


def mend(dialect: Dialect) -> Dialect:
    """Give a dialect of xDSL the ops and forms that it lacks, once; other dialects stay."""
    name = dialect.name
    if name not in _mended:
        _mended.add(name)
        _MENDS.get(name, lambda: None)()
        for op in MISSING.get(name, tuple)():
            add_op(dialect, op)
        for attribute in ATTRIBUTES.get(name, tuple)():
            add_attribute(dialect, attribute)
    return dialect
