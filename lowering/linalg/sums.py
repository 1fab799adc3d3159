"""
Sums of products, in the element type of the result: what convolutions and matrix products are.

    contract(b, op, [x, w], [(0, 2), (1, 2)], [m, n], (0, 1), 3)      y[i, j] += x[i, k] * w[j, k]

The factors are converted to the type of the sum first: that of the result, but f32 instead of
narrower floats, which are rounded once, at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.tensors import signless
from ...dialects.type_rules import element_of as type_element
from .builder import Body, Builder, Size, element_of, element_type
from .moving import mapped
from .numbers import Formula, Scalar, number
from .scalars import is_float, is_wide

CONTRACT = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])
"""A product may be fused with the sum that it is added to: one rounding in place of two."""
NO_FLAGS = arith.FastMathFlagsAttr("none")
"""Terms are summed in order, each sum rounded."""
REASSOC = arith.FastMathFlagsAttr([FastMathFlag.REASSOC])
"""Terms may be summed in any order."""


def sum_type(element: Attribute) -> Attribute:
    """Return the type in which elements of type `element` are summed."""
    return f32 if is_float(element) and not is_wide(element) else element


def add(x: Scalar, total: Scalar) -> Scalar:
    """Add terms, in any order."""
    return x.apply("add", total, REASSOC)


def combining(formula: Formula, type: Attribute, *sources: Attribute) -> Body:
    """
    Return a body that computes a number from elements and the result so far, all in `type`.

    The first elements are of the types `sources`, which may be signed or unsigned.
    """
    combine = cast("Callable[..., Scalar]", formula)

    def body(b: Builder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        numbers = [number(b, element, source) for element, source in zip_longest(elements, sources)]
        return [combine(*(x.converted(type_element(type)) for x in numbers)).value]

    return body


def rounded(b: Builder, value: SSAValue, type: Attribute) -> SSAValue:
    """Round the elements of `value` to the narrower `type`, if it differs."""
    return value if element_of(value) == type else mapped(b, value, type, lambda x: x)


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

    def add_product(x: Scalar, w: Scalar, total: Scalar) -> Scalar:
        return total.apply("add", x.apply("multiply", w, CONTRACT), CONTRACT)

    body = combining(add_product, summed, *types)
    out = b.full(sizes, 0, signless(summed))
    (total,) = b.nest(factors, factor_maps, [out], result_map, body, loops)
    return rounded(b, total, signless(result))
