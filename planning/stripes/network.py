"""
The steps of a program and the values between them, as the choice of stripes sees them: no IR.

A step is a kernel. Of most it is known which rows of its operands it reads for each row of its
result; a chain of such steps can be computed stripe by stripe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...operators.orders import MIN_ALIGNMENT
from ..buffers import Ints

Floats = NDArray[np.float64]

LONGEST = 200
"""The maximum number of steps in a chain."""
MANY = 150
"""In programs of more steps, chains begin only where a single value is live."""
SMALL = 64
"""The most bytes of a value that does not count then, such as a shape."""

_Bytes = TypeVar("_Bytes", int, Ints)


def filled(bytes: _Bytes) -> _Bytes:
    """Return the bytes that tensors of so many bytes take in a storage."""
    return -(-bytes // MIN_ALIGNMENT) * MIN_ALIGNMENT


@dataclass
class Value:
    """A tensor of `bytes`, in `rows` rows along the axis that is tiled; 1 if none is."""

    bytes: int
    rows: int
    start: int
    """The step that computes it; -1 for an argument."""
    stop: int
    """The last step that uses it."""
    users: list[int] = field(default_factory=list[int])
    is_lent: bool = False
    """It is the caller's: its bytes do not count."""
    is_returned: bool = False
    """It is a result of the function, in memory of its own, which counts at all times."""
    viewed: int | None = None
    """The value whose bytes it has; a chain computes them apart."""
    held: int = -1
    """The last step that uses it or a view of it."""
    placed: int = 0
    """Of its bytes those in the memory of a result that is written over it, or of its parts."""
    since: int | None = None
    """The step from which on its bytes are live, if not `start`: they are beside others."""
    is_apart: bool = False
    """The bytes of a row are not contiguous."""

    @property
    def live(self) -> int:
        if self.is_returned:
            return self.bytes
        return 0 if self.is_lent or self.is_view else filled(self.bytes - self.placed)

    @property
    def born(self) -> int:
        """The first step in which its bytes are live."""
        first = self.start if self.since is None else self.since
        return 0 if self.is_returned else max(first, 0)

    @property
    def is_view(self) -> bool:
        return self.viewed is not None and not self.is_returned

    @property
    def dead(self) -> int:
        """The last step in which its bytes are live."""
        return max(self.stop, self.held)

    @property
    def row_bytes(self) -> int:
        return self.bytes // max(1, self.rows)


class Reach:
    """The rows of an operand that rows of a result need: `first[row]` up to `end[row + 1]`."""

    def __init__(self, reads: Sequence[tuple[int, int]]) -> None:
        """`reads` are the first row that rows from each one on read, and the last up to it."""
        starts, stops = np.array(reads, np.int64).T
        self.first: Ints = np.minimum.accumulate(starts[::-1])[::-1]
        self.end: Ints = np.concatenate(([0], np.maximum.accumulate(stops)))
        low, high = len(reads) // 4 + 1, len(reads) * 3 // 4 + 1
        rise = int(self.end[high] - self.end[low]) if high < len(self.end) else 0
        self.slope = rise / max(1, high - low)

    def due(self, stops: Floats) -> Floats:
        """Return the ends of what is needed, also for parts of rows and before the first row."""
        late = np.interp(stops, np.arange(1, len(self.end)), self.end[1:])
        return np.where(stops >= 1, late, self.end[1] + (stops - 1) * self.slope)


@dataclass
class Step:
    """The computation of one kernel."""

    writes: int
    """The value that it computes, the first of several."""
    reads: Mapping[int, Reach]
    """The values of which rows of the result need rows."""
    copied: frozenset[int] = frozenset()
    """Those of `reads` of which slices are copied, as the step is not fused with slices."""
    whole: frozenset[int] = frozenset()
    """The values that are read as a whole."""
    rows: int = 1
    """The rows in which it is computed: those of its result, or those that it reduces to one."""
    cuts: Ints = field(default_factory=lambda: np.array([0, 1]))
    """The rows at which it can be cut, in order, from 0 to `rows`."""
    over: frozenset[int] = frozenset()
    """The values over which the result may be written."""
    reduces: bool = False
    """It adds up all rows of its operand, which may be done stripe by stripe."""
    work: int = 0
    """Multiplications in sums of products, and elements of other results."""
    weights: int = 0
    """The bytes of values that it reads as a whole, constants above all, in each stripe again."""
    scratch: int = 0
    """The bytes besides its result that it writes, and needs at most for a part of its rows."""
    apart: str | None = None
    """Why rows at the borders are not computed as those between are; None if they are."""
    inner: int = 0
    """The most bytes that are live within it, besides its operands and its results."""

    def floor(self, rows: Ints | Floats) -> Ints:
        """Return the last cuts at or before `rows`."""
        return self.cuts[np.searchsorted(self.cuts, rows, "right") - 1]

    def ceil(self, rows: Ints) -> Ints:
        """Return the first cuts at or after `rows`, which are at most all rows."""
        return self.cuts[np.searchsorted(self.cuts, rows, "left")]


@dataclass
class Network:
    """The steps of a function, in order, and the values between them."""

    values: list[Value]
    steps: list[Step]
    copies: bool = True
    """
    Slices and concatenations of rows are copies; otherwise contiguous rows are where they are
    needed.
    """
    ties: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Steps of which a chain has both or none, as values are placed; -1 is in no chain."""
    cut: set[int] = field(default_factory=set[int])
    """The steps for which not all chains that end there were tried, as there are too many."""

    @property
    def work(self) -> int:
        return sum(step.work for step in self.steps)

    def loads(self) -> Sequence[int]:
        """Return the bytes alive at each step; a result may take over an operand that dies."""
        change = np.zeros(len(self.steps) + 2, np.int64)
        for value in self.values:
            change[value.born] += value.live
            change[max(value.dead, value.start, 0) + 1] -= value.live
        loads: list[int] = change.cumsum()[: len(self.steps)].tolist()
        for at, step in enumerate(self.steps):
            loads[at] += step.inner + step.scratch
            result = self.values[step.writes]
            dying = (self.values[self.root_of(v)] for v in step.over)
            taken = (v.live for v in dying if v.dead == at and v.bytes == result.bytes)
            loads[at] -= min(max(taken, default=0), result.live)
        return loads

    def use(self, value: int, at: int) -> None:
        """Let step `at` use a value, and so those whose bytes it has."""
        of = self.values[value]
        of.stop = at
        while of.viewed is not None:
            of = self.values[of.viewed]
            of.held = at

    def root_of(self, value: int) -> int:
        """Return the value whose bytes a value has."""
        of = self.values[value]
        return value if of.viewed is None or not of.is_view else self.root_of(of.viewed)

    def tied(self) -> list[tuple[int, int]]:
        """Return for each step the first and the last of it and those that are tied to it."""
        spans = [(at, at) for at in range(len(self.steps))]
        for pair in self.ties:
            for at, other in zip(pair, reversed(pair), strict=True):
                if at >= 0:
                    spans[at] = min(spans[at][0], other), max(spans[at][1], other)
        return spans

    def is_chain(self, first: int, last: int) -> bool:
        """Test whether the values of the steps `first` to `last` are used in them, but the last."""
        step, inner = self.steps[last], range(first, last)
        ends = step.rows > 1 and len(step.reads) > 0
        return ends and all(self.is_inner(at, last) for at in inner)

    def is_inner(self, at: int, last: int) -> bool:
        """Test whether a step can be before the last one in a chain, with the steps between."""
        step, value = self.steps[at], self.values[self.steps[at].writes]
        by_rows = all(step.writes in self.steps[user].reads for user in value.users)
        return (
            by_rows
            and value.rows > 1
            and value.start < value.stop <= last
            and len(step.reads) > 0
            and not step.reduces
        )

    @cached_property
    def chains(self) -> list[list[int]]:
        """The first steps of the chains that end at each step, that of the shortest first."""
        large = [value for value in self.values if value.bytes > SMALL]
        alive = [sum(v.start < first <= v.stop for v in large) for first in range(len(self.steps))]
        tied, chains = self.tied(), list[list[int]]()
        for last, (low, high) in enumerate(tied):
            chains.append([])
            for first in range(last - 1, max(-1, last - LONGEST), -1):
                if high > last or not self.is_chain(last, last) or not self.is_inner(first, last):
                    break  # nor are longer ones
                low, high = min(low, tied[first][0]), max(high, tied[first][1])
                is_single = len(self.steps) <= MANY or alive[first] <= 1
                if is_single and first <= low and high <= last:
                    chains[-1].append(first)
        return chains

    def is_copied(self, value: int) -> bool:
        """Test whether slices and concatenations of rows of a value are copies."""
        return self.copies or self.values[value].is_apart

    def last_user(self, value: int, last: int) -> int:
        """Return the last step of a chain that uses an inner value."""
        return max(user for user in self.values[value].users if user <= last)

    def dying(self, first: int, last: int) -> int:
        """Return the bytes that a chain reads for the last time."""
        return sum(v.live for v in self.values if v.start < first <= v.dead <= last)

    def around(self, first: int, last: int) -> int:
        """Return the bytes alive throughout a chain: its operands, its result, and others."""
        result, (born, died, written) = self.values[self.steps[last].writes], self.totals
        inner = written[last] - written[first]
        return max(0, result.bytes - result.live) + int(born[last] - died[first] - inner)

    @cached_property
    def totals(self) -> tuple[Ints, Ints, Ints]:
        """The bytes of values up to each step: computed there or before, dead, first results."""
        born, died, written = np.zeros((3, len(self.steps) + 1), np.int64)
        for value in self.values:
            born[value.born] += value.live
            died[min(max(value.dead, value.start, -1) + 1, len(self.steps))] += value.live
        for at, step in enumerate(self.steps):
            written[at + 1] = self.values[step.writes].live
        return born.cumsum(), died.cumsum(), written.cumsum()
