"""The instructions of the virtual machine, after those of TVM's."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    base,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    traits_def,
)
from xdsl.traits import HasParent
from xdsl.utils.exceptions import VerifyException

from ...operators.sizes import Check, placeholders
from ..device import VirtualDeviceAttr
from .fields import (
    Dims,
    RegisterAttr,
    SyntaxOp,
)
from .functions import FuncOp

Register: TypeAlias = RegisterAttr
Registers: TypeAlias = ArrayAttr[RegisterAttr]
RegisterOrInt = base(RegisterAttr) | IntegerAttr.constr()
RegisterOrDims = base(RegisterAttr) | Dims.constr()


class Instruction(SyntaxOp):
    """One instruction of a function."""

    JUMPS: ClassVar[tuple[str, ...]] = ()
    """The fields that hold jump offsets."""

    traits = traits_def(HasParent(FuncOp))


@irdl_op_definition
class MoveOp(Instruction):
    """
    Make register `dst` refer to the value of `src`.

    ```mlir
    bytecode.move r3, r1
    ```
    """

    name = "bytecode.move"
    SYNTAX: ClassVar[str] = "$dst, $src"
    dst = prop_def(Register)
    src = prop_def(Register)


@irdl_op_definition
class RetOp(Instruction):
    """
    Return `result` to the caller.

    ```mlir
    bytecode.ret r3
    ```
    """

    name = "bytecode.ret"
    SYNTAX: ClassVar[str] = "$result"
    result = prop_def(Register)


@irdl_op_definition
class InvokeOp(Instruction):
    """
    Call `function`.

    ```mlir
    bytecode.invoke r4, @f(r0, r1)
    ```
    """

    name = "bytecode.invoke"
    SYNTAX: ClassVar[str] = "$dst, $function$args"
    dst = prop_def(Register)
    function = prop_def(SymbolRefAttr)
    args = prop_def(Registers)


@irdl_op_definition
class InvokeClosureOp(Instruction):
    """
    Call the closure in a register.

    ```mlir
    bytecode.invoke_closure r4, r2(r0, r1)
    ```
    """

    name = "bytecode.invoke_closure"
    SYNTAX: ClassVar[str] = "$dst, $closure$args"
    dst = prop_def(Register)
    closure = prop_def(Register)
    args = prop_def(Registers)


@irdl_op_definition
class InvokePackedOp(Instruction):
    """
    Run `kernel` on `ins`, writing `outs`.

    ```mlir
    bytecode.invoke_packed @k(r0) -> (r2)
    ```
    """

    name = "bytecode.invoke_packed"
    SYNTAX: ClassVar[str] = "$kernel$ins -> $outs"
    kernel = prop_def(SymbolRefAttr)
    ins = prop_def(Registers)
    outs = prop_def(Registers)


@irdl_op_definition
class AllocTensorOp(Instruction):
    """
    View bytes of a storage.

    ```mlir
    bytecode.alloc_tensor r2, r1[0] : tensor<4xf32>
    ```
    """

    name = "bytecode.alloc_tensor"
    SYNTAX: ClassVar[str] = "$dst, $storage[$offset] : $type"
    dst = prop_def(Register)
    storage = prop_def(Register)
    offset = prop_def(RegisterOrInt)
    type = prop_def(TensorType)


@irdl_op_definition
class AllocTensorRegOp(Instruction):
    """
    Like `alloc_tensor`, with the shape in a register.

    ```mlir
    bytecode.alloc_tensor_reg r2, r1[0] shape r5 : f32
    ```
    """

    name = "bytecode.alloc_tensor_reg"
    SYNTAX: ClassVar[str] = "$dst, $storage[$offset] shape $shape : $element_type"
    dst = prop_def(Register)
    storage = prop_def(Register)
    offset = prop_def(RegisterOrInt)
    shape = prop_def(Register)
    element_type = prop_def(Attribute)


@irdl_op_definition
class AllocADTOp(Instruction):
    """
    Build data with a constructor tag, 0 for a tuple.

    ```mlir
    bytecode.alloc_adt r3, 0(r1, r2)
    ```
    """

    name = "bytecode.alloc_adt"
    SYNTAX: ClassVar[str] = "$dst, $tag$fields"
    dst = prop_def(Register)
    tag = prop_def(IntegerAttr[I64])
    fields = prop_def(Registers)


@irdl_op_definition
class AllocClosureOp(Instruction):
    """
    Build a closure.

    ```mlir
    bytecode.alloc_closure r3, @f(r1)
    ```
    """

    name = "bytecode.alloc_closure"
    SYNTAX: ClassVar[str] = "$dst, $function$captured"
    dst = prop_def(Register)
    function = prop_def(SymbolRefAttr)
    captured = prop_def(Registers)


@irdl_op_definition
class AllocRefOp(Instruction):
    """
    Create a reference that holds an object.

    ```mlir
    bytecode.alloc_ref r3, r1
    ```
    """

    name = "bytecode.alloc_ref"
    SYNTAX: ClassVar[str] = "$dst, $src"
    dst = prop_def(Register)
    src = prop_def(Register)


@irdl_op_definition
class ReadRefOp(Instruction):
    """
    Get the object that a reference holds.

    ```mlir
    bytecode.read_ref r4, r3
    ```
    """

    name = "bytecode.read_ref"
    SYNTAX: ClassVar[str] = "$dst, $ref"
    dst = prop_def(Register)
    ref = prop_def(Register)


@irdl_op_definition
class WriteRefOp(Instruction):
    """
    Let a reference hold an object.

    ```mlir
    bytecode.write_ref r3, r2
    ```
    """

    name = "bytecode.write_ref"
    SYNTAX: ClassVar[str] = "$ref, $src"
    ref = prop_def(Register)
    src = prop_def(Register)


@irdl_op_definition
class GetFieldOp(Instruction):
    """
    Get a field of data.

    ```mlir
    bytecode.get_field r4, r3[1]
    ```
    """

    name = "bytecode.get_field"
    SYNTAX: ClassVar[str] = "$dst, $data[$field]"
    dst = prop_def(Register)
    data = prop_def(Register)
    field = prop_def(IntegerAttr[I64])


@irdl_op_definition
class IfOp(Instruction):
    """
    Jump by the first offset if `test` equals `target`, by the second otherwise.

    ```mlir
    bytecode.if r1 1, 4
    bytecode.if r1 eq r2 1, 4
    ```

    Without `target`, the first offset is taken if `test` is not 0.
    """

    name = "bytecode.if"
    SYNTAX: ClassVar[str] = "$test(? eq $target) $true_offset, $false_offset"
    test = prop_def(Register)
    target = opt_prop_def(Register)
    true_offset = prop_def(IntegerAttr[I64])
    false_offset = prop_def(IntegerAttr[I64])

    JUMPS: ClassVar[tuple[str, ...]] = ("true_offset", "false_offset")


@irdl_op_definition
class GotoOp(Instruction):
    """
    Jump.

    ```mlir
    bytecode.goto 3
    ```
    """

    name = "bytecode.goto"
    SYNTAX: ClassVar[str] = "$offset"
    offset = prop_def(IntegerAttr[I64])

    JUMPS: ClassVar[tuple[str, ...]] = ("offset",)


@irdl_op_definition
class LoadConstOp(Instruction):
    """
    Load a constant of the program.

    ```mlir
    bytecode.load_const r1, @c on #relay.device<cpu:0>
    ```
    """

    name = "bytecode.load_const"
    SYNTAX: ClassVar[str] = "$dst, $constant on $device"
    dst = prop_def(Register)
    constant = prop_def(SymbolRefAttr)
    device = prop_def(VirtualDeviceAttr)


@irdl_op_definition
class LoadConstiOp(Instruction):
    """
    Load an int64 scalar.

    ```mlir
    bytecode.load_consti r1, 7
    ```
    """

    name = "bytecode.load_consti"
    SYNTAX: ClassVar[str] = "$dst, $value"
    dst = prop_def(Register)
    value = prop_def(IntegerAttr[I64])


@irdl_op_definition
class GetTagOp(Instruction):
    """
    Get the constructor tag of data.

    ```mlir
    bytecode.get_tag r4, r3
    ```
    """

    name = "bytecode.get_tag"
    SYNTAX: ClassVar[str] = "$dst, $data"
    dst = prop_def(Register)
    data = prop_def(Register)


@irdl_op_definition
class FatalOp(Instruction):
    """
    Abort, because no clause of a match applies.

    ```mlir
    bytecode.fatal
    ```
    """

    name = "bytecode.fatal"
    SYNTAX: ClassVar[str] = ""


@irdl_op_definition
class AllocStorageOp(Instruction):
    """
    Reserve bytes.

    ```mlir
    bytecode.alloc_storage r1, 140 align 64 on #relay.device<cpu:0>
    ```
    """

    name = "bytecode.alloc_storage"
    SYNTAX: ClassVar[str] = "$dst, $size align $alignment on $device"
    dst = prop_def(Register)
    size = prop_def(RegisterOrInt)
    alignment = prop_def(IntegerAttr[I64])
    device = prop_def(VirtualDeviceAttr)


@irdl_op_definition
class SliceStorageOp(Instruction):
    """
    Use bytes of a storage as a storage.

    ```mlir
    bytecode.slice_storage r2, r1[64] size 128 align 64
    bytecode.slice_storage r2, r1[r3] size r4 align 64
    ```

    The bytes must be in the storage, and the offset a multiple of the alignment, which is at most
    that of the storage.
    """

    name = "bytecode.slice_storage"
    SYNTAX: ClassVar[str] = "$dst, $storage[$offset] size $size align $alignment"
    dst = prop_def(Register)
    storage = prop_def(Register)
    offset = prop_def(RegisterOrInt)
    size = prop_def(RegisterOrInt)
    alignment = prop_def(IntegerAttr[I64])


@irdl_op_definition
class ShapeOfOp(Instruction):
    """
    Get a tensor's shape, as int64 on the host.

    ```mlir
    bytecode.shape_of r2, r1
    ```
    """

    name = "bytecode.shape_of"
    SYNTAX: ClassVar[str] = "$dst, $tensor"
    dst = prop_def(Register)
    tensor = prop_def(Register)


@irdl_op_definition
class ComputeOp(Instruction):
    """
    Apply an operation on sizes: an op of `arith`, `extract`, `from_elements`, or a measure.

    ```mlir
    bytecode.compute r3, "muli"(r1, r2)
    bytecode.compute r4, "extract"(r0, r1)
    bytecode.compute r5, "slice_length"(r1, r2, r3, r4)
    ```

    Operands are int64 scalars and tensors, on the host. A result that does not fit in 64 bits stops
    the program.
    """

    name = "bytecode.compute"
    SYNTAX: ClassVar[str] = "$dst, $operation$args"
    dst = prop_def(Register)
    operation = prop_def(StringAttr)
    args = prop_def(Registers)


@irdl_op_definition
class RequireOp(Instruction):
    """
    Stop with `message` unless the sizes `lhs` and `rhs` are in the relation `check`.

    ```mlir
    bytecode.require "eq" r1, r2, "relay.nn.dense: {0} and {1} of {2}"(r3)
    ```

    The relations and the message are those of `relay.require`.
    """

    name = "bytecode.require"
    SYNTAX: ClassVar[str] = "$check $lhs, $rhs, $message$values"
    check = prop_def(StringAttr)
    lhs = prop_def(Register)
    rhs = prop_def(Register)
    message = prop_def(StringAttr)
    values = prop_def(Registers)

    def verify_(self) -> None:
        if self.check.data not in list(Check):
            raise VerifyException(
                f"check must be one of {', '.join(Check)}, but is {self.check.data}"
            )
        count = 2 + len(self.values)
        for number in placeholders(self.message.data):
            if number >= count:
                raise VerifyException(
                    f"the message has {{{number}}}, but there are {count} operands"
                )


@irdl_op_definition
class PackOp(Instruction):
    """
    Choose the offsets of slices so that those alive together do not overlap.

    ```mlir
    bytecode.pack r4, (r5, r6, r7) align 64 lifetimes [0, 2, 1, 4, 1, 3] sizes (r1, 4096, r2)
    bytecode.pack r4, (r5, r6) align 64 lifetimes [0, 2, 0, 2] sizes (r1, 8) arms [0, 0, 0, 1, 0, 1]
    ```

    `lifetimes` are the start and the end of each slice, `arms` are triples of a slice, a branch and
    an arm in which it is. Slices in different arms of a branch are never alive together. The
    machine plans when it knows the sizes, once for equal ones.
    """

    name = "bytecode.pack"
    SYNTAX: ClassVar[str] = (
        "$total, $offsets align $alignment lifetimes $lifetimes sizes $sizes(? arms $arms)"
    )
    total = prop_def(Register)
    offsets = prop_def(Registers)
    alignment = prop_def(IntegerAttr[I64])
    lifetimes = prop_def(Dims)
    sizes = prop_def(ArrayAttr[RegisterAttr | IntegerAttr[I64]])
    arms = opt_prop_def(Dims)

    def verify_(self) -> None:
        count = len(self.sizes)
        if len(self.offsets) != count or len(self.lifetimes) != 2 * count:
            raise VerifyException(
                f"{count} slices need {count} offsets and {2 * count} lifetime bounds, "
                f"but there are {len(self.offsets)} and {len(self.lifetimes)}"
            )
        if self.arms is not None and len(self.arms) % 3:
            raise VerifyException(
                f"arms must be triples of a slice, a branch and an arm, but are {len(self.arms)}"
            )


@irdl_op_definition
class ReshapeTensorOp(Instruction):
    """
    View a tensor with another shape.

    ```mlir
    bytecode.reshape_tensor r2, r1 to [2, 2]
    ```
    """

    name = "bytecode.reshape_tensor"
    SYNTAX: ClassVar[str] = "$dst, $tensor to $shape"
    dst = prop_def(Register)
    tensor = prop_def(Register)
    shape = prop_def(RegisterOrDims)


@irdl_op_definition
class DeviceCopyOp(Instruction):
    """
    Copy a tensor into another, on another device.

    ```mlir
    bytecode.device_copy r1 -> r2 from #relay.device<cpu:0> to #relay.device<cuda:0>
    ```
    """

    name = "bytecode.device_copy"
    SYNTAX: ClassVar[str] = "$src -> $out from $src_device to $dst_device"
    src = prop_def(Register)
    out = prop_def(Register)
    src_device = prop_def(VirtualDeviceAttr)
    dst_device = prop_def(VirtualDeviceAttr)


@irdl_op_definition
class KillRegisterOp(Instruction):
    """
    Clear a register.

    ```mlir
    bytecode.kill_register r2
    ```
    """

    name = "bytecode.kill_register"
    SYNTAX: ClassVar[str] = "$register"
    register = prop_def(Register)


INSTRUCTIONS: tuple[type[Instruction], ...] = (
    MoveOp,
    RetOp,
    InvokeOp,
    InvokeClosureOp,
    InvokePackedOp,
    AllocTensorOp,
    AllocTensorRegOp,
    AllocADTOp,
    AllocClosureOp,
    AllocRefOp,
    ReadRefOp,
    WriteRefOp,
    GetFieldOp,
    IfOp,
    GotoOp,
    LoadConstOp,
    LoadConstiOp,
    GetTagOp,
    FatalOp,
    AllocStorageOp,
    SliceStorageOp,
    ShapeOfOp,
    ComputeOp,
    RequireOp,
    PackOp,
    ReshapeTensorOp,
    DeviceCopyOp,
    KillRegisterOp,
)
"""Every instruction of the dialect."""
