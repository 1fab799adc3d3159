"""
Custom forms and bodies of named ops of linalg that xDSL has otherwise.

    linalg.matmul indexing_maps = [#m, …] {cast = #linalg.type_fn<cast_unsigned>} ins(…) outs(…)
    linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(…) outs(…)

xDSL 0.74 reads neither maps nor casts of `linalg.matmul`, omits the casts of its body, and rejects
convolutions whose strides are one number for all dims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects import arith, linalg
from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr
from xdsl.dialects.linalg import abstract_ops
from xdsl.dialects.linalg import ops as linalg_ops
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import AnyAttr, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent

from ..xdsl_extras.late_definitions import add_properties, use_form
from .missing_ops import StructuredOp, WordAttr

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


def multiply_and_add(
    cls: type[abstract_ops.NamedOperation],
    inputs: Sequence[SSAValue],
    outputs: Sequence[SSAValue],
    is_unsigned: bool = False,
) -> Region:
    """Return the body of a contraction, whose products have the type of the sums."""
    block = Block(arg_types=cls.body_arg_types((*inputs, *outputs)))
    total = block.args[-1]
    is_float = isinstance(total.type, AnyFloat)

    def add(kind: type[Operation], *operands: SSAValue) -> SSAValue:
        op = kind.create(operands=operands, result_types=[total.type])
        block.add_op(op)
        return op.results[0]

    def converted(value: SSAValue) -> SSAValue:
        if value.type == total.type:
            return value
        if isinstance(value.type, AnyFloat):
            return add(arith.ExtFOp, value)
        signed, unsigned = (
            (arith.SIToFPOp, arith.UIToFPOp) if is_float else (arith.ExtSIOp, arith.ExtUIOp)
        )
        return add(unsigned if is_unsigned else signed, value)

    factors = converted(block.args[0]), converted(block.args[1])
    product = add(arith.MulfOp if is_float else arith.MuliOp, *factors)
    result = add(arith.AddfOp if is_float else arith.AddiOp, product, total)
    block.add_op(linalg_ops.YieldOp(result))
    return Region(block)


MAPS = "indexing_maps"


def parse_matmul(cls: type[linalg_ops.MatmulOp], parser: Parser) -> linalg_ops.MatmulOp:
    """Parse a product of matrices, which may be transposed, or of unsigned integers."""
    maps: Attribute | None = None
    if parser.parse_optional_keyword(MAPS) is not None:
        parser.parse_punctuation("=")
        maps = parser.parse_attribute()
    op = abstract_ops.NamedOperation.parse.__func__(cls, parser)
    op.properties |= {} if maps is None else {MAPS: maps}
    kind = op.properties.get("cast")
    if isinstance(kind, WordAttr) and kind.word.data == "cast_unsigned":
        op.detach_region(0)
        op.add_region(multiply_and_add(cls, op.inputs, op.outputs, is_unsigned=True))
    return op


def print_matmul(self: linalg_ops.MatmulOp, printer: Printer) -> None:
    """Print a product of matrices."""
    if self.indexing_maps != self.get_irdl_definition().properties[MAPS].default_value:
        printer.print_string(f" {MAPS} = ")
        printer.print_attribute(self.indexing_maps)
    abstract_ops.NamedOperation.print(self, printer)


def mend_linalg() -> None:
    """Give ops of linalg what they lack."""
    for kind in (linalg_ops.MatmulOp, linalg_ops.CopyOp):
        add_properties(kind, cast=AnyAttr())
    use_form(linalg_ops.MatmulOp, parse_matmul, print_matmul)
    structured = linalg_ops.GenericOp, abstract_ops.LinalgStructuredOperation, StructuredOp
    linalg_ops.IndexOp.traits = traits_def(HasParent(*structured))
    linalg_ops.IndexOp.get_irdl_definition().traits = linalg_ops.IndexOp.traits
    for kind in linalg.Linalg.operations:
        if issubclass(kind, WINDOWED):
            windowed: Any = kind
            windowed.get_default_indexing_maps = with_whole_windows(
                windowed.get_default_indexing_maps
            )
        if issubclass(kind, abstract_ops.ConvOperation | linalg_ops.MatmulOp):
            contraction: Any = kind
            contraction.get_hidden_region = classmethod(multiply_and_add)
