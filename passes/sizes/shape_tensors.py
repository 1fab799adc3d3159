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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import IntegerType, Signedness, i64
from xdsl.ir import Attribute, Operation

from ...dialects.tensors import as_tensor, is_static
from ...operators.sizes import SizeOp
from ...operators.sizes.algebra import Algebra
from ...operators.sizes.size_expressions import Dims, Expr
from ...operators.sizes.size_table import CHOOSE
from ...runtime.kernels.loading import load_kernels
from ..analysis.arrays import numpy_dtype
from ..evaluation.kernel_calls import OperatorEvaluator

Element: TypeAlias = Callable[..., Expr | None]
"""An operation on elements, given an algebra and these; None if it is not exact."""

MOVES: Mapping[str, int | None] = {
    "relay.concatenate": None,
    "relay.copy": None,
    "relay.expand_dims": None,
    "relay.reshape": None,
    "relay.reverse": None,
    "relay.repeat": None,
    "relay.broadcast_to": None,
    "relay.split": None,
    "relay.squeeze": None,
    "relay.stack": None,
    "relay.strided_slice": None,
    "relay.tile": None,
    "relay.transpose": None,
    "relay.take": 1,
    "relay.full": None,
}
"""The operators whose results are elements of their operands: of the first so many, or of all."""


def _by(op: str) -> Element:
    def element(algebra: Algebra, *elements: Expr) -> Expr:
        return algebra.apply(op, *elements)

    return element


def _same(algebra: Algebra, element: Expr) -> Expr:
    return element


def _division(compute: Element) -> Element:
    """Return `compute` where the divisor is a positive constant or the quotient is exact."""

    def divide(algebra: Algebra, left: Expr, right: Expr) -> Expr | None:
        divisor = right.constant
        if divisor is not None and divisor > 0:
            return compute(algebra, left, right)
        exact = right.constant is None and left.quotient(right) is not None
        return compute(algebra, left, right) if exact else None

    return divide


ELEMENTWISE: Mapping[str, Element] = {
    "relay.cast": _same,
    "relay.where": _by(CHOOSE),
    "relay.add": _by(SizeOp.ADD),
    "relay.subtract": _by(SizeOp.SUB),
    "relay.multiply": _by(SizeOp.MUL),
    "relay.maximum": _by(SizeOp.MAX),
    "relay.minimum": _by(SizeOp.MIN),
    "relay.divide": _division(_by("truncdiv")),
    "relay.mod": _division(_by("truncmod")),
    "relay.floor_divide": _division(_by(SizeOp.FLOORDIV)),
    "relay.floor_mod": _division(_by(SizeOp.MOD)),
    "relay.equal": _by("eq"),
    "relay.not_equal": _by("ne"),
    "relay.less": _by("lt"),
    "relay.less_equal": _by("le"),
    "relay.greater": _by("gt"),
    "relay.greater_equal": _by("ge"),
}
"""The element of the result for each element of the operands, which are broadcast."""

REDUCTIONS: Mapping[str, SizeOp] = {
    "relay.prod": SizeOp.MUL,
    "relay.sum": SizeOp.ADD,
    "relay.max": SizeOp.MAX,
    "relay.min": SizeOp.MIN,
}

FOLLOWED = {*MOVES, *ELEMENTWISE, *REDUCTIONS}
"""The operators whose results may be known."""


MAX_ELEMENTS = 64
"""The maximum length of a tensor whose elements are followed."""


def element_count(type: Attribute) -> int | None:
    """Return the number of elements of a tensor of few integers, else None."""
    found = as_tensor(type)
    if found is None or not isinstance(found.element_type, IntegerType) or not is_static(found):
        return None
    count = prod(found.get_shape())
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
    is_dim = symbol is not None and symbol.kind == "dim"
    return size.constant is None and (type == i64 or (signed and width >= 32 and is_dim))


@dataclass
class ShapeTensors:
    """Computes the elements of results; `algebra` creates the symbols."""

    algebra: Algebra

    @cached_property
    def operators(self) -> OperatorEvaluator:
        """Created, and kernels loaded, when the first element moves."""
        return OperatorEvaluator(load_kernels())

    def elements(self, op: Operation, index: int, operands: Sequence[Dims | None]) -> Dims | None:
        """Return the elements of result `index` of `op`, given those of its operands."""
        known = [dims for dims in operands if dims is not None]
        if len(known) != len(operands):
            return None
        found, type = self._computed(op, index, known), as_tensor(op.results[index].type)
        assert type is not None
        if found is None or op.name in MOVES or op.name == "relay.where":
            return found
        return found if all(is_exact(size, type.element_type) for size in found) else None

    def _computed(self, op: Operation, index: int, operands: list[Dims]) -> Dims | None:
        name = op.name
        if name in ("relay.zeros", "relay.ones"):
            value, count = Expr.of(int(name == "relay.ones")), element_count(op.results[0].type)
            return None if count is None else (value,) * count
        if name in MOVES:
            return self._moved(op, index, operands, MOVES[name])
        if name in ELEMENTWISE:
            groups = zip(*self._broadcast(op, operands), strict=True)
            computed = [ELEMENTWISE[name](self.algebra, *group) for group in groups]
            found = [size for size in computed if size is not None]
            return tuple(found) if len(found) == len(computed) else None
        if name in REDUCTIONS and operands[0] and element_count(op.results[0].type) == 1:
            return (self.algebra.apply(REDUCTIONS[name], *operands[0]),)
        return None

    def _moved(
        self, op: Operation, index: int, operands: list[Dims], count: int | None
    ) -> Dims | None:
        """Apply the kernel to the numbers of the elements."""
        types = [as_tensor(operand.type) for operand in op.operands]
        arrays: list[np.ndarray[Any, Any]] = []
        sizes: list[Expr] = []
        for i, (type, dims) in enumerate(zip(types, operands, strict=True)):
            assert type is not None
            dtype = numpy_dtype(type)
            if dtype is None or dtype.itemsize * 8 < 32:
                return None
            if count is None or i < count:
                numbers = range(len(sizes), len(sizes) + len(dims))
                sizes += dims
            else:
                known = [size.constant for size in dims]
                if None in known:
                    return None
                numbers = known
            arrays.append(np.array(numbers, dtype).reshape(type.get_shape()))
        moved = self.operators.apply(op, arrays)[index]
        return tuple(sizes[int(number)] for number in moved.ravel())

    def _broadcast(self, op: Operation, operands: list[Dims]) -> list[list[Expr]]:
        """Return the elements of each operand, broadcast to the result."""
        result = as_tensor(op.results[0].type)
        assert result is not None
        found: list[list[Expr]] = []
        for operand, dims in zip(op.operands, operands, strict=True):
            type = as_tensor(operand.type)
            assert type is not None
            numbers = np.arange(len(dims)).reshape(type.get_shape())
            spread = np.broadcast_to(numbers, result.get_shape())
            found.append([dims[int(number)] for number in spread.ravel()])
        return found
