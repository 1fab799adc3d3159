"""Why a device constraint stands, and what to do when two of them contradict each other."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import groupby
from typing import NamedTuple, TypeAlias

from xdsl.ir import Block, OpResult, SSAValue

from ...dialects.device import told_apart
from ...dialects.interfaces import DeviceConstant
from ..support.diagnostics import PassError, Place
from .device_domains import Conflict, Demand, Union


class Cause(NamedTuple):
    """
    The place in the program that a constraint comes from, its reason in words, and the value that
    it binds there, if it is one that a copy could stand in for when the op at `place` uses it.

    `position` tells the operands of an op apart that are on devices of their own.
    """

    place: Place
    reason: str
    value: SSAValue | None = None
    position: int = 0

    @property
    def operand(self) -> SSAValue | None:
        """The value, unless the op at `place` defines it or it is on a device for each use."""
        value = self.value
        if value is None:
            return None
        if isinstance(value, OpResult):
            constant = value.op.has_trait(DeviceConstant, value_if_unregistered=False)
            return None if value.op is self.place or constant else value
        assert isinstance(value.owner, Block)
        return None if value.owner.parent_op() is self.place else value


Settle: TypeAlias = Callable[[Conflict[Cause]], "Demand[Cause] | Union[Cause]"]
"""Chooses the constraint of a conflict to give up, or raises."""


def explained(conflict: Conflict[Cause]) -> PassError:
    """The error for a conflict: both demands, and the way from one to the other."""
    first, second = conflict.first, conflict.second
    one, other = told_apart(first.device, second.device)
    notes = [(first.cause.place, f"{one} is asked for here: {first.cause.reason}")]
    notes += [(union.cause.place, union.cause.reason) for union in conflict.chain]
    notes.append((second.cause.place, f"{other} is asked for here: {second.cause.reason}"))
    return PassError(
        f"one value would have to be on {one} and on {other}",
        second.cause.place,
        notes=[note for note, _ in groupby(notes)],  # through an op is one step
    )


def refuse(conflict: Conflict[Cause]) -> Demand[Cause] | Union[Cause]:
    """Settle no conflict: every one is an error."""
    raise explained(conflict)


def cheapest(cost: Callable[[SSAValue], int | None]) -> Settle:
    """
    Give up the constraint whose operand costs least to copy, the first of equals.

    A conflict is an error when `cost` is None for all: nothing on its way can be copied. Each
    value is asked for its cost once.
    """
    cost = cache(cost)

    def settle(conflict: Conflict[Cause]) -> Demand[Cause] | Union[Cause]:
        offers: list[tuple[int, Demand[Cause] | Union[Cause]]] = []
        for constraint in (conflict.first, *conflict.chain, conflict.second):
            operand = constraint.cause.operand
            price = None if operand is None else cost(operand)
            if price is not None:
                offers.append((price, constraint))
        if not offers:
            raise explained(conflict)
        return min(offers, key=lambda offer: offer[0])[1]

    return settle
