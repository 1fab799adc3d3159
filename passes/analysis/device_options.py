"""Devices and targets as the options of passes name them."""

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ...dialects.device import CPU, VirtualDeviceAttr
from ..support.diagnostics import PassError


def device_option(text: str, option: str, module: ModuleOp) -> VirtualDeviceAttr:
    """The device that a pass option names, number 0 of its type when it says no number."""
    device = VirtualDeviceAttr.parse_spec(text)
    if device is None or not isinstance(device.device_type, StringAttr):
        raise PassError(f'{option} must be a device like cpu:0, but is "{text}"', module)
    return device.or_default(CPU)


def parse_targets(entries: tuple[str, ...], module: ModuleOp) -> dict[str, str]:
    """The targets by device type, from entries like `cuda=cuda -arch=sm_80`."""
    targets: dict[str, str] = {}
    for entry in entries:
        kind, equals, target = entry.partition("=")
        if not equals or not kind.isidentifier() or not target:
            raise PassError(f'targets must be like cpu=llvm, but one is "{entry}"', module)
        targets[kind] = target
    return targets
