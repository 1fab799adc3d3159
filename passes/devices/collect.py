"""
Collect the device constraints of a module, in program order, and the defaults of the remainder.

Ops state theirs as traits (`dialects.interfaces.device_rules`); devices in signatures and in types
are read here. The first conflict is thus the first in the text. (TVM: the first phase of
PlanDevices, `DeviceAnalyzer`.)

Domains without constraints get default devices: results first, then parameters, then values. As in
Relay's let form, the result of a function is on the default device unless constraints say
otherwise, its parameters are where its result is, and so is every value in it, in program order;
values in a region are where the results of the enclosing op are. Defaults never make a copy
necessary. Devices are numbers there.
"""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.ir import Attribute, Block, Operation

from ...dialects import relay
from ...dialects.device import DEVICE, VirtualDeviceAttr, devices_in
from ..functions.symbols import symbols_of
from ..support.walk import only_block, outside_primitives
from .conflicts import Cause
from .device_constraints import DeviceConstraints, interface_of
from .domains import FunctionPlacement, Placement, result_of


def collect(constraints: DeviceConstraints, module: ModuleOp) -> None:
    """Add the constraints of every function of the module."""
    constraints.symbols.update(symbols_of(module))
    constraints.functions.update(
        (name, op) for name, op in constraints.symbols.items() if isinstance(op, func.FuncOp)
    )
    for name, function in constraints.functions.items():
        _define_signature(constraints, name, function)
    for name, function in constraints.functions.items():
        _constrain_signature(constraints, name, function)
        if not function.body.blocks:
            continue
        block = only_block(function)
        for argument in block.args:
            constraints.define(argument)
        for op in outside_primitives(block, region_first=True):
            _constrain_op(constraints, op)
    constraints.add_preferred()


def _define_signature(constraints: DeviceConstraints, name: str, function: func.FuncOp) -> None:
    arguments = function.args if function.body.blocks else ()
    type = function.function_type
    for i, input in enumerate(type.inputs):
        of_argument = constraints.of(arguments[i], function) if arguments else None
        placement = constraints.fresh(input) if of_argument is None else of_argument
        constraints.parameters[name, i] = placement
    for i, output in enumerate(type.outputs):
        constraints.results[name, i] = constraints.fresh(output)


def _constrain_signature(constraints: DeviceConstraints, name: str, function: func.FuncOp) -> None:
    for i, type in enumerate(function.function_type.inputs):
        parameter = constraints.parameters[name, i]
        place = function.args[i] if function.body.blocks else function
        device = annotation(function.arg_attrs, i)
        if device is not None:
            cause = Cause(place, f"parameter {i} of @{name} is annotated")
            constraints.demand(parameter, device, cause)
        cause = Cause(place, f"parameter {i} of @{name} has this type")
        _constrain_by_type(constraints, type, parameter, cause)
    for i, type in enumerate(function.function_type.outputs):
        result = constraints.results[name, i]
        cause = Cause(function, f"result {i} of @{name} is declared there")
        device = annotation(function.res_attrs, i)
        if device is not None:
            constraints.demand(result, device, cause)
        _constrain_by_type(constraints, type, result, cause)


def _constrain_by_type(
    constraints: DeviceConstraints, type: Attribute, placement: Placement, cause: Cause
) -> None:
    """Put a placement on the devices that `type` carries already."""
    if isinstance(placement, FunctionPlacement) and isinstance(type, FunctionType):
        for part, inner in zip(type.inputs, placement.params, strict=True):
            _constrain_by_type(constraints, part, inner, cause)
        _constrain_by_type(constraints, type.outputs.data[0], placement.result, cause)
        return
    for device in devices_in(type):
        if device is not None:
            constraints.demand(placement, device, cause)


def _constrain_op(constraints: DeviceConstraints, op: Operation) -> None:
    interface = interface_of(op)
    if interface.is_rematerializable:
        constraints.type_of(op.results[0])
        constraints.constant_ops.append(op)
    else:
        for result in op.results:
            if constraints.define(result).devices:
                cause = Cause(result, "the value already has this type")
                _constrain_by_type(constraints, result.type, constraints.values[result], cause)
    if op.regions and not isinstance(op, relay.PrimitiveOp):
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    constraints.define(argument)
    if interface.annotations is not None:
        constraints.annotated_ops.append(op)
    if interface.function_rule is not None:
        for constraint in interface.function_rule.constraints(op, constraints.symbols.get):
            constraints.add_to_function(constraint, op)
    if interface.rule is not None:
        for constraint in interface.rule.constraints(op):
            constraints.add(constraint, op)


def annotation(attrs: ArrayAttr[DictionaryAttr] | None, index: int) -> VirtualDeviceAttr | None:
    """Return the device that entry `index` of a function's `arg_attrs` or `res_attrs` names."""
    if attrs is None:
        return None
    device = attrs.data[index].data.get(DEVICE)
    return device if isinstance(device, VirtualDeviceAttr) else None


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
