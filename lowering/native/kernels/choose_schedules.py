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
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp

from ....passes.support.diagnostics import PassError
from ....runtime.errors import Error
from ..kernel_pass import CPU, KernelPass
from ..schedules import choose
from ..schedules.scheduling import SCHEDULE
from ..toolchain.target_machine import Machine


@dataclass(frozen=True)
class ChooseSchedulesPass(KernelPass):
    """Choose the schedule of each kernel: how its loops are tiled and vectorised."""

    name = "choose-schedules"

    target: str | None = None
    """The triple of the machine to compile for; by default this one's."""

    cpu: str | None = None
    """
    Its processor as LLVM names it, or `native` for this one; by default the oldest.

    A kernel with the attribute `xrelay.cpu` has its own.
    """

    @override
    def rewrite(self, kernel: FuncOp) -> None:
        if SCHEDULE in kernel.attributes:
            return
        try:
            cpu = kernel.attributes.get(CPU)
            own = cpu.data if isinstance(cpu, StringAttr) else self.cpu
            schedules = choose(kernel, Machine(self.target, own))
        except Error as error:
            raise PassError(error.message, kernel) from error
        if schedules is not None:
            kernel.attributes[SCHEDULE] = schedules
