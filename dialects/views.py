"""Views of the `vm` dialect: tensors in the bytes of others, with another shape or of some rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, I64, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
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
from .device import device_of
from .interfaces import (
    DeviceConstraint,
    DeviceRule,
    JoinsOperands,
    OnHost,
    SameDomain,
    ShapedByOperand,
    ViewsOperand,
)
from .memory import verify_shape
from .memory.static_or_dynamic import exactly_one
from .tensors import as_tensor, is_static
from .xdsl_extras.formats import StaticOrDynamic, parse_signature


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
    View rows of `data` from `start` on: its elements with these indices along `axis`, the first by
    default.

    ```mlir
    %v = vm.slice_tensor %x[2] : (tensor<8x4xf32>) -> tensor<3x4xf32>
    %w = vm.slice_tensor %y[2] axis 1 : (tensor<1x8x4xf32>) -> tensor<1x3x4xf32>
    %d = vm.slice_tensor %x[%n] shape %s : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
    ```

    The view aliases the data. The rows must be there, unless there are none; dims before the axis
    are 1, so that rows are contiguous. A dynamic start is an `i64`; a dynamic shape is given by an
    i64 tensor on the host.
    """

    name = "vm.slice_tensor"

    data = operand_def(TensorType)
    start = opt_prop_def(IntegerAttr[I64])
    dynamic_start = opt_operand_def(i64)
    shape = opt_operand_def(TensorType)
    axis = opt_prop_def(IntegerAttr[I64])
    result = result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure(), ViewsOperand(is_whole=False), ShapedByOperand(), ViewDevices())
    custom_directives = (StaticOrDynamic, ViewType)
    assembly_format = (
        "$data `[` custom<StaticOrDynamic>($start, $dynamic_start) `]` (`axis` $axis^)? "
        "(`shape` $shape^)? attr-dict `:` custom<ViewType>(type($data), type($shape), "
        "type($result))"
    )

    def __init__(
        self,
        data: SSAValue,
        start: int | SSAValue,
        type: Attribute,
        shape: SSAValue | None = None,
        axis: int = 0,
    ):
        static = isinstance(start, int)
        super().__init__(
            operands=[data, None if static else start, shape],
            properties={
                "start": IntegerAttr(start, i64) if static else None,
                "axis": IntegerAttr(axis, i64) if axis else None,
            },
            result_types=[type],
        )

    @property
    def along(self) -> int:
        """The number of the axis."""
        return 0 if self.axis is None else self.axis.value.data

    def verify_(self) -> None:
        exactly_one("the start", self.start, self.dynamic_start)
        data, result = as_tensor(self.data.type), as_tensor(self.result.type)
        assert data is not None
        assert result is not None
        verify_same_place(data, result)
        before, after, axis = data.get_shape(), result.get_shape(), self.along
        if not 0 <= axis < len(before) or len(before) != len(after):
            raise VerifyException(f"rows of {data} cannot be {result}")
        for i, (dim, other) in enumerate(zip(before, after, strict=True)):
            if i < axis and not dim == other == 1:
                raise VerifyException(f"dims before axis {axis} must be 1, but rows are of {data}")
            if i > axis and dim != other and DYNAMIC_INDEX not in (dim, other):
                raise VerifyException(f"rows of {data} cannot be {result}")
        if self.shape is not None:
            verify_shape(self.shape, len(after))
        verify_has_shape(result, self.shape)
        if self.start is not None:
            start, count = self.start.value.data, max(after[axis], 0)
            there = before[axis] if before[axis] != DYNAMIC_INDEX else start + count
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
