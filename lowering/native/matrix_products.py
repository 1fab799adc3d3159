"""
Products of matrices: loops `(…, m, k) x (k, n)` and `(i, m, k) x (i, k, n)` of f32 and f64.

Each operand may be transposed. The sums start at zero.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import Float32Type, Float64Type, FloatAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from .linalg_generics import maps_of

ELEMENTS = frozenset({Float32Type(), Float64Type()})
"""The types of which products are recognized."""


@dataclass(frozen=True)
class Product:
    """A product of matrices, or of as many pairs of matrices as there are batches."""

    op: linalg.GenericOp
    batches: int
    """The number of leading dims of the result that count pairs."""
    steps: tuple[bool, bool]
    """By operand, true if it has a matrix for each batch, false if one for all."""
    transposed: tuple[bool, bool]
    """By operand, true if it is transposed: (k, m), (n, k)."""


def product_of(op: linalg.GenericOp) -> Product | None:
    """Return the product that `op` computes, if it is one."""
    kinds = [kind.data for kind in op.iterator_types]
    rank = len(kinds) - 1
    maps = maps_of(op)
    if (
        rank < 2
        or kinds != [*[IteratorType.PARALLEL] * rank, IteratorType.REDUCTION]
        or len(maps) != 3
        or list(maps[2].results) != _loops(range(rank))
        or not _starts_at_zero(op)
        or not _adds_products(op)
    ):
        return None
    a, b, _ = maps
    k = rank
    for batches in {0, rank - 2}:
        rows = list(range(batches, rank - 1))
        left = _matrix(a, batches, _loops([*rows, k]), _loops([k, *rows]))
        right = _matrix(b, batches, _loops([k, rank - 1]), _loops([rank - 1, k]))
        if left is None or right is None or (left[1] and len(rows) != 1):
            continue
        return Product(op, batches, (left[0], right[0]), (left[1], right[1]))
    return None


def _matrix(
    map: AffineMap, batches: int, plain: list[AffineExpr], transposed: list[AffineExpr]
) -> tuple[bool, bool] | None:
    """Return whether the operand of `map` has a matrix for each batch, and is transposed."""
    results = list(map.results)
    split = len(results) - len(plain)
    if split < 0 or results[split:] not in (plain, transposed):
        return None
    leading = results[:split]
    if batches and leading == _loops(range(batches)):
        return True, results[split:] != plain
    if all(isinstance(e, AffineConstantExpr) and e.value == 0 for e in leading):
        return False, results[split:] != plain
    return None


def _loops(numbers: range | list[int]) -> list[AffineExpr]:
    return [AffineExpr.dimension(number) for number in numbers]


def _starts_at_zero(op: linalg.GenericOp) -> bool:
    fill = op.outputs[0].owner
    if not isinstance(fill, linalg.FillOp) or filled_empty(op) is None:
        return False
    number = fill.inputs[0].owner
    return (
        isinstance(number, arith.ConstantOp)
        and isinstance(number.value, FloatAttr)
        and number.value.value.data == 0
    )


def filled_empty(op: linalg.GenericOp) -> tensor.EmptyOp | None:
    """Return the tensor that is filled for the sums of `op`."""
    fill = op.outputs[0].owner
    empty = fill.outputs[0].owner if isinstance(fill, linalg.FillOp) else None
    return empty if isinstance(empty, tensor.EmptyOp) else None


def _adds_products(op: linalg.GenericOp) -> bool:
    """Test whether the body of `op` is a sum of products, of one of `ELEMENTS`."""
    block = op.body.block
    types = {argument.type for argument in block.args}
    if len(types) != 1 or not types <= ELEMENTS or len(block.args) != 3:
        return False
    body = [*block.ops]
    if len(body) != 3:
        return False
    times, plus, end = body
    x, y, sum = block.args
    return (
        isinstance(times, arith.MulfOp)
        and isinstance(plus, arith.AddfOp)
        and {times.lhs, times.rhs} == {x, y}
        and {plus.lhs, plus.rhs} == {sum, times.result}
        and list(end.operands) == [plus.result]
    )
