"""
The answer of the device solver, as attributes of ops.

    %0 = relay.tanh %x {relay.result_devices = [#cuda0]} : …
    func.return %c {relay.use_devices = [#cpu0]} : …                  %c is a constant

There is one device for each result, argument of a region, use of a constant, and copied use; of a
function value, an array with those of its parameters and of its result, last.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FunctionType, NoneAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use

from ...dialects.device import VirtualDeviceAttr, with_device
from ...dialects.xdsl_extras.xdsl_internals import set_type
from .device_constraints import DeviceConstraints
from .domains import FunctionPlacement, Placement, result_of

RESULT_DEVICES = "relay.result_devices"
"""A device for each result; of a `func.func`, for each that it returns."""

ARGUMENT_DEVICES = "relay.argument_devices"
"""A device for each argument of the op's regions; of a `func.func`, for each parameter."""

USE_DEVICES = "relay.use_devices"
"""A device for each operand that is a constant; `none` for others."""

COPY_DEVICES = "relay.copy_devices"
"""The device of the copy that the op uses of an operand; `none` where it uses no copy."""


@dataclass
class _Writer:
    constraints: DeviceConstraints
    arrays: dict[int, ArrayAttr[Attribute]] = field(default_factory=lambda: {})
    """The array of one device, by its number."""
    uses: dict[tuple[int, int, int], ArrayAttr[Attribute]] = field(default_factory=lambda: {})
    """The array of one used constant, by number of operands, index, and number of the device."""

    def devices(self, placement: Placement) -> Attribute:
        if isinstance(placement, FunctionPlacement):
            return self.array((*placement.params, placement.result))
        return self.constraints.domains.device_of(placement)

    def array(self, placements: Iterable[Placement]) -> ArrayAttr[Attribute]:
        return ArrayAttr(map(self.devices, placements))

    def of_one(self, placement: Placement) -> ArrayAttr[Attribute]:
        if isinstance(placement, FunctionPlacement):
            return self.array([placement])
        number = self.constraints.domains.number_of(placement)
        array = self.arrays.get(number)
        if array is None:
            array = self.arrays[number] = self.array([placement])
        return array

    def note_use(self, use: Use, name: str, placement: Placement) -> None:
        """Note the device of one operand in the attribute `name` of its user."""
        attributes, count = use.operation.attributes, len(use.operation.operands)
        noted = attributes.get(name)
        key = count, use.index, self.constraints.domains.number_of(result_of(placement))
        if noted is None and isinstance(placement, int) and key in self.uses:
            attributes[name] = self.uses[key]
            return
        entries = [*entries_of(noted)] or [NoneAttr()] * count
        entries[use.index] = self.devices(placement)
        attributes[name] = array = ArrayAttr(entries)
        if noted is None and isinstance(placement, int):
            self.uses[key] = array

    def write(self) -> None:
        constraints = self.constraints
        values, owners = constraints.values, dict[Operation | Block, None]()
        for value, placement, type in constraints.placed:
            set_type(value, type.type)  # equal types are one object, which is found by identity
            owner = value.owner
            if isinstance(owner, Operation) and len(owner.results) == 1:
                owner.attributes[RESULT_DEVICES] = self.of_one(placement)
            else:
                owners[owner if isinstance(owner, Operation) else owner.parent_op() or owner] = None
        for op in owners:
            if isinstance(op, Operation) and op.results and op.results[0] in values:
                results = self.array(values[result] for result in op.results)
                op.attributes[RESULT_DEVICES] = results
            if isinstance(op, Operation) and (arguments := arguments_of(op)):
                if arguments[0] in values:
                    op.attributes[ARGUMENT_DEVICES] = self.array(values[a] for a in arguments)
        for name, function in constraints.functions.items():
            type = function.function_type
            for attribute, count, known in (
                (ARGUMENT_DEVICES, len(type.inputs), constraints.parameters),
                (RESULT_DEVICES, len(type.outputs), constraints.results),
            ):
                function.attributes[attribute] = self.array(known[name, i] for i in range(count))
        for op in constraints.constant_ops:
            (constant,) = op.results
            for use in constant.uses:
                placement = constraints.of(constant, use.operation, use.index)
                self.note_use(use, USE_DEVICES, placement)
        for (value, op, index), copy in constraints.copies.items():
            source = constraints.device_of(constraints.of(value, op))
            if source != constraints.device_of(copy):
                for use in uses_by(constraints, value, op, index):
                    self.note_use(use, COPY_DEVICES, copy)


def entries_of(devices: Attribute | None) -> tuple[Attribute, ...]:
    """Return the entries of an attribute of a solution; none if it is absent."""
    if not isinstance(devices, ArrayAttr):
        return ()
    return cast("ArrayAttr[Attribute]", devices).data


def write_solution(constraints: DeviceConstraints) -> None:
    """Write the devices of solved constraints into the module."""
    _Writer(constraints).write()


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


def arguments_of(op: Operation) -> list[SSAValue]:
    """Return the arguments of all blocks of an op's regions."""
    return [argument for region in op.regions for block in region.blocks for argument in block.args]


def device_of_part(devices: Attribute) -> VirtualDeviceAttr:
    """Return the device that stands for a value: of a function, that of its result."""
    while isinstance(devices, ArrayAttr):
        devices = entries_of(cast(Attribute, devices))[-1]
    assert isinstance(devices, VirtualDeviceAttr), "written by solve-devices"
    return devices


@dataclass
class TypesOnDevices:
    """Types with the devices of a solution, each computed once."""

    _placed: dict[tuple[int, int], tuple[Attribute, Attribute, Attribute]] = field(
        default_factory=lambda: {}
    )
    """By identities, which the type and the devices keep."""

    def of(self, type: Attribute, devices: Attribute) -> Attribute:
        """Return `type` on `devices`."""
        key = id(type), id(devices)
        known = self._placed.get(key)
        if known is None:
            known = self._placed[key] = type, devices, self._of(type, devices)
        return known[2]

    def _of(self, type: Attribute, devices: Attribute) -> Attribute:
        if isinstance(type, FunctionType) and entries_of(devices):
            parts = zip((*type.inputs, *type.outputs), entries_of(devices), strict=True)
            *inputs, output = (self.of(part, device) for part, device in parts)
            return FunctionType.from_lists(inputs, [output])
        return with_device(type, device_of_part(devices))
