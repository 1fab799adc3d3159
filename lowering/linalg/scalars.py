"""
Arithmetic on scalars, in the body of a `linalg.generic`, with the results of the NumPy kernels.

Nothing here is undefined, whatever the numbers are: integers wrap around, a quotient by 0 is 0, and
floats out of range convert to integers as NumPy's do on x86.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    Float32Type,
    Float64Type,
    IntegerType,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Attribute, SSAValue

from ...dialects.tensors import AnyInteger, bits_of, is_unsigned, signless
from .builder import Builder, Unsupported

NO_SIGNED_ZEROS = arith.FastMathFlagsAttr([FastMathFlag.NO_SIGNED_ZEROS])
"""The flag of maximum and minimum: of 0 and -0 either may be the result, as in NumPy."""


def is_float(type: Attribute) -> bool:
    return isinstance(type, AnyFloat)


def is_integer(type: Attribute) -> bool:
    """Test for an integer, i1 included."""
    return isinstance(type, IntegerType)


def width(type: Attribute) -> int:
    """Return the width of a number type in bits."""
    bits = bits_of(type)
    if bits is None or not (is_float(type) or is_integer(type)):
        raise Unsupported(f"elements of type {type}")
    return bits


def select(b: Builder, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
    """Return `yes` if the i1 `condition` holds, else `no`."""
    return b.insert(arith.SelectOp(condition, yes, no))


def compare(b: Builder, predicate: str, x: SSAValue, y: SSAValue) -> SSAValue:
    """Compare floats (`olt`, `une` …) or integers (`slt`, `ult` …)."""
    op = arith.CmpfOp if is_float(x.type) else arith.CmpiOp
    return b.insert(op(x, y, predicate))


def is_nan(b: Builder, x: SSAValue) -> SSAValue:
    return compare(b, "uno", x, x)


def is_wide(type: Attribute) -> bool:
    """Test for a float type of at least 32 bits."""
    return isinstance(type, Float32Type | Float64Type)


def widened(b: Builder, x: SSAValue) -> SSAValue:
    """Return the float `x` in f32 if its type is narrower."""
    return x if is_wide(x.type) else b.insert(arith.ExtFOp(x, f32))


def narrowed(b: Builder, x: SSAValue, type: Attribute) -> SSAValue:
    """Return the float `x` rounded to `type`."""
    return x if x.type == type else b.insert(arith.TruncFOp(x, type))


def float_op(
    b: Builder, kind: type[math.FloatingPointLikeUnaryMathOperation], x: SSAValue
) -> SSAValue:
    """Apply a function of `math` to the float `x`, in f32 if its type is narrower."""
    return narrowed(b, b.insert(kind(widened(b, x))), x.type)


def maximum(b: Builder, x: SSAValue, y: SSAValue, type: Attribute) -> SSAValue:
    """Return the greater of two elements of `type`, NaN if one is NaN; of i1, their or."""
    width(type)
    if is_float(type):
        return b.insert(arith.MaximumfOp(x, y, NO_SIGNED_ZEROS))
    return b.insert((arith.MaxUIOp if is_unsigned(type) else arith.MaxSIOp)(x, y))


def minimum(b: Builder, x: SSAValue, y: SSAValue, type: Attribute) -> SSAValue:
    """Return the lesser of two elements of `type`, NaN if one is NaN; of i1, their and."""
    width(type)
    if is_float(type):
        return b.insert(arith.MinimumfOp(x, y, NO_SIGNED_ZEROS))
    return b.insert((arith.MinUIOp if is_unsigned(type) else arith.MinSIOp)(x, y))


def safe_divisor(b: Builder, x: SSAValue, y: SSAValue, unsigned: bool) -> SSAValue:
    """Return `y`, or 1 where dividing `x` by it is undefined: by 0, or the least number by -1."""
    type = y.type
    one, zero = b.constant(1, type), b.constant(0, type)
    unsafe = compare(b, "eq", y, zero)
    if not unsigned:
        least = compare(b, "eq", x, b.constant(-(2 ** (width(type) - 1)), type))
        minus = compare(b, "eq", y, b.constant(-1, type))
        overflow = b.insert(arith.AndIOp(least, minus))
        unsafe = b.insert(arith.OrIOp(unsafe, overflow))
    return select(b, unsafe, one, y)


def convert(b: Builder, x: SSAValue, source: Attribute, target: Attribute) -> SSAValue:
    """
    Convert the number `x` from the element type `source` to `target`, as `relay.cast` does.

    Both are element types of operators, which tell signed integers from unsigned.
    """
    if target == source:
        return x
    for type in (source, target):
        width(type)  # raises for types that are not numbers
    if target == i1:
        zero = b.constant(0, x.type)
        return compare(b, "une" if is_float(source) else "ne", x, zero)
    if is_float(source):
        return _of_float(b, x, target)
    if is_float(target):
        convert_ = arith.UIToFPOp if is_unsigned(source) else arith.SIToFPOp
        return b.insert(convert_(x, cast(AnyFloat, target)))
    return resized(b, x, signless(target), unsigned=is_unsigned(source))


def resized(b: Builder, x: SSAValue, target: Attribute, *, unsigned: bool) -> SSAValue:
    """Extend the integer `x` to the signless type `target`, or cut it off."""
    assert isinstance(target, IntegerType)
    target = cast(AnyInteger, target)
    if width(x.type) == width(target):
        return x
    if width(x.type) > width(target):
        return b.insert(arith.TruncIOp(x, target))
    return b.insert((arith.ExtUIOp if unsigned else arith.ExtSIOp)(x, target))


def _of_float(b: Builder, x: SSAValue, target: Attribute) -> SSAValue:
    """
    Convert a float.

    To integers as NumPy does on x86: out of the range of i32 (of i64 for u32, u64 and i64) and for
    NaN the result has the lowest bits of the least number of that type; u64 takes two such steps.
    """
    if is_float(target):
        if width(target) == width(x.type):  # f16 and bf16
            return b.insert(arith.TruncFOp(widened(b, x), cast(AnyFloat, target)))
        op = arith.TruncFOp if width(target) < width(x.type) else arith.ExtFOp
        return b.insert(op(x, cast(AnyFloat, target)))
    x = widened(b, x)
    bits, unsigned = width(target), is_unsigned(target)
    if bits < 32 or (bits == 32 and not unsigned):
        return resized(b, _in_range(b, x, i32), IntegerType(bits), unsigned=False)
    if bits == 32 or not unsigned:
        return resized(b, _in_range(b, x, i64), IntegerType(bits), unsigned=False)
    half = b.constant(2.0**63, x.type)
    high = compare(b, "oge", x, half)
    above = b.insert(arith.SubfOp(x, half))
    low = _in_range(b, select(b, high, above, x), i64)
    flipped = b.insert(arith.XOrIOp(low, b.constant(-(2**63), i64)))
    return select(b, high, flipped, low)


def _in_range(b: Builder, x: SSAValue, target: IntegerType) -> SSAValue:
    """Truncate the float `x`; the least integer of `target` if it is out of range or NaN."""
    bound = 2.0 ** (target.width.data - 1)
    # f64 has numbers between the least i32 minus 1 and the least i32, which truncate to it.
    lowest = -bound - 1 if target == i32 and x.type == f64 else -bound
    above = compare(b, "ogt" if lowest < -bound else "oge", x, b.constant(lowest, x.type))
    below = compare(b, "olt", x, b.constant(bound, x.type))
    fits = b.insert(arith.AndIOp(above, below))
    inside = b.insert(arith.FPToSIOp(select(b, fits, x, b.constant(0, x.type)), target))
    return select(b, fits, inside, b.constant(-int(bound), target))
