"""Virtual devices by number, so that comparing and joining them costs next to nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from ...dialects.device import UNCONSTRAINED, VirtualDeviceAttr

NOWHERE = 0
"""The number of the device that nothing is known of."""

_Joins: TypeAlias = dict[tuple[int, int], "int | None"]


@dataclass
class DeviceNumbers:
    """The devices of one plan: equal devices have one number; joins are computed once."""

    devices: list[VirtualDeviceAttr] = field(default_factory=lambda: [UNCONSTRAINED])
    """By number."""
    _numbers: dict[VirtualDeviceAttr, int] = field(default_factory=lambda: {UNCONSTRAINED: NOWHERE})
    _joins: _Joins = field(default_factory=_Joins)
    _fills: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])

    def number(self, device: VirtualDeviceAttr) -> int:
        """The number of `device`, a new one when it is new."""
        known = self._numbers.get(device)
        if known is None:
            known = self._numbers[device] = len(self.devices)
            self.devices.append(device)
        return known

    def join(self, a: int, b: int) -> int | None:
        """The device that is both (`VirtualDeviceAttr.join`); None when they contradict."""
        if a == b or b == NOWHERE:
            return a
        if a == NOWHERE:
            return b
        if (a, b) not in self._joins:
            joined = self.devices[a].join(self.devices[b])
            self._joins[a, b] = None if joined is None else self.number(joined)
        return self._joins[a, b]

    def fill(self, device: int, default: int) -> int:
        """`device`, with what it leaves open taken from `default` (`or_default`)."""
        if device == NOWHERE or device == default:
            return default
        known = self._fills.get((device, default))
        if known is None:
            filled = self.devices[device].or_default(self.devices[default])
            known = self._fills[device, default] = self.number(filled)
        return known
