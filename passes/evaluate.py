"""
Reference evaluation: what a program computes, at every level from `relay` to `memory-planned`.

    evaluate(module, [x], params={"w": w})  ->  [y]

One op at a time, in program order, with the NumPy kernels of `runtime.kernels`. Memory is taken
at its word: an `alloc_tensor` is a view of its storage's bytes and a kernel writes into it, so a
wrong plan gives wrong numbers here. Control flow runs on an explicit stack of generators; the
depth of recursion is bounded by memory only.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Block, Operation, SSAValue

from ..dialects import memory, relay, vm
from ..dialects.attributes import plain_attributes
from ..dialects.tensors import as_tensor, is_static
from ..runtime.kernels.bind import Bind
from ..runtime.kernels.loading import load_kernels
from .analysis.arrays import Array, array_of, numpy_dtype
from .diagnostics import PassError

Value: TypeAlias = Any
"""An array, a tuple of values, or a storage (a flat array of bytes)."""

Frame: TypeAlias = dict[SSAValue, Value]


@dataclass(frozen=True)
class Enter:
    """A request of a rule: evaluate `block` with `args` in `frame`; the answer is its results."""

    block: Block
    args: Sequence[Value]
    frame: Frame


Run: TypeAlias = Generator[Enter, Sequence[Value], Sequence[Value]]


def new_array(value: SSAValue) -> Array:
    """An array for `value` to be written into."""
    type = as_tensor(value.type)
    if type is None or not is_static(type):
        raise PassError(f"only tensors of static shape are evaluated, not {value.type}", value)
    dtype = numpy_dtype(type)
    if dtype is None:
        raise PassError(f"NumPy has no elements like those of {type}", value)
    return np.empty(type.get_shape(), dtype)


def apply_operator(
    op: Operation, args: Sequence[Array], kernels: Mapping[str, Bind]
) -> list[Array]:
    """The results of a tensor operator on `args`, by its kernel among `kernels`."""
    bind = kernels.get(op.name)
    if bind is None:
        raise PassError(f"{op.name} has no kernel", op)
    outs = [new_array(result) for result in op.results]
    with np.errstate(all="ignore"):  # 1 / 0 is inf, as in the machine, and no warning
        bind(plain_attributes(op), [np.asarray(a, order="C") for a in args], outs)()
    return outs


@dataclass
class Evaluator:
    """The evaluation of one module; `params` are the tensors that `relay.param` names."""

    module: ModuleOp
    params: Mapping[str, Array] = field(default_factory=dict[str, Array])

    def __post_init__(self) -> None:
        self.kernels = load_kernels()
        self.symbols: dict[str, Operation] = {
            name.data: op
            for op in self.module.ops
            if isinstance(name := op.properties.get("sym_name"), StringAttr)
        }

    def call(self, function: str, args: Sequence[Value]) -> Sequence[Value]:
        """The results of `function` on `args`."""
        return self._run(self._enter_symbol(function, args))

    def _run(self, first: Enter) -> Sequence[Value]:
        """Evaluate a block, and all that it enters on the way."""
        stack = [self._block(first)]
        answer: Sequence[Value] | None = None
        while True:
            try:
                request = stack[-1].send(cast(Any, answer))
            except StopIteration as stop:
                stack.pop()
                answer = cast(Sequence[Value], stop.value)
                if not stack:
                    return answer
            else:
                stack.append(self._block(request))
                answer = None

    def _block(self, enter: Enter) -> Run:
        frame = enter.frame
        frame.update(zip(enter.block.args, enter.args, strict=True))
        for op in enter.block.ops:
            args = [frame[operand] for operand in op.operands]
            if isinstance(op, relay.YieldOp | func.ReturnOp):
                return args
            rule = LEAVES.get(type(op))
            if rule is not None:
                results = rule(self, op, args)
            elif (entering := ENTERING.get(type(op))) is not None:
                results = yield entering(self, op, args, frame)
            else:
                results = apply_operator(op, args, self.kernels)
            if isinstance(op, vm.DestinationCall):
                results = written(op.ins, args, results)
            frame.update(zip(op.results, results, strict=True))
        return []

    def _enter_symbol(self, name: str, args: Sequence[Value]) -> Enter:
        function = self.symbols.get(name)
        if function is None or not function.regions or not function.regions[0].blocks:
            raise PassError(f"@{name} has no body in this module", function or self.module)
        block = function.regions[0].block
        if len(block.args) != len(args):
            raise PassError(
                f"@{name} takes {len(block.args)} arguments, but {len(args)} are given", function
            )
        return Enter(block, args, {})

    def param(self, op: Operation, args: Sequence[Value]) -> Sequence[Value]:
        assert isinstance(op, relay.ParamOp)
        value = self.params.get(op.param.data)
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

    def call_symbol(self, op: Operation, args: Sequence[Value], frame: Frame) -> Enter:
        callee = cast(SymbolRefAttr, op.properties["callee"])
        return self._enter_symbol(callee.string_value(), args)

    def destination_call(self, op: Operation, args: Sequence[Value], frame: Frame) -> Enter:
        assert isinstance(op, vm.DestinationCall)
        return self._enter_symbol(op.callee.string_value(), args[: len(op.ins)])


def written(
    ins: Sequence[SSAValue], args: Sequence[Value], results: Sequence[Value]
) -> Sequence[Value]:
    """Put the results of a kernel where its `outs` are."""
    outs = args[len(ins) :]
    for out, result in zip(outs, results, strict=True):
        np.copyto(out, result)
    return outs


def constant(_: Evaluator, op: Operation, args: Sequence[Value]) -> Sequence[Value]:
    assert isinstance(op, relay.ConstantOp)
    array = array_of(op.value)
    if array is None:
        raise PassError(f"NumPy has no elements like those of {op.result.type}", op)
    return [array]


def alloc_storage(_: Evaluator, op: Operation, args: Sequence[Value]) -> Sequence[Value]:
    assert isinstance(op, memory.AllocStorageOp)
    size = int(args[0]) if op.size is None else op.size.value.data
    return [np.empty(size, np.uint8)]


def alloc_tensor(_: Evaluator, op: Operation, args: Sequence[Value]) -> Sequence[Value]:
    assert isinstance(op, memory.AllocTensorOp)
    if op.offset is None:
        raise PassError("only static offsets are evaluated", op)
    like, offset = new_array(op.tensor), op.offset.value.data
    data = args[0][offset : offset + like.nbytes]
    return [data.view(like.dtype).reshape(like.shape)]


def reshape(_: Evaluator, op: Operation, args: Sequence[Value]) -> Sequence[Value]:
    return [args[0].reshape(new_array(op.results[0]).shape)]


def copy(_: Evaluator, op: Operation, args: Sequence[Value]) -> Sequence[Value]:
    np.copyto(args[1], args[0])
    return [args[1]]


def choose(_: Evaluator, op: Operation, args: Sequence[Value], frame: Frame) -> Enter:
    assert isinstance(op, relay.IfOp)
    region = op.then_region if bool(args[0]) else op.else_region
    return Enter(region.block, (), frame)


def project(_: Evaluator, op: Operation, args: Sequence[Value]) -> Sequence[Value]:
    assert isinstance(op, relay.TupleGetItemOp)
    return [args[0][op.index.value.data]]


Leaf: TypeAlias = Callable[[Evaluator, Operation, Sequence[Value]], Sequence[Value]]
Entering: TypeAlias = Callable[[Evaluator, Operation, Sequence[Value], Frame], Enter]

LEAVES: dict[type[Operation], Leaf] = {
    relay.ConstantOp: constant,
    relay.ParamOp: Evaluator.param,
    relay.TupleOp: lambda _, op, args: [tuple(args)],
    relay.TupleGetItemOp: project,
    relay.OnDeviceOp: lambda _, op, args: args,
    relay.DeviceCopyOp: lambda _, op, args: args,
    memory.AllocStorageOp: alloc_storage,
    memory.AllocTensorOp: alloc_tensor,
    memory.CopyOp: copy,
    memory.KillOp: lambda _, op, args: [],
    vm.ReshapeTensorOp: reshape,
    vm.ShapeOfOp: lambda _, op, args: [np.array(args[0].shape, np.int64)],
}
"""What an op computes from its operands alone."""

ENTERING: dict[type[Operation], Entering] = {
    relay.IfOp: choose,
    relay.PrimitiveOp: lambda _, op, args, frame: Enter(op.regions[0].block, args, {}),
    relay.CallLoweredOp: Evaluator.call_symbol,
    func.CallOp: Evaluator.call_symbol,
    vm.InvokeTvmOp: Evaluator.destination_call,
    vm.ShapeFuncOp: Evaluator.destination_call,
}
"""Which block an op's results come from."""


def evaluate(
    module: ModuleOp,
    args: Sequence[Value],
    params: Mapping[str, Array] | None = None,
    function: str = "main",
) -> list[Value]:
    """
    The results of `function` on `args`: arrays of the parameters' shapes and dtypes, or tuples.

    Raises `PassError` where the program cannot be evaluated (a dynamic shape, an op or a
    param without a value).
    """
    return list(Evaluator(module, params or {}).call(function, args))
