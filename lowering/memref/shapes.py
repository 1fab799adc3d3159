"""
Sizes and shapes: arithmetic on i64 that fails instead of wrapping, shapes as their elements.

    %s = vm.shape_of %x                            %0 = memref.dim %x, %c0
    %n = tensor.extract %s[%c0]                    %n = arith.index_cast %0 : index to i64
    %b = arith.muli %n, %c32 : i64           ->    %b = func.call @xrelay.muli(%n, %c32)
    relay.require eq %n, %m, "{0}, but {1}"        %ok = arith.cmpi eq, %n, %m : i64
                                                   func.call @xrelay_require(%ok, %code, %n, %m)

A shape that a kernel or function reads is stored into a buffer on the stack. A shape function
becomes a function that writes its results into buffers; see `checked` for those of the module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, func, memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    MemRefType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue, Use
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects import memory, relay, vm
from ...dialects.tensors import AnyInteger, as_tensor
from ...operators.sizes import Check
from ...passes.support.diagnostics import PassError
from ..measures import NotArithmetic, Writer, constant_of, write_measure
from . import checked
from .conversion import Conversion, Inserter
from .types import as_memref


def reads_elements(use: Use) -> bool:
    """Test whether `use` reads the elements of a shape one by one, where they are known."""
    op = use.operation
    if isinstance(op, memory.AllocTensorOp | vm.ReshapeTensorOp):
        return op.shape is op.operands[use.index] and use.index > 0
    if isinstance(op, tensor.ExtractOp):
        return all(constant_of(index) is not None for index in op.indices)
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
        indices = [constant_of(index) for index in op.indices]
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
        known, type = constant_of(op.index), op.source.type
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


_CHECKED: Mapping[type[Operation], str] = {
    arith.AddiOp: "addi",
    arith.SubiOp: "subi",
    arith.MuliOp: "muli",
    arith.DivSIOp: "divsi",
    arith.RemSIOp: "remsi",
    arith.FloorDivSIOp: "floordivsi",
    arith.CeilDivSIOp: "ceildivsi",
}
"""The function of each op that may fail."""

_SIZES = (
    tensor.FromElementsOp,
    memref.DimOp,
    memref.GetGlobalOp,
    arith.IndexCastOp,
    arith.ConstantOp,
)


@dataclass(frozen=True)
class ConvertArithmetic(RewritePattern):
    """Compute a size by a function that fails when the result does not fit."""

    state: Conversion

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        name = _CHECKED.get(type(op))
        if name is None:
            return
        (result,) = op.results
        type_, insert = result.type, Inserter(rewriter, InsertPoint.before(op))
        if type_ == i1:
            raise PassError(f"{op.name} on sizes must not be of i1", op)
        wide = [widened(operand, insert) for operand in op.operands]
        found = insert.value(self.state.call_helper(name, wide))
        found.name_hint = result.name_hint
        rewriter.replace(op, [], [narrowed(found, type_, self.state, op, insert)])


def widened(value: SSAValue, insert: Inserter) -> SSAValue:
    """Return the number `value` as an i64."""
    if value.type == i64:
        return value
    cast = arith.IndexCastOp if isinstance(value.type, IndexType) else arith.ExtSIOp
    return insert.value(cast(value, i64))


def narrowed(
    value: SSAValue, type: object, state: Conversion, at: Operation, insert: Inserter
) -> SSAValue:
    """Return the i64 `value` as a number of `type`; the program stops if it does not fit."""
    if type == i64:
        return value
    if isinstance(type, IndexType):
        return insert.value(arith.IndexCastOp(value, type))
    assert isinstance(type, IntegerType)
    width = cast(AnyInteger, type).width.data
    found = insert.value(arith.TruncIOp(value, IntegerType(width)))
    back = insert.value((arith.ExtUIOp if width == 1 else arith.ExtSIOp)(found, i64))
    ok = insert.value(arith.CmpiOp(back, value, "eq"))
    message = f"{{0}} does not fit in {width} bits"
    require(state, at, ok, message, [value], insert)
    return found


@dataclass(frozen=True)
class ConvertTruncation(RewritePattern):
    """Narrow a number, which must fit."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.TruncIOp, rewriter: PatternRewriter, /) -> None:
        insert = Inserter(rewriter, InsertPoint.before(op))
        wide = widened(op.input, insert)
        rewriter.replace(op, [], [narrowed(wide, op.result.type, self.state, op, insert)])


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


_PLACEHOLDER = re.compile(r"\{(\d+)\}")


def require(
    state: Conversion,
    at: Operation,
    ok: SSAValue,
    message: str,
    values: Sequence[SSAValue],
    insert: Inserter,
) -> None:
    """
    Insert a check that stops the program with `message` unless `ok`.

    `{i}` in the message stands for `values[i]`, an i64. The runtime shows two numbers that are
    computed; constants become text, and further numbers a question mark.
    """
    shown: list[SSAValue] = []

    def text(found: re.Match[str]) -> str:
        value = values[int(found[1])]
        known = constant_of(value)
        if known is not None:
            return str(known)
        if value not in shown:
            if len(shown) == 2:
                return "?"
            shown.append(value)
        return f"{{{shown.index(value)}}}"

    code = state.code(_PLACEHOLDER.sub(text, message))
    zero = [state.number64(0, at)] * (2 - len(shown))
    insert(state.call_helper(checked.REQUIRE, [ok, state.number64(code, at), *shown, *zero], None))


@dataclass(frozen=True)
class ConvertRequire(RewritePattern):
    """Stop the program if two sizes are not in a relation."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.RequireOp, rewriter: PatternRewriter, /) -> None:
        state, insert = self.state, Inserter(rewriter, InsertPoint.before(op))
        a, b = constant_of(op.lhs), constant_of(op.rhs)
        if a is None or b is None or not Check(op.check.data).holds(a, b):
            ok = self._condition(op, insert)
            require(state, op, ok, op.message.data, op.operands, insert)
        rewriter.erase(op)

    def _condition(self, op: relay.RequireOp, insert: Inserter) -> SSAValue:
        a, b, state = op.lhs, op.rhs, self.state

        def is_(predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
            return insert.value(arith.CmpiOp(lhs, rhs, predicate))

        def either(*conditions: SSAValue) -> SSAValue:
            found, *others = conditions
            for other in others:
                found = insert.value(arith.OrIOp(found, other))
            return found

        one = state.number64(1, op)
        match Check(op.check.data):
            case Check.EQUAL:
                return is_("eq", a, b)
            case Check.AT_LEAST:
                return is_("sge", a, b)
            case Check.AT_MOST:
                return is_("sle", a, b)
            case Check.ONE_OR_EQUAL:
                return either(is_("eq", a, one), is_("eq", a, b))
            case Check.BROADCAST:
                return either(is_("eq", a, b), is_("eq", a, one), is_("eq", b, one))
            case Check.DIVISIBLE:
                divides = is_("sgt", b, state.number64(0, op))
                divisor = insert.value(arith.SelectOp(divides, b, one))
                rest = insert.value(arith.RemSIOp(a, divisor))
                exact = is_("eq", rest, state.number64(0, op))
                return insert.value(arith.AndIOp(divides, exact))


@dataclass(frozen=True)
class ConvertMeasure(RewritePattern):
    """Compute a size that `arith` has no single op for."""

    state: Conversion
    types: Mapping[relay.MeasureOp, Sequence[Attribute]]
    """The types of each op's arguments before the conversion: integers are signed or not."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.MeasureOp, rewriter: PatternRewriter, /) -> None:
        insert = Inserter(rewriter, InsertPoint.before(op))

        def fail(ok: SSAValue, message: str, values: Sequence[SSAValue]) -> None:
            require(self.state, op, ok, message, values, insert)

        try:
            size = write_measure(Writer(insert, fail), op, op.args, self.types[op])
        except NotArithmetic as error:
            raise PassError(str(error), op) from error
        size.name_hint = size.name_hint or op.size.name_hint
        rewriter.replace(op, [], [size])


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
