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
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from ...dialects import relay
from ...dialects.device import VirtualDeviceAttr, devices_in
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
    constants: dict[tuple[SSAValue, Operation], int] = field(
        default_factory=dict[tuple[SSAValue, Operation], int]
    )
    free_hints: list[relay.OnDeviceOp] = field(default_factory=list[relay.OnDeviceOp])
    functions: dict[str, func.FuncOp] = field(default_factory=dict[str, func.FuncOp])
    results: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    """The domain of each result of each function."""

    def of(self, value: SSAValue, user: Operation) -> int:
        """
        The domain of `value` where `user` uses it.

        What a region yields is used by the op around it.
        """
        if is_constant(value):
            around = user.parent_op() if isinstance(user, relay.YieldOp) else None
            key = (value, around or user)
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
        for function in self.functions.values():
            for i in range(len(function.function_type.outputs)):
                self.results[function.sym_name.data, i] = self.domains.fresh()
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
        for i, argument in enumerate(function.args):
            device = annotation(function.arg_attrs, i)
            if device is not None:
                cause = Cause(function, f"parameter {i} of @{name} is annotated")
                self.demand(self.of(argument, function), device, cause)
            self._read_type(argument, function, f"parameter {i} of @{name} has this type")
        for i, type in enumerate(function.function_type.outputs):
            for device in (annotation(function.res_attrs, i), *devices_in(type)):
                if device is not None:
                    cause = Cause(function, f"result {i} of @{name} is declared there")
                    self.demand(self.results[name, i], device, cause)

    def _read_type(self, value: SSAValue, user: Operation, reason: str) -> None:
        for device in devices_in(value.type):
            if device is not None:
                self.demand(self.of(value, user), device, Cause(value, reason))

    def _read_block(self, first: Block, function: func.FuncOp) -> None:
        for op in _ops_in_order(first):
            if isinstance(op, relay.OnDeviceOp) and not (op.constrain_body or op.constrain_result):
                self.free_hints.append(op)
            for result in op.results:
                if not is_constant(result):
                    self._read_type(result, op, "the value already has this type")
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
                self.unite(self.of(value, op), self.results[name, i], cause)
            return ()
        if isinstance(op, func.CallOp):
            self._read_call(op)
            return ()
        rule = op.get_trait(DeviceRule)
        return () if rule is None else rule.constraints(op)

    def _read_call(self, op: func.CallOp) -> None:
        name = op.callee.string_value()
        callee = self.functions.get(name)
        if callee is None:
            return
        for i, (value, parameter) in enumerate(zip(op.arguments, callee.args, strict=True)):
            cause = Cause(op, f"argument {i} is where parameter {i} of @{name} is")
            self.unite(self.of(value, op), self.of(parameter, callee), cause)
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
