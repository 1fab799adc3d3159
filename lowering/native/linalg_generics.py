"""
Facts of `linalg.generic` ops, how one is changed, and those that are products of matrices.

Products are loops `(…, m, k) x (k, n)` and `(i, m, k) x (i, k, n)` of f32 and f64, whose sums start
at zero. Each operand may be transposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from xdsl.dialects import arith, bufferization, memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    Float32Type,
    Float64Type,
    FloatAttr,
    MemRefType,
    UnitAttr,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from ..linalg.builder import Builder, Size, tensor_of

OpT = TypeVar("OpT", bound=Operation)

TRANSPOSING = "xrelay.transposing"
"""The attribute of loops on buffers that read along one dim and write along another."""

UNTILED = "xrelay.untiled"
"""The attribute of loops on buffers that no schedule is for."""

PART = "xrelay.part"
"""The attribute of loops on buffers that compute a part of the result."""

SIDE = 16
"""The sides of a square, in elements of 32 bits, in which these are tiled."""


def is_elementwise(op: linalg.GenericOp) -> bool:
    """Test whether `op` is pointwise, and its result is a fresh `tensor.empty`."""
    return is_pointwise(op) and isinstance(op.outputs[0].owner, tensor.EmptyOp)


def is_pointwise(op: linalg.GenericOp) -> bool:
    """Test whether `op` computes each element of one result by itself, in their order."""
    maps, block = maps_of(op), op.body.block
    return (
        len(op.results) == 1
        and is_parallel(op)
        and is_identity(maps[-1])
        and not block.args[-1].uses
    )


def is_copy(op: linalg.GenericOp) -> bool:
    """Test whether `op` copies its operand."""
    end = op.body.block.first_op
    return (
        is_pointwise(op)
        and len(op.inputs) == 1
        and is_identity(maps_of(op)[0])
        and isinstance(end, linalg.YieldOp)
        and end.operands[0] is op.body.block.args[0]
    )


def is_parallel(op: linalg.GenericOp) -> bool:
    """Test whether `op` computes one result, each element of it by itself."""
    kinds = (kind.data for kind in op.iterator_types)
    return len(op.outputs) == 1 and all(kind == IteratorType.PARALLEL for kind in kinds)


def sides_of(op: linalg.GenericOp) -> set[int]:
    """Return the loops along the last dims of the operands of `op`: the sides of its squares."""
    lasts = [map.results[-1] for map in maps_of(op) if map.results]
    return {last.position for last in lasts if isinstance(last, AffineDimExpr)}


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


def indices_at(map: AffineMap, loops: Sequence[SSAValue]) -> list[Size]:
    """Return the indices of an operand of a simple `map` in a turn of `loops`, given theirs."""
    return [
        loops[expr.position] if isinstance(expr, AffineDimExpr) else expr.eval([], [])
        for expr in map.results
    ]


MOST_DEPTH = 128
"""The rows of open columns, some of which are on the stack: 32 of f32 have 16 KiB."""

ALIGNED = 32
"""The number of known columns is a multiple of this, so that tiles are whole for all processors."""


def has_panels(shape: Sequence[int]) -> bool:
    """Test whether some columns of a matrix (…, k, n) can be copied at a time."""
    *_, k, n = shape
    return 0 < k <= MOST_DEPTH if n == DYNAMIC_INDEX else k > 0 and n % ALIGNED == 0


def is_panel(op: Operation | Block) -> bool:
    """
    Test whether `op` copies (…, k, n), or transposes (…, n, k) to it, for a product.

    `register_tile` computes some of its columns at a time.
    """
    if not isinstance(op, linalg.GenericOp) or not is_elementwise(op) or len(op.inputs) != 1:
        return False
    (read, written), body, shape = maps_of(op), op.body.block, tensor_of(op.results[0]).get_shape()
    reader = op.results[0].get_user_of_unique_use()
    return (
        isinstance(reader, linalg.GenericOp)
        and not is_parallel(reader)
        and len(reader.inputs) == 2
        and body.first_op is body.last_op
        and read.is_projected_permutation()
        and (read == written or read.results[-1:] == written.results[-2:-1])
        and has_panels(shape)
    )


def store_of(op: linalg.GenericOp) -> bufferization.MaterializeInDestinationOp | None:
    """Return the store of the result of `op` into a buffer, if that is its only use."""
    store = op.results[0].get_user_of_unique_use()
    is_store = isinstance(store, bufferization.MaterializeInDestinationOp)
    return store if is_store and isinstance(store.dest.type, MemRefType) else None


def ops_of(kernel: FuncOp, kind: type[OpT]) -> list[OpT]:
    """Return the ops of a class in the body of `kernel`, in order."""
    return [op for op in kernel.body.block.ops if isinstance(op, kind)]


def set_operands(
    op: linalg.GenericOp, inputs: Sequence[SSAValue], out: SSAValue, maps: Sequence[AffineMap]
) -> None:
    """Give `op` other operands; the arguments of its body are those for them already."""
    op.operands = [*inputs, out]
    op.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, [len(inputs), 1])
    op.properties["indexing_maps"] = ArrayAttr(map(AffineMapAttr, maps))


def parallel_loops(
    like: linalg.GenericOp,
    inputs: Sequence[SSAValue],
    out: SSAValue,
    maps: Sequence[AffineMap],
    block: Block,
    mark: str = TRANSPOSING,
) -> linalg.GenericOp:
    """Return parallel loops at the location of `like`; those on buffers have `mark`."""
    kinds = [IteratorTypeAttr(IteratorType.PARALLEL)] * maps[-1].num_dims
    on_buffers = isinstance(out.type, MemRefType)
    types = [] if on_buffers else [out.type]
    attributes = [*map(AffineMapAttr, maps)]
    op = linalg.GenericOp(inputs, [out], Region(block), attributes, kinds, types)
    op.location = like.location
    if on_buffers:
        op.attributes[mark] = UnitAttr()
    return op


def compute_together(op: linalg.GenericOp, reduction: linalg.GenericOp) -> None:
    """Compute the elements that `op` writes in `reduction`, which reads them; both on buffers."""
    number = [*reduction.inputs].index(op.outputs[0])
    maps, read = maps_of(op), maps_of(reduction)
    others = [i for i in range(len(reduction.inputs)) if i != number]
    inputs = [*op.inputs, *(reduction.inputs[i] for i in others)]
    outs = [*op.outputs, *reduction.outputs]
    types = (cast("MemRefType[Attribute]", value.type) for value in (*inputs, *outs))
    block = Block(arg_types=[type.element_type for type in types])
    *given, element, total = block.args
    value = inlined(op.body.block, block, [*given[: len(op.inputs)], element])
    terms: list[SSAValue] = [*given[len(op.inputs) :], total]
    terms.insert(number, value)
    block.add_op(linalg.YieldOp(value, inlined(reduction.body.block, block, terms)))
    loops = [*maps[:-1], *(read[i] for i in others), maps[-1], read[-1]]
    attributes = [*map(AffineMapAttr, loops)]
    both = linalg.GenericOp(inputs, outs, Region(block), attributes, reduction.iterator_types, [])
    both.location, both.attributes[UNTILED] = reduction.location, UnitAttr()
    Rewriter.replace_op(reduction, both)
    Rewriter.erase_op(op)


def inlined(body: Block, block: Block, args: Sequence[SSAValue]) -> SSAValue:
    """Move `body`, a loop's, to the end of `block`; return what it yields."""
    end = body.last_op
    assert isinstance(end, linalg.YieldOp)
    value = end.operands[0]
    Rewriter.erase_op(end)
    if value in body.args:
        value = args[body.args.index(value)]
    Rewriter.inline_block(body, InsertPoint.at_end(block), args)
    return value


def buffer_of(value: SSAValue) -> Operation:
    """Return an op that makes the buffer of a tensor, which is only read."""
    return bufferization.ToBufferOp.create(
        operands=[value], result_types=[buffer_type(value)], properties={"read_only": UnitAttr()}
    )


def buffer_dims(build: Builder, buffer: SSAValue) -> list[Size]:
    """Return the dims of a buffer."""
    shape = cast("MemRefType[Attribute]", buffer.type).get_shape()
    return [
        build.insert(memref.DimOp(buffer, build.index(axis))) if size == DYNAMIC_INDEX else size
        for axis, size in enumerate(shape)
    ]


def sizes_of(empty: tensor.EmptyOp) -> list[Size]:
    """Return the sizes of an empty tensor."""
    dynamic = iter(empty.dynamic_sizes)
    shape = tensor_of(empty.tensor).get_shape()
    return [next(dynamic) if size == DYNAMIC_INDEX else size for size in shape]


def buffer_type(value: SSAValue) -> MemRefType[Attribute]:
    """Return the type of a buffer for a tensor."""
    return MemRefType(tensor_of(value).element_type, tensor_of(value).get_shape())


ELEMENTS = frozenset({Float32Type(), Float64Type()})
"""The types of which products are recognized."""


@dataclass(frozen=True)
class Product:
    """A product of matrices, or of as many pairs of matrices as there are batches."""

    op: linalg.GenericOp
    batches: int
    """The number of leading dims of the result that count pairs."""
    steps: tuple[bool, bool]
    """By operand, true if it has a matrix for each batch, false if one for all."""
    transposed: tuple[bool, bool]
    """By operand, true if it is transposed: (k, m), (n, k)."""


def product_of(op: linalg.GenericOp) -> Product | None:
    """Return the product that `op` computes, if it is one."""
    kinds = [kind.data for kind in op.iterator_types]
    rank = len(kinds) - 1
    maps = maps_of(op)
    if (
        rank < 2
        or kinds != [*[IteratorType.PARALLEL] * rank, IteratorType.REDUCTION]
        or len(maps) != 3
        or list(maps[2].results) != _loops(range(rank))
        or not _starts_at_zero(op)
        or not _adds_products(op)
    ):
        return None
    a, b, _ = maps
    k = rank
    for batches in {0, rank - 2}:
        rows = list(range(batches, rank - 1))
        left = _matrix(a, batches, _loops([*rows, k]), _loops([k, *rows]))
        right = _matrix(b, batches, _loops([k, rank - 1]), _loops([rank - 1, k]))
        if left is None or right is None or (left[1] and len(rows) != 1):
            continue
        return Product(op, batches, (left[0], right[0]), (left[1], right[1]))
    return None


def _matrix(
    map: AffineMap, batches: int, plain: list[AffineExpr], transposed: list[AffineExpr]
) -> tuple[bool, bool] | None:
    """Return whether the operand of `map` has a matrix for each batch, and is transposed."""
    results = list(map.results)
    split = len(results) - len(plain)
    if split < 0 or results[split:] not in (plain, transposed):
        return None
    leading = results[:split]
    if batches and leading == _loops(range(batches)):
        return True, results[split:] != plain
    if all(isinstance(e, AffineConstantExpr) and e.value == 0 for e in leading):
        return False, results[split:] != plain
    return None


def _loops(numbers: range | list[int]) -> list[AffineExpr]:
    return [AffineExpr.dimension(number) for number in numbers]


def _starts_at_zero(op: linalg.GenericOp) -> bool:
    fill = op.outputs[0].owner
    if not isinstance(fill, linalg.FillOp) or filled_empty(op) is None:
        return False
    number = fill.inputs[0].owner
    return (
        isinstance(number, arith.ConstantOp)
        and isinstance(number.value, FloatAttr)
        and number.value.value.data == 0
    )


def filled_empty(op: linalg.GenericOp) -> tensor.EmptyOp | None:
    """Return the tensor that is filled for the sums of `op`."""
    fill = op.outputs[0].owner
    empty = fill.outputs[0].owner if isinstance(fill, linalg.FillOp) else None
    return empty if isinstance(empty, tensor.EmptyOp) else None


def _adds_products(op: linalg.GenericOp) -> bool:
    """Test whether the body of `op` is a sum of products, of one of `ELEMENTS`."""
    block = op.body.block
    types = {argument.type for argument in block.args}
    if len(types) != 1 or not types <= ELEMENTS or len(block.args) != 3:
        return False
    body = [*block.ops]
    if len(body) != 3:
        return False
    times, plus, end = body
    x, y, sum = block.args
    return (
        isinstance(times, arith.MulfOp)
        and isinstance(plus, arith.AddfOp)
        and {times.lhs, times.rhs} == {x, y}
        and {plus.lhs, plus.rhs} == {sum, times.result}
        and list(end.operands) == [plus.result]
    )
