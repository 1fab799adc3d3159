"""
The bytes of tensors in their storages, and which of them are apart.

    %t = memory.alloc_tensor %s[128] : tensor<4xf32>               [128, 144) of %s
    %d = memory.alloc_tensor %s[%o] shape %dims : … tensor<?xf32>  [o, o + 4*n) of %s
    %w = memory.slice_storage %s[64] size 128 align 64             [64, 192) of %s
    %u = memory.alloc_tensor %w[32] : tensor<4xf32>                [96, 112) of %s

Bounds are expressions (`sizes.reader`); ranges of numbers are compared exactly. If a start is an
offset of a `memory.slice`, the slot lies in that slice, and two slots are apart if their slices
are: if one is above the other in the orders that the pack keeps, whatever the sizes are, or, of a
pack whose offsets are not chosen yet, if their lifetimes say that they must be. Other slots are
compared by what is known of their bounds (`operators.sizes.holds`). The rest is unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from xdsl.dialects.builtin import I64, IntegerAttr, IntegerType, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import memory
from ...dialects.tensors import as_tensor, element_size, static_size
from ...dialects.xdsl_extras.walking import walk
from ...operators.sizes.holds import at_least
from ...operators.sizes.size_expressions import Expr
from ..sizes.reader import PACK, Packed, Sizes
from ..support.walk import is_kernel
from .operations import ZERO, packed_of

Bound = int | Expr


class Relation(Enum):
    """The relation of a slot to another of the same storage."""

    BELOW = auto()
    ABOVE = auto()
    APART = auto()
    """Below or above, but not always the same."""
    SAME = auto()
    """They overlap if they are not empty."""
    UNKNOWN = auto()


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


class Room(NamedTuple):
    """The bytes of a storage: from `start` on in `root`, which may be another."""

    root: SSAValue
    start: Expr
    size: Expr | None
    """None if the caller knows it."""
    alignment: int | None


@dataclass(frozen=True, eq=False)
class Slot:
    """A half-open range of bytes, `[start, stop)`, of `storage`, which is not part of another."""

    storage: SSAValue
    start: Expr
    stop: Expr
    static: tuple[int, int] | None
    """The bounds, if both are known."""
    place: Place | None = None
    """The slice of a pack that it lies in."""
    is_whole: bool = False
    """True if it is the whole storage, whose size does not matter."""

    def __str__(self) -> str:
        if self.is_whole:
            return "of the whole storage"
        return f"[{self.start}, {self.stop})" if self.place is None else str(self.place)

    @property
    def is_computed(self) -> bool:
        """True if arithmetic computes the bounds, and not the offset of a slice."""
        symbols = (*self.start.symbols(), *self.stop.symbols())
        return self.static is None and not any(symbol.kind == PACK for symbol in symbols)

    @property
    def is_empty(self) -> bool:
        return self.static is not None and self.static[0] == self.static[1]


@dataclass(eq=False)
class Slots:
    """The slots of the tensors of a body; tensors at the same bytes have the same slot."""

    sizes: Sizes = field(default_factory=Sizes)
    _slots: dict[tuple[SSAValue, Bound, Bound], Slot] = field(
        default_factory=dict[tuple[SSAValue, "Bound", "Bound"], Slot]
    )
    """By storage, start and stop."""
    _of: dict[SSAValue, Slot] = field(default_factory=dict[SSAValue, Slot])
    _rooms: dict[SSAValue, Room] = field(default_factory=dict[SSAValue, Room])
    unordered: Unordered = field(default_factory=dict[memory.PackOp, "set[tuple[int, int]]"])

    assumes: bool = False
    """True if what is not known to overlap is taken to be apart, by one who claims that."""

    def read(self, body: Block, at_op: Callable[[Operation], None]) -> None:
        """Read the sizes in `body`, those of an op after those of its operands and `at_op`."""
        for op in walk(body, region_first=True, enters=lambda op: not is_kernel(op)):
            at_op(op)
            for result in op.results:
                if result.type.__class__ is IntegerType and result.type == i64:
                    self.sizes.size(result)

    # ------------------------------------------------------------------ places

    def room(self, storage: SSAValue) -> Room:
        """Return the bytes of `storage`."""
        found = self._rooms.get(storage)
        if found is not None:
            return found
        path: list[memory.SliceStorageOp] = []
        at = storage
        while at not in self._rooms and isinstance(at.owner, memory.SliceStorageOp):
            path.append(at.owner)
            at = at.owner.storage
        found = self._rooms.get(at) or self._root(at)
        self._rooms[at] = found
        for op in reversed(path):
            start = found.start + self._static_or(op.offset, op.dynamic_offset)
            size = self._static_or(op.size, op.dynamic_size)
            found = self._rooms[op.slice] = Room(found.root, start, size, op.alignment.value.data)
        return found

    def _root(self, storage: SSAValue) -> Room:
        op = storage.owner
        if not isinstance(op, memory.AllocStorageOp):
            return Room(storage, ZERO, None, None)
        size = self._static_or(op.size, op.dynamic_size)
        return Room(storage, ZERO, size, op.alignment.value.data)

    def _static_or(self, static: IntegerAttr[I64] | None, dynamic: SSAValue | None) -> Expr:
        if static is not None:
            return Expr.of(static.value.data)
        assert dynamic is not None, "verified: static or dynamic"
        return self.sizes.size(dynamic)

    def of(self, tensor: SSAValue) -> Slot | None:
        """Return the slot of a tensor that `memory.alloc_tensor` defines, None of another value."""
        found = self._of.get(tensor)
        if found is None:
            op = tensor.owner
            if not isinstance(op, memory.AllocTensorOp):
                return None
            storage, offset = op.start
            room = self.room(storage)
            start = Expr.of(offset) if isinstance(offset, int) else self.sizes.size(offset)
            if room.start != ZERO:
                start = room.start + start
            found = self._of[tensor] = self.slot(room.root, start, self._size(op))
        return found

    def _size(self, op: memory.AllocTensorOp) -> Expr:
        type = as_tensor(op.results[0].type)
        assert type is not None, "verified: a tensor is allocated"
        size = static_size(type)
        if size is not None:
            return Expr.of(size)
        width = Expr.of(element_size(type.element_type))
        return self.sizes.algebra.product([width, *self.sizes.dims(op.tensor)])

    def all_of(self, storage: SSAValue) -> Slot:
        """Return the slot of all bytes of `storage`."""
        room = self.room(storage)
        if room.size is None or storage is room.root:
            return self._whole(room.root)
        return self.slot(room.root, room.start, room.size)

    def slot(self, root: SSAValue, start: Expr, size: Expr) -> Slot:
        first, length = start.constant, size.constant
        if first is None or length is None:
            key, static = (root, start, start + size), None
        else:  # numbers are found faster
            static = first, first + length
            key = root, *static
        found = self._slots.get(key)
        if found is None:
            place = None if static else place_of(start, size)
            found = self._slots[key] = Slot(root, start, start + size, static, place)
        return found

    def _whole(self, root: SSAValue) -> Slot:
        key = (root, ZERO, ZERO - 1)
        found = self._slots.get(key)
        if found is None:
            found = self._slots[key] = Slot(root, ZERO, ZERO, None, None, True)
        return found

    # --------------------------------------------------------------- relations

    def relation(self, one: Slot, other: Slot) -> Relation:
        """Return the relation of `one` to `other`, a slot of the same storage."""
        relation = self._relation(one, other)
        return Relation.APART if self.assumes and relation is Relation.UNKNOWN else relation

    def _relation(self, one: Slot, other: Slot) -> Relation:
        if one.is_whole or other.is_whole or one is other:
            return Relation.SAME
        if one.static is not None and other.static is not None:
            (a, b), (c, d) = one.static, other.static
            if b <= c:
                return Relation.BELOW
            if d <= a:
                return Relation.ABOVE
            return Relation.APART if a == b or c == d else Relation.SAME
        a, b = one.place, other.place
        if a is not None and b is not None and a.packed is b.packed and a.slice != b.slice:
            return Relation.APART if self.are_apart(a, b) else Relation.UNKNOWN
        if at_least(other.start, one.stop):
            return Relation.BELOW
        if at_least(one.start, other.stop):
            return Relation.ABOVE
        return Relation.SAME if one.start == other.start else Relation.UNKNOWN

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
        """Test whether it is known that a slot ends within a storage of known size."""
        assert room.size is not None
        stop = room.start + room.size
        if slot.static is not None and stop.constant is not None:
            return slot.static[1] <= stop.constant
        if slot.place is not None and not room.start.terms:
            total = slot.place.total
            return total is not None and at_least(room.size, total)
        return at_least(stop, slot.stop)


def place_of(start: Expr, size: Expr) -> Place | None:
    """Return the slice of a pack that `size` bytes from `start` lie in."""
    for monomial, factor in start.terms:
        place = packed_of(monomial[0]) if len(monomial) == 1 and factor == 1 else None
        if place is None:
            continue
        packed, i = place
        within = start - packed.values[i]
        if at_least(within, ZERO) and at_least(packed.size_of(i), within + size):
            return Place(packed, i)
    return None


def bytes_of_element(type: Attribute) -> int:
    """Return the size of an element of a tensor type."""
    tensor = as_tensor(type)
    assert tensor is not None, "verified: a tensor is allocated"
    return element_size(tensor.element_type)
