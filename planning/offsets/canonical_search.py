"""
Depth-first search over canonical plans.

Every plan can be compacted downwards until each body rests on another or at offset 0, and
be built in order of offset. So the search visits only such plans: a body is placed at
exactly its sky, never below the body placed before it, and, at an equal offset, only
after it in the order of the component. A body is not placed so high that another
unplaced one would fit below it. Candidates are tried by sky, then by that order; when
the problem splits in time, each part gets an order of its own, computed from the bytes
still to be placed there.

Source: Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated
Machine Learning" (2023), with the inference vectorised. Exponential in the worst case;
15 to 30 microseconds per node at a few hundred bodies. Weakness: all times advance
together, so an infeasible region is discovered late.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..buffers import Ints, as_list
from .search import Search, Tables, depth_first


class _Part(NamedTuple):
    """Cliques `lo` to `hi`: the unplaced bodies there, in order, and the state of the search."""

    lo: int
    hi: int
    left: Ints
    sky: Ints
    remaining: Ints
    cuts: Ints
    ceiling: Ints
    last: int
    last_place: int


class CanonicalSearch(Search):
    """
    A search by sort keys of the bodies, most significant first.

    They are "T" the most unplaced bytes at any time of the body's life, "W" the length of its life,
    "A" life times size, "Z" size; each descending.
    """

    def __init__(self, tables: Tables, keys: str):
        super().__init__(tables)
        core = tables.core
        life = (core.body_upper - core.body_lower).astype(np.float64)
        size = core.body_size.astype(np.float64)
        self.static: dict[str, NDArray[np.float64]] = {"W": life, "A": life * size, "Z": size}
        self.keys = keys

    def decide(self, ceiling: Ints) -> bool:
        t = self.tables
        self.failed: set[tuple[bytes, int, int]] = set()
        roots: list[_Part] = []
        for lo, hi in t.split(0, t.n_cliques, t.cuts) if t.n else ():
            roots += self._part(lo, hi, t.lowest.copy(), t.total, t.cuts, ceiling)
        return depth_first(roots, self._choices)

    def _part(
        self, lo: int, hi: int, sky: Ints, remaining: Ints, cuts: Ints, ceiling: Ints
    ) -> list[_Part]:
        """Return the part of cliques `lo` to `hi`, with its own order; nothing if it is empty."""
        t = self.tables
        left = np.flatnonzero((t.first >= lo) & (t.last <= hi) & (sky < self.capacity))
        if not len(left):
            return []
        columns: list[NDArray[np.float64]] = []
        for key in reversed(self.keys):
            if key == "T":
                edges = np.stack([t.first[left], t.last[left]], axis=1).ravel()
                most = np.maximum.reduceat(np.append(remaining, 0), edges)[::2]
                columns.append(-most.astype(np.float64))
            else:
                columns.append(-self.static[key][left])
        left = left[np.lexsort(columns)]
        return [_Part(lo, hi, left, sky, remaining, cuts, ceiling, 0, -1)]

    def _choices(self, part: _Part) -> Iterator[list[_Part]]:
        t, capacity = self.tables, self.capacity
        lo, hi, left, sky, remaining, cuts, ceiling, last, last_place = part
        key = (t.state(lo, hi, sky), last, last_place)
        if key in self.failed:
            return
        here = sky[left]
        too_high = int((here + t.size[left]).min())
        highest = int(capacity - remaining[lo:hi].max())
        if t.has_fixed and t.is_fixed[left].any():
            highest = min(highest, int(here[t.is_fixed[left]].min()))
        allowed = (here < too_high) & (here <= highest) & (here >= last)
        places = np.flatnonzero(allowed)
        skies = here[places]
        by_sky = np.argsort(skies, kind="stable")
        for place, at in zip(as_list(places[by_sky]), as_list(skies[by_sky]), strict=True):
            if at == last and place <= last_place:
                continue
            b = int(left[place])
            placed = self.placed(b, at, sky, remaining, ceiling)
            if placed is None:
                continue
            new_sky, new_remaining = placed
            a, z = max(t.reach_first[b], lo), min(t.reach_last[b], hi)
            p, q = t.starts[a], t.starts[z]
            floor = np.minimum.reduceat(new_sky[t.member[p:q]], t.start[a:z] - p)
            if ((floor + new_remaining[a:z]) > capacity).any():
                continue
            self.offsets[b] = at * t.unit
            new_ceiling = ceiling.copy()
            new_ceiling[b] = capacity
            first, end = t.firsts[b], t.lasts[b]
            new_cuts = cuts.copy()
            new_cuts[first : end - 1] -= 1
            if (new_cuts[first : end - 1] == 0).any():
                parts: list[_Part] = []
                for x, y in t.split(lo, hi, new_cuts):
                    parts += self._part(x, y, new_sky, new_remaining, new_cuts, new_ceiling)
                yield parts
            elif len(left) == 1:
                yield []
            else:
                state = np.delete(left, place), new_sky, new_remaining, new_cuts, new_ceiling
                yield [_Part(lo, hi, *state, at, place - 1)]
        self.failed.add(key)
