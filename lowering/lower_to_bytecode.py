"""
Turn functions with explicit memory into instructions on registers.

    %s = memory.alloc_storage 140 align 64 : …         bytecode.alloc_storage r1, 140 align 64 on …
    %t = memory.alloc_tensor %s[0] : T           ->    bytecode.alloc_tensor r2, r1[0] : T
    %y = vm.invoke_tvm_op @f ins(%x : …) …             bytecode.invoke_packed @f(r0) -> (r2)
    func.return %y : T                                 bytecode.ret r2

Every value has a register of its own, but a result that is written into an `outs` shares its
register. A function that returns no value or several returns a tuple. Constants are shared by
value, params by name; kernels become `bytecode.kernel`s. The module gets the list of its devices,
the host first. From level `manifest` (or `memory-planned`) to `bytecode`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import bytecode, memory, relay, vm
from ..dialects.bytecode_fields import Dims, ObjectType, RegisterAttr
from ..dialects.device import VirtualDeviceAttr, device_of, devices_in, with_device
from ..dialects.tensors import as_tensor
from ..passes.analysis.device_options import device_option
from ..passes.diagnostics import PassError
from ..passes.rewriting import apply_patterns


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
                raise PassError(f"{op.name} has no instruction; lower it before", op)
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
                "type": with_device(op.result.type, None),
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
            type=with_device(type, None),
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
    assert isinstance(op, func.CallOp)
    args = to.of(op.arguments)
    answer = to.define(op.results[0]) if len(op.results) == 1 else to.fresh()
    to.emit(bytecode.InvokeOp, op, dst=answer, function=op.callee, args=args)
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
}
"""The instructions for each op."""


def parameter_type(value: SSAValue, devices: Devices) -> Attribute:
    """The type of a parameter: a tensor on a plain device, or an object on one."""
    device = devices.use(device_at(value))
    if (tensor := as_tensor(value.type)) is not None:
        return with_device(tensor, device)
    return ObjectType(device)


def parameter_names(function: func.FuncOp) -> list[StringAttr]:
    """
    What the parameters are called: their `relay.name`, their names in the text, or numbers.

    Names that stand twice get their number behind them.
    """
    names: list[StringAttr] = []
    attrs = function.arg_attrs
    for i, argument in enumerate(function.args):
        given = attrs.data[i].data.get("relay.name") if attrs is not None else None
        name = given.data if isinstance(given, StringAttr) else argument.name_hint or f"arg{i}"
        attr = StringAttr(name)
        names.append(StringAttr(f"{name}_{i}") if attr in names else attr)
    return names


@dataclass(frozen=True)
class LowerFunction(RewritePattern):
    """Replace a function by its instructions."""

    constants: Constants
    devices: Devices

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.FuncOp, rewriter: PatternRewriter, /) -> None:
        if not op.body.blocks:
            raise PassError(f"@{op.sym_name.data} has no body", op)
        if len(op.body.blocks) > 1:
            raise PassError(
                f"@{op.sym_name.data} has {len(op.body.blocks)} blocks; one is lowered", op
            )
        to = Emitter(self.constants, self.devices)
        types = [parameter_type(argument, self.devices) for argument in op.args]
        for argument in op.args:
            to.define(argument)
        _emit_return(to, to.block(op.body.block))
        function = bytecode.FuncOp.create(
            properties={
                "sym_name": op.sym_name,
                "param_names": ArrayAttr(parameter_names(op)),
                "param_types": ArrayAttr(types),
                "register_count": integer(to.count),
            },
            regions=[Region(Block(to.code))],
        )
        rewriter.replace(op, function, [])


def _emit_return(to: Emitter, op: Operation) -> None:
    if len(op.operands) == 1:
        result = to.registers[op.operands[0]]
    else:
        result = to.fresh()
        to.emit(bytecode.AllocADTOp, op, dst=result, tag=integer(0), fields=to.of(op.operands))
    to.emit(bytecode.RetOp, op, result=result)


class LowerKernel(RewritePattern):
    """Replace a kernel by the list of its steps."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.PrimFuncOp, rewriter: PatternRewriter, /) -> None:
        block = op.body.block
        constants = [o for o in block.ops if isinstance(o, relay.ConstantOp)]
        number: dict[SSAValue, int] = {}
        for value in (*block.args, *(c.result for c in constants)):
            number[value] = len(number)
        body: list[Operation] = [
            bytecode.KernelConstantOp.create(properties={"value": c.value}) for c in constants
        ]
        outputs: Sequence[SSAValue] = ()
        for inner in block.ops:
            if isinstance(inner, relay.YieldOp):
                outputs = inner.values
            elif not isinstance(inner, relay.ConstantOp):
                body.append(_step(inner, number))
        kernel = bytecode.KernelOp.create(
            properties={
                "sym_name": op.sym_name,
                "types": op.function_type.inputs,
                "outputs": dims([number[v] for v in outputs]),
            },
            regions=[Region(Block(body))],
        )
        rewriter.replace(op, kernel, [])


def _step(op: Operation, number: dict[SSAValue, int]) -> Operation:
    inputs = [number[operand] for operand in op.operands]
    for result in op.results:
        number[result] = len(number)
    properties: dict[str, Attribute] = {
        "op": StringAttr(op.name),
        "inputs": dims(inputs),
        "outputs": dims([number[r] for r in op.results]),
        "types": ArrayAttr([r.type for r in op.results]),
    }
    if op.properties:
        properties["attrs"] = DictionaryAttr(op.properties)
    return bytecode.StepOp.create(properties=properties, location=op.location)


def add_declarations(module: ModuleOp, constants: Constants, devices: Devices) -> None:
    """Put the constants in front of the functions, and the devices on the module."""
    module.attributes[bytecode.DEVICES] = ArrayAttr(list(devices.found))
    block = module.body.block
    first = block.first_op
    if first is None:
        block.add_ops(constants.ops)
    else:
        block.insert_ops_before(constants.ops, first)


@dataclass(frozen=True)
class LowerToBytecodePass(ModulePass):
    """Turn functions with explicit memory into instructions on registers."""

    name = "lower-to-bytecode"

    host: str = "cpu:0"
    """The device that sizes and shapes are computed on."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        host = device_option(self.host, "host", op)
        constants, devices = Constants(), Devices({host: None})
        apply_patterns(op, LowerFunction(constants, devices), LowerKernel())
        add_declarations(op, constants, devices)
