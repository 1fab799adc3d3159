"""The options that the passes of device planning share, and what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute

from ...dialects import memory
from ...dialects.device import CPU, VirtualDeviceAttr
from ...dialects.xdsl_extras.walking import walk
from ...planning import Pool, parse_pools
from ..support.diagnostics import OptionError
from .collect import assign_defaults, collect
from .conflicts import bytes_copied, copy_cheapest, report
from .device_constraints import DeviceConstraints


def device_option(text: str, option: str) -> VirtualDeviceAttr:
    """Return the device that a pass option names; its id is 0 unless it is given."""
    device = VirtualDeviceAttr.parse_spec(text)
    if device is None or not isinstance(device.device_type, StringAttr):
        raise OptionError(f'{option} must be a device like cpu:0, but is "{text}"', option)
    return device.completed_by(CPU)


def pools_option(text: str, host: VirtualDeviceAttr) -> list[memory.PoolAttr]:
    """Return the pools that a pass option declares: of `host`, unless their names have devices."""
    try:
        parsed = parse_pools(text)
    except ValueError as error:
        raise OptionError(str(error), "pools") from None
    pools: dict[VirtualDeviceAttr, memory.PoolAttr] = {}
    for pool in (_pool(pool, host) for pool in parsed):
        if pools.setdefault(pool.device, pool) is not pool:
            raise OptionError(f"duplicate pool '{pool.label}'", "pools")
    return list(pools.values())


def _pool(pool: Pool, host: VirtualDeviceAttr) -> memory.PoolAttr:
    name, slash, scope = pool.name.partition("/")
    device = host
    if ":" in name or slash:
        device = device_option(name, "the device of a pool")
    scope = scope if slash else "" if ":" in name else name
    if scope:
        device = VirtualDeviceAttr(device.device_type, device.device_id, device.target, scope)
    if pool.alignment & (pool.alignment - 1):
        message = f"the alignment of pool '{pool.name}' must be a power of two"
        raise OptionError(f"{message}, but is {pool.alignment}", "pools")
    return memory.PoolAttr.of(device, pool.capacity, pool.cost, pool.alignment)


def planned_pools(pools: Sequence[memory.PoolAttr]) -> tuple[Pool, ...]:
    """Return `pools` as those of a problem."""
    return tuple(Pool(p.label, p.capacity, p.cost.data, p.alignment.data) for p in pools)


def parse_targets(entries: tuple[str, ...]) -> dict[str, str]:
    """Return the targets by device type, from entries like `cuda=cuda -arch=sm_80`."""
    targets: dict[str, str] = {}
    for entry in entries:
        kind, equals, target = entry.partition("=")
        if not equals or not kind.isidentifier() or not target:
            message = f'targets must be like cpu=llvm, but one is "{entry}"'
            raise OptionError(message, "targets")
        targets[kind] = target
    return targets


def named_devices(attribute: Attribute) -> Iterator[VirtualDeviceAttr]:
    """Yield the devices in an attribute: of a hint, or of parameters and results."""
    match attribute:
        case VirtualDeviceAttr():
            yield attribute
        case ArrayAttr():
            for part in attribute:
                yield from named_devices(part)
        case DictionaryAttr():
            for part in attribute.data.values():
                yield from named_devices(part)
        case _:
            pass


def named_targets(module: ModuleOp) -> dict[str, str]:
    """Return the target of each device type of which the program names exactly one."""
    targets: dict[str, set[str]] = {}
    for op in walk(module):
        for attribute in (*op.properties.values(), *op.attributes.values()):
            for device in named_devices(attribute):
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
            device_option(self.host, "host"),
            resolve=copy_cheapest(bytes_copied) if self.repair else report,
            targets=named_targets(module) | parse_targets(self.targets),
        )
        default = device_option(self.default, "default")
        collect(constraints, module)
        assign_defaults(constraints, default)
        return constraints
