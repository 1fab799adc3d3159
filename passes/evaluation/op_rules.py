"""Evaluation of ops other than tensor operators, each by a rule in a dict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, cast

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
from ...dialects.tensors import Tensor, tensor_of
from ...operators import storage_errors
from ...operators.orders import Orders
from ...runtime.memory.limits import Memory
from ...runtime.memory.regions import side_by_side
from ...runtime.weights.derived_weights import ArraySource, Weights
from ..analysis.arrays import Array, array_of
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
from .kernel_calls import dtype_of, require_shape, static_type
from .size_arithmetic import SIZES, require_relation

Copies: TypeAlias = relay.ReadRowsOp | relay.WriteRowsOp | memory.CopyRowsOp


def along(array: Array, op: Copies, first: int, count: int) -> Array:
    """Return those of `count` rows of an array, from the `first` on, that it has."""
    rows = slice(max(first, 0), max(first + count, 0))
    return array[(slice(None),) * op.axis.value.data + (rows,)]


def copied(op: Copies, data: Array, out: Array, count: int, turn: int) -> None:
    """Copy rows, of which the moving ones, those of an open tensor, may not all exist."""
    moving, fixed = (out, data) if isinstance(op, relay.WriteRowsOp) else (data, out)
    first = memory.first_row(op, turn, moving.shape[op.axis.value.data])
    there = along(moving, op, first, count)
    source = op.source.value.data if isinstance(op, relay.WriteRowsOp) else 0
    here = along(fixed, op, source + max(-first, 0), there.shape[op.axis.value.data])
    np.copyto(*((there, here) if moving is out else (here, there)))


def read_rows(op: relay.ReadRowsOp, args: Sequence[Array], turn: int) -> list[Array]:
    dims = [*args[0].shape]
    dims[op.axis.value.data] = op.result.type.get_shape()[op.axis.value.data]
    return copy_rows(op, [*args, np.zeros(dims, args[0].dtype)], turn)


def copy_rows(
    op: relay.ReadRowsOp | memory.CopyRowsOp, args: Sequence[Array], turn: int
) -> list[Array]:
    data, *fill, out = args
    for value in fill:
        out[...] = value
    copied(op, data, out, out.shape[op.axis.value.data], turn)
    return [out]


def write_rows(op: relay.WriteRowsOp, args: Sequence[Array], turn: int) -> list[Array]:
    data, target = args
    copied(op, data, target, op.count.value.data, turn)
    return [target]


def fill_rows(op: relay.FillRowsOp, args: Sequence[Array], turn: int) -> list[Array]:
    target, value, shape = args
    axis = op.axis.value.data
    first, bound = memory.first_row(op, turn, 0), int(shape[axis])
    outside = [i for i in range(target.shape[axis]) if not 0 <= first + i < bound]
    target[(slice(None),) * axis + (outside,)] = value
    return [target]


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


class At(NamedTuple):
    """The place where an op is evaluated."""

    evaluation: Evaluation
    args: Sequence[Value]
    frame: Frame
    turn: int = 0
    """The turn of the loop that the op is in, from 0 on."""


Rule: TypeAlias = Callable[[Any, At], "Sequence[Value] | Enter"]

RULES: dict[type[Operation], Rule] = {
    relay.TupleOp: lambda op, at: [tuple(at.args)],
    relay.OnDeviceOp: lambda op, at: at.args,
    relay.DeviceCopyOp: lambda op, at: at.args,
    relay.LoopOp: lambda op, at: at.args,
    relay.EndLoopOp: lambda op, at: at.args,
    relay.PrimitiveOp: lambda op, at: Enter(op.regions[0].block, at.args, {}),
    relay.ReadRowsOp: lambda op, at: read_rows(op, at.args, at.turn),
    relay.WriteRowsOp: lambda op, at: write_rows(op, at.args, at.turn),
    relay.FillRowsOp: lambda op, at: fill_rows(op, at.args, at.turn),
    memory.CopyRowsOp: lambda op, at: copy_rows(op, at.args, at.turn),
}
"""The rule of each op; ops without one are tensor operators."""

_Rule = TypeVar("_Rule", bound=Rule)


def rule(*kinds: type[Operation]) -> Callable[[_Rule], _Rule]:
    """Let the decorated function be the rule of ops of these classes."""

    def register(function: _Rule) -> _Rule:
        RULES.update(dict.fromkeys(kinds, function))
        return function

    return register


@rule(relay.ConstantOp)
def constant(op: relay.ConstantOp, at: At) -> Sequence[Value]:
    array = array_of(op.value, dtype_of(cast(Tensor, op.value.type), op))
    if array is None:
        raise PassError(f"NumPy has no arrays of type {op.value.type}", op)
    return [array]


@rule(relay.ParamOp)
def param(op: relay.ParamOp, at: At) -> Sequence[Value]:
    name, weights = op.param.data, Weights(ArraySource(at.evaluation.params))
    if name not in weights:
        raise PassError(f'param "{name}" has no value', op)
    value = weights.array(name)
    type = tensor_of(op.result)
    if value.shape != type.get_shape() or value.dtype != dtype_of(type, op):
        raise PassError(
            f'param "{op.param.data}" is {value.dtype}{list(value.shape)}, '
            f"but is declared as {type}",
            op,
        )
    frozen = value.view()  # a kill must not poison it
    frozen.flags.writeable = False
    return [frozen]


@rule(relay.TupleGetItemOp)
def project(op: relay.TupleGetItemOp, at: At) -> Sequence[Value]:
    return [at.args[0][op.index.value.data]]


@rule(relay.IfOp)
def choose(op: relay.IfOp, at: At) -> Enter:
    region = op.then_region if bool(at.args[0]) else op.else_region
    return Enter(region.block, (), at.frame)


@rule(relay.FnOp)
def close_over(op: relay.FnOp, at: At) -> list[Value]:
    captured = {value: at.frame[value] for value in at.evaluation.captured_by(op)}
    return [ClosureValue(op.body.block, captured, op.recursive is not None)]


@rule(relay.CallOp)
def call_value(op: Operation, at: At) -> Enter:
    callee, given = at.args[0], at.args[1:]
    if isinstance(callee, GlobalClosure):
        return at.evaluation.enter(callee.name, (*callee.captured, *given))
    assert isinstance(callee, ClosureValue)
    own = (callee, *given) if callee.recursive else given
    return Enter(callee.body, own, dict(callee.captured))


@rule(relay.CallLoweredOp, func.CallOp)
def call_symbol(op: Operation, at: At) -> Enter:
    return at.evaluation.enter(cast(SymbolRefAttr, op.properties["callee"]).string_value(), at.args)


@rule(relay.InvokeOp)
def invoke(op: relay.InvokeOp, at: At) -> Enter:
    """Call a function, and check the dims of arguments and results: the verifier does not."""
    name = op.callee.string_value()
    entered = at.evaluation.enter(name, at.args)
    for param, arg in zip(entered.block.args, at.args, strict=True):
        require_shape(param.type, arg, op, f"a parameter of @{name}")

    def check(results: Sequence[Value]) -> Sequence[Value]:
        for result, value in zip(op.results, results, strict=True):
            require_shape(result.type, value, op, f"the result of @{name}")
        return results

    return Enter(entered.block, entered.args, entered.frame, check)


@rule(relay.GlobalOp, relay.ClosureOp)
def global_value(op: relay.GlobalOp | relay.ClosureOp, at: At) -> list[Value]:
    return [GlobalClosure(op.callee.string_value(), tuple(at.args))]


@rule(relay.ConstructOp)
def construct(op: relay.ConstructOp, at: At) -> list[Value]:
    return [DataValue(op.constructor.data, tuple(at.args))]


@rule(relay.MatchOp)
def match(op: relay.MatchOp, at: At) -> Enter:
    for pattern, region in zip(op.patterns, op.cases, strict=True):
        bound = fit(pattern, at.args[0])
        if bound is not None:
            return Enter(region.block, bound, at.frame)
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


@rule(relay.RefCreateOp)
def ref_create(op: Operation, at: At) -> list[Value]:
    return [RefValue(at.args[0])]


@rule(relay.RefReadOp)
def ref_read(op: Operation, at: At) -> list[Value]:
    return [at.args[0].value]


@rule(relay.RefWriteOp)
def ref_write(op: Operation, at: At) -> list[Value]:
    at.args[0].value = at.args[1]
    return [()]


@rule(memory.AllocStorageOp)
def alloc_storage(op: memory.AllocStorageOp, at: At) -> list[Value]:
    size = int(at.args[0]) if op.size is None else op.size.value.data
    if size < 0:
        raise PassError(storage_errors.negative_size(size), op)
    return [at.evaluation.memory.array((size,), np.uint8, "a storage")]


@rule(memory.SliceStorageOp)
def slice_storage(op: memory.SliceStorageOp, at: At) -> list[Value]:
    dynamic = iter(at.args[1:])
    offset = int(next(dynamic)) if op.offset is None else op.offset.value.data
    size = int(next(dynamic)) if op.size is None else op.size.value.data
    if size < 0 or not 0 <= offset <= at.args[0].size - size:
        room = at.args[0].size
        raise PassError(storage_errors.outside_storage("a slice", size, offset, room), op)
    return [at.args[0][offset : offset + size]]


@rule(memory.WorkspaceSizeOp)
def workspace_size(op: memory.WorkspaceSizeOp, at: At) -> Enter:
    return Enter(at.evaluation.size_block(op), at.args, {})


@rule(memory.AllocTensorOp)
def alloc_tensor(op: memory.AllocTensorOp, at: At) -> list[Value]:
    offset = int(at.args[1]) if op.offset is None else op.offset.value.data
    type = _of_shape(op.tensor, at.args[-1] if op.shape is not None else None)
    shape, dtype = static_type(type, op.tensor)
    size = prod(shape) * dtype.itemsize
    if not 0 <= offset <= at.args[0].size - size:
        room = at.args[0].size
        raise PassError(storage_errors.outside_storage("a tensor", size, offset, room), op)
    return [at.args[0][offset : offset + size].view(dtype).reshape(shape)]


def _of_shape(result: SSAValue, shape: Array | None) -> Tensor:
    """Return the type of `result`, with the dims of `shape` if there is one."""
    type = tensor_of(result)
    if shape is None:
        return type
    dims = [int(dim) for dim in shape]
    declared = zip(dims, type.get_shape(), strict=True)
    if any(dim < 0 or known not in (dim, DYNAMIC_INDEX) for dim, known in declared):
        raise PassError(f"the shape is {dims}, which does not fit {type}", result)
    return tensor_type(type.element_type, dims)


@rule(vm.ReshapeTensorOp)
def reshape(op: vm.ReshapeTensorOp, at: At) -> list[Value]:
    dims = _of_shape(op.result, at.args[1] if op.shape is not None else None).get_shape()
    if prod(dims) != at.args[0].size:
        raise PassError(f"a tensor of {at.args[0].size} elements cannot be viewed as {dims}", op)
    return [at.args[0].reshape(dims)]


@rule(vm.SliceTensorOp)
def slice_rows(op: vm.SliceTensorOp, at: At) -> list[Value]:
    data, *sizes = at.args
    start = op.start.value.data if op.start is not None else int(sizes.pop(0))
    dims = _of_shape(op.result, sizes[0] if sizes else None).get_shape()
    rows = dims[op.along]
    if start < 0 or (rows and start + rows > data.shape[op.along]):
        raise PassError(storage_errors.other_rows(op.data.type, start, dims), op)
    return [data[*(op.along * [0]), start : start + rows].reshape(dims)]


@rule(vm.JoinTensorsOp)
def join(op: vm.JoinTensorsOp, at: At) -> list[Value]:
    parts = at.args[: len(op.parts)]
    dims = _of_shape(op.result, None if op.shape is None else at.args[-1]).get_shape()
    count = sum(part.size for part in parts)
    if prod(dims) != count:
        raise PassError(storage_errors.other_elements_of_join(count, dims), op)
    bytes = side_by_side([part for part in parts if part.size] or [parts[0]])
    if bytes is None:
        raise PassError(storage_errors.apart([part.type for part in op.parts]), op)
    return [bytes.view(parts[0].dtype).reshape(dims)]


@rule(vm.ShapeOfOp)
def shape_of(op: Operation, at: At) -> list[Value]:
    return [np.array(at.args[0].shape, np.int64)]


@rule(*SIZES)
def size(op: Operation, at: At) -> list[Value]:
    return [SIZES[type(op)](op, at.args)]


@rule(relay.RequireOp)
def require(op: relay.RequireOp, at: At) -> list[Value]:
    require_relation(op, at.args)
    return []


@rule(memory.PackOp)
def pack(op: memory.PackOp, at: At) -> list[Value]:
    """Return the pack, and its totals once they are known."""
    return [PackValue(memory.Packing(op))]


@rule(memory.SliceOp)
def slice_of_pack(op: Operation, at: At) -> list[Value]:
    """Lay the slices out as ordered, or one after the other, at the last of them."""
    value, slices = at.args[0], at.args[0].packing.slices
    if op is not slices[-1]:
        return [0]
    packing = value.packing
    sizes = [int(at.frame[size]) if isinstance(size, SSAValue) else size for size in packing.sizes]
    orders = packing.orders or Orders.one_after_the_other(
        packing.alignment, len(slices), packing.rows
    )
    value.totals, offsets = orders.laid_out(sizes)
    at.frame.update(zip((slice.offset for slice in slices), offsets, strict=True))
    return [offsets[-1]]


@rule(memory.TotalOp)
def total_of_pack(op: memory.TotalOp, at: At) -> list[Value]:
    totals = at.args[0].totals
    return [totals[op.pool_number] if op.pool_number < len(totals) else 0]


@rule(memory.CopyOp)
def copy(op: Operation, at: At) -> list[Value]:
    np.copyto(at.args[1], at.args[0])
    return [at.args[1]]


@rule(memory.KillOp)
def kill(op: Operation, at: At) -> Sequence[Value]:
    """Poison the bytes, if memory is poisoned; constants are read-only and stay."""
    rest = list(at.args) if at.evaluation.memory.poison else []
    seen: set[int] = set()  # values may share parts; a reference may contain itself
    while rest:
        value = rest.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        match value:
            case np.ndarray() if value.flags.writeable and value.flags.c_contiguous:
                cast(Array, value).reshape(-1).view(np.uint8).fill(at.evaluation.memory.blank)
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


@rule(vm.InvokeTvmOp, vm.ShapeFuncOp)
def destination_call(op: vm.DestinationCall, at: At) -> Enter:
    """Evaluate the kernel, and write its results into the `outs`."""
    outs = at.args[len(op.ins) :]

    def write(results: Sequence[Value]) -> Sequence[Value]:
        for out, result in zip(outs, results, strict=True):
            np.copyto(out, result)
        return outs

    entered = at.evaluation.enter(op.callee.string_value(), at.args[: len(op.ins)])
    caller = op if isinstance(op, vm.ShapeFuncOp) else None
    return Enter(entered.block, entered.args, entered.frame, write, caller)
