"""
Let OpenBLAS compute the products of matrices in kernels.

    %f = linalg.fill ins(0.0) …                      %c = memref.alloc() : memref<8x32xf32>
    %p = linalg.generic (sum of %x * %w into %f)     call @xrelay_sgemm(%x's, %w's and %c's address,
                                               ->        the sizes)
                                                     %p = bufferization.to_tensor %c restrict
    … %p …                                           … %p …

Products are `(…, m, k) x (k, n)` and `(i, m, k) x (i, k, n)`, each operand maybe transposed, of f32
and f64. A product that is the kernel's result is computed in its place. At level `memref`.
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects import bufferization, func, memref
from xdsl.dialects.builtin import Float32Type, Float64Type, IndexType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Block, BlockArgument, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...linalg.builder import Builder, Size, tensor_of
from ..kernel_pass import KernelPass, kernels_of
from ..linalg_generics import (
    Product,
    buffer_of,
    buffer_type,
    filled_empty,
    ops_of,
    product_of,
    sizes_of,
    store_of,
)
from ..schedules import schedules_of

FUNCTIONS: dict[Attribute, str] = {Float32Type(): "xrelay_sgemm", Float64Type(): "xrelay_dgemm"}
"""By element type, the function in blas.c."""


def call_product(product: Product) -> None:
    """Let a function of blas.c compute `product`."""
    op = product.op
    empty = filled_empty(op)
    assert empty is not None, "product_of has found it"
    out = _destination(op)
    a, b = op.inputs
    build = Builder(Block())
    build.location = op.location
    sizes = sizes_of(empty)
    *rows, n = sizes[product.batches :]
    axis = len(tensor_of(a).shape) - (2 if product.transposed[0] else 1)
    k = build.dim(a, axis)
    m = _product(build, rows)
    result = buffer_type(op.results[0])
    if out is None:
        dynamic = [size for size in sizes if not isinstance(size, int)]
        c = build.insert(memref.AllocOp(dynamic, [], result))
    else:
        c = out.dest
    matrices = build.mul(m, k), build.mul(k, n)
    steps = [size if has else 0 for size, has in zip(matrices, product.steps, strict=True)]
    buffers = [_address(build, build.insert(buffer_of(value))) for value in (a, b)]
    count = _product(build, sizes[: product.batches])
    numbers = [build.index(x) for x in (count, m, n, k, *steps, *map(int, product.transposed))]
    name = FUNCTIONS[result.element_type]
    build.insert_all(func.CallOp(name, [*buffers, _address(build, c), *numbers], []))
    if out is None:
        value = build.insert(bufferization.ToTensorOp(c, restrict=True))
        op.results[0].replace_all_uses_with(value)
    else:
        Rewriter.erase_op(out)
    Rewriter.inline_block(build.block, InsertPoint.before(op))
    Rewriter.erase_op(op)


def _destination(op: linalg.GenericOp) -> bufferization.MaterializeInDestinationOp | None:
    """Return the store of the result of `op` into a parameter, if that is its only use."""
    store = store_of(op)
    if store is None or not isinstance(store.dest, BlockArgument):
        return None
    return store if store.dest.type == buffer_type(op.results[0]) else None


def _product(build: Builder, sizes: list[Size]) -> Size:
    total: Size = 1
    for size in sizes:
        total = build.mul(total, size)
    return total


def _address(build: Builder, buffer: SSAValue) -> SSAValue:
    op = memref.ExtractAlignedPointerAsIndexOp.create(operands=[buffer], result_types=[IndexType()])
    return build.insert(op)


def called_in(module: ModuleOp) -> dict[str, list[Attribute]]:
    """Return the functions of blas.c that kernels of `module` call, with their parameters."""
    calls = (op for kernel in kernels_of(module) for op in kernel.walk())
    names = set(FUNCTIONS.values())
    return {
        op.callee.string_value(): [value.type for value in op.operands]
        for op in calls
        if isinstance(op, func.CallOp) and op.callee.string_value() in names
    }


@dataclass(frozen=True)
class CallBlasPass(KernelPass):
    name = "call-blas"

    unscheduled: bool = False
    """If set, only those of kernels for which `choose-schedules` found no schedule."""

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        if self.unscheduled and schedules_of(kernel):
            return
        for product in filter(None, map(product_of, ops_of(kernel, linalg.GenericOp))):
            call_product(product)

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        super().apply(ctx, op)
        defined = {f.sym_name.data for f in op.ops if isinstance(f, FuncOp)}
        for name, inputs in called_in(op).items():
            if name not in defined:
                op.body.block.add_op(FuncOp.external(name, inputs, []))
