"""
Arithmetic on scalars, in the body of a `linalg.generic`, with the results of the NumPy kernels.

Nothing here is undefined, whatever the numbers are: integers wrap around, a quotient by 0 is 0,
floats become integers by truncation and saturation, and NaN becomes 0.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, Float32Type, Float64Type, IntegerType, f32, i1
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Attribute, SSAValue

from ...dialects.tensors import AnyInteger, bits_of, is_unsigned, signless
from ...operators.ranges import ALL, PRECISIONS, Range, can_convert
from ...passes.sizes.reader import integer
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
    least = 16 if is_float(type) else 1 if type == i1 else 8
    if bits is None or bits < least or not (is_float(type) or is_integer(type)):
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
    type, known = y.type, integer(y)
    if known not in (None, 0, -1):
        return y
    one, zero = b.constant(1, type), b.constant(0, type)
    unsafe = compare(b, "eq", y, zero)
    if not unsigned:
        least = compare(b, "eq", x, b.constant(-(2 ** (width(type) - 1)), type))
        minus = compare(b, "eq", y, b.constant(-1, type))
        overflow = b.insert(arith.AndIOp(least, minus))
        unsafe = b.insert(arith.OrIOp(unsafe, overflow))
    return select(b, unsafe, one, y)


def convert(
    b: Builder, x: SSAValue, source: Attribute, target: Attribute, numbers: Range = ALL
) -> SSAValue:
    """
    Convert the number `x` from the element type `source` to `target`, as `relay.cast` does.

    Both are element types of operators, which tell signed integers from unsigned. If `x` is a
    float, it is in the range `numbers`, or NaN.
    """
    if target == source:
        return x
    for type in (source, target):
        width(type)  # raises for types that are not numbers
    if target == i1:
        zero = b.constant(0, x.type)
        return compare(b, "une" if is_float(source) else "ne", x, zero)
    if is_float(source):
        return (
            _resized_float(b, x, target) if is_float(target) else _truncated(b, x, target, numbers)
        )
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


def _resized_float(b: Builder, x: SSAValue, target: Attribute) -> SSAValue:
    if width(target) == width(x.type):  # f16 and bf16
        return b.insert(arith.TruncFOp(widened(b, x), cast(AnyFloat, target)))
    op = arith.TruncFOp if width(target) < width(x.type) else arith.ExtFOp
    return b.insert(op(x, cast(AnyFloat, target)))


def _truncated(b: Builder, x: SSAValue, target: Attribute, numbers: Range) -> SSAValue:
    """
    Truncate a float to the integer type `target`; saturate at its bounds, and return 0 for NaN.

        %1 = arith.cmpf ogt, %x, %low      %2 = arith.select %1, %x, %low     // NaN: low
        %3 = arith.cmpf olt, %2, %high     %4 = arith.select %3, %2, %high
        %5 = arith.fptosi %4
        %6 = arith.cmpf uno, %x, %x        %7 = arith.select %6, %zero, %5

    The comparisons are in the order of x86's maximum and minimum, one instruction each. Bounds
    that `numbers` are in are not compared with. If the float type lacks the upper bound, the
    numbers above are replaced after the conversion.
    """
    below, above = can_convert(numbers, str(x.type), *integer_range(target))
    x = widened(b, x)
    least, greatest = integer_range(target)
    bits, unsigned = width(target), is_unsigned(target)
    inside = x
    if unsigned or not below:  # 0 is the least unsigned integer: NaN becomes 0, too
        low = b.constant(float(least), x.type)
        inside = select(b, compare(b, "ogt", inside, low), inside, low)
    limit, precision = 2.0 ** (bits if unsigned else bits - 1), PRECISIONS[str(x.type)]
    is_exact = greatest < 2**precision
    if not above:
        high = b.constant(float(greatest) if is_exact else limit - limit * 2.0**-precision, x.type)
        inside = select(b, compare(b, "olt", inside, high), inside, high)
    op = arith.FPToUIOp if unsigned and bits >= 32 else arith.FPToSIOp
    integer = b.insert(op(inside, IntegerType(max(bits, 32))))
    integer = resized(b, integer, IntegerType(bits), unsigned=unsigned)
    if not is_exact:
        overflow = compare(b, "oge", x, b.constant(limit, x.type))
        integer = select(b, overflow, b.constant(greatest, integer.type), integer)
    if unsigned:
        return integer
    return select(b, is_nan(b, x), b.constant(0, integer.type), integer)


def integer_range(type: Attribute) -> tuple[int, int]:
    """Return the least and the greatest integer of an element type."""
    bits = width(type)
    if is_unsigned(type):
        return 0, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
