"""
The contents that may lie in each slot, and other facts of a point of a path.

    State.ends       value -> End        it names bytes that were overwritten or killed
    State.written    tensor -> op        the op that wrote it
    State.held       slot, value         the tensors whose contents may lie there, until all that
                                         name them are ended

The meet over the regions of a choice is a union: what ended, was written, or lies somewhere on one
path may have or may be after it. Entering a region opens a frame, which remembers what it changes;
so a choice costs what its regions do.

Slots of numbers are compared with those near them, slots in an ordered pack with those in the same
slice; when a slice gets and loses contents, and when it is written, is noted for
`Orders.unordered`. Others are compared one by one.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Generic, TypeVar

from xdsl.ir import Operation

from ...operators.orders import Event
from ..sizes.reader import Packed
from .faults import End
from .slots import Place, Slot, Slots, Unordered

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
        self._store(key, value)

    def _store(self, key: K, value: V | None) -> None:
        if value is None:
            self.now.pop(key, None)
        else:
            self.now[key] = value

    def open(self) -> None:
        self._frames.append({})

    def close(self) -> Mapping[K, V | None]:
        """Take the changes of the last frame back, and return them."""
        changes: dict[K, V | None] = {}
        for key, value in self._frames.pop().items():
            now = self.now.get(key)
            if now is not value:
                changes[key] = now
                self._store(key, value)
        return changes

    def meet(self, regions: Sequence[Mapping[K, V | None]]) -> None:
        """Continue after a choice of one of `regions`: a key is present if it is in some region."""
        for key in dict.fromkeys(chain.from_iterable(regions)):
            values = [changes[key] for changes in regions if key in changes]
            value = next((value for value in values if value is not None), None)
            if value is not None or len(values) == len(regions):
                self.set(key, value)


@dataclass(eq=False)
class Contents:
    """The slots of a storage that have contents."""

    values: dict[Slot, dict[int, None]] = field(default_factory=lambda: {})
    numbers: list[tuple[int, int, Slot]] = field(default_factory=lambda: [])
    """Slots of known bounds, by start."""
    longest: int = 0
    """The most bytes of these."""
    places: dict[Place | None, dict[Slot, None]] = field(default_factory=lambda: {})
    """Those in slices of packs, and others."""
    logs: defaultdict[Packed, array[int]] = field(
        default_factory=lambda: defaultdict(lambda: array("q"))
    )
    """The events of the slices of each pack, in order."""

    def insert(self, slot: Slot) -> None:
        if slot.static is not None:
            start, stop = slot.static
            insort(self.numbers, (start, slot.number, slot))
            self.longest = max(self.longest, stop - start)
            return
        inside = self.places.setdefault(slot.place, {})
        if not inside:
            self._log(Event.BEGINS, slot.place)
        inside[slot] = None

    def remove(self, slot: Slot) -> None:
        if slot.static is not None:
            del self.numbers[bisect_left(self.numbers, (slot.static[0], slot.number))]
            return
        inside = self.places[slot.place]
        del inside[slot]
        if not inside:
            del self.places[slot.place]
            self._log(Event.ENDS, slot.place)

    def _log(self, event: Event, place: Place | None) -> None:
        if place is not None:
            self.logs[place.packed].append(event.of(place.slice))

    def near(self, slot: Slot, is_everything: bool) -> Iterable[Slot]:
        """Return the slots that may overlap `slot`, or all; of other slices, orders are asked."""
        place = slot.place
        if place is None and slot.static is None:
            return [*self.values]
        slots: list[Slot] = []
        if slot.static is None:
            slots += (other for _, _, other in self.numbers)
        else:
            start, stop = slot.static
            for k in range(bisect_left(self.numbers, (start - self.longest,)), len(self.numbers)):
                if self.numbers[k][0] >= stop:
                    break
                slots.append(self.numbers[k][2])
        near: Iterable[Place | None] = self.places
        if place is not None and place.packed.packing.orders is not None and not is_everything:
            self._log(Event.NEEDS, place)
            others = self.places if len(self.logs) > 1 else ()
            near = [None, place, *(at for at in others if at and at.packed is not place.packed)]
        slots += chain.from_iterable(self.places.get(there, ()) for there in near)
        return slots

    def need_together(self, place: Place, other: Place) -> None:
        """Note that two slices of a pack are needed at once, by one op."""
        is_alive = other in self.places
        for event, at in ((Event.BEGINS, other), (Event.NEEDS, place), (Event.ENDS, other)):
            if event is Event.NEEDS or not is_alive:
                self._log(event, at)


class Held(Undoable[tuple[Slot, int], bool]):
    """The results that may lie in each slot."""

    def __init__(self, slots: Slots) -> None:
        super().__init__()
        self.slots = slots
        self._contents: defaultdict[int, Contents] = defaultdict(Contents)
        """The slots of each storage (its identity) that have contents."""
        self.slots_of: defaultdict[int, dict[Slot, None]] = defaultdict(dict)
        """The slots in which each value may lie."""

    def beside(self, slot: Slot) -> Contents:
        """Return what is in the storage of `slot`."""
        return self._contents[id(slot.storage)]

    def _store(self, key: tuple[Slot, int], value: bool | None) -> None:
        slot, number = key
        contents = self._contents[id(slot.storage)]
        if value and key not in self.now:
            if slot not in contents.values:
                contents.values[slot] = {}
                contents.insert(slot)
            contents.values[slot][number] = None
            self.slots_of[number][slot] = None
        elif not value and key in self.now:
            del contents.values[slot][number], self.slots_of[number][slot]
            if not contents.values[slot]:
                del contents.values[slot]
                contents.remove(slot)
        super()._store(key, value)

    def near(self, slot: Slot) -> list[tuple[Slot, bool, int]]:
        """Return what overlaps `slot` (True) or may (False), each with a value that lies there."""
        contents, overlapping = self.beside(slot), list[tuple[Slot, bool, int]]()
        for other in () if slot.is_empty else contents.near(slot, bool(self.slots.unordered)):
            overlap = not other.is_empty and self.slots.overlap(other, slot)
            if overlap is not False:
                overlapping += [(other, bool(overlap), value) for value in contents.values[other]]
        return overlapping

    def unordered(self) -> Unordered:
        """Return the slices of ordered packs that are needed together and may share bytes."""
        unordered: Unordered = {}
        for contents in self._contents.values():
            for packed, log in contents.logs.items():
                orders = packed.packing.orders
                pairs = () if orders is None else orders.unordered(log)
                if pairs:
                    unordered.setdefault(packed.packing.op, set()).update(pairs)
        return unordered


class State:
    """The facts that hold on the path to the current op, or on one of the paths that meet there."""

    def __init__(self, slots: Slots) -> None:
        self.ends = Undoable[int, End]()
        self.written = Undoable[int, Operation]()
        self.held = Held(slots)
        self.facts: Sequence[Undoable[Any, Any]] = (self.ends, self.written, self.held)

    def open(self) -> None:
        """Enter a region."""
        for facts in self.facts:
            facts.open()

    def close(self, outlives: Callable[[int], bool]) -> Changes:
        """Return to the state before a region; return its changes, of values that outlive it."""
        *of_values, held = (facts.close() for facts in self.facts)
        return [*({n: of[n] for n in of if outlives(n)} for of in of_values), held]

    def meet(self, regions: Sequence[Changes]) -> None:
        """Continue after a choice that executed one of its regions."""
        for facts, *changes in zip(self.facts, *regions, strict=True):
            facts.meet(changes)


Changes = Sequence[Mapping[Any, Any]]
"""The changes that a region makes to each of the facts of a state."""
