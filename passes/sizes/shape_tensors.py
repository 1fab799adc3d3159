"""
The elements of small integer tensors that operators compute, as sizes.

    %s = relay.shape_of %x                     (n, 12, 64)
    %i = relay.take %s, %0                     (n)
    %j = relay.multiply %i, %2                 (2*n)
    %k = relay.concatenate %j, %c              (2*n, 768)

Operators that only move elements are computed by their kernels, on the numbers of the elements;
arithmetic is that of polynomials. An element is followed as long as it is exact: what may wrap in
an integer narrower than i64 is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import IntegerType, Signedness, i64
from xdsl.ir import Attribute, Operation

from ...dialects.tensors import as_tensor, is_static, tensor_of
from ...operators import ranges
from ...operators.sizes import SizeOp
from ...operators.sizes.algebra import Algebra
from ...operators.sizes.size_expressions import DIM, Dims, Expr
from ...operators.sizes.size_table import CHOOSE
from ...runtime.kernels.loading import load_kernels
from ..analysis.arrays import numpy_dtype
from ..evaluation.kernel_calls import OperatorEvaluator

MOVES: Mapping[str, int | None] = {
    **dict.fromkeys((*ranges.MOVES, "relay.concatenate", "relay.stack", "relay.full")),
    "relay.take": 1,
}
"""The operators that move elements: of how many of their first operands; None: of all."""


CAST = "cast"
"""The operation whose result is its operand."""

ELEMENTWISE: Mapping[str, str] = {
    "relay.cast": CAST,
    "relay.where": CHOOSE,
    "relay.add": SizeOp.ADD,
    "relay.subtract": SizeOp.SUB,
    "relay.multiply": SizeOp.MUL,
    "relay.maximum": SizeOp.MAX,
    "relay.minimum": SizeOp.MIN,
    "relay.divide": "truncdiv",
    "relay.mod": "truncmod",
    "relay.floor_divide": SizeOp.FLOORDIV,
    "relay.floor_mod": SizeOp.MOD,
    "relay.equal": "eq",
    "relay.not_equal": "ne",
    "relay.less": "lt",
    "relay.less_equal": "le",
    "relay.greater": "gt",
    "relay.greater_equal": "ge",
}
"""The operation on each element of the operands, which are broadcast."""

DIVISIONS = ("truncdiv", "truncmod", SizeOp.FLOORDIV, SizeOp.MOD)
"""Operations that are followed if the divisor is a positive constant or the quotient is exact."""

REDUCTIONS: Mapping[str, SizeOp] = {
    "relay.prod": SizeOp.MUL,
    "relay.sum": SizeOp.ADD,
    "relay.max": SizeOp.MAX,
    "relay.min": SizeOp.MIN,
}

MAX_ELEMENTS = 64
"""The maximum length of a tensor whose elements are followed."""


def element_count(type: Attribute) -> int | None:
    """Return the number of elements of a tensor of few integers, else None."""
    tensor = as_tensor(type)
    if tensor is None or not isinstance(tensor.element_type, IntegerType) or not is_static(tensor):
        return None
    count = prod(tensor.get_shape())
    return count if count <= MAX_ELEMENTS else None


def is_exact(size: Expr, type: Attribute) -> bool:
    """
    Test whether `size`, computed in `type`, is that integer.

    A size that is computed is an i64. A dim is a signed integer of 32 bits or more: it is below
    2^31 wherever it is read as one. A constant must be in the range of the type.
    """
    if not isinstance(type, IntegerType):
        return False
    integer = cast("IntegerType[int, Signedness]", type)
    width, signed = integer.width.data, integer.signedness.data is not Signedness.UNSIGNED
    symbol, (least, most) = size.symbol, size.range
    low, bits = (-(2 ** (width - 1)), width - 1) if signed and width > 1 else (0, width)
    if low <= least and most < 2**bits:
        return True
    is_dim = symbol is not None and symbol.kind == DIM
    return size.constant is None and (type == i64 or (signed and width >= 32 and is_dim))


@dataclass
class ShapeTensors:
    """Computes the elements of results; `algebra` creates the symbols."""

    algebra: Algebra

    @cached_property
    def operators(self) -> OperatorEvaluator:
        """Created, with its kernels, when the first element moves."""
        return OperatorEvaluator(load_kernels())

    def elements(self, op: Operation, index: int, operands: Sequence[Dims | None]) -> Dims | None:
        """Return the elements of result `index` of `op`, given those of its operands."""
        known = [dims for dims in operands if dims is not None]
        if len(known) != len(operands):
            return None
        sizes, type = self._computed(op, index, known), tensor_of(op.results[index])
        if sizes is None or op.name in MOVES or op.name == "relay.where":
            return sizes
        return sizes if all(is_exact(size, type.element_type) for size in sizes) else None

    def _computed(self, op: Operation, index: int, operands: list[Dims]) -> Dims | None:
        name, count = op.name, element_count(op.results[index].type)
        if name in ("relay.zeros", "relay.ones"):
            return None if count is None else (Expr.of(int(name == "relay.ones")),) * count
        if name in MOVES:
            return self._moved(op, index, operands, MOVES[name])
        if name in ELEMENTWISE:
            arrays = [
                np.array(dims, object).reshape(tensor_of(operand).get_shape())
                for operand, dims in zip(op.operands, operands, strict=True)
            ]
            shape = tensor_of(op.results[0]).get_shape()
            spread = [np.broadcast_to(array, shape).ravel() for array in arrays]
            groups = zip(*spread, strict=True)
            sizes = [self._element(ELEMENTWISE[name], *group) for group in groups]
            return None if None in sizes else tuple(size for size in sizes if size is not None)
        if name in REDUCTIONS and operands[0] and count == 1:
            return (self.algebra.apply(REDUCTIONS[name], *operands[0]),)
        return None

    def _element(self, op: str, *elements: Expr) -> Expr | None:
        """Return an operation on elements; None if it is not exact."""
        if op == CAST:
            return elements[0]
        if op in DIVISIONS:
            left, right = elements
            divisor = right.constant
            is_quotient = left.quotient(right) is not None if divisor is None else divisor > 0
            if not is_quotient:
                return None
        return self.algebra.apply(op, *elements)

    def _moved(
        self, op: Operation, index: int, operands: list[Dims], count: int | None
    ) -> Dims | None:
        """Apply the kernel to the numbers of the elements."""
        arrays: list[np.ndarray[Any, Any]] = []
        sizes: list[Expr] = []
        for i, (operand, dims) in enumerate(zip(op.operands, operands, strict=True)):
            dtype = numpy_dtype(tensor_of(operand))
            if dtype is None or dtype.itemsize * 8 < 32:
                return None
            numbers: list[int | None] = [*range(len(sizes), len(sizes) + len(dims))]
            if count is None or i < count:
                sizes += dims
            else:
                numbers = [size.constant for size in dims]
                if None in numbers:
                    return None
            arrays.append(np.array(numbers, dtype).reshape(tensor_of(operand).get_shape()))
        moved = self.operators.apply(op, arrays)[index]
        return tuple(sizes[int(number)] for number in moved.ravel())
