"""
Calls of shape functions: replaced by the instructions of their bodies.

    %t = memory.alloc_tensor %s[0] : tensor<2xi64>
    %r = vm.shape_func @f ins(%x : …) outs(%t : …)      ->      the body of @f, with %x's register

The results have registers of their own, so that nothing is allocated for the `outs`.
"""

from xdsl.ir import Operation, SSAValue

from ...dialects import bytecode, memory, relay, vm
from .bytecode_builder import BytecodeBuilder


def shape_functions_in(module: Operation) -> dict[str, relay.ShapeFuncOp]:
    """Return the shape functions of `module` by name."""
    (region,) = module.regions
    return {op.sym_name.data: op for op in region.block.ops if isinstance(op, relay.ShapeFuncOp)}


def called_shape_function(builder: BytecodeBuilder, op: Operation) -> relay.ShapeFuncOp | None:
    """Return the shape function that `op` calls; None if it calls a kernel, or is not a call."""
    if not isinstance(op, vm.ShapeFuncOp):
        return None
    return builder.shape_functions.get(op.callee.string_value())


def inline_shape_function(
    builder: BytecodeBuilder, op: vm.ShapeFuncOp, function: relay.ShapeFuncOp
) -> None:
    """
    Emit the body of `function` at its call `op`.

    A result that is a parameter, or another result, is moved: either may be killed alone.
    """
    block = function.body.block
    for parameter, value in zip(block.args, op.ins, strict=True):
        builder.share(parameter, value)
    with builder.inlining(op):
        terminator = builder.lower_block(block)
    taken: set[SSAValue] = set(block.args)
    for result, out, value in zip(op.results, op.outs, terminator.operands, strict=True):
        register = builder.registers[value]
        if value in taken:
            register = builder.new_register()
            builder.emit(bytecode.MoveOp, op, dst=register, src=builder.registers[value])
        taken.add(value)
        builder.registers[out] = builder.place(result, register)


def holds_shapes_only(builder: BytecodeBuilder, value: SSAValue) -> bool:
    """Test whether a storage, or a tensor in it, is only for `outs` of inlined shape functions."""
    if not builder.shape_functions:
        return False
    users = [use.operation for use in value.uses if not isinstance(use.operation, memory.KillOp)]
    return bool(users) and all(
        called_shape_function(builder, user) is not None
        or (isinstance(user, memory.AllocTensorOp) and holds_shapes_only(builder, user.tensor))
        for user in users
    )
