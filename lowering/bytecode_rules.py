"""Lowering of ops with explicit memory to instructions: a dict from op to rule."""

from collections.abc import Callable, Iterable, Sequence
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
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue

from ..dialects import bytecode, memory, relay, vm
from ..dialects.bytecode.fields import Dims, RegisterAttr
from ..dialects.device import VirtualDeviceAttr, device_of, devices_in
from ..dialects.tensors import as_tensor
from ..passes.support.diagnostics import PassError
from ..passes.support.plain_types import PlainTypes
from .register_lifetimes import Cleared, RegisterLifetimes


def integer(value: int) -> IntegerAttr[Any]:
    return IntegerAttr(value, i64)


def dims(values: Sequence[int]) -> Dims:
    return DenseArrayBase.from_list(i64, values)


def device_at(value: SSAValue) -> VirtualDeviceAttr:
    """Return the device of `value`; an error if its type has none."""
    device = device_of(value.type)
    if device is None and not any(True for _ in devices_in(value.type)):
        raise PassError(f"the machine has no values of type {value.type}", value)
    if device is None:
        raise PassError(
            f"a value of type {value.type} has no device; run plan-devices first", value
        )
    return device


@dataclass
class Constants:
    """The constants of the program, without repeats, in order of first use."""

    ops: list[Operation] = field(default_factory=list[Operation])
    names: dict[Attribute, SymbolRefAttr] = field(default_factory=dict[Attribute, SymbolRefAttr])

    def named(self, value: Attribute, make: Callable[[StringAttr], Operation]) -> SymbolRefAttr:
        """Return the symbol of the constant `value`; `make` defines it when it is new."""
        name = self.names.get(value)
        if name is None:
            symbol = StringAttr(f"const_{len(self.ops)}")
            name = self.names[value] = SymbolRefAttr(symbol)
            self.ops.append(make(symbol))
        return name


@dataclass
class Devices:
    """The devices of the program: the host, then the others in order of first use."""

    found: dict[VirtualDeviceAttr, None]

    def use(self, device: VirtualDeviceAttr) -> VirtualDeviceAttr:
        """Return `device` as the machine knows it, by type and id, and list it."""
        plain = VirtualDeviceAttr(device.device_type, device.device_id)
        self.found.setdefault(plain)
        return plain


@dataclass
class BytecodeBuilder:
    """The instructions of one function, and the register of each value."""

    constants: Constants
    devices: Devices
    plain: PlainTypes
    code: list[Operation] = field(default_factory=list[Operation])
    registers: dict[SSAValue, RegisterAttr] = field(default_factory=dict[SSAValue, RegisterAttr])
    register_count: int = 0
    lifetimes: RegisterLifetimes | None = None
    """None if the function kills nothing."""

    def new_register(self) -> RegisterAttr:
        self.register_count += 1
        return RegisterAttr(self.register_count - 1)

    def define(self, value: SSAValue) -> RegisterAttr:
        """Give `value` a new register."""
        return self.place(value, self.new_register())

    def place(self, value: SSAValue, register: RegisterAttr) -> RegisterAttr:
        """Let `register`, which is new, be that of `value`."""
        self.registers[value] = register
        if self.lifetimes is not None and isinstance(value, OpResult):
            self.lifetimes.define(value, register)
        return register

    def share(self, value: SSAValue, other: SSAValue) -> None:
        """Let `value` share the register of `other`."""
        self.registers[value] = self.registers[other]

    def registers_of(self, values: Sequence[SSAValue]) -> ArrayAttr[RegisterAttr]:
        return ArrayAttr([self.registers[v] for v in values])

    def emit(self, kind: type[Operation], at: Operation, **fields: Attribute) -> Operation:
        instruction = kind.create(properties=fields, location=at.location)
        self.code.append(instruction)
        return instruction

    def clear(self, registers: Iterable[RegisterAttr], at: Operation) -> None:
        """Emit the instructions that clear `registers`."""
        for register in registers:
            self.emit(bytecode.KillRegisterOp, at, register=register)

    def lower_block(self, block: Block) -> Operation:
        """Lower the ops of `block` but its terminator, which is returned."""
        for op in block.ops:
            if op.next_op is None:
                return op
            rule = RULES.get(type(op))
            if rule is None:
                cure = "lower it first, or use xrelay-run --evaluate"
                raise PassError(f"{op.name} has no instruction; {cure}", op)
            rule(self, op)
            if self.lifetimes is not None:
                freed = self.lifetimes.freed_by.get(op, ())
                self.clear((self.registers[storage] for storage in freed), op)
        raise AssertionError("verified: a block ends with a terminator")


def lower_constant(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, relay.ConstantOp)
    value = op.value
    name = builder.constants.named(
        value,
        lambda symbol: bytecode.ConstantOp.create(
            properties={"sym_name": symbol, "value": value}, location=op.location
        ),
    )
    _load(builder, op, name)


def lower_param(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, relay.ParamOp)
    name = builder.constants.named(
        op.param,
        lambda symbol: bytecode.LateConstantOp.create(
            properties={
                "sym_name": symbol,
                "param": op.param,
                "type": builder.plain(op.result.type),
            },
            location=op.location,
        ),
    )
    _load(builder, op, name)


def _load(builder: BytecodeBuilder, op: Operation, name: SymbolRefAttr) -> None:
    (result,) = op.results
    device = builder.devices.use(device_at(result))
    builder.emit(bytecode.LoadConstOp, op, dst=builder.define(result), constant=name, device=device)


def lower_alloc_storage(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, memory.AllocStorageOp)
    size = op.size if op.dynamic_size is None else builder.registers[op.dynamic_size]
    assert size is not None
    builder.emit(
        bytecode.AllocStorageOp,
        op,
        dst=builder.define(op.storage),
        size=size,
        alignment=op.alignment,
        device=builder.devices.use(device_at(op.storage)),
    )


def lower_alloc_tensor(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, memory.AllocTensorOp)
    offset = op.offset if op.dynamic_offset is None else builder.registers[op.dynamic_offset]
    assert offset is not None
    storage = builder.registers[op.storage]
    type = as_tensor(op.tensor.type)
    assert type is not None
    if op.shape is None:
        builder.emit(
            bytecode.AllocTensorOp,
            op,
            dst=builder.define(op.tensor),
            storage=storage,
            offset=offset,
            type=builder.plain(type),
        )
    else:
        builder.emit(
            bytecode.AllocTensorRegOp,
            op,
            dst=builder.define(op.tensor),
            storage=storage,
            offset=offset,
            shape=builder.registers[op.shape],
            element_type=type.element_type,
        )


def lower_destination_call(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, vm.DestinationCall)
    builder.emit(
        bytecode.InvokePackedOp,
        op,
        kernel=op.callee,
        ins=builder.registers_of(op.ins),
        outs=builder.registers_of(op.outs),
    )
    for result, out in zip(op.results, op.outs, strict=True):
        builder.share(result, out)


def lower_copy(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, memory.CopyOp)
    builder.emit(
        bytecode.DeviceCopyOp,
        op,
        src=builder.registers[op.ins],
        out=builder.registers[op.outs],
        src_device=builder.devices.use(device_at(op.ins)),
        dst_device=builder.devices.use(device_at(op.outs)),
    )
    builder.share(op.result, op.outs)


def lower_kill(builder: BytecodeBuilder, op: Operation) -> None:
    """Clear the register of the operand, and of its aliases that are not used any more."""
    lifetimes, value = builder.lifetimes, op.operands[0]
    assert lifetimes is not None, "a function with a kill has lifetimes"
    alive = [builder.registers[v] for v in lifetimes.used_after_kill.get(op, ())]
    registers = dict.fromkeys(lifetimes.clear(value, besides=alive))
    registers.setdefault(builder.registers[value])
    builder.clear(registers, op)


def lower_reshape(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, vm.ReshapeTensorOp)
    type = as_tensor(op.result.type)
    assert type is not None
    shape = dims(type.get_shape()) if op.shape is None else builder.registers[op.shape]
    data = builder.registers[op.data]
    builder.emit(
        bytecode.ReshapeTensorOp, op, dst=builder.define(op.result), tensor=data, shape=shape
    )


def lower_shape_of(builder: BytecodeBuilder, op: Operation) -> None:
    data = builder.registers[op.operands[0]]
    builder.emit(bytecode.ShapeOfOp, op, dst=builder.define(op.results[0]), tensor=data)


def lower_tuple(builder: BytecodeBuilder, op: Operation) -> None:
    fields = builder.registers_of(op.operands)
    builder.emit(
        bytecode.AllocADTOp, op, dst=builder.define(op.results[0]), tag=integer(0), fields=fields
    )


def lower_projection(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, relay.TupleGetItemOp)
    data = builder.registers[op.tuple]
    builder.emit(bytecode.GetFieldOp, op, dst=builder.define(op.result), data=data, field=op.index)


def lower_call(builder: BytecodeBuilder, op: Operation) -> None:
    """Lower `func.call` and `relay.invoke` alike: the machine's functions have no types."""
    args = builder.registers_of(op.operands)
    answer = builder.define(op.results[0]) if len(op.results) == 1 else builder.new_register()
    builder.emit(bytecode.InvokeOp, op, dst=answer, function=op.properties["callee"], args=args)
    if len(op.results) != 1:
        for i, result in enumerate(op.results):
            builder.emit(
                bytecode.GetFieldOp, op, dst=builder.define(result), data=answer, field=integer(i)
            )


def lower_if(builder: BytecodeBuilder, op: Operation) -> None:
    """
    Lower to an `if` that goes on with the next instruction, or after the `goto` that ends it.

    Both branches move what they yield into the results' registers. These are new ones, as a branch
    may yield a value that is used later too (TVM's compiler overwrites that value's register).
    """
    assert isinstance(op, relay.IfOp)
    choice = builder.emit(bytecode.IfOp, op, test=builder.registers[op.condition])
    start = len(builder.code)
    merged = [builder.new_register() for _ in op.results]
    cleared = _lower_branch(builder, op.then_region, merged, op)
    over = builder.emit(bytecode.GotoOp, op)
    choice.properties["true_offset"] = integer(1)
    choice.properties["false_offset"] = integer(len(builder.code) - start + 1)
    leave = len(builder.code)
    cleared += _lower_branch(builder, op.else_region, merged, op)
    over.properties["offset"] = integer(len(builder.code) - leave + 1)
    if builder.lifetimes is not None:
        builder.lifetimes.cleared_in_branches(cleared)
    for result, register in zip(op.results, merged, strict=True):
        builder.place(result, register)


def _lower_branch(
    builder: BytecodeBuilder, region: Region, merged: Sequence[RegisterAttr], at: Operation
) -> Cleared:
    """Lower a branch of `at`; return the registers defined before `at` that it clears."""
    lifetimes = builder.lifetimes
    outside = None if lifetimes is None else lifetimes.enter_branch()
    terminator = builder.lower_block(region.block)
    for register, value in zip(merged, terminator.operands, strict=True):
        builder.emit(bytecode.MoveOp, terminator, dst=register, src=builder.registers[value])
    if lifetimes is None or outside is None:
        return []
    ends, cleared = lifetimes.leave_branch(outside, terminator.operands, at.results)
    builder.clear(ends, terminator)
    return cleared


def lower_return(builder: BytecodeBuilder, op: Operation) -> None:
    """Return a single operand as it is, none or several as a tuple."""
    if len(op.operands) == 1:
        result = builder.registers[op.operands[0]]
    else:
        result = builder.new_register()
        builder.emit(
            bytecode.AllocADTOp,
            op,
            dst=result,
            tag=integer(0),
            fields=builder.registers_of(op.operands),
        )
    builder.emit(bytecode.RetOp, op, result=result)


Rule: TypeAlias = Callable[[BytecodeBuilder, Operation], None]

RULES: dict[type[Operation], Rule] = {
    relay.ConstantOp: lower_constant,
    relay.ParamOp: lower_param,
    relay.TupleOp: lower_tuple,
    relay.TupleGetItemOp: lower_projection,
    relay.IfOp: lower_if,
    memory.AllocStorageOp: lower_alloc_storage,
    memory.AllocTensorOp: lower_alloc_tensor,
    memory.CopyOp: lower_copy,
    memory.KillOp: lower_kill,
    vm.InvokeTvmOp: lower_destination_call,
    vm.ShapeFuncOp: lower_destination_call,
    vm.ReshapeTensorOp: lower_reshape,
    vm.ShapeOfOp: lower_shape_of,
    func.CallOp: lower_call,
    relay.InvokeOp: lower_call,
}
"""The rule of each op that has instructions."""
