"""
The bytes of tensors in their storages, and which of them are apart.

    %t = memory.alloc_tensor %s[128] : tensor<4xf32>               [128, 144) of %s
    %d = memory.alloc_tensor %s[%o] shape %dims : … tensor<?xf32>  [o, o + 4*n) of %s

Ranges of numbers are compared exactly. If a start is an offset of a `memory.slice`, the slot lies
in that slice, and two slots are apart if their slices are: if one is above the other in the orders
that the pack keeps, or, of a pack whose offsets are not chosen yet, if their lifetimes say that
they must be. Other slots are compared by what is known of their bounds (`operators.sizes.holds`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.ir import Block, SSAValue

from ...dialects import memory
from ...dialects.xdsl_extras.xdsl_internals import operands_of
from ...operators.sizes.holds import at_least
from ...operators.sizes.size_expressions import Expr, Symbol
from ..bytes.op_facts import facts_of
from ..bytes.rooms import Room, Rooms
from ..sizes.reader import PACK, Packed, Sizes

ZERO = Expr.of(0)


class Place(NamedTuple):
    """A slice of a `memory.pack`."""

    packed: Packed
    slice: int

    def __str__(self) -> str:
        name = self.packed.packing.slices[self.slice].offset.name_hint
        return f"of slice {self.slice}" + ("" if name is None else f" (%{name})")

    @property
    def total(self) -> Expr | None:
        """The total of the pool of the slice; None if it is not computed."""
        rows = self.packed.packing.rows
        return self.packed.totals.get(rows[self.slice].pool if rows else 0)


Unordered = dict[memory.PackOp, set[tuple[int, int]]]
"""The slices of each ordered pack that are needed together, none above the other."""


@dataclass(eq=False, slots=True)
class Slot:
    """A half-open range of bytes, `[start, stop)`, of `storage`, which is not part of another."""

    storage: SSAValue
    start: Expr
    size: Expr
    number: int
    static: tuple[int, int] | None
    """The bounds, if both are known."""
    place: Place | None = None
    """The slice of a pack that it lies in."""
    is_whole: bool = False
    """True if it is the whole storage, whose size does not matter."""

    @property
    def stop(self) -> Expr:
        return self.start + self.size

    def __str__(self) -> str:
        if self.is_whole:
            return "of the whole storage"
        return f"[{self.start}, {self.stop})" if self.place is None else str(self.place)

    @property
    def is_computed(self) -> bool:
        """True if arithmetic computes the bounds, and not the offset of a slice."""
        symbols = (*self.start.symbols(), *self.size.symbols())
        return self.static is None and not any(symbol.kind == PACK for symbol in symbols)

    @property
    def is_empty(self) -> bool:
        return self.static is not None and self.static[0] == self.static[1]


@dataclass(eq=False)
class Slots:
    """The slots of the tensors of a body; tensors at the same bytes have the same slot."""

    rooms: Rooms = field(default_factory=lambda: Rooms(Sizes(stops=True)))
    _slots: dict[tuple[int, Expr | None, Expr | None], Slot] = field(default_factory=lambda: {})
    """By storage (its identity), start and size; of a whole storage, without them."""
    _of: dict[int, Slot] = field(default_factory=lambda: {})
    """By the identity of the tensor: xDSL's hash is slow."""
    _at: dict[tuple[int, ...], Slot] = field(default_factory=lambda: {})
    """By the identities of what `memory.alloc_tensor` says."""
    unordered: Unordered = field(default_factory=lambda: {})
    assumes: bool = False
    """True if what is not known to overlap is taken to be apart, by one who claims that."""

    # ------------------------------------------------------------------ places

    def of(self, value: SSAValue) -> Slot | None:
        """Return the slot of a tensor or a slice of a storage, None of another value."""
        slot = self._of.get(id(value))
        if slot is not None:
            return slot
        op = value.owner
        if isinstance(op, Block):
            return None
        if facts_of(op).cuts:
            slot = self.all_of(value)
        elif isinstance(op, memory.PlacedOp):
            key = (*map(id, operands_of(op)), id(op.properties.get("offset")), id(value.type))
            slot = self._at.get(key)
            if slot is None:
                slot = self._at[key] = self.slot(*self.rooms.of_tensor(op))
        else:
            return None
        self._of[id(value)] = slot
        return slot

    def all_of(self, storage: SSAValue) -> Slot:
        """Return the slot of all bytes of `storage`."""
        room = self.rooms.of_storage(storage)
        if room.size is None or storage is room.root:
            whole = Slot(room.root, ZERO, ZERO, len(self._slots), None, None, True)
            return self._slots.setdefault((id(room.root), None, None), whole)
        return self.slot(room.root, room.start, room.size)

    def slot(self, root: SSAValue, start: Expr, size: Expr) -> Slot:
        """Return the slot of `size` bytes from `start` on in `root`."""
        key = id(root), start, size
        slot = self._slots.get(key)
        if slot is None:
            first, length = start.constant, size.constant
            static = None if first is None or length is None else (first, first + length)
            place = None if static else place_of(start, size)
            slot = Slot(root, start, size, len(self._slots), static, place)
            self._slots[key] = slot
        return slot

    def start_of(self, slot: Slot) -> Expr:
        """Return the start of a slot; in a slice beside others, by that of the first of them."""
        start, place = slot.start, slot.place
        if place is None or not place.packed.packing.rows:
            return start
        packed, at = place
        start -= packed.values[at]
        while (below := packed.packing.rows[at]).below:
            at = below.below[0]
            start += packed.size_of(at) if below.beside is not None else ZERO
        return start + packed.values[at]

    # --------------------------------------------------------------- relations

    def overlap(self, one: Slot, other: Slot) -> bool | None:
        """Test whether two slots of one storage share bytes, if they have any; None if unknown."""
        if one.is_whole or other.is_whole or one is other:
            return True
        if one.static is not None and other.static is not None:
            (a, b), (c, d) = one.static, other.static
            return max(a, c) < min(b, d)
        place, there = one.place, other.place
        is_same = one.start == other.start
        if place and there and place.packed is there.packed and place.slice != there.slice:
            is_apart, is_same = self.are_apart(place, there), False
        else:
            is_apart = at_least(other.start, one.stop) or at_least(one.start, other.stop)
        if is_apart or (self.assumes and not is_same):
            return False
        return True if is_same else None

    def are_apart(self, one: Place, other: Place) -> bool:
        """
        Test whether two slices of a pack never share a byte, whatever the sizes are.

        Of an ordered pack, all do not that are not known to: what is needed together is noted
        (`held`) and looked up in the orders at once. Of one that is not laid out yet, lifetimes say
        which slices must not.
        """
        packing, i, j = one.packed.packing, one.slice, other.slice
        if packing.orders is not None:
            return (min(i, j), max(i, j)) not in self.unordered.get(packing.op, ())
        if packing.rows and packing.rows[i].pool != packing.rows[j].pool:
            return True
        return packing.slices[i].life.meets(packing.slices[j].life)

    @staticmethod
    def lies_in(slot: Slot, room: Room) -> bool:
        """Test whether it is known that a slot ends within a storage whose size is known here."""
        if room.size is None:
            return True
        stop = room.start + room.size
        if slot.static is not None and stop.constant is not None:
            return slot.static[1] <= stop.constant
        if slot.place is not None and not room.start.terms:
            total = slot.place.total
            return total is not None and at_least(room.size, total)
        return at_least(stop, slot.stop)


def packed_of(symbol: Symbol) -> Place | None:
    """Return the slice of a pack whose offset `symbol` is."""
    if symbol.kind != PACK:
        return None
    number, packed = symbol.args[:2]
    assert isinstance(number, int)
    assert isinstance(packed, Packed)
    return Place(packed, number - 1) if number > 0 else None


def place_of(start: Expr, size: Expr) -> Place | None:
    """Return the slice of a pack that `size` bytes from `start` lie in."""
    for monomial, factor in start.terms:
        place = packed_of(monomial[0]) if len(monomial) == 1 and factor == 1 else None
        if place is None:
            continue
        within = start - place.packed.values[place.slice] if len(start.terms) > 1 else ZERO
        if at_least(within, ZERO) and at_least(place.packed.size_of(place.slice), within + size):
            return place
    return None
