"""
The contents that may lie in each slot.

    numbers    layer 0    [0, 64)   [64, 128)   [192, 256)
               layer 1    [32, 96)
    slices     3: [o3, o3 + 4*n)   5: …          of a pack, and as bits 0b101000

In a layer, each slot is below the next one, so that what overlaps a slot is next to it: contents
that are intact together do not overlap, and are in one layer; those of different regions of a
choice may. Of slots in slices of a pack, those are looked at that lie in the same slice, or in one
of the slices that are not apart from it: mostly none. Other slots are compared one by one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from ..sizes.program_sizes import Packed
from .slots import Place, Relation, Slot, Slots
from .undoable import Undoable

MAX_LAYERS = 16
"""The maximum number of layers; a slot that fits in none is compared with all."""

OVERLAPPING = (Relation.SAME, Relation.UNKNOWN)

Key = tuple[int, int, int]
"""Start and stop of a slot at a sample point, and its number."""


@dataclass(eq=False)
class _Layer:
    """Slots, each below the next one."""

    keys: list[Key] = field(default_factory=list[Key])
    slots: list[Slot] = field(default_factory=list[Slot])

    def has_room(self, key: Key, slot: Slot) -> bool:
        """Test whether `slot` lies between its neighbours."""
        at = bisect_left(self.keys, key)
        if at and Slots.relation(self.slots[at - 1], slot) is not Relation.BELOW:
            return False
        return at == len(self.slots) or Slots.relation(slot, self.slots[at]) is Relation.BELOW

    def insert(self, key: Key, slot: Slot) -> None:
        at = bisect_left(self.keys, key)
        self.keys.insert(at, key)
        self.slots.insert(at, slot)

    def remove(self, key: Key) -> None:
        at = bisect_left(self.keys, key)
        del self.keys[at], self.slots[at]

    def near(self, key: Key, slot: Slot) -> Iterator[tuple[Slot, Relation]]:
        """Yield the slots that are not shown to be apart from `slot`."""
        at = bisect_left(self.keys, key)
        for i in range(at - 1, -1, -1):
            other = self.slots[i]
            relation = Slots.relation(other, slot)
            if relation is Relation.BELOW:
                break
            if relation in OVERLAPPING:
                yield other, relation
        for i in range(at, len(self.slots)):
            other = self.slots[i]
            relation = Slots.relation(other, slot)
            if relation is Relation.ABOVE:
                break
            if relation in OVERLAPPING:
                yield other, relation


@dataclass(eq=False)
class Slices:
    """The slots in the slices of a pack."""

    inside: dict[int, dict[Slot, None]] = field(default_factory=dict[int, "dict[Slot, None]"])
    bits: int = 0
    """The slices that have slots."""

    def near(self, place: Place) -> Iterator[Slot]:
        """Yield the slots that may overlap one in the slice `place`."""
        packed, i = place
        if packed.orders is not None:
            left = self.bits & ~packed.comparable[i]
            while left:
                j = left.bit_length() - 1
                left &= ~(1 << j)
                yield from self.inside[j]
        else:
            for slots in self.inside.values():
                yield from slots


@dataclass(eq=False)
class _Contents:
    """The contents of a storage."""

    values: dict[Slot, dict[SSAValue, None]] = field(
        default_factory=dict[Slot, "dict[SSAValue, None]"]
    )
    layers: list[_Layer] = field(default_factory=list[_Layer])
    where: dict[Slot, tuple[_Layer, Key] | None] = field(
        default_factory=dict[Slot, "tuple[_Layer, Key] | None"]
    )
    """The layer of each slot; None if it is in no layer."""
    unordered: dict[Slot, None] = field(default_factory=dict[Slot, None])
    slices: dict[Packed, Slices] = field(default_factory=dict[Packed, "Slices"])
    count: int = 0


class Held:
    """The results that may lie in each slot, by storage."""

    def __init__(self) -> None:
        self.changes = Undoable[tuple[Slot, SSAValue], bool]()
        self._by_storage: dict[SSAValue, _Contents] = {}
        self._slots: dict[SSAValue, dict[Slot, None]] = {}
        """The slots in which each value may lie."""

    def slots_of(self, value: SSAValue) -> list[Slot]:
        """Return the slots in which `value` may lie."""
        return [*self._slots.get(value, ())]

    def put(self, slot: Slot, value: SSAValue) -> None:
        self.changes.set((slot, value), True)
        self._place(slot, value, True)

    def drop(self, slot: Slot, value: SSAValue) -> None:
        self.changes.set((slot, value), None)
        self._place(slot, value, False)

    def _place(self, slot: Slot, value: SSAValue, present: bool) -> None:
        contents = self._by_storage.get(slot.storage)
        if contents is None:
            contents = self._by_storage[slot.storage] = _Contents()
        values = contents.values.get(slot)
        if present:
            self._slots.setdefault(value, {})[slot] = None
        elif value in self._slots:
            self._slots[value].pop(slot, None)
        if present and values is None:
            contents.values[slot] = {value: None}
            self._insert(contents, slot)
        elif values is not None and present:
            values[value] = None
        elif values is not None:
            values.pop(value, None)
            if not values:
                del contents.values[slot]
                self._remove(contents, slot)

    def _insert(self, contents: _Contents, slot: Slot) -> None:
        if slot.is_empty:
            contents.where[slot] = None
            return
        if slot.place is not None:
            packed, i = slot.place
            slices = contents.slices.setdefault(packed, Slices())
            slices.inside.setdefault(i, {})[slot] = None
            slices.bits |= 1 << i
            contents.where[slot] = None
            return
        if slot.static is not None:
            contents.count += 1
            key = (*slot.static, contents.count)
            for layer in contents.layers:
                if layer.has_room(key, slot):
                    layer.insert(key, slot)
                    contents.where[slot] = layer, key
                    return
            if len(contents.layers) < MAX_LAYERS:
                contents.layers.append(layer := _Layer())
                layer.insert(key, slot)
                contents.where[slot] = layer, key
                return
        contents.where[slot] = None
        contents.unordered[slot] = None

    @staticmethod
    def _remove(contents: _Contents, slot: Slot) -> None:
        place = contents.where.pop(slot)
        if place is not None:
            place[0].remove(place[1])
        elif slot.place is not None:
            slices, i = contents.slices[slot.place.packed], slot.place.slice
            slices.inside[i].pop(slot, None)
            if not slices.inside[i]:
                slices.bits &= ~(1 << i)
        else:
            contents.unordered.pop(slot, None)

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

    def near(self, slot: Slot) -> list[tuple[Slot, Relation, SSAValue]]:
        """Return what may overlap `slot`, of the same storage."""
        contents = self._by_storage.get(slot.storage)
        if contents is None or slot.is_empty:
            return []
        found: list[tuple[Slot, Relation]] = []
        if slot.static is not None:
            key = (*slot.static, 0)
            for layer in contents.layers:
                found += layer.near(key, slot)
            candidates = [*contents.unordered]
            for slices in contents.slices.values():
                candidates += [other for inside in slices.inside.values() for other in inside]
        elif slot.place is not None:
            candidates = [other for layer in contents.layers for other in layer.slots]
            candidates += contents.unordered
            for packed, slices in contents.slices.items():
                if packed is slot.place.packed:
                    candidates += slices.near(slot.place)
                else:
                    candidates += [other for inside in slices.inside.values() for other in inside]
        else:
            candidates = [*contents.values]
        for other in candidates:
            relation = Slots.relation(other, slot)
            if relation in OVERLAPPING:
                found.append((other, relation))
        return [
            (other, relation, value)
            for other, relation in found
            for value in list(contents.values[other])
        ]
