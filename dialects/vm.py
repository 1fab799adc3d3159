"""The `vm` dialect: kernel calls in destination-passing style, shapes, and the ops of `views`."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
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
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .device import equals_without_devices, upstream_type
from .interfaces import (
    AllOnHost,
    DestinationPassing,
    DeviceConstraint,
    DeviceRule,
    KernelEffects,
    Lookup,
    OverwritesOperands,
    PreferSameDomain,
    ReadsOnlySizes,
    ResultOnHost,
    SameDomain,
)
from .memory import ResultIsOuts, verify_destinations
from .overwriting import overwritable
from .tensors import as_tensor, dtype_name
from .turns import verify_turns
from .views import JoinTensorsOp, ReshapeTensorOp, SliceTensorOp
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
    A call of an `impure` kernel is `impure`: `… outs(%t : …) {impure} -> …`. In a loop, it need not
    run in other turns than those from the first on up to the second of `turns`.
    """

    name = "vm.invoke_tvm_op"

    impure = opt_prop_def(UnitAttr)
    turns = opt_prop_def(DenseArrayBase.constr(i64))

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(KernelDevices(), OverwritesAsKernel(), KernelEffects())

    def verify_(self) -> None:
        super().verify_()
        verify_turns(self, self.turns)


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


Vm = Dialect(
    "vm", [InvokeTvmOp, ShapeFuncOp, ShapeOfOp, ReshapeTensorOp, SliceTensorOp, JoinTensorsOp]
)
