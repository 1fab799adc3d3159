"""Mutable cells: creation, reads and writes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from ...device import with_device
from ...interfaces import (
    AllocatesResults,
    Equation,
    InferTypes,
    ResultAliases,
    SameDevice,
    TypeEquations,
)
from ...xdsl_extras.formats import FunctionTypeOf
from ..incomplete import IncompleteType, refine
from ..operator import refined_result_types
from .language_types import RefType

UNIT = TupleType(())
"""The type of Relay's `()`."""


class ReadsOperand(MemoryEffect):
    """Reads the cell that is operand 0."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.READ, op.operands[0])}


class WritesOperand(MemoryEffect):
    """Writes the cell that is operand 0."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.WRITE, op.operands[0])}


def _contents(op: Operation) -> Attribute:
    type = op.operands[0].type
    if not isinstance(type, RefType):
        raise VerifyException(f"{op.name} expects a !relay.ref operand, but got {type}")
    return with_device(type.contents, None)


def _ref_to_operand(op: Operation) -> Sequence[Attribute]:
    return (RefType(with_device(op.operands[0].type, None)),)


def _is_cell_of(ref: SSAValue, contents: Attribute) -> Equation:
    return Equation(ref.type, RefType(with_device(contents, None)), "the cell")


@irdl_op_definition
class RefCreateOp(IRDLOperation):
    """
    Create a cell that holds `value`.

    ```mlir
    %r = relay.ref_create %x : (tensor<4xf32>) -> !relay.ref<tensor<4xf32>>
    ```
    """

    name = "relay.ref_create"

    value = operand_def(AnyAttr())
    result = result_def(RefType | IncompleteType)

    traits = traits_def(
        AllocatesResults(),
        SameDevice(),
        ResultAliases(),
        InferTypes(_ref_to_operand),
        TypeEquations(lambda op, lookup, fresh: (_is_cell_of(op.result, op.value.type),)),
    )
    assembly_format = "$value attr-dict `:` functional-type(operands, results)"

    def __init__(self, value: SSAValue):
        super().__init__(operands=[value], result_types=[RefType(value.type)])

    def verify_(self) -> None:
        refined_result_types(self)


@irdl_op_definition
class RefReadOp(IRDLOperation):
    """
    Read the current contents of the cell `ref`.

    ```mlir
    %x = relay.ref_read %r : (!relay.ref<tensor<4xf32>>) -> tensor<4xf32>
    ```
    """

    name = "relay.ref_read"

    ref = operand_def(RefType | IncompleteType)
    result = result_def(AnyAttr())

    traits = traits_def(
        ReadsOperand(),
        SameDevice(),
        ResultAliases(),
        InferTypes(lambda op: (_contents(op),)),
        TypeEquations(lambda op, lookup, fresh: (_is_cell_of(op.ref, op.result.type),)),
    )
    custom_directives = (FunctionTypeOf,)
    assembly_format = "$ref attr-dict `:` custom<FunctionTypeOf>(type($ref), type($result))"

    def __init__(self, ref: SSAValue):
        assert isinstance(ref.type, RefType), f"not a cell: {ref.type}"
        super().__init__(operands=[ref], result_types=[ref.type.contents])

    def verify_(self) -> None:
        refined_result_types(self)


@irdl_op_definition
class RefWriteOp(IRDLOperation):
    """
    Write `value` to the cell `ref`; the result is the empty tuple.

    ```mlir
    %u = relay.ref_write %r, %x : (!relay.ref<tensor<4xf32>>, tensor<4xf32>) -> tuple<>
    ```
    """

    name = "relay.ref_write"

    ref = operand_def(RefType | IncompleteType)
    value = operand_def(AnyAttr())
    result = result_def(TupleType | IncompleteType)

    traits = traits_def(
        WritesOperand(),
        SameDevice(),
        InferTypes(lambda op: (UNIT,)),
        TypeEquations(lambda op, lookup, fresh: (_is_cell_of(op.ref, op.value.type),)),
    )
    assembly_format = "$ref `,` $value attr-dict `:` functional-type(operands, results)"

    def __init__(self, ref: SSAValue, value: SSAValue):
        super().__init__(operands=[ref, value], result_types=[UNIT])

    def verify_(self) -> None:
        if refined_result_types(self) is None:
            return
        contents = _contents(self)
        if refine(contents, with_device(self.value.type, None)) is None:
            raise VerifyException(f"cannot write {self.value.type} to a !relay.ref<{contents}>")
