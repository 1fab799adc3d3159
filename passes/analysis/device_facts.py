"""What planning asks of op classes and of types, asked once of each."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Operation
from xdsl.traits import IsTerminator

from ...dialects import memory, relay
from ...dialects.device import VirtualDeviceAttr, devices_in, with_device
from ...dialects.interfaces import DeviceConstant, DeviceRule, SameDevice
from ...dialects.relay.incomplete import is_incomplete
from .device_rules import READERS, Read

CHANGED: tuple[type[Operation], ...] = (
    relay.OnDeviceOp,
    relay.DeviceCopyOp,
    relay.FnOp,
    memory.AllocStorageOp,
)
"""The ops that a plan removes or takes something from that types now say."""


@dataclass(frozen=True, eq=False)
class OpFacts:
    """
    An op class: its device rule, how else it is read, and what becomes of it.

    An op that says nothing has the rule of ordinary operators.
    """

    rule: DeviceRule | None
    reader: Read | None
    is_constant: bool
    """Whether each use of the op's result may be on a device of its own."""
    is_changed: bool
    """Whether it is one of `CHANGED`."""

    @classmethod
    def of(cls, op: Operation) -> OpFacts:
        constant = op.has_trait(DeviceConstant, value_if_unregistered=False)
        kind, reader = type(op), READERS.get(type(op))
        rule = op.get_trait(DeviceRule)
        if rule is None and reader is None and not op.has_trait(IsTerminator):
            rule = SameDevice()
        return cls(rule, reader, constant, kind in CHANGED)


@dataclass
class TypeFacts:
    """A type, and what it is on the devices where values of it have been put."""

    type: Attribute
    is_incomplete: bool
    is_function: bool
    devices: tuple[VirtualDeviceAttr, ...]
    """Those that it carries already."""
    _placed: dict[int, Attribute] = field(default_factory=dict[int, Attribute])
    """By the number of the device."""

    @classmethod
    def of(cls, type: Attribute) -> TypeFacts:
        devices = tuple(device for device in devices_in(type) if device is not None)
        return cls(type, is_incomplete(type), isinstance(type, FunctionType), devices)

    def on(self, number: int, devices: list[VirtualDeviceAttr]) -> Attribute:
        """The type on a device, which is given by its number."""
        placed = self._placed.get(number)
        if placed is None:
            placed = self._placed[number] = with_device(self.type, devices[number])
        return placed


@dataclass
class Facts:
    """The facts of all classes and types of a program, found as they come up."""

    _ops: dict[type[Operation], OpFacts] = field(default_factory=dict[type[Operation], OpFacts])
    _types: dict[Attribute, TypeFacts] = field(default_factory=dict[Attribute, TypeFacts])

    def of_op(self, op: Operation) -> OpFacts:
        known = self._ops.get(type(op))
        if known is None:
            known = self._ops[type(op)] = OpFacts.of(op)
        return known

    def of_type(self, type: Attribute) -> TypeFacts:
        known = self._types.get(type)
        if known is None:
            known = self._types[type] = TypeFacts.of(type)
        return known
