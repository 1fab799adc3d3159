"""
What a program says about devices, as constraints over `DeviceDomains`.

Every SSA value has a domain; a constant has one for each op that uses it. Ops state their rule
through `dialects.interfaces.DeviceRule`; calls, returns, annotations of signatures and types that
already carry a device are read here. All in program order, so that the first conflict is the first
in the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from ...dialects import relay
from ...dialects.device import CPU, VirtualDeviceAttr, devices_in
from ...dialects.interfaces import (
    DeviceConstant,
    DeviceConstraint,
    DeviceRule,
    On,
    OnHost,
)
from ..diagnostics import PassError, Place
from .device_domains import Conflict, DeviceDomains

ANNOTATION = "relay.device"
"""The entry of a function's `arg_attrs` and `res_attrs` that says where a value is."""


@dataclass(frozen=True)
class Cause:
    """The place in the program that a constraint comes from, and its reason in words."""

    place: Place
    reason: str


def is_constant(value: SSAValue) -> bool:
    """Whether each use of `value` may be on a device of its own."""
    return isinstance(value, OpResult) and value.op.has_trait(DeviceConstant)


@dataclass
class DeviceConstraints:
    """The constraints of a module; `host` is where `OnHost` values are."""

    host: VirtualDeviceAttr
    domains: DeviceDomains[Cause] = field(default_factory=DeviceDomains[Cause])
    values: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    constants: dict[tuple[SSAValue, Operation, int], int] = field(
        default_factory=dict[tuple[SSAValue, Operation, int], int]
    )
    free_hints: list[relay.OnDeviceOp] = field(default_factory=list[relay.OnDeviceOp])
    functions: dict[str, func.FuncOp] = field(default_factory=dict[str, func.FuncOp])
    parameters: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    """The domain of each parameter of each function."""
    results: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    """The domain of each result of each function."""

    def of(self, value: SSAValue, user: Operation, index: int = 0) -> int:
        """
        The domain of `value` where `user` uses it, as its operand `index`.

        What a region yields is used by the op around it. The index tells uses of a constant by
        one call or return apart; the operands of other ops are not on devices of their own.
        """
        if is_constant(value):
            around = user.parent_op() if isinstance(user, relay.YieldOp) else None
            slot = index if isinstance(user, func.CallOp | func.ReturnOp) else 0
            key = (value, around or user, slot)
            known = self.constants.get(key)
            if known is None:
                known = self.constants[key] = self.domains.fresh()
            return known
        known = self.values.get(value)
        if known is None:
            known = self.values[value] = self.domains.fresh()
        return known

    def read(self, module: ModuleOp) -> None:
        """Collect the constraints of every function. Raises `PassError` at a conflict."""
        self.functions = {f.sym_name.data: f for f in module.ops if isinstance(f, func.FuncOp)}
        for name, function in self.functions.items():
            for i in range(len(function.function_type.inputs)):
                self.parameters[name, i] = (
                    self.of(function.args[i], function)
                    if function.body.blocks
                    else self.domains.fresh()
                )
            for i in range(len(function.function_type.outputs)):
                self.results[name, i] = self.domains.fresh()
        for function in self.functions.values():
            self._read_signature(function)
            for block in function.body.blocks:
                self._read_block(block, function)
        for hint in self.free_hints:
            self.domains.trying(
                self.of(hint.value, hint),
                self.of(hint.result, hint),
                Cause(hint, "a free hint joins its operand and its result"),
            )

    def demand(self, domain: int, device: VirtualDeviceAttr, cause: Cause) -> None:
        """Put a domain on a device, or explain why it cannot be there."""
        conflict = self.domains.demand(domain, device, cause)
        if conflict is not None:
            raise explained(conflict)

    def unite(self, a: int, b: int, cause: Cause) -> None:
        """Put two domains on one device, or explain why they cannot be."""
        conflict = self.domains.unite(a, b, cause)
        if conflict is not None:
            raise explained(conflict)

    def _read_signature(self, function: func.FuncOp) -> None:
        name = function.sym_name.data
        for i, type in enumerate(function.function_type.inputs):
            parameter = self.parameters[name, i]
            device = annotation(function.arg_attrs, i)
            if device is not None:
                cause = Cause(function, f"parameter {i} of @{name} is annotated")
                self.demand(parameter, device, cause)
            place = function.args[i] if function.body.blocks else function
            cause = Cause(place, f"parameter {i} of @{name} has this type")
            self._read_type(type, parameter, cause)
        for i, type in enumerate(function.function_type.outputs):
            for device in (annotation(function.res_attrs, i), *devices_in(type)):
                if device is not None:
                    cause = Cause(function, f"result {i} of @{name} is declared there")
                    self.demand(self.results[name, i], device, cause)

    def _read_type(self, type: Attribute, domain: int, cause: Cause) -> None:
        for device in devices_in(type):
            if device is not None:
                self.demand(domain, device, cause)

    def _read_block(self, first: Block, function: func.FuncOp) -> None:
        for op in _ops_in_order(first):
            if isinstance(op, relay.OnDeviceOp) and not (op.constrain_body or op.constrain_result):
                self.free_hints.append(op)
            for result in op.results:
                if not is_constant(result):
                    cause = Cause(result, "the value already has this type")
                    self._read_type(result.type, self.of(result, op), cause)
            for constraint in self._constraints(op, function):
                self._add(constraint, op)

    def _add(self, constraint: DeviceConstraint, op: Operation) -> None:
        cause = Cause(op, constraint.reason)
        if isinstance(constraint, On):
            self.demand(self.of(constraint.value, op), constraint.device, cause)
        elif isinstance(constraint, OnHost):
            self.demand(self.of(constraint.value, op), self.host, cause)
        else:
            values = [self.of(value, op) for value in constraint.values]
            for other in values[1:]:
                self.unite(values[0], other, cause)

    def _constraints(self, op: Operation, function: func.FuncOp) -> Iterable[DeviceConstraint]:
        """What `op`'s rule says; calls and returns are tied to signatures."""
        if isinstance(op, func.ReturnOp):
            name = function.sym_name.data
            for i, value in enumerate(op.operands):
                cause = Cause(op, f"result {i} of @{name} is returned here")
                self.unite(self.of(value, op, i), self.results[name, i], cause)
            return ()
        if isinstance(op, func.CallOp):
            self._read_call(op)
            return ()
        rule = op.get_trait(DeviceRule)
        return () if rule is None else rule.constraints(op)

    def _read_call(self, op: func.CallOp) -> None:
        name = op.callee.string_value()
        if name not in self.functions:
            return
        for i, value in enumerate(op.arguments):
            cause = Cause(op, f"argument {i} is where parameter {i} of @{name} is")
            self.unite(self.of(value, op, i), self.parameters[name, i], cause)
        for i, result in enumerate(op.results):
            cause = Cause(op, f"the call's result {i} is where that of @{name} is")
            self.unite(self.of(result, op), self.results[name, i], cause)


def _ops_in_order(block: Block) -> Iterator[Operation]:
    """The block's ops and those in their regions, but not what is inside primitives."""
    for op in block.ops:
        if not isinstance(op, relay.PrimitiveOp):
            for region in op.regions:
                for inner in region.blocks:
                    yield from _ops_in_order(inner)
        yield op


def annotation(attrs: Attribute | None, index: int) -> VirtualDeviceAttr | None:
    """The device that entry `index` of a function's `arg_attrs` or `res_attrs` names."""
    if attrs is None:
        return None
    found = attrs.data[index].data.get(ANNOTATION)  # pyright: ignore
    return found if isinstance(found, VirtualDeviceAttr) else None


def device_option(text: str, option: str, module: ModuleOp) -> VirtualDeviceAttr:
    """The device that a pass option names, number 0 of its type when it says no number."""
    device = VirtualDeviceAttr.parse_spec(text)
    if device is None or not isinstance(device.device_type, StringAttr):
        raise PassError(f'{option} must be a device like cpu:0, but is "{text}"', module)
    return device.or_default(CPU)


def explained(conflict: Conflict[Cause]) -> PassError:
    """The error for a conflict: both demands, and the way from one to the other."""
    first, second = conflict.first, conflict.second
    notes: list[tuple[Place, str]] = [
        (first.cause.place, f"{first.device.spec} is asked for here: {first.cause.reason}")
    ]
    notes += [(union.cause.place, union.cause.reason) for union in conflict.chain]
    notes.append(
        (second.cause.place, f"{second.device.spec} is asked for here: {second.cause.reason}")
    )
    return PassError(
        f"one value would have to be on {first.device.spec} and on {second.device.spec}",
        second.cause.place,
        notes=notes,
    )
