"""
Depth-first search that fills the valley with the fewest choices.

    floor
      | ___                ___      A *valley* is a run of cliques with one floor,
      |    |    ___       |         lower than the floor on either side of it.
      |    |___|   |      |
      |    valley  |______|
      |             valley
      +-----------------------> cliques, in order of time

Every body whose sky is the floor of a valley lies within the valley, and nothing can be
placed below that floor any more. So the choice at any clique of a valley is complete:
either one of its members is placed on the floor, or none is, and the floor rises to the
lowest offset at which another body could end. Offsets need not ascend, so the search
stays where choices are fewest, fails early, and most steps are forced.

The result depends strongly on which member is tried first: the caller supplies an order
and restarts with others. Exponential in the worst case; 25 to 50 microseconds per node at
a few hundred bodies. If bodies have gaps or branches, a valley need not keep its bodies: a
clique is taken if no body that stands on its floor has room below for another, or, lowest
first, one of the globally lowest floor.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..buffers import Ints, as_list
from .search import FAR, Search, Tables, depth_first


class _Part(NamedTuple):
    """
    Cliques `lo` to `hi` are unsolved; the arrays are of all bodies or all cliques.

    `choices` counts the members of a clique whose sky is its floor; `support` is the
    lowest offset at which any member can end.
    """

    lo: int
    hi: int
    sky: Ints
    floor: Ints
    remaining: Ints
    choices: Ints
    support: Ints
    cuts: Ints
    ceiling: Ints


class LowestFloorSearch(Search):
    """
    A search by choices at the cliques that have the fewest.

    Members are tried in `order`, which lists all bodies. Among cliques with equally few
    choices, the search takes the one with the least slack or, with `lowest_first`, the
    one with the lowest floor.
    """

    def __init__(self, tables: Tables, order: Ints, lowest_first: bool = False):
        super().__init__(tables)
        self.lowest_first = lowest_first
        rank = np.empty(tables.n, dtype=np.int64)
        rank[order] = np.arange(tables.n)
        self.members = [m[np.argsort(rank[m])] for m in tables.members]

    def decide(self, ceiling: Ints) -> bool:
        t = self.tables
        if not t.n:
            return True
        self.failed: set[bytes] = set()
        self.shift = max(0, self.capacity.bit_length() - 30)
        self.smallest = t.smallest[t.member]
        floor: Ints = np.zeros(t.n_cliques, dtype=np.int64)
        choices, support = floor.copy(), floor.copy()
        if not self._refresh(t.lowest, floor, t.total, choices, support, 0, t.n_cliques):
            return False
        roots = [
            _Part(lo, hi, t.lowest, floor, t.total, choices, support, t.cuts, ceiling)
            for lo, hi in t.split(0, t.n_cliques, t.cuts)
        ]
        return depth_first(roots, self._choices)

    def _refresh(
        self, sky: Ints, floor: Ints, remaining: Ints, choices: Ints, support: Ints, a: int, z: int
    ) -> bool:
        """Update the state of cliques `a` to `z`; return False if one cannot fit."""
        t = self.tables
        p, q = t.starts[a], t.starts[z]
        skies, starts = sky[t.member[p:q]], t.start[a:z] - p
        low = np.minimum.reduceat(skies, starts)
        if ((low + remaining[a:z]) > self.capacity).any():
            return False
        floor[a:z] = low
        stands = skies == low[t.clique_of_member[p:q] - a]
        choices[a:z] = np.add.reduceat(stands, starts, dtype=np.int64)
        support[a:z] = np.minimum.reduceat(skies + self.smallest[p:q], starts)
        return True

    def _pick(self, part: _Part) -> tuple[int, int, int]:
        """Return the clique to continue with and the valley it is in: (clique, first, last)."""
        lo, hi = part.lo, part.hi
        floor, remaining = part.floor[lo:hi], part.remaining[lo:hi]
        room = self.capacity - floor - remaining
        support, choices = part.support[lo:hi], part.choices[lo:hi]
        if not self.tables.has_spans:
            return self._pick_of_sets(part, room)
        second = (floor if self.lowest_first else room) >> self.shift
        edges = np.flatnonzero(floor[1:] != floor[:-1]) + 1
        starts = np.concatenate(([0], edges))
        lengths = np.append(edges, hi - lo) - starts
        heights = floor[starts]
        walls = np.concatenate(([FAR], heights, [FAR]))
        is_valley = (heights < walls[:-2]) & (heights < walls[2:])
        is_valley &= heights < self.capacity
        rise = np.minimum.reduceat(support, starts) - heights
        # Leaving bytes empty is one more choice if there is room for it.
        options = choices + (room >= np.repeat(rise, lengths))
        score = (options << 31) + second
        score[np.repeat(~is_valley, lengths)] = FAR
        k = int(score.argmin())
        run = int(np.searchsorted(starts, k, side="right")) - 1
        first = lo + int(starts[run])
        return lo + k, first, first + int(lengths[run])

    def _pick_of_sets(self, part: _Part, room: Ints) -> tuple[int, int, int]:
        """Return the clique to continue with, if bodies have gaps or branches."""
        t, lo, hi, sky = self.tables, part.lo, part.hi, part.sky
        floor, remaining = part.floor[lo:hi], part.remaining[lo:hi]
        if self.lowest_first:
            low = int(floor[remaining > 0].min())
            score = part.choices[lo:hi] + (room >= part.support[lo:hi].min() - low)
            score[(floor > low) | (remaining == 0)] = FAR
            return lo + int(score.argmin()), lo, hi
        levels = t.supports.levels(sky)
        p, q = t.starts[lo], t.starts[hi]
        member, starts = t.member[p:q], t.start[lo:hi] - p
        stands = sky[member] == part.floor[t.clique_of_member[p:q]]
        has_room_below = np.logical_or.reduceat((levels <= sky)[member] & stands, starts)
        rise = np.minimum.reduceat(np.where(stands, levels[member], FAR), starts) - floor
        score = ((part.choices[lo:hi] + (room >= rise)) << 31) + (room >> self.shift)
        score[has_room_below | (remaining == 0)] = FAR
        return lo + int(score.argmin()), lo, hi

    def _choices(self, part: _Part) -> Iterator[list[_Part]]:
        t, capacity = self.tables, self.capacity
        lo, hi, sky, floor, remaining, choices, support, cuts, ceiling = part
        if not remaining[lo:hi].any():
            yield []
            return
        key = t.state(lo, hi, sky)
        if key in self.failed:
            return
        clique, valley_from, valley_to = self._pick(part)
        at = int(floor[clique])
        members = self.members[clique]
        for b in as_list(members[sky[members] == at]):
            placed = self.placed(b, at, sky, remaining, ceiling)
            if placed is None:
                continue
            new_sky, new_remaining = placed
            new_floor, new_choices, new_support = floor.copy(), choices.copy(), support.copy()
            a, z = max(t.reach_first[b], lo), min(t.reach_last[b], hi)
            if not self._refresh(new_sky, new_floor, new_remaining, new_choices, new_support, a, z):
                continue
            self.offsets[b] = at * t.unit
            new_ceiling = ceiling.copy()
            new_ceiling[b] = capacity
            new_cuts = cuts.copy()
            new_cuts[t.firsts[b] : t.lasts[b] - 1] -= 1
            left = new_sky, new_floor, new_remaining, new_choices, new_support
            split = t.split(lo, hi, new_cuts)
            yield [_Part(x, y, *left, new_cuts, new_ceiling) for x, y in split]
        yield from self._raise(part, clique, at, valley_from, valley_to)
        self.failed.add(key)

    def _raise(
        self, part: _Part, clique: int, at: int, valley_from: int, valley_to: int
    ) -> Iterator[list[_Part]]:
        """
        Continue without placing a member of `clique` on its floor.

        The members whose sky is the floor must then rest on some other unplaced body, so
        their skies rise to the lowest end of such a body. Other members keep their skies.
        """
        t, capacity = self.tables, self.capacity
        lo, hi, sky, floor, remaining, choices, support, _, ceiling = part
        members = self.members[clique]
        standing = members[sky[members] == at]
        self.meter.tick()
        if t.has_spans:
            others = (t.first < valley_to) & (t.last > valley_from) & (sky < capacity)
            others[standing] = False
            if not others.any():
                return
            level = (sky[others] + t.smallest[others]).min()
        else:
            without = sky.copy()
            without[standing] = capacity
            level = t.supports.levels(without)[standing].min()
        raised = t.align_up(np.full(len(standing), level), standing)
        if (raised > ceiling[standing]).any():
            return
        new_sky = sky.copy()
        new_sky[standing] = raised
        new_floor, new_choices, new_support = floor.copy(), choices.copy(), support.copy()
        a, z = t.clique_span[clique]
        a, z = max(a, lo), min(z, hi)
        if self._refresh(new_sky, new_floor, remaining, new_choices, new_support, a, z):
            changed = dict(sky=new_sky, floor=new_floor, choices=new_choices, support=new_support)
            yield [part._replace(**changed)]
