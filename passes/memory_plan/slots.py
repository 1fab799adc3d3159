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
from math import gcd, prod

from xdsl.ir import Attribute, SSAValue

from ...dialects import memory
from ...dialects.tensors import as_tensor, element_size
from ...operators.sizes import SizeOp
from ..analysis.polynomials import Monomial, Polynomial, Symbol
from ..analysis.sizes import Sizes

MAX_STEPS = 2000
"""The maximum number of inequalities that a proof tries."""

MAX_DEPTH = 100
"""The maximum number of substitutions in a row, and of operations in each other."""

MAX_TERMS = 64
"""The maximum number of terms of an inequality."""

ZERO = Polynomial.of(0)


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


def args_of(symbol: Symbol) -> list[Polynomial]:
    """Return the operands of the operation on sizes that `symbol` is."""
    return [arg for arg in symbol.args if isinstance(arg, Polynomial)]


def without(monomial: Monomial, symbol: Symbol) -> Monomial:
    """Return `monomial` without one factor `symbol`, which it has."""
    at = monomial.index(symbol)
    return monomial[:at] + monomial[at + 1 :]


def substituted(size: Polynomial, symbol: Symbol, value: Polynomial) -> Polynomial:
    """Return `size` with `value` in place of one factor `symbol` of each term that has it."""
    found = ZERO
    for monomial, coefficient in size.terms:
        if symbol not in monomial:
            found += Polynomial(((monomial, coefficient),))
            continue
        found += Polynomial(((without(monomial, symbol), coefficient),)) * value
    return found


@dataclass
class Proofs:
    """Proofs of inequalities of sizes, for all values of their symbols."""

    natural: set[Symbol] = field(default_factory=set[Symbol])
    """Symbols that are at least 0, such as dims, besides those that say so themselves."""
    _multiples: dict[tuple[Symbol, int], bool] = field(
        default_factory=dict[tuple[Symbol, int], bool]
    )

    def at_least(self, left: Polynomial, right: Polynomial) -> bool:
        """Test whether `left >= right` can be shown."""
        return self._not_negative(left - right, {}, 0)

    def _is_natural(self, symbols: Iterable[Symbol]) -> bool:
        return all(symbol.natural or symbol in self.natural for symbol in symbols)

    def _not_negative(self, size: Polynomial, tried: dict[Polynomial, bool], depth: int) -> bool:
        if all(c > 0 and self._is_natural(monomial) for monomial, c in size.terms):
            return True
        spent = len(tried) >= MAX_STEPS or depth >= MAX_DEPTH or len(size.terms) > MAX_TERMS
        if spent or size in tried:
            return tried.get(size, False)
        tried[size] = False
        found = any(
            all(self._not_negative(case, tried, depth + 1) for case in cases)
            for cases in self._reductions(size)
        )
        tried[size] = found
        return found

    def _reductions(self, size: Polynomial) -> Iterator[list[Polynomial]]:
        """Yield lists of sizes: if those of one list are at least 0, so is `size`."""
        later: list[list[Polynomial]] = []
        for symbol in size.symbols():
            args = args_of(symbol)
            signs = {c > 0 for monomial, c in size.terms if symbol in monomial}
            factors = {
                factor
                for monomial, _ in size.terms
                if symbol in monomial
                for factor in without(monomial, symbol)
            }
            if len(args) != 2 or len(signs) > 1 or not self._is_natural(factors):
                continue
            positive = signs.pop()
            cases = [substituted(size, symbol, arg) for arg in args]
            if symbol.kind == SizeOp.ADD:
                yield [substituted(size, symbol, args[0] + args[1])]
            elif symbol.kind == (SizeOp.MAX if positive else SizeOp.MIN):
                yield from ([case] for case in cases)
            elif symbol.kind in (SizeOp.MAX, SizeOp.MIN, SizeOp.BROADCAST):
                later.append(cases)  # whichever of its operands it is
            elif symbol.kind == SizeOp.FLOORDIV:
                yield from self._quotient(size, symbol, positive)
        yield from later

    def _quotient(
        self, size: Polynomial, symbol: Symbol, positive: bool
    ) -> Iterator[list[Polynomial]]:
        """Bound `q = a / d`, rounded down: `a - d + 1 <= d * q <= a`."""
        a, divisor = args_of(symbol)
        d = divisor.constant
        coefficient = dict(size.terms).get((symbol,), 0)
        alone = sum(symbol in monomial for monomial, _ in size.terms) == 1
        if d is None or d <= 0 or not alone or not coefficient or coefficient % d:
            return
        rest = size - Polynomial((((symbol,), coefficient),))
        yield [rest + (a - (d - 1) if positive else a) * (coefficient // d)]

    def is_multiple(self, size: Polynomial, of: int, depth: int = 0) -> bool:
        """Test whether `size` is a multiple of `of` for all values of its symbols."""
        for monomial, coefficient in size.terms:
            need = of // gcd(of, coefficient)
            if need != 1 and not any(self._symbol_is_multiple(s, need, depth) for s in monomial):
                return False
        return True

    def _symbol_is_multiple(self, symbol: Symbol, of: int, depth: int) -> bool:
        """Test it of a maximum, minimum or sum: it is one if its operands are."""
        kinds = (SizeOp.MAX, SizeOp.MIN, SizeOp.ADD, SizeOp.BROADCAST)
        if symbol.kind not in kinds or depth >= MAX_DEPTH:
            return False
        found = self._multiples.get((symbol, of))
        if found is None:
            found = all(self.is_multiple(arg, of, depth + 1) for arg in args_of(symbol))
            self._multiples[symbol, of] = found
        return found


@dataclass(eq=False)
class Slots:
    """The slots of the tensors of a body; tensors at the same bytes have the same slot."""

    sizes: Sizes = field(default_factory=Sizes)
    proofs: Proofs = field(default_factory=Proofs)
    _slots: dict[tuple[SSAValue, Polynomial, Polynomial], Slot] = field(
        default_factory=dict[tuple[SSAValue, Polynomial, Polynomial], Slot]
    )
    _of: dict[SSAValue, Slot] = field(default_factory=dict[SSAValue, Slot])
    _apart: dict[tuple[Slot, Slot], bool | None] = field(
        default_factory=dict[tuple[Slot, Slot], "bool | None"]
    )
    _neighbours: dict[SSAValue, dict[Slot, list[Slot]] | None] = field(
        default_factory=dict[SSAValue, "dict[Slot, list[Slot]] | None"]
    )

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
        for dim in dims:
            if dim.symbol is not None:
                self.proofs.natural.add(dim.symbol)  # no tensor has a negative dim
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
        key = (one, other)
        if key not in self._apart:
            self._apart[key] = self._compared(one, other)
        return self._apart[key]

    def _compared(self, one: Slot, other: Slot) -> bool | None:
        at_least = self.proofs.at_least
        if at_least(one.start, other.stop) or at_least(other.start, one.stop):
            return True
        return False if one.start == other.start else None

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
