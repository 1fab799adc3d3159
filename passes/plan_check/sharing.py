"""
The values of a body, and which of them name bytes of which.

    %v = vm.reshape_tensor %y                   %v names bytes of %y
    %r = relay.if %c { yield %a } else { … }    %r names bytes of %a, or of what the other yields
    %r, %q = relay.if %c { yield %a, %b } else { yield %b, %a }
                                                %r and %q share bytes only if %a and %b do

Two values share bytes if on some path both name the same one. The later of the two is replaced by
each value that it names, until both are the same; two results of one choice are replaced together,
by what one region yields. So no path is followed past a choice twice, in different directions, and
each pair of values is examined at most once, however many paths lead to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.ir import Operation, Region, SSAValue

from .names import names_bytes, upwards

Pair = tuple[int, int]
"""The numbers of two values, the later one first."""


class Source(NamedTuple):
    """A value that another one names."""

    number: int
    region: Region | None
    """The region that yields it, if the other one is a result of a choice."""


@dataclass(eq=False)
class Names:
    """The values met so far, and which of them name bytes of which."""

    above: dict[SSAValue, dict[SSAValue, None]] = field(
        default_factory=dict[SSAValue, dict[SSAValue, None]]
    )
    down: dict[SSAValue, list[SSAValue]] = field(default_factory=dict[SSAValue, list[SSAValue]])
    _values: list[SSAValue] = field(default_factory=list[SSAValue])
    """The values that name another one or are named, in the order in which they were met."""
    _numbers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """The index of each in `_values`."""
    _sources: list[list[Source]] = field(default_factory=list[list[Source]])
    """The values that each of `_values` names."""
    _cells: set[int] = field(default_factory=set[int])
    """The values that name a later one, as a cell does that is written."""
    _together: set[Pair] = field(default_factory=set[Pair])
    """Pairs that share bytes."""
    _apart: set[Pair] = field(default_factory=set[Pair])
    """Pairs that do not, as far as is known of the values they name."""
    _examined: int = 0
    """The number of values when a pair was last examined."""

    def add(self, name: SSAValue, source: SSAValue, region: Region | None = None) -> None:
        """Note that `name` names bytes of `source`, on paths through `region`."""
        if not (names_bytes(name) and names_bytes(source)):
            return
        self.above.setdefault(name, {})[source] = None
        self.down.setdefault(source, []).append(name)
        named, naming = self._number(source), self._number(name)
        self._sources[naming].append(Source(named, region))
        if named > naming:
            self._cells.add(naming)
        if naming < self._examined:
            self._apart.clear()

    def add_choice(self, choice: Operation) -> None:
        """Note that each result of `choice` names what one of its regions yields."""
        yields = [
            (result, value, region)
            for region in choice.regions
            if (last := region.block.last_op) is not None
            for result, value in zip(choice.results, last.operands, strict=False)
            if names_bytes(result) and names_bytes(value)
        ]
        for _, value, _ in yields:  # before the results, which are later
            self._number(value)
        for result, value, region in yields:
            self.add(result, value, region)

    def naming(self, value: SSAValue) -> list[SSAValue]:
        """Return all values that may name the contents of `value`, itself first."""
        return list(upwards(value, self.down))

    def sharing(self, value: SSAValue) -> list[SSAValue]:
        """Return all values that on some path name the same bytes as `value`, in order."""
        if value not in self._numbers:
            return [value]
        named = upwards(value, self.above)
        candidates = dict(named)
        pending = list(named)
        while pending:
            for name in self.down.get(pending.pop(), ()):
                if name not in candidates:
                    candidates[name] = None
                    pending.append(name)
        numbers = sorted(self._numbers[candidate] for candidate in candidates)
        values = (self._values[number] for number in numbers)
        return [other for other in values if other in named or self.share(value, other)]

    def share(self, value: SSAValue, other: SSAValue) -> bool:
        """Test whether two values name a common byte on some path."""
        self._examined = len(self._values)
        start = _pair(self._number(value), self._number(other))
        if start in self._apart:
            return False
        reached, pending = {start}, [start]
        while pending:
            later, earlier = pair = pending.pop()
            if later == earlier or pair in self._together:
                self._together.add(start)
                return True
            for pair in self._replaced(later, earlier):
                if pair not in reached and pair not in self._apart:
                    reached.add(pair)
                    pending.append(pair)
        self._apart |= reached
        return False

    def _number(self, value: SSAValue) -> int:
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self._values)
            self._values.append(value)
            self._sources.append([])
        return number

    def _replaced(self, later: int, earlier: int) -> Iterator[Pair]:
        """Yield pairs of which one shares bytes if `later` and `earlier` do."""
        is_one_choice = self._values[later].owner is self._values[earlier].owner
        for source, region in self._sources[later]:
            if is_one_choice and region is not None:
                for other, same in self._sources[earlier]:
                    if same is region:
                        yield _pair(source, other)
            else:
                yield _pair(source, earlier)
        if later in self._cells or earlier in self._cells or not self._sources[later]:
            for source, _ in self._sources[earlier]:
                yield _pair(source, later)


def _pair(one: int, other: int) -> Pair:
    return (one, other) if one > other else (other, one)
