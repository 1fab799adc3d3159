"""
The contents that may lie in each slot, in order.

    layer 0    [0, 64)   [64, 64 + 4*n)   [64 + 4*n, 128 + 4*n)
    layer 1    [32, 96)

In a layer, each slot is shown to be below the next one, so that what overlaps a slot is next to it:
contents that are intact together do not overlap, and are in one layer; those of different regions
of a choice may. Slots are sorted by their values at a sample point, which decides nothing: those
that are not in that order for all sizes are compared one by one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from .slots import Relation, Slot, Slots
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

    def has_room(self, key: Key, slot: Slot, slots: Slots) -> bool:
        """Test whether `slot` can be shown to be between its neighbours."""
        at = bisect_left(self.keys, key)
        if at and slots.relation(self.slots[at - 1], slot) is not Relation.BELOW:
            return False
        return at == len(self.slots) or slots.relation(slot, self.slots[at]) is Relation.BELOW

    def insert(self, key: Key, slot: Slot) -> None:
        at = bisect_left(self.keys, key)
        self.keys.insert(at, key)
        self.slots.insert(at, slot)

    def remove(self, key: Key) -> None:
        at = bisect_left(self.keys, key)
        del self.keys[at], self.slots[at]

    def near(self, key: Key, slot: Slot, slots: Slots) -> Iterator[tuple[Slot, Relation]]:
        """Yield the slots that are not shown to be apart from `slot`."""
        at = bisect_left(self.keys, key)
        for i in range(at - 1, -1, -1):
            other = self.slots[i]
            relation = slots.relation(other, slot)
            if relation is Relation.BELOW:
                break
            if relation in OVERLAPPING:
                yield other, relation
        for i in range(at, len(self.slots)):
            other = self.slots[i]
            relation = slots.relation(other, slot)
            if relation is Relation.ABOVE:
                break
            if relation in OVERLAPPING:
                yield other, relation


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
    count: int = 0


class Held:
    """The results that may lie in each slot, by storage."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
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
        contents.count += 1
        key = (*self._key(slot), contents.count)
        if not slot.is_whole and self.slots.is_ordered(slot):
            for layer in contents.layers:
                if layer.has_room(key, slot, self.slots):
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

    def _key(self, slot: Slot) -> tuple[int, int]:
        return slot.static or self.slots.proofs.samples.bounds(slot.start, slot.stop)

    @staticmethod
    def _remove(contents: _Contents, slot: Slot) -> None:
        place = contents.where.pop(slot)
        if place is None:
            contents.unordered.pop(slot, None)
        else:
            place[0].remove(place[1])

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
        if slot.is_whole or not self.slots.is_ordered(slot):
            candidates = [*contents.values]
        else:
            key = (*self._key(slot), 0)
            for layer in contents.layers:
                found += layer.near(key, slot, self.slots)
            candidates = [*contents.unordered]
        for other in candidates:
            relation = self.slots.relation(other, slot)
            if relation in OVERLAPPING:
                found.append((other, relation))
        return [
            (other, relation, value)
            for other, relation in found
            for value in list(contents.values[other])
        ]
