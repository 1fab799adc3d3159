"""Ops in destination-passing style, such as `memory.copy`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.utils.exceptions import VerifyException

from ..device import equal_but_for_devices
from ..interfaces import Aliasing, DestinationPassing, DeviceConstraint, DeviceRule, SameDomain
from .tensor_ops import AllocTensorOp


def verify_destinations(op: Operation, outs: Sequence[SSAValue]) -> None:
    """
    Check that there is one of `outs` per result, of the same type, and that each is allocated.
    """
    if len(outs) != len(op.results):
        raise VerifyException(
            f"{op.name} needs one result for each of its {len(outs)} outs, "
            f"but has {len(op.results)}"
        )
    for i, (out, result) in enumerate(zip(outs, op.results, strict=True)):
        if out.type is not result.type and out.type != result.type:
            raise VerifyException(f"result {i} is {result.type}, but outs {i} is {out.type}")
        _verify_allocated(i, out)


def _verify_allocated(index: int, out: SSAValue) -> None:
    if not isinstance(out, OpResult) or isinstance(out.op, AllocTensorOp):
        return
    raise VerifyException(
        f"outs {index} must be defined by memory.alloc_tensor or be a block argument, "
        f"but is defined by {out.op.name}"
    )


class ResultIsOuts(Aliasing):
    """Result i aliases outs i."""

    def aliases(self, op: Operation) -> Iterable[tuple[OpResult, SSAValue]]:
        return zip(op.results, DestinationPassing.outs(op), strict=True)


class CopyDevices(DeviceRule):
    """The result is on the device of its destination; the source may be on another."""

    names_no_device: ClassVar = True

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        yield SameDomain((op.operands[1], op.results[0]), "what is written is where its tensor is")


@irdl_op_definition
class CopyOp(IRDLOperation):
    """
    Copy the bytes of `ins` into `outs`, which may be on another device.

    ```mlir
    %y = memory.copy ins(%x : tensor<4xf32, #relay.device<cpu:0>>)
                     outs(%t : tensor<4xf32, #relay.device<cuda:0>>)
                     -> tensor<4xf32, #relay.device<cuda:0>>
    ```
    """

    name = "memory.copy"

    ins = operand_def(TensorType)
    outs = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(DestinationPassing(), ResultIsOuts(), CopyDevices())
    assembly_format = (
        "`ins` `(` $ins `:` type($ins) `)` `outs` `(` $outs `:` type($outs) `)` attr-dict "
        "`->` type($result)"
    )

    def verify_(self) -> None:
        verify_destinations(self, [self.outs])
        if not equal_but_for_devices(self.ins.type, self.outs.type):
            raise VerifyException(
                f"a copy keeps shape and element type, but goes from {self.ins.type} "
                f"to {self.outs.type}"
            )
