"""Tuples of values; the type is the builtin tuple."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import I64, IntegerAttr, TupleType, i64
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..formats import FunctionTypeOf
from ..interfaces import InferTypes, ResultAliases, SameDevice
from .incomplete import IncompleteType
from .operator import refined_result_types


def _tuple_of_operands(op: Operation) -> Sequence[Attribute]:
    return (TupleType(tuple(cast(TypeAttribute, v.type) for v in op.operands)),)


def _field_type(op: TupleGetItemOp) -> Sequence[Attribute]:
    type = op.tuple.type
    if not isinstance(type, TupleType):
        raise VerifyException(f"the operand must be a tuple, but is {type}")
    index, size = op.index.value.data, len(type.types)
    if not 0 <= index < size:
        raise VerifyException(f"field index must be in [0, {size}), but is {index}")
    return (type.types.data[index],)


@irdl_op_definition
class TupleOp(IRDLOperation):
    """
    Make a tuple of `fields`; the tuple shares their bytes.

    ```mlir
    %t = relay.tuple %a, %b : (tensor<4xf32>, tensor<2xi32>) -> tuple<tensor<4xf32>, tensor<2xi32>>
    ```
    """

    name = "relay.tuple"

    fields = var_operand_def(AnyAttr())
    result = result_def(TupleType | IncompleteType)

    traits = traits_def(Pure(), SameDevice(), ResultAliases(), InferTypes(_tuple_of_operands))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def __init__(self, fields: Sequence[SSAValue]):
        types = tuple(cast(TypeAttribute, v.type) for v in fields)
        super().__init__(operands=[fields], result_types=[TupleType(types)])

    def verify_(self) -> None:
        refined_result_types(self)


@irdl_op_definition
class TupleGetItemOp(IRDLOperation):
    """
    Give field `index` of `tuple`, counted from 0; the field shares the tuple's bytes.

    ```mlir
    %a = relay.tuple_get_item %t[0] : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tensor<4xf32>
    ```
    """

    name = "relay.tuple_get_item"

    tuple = operand_def(AnyAttr())
    index = prop_def(IntegerAttr[I64])
    result = result_def(AnyAttr())

    traits = traits_def(Pure(), SameDevice(), ResultAliases(), InferTypes(_field_type))
    custom_directives = (FunctionTypeOf,)
    assembly_format = (
        "$tuple `[` $index `]` attr-dict `:` custom<FunctionTypeOf>(type($tuple), type($result))"
    )

    def __init__(self, tuple: SSAValue, index: int):
        type = tuple.type
        assert isinstance(type, TupleType), f"no tuple: {type}"
        super().__init__(
            operands=[tuple],
            properties={"index": IntegerAttr(index, i64)},
            result_types=[type.types.data[index]],
        )

    def verify_(self) -> None:
        refined_result_types(self)
