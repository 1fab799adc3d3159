"""Why a device constraint stands, and what to say when two of them contradict each other."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from ..diagnostics import PassError, Place
from .device_domains import Conflict, Demand, Union


@dataclass(frozen=True)
class Cause:
    """
    The place in the program that a constraint comes from, and its reason in words.

    `operand` is the value that the op at `place` uses there, if a copy of it could be used.
    """

    place: Place
    reason: str
    operand: SSAValue | None = None


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


def refuse(conflict: Conflict[Cause]) -> Demand[Cause] | Union[Cause]:
    """Settle no conflict: every one is an error."""
    raise explained(conflict)


def cheapest(conflict: Conflict[Cause]) -> Demand[Cause] | Union[Cause]:
    """The constraint that costs the fewest bytes to give up; an error when none can be."""
    constraint = conflict.cheapest
    if constraint is None:
        raise explained(conflict)
    return constraint
