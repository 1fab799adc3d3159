"""Tests of element types, comparison and choice of scalars, in the body of a `linalg.generic`."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, Float32Type, Float64Type, IntegerType, i1
from xdsl.ir import Attribute, SSAValue

from ...dialects.tensors import bits_of
from .builder import Builder, Unsupported


def is_float(type: Attribute) -> bool:
    return isinstance(type, AnyFloat)


def width(type: Attribute) -> int:
    """Return the width of a number type in bits."""
    bits = bits_of(type)
    least = 16 if is_float(type) else 1 if type == i1 else 8
    if bits is None or bits < least or not isinstance(type, AnyFloat | IntegerType):
        raise Unsupported(f"elements of type {type}")
    return bits


def select(b: Builder, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
    """Return `yes` if the i1 `condition` holds, else `no`."""
    return b.insert(arith.SelectOp(condition, yes, no))


def compare(b: Builder, predicate: str, x: SSAValue, y: SSAValue) -> SSAValue:
    """Compare floats (`olt`, `une` …) or integers (`slt`, `ult` …)."""
    op = arith.CmpfOp if is_float(x.type) else arith.CmpiOp
    return b.insert(op(x, y, predicate))


def is_wide(type: Attribute) -> bool:
    """Test for a float type of at least 32 bits."""
    return isinstance(type, Float32Type | Float64Type)
