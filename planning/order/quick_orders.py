"""
Orders of any number of steps that no search is needed for.

The best order of a tree of steps is known: if every result has one user, and each step one
successor, the costs of a step do not depend on the order, and subtrees can be merged one after the
other. The best order of each is cut into segments, each of which goes up to its peak (hill) and
then down to the least that is held after it (valley). Of two subtrees, segments that free more than
they allocate come first, the lowest hill first; of the others that with the largest fall from hill
to valley. A step that must come after a segment which prefers to be later joins it. (Liu, "An
application of generalized tree pebbling to sparse matrix factorization", 1987; Abdel-Wahab and
Kameda, 1978; for equal sizes Sethi and Ullman, 1970.) O(n log² n).

Of other graphs, `by_growth` always does the step after which the least is held, as Kahn's algorithm
with a priority; `depth_first` finishes what one result needs before it starts with another, the
neediest first (Sethi and Ullman's rule, applied to graphs). O(n log n) in steps and in what they
hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from .step_graph import StepGraph

Key = tuple[bool, int, int, int]
"""The priority of a step that is ready; the least is next."""


class _Ready:
    """The steps that may be next, by what they would leave."""

    def __init__(self, graph: StepGraph, sizes: Sequence[int]):
        self.graph, self.sizes = graph, sizes
        self.born = [held.at_start for held in graph.held]
        self.left = [len(set(held.last)) + held.at_end for held in graph.held]
        """The number of last steps that are not done yet."""
        self.waits = [len(set(earlier)) for earlier in graph.before]
        self.done = [False] * len(graph)
        self.entered = [0] * len(graph)
        """When each step became ready: those that did last are preferred."""
        self.queue: list[tuple[Key, int]] = []
        self.keys: dict[int, Key] = {}
        for step, count in enumerate(self.waits):
            if not count:
                self.push(step)
        heapify(self.queue)

    def key(self, step: int) -> Key:
        during = after = 0
        for index in self.graph.held_by[step]:
            held, size = self.graph.held[index], self.sizes[index]
            ends = step in held.last and self.left[index] == 1
            if not self.born[index]:
                if step in held.first:
                    during += size
                    after += size if self.left[index] and not ends else 0
            elif ends:
                after -= size
        grows = after > 0
        return grows, after if grows else during, -self.entered[step], step

    def push(self, step: int) -> None:
        key = self.keys[step] = self.key(step)
        heappush(self.queue, (key, step))

    def pop(self) -> int | None:
        while self.queue:
            key, step = heappop(self.queue)
            if not self.done[step] and self.keys[step] == key:
                return step
        return None

    def do(self, step: int, time: int) -> None:
        self.done[step] = True
        changed: dict[int, None] = {}
        for index in self.graph.held_by[step]:
            held = self.graph.held[index]
            if not self.born[index] and step in held.first:
                self.born[index] = True
                changed.update(dict.fromkeys(held.first))
            if step in held.last:
                self.left[index] -= 1
                if self.left[index] == 1 and not held.at_end:
                    changed.update(dict.fromkeys(s for s in held.last if not self.done[s]))
        for other in changed:
            if not self.waits[other] and not self.done[other]:
                self.push(other)
        for later in self.graph.after[step]:
            self.waits[later] -= 1
            if not self.waits[later]:
                self.entered[later] = time
                self.push(later)


def by_growth(graph: StepGraph, sizes: Sequence[int]) -> list[int]:
    """Return an order in which the next step is one that frees, or else that adds the least."""
    ready = _Ready(graph, sizes)
    order: list[int] = []
    while (step := ready.pop()) is not None:
        ready.do(step, len(order) + 1)
        order.append(step)
    return order


def depth_first(graph: StepGraph, sizes: Sequence[int]) -> list[int]:
    """Return an order in which the steps that a result needs come right before it."""
    count = len(graph)
    leaves = [0] * count
    """The bytes that are held after each step because of it."""
    for held, size in zip(graph.held, sizes, strict=True):
        for step in held.first[:1]:
            leaves[step] += size
    needs = [0] * count
    """The bytes to compute each step from nothing, if nothing is shared."""
    earlier: list[list[int]] = []
    for step in range(count):
        order = sorted(dict.fromkeys(graph.before[step]), key=lambda b: (leaves[b] - needs[b], b))
        earlier.append(order)
        live = peak = 0
        for other in order:
            peak = max(peak, live + needs[other])
            live += leaves[other]
        needs[step] = max(peak, live + leaves[step])
    steps: list[int] = []
    entered = [False] * count
    for end in range(count):
        if graph.after[end]:
            continue
        pending = [(end, False)]
        while pending:
            step, is_done = pending.pop()
            if is_done:
                steps.append(step)
            elif not entered[step]:
                entered[step] = True
                pending.append((step, True))
                pending += [(other, False) for other in reversed(earlier[step])]
    return steps


Steps = int | tuple["Steps", "Steps"]
"""Steps in order: one, or some and then others."""


class Segment(NamedTuple):
    """Steps that are done without interruption; the last segment is the smallest."""

    rank: tuple[int, int]
    hill: int
    """The most bytes that are held during them, above what was held before."""
    rise: int
    """The bytes that are held after them, above what was held before."""
    serial: int
    steps: Steps


def _segment(hill: int, rise: int, serial: int, steps: Steps) -> Segment:
    rank = (1, -hill) if rise <= 0 else (0, hill - rise)
    return Segment(rank, hill, rise, serial, steps)


def costs_of(graph: StepGraph, sizes: Sequence[int]) -> list[tuple[int, int]] | None:
    """
    Return what each step allocates, and what it leaves; None if `graph` is not a tree.

    Each step must have one successor at most, and only that one may use what it allocates.
    """
    if any(len(after) > 1 for after in graph.after):
        return None
    costs = [(0, 0)] * len(graph)
    for held, size in zip(graph.held, sizes, strict=True):
        if not size:
            continue
        last = set(held.last)
        if not held.at_start:
            if len(held.first) != 1:
                return None
            (first,) = held.first
            hill, rise = costs[first]
            stays = held.at_end or bool(last - {first})
            costs[first] = hill + size, rise + size * stays
            last -= {first, *graph.after[first]} if not held.at_end else last
            if last:
                return None
            last = set(held.last) - {first}
        if held.at_end or not last:
            continue
        if len(last) > 1:
            return None
        (end,) = last
        hill, rise = costs[end]
        costs[end] = hill, rise - size
    return costs


def tree_order(graph: StepGraph, sizes: Sequence[int]) -> list[int] | None:
    """Return the order with the lowest peak; None if `graph` is not a tree."""
    costs = costs_of(graph, sizes)
    if costs is None:
        return None
    segments: list[list[Segment]] = []
    """For each step, the segments of its subtree as a heap, the last one first."""
    for step, (hill, rise) in enumerate(costs):
        merged: list[Segment] = []
        for other in dict.fromkeys(graph.before[step]):
            merged = _merged(merged, segments[other])
            segments[other] = []
        added = _segment(hill, rise, step, step)
        while merged and merged[0].rank <= added.rank:
            top = heappop(merged)
            added = _segment(
                max(top.hill, top.rise + added.hill),
                top.rise + added.rise,
                step,
                (top.steps, added.steps),
            )
        heappush(merged, added)
        segments.append(merged)
    merged = []
    for own in segments:
        merged = _merged(merged, own)
    return _flat([segment.steps for segment in sorted(merged, reverse=True)])


def _merged(one: list[Segment], other: list[Segment]) -> list[Segment]:
    """Return both heaps as one; the smaller is added to the larger."""
    if len(one) < len(other):
        one, other = other, one
    for segment in other:
        heappush(one, segment)
    return one


def _flat(steps: list[Steps]) -> list[int]:
    order: list[int] = []
    pending = steps[::-1]
    while pending:
        part = pending.pop()
        if isinstance(part, int):
            order.append(part)
        else:
            pending += (part[1], part[0])
    return order
