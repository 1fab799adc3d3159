"""Rules of operators that read elements at computed indices, all of them within the operand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import f64, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects import relay
from ....dialects.tensors import is_unsigned
from ..builder import INDEX, Builder, Rule, Size, element_of, element_type, maps
from ..moving import gathered, rank_of, same
from ..scalars import compare, resized, select
from .reduce import count_of, number_of
from .reshape import reshaped


def _within(b: Builder, index: SSAValue, type: Attribute, dim: Size, wraps: bool) -> SSAValue:
    """Return `index`, of element type `type`, clamped to [0, `dim`), or its remainder there."""
    unsigned = is_unsigned(type)
    wide = resized(b, index, i64, unsigned=unsigned)
    extent = number_of(b, b.maximum(dim, 1), i64)
    zero, one = b.constant(0, i64), b.constant(1, i64)
    if not wraps:
        last = b.insert(arith.SubiOp(extent, one))
        if unsigned:
            wide = b.insert(arith.MinUIOp(wide, last))
        else:
            wide = b.insert(arith.MaxSIOp(b.insert(arith.MinSIOp(wide, last)), zero))
    elif unsigned:
        wide = b.insert(arith.RemUIOp(wide, extent))
    else:
        wide = b.insert(arith.RemSIOp(wide, extent))
        raised = b.insert(arith.AddiOp(wide, extent))
        wide = select(b, compare(b, "slt", wide, zero), raised, wide)
    return b.insert(arith.IndexCastOp(wide, INDEX))


def take(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Extract at the index that the operand has there; the indices are read by a map."""
    assert isinstance(op, relay.rearrange.TakeOp)
    data, indices = operands
    wraps, type = op.mode.data == "wrap", element_type(op.indices)
    if op.axis is None:
        axis = shared = 0
        data = reshaped(b, data, [count_of(b, data, range(rank_of(data)))])
    else:
        axis, shared = op.axis.value.data % rank_of(data), op.batch_dims.value.data
        shared = shared + rank_of(indices) if shared < 0 else shared
    dims, rest = b.dims(data), b.dims(indices)[shared:]
    sizes = [*dims[:axis], *rest, *dims[axis + 1 :]]
    rank, inner_end = len(sizes), axis + len(rest)

    def body(inner: Builder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        at = [inner.loop_index(i) for i in range(rank)]
        found = _within(inner, elements[0], type, dims[axis], wraps)
        return [inner.extract(data, [*at[:axis], found, *at[inner_end:]])]

    return b.generic(
        [indices],
        maps(rank, [*range(shared), *range(axis, inner_end)]),
        [b.empty(sizes, element_of(data))],
        maps(rank, same(rank)),
        ["parallel"] * rank,
        body,
    )


def _scaled(b: Builder, size: Size, scale: float) -> Size:
    """Return `size * scale` rounded to the nearest integer, halves to even."""
    if scale.is_integer():
        return b.mul(size, int(scale))
    if isinstance(size, int):
        return round(size * scale)
    product = arith.MulfOp(number_of(b, size, f64), b.constant(scale, f64))
    rounded = b.insert(math.RoundEvenOp(b.insert(product)))
    return b.insert(arith.IndexCastOp(b.insert(arith.FPToSIOp(rounded, i64)), INDEX))


def upsampling(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Extract row floor(r * height / result height) for row r of the result; columns likewise."""
    assert isinstance(op, relay.pooling.UpsamplingOp)
    (x,) = operands
    dims = b.dims(x)
    sizes, scaled = [*dims], [op.layout.data.index("H"), op.layout.data.index("W")]
    for axis, scale in zip(scaled, (op.scale_h, op.scale_w), strict=True):
        sizes[axis] = _scaled(b, dims[axis], scale.value.data)

    def find(inner: Builder, at: Sequence[SSAValue]) -> SSAValue:
        indices: list[Size] = [*at]
        for axis in scaled:
            place = inner.index(inner.mul(at[axis], dims[axis]))
            count = inner.index(inner.maximum(sizes[axis], 1))
            indices[axis] = inner.insert(arith.DivUIOp(place, count))
        return inner.extract(x, indices)

    return [gathered(b, sizes, element_of(x), find)]


RULES: Mapping[str, Rule] = {
    "relay.nn.upsampling": upsampling,
    "relay.take": take,
}
