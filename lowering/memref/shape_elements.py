"""
Shapes as their elements.

    %s = vm.shape_of %x              ->    %0 = memref.dim %x, %c0
    %n = tensor.extract %s[%c0]            %n = arith.index_cast %0 : index to i64

A shape that a kernel or function reads is stored into a buffer on the stack. A shape function
becomes a function that writes its results into buffers. `arithmetic` has what computes sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, func, memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    MemRefType,
    i64,
)
from xdsl.ir import Operation, SSAValue, Use
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects import memory, relay, vm
from ...dialects.tensors import as_tensor
from ...passes.sizes.reader import integer
from ...passes.support.diagnostics import PassError
from ..upstream_sizes.checked_arithmetic import require
from .conversion_state import Conversion, Inserter
from .memref_types import as_memref


def reads_elements(use: Use) -> bool:
    """Test whether `use` reads the elements of a shape one by one, where they are known."""
    op = use.operation
    if isinstance(op, memory.AllocTensorOp | vm.ReshapeTensorOp):
        return op.shape is op.operands[use.index] and use.index > 0
    if isinstance(op, tensor.ExtractOp):
        return all(integer(index) is not None for index in op.indices)
    return isinstance(op, relay.YieldOp) and isinstance(op.parent_op(), relay.ShapeFuncOp)


def elements_of(
    shape: SSAValue, state: Conversion, at: Operation, insert: Inserter
) -> Sequence[SSAValue]:
    """Return the elements of `shape`, a vector of i64; they are loaded if it is in memory."""
    if isinstance(shape.owner, tensor.FromElementsOp):
        return shape.owner.elements
    count = as_memref(shape.type).get_shape()[0]
    return [insert.value(load(shape, [state.index(i, at)])) for i in range(count)]


def load(buffer: SSAValue, indices: Sequence[SSAValue]) -> memref.LoadOp:
    return memref.LoadOp.create(
        operands=[buffer, *indices], result_types=[as_memref(buffer.type).element_type]
    )


@dataclass(frozen=True)
class ConvertShapeOf(RewritePattern):
    """Read the dims of a tensor."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vm.ShapeOfOp, rewriter: PatternRewriter, /) -> None:
        insert = Inserter(rewriter, InsertPoint.before(op))
        dims: list[SSAValue] = []
        for i, dim in enumerate(as_memref(op.data.type).get_shape()):
            if dim != DYNAMIC_INDEX:
                dims.append(self.state.number64(dim, op))
                continue
            found = insert.value(memref.DimOp(op.data, self.state.index(i, op)))
            dims.append(insert.value(arith.IndexCastOp(found, i64)))
        replace_shape(op, dims, self.state, rewriter)


@dataclass(frozen=True)
class ConvertFromElements(RewritePattern):
    """Keep the elements of a shape; store those of one that is read as a tensor."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.FromElementsOp, rewriter: PatternRewriter, /) -> None:
        replace_shape(op, op.elements, self.state, rewriter)


def replace_shape(
    op: Operation, elements: Sequence[SSAValue], state: Conversion, rewriter: PatternRewriter
) -> None:
    """Replace `op`, a tensor of `elements`."""
    (result,) = op.results
    insert = Inserter(rewriter, InsertPoint.before(op))
    stored = [use for use in result.uses if not reads_elements(use)]
    if stored:
        type = as_memref(state.types.of(result))
        if len(elements) != 1 and type.get_num_dims() != 1:
            raise PassError(f"{op.name} must be of rank 0 or 1, but is {result.type}", op)
        buffer = insert.value(memref.AllocaOp.get(type.element_type, None, type.get_shape()))
        buffer.name_hint = result.name_hint
        for i, element in enumerate(elements):
            at = [state.index(i if len(elements) > 1 else 0, op)] * type.get_num_dims()
            insert(memref.StoreOp.get(element, buffer, at))
        for use in stored:
            use.operation.operands[use.index] = buffer
    if not result.uses:
        rewriter.erase(op)
    elif not isinstance(op, tensor.FromElementsOp):
        rewriter.replace(
            op, tensor.FromElementsOp.create(operands=list(elements), result_types=[result.type])
        )


@dataclass(frozen=True)
class ConvertExtract(RewritePattern):
    """Read an element."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.ExtractOp, rewriter: PatternRewriter, /) -> None:
        source = op.tensor.owner
        indices = [integer(index) for index in op.indices]
        if isinstance(source, tensor.FromElementsOp):
            (at,) = indices or [0]
            if at is None or not 0 <= at < len(source.elements):
                raise PassError(f"index {at} is out of range [0, {len(source.elements)})", op)
            rewriter.replace(op, [], [source.elements[at]])
            return
        insert = Inserter(rewriter, InsertPoint.before(op))
        type = as_memref(op.tensor.type)
        for i, (index, dim) in enumerate(zip(op.indices, type.get_shape(), strict=True)):
            known = indices[i]
            if known is not None and (0 <= known < dim):
                continue
            if known is not None and dim != DYNAMIC_INDEX:
                raise PassError(f"index {known} is out of range [0, {dim})", op)
            room = insert.value(memref.DimOp(op.tensor, self.state.index(i, op)))
            ok = insert.value(arith.CmpiOp(index, room, "ult"))
            numbers = [insert.value(arith.IndexCastOp(v, i64)) for v in (index, room)]
            require(self.state, op, ok, "index {0} is out of range [0, {1})", numbers, insert)
        rewriter.replace(op, load(op.tensor, op.indices))


@dataclass(frozen=True)
class ConvertDim(RewritePattern):
    """Read a dim of a tensor."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.DimOp, rewriter: PatternRewriter, /) -> None:
        known, type = integer(op.index), op.source.type
        if not isinstance(type, MemRefType):  # in a kernel
            return
        rank = type.get_num_dims()
        if known is None or not 0 <= known < rank:
            raise PassError(f"the dim must be a constant in [0, {rank}), but is {known}", op)
        rewriter.replace(op, memref.DimOp(op.source, op.index))


@dataclass(frozen=True)
class EraseUnusedShape(RewritePattern):
    """Erase an op that computes a size that nothing reads."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if isinstance(op, _SIZES) and not any(result.uses for result in op.results):
            rewriter.erase(op)


_SIZES = (
    tensor.FromElementsOp,
    memref.DimOp,
    memref.GetGlobalOp,
    arith.IndexCastOp,
    arith.ConstantOp,
)


@dataclass(frozen=True)
class ConvertDenseConstant(RewritePattern):
    """Read a tensor that `arith` defines from a global of the module."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.ConstantOp, rewriter: PatternRewriter, /) -> None:
        value = op.value
        if isinstance(value, DenseIntOrFPElementsAttr) and as_tensor(op.result.type) is not None:
            found = self.state.constant(value, self.state.types.of(op.result))
            rewriter.replace(op, memref.GetGlobalOp(found.sym_name.data, found.type))


@dataclass(frozen=True)
class ConvertShapeFunction(RewritePattern):
    """Make a shape function a function that writes its results into buffers."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.ShapeFuncOp, rewriter: PatternRewriter, /) -> None:
        block = op.body.block
        outs = [
            rewriter.insert_block_argument(block, len(block.args), self.state.types(type, op))
            for type in op.function_type.outputs
        ]
        end = block.last_op
        assert isinstance(end, relay.YieldOp), "verified: a shape function yields"
        insert = Inserter(rewriter, InsertPoint.before(end))
        for out, value in zip(outs, end.values, strict=True):
            for i, element in enumerate(elements_of(value, self.state, end, insert)):
                insert(memref.StoreOp.get(element, out, [self.state.index(i, end)]))
        rewriter.replace(end, func.ReturnOp())
        body = op.detach_region(op.body)
        new = func.FuncOp(op.sym_name.data, (block.arg_types, []), body, "private")
        rewriter.replace(op, new, [])
