"""
What a program says about devices, as constraints over `DeviceDomains`.

Every SSA value has a domain, shaped by its type: a function value has one for each parameter and
one for its result, everything else (a tuple, a reference, data) a single one. A constant has a
domain for each op that uses it. Ops state their rule through `dialects.interfaces.DeviceRule`;
functions, calls, returns, annotations of signatures and types that already carry a device are read
here. All in program order, so that the first conflict is the first in the text. (TVM: the first
phase of PlanDevices, `DeviceAnalyzer`.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from ...dialects import relay
from ...dialects.device import VirtualDeviceAttr, devices_in
from ...dialects.interfaces import DeviceConstant, DeviceConstraint, DeviceRule, On, OnHost
from .device_conflicts import Cause
from .device_domains import Conflict, Demand, DeviceDomains, Union
from .device_rules import READERS, is_free
from .device_shapes import Domain, FunctionDomain, leaves, result_of

ANNOTATION = "relay.device"
"""The entry of a function's `arg_attrs` and `res_attrs` that says where a value is."""


@dataclass
class OpFacts:
    """What the traits of an op class say, asked once a class."""

    rules: dict[type[Operation], DeviceRule | None] = field(
        default_factory=dict[type[Operation], "DeviceRule | None"]
    )
    constants: dict[type[Operation], bool] = field(default_factory=dict[type[Operation], bool])

    def rule(self, op: Operation) -> DeviceRule | None:
        kind = type(op)
        if kind not in self.rules:
            self.rules[kind] = op.get_trait(DeviceRule)
        return self.rules[kind]

    def is_constant(self, op: Operation) -> bool:
        """Whether each use of the op's result may be on a device of its own."""
        known = self.constants.get(type(op))
        if known is None:
            known = self.constants[type(op)] = op.has_trait(DeviceConstant)
        return known


def user_of(user: Operation) -> Operation:
    """The op whose constraints bind what `user` uses: of a yield, the op around it."""
    if isinstance(user, relay.YieldOp):
        around = user.parent_op()
        assert around is not None, "a yield stands in a region of an op"
        return around
    return user


Settle: TypeAlias = Callable[[Conflict[Cause]], "Demand[Cause] | Union[Cause]"]
"""Chooses the constraint of a conflict to give up, or raises."""


@dataclass
class DeviceConstraints:
    """
    The constraints of a module.

    `host` is where `OnHost` values are; `targets` fills in the target of a device type that names
    none. A conflict goes to `settle`: the constraint that it gives up is cut, and the value is
    from there on used through a copy (`copies`).
    """

    host: VirtualDeviceAttr
    settle: Settle
    cost: Callable[[SSAValue], int | None] = lambda value: None
    targets: Mapping[str, str] = field(default_factory=dict[str, str])
    domains: DeviceDomains[Cause] = field(default_factory=DeviceDomains[Cause])
    values: dict[SSAValue, Domain] = field(default_factory=dict[SSAValue, Domain])
    constants: dict[tuple[SSAValue, Operation, int], Domain] = field(
        default_factory=dict[tuple[SSAValue, Operation, int], Domain]
    )
    copies: dict[tuple[SSAValue, Operation], int] = field(
        default_factory=dict[tuple[SSAValue, Operation], int]
    )
    """The domain of the copy that an op uses in place of a value."""
    facts: OpFacts = field(default_factory=OpFacts)
    _carries: dict[Attribute, bool] = field(default_factory=dict[Attribute, bool])
    functions: dict[str, func.FuncOp] = field(default_factory=dict[str, func.FuncOp])
    parameters: dict[tuple[str, int], Domain] = field(default_factory=dict[tuple[str, int], Domain])
    """The domain of each parameter of each function."""
    results: dict[tuple[str, int], Domain] = field(default_factory=dict[tuple[str, int], Domain])
    """The domain of each result of each function."""

    def is_constant(self, value: SSAValue) -> bool:
        """Whether each use of `value` may be on a device of its own."""
        return isinstance(value, OpResult) and self.facts.is_constant(value.op)

    def of(self, value: SSAValue, user: Operation, index: int = 0) -> Domain:
        """
        The domain of `value` where `user` uses it, as its operand `index`.

        The index tells uses of a constant by one call or return apart; the operands of other ops
        are not on devices of their own.
        """
        known = self.values.get(value)
        if known is not None:
            return known
        if self.is_constant(value):
            key = (value, user_of(user), index if type(user) in READERS else 0)
            known = self.constants.get(key)
            if known is None:
                known = self.constants[key] = self.fresh(value.type)
            return known
        known = self.values[value] = self.fresh(value.type)
        return known

    def used(self, value: SSAValue, user: Operation, index: int = 0) -> Domain:
        """As `of`, or the domain of the copy that `user` uses instead."""
        if self.copies:
            copy = self.copies.get((value, user_of(user)))
            if copy is not None:
                return copy
        return self.of(value, user, index)

    def fresh(self, type: Attribute) -> Domain:
        """A domain of the shape of `type`, that nothing is known of."""
        if isinstance(type, FunctionType) and len(type.outputs) == 1:
            params = tuple(self.fresh(t) for t in type.inputs)
            return FunctionDomain(params, self.fresh(type.outputs.data[0]))
        return self.domains.fresh()

    def canonical(self, device: VirtualDeviceAttr) -> VirtualDeviceAttr:
        """`device` with the target of its type, if there is one and it names none."""
        target = self.targets.get(device.spec.partition(":")[0])
        if target is None:
            return device
        return device.or_default(VirtualDeviceAttr(device.device_type, None, target))

    # ------------------------------------------------------------ adding

    def demand(self, domain: Domain, device: VirtualDeviceAttr, cause: Cause) -> None:
        """Put a domain (of a function: its result) on a device."""
        leaf, device = result_of(domain), self.canonical(device)
        cost = None if cause.operand is None else self.cost(cause.operand)
        while (conflict := self.domains.demand(leaf, device, cause, cost)) is not None:
            if self._give_up(conflict):
                return

    def unite(self, a: Domain, b: Domain, cause: Cause) -> None:
        """Put two domains together: part by part, or all of one with the other."""
        if isinstance(a, FunctionDomain) and isinstance(b, FunctionDomain):
            if len(a.params) == len(b.params):
                for x, y in zip((*a.params, a.result), (*b.params, b.result), strict=True):
                    self.unite(x, y, cause)
                return
        if isinstance(a, int) and isinstance(b, int):
            self._unite(a, b, cause)
            return
        first, *rest = (*leaves(a), *leaves(b))
        for other in rest:
            self._unite(first, other, cause)

    def _unite(self, a: int, b: int, cause: Cause) -> None:
        cost = None if cause.operand is None else self.cost(cause.operand)
        while (conflict := self.domains.unite(a, b, cause, cost)) is not None:
            if self._give_up(conflict):
                return

    def _give_up(self, conflict: Conflict[Cause]) -> bool:
        """Replace a constraint of the conflict by one on a copy; whether it was the last one."""
        constraint = self.settle(conflict)
        cause = constraint.cause
        assert cause.operand is not None
        assert isinstance(cause.place, Operation)
        last = constraint is conflict.last
        if not last:
            self.domains.cut(constraint)
        key = (cause.operand, user_of(cause.place))
        copy = self.copies.get(key)
        if copy is None:
            copy = self.copies[key] = self.domains.fresh()
        bound = Cause(cause.place, cause.reason)
        if isinstance(constraint, Demand):
            self.demand(copy, constraint.device, bound)
        else:
            self._unite(copy, constraint.b, bound)
        return last

    # ----------------------------------------------------------- reading

    def read(self, module: ModuleOp) -> None:
        """Collect the constraints of every function; `settle` is asked at each conflict."""
        self.functions = {f.sym_name.data: f for f in module.ops if isinstance(f, func.FuncOp)}
        for name, function in self.functions.items():
            arguments = function.args if function.body.blocks else ()
            for i, type in enumerate(function.function_type.inputs):
                known = self.of(arguments[i], function) if arguments else self.fresh(type)
                self.parameters[name, i] = known
            for i, type in enumerate(function.function_type.outputs):
                self.results[name, i] = self.fresh(type)
        free_hints: list[relay.OnDeviceOp] = []
        for function in self.functions.values():
            self._read_signature(function)
            for block in function.body.blocks:
                for op in ops_in_order(block):
                    self._read_types(op)
                    self._read_op(op, function)
                    if isinstance(op, relay.OnDeviceOp) and is_free(op):
                        free_hints.append(op)
        for hint in free_hints:
            cause = Cause(hint, "a free hint joins its operand and its result")
            a, b = self.of(hint.value, hint), self.of(hint.result, hint)
            if isinstance(a, int) and isinstance(b, int):
                self.domains.trying(a, b, cause)

    def _read_signature(self, function: func.FuncOp) -> None:
        name = function.sym_name.data
        for i, type in enumerate(function.function_type.inputs):
            parameter = self.parameters[name, i]
            place = function.args[i] if function.body.blocks else function
            device = annotation(function.arg_attrs, i)
            if device is not None:
                cause = Cause(place, f"parameter {i} of @{name} is annotated")
                self.demand(parameter, device, cause)
            cause = Cause(place, f"parameter {i} of @{name} has this type")
            self._read_type(type, parameter, cause)
        for i, type in enumerate(function.function_type.outputs):
            cause = Cause(function, f"result {i} of @{name} is declared there")
            device = annotation(function.res_attrs, i)
            if device is not None:
                self.demand(self.results[name, i], device, cause)
            self._read_type(type, self.results[name, i], cause)

    def _read_types(self, op: Operation) -> None:
        """The devices that the types of what `op` defines carry already."""
        if self.facts.is_constant(op):
            return
        for result in op.results:
            if self.has_device(result.type):
                cause = Cause(result, "the value already has this type")
                self._read_type(result.type, self.of(result, op), cause)

    def has_device(self, type: Attribute) -> bool:
        """Whether `type` carries a device already."""
        known = self._carries.get(type)
        if known is None:
            known = self._carries[type] = any(d is not None for d in devices_in(type))
        return known

    def _read_type(self, type: Attribute, domain: Domain, cause: Cause) -> None:
        if isinstance(domain, FunctionDomain) and isinstance(type, FunctionType):
            for part, inner in zip(type.inputs, domain.params, strict=True):
                self._read_type(part, inner, cause)
            self._read_type(type.outputs.data[0], domain.result, cause)
            return
        for device in devices_in(type):
            if device is not None:
                self.demand(domain, device, cause)

    def _read_op(self, op: Operation, function: func.FuncOp) -> None:
        special = READERS.get(type(op))
        if special is not None:
            special(self, op, function)
        rule = self.facts.rule(op)
        if rule is not None:
            for constraint in rule.constraints(op):
                self._add(constraint, op)

    def _add(self, constraint: DeviceConstraint, op: Operation) -> None:
        if isinstance(constraint, On | OnHost):
            device = constraint.device if isinstance(constraint, On) else self.host
            cause = self._cause(op, constraint.reason, constraint.value)
            self.demand(self.used(constraint.value, op), device, cause)
            return
        values = constraint.values
        center = next((v for v in values if isinstance(v, OpResult) and v.op is op), values[0])
        middle = self.used(center, op)
        for value in values:
            if value is not center:
                cause = self._cause(op, constraint.reason, value)
                self.unite(self.used(value, op), middle, cause)

    def _cause(self, op: Operation, reason: str, value: SSAValue) -> Cause:
        """The cause of a constraint on `value`, which `op` uses unless it defines it."""
        own = value.owner is op or (
            isinstance(value.owner, Block) and value.owner.parent_op() is op
        )
        return Cause(op, reason, None if own or self.is_constant(value) else value)

    def bind(
        self,
        op: Operation,
        values: Sequence[SSAValue],
        to: Sequence[Domain],
        reason: str,
        first: int = 0,
    ) -> None:
        """
        Tie what `op` uses or defines to domains, one by one; `{i}` in the reason counts.

        The values, if `op` uses them, are its operands from `first` on.
        """
        for i, (value, domain) in enumerate(zip(values, to, strict=False)):
            cause = self._cause(op, reason.format(i=i), value)
            self.unite(self.used(value, op, first + i), domain, cause)


def ops_in_order(block: Block) -> Iterator[Operation]:
    """The block's ops and those in their regions, an op after its regions; primitives closed."""
    pending: list[tuple[Operation, bool]] = [(op, False) for op in reversed(list(block.ops))]
    while pending:
        op, opened = pending.pop()
        if opened or not op.regions or isinstance(op, relay.PrimitiveOp):
            yield op
            continue
        pending.append((op, True))
        inner = [o for region in op.regions for b in region.blocks for o in b.ops]
        pending.extend((o, False) for o in reversed(inner))


def annotation(attrs: ArrayAttr[DictionaryAttr] | None, index: int) -> VirtualDeviceAttr | None:
    """The device that entry `index` of a function's `arg_attrs` or `res_attrs` names."""
    if attrs is None:
        return None
    found = attrs.data[index].data.get(ANNOTATION)
    return found if isinstance(found, VirtualDeviceAttr) else None
