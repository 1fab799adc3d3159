"""
Move bodies that overlap to where they overlap least, until none does: a plan of a given height.

Each pair of bodies that are alive together has a weight, 1 at first. A body that overlaps another
one moves to an offset where the pairs that overlap weigh least. If that is not better than where it
is, the pairs that overlap there gain weight, so that no local minimum holds the search. It proves
nothing, but plans bodies with gaps of which searches from the bottom up find no plan: what these
place early is never moved. A move is a node.

`fit` starts anew many times. Three of four starts hold the body that is alive with the most others
at the bottom: in the middle, it would divide the room of all others. Weights fade meanwhile.

Source of the weights: the breakout method (Morris, 1993).
"""

from dataclasses import replace
from random import Random

import numpy as np

from ..buffers import Ints, as_list
from ..meter import Meter
from ..problem import Plan, Problem
from .core import Core, core_of
from .search import Search, Tables

_STARTS, _MOVES, _FADE = 24, 240, 40
"""Starts of `fit`, the moves of each, and those after which weights are halved, per body."""
_ALL_MOVES = 1_200_000
"""The most moves of all starts, about a minute: more bodies have fewer starts."""


class WeightedMoves(Search):
    """A search that ends with a plan; the next one, below it, goes on from there."""

    def __init__(self, tables: Tables, seed: int = 3):
        super().__init__(tables)
        core, self.random = tables.core, Random(seed)
        self.at = as_list(tables.lowest * tables.unit)
        self.conflicts, self.step = core.conflicts, as_list(core.alignment)
        self.is_fixed: list[bool] = tables.is_fixed.tolist()
        self.weights = [{other: 1 for other, *_ in near} for near in self.conflicts]

    def hold(self, k: int) -> None:
        """Keep body `k` where it is."""
        self.is_fixed[k] = True
        for other in self.weights[k]:
            self.weights[other][k] = 2**62

    def fade(self) -> None:
        """Halve what weights have gained."""
        self.weights = [{o: (w + 1) // 2 for o, w in weights.items()} for weights in self.weights]

    def decide(self, ceiling: Ints) -> bool:
        """Move bodies until none overlaps; raises `OutOfNodes`, and is never False."""
        tops = ceiling * self.tables.unit // self.tables.core.alignment
        self.tops = as_list(tops * self.tables.core.alignment)
        self.at = [*map(min, self.at, self.tops)]
        loose = {k: None for k in range(len(self.at)) if self.is_loose(k)}
        while loose:
            self.meter.tick()
            k = self.random.choice([*loose])
            before, weights = self.overlapping(k), self.weights[k]
            weight, (least, ranges) = sum(weights[o] for o in before), self.lightest(k)
            if least >= weight:
                for other in before:
                    weights[other] += 1
                    self.weights[other][k] += 1
            if least > weight:
                continue
            self.at[k] = self.random.choice(self.random.choice(ranges))
            for other in (k, *before, *self.overlapping(k)):
                if self.is_loose(other):
                    loose[other] = None
                else:
                    loose.pop(other, None)
        self.offsets[:] = self.at
        return True

    def is_loose(self, k: int) -> bool:
        """Test whether body `k` may move, and overlaps another one."""
        return not self.is_fixed[k] and bool(self.overlapping(k))

    def overlapping(self, k: int) -> list[int]:
        """Return the bodies that body `k` overlaps."""
        at, places = self.at[k], self.at
        return [o for o, mine, its in self.conflicts[k] if places[o] - mine < at < places[o] + its]

    def lightest(self, k: int) -> tuple[int, list[tuple[int, int]]]:
        """Return the least weight of what body `k` may overlap, and first and last offsets."""
        top, step, weights, places = self.tops[k], self.step[k], self.weights[k], self.at
        changes = {0: 0}
        for other, mine, its in self.conflicts[k]:
            first = max((places[other] - mine) // step * step + step, 0)
            after = -(-(places[other] + its) // step) * step
            if first < after and first <= top:
                changes[first] = changes.get(first, 0) + weights[other]
                changes[after] = changes.get(after, 0) - weights[other]
        starts = sorted(start for start in changes if start <= top)
        least, weight, ranges = 2**62, 0, list[tuple[int, int]]()
        for start, after in zip(starts, [*starts[1:], top + step], strict=True):
            weight += changes[start]
            if weight < least:
                least, ranges = weight, []
            if weight == least:
                ranges.append((start, after - step))
        return least, ranges


def fit(core: Core, height: int) -> Ints | None:
    """Return offsets of a plan of at most this height, if one of many starts finds it."""
    tables, n = Tables(core), core.n_bodies
    if tables.has_fixed or not n:
        return None
    widest = max(range(n), key=lambda k: len(core.conflicts[k]))
    for seed in range(min(_STARTS, _ALL_MOVES // (_MOVES * n))):
        moves = WeightedMoves(tables, seed)
        if seed % 4 < 3:
            moves.hold(widest)
        for _ in range(_MOVES // _FADE):
            if moves.run(height, Meter(_FADE * n)):
                return moves.offsets
            moves.fade()
    return None


def fitted(problem: Problem, plan: Plan, height: int) -> Plan:
    """Return a plan of at most this height in the only pool, or `plan` if none is found."""
    if len(plan.heights) > 1 or not plan.lower_bound <= height < plan.height:
        return plan
    core = core_of(problem)
    offsets = fit(core, height)
    if offsets is None:
        return plan
    least = int((offsets + core.body_size).max())
    by_row = tuple(as_list(np.append(offsets, 0)[core.row_body]))
    is_optimal = least == plan.lower_bound
    return replace(plan, offsets=by_row, heights=(least,), is_optimal=is_optimal, strategy="moves")
