"""
Read the transposed right operand of a product where it is, in the kernel of the product.

    %t = relay.transpose %v {axes = array<i64: 1, 2, 0, 3>}      (n, 1, h, d) -> (1, h, n, d)
    %r = relay.reshape %t                                        (h, n, d)
    %y = relay.nn.batch_matmul %p, %r {transpose_b = false}
    ->
    %r = relay.reshape %v                                        (n, h, d)
    %t = relay.transpose %r {axes = array<i64: 1, 0, 2>, relay.fused}
    %y = relay.nn.batch_matmul %p, %t {transpose_b = false}

If the last dim stays the last, the columns of the product are contiguous, and a kernel that is
compiled reads them in vectors, with another stride from row to row (`fuse-elementwise`). If the
last dim is the one that is summed, such as of keys (h, n, d) -> (h, d, n), and the columns are
open, the kernel transposes the columns of each tile in a buffer on the stack. So neither the keys
nor the values of attention are copied. Reshapes that only remove dims of 1 may be between the two.
`fuse-ops` puts what is marked `relay.fused` into the kernel of its only user. Level `relay`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, UnitAttr
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects.device import device_of, tensor_type
from ..dialects.relay.matmul import BatchMatmulOp
from ..dialects.relay.properties import ints
from ..dialects.relay.rearrange import TransposeOp
from ..dialects.relay.reshape import ReshapeOp
from ..dialects.tensors import Tensor, as_tensor, tensor_of
from .analysis.fusion import FUSED
from .support.changes import ReportingPass
from .support.operator_steps import OperatorSteps
from .support.rewriting import apply_patterns, erase_unused

DEPTHS = range(16, 129, 16)
"""The sums for which a kernel transposes tiles as fast as another one all columns."""

ALIGNED = 32
"""The number of known columns is a multiple of this: then they are in whole tiles."""


def transposition_of(operand: SSAValue) -> TransposeOp | None:
    """Return the transposition that `operand` is, but for dims of 1."""
    value, type = operand, as_tensor(operand.type)
    while isinstance(value.owner, ReshapeOp):
        value = value.owner.data
    turned, before = value.owner, as_tensor(value.type)
    if not isinstance(turned, TransposeOp) or type is None or before is None:
        return None
    if turned.permutation is None or not operand.has_one_use():
        return None
    return turned if long_dims(type) == long_dims(before) else None


def long_dims(type: Tensor) -> list[int]:
    return [dim for dim in type.get_shape() if dim != 1]


def has_panels(shape: Sequence[int]) -> bool:
    """Test whether the columns of (h, d, n) are open or in whole tiles, and d is in `DEPTHS`."""
    *_, depth, columns = shape
    return depth in DEPTHS and (columns == DYNAMIC_INDEX or columns % ALIGNED == 0)


class ReadTransposed(RewritePattern):
    """Let a product of batches read its right operand as it is before it is transposed."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BatchMatmulOp, rewriter: PatternRewriter, /) -> None:
        type, turned = as_tensor(op.y.type), transposition_of(op.y)
        if type is None or turned is None or op.transpose_b.value.data:
            return
        source, axes = tensor_of(turned.data), turned.permutation
        assert axes is not None
        shape = source.get_shape()
        kept = [axis for axis in axes if shape[axis] != 1]
        inside = sorted(kept)
        if len(kept) != 3 or 1 in type.get_shape() or kept == inside:
            return
        if kept[-1] != inside[-1] and not (kept[1] == inside[-1] and has_panels(type.get_shape())):
            return
        dims = [shape[axis] for axis in inside]
        if dims.count(DYNAMIC_INDEX) > 1:
            return
        steps, value = OperatorSteps(), turned.data
        if len(shape) != 3:
            entries = [-1 if dim == DYNAMIC_INDEX else dim for dim in dims]
            shorter = tensor_type(source.element_type, dims, device_of(source))
            value = steps.add(ReshapeOp.to(value, entries, shorter))
        transposed = TransposeOp.create(
            operands=[value],
            result_types=[type],
            properties={"axes": ints([inside.index(axis) for axis in kept])},
            attributes={FUSED: UnitAttr()},
        )
        transposed.result.name_hint = op.y.name_hint
        product = BatchMatmulOp.create(
            operands=[op.x, steps.add(transposed)],
            result_types=op.result_types,
            properties=op.properties.copy(),
        )
        rewriter.replace(op, [*steps.ops, product])


class ReadTransposedPass(ReportingPass):
    """Read the transposed right operand of a product where it is."""

    name = "read-transposed"
    accepts = "relay"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        if not apply_patterns(op, ReadTransposed()):
            return False
        moved = (o for o in op.walk() if isinstance(o, TransposeOp | ReshapeOp))
        erase_unused(moved)
        return True
