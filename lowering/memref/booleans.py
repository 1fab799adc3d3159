"""
Store booleans as bytes, 0 or 1.

    %a: memref<4xi1>                               %a: memref<4xi8>
    %0 = memref.load %a[%i] : memref<4xi1>   ->    %1 = memref.load %a[%i] : memref<4xi8>
                                                   %0 = arith.cmpi ne, %1, %c0 : i8

NumPy does so, and mlir-opt 22 does not lower loads and stores of `i1`. Ops of `memref`, `tensor`
and `linalg` work on bytes; what computes in between works on `i1`. A byte that is neither 0 nor 1
is true.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    TensorType,
    i1,
    i8,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.dense import Dense, elements
from ...dialects.device import device_of, tensor_type, with_device
from ...dialects.tensors import Tensor
from ...dialects.xdsl_extras.identity import by_identity
from ...dialects.xdsl_extras.walking import walk
from ...dialects.xdsl_extras.xdsl_internals import set_type
from .memref_types import MemRef

_ON_ELEMENTS = ("memref", "tensor", "linalg")
"""The dialects whose ops read and write elements."""

_WITH_TYPES: tuple[type[Attribute], ...] = (FunctionType, MemRefType, DenseIntOrFPElementsAttr)
"""The attributes of ops in which there are types of values."""


@by_identity
def with_bytes(type: Attribute) -> Attribute:
    """Return a type, or a constant, with bytes for the elements that are `i1`."""
    match type:
        case MemRefType():
            memref: MemRef = type
            if memref.element_type == i1:
                return MemRefType(i8, memref.shape, memref.layout, memref.memory_space)
        case TensorType():
            tensor: Tensor = type
            if tensor.element_type == i1:
                return with_device(tensor_type(i8, list(tensor.get_shape())), device_of(tensor))
        case FunctionType():
            lists = ([with_bytes(t) for t in types] for types in (type.inputs, type.outputs))
            return FunctionType.from_lists(*lists)
        case DenseIntOrFPElementsAttr():
            value = cast(Dense, type)
            if value.get_element_type() == i1:
                data = BytesAttr(elements(value))
                return DenseIntOrFPElementsAttr(cast(Any, with_bytes(value.type)), data)
        case _:
            pass
    return cast(Attribute, type)


def store_booleans_as_bytes(root: Operation) -> None:
    """Store the booleans of all tensors and memrefs in `root` as bytes."""
    for op in list(walk(root)):
        for name, attribute in op.properties.items():
            if isinstance(attribute, _WITH_TYPES):
                op.properties[name] = with_bytes(attribute)
        on_elements = op.name.partition(".")[0] in _ON_ELEMENTS
        for i, operand in enumerate(op.operands if on_elements else ()):
            if operand.type == i1:
                byte = arith.ExtUIOp(operand, i8)
                Rewriter.insert_op(byte, InsertPoint.before(op))
                op.operands[i] = byte.result
        for block in (block for region in op.regions for block in region.blocks):
            for argument in block.args:
                _convert(argument, on_elements, InsertPoint.at_start(block))
        for result in op.results:
            _convert(result, on_elements, InsertPoint.after(op))


def _convert(value: SSAValue, is_element: bool, at: InsertPoint) -> None:
    """Make an element a byte, whose users get the i1 that is computed `at`; convert other types."""
    if not is_element or value.type != i1:
        type = with_bytes(value.type)
        if type is not value.type:
            set_type(value, type)
        return
    uses = list(value.uses)
    set_type(value, i8)
    zero = arith.ConstantOp(IntegerAttr(0, i8))
    test = arith.CmpiOp(value, zero, "ne")
    Rewriter.insert_op([zero, test], at)
    for use in uses:
        use.operation.operands[use.index] = test.result
