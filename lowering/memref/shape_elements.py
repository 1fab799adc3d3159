"""
Shapes as their elements.

    %s = vm.shape_of %x              ->    %0 = memref.dim %x, %c0
    %n = tensor.extract %s[%c0]            %n = arith.index_cast %0 : index to i64

A shape that a kernel or function reads is stored into a buffer on the stack. A shape function
becomes a function that writes its results into buffers. `checked_arithmetic` computes sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects import arith, func, memref, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Operation, SSAValue, Use
from xdsl.rewriter import Rewriter

from ...dialects import memory, relay, vm
from ...dialects.dense import integer
from ...passes.support.diagnostics import PassError
from .conversion_state import Writer, converts
from .memref_types import as_memref


def reads_elements(use: Use) -> bool:
    """Test whether `use` reads the elements of a shape one by one, where they are known."""
    op = use.operation
    if isinstance(op, memory.AllocTensorOp | vm.ReshapeTensorOp):
        return op.shape is op.operands[use.index] and use.index > 0
    if isinstance(op, tensor.ExtractOp):
        return all(integer(index) is not None for index in op.indices)
    return isinstance(op, relay.YieldOp) and isinstance(op.parent_op(), relay.ShapeFuncOp)


def elements_of(shape: SSAValue, w: Writer) -> Sequence[SSAValue]:
    """Return the elements of `shape`, a vector of i64; they are loaded if it is in memory."""
    if isinstance(shape.owner, tensor.FromElementsOp):
        return shape.owner.elements
    count = as_memref(shape.type).get_shape()[0]
    return [w.load(shape, w.index(i)) for i in range(count)]


@converts(vm.ShapeOfOp)
def convert_shape_of(op: vm.ShapeOfOp, w: Writer) -> None:
    """Read the dims of a tensor."""
    dims = enumerate(as_memref(op.data.type).get_shape())
    replace_shape(
        op,
        [
            w.as_number(w.dim(op.data, i)) if dim == DYNAMIC_INDEX else w.number64(dim)
            for i, dim in dims
        ],
        w,
    )


@converts(tensor.FromElementsOp)
def convert_from_elements(op: tensor.FromElementsOp, w: Writer) -> None:
    """Keep the elements of a shape; store those of one that is read as a tensor."""
    replace_shape(op, op.elements, w)


def replace_shape(op: Operation, elements: Sequence[SSAValue], w: Writer) -> None:
    """Replace `op`, a tensor of `elements`."""
    (result,) = op.results
    stored = [use for use in result.uses if not reads_elements(use)]
    if stored:
        type = w.type_of(result)
        rank = type.get_num_dims()
        if len(elements) != 1 and rank != 1:
            raise PassError(f"{op.name} must be of rank 0 or 1, but is {result.type}", op)
        buffer = w.value(memref.AllocaOp.get(type.element_type, None, type.get_shape()))
        buffer.name_hint = result.name_hint
        for i, element in enumerate(elements):
            w(memref.StoreOp.get(element, buffer, [w.index(i)] * rank))
        for use in stored:
            use.operation.operands[use.index] = buffer
    if not result.uses:
        w.rewriter.erase(op)
    elif not isinstance(op, tensor.FromElementsOp):
        types = [result.type]
        shape = tensor.FromElementsOp.create(operands=list(elements), result_types=types)
        w.rewriter.replace(op, shape)


@converts(tensor.ExtractOp)
def convert_extract(op: tensor.ExtractOp, w: Writer) -> None:
    """Read an element."""
    source = op.tensor.owner
    indices = [integer(index) for index in op.indices]
    if isinstance(source, tensor.FromElementsOp):
        (at,) = indices or [0]
        if at is None or not 0 <= at < len(source.elements):
            raise PassError(f"index {at} is out of range [0, {len(source.elements)})", op)
        w.replace(source.elements[at])
        return
    shape = as_memref(op.tensor.type).get_shape()
    for i, (index, known, dim) in enumerate(zip(op.indices, indices, shape, strict=True)):
        if known is not None and 0 <= known < dim:
            continue
        if known is not None and dim != DYNAMIC_INDEX:
            raise PassError(f"index {known} is out of range [0, {dim})", op)
        room = w.dim(op.tensor, i)
        ok = w.value(arith.CmpiOp(index, room, "ult"))
        numbers = [w.as_number(value) for value in (index, room)]
        w.require(ok, "index {0} is out of range [0, {1})", numbers)
    w.replace(w.load(op.tensor, *op.indices))


@converts(tensor.DimOp)
def convert_dim(op: tensor.DimOp, w: Writer) -> None:
    """Read a dim of a tensor."""
    known, type = integer(op.index), op.source.type
    if not isinstance(type, MemRefType):  # in a kernel
        return
    rank = type.get_num_dims()
    if known is None or not 0 <= known < rank:
        raise PassError(f"the dim must be a constant in [0, {rank}), but is {known}", op)
    w.rewriter.replace(op, memref.DimOp(op.source, op.index))


@converts(relay.ShapeFuncOp)
def convert_shape_function(op: relay.ShapeFuncOp, w: Writer) -> None:
    """Make a shape function a function that writes its results into buffers."""
    block = op.body.block
    end = block.last_op
    assert isinstance(end, relay.YieldOp), "verified: a shape function yields"
    before = w.before(end)
    for type, value in zip(op.function_type.outputs, end.values, strict=True):
        converted = w.state.types(type, op)
        out = w.rewriter.insert_block_argument(block, len(block.args), converted)
        for i, element in enumerate(elements_of(value, before)):
            before(memref.StoreOp.get(element, out, [before.index(i)]))
    w.rewriter.replace(end, func.ReturnOp())
    body = op.detach_region(op.body)
    w.rewriter.replace(
        op, func.FuncOp(op.sym_name.data, (block.arg_types, []), body, "private"), []
    )


def erase_unused_sizes(ops: Iterable[Operation]) -> None:
    """Erase those of `ops`, users first, that compute a size that nothing reads."""
    for op in ops:
        if isinstance(op, _SIZES) and not any(result.uses for result in op.results):
            Rewriter.erase_op(op)


_SIZES = (
    tensor.FromElementsOp,
    memref.DimOp,
    memref.GetGlobalOp,
    arith.IndexCastOp,
    arith.ConstantOp,
)
