"""The `vm` dialect: kernel calls in destination-passing style, shapes, and views."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..operators.storage_errors import other_rows
from .device import device_of, equals_without_devices, upstream_type
from .interfaces import (
    AllOnHost,
    DestinationPassing,
    DeviceConstraint,
    DeviceRule,
    JoinsOperands,
    KernelEffects,
    Lookup,
    OnHost,
    OverwritesOperands,
    PreferSameDomain,
    ReadsOnlySizes,
    ResultOnHost,
    SameDomain,
    ShapedByOperand,
    ViewsOperand,
)
from .memory import ResultIsOuts, verify_destinations, verify_shape
from .memory.static_or_dynamic import (
    exactly_one,
)
from .overwriting import overwritable
from .tensors import as_tensor, dtype_name, is_static
from .xdsl_extras.formats import StaticOrDynamic, parse_signature
from .xdsl_extras.segments import operand_counts
from .xdsl_extras.xdsl_internals import operands_of


def verify_kernel_call(
    op: Operation,
    callee: SymbolRefAttr,
    args: Sequence[SSAValue],
    results: Sequence[SSAValue],
    lookup: Lookup,
) -> None:
    """
    Check that `callee` is a kernel with the types of `args` and `results`, ignoring devices.

    A kernel in upstream dialects has signless integers where its callers have signed ones. A call
    of an `impure` kernel must be `impure`.
    """
    name = callee.string_value()
    kernel = lookup(name)
    if kernel is None:
        raise VerifyException(f"@{name} is not defined in the module")
    type = kernel.properties.get("function_type")
    if kernel.name == "func.func" or not isinstance(type, FunctionType):
        raise VerifyException(f"{op.name} calls kernels, but @{name} is a {kernel.name}")
    if "impure" in kernel.properties and "impure" not in op.properties:
        raise VerifyException(f"the call must be impure, as @{name} is")
    for verb, noun, values, wanted in (
        ("expects", "argument", args, type.inputs.data),
        ("returns", "result", results, type.outputs.data),
    ):
        if len(values) != len(wanted):
            raise VerifyException(f"@{name} {verb} {len(wanted)} {noun}s, but got {len(values)}")
        for i, (value, expected) in enumerate(zip(values, wanted, strict=True)):
            given = value.type
            if (
                not equals_without_devices(expected, given)
                and expected != given
                and expected != upstream_type(given)
            ):
                raise VerifyException(f"{noun} {i} of @{name} must be {expected}, but is {given}")


@lru_cache(maxsize=256)
def _segment_sizes(ins: int, outs: int) -> Attribute:
    return DenseArrayBase.from_list(i32, [ins, outs])


class DestinationCall(IRDLOperation, ABC):
    """A call of `callee` on `ins` that writes its results into `outs`."""

    callee = prop_def(SymbolRefAttr)
    ins = var_operand_def(TensorType)
    outs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(DestinationPassing(), ResultIsOuts())

    assembly_format = (
        "$callee (`ins` `(` $ins^ `:` type($ins) `)`)? (`outs` `(` $outs^ `:` type($outs) `)`)? "
        "attr-dict (`->` type($outputs)^)?"
    )

    @classmethod
    def on(cls, callee: SymbolRefAttr, ins: Sequence[SSAValue], outs: Sequence[SSAValue]) -> Self:
        """Build the call without checks: passes build one for every operator."""
        return cls.create(
            operands=[*ins, *outs],
            result_types=[out.type for out in outs],
            properties={
                "callee": callee,
                "operandSegmentSizes": _segment_sizes(len(ins), len(outs)),
            },
        )

    def verify_(self) -> None:
        verify_destinations(self, operands_of(self)[operand_counts(self)[0] :])

    def verify_symbol_uses(self, lookup: Lookup) -> None:
        count, _ = operand_counts(self)
        operands = operands_of(self)
        verify_kernel_call(self, self.callee, operands[:count], operands[count:], lookup)


def may_be_sizes(value: SSAValue) -> bool:
    """Test whether `value` is a scalar, or integers in at most two dims, which may be sizes."""
    type = as_tensor(value.type)
    assert type is not None, "verified: operands are tensors"
    rank = type.get_num_dims()
    return rank == 0 or (rank <= 2 and "int" in (dtype_name(type.element_type) or ""))


class KernelDevices(DeviceRule):
    """
    Operands and results are on one device, but those that may be sizes may be on the host.

    Which ones the kernel reads there is up to it; the machine checks that.
    """

    names_no_device: ClassVar = True

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        assert isinstance(op, InvokeTvmOp)
        sizes = [value for value in op.ins if may_be_sizes(value)]
        placed = [value for value in op.ins if value not in sizes]
        placed += (*op.outs, *op.results)
        reason = f"operands and results of {op.name} share a device"
        if len(placed) > 1:
            yield SameDomain(tuple(placed), reason)
        for value in sizes if placed else ():
            yield PreferSameDomain((value, placed[0]), reason)


class OverwritesAsKernel(OverwritesOperands):
    """A result may be written over the operands that the kernel's body allows."""

    def overwritable(self, op: Operation, lookup: Lookup) -> Sequence[frozenset[int]]:
        assert isinstance(op, InvokeTvmOp)
        kernel = lookup(op.callee.string_value())
        blocks = kernel.regions[0].blocks if kernel is not None and kernel.regions else ()
        if len(blocks) != 1:
            return [frozenset[int]()] * len(op.results)
        return overwritable(blocks[0])

    def shares_answer(self, op: Operation, lookup: Lookup) -> Operation | None:
        assert isinstance(op, InvokeTvmOp)
        return lookup(op.callee.string_value())


@irdl_op_definition
class InvokeTvmOp(DestinationCall):
    """
    Run the kernel `callee` on `ins`, writing to `outs`.

    ```mlir
    %y = vm.invoke_tvm_op @fused_nn_dense
           ins(%x, %w : tensor<8x4xf32>, tensor<16x4xf32>)
           outs(%t : tensor<8x16xf32>) -> tensor<8x16xf32>
    ```

    Result i is the value written to `outs` i. Operands that the kernel reads as sizes may be on the
    host while all others are on another device. An operand of `ins` may be at the bytes of one of
    `outs` if the kernel's body is elementwise from one to the other; it is not used after the op.
    A call of an `impure` kernel is `impure`: `… outs(%t : …) {impure} -> …`.
    """

    name = "vm.invoke_tvm_op"

    impure = opt_prop_def(UnitAttr)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(KernelDevices(), OverwritesAsKernel(), KernelEffects())


@irdl_op_definition
class ShapeFuncOp(DestinationCall):
    """
    Run the shape function `callee` on the host, writing the computed shapes to `outs`.

    ```mlir
    %s = vm.shape_func @shape_of_add
           ins(%a, %b : tensor<2xi64>, tensor<2xi64>) outs(%t : tensor<2xi64>)
           {is_input = array<i64: 0, 0>} -> tensor<2xi64>
    ```

    `is_input` has one flag per operand: 1 if it is the data of an input, 0 if it is the shape of
    one.
    """

    name = "vm.shape_func"

    is_input = prop_def(DenseArrayBase.constr(i64))

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(AllOnHost())

    def verify_(self) -> None:
        super().verify_()
        flags = self.is_input.get_values()
        if len(flags) != len(self.ins) or any(flag not in (0, 1) for flag in flags):
            raise VerifyException(
                f"is_input needs a 0 or 1 for each of {len(self.ins)} operands, but is {flags}"
            )


@irdl_op_definition
class ShapeOfOp(IRDLOperation):
    """
    Get the dims of `data` as an i64 tensor on the host.

    ```mlir
    %s = vm.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
    ```
    """

    name = "vm.shape_of"

    data = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), ReadsOnlySizes(), ResultOnHost())
    assembly_format = "$data attr-dict `:` functional-type(operands, results)"

    def verify_(self) -> None:
        data, result = as_tensor(self.data.type), as_tensor(self.result.type)
        assert data is not None
        assert result is not None
        rank = data.get_num_dims()
        if result.element_type != i64 or result.get_shape() != (rank,):
            raise VerifyException(
                f"the shape of {data} is a tensor<{rank}xi64>, but is declared as {result}"
            )


class ViewDevices(DeviceRule):
    """The view is on the device of its data; a shape is on the host."""

    names_no_device: ClassVar = True

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        yield SameDomain((op.operands[0], op.results[0]), "a view is where its data is")
        for shape in op.operands[1:]:
            yield OnHost(shape, f"the shape of {op.name} is on the host")


def verify_same_place(data: TensorType[Attribute], view: TensorType[Attribute]) -> None:
    """Check that a view has elements of the type of its data, and is where these are."""
    if data.element_type != view.element_type:
        raise VerifyException(f"a view keeps its element type, but goes from {data} to {view}")
    if device_of(data) != device_of(view):
        raise VerifyException(f"a view is where its data is, but goes from {data} to {view}")


def verify_has_shape(result: TensorType[Attribute], shape: SSAValue | None) -> None:
    """Check that a view has a shape operand if it has a dynamic dim."""
    if is_static(result) == (shape is not None):
        fault = "has a dynamic dim and needs a" if shape is None else "is static and takes no"
        raise VerifyException(f"{result} {fault} shape operand")


@irdl_custom_directive
class ViewType(CustomDirective):
    """The type of a view, a function of its data and of its shape, if that is an operand."""

    data: TypeDirective
    shape: TypeDirective
    view: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        parse_signature(parser, state, [self.data, self.shape], self.view)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        types = (*self.data.get(op), *self.shape.get(op))
        printer.print_function_type(types, self.view.get(op))


@irdl_op_definition
class ReshapeTensorOp(IRDLOperation):
    """
    View `data` with another shape; the view aliases it.

    ```mlir
    %v = vm.reshape_tensor %x : (tensor<4x2xf32>) -> tensor<8xf32>
    %d = vm.reshape_tensor %x shape %s : (tensor<?x2xf32>, tensor<1xi64>) -> tensor<?xf32>
    ```

    A dynamic shape is given by an i64 tensor on the host.
    """

    name = "vm.reshape_tensor"

    data = operand_def(TensorType)
    shape = opt_operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure(), ViewsOperand(), ShapedByOperand(), ViewDevices())
    assembly_format = "$data (`shape` $shape^)? attr-dict `:` functional-type(operands, results)"

    def verify_(self) -> None:
        data, result = as_tensor(self.data.type), as_tensor(self.result.type)
        assert data is not None
        assert result is not None
        verify_same_place(data, result)
        if self.shape is not None:
            verify_shape(self.shape, result.get_num_dims())
        if is_static(data) and is_static(result):
            before, after = prod(data.get_shape()), prod(result.get_shape())
            if before != after:
                raise VerifyException(
                    f"a view keeps its elements, but {data} has {before} and {result} has {after}"
                )
        if not is_static(result) and self.shape is None:
            raise VerifyException(f"a view of dynamic shape, {result}, needs a shape operand")


@irdl_op_definition
class SliceTensorOp(IRDLOperation):
    """
    View rows of `data` from `start` on: its elements with these indices along the outermost dim.

    ```mlir
    %v = vm.slice_tensor %x[2] : (tensor<8x4xf32>) -> tensor<3x4xf32>
    %d = vm.slice_tensor %x[%n] shape %s : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
    ```

    The view aliases the data. The rows must be there, unless there are none. A dynamic start is an
    `i64`; a dynamic shape is given by an i64 tensor on the host.
    """

    name = "vm.slice_tensor"

    data = operand_def(TensorType)
    start = opt_prop_def(IntegerAttr[I64])
    dynamic_start = opt_operand_def(i64)
    shape = opt_operand_def(TensorType)
    result = result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure(), ViewsOperand(is_whole=False), ShapedByOperand(), ViewDevices())
    custom_directives = (StaticOrDynamic, ViewType)
    assembly_format = (
        "$data `[` custom<StaticOrDynamic>($start, $dynamic_start) `]` (`shape` $shape^)? "
        "attr-dict `:` custom<ViewType>(type($data), type($shape), type($result))"
    )

    def __init__(
        self,
        data: SSAValue,
        start: int | SSAValue,
        type: Attribute,
        shape: SSAValue | None = None,
    ):
        static = isinstance(start, int)
        super().__init__(
            operands=[data, None if static else start, shape],
            properties={"start": IntegerAttr(start, i64) if static else None},
            result_types=[type],
        )

    def verify_(self) -> None:
        exactly_one("the start", self.start, self.dynamic_start)
        data, result = as_tensor(self.data.type), as_tensor(self.result.type)
        assert data is not None
        assert result is not None
        verify_same_place(data, result)
        before, after = data.get_shape(), result.get_shape()
        if not before or len(before) != len(after):
            raise VerifyException(f"rows of {data} cannot be {result}")
        for dim, other in zip(before[1:], after[1:], strict=True):
            if dim != other and DYNAMIC_INDEX not in (dim, other):
                raise VerifyException(f"rows of {data} cannot be {result}")
        if self.shape is not None:
            verify_shape(self.shape, len(after))
        verify_has_shape(result, self.shape)
        if self.start is not None:
            start, count = self.start.value.data, max(after[0], 0)
            there = before[0] if before[0] != DYNAMIC_INDEX else start + count
            if start < 0 or (count and start + count > there):
                raise VerifyException(other_rows(data, start, after))


class JoinDevices(DeviceRule):
    """The parts are on the device of the result; a shape is on the host."""

    names_no_device: ClassVar = True

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        assert isinstance(op, JoinTensorsOp)
        yield SameDomain((*op.parts, op.result), "parts are where they are joined")
        if op.shape is not None:
            yield OnHost(op.shape, f"the shape of {op.name} is on the host")


@irdl_op_definition
class JoinTensorsOp(IRDLOperation):
    """
    View `parts`, which lie side by side in one storage, as one tensor of their elements in order.

    ```mlir
    %y = vm.join_tensors %a, %b : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
    %d = vm.join_tensors %a, %b shape %s
         : (tensor<?x4xf32>, tensor<1x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
    ```

    The result aliases its parts: each starts in the storage where the one before it ends; a part
    without elements may be anywhere. A dynamic shape is given by an i64 tensor on the host.
    """

    name = "vm.join_tensors"

    parts = var_operand_def(TensorType)
    shape = opt_operand_def(TensorType)
    result = result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure(), JoinsOperands(), ShapedByOperand(), JoinDevices())
    custom_directives = (ViewType,)
    assembly_format = (
        "$parts (`shape` $shape^)? attr-dict `:` custom<ViewType>(type($parts), type($shape), "
        "type($result))"
    )

    def __init__(self, parts: Sequence[SSAValue], type: Attribute, shape: SSAValue | None = None):
        super().__init__(operands=[parts, shape], result_types=[type])

    def verify_(self) -> None:
        parts, result = [as_tensor(part.type) for part in self.parts], as_tensor(self.result.type)
        assert result is not None
        if not parts:
            raise VerifyException("a join has at least one part")
        for part in parts:
            assert part is not None
            verify_same_place(part, result)
        if self.shape is not None:
            verify_shape(self.shape, result.get_num_dims())
        verify_has_shape(result, self.shape)
        known = [prod(part.get_shape()) for part in parts if part is not None and is_static(part)]
        if is_static(result):
            whole = prod(result.get_shape())
            if sum(known) > whole or (len(known) == len(parts) and sum(known) < whole):
                raise VerifyException(
                    f"the parts have {sum(known)} elements, but {result} has {whole}"
                )


Vm = Dialect(
    "vm",
    [InvokeTvmOp, ShapeFuncOp, ShapeOfOp, ReshapeTensorOp, SliceTensorOp, JoinTensorsOp],
)
