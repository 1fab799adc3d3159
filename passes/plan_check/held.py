"""
The contents that may lie in each slot.

    numbers    layer 0    [0, 64)   [64, 128)   [192, 256)
               layer 1    [32, 96)
    slices     3: [o3, o3 + 4*n)   5: …          of a pack, and as bits 0b101000
    needed     7: 0b101000                       when slice 7 was written

In a layer, each slot is below the next one, so that what overlaps a slot is next to it: contents
that are intact together do not overlap, and are in one layer; those of different regions of a
choice may. Of slots in slices of an ordered pack, those are looked at that lie in the same slice,
or in one that is known not to be apart from it; the slices that have contents when it is written
are noted as needed together with it, for `Orders.unordered`. Others are compared one by one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from ...operators.orders import Bits, add_row, remove_row
from ..sizes.reader import Packed
from .slots import Place, Relation, Slot, Slots, Unordered
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

    def has_room(self, key: Key) -> bool:
        """Test whether a slot lies between its neighbours."""
        at = bisect_left(self.keys, key)
        if at and self.keys[at - 1][1] > key[0]:
            return False
        return at == len(self.keys) or key[1] <= self.keys[at][0]

    def insert(self, key: Key, slot: Slot) -> None:
        at = bisect_left(self.keys, key)
        self.keys.insert(at, key)
        self.slots.insert(at, slot)

    def remove(self, key: Key) -> None:
        at = bisect_left(self.keys, key)
        del self.keys[at], self.slots[at]

    def near(self, key: Key) -> Iterator[Slot]:
        """Yield the slots that overlap that of `key`."""
        at = bisect_left(self.keys, key)
        for i in range(at - 1, -1, -1):
            if self.keys[i][1] <= key[0]:
                break
            yield self.slots[i]
        for i in range(at, len(self.slots)):
            if key[1] <= self.keys[i][0]:
                break
            yield self.slots[i]


@dataclass(eq=False)
class Slices:
    """The slots in the slices of a pack."""

    inside: dict[int, dict[Slot, None]] = field(default_factory=dict[int, "dict[Slot, None]"])
    alive: Bits = field(default_factory=dict[int, int])
    """The slices that have slots."""
    needed: dict[int, Bits] = field(default_factory=dict[int, "Bits"])
    """For each slice, those that had contents when it was written."""

    def near(self, place: Place, unordered: Unordered) -> Iterator[Slot]:
        """Yield the slots that may overlap one in the slice `place`."""
        packed, i = place
        if packed.packing.orders is None:
            for slots in self.inside.values():
                yield from slots
            return
        needed = self.needed.setdefault(i, {})
        for chunk, bits in self.alive.items():
            needed[chunk] = needed.get(chunk, 0) | bits
        yield from self.inside.get(i, ())
        for one, other in unordered.get(packed.packing.op, ()):
            if i in (one, other):
                yield from self.inside.get(one + other - i, ())


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

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.changes = Undoable[tuple[Slot, SSAValue], bool]()
        self._by_storage: dict[SSAValue, _Contents] = {}
        self._slots: dict[SSAValue, dict[Slot, None]] = {}
        """The slots in which each value may lie."""

    def need_together(self, one: Slot, other: Slot) -> None:
        """Note that two slots of a storage are needed at once, by one op."""
        place, there = one.place, other.place
        if place is not None and there is not None and place.packed is there.packed:
            contents = self._by_storage.setdefault(one.storage, _Contents())
            slices = contents.slices.setdefault(place.packed, Slices())
            add_row(slices.needed.setdefault(place.slice, {}), there.slice)

    def unordered(self) -> Unordered:
        """Return the slices of ordered packs that are needed together and may share bytes."""
        found: Unordered = {}
        for contents in self._by_storage.values():
            for packed, slices in contents.slices.items():
                orders = packed.packing.orders
                pairs = [] if orders is None else orders.unordered(slices.needed)
                if pairs:
                    found[packed.packing.op] = set(pairs)
        return found

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
            if not slices.inside.setdefault(i, {}):
                add_row(slices.alive, i)
            slices.inside[i][slot] = None
            contents.where[slot] = None
            return
        if slot.static is not None:
            contents.count += 1
            key = (*slot.static, contents.count)
            for layer in contents.layers:
                if layer.has_room(key):
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
                remove_row(slices.alive, i)
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

    def in_storage(self, storage: SSAValue) -> list[tuple[Slot, SSAValue]]:
        """Return the slots of a storage, each with what may lie there."""
        contents = self._by_storage.get(storage)
        values = {} if contents is None else contents.values
        return [(slot, value) for slot, inside in values.items() for value in inside]

    def near(self, slot: Slot) -> list[tuple[Slot, Relation, SSAValue]]:
        """Return what may overlap `slot`, of the same storage."""
        contents = self._by_storage.get(slot.storage)
        if contents is None or slot.is_empty:
            return []
        found: list[tuple[Slot, Relation]] = []
        if slot.static is not None:
            key = (*slot.static, 0)
            for layer in contents.layers:
                found += [(other, Relation.SAME) for other in layer.near(key)]
            candidates = [*contents.unordered]
            for slices in contents.slices.values():
                candidates += [other for inside in slices.inside.values() for other in inside]
        elif slot.place is not None:
            candidates = [other for layer in contents.layers for other in layer.slots]
            candidates += contents.unordered
            for packed, slices in contents.slices.items():
                if packed is slot.place.packed:
                    candidates += slices.near(slot.place, self.slots.unordered)
                else:
                    candidates += [other for inside in slices.inside.values() for other in inside]
        else:
            candidates = [*contents.values]
        for other in candidates:
            relation = self.slots.relation(other, slot)
            if relation in OVERLAPPING:
                found.append((other, relation))
        return [
            (other, relation, value)
            for other, relation in found
            for value in list(contents.values[other])
        ]
