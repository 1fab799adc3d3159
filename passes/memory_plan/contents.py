"""
The state of the contents that each value names, at one point of a path.

    State.ends       value -> End        it names bytes that were overwritten or killed
    State.written    tensor -> op        the op that wrote it
    State.held       slot -> results     the tensors whose contents may lie there

The meet over the regions of a choice is a union: what ended, was written, or lies somewhere on one
path may have or may be after it. Entering a region opens a frame, which remembers what it changes;
so a choice costs what its regions do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Generic, TypeVar

from xdsl.ir import Operation, SSAValue

from .slots import Slot


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


K = TypeVar("K")
V = TypeVar("V")


class Undoable(Generic[K, V]):
    """A mapping whose changes since each open frame can be taken back; None is absence."""

    def __init__(self) -> None:
        self.now: dict[K, V] = {}
        self._frames: list[dict[K, V | None]] = []

    def set(self, key: K, value: V | None) -> None:
        if self._frames:
            self._frames[-1].setdefault(key, self.now.get(key))
        if value is None:
            self.now.pop(key, None)
        else:
            self.now[key] = value

    def open(self) -> None:
        self._frames.append({})

    def close(self) -> dict[K, V | None]:
        """Take the changes of the last frame back, and return them."""
        before = self._frames.pop()
        changes = {key: self.now.get(key) for key in before}
        for key, value in before.items():
            if value is None:
                self.now.pop(key, None)
            else:
                self.now[key] = value
        return changes

    def meet(self, regions: Iterable[Mapping[K, V | None]], count: int) -> None:
        """Continue after `count` regions: a key is present if it is in some region."""
        merged: dict[K, V | None] = {}
        seen: dict[K, int] = {}
        for changes in regions:
            for key, value in changes.items():
                seen[key] = seen.get(key, 0) + 1
                merged[key] = value if merged.get(key) is None else merged[key]
        for key, value in merged.items():
            if value is None and seen[key] < count:
                continue  # it is as before where it was not changed
            self.set(key, value)


class Held:
    """The results that may lie in each slot, by storage."""

    def __init__(self) -> None:
        self.changes = Undoable[tuple[Slot, SSAValue], bool]()
        self._by_storage: dict[SSAValue, dict[Slot, dict[SSAValue, None]]] = {}

    def put(self, slot: Slot, value: SSAValue) -> None:
        self.changes.set((slot, value), True)
        self._place(slot, value, True)

    def drop(self, slot: Slot, value: SSAValue) -> None:
        self.changes.set((slot, value), None)
        self._place(slot, value, False)

    def _place(self, slot: Slot, value: SSAValue, present: bool) -> None:
        slots = self._by_storage.setdefault(slot.storage, {})
        if present:
            slots.setdefault(slot, {})[value] = None
        elif slot in slots:
            slots[slot].pop(value, None)
            if not slots[slot]:
                del slots[slot]

    def close(self) -> dict[tuple[Slot, SSAValue], bool | None]:
        changes = self.changes.close()
        self._sync(changes)
        return changes

    def meet(self, regions: list[dict[tuple[Slot, SSAValue], bool | None]], count: int) -> None:
        self.changes.meet(regions, count)
        for changes in regions:
            self._sync(changes)

    def _sync(self, keys: Iterable[tuple[Slot, SSAValue]]) -> None:
        for slot, value in keys:
            self._place(slot, value, (slot, value) in self.changes.now)

    def near(self, slot: Slot, slots: Iterable[Slot] | None) -> Iterator[tuple[Slot, SSAValue]]:
        """Yield what lies in `slots` of the storage of `slot`, in all if None."""
        here = self._by_storage.get(slot.storage, {})
        for other in list(here if slots is None else slots):
            for value in list(here.get(other, ())):
                yield other, value


@dataclass(eq=False)
class State:
    """The facts that hold on the path to the current op, or on one of the paths that meet there."""

    ends: Undoable[SSAValue, End] = field(default_factory=Undoable[SSAValue, End])
    written: Undoable[SSAValue, Operation] = field(default_factory=Undoable[SSAValue, Operation])
    held: Held = field(default_factory=Held)

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
