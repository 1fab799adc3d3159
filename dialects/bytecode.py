"""
The `bytecode` dialect: the virtual machine's instructions as ops on registers.

Registers are numbers, not SSA values, and a function is a flat list of instructions; jump offsets
count from the instruction itself. Each instruction says its custom text once, in `SYNTAX`; how a
field is read and printed follows from its name (`FIELDS`). The names of the fields are those of
`runtime.instructions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self, TypeAlias, cast

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, Dialect, Region
from xdsl.irdl import (
    IRDLOperation,
    base,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from .bytecode_fields import (
    Dims,
    ObjectType,
    RegisterAttr,
    parse_by_syntax,
    print_by_syntax,
)
from .device import VirtualDeviceAttr

Register: TypeAlias = RegisterAttr
Registers: TypeAlias = ArrayAttr[RegisterAttr]
RegisterOrInt = base(RegisterAttr) | IntegerAttr.constr()
RegisterOrDims = base(RegisterAttr) | Dims.constr()


class Written(IRDLOperation):
    """An op whose custom text is its `SYNTAX`: literal words and `$fields`."""

    SYNTAX: ClassVar[str]
    """For example `$dst, $storage[$offset] : $type`; an optional part stands in `(? …)`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties = parse_by_syntax(cls.SYNTAX, parser)
        return cls.create(properties=properties, attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        if self.SYNTAX:
            printer.print_string(" ")
        print_by_syntax(self.SYNTAX, self.properties, printer)
        printer.print_op_attributes(self.attributes)


# ---------------------------------------------------------------- declarations


@irdl_op_definition
class ConstantOp(Written):
    """
    Define constant `sym_name` of the program.

    ```mlir
    bytecode.constant @const_0 dense<[1.0, 2.0]> : tensor<2xf32>
    ```
    """

    name = "bytecode.constant"
    SYNTAX: ClassVar[str] = "$sym_name $value"

    sym_name = prop_def(SymbolNameConstraint())
    value = prop_def(DenseIntOrFPElementsAttr)

    traits = traits_def(SymbolOpInterface())


@irdl_op_definition
class LateConstantOp(Written):
    """
    Define constant `sym_name` of the program, bound to the tensor `param` when it is loaded.

    ```mlir
    bytecode.late_constant @const_1 "conv1_w" : tensor<64x3x7x7xf32>
    ```
    """

    name = "bytecode.late_constant"
    SYNTAX: ClassVar[str] = "$sym_name $param : $type"

    sym_name = prop_def(SymbolNameConstraint())
    param = prop_def(StringAttr)
    type = prop_def(TensorType)

    traits = traits_def(SymbolOpInterface())


def _parse_body(parser: Parser) -> Region:
    """A region of one block, which may be empty."""
    region = parser.parse_region()
    if not region.blocks:
        region.add_block(Block())
    return region


class Definition(IRDLOperation):
    """A kernel or a function: a named list of ops."""

    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")

    traits = traits_def(NoTerminator(), SymbolOpInterface())


@irdl_op_definition
class KernelOp(Definition):
    """
    Define a kernel: a straight-line program of operators over numbered values.

    ```mlir
    bytecode.kernel @fused_add_nn_relu (tensor<4xf32>, tensor<4xf32>) -> [3] {
      bytecode.step "relay.add" [0, 1] -> [2] : (tensor<4xf32>)
      bytecode.step "relay.nn.relu" [2] -> [3] : (tensor<4xf32>)
    }
    ```

    The arguments come first, then the constants, then what the steps compute. The numbers behind
    the arrow are the kernel's results.
    """

    name = "bytecode.kernel"

    types = prop_def(ArrayAttr[Attribute])
    outputs = prop_def(Dims)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties = parse_by_syntax("$sym_name $types -> $outputs", parser)
        return cls.create(properties=properties, regions=[_parse_body(parser)])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_by_syntax("$sym_name $types -> $outputs", self.properties, printer)
        printer.print_string(" ")
        printer.print_region(self.body)

    def verify_(self) -> None:
        known = len(self.types.data)
        steps = 0
        for op in self.body.block.ops:
            if isinstance(op, StepOp):
                steps += 1
                _check_numbers(op.inputs, known, op)
                for number in cast(Sequence[int], op.outputs.get_values()):
                    if number != known:
                        raise VerifyException(
                            f"{op.name} defines value {number}, but the next one is {known}"
                        )
                    known += 1
            elif isinstance(op, KernelConstantOp):
                if steps:
                    raise VerifyException(f"{op.name} must come before the {steps} steps above it")
                known += 1
            else:
                raise VerifyException(f"{self.name} holds constants and steps, but no {op.name}")
        _check_numbers(self.outputs, known, self)


def _check_numbers(numbers: Dims, known: int, op: IRDLOperation) -> None:
    for number in cast(Sequence[int], numbers.get_values()):
        if not 0 <= number < known:
            raise VerifyException(
                f"{op.name} reads value {number}, but only {known} values are defined before"
            )


@irdl_op_definition
class KernelConstantOp(Written):
    """
    Define the kernel's next value to be a constant.

    ```mlir
    bytecode.kernel_constant dense<1.0> : tensor<f32>
    ```
    """

    name = "bytecode.kernel_constant"
    SYNTAX: ClassVar[str] = "$value"

    value = prop_def(DenseIntOrFPElementsAttr)

    traits = traits_def(HasParent(KernelOp))


@irdl_op_definition
class StepOp(Written):
    """
    Apply operator `op` to values, defining the kernel's next values.

    ```mlir
    bytecode.step "relay.nn.dense" [0, 1] -> [2] : (tensor<8x16xf32>)
    bytecode.step "relay.nn.softmax" [2] -> [3] : (tensor<8x16xf32>) with {axis = -1 : i64}
    ```
    """

    name = "bytecode.step"
    SYNTAX: ClassVar[str] = "$op $inputs -> $outputs : $types(? with $attrs)"

    op = prop_def(StringAttr)
    inputs = prop_def(Dims)
    outputs = prop_def(Dims)
    types = prop_def(ArrayAttr[Attribute])
    attrs = opt_prop_def(DictionaryAttr)

    traits = traits_def(HasParent(KernelOp))

    def verify_(self) -> None:
        if len(self.outputs) != len(self.types):
            raise VerifyException(
                f"{len(self.outputs)} values are defined, but {len(self.types)} types are given"
            )


@irdl_op_definition
class FuncOp(Definition):
    """
    Define a function of the program; its parameters are in registers 0, 1, …

    ```mlir
    bytecode.func @main ("x" : tensor<4xf32, #relay.device<cpu:0>>) registers 3 {
      …
      bytecode.ret r2
    }
    ```
    """

    name = "bytecode.func"

    param_names = prop_def(ArrayAttr[StringAttr])
    param_types = prop_def(ArrayAttr[Attribute])
    register_count = prop_def(IntegerAttr[I64])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        def param() -> tuple[StringAttr, Attribute]:
            name = StringAttr(parser.parse_str_literal())
            parser.parse_punctuation(":")
            return name, parser.parse_type()

        name = parser.parse_symbol_name()
        params = parser.parse_comma_separated_list(parser.Delimiter.PAREN, param)
        properties = parse_by_syntax("registers $register_count", parser)
        properties |= {
            "sym_name": name,
            "param_names": ArrayAttr([n for n, _ in params]),
            "param_types": ArrayAttr([t for _, t in params]),
        }
        return cls.create(properties=properties, regions=[_parse_body(parser)])

    def print(self, printer: Printer) -> None:
        def param(pair: tuple[StringAttr, Attribute]) -> None:
            printer.print_attribute(pair[0])
            printer.print_string(" : ")
            printer.print_attribute(pair[1])

        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(zip(self.param_names, self.param_types, strict=True), param)
        printer.print_string(" ")
        print_by_syntax("registers $register_count", self.properties, printer)
        printer.print_string(" ")
        printer.print_region(self.body)

    def verify_(self) -> None:
        if len(self.param_names) != len(self.param_types):
            raise VerifyException(
                f"{len(self.param_names)} parameters are named, "
                f"but {len(self.param_types)} have types"
            )
        count = self.register_count.value.data
        if count < len(self.param_names):
            raise VerifyException(
                f"{len(self.param_names)} parameters do not fit in {count} registers"
            )
        size = len(self.body.block.ops)
        for i, op in enumerate(self.body.block.ops):
            if isinstance(op, IfOp | GotoOp):
                for offset in op.offsets:
                    if not 0 <= i + offset < size:
                        raise VerifyException(
                            f"{op.name} jumps from instruction {i} to {i + offset}, "
                            f"but @{self.sym_name.data} has {size} instructions"
                        )
            for value in op.properties.values():
                for register in _registers_in(value):
                    if register >= count:
                        raise VerifyException(
                            f"{op.name} uses register r{register}, "
                            f"but @{self.sym_name.data} has {count} registers"
                        )


def _registers_in(value: Attribute) -> Sequence[int]:
    if isinstance(value, RegisterAttr):
        return (value.data,)
    if isinstance(value, ArrayAttr):
        items = cast(ArrayAttr[Any], value).data
        return tuple(v.data for v in items if isinstance(v, RegisterAttr))
    return ()


# ---------------------------------------------------------------- instructions


class Instruction(Written):
    """One instruction of a function."""

    traits = traits_def(HasParent(FuncOp))


@irdl_op_definition
class MoveOp(Instruction):
    """Let `dst` refer to what `src` refers to: `bytecode.move r3, r1`."""

    name = "bytecode.move"
    SYNTAX: ClassVar[str] = "$dst, $src"
    dst = prop_def(Register)
    src = prop_def(Register)


@irdl_op_definition
class RetOp(Instruction):
    """Return `result` to the caller: `bytecode.ret r3`."""

    name = "bytecode.ret"
    SYNTAX: ClassVar[str] = "$result"
    result = prop_def(Register)


@irdl_op_definition
class InvokeOp(Instruction):
    """Call `function`: `bytecode.invoke r4, @f(r0, r1)`."""

    name = "bytecode.invoke"
    SYNTAX: ClassVar[str] = "$dst, $function$args"
    dst = prop_def(Register)
    function = prop_def(SymbolRefAttr)
    args = prop_def(Registers)


@irdl_op_definition
class InvokeClosureOp(Instruction):
    """Call the closure in a register: `bytecode.invoke_closure r4, r2(r0, r1)`."""

    name = "bytecode.invoke_closure"
    SYNTAX: ClassVar[str] = "$dst, $closure$args"
    dst = prop_def(Register)
    closure = prop_def(Register)
    args = prop_def(Registers)


@irdl_op_definition
class InvokePackedOp(Instruction):
    """Run `kernel` on `ins`, writing `outs`: `bytecode.invoke_packed @k(r0) -> (r2)`."""

    name = "bytecode.invoke_packed"
    SYNTAX: ClassVar[str] = "$kernel$ins -> $outs"
    kernel = prop_def(SymbolRefAttr)
    ins = prop_def(Registers)
    outs = prop_def(Registers)


@irdl_op_definition
class AllocTensorOp(Instruction):
    """View bytes of a storage: `bytecode.alloc_tensor r2, r1[0] : tensor<4xf32>`."""

    name = "bytecode.alloc_tensor"
    SYNTAX: ClassVar[str] = "$dst, $storage[$offset] : $type"
    dst = prop_def(Register)
    storage = prop_def(Register)
    offset = prop_def(RegisterOrInt)
    type = prop_def(TensorType)


@irdl_op_definition
class AllocTensorRegOp(Instruction):
    """
    As `alloc_tensor`, with the shape in a register:
    `bytecode.alloc_tensor_reg r2, r1[0] shape r5 : f32`.
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
    """Build data of a constructor, 0 for a tuple: `bytecode.alloc_adt r3, 0(r1, r2)`."""

    name = "bytecode.alloc_adt"
    SYNTAX: ClassVar[str] = "$dst, $tag$fields"
    dst = prop_def(Register)
    tag = prop_def(IntegerAttr[I64])
    fields = prop_def(Registers)


@irdl_op_definition
class AllocClosureOp(Instruction):
    """Build a closure: `bytecode.alloc_closure r3, @f(r1)`."""

    name = "bytecode.alloc_closure"
    SYNTAX: ClassVar[str] = "$dst, $function$captured"
    dst = prop_def(Register)
    function = prop_def(SymbolRefAttr)
    captured = prop_def(Registers)


@irdl_op_definition
class GetFieldOp(Instruction):
    """Give a field of data: `bytecode.get_field r4, r3[1]`."""

    name = "bytecode.get_field"
    SYNTAX: ClassVar[str] = "$dst, $data[$field]"
    dst = prop_def(Register)
    data = prop_def(Register)
    field = prop_def(IntegerAttr[I64])


@irdl_op_definition
class IfOp(Instruction):
    """
    Jump by the first offset when `test` equals `target`, or is not 0 where there is no target,
    else by the second: `bytecode.if r1 1, 4`, `bytecode.if r1 eq r2 1, 4`.
    """

    name = "bytecode.if"
    SYNTAX: ClassVar[str] = "$test(? eq $target) $true_offset, $false_offset"
    test = prop_def(Register)
    target = opt_prop_def(Register)
    true_offset = prop_def(IntegerAttr[I64])
    false_offset = prop_def(IntegerAttr[I64])

    @property
    def offsets(self) -> Sequence[int]:
        return (self.true_offset.value.data, self.false_offset.value.data)


@irdl_op_definition
class GotoOp(Instruction):
    """Jump: `bytecode.goto 3`."""

    name = "bytecode.goto"
    SYNTAX: ClassVar[str] = "$offset"
    offset = prop_def(IntegerAttr[I64])

    @property
    def offsets(self) -> Sequence[int]:
        return (self.offset.value.data,)


@irdl_op_definition
class LoadConstOp(Instruction):
    """Load a constant of the program: `bytecode.load_const r1, @c on #relay.device<cpu:0>`."""

    name = "bytecode.load_const"
    SYNTAX: ClassVar[str] = "$dst, $constant on $device"
    dst = prop_def(Register)
    constant = prop_def(SymbolRefAttr)
    device = prop_def(VirtualDeviceAttr)


@irdl_op_definition
class LoadConstiOp(Instruction):
    """Load an int64 scalar: `bytecode.load_consti r1, 7`."""

    name = "bytecode.load_consti"
    SYNTAX: ClassVar[str] = "$dst, $value"
    dst = prop_def(Register)
    value = prop_def(IntegerAttr[I64])


@irdl_op_definition
class GetTagOp(Instruction):
    """Give the constructor tag of data: `bytecode.get_tag r4, r3`."""

    name = "bytecode.get_tag"
    SYNTAX: ClassVar[str] = "$dst, $data"
    dst = prop_def(Register)
    data = prop_def(Register)


@irdl_op_definition
class FatalOp(Instruction):
    """Stop: no clause of a match applies. `bytecode.fatal`."""

    name = "bytecode.fatal"
    SYNTAX: ClassVar[str] = ""


@irdl_op_definition
class AllocStorageOp(Instruction):
    """Reserve bytes: `bytecode.alloc_storage r1, 140 align 64 on #relay.device<cpu:0>`."""

    name = "bytecode.alloc_storage"
    SYNTAX: ClassVar[str] = "$dst, $size align $alignment on $device"
    dst = prop_def(Register)
    size = prop_def(RegisterOrInt)
    alignment = prop_def(IntegerAttr[I64])
    device = prop_def(VirtualDeviceAttr)


@irdl_op_definition
class ShapeOfOp(Instruction):
    """Give a tensor's shape, int64 on the host: `bytecode.shape_of r2, r1`."""

    name = "bytecode.shape_of"
    SYNTAX: ClassVar[str] = "$dst, $tensor"
    dst = prop_def(Register)
    tensor = prop_def(Register)


@irdl_op_definition
class ReshapeTensorOp(Instruction):
    """View a tensor with another shape: `bytecode.reshape_tensor r2, r1 to [2, 2]`."""

    name = "bytecode.reshape_tensor"
    SYNTAX: ClassVar[str] = "$dst, $tensor to $shape"
    dst = prop_def(Register)
    tensor = prop_def(Register)
    shape = prop_def(RegisterOrDims)


@irdl_op_definition
class DeviceCopyOp(Instruction):
    """
    Copy a tensor into another, on another device:
    `bytecode.device_copy r1 -> r2 from #relay.device<cpu:0> to #relay.device<cuda:0>`.
    """

    name = "bytecode.device_copy"
    SYNTAX: ClassVar[str] = "$src -> $out from $src_device to $dst_device"
    src = prop_def(Register)
    out = prop_def(Register)
    src_device = prop_def(VirtualDeviceAttr)
    dst_device = prop_def(VirtualDeviceAttr)


@irdl_op_definition
class KillRegisterOp(Instruction):
    """Make a register refer to nothing: `bytecode.kill_register r2`."""

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
    GetFieldOp,
    IfOp,
    GotoOp,
    LoadConstOp,
    LoadConstiOp,
    GetTagOp,
    FatalOp,
    AllocStorageOp,
    ShapeOfOp,
    ReshapeTensorOp,
    DeviceCopyOp,
    KillRegisterOp,
)

DEVICES = "bytecode.devices"
"""The module's attribute that lists its devices, the host first."""

Bytecode = Dialect(
    "bytecode",
    [ConstantOp, LateConstantOp, KernelOp, KernelConstantOp, StepOp, FuncOp, *INSTRUCTIONS],
    [RegisterAttr, ObjectType],
)
