"""
Ops of func and arith that xDSL lacks: functions as values, and rare arithmetic.

    %f = func.constant @g : (memref<4xf32>) -> f32
    %r = func.call_indirect %f(%x) : (memref<4xf32>) -> f32
    %q = arith.index_castui %a : i32 to index

The effects of a call of a value are not known.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import ArrayAttr, FlatSymbolRefAttrConstr, FunctionType
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParamAttrConstraint,
    ParsePropInAttrDict,
    RangeOf,
    RangeVarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from .directives import Rounding, RoundingMode


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """Return a function as a value."""

    name = "func.constant"

    value = prop_def(FlatSymbolRefAttrConstr)
    result = result_def(FunctionType)

    traits = traits_def(Pure())

    assembly_format = "attr-dict $value `:` type($result)"


@irdl_op_definition
class CallIndirectOp(IRDLOperation):
    """Call a function that is a value."""

    name = "func.call_indirect"

    INPUTS: ClassVar = RangeVarConstraint("Inputs", RangeOf(AnyAttr()))
    OUTPUTS: ClassVar = RangeVarConstraint("Outputs", RangeOf(AnyAttr()))

    callee = operand_def(
        ParamAttrConstraint(FunctionType, (ArrayAttr.constr(INPUTS), ArrayAttr.constr(OUTPUTS)))
    )
    arguments = var_operand_def(INPUTS)
    arg_attrs = opt_prop_def(ArrayAttr)
    res_attrs = opt_prop_def(ArrayAttr)
    res = var_result_def(OUTPUTS)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` type($callee)"


@irdl_op_definition
class IndexCastUIOp(IRDLOperation):
    """Convert between an index and an integer without a sign."""

    name = "arith.index_castui"

    input = operand_def(AnyAttr())
    result = result_def(AnyAttr())

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"


class Scaling(IRDLOperation):
    """Convert floats that have a common scale."""

    input = operand_def(AnyAttr())
    scale = operand_def(AnyAttr())
    result = result_def(AnyAttr())
    fastmath = opt_prop_def(FastMathFlagsAttr)

    traits = traits_def(Pure())

    FORM: ClassVar = (
        "(`fastmath` `` $fastmath^)? attr-dict `:` type($input) `,` type($scale) `to` type($result)"
    )


@irdl_op_definition
class ScalingExtFOp(Scaling):
    """Convert scaled floats to wider ones."""

    name = "arith.scaling_extf"

    assembly_format = f"$input `,` $scale {Scaling.FORM}"


@irdl_op_definition
class ScalingTruncFOp(Scaling):
    """Convert floats to narrower ones with a scale."""

    name = "arith.scaling_truncf"

    roundingmode = opt_prop_def(RoundingMode)

    custom_directives = (Rounding,)
    assembly_format = f"$input `,` $scale custom<Rounding>($roundingmode) {Scaling.FORM}"
