"""The errors of `verify-memory-plan`, each with the places that are involved."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from xdsl.ir import BlockArgument, Operation, SSAValue

from ..bytes.op_facts import facts_of
from ..support.diagnostics import PassError, Place
from .slots import Slot


class How(Enum):
    """The kinds of ends of the contents of bytes."""

    KILLED = auto()
    OVERWRITTEN = auto()
    MAYBE_OVERWRITTEN = auto()
    """It cannot be shown that they were not."""
    REWRITTEN = auto()
    """They were written by an op whose result has them."""


@dataclass(eq=False, slots=True)
class End:
    """The end of the contents that a value names."""

    how: How
    by: Operation
    there: Slot | None = None
    """The bytes that `by` writes."""
    here: Slot | None = None
    """The bytes that the value names."""
    origin: Place | None = None
    """The op or value that was written there before."""


class NotShown(PassError):
    """A property of the plan that is not known to hold."""


def hint_of(*slots: Slot | None) -> str:
    """Return the cure if offsets are computed: of expanded packs, the order is gone."""
    is_computed = any(slot is not None and slot.is_computed for slot in slots)
    return " (expanded: verify before expand-packs)" if is_computed else ""


def place_note(storage: SSAValue) -> tuple[Place, str]:
    is_parameter = isinstance(storage, BlockArgument)
    return storage, f"the storage is {'a parameter' if is_parameter else 'allocated'} here"


def fault_of_use(op: Operation, end: End) -> PassError:
    """Return the error for a use or a kill of bytes that were ended before."""
    is_kill = facts_of(op).frees
    if end.how is How.KILLED:
        fault = f"{op.name} uses bytes that are killed before it"
        where = "before" if is_kill else ""
        fault = "the bytes are killed twice" if is_kill else fault
        return PassError(fault, op, notes=[(end.by, f"they are killed here {where}".strip())])
    if end.how is How.REWRITTEN:
        fault = f"{op.name} uses bytes that {end.by.name} has written over"
        return PassError(fault, op, notes=[(end.by, "its result has the bytes")])
    verb = "writes" if facts_of(end.by).writes else "may write"
    fault = f"{end.by.name} {verb} bytes of a live tensor"
    wanted = f"{end.by.name} does not overwrite a live tensor"
    return overlap_fault(
        end, fault, wanted, [(op, f"it is {'killed' if is_kill else 'used'} here")]
    )


def fault_in_place(op: Operation, end: End) -> PassError:
    """Return the error for an op that reads what it writes."""
    fault, wanted = "reads bytes that it writes", "does not read bytes that it writes"
    return overlap_fault(end, f"{op.name} {fault}", f"{op.name} {wanted}", [])


def overlap_fault(end: End, fault: str, wanted: str, notes: list[tuple[Place, str]]) -> PassError:
    """Return the error `fault` of the op that writes, or that `wanted` cannot be shown."""
    slots = f"bytes {end.there} and {end.here} of one storage"
    if end.origin is not None:
        notes = [*notes, (end.origin, f"bytes {end.here} are written here")]
    if end.how is not How.MAYBE_OVERWRITTEN:
        return PassError(f"{fault}: {slots} overlap", end.by, notes=notes)
    hint = hint_of(end.there, end.here)
    message = f"cannot show that {wanted}: cannot show that {slots} do not overlap{hint}"
    return NotShown(message, end.by, notes=notes)
