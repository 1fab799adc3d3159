"""
Search for the smallest height and, if the node budget suffices, prove it.

Two searches decide whether a plan of height C exists (`canonical_search`,
`lowest_floor_search`). Neither is best everywhere and both are heavy-tailed: with a good
order a search finds a plan almost without backtracking, with another it does not finish.
So they take turns, each with several orders, in rounds with growing node limits.

Bodies with gaps are moved (`weighted_moves`) once the bound was tried.

Heights are visited in turns too: the proved lower bound, then bisections up to the best known
height, which spend `_ABOVE` times the nodes of the last attempt at the bound. The bound gets
all kinds of attempts, heights above it short ones only. All limits depend on the problem
alone, and a budget only cuts the sequence off: a larger one never gives a higher plan. Nodes
are counted and seeds are fixed, so equal problems give equal plans on every machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count, islice

import numpy as np
import numpy.typing as npt

from ..buffers import Ints, as_list
from ..meter import NEVER, Meter
from .canonical_search import CanonicalSearch
from .core import Core, components, oriented
from .lowest_floor_search import LowestFloorSearch
from .search import Search, Tables, unit_of
from .weighted_moves import WeightedMoves

Floats = npt.NDArray[np.float64]

_LONG = 8
"""Nodes per body of the first long attempts (at least 1000 in all)."""

_SHORT = 3
"""Nodes per body of every short attempt (at least 600 in all)."""

_MOVES, _MOVE_STEPS = 150, 4
"""Moves per body, and the part of what is left to gain that they try to gain next."""

_SHARE = 4
"""Nodes of short attempts for one of a long attempt."""

_FIRST = 5
"""Attempts at a height when it is new."""

_ABOVE, _ABOVE_GAPS = 2, 4
"""Nodes spent above the lower bound for one at it; with gaps, few plans are at it."""

_RESOLUTION = 8
"""A bisection ends at a difference of one part in two to the power of this."""

_LARGEST = 6
"""Windows are around so many cliques of the most bytes, and of the largest bodies."""

_LENGTHS = 1, 2, 3, 4, 6, 8
"""The numbers of cliques in a window."""

_WINDOW_NODES, _ALL_WINDOWS_NODES = 3000, 16_000
"""The search nodes for a window at one height, and for all windows."""

_HIGHEST = 2**63 - 1


@dataclass
class Outcome:
    """The offset in bytes of each body, their height, a proved lower bound, and nodes spent."""

    offsets: Ints
    height: int
    bound: int
    nodes: int


def shrink(
    core: Core,
    offsets: Ints,
    bound: int,
    budget: int,
    capacity: int | None = None,
    deadline: float = NEVER,
) -> Outcome:
    """
    Improve a plan of one pool with at most `budget` nodes, until `deadline`.

    Starts from known `offsets` and a proved lower `bound`; stops when the height is
    proved or the nodes are spent. With a `capacity` above the bound it only searches for
    a plan that fits it. The plan is optimal if height and bound are equal.
    """
    parts = [_Component(core, group, offsets) for group in components(core)]
    meter = Meter(budget, deadline=deadline)
    height = max((part.height for part in parts), default=0)
    proved = bound = min(height, next_height(core, bound - 1))
    enough = bound if capacity is None else max(capacity, bound)
    least = target = enough
    step, owed = unit_of(core, core.size), 0
    above = _ABOVE if core.is_simple else _ABOVE_GAPS
    while height > enough and not meter.is_spent:
        before, is_above, too_low = meter.nodes, target > enough, 0
        answer: bool | None = True
        for part in parts:
            if answer and part.height > target:
                answer = part.fit(target, meter, is_above)
                too_low = part.too_low or 0
        height = max(part.height for part in parts)
        spent = meter.nodes - before
        owed += -spent if is_above else above * spent
        if answer is False:
            proved = next_height(core, max(target, too_low))
            if capacity is not None or proved >= height:
                break
            least = target = enough = proved
            continue
        if answer is None:
            least = target + 1
        if height - least < max(step, proved >> _RESOLUTION):
            least = enough + 1
        target = (least + height - 1) // 2 // step * step
        if capacity is not None or owed <= 0 or target <= enough:
            least = target = enough
    best = offsets.copy()
    for part in parts:
        best[part.bodies] = part.offsets
    return Outcome(best, height, min(proved, height), min(meter.nodes, budget))


def next_height(core: Core, height: int) -> int:
    """Return the lowest height above this one at which some body can end."""
    step = np.where(core.alignment > 1, core.alignment, unit_of(core, core.size))
    size, fixed = core.body_size, core.fixed
    lowest = np.maximum(0, -(-(height + 1 - size) // step) * step)
    ends = np.where(fixed < 0, lowest, fixed) + size
    return int(ends[ends > height].min(initial=_HIGHEST))


class _Component:
    """Bodies that are never alive with others, and the best plan known for them."""

    def __init__(self, core: Core, bodies: Ints, offsets: Ints):
        self.bodies = bodies
        self.core = core.restrict(bodies)
        self.offsets = offsets[bodies]
        self.height = int((self.offsets + self.core.body_size).max(initial=0))
        self.place = np.arange(len(bodies))
        self.tables: Tables | None = None
        self.too_low: int | None = None
        self.attempts: dict[tuple[int, bool], Iterator[_Attempt]] = {}
        self.above: Iterator[_Attempt] = iter(())

    def fit(self, capacity: int, meter: Meter, is_above: bool) -> bool | None:
        """
        Try a plan of at most this height with the next attempts: found, impossible, or None.

        That is one attempt, but `_FIRST` of them when a height is new. Heights above the lower
        bound share a sequence of short attempts with noise.
        """
        if self.tables is None:
            core = self.core
            if core.is_simple:
                core, self.place = oriented(core)
            self.tables = Tables(core)
            self.above = _short_attempts(self.tables, np.random.default_rng(3))
        key = capacity, is_above
        is_new = key not in self.attempts
        if is_new:
            above = chain(_plain_attempts(self.tables), self.above)
            self.attempts[key] = above if is_above else _attempts(self.tables)
        attempts = islice(self.attempts[key], _FIRST if is_new else 1)
        answer, offsets = _try(attempts, capacity, meter)
        self.too_low = capacity if answer is False else None
        if answer is None and is_new and not is_above:
            self.too_low = _too_low(self.tables, capacity, self.height, meter)
            answer = None if self.too_low is None else False
            if answer is None and not self.core.is_simple:
                self.lower(self.tables, capacity, meter)
                return self.height <= capacity or None
        if answer and offsets is not None:
            self.offsets = np.empty_like(self.offsets)
            self.offsets[self.place] = offsets
            self.height = int((self.offsets + self.core.body_size).max())
        return answer

    def lower(self, tables: Tables, enough: int, meter: Meter) -> None:
        """Lower the plan by moves of bodies, a part of what is left to gain at a time."""
        moves, own = WeightedMoves(tables), meter.part(_MOVES * tables.n)
        step = unit_of(self.core, self.core.size)
        while self.height > enough:
            gain = max((self.height - enough) // _MOVE_STEPS, self.height >> 9, step)
            if not moves.run(max(enough, self.height - gain), own):
                break
            self.offsets = moves.offsets.copy()
            self.height = int((self.offsets + self.core.body_size).max())
        meter.nodes += min(own.nodes, own.limit)


def _windows(tables: Tables) -> Iterator[Ints]:
    """
    Yield the bodies of windows: a few cliques, one of them large; the shortest windows first.

    They are adjacent, or the largest ones wherever they are: what must be on top of both of two
    cliques may be alive together between them.
    """
    whole = np.array([tables.true_size[members].sum() for members in tables.members])
    largest = [as_list(np.argsort(-bytes_, kind="stable")) for bytes_ in (whole, tables.total)]
    near = sorted({*largest[0][:_LARGEST], *largest[1][:_LARGEST]})
    seen: set[bytes] = set()
    for length in _LENGTHS:
        windows = [order[:length] for order in largest]
        for clique in near:
            starts = dict.fromkeys((clique, clique - length // 2, clique + 1 - length))
            windows += [range(max(k, 0), min(k + length, tables.n_cliques)) for k in starts]
        for window in windows:
            if window:
                bodies = np.unique(np.concatenate([tables.members[k] for k in window]))
                if bodies.tobytes() not in seen:
                    seen.add(bodies.tobytes())
                    yield bodies


def _too_low(tables: Tables, capacity: int, height: int, meter: Meter) -> int | None:
    """
    Return the greatest height, from `capacity` on, that windows prove too low; or None.

    With gaps or alignments, the most bytes alive often are not reached for want of room near one
    clique. A search of all bodies that fails there tries all places of those far off, too.
    """
    if _is_plain(tables):
        return None
    own, proved = meter.part(_ALL_WINDOWS_NODES), None
    for bodies in _windows(tables):
        part, possible, target = Tables(tables.core.restrict(bodies)), height, capacity
        while target < possible and not own.is_spent:
            search = iter([(CanonicalSearch(part, "TWA"), _WINDOW_NODES)])
            if _try(search, target, own)[0] is False:
                proved, capacity = target, next_height(tables.core, target)
            else:
                possible = target
            target = max(capacity, (capacity + possible) // 2)
        if own.is_spent:
            break
    meter.nodes += own.nodes
    return proved


def decide(tables: Tables, capacity: int, meter: Meter) -> tuple[bool | None, Ints | None]:
    """
    Decide whether a plan of at most this height exists: take turns until a search knows.

    Returns True and offsets in bytes, or False, or None if `meter` ran out.
    """
    return _try(_attempts(tables), capacity, meter)


def _try(
    attempts: Iterator["_Attempt"], capacity: int, meter: Meter
) -> tuple[bool | None, Ints | None]:
    for search, limit in attempts:
        own = meter.part(limit)
        answer = search.run(capacity, own)
        meter.nodes += min(own.nodes, own.limit) + search.tables.set_up_nodes
        if answer is not None:
            return answer, search.offsets if answer else None
        if meter.is_spent:
            break
    return None, None


_Attempt = tuple[Search, int]
"""A search, and the limit of its nodes."""


def _attempts(tables: Tables) -> Iterator[_Attempt]:
    """
    Yield attempts without end: first those without noise, then rounds of short and long ones.

    The long ones grow, and decide in the end.
    """
    keys, random = _keys(tables), np.random.default_rng(3)
    short, long = max(600, _SHORT * tables.n), max(1000, _LONG * tables.n)
    yield from _plain_attempts(tables)
    for turn in count():
        yield CanonicalSearch(tables, ("TWA", "TAW", "WAT")[turn % 3]), long
        many = _SHARE * (long if turn else short) // short
        yield from islice(_short_attempts(tables, random, turn), many)
        if turn:
            yield LowestFloorSearch(tables, np.argsort(-keys[turn % 3], kind="stable")), long
            long *= 2


def _keys(tables: Tables) -> tuple[Floats, ...]:
    """Return four keys of the bodies, of which those with large keys should be placed first."""
    core = tables.core
    size = np.log(core.body_size)
    life = np.log(core.body_upper - core.body_lower)
    return size, life, size + life, -core.body_lower / max(int(np.ptp(core.body_lower)), 1)


def _plain_attempts(tables: Tables) -> Iterator[_Attempt]:
    """
    Yield a short attempt for each key.

    With gaps or alignments, the canonical search finds most plans at once or not at all, as do
    both ways to pick a clique; those that live long are the best to place first.
    """
    keys, short, is_plain = _keys(tables), max(600, _SHORT * tables.n), _is_plain(tables)
    if not is_plain:
        yield from ((CanonicalSearch(tables, by), short) for by in ("TWA", "TAW", "WAT"))
        size, life, *others = keys
        keys = life, size, *others, tables.core.body_upper / 1
    for key in keys:
        order = np.argsort(-key, kind="stable")
        for lowest_first in (False,) if tables.has_spans else (False, True):
            yield LowestFloorSearch(tables, order, lowest_first), short


def _is_plain(tables: Tables) -> bool:
    """Test whether bodies have lifetimes and sizes alone."""
    return tables.has_spans and not (tables.core.alignment > 1).any()


def _short_attempts(
    tables: Tables, random: np.random.Generator, turn: int = 0
) -> Iterator[_Attempt]:
    """Yield short attempts without end, each with another order: one of the keys, with noise."""
    keys, short = _keys(tables), max(600, _SHORT * tables.n)
    for k in count():
        noise = random.normal(0.0, float(random.choice([0.1, 0.2, 0.4, 0.7])), tables.n)
        order = np.argsort(-(keys[k % len(keys)] + noise), kind="stable")
        yield LowestFloorSearch(tables, order, bool((turn + k // len(keys)) % 2)), short
