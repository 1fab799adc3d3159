"""
Shared parts of the two exact searches: tables of one problem, and a depth-first search.

Both decide whether a plan of height at most `capacity` exists. They place bodies from
offset 0 upwards, one by one. The vocabulary of both:

- *sky* of an unplaced body: the lowest offset it can still get (`min_offset` in
  MiniMalloc).
- *clique*: a set of bodies that conflict pairwise (those alive at one time; only maximal
  sets are kept; a "section" in MiniMalloc), in order of time.
- *floor* of a clique: the lowest sky of its unplaced members. All of their bytes must fit
  between floor and capacity: the bound that prunes.
- *cut*: the boundary between two adjacent cliques; `cuts` counts the unplaced bodies that
  cross it. At 0 the problem splits: both sides are solved on their own, and if one has no
  solution, the choices made within the other are not retried.

Subproblems that have no solution are remembered by the skies of their bodies: the search
often reaches them again along another path.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from math import gcd
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from ..buffers import Ints, as_list
from ..meter import Meter, OutOfNodes
from .core import Core

FAR = 2**62
"""An offset above all others."""

_MAX_ARM_CHOICES = 64
"""Limit on the cliques that branch arms make of the bodies alive at one time."""


class _Supports(NamedTuple):
    """
    For each body, the bodies that it may rest on, itself with a size beyond all bounds last.

    Body b rests on `body[k]`, which needs `size[k]` while both are alive, for k from `start[b]`.
    """

    start: Ints
    body: Ints
    size: Ints

    @staticmethod
    def of(neighbours: Sequence[Ints], sizes: Sequence[Ints]) -> "_Supports":
        counts = np.array([len(near) + 1 for near in neighbours])
        ends = np.cumsum(counts) - 1
        body, size = np.arange(0), np.arange(0)
        if len(counts):
            body = np.concatenate([np.append(near, b) for b, near in enumerate(neighbours)])
            size = np.concatenate([np.append(size, FAR) for size in sizes])
        return _Supports(ends - counts + 1, body, size)

    def levels(self, sky: Ints) -> Ints:
        """Return the lowest offset at which each body can rest on another, for these skies."""
        return np.minimum.reduceat(sky[self.body] + self.size, self.start)


class Tables:
    """
    A core of one pool, prepared for search. All bytes are in multiples of `unit`.

    With E the summed sizes of the S cliques: `member` (E) lists the bodies of clique s
    from `start[s]` to `start[s + 1]`; `clique_of_member` (E) is the inverse. For body b:
    `neighbours[b]` are the bodies it conflicts with, which must be at least
    `clearance[b]` above it if they are above; `own[b]` indexes the cliques it is in,
    where it takes `own_size[b]`; `first[b]:last[b]` spans these cliques, and
    `reach_first[b]:reach_last[b]` also those of its neighbours.
    """

    def __init__(self, core: Core):
        self.core = core
        self.n = n = core.n_bodies
        self.grain = gcd(*as_list(core.alignment)) if n else 1
        rounded = -(-core.size // self.grain) * self.grain
        self.unit = unit = unit_of(core, rounded)
        rounded //= unit
        self.size: Ints = np.zeros(n, dtype=np.int64)
        np.maximum.at(self.size, core.body, rounded)
        self.true_size = core.body_size
        self.smallest: Ints = np.full(n, np.iinfo(np.int64).max)
        np.minimum.at(self.smallest, core.body, rounded)
        steps = np.maximum(core.alignment // unit, 1)
        self.alignment = steps if (steps > 1).any() else None
        self.is_fixed = core.fixed >= 0
        self.has_fixed = bool(self.is_fixed.any())
        self.lowest = np.where(core.fixed >= 0, core.fixed, 0) // unit
        self.has_spans = core.has_spans
        if core.has_spans:
            self._index_spans(rounded)
        else:
            self._index_sets(rounded)
        self.start = np.concatenate([[0], np.cumsum([len(m) for m in self.members])])
        self.member = np.concatenate(self.members) if n else np.zeros(0, dtype=np.int64)
        self.n_cliques = len(self.members)
        # Arms multiply cliques, so that a search takes long to set up.
        self.set_up_nodes = self.n_cliques // 4 if core.arms else 0
        self.clique_of_member = np.repeat(np.arange(self.n_cliques), np.diff(self.start))
        self.starts = as_list(self.start)
        self.by_first = np.argsort(self.first, kind="stable")
        bounds = np.arange(self.n_cliques + 1)
        self.first_body = as_list(np.searchsorted(self.first[self.by_first], bounds))
        self.cuts: Ints = np.zeros(self.n_cliques, dtype=np.int64)
        for a, b in zip(self.firsts, self.lasts, strict=True):
            self.cuts[a : b - 1] += 1

    def _index_spans(self, size: Ints) -> None:
        """Index bodies of one box: a clique is those alive at a birth that a death follows."""
        core = self.core
        births = np.array(sorted(set(as_list(core.lower))), dtype=np.int64)
        deaths = np.array(sorted(set(as_list(core.upper))), dtype=np.int64)
        next_death = deaths[np.searchsorted(deaths, births, side="right")]
        next_birth = np.append(births[1:], deaths[-1])
        times = births[next_death <= next_birth]
        self.first = np.searchsorted(times, core.lower, side="left")
        self.last = np.searchsorted(times, core.upper, side="left")
        self.firsts, self.lasts = as_list(self.first), as_list(self.last)
        self.members = [
            np.flatnonzero((self.first <= k) & (self.last > k)) for k in range(len(times))
        ]
        self.total = np.array([size[m].sum() for m in self.members], dtype=np.int64)
        self.own: Sequence[slice | Ints] = [
            slice(a, b) for a, b in zip(self.firsts, self.lasts, strict=True)
        ]
        self.own_size: Sequence[int | Ints] = as_list(size)
        self.clearance: Sequence[int | Ints] = as_list(size)
        self.neighbours: list[Ints] = []
        for b, (a, z) in enumerate(zip(self.firsts, self.lasts, strict=True)):
            near = (self.first < z) & (self.last > a)
            near[b] = False
            self.neighbours.append(np.flatnonzero(near))
        self._index_reach()

    def _index_sets(self, size: Ints) -> None:
        """Index any bodies: a clique is a choice of arms among the bodies alive at one time."""
        core, sizes, body = self.core, as_list(size), as_list(self.core.body)
        lower, upper = as_list(core.lower), as_list(core.upper)
        cliques: list[dict[int, int]] = []
        alive: list[int] = []
        for box in range(len(lower)):
            alive = [other for other in alive if upper[other] > lower[box]]
            alive.append(box)
            following = lower[box + 1] if box + 1 < len(lower) else None
            if following is not None and all(upper[other] > following for other in alive):
                continue
            for chosen in arm_choices(alive, core):
                members: dict[int, int] = {}
                for other in chosen:
                    k = body[other]
                    members[k] = max(members.get(k, 0), sizes[other])
                cliques.append(members)
        self.members = [np.array(sorted(c), dtype=np.int64) for c in cliques]
        self.total = np.array([sum(c.values()) for c in cliques], dtype=np.int64)
        own: list[list[int]] = [[] for _ in range(self.n)]
        own_size: list[list[int]] = [[] for _ in range(self.n)]
        for s, clique in enumerate(cliques):
            for k, bytes_ in sorted(clique.items()):
                own[k].append(s)
                own_size[k].append(bytes_)
        self.own = [np.array(o, dtype=np.int64) for o in own]
        self.own_size = [np.array(o, dtype=np.int64) for o in own_size]
        self.firsts = [o[0] for o in own]
        self.lasts = [o[-1] + 1 for o in own]
        self.first, self.last = np.array(self.firsts), np.array(self.lasts)
        near = core.conflicts
        grain, unit = self.grain, self.unit
        self.neighbours = [np.array([e[0] for e in c], dtype=np.int64) for c in near]
        mine, theirs = (
            [-(-np.array([e[k] for e in c], dtype=np.int64) // grain) * grain // unit for c in near]
            for k in (1, 2)
        )
        self.clearance = mine
        self.supports = _Supports.of(self.neighbours, theirs)
        self._index_reach()

    def _index_reach(self) -> None:
        self.reach_first = [
            int(min(self.first[near].min(initial=a), a))
            for near, a in zip(self.neighbours, self.firsts, strict=True)
        ]
        self.reach_last = [
            int(max(self.last[near].max(initial=z), z))
            for near, z in zip(self.neighbours, self.lasts, strict=True)
        ]

    @cached_property
    def clique_span(self) -> list[tuple[int, int]]:
        """For each clique, the range of cliques that its members are in: (first, last)."""
        return [(int(self.first[m].min()), int(self.last[m].max())) for m in self.members]

    def align_up(self, offset: Ints, bodies: Ints) -> Ints:
        if self.alignment is None:
            return offset
        a = self.alignment[bodies]
        return -(-offset // a) * a

    def capacity_in_units(self, capacity: int) -> int:
        """Return the height, in units, that cliques of rounded sizes may reach."""
        return -(-capacity // self.grain) * self.grain // self.unit

    def ceilings(self, capacity: int) -> Ints:
        """Return the highest offset each body may get, in units."""
        highest = (capacity - self.true_size) // self.unit
        return np.where(self.is_fixed, np.minimum(self.core.fixed // self.unit, highest), highest)

    def limits(self, capacity: int) -> tuple[int, Ints] | None:
        """Return a height in units and the ceilings below it; None if no plan is that low."""
        height, ceiling = self.capacity_in_units(capacity), self.ceilings(capacity)
        if (self.lowest > ceiling).any() or (self.total > height).any():
            return None
        return height, ceiling

    def state(self, lo: int, hi: int, sky: Ints) -> bytes:
        """Return a key of the subproblem in cliques `lo` to `hi`; equal keys are equal problems."""
        inside = sky[self.by_first[self.first_body[lo] : self.first_body[hi]]]
        return lo.to_bytes(4) + hi.to_bytes(4) + blake2b(inside.tobytes(), digest_size=16).digest()

    def split(self, lo: int, hi: int, cuts: Ints) -> list[tuple[int, int]]:
        """Split cliques `lo` to `hi` where no unplaced body crosses."""
        zero = np.flatnonzero(cuts[lo : hi - 1] == 0)
        if not len(zero):
            return [(lo, hi)]
        edges = [lo, *as_list(zero + (lo + 1)), hi]
        return list(itertools.pairwise(edges))


class Search(ABC):
    """A search for a plan of height `capacity`; its offsets in bytes are in `offsets`."""

    def __init__(self, tables: Tables):
        self.tables = tables
        self.offsets: Ints = np.zeros(tables.n, dtype=np.int64)

    def run(self, capacity: int, meter: Meter) -> bool | None:
        """Return whether a plan exists, or None if `meter` ran out first."""
        limits = self.tables.limits(capacity)
        if limits is None:
            return False
        self.capacity, ceiling = limits
        self.meter = meter
        try:
            return self.decide(ceiling)
        except OutOfNodes:
            return None

    @abstractmethod
    def decide(self, ceiling: Ints) -> bool:
        """Search for a plan below `ceiling`; raises `OutOfNodes` if the meter runs out."""

    def placed(
        self, b: int, at: int, sky: Ints, remaining: Ints, ceiling: Ints
    ) -> tuple[Ints, Ints] | None:
        """Return sky and remaining bytes with body `b` at `at`; None if one gets too high."""
        self.meter.tick()
        t, capacity = self.tables, self.capacity
        near = t.neighbours[b]
        raised = t.align_up(np.maximum(sky[near], at + t.clearance[b]), near)
        if t.alignment is not None:
            raised[sky[near] >= capacity] = capacity
        if (raised > ceiling[near]).any():
            return None
        new_sky = sky.copy()
        new_sky[near] = raised
        new_sky[b] = capacity
        new_remaining = remaining.copy()
        new_remaining[t.own[b]] -= t.own_size[b]
        return new_sky, new_remaining


def unit_of(core: Core, sizes: Ints) -> int:
    """Return the gcd of all sizes, alignments above 1 and fixed offsets: heights are multiples."""
    fixed = as_list(core.fixed[core.fixed > 0])
    aligned = [a for a in sorted(set(as_list(core.alignment))) if a > 1]
    return max(1, gcd(int(np.gcd.reduce(sizes)), *aligned, *fixed) if len(sizes) else 1)


def arm_choices(alive: list[int], core: Core) -> Iterator[list[int]]:
    """Yield sets of boxes that conflict pairwise and together cover `alive`."""
    if core.arms is None:
        yield alive
        return
    pending = [alive]
    seen: set[int] = set()
    count = 0
    while pending:
        boxes = pending.pop()
        arms: dict[str, set[str]] = {}
        for box in boxes:
            for arm in core.arms[box]:
                arms.setdefault(arm.branch, set()).add(arm.arm)
        open_ = [branch for branch in sorted(arms) if len(arms[branch]) > 1]
        if not open_:
            count += 1
            seen.update(boxes)
            yield boxes
        elif count + len(pending) < _MAX_ARM_CHOICES:
            for name in sorted(arms[open_[0]], reverse=True):
                pending.append([b for b in boxes if _allows(core, b, open_[0], name)])
        else:
            name = sorted(arms[open_[0]])[0]
            pending.append([b for b in boxes if _allows(core, b, open_[0], name)])
    for box in alive:
        if box not in seen:
            yield [box]


def _allows(core: Core, box: int, branch: str, name: str) -> bool:
    assert core.arms is not None, "only a core with branches has arms"
    return all(arm.branch != branch or arm.arm == name for arm in core.arms[box])


Part = TypeVar("Part")


class _Pending(NamedTuple, Generic[Part]):
    """An unsolved part, the level of the choice that created it, and the next pending part."""

    part: Part
    level: int
    rest: "_Pending[Part] | None"


def depth_first(roots: Iterable[Part], choices: Callable[[Part], Iterator[list[Part]]]) -> bool:
    """
    Test whether some choices solve all of `roots`.

    `choices(part)` yields, for each choice in a part, the independent parts that remain
    (none: the part is solved). When a part runs out of choices the search backtracks to
    the choice that created it, skipping its siblings. Iterative, without recursion.
    """
    pending: _Pending[Part] | None = None
    for part in reversed(list(roots)):
        pending = _Pending(part, -1, pending)
    stack: list[tuple[Iterator[list[Part]], int, _Pending[Part] | None]] = []
    while pending is not None:
        stack.append((choices(pending.part), pending.level, pending.rest))
        while True:
            parts, level, rest = stack[-1]
            remaining = next(parts, None)
            if remaining is not None:
                pending = rest
                for part in reversed(remaining):
                    pending = _Pending(part, len(stack) - 1, pending)
                break
            if level < 0:
                return False
            del stack[level + 1 :]
    return True
