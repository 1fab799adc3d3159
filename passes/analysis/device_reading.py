"""
Go through a program and collect its device constraints.

Ops state their rule through `dialects.interfaces.DeviceRule`; functions, calls, returns
(`device_rules`), annotations of signatures and types that already carry a device are read here. All
in program order, so that the first conflict is the first in the text. (TVM: the first phase of
PlanDevices, `DeviceAnalyzer`.)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.ir import Attribute, Block, Operation

from ...dialects import relay
from ...dialects.device import VirtualDeviceAttr, devices_in
from .blocks import only_block
from .device_conflicts import Cause
from .device_constraints import DeviceConstraints
from .device_rules import is_free
from .device_shapes import Domain, FunctionDomain

ANNOTATION = "relay.device"
"""The entry of a function's `arg_attrs` and `res_attrs` that says where a value is."""


def ops_in_order(block: Block) -> Iterator[Operation]:
    """The block's ops and those in their regions, an op after its regions; primitives closed."""
    opened: list[tuple[Operation | None, Iterator[Operation]]] = [(None, iter(block.ops))]
    while opened:
        owner, ops = opened[-1]
        for op in ops:
            if op.regions and not isinstance(op, relay.PrimitiveOp):
                blocks = [block for region in op.regions for block in region.blocks]
                opened.append((op, chain.from_iterable(block.ops for block in blocks)))
                break
            yield op
        else:
            opened.pop()
            if owner is not None:
                yield owner


def read(to: DeviceConstraints, module: ModuleOp) -> None:
    """Collect the constraints of every function; `settle` is asked at each conflict."""
    to.functions = {f.sym_name.data: f for f in module.ops if isinstance(f, func.FuncOp)}
    kernels = (op for op in module.ops if isinstance(op, relay.PrimFuncOp))
    to.kernels = {k.sym_name.data: k for k in kernels if k.scopes is not None}
    for name, function in to.functions.items():
        arguments = function.args if function.body.blocks else ()
        for i, type in enumerate(function.function_type.inputs):
            known = to.of(arguments[i], function) if arguments else to.fresh(type)
            to.parameters[name, i] = known
        for i, type in enumerate(function.function_type.outputs):
            to.results[name, i] = to.fresh(type)
    for function in to.functions.values():
        _read_signature(to, function)
        if not function.body.blocks:
            continue
        block = only_block(function)
        for argument in block.args:
            to.define(argument)
        for op in ops_in_order(block):
            _read_op(to, op, function)
    for hint in to.changed[relay.OnDeviceOp]:
        assert isinstance(hint, relay.OnDeviceOp)
        if is_free(hint):
            cause = Cause(hint, "a free hint joins its operand and its result")
            a, b = to.of(hint.value, hint), to.of(hint.result, hint)
            if isinstance(a, int) and isinstance(b, int):
                to.domains.trying(a, b, cause)


def _read_signature(to: DeviceConstraints, function: func.FuncOp) -> None:
    name = function.sym_name.data
    for i, type in enumerate(function.function_type.inputs):
        parameter = to.parameters[name, i]
        place = function.args[i] if function.body.blocks else function
        device = annotation(function.arg_attrs, i)
        if device is not None:
            to.demand(parameter, device, Cause(place, f"parameter {i} of @{name} is annotated"))
        _read_type(to, type, parameter, Cause(place, f"parameter {i} of @{name} has this type"))
    for i, type in enumerate(function.function_type.outputs):
        cause = Cause(function, f"result {i} of @{name} is declared there")
        device = annotation(function.res_attrs, i)
        if device is not None:
            to.demand(to.results[name, i], device, cause)
        _read_type(to, type, to.results[name, i], cause)


def _read_type(to: DeviceConstraints, type: Attribute, domain: Domain, cause: Cause) -> None:
    """The devices that a type carries already."""
    if isinstance(domain, FunctionDomain) and isinstance(type, FunctionType):
        for part, inner in zip(type.inputs, domain.params, strict=True):
            _read_type(to, part, inner, cause)
        _read_type(to, type.outputs.data[0], domain.result, cause)
        return
    for device in devices_in(type):
        if device is not None:
            to.demand(domain, device, cause)


def _read_op(to: DeviceConstraints, op: Operation, function: func.FuncOp) -> None:
    facts = to.facts.of_op(op)
    if facts.is_constant:
        to.type_of(op.results[0])
        to.constant_ops.append(op)
    else:
        for result in op.results:
            if to.define(result).devices:
                cause = Cause(result, "the value already has this type")
                _read_type(to, result.type, to.values[result], cause)
    if op.regions and not isinstance(op, relay.PrimitiveOp):
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    to.define(argument)
    if facts.is_changed:
        to.changed[type(op)].append(op)
    if facts.reader is not None:
        facts.reader(to, op, function)
    if facts.rule is not None:
        for constraint in facts.rule.constraints(op):
            to.add(constraint, op)


def annotation(attrs: ArrayAttr[DictionaryAttr] | None, index: int) -> VirtualDeviceAttr | None:
    """The device that entry `index` of a function's `arg_attrs` or `res_attrs` names."""
    if attrs is None:
        return None
    found = attrs.data[index].data.get(ANNOTATION)
    return found if isinstance(found, VirtualDeviceAttr) else None
