"""
Sums of products, in the element type of the result: what convolutions and matrix products are.

    contract(b, op, [x, w], [(0, 2), (1, 2)], [m, n], (0, 1), 3)      y[i, j] += x[i, k] * w[j, k]

The factors are converted to the type of the sum first: that of the result, but f32 instead of
narrower floats, which are rounded once, at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.tensors import signless
from .builder import Builder, Size, element_of, element_type
from .moving import mapped
from .scalars import convert, is_float, is_wide, narrowed

CONTRACT = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])
"""A product may be fused with the sum that it is added to: one rounding in place of two."""
NO_FLAGS = arith.FastMathFlagsAttr("none")
"""Terms are summed in order, each sum rounded."""
REASSOC = arith.FastMathFlagsAttr([FastMathFlag.REASSOC])
"""Terms may be summed in any order."""
RECIPROCAL = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_RECIP])
"""A quotient may be a product with the reciprocal, which is computed once for many."""


def sum_type(element: Attribute) -> Attribute:
    """Return the type in which elements of type `element` are summed."""
    return f32 if is_float(element) and not is_wide(element) else element


def add(b: Builder, x: SSAValue, y: SSAValue, flags: arith.FastMathFlagsAttr) -> SSAValue:
    """Add numbers of one type; integers wrap around."""
    if is_float(x.type):
        return b.insert(arith.AddfOp(x, y, flags))
    return b.insert(arith.AddiOp(x, y))


def multiply(b: Builder, x: SSAValue, y: SSAValue, flags: arith.FastMathFlagsAttr) -> SSAValue:
    """Multiply numbers of one type; integers wrap around."""
    if is_float(x.type):
        return b.insert(arith.MulfOp(x, y, flags))
    return b.insert(arith.MuliOp(x, y))


def rounded(b: Builder, value: SSAValue, element: Attribute) -> SSAValue:
    """Round the float tensor `value` to the narrower type `element`, if it differs."""
    if element_of(value) == element:
        return value
    return mapped(b, [value], element, lambda inner, x: narrowed(inner, x[0], element))


def contract(
    b: Builder,
    op: Operation,
    factors: Sequence[SSAValue],
    factor_maps: Sequence[Sequence[AffineExpr | int]],
    sizes: Sequence[Size],
    result_map: Sequence[int],
    loops: int,
) -> SSAValue:
    """
    Sum the products of the two `factors` over the loops that are not in `result_map`.

    `op` is the operator: its first two operands and its result have the element types.
    """
    types = [element_type(operand) for operand in op.operands[:2]]
    result = element_type(op.results[0])
    summed = sum_type(result)

    def body(inner: Builder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        x, w = (
            convert(inner, e, type, summed) for e, type in zip(elements[:2], types, strict=True)
        )
        return [add(inner, elements[2], multiply(inner, x, w, CONTRACT), CONTRACT)]

    out = b.full(sizes, 0, signless(summed))
    (total,) = b.nest(factors, factor_maps, [out], result_map, body, loops)
    return rounded(b, total, signless(result))
