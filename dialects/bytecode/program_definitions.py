"""Definitions of a program: constants, and named lists of ops."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
)
from xdsl.ir import Block, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.traits import NoTerminator, SymbolOpInterface


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """
    Define the constant `sym_name`.

    ```mlir
    bytecode.constant @const_0 dense<[1.0, 2.0]> : tensor<2xf32>
    ```
    """

    name = "bytecode.constant"
    sym_name = prop_def(SymbolNameConstraint())
    value = prop_def(DenseIntOrFPElementsAttr)

    assembly_format = "$sym_name $value attr-dict"

    traits = traits_def(SymbolOpInterface())


@irdl_op_definition
class LateConstantOp(IRDLOperation):
    """
    Define the constant `sym_name`, bound to the tensor `param` when the program is loaded.

    ```mlir
    bytecode.late_constant @const_1 "conv1_w" : tensor<64x3x7x7xf32>
    ```
    """

    name = "bytecode.late_constant"
    sym_name = prop_def(SymbolNameConstraint())
    param = prop_def(StringAttr)
    type = prop_def(TensorType)

    assembly_format = "$sym_name $param `:` $type attr-dict"

    traits = traits_def(SymbolOpInterface())


def parse_body(parser: Parser) -> Region:
    """Parse a region of one block, which may be empty."""
    region = parser.parse_region()
    if not region.blocks:
        region.add_block(Block())
    return region


class Definition(IRDLOperation):
    """A kernel or a function: a named list of ops."""

    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")

    traits = traits_def(NoTerminator(), SymbolOpInterface())
