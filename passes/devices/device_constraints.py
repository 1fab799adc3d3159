"""
The device constraints of a module, as constraints on domains.

Every SSA value has a placement, by its type: a function value has a domain for each parameter and
one for its result, everything else (a tuple, a reference, data) has a single domain. A constant
has a placement for each op that uses it. `collect` walks the module and adds constraints here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator

from ...dialects.device import VirtualDeviceAttr, devices_in
from ...dialects.interfaces import (
    DeviceAnnotated,
    DeviceConstraint,
    DeviceRule,
    FunctionDeviceConstraint,
    FunctionDeviceRule,
    FunctionParameter,
    FunctionResult,
    Operand,
    PartsMatch,
    Pinned,
    PreferSameDomain,
    Rematerializable,
    SameDevice,
    SameDomain,
)
from ...dialects.interfaces.device_rules import Part
from ...dialects.relay.incomplete import is_incomplete
from ..support.diagnostics import PassError
from .conflicts import Cause, ConflictResolver
from .domains import Conflict, Demand, DomainSet, FunctionPlacement, Placement, leaves, result_of

# ---------------------------------------------------------------- what is known of classes


class DeviceInterface:
    """The traits of an op class that device planning asks for."""

    def __init__(self, kind: type[Operation]) -> None:
        is_terminator = kind.has_trait(IsTerminator, value_if_unregistered=False)
        self.rule = kind.get_trait(DeviceRule)
        self.function_rule = kind.get_trait(FunctionDeviceRule)
        if self.rule is None and self.function_rule is None and not is_terminator:
            self.rule = SameDevice()
        self.annotations = kind.get_trait(DeviceAnnotated)
        self.is_rematerializable = kind.has_trait(Rematerializable, value_if_unregistered=False)
        self.ends_region = is_terminator and self.function_rule is None
        """True for a terminator that yields: its operands have the constraints of the enclosing
        op."""


interface_of_class = cache(DeviceInterface)
"""The traits of an op class."""


def interface_of(op: Operation) -> DeviceInterface:
    """Return the traits of the class of `op`."""
    return interface_of_class(type(op))


@dataclass
class PlacedType:
    """A type, and the devices that it carries already."""

    type: Attribute
    is_incomplete: bool
    is_function: bool
    devices: tuple[VirtualDeviceAttr, ...]

    @classmethod
    def of(cls, type: Attribute) -> PlacedType:
        devices = tuple(device for device in devices_in(type) if device is not None)
        return cls(type, is_incomplete(type), isinstance(type, FunctionType), devices)


# -------------------------------------------------------------------------- constraints


@dataclass
class DeviceConstraints:
    """
    The constraints of a module.

    `host` is the device of `OnHost` values; `targets` has the target of devices of a type that
    name none. `resolve` is given each conflict: the constraint that it gives up is cut, and from
    there on the op uses the value through a copy (`copies`).
    """

    host: VirtualDeviceAttr
    resolve: ConflictResolver
    targets: Mapping[str, str] = field(default_factory=lambda: {})
    domains: DomainSet[Cause] = field(default_factory=DomainSet[Cause])
    values: dict[SSAValue, Placement] = field(default_factory=lambda: {})
    """The placement of each value but constants."""
    placed: list[tuple[SSAValue, Placement, PlacedType]] = field(default_factory=lambda: [])
    """The same, with the types of the values."""
    constants: dict[tuple[SSAValue, Operation, int], Placement] = field(default_factory=lambda: {})
    """The placement of each constant where an op uses it, as its operand `own_index`."""
    copies: dict[tuple[SSAValue, Operation, int], int] = field(default_factory=lambda: {})
    """The domain of the copy that an op uses instead of a value, as its operand `own_index`."""
    preferred: list[tuple[PreferSameDomain, Operation]] = field(default_factory=lambda: [])
    """The constraints that are tried after all others."""
    constant_ops: list[Operation] = field(default_factory=lambda: [])
    annotated_ops: list[Operation] = field(default_factory=lambda: [])
    """In program order, as are the constants."""
    placed_type: Callable[[Attribute], PlacedType] = field(
        default_factory=lambda: cache(PlacedType.of)
    )
    symbols: dict[str, Operation] = field(default_factory=lambda: {})
    functions: dict[str, func.FuncOp] = field(default_factory=lambda: {})
    parameters: dict[tuple[str, int], Placement] = field(default_factory=lambda: {})
    """The placement of each parameter of each function."""
    results: dict[tuple[str, int], Placement] = field(default_factory=lambda: {})
    """The placement of each result of each function."""

    # ------------------------------------------------------------ placements

    def fresh(self, type: Attribute) -> Placement:
        """Make an unconstrained placement for a value of `type`."""
        if isinstance(type, FunctionType) and len(type.outputs) == 1:
            params = tuple(self.fresh(t) for t in type.inputs)
            return FunctionPlacement(params, self.fresh(type.outputs.data[0]))
        return self.domains.fresh()

    def type_of(self, value: SSAValue) -> PlacedType:
        """Return the type of `value`; raise an error if it is incomplete."""
        type = self.placed_type(value.type)
        if type.is_incomplete:
            message = "the type of this value is incomplete; run infer-types before plan-devices"
            raise PassError(message, value)
        return type

    def define(self, value: SSAValue) -> PlacedType:
        """Give `value` a placement, unless it has one, and return its type."""
        type = self.type_of(value)
        if value not in self.values:
            placement = self.fresh(type.type) if type.is_function else self.domains.fresh()
            self.values[value] = placement
            self.placed.append((value, placement, type))
        return type

    def is_constant(self, value: SSAValue) -> bool:
        """Test whether each use of `value` may be on a device of its own."""
        return isinstance(value, OpResult) and interface_of(value.op).is_rematerializable

    def user_of(self, user: Operation) -> Operation:
        """Return the op whose constraints bind what `user` uses: of a yield, the enclosing op."""
        if interface_of(user).ends_region:
            return user.parent_op() or user
        return user

    def own_index(self, user: Operation, index: int) -> int:
        """Return `index` if the op's rule tells its operands apart (`Operand`), 0 if not."""
        return index if interface_of(user).function_rule is not None else 0

    def of(self, value: SSAValue, user: Operation, index: int = 0) -> Placement:
        """
        Return the placement of `value` where `user` uses it as operand `index`.

        The index matters only for constants that a call or a return uses more than once.
        """
        known = self.values.get(value)
        if known is not None:
            return known
        if self.is_constant(value):
            key = (value, self.user_of(user), self.own_index(user, index))
            known = self.constants.get(key)
            if known is None:
                known = self.constants[key] = self.fresh(value.type)
            return known
        self.define(value)
        return self.values[value]

    def used(self, value: SSAValue, user: Operation, index: int = 0) -> Placement:
        """Return the same as `of`, or the domain of the copy that `user` uses instead."""
        if self.copies:
            copy = self.copies.get((value, self.user_of(user), self.own_index(user, index)))
            if copy is not None:
                return copy
        return self.of(value, user, index)

    def _part(self, part: Part, op: Operation) -> Placement | None:
        """Return the placement of `part`, as `op` uses it; None if there is no such part."""
        if isinstance(part, Operand):
            return self.used(op.operands[part.index], op, part.index)
        if not isinstance(part, FunctionParameter | FunctionResult):
            return self.used(part, op)
        function, index = part.function, part.index
        if isinstance(function, str):
            known = self.parameters if isinstance(part, FunctionParameter) else self.results
            return known.get((function, index))
        whole = self.of(function, op)
        if not isinstance(whole, FunctionPlacement):
            return None
        parts = whole.params if isinstance(part, FunctionParameter) else (whole.result,)
        return parts[index] if index < len(parts) else None

    # --------------------------------------------------------------- devices

    def canonical(self, device: VirtualDeviceAttr) -> VirtualDeviceAttr:
        """Return `device` with the target of its type, if there is one and it names none."""
        target = self.targets.get(device.spec.partition(":")[0])
        if target is None:
            return device
        return device.completed_by(VirtualDeviceAttr(device.device_type, None, target))

    def device_of(self, placement: Placement) -> VirtualDeviceAttr:
        """Return the device of a placement: of a function, that of its result."""
        return self.domains.device_of(result_of(placement))

    # ----------------------------------------------------- adding constraints

    def demand(self, placement: Placement, device: VirtualDeviceAttr, cause: Cause) -> None:
        """Put a placement (of a function: its result) on a device."""
        domain, device = result_of(placement), self.canonical(device)
        while (conflict := self.domains.demand(domain, device, cause)) is not None:
            if self._give_up(conflict):
                return

    def unite(self, a: Placement, b: Placement, cause: Cause) -> None:
        """Put two placements on one device: part by part, or all of one with the other."""
        if isinstance(a, int) and isinstance(b, int):
            self._unite(a, b, cause)
            return
        if isinstance(a, FunctionPlacement) and isinstance(b, FunctionPlacement):
            if len(a.params) == len(b.params):
                for x, y in zip((*a.params, a.result), (*b.params, b.result), strict=True):
                    self.unite(x, y, cause)
                return
        first, *others = (*leaves(a), *leaves(b))
        for other in others:
            self._unite(first, other, cause)

    def _unite(self, a: int, b: int, cause: Cause) -> None:
        while (conflict := self.domains.unite(a, b, cause)) is not None:
            if self._give_up(conflict):
                return

    def _give_up(self, conflict: Conflict[Cause]) -> bool:
        """Replace a constraint of the conflict by one on a copy; return whether it was `last`."""
        constraint = self.resolve(conflict)
        cause = constraint.cause
        assert cause.operand is not None
        assert isinstance(cause.place, Operation)
        is_last = constraint is conflict.last
        if not is_last:
            self.domains.cut(constraint)
        key = (cause.operand, self.user_of(cause.place), cause.position)
        copy = self.copies.get(key)
        if copy is None:
            copy = self.copies[key] = self.domains.fresh()
        bound = Cause(cause.place, cause.reason)
        if isinstance(constraint, Demand):
            self.demand(copy, constraint.device, bound)
        else:
            self._unite(copy, constraint.b, bound)
        return is_last

    def add(self, constraint: DeviceConstraint, op: Operation) -> None:
        """Add a constraint of the device rule of `op`."""
        if isinstance(constraint, SameDomain):
            self._put_together(constraint, op)
            return
        if isinstance(constraint, PreferSameDomain):
            self.preferred.append((constraint, op))
            return
        device = constraint.device if isinstance(constraint, Pinned) else self.host
        cause = Cause(op, constraint.reason, constraint.value)
        self.demand(self.used(constraint.value, op), device, cause)

    def _put_together(self, constraint: SameDomain, op: Operation) -> None:
        """Unite all values with one of them: the first that `op` defines, or the first of all."""
        values, reason = constraint
        center = values[0]
        for value in values:
            if value.owner is op:
                center = value
                break
        known = {} if self.copies else self.values  # most values are used as they are
        middle = known.get(center)
        if middle is None:
            middle = self.used(center, op)
        for value in values:
            if value is not center:
                placement = known.get(value)
                if placement is None:
                    placement = self.used(value, op)
                self.unite(placement, middle, Cause(op, reason, value))

    def add_to_function(self, constraint: FunctionDeviceConstraint, op: Operation) -> None:
        """Add a constraint of the function device rule of `op`."""
        part = constraint.one if isinstance(constraint, PartsMatch) else constraint.part
        placement = self._part(part, op)
        if placement is None:
            return
        cause = Cause(op, constraint.reason)
        if isinstance(part, Operand):
            cause = Cause(op, constraint.reason, op.operands[part.index], part.index)
        elif isinstance(part, SSAValue):
            cause = Cause(op, constraint.reason, part)
        if not isinstance(constraint, PartsMatch):
            self.demand(placement, constraint.device, cause)
        elif (other := self._part(constraint.other, op)) is not None:
            self.unite(placement, other, cause)

    def add_preferred(self) -> None:
        """Add the preferred constraints, in program order, that contradict no other."""
        for constraint, op in self.preferred:
            cause = Cause(op, constraint.reason)
            first, *others = (self.of(value, op) for value in constraint.values)
            for other in others:
                if isinstance(first, int) and isinstance(other, int):
                    self.domains.try_unite(first, other, cause)
