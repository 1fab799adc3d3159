"""Why a device constraint stands, and what to say when two of them contradict each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from xdsl.ir import SSAValue

from ...dialects.device import told_apart
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


def cheapest(conflict: Conflict[Cause]) -> Demand[Cause] | Union[Cause]:
    """The constraint that costs the fewest bytes to give up; an error when none can be."""
    constraint = conflict.cheapest
    if constraint is None:
        raise explained(conflict)
    return constraint
