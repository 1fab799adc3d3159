"""The options that the passes of device planning share, and what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute

from ...dialects.device import CPU, VirtualDeviceAttr
from ...dialects.xdsl_extras.walking import walk
from ..support.diagnostics import PassError
from .collect import collect
from .conflicts import bytes_copied, copy_cheapest, report
from .defaults import assign_defaults
from .device_constraints import DeviceConstraints


def device_option(text: str, option: str, module: ModuleOp) -> VirtualDeviceAttr:
    """Return the device that a pass option names; its id is 0 unless it is given."""
    device = VirtualDeviceAttr.parse_spec(text)
    if device is None or not isinstance(device.device_type, StringAttr):
        raise PassError(f'{option} must be a device like cpu:0, but is "{text}"', module)
    return device.completed_by(CPU)


def parse_targets(entries: tuple[str, ...], module: ModuleOp) -> dict[str, str]:
    """Return the targets by device type, from entries like `cuda=cuda -arch=sm_80`."""
    targets: dict[str, str] = {}
    for entry in entries:
        kind, equals, target = entry.partition("=")
        if not equals or not kind.isidentifier() or not target:
            raise PassError(f'targets must be like cpu=llvm, but one is "{entry}"', module)
        targets[kind] = target
    return targets


def devices_in(attribute: Attribute) -> Iterator[VirtualDeviceAttr]:
    """Yield the devices in an attribute: of a hint, or of parameters and results."""
    match attribute:
        case VirtualDeviceAttr():
            yield attribute
        case ArrayAttr():
            for part in attribute:
                yield from devices_in(part)
        case DictionaryAttr():
            for part in attribute.data.values():
                yield from devices_in(part)
        case _:
            pass


def named_targets(module: ModuleOp) -> dict[str, str]:
    """Return the target of each device type of which the program names exactly one."""
    targets: dict[str, set[str]] = {}
    for op in walk(module):
        for attribute in (*op.properties.values(), *op.attributes.values()):
            for device in devices_in(attribute):
                if isinstance(device.target, StringAttr):
                    kind = device.spec.partition(":")[0]
                    targets.setdefault(kind, set()).add(device.target.data)
    return {kind: next(iter(named)) for kind, named in targets.items() if len(named) == 1}


@dataclass(frozen=True)
class PlanningOptions:
    """Options that decide where values are."""

    default: str = "cpu:0"
    """The device of values that are not constrained."""

    host: str = "cpu:0"
    """The device of sizes and shapes."""

    targets: tuple[str, ...] = ()
    """
    The target of each device type, as `cpu=llvm`, for devices that name none; by default, the one
    that the program names for devices of this type, if it is only one.
    """

    repair: bool = False
    """Copy the cheapest operand where constraints conflict, instead of reporting an error."""

    def solve(self, module: ModuleOp) -> DeviceConstraints:
        """Collect and solve the device constraints of `module`: every domain has a device."""
        constraints = DeviceConstraints(
            device_option(self.host, "host", module),
            resolve=copy_cheapest(bytes_copied) if self.repair else report,
            targets=named_targets(module) | parse_targets(self.targets, module),
        )
        default = device_option(self.default, "default", module)
        collect(constraints, module)
        assign_defaults(constraints, default)
        return constraints
