"""
Functions, kernels, calls of both, and branches.

    func.func @f(%x: tensor<4xf32>, %r: !memory.storage {memory.result = 0 : i64}) -> tensor<4xf32>
    %z = relay.if %c : tensor<i1> -> (tensor<4xf32>) { … } else { … }
    %y = vm.invoke_tvm_op @k ins(%x : …) outs(%t : …)
    ->
    func.func @f(%x: memref<4xf32>, %r: memref<?xi8> {memory.result = 0 : i64})
    %0 = memref.load %c[] : memref<i1>
    %z = scf.if %0 -> (memref<4xf32>) { … } else { … }
    func.call @k(%x, %t) : (memref<4xf32>, memref<4xf32>) -> ()

A result that lies in a storage of the caller is not returned: of its shape, the function returns
the dims that are not static. Any other result belongs to the caller, who frees it. A kernel writes
into the buffers of its results; that of `relay.scratch`, it may use as it likes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects import arith, bufferization, func, memref, scf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from ...dialects import memory, relay, vm
from ...dialects.relay.language.annotations import NAME
from ...dialects.turns import span_of
from ...dialects.xdsl_extras.xdsl_internals import set_type
from ...passes.functions.signatures import set_types
from ...passes.support.diagnostics import PassError
from ...passes.support.walk import only_block
from .conversion_state import Conversion, Writer, converts, kept
from .memref_types import as_memref

INDEX = IndexType()

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
    kept = [entries.data[i] for i in chosen] if chosen is not None else entries.data
    plain = [
        DictionaryAttr({name: a for name, a in entry.data.items() if says_something(name, a)})
        for entry in kept
    ]
    return ArrayAttr(plain) if any(entry.data for entry in plain) else None


def lent_results(function: func.FuncOp) -> dict[int, int]:
    """Return the results that lie in a storage of the caller: the parameter of each."""
    parameters = range(len(function.function_type.inputs))
    results = ((memory.result_in_parameter(function, i), i) for i in parameters)
    return {result: i for result, i in results if result is not None}


def convert_signature(function: func.FuncOp, state: Conversion) -> None:
    """Convert the parameters and the type of a function; its body comes later."""
    types, lent = state.types, state.lent[function.sym_name.data]
    if function.body.blocks:
        convert_arguments(only_block(function), state)
    outputs = [types(type, function) for type in function.function_type.outputs]
    inputs = [types(type, function) for type in function.function_type.inputs]
    set_types(function, inputs, returned_types(outputs, lent))
    function.arg_attrs = plain_entries(function.arg_attrs)
    function.res_attrs = None if lent else plain_entries(function.res_attrs)
    kept = {n: a for n, a in function.attributes.items() if says_something(n, a)}
    function.attributes = kept


def convert_arguments(block: Block, state: Conversion) -> None:
    """Convert the types of the parameters of a function or shape function."""
    for argument in block.args:
        set_type(argument, state.types.of(argument))


def dynamic_count(type: Attribute) -> int:
    """Return the number of dims of a memref that are not static."""
    return as_memref(type).get_shape().count(DYNAMIC_INDEX)


def returned_types(types: Sequence[Attribute], lent: Mapping[int, int]) -> list[Attribute]:
    """Return the types of what a function returns: of a result that is lent, its dims."""
    of_each = ([INDEX] * dynamic_count(t) if i in lent else [t] for i, t in enumerate(types))
    return [type for types in of_each for type in types]


@converts(func.ReturnOp)
def convert_return(op: func.ReturnOp, w: Writer) -> None:
    """Return what is not in a storage of the caller."""
    function = op.parent_op()
    assert isinstance(function, func.FuncOp), "verified: a function returns"
    lent = w.state.lent.get(function.sym_name.data, {})
    outputs = function.function_type.outputs.data
    values: list[SSAValue] = []
    for i, value in enumerate(op.arguments):
        if i in lent:
            values += w.dynamic_dims(value)
        else:
            values.append(w.cast_to(value, outputs[len(values)]))
    w.rewriter.replace(op, func.ReturnOp(*values))


@converts(func.CallOp)
def convert_call(op: func.CallOp, w: Writer) -> None:
    """Call a function; a result in a storage that is lent to it is a view of that."""
    name = op.callee.string_value()
    if name not in w.state.lent:  # of the runtime
        return
    lent = w.state.lent[name]
    types = [w.state.types.of(result) for result in op.results]
    inputs = w.state.functions[name].function_type.inputs
    args = [w.cast_to(a, t) for a, t in zip(op.arguments, inputs, strict=True)]
    call = w(func.CallOp(op.callee, args, returned_types(types, lent)))
    call.attributes = kept(op)
    rest = iter(call.results)
    values: list[SSAValue] = []
    for i, type in enumerate(types):
        if i not in lent:
            values.append(next(rest))
            continue
        dims = [next(rest) for _ in range(dynamic_count(type))]
        view = memref.ViewOp(op.arguments[lent[i]], w.index(0), dims, as_memref(type))
        values.append(w.value(view))
    w.replace(*values)


@converts(relay.IfOp)
def convert_if(op: relay.IfOp, w: Writer) -> None:
    """Branch on a number in memory; the regions are converted already."""
    condition = w.load(op.condition)
    if condition.type != i1:
        zero = w.state.number(0, condition.type, op)
        condition = w.value(arith.CmpiOp(condition, zero, "ne"))
    types = [w.state.types.of(result) for result in op.results]
    then, other = [op.detach_region(region) for region in (*op.regions,)]
    for region in (then, other):
        end = region.block.last_op
        assert isinstance(end, relay.YieldOp), "verified: a region yields"
        at_end = w.before(end)
        values = [at_end.cast_to(v, t) for v, t in zip(end.values, types, strict=True)]
        w.rewriter.replace(end, scf.YieldOp(*values))
    w.replace_by(scf.IfOp(condition, types, then, other))


def reject_objects(op: Operation) -> None:
    """Reject an op on closures, data types or references, which only the machine has."""
    if isinstance(op, _OBJECTS):
        raise PassError(
            f"{op.name} is run by the machine only (xrelay-opt -p vm, xrelay-run): native code "
            "has no closures, data types, references or generic functions",
            op,
        )
    if isinstance(op, memory.PackOp):
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


KERNEL = "xrelay.kernel"
"""Marks the function of a kernel; one that is only declared is called through the runtime."""


@converts(vm.DestinationCall)
def convert_kernel_call(op: vm.DestinationCall, w: Writer) -> None:
    """Call a kernel, or a shape function, with the buffers of its results."""
    call = func.CallOp(op.callee, [on_host(operand, w) for operand in op.operands], [])
    w(needed_in_turns(call, op, w))
    call.attributes = kept(op)
    w.replace(*op.outs)


def needed_in_turns(call: func.CallOp, op: vm.DestinationCall, w: Writer) -> Operation:
    """Return what makes a call in the turns of its loop in which its result is needed."""
    span = span_of(op.properties.get("turns"))
    if span is None or op.parent is None:
        return call
    (turn,), (first, stop) = op.parent.args, span
    since = w.value(arith.SubiOp(turn, w.index(first)))
    is_needed = w.value(arith.CmpiOp(since, w.index(stop - first), "ult"))
    return scf.IfOp(is_needed, [], [call, scf.YieldOp()])


def on_host(value: SSAValue, w: Writer) -> SSAValue:
    """Return `value` as a memref of no device: a kernel runs on all of them."""
    type = as_memref(value.type)
    plain = MemRefType(type.element_type, type.shape)
    return value if type == plain else w.value(memref.MemorySpaceCastOp(value, plain))


@converts(relay.PrimFuncOp)
def convert_kernel(op: relay.PrimFuncOp, w: Writer) -> None:
    """Let a kernel write its results into buffers; declare one that is not lowered."""
    types, name = w.state.types, op.sym_name.data
    inputs = [types.of(argument) for argument in op.body.block.args]
    outputs = [types(type, op) for type in op.function_type.outputs]
    if op.has_operators:
        new = func.FuncOp.external(name, [*inputs, *outputs], [])
        more = {"llvm.emit_c_interface": UnitAttr()}
    else:
        body = _with_buffers(op, inputs, outputs, w)
        new, more = func.FuncOp(name, ([*inputs, *outputs], []), body, "private"), {}
    new.attributes = {**kept(op), KERNEL: UnitAttr(), **more}
    w.rewriter.replace(op, new, [])


def _with_buffers(
    op: relay.PrimFuncOp, inputs: Sequence[Attribute], outputs: Sequence[Attribute], w: Writer
) -> Region:
    """Return the body of a kernel whose parameters are buffers."""
    block, rewriter = op.body.block, w.rewriter
    for number, (argument, type) in enumerate(zip(tuple(block.args), inputs, strict=True)):
        plain = rewriter.insert_block_argument(block, 2 * number, type)
        plain.name_hint = argument.name_hint
        to_tensor = bufferization.ToTensorOp(plain, restrict=True)
        rewriter.insert(to_tensor, InsertPoint.at_start(block))
        argument.replace_all_uses_with(to_tensor.tensor)
    for argument in tuple(block.args)[1::2]:
        rewriter.erase_block_argument(argument)
    end = block.last_op
    assert isinstance(end, relay.YieldOp), "verified: a kernel yields"
    unused: list[Operation] = []
    for value, type in zip(end.values, outputs, strict=True):
        out = rewriter.insert_block_argument(block, len(block.args), type)
        if isinstance(value.owner, tensor.EmptyOp) and value.has_one_use():
            unused.append(value.owner)  # it has no contents: code may write there
            continue
        w.before(end)(
            bufferization.MaterializeInDestinationOp.create(
                operands=[value, out], properties={"restrict": UnitAttr(), "writable": UnitAttr()}
            )
        )
    rewriter.replace(end, func.ReturnOp())
    for empty in unused:
        rewriter.erase(empty)
    return op.detach_region(op.body)
