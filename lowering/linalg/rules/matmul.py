"""Rules of matrix products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects import relay
from ..builder import Builder, Rule
from ..moving import broadcast_axis, broadcast_size
from ..sums import contract


def dense(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Loops (rows …, units, [k])."""
    data, weight = operands
    *rows, _ = b.dims(data)
    last = len(rows)
    in_maps = (*range(last), last + 1), (last, last + 1)
    sizes = [*rows, b.dim(weight, 0)]
    return [contract(b, op, operands, in_maps, sizes, range(last + 1), last + 2)]


def packed_dense(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Loops (rows …, panel, column, [k])."""
    data, panels = operands
    *rows, _ = b.dims(data)
    last = len(rows)
    in_maps = (*range(last), last + 2), (last, last + 2, last + 1)
    sizes = [*rows, b.dim(panels, 0), b.dim(panels, 2)]
    y = contract(b, op, operands, in_maps, sizes, range(last + 2), last + 3)
    return [b.collapse(y, [*([i] for i in range(last)), [last, last + 1]])]


def matmul(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Loops (…, n, m, [k])."""
    assert isinstance(op, relay.matmul.MatmulOp)
    sizes = b.dims(operands[0])
    *batch, n, m, k = range(len(sizes) + 1)
    left = (k, n) if op.transpose_a.value.data else (*batch, n, k)
    right = (m, k) if op.transpose_b.value.data else (k, m)
    sizes = [*(sizes[left.index(i)] for i in (*batch, n)), b.dim(operands[1], right.index(m))]
    return [contract(b, op, operands, (left, right), sizes, (*batch, n, m), k + 1)]


def batch_matmul(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Loops (batch, n, m, [k])."""
    assert isinstance(op, relay.matmul.BatchMatmulOp)
    batch, n, m, k = 0, 1, 2, 3
    x, y = operands
    count = broadcast_size(b, b.dim(x, 0), b.dim(y, 0))
    left = (batch, k, n) if op.transpose_a.value.data else (batch, n, k)
    right = (batch, m, k) if op.transpose_b.value.data else (batch, k, m)
    sizes = [count, b.dim(x, left.index(n)), b.dim(y, right.index(m))]
    factors: list[SSAValue] = []
    factor_maps: list[Sequence[AffineExpr | int]] = []
    for factor, axes in ((x, left), (y, right)):
        value, loop = broadcast_axis(b, factor, 0, count, batch)
        factors.append(value)
        factor_maps.append((loop, *axes[1:]))
    return [contract(b, op, factors, factor_maps, sizes, (batch, n, m), 4)]


RULES: Mapping[str, Rule] = {
    "relay.nn.batch_matmul": batch_matmul,
    "relay.nn.dense": dense,
    "relay.nn.matmul": matmul,
    "relay.nn.packed_dense": packed_dense,
}
