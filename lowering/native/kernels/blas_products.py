"""
Let a library compute the products of matrices in a kernel.

    %f = linalg.fill ins(0.0) …                      %c = memref.alloc() : memref<8x32xf32>
    %p = linalg.generic (sum of %x * %w into %f)     call @xrelay_sgemm(%x's, %w's and %c's address,
                                               ->        the sizes)
                                                     %p = bufferization.to_tensor %c restrict
    … %p …                                           … %p …

Products are `(…, m, k) x (k, n)` and `(i, m, k) x (i, k, n)`, each operand maybe transposed, of f32
and f64. A product that is the kernel's result is computed in its place.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, bufferization, func, memref, tensor
from xdsl.dialects.builtin import (
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    MemRefType,
    UnitAttr,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Attribute, Block, BlockArgument, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap
from xdsl.rewriter import Rewriter

from ...linalg.builder import Builder, Size, tensor_of
from .linalg_generics import maps_of

FUNCTIONS: dict[Attribute, str] = {Float32Type(): "xrelay_sgemm", Float64Type(): "xrelay_dgemm"}
"""By element type, the function in blas.c."""


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


def call_product(product: Product) -> None:
    """Let a function of blas.c compute `product`."""
    op = product.op
    empty = _empty(op)
    assert empty is not None, "product_of has found it"
    block = op.parent
    assert block is not None
    out = _destination(op)
    a, b = op.inputs
    build = Builder(Block())
    build.location = op.location
    sizes = _sizes(empty, build)
    *rows, n = sizes[product.batches :]
    axis = len(tensor_of(a).shape) - (2 if product.transposed[0] else 1)
    k = build.dim(a, axis)
    m = _product(build, rows)
    result = MemRefType(tensor_of(op.results[0]).element_type, tensor_of(op.results[0]).get_shape())
    if out is None:
        dynamic = [size for size in sizes if not isinstance(size, int)]
        c = build.insert(memref.AllocOp(dynamic, [], result))
    else:
        c = out.dest
    matrices = build.mul(m, k), build.mul(k, n)
    steps = [size if has else 0 for size, has in zip(matrices, product.steps, strict=True)]
    buffers = [_address(build, _buffer(build, value)) for value in (a, b)]
    count = _product(build, sizes[: product.batches])
    numbers = [build.index(x) for x in (count, m, n, k, *steps, *map(int, product.transposed))]
    name = FUNCTIONS[result.element_type]
    build.insert_all(func.CallOp(name, [*buffers, _address(build, c), *numbers], []))
    if out is None:
        value = build.insert(bufferization.ToTensorOp(c, restrict=True))
        op.results[0].replace_all_uses_with(value)
    else:
        Rewriter.erase_op(out)
    ops = [*build.block.ops]
    for inner in ops:
        inner.detach()
    block.insert_ops_before(ops, op)
    Rewriter.erase_op(op)


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
    if not isinstance(fill, linalg.FillOp) or _empty(op) is None:
        return False
    number = fill.inputs[0].owner
    return (
        isinstance(number, arith.ConstantOp)
        and isinstance(number.value, FloatAttr)
        and number.value.value.data == 0
    )


def _empty(op: linalg.GenericOp) -> tensor.EmptyOp | None:
    """Return the tensor that is filled for the sums of `op`."""
    fill = op.outputs[0].owner
    empty = fill.outputs[0].owner if isinstance(fill, linalg.FillOp) else None
    return empty if isinstance(empty, tensor.EmptyOp) else None


def _adds_products(op: linalg.GenericOp) -> bool:
    """Test whether the body of `op` is a sum of products, of a type that the library has."""
    block = op.body.block
    types = {argument.type for argument in block.args}
    if len(types) != 1 or not types <= FUNCTIONS.keys() or len(block.args) != 3:
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


def _destination(op: linalg.GenericOp) -> bufferization.MaterializeInDestinationOp | None:
    """Return the store of the result of `op` into a parameter, if that is its only use."""
    uses = [*op.results[0].uses]
    store = uses[0].operation if len(uses) == 1 else None
    if not isinstance(store, bufferization.MaterializeInDestinationOp):
        return None
    type = tensor_of(op.results[0])
    same = MemRefType(type.element_type, type.get_shape())
    return store if isinstance(store.dest, BlockArgument) and store.dest.type == same else None


def _sizes(empty: tensor.EmptyOp, build: Builder) -> list[Size]:
    dynamic = iter(empty.dynamic_sizes)
    shape = tensor_of(empty.tensor).get_shape()
    return [next(dynamic) if size < 0 else size for size in shape]


def _product(build: Builder, sizes: list[Size]) -> Size:
    total: Size = 1
    for size in sizes:
        total = build.mul(total, size)
    return total


def _buffer(build: Builder, value: SSAValue) -> SSAValue:
    type = tensor_of(value)
    buffer = MemRefType(type.element_type, type.get_shape())
    return build.insert(
        bufferization.ToBufferOp.create(
            operands=[value], result_types=[buffer], properties={"read_only": UnitAttr()}
        )
    )


def _address(build: Builder, buffer: SSAValue) -> SSAValue:
    op = memref.ExtractAlignedPointerAsIndexOp.create(operands=[buffer], result_types=[IndexType()])
    return build.insert(op)
