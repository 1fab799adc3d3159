"""
Custom forms of ops of xDSL, as `mlir-opt` prints them.

    memref.copy %a, %b : memref<4xf32> to memref<4xf32>
    scf.parallel (%i) = (%c0) to (%n) step (%c1) { … }
    scf.while (%i = %c0) : (i32) -> i32 { … } do { ^bb0(%j: i32): … }

xDSL 0.74 has no form of these, reads one of several, or rejects what MLIR accepts: `memref.copy`
between a static and a dynamic dim.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, cast

from xdsl.dialects import cf, gpu, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
    UnrankedMemRefType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import IRDLOperation, OperandDef, base
from xdsl.irdl.declarative_assembly_format import RegionVariable, irdl_custom_directive
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..xdsl_extras.late_definitions import add_properties, use_form, use_format
from ..xdsl_extras.xdsl_internals import add_attribute, add_op
from . import affine_forms, directives
from .declared_ops import AnyMemRef
from .form_parts import (
    INDEX,
    PAREN,
    SQUARE,
    Body,
    Results,
    parse_arguments,
    parse_assignment,
    parse_body,
    parse_operands,
    parse_optional_operands,
    parse_results,
    print_assignments,
    print_body,
    print_group,
    print_results,
    resolve_assignments,
    segments,
)
from .linalg_forms import mend_linalg
from .missing_ops import ATTRIBUTES, MISSING, word_attribute


@irdl_custom_directive
class Scope(Body):
    """A region that ends in `memref.alloca_scope.return`."""

    END: ClassVar = memref.AllocaScopeReturnOp

    region: RegionVariable


FORMATS: dict[type[IRDLOperation], str] = {
    memref.CopyOp: "$source `,` $destination attr-dict `:` type($source) `to` type($destination)",
    memref.CastOp: "$source attr-dict `:` type($source) `to` type($dest)",
    memref.MemorySpaceCastOp: "$source attr-dict `:` type($source) `to` type($dest)",
    memref.RankOp: "$source attr-dict `:` type($source)",
    memref.AllocaScopeReturnOp: "attr-dict ($ops^ `:` type($ops))?",
    memref.AtomicRMWOp: (
        "custom<Reduction>($kind) $value `,` $memref `[` $indices `]` attr-dict `:` "
        "`(` type($value) `,` type($memref) `)` `->` type($result)"
    ),
    memref.ExtractAlignedPointerAsIndexOp: "$source attr-dict `:` type($source) `->` type(results)",
    memref.LoadOp: "$memref `[` $indices `]` attr-dict `:` type($memref)",
    memref.StoreOp: "$value `,` $memref `[` $indices `]` attr-dict `:` type($memref)",
    memref.AllocaScopeOp: "custom<Results>(type($res)) custom<Scope>($scope) attr-dict",
}
"""The formats of ops that have none, or lack properties."""

BRANCH = (
    "$cond (`weights` `(` $branch_weights^ `)`)? `,` "
    "$then_block (`(` $then_arguments^ `:` type($then_arguments) `)`)? `,` "
    "$else_block (`(` $else_arguments^ `:` type($else_arguments) `)`)? attr-dict"
)


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


# ------------------------------------------------------------- scf.for, execute_region

_parse_for, _print_for = scf.ForOp.parse, scf.ForOp.print


def parse_for(cls: type[scf.ForOp], parser: Parser) -> scf.ForOp:
    """Parse a loop, whose bounds may be unsigned."""
    is_unsigned = parser.parse_optional_keyword("unsigned") is not None
    op = _parse_for(parser)
    op.properties |= {"unsignedCmp": UnitAttr()} if is_unsigned else {}
    return op


def print_for(self: scf.ForOp, printer: Printer) -> None:
    """Print a loop, whose bounds may be unsigned."""
    printer.print_string(" unsigned" if "unsignedCmp" in self.properties else "")
    _print_for(self, printer)


EXECUTE = "custom<Results>(type($outs)) (`no_inline` $no_inline^)? $region attr-dict"


# --------------------------------------------------------------------------- scf.while


def parse_while(cls: type[scf.WhileOp], parser: Parser) -> scf.WhileOp:
    """Parse a loop, with or without operands."""
    pairs = parser.parse_optional_comma_separated_list(PAREN, lambda: parse_assignment(parser))
    parser.parse_punctuation(":")
    start, type = parser.pos, parser.parse_function_type()
    arguments, operands = resolve_assignments(parser, pairs or (), type.inputs.data, start)
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
        print_assignments(printer, " ", self.before_region.block.args, self.arguments)
    printer.print_string(" : ")
    printer.print_operation_type(self)
    printer.print_string(" ")
    printer.print_region(self.before_region, print_entry_block_args=False)
    printer.print_string(" do ")
    printer.print_region(self.after_region)
    printer.print_op_attributes(self.attributes, print_keyword=True)


# ------------------------------------------------------------------------ scf.parallel


def parse_parallel(cls: type[scf.ParallelOp], parser: Parser) -> scf.ParallelOp:
    """Parse a parallel loop."""
    arguments = parse_arguments(parser)
    parser.parse_punctuation("=")
    groups = [parse_operands(parser)]
    for word in ("to", "step"):
        parser.parse_keyword(word)
        groups.append(parse_operands(parser))
    initial: list[UnresolvedOperand] = []
    if parser.parse_optional_keyword("init") is not None:
        initial = parser.parse_comma_separated_list(PAREN, parser.parse_unresolved_operand)
    start, types = parser.pos, parse_results(parser)
    groups.append([*parser.resolve_operands(initial, types, start)])
    body = parse_body(parser, scf.ReduceOp, arguments)
    return cls.create(
        operands=[value for group in groups for value in group],
        properties=segments(*groups),
        attributes=parser.parse_optional_attr_dict(),
        result_types=types,
        regions=[body],
    )


def print_parallel(self: scf.ParallelOp, printer: Printer) -> None:
    """Print a parallel loop."""
    print_group(printer, " ", self.body.block.args)
    groups = (" = ", self.lowerBound), (" to ", self.upperBound), (" step ", self.step)
    for word, values in groups:
        print_group(printer, word, values)
    if self.initVals:
        print_group(printer, " init ", self.initVals)
    print_results(printer, self.res.types)
    print_body(printer, self.body)
    printer.print_op_attributes(self.attributes)


# -------------------------------------------------------------------------- gpu.launch


ATTRIBUTIONS = "workgroup_attributions"
"""The number of memrefs of a workgroup among the arguments."""


def parse_launch(cls: type[gpu.LaunchOp], parser: Parser) -> gpu.LaunchOp:
    """Parse a launch without clusters or memrefs of its own."""
    is_async = parser.parse_optional_keyword("async") is not None
    tokens = parse_optional_operands(parser, gpu.AsyncTokenType(), SQUARE)
    ids, sizes, values = list[Parser.Argument](), list[Parser.Argument](), list[SSAValue]()
    for word in ("blocks", "threads"):
        parser.parse_keyword(word)
        ids += parse_arguments(parser)
        parser.parse_keyword("in")
        start = parser.pos
        pairs = parser.parse_comma_separated_list(PAREN, lambda: parse_assignment(parser))
        resolved = resolve_assignments(parser, pairs, [INDEX] * 3, start)
        sizes += resolved[0]
        values += resolved[1]
    shared: SSAValue | None = None
    if parser.parse_optional_keyword("dynamic_shared_memory_size") is not None:
        shared = parser.parse_operand(i32)
    body = parser.parse_region([*ids, *sizes])
    op = cls(body, values[:3], values[3:], (), is_async, tokens, shared)
    op.attributes |= {ATTRIBUTIONS: IntegerAttr(0, i64), **parser.parse_optional_attr_dict()}
    return op


def print_launch(self: gpu.LaunchOp, printer: Printer) -> None:
    """Print a launch without clusters or memrefs of its own."""
    printer.print_string(" async" if self.asyncToken else "")
    if self.asyncDependencies:
        print_group(printer, " ", self.asyncDependencies, brackets="[]")
    sizes = [self.gridSizeX, self.gridSizeY, self.gridSizeZ]
    sizes += [self.blockSizeX, self.blockSizeY, self.blockSizeZ]
    args = self.body.blocks[0].args
    for k, word in ((0, "blocks"), (3, "threads")):
        print_group(printer, f" {word}", args[k : k + 3])
        print_assignments(printer, " in ", args[k + 6 : k + 9], sizes[k : k + 3])
    if self.dynamicSharedMemorySize is not None:
        printer.print_string(" dynamic_shared_memory_size ")
        printer.print_operand(self.dynamicSharedMemorySize)
    printer.print_string(" ")
    printer.print_region(self.body, print_entry_block_args=False)
    shown = {k: v for k, v in self.attributes.items() if k != ATTRIBUTIONS}
    printer.print_op_attributes(shown)


def _mend_memref() -> None:
    for kind in (memref.LoadOp, memref.StoreOp):
        add_properties(kind, alignment=IntegerAttr.constr(i64))
    for kind, text in FORMATS.items():
        use_format(kind, text, directives.Reduction, Results, Scope)
    memref.RankOp.get_irdl_definition().operands[0][1].constr = OperandDef(AnyMemRef).constr
    use_form(memref.GlobalOp, parse_global, print_global)
    memref.CopyOp.verify_ = verify_copy  # pyright: ignore[reportAttributeAccessIssue]


def _mend_scf() -> None:
    add_properties(scf.ForOp, unsignedCmp=base(UnitAttr))
    use_form(scf.ForOp, parse_for, print_for)
    add_properties(scf.ExecuteRegionOp, no_inline=base(UnitAttr))
    use_format(scf.ExecuteRegionOp, EXECUTE, Results)
    use_form(scf.WhileOp, parse_while, print_while)
    use_form(scf.ParallelOp, parse_parallel, print_parallel)


def _mend_cf() -> None:
    add_properties(cf.ConditionalBranchOp, branch_weights=DenseArrayBase.constr(i32))
    use_format(cf.ConditionalBranchOp, BRANCH)


def _mend_gpu() -> None:
    use_form(gpu.LaunchOp, parse_launch, print_launch)
    for kind in (gpu.TerminatorOp, gpu.BarrierOp):
        use_format(kind, "attr-dict")


def _mend_affine() -> None:
    for kind, text in affine_forms.FORMATS.items():
        use_format(kind, text, *affine_forms.DIRECTIVES)


_MENDS: dict[str, Callable[[], None]] = {
    "memref": _mend_memref,
    "scf": _mend_scf,
    "cf": _mend_cf,
    "linalg": mend_linalg,
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
        for word in ATTRIBUTES.get(name, "").split():
            add_attribute(dialect, word_attribute(f"{name}.{word}"))
    return dialect
