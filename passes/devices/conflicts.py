"""The causes of device constraints, and what becomes of constraints that contradict each other."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import groupby
from math import prod
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, OpResult, SSAValue

from ...dialects.device import disambiguated
from ...dialects.interfaces import DestinationPassing, Rematerializable
from ...dialects.relay.device_ops import OnDeviceOp
from ...dialects.tensors import as_tensor, element_size
from ..functions.flattening import flat
from ..support.diagnostics import PassError, Place
from .domains import Conflict, Demand, Union


class Cause(NamedTuple):
    """
    The place in the program that a constraint comes from, and its reason in words.

    `value` is the value that the constraint binds there, if it is one that the op at `place` could
    use through a copy. `position` tells operands of an op apart that have domains of their own.
    """

    place: Place
    reason: str
    value: SSAValue | None = None
    position: int = 0

    @property
    def operand(self) -> SSAValue | None:
        """The value, unless the op at `place` defines it or each use of it has its own domain."""
        value = self.value
        if value is None:
            return None
        if isinstance(value, OpResult):
            constant = value.op.has_trait(Rematerializable, value_if_unregistered=False)
            return None if value.op is self.place or constant else value
        assert isinstance(value.owner, Block)
        return None if value.owner.parent_op() is self.place else value


ConflictResolver: TypeAlias = Callable[[Conflict[Cause]], "Demand[Cause] | Union[Cause]"]
"""Chooses the constraint of a conflict that is given up, or raises an error."""


def error_of(conflict: Conflict[Cause]) -> PassError:
    """Make the error for a conflict: both demands, and the chain from one to the other."""
    first, second = conflict.first, conflict.second
    one, other = disambiguated(first.device, second.device)
    notes = [(first.cause.place, f"{one} is required here: {first.cause.reason}")]
    notes += [(union.cause.place, union.cause.reason) for union in conflict.chain]
    notes.append((second.cause.place, f"{other} is required here: {second.cause.reason}"))
    return PassError(
        f"one value would have to be on {one} and on {other}",
        second.cause.place,
        notes=[note for note, _ in groupby(notes)],  # two unions through one op are one note
    )


def report(conflict: Conflict[Cause]) -> Demand[Cause] | Union[Cause]:
    """Resolve no conflict: each one is an error."""
    raise error_of(conflict)


def copy_cheapest(cost: Callable[[SSAValue], int | None]) -> ConflictResolver:
    """
    Make a resolver that gives up the constraint of the cheapest operand, the first of equals.

    If that is a hint, which would no longer say where its operand is, the last equal operand of
    another op is copied instead: as far from the hint as possible.

    A conflict is an error if `cost` is None for all operands: none of them can be copied. The cost
    of each value is computed once.
    """
    cost = cache(cost)

    def resolve(conflict: Conflict[Cause]) -> Demand[Cause] | Union[Cause]:
        offers: list[Demand[Cause] | Union[Cause]] = []
        lowest: int | None = None
        for constraint in (conflict.first, *conflict.chain, conflict.second):
            operand = constraint.cause.operand
            price = None if operand is None else cost(operand)
            if price is not None and (lowest is None or price <= lowest):
                offers = [*(offers if price == lowest else ()), constraint]
                lowest = price
        if not offers:
            raise error_of(conflict)
        others = [c for c in offers if not isinstance(c.cause.place, OnDeviceOp)]
        return offers[0] if offers[0] in others or not others else others[-1]

    return resolve


def bytes_copied(value: SSAValue) -> int | None:
    """
    Return the size of a copy of `value`, with dynamic dims as 1; None if it cannot be copied.

    A tensor that some op writes into cannot: what is written into a copy is lost.
    """
    size = 0
    for type in flat([value.type]):
        if (tensor := as_tensor(type)) is None:
            return None
        dims = (dim for dim in tensor.get_shape() if dim != DYNAMIC_INDEX)
        size += prod(dims) * element_size(tensor.element_type)
    return None if any(map(DestinationPassing.writes, value.uses)) else size
