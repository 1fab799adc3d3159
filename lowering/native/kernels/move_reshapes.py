"""
Move the reshapes of a kernel to the ends of its elementwise chains, where they cost nothing.

    %c = collapse_shape %x                       %e = expand_shape %y
    %f = generic add(%c, %y)                     %f = generic add(%x, %e)
    materialize_in_destination %f in %out  ->    materialize_in_destination %f in %out

where the last %out has the shape of %x. Then the loops that come after a reduction have its dims,
and schedules tile them together. What a loop reads at dims of 1 that were inserted it reads as it
was before, so that `compute-by-rows` finds reductions that keep their dims. At level `memref`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import override
from xdsl.dialects import bufferization, memref, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, BlockArgument, SSAValue, Use
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from ...linalg.builder import Builder, Size, element_of, static_dims, tensor_of
from ..kernel_pass import KernelPass
from ..linalg_generics import (
    buffer_dims,
    buffer_type,
    has_index,
    is_elementwise,
    is_identity,
    is_pointwise,
    is_simple,
    maps_of,
    ops_of,
    parallel_loops,
    set_operands,
    sizes_of,
)


def _read_before(op: linalg.GenericOp) -> None:
    """Let `op` read what it reads at dims of 1 as it was before these were inserted."""
    inputs, maps = [*op.inputs], [*maps_of(op)]
    for number, (operand, map) in enumerate(zip(inputs, maps, strict=False)):
        expand = operand.owner
        if not isinstance(expand, tensor.ExpandShapeOp):
            continue
        shape, exprs = _shape(operand), list[AffineExpr]()
        for group in _groups(expand):
            long = [axis for axis in group if shape[axis] != 1]
            if len(long) > 1:
                break
            exprs.append(map.results[(long or group)[0]])
        else:
            before = AffineMap(map.num_dims, 0, tuple(exprs))
            if not _determine_loops((*maps[:number], before, *maps[number + 1 :])):
                continue  # a loop of one turn is over dims of this operand alone
            inputs[number], maps[number] = expand.src, before
            set_operands(op, inputs, op.outputs[0], maps)
            if not operand.uses:
                Rewriter.erase_op(expand)


def _determine_loops(maps: Sequence[AffineMap]) -> bool:
    """Test whether the sizes of all loops are those of operands."""
    dims = {expr for map in maps for expr in map.results}
    return all(AffineExpr.dimension(loop) in dims for loop in range(maps[0].num_dims))


def _expand_before(op: linalg.GenericOp) -> None:
    """Let `op` compute the reshape of its result that another loop reads."""
    expand = op.results[0].get_user_of_unique_use()
    if (
        not isinstance(expand, tensor.ExpandShapeOp)
        or not all(isinstance(use.operation, linalg.GenericOp) for use in expand.result.uses)
        or any(isinstance(value.owner, linalg.GenericOp) for value in op.inputs)
        or not all(is_simple(map) for map in maps_of(op))
        or not _keeps_open_dims(expand)
    ):
        return
    expanded = _over_loops(op, _groups(expand), _shape(expand.result), {})
    Rewriter.replace_op(expand, [], expanded.results)
    Rewriter.replace_op(op, expanded)


def _expand(op: linalg.GenericOp) -> None:
    """Let `op` have the dims that an operand had before they were collapsed."""
    collapses = {
        number: operand.owner
        for number, operand in enumerate(op.inputs)
        if isinstance(operand.owner, tensor.CollapseShapeOp)
        and isinstance(operand.owner.src.owner, linalg.GenericOp)
        and all(_is_read_in_order(use) for use in operand.uses)
        and _keeps_open_dims(operand.owner)
    }
    if not collapses or not all(is_simple(map) for map in maps_of(op)):
        return
    first = next(iter(collapses.values()))
    groups, shape = _groups(first), _shape(first.src)
    same = {n: c for n, c in collapses.items() if (_groups(c), _shape(c.src)) == (groups, shape)}
    expanded = _over_loops(op, groups, shape, {n: c.src for n, c in same.items()})
    back = tensor.CollapseShapeOp.create(
        operands=expanded.results,
        result_types=op.result_types,
        properties={"reassociation": first.reassociation},
    )
    Rewriter.replace_op(op, [expanded, back])
    for collapse in dict.fromkeys(same.values()):
        if not collapse.result.uses:
            Rewriter.erase_op(collapse)


def _is_read_in_order(use: Use) -> bool:
    """Test whether a loop over its elements, in their order, has this use."""
    op = use.operation
    if not isinstance(op, linalg.GenericOp):
        return False
    return is_pointwise(op) and is_identity(maps_of(op)[use.index])


def _over_loops(
    op: linalg.GenericOp,
    groups: Sequence[Sequence[int]],
    shape: Sequence[int],
    known: Mapping[int, SSAValue],
) -> linalg.GenericOp:
    """
    Return `op`, to be inserted, over loops of `shape`: `groups` of them for each loop before.

    Its operands are expanded before `op`; those of the numbers in `known` are so already.
    """
    build = Builder(Block())
    operands: list[SSAValue] = []
    maps: list[AffineMap] = []
    for i, (operand, map) in enumerate(zip((*op.inputs, *op.outputs), maps_of(op), strict=True)):
        exprs, operand_groups = _expanded_map(map, groups)
        maps.append(AffineMap(len(shape), 0, tuple(exprs)))
        if i in known or len(exprs) == len(operand_groups):
            operands.append(known.get(i, operand))
            continue
        source = operand.owner
        empty = source.outputs[0].owner if isinstance(source, linalg.GenericOp) else source
        if isinstance(empty, tensor.EmptyOp):
            build.has_dims(operand, sizes_of(empty))  # no other use of what a loop computes
        sizes = _expanded_sizes(exprs, operand_groups, shape, build.dims(operand))
        if isinstance(source, tensor.EmptyOp):
            operands.append(build.empty(sizes, element_of(operand)))
        else:
            operands.append(build.expand(operand, operand_groups, sizes))
    Rewriter.inline_block(build.block, InsertPoint.before(op))
    block = op.body.detach_block(op.body.block)
    return parallel_loops(op, operands[:-1], operands[-1], maps, block)


def _expanded_map(
    map: AffineMap, groups: Sequence[Sequence[int]]
) -> tuple[list[AffineExpr], list[list[int]]]:
    """Return the results of `map` over expanded loops, and the reshape of its operand."""
    exprs: list[AffineExpr] = []
    operand_groups: list[list[int]] = []
    for expr in map.results:
        first = len(exprs)
        if isinstance(expr, AffineDimExpr):
            exprs += [AffineExpr.dimension(loop) for loop in groups[expr.position]]
        else:
            exprs.append(expr)
        operand_groups.append([*range(first, len(exprs))])
    return exprs, operand_groups


def _expanded_sizes(
    exprs: Sequence[AffineExpr],
    groups: Sequence[Sequence[int]],
    shape: Sequence[int],
    dims: Sequence[Size],
) -> list[Size]:
    """Return the sizes of an operand of `dims` that is expanded to loops of `shape`."""
    sizes: list[Size] = []
    for group, dim in zip(groups, dims, strict=True):
        for expr in (exprs[axis] for axis in group):
            size: Size = dim
            if len(group) > 1 and isinstance(expr, AffineDimExpr):
                size = shape[expr.position]
            sizes.append(dim if size == DYNAMIC_INDEX else size)
    return sizes


def _keeps_open_dims(op: tensor.CollapseShapeOp | tensor.ExpandShapeOp) -> bool:
    """Test whether each open dim of `op` stays, beside dims of 1."""
    long = _shape(op.src if isinstance(op, tensor.CollapseShapeOp) else op.result)
    groups = ([long[axis] for axis in group] for group in _groups(op))
    return all(DYNAMIC_INDEX not in g or sum(size != 1 for size in g) == 1 for g in groups)


def _reshape_destination(op: bufferization.MaterializeInDestinationOp) -> None:
    """Store what is reshaped as it was before, into the destination as that shape."""
    source, reshapes = op.source, list[tensor.CollapseShapeOp | tensor.ExpandShapeOp]()
    while isinstance(reshape := source.owner, tensor.CollapseShapeOp | tensor.ExpandShapeOp):
        if not source.has_one_use():
            return
        reshapes.append(reshape)
        source = reshape.src
    if (
        not reshapes
        or not isinstance(op.dest, BlockArgument)
        or not isinstance(op.dest.type, MemRefType)
        or not isinstance(source.owner, linalg.GenericOp)
    ):
        return
    build, out = Builder(Block()), source.owner.outputs[0].owner
    first = out if isinstance(out, linalg.FillOp) else source.owner
    if all(map(_keeps_open_dims, reshapes)):
        sizes = _sizes_before(reshapes, buffer_dims(build, op.dest))
    elif isinstance(out, tensor.EmptyOp):
        sizes = sizes_of(out)
    else:
        return
    strides: list[Size] = [1]
    for size in reversed(sizes[1:]):
        strides.insert(0, build.mul(size, strides[0]))
    open_sizes, open_strides = (
        [size for size in each if not isinstance(size, int)] for each in (sizes, strides)
    )
    dims, steps = static_dims(sizes), static_dims(strides)
    type = buffer_type(source)
    dest = memref.ReinterpretCastOp(op.dest, [], open_sizes, open_strides, [0], dims, steps, type)
    store = bufferization.MaterializeInDestinationOp.create(
        operands=[source, build.insert(dest)], properties=op.properties.copy()
    )
    Rewriter.inline_block(build.block, InsertPoint.before(first))
    Rewriter.insert_op(store, InsertPoint.before(op))
    for unused in (op, *reshapes):
        Rewriter.erase_op(unused)


def _sizes_before(
    reshapes: Sequence[tensor.CollapseShapeOp | tensor.ExpandShapeOp], sizes: Sequence[Size]
) -> Sequence[Size]:
    """Return the sizes of what `reshapes`, the last one first, give these `sizes`."""
    for reshape in reshapes:
        dims = iter(size for size in sizes if not isinstance(size, int))
        sizes = [next(dims) if size == DYNAMIC_INDEX else size for size in _shape(reshape.src)]
    return sizes


def _groups(op: tensor.CollapseShapeOp | tensor.ExpandShapeOp) -> list[list[int]]:
    return [[axis.value.data for axis in group] for group in op.reassociation]


def _shape(value: SSAValue) -> list[int]:
    return list(tensor_of(value).get_shape())


@dataclass(frozen=True)
class MoveReshapesPass(KernelPass):
    """Move the reshapes of kernels to the ends of their elementwise chains."""

    name = "move-reshapes"

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        for op in ops_of(kernel, linalg.GenericOp):
            if len(op.outputs) == 1:
                _read_before(op)
        before, after = (is_elementwise, _expand_before), (is_pointwise, _expand)
        for is_movable, move in (before, after, before):  # `after` expands what loops compute
            for op in ops_of(kernel, linalg.GenericOp):
                if is_movable(op) and not has_index(op):
                    move(op)
        for op in ops_of(kernel, bufferization.MaterializeInDestinationOp):
            _reshape_destination(op)
