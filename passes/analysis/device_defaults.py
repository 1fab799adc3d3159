"""
Where things are that nothing is said about: results, then parameters, then values.

As in Relay's let form: a function's result is on the default device unless something else is
known, its parameters are where its result is, and so is every value in it, in program order; what
is in a region is where the results of the op around it are. Filling in never makes a copy.
Devices are numbers here.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation

from ...dialects import relay
from ...dialects.device import VirtualDeviceAttr
from .device_constraints import DeviceConstraints
from .device_shapes import Domain, result_of


def fill_in(constraints: DeviceConstraints, default: VirtualDeviceAttr) -> None:
    """Give every domain that is open a device."""
    number = constraints.domains.numbers.number(constraints.canonical(default))
    for name, function in constraints.functions.items():
        own = number
        for i in range(len(function.function_type.outputs)):
            found = fill_domain(constraints, constraints.results[name, i], number)
            own = found if i == 0 else own
        for i in range(len(function.function_type.inputs)):
            fill_domain(constraints, constraints.parameters[name, i], own)
        for block in function.body.blocks:
            _fill_block(constraints, block, own)
    for copy in constraints.copies.values():
        constraints.domains.default(copy, number)


def fill_domain(constraints: DeviceConstraints, domain: Domain, device: int) -> int:
    """Fill in `domain`, of a function its result first, and say where it is."""
    if isinstance(domain, int):
        return constraints.domains.default(domain, device)
    found = fill_domain(constraints, domain.result, device)
    for part in domain.params:
        fill_domain(constraints, part, found)
    return found


def _fill_block(constraints: DeviceConstraints, block: Block, device: int) -> None:
    """Fill in the values of the block, then of the blocks in it (an explicit stack: deep nests)."""
    values = constraints.values
    pending = [(block, device)]
    while pending:
        block, device = pending.pop()
        inner: list[tuple[Block, int]] = []
        for argument in block.args:
            fill_domain(constraints, values[argument], device)
        for op in block.ops:
            for i, operand in enumerate(op.operands):
                if operand not in values:  # a constant
                    fill_domain(constraints, constraints.of(operand, op, i), device)
            for result in op.results:
                if result in values:
                    fill_domain(constraints, values[result], device)
            if op.regions and not isinstance(op, relay.PrimitiveOp):
                own = _device_of_regions(constraints, op, device)
                inner += [(b, own) for region in op.regions for b in region.blocks]
        pending += reversed(inner)


def _device_of_regions(constraints: DeviceConstraints, op: Operation, around: int) -> int:
    """Where the values in `op`'s regions are by default: where its result is."""
    if not op.results:
        return around
    return constraints.domains.number_of(result_of(constraints.values[op.results[0]]))
