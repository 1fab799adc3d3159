"""
Remove copies from a device to itself.

    %1 = relay.device_copy %0 : tensor<4xf32, #cpu0> to tensor<4xf32, #cpu0>
    %2 = relay.tanh %1 : …
    ->
    %2 = relay.tanh %0 : …

Programs that name devices in part have such copies once the devices are complete. Copies from a
device to another and back stay: the program asks for them. Level `planned`.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..dialects import relay
from .support.changes import LevelPass
from .support.rewriting import apply_patterns


class ElideDeviceCopiesPass(LevelPass):
    name = "elide-device-copies"
    accepts = "planned"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, *relay.DeviceCopyOp.get_canonicalization_patterns())
