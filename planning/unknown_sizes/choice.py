"""
Choose an orientation that is good at every size, from sizes at a few sample shapes.

    sizes at n = 1, 128, 2048  ->  Choice(orientations, bounds, heights)

The orientation of a plan at one shape may waste bytes at another, because other buffers
dominate there. So candidates are the plans at each sample, and at mixtures of two samples
(each size is a weighted sum of its sizes at both, relative to their lower bounds), where
neither dominates. Each candidate is evaluated at all samples, and the one is kept whose
worst ratio to the lower bound is least. If that is above `GOOD_ENOUGH`, two or three are
kept that complement each other: a program takes the smallest of their arenas at run time.
A lower bound counts each size rounded up to what all alignments have in common, as every
plan must leave that room; bytes above it that do not matter are `slack`.

The samples only steer the choice; every candidate is correct at every size.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from ...operators.records import record
from ..buffers import LIMIT, BufferTable, Columns, Ints
from ..offsets.bounds import lower_bound
from ..offsets.core import core_of
from ..problem import Plan, Problem
from ..solve import solve
from .orientation import Orientation, orientation_of

GOOD_ENOUGH = 1.001
"""Worst ratio up to which one orientation is kept."""

NODES = 4000
"""Search nodes per sample without an explicit budget; a mixture gets an eighth."""

_WEIGHTS = ((1, 1), (3, 2), (2, 3), (4, 1), (1, 4))
"""Weights of the two samples of a mixture, the most promising first."""

_PAIRS = 12
"""Number of pairs of samples that are mixed, those first that lose most by each other's plan."""

_LARGE = 1500
"""Number of buffers above which plans are not searched for."""

_MAX_BUFFERS = 60_000
"""Number of buffers that all mixtures may have together."""


@dataclass(frozen=True)
class Choice:
    """
    The orientations kept (one to three), and what they need at the samples.

    `heights[k][s]` is the arena of orientation k at sample s, and `bounds[s]` a lower bound on
    every arena there.
    """

    orientations: tuple[Orientation, ...]
    bounds: tuple[int, ...]
    heights: tuple[tuple[int, ...], ...]

    @cached_property
    def ratios(self) -> tuple[float, ...]:
        """The smallest arena over the lower bound, at each sample."""
        return _ratios(tuple(map(min, zip(*self.heights, strict=True))), self.bounds)


def choose(problems: Sequence[Problem], budget: int | None = None, slack: int = 0) -> Choice:
    """
    Choose orientations for `problems`, at least one, which differ in sizes only.

    `budget` limits the search nodes of each solve. An arena is good enough if it is at most
    `slack` bytes above its lower bound; more orientations are not kept to save those.
    Deterministic.
    """
    if budget is None:
        budget = NODES if len(problems[0].buffers) <= _LARGE else 0
    samples = _Samples(problems, budget, slack)
    for candidate in samples.candidates():
        if max(candidate.ratios, default=1.0) <= 1:
            return samples.choice((candidate,))
    orders = samples.tried
    best = min(orders, key=lambda one: _merit([one]))
    kept = [best]
    if not samples.is_good_enough(best):
        for more in (2, 3):
            if more == 2:
                groups = [list(pair) for pair in combinations(orders, 2)]
            else:
                groups = [[*kept, one] for one in orders if one not in kept]
            better = min(groups, key=_merit, default=kept)
            if _merit(better) < _merit(kept):
                kept = better
            if _merit(kept)[0] <= GOOD_ENOUGH or len(kept) < more:
                break
    return samples.choice(tuple(kept))


def _ratios(heights: Sequence[int], bounds: Sequence[int]) -> tuple[float, ...]:
    return tuple(h / b if b else 1.0 for h, b in zip(heights, bounds, strict=True))


@record(eq=False)
class _Candidate:
    """An orientation and its arenas at the samples."""

    orientation: Orientation
    heights: tuple[int, ...]
    ratios: tuple[float, ...]


def _merit(group: Sequence[_Candidate]) -> tuple[float, float]:
    """Return the worst ratio of taking the smallest arena at each sample, then their sum."""
    ratios = [min(at) for at in zip(*(one.ratios for one in group), strict=True)]
    return max(ratios), sum(ratios)


class _Samples:
    """The problems, their lower bounds, and the candidates found so far."""

    def __init__(self, problems: Sequence[Problem], budget: int, slack: int):
        self.problems = problems
        self.budget = budget
        self.slack = slack
        self.sizes = [p.columns.size for p in problems]
        self.bounds = [_bound(p) for p in problems]
        self.tried: list[_Candidate] = []
        self.seen: set[tuple[tuple[int, ...], ...]] = set()

    def candidates(self) -> Iterator[_Candidate]:
        """
        Yield candidates that differ: of each sample, the largest first, then of mixtures.

        Mixtures are not tried if a sample's is good enough, and no more after one that is at most
        `slack` above each lower bound.
        """
        indices = sorted(range(len(self.problems)), key=lambda s: -self.bounds[s])
        own: dict[int, _Candidate] = {}
        for s in indices:
            problem = self.problems[s]
            pools = tuple(pool._replace(capacity=None) for pool in problem.pools)
            solved = solve(Problem(problem.buffers, pools), budget=self.budget)
            assert isinstance(solved, Plan), "a problem without capacities has a plan"
            self.bounds[s] = max(self.bounds[s], solved.lower_bound)
            own[s] = self._candidate(orientation_of(problem, solved.offsets))
            yield from self._add(own[s])
        if any(map(self.is_good_enough, own.values())):
            return

        def loss(pair: tuple[int, int]) -> float:
            a, b = pair
            return own[a].ratios[b] + own[b].ratios[a]

        usable = [s for s in indices if self.bounds[s] > 0]
        pairs = sorted(combinations(usable, 2), key=loss, reverse=True)[:_PAIRS]
        remaining = _MAX_BUFFERS
        for weights in _WEIGHTS:
            for a, b in pairs:
                remaining -= len(self.sizes[0])
                if remaining < 0:
                    return
                mixture = self._mixture((a, b), weights)
                if mixture is None:
                    continue
                solved = solve(mixture, budget=self.budget // 8)
                assert isinstance(solved, Plan), "a problem without capacities has a plan"
                orientation = orientation_of(mixture, solved.offsets)
                alignment = tuple(self.problems[0].columns.alignment.tolist())
                orientation = Orientation(orientation.order, orientation.below, alignment)
                candidate = self._candidate(orientation)
                yield from self._add(candidate)
                if all(
                    h <= b + self.slack for h, b in zip(candidate.heights, self.bounds, strict=True)
                ):
                    return

    def choice(self, kept: tuple[_Candidate, ...]) -> Choice:
        return Choice(
            tuple(one.orientation for one in kept),
            tuple(self.bounds),
            tuple(one.heights for one in kept),
        )

    def _candidate(self, orientation: Orientation) -> _Candidate:
        heights = tuple(orientation.height(size.tolist()) for size in self.sizes)
        return _Candidate(orientation, heights, _ratios(heights, self.bounds))

    def is_good_enough(self, candidate: _Candidate) -> bool:
        """Test whether `candidate` alone is near the lower bound at each sample."""
        return all(
            height <= max(bound + self.slack, GOOD_ENOUGH * bound)
            for height, bound in zip(candidate.heights, self.bounds, strict=True)
        )

    def _add(self, candidate: _Candidate) -> Iterator[_Candidate]:
        if candidate.orientation.below not in self.seen:
            self.seen.add(candidate.orientation.below)
            self.tried.append(candidate)
            yield candidate

    def _mixture(self, pair: tuple[int, int], weights: tuple[int, int]) -> Problem | None:
        """
        Return the problem of weighted sums of sizes; None if they exceed the range of sizes.

        Each sample is multiplied by an integer near weight / bound, so that sums that are
        equal at both samples stay equal. Sizes are rounded up to alignments first.
        """
        alignment = self.problems[0].columns.alignment
        rounded = [-(-self.sizes[s] // alignment) * alignment for s in pair]
        totals = [
            sum(size.tolist()) // self.bounds[s] + 1 for s, size in zip(pair, rounded, strict=True)
        ]
        scale = min(2**48, LIMIT // (16 * sum(totals)))
        factors = [
            max(1, scale * w // (sum(weights) * self.bounds[s]))
            for s, w in zip(pair, weights, strict=True)
        ]
        total = sum(f * sum(r.tolist()) for f, r in zip(factors, rounded, strict=True))
        if total + len(alignment) >= LIMIT:
            return None
        return _with_sizes(self.problems[0], factors[0] * rounded[0] + factors[1] * rounded[1])


def _bound(problem: Problem) -> int:
    """
    Return a lower bound on arenas that includes padding by alignments.

    If all offsets are multiples of a unit, sizes may be rounded up to it, except that nothing lies
    on top of the highest buffer.
    """
    bound = lower_bound(core_of(problem))
    _, _, size, alignment = problem.columns
    unit = int(np.gcd.reduce(alignment)) if len(alignment) else 1
    if unit == 1:
        return bound
    rounded = -(-size // unit) * unit
    if not (rounded != size).any():
        return bound
    room = int((rounded - size).max())
    return max(bound, lower_bound(core_of(_with_sizes(problem, rounded))) - room)


def _with_sizes(problem: Problem, sizes: Ints) -> Problem:
    """Return `problem` with these sizes, no alignments and no capacity."""
    if isinstance(problem.buffers, BufferTable):
        lower, upper, _, _ = problem.columns
        return Problem(BufferTable(Columns(lower, upper, sizes, np.ones_like(sizes))))
    rows = zip(problem.buffers, sizes.tolist(), strict=True)
    return Problem(tuple(b._replace(size=size, alignment=1, pools=()) for b, size in rows))
