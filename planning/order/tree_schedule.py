"""
The best order of a tree of steps, of any size.

If every result has one user, and each step one successor, the costs of a step do not depend on the
order, and subtrees can be merged one after the other: the best order of each is cut into segments,
each of which goes up to its peak (hill) and then down to the least that is held after it (valley).
Of two subtrees, segments that free more than they allocate come first, the lowest hill first; of
the others that with the largest fall from hill to valley. A step that must come after a segment
which prefers to be later joins it. (Liu, "An application of generalized tree pebbling to sparse
matrix factorization", 1987; Abdel-Wahab and Kameda, 1978; for equal sizes Sethi and Ullman, 1970.)
O(n log² n).
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from .step_graph import StepGraph

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
