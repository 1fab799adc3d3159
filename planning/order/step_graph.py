"""
The scheduling problem: steps, what must come before what, and the bytes that they hold.

    graph = StepGraph([(), (0,), (0,), (1, 2)], [Held((0,), (1, 2)), Held((1,), (3,)), …])
    graph.loads(order, sizes)     bytes held during each step of an order
    graph.piece(spans, 4, 9)      the steps at positions 4 to 8 as a problem of its own

Steps are numbered in a valid order, the given one. Bytes are held from the earliest of their first
steps to the latest of their last ones, inclusive, so time may run backwards: `reversed` is the same
problem seen from the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple


class Held(NamedTuple):
    """Bytes that are held from the earliest of the steps `first` to the latest of `last`."""

    first: tuple[int, ...]
    last: tuple[int, ...]
    at_start: bool = False
    """True if they are held before the first step."""
    at_end: bool = False
    """True if they are held after the last step."""


@dataclass(eq=False)
class StepGraph:
    """
    Steps, the steps that must come before each, and the bytes that they hold.

    Raises ValueError for a step before which a later one must come.
    """

    before: Sequence[Sequence[int]]
    held: Sequence[Held]

    def __post_init__(self):
        for step, earlier in enumerate(self.before):
            if any(not 0 <= other < step for other in earlier):
                raise ValueError(f"expected steps before {step}, but got {list(earlier)}")

    def __len__(self) -> int:
        return len(self.before)

    @cached_property
    def after(self) -> list[list[int]]:
        """The steps that must come after each."""
        after: list[list[int]] = [[] for _ in self.before]
        for step, earlier in enumerate(self.before):
            for other in dict.fromkeys(earlier):
                after[other].append(step)
        return after

    @cached_property
    def held_by(self) -> list[list[int]]:
        """The indices in `held` that name each step."""
        by_step: list[list[int]] = [[] for _ in self.before]
        for index, held in enumerate(self.held):
            for step in dict.fromkeys((*held.first, *held.last)):
                by_step[step].append(index)
        return by_step

    def reversed(self) -> StepGraph:
        """Return the problem in which time runs backwards: step i is step `len - 1 - i`."""
        final = len(self) - 1
        return StepGraph(
            [[final - other for other in self.after[final - step]] for step in range(len(self))],
            [
                Held(
                    tuple(final - step for step in held.last),
                    tuple(final - step for step in held.first),
                    held.at_end,
                    held.at_start,
                )
                for held in self.held
            ],
        )

    def spans(self, order: Sequence[int], sizes: Sequence[int]) -> Spans:
        """Return when the bytes are held if the steps are in `order`."""
        count = len(order)
        at = [0] * count
        for position, step in enumerate(order):
            at[step] = position
        start: list[int] = []
        stop: list[int] = []
        change = [0] * (count + 1)
        for held, size in zip(self.held, sizes, strict=True):
            first = 0 if held.at_start else min([at[step] for step in held.first], default=0)
            last = count if held.at_end else max([at[s] for s in held.last], default=first) + 1
            start.append(first)
            stop.append(last := max(last, first + 1))
            if size and count:
                change[first] += size
                change[last] -= size
        return Spans(self, sizes, list(order), start, stop, list(accumulate(change[:-1])))

    def loads(self, order: Sequence[int], sizes: Sequence[int]) -> list[int]:
        """Return the bytes held during each step of `order`."""
        return self.spans(order, sizes).loads

    def peak(self, order: Sequence[int], sizes: Sequence[int]) -> int:
        """Return the most bytes that are held during a step of `order`."""
        return max(self.loads(order, sizes), default=0)


@dataclass(eq=False)
class Spans:
    """The positions of an order at which each of the bytes is held, half-open, and the loads."""

    graph: StepGraph
    sizes: Sequence[int]
    order: list[int]
    start: list[int]
    stop: list[int]
    loads: list[int]

    def piece(self, begin: int, end: int) -> Piece:
        """Return the steps at positions `begin` up to `end` as a problem; all others stay."""
        steps = self.order[begin:end]
        number = {step: i for i, step in enumerate(steps)}
        touched = dict.fromkeys(h for step in steps for h in self.graph.held_by[step])
        held: list[Held] = []
        sizes: list[int] = []
        base = self.loads[begin]
        for index in touched:
            size, start, stop = self.sizes[index], self.start[index], self.stop[index]
            if not size or start >= end or stop <= begin:
                continue
            if start <= begin:
                base -= size
            given = self.graph.held[index]
            held.append(
                Held(
                    tuple(number[step] for step in given.first if step in number),
                    tuple(number[step] for step in given.last if step in number),
                    start < begin or given.at_start,
                    stop > end or given.at_end,
                )
            )
            sizes.append(size)
        held.append(Held((), (), at_start=True, at_end=True))
        sizes.append(base)
        before = [[number[b] for b in self.graph.before[s] if b in number] for s in steps]
        return Piece(StepGraph(before, held), sizes, steps)

    def replace(self, begin: int, steps: Sequence[int]) -> None:
        """Put `steps`, in another order than now, at the positions from `begin` on."""
        end = begin + len(steps)
        self.order[begin:end] = steps
        at = {step: begin + i for i, step in enumerate(steps)}
        change = [0] * (len(steps) + 1)
        for index in dict.fromkeys(h for step in steps for h in self.graph.held_by[step]):
            held, size = self.graph.held[index], self.sizes[index]
            start, stop = self.start[index], self.stop[index]
            self._account(change, begin, end, start, stop, -size)
            if begin <= start < end and not held.at_start:
                start = min(at[step] for step in held.first if step in at)
            if begin < stop <= end and not held.at_end:
                stop = max([at[step] for step in held.last if step in at], default=start) + 1
            stop = max(stop, start + 1)
            self.start[index], self.stop[index] = start, stop
            self._account(change, begin, end, start, stop, size)
        for i, more in enumerate(accumulate(change[:-1])):
            self.loads[begin + i] += more

    @staticmethod
    def _account(change: list[int], begin: int, end: int, start: int, stop: int, size: int) -> None:
        start, stop = max(start, begin), min(stop, end)
        if start < stop:
            change[start - begin] += size
            change[stop - begin] -= size


class Piece(NamedTuple):
    """Some steps of an order as a problem of its own; the last of its bytes are those of others."""

    graph: StepGraph
    sizes: list[int]
    steps: list[int]
    """The number of each step in the problem that it is a piece of."""


def cuts(graph: StepGraph) -> list[int]:
    """
    Return the steps that all others must come before or after, in order.

    Step c is one if every earlier step has a successor up to c, and every later one a predecessor
    from c on: what is between two of them can be ordered by itself.
    """
    count = len(graph)
    next_after = [min(after, default=count) for after in graph.after]
    last_before = [max(earlier, default=-1) for earlier in graph.before]
    earliest = list(accumulate(reversed(last_before), min))[::-1]
    latest = list(accumulate(next_after, max))
    return [
        c
        for c in range(count)
        if (c == 0 or latest[c - 1] <= c) and (c == count - 1 or earliest[c + 1] >= c)
    ]


def masks(steps: Iterable[int]) -> int:
    """Return the set of `steps` as the bits of an integer."""
    mask = 0
    for step in steps:
        mask |= 1 << step
    return mask
