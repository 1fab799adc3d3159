"""
Solve the device constraints of a program and write the devices into its types.

    func.func @f(%x: tensor<4xf32> {relay.device = #cuda0}) -> tensor<4xf32> {
      %0 = relay.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
      %1 = relay.on_device %0, #cpu0 {constrain_body = false, constrain_result = true}
             : (tensor<4xf32>) -> tensor<4xf32>
      func.return %1 : tensor<4xf32>
    ->
    func.func @f(%x: tensor<4xf32, #cuda0>) -> tensor<4xf32, #cpu0> {
      %0 = relay.tanh %x : (tensor<4xf32, #cuda0>) -> tensor<4xf32, #cuda0>
      %1 = relay.on_device %0, #cpu0 {constrain_body = false, constrain_result = true}
             : (tensor<4xf32, #cuda0>) -> tensor<4xf32, #cpu0>
      func.return %1 : tensor<4xf32, #cpu0>

Ops, hints included, stay as they are; annotations that types replace are erased. What types cannot
say becomes a hint with different devices on its two sides: an operand that `repair` copies, and
each use of a constant that is used on several devices. Such a constant has no device itself.

Constraints that contradict each other are an error, which shows the chain of ops between them; with
`repair`, the operand of that chain that moves the fewest bytes is copied instead, and a remark says
so. (TVM: PlanDevices; conflict repair: pull 15090.) `relay` level; first step of `plan-devices`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue, Use
from xdsl.passes import ModulePass

from ..dialects import relay
from ..dialects.device import DEVICE, VirtualDeviceAttr, disambiguated
from ..dialects.xdsl_extras.xdsl_internals import set_type
from .devices.conflicts import bytes_copied
from .devices.device_constraints import DeviceConstraints
from .devices.domains import Placement
from .devices.options import PlanningOptions
from .support.diagnostics import emit_remark
from .support.levels import Level

FALSE, TRUE = BoolAttr.from_bool(False), BoolAttr.from_bool(True)


def uses_by(
    constraints: DeviceConstraints, value: SSAValue, op: Operation, index: int
) -> list[Use]:
    """Return the uses of `value` as operand `index` of `op`, or by a yield in its regions."""
    return [
        use
        for use in value.uses
        if constraints.user_of(use.operation) is op
        and constraints.own_index(op, use.index) == index
    ]


def uses_by_type(constraints: DeviceConstraints, constant: SSAValue) -> dict[Attribute, list[Use]]:
    """Return the uses of a constant, by the type that it has there, in order of first use."""
    type = constraints.type_of(constant)
    found: dict[Attribute, list[Use]] = {}
    for use in reversed(tuple(constant.uses)):  # the first use is the last of the list
        placement = constraints.of(constant, use.operation, use.index)
        found.setdefault(constraints.type_on(type, placement), []).append(use)
    return found


def without_annotations(
    attrs: ArrayAttr[DictionaryAttr] | None,
) -> ArrayAttr[DictionaryAttr] | None:
    """Return `attrs` without devices, which are in the types now; None if nothing is left."""
    if attrs is None:
        return None
    left = [DictionaryAttr({k: v for k, v in entry.data.items() if k != DEVICE}) for entry in attrs]
    return ArrayAttr(left) if any(entry.data for entry in left) else None


# ------------------------------------------------------------------------------- types


def write_types(constraints: DeviceConstraints) -> None:
    """Write devices into the types of all values but constants."""
    for value, placement, type in constraints.placed:
        set_type(value, constraints.type_on(type, placement))


def write_signatures(constraints: DeviceConstraints) -> None:
    """Write devices into the types of all functions."""

    def placed(name: str, types: Sequence[Attribute], known: dict[tuple[str, int], Placement]):
        facts = map(constraints.interfaces.of_type, types)
        return [constraints.type_on(type, known[name, i]) for i, type in enumerate(facts)]

    for name, function in constraints.functions.items():
        type = function.function_type
        function.function_type = FunctionType.from_lists(
            placed(name, type.inputs.data, constraints.parameters),
            placed(name, type.outputs.data, constraints.results),
        )


def erase_annotations(constraints: DeviceConstraints) -> None:
    """Erase the devices outside of types that types now carry."""
    for function in constraints.functions.values():
        function.arg_attrs = without_annotations(function.arg_attrs)
        function.res_attrs = without_annotations(function.res_attrs)
    for op in constraints.annotated_ops:
        annotations = constraints.interfaces.of_op(op).annotations
        assert annotations is not None
        annotations.erase_annotations(op)


# ------------------------------------------------------------------------------- hints


def hint_before(
    user: Operation, value: SSAValue, device: VirtualDeviceAttr, type: Attribute
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
    block = user.parent_block()
    assert block is not None, "a user is in a block"
    block.insert_op_before(hint, user)
    return result


def hint_repaired_operands(ctx: Context, constraints: DeviceConstraints) -> None:
    """Insert a hint before each op that `repair` made use a copy, and tell the user."""
    for (value, op, index), copy in constraints.copies.items():
        source = constraints.device_of(constraints.of(value, op))
        target = constraints.device_of(copy)
        if source == target:
            continue
        type = constraints.type_on(constraints.type_of(value), copy)
        hinted: dict[Operation, SSAValue] = {}
        for use in uses_by(constraints, value, op, index):
            user = use.operation
            if user not in hinted:
                hinted[user] = hint_before(user, value, target, type)
            user.operands[use.index] = hinted[user]
        bytes = bytes_copied(value)
        moved = "" if bytes is None else f" ({bytes} byte{'' if bytes == 1 else 's'})"
        there, here = disambiguated(source, target)
        message = f"an operand of {op.name} is copied from {there} to {here}{moved}"
        emit_remark(ctx, op, message, notes=[(value, "the value is made here")])


def place_constants(constraints: DeviceConstraints) -> None:
    """
    Write the device of its uses into the type of each constant.

    A constant that is used on several devices stays without one, and is hinted before each use.
    """
    for op in constraints.constant_ops:
        (constant,) = op.results
        uses = uses_by_type(constraints, constant)
        if len(uses) == 1:
            set_type(constant, *uses)
            continue
        for type, here in uses.items():
            for use in here:
                placement = constraints.of(constant, use.operation, use.index)
                device = constraints.device_of(placement)
                hinted = hint_before(use.operation, constant, device, type)
                use.operation.operands[use.index] = hinted


@dataclass(frozen=True)
class AssignDevicesPass(PlanningOptions, ModulePass):
    """Decide which device each value is on, and write that into its type."""

    name = "assign-devices"
    accepts: ClassVar[Level] = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constraints = self.solve(op)
        write_types(constraints)
        write_signatures(constraints)
        erase_annotations(constraints)
        place_constants(constraints)
        hint_repaired_operands(ctx, constraints)
