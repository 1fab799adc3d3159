"""
Ops of func and arith that xDSL lacks: functions as values, and rare arithmetic.

    %f = func.constant @g : (memref<4xf32>) -> f32
    %r = func.call_indirect %f(%x) : (memref<4xf32>) -> f32
    %q = arith.index_castui %a : i32 to index

A call of a function value has unknown effects.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, FunctionType
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
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from .declared_ops import declared
from .directives import Rounding

ConstantOp = declared(
    "func.constant",
    "Return a function as a value.",
    "value: symbol -> result: function",
    "attr-dict $value `:` type($result)",
    Pure(),
)


@irdl_op_definition
class CallIndirectOp(IRDLOperation):
    """Call the function value `callee` on `arguments`."""

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


IndexCastUIOp = declared(
    "arith.index_castui",
    "Convert between an index and an unsigned integer.",
    "input: any -> result: any",
    "$input attr-dict `:` type($input) `to` type($result)",
    Pure(),
)
_SCALED, _SCALED_FORM = (
    "input: any, scale: any, fastmath: fast math?",
    "(`fastmath` `` $fastmath^)? attr-dict `:` type($input) `,` type($scale) `to` type($result)",
)
ScalingExtFOp = declared(
    "arith.scaling_extf",
    "Convert scaled floats to wider ones.",
    f"{_SCALED} -> result: any",
    f"$input `,` $scale {_SCALED_FORM}",
    Pure(),
)
ScalingTruncFOp = declared(
    "arith.scaling_truncf",
    "Convert floats to narrower ones with a scale.",
    f"{_SCALED}, roundingmode: rounding? -> result: any",
    f"$input `,` $scale custom<Rounding>($roundingmode) {_SCALED_FORM}",
    *(Pure(), Rounding),
)
