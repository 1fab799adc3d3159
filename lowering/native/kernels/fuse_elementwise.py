"""
Make one loop of each chain of elementwise ops of a kernel.

    %e = generic mul(%x, %s)               ->    %f = generic mul_add(%x, %s, %b)
    %f = generic add(%e, %b)

A loop that reads each element of a chain once, such as a transposition or a sum, computes it, too.
At level `memref`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override
from xdsl.dialects import tensor
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.rewriter import Rewriter

from ...linalg.builder import element_of
from ..kernel_pass import KernelPass
from ..linalg_generics import (
    generic_like,
    has_index,
    is_elementwise,
    is_identity,
    maps_of,
    move_body,
    replace,
)

MOST_OPERANDS = 32
"""The operands of one loop: programs of many more would take long to compile."""


def _with_distinct_inputs(op: linalg.GenericOp) -> linalg.GenericOp:
    """Return `op` with each operand that it reads more than once in one order given once."""
    maps, count = maps_of(op), len(op.inputs)
    keys = [(operand, str(map)) for operand, map in zip(op.inputs, maps, strict=False)]
    kept = [number for number, key in enumerate(keys) if keys.index(key) == number]
    if len(kept) == count:
        return op
    old, outputs = op.body.block, [*op.outputs]
    inputs = [op.inputs[number] for number in kept]
    block = Block(arg_types=[element_of(value) for value in (*inputs, *outputs)])
    arguments = [block.args[kept.index(keys.index(key))] for key in keys]
    move_body(old, block, [*arguments, *block.args[len(kept) :]])
    made = generic_like(op, inputs, outputs, [*(maps[n] for n in kept), *maps[count:]], block)
    replace(op, made, made.results[0])
    return made


def _fused(op: linalg.GenericOp) -> linalg.GenericOp | None:
    """Return `op` with one of its operands computed in its body, or None."""
    for number, operand in enumerate(op.inputs):
        producer = operand.owner
        if (
            isinstance(producer, linalg.GenericOp)
            and producer.parent is op.parent
            and operand.has_one_use()
            and _reads_once(maps_of(op)[number])
            and is_elementwise(producer)
            and (is_identity(maps_of(op)[number]) or not has_index(producer))
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
    maps = maps_of(op)
    maps[number : number + 1] = [map.compose(maps[number]) for map in maps_of(producer)[:-1]]
    return maps


def _have_sizes(maps: Sequence[AffineMap]) -> bool:
    """Test whether each loop runs along a dim of an operand, which determines its size."""
    exprs = [expr for map in maps for expr in map.results]
    loops = {expr.position for expr in exprs if isinstance(expr, AffineDimExpr)}
    return len(loops) == maps[0].num_dims


def _reads_once(map: AffineMap) -> bool:
    """Test whether the map is a permutation of the loops: each element is read in one iteration."""
    loops = [expr.position for expr in map.results if isinstance(expr, AffineDimExpr)]
    return len(loops) == len(map.results) and sorted(loops) == [*range(map.num_dims)]


def _with_producer(
    op: linalg.GenericOp, number: int, producer: linalg.GenericOp, maps: Sequence[AffineMap]
) -> linalg.GenericOp:
    inputs = [*op.inputs]
    inputs[number : number + 1] = producer.inputs
    old, source = op.body.block, producer.body.block
    block = Block(arg_types=[element_of(v) for v in (*inputs, *op.outputs)])
    count = len(producer.inputs)
    theirs = block.args[number : number + count]
    ours = [*block.args[:number], *block.args[number + count :]]
    move_body(source, block, [*theirs, block.args[-1]])
    end = block.last_op
    assert isinstance(end, linalg.YieldOp)
    value = end.operands[0]
    Rewriter.erase_op(end)
    move_body(old, block, [*ours[:number], value, *ours[number:]])
    fused = generic_like(op, inputs, [*op.outputs], maps, block)
    replace(op, fused, fused.results[0])
    Rewriter.erase_op(producer)
    return fused


@dataclass(frozen=True)
class FuseElementwisePass(KernelPass):
    """Make one loop of each chain of elementwise ops of a kernel."""

    name = "fuse-elementwise"

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        for op in [*kernel.body.block.ops]:
            if isinstance(op, linalg.GenericOp) and len(op.results) == 1:
                op = _with_distinct_inputs(op)
                while (fused := _fused(op)) is not None:
                    op = _with_distinct_inputs(fused)
        for op in [*kernel.body.block.ops]:
            if isinstance(op, tensor.EmptyOp) and not op.tensor.uses:
                Rewriter.erase_op(op)
