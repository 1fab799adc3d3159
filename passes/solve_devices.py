"""
Solve the device constraints of a program and write the answer into it, as attributes.

    func.func @f(%x: tensor<4xf32> {relay.device = #cuda0}) -> tensor<4xf32> {
      %0 = relay.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
    ->
    func.func @f(%x: tensor<4xf32> {relay.device = #cuda0}) -> tensor<4xf32>
        attributes {relay.argument_devices = [#cuda0], relay.result_devices = [#cuda0]} {
      %0 = relay.tanh %x {relay.result_devices = [#cuda0]} : (tensor<4xf32>) -> tensor<4xf32>

Nothing else changes: `assign-devices` moves the attributes into types.

Constraints that contradict each other are an error, which shows the chain of ops between them; with
`repair`, the operand of that chain that moves the fewest bytes is copied instead, and a remark says
so. (TVM: PlanDevices; conflict repair: pull 15090.) `relay` level; part of `plan-devices`.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..dialects.device import disambiguated
from .devices.conflicts import bytes_copied
from .devices.device_constraints import DeviceConstraints
from .devices.options import PlanningOptions
from .devices.solution import write_solution
from .support.changes import LevelPass
from .support.diagnostics import emit_remark


def report_copies(ctx: Context, constraints: DeviceConstraints) -> None:
    """Tell the user which operands `repair` lets be copied."""
    for (value, op, _), copy in constraints.copies.items():
        source = constraints.device_of(constraints.of(value, op))
        target = constraints.device_of(copy)
        if source == target:
            continue
        bytes = bytes_copied(value)
        moved = "" if bytes is None else f" ({bytes} byte{'' if bytes == 1 else 's'})"
        there, here = disambiguated(source, target)
        message = f"an operand of {op.name} is copied from {there} to {here}{moved}"
        emit_remark(ctx, op, message, notes=[(value, "the value is made here")])


@dataclass(frozen=True)
class SolveDevicesPass(PlanningOptions, LevelPass):
    """Decide which device each value is on, and note it on the ops."""

    name = "solve-devices"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constraints = self.solve(op)
        report_copies(ctx, constraints)
        write_solution(constraints)
