"""
The state of the contents that each value names, at one point of a path.

    State.ends       value -> End        it names bytes that were overwritten or killed
    State.written    tensor -> op        the op that wrote it
    State.held       slot -> results     the tensors whose contents may lie there, until all that
                                         name them are ended

The meet over the regions of a choice is a union: what ended, was written, or lies somewhere on one
path may have or may be after it. Entering a region opens a frame, which remembers what it changes;
so a choice costs what its regions do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from xdsl.ir import Operation, SSAValue

from .held import Held
from .slots import Slot
from .undoable import Undoable


class How(Enum):
    """The kinds of ends of the contents of bytes."""

    KILLED = auto()
    OVERWRITTEN = auto()
    MAYBE_OVERWRITTEN = auto()
    """It cannot be shown that they were not."""


@dataclass(frozen=True, eq=False)
class End:
    """The end of the contents that a value names."""

    how: How
    by: Operation
    there: Slot | None = None
    """The bytes that `by` writes."""
    here: Slot | None = None
    """The bytes that the value names."""
    origin: SSAValue | None = None
    """The value that was written there before."""


@dataclass(eq=False)
class State:
    """The facts that hold on the path to the current op, or on one of the paths that meet there."""

    held: Held
    ends: Undoable[SSAValue, End] = field(default_factory=Undoable[SSAValue, End])
    written: Undoable[SSAValue, Operation] = field(default_factory=Undoable[SSAValue, Operation])

    def open(self) -> None:
        """Enter a region."""
        self.ends.open()
        self.written.open()
        self.held.changes.open()

    def close(self) -> Changes:
        """Leave a region: return to the state before it."""
        return Changes(self.ends.close(), self.written.close(), self.held.close())

    def meet(self, regions: list[Changes]) -> None:
        """Continue after a choice that executed one of its regions."""
        count = len(regions)
        self.ends.meet([changes.ends for changes in regions], count)
        self.written.meet([changes.written for changes in regions], count)
        self.held.meet([changes.held for changes in regions], count)


@dataclass(frozen=True)
class Changes:
    """The changes that a region makes to the state."""

    ends: dict[SSAValue, End | None]
    written: dict[SSAValue, Operation | None]
    held: dict[tuple[Slot, SSAValue], bool | None]
