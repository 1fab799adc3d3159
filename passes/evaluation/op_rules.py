"""Evaluation of ops other than tensor operators: a dict from op to rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Protocol, TypeAlias, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import memory, relay, vm
from ...dialects.device import tensor_type
from ...dialects.relay.language.match_patterns import (
    ConstructorPattern,
    VarPattern,
    WildcardPattern,
    subpatterns,
)
from ...dialects.tensors import Tensor, as_tensor
from ...operators import storage_errors
from ...operators.orders import Orders
from ...runtime.memory.limits import Memory
from ...runtime.weights.derived_weights import ArraySource, Weights
from ..analysis.arrays import Array, array_of, numpy_dtype
from ..support.diagnostics import PassError
from .evaluated_values import (
    ClosureValue,
    DataValue,
    Enter,
    Frame,
    GlobalClosure,
    PackValue,
    RefValue,
    Value,
)
from .kernel_calls import require_shape, static_type
from .size_arithmetic import SIZES, require_relation


class Evaluation(Protocol):
    """The evaluation that a rule takes part in."""

    params: Mapping[str, Array]
    memory: Memory

    def captured_by(self, function: relay.FnOp) -> Sequence[SSAValue]:
        """Return the values that a closure captures."""
        ...

    def enter(self, function: str, args: Sequence[Value]) -> Enter:
        """Return the request to evaluate a function of the module in a frame of its own."""
        ...

    def size_block(self, op: memory.WorkspaceSizeOp) -> Block:
        """Return the block that computes the size of a workspace from shapes."""
        ...


Rule: TypeAlias = Callable[
    [Evaluation, Operation, Sequence[Value], Frame], "Sequence[Value] | Enter"
]


def constant(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> Sequence[Value]:
    assert isinstance(op, relay.ConstantOp)
    array = array_of(op.value)
    if array is None:
        raise PassError(f"NumPy has no dtype for the elements of {op.result.type}", op)
    return [array]


def param(
    evaluation: Evaluation, op: Operation, args: Sequence[Value], frame: Frame
) -> Sequence[Value]:
    assert isinstance(op, relay.ParamOp)
    name, weights = op.param.data, Weights(ArraySource(evaluation.params))
    if name not in weights:
        raise PassError(f'param "{name}" has no value', op)
    value = weights.array(name)
    type = as_tensor(op.result.type)
    assert type is not None
    if value.shape != type.get_shape() or value.dtype != numpy_dtype(type):
        raise PassError(
            f'param "{op.param.data}" is {value.dtype}{list(value.shape)}, '
            f"but is declared as {type}",
            op,
        )
    frozen = value.view()  # a kill must not poison it
    frozen.flags.writeable = False
    return [frozen]


def project(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> Sequence[Value]:
    assert isinstance(op, relay.TupleGetItemOp)
    return [args[0][op.index.value.data]]


def choose(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> Enter:
    assert isinstance(op, relay.IfOp)
    region = op.then_region if bool(args[0]) else op.else_region
    return Enter(region.block, (), frame)


def close_over(
    evaluation: Evaluation, op: Operation, args: Sequence[Value], frame: Frame
) -> list[Value]:
    assert isinstance(op, relay.FnOp)
    captured = {value: frame[value] for value in evaluation.captured_by(op)}
    return [ClosureValue(op.body.block, captured, op.recursive is not None)]


def call_value(evaluation: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> Enter:
    callee, given = args[0], args[1:]
    if isinstance(callee, GlobalClosure):
        return evaluation.enter(callee.name, (*callee.captured, *given))
    assert isinstance(callee, ClosureValue)
    own = (callee, *given) if callee.recursive else given
    return Enter(callee.body, own, dict(callee.captured))


def call_symbol(
    evaluation: Evaluation, op: Operation, args: Sequence[Value], frame: Frame
) -> Enter:
    return evaluation.enter(cast(SymbolRefAttr, op.properties["callee"]).string_value(), args)


def invoke(evaluation: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> Enter:
    """Call a function, and check the dims of arguments and results: the verifier does not."""
    assert isinstance(op, relay.InvokeOp)
    name = op.callee.string_value()
    entered = evaluation.enter(name, args)
    for param, arg in zip(entered.block.args, args, strict=True):
        require_shape(param.type, arg, op, f"a parameter of @{name}")

    def check(results: Sequence[Value]) -> Sequence[Value]:
        for result, value in zip(op.results, results, strict=True):
            require_shape(result.type, value, op, f"the result of @{name}")
        return results

    return Enter(entered.block, entered.args, entered.frame, check)


def global_value(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    assert isinstance(op, relay.GlobalOp | relay.ClosureOp)
    return [GlobalClosure(op.callee.string_value(), tuple(args))]


def construct(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    assert isinstance(op, relay.ConstructOp)
    return [DataValue(op.constructor.data, tuple(args))]


def match(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> Enter:
    assert isinstance(op, relay.MatchOp)
    for pattern, region in zip(op.patterns, op.cases, strict=True):
        bound = fit(pattern, args[0])
        if bound is not None:
            return Enter(region.block, bound, frame)
    raise PassError("no case of this match fits the value", op)


def fit(pattern: Attribute, value: Value) -> list[Value] | None:
    """Return the values of the pattern's variables; None if it does not fit."""
    if isinstance(pattern, VarPattern):
        return [value]
    if isinstance(pattern, WildcardPattern):
        return []
    fields = cast("tuple[Value, ...]", value)
    if isinstance(pattern, ConstructorPattern):
        assert isinstance(value, DataValue)
        if value.constructor != pattern.constructor.data:
            return None
        fields = value.fields
    bound: list[Value] = []
    for part, field in zip(subpatterns(pattern), fields, strict=True):
        inner = fit(part, field)
        if inner is None:
            return None
        bound += inner
    return bound


def ref_create(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    return [RefValue(args[0])]


def ref_read(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    return [args[0].value]


def ref_write(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    args[0].value = args[1]
    return [()]


def alloc_storage(
    evaluation: Evaluation, op: Operation, args: Sequence[Value], frame: Frame
) -> list[Value]:
    assert isinstance(op, memory.AllocStorageOp)
    size = int(args[0]) if op.size is None else op.size.value.data
    if size < 0:
        raise PassError(storage_errors.negative_size(size), op)
    return [evaluation.memory.array((size,), np.uint8, "a storage")]


def slice_storage(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    assert isinstance(op, memory.SliceStorageOp)
    dynamic = iter(args[1:])
    offset = int(next(dynamic)) if op.offset is None else op.offset.value.data
    size = int(next(dynamic)) if op.size is None else op.size.value.data
    if size < 0 or not 0 <= offset <= args[0].size - size:
        raise PassError(storage_errors.outside_storage("a slice", size, offset, args[0].size), op)
    return [args[0][offset : offset + size]]


def workspace_size(
    evaluation: Evaluation, op: Operation, args: Sequence[Value], frame: Frame
) -> Enter:
    assert isinstance(op, memory.WorkspaceSizeOp)
    return Enter(evaluation.size_block(op), args, {})


def alloc_tensor(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    assert isinstance(op, memory.AllocTensorOp)
    offset = int(args[1]) if op.offset is None else op.offset.value.data
    type = _of_shape(op.tensor, args[-1] if op.shape is not None else None)
    shape, dtype = static_type(type, op.tensor)
    size = prod(shape) * dtype.itemsize
    if not 0 <= offset <= args[0].size - size:
        raise PassError(storage_errors.outside_storage("a tensor", size, offset, args[0].size), op)
    return [args[0][offset : offset + size].view(dtype).reshape(shape)]


def _of_shape(result: SSAValue, shape: Array | None) -> Tensor:
    """Return the type of `result`, with the dims of `shape` if there is one."""
    type = as_tensor(result.type)
    assert type is not None
    if shape is None:
        return type
    dims = [int(dim) for dim in shape]
    declared = zip(dims, type.get_shape(), strict=True)
    if any(dim < 0 or known not in (dim, DYNAMIC_INDEX) for dim, known in declared):
        raise PassError(f"the shape is {dims}, which does not fit {type}", result)
    return tensor_type(type.element_type, dims)


def reshape(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    assert isinstance(op, vm.ReshapeTensorOp)
    dims = _of_shape(op.result, args[1] if op.shape is not None else None).get_shape()
    if prod(dims) != args[0].size:
        raise PassError(f"a tensor of {args[0].size} elements cannot be viewed as {dims}", op)
    return [args[0].reshape(dims)]


def shape_of(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    return [np.array(args[0].shape, np.int64)]


def size(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    return [SIZES[type(op)](op, args)]


def require(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    assert isinstance(op, relay.RequireOp)
    require_relation(op, args)
    return []


def pack(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    """Return the pack, and its totals once they are known."""
    assert isinstance(op, memory.PackOp)
    return [PackValue(memory.Packing(op))]


def slice_of_pack(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    """Lay the slices out as ordered, or one after the other, at the last of them."""
    value, slices = args[0], args[0].packing.slices
    if op is not slices[-1]:
        return [0]
    packing = value.packing
    sizes = [int(frame[size]) if isinstance(size, SSAValue) else size for size in packing.sizes]
    orders = packing.orders or Orders.one_after_the_other(
        packing.alignment, len(slices), packing.rows
    )
    value.totals, offsets = orders.laid_out(sizes)
    frame.update(zip((slice.offset for slice in slices), offsets, strict=True))
    return [offsets[-1]]


def total_of_pack(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    assert isinstance(op, memory.TotalOp)
    totals = args[0].totals
    return [totals[op.pool_number] if op.pool_number < len(totals) else 0]


def copy(_: Evaluation, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    np.copyto(args[1], args[0])
    return [args[1]]


def kill(
    evaluation: Evaluation, op: Operation, args: Sequence[Value], frame: Frame
) -> Sequence[Value]:
    """Poison the bytes, if memory is poisoned; constants are read-only and stay."""
    rest = list(args) if evaluation.memory.poison else []
    seen: set[int] = set()  # values may share parts; a reference may contain itself
    while rest:
        value = rest.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        match value:
            case np.ndarray() if value.flags.writeable and value.flags.c_contiguous:
                cast(Array, value).reshape(-1).view(np.uint8).fill(evaluation.memory.blank)
            case tuple():
                rest += cast("tuple[Value, ...]", value)
            case DataValue():
                rest += value.fields
            case ClosureValue():
                rest += value.captured.values()
            case RefValue():
                rest.append(value.value)
            case _:
                pass
    return []


def destination_call(
    evaluation: Evaluation, op: Operation, args: Sequence[Value], frame: Frame
) -> Enter:
    """Evaluate the kernel, and write its results into the `outs`."""
    assert isinstance(op, vm.DestinationCall)
    outs = args[len(op.ins) :]

    def write(results: Sequence[Value]) -> Sequence[Value]:
        for out, result in zip(outs, results, strict=True):
            np.copyto(out, result)
        return outs

    entered = evaluation.enter(op.callee.string_value(), args[: len(op.ins)])
    caller = op if isinstance(op, vm.ShapeFuncOp) else None
    return Enter(entered.block, entered.args, entered.frame, write, caller)


RULES: dict[type[Operation], Rule] = {
    relay.ConstantOp: constant,
    relay.ParamOp: param,
    relay.TupleOp: lambda _, op, args, frame: [tuple(args)],
    relay.TupleGetItemOp: project,
    relay.OnDeviceOp: lambda _, op, args, frame: args,
    relay.DeviceCopyOp: lambda _, op, args, frame: args,
    relay.IfOp: choose,
    relay.FnOp: close_over,
    relay.CallOp: call_value,
    relay.GlobalOp: global_value,
    relay.ClosureOp: global_value,
    relay.InvokeOp: invoke,
    relay.ConstructOp: construct,
    relay.MatchOp: match,
    relay.RefCreateOp: ref_create,
    relay.RefReadOp: ref_read,
    relay.RefWriteOp: ref_write,
    relay.PrimitiveOp: lambda _, op, args, frame: Enter(op.regions[0].block, args, {}),
    relay.CallLoweredOp: call_symbol,
    func.CallOp: call_symbol,
    relay.RequireOp: require,
    **dict.fromkeys(SIZES, size),
    memory.AllocStorageOp: alloc_storage,
    memory.AllocTensorOp: alloc_tensor,
    memory.CopyOp: copy,
    memory.PackOp: pack,
    memory.SliceOp: slice_of_pack,
    memory.TotalOp: total_of_pack,
    memory.SliceStorageOp: slice_storage,
    memory.WorkspaceSizeOp: workspace_size,
    memory.KillOp: kill,
    vm.ReshapeTensorOp: reshape,
    vm.ShapeOfOp: shape_of,
    vm.InvokeTvmOp: destination_call,
    vm.ShapeFuncOp: destination_call,
}
"""The rule of each op; ops without one are tensor operators."""
