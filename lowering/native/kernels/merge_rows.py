"""
Merge the two outer loops of a product where both count rows of one matrix.

    %p = generic %x[b, n, k] * %w[k, j] over (b, n, j, [k])      %c = collapse_shape %x
    %r = generic %p[b, n, j] + %y[j] over (b, n, j)         ->   %p = generic %c[i, k] * %w[k, j]
    materialize_in_destination %r in %out                        %r = generic %p[i, j] + %y[j]

Tiles then have rows of several sequences: of a batch whose sequences have one token each, or of one
sequence, each step of which is a row. Two sizes that are known stay apart, as tiles may have rows
of several lines. At level `memref`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from typing_extensions import override
from xdsl.dialects import bufferization, memref, tensor
from xdsl.dialects.builtin import AffineMapAttr, MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from ...linalg.builder import Builder, element_of, reassociation, tensor_of
from ..kernel_pass import KernelPass
from ..linalg_generics import (
    TRANSPOSING,
    UNTILED,
    buffer_type,
    has_index,
    maps_of,
    ops_of,
    sizes_of,
    store_of,
)
from ..schedules.nests import nest_of

OUTER = {0, 1}
"""The loops that are merged."""


def _axes(map: AffineMap) -> list[int]:
    """Return the axes of an operand of `map` that depend on the loops to merge."""
    return [axis for axis, expr in enumerate(map.results) if OUTER & expr.used_dims()]


def _can_merge(map: AffineMap) -> bool:
    """Test whether the operand of `map` has both loops as two axes side by side, or neither."""
    axes = _axes(map)
    exprs = [map.results[axis] for axis in axes]
    pair = [AffineExpr.dimension(0), AffineExpr.dimension(1)]
    return not axes or (exprs == pair and axes[1] == axes[0] + 1)


def _loops_to_merge(kernel: FuncOp) -> Sequence[linalg.GenericOp]:
    """Return the product of `kernel` and what reads it, if their two outer loops can be one."""
    nest = nest_of(kernel)
    if nest is None or not nest.has_product or nest.panel is not None:
        return ()
    if nest.parallel[:2] != (0, 1) or len(nest.sizes) < 3:
        return ()
    if 1 in nest.sizes[:2] or None not in nest.sizes[:2]:
        return ()
    loops = ops_of(kernel, linalg.GenericOp)
    loops = [op for op in loops if not {TRANSPOSING, UNTILED} & op.attributes.keys()]
    can_merge = all(_can_merge(each) for op in loops for each in maps_of(op))
    return loops if can_merge and not any(map(has_index, loops)) else ()


def _groups(rank: int, axis: int) -> list[list[int]]:
    """Return the axes of a tensor of `rank`, with `axis` and the next one in a group."""
    return [[i, i + 1] if i == axis else [i] for i in range(rank) if i != axis + 1]


def _merged(map: AffineMap) -> AffineMap:
    """Return the map of an operand whose two axes are one, over loops that are."""
    dims = [AffineExpr.dimension(max(loop - 1, 0)) for loop in range(map.num_dims)]
    exprs = (expr for axis, expr in enumerate(map.results) if axis not in _axes(map)[1:])
    return AffineMap(
        map.num_dims - 1, 0, tuple(expr.replace_dims_and_symbols(dims, []) for expr in exprs)
    )


@dataclass
class _Merger:
    """Appends merged loops to `build`."""

    build: Builder = field(default_factory=lambda: Builder(Block()))
    values: dict[tuple[SSAValue, int], SSAValue] = field(default_factory=lambda: {})
    """Tensors in which an axis and the next one are one, by the tensors before and the axis."""

    def operand(self, value: SSAValue, axis: int) -> SSAValue:
        """Return `value`, in which `axis` and the next one are one."""
        if (value, axis) not in self.values:
            self.values[value, axis] = self._operand(value, axis)
        return self.values[value, axis]

    def _operand(self, value: SSAValue, axis: int) -> SSAValue:
        source, build = value.owner, self.build
        if isinstance(source, linalg.FillOp):
            return build.fill(source.inputs[0], self.operand(source.outputs[0], axis))
        if isinstance(source, tensor.EmptyOp):
            sizes = sizes_of(source)
            sizes[axis : axis + 2] = [build.mul(*sizes[axis : axis + 2])]
            return build.empty(sizes, element_of(value))
        return build.collapse(value, _groups(tensor_of(value).get_num_dims(), axis))

    def append(self, op: linalg.GenericOp) -> None:
        """Append `op` over merged loops."""
        self.build.location = op.location
        operands: list[SSAValue] = []
        for value, map in zip(op.operands, maps_of(op), strict=True):
            axes = _axes(map)
            operands.append(self.operand(value, axes[0]) if axes else value)
        *inputs, out = operands
        region = Region(op.body.detach_block(op.body.block))
        maps = [AffineMapAttr(_merged(map)) for map in maps_of(op)]
        kinds = [*op.iterator_types][1:]
        merged = linalg.GenericOp(inputs, [out], region, maps, kinds, [out.type])
        self.values[op.results[0], 0] = self.build.insert(merged)


def _merged_buffer(buffer: SSAValue, type: MemRefType[Attribute]) -> SSAValue:
    """Return `buffer` as `type`, whose first axis is its first two."""
    groups = _groups(type.get_num_dims() + 1, 0)
    op = memref.CollapseShapeOp.create(
        operands=[buffer], result_types=[type], properties={"reassociation": reassociation(groups)}
    )
    owner = buffer.owner
    Rewriter.insert_op(
        op,
        InsertPoint.after(owner) if isinstance(owner, Operation) else InsertPoint.at_start(owner),
    )
    return op.result


def merge_rows(loops: Sequence[linalg.GenericOp]) -> None:
    """Merge the two outer loops of `loops`, of which the last one is stored."""
    store = store_of(loops[-1])
    assert store is not None, "a nest is stored"
    merger = _Merger()
    for op in loops:
        merger.append(op)
    merger.build.location = store.location
    source = merger.values[store.source, 0]
    dest = _merged_buffer(store.dest, buffer_type(source))
    merger.build.insert_all(
        bufferization.MaterializeInDestinationOp.create(
            operands=[source, dest], properties=store.properties.copy()
        )
    )
    Rewriter.inline_block(merger.build.block, InsertPoint.before(store))
    Rewriter.erase_op(store)
    for op in reversed(loops):
        Rewriter.erase_op(op)


@dataclass(frozen=True)
class MergeRowsPass(KernelPass):
    """Merge the outer loops of products that count rows of one matrix."""

    name = "merge-rows"

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        while loops := _loops_to_merge(kernel):
            merge_rows(loops)
