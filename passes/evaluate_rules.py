"""What each op computes, for `passes.evaluate`: a dict from op to rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import NoneType, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..dialects import memory, relay, vm
from ..dialects.attributes import plain_values
from ..dialects.device import tensor_type
from ..dialects.interfaces import kernel_attributes, kernel_name
from ..dialects.relay.operator import infer_result_types
from ..dialects.relay.patterns import (
    ConstructorPattern,
    VarPattern,
    WildcardPattern,
    subpatterns,
)
from ..dialects.tensors import Tensor, as_tensor, is_static
from ..runtime.kernels.bind import Bind
from ..runtime.kernels.loading import no_kernel
from .analysis.arrays import Array, array_of, numpy_dtype
from .diagnostics import PassError

if TYPE_CHECKING:
    from .evaluate import Evaluator

Value: TypeAlias = Any
"""An array, a tuple, `Data`, a `Closure`, a `Cell`, or a storage (a flat array of bytes)."""

Frame: TypeAlias = dict[SSAValue, Value]


@dataclass(frozen=True)
class Data:
    """A value of a data type: its constructor and fields."""

    constructor: str
    fields: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class Closure:
    """A function value: its body, and the values that it captured."""

    body: Block
    captured: Frame
    recursive: bool


@dataclass(eq=False)
class Cell:
    """What a reference refers to."""

    value: Value


@dataclass(frozen=True)
class Enter:
    """
    A rule's request: evaluate `block` with `args` in `frame`.

    The results are those of the block, or what `then` makes of them.
    """

    block: Block
    args: Sequence[Value]
    frame: Frame
    then: Callable[[Sequence[Value]], Sequence[Value]] | None = None


Rule: TypeAlias = Callable[
    ["Evaluator", Operation, Sequence[Value], Frame], "Sequence[Value] | Enter"
]

# ------------------------------------------------------------------ operators


def empty(type: Attribute, at: SSAValue) -> Array:
    """An array of a static tensor type, to be written into."""
    tensor = as_tensor(type)
    if tensor is None or not is_static(tensor):
        raise PassError(f"only tensors are evaluated, not {type}", at)
    dtype = numpy_dtype(tensor)
    if dtype is None:
        raise PassError(f"NumPy has no elements like those of {type}", at)
    return np.empty(tensor.get_shape(), dtype)


def apply_operator(
    op: Operation, args: Sequence[Array], kernels: Mapping[str, Bind]
) -> list[Array]:
    """
    The results of a tensor operator on `args`, by its kernel among `kernels`.

    A dynamic result shape is inferred from the shapes of `args`.
    """
    name = kernel_name(op)
    bind = kernels.get(name)
    if bind is None:
        raise PassError(no_kernel(name), op)
    types: Sequence[Attribute] = [result.type for result in op.results]
    if any((t := as_tensor(type)) is not None and not is_static(t) for type in types):
        types = types_at_shapes(op, args)
    outs = [empty(type, result) for type, result in zip(types, op.results, strict=True)]
    with np.errstate(all="ignore"):  # 1 / 0 is inf, as in the machine, and no warning
        bind(kernel_values(op), [np.asarray(a, order="C") for a in args], outs)()
    return outs


def kernel_values(op: Operation) -> Mapping[str, Any]:
    """The attributes of `op` as its kernel gets them: an absent one, and one of None, is absent."""
    attributes = kernel_attributes(op)
    given = {name: value for name, value in attributes.items() if not isinstance(value, NoneType)}
    try:
        return plain_values(given, kernel_name(op))
    except VerifyException as error:
        raise PassError(str(error), op) from error


def types_at_shapes(op: Operation, args: Sequence[Array]) -> Sequence[Attribute]:
    """The types of `op`'s results when its operands have the shapes of `args`."""
    operands = [
        tensor_type(cast(Tensor, operand.type).element_type, list(arg.shape))
        for operand, arg in zip(op.operands, args, strict=True)
    ]
    static = type(op).create(
        operands=Block(arg_types=operands).args,
        result_types=[result.type for result in op.results],
        properties=op.properties,
    )
    try:
        types = infer_result_types(static)
    except VerifyException as error:
        raise PassError(str(error), op) from error
    if types is None:
        raise PassError(f"{op.name} has no type rule for these shapes", op)
    return types


# ---------------------------------------------------------------------- rules


def constant(_: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> Sequence[Value]:
    assert isinstance(op, relay.ConstantOp)
    array = array_of(op.value)
    if array is None:
        raise PassError(f"NumPy has no elements like those of {op.result.type}", op)
    return [array]


def param(to: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> Sequence[Value]:
    assert isinstance(op, relay.ParamOp)
    value = to.params.get(op.param.data)
    if value is None:
        raise PassError(f'no value for param "{op.param.data}" is given', op)
    type = as_tensor(op.result.type)
    assert type is not None
    if value.shape != type.get_shape() or value.dtype != numpy_dtype(type):
        raise PassError(
            f'param "{op.param.data}" is {value.dtype}{list(value.shape)}, '
            f"but is declared as {type}",
            op,
        )
    return [value]


def project(_: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> Sequence[Value]:
    assert isinstance(op, relay.TupleGetItemOp)
    return [args[0][op.index.value.data]]


def choose(_: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> Enter:
    assert isinstance(op, relay.IfOp)
    region = op.then_region if bool(args[0]) else op.else_region
    return Enter(region.block, (), frame)


def close_over(to: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    assert isinstance(op, relay.FnOp)
    captured = {value: frame[value] for value in to.captured(op)}
    return [Closure(op.body.block, captured, op.recursive is not None)]


def call_value(to: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> Enter:
    callee, given = args[0], args[1:]
    if isinstance(callee, str):
        return to.enter(callee, given)
    assert isinstance(callee, Closure)
    own = (callee, *given) if callee.recursive else given
    return Enter(callee.body, own, dict(callee.captured))


def call_symbol(to: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> Enter:
    return to.enter(cast(SymbolRefAttr, op.properties["callee"]).string_value(), args)


def global_value(_: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    assert isinstance(op, relay.GlobalOp)
    return [op.callee.string_value()]


def construct(_: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    assert isinstance(op, relay.ConstructOp)
    return [Data(op.constructor.data, tuple(args))]


def match(_: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> Enter:
    assert isinstance(op, relay.MatchOp)
    for pattern, region in zip(op.patterns, op.cases, strict=True):
        bound = fit(pattern, args[0])
        if bound is not None:
            return Enter(region.block, bound, frame)
    raise PassError("no case of this match fits the value", op)


def fit(pattern: Attribute, value: Value) -> list[Value] | None:
    """The values of the pattern's variables; None when it does not fit."""
    if isinstance(pattern, VarPattern):
        return [value]
    if isinstance(pattern, WildcardPattern):
        return []
    fields = cast("tuple[Value, ...]", value)
    if isinstance(pattern, ConstructorPattern):
        assert isinstance(value, Data)
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


def ref_create(_: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    return [Cell(args[0])]


def ref_read(_: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    return [args[0].value]


def ref_write(_: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    args[0].value = args[1]
    return [()]


def alloc_storage(_: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    assert isinstance(op, memory.AllocStorageOp)
    size = int(args[0]) if op.size is None else op.size.value.data
    return [np.empty(size, np.uint8)]


def alloc_tensor(_: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    assert isinstance(op, memory.AllocTensorOp)
    if op.offset is None:
        raise PassError("only static offsets are evaluated", op)
    like, offset = empty(op.tensor.type, op.tensor), op.offset.value.data
    data = args[0][offset : offset + like.nbytes]
    return [data.view(like.dtype).reshape(like.shape)]


def reshape(_: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    (result,) = op.results
    return [args[0].reshape(empty(result.type, result).shape)]


def shape_of(_: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    return [np.array(args[0].shape, np.int64)]


def copy(_: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> list[Value]:
    np.copyto(args[1], args[0])
    return [args[1]]


def destination_call(to: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> Enter:
    """Evaluate the kernel, and put its results where the `outs` are."""
    assert isinstance(op, vm.DestinationCall)
    outs = args[len(op.ins) :]

    def write(results: Sequence[Value]) -> Sequence[Value]:
        for out, result in zip(outs, results, strict=True):
            np.copyto(out, result)
        return outs

    entered = to.enter(op.callee.string_value(), args[: len(op.ins)])
    return Enter(entered.block, entered.args, entered.frame, write)


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
    relay.InvokeOp: call_symbol,
    relay.ConstructOp: construct,
    relay.MatchOp: match,
    relay.RefCreateOp: ref_create,
    relay.RefReadOp: ref_read,
    relay.RefWriteOp: ref_write,
    relay.PrimitiveOp: lambda _, op, args, frame: Enter(op.regions[0].block, args, {}),
    relay.CallLoweredOp: call_symbol,
    func.CallOp: call_symbol,
    memory.AllocStorageOp: alloc_storage,
    memory.AllocTensorOp: alloc_tensor,
    memory.CopyOp: copy,
    memory.KillOp: lambda _, op, args, frame: [],
    vm.ReshapeTensorOp: reshape,
    vm.ShapeOfOp: shape_of,
    vm.InvokeTvmOp: destination_call,
    vm.ShapeFuncOp: destination_call,
}
"""What an op computes, or the block that computes it; tensor operators are not listed."""
