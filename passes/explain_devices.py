"""
Report which device each value would be on, and why; the program stays as it is.

    remark: on cpu:0: operands and results of relay.negative share a device
      %x = …
    note: cpu:0 is required here: the hint says where its operand is

Devices are those that `solve-devices` with the same options notes; the reason is the nearest
constraint that demands one, and what connects the value with it. `relay` level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ..dialects import relay
from .devices.device_constraints import DeviceConstraints, interface_of
from .devices.domains import result_of
from .devices.options import PlanningOptions
from .support.changes import InspectionPass
from .support.diagnostics import emit_remark
from .support.walk import outside_primitives


def values_with_ops(function: func.FuncOp) -> Iterator[tuple[SSAValue, Operation]]:
    """Yield each value of `function` but constants, in program order, with the op it belongs to."""
    for op in outside_primitives(function):
        if not interface_of(op).is_rematerializable:
            for result in op.results:
                yield result, op
        if not isinstance(op, relay.PrimitiveOp):
            for region in op.regions:
                for block in region.blocks:
                    for argument in block.args:
                        yield argument, op


def explain(ctx: Context, constraints: DeviceConstraints) -> None:
    """Report the device of each value, and the reason for it."""
    reasons = {domain: (demand, union) for domain, demand, union in constraints.domains.reasons()}
    for function in constraints.functions.values():
        for value, op in values_with_ops(function):
            domain = result_of(constraints.of(value, op))
            device = constraints.domains.device_of(domain).long_name
            reason = reasons.get(domain)
            if reason is None:
                emit_remark(ctx, value, f"on {device}, by default")
                continue
            demand, union = reason
            cause = demand.cause if union is None else union.cause
            asked = f"{demand.device.long_name} is required here: {demand.cause.reason}"
            notes = [] if union is None else [(demand.cause.place, asked)]
            emit_remark(ctx, value, f"on {device}: {cause.reason}", notes=notes)


@dataclass(frozen=True)
class ExplainDevicesPass(PlanningOptions, InspectionPass):
    """Report which device each value would be on, and why."""

    name = "explain-devices"
    accepts = "relay"

    def inspect(self, ctx: Context, op: ModuleOp) -> None:
        explain(ctx, self.solve(op))
