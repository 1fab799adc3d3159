"""Lowering of ops with explicit memory to instructions: a dict from op to rule."""

from collections.abc import Mapping

from xdsl.dialects import func
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Attribute, Operation

from ...dialects import bytecode, memory, relay, vm
from ...dialects.integers import i64_array, i64_attribute
from ...dialects.tensors import as_tensor
from ...dialects.xdsl_extras.identity import by_identity
from ...dialects.xdsl_extras.xdsl_internals import operands_of
from .bytecode_builder import BytecodeBuilder, Rule, device_at
from .data_rules import lower_construct, lower_match
from .row_rules import ROW_RULES
from .shape_functions import called_shape_function, holds_shapes_only, inline_shape_function
from .size_rules import SIZE_RULES


def lower_constant(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, relay.ConstantOp)
    _load(builder, op, builder.constants.named(op.value, op))


def lower_param(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, relay.ParamOp)
    kind, type = bytecode.LateConstantOp, builder.plain(op.result.type)
    _load(builder, op, builder.constants.named(op.param, op, kind, param=op.param, type=type))


def _load(builder: BytecodeBuilder, op: Operation, name: SymbolRefAttr) -> None:
    (result,) = op.results
    device = builder.devices.use(device_at(result))
    builder.emit(bytecode.LoadConstOp, op, dst=builder.define(result), constant=name, device=device)


def lower_alloc_storage(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, memory.AllocStorageOp)
    if holds_shapes_only(builder, op.storage):
        return
    size = op.size if op.dynamic_size is None else builder.registers[op.dynamic_size]
    assert size is not None
    builder.emit(
        bytecode.AllocStorageOp,
        op,
        dst=builder.define(op.storage),
        size=size,
        alignment=op.alignment,
        device=builder.devices.place(device_at(op.storage)),
    )


def lower_slice_storage(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, memory.SliceStorageOp)
    offset = op.offset if op.dynamic_offset is None else builder.registers[op.dynamic_offset]
    size = op.size if op.dynamic_size is None else builder.registers[op.dynamic_size]
    assert offset is not None
    assert size is not None
    builder.emit(
        bytecode.SliceStorageOp,
        op,
        dst=builder.define(op.slice),
        storage=builder.registers[op.storage],
        offset=offset,
        size=size,
        alignment=op.alignment,
    )


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
    builder.emit(
        bytecode.InvokePackedOp,
        op,
        kernel=op.properties["callee"],
        ins=builder.registers_of(operands[: len(operands) - len(outs)]),
        outs=builder.registers_of(outs),
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


def lower_reshape(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, vm.ReshapeTensorOp)
    type = as_tensor(op.result.type)
    assert type is not None
    shape = i64_array(type.get_shape()) if op.shape is None else builder.registers[op.shape]
    data = builder.registers[op.data]
    builder.emit(
        bytecode.ReshapeTensorOp, op, dst=builder.define(op.result), tensor=data, shape=shape
    )


def lower_slice(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, vm.SliceTensorOp)
    type, registers = as_tensor(op.result.type), builder.registers
    assert type is not None
    start = op.start if op.dynamic_start is None else registers[op.dynamic_start]
    assert start is not None, "verified: a slice has a start"
    shape = i64_array(type.get_shape()) if op.shape is None else registers[op.shape]
    data, dst = registers[op.data], builder.define(op.result)
    builder.emit(bytecode.SliceTensorOp, op, dst=dst, tensor=data, start=start, shape=shape)


def lower_join(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, vm.JoinTensorsOp)
    type, registers = as_tensor(op.result.type), builder.registers
    assert type is not None
    shape = i64_array(type.get_shape()) if op.shape is None else registers[op.shape]
    parts, dst = builder.registers_of(op.parts), builder.define(op.result)
    builder.emit(bytecode.JoinTensorsOp, op, dst=dst, parts=parts, shape=shape)


def lower_shape_of(builder: BytecodeBuilder, op: Operation) -> None:
    data = builder.registers[op.operands[0]]
    builder.emit(bytecode.ShapeOfOp, op, dst=builder.define(op.results[0]), tensor=data)


def lower_tuple(builder: BytecodeBuilder, op: Operation) -> None:
    fields = builder.registers_of(op.operands)
    builder.emit(
        bytecode.AllocADTOp,
        op,
        dst=builder.define(op.results[0]),
        tag=i64_attribute(0),
        fields=fields,
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
                bytecode.GetFieldOp,
                op,
                dst=builder.define(result),
                data=answer,
                field=i64_attribute(i),
            )


def lower_call_value(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, relay.CallOp)
    closure, args = builder.registers[op.callee], builder.registers_of(op.args)
    builder.emit(
        bytecode.InvokeClosureOp, op, dst=builder.define(op.result), closure=closure, args=args
    )


def lower_closure(builder: BytecodeBuilder, op: Operation) -> None:
    """Lower `relay.closure`, and `relay.global`, which captures nothing."""
    assert isinstance(op, relay.ClosureOp | relay.GlobalOp)
    captured = builder.registers_of(op.operands)
    builder.emit(
        bytecode.AllocClosureOp,
        op,
        dst=builder.define(op.result),
        function=op.callee,
        captured=captured,
    )


def lower_ref_create(builder: BytecodeBuilder, op: Operation) -> None:
    value = builder.registers[op.operands[0]]
    builder.emit(bytecode.AllocRefOp, op, dst=builder.define(op.results[0]), src=value)


def lower_ref_read(builder: BytecodeBuilder, op: Operation) -> None:
    ref = builder.registers[op.operands[0]]
    builder.emit(bytecode.ReadRefOp, op, dst=builder.define(op.results[0]), ref=ref)


def lower_ref_write(builder: BytecodeBuilder, op: Operation) -> None:
    """Lower to the write, and the empty tuple that is its result."""
    assert isinstance(op, relay.RefWriteOp)
    ref, value = builder.registers[op.ref], builder.registers[op.value]
    builder.emit(bytecode.WriteRefOp, op, ref=ref, src=value)
    fields = builder.registers_of(())
    builder.emit(
        bytecode.AllocADTOp, op, dst=builder.define(op.result), tag=i64_attribute(0), fields=fields
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
    relay.ConstantOp: lower_constant,
    relay.ParamOp: lower_param,
    relay.TupleOp: lower_tuple,
    relay.TupleGetItemOp: lower_projection,
    relay.IfOp: lower_if,
    relay.ConstructOp: lower_construct,
    relay.MatchOp: lower_match,
    memory.AllocStorageOp: lower_alloc_storage,
    memory.SliceStorageOp: lower_slice_storage,
    memory.AllocTensorOp: lower_alloc_tensor,
    memory.CopyOp: lower_copy,
    memory.KillOp: lower_kill,
    vm.InvokeTvmOp: lower_kernel_call,
    vm.ShapeFuncOp: lower_shape_function_call,
    vm.ReshapeTensorOp: lower_reshape,
    vm.SliceTensorOp: lower_slice,
    vm.JoinTensorsOp: lower_join,
    vm.ShapeOfOp: lower_shape_of,
    func.CallOp: lower_call,
    relay.InvokeOp: lower_call,
    relay.CallOp: lower_call_value,
    relay.GlobalOp: lower_closure,
    relay.ClosureOp: lower_closure,
    relay.RefCreateOp: lower_ref_create,
    relay.RefReadOp: lower_ref_read,
    relay.RefWriteOp: lower_ref_write,
}
"""The rule of each op that has instructions."""
