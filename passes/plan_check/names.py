"""
The values of a body, and which of them name bytes of which.

    %v = vm.reshape_tensor %y                   %v names bytes of %y
    %y = vm.invoke_tvm_op … outs(%t)            %y is %t
    %r = func.call @f(%a, %b)                   %r names bytes of what @f may return of %a, %b
    relay.ref_write %c, %a                      %c, and all that %c may be, names bytes of %a
    %r, %q = relay.if %c { yield %a, %b } else { yield %b, %a }
                                                %r and %q share bytes only if %a and %b do

Two values share bytes if on some path both name the same one. The later of the two is replaced by
each value that it names, until both are the same; two results of one choice are replaced together,
by what one region yields. So each pair of values is examined at most once, however many paths lead
to it. An op of unknown effects may return any operand; so may a function outside the module.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from xdsl.ir import SSAValue
from xdsl.traits import MemoryEffectKind, get_effects

from ...dialects import memory
from ...runtime.program.components import reached
from ..bytes.numbered import Numbered, Row
from ..bytes.op_facts import is_storage, may_hold_cells

K = TypeVar("K", bound=Hashable)

Arms = list[int | None]
"""The arms of a choice that yield a value for a result; None if it is named on all paths."""


@dataclass(eq=False)
class Names(Generic[K]):
    """The values met so far, and which of them name bytes of which."""

    above: dict[K, dict[K, Arms]] = field(default_factory=lambda: {})
    """The values that each names."""
    down: dict[K, dict[K, None]] = field(default_factory=lambda: {})
    _ranks: dict[K, int] = field(default_factory=lambda: {})
    """The values that name another one or are named, in the order in which they were met."""
    _choices: dict[K, Hashable] = field(default_factory=lambda: {})
    """The choice that each is a result of."""
    _cells: set[K] = field(default_factory=lambda: set())
    """The values that name a later one, as a cell does that is written."""
    _apart: set[tuple[K, K]] = field(default_factory=lambda: set())
    """Pairs that share no bytes, as far as is known of the values they name; the later first."""
    _examined: int = 0
    """The number of values when a pair was last examined."""

    def add(self, name: K, source: K, arm: int | None = None) -> None:
        """Note that `name` names bytes of `source`, on paths through `arm`."""
        arms = self.above.setdefault(name, {}).setdefault(source, [])
        if arm in arms:
            return
        arms.append(arm)
        self.down.setdefault(source, {})[name] = None
        named, naming = self._rank(source), self._rank(name)
        if named > naming:
            self._cells.add(name)
        if naming < self._examined:
            self._apart.clear()

    def add_choice(self, choice: Hashable, yields: Sequence[Sequence[tuple[K, K]]]) -> None:
        """Note for each arm the results of `choice`, each with what the arm yields for it."""
        for _, value in (pair for pairs in yields for pair in pairs):
            self._rank(value)  # before the results, which are later
        for arm, pairs in enumerate(yields):
            for result, value in pairs:
                self._choices[result] = choice
                self.add(result, value, arm)

    def naming(self, value: K) -> list[K]:
        """Return all values that may name the contents of `value`, itself first."""
        return list(reached((value,), self.down)) if value in self.down else [value]

    def sharing(self, value: K) -> list[K]:
        """Return all values that on some path name the same bytes as `value`, in order."""
        if value not in self._ranks:
            return [value]
        named = reached((value,), self.above)
        ordered = sorted(reached(named, self.down), key=self._ranks.__getitem__)
        if self._choices.keys().isdisjoint(ordered):
            return ordered  # each path to them is taken
        return [other for other in ordered if other in named or self.share(value, other)]

    def share(self, value: K, other: K) -> bool:
        """Test whether two values name a common byte on some path."""
        self._examined = len(self._ranks)
        start = self._pair(value, other)
        if start in self._apart:
            return False
        met, pending = {start}, [start]
        while pending:
            later, earlier = pending.pop()
            if later == earlier:
                return True
            for pair in self._replaced(later, earlier):
                if pair not in met and pair not in self._apart:
                    met.add(pair)
                    pending.append(pair)
        self._apart |= met
        return False

    def _rank(self, value: K) -> int:
        return self._ranks.setdefault(value, len(self._ranks))

    def _pair(self, one: K, other: K) -> tuple[K, K]:
        return (one, other) if self._rank(one) > self._rank(other) else (other, one)

    def _replaced(self, later: K, earlier: K) -> Iterator[tuple[K, K]]:
        """Yield pairs of which one shares bytes if `later` and `earlier` do."""
        choice = self._choices.get(later)
        is_one = choice is not None and choice == self._choices.get(earlier)
        for source, arms in self.above.get(later, {}).items():
            for arm in arms:
                if is_one and arm is not None:
                    for other, same in self.above[earlier].items():
                        if arm in same:
                            yield self._pair(source, other)
                else:
                    yield self._pair(source, earlier)
        if later in self._cells or earlier in self._cells or later not in self.above:
            for source in self.above.get(earlier, ()):
                yield self._pair(source, later)


class Returned(NamedTuple):
    """The results of a function, and what they may name."""

    params: tuple[frozenset[int], ...]
    """The parameters, by index, that each result may name, or in which it may lie."""
    shared: bool
    """True if two results may name the same bytes."""


Summaries = Mapping[str, Returned]


class BodyNames(Names[int]):
    """The names in a body as its ops declare them, by the numbers of its values."""

    def __init__(self, body: Numbered, returned: Summaries, with_storages: bool = False) -> None:
        super().__init__()
        self.body = body
        self.returned = returned
        self.with_storages = with_storages
        """True if storages are followed, too."""
        self.n_stored = 0
        """The number of names that were written into cells."""

    def has_bytes(self, number: int) -> bool:
        """Test whether a value may name bytes that have a lifetime; a constant has none."""
        is_lent = self.with_storages and is_storage(self.body.values[number])
        return is_lent or self.body.may_have_bytes[number]

    def enter(self, row: Row) -> None:
        """Read what the arguments of the arms of a choice name."""
        assert row.facts.chooses is not None
        self._add_all(self._numbered(row.facts.chooses.entering(row.op)))

    def leave(self, row: Row) -> None:
        """Read what the results of a choice name, after its arms."""
        self.add_choice(
            row.at,
            [
                [
                    (result, value)
                    for result, value in zip(row.results, arm.rows[-1].uses, strict=False)
                    if self.has_bytes(result) and self.has_bytes(value)
                ]
                for arm in row.arms
                if arm.rows
            ],
        )

    def read(self, row: Row) -> None:
        """Read what an op names that chooses no region."""
        self._add_all(self._sources(row))
        for cell, value in self._stores(row):
            if not self.has_bytes(value):
                continue
            named, holders = reached((cell,), self.above), self._holders
            for name in [name for name in named if name in holders]:
                if value not in self.above.get(name, ()):
                    self.add(name, value)
                    self.n_stored += 1

    @cached_property
    def _holders(self) -> frozenset[int]:
        """The values that may hold cells: a data structure may name many others."""
        values = enumerate(self.body.values)
        return frozenset(n for n, v in values if may_hold_cells(v.type) and self.has_bytes(n))

    def _add_all(self, pairs: Iterable[tuple[int, int]]) -> None:
        for name, source in pairs:
            if name != source and self.has_bytes(name) and self.has_bytes(source):
                self.add(name, source)

    def _numbered(self, pairs: Iterable[tuple[SSAValue, SSAValue]]) -> Iterator[tuple[int, int]]:
        number = self.body.number
        return ((number(name), number(source)) for name, source in pairs)

    def _sources(self, row: Row) -> Iterator[tuple[int, int]]:
        """Yield the results of an op, each with a value that it may name."""
        op, facts, operands = row.op, row.facts, row.operands
        if facts.calls is not None:
            returned = self.returned.get(facts.calls.callee(op))
            for i, result in enumerate(row.results):
                for j, operand in enumerate(operands):
                    if returned is None or j in returned.params[i]:
                        yield result, operand
                if returned is None or returned.shared:
                    yield from ((result, other) for other in row.results[:i])
            return
        if facts.links and facts.aliasing is not None:
            yield from self._numbered(facts.aliasing.aliases(op))
        if self.with_storages and type(op) is memory.AllocTensorOp:
            yield row.results[0], operands[0]
        captured = row.uses[len(operands) :] if op.regions else ()
        named = row.uses if facts.unknown else captured
        yield from ((result, operand) for result in row.results for operand in named)

    def _stores(self, row: Row) -> Iterator[tuple[int, int]]:
        """Yield the operands of an op that may hold cells, each with a value it may write there."""
        op, facts, numbers = row.op, row.facts, row.operands
        is_unknown = facts.unknown or facts.calls is not None
        if len(numbers) < 2 or not (facts.may_store or is_unknown):
            return
        effects = () if is_unknown else get_effects(op) or ()
        written = {e.value for e in effects if e.kind is MemoryEffectKind.WRITE}
        for operand, cell in zip(op.operands, numbers, strict=True):
            if (is_unknown or operand in written) and may_hold_cells(operand.type):
                yield from ((cell, value) for value in numbers if value != cell)


def nothing(body: Numbered) -> Returned:
    """Return that the function of `body` returns nothing of its own or of its parameters."""
    last = body.block.last_op
    return Returned((frozenset[int](),) * (0 if last is None else len(last.operands)), False)


def summary(body: Numbered, returned: Summaries) -> Returned:
    """Return what the function of `body` may return."""
    names = BodyNames(body, returned, with_storages=True)
    n_before = -1
    while names.n_stored > n_before:  # what is written late may be read early, by another name
        n_before = names.n_stored
        for row in body.rows:
            if row.facts.chooses is None:
                names.read(row)
            else:
                names.enter(row)
        for row in body.choices:
            names.leave(row)
    yielded = body.body.rows[-1].uses if body.body.rows else ()
    origins = [reached((v,), names.above) if body.may_have_bytes[v] else {} for v in yielded]
    named = [value for values in origins for value in values if body.may_have_bytes[value]]
    return Returned(
        tuple(frozenset(i for i, arg in enumerate(body.body.args) if arg in v) for v in origins),
        len(set(named)) < len(named),
    )
