"""
Remove copies from a device to itself.

    %1 = relay.device_copy %0 : tensor<4xf32, #cpu0> to tensor<4xf32, #cpu0>
    %2 = relay.tanh %1 : …
    ->
    %2 = relay.tanh %0 : …

Programs that name devices in part have such copies once the devices are complete. Copies from a
device to another and back stay: the program asks for them. Level `planned`.
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..dialects import relay
from .support.levels import Level
from .support.rewriting import apply_patterns


@dataclass(frozen=True)
class ElideDeviceCopiesPass(ModulePass):
    name = "elide-device-copies"
    accepts: ClassVar[Level] = "planned"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, *relay.DeviceCopyOp.get_canonicalization_patterns())
