"""
Compute a product whose reader cannot be in its tiles in a buffer of its own.

    %p = generic (sum of %x * %w)                   %b = memref.alloc(…)
    %r = generic (%p + %y[min(i, …), j])      ->    %p = generic (sum of %x * %w)
    materialize_in_destination %r in %out           materialize_in_destination %p in %b
                                                    generic {xrelay.untiled} (%out = %b + %y's …)

Such a reader extracts elements at indices that it computes, which no vector does: dims that may be
broadcast. A schedule then tiles the product, and its reader is a loop on buffers. At level
`memref`.
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override
from xdsl.dialects import bufferization, memref, tensor
from xdsl.dialects.builtin import UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...linalg.builder import Builder
from ..kernel_pass import KernelPass
from ..linalg_generics import (
    UNTILED,
    buffer_of,
    buffer_type,
    filled_empty,
    is_parallel,
    maps_of,
    ops_of,
    parallel_loops,
    store_of,
)
from ..schedules.nests import nest_between, nest_of


def _is_given(value: SSAValue) -> bool:
    """Test whether `value` is in a buffer, or a reshape of what is: no loop computes it."""
    while isinstance(value.owner, tensor.ExpandShapeOp | tensor.CollapseShapeOp):
        value = value.owner.operands[0]
    return isinstance(value.owner, bufferization.ToTensorOp)


def _is_in(op: Operation, loop: linalg.GenericOp) -> bool:
    """Test whether `op` is `loop`, or reads a tensor by index in its body."""
    return op is loop or (isinstance(op, tensor.ExtractOp) and loop.is_ancestor(op))


def _product_and_reader(kernel: FuncOp) -> tuple[linalg.GenericOp, linalg.GenericOp] | None:
    """Return the product of `kernel`, if tiles are for it, and the only other loop, its reader."""
    match ops_of(kernel, linalg.GenericOp):
        case [product, reader]:
            pass
        case _:
            return None
    nest = None if filled_empty(product) is None else nest_between(product, product)
    if (
        nest is None
        or not nest.has_product
        or not all(_is_in(use.operation, reader) for use in _reshaped(product).uses)
        or not all(map(_is_given, product.inputs))
        or not is_parallel(reader)
        or any(argument.uses for argument in reader.body.block.args[-1:])
        or store_of(reader) is None
    ):
        return None
    return product, reader


def _reshaped(product: linalg.GenericOp) -> SSAValue:
    """Return what the reader of `product` reads: the result, or the columns of all its panels."""
    result = product.results[0]
    reshape = result.get_user_of_unique_use()
    return reshape.result if isinstance(reshape, tensor.CollapseShapeOp) else result


def _in_buffer(product: linalg.GenericOp) -> SSAValue:
    """Store `product` in a new buffer, and return what its reader reads of it."""
    empty, result, read = filled_empty(product), product.results[0], _reshaped(product)
    assert empty is not None, "_product_and_reader has found it"
    buffer = memref.AllocOp(empty.dynamic_sizes, [], buffer_type(result))
    store = bufferization.MaterializeInDestinationOp.build(
        operands=[result, buffer],
        result_types=[[]],
        properties={"restrict": UnitAttr(), "writable": UnitAttr()},
    )
    Rewriter.insert_op(buffer, InsertPoint.after(empty))
    Rewriter.insert_op(store, InsertPoint.after(product))
    if not isinstance(reshape := read.owner, tensor.CollapseShapeOp):
        return buffer.memref
    columns = memref.CollapseShapeOp.create(
        operands=[buffer.memref],
        result_types=[buffer_type(read)],
        properties={"reassociation": reshape.reassociation},
    )
    Rewriter.insert_op(columns, InsertPoint.after(store))
    return columns.result


def _read_buffers(reader: linalg.GenericOp, product: SSAValue, buffer: SSAValue) -> None:
    """Let `reader` read and write buffers; that of `product` is `buffer`."""
    store = store_of(reader)
    assert store is not None, "_product_and_reader has found it"
    build = Builder(Block())
    build.location = reader.location

    def read(value: SSAValue) -> SSAValue:
        return buffer if value is product else build.insert(buffer_of(value))

    inputs = [read(value) for value in reader.inputs]
    for op in [*reader.body.walk()]:
        if isinstance(op, tensor.ExtractOp):
            Rewriter.replace_op(op, memref.LoadOp.get(read(op.tensor), op.indices))
    Rewriter.inline_block(build.block, InsertPoint.before(store))
    block = reader.body.detach_block(reader.body.block)
    loops = parallel_loops(reader, inputs, store.dest, maps_of(reader), block, UNTILED)
    Rewriter.insert_op(loops, InsertPoint.before(store))
    Rewriter.erase_op(store)
    Rewriter.erase_op(reader)


@dataclass(frozen=True)
class MaterializeProductsPass(KernelPass):
    """Compute products whose readers cannot be in their tiles in buffers of their own."""

    name = "materialize-products"

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        pair = _product_and_reader(kernel)
        if pair is None or nest_of(kernel) is not None:
            return
        product, reader = pair
        read = _reshaped(product)
        _read_buffers(reader, read, _in_buffer(product))
        if isinstance(read.owner, tensor.CollapseShapeOp):
            Rewriter.erase_op(read.owner)
