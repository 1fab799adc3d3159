"""Lowering of ops with explicit memory to instructions: a dict from op to rule."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import bytecode, memory, relay, vm
from ...dialects.bytecode.fields import RegisterAttr
from ...dialects.integers import i64_array, i64_attribute
from ...dialects.tensors import as_tensor
from ...dialects.xdsl_extras.identity import by_identity
from ...dialects.xdsl_extras.xdsl_internals import operands_of
from .bytecode_builder import BytecodeBuilder, Rule, device_at
from .data_rules import lower_match, tag_of
from .row_rules import ROW_RULES
from .shape_functions import called_shape_function, holds_shapes_only, inline_shape_function
from .size_rules import SIZE_RULES

Field: TypeAlias = str | Attribute | Callable[[BytecodeBuilder, Operation], Attribute]


def instruction(kind: type[Operation], **fields: Field) -> Rule:
    """
    Return the rule of an op that is one instruction, which writes the op's result.

        vm.SliceTensorOp: instruction(bytecode.SliceTensorOp, tensor="data", shape=shape_of, …)

    A field is what the op has by this name, an attribute or operands in their registers; the first
    of two names that the op has; or computed.
    """

    def lower(builder: BytecodeBuilder, op: Operation) -> None:
        values = {name: field_of(builder, op, field) for name, field in fields.items()}
        builder.emit(kind, op, dst=builder.define(op.results[0]), **values)

    return lower


def field_of(builder: BytecodeBuilder, op: Operation, field: Field) -> Attribute:
    """Return a field of an instruction."""
    if isinstance(field, Attribute):
        return field
    if not isinstance(field, str):
        return field(builder, op)
    found: Any = (getattr(op, name) for name in field.split())
    value = next(value for value in found if value is not None)
    if isinstance(value, SSAValue):
        return builder.registers[value]
    return value if isinstance(value, Attribute) else builder.registers_of(value)


def device_of_result(builder: BytecodeBuilder, op: Operation) -> Attribute:
    """Return the device of the result of `op`."""
    return builder.devices.use(device_at(op.results[0]))


def shape_of(builder: BytecodeBuilder, op: Operation) -> Attribute:
    """Return the operand that is the shape of the result, or its static shape."""
    shape: SSAValue | None = getattr(op, "shape")
    return builder.registers[shape] if shape else tensor_type_fields(op.results[0].type)["shape"]


def axis_of(builder: BytecodeBuilder, op: Operation) -> Attribute:
    """Return the axis along which `op` views rows."""
    assert isinstance(op, vm.SliceTensorOp)
    return i64_attribute(op.along)


def constant_of(builder: BytecodeBuilder, op: Operation) -> Attribute:
    """Return the name of a constant or param of the program."""
    if isinstance(op, relay.ConstantOp):
        return builder.constants.named(op.value, op)
    assert isinstance(op, relay.ParamOp)
    kind, type = bytecode.LateConstantOp, builder.plain(op.result.type)
    return builder.constants.named(op.param, op, kind, param=op.param, type=type)


def load_constant(builder: BytecodeBuilder, op: Operation) -> None:
    """Load a constant, unless the block has done so, or only its value is read."""
    value = op.results[0]
    uses = [*value.uses]
    if uses and all(isinstance(u.operation, relay.FillRowsOp) and u.index == 2 for u in uses):
        return
    fields = {"constant": constant_of(builder, op), "device": device_of_result(builder, op)}

    def load() -> RegisterAttr:
        register = builder.new_register()
        builder.emit(bytecode.LoadConstOp, op, dst=register, **fields)
        return register

    builder.registers[value] = builder.once(op, (*fields.values(),), load)


alloc_storage = instruction(
    bytecode.AllocStorageOp,
    size="size dynamic_size",
    alignment="alignment",
    device=lambda builder, op: builder.devices.place(device_at(op.results[0])),
)

alloc_closure = instruction(bytecode.AllocClosureOp, function="callee", captured="operands")

empty_tuple = instruction(bytecode.AllocADTOp, tag=i64_attribute(0), fields=ArrayAttr([]))


def lower_alloc_storage(builder: BytecodeBuilder, op: Operation) -> None:
    if not holds_shapes_only(builder, op.results[0]):
        alloc_storage(builder, op)


@by_identity
def tensor_type_fields(type: Attribute) -> Mapping[str, Attribute]:
    """Return the fields of `alloc_tensor` for a tensor type."""
    tensor = as_tensor(type)
    assert tensor is not None
    return {"shape": i64_array(tensor.get_shape()), "dtype": tensor.element_type}


def lower_alloc_tensor(builder: BytecodeBuilder, op: Operation) -> None:
    (tensor,) = op.results
    if holds_shapes_only(builder, tensor):
        return
    storage, *sizes = [builder.registers[operand] for operand in operands_of(op)]
    offset = op.properties.get("offset")
    if offset is None:
        offset, *sizes = sizes
    place = {"dst": builder.define(tensor), "storage": storage, "offset": offset}
    fields = {**place, **tensor_type_fields(tensor.type)}
    if sizes:
        fields["shape"] = sizes[0]
    builder.emit(bytecode.AllocTensorRegOp if sizes else bytecode.AllocTensorOp, op, **fields)


def lower_kernel_call(builder: BytecodeBuilder, op: Operation) -> None:
    operands = operands_of(op)
    outs = operands[len(operands) - len(op.results) :]
    turns = op.properties.get("turns")
    only: Mapping[str, Attribute] = {}
    if turns is not None and builder.turn is not None:
        only = {"turn": builder.turn, "turns": turns}
    builder.emit(
        bytecode.InvokePackedOp,
        op,
        kernel=op.properties["callee"],
        ins=builder.registers_of(operands[: len(operands) - len(outs)]),
        outs=builder.registers_of(outs),
        **only,
    )
    for result, out in zip(op.results, outs, strict=True):
        builder.share(result, out)


def lower_shape_function_call(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, vm.ShapeFuncOp)
    function = called_shape_function(builder, op)
    if function is None:
        lower_kernel_call(builder, op)
    else:
        inline_shape_function(builder, op, function)


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
    own = builder.registers.get(value)  # nothing is allocated for shapes
    ends = own is not None and lifetimes.ends(value, own)
    registers = dict.fromkeys(lifetimes.clear(value, besides=alive))
    if own is not None and ends:
        registers.setdefault(own)
    builder.clear(registers, op)


def lower_call(builder: BytecodeBuilder, op: Operation) -> None:
    """Lower `func.call` and `relay.invoke` alike: the machine's functions have no types."""
    args = builder.registers_of(op.operands)
    answer = builder.define(op.results[0]) if len(op.results) == 1 else builder.new_register()
    builder.emit(bytecode.InvokeOp, op, dst=answer, function=op.properties["callee"], args=args)
    if len(op.results) != 1:
        for i, result in enumerate(op.results):
            builder.emit(
                bytecode.GetFieldOp,
                op,
                dst=builder.define(result),
                data=answer,
                field=i64_attribute(i),
            )


def lower_ref_write(builder: BytecodeBuilder, op: Operation) -> None:
    """Lower to the write, and the empty tuple that is its result."""
    assert isinstance(op, relay.RefWriteOp)
    ref, value = builder.registers[op.ref], builder.registers[op.value]
    builder.emit(bytecode.WriteRefOp, op, ref=ref, src=value)
    empty_tuple(builder, op)


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
    cleared = builder.lower_region(op.then_region, merged, op)
    over = builder.emit(bytecode.GotoOp, op)
    choice.properties["true_offset"] = i64_attribute(1)
    choice.properties["false_offset"] = i64_attribute(len(builder.code) - start + 1)
    leave = len(builder.code)
    cleared += builder.lower_region(op.else_region, merged, op)
    over.properties["offset"] = i64_attribute(len(builder.code) - leave + 1)
    builder.define_merged(op.results, merged, cleared)


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
            tag=i64_attribute(0),
            fields=builder.registers_of(op.operands),
        )
    builder.emit(bytecode.RetOp, op, result=result)


RULES: Mapping[type[Operation], Rule] = {
    **ROW_RULES,
    **SIZE_RULES,
    relay.ConstantOp: load_constant,
    relay.ParamOp: load_constant,
    relay.TupleOp: instruction(bytecode.AllocADTOp, tag=i64_attribute(0), fields="operands"),
    relay.TupleGetItemOp: instruction(bytecode.GetFieldOp, data="tuple", field="index"),
    relay.IfOp: lower_if,
    relay.ConstructOp: instruction(bytecode.AllocADTOp, tag=tag_of, fields="fields"),
    relay.MatchOp: lower_match,
    memory.AllocStorageOp: lower_alloc_storage,
    memory.SliceStorageOp: instruction(
        bytecode.SliceStorageOp,
        storage="storage",
        offset="offset dynamic_offset",
        size="size dynamic_size",
        alignment="alignment",
    ),
    memory.AllocTensorOp: lower_alloc_tensor,
    memory.CopyOp: lower_copy,
    memory.KillOp: lower_kill,
    vm.InvokeTvmOp: lower_kernel_call,
    vm.ShapeFuncOp: lower_shape_function_call,
    vm.ReshapeTensorOp: instruction(bytecode.ReshapeTensorOp, tensor="data", shape=shape_of),
    vm.SliceTensorOp: instruction(
        bytecode.SliceTensorOp,
        tensor="data",
        start="start dynamic_start",
        shape=shape_of,
        axis=axis_of,
    ),
    vm.JoinTensorsOp: instruction(bytecode.JoinTensorsOp, parts="parts", shape=shape_of),
    vm.ShapeOfOp: instruction(bytecode.ShapeOfOp, tensor="data"),
    func.CallOp: lower_call,
    relay.InvokeOp: lower_call,
    relay.CallOp: instruction(bytecode.InvokeClosureOp, closure="callee", args="args"),
    relay.GlobalOp: alloc_closure,
    relay.ClosureOp: alloc_closure,
    relay.RefCreateOp: instruction(bytecode.AllocRefOp, src="value"),
    relay.RefReadOp: instruction(bytecode.ReadRefOp, ref="ref"),
    relay.RefWriteOp: lower_ref_write,
}
"""The rule of each op that has instructions."""
