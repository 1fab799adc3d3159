"""
Ops in destination-passing style, such as `memory.copy`.

The rows that one copies may be others in each turn of what a `relay.loop` repeats.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import ClassVar, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, I64, IntegerAttr, TensorType, UnitAttr
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.utils.exceptions import VerifyException

from ..device import equal_but_for_devices
from ..integers import i64_attribute
from ..interfaces import (
    Aliasing,
    DestinationPassing,
    DeviceConstraint,
    DeviceRule,
    SameDevice,
    SameDomain,
)
from ..tensors import as_tensor, tensor_of
from ..turns import turns_around
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


MOST_TURNS = 2**16
"""Turns that are looked at one by one; more of them are taken for all that can be."""


def first_row(op: Operation, turn: int, rows: int) -> int:
    """Return the first row, of a tensor of `rows`, that `op` copies from or to in a turn."""
    first = number(op, "start") + turn * number(op, "step")
    return first % rows if "wraps" in op.properties else first


def clips(op: Operation, rows: int) -> bool:
    """Test whether `op` copies from or to those of its rows alone that a tensor of `rows` has."""
    is_said = "clips" in op.properties or getattr(op, "fill", None) is not None
    return is_said or rows == DYNAMIC_INDEX


def verify_rows(
    op: Operation, tensor: SSAValue, axis: int, count: int, start: int | None = None
) -> None:
    """
    Check that a tensor has `count` rows from `start` on, or from those that `op` says.

    If `op` clips, it copies from or to those that there are: they may not wrap.
    """
    type = tensor_of(tensor)
    dims = type.get_shape()
    if not 0 <= axis < len(dims):
        raise VerifyException(f"axis must be 0 to {len(dims) - 1} of {type}, but is {axis}")
    if dims[axis] == DYNAMIC_INDEX and (start is not None or "wraps" in op.properties):
        raise VerifyException(f"the number of rows of {type} must be known here")
    if start is None and clips(op, dims[axis]):
        if "wraps" in op.properties:
            raise VerifyException("rows that wrap are all there, and cannot be clipped or filled")
        verify_near(op)
        return
    least, greatest = (start, start) if start is not None else first_rows(op, dims[axis] or 1)
    if min(least, count) < 0 or greatest + count > dims[axis]:
        raise VerifyException(
            f"rows {least} to {greatest + count} along axis {axis} are not in {type}"
        )


def first_rows(op: Operation, rows: int) -> tuple[int, int]:
    """Return the least and the greatest of the first rows, of `rows`, in all turns of a loop."""
    step, turns = number(op, "step"), turns_around(op)
    if not step:
        turns = 1
    if "wraps" in op.properties:
        apart = gcd(step, rows)
        if turns is None or turns > min(rows // apart, MOST_TURNS):
            return number(op, "start") % apart, rows - apart + number(op, "start") % apart
        firsts = [first_row(op, turn, rows) for turn in range(turns)]
        return min(firsts), max(firsts)
    if turns is None:
        raise VerifyException("rows move without end in a loop of an open number of turns")
    ends = first_row(op, 0, rows), first_row(op, turns - 1, rows)
    return min(ends), max(ends)


def number(op: Operation, name: str) -> int:
    """Return a property of `op`, which is an integer."""
    return cast("IntegerAttr[I64]", op.properties[name]).value.data


def verify_near(op: Operation) -> None:
    """Check that no number of a row of `op` is too large to compute with."""
    for name in ("start", "step"):
        if abs(number(op, name)) >= 2**31:
            raise VerifyException(f"{name} must be less than 2^31, but is {number(op, name)}")


def verify_fill(fill: SSAValue, data: SSAValue) -> None:
    """Check that `fill` may be an element of `data`."""
    value, of = as_tensor(fill.type), as_tensor(data.type)
    if value is None or of is None or value.element_type != of.element_type or value.get_shape():
        raise VerifyException(f"an element of {data.type} cannot be {fill.type}")


def verify_read(
    op: Operation, data: SSAValue, result: SSAValue, fill: SSAValue | None = None
) -> None:
    """Check that `result` is rows of `data`, those that `op` says, or `fill`."""
    axis, whole, part = number(op, "axis"), tensor_of(data), tensor_of(result)
    before, after = [*whole.get_shape()], [*part.get_shape()]
    if len(before) != len(after) or whole.element_type != part.element_type:
        raise VerifyException(f"{part} cannot be rows of {whole}")
    if fill is not None:
        verify_fill(fill, data)
    elif axis < len(before) and before[axis] == DYNAMIC_INDEX:
        raise VerifyException(f"rows that {whole} does not have need a value to fill them with")
    verify_rows(op, data, axis, after[axis] if axis < len(after) else 0)
    if before[:axis] + before[axis + 1 :] != after[:axis] + after[axis + 1 :]:
        raise VerifyException(f"{part} cannot be rows of {whole}")


@irdl_op_definition
class CopyRowsOp(IRDLOperation):
    """
    Copy rows of `ins`, from `start` on along `axis`, into `outs`; `step` further in each turn.

    ```mlir
    %y = memory.copy_rows ins(%x : tensor<8x4xf32>) outs(%t : tensor<2x4xf32>)
           {axis = 0 : i64, start = 1 : i64, step = 2 : i64} -> tensor<2x4xf32>
    ```

    A turn is one of the enclosing `relay.loop`. With `wraps`, the row after the last is the first.
    Rows that `ins` does not have are `fill`, which an open number of rows needs.
    """

    name = "memory.copy_rows"

    ins = operand_def(TensorType)
    fill = opt_operand_def(TensorType)
    outs = operand_def(TensorType)
    result = result_def(TensorType)
    axis = prop_def(IntegerAttr[I64])
    start = prop_def(IntegerAttr[I64])
    step = prop_def(IntegerAttr[I64], default_value=i64_attribute(0))
    wraps = opt_prop_def(UnitAttr)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(DestinationPassing(), ResultIsOuts(), SameDevice())
    assembly_format = (
        "`ins` `(` $ins `:` type($ins) `)` (`fill` `(` $fill^ `:` type($fill) `)`)? "
        "`outs` `(` $outs `:` type($outs) `)` attr-dict `->` type($result)"
    )

    @property
    def rows(self) -> int:
        """The number of rows."""
        return tensor_of(self.result).get_shape()[self.axis.value.data]

    def verify_(self) -> None:
        verify_destinations(self, [self.outs])
        verify_read(self, self.ins, self.result, self.fill)
