"""
What a program says about devices, as constraints over `DeviceDomains`.

Every SSA value has a domain, shaped by its type: a function value has one for each parameter and
one for its result, everything else (a tuple, a reference, data) a single one. A constant has a
domain for each op that uses it. `device_reading` goes through the program and adds to them here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ...dialects import relay
from ...dialects.device import VirtualDeviceAttr
from ...dialects.interfaces import DeviceConstraint, On, Together
from ..support.diagnostics import PassError
from .device_conflicts import Cause, Settle
from .device_domains import Conflict, Demand, DeviceDomains
from .device_facts import CHANGED, Facts, TypeFacts
from .device_rules import READERS
from .device_shapes import Domain, FunctionDomain, leaves, result_of


def user_of(user: Operation) -> Operation:
    """The op whose constraints bind what `user` uses: of a yield, the op around it."""
    if type(user) is relay.YieldOp:
        around = user.parent_op()
        assert around is not None, "a yield stands in a region of an op"
        return around
    return user


def own_index(user: Operation, index: int) -> int:
    """`index` for ops whose operands are on devices of their own; 0 for others."""
    return index if type(user) in READERS else 0


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
    targets: Mapping[str, str] = field(default_factory=dict[str, str])
    domains: DeviceDomains[Cause] = field(default_factory=DeviceDomains[Cause])
    values: dict[SSAValue, Domain] = field(default_factory=dict[SSAValue, Domain])
    """The domain of each value but constants."""
    placed: list[tuple[SSAValue, Domain, TypeFacts]] = field(
        default_factory=list[tuple[SSAValue, Domain, TypeFacts]]
    )
    """The same, with what is known of the value's type."""
    constants: dict[tuple[SSAValue, Operation, int], Domain] = field(
        default_factory=dict[tuple[SSAValue, Operation, int], Domain]
    )
    copies: dict[tuple[SSAValue, Operation, int], int] = field(
        default_factory=dict[tuple[SSAValue, Operation, int], int]
    )
    """The domain of the copy that an op uses in place of a value, as its operand `own_index`."""
    facts: Facts = field(default_factory=Facts)
    constant_ops: list[Operation] = field(default_factory=list[Operation])
    changed: dict[type[Operation], list[Operation]] = field(
        default_factory=lambda: {kind: [] for kind in CHANGED}
    )
    """The ops of each class that the plan changes, in program order, as are the constants."""
    functions: dict[str, func.FuncOp] = field(default_factory=dict[str, func.FuncOp])
    kernels: dict[str, relay.PrimFuncOp] = field(default_factory=dict[str, relay.PrimFuncOp])
    """The kernels that want memory scopes."""
    parameters: dict[tuple[str, int], Domain] = field(default_factory=dict[tuple[str, int], Domain])
    """The domain of each parameter of each function."""
    results: dict[tuple[str, int], Domain] = field(default_factory=dict[tuple[str, int], Domain])
    """The domain of each result of each function."""

    def is_constant(self, value: SSAValue) -> bool:
        """Whether each use of `value` may be on a device of its own."""
        return isinstance(value, OpResult) and self.facts.of_op(value.op).is_constant

    def type_of(self, value: SSAValue) -> TypeFacts:
        """What is known of the value's type; an error when that is incomplete."""
        type = self.facts.of_type(value.type)
        if type.is_incomplete:
            message = "the type of this value is incomplete; run infer-types before plan-devices"
            raise PassError(message, value)
        return type

    def define(self, value: SSAValue) -> TypeFacts:
        """Give `value` a domain if it has none, and say what is known of its type."""
        type = self.type_of(value)
        if value not in self.values:
            domain = self.fresh(type.type) if type.is_function else self.domains.fresh()
            self.put(value, domain, type)
        return type

    def put(self, value: SSAValue, domain: Domain, type: TypeFacts) -> None:
        """Let `domain` be that of `value`, which has none."""
        self.values[value] = domain
        self.placed.append((value, domain, type))

    def of(self, value: SSAValue, user: Operation, index: int = 0) -> Domain:
        """
        The domain of `value` where `user` uses it, as its operand `index`.

        The index tells uses of a constant by one call or return apart.
        """
        known = self.values.get(value)
        if known is not None:
            return known
        if self.is_constant(value):
            key = (value, user_of(user), own_index(user, index))
            known = self.constants.get(key)
            if known is None:
                known = self.constants[key] = self.fresh(value.type)
            return known
        self.define(value)
        return self.values[value]

    def used(self, value: SSAValue, user: Operation, index: int = 0) -> Domain:
        """As `of`, or the domain of the copy that `user` uses instead."""
        if self.copies:
            copy = self.copies.get((value, user_of(user), own_index(user, index)))
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
        while (conflict := self.domains.demand(leaf, device, cause)) is not None:
            if self._give_up(conflict):
                return

    def unite(self, a: Domain, b: Domain, cause: Cause) -> None:
        """Put two domains together: part by part, or all of one with the other."""
        if isinstance(a, int) and isinstance(b, int):
            self._unite(a, b, cause)
            return
        if isinstance(a, FunctionDomain) and isinstance(b, FunctionDomain):
            if len(a.params) == len(b.params):
                for x, y in zip((*a.params, a.result), (*b.params, b.result), strict=True):
                    self.unite(x, y, cause)
                return
        first, *rest = (*leaves(a), *leaves(b))
        for other in rest:
            self._unite(first, other, cause)

    def _unite(self, a: int, b: int, cause: Cause) -> None:
        while (conflict := self.domains.unite(a, b, cause)) is not None:
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
        key = (cause.operand, user_of(cause.place), cause.position)
        copy = self.copies.get(key)
        if copy is None:
            copy = self.copies[key] = self.domains.fresh()
        bound = Cause(cause.place, cause.reason)
        if isinstance(constraint, Demand):
            self.demand(copy, constraint.device, bound)
        else:
            self._unite(copy, constraint.b, bound)
        return last

    def add(self, constraint: DeviceConstraint, op: Operation) -> None:
        """Add what the device rule of `op` says."""
        if isinstance(constraint, Together):
            self._put_together(constraint, op)
            return
        device = constraint.device if isinstance(constraint, On) else self.host
        cause = Cause(op, constraint.reason, constraint.value)
        self.demand(self.used(constraint.value, op), device, cause)

    def _put_together(self, constraint: Together, op: Operation) -> None:
        """Unite all values with one of them: the first that `op` defines, or the first."""
        values, reason = constraint
        center = values[0]
        for value in values:
            if value.owner is op:
                center = value
                break
        middle = self.used(center, op)
        known = {} if self.copies else self.values  # most values are used as they are
        for value in values:
            if value is not center:
                domain = known.get(value)
                if domain is None:
                    domain = self.used(value, op)
                self.unite(domain, middle, Cause(op, reason, value))

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
            cause = Cause(op, reason.replace("{i}", str(i)), value, first + i)
            self.unite(self.used(value, op, first + i), domain, cause)
