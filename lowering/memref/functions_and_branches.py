"""
Functions, calls of them, and branches.

    func.func @f(%x: tensor<4xf32>, %r: !memory.storage {memory.result = 0 : i64}) -> tensor<4xf32>
    %z = relay.if %c : tensor<i1> -> (tensor<4xf32>) { … } else { … }
    ->
    func.func @f(%x: memref<4xf32>, %r: memref<?xi8> {memory.result = 0 : i64})
    %0 = memref.load %c[] : memref<i1>
    %z = scf.if %0 -> (memref<4xf32>) { … } else { … }

A result that lies in a storage of the caller is not returned: of its shape, the function returns
the dims that are not static. Any other result belongs to the caller, who frees it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects import memory, relay
from ...dialects.relay.language.annotations import NAME
from ...passes.analysis.blocks import only_block
from ...passes.support.diagnostics import PassError
from .conversion_state import Conversion, Inserter, kept
from .memref_types import MemRef, as_memref
from .shape_elements import load

_PLAIN = (
    StringAttr,
    IntegerAttr,
    FloatAttr,
    UnitAttr,
    SymbolRefAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    BytesAttr,
)


def is_plain(attribute: Attribute) -> bool:
    """Test whether upstream MLIR reads `attribute`."""
    if isinstance(attribute, ArrayAttr):
        return all(map(is_plain, cast("ArrayAttr[Attribute]", attribute).data))
    if isinstance(attribute, DictionaryAttr):
        return all(map(is_plain, attribute.data.values()))
    return isinstance(attribute, _PLAIN)


def says_something(name: str, attribute: Attribute) -> bool:
    """Test whether an attribute of a function, parameter or result is still meaningful."""
    return is_plain(attribute) and (name == NAME or not name.startswith("relay."))


def plain_entries(
    entries: ArrayAttr[DictionaryAttr] | None, chosen: Sequence[int] | None = None
) -> ArrayAttr[DictionaryAttr] | None:
    """Return the attributes of parameters or results that upstream MLIR reads; those `chosen`."""
    if entries is None:
        return None
    found = [entries.data[i] for i in chosen] if chosen is not None else entries.data
    plain = [
        DictionaryAttr({name: a for name, a in entry.data.items() if says_something(name, a)})
        for entry in found
    ]
    return ArrayAttr(plain) if any(entry.data for entry in plain) else None


def lent_results(function: func.FuncOp) -> dict[int, int]:
    """Return the results that lie in a storage of the caller: the parameter of each."""
    found: dict[int, int] = {}
    for i, _ in enumerate(function.function_type.inputs):
        result = memory.parameter_attributes(function, i).get(memory.RESULT)
        if isinstance(result, IntegerAttr):
            found[result.value.data] = i
    return found


@dataclass(frozen=True)
class ConvertSignature(RewritePattern):
    """Convert the parameters of a function or shape function; its body comes later."""

    state: Conversion
    lent: Mapping[str, Mapping[int, int]]

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if isinstance(op, relay.ShapeFuncOp):
            self._convert_arguments(op.body.block, rewriter)
        elif isinstance(op, func.FuncOp):
            if op.body.blocks:
                self._convert_arguments(only_block(op), rewriter)
            types, lent = self.state.types, self.lent[op.sym_name.data]
            inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
            results: list[Attribute] = []
            for i, type in enumerate(outputs):
                converted = types(type, op)
                if i in lent:
                    results += [IndexType()] * as_memref(converted).get_shape().count(DYNAMIC_INDEX)
                else:
                    results.append(converted)
            op.function_type = FunctionType.from_lists([types(t, op) for t in inputs], results)
            op.arg_attrs = plain_entries(op.arg_attrs)
            op.res_attrs = None if lent else plain_entries(op.res_attrs)
            op.attributes = {n: a for n, a in op.attributes.items() if says_something(n, a)}
            rewriter.notify_op_modified(op)

    def _convert_arguments(self, block: Block, rewriter: PatternRewriter) -> None:
        for argument in block.args:
            rewriter.replace_value_with_new_type(argument, self.state.types.of(argument))


@dataclass(frozen=True)
class ConvertReturn(RewritePattern):
    """Return what is not in a storage of the caller."""

    state: Conversion
    lent: Mapping[str, Mapping[int, int]]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.ReturnOp, rewriter: PatternRewriter, /) -> None:
        function = op.parent_op()
        if not isinstance(function, func.FuncOp):
            return
        lent = self.lent.get(function.sym_name.data, {})
        outputs = iter(function.function_type.outputs)
        insert = Inserter(rewriter, InsertPoint.before(op))
        values: list[SSAValue] = []
        for i, value in enumerate(op.arguments):
            if i in lent:
                dims = dynamic_dims(value, self.state, op, insert)
                values += dims
                for _ in dims:
                    next(outputs)
            else:
                values.append(cast_to(value, next(outputs), insert))
        rewriter.replace(op, func.ReturnOp(*values))


def dynamic_dims(
    value: SSAValue, state: Conversion, at: Operation, insert: Inserter
) -> list[SSAValue]:
    """Read the dims of `value`, a memref, that are not static."""
    return [
        insert.value(memref.DimOp(value, state.index(i, at)))
        for i, dim in enumerate(as_memref(value.type).get_shape())
        if dim == DYNAMIC_INDEX
    ]


def cast_to(value: SSAValue, type: Attribute, insert: Inserter) -> SSAValue:
    """Return `value` as a memref of `type`, which knows more or fewer dims."""
    if value.type == type or not isinstance(type, MemRefType):
        return value
    return insert.value(memref.CastOp.get(value, cast(MemRef, type)))


@dataclass(frozen=True)
class ConvertCall(RewritePattern):
    """Call a function; a result in a storage that is lent to it is a view of that."""

    state: Conversion
    lent: Mapping[str, Mapping[int, int]]
    functions: Mapping[str, func.FuncOp]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.CallOp, rewriter: PatternRewriter, /) -> None:
        name = op.callee.string_value()
        if name not in self.lent:  # of the runtime
            return
        lent = self.lent[name]
        types = [self.state.types.of(result) for result in op.results]
        returned: list[Attribute] = []
        for i, type in enumerate(types):
            dims = as_memref(type).get_shape().count(DYNAMIC_INDEX) if i in lent else 0
            returned += [IndexType()] * dims if i in lent else [type]
        insert = Inserter(rewriter, InsertPoint.before(op))
        inputs = self.functions[name].function_type.inputs
        args = [cast_to(a, t, insert) for a, t in zip(op.arguments, inputs, strict=True)]
        call = insert(func.CallOp(op.callee, args, returned))
        call.attributes = kept(op)
        rest = iter(call.results)
        values: list[SSAValue] = []
        for i, type in enumerate(types):
            if i not in lent:
                values.append(next(rest))
                continue
            count = as_memref(type).get_shape().count(DYNAMIC_INDEX)
            dims = [next(rest) for _ in range(count)]
            storage, zero = op.arguments[lent[i]], self.state.index(0, op)
            values.append(insert.value(memref.ViewOp(storage, zero, dims, as_memref(type))))
        rewriter.replace(op, [], values)


@dataclass(frozen=True)
class ConvertIf(RewritePattern):
    """Branch on a number in memory; the regions are converted already."""

    state: Conversion

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.IfOp, rewriter: PatternRewriter, /) -> None:
        insert = Inserter(rewriter, InsertPoint.before(op))
        condition = insert.value(load(op.condition, []))
        if condition.type != i1:
            zero = self.state.number(0, condition.type, op)
            condition = insert.value(arith.CmpiOp(condition, zero, "ne"))
        types = [self.state.types.of(result) for result in op.results]
        then, other = [op.detach_region(region) for region in (*op.regions,)]
        for region in (then, other):
            end = region.block.last_op
            assert isinstance(end, relay.YieldOp), "verified: a region yields"
            at_end = Inserter(rewriter, InsertPoint.before(end))
            values = [cast_to(v, t, at_end) for v, t in zip(end.values, types, strict=True)]
            rewriter.replace(end, scf.YieldOp(*values))
        new = scf.IfOp(condition, types, then, other)
        new.attributes = kept(op)
        rewriter.replace(op, new)


@dataclass(frozen=True)
class RejectObjects(RewritePattern):
    """Reject an op on closures, data types or references, which only the machine has."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if isinstance(op, relay.TypeDataOp):
            rewriter.erase(op)
        elif isinstance(op, _OBJECTS):
            raise PassError(
                f"{op.name} is run by the machine only (xrelay-opt -p vm, xrelay-run): native code "
                "has no closures, data types, references or generic functions",
                op,
            )
        elif isinstance(op, memory.PackOp):
            raise PassError(
                "offsets that are chosen when the sizes are known need the machine: lay out slices "
                "without at_bind (layout-slices{dynamic=symbolic})",
                op,
            )


_OBJECTS = (
    relay.InvokeOp,
    relay.CallOp,
    relay.GlobalOp,
    relay.ClosureOp,
    relay.ConstructOp,
    relay.MatchOp,
    relay.RefCreateOp,
    relay.RefReadOp,
    relay.RefWriteOp,
)
