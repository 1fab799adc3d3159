"""
The contents that may lie in each slot, and other facts of a point of a path.

    State.ends       value -> End        it names bytes that were overwritten or killed
    State.written    tensor -> op        the op that wrote it
    State.held       slot, value         the tensors whose contents may lie there, until all that
                                         name them are ended

The meet over the regions of a choice is a union: what ended, was written, or lies somewhere on one
path may have or may be after it. Entering a region opens a frame, which remembers what it changes;
so a choice costs what its regions do.

Slots of numbers are compared with those near them. Of slots in slices of an ordered pack, those are
that lie in the same slice, or in one that is known not to be apart from it; when a slice gets and
loses contents, and when it is written, is noted for `Orders.unordered`. Others are compared one by
one.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
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

    values: dict[Slot, dict[int, None]] = field(default_factory=dict[Slot, "dict[int, None]"])
    numbers: list[tuple[int, int, Slot]] = field(default_factory=list[tuple[int, int, Slot]])
    """Slots of known bounds, by start."""
    longest: int = 0
    """The most bytes of these."""
    places: defaultdict[Place, dict[Slot, None]] = field(default_factory=lambda: defaultdict(dict))
    """Those in slices of packs."""
    logs: defaultdict[Packed, array[int]] = field(
        default_factory=lambda: defaultdict(lambda: array("q"))
    )
    """The events of the slices of each pack, in order."""
    others: dict[Slot, None] = field(default_factory=dict[Slot, None])

    def insert(self, slot: Slot) -> None:
        if slot.static is not None:
            start, stop = slot.static
            insort(self.numbers, (start, slot.number, slot))
            self.longest = max(self.longest, stop - start)
        elif slot.place is not None:
            if not self.places[slot.place]:
                self.logs[slot.place.packed].append(Event.BEGINS.of(slot.place.slice))
            self.places[slot.place][slot] = None
        else:
            self.others[slot] = None

    def remove(self, slot: Slot) -> None:
        if slot.static is not None:
            del self.numbers[bisect_left(self.numbers, (slot.static[0], slot.number))]
        elif slot.place is not None:
            del self.places[slot.place][slot]
            if not self.places[slot.place]:
                del self.places[slot.place]
                self.logs[slot.place.packed].append(Event.ENDS.of(slot.place.slice))
        else:
            del self.others[slot]

    def near(self, slot: Slot, unordered: Unordered) -> Iterator[Slot]:
        """Yield the slots that may overlap `slot`."""
        place = slot.place
        if place is None and slot.static is None:
            yield from self.values
            return
        yield from self.others
        if slot.static is None:
            yield from (other for _, _, other in self.numbers)
        else:
            start, stop = slot.static
            for k in range(bisect_left(self.numbers, (start - self.longest,)), len(self.numbers)):
                if self.numbers[k][0] >= stop:
                    break
                yield self.numbers[k][2]
        packing = None if place is None else place.packed.packing
        if place is None or packing is None or packing.orders is None:
            yield from (other for inside in self.places.values() for other in inside)
            return
        packed, i = place
        self.logs[packed].append(Event.NEEDS.of(i))
        near = {
            i,
            *(one + two - i for one, two in unordered.get(packing.op, ()) if i in (one, two)),
        }
        for there in (Place(packed, k) for k in sorted(near)):
            yield from self.places.get(there, ())
        if len(self.logs) > 1:
            others = [inside for place, inside in self.places.items() if place.packed is not packed]
            yield from (other for inside in others for other in inside)


class Held(Undoable[tuple[Slot, int], bool]):
    """The results that may lie in each slot."""

    def __init__(self, slots: Slots) -> None:
        super().__init__()
        self.slots = slots
        self._contents: defaultdict[int, Contents] = defaultdict(Contents)
        """The slots of each storage (its identity) that have contents."""
        self._slots_of: defaultdict[int, dict[Slot, None]] = defaultdict(dict)

    def beside(self, slot: Slot) -> Contents:
        """Return what is in the storage of `slot`."""
        return self._contents[id(slot.storage)]

    def slots_of(self, value: int) -> list[Slot]:
        """Return the slots in which a value may lie."""
        return [*self._slots_of.get(value, ())]

    def _store(self, key: tuple[Slot, int], value: bool | None) -> None:
        slot, number = key
        contents = self._contents[id(slot.storage)]
        if value and key not in self.now:
            if slot not in contents.values:
                contents.values[slot] = {}
                contents.insert(slot)
            contents.values[slot][number] = None
            self._slots_of[number][slot] = None
        elif not value and key in self.now:
            del contents.values[slot][number], self._slots_of[number][slot]
            if not contents.values[slot]:
                del contents.values[slot]
                contents.remove(slot)
        super()._store(key, value)

    def near(self, slot: Slot) -> list[tuple[Slot, bool, int]]:
        """Return what overlaps `slot` (True) or may (False), each with a value that lies there."""
        contents, found = self.beside(slot), list[tuple[Slot, bool, int]]()
        for other in () if slot.is_empty else contents.near(slot, self.slots.unordered):
            overlap = False if other.is_empty else self.slots.overlap(other, slot)
            if overlap is not False:
                found += [(other, bool(overlap), value) for value in contents.values[other]]
        return found

    def need_together(self, one: Slot, other: Slot) -> None:
        """Note that two slots of a storage are needed at once, by one op."""
        place, there = one.place, other.place
        if place is not None and there is not None and place.packed is there.packed:
            contents = self.beside(one)
            events = [kind.of(there.slice) for kind in (Event.BEGINS, Event.ENDS)]
            events = [] if there in contents.places else events
            needs = Event.NEEDS.of(place.slice)
            contents.logs[place.packed].extend([*events[:1], needs, *events[1:]])

    def unordered(self) -> Unordered:
        """Return the slices of ordered packs that are needed together and may share bytes."""
        found: Unordered = {}
        for contents in self._contents.values():
            for packed, log in contents.logs.items():
                orders = packed.packing.orders
                pairs = () if orders is None else orders.unordered(log)
                if pairs:
                    found.setdefault(packed.packing.op, set()).update(pairs)
        return found


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
        """
        Leave a region: return to the state before it, and what the region changed.

        Nothing is said of values that do not outlive it: no op after it uses them.
        """
        of_values = (self.ends.close(), self.written.close())
        kept = [{n: fact for n, fact in facts.items() if outlives(n)} for facts in of_values]
        return [*kept, self.held.close()]

    def meet(self, regions: Sequence[Changes]) -> None:
        """Continue after a choice that executed one of its regions."""
        for facts, *changes in zip(self.facts, *regions, strict=True):
            facts.meet(changes)


Changes = Sequence[Mapping[Any, Any]]
"""The changes that a region makes to each of the facts of a state."""
