"""
Move the devices that ops carry as attributes into types.

    func.func @f(%x: tensor<4xf32> {relay.device = #cuda0}) -> tensor<4xf32>
        attributes {relay.argument_devices = [#cuda0], relay.result_devices = [#cpu0]} {
      %0 = relay.tanh %x {relay.result_devices = [#cuda0]} : (tensor<4xf32>) -> tensor<4xf32>
      %1 = relay.on_device %0, #cpu0 {…, relay.result_devices = [#cpu0]}
             : (tensor<4xf32>) -> tensor<4xf32>
      func.return %1 : tensor<4xf32>
    ->
    func.func @f(%x: tensor<4xf32, #cuda0>) -> tensor<4xf32, #cpu0> {
      %0 = relay.tanh %x : (tensor<4xf32, #cuda0>) -> tensor<4xf32, #cuda0>
      %1 = relay.on_device %0, #cpu0 {…} : (tensor<4xf32, #cuda0>) -> tensor<4xf32, #cpu0>
      func.return %1 : tensor<4xf32, #cpu0>

The attributes are those of `solve-devices`. Ops, hints included, stay as they are; annotations that
types replace are erased. What types cannot say becomes a hint with different devices on its two
sides: an operand that `repair` copies, and each use of a constant that is used on several devices.
Such a constant has no device itself. `relay` level; part of `plan-devices`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    ModuleOp,
    NoneAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue, Use
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ..dialects import relay
from ..dialects.device import DEVICE, VirtualDeviceAttr
from ..dialects.interfaces import DeviceAnnotated, FunctionDeviceRule, Rematerializable
from ..dialects.xdsl_extras.walking import walk
from ..dialects.xdsl_extras.xdsl_internals import set_type
from .devices.solution import (
    ARGUMENT_DEVICES,
    COPY_DEVICES,
    RESULT_DEVICES,
    USE_DEVICES,
    TypesOnDevices,
    arguments_of,
    device_of_part,
    entries_of,
)
from .functions.signatures import set_types
from .support.changes import LevelPass
from .support.rewriting import apply_patterns, op_trait_rewrite_pattern

FALSE, TRUE = BoolAttr.from_bool(False), BoolAttr.from_bool(True)


def taken(op: Operation, name: str) -> tuple[Attribute, ...]:
    """Take the attribute `name`, an array, from `op`; empty if there is none."""
    return entries_of(op.attributes.pop(name, None))


def without_annotations(
    attrs: ArrayAttr[DictionaryAttr] | None,
) -> ArrayAttr[DictionaryAttr] | None:
    """Return `attrs` without devices, which are in the types now; None if nothing is left."""
    if attrs is None:
        return None
    left = [DictionaryAttr({k: v for k, v in entry.data.items() if k != DEVICE}) for entry in attrs]
    return ArrayAttr(left) if any(entry.data for entry in left) else None


def hint_before(
    user: Operation,
    value: SSAValue,
    device: VirtualDeviceAttr,
    type: Attribute,
    rewriter: PatternRewriter,
) -> SSAValue:
    """Insert a hint that the `value` that `user` uses is on `device`; return it as a `type`."""
    hint = relay.OnDeviceOp.create(
        operands=[value],
        result_types=[type],
        properties={"device": device, "constrain_body": FALSE, "constrain_result": TRUE},
        location=user.location,
    )
    (result,) = hint.results
    result.name_hint = value.name_hint
    rewriter.insert(hint, InsertPoint.before(user))
    return result


@dataclass(frozen=True)
class PlaceSignature(RewritePattern):
    """Move the devices of a function into its type and its parameters."""

    types: TypesOnDevices

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.FuncOp, rewriter: PatternRewriter, /) -> None:
        if ARGUMENT_DEVICES not in op.attributes:
            return
        type = op.function_type
        inputs = [*map(self.types.of, type.inputs, taken(op, ARGUMENT_DEVICES))]
        outputs = [*map(self.types.of, type.outputs, taken(op, RESULT_DEVICES))]
        set_types(op, inputs, outputs)
        for argument, input in zip(arguments_of(op), inputs, strict=False):
            set_type(argument, input)
        op.arg_attrs = without_annotations(op.arg_attrs)
        op.res_attrs = without_annotations(op.res_attrs)
        rewriter.notify_op_modified(op)


@dataclass(frozen=True)
class PlaceConstant(RewritePattern):
    """Move the device of the uses of a constant into its type; hint each use if there are more."""

    types: TypesOnDevices

    @op_trait_rewrite_pattern(Rematerializable)
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        (constant,) = op.results
        uses: dict[Attribute, list[tuple[Use, Attribute]]] = {}
        for use in reversed(tuple(constant.uses)):  # the first use is the last of the list
            noted = entries_of(use.operation.attributes.get(USE_DEVICES))
            if not noted:
                return
            devices = noted[use.index]
            type = self.types.of(constant.type, devices)
            uses.setdefault(type, []).append((use, devices))
        if len(uses) == 1:
            set_type(constant, *uses)
            rewriter.notify_op_modified(op)
            return
        for type, here in uses.items():
            for use, devices in here:
                user, device = use.operation, device_of_part(devices)
                user.operands[use.index] = hint_before(user, constant, device, type, rewriter)


@dataclass(frozen=True)
class PlaceValues(RewritePattern):
    """Move the devices of an op into the types of its values; hint the operands that are copied."""

    types: TypesOnDevices

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        attributes = op.attributes
        if not attributes:
            return
        for result, devices in zip(op.results, taken(op, RESULT_DEVICES), strict=False):
            set_type(result, self.types.of(result.type, devices))
        rewriter.notify_op_modified(op)
        if not attributes:
            return
        if ARGUMENT_DEVICES in attributes:
            arguments = arguments_of(op)
            for argument, devices in zip(arguments, taken(op, ARGUMENT_DEVICES), strict=True):
                set_type(argument, self.types.of(argument.type, devices))
        attributes.pop(USE_DEVICES, None)  # constants are before their uses
        if COPY_DEVICES in attributes:
            self.hint_copies(op, taken(op, COPY_DEVICES), rewriter)

    def hint_copies(
        self, op: Operation, copies: Sequence[Attribute], rewriter: PatternRewriter
    ) -> None:
        hints: dict[tuple[SSAValue, Attribute, int], SSAValue] = {}
        is_told_apart = op.get_trait(FunctionDeviceRule) is not None
        for i, (value, devices) in enumerate(zip(tuple(op.operands), copies, strict=True)):
            if isinstance(devices, NoneAttr):
                continue
            key = value, devices, i if is_told_apart else 0
            if key not in hints:
                type, device = self.types.of(value.type, devices), device_of_part(devices)
                hints[key] = hint_before(op, value, device, type, rewriter)
            op.operands[i] = hints[key]


class EraseAnnotation(RewritePattern):
    """Erase the device of an op outside of types, which now carry it."""

    @op_trait_rewrite_pattern(DeviceAnnotated)
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        annotations = op.get_trait(DeviceAnnotated)
        assert annotations is not None
        annotations.erase_annotations(op)
        rewriter.notify_op_modified(op)


class AssignDevicesPass(LevelPass):
    name = "assign-devices"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        types, ops = TypesOnDevices(), [*walk(op.body)]
        place = PlaceSignature(types), PlaceConstant(types), PlaceValues(types)
        apply_patterns(op, *place, only=ops)
        apply_patterns(op, EraseAnnotation(), only=ops)
