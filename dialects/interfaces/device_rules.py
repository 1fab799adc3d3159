"""
Device rules: which devices the operands and results of an op may be on.

An op states its rule as a trait. A `DeviceRule` relates the op's own values to each other, to a
device or to the host; a `FunctionDeviceRule` relates them to a function: to the signature of a
symbol or to the parts of a function value. An op without either has the rule `SameDevice`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar, NamedTuple, TypeAlias

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.ir import Operation, SSAValue
from xdsl.traits import OpTrait

from ...operators.records import record
from ..device import VirtualDeviceAttr
from .symbol_users import Lookup

# ---------------------------------------------------------------- constraints on values


class SameDomain(NamedTuple):
    """All of `values` are on one device."""

    values: tuple[SSAValue, ...]
    reason: str


class PreferSameDomain(NamedTuple):
    """All of `values` are on one device unless other constraints of the module forbid it."""

    values: tuple[SSAValue, ...]
    reason: str


class Pinned(NamedTuple):
    """`value` is on `device`."""

    value: SSAValue
    device: VirtualDeviceAttr
    reason: str


class OnHost(NamedTuple):
    """`value` is on the host, whichever device that is."""

    value: SSAValue
    reason: str


DeviceConstraint: TypeAlias = SameDomain | PreferSameDomain | Pinned | OnHost


class DeviceRule(OpTrait, ABC):
    """Which devices an op's operands and results may be on."""

    names_no_device: ClassVar[bool] = False
    """True if operands and results may be on any device, if all are on the same one."""

    @abstractmethod
    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]: ...


class SameDevice(DeviceRule):
    """Every operand and every result is on one device: the rule of ordinary operators."""

    names_no_device: ClassVar = True

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        values = (*op.operands, *op.results)
        if len(values) < 2:
            return ()
        return (SameDomain(values, f"operands and results of {op.name} share a device"),)


class AnyDevice(DeviceRule):
    """Each operand and each result may be on any device."""

    names_no_device: ClassVar = True

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        return ()


class ResultOnHost(DeviceRule):
    """Results are on the host; operands may be on any device."""

    names_no_device: ClassVar = True

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        for result in op.results:
            yield OnHost(result, f"the result of {op.name} is on the host")


class AllOnHost(DeviceRule):
    """Operands and results are on the host."""

    names_no_device: ClassVar = True

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        for value in (*op.operands, *op.results):
            yield OnHost(value, f"{op.name} runs on the host")


# ------------------------------------------------------------- constraints on functions


@record
class Operand:
    """
    Operand `index` of the op.

    It has a domain of its own: a constant that is several operands may be on several devices.
    """

    index: int


@record
class FunctionParameter:
    """Parameter `index` of a function: of a function value, or of the symbol of that name."""

    function: SSAValue | str
    index: int


@record
class FunctionResult:
    """Result `index` of a function: of a function value, or of the symbol of that name."""

    function: SSAValue | str
    index: int


Part: TypeAlias = SSAValue | Operand | FunctionParameter | FunctionResult


class PartsMatch(NamedTuple):
    """`one` and `other` are on one device; if they are functions, so are all their parts."""

    one: Part
    other: Part
    reason: str


class PartPinned(NamedTuple):
    """`part` is on `device`; if it is a function, its result is."""

    part: Part
    device: VirtualDeviceAttr
    reason: str


FunctionDeviceConstraint: TypeAlias = PartsMatch | PartPinned


class FunctionDeviceRule(OpTrait, ABC):
    """
    Relates the devices of an op's operands and results to those of a function.

    A constraint on a function that is not in the module, or on a parameter or result that the
    function does not have, is ignored. `lookup` finds symbols of the module.
    """

    @abstractmethod
    def constraints(self, op: Operation, lookup: Lookup) -> Iterable[FunctionDeviceConstraint]: ...


class CalleeDevices(FunctionDeviceRule):
    """The rule of direct calls: arguments and results are where those of `callee` are."""

    def constraints(self, op: Operation, lookup: Lookup) -> Iterable[FunctionDeviceConstraint]:
        callee = op.properties["callee"]
        assert isinstance(callee, SymbolRefAttr)
        name = callee.string_value()
        for i in range(len(op.operands)):
            reason = f"argument {i} is where parameter {i} of @{name} is"
            yield PartsMatch(Operand(i), FunctionParameter(name, i), reason)
        for i, result in enumerate(op.results):
            reason = f"result {i} of the call is where that of @{name} is"
            yield PartsMatch(result, FunctionResult(name, i), reason)


class ReturnDevices(FunctionDeviceRule):
    """The rule of returns: operands are where the results of the enclosing function are."""

    def constraints(self, op: Operation, lookup: Lookup) -> Iterable[FunctionDeviceConstraint]:
        function = op.parent_op()
        name = None if function is None else function.properties.get("sym_name")
        if isinstance(name, StringAttr):
            for i in range(len(op.operands)):
                reason = f"result {i} of @{name.data} is returned here"
                yield PartsMatch(Operand(i), FunctionResult(name.data, i), reason)


# -------------------------------------------------------------------------- other traits


class DeviceAnnotated(OpTrait, ABC):
    """The op may carry devices outside of types, which its rule pins values to."""

    @abstractmethod
    def erase_annotations(self, op: Operation) -> None:
        """Remove from `op` the devices that its types now carry."""


class Rematerializable(OpTrait):
    """A constant: each use has a domain of its own, and the op is cloned for each device."""
