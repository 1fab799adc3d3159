"""
Compute a kernel of several loops row by row, so that what lies between its loops is one row.

    %m = generic max (%x along j)                     %m, %s = alloc() : memref<f32>
    %e = generic exp (%x[i, j] - %m[i])               for i {
    %s = generic sum (%e along j)               ->      generic %m = max (row i of %x)
    %r = generic %e[i, j] / %s[i]                       generic (row i of %out) = exp (… - %m),
    materialize_in_destination %r in %out                       %s = sum of these
                                                        generic (row i of %out) = … / %s
                                                      }

The loops that come before the first reduction, of all of them, are those over rows. A sum is
computed with the elements that the loop before it writes. Loops compute in the row of the result
where that is safe: the result may lie over an operand of the kernel that is as large, so no operand
of that size may be read after the first write. Kernels whose reduction a schedule tiles stay as
they are, and those that read other rows of what they compute. At level `memref`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import cast

from typing_extensions import override
from xdsl.dialects import arith, bufferization, memref, scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, MemRefType, NoneAttr, StridedLayoutAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.tensors import Tensor, bits_of, has_dynamic
from ...linalg.builder import INDEX, Builder, Size, element_of, static_dims, tensor_of
from ..kernel_pass import KernelPass
from ..linalg_generics import (
    TRANSPOSING,
    UNTILED,
    buffer_of,
    compute_together,
    is_elementwise,
    is_identity,
    is_parallel,
    is_pointwise,
    maps_of,
    ops_of,
    parallel_loops,
    product_of,
    sizes_of,
    store_of,
)
from ..schedules.nests import RESHAPES, nest_of
from ..toolchain.stages import STACK


@dataclass(frozen=True)
class Rows:
    """The loops of a kernel, each over the rows of its result."""

    loops: Sequence[linalg.GenericOp]
    store: bufferization.MaterializeInDestinationOp
    count: int
    """The number of loops over rows, which come first in each."""

    def axes(self, map: AffineMap) -> dict[int, int]:
        """Return the axes of an operand of `map` along which rows lie, each with the loop."""
        return {
            axis: expr.position
            for axis, expr in enumerate(map.results)
            if isinstance(expr, AffineDimExpr) and expr.position < self.count
        }

    def are_rows(self) -> bool:
        """Test whether each loop reads no other row than that which it computes."""
        written: dict[SSAValue, Mapping[int, int]] = {}
        for op in self.loops:
            *read, out = maps_of(op)
            if any(use.operation not in (*self.loops, self.store) for use in op.results[0].uses):
                return False
            for operand, map in zip((*op.inputs, *op.results), (*read, out), strict=True):
                axes = self.axes(map)
                others = (e for i, e in enumerate(map.results) if i not in axes)
                if any(dim < self.count for expr in others for dim in expr.used_dims()):
                    return False
                if operand in op.results:
                    written[operand] = axes
                elif written.get(operand, axes) != axes or not _is_readable(operand, axes):
                    return False
        return True


def _is_readable(operand: SSAValue, axes: Mapping[int, int]) -> bool:
    """
    Test whether `operand` is computed by a loop, or in a buffer whose elements are in order, or a
    constant that has no rows.
    """
    owner = operand.owner
    if isinstance(owner, arith.ConstantOp):
        return not axes
    if isinstance(owner, bufferization.ToTensorOp):
        type = owner.memref.type
        return isinstance(type, MemRefType) and isinstance(type.layout, NoneAttr)
    return isinstance(owner, linalg.GenericOp)


def _outer_loops(op: linalg.GenericOp) -> int:
    """Return the number of loops of `op` before those that reduce."""
    kinds = [kind.data for kind in op.iterator_types]
    return kinds.index(IteratorType.REDUCTION) if IteratorType.REDUCTION in kinds else len(kinds)


def rows_of(kernel: FuncOp) -> Rows | None:
    """Return the loops of `kernel`, if they compute the rows of its result one by one."""
    loops = ops_of(kernel, linalg.GenericOp)
    stores = ops_of(kernel, bufferization.MaterializeInDestinationOp)
    if len(loops) < 2 or len(stores) != 1 or any(map(_is_apart, kernel.body.block.ops)):
        return None
    *_, root = loops
    if not is_elementwise(root) or store_of(root) is None:
        return None
    if not all(len(op.results) == 1 and _has_initial(op) for op in loops):
        return None
    if any((product := product_of(op)) and product.transposed[1] for op in loops):
        return None  # `transpose-operands` lets it have tiles
    rank = tensor_of(root.results[0]).get_num_dims()
    count = min(map(_outer_loops, loops))
    if all(map(is_parallel, loops)):
        count = min(count, rank - 1)  # a row is a loop, which LLVM makes vectors of
    rows = Rows(loops, stores[0], count)
    return rows if rows.count > 0 and nest_of(kernel) is None and rows.are_rows() else None


def _is_apart(op: Operation) -> bool:
    """Test whether `op` keeps loops apart, or is one that is on buffers."""
    return isinstance(op, RESHAPES) or bool({TRANSPOSING, UNTILED} & op.attributes.keys())


def _has_initial(op: linalg.GenericOp) -> bool:
    """Test whether `op` writes onto an empty tensor, or one that is filled."""
    return isinstance(_written(op).owner, tensor.EmptyOp)


def _initial(op: linalg.GenericOp) -> tensor.EmptyOp:
    """Return the empty tensor that `op` writes onto, or that is filled before."""
    empty = _written(op).owner
    assert isinstance(empty, tensor.EmptyOp), "rows_of has checked it"
    return empty


def _written(op: linalg.GenericOp) -> SSAValue:
    """Return what `op` writes onto, before it is filled."""
    out = op.outputs[0]
    return out.owner.outputs[0] if isinstance(out.owner, linalg.FillOp) else out


def in_destination(rows: Rows) -> set[linalg.GenericOp]:
    """
    Return the loops that write the memory of the result: the last one, and those before it whose
    rows nothing else needs then, if no operand that the result may lie over is read any more.
    """
    *others, root = rows.loops
    result = tensor_of(root.results[0])
    last = {op: max(map(rows.loops.index, _readers(op)), default=0) for op in others}
    taken, occupant = {root}, None
    for number, op in enumerate(others):
        after = rows.loops[number + 1 :]
        is_free = occupant is None or (last[occupant] <= number and _reads_in_order(op, occupant))
        if (
            is_free
            and is_pointwise(op)
            and tensor_of(op.results[0]) == result
            and _reads_in_order(root, op)
            and not any(_may_be_as_large(v, result) for later in after for v in later.inputs)
        ):
            taken.add(op)
            occupant = op
    return taken


def _readers(op: linalg.GenericOp) -> Iterator[linalg.GenericOp]:
    """Yield the loops that read the result of `op`."""
    users = (use.operation for use in op.results[0].uses)
    return (user for user in users if isinstance(user, linalg.GenericOp))


def _reads_in_order(reader: linalg.GenericOp, op: linalg.GenericOp) -> bool:
    """Test whether each element that `reader` reads of `op` is at the index that it computes."""
    pairs = zip(reader.inputs, maps_of(reader), strict=False)
    return is_pointwise(reader) and all(v not in op.results or is_identity(m) for v, m in pairs)


def _may_be_as_large(operand: SSAValue, result: Tensor) -> bool:
    """Test whether `operand` is in a buffer that the result may lie over."""
    type = tensor_of(operand)
    is_open = has_dynamic(type) or has_dynamic(result)
    count = prod(result.get_shape())
    is_given = isinstance(operand.owner, bufferization.ToTensorOp)
    return is_given and (is_open or prod(type.get_shape()) >= count)


def may_lie_in_place(rows: Rows) -> SSAValue | None:
    """Return the only operand that the result may lie over, if its rows are read in order."""
    result = tensor_of(rows.loops[-1].results[0])
    read: dict[SSAValue, bool] = {}
    for op in rows.loops:
        for operand, map in zip(op.inputs, maps_of(op), strict=False):
            if isinstance(operand.owner, bufferization.ToTensorOp) and tensor_of(operand) == result:
                read[operand] = read.get(operand, True) and is_identity(map)
    match [*read.items()]:
        case [(operand, True)] if tensor.ExtractOp not in {
            type(use.operation) for use in operand.uses
        }:
            return operand
        case _:
            return None


@dataclass
class Row:
    """Appends what computes one row to `build`."""

    rows: Rows
    build: Builder
    indices: Sequence[SSAValue]
    """Of the row, by loop."""
    sizes: Mapping[SSAValue, Sequence[Size]]
    """Those of the operands, which are in buffers."""
    buffers: dict[SSAValue, SSAValue]
    """Of the rows that loops compute, by what they are rows of."""
    parts: dict[object, SSAValue] = field(default_factory=lambda: {})
    """Of buffers, by these and the axes of rows."""

    def part(self, buffer: SSAValue, sizes: Sequence[Size], axes: Mapping[int, int]) -> SSAValue:
        """Return the row of `buffer`, which has `sizes`, at the indices of the loops of `axes`."""
        key = buffer, *axes.items()
        if key not in self.parts:
            self.parts[key] = self._part(buffer, sizes, axes) if axes else buffer
        return self.parts[key]

    def _part(self, buffer: SSAValue, sizes: Sequence[Size], axes: Mapping[int, int]) -> SSAValue:
        build, strides = self.build, list[Size]([1])
        for size in reversed(sizes[1:]):
            strides.insert(0, build.mul(size, strides[0]))
        offset: Size = 0
        for axis, loop in axes.items():
            offset = build.add(offset, build.mul(self.indices[loop], strides[axis]))
        kept = [axis for axis in range(len(sizes)) if axis not in axes]
        dims, steps = ([each[axis] for axis in kept] for each in (sizes, strides))
        layout = StridedLayoutAttr([s if isinstance(s, int) else None for s in steps], None)
        element = cast("MemRefType[Attribute]", buffer.type).element_type
        type = MemRefType(element, static_dims(dims), layout)
        return build.insert(
            memref.ReinterpretCastOp.from_dynamic(buffer, [offset], dims, steps, type)
        )

    def read(self, value: SSAValue, axes: Mapping[int, int]) -> SSAValue:
        """Return the row of an operand."""
        if value in self.buffers:
            return self.buffers[value]
        return self.part(_buffer(value), self.sizes[value], axes)

    def copy(self, operand: SSAValue, dest: SSAValue, result: SSAValue) -> None:
        """
        Copy the row of `operand` to `dest`, the row of `result`, unless they are the same bytes.

        Loops then read and write one row, of which LLVM sees that each element is written where it
        was read; of two it would only see at run time that they overlap, and take a loop without
        vectors.
        """
        source, build, root = _buffer(operand), self.build, self.rows.loops[-1]
        self.buffers[operand] = dest
        if source is result:
            return
        row = self.part(source, self.sizes[operand], self.rows.axes(maps_of(root)[-1]))
        ones, others = map(memref.ExtractAlignedPointerAsIndexOp.get, (source, result))
        differ = arith.CmpiOp(build.insert(ones), build.insert(others), "ne")
        same = AffineMap.identity(tensor_of(operand).get_num_dims() - self.rows.count)
        block = Block(arg_types=[element_of(operand)] * 2)
        block.add_op(linalg.YieldOp(block.args[0]))
        copy = parallel_loops(root, [row], dest, [same, same], block, UNTILED)
        build.insert_all(scf.IfOp(build.insert(differ), [], [copy, scf.YieldOp()]))

    def compute(self, op: linalg.GenericOp) -> None:
        """Let `op` compute one row."""
        count, maps, before = self.rows.count, maps_of(op), self.build.block.last_op
        axes = [self.rows.axes(map) for map in maps]
        inputs = [self.read(v, a) for v, a in zip(op.inputs, axes, strict=False)]
        out, block, fill = self.buffers[op.results[0]], op.body.block, op.outputs[0].owner
        if isinstance(fill, linalg.FillOp):
            self.build.insert_all(linalg.FillOp(fill.inputs, [out], []))
        for inner in [*block.walk()]:
            if isinstance(inner, tensor.ExtractOp):
                Rewriter.replace_op(inner, memref.LoadOp.get(_buffer(inner.tensor), inner.indices))
            elif isinstance(inner, linalg.IndexOp):
                loop = inner.dim.value.data
                row = [] if loop < count else [linalg.IndexOp(loop - count)]
                Rewriter.replace_op(inner, row, [row[0].result if row else self.indices[loop]])
        op.body.detach_block(block)
        loops = [*map(self._map, maps, axes)]
        row = parallel_loops(op, inputs, out, loops, block, UNTILED)
        row.properties["iterator_types"] = ArrayAttr([*op.iterator_types][count:])
        self.build.insert_all(row)
        if isinstance(before, linalg.GenericOp) and _reads_each(row, before):
            compute_together(before, row)

    def _map(self, map: AffineMap, axes: Mapping[int, int]) -> AffineMap:
        """Return the map of the row of an operand of `map`."""
        count, rank = self.rows.count, map.num_dims
        dims = [AffineExpr.dimension(max(loop - count, 0)) for loop in range(rank)]
        exprs = (expr for axis, expr in enumerate(map.results) if axis not in axes)
        results = tuple(expr.replace_dims_and_symbols(dims, []) for expr in exprs)
        return AffineMap(rank - count, 0, results)


def _reads_each(reduction: linalg.GenericOp, op: linalg.GenericOp) -> bool:
    """Test whether `reduction` reads each element that `op` writes, in the order of its loops."""
    pairs = zip(reduction.inputs, maps_of(reduction), strict=False)
    reads = [is_identity(map) for value, map in pairs if value == op.outputs[0]]
    is_reduction = not is_parallel(reduction) and reduction.outputs[0] != op.outputs[0]
    return is_reduction and is_parallel(op) and is_identity(maps_of(op)[-1]) and reads == [True]


def _buffer(value: SSAValue) -> SSAValue:
    """Return the buffer of an operand of the kernel, which is in one."""
    assert isinstance(value.owner, bufferization.ToTensorOp), "are_rows has checked it"
    return value.owner.memref


def compute_rows(rows: Rows) -> None:
    """Compute `rows` in loops over them."""
    store, (*_, root) = rows.store, rows.loops
    outer = Builder(Block())
    outer.location = root.location
    read = dict.fromkeys(value for op in rows.loops for value in op.inputs)
    sizes = {v: outer.dims(v) for v in read if isinstance(v.owner, bufferization.ToTensorOp)}
    shape = sizes_of(_initial(root))
    taken = {root} if are_small(rows, rows.loops[:-1]) else in_destination(rows)
    buffers = _memory(outer, rows, [op for op in rows.loops if op not in taken])
    constants = [value for value in read if isinstance(value.owner, arith.ConstantOp)]
    buffers |= {value: outer.insert(buffer_of(value)) for value in constants}
    inner, indices = outer, list[SSAValue]()
    bounds = [tuple(map(outer.index, (0, size, 1))) for size in shape[: rows.count]]
    for start, stop, step in bounds:
        loop = scf.ForOp(start, stop, step, [], Block(arg_types=[INDEX]))
        inner.insert_all(loop)
        if inner is not outer:
            inner.insert_all(scf.YieldOp())
        inner = Builder(loop.body.block, outer)
        indices.append(loop.body.block.args[0])
    row = Row(rows, inner, indices, sizes, buffers)
    dest = row.part(store.dest, shape, {axis: axis for axis in range(rows.count)})
    buffers |= {op.results[0]: dest for op in taken}
    if len(taken) > 1 and (operand := may_lie_in_place(rows)) is not None:
        row.copy(operand, dest, store.dest)
    for op in rows.loops:
        row.compute(op)
    inner.insert_all(scf.YieldOp())
    Rewriter.inline_block(outer.block, InsertPoint.before(store))
    Rewriter.erase_op(store)
    for op in reversed([*rows.loops]):
        fill, empty = op.outputs[0].owner, _initial(op)
        Rewriter.erase_op(op)
        for unused in dict.fromkeys((fill, empty)):
            if isinstance(unused, Operation) and not unused.results[0].uses:
                Rewriter.erase_op(unused)


def _row_sizes(rows: Rows, op: linalg.GenericOp) -> list[Size]:
    """Return the sizes of a row of the result of `op`."""
    axes, sizes = rows.axes(maps_of(op)[-1]), sizes_of(_initial(op))
    return [size for axis, size in enumerate(sizes) if axis not in axes]


def are_small(rows: Rows, loops: Sequence[linalg.GenericOp]) -> bool:
    """Test whether a row of the results of all `loops` is small enough for the stack."""
    bits = 0
    for op in loops:
        shape = static_dims(_row_sizes(rows, op))
        if DYNAMIC_INDEX in shape:
            return False
        bits += prod(shape) * (bits_of(element_of(op.results[0])) or 0)
    return bits <= 8 * STACK


def _memory(
    build: Builder, rows: Rows, loops: Sequence[linalg.GenericOp]
) -> dict[SSAValue, SSAValue]:
    """Return memory for a row of the result of each of `loops`: on the stack, if all are small."""
    kind = memref.AllocaOp if are_small(rows, loops) else memref.AllocOp
    buffers: dict[SSAValue, SSAValue] = {}
    for op in loops:
        sizes = _row_sizes(rows, op)
        type = MemRefType(element_of(op.results[0]), static_dims(sizes))
        open_sizes = [size for size in sizes if not isinstance(size, int)]
        buffer = kind.build(operands=[open_sizes, []], result_types=[type])
        buffers[op.results[0]] = build.insert(buffer)
    return buffers


@dataclass(frozen=True)
class ComputeByRowsPass(KernelPass):
    """Compute kernels of several loops row by row."""

    name = "compute-by-rows"

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        rows = rows_of(kernel)
        if rows is not None:
            compute_rows(rows)
