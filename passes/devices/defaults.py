"""
Assign default devices to unconstrained domains: results first, then parameters, then values.

As in Relay's let form: the result of a function is on the default device unless constraints say
otherwise, its parameters are where its result is, and so is every value in it, in program order;
values in a region are where the results of the enclosing op are. Defaults never make a copy
necessary. Devices are numbers here.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation

from ...dialects import relay
from ...dialects.device import VirtualDeviceAttr
from .device_constraints import DeviceConstraints
from .domains import Placement, result_of


def assign_defaults(constraints: DeviceConstraints, default: VirtualDeviceAttr) -> None:
    """Complete the device of every domain."""
    number = constraints.domains.numbers.number(constraints.canonical(default))
    for name, function in constraints.functions.items():
        own = number
        for i in range(len(function.function_type.outputs)):
            device = complete(constraints, constraints.results[name, i], number)
            own = device if i == 0 else own
        for i in range(len(function.function_type.inputs)):
            complete(constraints, constraints.parameters[name, i], own)
        for block in function.body.blocks:
            _complete_block(constraints, block, own)
    for copy in constraints.copies.values():
        constraints.domains.default(copy, number)


def complete(constraints: DeviceConstraints, placement: Placement, device: int) -> int:
    """Complete a placement, of a function its result first, and return its device."""
    if isinstance(placement, int):
        return constraints.domains.default(placement, device)
    completed = complete(constraints, placement.result, device)
    for part in placement.params:
        complete(constraints, part, completed)
    return completed


def _complete_block(constraints: DeviceConstraints, block: Block, device: int) -> None:
    """Complete the values of a block, then of the blocks in it (an explicit stack: deep nests)."""
    values = constraints.values
    pending = [(block, device)]
    while pending:
        block, device = pending.pop()
        inner: list[tuple[Block, int]] = []
        for argument in block.args:
            complete(constraints, values[argument], device)
        for op in block.ops:
            for i, operand in enumerate(op.operands):
                if operand not in values:  # a constant
                    complete(constraints, constraints.of(operand, op, i), device)
            for result in op.results:
                placement = values.get(result)
                if placement is not None:
                    complete(constraints, placement, device)
            if op.regions and not isinstance(op, relay.PrimitiveOp):
                own = _device_of_regions(constraints, op, device)
                inner += [(b, own) for region in op.regions for b in region.blocks]
        pending += reversed(inner)


def _device_of_regions(constraints: DeviceConstraints, op: Operation, enclosing: int) -> int:
    """Return the default device of values in `op`'s regions: that of its first result."""
    if not op.results:
        return enclosing
    return constraints.domains.number_of(result_of(constraints.values[op.results[0]]))
