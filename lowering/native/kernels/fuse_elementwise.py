"""
Make one loop of each chain of elementwise ops of a kernel.

    %e = generic mul(%x, %s)               ->    %f = generic mul_add(%x, %s, %b)
    %f = generic add(%e, %b)

A loop that reads each element of a chain once, such as a transposition or a sum, computes it, too;
so does one that reads elements several times that are computed as fast, and one that extracts
elements at indices that it computes, which would need all of the chain in memory.
At level `memref`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override
from xdsl.dialects import tensor
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from ...linalg.builder import Builder, element_of
from ..kernel_pass import KernelPass
from ..linalg_generics import (
    has_index,
    indices_at,
    is_elementwise,
    is_parallel,
    is_simple,
    maps_of,
    ops_of,
    set_operands,
)

CHEAP = 4
"""The ops of a body that is computed again for each time that its result is read."""

CHEAP_OPS = frozenset(
    f"arith.{name}" for name in "addf subf mulf negf addi subi muli select constant".split()
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
            and (
                _reads_once(maps_of(op)[number])
                or _is_in_place(producer, op, number)
                or (is_parallel(op) and _is_cheap(producer) and is_simple(maps_of(op)[number]))
            )
            and is_elementwise(producer)
            and (_reads_once(maps_of(op)[number]) or not has_index(producer))
            and len(op.inputs) + len(producer.inputs) <= MOST_OPERANDS
        ):
            maps = maps_of(op)
            read = [map.compose(maps[number]) for map in maps_of(producer)[:-1]]
            maps[number : number + 1] = read
            if _have_sizes(maps):
                _renumber_indices(producer, maps_of(op)[number])
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


def _renumber_indices(producer: linalg.GenericOp, read: AffineMap) -> None:
    """Let the body of `producer` have the indices of the loops that read its result by `read`."""
    for index in [inner for inner in producer.body.walk() if isinstance(inner, linalg.IndexOp)]:
        loop = read.results[index.dim.value.data]
        assert isinstance(loop, AffineDimExpr), "the result is read once"
        Rewriter.replace_op(index, linalg.IndexOp(loop.position))


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


def _is_cheap(producer: linalg.GenericOp) -> bool:
    """Test whether an element of `producer` is computed as fast as it is read."""
    body = [op.name for op in producer.body.block.ops]
    return len(body) <= CHEAP and all(name in CHEAP_OPS for name in body[:-1])


def _compute_extracted(op: linalg.GenericOp) -> bool:
    """Compute an element that the body of `op` extracts there; return whether there was one."""
    for extract in [inner for inner in op.body.walk() if isinstance(inner, tensor.ExtractOp)]:
        producer = extract.tensor.owner
        if (
            isinstance(producer, linalg.GenericOp)
            and is_elementwise(producer)
            and all(map(is_simple, maps_of(producer)))
            and all(isinstance(use.operation, tensor.ExtractOp) for use in extract.tensor.uses)
            and not any(inner.name.startswith("math.") for inner in producer.body.walk())
            and not any(inner.regions for inner in producer.body.block.ops)
        ):
            _extract_operands(extract, producer)
            if not producer.results[0].uses:
                Rewriter.erase_op(producer)
            return True
    return False


def _extract_operands(extract: tensor.ExtractOp, producer: linalg.GenericOp) -> None:
    """Compute the element that `extract` reads, as `producer` does, from those of its operands."""
    build, indices, values = Builder(Block()), extract.indices, dict[SSAValue, SSAValue]()
    build.location = extract.location
    for operand, map, argument in zip(
        producer.inputs, maps_of(producer), producer.body.block.args, strict=False
    ):
        values[argument] = build.extract(operand, indices_at(map, indices))
    *body, end = producer.body.block.ops
    for inner in body:
        if isinstance(inner, linalg.IndexOp):
            values[inner.result] = indices[inner.dim.value.data]
        else:
            build.insert_all(inner.clone(values))
    (result,) = (values.get(v, v) for v in end.operands)
    Rewriter.inline_block(build.block, InsertPoint.before(extract))
    Rewriter.replace_op(extract, [], [result])


@dataclass(frozen=True)
class FuseElementwisePass(KernelPass):
    name = "fuse-elementwise"

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        for op in ops_of(kernel, linalg.GenericOp):
            if len(op.results) == 1:
                _read_once_each(op)
                while _fuse(op) or _compute_extracted(op):
                    _read_once_each(op)
        for op in ops_of(kernel, tensor.EmptyOp):
            if not op.tensor.uses:
                Rewriter.erase_op(op)
