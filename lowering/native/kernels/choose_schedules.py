"""
Choose the schedule of each kernel: how its loops are tiled and vectorised.

    func.func private @k(…) attributes {xrelay.kernel}
    ->
    func.func private @k(…) attributes {xrelay.kernel, xrelay.schedule = [
        {kind = "register-tile", sizes = array<i64: 8, 32>, order = array<i64: 0, 1>}]}

A kernel that has the attribute keeps it; `[]` keeps it without one. `lowering.native.schedules`
has the kinds. At level `memref`.
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override
from xdsl.dialects.func import FuncOp

from ..kernel_pass import MachinePass
from ..schedules import choose
from ..schedules.scheduling import SCHEDULE


@dataclass(frozen=True)
class ChooseSchedulesPass(MachinePass):
    name = "choose-schedules"

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        if SCHEDULE in kernel.attributes:
            return
        schedules = choose(kernel, self.machine_of(kernel))
        if schedules is not None:
            kernel.attributes[SCHEDULE] = schedules
