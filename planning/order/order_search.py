"""
Search for an order of few steps that holds the fewest bytes: exact, or with a beam.

The state of a search is the set of steps done, which alone determines the bytes held: orders of
the same set compete, and the lowest peak so far wins (dynamic programming over downsets, as in
"Ordering Chaos", Ahn et al. 2020). `search` visits sets in the order of their peaks, so the first
complete one is optimal, and if it ends early, the peak it was at is a lower bound. A step that
frees at least what it allocates, and whose own need is below the peak reached, is done at once:
whenever it comes, moving it up raises no load, as what it frees it also frees then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush, nsmallest
from typing import NamedTuple

from ..meter import Meter
from .step_graph import StepGraph, masks


class State(NamedTuple):
    """A set of steps that are done."""

    done: int
    live: int
    """The bytes held after them."""
    ready: int
    """The steps that may be next."""
    peak: int
    """The most bytes held so far."""


class Touch(NamedTuple):
    """Bytes that a step holds; each mask has a bit that is always or never set for the ends."""

    size: int
    first: int
    last: int
    is_first: bool
    is_last: bool


class Found(NamedTuple):
    """An order, if one was found with a lower peak than the one known, and a lower bound."""

    order: list[int] | None
    bound: int


class Sets:
    """The moves between sets of steps."""

    def __init__(self, graph: StepGraph, sizes: Sequence[int], floor: int):
        self.count = count = len(graph)
        self.floor = floor
        """No order has a lower peak, or needs one."""
        self.full = (1 << count) - 1
        self.before = [masks(earlier) for earlier in graph.before]
        self.after = graph.after
        self.touches: list[list[Touch]] = [[] for _ in range(count)]
        live = 0
        for held, size in zip(graph.held, sizes, strict=True):
            if not size:
                continue
            first = masks(held.first) | (held.at_start << count)
            last = masks(held.last) | (held.at_end << (count + 1))
            if held.at_start and last:
                live += size
            for step in dict.fromkeys((*held.first, *held.last)):
                bit = 1 << step
                touch = Touch(size, first, last, bool(first & bit), bool(last & bit))
                self.touches[step].append(touch)
        self.evaluated = 0
        """The number of steps whose cost was computed."""
        ready = masks(step for step in range(count) if not self.before[step])
        self.start = State(1 << count, live, ready, max(floor, live))

    def is_complete(self, state: State) -> bool:
        return not state.ready

    def steps(self, state: State) -> Iterator[int]:
        """Yield the steps that may be next."""
        ready = state.ready
        while ready:
            bit = ready & -ready
            yield bit.bit_length() - 1
            ready ^= bit

    def cost(self, state: State, step: int) -> tuple[int, int]:
        """Return the bytes held during `step` and after it."""
        self.evaluated += 1
        done, during, after = state.done, state.live, state.live
        then = ~(done | 1 << step)
        for size, first, last, is_first, is_last in self.touches[step]:
            if not first & done:
                if is_first:
                    during += size
                    if last & then:
                        after += size
            elif is_last and not last & then:
                after -= size
        return during, after

    def do(self, state: State, step: int, during: int, after: int) -> State:
        """Return the set with `step` added."""
        done, ready = state.done | 1 << step, state.ready & ~(1 << step)
        for later in self.after[step]:
            if not self.before[later] & ~done:
                ready |= 1 << later
        return State(done, after, ready, max(state.peak, during))

    def settle(self, state: State) -> tuple[State, list[int]]:
        """Do all steps that are best done at once; return them too."""
        taken: list[int] = []
        again = True
        while again:
            again = False
            for step in self.steps(state):
                during, after = self.cost(state, step)
                if after <= state.live and during <= state.peak:
                    state = self.do(state, step, during, after)
                    taken.append(step)
                    again = True
        return state, taken


Path = tuple["Path | None", list[int]]
"""The steps that led to a set, last ones first."""


def _unrolled(path: Path | None) -> list[int]:
    parts: list[list[int]] = []
    while path is not None:
        path, steps = path
        parts.append(steps)
    return [step for steps in reversed(parts) for step in steps]


def search(graph: StepGraph, sizes: Sequence[int], best: int, floor: int, meter: Meter) -> Found:
    """
    Find the order with the lowest peak, if that is below `best`.

    A peak of `floor` is low enough. The bound found, if above it, holds even if the meter runs out.
    The meter counts the costs computed.
    """
    sets = Sets(graph, sizes, floor)
    limit = meter.limit - meter.nodes
    first, steps = sets.settle(sets.start)
    if first.peak >= best:
        return Found(None, best)
    reached = {first.done: first.peak}
    queue: list[tuple[int, int, int, int, State, Path]] = []
    heappush(queue, (first.peak, 0, first.live, 0, first, (None, steps)))
    serial = 0
    while queue:
        peak, _, _, _, state, path = heappop(queue)
        if sets.is_complete(state):
            meter.nodes += sets.evaluated
            return Found(_unrolled(path), peak)
        if reached[state.done] < peak:
            continue
        if sets.evaluated > limit:
            meter.nodes += sets.evaluated
            return Found(None, peak)
        for step in sets.steps(state):
            during, after = sets.cost(state, step)
            if during >= best:
                continue
            then, steps = sets.settle(sets.do(state, step, during, after))
            if then.peak >= best or reached.get(then.done, best) <= then.peak:
                continue
            reached[then.done] = then.peak
            serial += 1
            depth = -then.done.bit_count()
            heappush(queue, (then.peak, depth, then.live, serial, then, (path, [step, *steps])))
    meter.nodes += sets.evaluated
    return Found(None, best)


def beam(
    graph: StepGraph, sizes: Sequence[int], best: int, floor: int, width: int, meter: Meter
) -> list[int] | None:
    """
    Find an order with a peak below `best`, keeping the `width` best sets of each size.

    Stops without one when the meter, which counts the costs computed, runs out.
    """
    limit = meter.limit - meter.nodes
    sets = Sets(graph, sizes, floor)
    first, steps = sets.settle(sets.start)
    levels: list[dict[int, tuple[State, Path]]] = [{} for _ in range(sets.count + 1)]
    start = first.done.bit_count() - 1
    if first.peak < best:
        levels[start][first.done] = first, (None, steps)
    for level in levels[start:-1]:
        if sets.evaluated > limit:
            break
        chosen = sorted(level.values(), key=lambda item: (item[0].peak, item[0].live))[:width]
        moves = [
            (max(state.peak, during), after, during, number, step)
            for number, (state, _) in enumerate(chosen)
            for step in sets.steps(state)
            for during, after in (sets.cost(state, step),)
        ]
        for peak, after, during, number, step in nsmallest(2 * width, moves):
            if peak >= best:
                break
            state, path = chosen[number]
            then, steps = sets.settle(sets.do(state, step, during, after))
            if then.peak >= best:
                continue
            into = levels[then.done.bit_count() - 1]
            known = into.get(then.done)
            if known is None or then.peak < known[0].peak:
                into[then.done] = then, (path, [step, *steps])
        level.clear()
    meter.nodes += sets.evaluated
    ends = list(levels[-1].values())
    return _unrolled(ends[0][1]) if ends else None


def bound(graph: StepGraph, sizes: Sequence[int]) -> int:
    """
    Return a lower bound on the peak of every order.

    While a step runs, what one of its ancestors allocates and one of its descendants needs is held.
    Quadratic.
    """
    count = len(graph)
    above = [1 << step for step in range(count)]
    below = [1 << step for step in range(count)]
    for step in range(count):
        for other in graph.before[step]:
            above[step] |= above[other]
    for step in reversed(range(count)):
        for other in graph.after[step]:
            below[step] |= below[other]
    rows = [
        (size, masks(h.first) | (h.at_start << count), masks(h.last) | (h.at_end << count))
        for h, size in zip(graph.held, sizes, strict=True)
        if size
    ]
    always = 1 << count
    return max(
        (
            sum(
                size
                for size, first, last in rows
                if first & (above[step] | always)
                and (last & (below[step] | always) or first & 1 << step)
            )
            for step in range(count)
        ),
        default=0,
    )
