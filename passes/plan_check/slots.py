"""
The bytes of tensors in their storages, and proofs that they do not overlap.

    %t = memory.alloc_tensor %s[128] : tensor<4xf32>               [128, 144) of %s
    %d = memory.alloc_tensor %s[%o] shape %dims : … tensor<?xf32>  [o, o + 4*n) of %s
    %w = memory.slice_storage %s[64] size 128 align 64             [64, 192) of %s
    %u = memory.alloc_tensor %w[32] : tensor<4xf32>                [96, 112) of %s

Bounds are expressions (`sizes.reader`); ranges of numbers are compared exactly. One of unknown
size is above another if its start is at least the other's end for all sizes (`proofs`), or in each
case if an order is selected. What cannot be shown is unknown, not false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from xdsl.dialects.builtin import I64, IntegerAttr, IntegerType, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import memory
from ...dialects.tensors import as_tensor, element_size, has_dynamic, static_size
from ...dialects.xdsl_extras.walking import walk
from ...operators.sizes import SizeOp
from ...operators.sizes.size_expressions import Expr
from ...operators.sizes.size_table import SELECT
from ..sizes.reader import PACK, Packed, Sizes
from ..support.walk import is_kernel
from .operations import ZERO, Case, cases_of, conditions, in_case, packed_of, resolved
from .proofs import Proofs

MAX_CONDITIONS = 6
"""The maximum number of selections on which the order of two slots may depend."""

Bounds = tuple[Expr, Expr]

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
    is_whole: bool = False
    """True if it is the whole storage, whose size does not matter."""

    def __str__(self) -> str:
        return "of the whole storage" if self.is_whole else f"[{self.start}, {self.stop})"

    @property
    def is_empty(self) -> bool:
        return self.static is not None and self.static[0] == self.static[1]


@dataclass(eq=False)
class Slots:
    """The slots of the tensors of a body; tensors at the same bytes have the same slot."""

    sizes: Sizes = field(default_factory=Sizes)
    proofs: Proofs = field(default_factory=Proofs)
    _slots: dict[tuple[SSAValue, Bound, Bound], Slot] = field(
        default_factory=dict[tuple[SSAValue, "Bound", "Bound"], Slot]
    )
    """By storage, start and stop."""
    _of: dict[SSAValue, Slot] = field(default_factory=dict[SSAValue, Slot])
    _rooms: dict[SSAValue, Room] = field(default_factory=dict[SSAValue, Room])

    _fitting: dict[SSAValue, list[tuple[Case, set[Expr]]]] = field(
        default_factory=dict[SSAValue, "list[tuple[Case, set[Expr]]]"]
    )
    """Sizes that are at most that of a storage in each case, among them ends of slots."""

    _natural: dict[Block, list[Expr]] = field(default_factory=dict[Block, "list[Expr]"])

    def read(self, body: Block, at_op: Callable[[Operation], None]) -> None:
        """
        Read the sizes in `body`, those of an op after those of its operands and `at_op`.

        The dims of the tensors that a block itself allocates are natural in all of the block: where
        one is negative, the block ends in an error.
        """
        for op in walk(body, region_first=True, enters=lambda op: not is_kernel(op)):
            at_op(op)
            if type(op) is memory.AllocTensorOp:
                if has_dynamic(op.results[0].type) and op.parent is not None:
                    self._natural.setdefault(op.parent, []).extend(self.sizes.dims(op.results[0]))
                continue
            for result in op.results:
                if result.type.__class__ is IntegerType and result.type == i64:
                    self.sizes.size(result)

    def natural_in(self, block: Block) -> Sequence[Expr]:
        """Return dims that are not negative in `block`."""
        return self._natural.get(block, ())

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
            found = self._slots[key] = Slot(root, start, start + size, static)
        return found

    def _whole(self, root: SSAValue) -> Slot:
        key = (root, ZERO, ZERO - 1)
        found = self._slots.get(key)
        if found is None:
            found = self._slots[key] = Slot(root, ZERO, ZERO, None, is_whole=True)
        return found

    def enter_storage(self, storage: SSAValue) -> None:
        """Find the slots of a storage that lie on each other up to its size, if it is not known."""
        room = self.room(storage)
        size = room.size
        found = [self.of(tensor) for tensor in tensors_in(storage)]
        slots = [slot for slot in found if slot is not None and slot.static is None]
        if size is None or not slots:
            return
        limit = 1000 + 50 * len(slots)
        self._fitting[storage] = []
        for case in cases_of(size):
            for slot in slots:
                start, stop = in_case(slot.start, case), in_case(slot.stop, case)
                ends = self._ends_of_slice(start, stop, room.alignment or 1)
                self.proofs.add_span(start, stop, ends)
            below = self.proofs.all_below(in_case(size, case), limit)
            self._fitting[storage].append((case, below))

    def _ends_of_slice(self, start: Expr, stop: Expr, unit: int) -> Sequence[Expr]:
        """
        Return ends that a slice of a slot may have: a negative size counts as 0, and the end may be
        rounded up to a multiple of `unit`.
        """
        binary = self.sizes.algebra.binary
        end = binary(SizeOp.ADD, start, binary(SizeOp.MAX, stop - start, ZERO))
        units = binary(SizeOp.FLOORDIV, end + (unit - 1), Expr.of(unit))
        return end, binary(SizeOp.MUL, units, Expr.of(unit))

    # --------------------------------------------------------------- relations

    def is_ordered(self, slot: Slot) -> bool:
        """Test whether the order of `slot` and others is the same for all sizes."""
        if slot.static is not None:
            return True
        symbols = (*slot.start.symbols(), *slot.stop.symbols())
        is_fixed = all(symbol.kind not in (SELECT, PACK) for symbol in symbols)
        return is_fixed and self.proofs.at_least(slot.stop, slot.start)

    def relation(self, one: Slot, other: Slot) -> Relation:
        """Return the relation of `one` to `other`, a slot of the same storage."""
        if one.is_whole or other.is_whole:
            return Relation.SAME
        if one.static is not None and other.static is not None:
            (a, b), (c, d) = one.static, other.static
            if b <= c:
                return Relation.BELOW
            if d <= a:
                return Relation.ABOVE
            return Relation.APART if a == b or c == d else Relation.SAME
        at_least = self.proofs.at_least
        if at_least(other.start, one.stop):
            return Relation.BELOW
        if at_least(one.start, other.stop):
            return Relation.ABOVE
        if self._are_disjoint((one.start, one.stop), (other.start, other.stop)):
            return Relation.APART
        return Relation.SAME if one.start == other.start else Relation.UNKNOWN

    def _are_disjoint(self, one: Bounds, other: Bounds, depth: int = 0) -> bool:
        """Test whether one range is above the other in each case of what is selected."""
        at_least = self.proofs.at_least
        if depth and (at_least(one[0], other[1]) or at_least(other[0], one[1])):
            return True
        if self._are_packed_apart(one, other):
            return True
        found = [condition for bound in (*one, *other) for condition in conditions(bound)]
        if not found or depth == MAX_CONDITIONS:
            return False
        return all(
            self._are_disjoint(
                (resolved(one[0], found[0], holds), resolved(one[1], found[0], holds)),
                (resolved(other[0], found[0], holds), resolved(other[1], found[0], holds)),
                depth + 1,
            )
            for holds in (True, False)
        )

    def _are_packed_apart(self, one: Bounds, other: Bounds) -> bool:
        """Test whether two ranges are in slices of a `memory.pack` that are alive together."""
        first, second = self._slice_around(one), self._slice_around(other)
        if first is None or second is None or first[0] is not second[0]:
            return False
        a, b = (packed.slices[i] for packed, i in (first, second))
        arms = dict(a.arms)
        excluded = any(arms.get(branch, arm) != arm for branch, arm in b.arms)
        return a is not b and a.start < b.stop and b.start < a.stop and not excluded

    def _slice_around(self, bounds: Bounds) -> tuple[Packed, int] | None:
        """Return the slice of a `memory.pack` that a range lies in."""
        at_least = self.proofs.at_least
        for symbol in bounds[0].symbols():
            packed, number = packed_of(symbol) or (None, 0)
            if packed is None or not number:
                continue
            start, stop = packed.values[number], packed.end(number - 1)
            if at_least(bounds[0], start) and at_least(stop, bounds[1]):
                return packed, number - 1
        return None

    def lies_in(self, slot: Slot, room: Room) -> bool:
        """Test whether a slot can be shown to end within a storage of known size."""
        assert room.size is not None
        stop = room.start + room.size
        if slot.static is not None and stop.constant is not None:
            return slot.static[1] <= stop.constant
        cases = None if room.start.terms else self._fitting.get(room.root)
        if cases and all(in_case(slot.stop, case) in below for case, below in cases):
            return True
        return self.proofs.at_least(stop, slot.stop)


def tensors_in(storage: SSAValue) -> Iterator[SSAValue]:
    """Yield the tensors that are allocated in `storage` and in slices of it."""
    pending = [storage]
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if isinstance(op, memory.AllocTensorOp):
                yield op.results[0]
            elif isinstance(op, memory.SliceStorageOp):
                pending.append(op.slice)


def bytes_of_element(type: Attribute) -> int:
    """Return the size of an element of a tensor type."""
    tensor = as_tensor(type)
    assert tensor is not None, "verified: a tensor is allocated"
    return element_size(tensor.element_type)
