"""The errors of `verify-memory-plan`, each with the places that are involved."""

from __future__ import annotations

from xdsl.ir import BlockArgument, Operation, SSAValue

from ..support.diagnostics import PassError, Place
from .live_contents import End, How
from .names import traits_of
from .slots import Slot


class NotShown(PassError):
    """A property of the plan that is not known to hold."""


def hint_of(*slots: Slot | None) -> str:
    """Return the cure if offsets are computed: of expanded packs, the order is gone."""
    is_computed = any(slot is not None and slot.is_computed for slot in slots)
    return " (expanded: verify before expand-packs)" if is_computed else ""


def place_note(storage: SSAValue) -> tuple[Place, str]:
    is_parameter = isinstance(storage, BlockArgument)
    return storage, f"the storage is {'a parameter' if is_parameter else 'allocated'} here"


def origin_note(end: End) -> list[tuple[Place, str]]:
    return [] if end.origin is None else [(end.origin, f"bytes {end.here} are written here")]


def fault_of_use(op: Operation, end: End) -> PassError:
    """Return the error for a use of bytes that were ended before."""
    if end.how is How.KILLED:
        return PassError(
            f"{op.name} uses bytes that are killed before it",
            op,
            notes=[(end.by, "they are killed here")],
        )
    return fault_of_write(end, (op, "it is used here"))


def fault_of_kill(op: Operation, end: End) -> PassError:
    """Return the error for a kill of bytes that were ended before."""
    if end.how is How.KILLED:
        return PassError(
            "the bytes are killed twice", op, notes=[(end.by, "they are killed here before")]
        )
    return fault_of_write(end, (op, "it is killed here"))


def fault_of_write(end: End, use: tuple[Place, str]) -> PassError:
    """Return the error for a write into bytes whose contents are still needed."""
    slots = f"bytes {end.there} and {end.here} of one storage"
    verb = "writes" if traits_of(end.by).writes else "may write"
    if end.how is How.MAYBE_OVERWRITTEN:
        message = (
            f"cannot show that {end.by.name} does not overwrite a live tensor: cannot show that "
            f"{slots} do not overlap{hint_of(end.there, end.here)}"
        )
    else:
        message = f"{end.by.name} {verb} bytes of a live tensor: {slots} overlap"
    return _kind(end)(message, end.by, notes=[use, *origin_note(end)])


def fault_in_place(op: Operation, end: End) -> PassError:
    """Return the error for an op that reads what it writes."""
    slots = f"bytes {end.there} and {end.here} of one storage"
    if end.how is How.MAYBE_OVERWRITTEN:
        message = (
            f"cannot show that {op.name} does not read bytes that it writes: cannot show that "
            f"{slots} do not overlap{hint_of(end.there, end.here)}"
        )
    else:
        message = f"{op.name} reads bytes that it writes: {slots} overlap"
    return _kind(end)(message, op, notes=origin_note(end))


def _kind(end: End) -> type[PassError]:
    return NotShown if end.how is How.MAYBE_OVERWRITTEN else PassError
