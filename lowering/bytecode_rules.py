"""The instructions for each op with explicit memory: a dict from op to rule."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ..dialects import bytecode, memory, relay, vm
from ..dialects.bytecode.fields import Dims, RegisterAttr
from ..dialects.device import VirtualDeviceAttr, device_of, devices_in
from ..dialects.tensors import as_tensor
from ..passes.analysis.plain_types import PlainTypes
from ..passes.support.diagnostics import PassError


def integer(value: int) -> IntegerAttr[Any]:
    return IntegerAttr(value, i64)


def dims(values: Sequence[int]) -> Dims:
    return DenseArrayBase.from_list(i64, values)


def device_at(value: SSAValue) -> VirtualDeviceAttr:
    """The device of `value`; an error when its type names none."""
    device = device_of(value.type)
    if device is None and not any(True for _ in devices_in(value.type)):
        raise PassError(f"the machine has no values of type {value.type}", value)
    if device is None:
        raise PassError(
            f"a value of type {value.type} has no device; run plan-devices before", value
        )
    return device


@dataclass
class Constants:
    """The constants of the program, each once, in the order of their first use."""

    ops: list[Operation] = field(default_factory=list[Operation])
    names: dict[Attribute, SymbolRefAttr] = field(default_factory=dict[Attribute, SymbolRefAttr])

    def named(self, value: Attribute, make: Callable[[StringAttr], Operation]) -> SymbolRefAttr:
        """The symbol of the constant known by `value`, made when it is new."""
        name = self.names.get(value)
        if name is None:
            symbol = StringAttr(f"const_{len(self.ops)}")
            name = self.names[value] = SymbolRefAttr(symbol)
            self.ops.append(make(symbol))
        return name


@dataclass
class Devices:
    """The devices of the program in the order of their first use, the host first."""

    found: dict[VirtualDeviceAttr, None]

    def use(self, device: VirtualDeviceAttr) -> VirtualDeviceAttr:
        """`device` as the machine knows it: its type and id."""
        plain = VirtualDeviceAttr(device.device_type, device.device_id)
        self.found.setdefault(plain)
        return plain


@dataclass
class Emitter:
    """The instructions of one function, and which register holds which value."""

    constants: Constants
    devices: Devices
    plain: PlainTypes
    code: list[Operation] = field(default_factory=list[Operation])
    registers: dict[SSAValue, RegisterAttr] = field(default_factory=dict[SSAValue, RegisterAttr])
    count: int = 0

    def fresh(self) -> RegisterAttr:
        self.count += 1
        return RegisterAttr(self.count - 1)

    def define(self, value: SSAValue) -> RegisterAttr:
        """A new register for `value`."""
        register = self.registers[value] = self.fresh()
        return register

    def share(self, value: SSAValue, other: SSAValue) -> None:
        """`value` is in the register of `other`."""
        self.registers[value] = self.registers[other]

    def of(self, values: Sequence[SSAValue]) -> ArrayAttr[RegisterAttr]:
        return ArrayAttr([self.registers[v] for v in values])

    def emit(self, kind: type[Operation], at: Operation, **fields: Attribute) -> Operation:
        instruction = kind.create(properties=fields, location=at.location)
        self.code.append(instruction)
        return instruction

    def block(self, block: Block) -> Operation:
        """Emit the block's ops; its terminator is given back, not emitted."""
        for op in block.ops:
            if op.next_op is None:
                return op
            rule = RULES.get(type(op))
            if rule is None:
                cure = "lower it before, or use xrelay-run --evaluate"
                raise PassError(f"{op.name} has no instruction; {cure}", op)
            rule(self, op)
        raise AssertionError("the verifier wants a terminator")


def emit_constant(to: Emitter, op: Operation) -> None:
    assert isinstance(op, relay.ConstantOp)
    value = op.value
    name = to.constants.named(
        value,
        lambda symbol: bytecode.ConstantOp.create(
            properties={"sym_name": symbol, "value": value}, location=op.location
        ),
    )
    _load(to, op, name)


def emit_param(to: Emitter, op: Operation) -> None:
    assert isinstance(op, relay.ParamOp)
    name = to.constants.named(
        op.param,
        lambda symbol: bytecode.LateConstantOp.create(
            properties={
                "sym_name": symbol,
                "param": op.param,
                "type": to.plain(op.result.type),
            },
            location=op.location,
        ),
    )
    _load(to, op, name)


def _load(to: Emitter, op: Operation, name: SymbolRefAttr) -> None:
    (result,) = op.results
    device = to.devices.use(device_at(result))
    to.emit(bytecode.LoadConstOp, op, dst=to.define(result), constant=name, device=device)


def emit_alloc_storage(to: Emitter, op: Operation) -> None:
    assert isinstance(op, memory.AllocStorageOp)
    size = op.size if op.dynamic_size is None else to.registers[op.dynamic_size]
    assert size is not None
    to.emit(
        bytecode.AllocStorageOp,
        op,
        dst=to.define(op.storage),
        size=size,
        alignment=op.alignment,
        device=to.devices.use(device_at(op.storage)),
    )


def emit_alloc_tensor(to: Emitter, op: Operation) -> None:
    assert isinstance(op, memory.AllocTensorOp)
    offset = op.offset if op.dynamic_offset is None else to.registers[op.dynamic_offset]
    assert offset is not None
    storage = to.registers[op.storage]
    type = as_tensor(op.tensor.type)
    assert type is not None
    if op.shape is None:
        to.emit(
            bytecode.AllocTensorOp,
            op,
            dst=to.define(op.tensor),
            storage=storage,
            offset=offset,
            type=to.plain(type),
        )
    else:
        to.emit(
            bytecode.AllocTensorRegOp,
            op,
            dst=to.define(op.tensor),
            storage=storage,
            offset=offset,
            shape=to.registers[op.shape],
            element_type=type.element_type,
        )


def emit_destination_call(to: Emitter, op: Operation) -> None:
    assert isinstance(op, vm.DestinationCall)
    to.emit(bytecode.InvokePackedOp, op, kernel=op.callee, ins=to.of(op.ins), outs=to.of(op.outs))
    for result, out in zip(op.results, op.outs, strict=True):
        to.share(result, out)


def emit_copy(to: Emitter, op: Operation) -> None:
    assert isinstance(op, memory.CopyOp)
    to.emit(
        bytecode.DeviceCopyOp,
        op,
        src=to.registers[op.ins],
        out=to.registers[op.outs],
        src_device=to.devices.use(device_at(op.ins)),
        dst_device=to.devices.use(device_at(op.outs)),
    )
    to.share(op.result, op.outs)


def emit_kill(to: Emitter, op: Operation) -> None:
    to.emit(bytecode.KillRegisterOp, op, register=to.registers[op.operands[0]])


def emit_reshape(to: Emitter, op: Operation) -> None:
    assert isinstance(op, vm.ReshapeTensorOp)
    type = as_tensor(op.result.type)
    assert type is not None
    shape = dims(type.get_shape()) if op.shape is None else to.registers[op.shape]
    data = to.registers[op.data]
    to.emit(bytecode.ReshapeTensorOp, op, dst=to.define(op.result), tensor=data, shape=shape)


def emit_shape_of(to: Emitter, op: Operation) -> None:
    data = to.registers[op.operands[0]]
    to.emit(bytecode.ShapeOfOp, op, dst=to.define(op.results[0]), tensor=data)


def emit_tuple(to: Emitter, op: Operation) -> None:
    fields = to.of(op.operands)
    to.emit(bytecode.AllocADTOp, op, dst=to.define(op.results[0]), tag=integer(0), fields=fields)


def emit_projection(to: Emitter, op: Operation) -> None:
    assert isinstance(op, relay.TupleGetItemOp)
    data = to.registers[op.tuple]
    to.emit(bytecode.GetFieldOp, op, dst=to.define(op.result), data=data, field=op.index)


def emit_call(to: Emitter, op: Operation) -> None:
    """`func.call` and `relay.invoke`: the machine's functions know no types."""
    args = to.of(op.operands)
    answer = to.define(op.results[0]) if len(op.results) == 1 else to.fresh()
    to.emit(bytecode.InvokeOp, op, dst=answer, function=op.properties["callee"], args=args)
    if len(op.results) != 1:
        for i, result in enumerate(op.results):
            to.emit(bytecode.GetFieldOp, op, dst=to.define(result), data=answer, field=integer(i))


def emit_if(to: Emitter, op: Operation) -> None:
    """
    `if` to the next instruction or behind the `goto`; both sides move to the results' registers.

    A result's register is new: a branch may yield a value that lives on (compare B1 of TVM).
    """
    assert isinstance(op, relay.IfOp)
    choice = to.emit(bytecode.IfOp, op, test=to.registers[op.condition])
    start = len(to.code)
    merged = [to.fresh() for _ in op.results]
    _emit_branch(to, op.then_region, merged, op)
    over = to.emit(bytecode.GotoOp, op)
    choice.properties["true_offset"] = integer(1)
    choice.properties["false_offset"] = integer(len(to.code) - start + 1)
    leave = len(to.code)
    _emit_branch(to, op.else_region, merged, op)
    over.properties["offset"] = integer(len(to.code) - leave + 1)
    to.registers.update(zip(op.results, merged, strict=True))


def _emit_branch(
    to: Emitter, region: Region, merged: Sequence[RegisterAttr], at: Operation
) -> None:
    terminator = to.block(region.block)
    for register, value in zip(merged, terminator.operands, strict=True):
        to.emit(bytecode.MoveOp, terminator, dst=register, src=to.registers[value])


def emit_return(to: Emitter, op: Operation) -> None:
    """Return the operands: one as it is, none or several as a tuple."""
    if len(op.operands) == 1:
        result = to.registers[op.operands[0]]
    else:
        result = to.fresh()
        to.emit(bytecode.AllocADTOp, op, dst=result, tag=integer(0), fields=to.of(op.operands))
    to.emit(bytecode.RetOp, op, result=result)


Rule: TypeAlias = Callable[[Emitter, Operation], None]

RULES: dict[type[Operation], Rule] = {
    relay.ConstantOp: emit_constant,
    relay.ParamOp: emit_param,
    relay.TupleOp: emit_tuple,
    relay.TupleGetItemOp: emit_projection,
    relay.IfOp: emit_if,
    memory.AllocStorageOp: emit_alloc_storage,
    memory.AllocTensorOp: emit_alloc_tensor,
    memory.CopyOp: emit_copy,
    memory.KillOp: emit_kill,
    vm.InvokeTvmOp: emit_destination_call,
    vm.ShapeFuncOp: emit_destination_call,
    vm.ReshapeTensorOp: emit_reshape,
    vm.ShapeOfOp: emit_shape_of,
    func.CallOp: emit_call,
    relay.InvokeOp: emit_call,
}
"""The instructions for each op."""
