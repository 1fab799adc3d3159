"""
Ops of upstream dialects that xDSL lacks, each with its effects and aliases.

    memref.prefetch %a[%i], read, locality<3>, data : memref<4xf32>
    scf.forall (%i, %j) in (%n, 4) { … }
    linalg.batch_matmul ins(%a, %b : …) outs(%c : …)

A named op of linalg is its name and its operands: the ins, which it reads, and the outs, which it
reads and writes. Its body follows from the name, so that the custom form omits it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    MemRefType,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.dialects.linalg import ops as linalg_ops
from xdsl.dialects.utils.dynamic_index_list import DynamicIndexList
from xdsl.ir import Attribute, Block, Operation, ParametrizedAttribute, Region
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    RangeOf,
    RangeVarConstraint,
    VarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
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
    CustomDirective,
    ParsingState,
    PrintingState,
    RegionVariable,
    VariadicRegionVariable,
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
from . import affine_forms, directives
from .declared_ops import declared
from .form_parts import (
    INDEX,
    PAREN,
    parse_arguments,
    parse_assignment,
    parse_body,
    parse_results,
    print_assignments,
    print_body,
    print_group,
    print_results,
    resolve_assignments,
    segments,
)

# ------------------------------------------------------------------------------ memref


TransposeOp = declared(
    "memref.transpose",
    "View a memref with its dims permuted.",
    "source: memref, permutation: map -> result: memref",
    "$source custom<Map>($permutation) attr-dict `:` type($source) `to` type($result)",
    *(NoMemoryEffect(), ResultAliases(), directives.Map),
)
_PREFETCHED = "memref: memref, indices: index*, isWrite: bool, localityHint: i32, isDataCache: bool"
_HINTS = (
    "`,` custom<Access>($isWrite) `,` `locality` `` `<` $localityHint `>` `,` "
    "custom<Cache>($isDataCache) attr-dict `:` type($memref)"
)
PrefetchOp = declared(
    "memref.prefetch",
    "Fetch bytes into a cache.",
    _PREFETCHED,
    f"$memref `[` $indices `]` {_HINTS}",
    *(MemoryReadEffect(), directives.Access, directives.Cache),
)
AffinePrefetchOp = declared(
    "affine.prefetch",
    "Fetch bytes into a cache; the subscripts are affine.",
    f"{_PREFETCHED}, map: map",
    f"$memref custom<Subscripts>($indices, $map) {_HINTS}",
    *(MemoryReadEffect(), directives.Access, directives.Cache, directives.Subscripts),
)
ReallocOp = declared(
    "memref.realloc",
    "Allocate a memref of another size, with the contents of `source`, which it frees.",
    "source: memref, dynamicResultSize: index?, alignment: integer? -> result: memref",
    "$source (`(` $dynamicResultSize^ `)`)? attr-dict `:` type($source) `to` type($result)",
)
ReshapeOp = declared(
    "memref.reshape",
    "View a memref with the dims that `shape` holds.",
    "source: any memref, shape: memref -> result: any memref",
    "$source `(` $shape `)` attr-dict `:` functional-type(operands, results)",
    *(MemoryReadEffect(), ResultAliases((0,))),
)
AtomicYieldOp = declared(
    "memref.atomic_yield",
    "Yield the value that `memref.generic_atomic_rmw` stores.",
    "result: any",
    "$result attr-dict `:` type($result)",
    *(IsTerminator(), Pure()),
)


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

    T: ClassVar = RangeVarConstraint("T", RangeOf(MemRefType))

    arguments = var_operand_def(T)
    res = var_result_def(T)

    traits = traits_def(NoMemoryEffect(), ResultAliases())

    assembly_format = "$arguments attr-dict `:` type($arguments)"


# --------------------------------------------------------------------------------- scf


@irdl_op_definition
class InParallelOp(IRDLOperation):
    """End the body of `scf.forall`; on tensors, with the slices that it inserts."""

    name = "scf.forall.in_parallel"

    region = region_def()

    traits = traits_def(IsTerminator(), RecursiveMemoryEffect(), NoTerminator())

    assembly_format = "$region attr-dict"


# ------------------------------------------------------------------------------ affine


DelinearizeIndexOp = declared(
    "affine.delinearize_index",
    "Compute the indices of an element from its number.",
    "linear_index: index, dynamic_basis: index*, static_basis: integers -> multi_index: index*",
    "$linear_index `into` custom<Sizes>($dynamic_basis, $static_basis) attr-dict `:` "
    "type($multi_index)",
    *(Pure(), directives.Sizes),
)
LinearizeIndexOp = declared(
    "affine.linearize_index",
    "Compute the number of an element from its indices.",
    "multi_index: index*, dynamic_basis: index*, static_basis: integers, disjoint: attribute? "
    "-> linear_index: index",
    "custom<Disjoint>($disjoint) `[` $multi_index `]` `by` custom<Sizes>($dynamic_basis, "
    "$static_basis) attr-dict `:` type($linear_index)",
    *(Pure(), directives.Sizes, directives.Disjoint),
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
        indices, groups = parse_arguments(parser), list[list[UnresolvedOperand]]([[], [], []])
        lower, step = (DenseArrayBase.from_list(i64, [k] * len(indices)) for k in (0, 1))
        if parser.parse_optional_keyword("in") is not None:
            upper = directives.parse_sizes(parser, groups[1])
        else:
            parser.parse_punctuation("=")
            lower = directives.parse_sizes(parser, groups[0])
            parser.parse_keyword("to")
            upper = directives.parse_sizes(parser, groups[1])
            parser.parse_keyword("step")
            step = directives.parse_sizes(parser, groups[2])
        bounds = [parser.resolve_operand(v, INDEX) for group in groups for v in group]
        start = parser.pos
        outputs: list[Any] = []
        types: Sequence[Attribute] = ()
        if parser.parse_optional_keyword("shared_outs") is not None:
            outputs = parser.parse_comma_separated_list(PAREN, lambda: parse_assignment(parser))
            types = parse_results(parser)
        arguments, shared = resolve_assignments(parser, outputs, types, start)
        body = parse_body(parser, InParallelOp, [*indices, *arguments])
        attributes = parser.parse_optional_attr_dict()
        mapping = {"mapping": attributes.pop("mapping")} if "mapping" in attributes else {}
        return cls.create(
            operands=[*bounds, *shared],
            properties={
                "staticLowerBound": lower,
                "staticUpperBound": upper,
                "staticStep": step,
                **segments(*groups, shared),
                **mapping,
            },
            attributes=attributes,
            result_types=types,
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        arguments = self.body.block.args
        count = len(arguments) - len(self.outputs)
        print_group(printer, " ", arguments[:count])
        lower, step = self.staticLowerBound.get_values(), self.staticStep.get_values()
        if set(lower) <= {0} and set(step) <= {1}:
            printer.print_string(" in ")
            directives.print_sizes(printer, self.staticUpperBound, self.dynamicUpperBound)
        else:
            printer.print_string(" = ")
            directives.print_sizes(printer, self.staticLowerBound, self.dynamicLowerBound)
            printer.print_string(" to ")
            directives.print_sizes(printer, self.staticUpperBound, self.dynamicUpperBound)
            printer.print_string(" step ")
            directives.print_sizes(printer, self.staticStep, self.dynamicStep)
        if self.outputs:
            print_assignments(printer, " shared_outs", arguments[count:], self.outputs)
            print_results(printer, self.outputs.types)
        print_body(printer, self.body)
        mapping = {} if self.mapping is None else {"mapping": self.mapping}
        printer.print_op_attributes({**self.attributes, **mapping})


# ------------------------------------------------------------------------------ linalg


class StructuredOp(IRDLOperation):
    """
    A named op of linalg.

    ```mlir
    linalg.batch_matmul ins(%a, %b : …) outs(%c : …)
    ```
    """

    INS: ClassVar = "(`ins` `(` $inputs^ `:` type($inputs) `)`)?"
    RESULTS: ClassVar = "(`->` type($res)^)?"


@irdl_custom_directive
class NoBody(CustomDirective):
    """A body that follows from the name of its op."""

    body: VariadicRegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.body.set(state, ())

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        pass


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
    custom_directives = (NoBody,)
    assembly_format: ClassVar[str | None] = (
        "(`kind` `=` $kind^)? (`indexing_maps` `=` $indexing_maps^)? attr-dict "
        f"{StructuredOp.INS} (`outs` `(` $outputs^ `:` type($outputs) `)`)? "
        f"{StructuredOp.RESULTS} custom<NoBody>($body)"
    )


_TILED = "inner_dims_pos: integers, static_inner_tiles: integers, outer_dims_perm: integers?"
_TILES = (
    "(`outer_dims_perm` `=` $outer_dims_perm^)? `inner_dims_pos` `=` $inner_dims_pos "
    "`inner_tiles` `=` custom<DynamicIndexList>($inner_tiles, $static_inner_tiles) "
    "`into` $dest attr-dict `:` type($source) `->` type($dest)"
)
PackOp = declared(
    "linalg.pack",
    "Move the elements of a tensor into tiles, and fill what is left of them.",
    f"source: tensor, dest: T, padding_value: any?, inner_tiles: index*, {_TILED} -> result: T",
    f"$source (`padding_value` `(` $padding_value^ `:` type($padding_value) `)`)? {_TILES}",
    *(NoMemoryEffect(), DynamicIndexList),
)
UnpackOp = declared(
    "linalg.unpack",
    "Move the elements of a tensor out of tiles.",
    f"source: tensor, dest: T, inner_tiles: index*, {_TILED} -> result: T",
    f"$source {_TILES}",
    *(NoMemoryEffect(), DynamicIndexList),
)


SoftmaxOp = declared(
    "linalg.softmax",
    "Compute the softmax of `input` along a dim.",
    "input: any, output: any, dimension: i64 -> res: any*",
    "attr-dict `dimension` `(` $dimension `)` `ins` `(` $input `:` type($input) `)` `outs` `(` "
    "$output `:` type($output) `)` (`->` type($res)^)?",
    *(MemoryReadEffect(), MemoryWriteEffect()),
)


SHORT = "short_body"
"""The name and attributes of the one op of a body, in the parsing state until types are known."""


@irdl_custom_directive
class ShortBody(CustomDirective):
    """`{ math.exp {…} }` in place of a body that is this op; it is printed in full."""

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if parser.parse_optional_punctuation("{") is not None:
            vars(state)[SHORT] = parser.parse_identifier(), parser.parse_optional_attr_dict()
            parser.parse_punctuation("}")

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        pass


@irdl_custom_directive
class Mapper(CustomDirective):
    """A body with its arguments, `(%x: f32) { … }`, unless it is given in short."""

    mapper: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if (short := vars(state).get(SHORT)) is None:
            arguments = parser.parse_comma_separated_list(PAREN, parser.parse_argument)
            self.mapper.set(state, parser.parse_region(arguments))
            return
        types = chain.from_iterable(each or () for each in state.operand_types)
        block, (name, attributes) = Block(arg_types=map(element_of, types)), short
        inner = parser.ctx.get_op(name).create(
            operands=block.args[:-1], result_types=[block.args[-1].type], attributes=attributes
        )
        block.add_ops([inner, linalg_ops.YieldOp(*inner.results)])
        self.mapper.set(state, Region(block))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        body = self.mapper.get(op)
        print_group(printer, " ", body.block.args, printer.print_block_argument)
        printer.print_string(" ")
        printer.print_region(body, print_entry_block_args=False)


@irdl_op_definition
class MapOp(StructuredOp):
    """Apply a scalar computation to each element."""

    name = "linalg.map"

    inputs = var_operand_def(AnyAttr())
    init = operand_def(AnyAttr())
    res = var_result_def(AnyAttr())
    mapper = region_def("single_block")

    custom_directives = (ShortBody, Mapper)
    assembly_format = (
        f"custom<ShortBody>() attr-dict {StructuredOp.INS} `outs` `(` $init `:` type($init) `)` "
        f"{StructuredOp.RESULTS} custom<Mapper>($mapper)"
    )


def element_of(type: Attribute) -> Attribute:
    """Return the type of an element of a shaped type, or `type`."""
    if not isinstance(type, TensorType | MemRefType):
        return type
    return cast("MemRefType[Attribute]", type).element_type


class WordAttr(ParametrizedAttribute):
    """One of some words."""

    word: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [StringAttr(parser.parse_identifier())]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.word.data)


def word_attribute(name: str) -> type[WordAttr]:
    """Return the class of `#NAME<word>`."""
    members = {"name": name, "__module__": __name__, "__doc__": WordAttr.__doc__}
    kind = "".join(part.title() for part in re.split(r"\W|_", name))
    return irdl_attr_definition(type(f"{kind}Attr", (WordAttr,), members))


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


def winograd_transform(name: str) -> type[IRDLOperation]:
    """Return the class of the op that transforms an operand or the result of a convolution."""
    return declared(
        f"linalg.winograd_{name}_transform",
        "Transform an operand or the result of a convolution, for its algorithm by Winograd.",
        "input: tensor, output: T, fmr: integer -> result: T",
        "`fmr` `(` custom<Winograd>($fmr) `)` `ins` `(` $input `:` type($input) `)` `outs` `(` "
        "$output `:` type($output) `)` attr-dict `->` type($result)",
        *(NoMemoryEffect(), directives.Winograd),
    )


def named_op(name: str) -> type[IRDLOperation]:
    """Return the class of the op `linalg.NAME`."""
    attributes = {"name": f"linalg.{name}", "__module__": __name__, "__doc__": NamedOp.__doc__}
    title = "".join(map(str.capitalize, name.split("_")))
    return irdl_op_definition(type(f"{title}Op", (NamedOp,), attributes))


MISSING: dict[str, Callable[[], Sequence[type[Operation]]]] = {
    "memref": lambda: (
        *(TransposeOp, PrefetchOp, ReallocOp, ReshapeOp, GenericAtomicRMWOp, AtomicYieldOp),
        *(DistinctObjectsOp, affine_forms.StartOp, affine_forms.WaitOp),
    ),
    "scf": lambda: (ForallOp, InParallelOp),
    "affine": lambda: (
        *(affine_forms.ParallelOp, affine_forms.MaxOp, AffinePrefetchOp),
        *(affine_forms.AffineStartOp, affine_forms.AffineWaitOp),
        *(DelinearizeIndexOp, LinearizeIndexOp),
    ),
    "linalg": lambda: (
        *(MapOp, SoftmaxOp, PackOp, UnpackOp),
        *map(named_op, NAMED),
        *map(winograd_transform, ("filter", "input", "output")),
    ),
}
"""The ops that each dialect lacks."""

ATTRIBUTES = {
    "linalg": "elementwise_kind type_fn",
    "gpu": "block thread warp warpgroup lane",
}
"""The attributes that each dialect lacks, each one of some words."""
