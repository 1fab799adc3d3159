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
from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from ...linalg.builder import element_of
from ..kernel_pass import KernelPass
from ..linalg_generics import (
    has_index,
    is_elementwise,
    is_identity,
    is_parallel,
    maps_of,
    ops_of,
    set_operands,
)

MOST_OPERANDS = 32
"""The operands of one loop: programs of many more would take long to compile."""


def _read_once_each(op: linalg.GenericOp) -> None:
    """Give `op` each operand that it reads more than once in one order only once."""
    *maps, written = maps_of(op)
    body, kept = op.body.block, dict[tuple[SSAValue, AffineMap], BlockArgument]()
    for operand, map, argument in zip(op.inputs, maps, body.args[:-1], strict=True):
        first = kept.setdefault((operand, map), argument)
        if first is not argument:
            argument.replace_all_uses_with(first)
            body.erase_arg(argument)
    inputs, maps = [operand for operand, _ in kept], [map for _, map in kept]
    set_operands(op, inputs, op.outputs[0], [*maps, written])


def _fuse(op: linalg.GenericOp) -> bool:
    """Compute one of the operands of `op` in its body; return whether there was one."""
    for number, operand in enumerate(op.inputs):
        producer = operand.owner
        if (
            isinstance(producer, linalg.GenericOp)
            and producer.parent is op.parent
            and operand.has_one_use()
            and (_reads_once(maps_of(op)[number]) or _is_in_place(producer, op, number))
            and is_elementwise(producer)
            and (is_identity(maps_of(op)[number]) or not has_index(producer))
            and len(op.inputs) + len(producer.inputs) <= MOST_OPERANDS
        ):
            maps = maps_of(op)
            read = [map.compose(maps[number]) for map in maps_of(producer)[:-1]]
            maps[number : number + 1] = read
            if _have_sizes(maps):
                _compute_within(op, number, producer, maps)
                return True
    return False


def _have_sizes(maps: Sequence[AffineMap]) -> bool:
    """Test whether each loop runs along a dim of an operand, which determines its size."""
    loops = {e.position for map in maps for e in map.results if isinstance(e, AffineDimExpr)}
    return len(loops) == maps[0].num_dims


def _reads_once(map: AffineMap) -> bool:
    """Test whether the map is a permutation of the loops: each element is read in one iteration."""
    return map.num_dims == len(map.results) and map.is_projected_permutation()


def _is_in_place(producer: linalg.GenericOp, op: linalg.GenericOp, number: int) -> bool:
    """Test whether `producer` only permutes, and leaves the vectors that a product reads alone."""
    *read, written = maps_of(producer)
    body, last = producer.body.block, written.results[-1:]
    return (
        len(read) == 1
        and body.first_op is body.last_op
        and read[0].is_projected_permutation()
        and read[0].results[-1:] == last
        and len(op.results) == 1
        and not is_parallel(op)
        and maps_of(op)[number].results[-1] == maps_of(op)[-1].results[-1]
    )


def _compute_within(
    op: linalg.GenericOp, number: int, producer: linalg.GenericOp, maps: Sequence[AffineMap]
) -> None:
    """Compute operand `number` of `op` in its body, as `producer` does; `maps` are then its own."""
    inputs = [*op.inputs]
    inputs[number : number + 1] = producer.inputs
    body, source = op.body.block, producer.body.block
    read, end = body.args[number], source.last_op
    assert isinstance(end, linalg.YieldOp)
    elements = [
        body.insert_arg(element_of(value), number + i) for i, value in enumerate(producer.inputs)
    ]
    read.replace_all_uses_with(end.operands[0])
    body.erase_arg(read)
    Rewriter.erase_op(end)
    Rewriter.inline_block(source, InsertPoint.at_start(body), [*elements, body.args[-1]])
    set_operands(op, inputs, op.outputs[0], maps)
    Rewriter.erase_op(producer)


@dataclass(frozen=True)
class FuseElementwisePass(KernelPass):
    """Make one loop of each chain of elementwise ops of a kernel."""

    name = "fuse-elementwise"

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        for op in ops_of(kernel, linalg.GenericOp):
            if len(op.results) == 1:
                _read_once_each(op)
                while _fuse(op):
                    _read_once_each(op)
        for op in ops_of(kernel, tensor.EmptyOp):
            if not op.tensor.uses:
                Rewriter.erase_op(op)
