"""
The bytes of tensors in their storages, and proofs that they do not overlap.

    %t = memory.alloc_tensor %s[128] : tensor<4xf32>               [128, 144)
    %d = memory.alloc_tensor %s[%o] shape %dims : … tensor<?xf32>  [o, o + 4*n)

Bounds are polynomials (`analysis.sizes`); ranges of numbers are compared exactly. One of unknown
size is above another if its start is at least the other's end for all sizes: a maximum is at least
each of its operands, a sum at least each part if the others are at least 0, and a size rounded up
to a multiple at least the size. What cannot be shown that way is unknown, not false.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, Block, SSAValue

from ...dialects import memory
from ...dialects.tensors import as_tensor, element_size
from ...dialects.walking import walk
from ..analysis.polynomials import Polynomial
from ..analysis.sizes import Sizes
from ..support.walk import is_kernel
from .proofs import Proofs, conditions, resolved

MAX_CONDITIONS = 6
"""The maximum number of selections on which the order of two slots may depend."""

Bounds = tuple[Polynomial, Polynomial]


@dataclass(frozen=True, eq=False)
class Slot:
    """A half-open range of bytes, `[start, stop)`, of `storage`."""

    storage: SSAValue
    start: Polynomial
    stop: Polynomial
    static: tuple[int, int] | None
    """The bounds, if both are known."""
    is_whole: bool = False
    """True if it is the whole storage, whose size does not matter."""

    def __str__(self) -> str:
        return "of the whole storage" if self.is_whole else f"[{self.start}, {self.stop})"


@dataclass(eq=False)
class Slots:
    """The slots of the tensors of a body; tensors at the same bytes have the same slot."""

    sizes: Sizes = field(default_factory=Sizes)
    proofs: Proofs = field(default_factory=Proofs)
    _slots: dict[tuple[SSAValue, Polynomial, Polynomial], Slot] = field(
        default_factory=dict[tuple[SSAValue, Polynomial, Polynomial], Slot]
    )
    _of: dict[SSAValue, Slot] = field(default_factory=dict[SSAValue, Slot])
    _neighbours: dict[SSAValue, dict[Slot, list[Slot]] | None] = field(
        default_factory=dict[SSAValue, "dict[Slot, list[Slot]] | None"]
    )

    def read(self, body: Block) -> None:
        """Read the sizes in `body`, those of an op after those of its operands."""
        for op in walk(body, region_first=True, enters=lambda op: not is_kernel(op)):
            for result in op.results:
                if result.type == i64:
                    self.sizes.size(result)

    def natural_in(self, block: Block) -> Iterator[Polynomial]:
        """
        Yield the dims of the tensors that `block` itself allocates, none of which is negative.

        They are facts in all of the block: where one is negative, the block ends in an error.
        """
        for op in block.ops:
            if isinstance(op, memory.AllocTensorOp) and op.shape is not None:
                yield from self.sizes.dims(op.tensor)

    def of(self, tensor: SSAValue) -> Slot | None:
        """Return the slot of a tensor that `memory.alloc_tensor` defines, None of another value."""
        found = self._of.get(tensor)
        if found is None:
            op = tensor.owner
            if not isinstance(op, memory.AllocTensorOp):
                return None
            found = self._of[tensor] = self._slot(op)
        return found

    def _slot(self, op: memory.AllocTensorOp) -> Slot:
        if op.offset is not None:
            start = Polynomial.of(op.offset.value.data)
        else:
            assert op.dynamic_offset is not None, "verified: there is an offset"
            start = self.sizes.size(op.dynamic_offset)
        dims = self.sizes.dims(op.tensor)
        stop = start + prod(dims, start=Polynomial.of(bytes_of_element(op.tensor.type)))
        key = (op.storage, start, stop)
        found = self._slots.get(key)
        if found is None:
            bounds = start.constant, stop.constant
            static = None if None in bounds else (bounds[0] or 0, bounds[1] or 0)
            found = self._slots[key] = Slot(*key, static)
        return found

    def whole(self, storage: SSAValue) -> Slot:
        """Return the slot of all bytes of `storage`."""
        zero = Polynomial.of(0)
        key = (storage, zero, zero - 1)
        found = self._slots.get(key)
        if found is None:
            found = self._slots[key] = Slot(storage, zero, zero, None, is_whole=True)
        self._neighbours[storage] = None
        return found

    def are_apart(self, one: Slot, other: Slot) -> bool | None:
        """Test whether two slots of one storage do not overlap; None if it is not known."""
        if one.is_whole or other.is_whole:
            return False
        if one.static is not None and other.static is not None:
            (a, b), (c, d) = one.static, other.static
            return b <= c or d <= a or a == b or c == d
        if self._are_disjoint((one.start, one.stop), (other.start, other.stop)):
            return True
        return False if one.start == other.start else None

    def _are_disjoint(self, one: Bounds, other: Bounds, depth: int = 0) -> bool:
        """Test whether one range is above the other in each case of what is selected."""
        at_least = self.proofs.at_least
        if at_least(one[0], other[1]) or at_least(other[0], one[1]):
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

    def near(self, slot: Slot) -> list[Slot] | None:
        """Return the slots that overlap `slot`; None if its storage has slots of unknown bounds."""
        storage = slot.storage
        if storage not in self._neighbours:
            tensors = list(tensors_in(storage))
            known = all(has_known_bounds(tensor) for tensor in tensors)
            slots = [self.of(tensor) for tensor in tensors] if known else []
            distinct = dict.fromkeys(slot for slot in slots if slot is not None)
            self._neighbours[storage] = overlaps(list(distinct)) if known else None
        found = self._neighbours[storage]
        return None if found is None else found.get(slot, [])


def tensors_in(storage: SSAValue) -> Iterator[SSAValue]:
    """Yield the tensors that are allocated in `storage`."""
    for use in storage.uses:
        if isinstance(use.operation, memory.AllocTensorOp):
            yield use.operation.tensor


def has_known_bounds(tensor: SSAValue) -> bool:
    """Test whether a tensor of `memory.alloc_tensor` has a static offset and shape."""
    op = tensor.owner
    return isinstance(op, memory.AllocTensorOp) and op.offset is not None and op.shape is None


def overlaps(slots: list[Slot]) -> dict[Slot, list[Slot]]:
    """Return for each slot, of known bounds, those that it overlaps, itself included."""
    found: dict[Slot, list[Slot]] = {slot: [] for slot in slots}
    bounds = [(slot.static, slot) for slot in slots if slot.static is not None]
    open: list[tuple[int, Slot]] = []
    for (start, stop), slot in sorted(bounds, key=lambda entry: entry[0]):
        if start == stop:
            continue
        open = [entry for entry in open if entry[0] > start]
        for _, other in open:
            found[slot].append(other)
            found[other].append(slot)
        found[slot].append(slot)
        open.append((stop, slot))
    return found


def bytes_of_element(type: Attribute) -> int:
    """Return the size of an element of a tensor type."""
    tensor = as_tensor(type)
    assert tensor is not None, "verified: a tensor is allocated"
    return element_size(tensor.element_type)
