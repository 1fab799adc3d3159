"""
Elements at other places, by ops that elementwise consumers and producers fuse with.

    moved(b, x, [m, n], (1, 0))      y[i, j] = x[j, i]: a `linalg.generic` that copies
    gathered(b, [n], f32, ...)       y[i] = x[any index]: elements extracted at computed indices
    placed(b, x, y, [1])             y with the elements of x from index 1 on
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.tensors import signless
from ...dialects.type_rules import element_of as type_element
from .builder import Builder, Size, element_of, tensor_of
from .numbers import Scalar, number
from .scalars import compare, select


def rank_of(value: SSAValue) -> int:
    return len(tensor_of(value).shape)


def moved(b: Builder, value: SSAValue, sizes: Sequence[Size], loops: Sequence[int]) -> SSAValue:
    """Copy `value` into a new tensor of `sizes`; axis i of it is read at loop `loops[i]`."""
    return _copied_into(b, value, b.empty(sizes, element_of(value)), loops)


def _copied_into(b: Builder, value: SSAValue, out: SSAValue, loops: Sequence[int]) -> SSAValue:
    writes = range(rank_of(out))
    return b.nest([value], [loops], [out], writes, lambda _, elements: elements[:1])[0]


def copied(b: Builder, value: SSAValue) -> SSAValue:
    """Copy `value`, such as a slice, into a new tensor."""
    sizes = b.dims(value)
    return moved(b, value, sizes, range(len(sizes)))


def mapped(
    b: Builder, value: SSAValue, type: Attribute, formula: Callable[[Scalar], Scalar]
) -> SSAValue:
    """
    Compute each element of a new tensor from that of `value` at its place.

    Narrow floats are given to the formula as f32, and its results converted to `type`.
    """
    sizes = b.dims(value)
    every = range(len(sizes))

    def body(inner: Builder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        x = number(inner, elements[0]).widened()
        return [formula(x).converted(type_element(type)).value]

    return b.nest([value], [every], [b.empty(sizes, signless(type))], every, body)[0]


def gathered(
    b: Builder,
    sizes: Sequence[Size],
    element: Attribute,
    find: Callable[[Builder, Sequence[SSAValue]], SSAValue],
) -> SSAValue:
    """Compute each element of a new tensor of `sizes` by `find`, from its index."""
    every = range(len(sizes))

    def body(inner: Builder, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return [find(inner, [inner.loop_index(i) for i in every])]

    return b.nest([], [], [b.empty(sizes, element)], every, body)[0]


def placed(b: Builder, value: SSAValue, into: SSAValue, offsets: Sequence[Size]) -> SSAValue:
    """
    Return `into` with the elements of `value` from `offsets` on, all of them inside.

    The copy is explicit, as one that bufferization inserts for strided memory is a slow call.
    """
    part = b.extract_slice(into, offsets, b.dims(value))
    copy = _copied_into(b, value, part, range(rank_of(value)))
    return b.insert_slice(copy, into, offsets)


def broadcast_size(b: Builder, left: Size, right: Size) -> Size:
    """Return the size that two dims broadcast to: the other one if one of them is 1."""
    if left is right or right == 1:
        return left
    if left == 1 or isinstance(right, int):
        return right
    if isinstance(left, int):
        return left
    is_one = compare(b, "eq", left, b.index(1))
    return select(b, is_one, right, left)


def broadcast_axis(
    b: Builder, value: SSAValue, axis: int, size: Size, loop: int
) -> tuple[SSAValue, AffineExpr]:
    """
    Return `value` and the index of its `axis` in `loop`, which has `size` turns.

    A dim that is 1 is read at index 0. Where only the running program knows whether it is, `value`
    becomes a view that repeats it: the stride is 0 then.
    """
    dim = b.dim(value, axis)
    if dim == 1:
        return value, AffineExpr.constant(0)
    if isinstance(dim, int) or dim is size:
        return value, AffineExpr.dimension(loop)
    is_one = compare(b, "eq", dim, b.index(1))
    sizes = b.dims(value)
    strides: list[Size] = [1] * len(sizes)
    sizes[axis], strides[axis] = size, select(b, is_one, b.index(0), b.index(1))
    view = b.extract_slice(value, [0] * len(sizes), sizes, strides)
    return view, AffineExpr.dimension(loop)


def clamped(b: Builder, index: Size, size: Size) -> Size:
    """Return the index below `size` that is the nearest to `index`."""
    return b.maximum(b.minimum(index, b.sub(size, 1)), 0)


def element_size(b: Builder, sizes: SSAValue, at: Sequence[Size]) -> Size:
    """Return an element of the integer tensor `sizes`."""
    return b.index(b.extract(sizes, at))
