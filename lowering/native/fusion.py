"""
Make one loop of each chain of elementwise ops of a kernel, and let reshapes be at its ends.

    %e = generic mul(%x, %s)                     %f = generic mul_add(%x, %s, %b)
    %f = generic add(%e, %b)               ->

    %c = collapse_shape %x                       %e = expand_shape %y
    %f = generic add(%c, %y)                     %f = generic add(%x, %e)
    materialize_in_destination %f in %out  ->    materialize_in_destination %f in %out

where the last %out has the shape of %x. A loop that reads each element of a chain once, such as a
transposition or a sum, computes it, too.

Then the loops that come after a reduction have its dims, and schedules tile them together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import bufferization, memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import Rewriter

from ...dialects.device import tensor_type
from ..linalg.builder import tensor_of

MOST_OPERANDS = 32
"""The operands of one loop: programs of many more would take long to compile."""


def fuse_elementwise(kernel: FuncOp) -> None:
    """Fuse the chains of elementwise ops in `kernel`, in place."""
    for op in [*kernel.body.block.ops]:
        if isinstance(op, linalg.GenericOp) and len(op.results) == 1:
            _expand_before(op)
    for op in [*kernel.body.block.ops]:
        if isinstance(op, linalg.GenericOp) and len(op.results) == 1:
            if _is_pointwise(op) and not _has_index(op):
                op = _expanded(op)
            op = _with_distinct_inputs(op)
            while (fused := _fused(op)) is not None:
                op = _with_distinct_inputs(fused)
    for op in [*kernel.body.block.ops]:
        if isinstance(op, bufferization.MaterializeInDestinationOp):
            _reshape_destination(op)
    for op in reversed([*kernel.body.block.ops]):
        if isinstance(op, tensor.EmptyOp | tensor.CollapseShapeOp) and not any(
            result.uses for result in op.results
        ):
            Rewriter.erase_op(op)


def is_elementwise(op: linalg.GenericOp) -> bool:
    """Test whether `op` is pointwise, and its result is nowhere yet."""
    return _is_pointwise(op) and isinstance(op.outputs[0].owner, tensor.EmptyOp)


def _is_pointwise(op: linalg.GenericOp) -> bool:
    """Test whether `op` computes each element of one result by itself, in their order."""
    maps, block = _maps(op), op.body.block
    return (
        len(op.outputs) == 1
        and len(op.results) == 1
        and all(kind.data == IteratorType.PARALLEL for kind in op.iterator_types)
        and _is_identity(maps[-1])
        and not block.args[-1].uses
    )


def _has_index(op: linalg.GenericOp) -> bool:
    return any(isinstance(inner, linalg.IndexOp) for inner in op.body.walk())


# ------------------------------------------------------------------------- fusion


def _with_distinct_inputs(op: linalg.GenericOp) -> linalg.GenericOp:
    """Return `op` with each operand that it reads more than once in one order given once."""
    maps, count = _maps(op), len(op.inputs)
    keys = [(operand, str(map)) for operand, map in zip(op.inputs, maps, strict=False)]
    kept = [number for number, key in enumerate(keys) if keys.index(key) == number]
    if len(kept) == count:
        return op
    old, outputs = op.body.block, [*op.outputs]
    inputs = [op.inputs[number] for number in kept]
    block = Block(arg_types=[_element(value) for value in (*inputs, *outputs)])
    arguments = [block.args[kept.index(keys.index(key))] for key in keys]
    _move(old, block, [*arguments, *block.args[len(kept) :]])
    made = _generic(op, inputs, outputs, [*(maps[n] for n in kept), *maps[count:]], block)
    _replace(op, made, made.results[0])
    return made


def _fused(op: linalg.GenericOp) -> linalg.GenericOp | None:
    """Return `op` with one of its operands computed in its body, or None."""
    for number, operand in enumerate(op.inputs):
        producer = operand.owner
        if (
            isinstance(producer, linalg.GenericOp)
            and producer.parent is op.parent
            and _has_one_use(operand)
            and _reads_once(_maps(op)[number])
            and is_elementwise(producer)
            and (_is_identity(_maps(op)[number]) or not _has_index(producer))
            and len(op.inputs) + len(producer.inputs) <= MOST_OPERANDS
        ):
            maps = _maps_with_producer(op, number, producer)
            if _have_sizes(maps):
                return _with_producer(op, number, producer, maps)
    return None


def _maps_with_producer(
    op: linalg.GenericOp, number: int, producer: linalg.GenericOp
) -> list[AffineMap]:
    """Return the maps of `op` with the operands of `producer` in place of operand `number`."""
    maps = _maps(op)
    maps[number : number + 1] = [map.compose(maps[number]) for map in _maps(producer)[:-1]]
    return maps


def _have_sizes(maps: Sequence[AffineMap]) -> bool:
    """Test whether each loop runs along a dim of an operand, which determines its size."""
    exprs = [expr for map in maps for expr in map.results]
    loops = {expr.position for expr in exprs if isinstance(expr, AffineDimExpr)}
    return len(loops) == maps[0].num_dims


def _reads_once(map: AffineMap) -> bool:
    """Test whether each element is read in one turn of all loops."""
    loops = [expr.position for expr in map.results if isinstance(expr, AffineDimExpr)]
    return len(loops) == len(map.results) and sorted(loops) == [*range(map.num_dims)]


def _with_producer(
    op: linalg.GenericOp, number: int, producer: linalg.GenericOp, maps: Sequence[AffineMap]
) -> linalg.GenericOp:
    inputs = [*op.inputs]
    inputs[number : number + 1] = producer.inputs
    old, source = op.body.block, producer.body.block
    block = Block(arg_types=[_element(v) for v in (*inputs, *op.outputs)])
    count = len(producer.inputs)
    theirs = block.args[number : number + count]
    ours = [*block.args[:number], *block.args[number + count :]]
    _move(source, block, [*theirs, block.args[-1]])
    end = block.last_op
    assert isinstance(end, linalg.YieldOp)
    value = end.operands[0]
    Rewriter.erase_op(end)
    _move(old, block, [*ours[:number], value, *ours[number:]])
    fused = _generic(op, inputs, [*op.outputs], maps, block)
    _replace(op, fused, fused.results[0])
    Rewriter.erase_op(producer)
    return fused


def _move(source: Block, target: Block, values: Sequence[SSAValue]) -> None:
    """Move the ops of `source` to the end of `target`, with `values` in place of its arguments."""
    for argument, value in zip(source.args, values, strict=True):
        argument.replace_all_uses_with(value)
    for op in [*source.ops]:
        op.detach()
        target.add_op(op)


# ------------------------------------------------------------------------- reshapes


def _expanded(op: linalg.GenericOp) -> linalg.GenericOp:
    """Return `op` over the dims that an operand had before they were collapsed."""
    for number, operand in enumerate(op.inputs):
        collapse = operand.owner
        if (
            isinstance(collapse, tensor.CollapseShapeOp)
            and _has_one_use(operand)
            and isinstance(collapse.src.owner, linalg.GenericOp)
            and _is_identity(_maps(op)[number])
            and all(is_simple(map) for map in _maps(op))
            and _is_static(collapse.src)
            and all(_is_static(value) for value in (*op.inputs, *op.outputs))
        ):
            return _over_expanded(op, number, collapse)
    return op


def _over_expanded(
    op: linalg.GenericOp, number: int, collapse: tensor.CollapseShapeOp
) -> linalg.GenericOp:
    groups = _groups(collapse)
    expanded = _over_loops(op, groups, _shape(collapse.src), {number: collapse.src})
    back = tensor.CollapseShapeOp.create(
        operands=[expanded.results[0]],
        result_types=[op.results[0].type],
        properties={"reassociation": _reassociation(groups)},
    )
    _replace(op, expanded, back.results[0])
    parent = expanded.parent
    assert parent is not None
    parent.insert_op_after(back, expanded)
    Rewriter.erase_op(collapse)
    return expanded


def _expand_before(op: linalg.GenericOp) -> None:
    """Let `op` compute the reshape of its result that another loop reads."""
    expand = next((use.operation for use in op.results[0].uses), None)
    if (
        not is_elementwise(op)
        or _has_index(op)
        or not isinstance(expand, tensor.ExpandShapeOp)
        or not _has_one_use(op.results[0])
        or not all(isinstance(use.operation, linalg.GenericOp) for use in expand.result.uses)
        or any(isinstance(value.owner, linalg.GenericOp) for value in op.inputs)
        or not all(is_simple(map) for map in _maps(op))
        or not all(_is_static(value) for value in (*op.inputs, expand.result))
    ):
        return
    expanded = _over_loops(op, _groups(expand), _shape(expand.result), {})
    expand.result.replace_all_uses_with(expanded.results[0])
    Rewriter.erase_op(expand)
    assert op.parent is not None
    op.parent.insert_op_before(expanded, op)
    Rewriter.erase_op(op)


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
    assert op.parent is not None
    operands: list[SSAValue] = []
    maps: list[AffineMap] = []
    for i, (operand, map) in enumerate(zip((*op.inputs, *op.outputs), _maps(op), strict=True)):
        exprs, operand_groups, sizes = _expanded_map(map, groups, shape, _shape(operand))
        maps.append(AffineMap(len(shape), 0, tuple(exprs)))
        if i in known or len(sizes) == len(operand_groups):
            operands.append(known.get(i, operand))
            continue
        made: tensor.EmptyOp | tensor.ExpandShapeOp
        type = tensor_type(_element(operand), sizes)
        if isinstance(operand.owner, tensor.EmptyOp):
            made = tensor.EmptyOp([], type)
        else:
            made = tensor.ExpandShapeOp.build(
                operands=[operand, []],
                result_types=[type],
                properties={
                    "reassociation": _reassociation(operand_groups),
                    "static_output_shape": DenseArrayBase.from_list(i64, sizes),
                },
            )
        op.parent.insert_op_before(made, op)
        operands.append(made.results[0])
    block = Block(arg_types=[argument.type for argument in op.body.block.args])
    _move(op.body.block, block, block.args)
    return _generic(op, operands[:-1], operands[-1:], maps, block)


def _expanded_map(
    map: AffineMap, groups: Sequence[Sequence[int]], shape: Sequence[int], dims: Sequence[int]
) -> tuple[list[AffineExpr], list[list[int]], list[int]]:
    """Return the results of `map` over expanded loops, and the reshape of its operand."""
    exprs: list[AffineExpr] = []
    operand_groups: list[list[int]] = []
    sizes: list[int] = []
    for expr, dim in zip(map.results, dims, strict=True):
        first = len(sizes)
        if isinstance(expr, AffineDimExpr):
            group = groups[expr.position]
            exprs += [AffineExpr.dimension(loop) for loop in group]
            sizes += [shape[loop] for loop in group]
        else:
            exprs.append(expr)
            sizes.append(dim)
        operand_groups.append([*range(first, len(sizes))])
    return exprs, operand_groups, sizes


def _reshape_destination(op: bufferization.MaterializeInDestinationOp) -> None:
    """Store what is reshaped as it was before, into the destination as that shape."""
    source, reshapes = op.source, list[Operation]()
    while isinstance(reshape := source.owner, tensor.CollapseShapeOp | tensor.ExpandShapeOp):
        if not _has_one_use(source) or not _is_static(source):
            return
        reshapes.append(reshape)
        source = reshape.src
    if (
        not reshapes
        or not isinstance(op.dest, BlockArgument)
        or not isinstance(op.dest.type, MemRefType)
        or not isinstance(source.owner, linalg.GenericOp)
        or not _is_static(source)
    ):
        return
    shape = _shape(source)
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    dest = memref.ReinterpretCastOp(
        op.dest,
        [],
        [],
        [],
        [0],
        shape,
        strides[: len(shape)],
        MemRefType(_element(source), shape),
    )
    store = bufferization.MaterializeInDestinationOp.create(
        operands=[source, dest.results[0]], properties=op.properties.copy()
    )
    assert op.parent is not None
    op.parent.insert_ops_before([dest, store], op)
    for unused in (op, *reshapes):
        Rewriter.erase_op(unused)


# ------------------------------------------------------------------------- small


def _generic(
    like: linalg.GenericOp,
    inputs: Sequence[SSAValue],
    outputs: Sequence[SSAValue],
    maps: Sequence[AffineMap],
    block: Block,
) -> linalg.GenericOp:
    op = linalg.GenericOp(
        inputs,
        outputs,
        Region(block),
        ArrayAttr(AffineMapAttr(map) for map in maps),
        like.iterator_types
        if len(like.iterator_types) == maps[-1].num_dims
        else ArrayAttr([IteratorTypeAttr(IteratorType.PARALLEL)] * maps[-1].num_dims),
        [value.type for value in outputs],
    )
    op.location = like.location
    return op


def _replace(op: linalg.GenericOp, by: linalg.GenericOp, value: SSAValue) -> None:
    assert op.parent is not None
    op.parent.insert_op_before(by, op)
    op.results[0].replace_all_uses_with(value)
    Rewriter.erase_op(op)


def _maps(op: linalg.GenericOp) -> list[AffineMap]:
    return [attribute.data for attribute in op.indexing_maps]


def _is_identity(map: AffineMap) -> bool:
    return map == AffineMap.identity(map.num_dims)


def is_simple(map: AffineMap) -> bool:
    """Test whether each dim of the operand of `map` is along a loop, or at one index."""
    return all(isinstance(expr, AffineDimExpr | AffineConstantExpr) for expr in map.results)


def _has_one_use(value: SSAValue) -> bool:
    return value.has_one_use()


def _groups(op: tensor.CollapseShapeOp | tensor.ExpandShapeOp) -> list[list[int]]:
    return [[axis.value.data for axis in group] for group in op.reassociation]


def _reassociation(groups: Sequence[Sequence[int]]) -> Attribute:
    return ArrayAttr(ArrayAttr(IntegerAttr(axis, i64) for axis in group) for group in groups)


def _element(value: SSAValue) -> Attribute:
    return tensor_of(value).element_type


def _shape(value: SSAValue) -> list[int]:
    return list(tensor_of(value).get_shape())


def _is_static(value: SSAValue) -> bool:
    return DYNAMIC_INDEX not in _shape(value)
