"""
Append linalg on tensors to a block.

    b = Builder(block)
    sum = b.generic([x, y], [same, same], [b.empty(b.dims(x), f32)], [same], ["parallel"], add)

Types are those of the upstream dialects (see `dialects.device.upstream_type`). A size is an `int`,
or a value of type index where it is known at run time only; arithmetic on sizes that are integers
is done at once. Dims are asked for once: `dim` returns the same value for equal dims, so that
values compare as sizes do.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from math import copysign, inf, prod
from typing import TypeAlias, cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    UNKNOWN_LOC,
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    i64,
)
from xdsl.dialects.linalg import ops
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ...dialects.dense import integer
from ...dialects.device import tensor_type, upstream_type
from ...dialects.tensors import Tensor, as_tensor

Size: TypeAlias = int | SSAValue
"""A static size, or a value of type index."""

Sizes: TypeAlias = MutableMapping[tuple[SSAValue, int], SSAValue]
"""The dims of a tensor by axis, or the sums of a size and constants."""

Body: TypeAlias = "Callable[[Builder, Sequence[SSAValue]], Sequence[SSAValue]]"
"""Builds the body of a region from its block arguments; returns what it yields."""

INDEX = IndexType()


Rule: TypeAlias = "Callable[[Builder, Operation, Sequence[SSAValue]], Sequence[SSAValue]]"
"""
Appends to the builder what computes the results of an op from operands, and returns them.

The op has its original operands, whose types tell signed integers from unsigned.
"""


class Unsupported(Exception):
    """A rule does not cover this op; the message says which part of it."""


def element_type(value: SSAValue) -> Attribute:
    """Return the element type of an operand or result of an op as it is, signed or unsigned."""
    type = as_tensor(value.type)
    assert type is not None, f"{value.type} is not a ranked tensor"
    return type.element_type


def tensor_of(value: SSAValue) -> Tensor:
    """Return the upstream type of `value`, a ranked tensor."""
    type = as_tensor(upstream_type(value.type))
    assert type is not None, f"{value.type} is not a ranked tensor"
    return type


def element_of(value: SSAValue) -> Attribute:
    """Return the element type of the tensor `value`."""
    return tensor_of(value).element_type


def static_dims(sizes: Sequence[Size]) -> list[int]:
    """Return the dims of a tensor of these sizes, as its type has them."""
    return [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]


def maps(rank: int, *results: Sequence[AffineExpr | int]) -> list[AffineMap]:
    """
    Return an indexing map over `rank` loops for each of `results`.

    An integer in them is a loop: `maps(2, (0, 1), (1, 0))` is the identity, then a transposition.
    """
    return [
        AffineMap(rank, 0, tuple(AffineExpr.dimension(r) if isinstance(r, int) else r for r in row))
        for row in results
    ]


class Builder:
    """Appends ops to `block`, with `location`."""

    def __init__(self, block: Block, parent: Builder | None = None):
        self.block = block
        self.location: LocationAttr = UNKNOWN_LOC if parent is None else parent.location
        self._constants: dict[tuple[object, Attribute], SSAValue] = {}
        self._dims: Sizes = {} if parent is None else ChainMap({}, parent._dims)
        self._sums: Sizes = {} if parent is None else ChainMap({}, parent._sums)

    def insert(self, op: Operation) -> SSAValue:
        """Append `op` and return its first result."""
        self.insert_all(op)
        return op.results[0]

    def insert_all(self, op: Operation) -> Sequence[SSAValue]:
        """Append `op` and return its results."""
        op.location = self.location
        self.block.add_op(op)
        return op.results

    def constant(self, value: float, type: Attribute) -> SSAValue:
        """Return the number `value` of `type`: signless integer, index or float."""
        key = (value if value == value and value else str(value), type)
        constant = self._constants.get(key)
        if constant is None:
            attr = _number(value, type)
            constant = self._constants[key] = self.insert(
                arith.ConstantOp.create(result_types=(type,), properties={"value": attr})
            )
        return constant

    def index(self, size: Size) -> SSAValue:
        """Return a size, or another integer, as a value of type index."""
        if isinstance(size, int):
            return self.constant(size, INDEX)
        if size.type == INDEX:
            return size
        if isinstance(cast := size.owner, arith.IndexCastOp):
            return cast.input
        return self.insert(arith.IndexCastOp(size, INDEX))

    def dim(self, value: SSAValue, axis: int) -> Size:
        """Return a dim of the tensor `value`."""
        size = tensor_of(value).get_shape()[axis]
        if size != DYNAMIC_INDEX:
            return size
        dim = self._dims.get((value, axis))
        if dim is None:
            dim = self.insert(tensor.DimOp(value, self.constant(axis, INDEX)))
            self._dims[value, axis] = dim
        return dim

    def dims(self, value: SSAValue) -> list[Size]:
        """Return the dims of the tensor `value`."""
        return [self.dim(value, axis) for axis in range(len(tensor_of(value).shape))]

    def has_dims(self, value: SSAValue, sizes: Sequence[Size]) -> SSAValue:
        """Record that the tensor `value` has these dims, and return it."""
        for axis, size in enumerate(sizes):
            self.has_dim(value, axis, size)
        return value

    def has_dim(self, value: SSAValue, axis: int, size: Size) -> None:
        """Record a dim of the tensor `value`."""
        if not isinstance(size, int):
            self._dims[value, axis] = size

    def add(self, a: Size, b: Size) -> Size:
        """Return `a + b`."""
        if isinstance(a, int):
            return a + b if isinstance(b, int) else self._moved(b, a)
        return self._moved(a, b) if isinstance(b, int) else self.insert(arith.AddiOp(a, b))

    def _moved(self, size: SSAValue, by: int) -> SSAValue:
        """Return `size + by`, where constants that `size` is the sum with are added to `by`."""
        while isinstance(op := size.owner, arith.AddiOp | arith.SubiOp):
            if (number := integer(op.rhs)) is None:
                break
            size, by = op.lhs, by + (number if isinstance(op, arith.AddiOp) else -number)
        if by == 0:
            return size
        if (size, by) not in self._sums:
            kind = arith.AddiOp if by > 0 else arith.SubiOp
            self._sums[size, by] = self.insert(kind(size, self.index(abs(by))))
        return self._sums[size, by]

    def sub(self, a: Size, b: Size) -> Size:
        """Return `a - b`."""
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return a if b == 0 else self.insert(arith.SubiOp(self.index(a), self.index(b)))

    def mul(self, a: Size, b: Size) -> Size:
        """Return `a * b`."""
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if 1 in (a, b):
            return b if a == 1 else a
        return self.insert(arith.MuliOp(self.index(a), self.index(b)))

    def floordiv(self, a: Size, b: int) -> Size:
        """Return `a / b` rounded down, for a positive `b`."""
        if isinstance(a, int):
            return a // b
        return a if b == 1 else self.insert(arith.FloorDivSIOp(a, self.index(b)))

    def minimum(self, a: Size, b: Size) -> Size:
        """Return the lesser of `a` and `b`."""
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b)
        return a if a is b else self.insert(arith.MinSIOp(self.index(a), self.index(b)))

    def maximum(self, a: Size, b: Size) -> Size:
        """Return the greater of `a` and `b`."""
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b)
        return a if a is b else self.insert(arith.MaxSIOp(self.index(a), self.index(b)))

    # ---------------------------------------------------------------- tensors

    def empty(self, sizes: Sequence[Size], element: Attribute) -> SSAValue:
        """Return a new tensor of these dims, of unspecified contents."""
        dynamic = [size for size in sizes if not isinstance(size, int)]
        type = tensor_type(element, static_dims(sizes))
        return self.has_dims(self.insert(tensor.EmptyOp(dynamic, type)), sizes)

    def fill(self, number: SSAValue, out: SSAValue) -> SSAValue:
        """Return `out` with all elements set to the scalar `number`."""
        filled = self.insert(ops.FillOp([number], [out], [out.type]))
        return self.has_dims(filled, self.dims(out))

    def full(self, sizes: Sequence[Size], number: float, element: Attribute) -> SSAValue:
        """Return a new tensor of these dims, filled with `number`."""
        return self.fill(self.constant(number, element), self.empty(sizes, element))

    def generic(
        self,
        ins: Sequence[SSAValue],
        in_maps: Iterable[AffineMap],
        outs: Sequence[SSAValue],
        out_maps: Sequence[AffineMap],
        kinds: Sequence[str],
        body: Body,
    ) -> Sequence[SSAValue]:
        """
        Return the results of a `linalg.generic` on tensors, one for each of `outs`.

        `kinds` are "parallel" or "reduction", one for each loop. `body` gets an element of each of
        `ins`, then of each of `outs`; what it appends to `ins`, with a map, is read, too.
        """
        inside = Block(arg_types=[element_of(value) for value in (*ins, *outs)])
        inner = Builder(inside, self)
        inner.insert_all(ops.YieldOp(*body(inner, inside.args)))
        iterators = [IteratorTypeAttr(IteratorType(kind)) for kind in kinds]
        op = ops.GenericOp(
            ins,
            outs,
            Region(inside),
            ArrayAttr(AffineMapAttr(m) for m in (*in_maps, *out_maps)),
            ArrayAttr(iterators),
            [out.type for out in outs],
        )
        results = self.insert_all(op)
        return [
            self.has_dims(result, self.dims(out)) for result, out in zip(results, outs, strict=True)
        ]

    def nest(
        self,
        ins: Sequence[SSAValue],
        reads: Sequence[Sequence[AffineExpr | int]],
        outs: Sequence[SSAValue],
        writes: Sequence[int],
        body: Body,
        loops: int | None = None,
    ) -> Sequence[SSAValue]:
        """
        Return the results of a `linalg.generic` on tensors, one for each of `outs`.

        Their axes are the loops `writes`, which are parallel; `reads` has those of each of `ins`.
        There are as many `loops`, by default those of the results alone.
        """
        count = len(writes) if loops is None else loops
        kinds = ["parallel" if loop in writes else "reduction" for loop in range(count)]
        in_maps = (read for row in reads for read in maps(count, row))
        return self.generic(ins, in_maps, outs, maps(count, *[writes] * len(outs)), kinds, body)

    def loop_index(self, loop: int) -> SSAValue:
        """Return the index of a loop, in the body of a `linalg.generic`."""
        return self.insert(ops.IndexOp(loop))

    def extract(self, value: SSAValue, indices: Sequence[Size]) -> SSAValue:
        """Return one element of the tensor `value`; the indices must be within its dims."""
        at = [self.index(i) for i in indices]
        return self.insert(tensor.ExtractOp(value, at, element_of(value)))

    def cast(self, value: SSAValue, type: Tensor) -> SSAValue:
        """Return the tensor `value` as `type`, which differs in which dims are static."""
        if tensor_of(value) == type:
            return value
        sizes = self.dims(value)
        return self.has_dims(self.insert(tensor.CastOp(value, type)), sizes)

    def pad(
        self, value: SSAValue, low: Sequence[Size], high: Sequence[Size], number: SSAValue
    ) -> SSAValue:
        """Return the tensor `value` with `low` and `high` slices of `number` added to each axis."""
        if all(size == 0 for size in (*low, *high)):
            return value
        inside = Block(arg_types=[INDEX] * len(low))
        Builder(inside, self).insert_all(tensor.YieldOp(number))
        sizes = [
            self.add(self.add(dim, before), after)
            for dim, before, after in zip(self.dims(value), low, high, strict=True)
        ]
        if 0 in self.dims(value):  # upstream, nothing can be put into an axis of 0
            return self.fill(number, self.empty(sizes, element_of(value)))
        padded = self.insert(
            tensor.PadOp(
                value,
                [size for size in low if not isinstance(size, int)],
                [size for size in high if not isinstance(size, int)],
                Region(inside),
                static_dims(low),
                static_dims(high),
                tensor_type(element_of(value), static_dims(sizes)),
            )
        )
        return self.has_dims(padded, sizes)

    def extract_slice(
        self,
        value: SSAValue,
        offsets: Sequence[Size],
        sizes: Sequence[Size],
        strides: Sequence[Size] | None = None,
    ) -> SSAValue:
        """Return the slice of these offsets, sizes and strides, which must be inside `value`."""
        if 0 in (*sizes, *self.dims(value)):  # upstream, no offset is inside an axis of 0
            return self.empty(sizes, element_of(value))
        type = tensor_type(element_of(value), static_dims(sizes))
        strides = [1] * len(sizes) if strides is None else strides
        op = tensor.ExtractSliceOp(value, offsets, sizes, strides, type)
        return self.has_dims(self.insert(op), sizes)

    def insert_slice(self, value: SSAValue, into: SSAValue, offsets: Sequence[Size]) -> SSAValue:
        """Return the tensor `into` with `value` at these offsets, all of it inside."""
        sizes = self.dims(value)
        if 0 in (*sizes, *self.dims(into)):
            return into

        def parts(values: Sequence[Size]) -> tuple[DenseArrayBase, list[SSAValue]]:
            dynamic = [v for v in values if not isinstance(v, int)]
            return DenseArrayBase.from_list(i64, static_dims(values)), dynamic

        (at, offsets_), (size, sizes_), (stride, strides_) = map(
            parts, (offsets, sizes, [1] * len(sizes))
        )
        op = tensor.InsertSliceOp.build(
            operands=[value, into, offsets_, sizes_, strides_],
            result_types=[into.type],
            properties={"static_offsets": at, "static_sizes": size, "static_strides": stride},
        )
        return self.has_dims(self.insert(op), self.dims(into))

    def collapse(self, value: SSAValue, groups: Sequence[Sequence[int]]) -> SSAValue:
        """Return `value` with each group of adjacent axes made one; the groups cover all axes."""
        dims = self.dims(value)
        if len(groups) == len(dims):
            return value
        if not groups:
            value = self.cast(value, tensor_type(element_of(value), [1] * len(dims)))
        sizes: list[Size] = []
        for group in groups:
            size: Size = 1
            for axis in group:
                size = self.mul(size, dims[axis])
            sizes.append(size)
        op = tensor.CollapseShapeOp.create(
            operands=[value],
            result_types=[tensor_type(element_of(value), static_dims(sizes))],
            properties={"reassociation": reassociation(groups)},
        )
        return self.has_dims(self.insert(op), sizes)

    def expand(
        self, value: SSAValue, groups: Sequence[Sequence[int]], sizes: Sequence[Size]
    ) -> SSAValue:
        """
        Return `value` with axis i made the axes `groups[i]`, of these `sizes`, in the same order.

        The product of a group's sizes must be the dim.
        """
        if len(groups) == len(sizes):
            return value
        if not groups:  # xDSL cannot expand a scalar
            out = self.empty(sizes, element_of(value))
            return self.nest([value], [()], [out], range(len(sizes)), lambda _, x: x[:1])[0]
        value, sizes = self._expandable(value, groups, sizes)
        op = tensor.ExpandShapeOp.build(
            operands=[value, [size for size in sizes if not isinstance(size, int)]],
            result_types=[tensor_type(element_of(value), static_dims(sizes))],
            properties={
                "reassociation": reassociation(groups),
                "static_output_shape": DenseArrayBase.from_list(i64, static_dims(sizes)),
            },
        )
        return self.has_dims(self.insert(op), sizes)

    def _expandable(
        self, value: SSAValue, groups: Sequence[Sequence[int]], sizes: Sequence[Size]
    ) -> tuple[SSAValue, list[Size]]:
        """Let a dim be static if and only if the sizes that it is expanded to are."""
        dims, sizes = self.dims(value), list(sizes)
        for i, group in enumerate(groups):
            dynamic = [axis for axis in group if not isinstance(sizes[axis], int)]
            known = prod(size for axis in group if isinstance(size := sizes[axis], int))
            dim = dims[i]
            if not dynamic:
                dims[i] = known
            elif isinstance(dim, int) and len(dynamic) == 1 and known:
                sizes[dynamic[0]] = dim // known
            else:
                dims[i] = self.index(dim)
        type = tensor_type(element_of(value), static_dims(dims))
        return self.cast(value, type), sizes


def _number(value: float, type: Attribute) -> Attribute:
    if isinstance(type, AnyFloat):
        try:
            return FloatAttr(value, type)
        except OverflowError:  # rounds to an infinity
            return FloatAttr(copysign(inf, value), type)
    assert isinstance(type, IntegerType | IndexType)
    return IntegerAttr(int(value), cast(IntegerType, type), truncate_bits=True)


def reassociation(groups: Sequence[Sequence[int]]) -> Attribute:
    """Return the attribute for groups of dims that are collapsed, or expanded."""
    return ArrayAttr(ArrayAttr(IntegerAttr(axis, i64) for axis in group) for group in groups)
