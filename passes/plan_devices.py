"""
Decide which device each value is on, and copy values between devices.

    %1 = relay.on_device %0, #cpu0        %1 = relay.device_copy %0
           : (tensor<4xf32>)         ->          : tensor<4xf32, #cpu0>
           -> tensor<4xf32>                        to tensor<4xf32, #cuda0>
    %2 = relay.add %1, %b : …             %2 = relay.add %1, %b : …

A sequence of passes:

- `sink-device-hints` first: a hint of a tuple that is a hint of its fields copies less.
- `explain-devices`, with the option `explain`, before anything has a device.
- `solve-devices` notes the device of each value on its op: the one place that decides.
- `assign-devices` moves these devices into types.
- `materialize-device-copies` reads only types: hints between devices become copies.
- `elide-device-copies` removes copies that the program had and that turn out needless.

A planned module that is planned again is unchanged. From level `relay` to `planned`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from xdsl.passes import ModulePass

from .assign_devices import AssignDevicesPass
from .devices.options import PlanningOptions
from .elide_device_copies import ElideDeviceCopiesPass
from .explain_devices import ExplainDevicesPass
from .materialize_device_copies import MaterializeDeviceCopiesPass
from .sink_device_hints import SinkDeviceHintsPass
from .solve_devices import SolveDevicesPass
from .support.changes import CompositePass


@dataclass(frozen=True)
class PlanDevicesPass(PlanningOptions, CompositePass):
    name = "plan-devices"
    accepts = "relay"

    explain: bool = False
    """Report the device of each value, and why."""

    def steps(self) -> Sequence[ModulePass]:
        options = {field.name: getattr(self, field.name) for field in fields(PlanningOptions)}
        return (
            SinkDeviceHintsPass(),
            *([ExplainDevicesPass(**options)] if self.explain else []),
            SolveDevicesPass(**options),
            AssignDevicesPass(),
            MaterializeDeviceCopiesPass(),
            ElideDeviceCopiesPass(),
        )
