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

from dataclasses import dataclass, field
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
from ...dialects.xdsl_extras.walking import walk
from ...dialects.xdsl_extras.xdsl_internals import set_type
from .memref_types import MemRef

_ON_ELEMENTS = ("memref", "tensor", "linalg")
"""The dialects whose ops read and write elements."""

_WITH_TYPES: tuple[type[Attribute], ...] = (FunctionType, MemRefType, DenseIntOrFPElementsAttr)
"""The attributes of ops in which there are types of values."""


@dataclass(frozen=True)
class ByteTypes:
    """Maps types to those with bytes for the elements that are `i1`."""

    known: dict[Attribute, Attribute] = field(default_factory=dict[Attribute, Attribute])

    def __call__(self, type: Attribute) -> Attribute:
        found = self.known.get(type)
        if found is None:
            found = self.known[type] = self._converted(type)
        return found

    def _converted(self, type: Attribute) -> Attribute:
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
                lists = ([self(t) for t in types] for types in (type.inputs, type.outputs))
                return FunctionType.from_lists(*lists)
            case DenseIntOrFPElementsAttr():
                value = cast(Dense, type)
                if value.get_element_type() == i1:
                    data = BytesAttr(elements(value))
                    return DenseIntOrFPElementsAttr(cast(Any, self(value.type)), data)
            case _:
                pass
        return cast(Attribute, type)


def as_condition(byte: SSAValue, at: InsertPoint) -> SSAValue:
    """Insert the test whether `byte` is not 0."""
    zero = arith.ConstantOp(IntegerAttr(0, i8))
    test = arith.CmpiOp(byte, zero, "ne")
    Rewriter.insert_op([zero, test], at)
    return test.result


def read_as_condition(value: SSAValue, at: InsertPoint) -> None:
    """Make `value`, an i1 that is an element, a byte; its users get an i1."""
    uses = list(value.uses)
    set_type(value, i8)
    test = as_condition(value, at)
    for use in uses:
        use.operation.operands[use.index] = test


def store_booleans_as_bytes(root: Operation) -> None:
    """Store the booleans of all tensors and memrefs in `root` as bytes."""
    bytes_of = ByteTypes()
    for op in list(walk(root)):
        for name, attribute in op.properties.items():
            if isinstance(attribute, _WITH_TYPES):
                op.properties[name] = bytes_of(attribute)
        on_elements = op.name.partition(".")[0] in _ON_ELEMENTS
        for i, operand in enumerate(op.operands if on_elements else ()):
            if operand.type == i1:
                byte = arith.ExtUIOp(operand, i8)
                Rewriter.insert_op(byte, InsertPoint.before(op))
                op.operands[i] = byte.result
        for block in (block for region in op.regions for block in region.blocks):
            for argument in block.args:
                _convert(argument, on_elements, bytes_of, InsertPoint.at_start(block))
        for result in op.results:
            _convert(result, on_elements, bytes_of, InsertPoint.after(op))


def _convert(value: SSAValue, is_element: bool, bytes_of: ByteTypes, at: InsertPoint) -> None:
    if is_element and value.type == i1:
        read_as_condition(value, at)
        return
    type = bytes_of(value.type)
    if type is not value.type:
        set_type(value, type)
