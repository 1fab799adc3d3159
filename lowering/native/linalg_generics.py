"""Facts of `linalg.generic` ops on tensors, and how one is made of another."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap
from xdsl.rewriter import Rewriter


def is_elementwise(op: linalg.GenericOp) -> bool:
    """Test whether `op` is pointwise, and its result is a fresh `tensor.empty`."""
    return is_pointwise(op) and isinstance(op.outputs[0].owner, tensor.EmptyOp)


def is_pointwise(op: linalg.GenericOp) -> bool:
    """Test whether `op` computes each element of one result by itself, in their order."""
    maps, block = maps_of(op), op.body.block
    return (
        len(op.outputs) == 1
        and len(op.results) == 1
        and all(kind.data == IteratorType.PARALLEL for kind in op.iterator_types)
        and is_identity(maps[-1])
        and not block.args[-1].uses
    )


def has_index(op: linalg.GenericOp) -> bool:
    """Test whether the body of `op` reads the number of a turn of a loop."""
    return any(isinstance(inner, linalg.IndexOp) for inner in op.body.walk())


def maps_of(op: linalg.GenericOp) -> list[AffineMap]:
    """Return the indexing maps of `op`, by operand."""
    return [attribute.data for attribute in op.indexing_maps]


def is_identity(map: AffineMap) -> bool:
    """Test whether the dims of the operand of `map` are the loops, in their order."""
    return map == AffineMap.identity(map.num_dims)


def is_simple(map: AffineMap) -> bool:
    """Test whether each dim of the operand of `map` is along a loop, or at one index."""
    return all(isinstance(expr, AffineDimExpr | AffineConstantExpr) for expr in map.results)


def move_body(source: Block, target: Block, values: Sequence[SSAValue]) -> None:
    """Move the ops of `source` to the end of `target`, with `values` in place of its arguments."""
    for argument, value in zip(source.args, values, strict=True):
        argument.replace_all_uses_with(value)
    for op in [*source.ops]:
        op.detach()
        target.add_op(op)


def generic_like(
    like: linalg.GenericOp,
    inputs: Sequence[SSAValue],
    outputs: Sequence[SSAValue],
    maps: Sequence[AffineMap],
    block: Block,
) -> linalg.GenericOp:
    """
    Return a loop with other operands and body, at the location of `like`.

    Its iterators are those of `like` if there are as many loops, else all parallel.
    """
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


def replace(op: linalg.GenericOp, by: linalg.GenericOp, value: SSAValue) -> None:
    """Put `by` in the place of `op`, and `value` in that of its result."""
    assert op.parent is not None
    op.parent.insert_op_before(by, op)
    op.results[0].replace_all_uses_with(value)
    Rewriter.erase_op(op)
