"""
Plan from the peak, the busiest time, outwards, as an allocator would.

The bodies alive at the peak are stacked without holes, so that the peak needs exactly the
lower bound. From there, one sweep goes forward in time and one backward. In each, a body
that dies leaves a hole, adjacent holes merge, and a body that is born takes the smallest
hole that holds it, or goes on top. The two sweeps see disjoint sets of bodies, so neither
disturbs the other.

O(n log n) however many bodies are alive together (a free list instead of pairs), so this
is the strategy for training steps, where half of all buffers are alive when the backward
pass begins. Weakness: holes away from the peak are filled in order of birth, without
look-ahead; that matters if the load stays near its peak for long. Stacking the peak first
is the idea of greedy by breadth (Pisarchyk and Lee, 2020); the free list is that of
best-fit allocators (Knuth, TAOCP 1, 2.5).
"""

from bisect import bisect_left, insort
from heapq import heapify, heappop, heappush

import numpy as np

from ..buffers import Ints, as_list
from ..meter import NEVER, hold
from .bounds import loads
from .core import Core


def sweep_from_peak(
    core: Core, stack: str = "death", ends: bool = True, deadline: float = NEVER
) -> Ints:
    """
    Return the offsets of a simple core's bodies.

    `stack` orders the peak's bodies from offset 0 upwards: "death" (last to die lowest),
    "birth" (first born lowest), "life" (longest-lived lowest). With `ends`, a body is
    placed at whichever end of its hole has the neighbour that dies closest to it;
    otherwise at the low end. Raises OutOfNodes at `deadline`.
    """
    lower, upper = core.lower, core.upper
    size = -(-core.size // core.alignment) * core.alignment
    peak = int(lower[loads(lower, upper, size).argmax()])
    at_peak = np.flatnonzero((lower <= peak) & (upper > peak))
    if stack == "death":
        order = np.lexsort((lower[at_peak], -upper[at_peak]))
    elif stack == "birth":
        order = np.lexsort((-upper[at_peak], lower[at_peak]))
    else:
        order = np.lexsort((lower[at_peak], (lower - upper)[at_peak]))
    # Sizes are rounded up, so stacking wastes bytes only if alignments are mixed.
    at_peak = at_peak[order]
    offsets = np.zeros(core.n_bodies, dtype=np.int64)
    top = 0
    for k, need, a in zip(
        as_list(at_peak), as_list(size[at_peak]), as_list(core.alignment[at_peak]), strict=True
    ):
        top = -(-top // a) * a
        offsets[k] = top
        top += need
    after = np.flatnonzero(lower > peak)
    before = np.flatnonzero(upper <= peak)
    before = before[np.argsort(-upper[before], kind="stable")]
    _sweep(offsets, size, core.alignment, at_peak, upper, after, lower, upper, ends, deadline)
    _sweep(offsets, size, core.alignment, at_peak, -lower, before, -upper, -lower, ends, deadline)
    return offsets


def _sweep(
    offsets: Ints,
    size: Ints,
    alignment: Ints,
    standing: Ints,
    standing_until: Ints,
    coming: Ints,
    births: Ints,
    deaths: Ints,
    ends: bool,
    deadline: float,
) -> None:
    """Place `coming` (bodies in order of birth) around `standing`, the bodies of the peak."""
    need_of, align_of, until_of = as_list(size), as_list(alignment), as_list(deaths)
    place = as_list(offsets)
    dying = list(zip(as_list(standing_until[standing]), as_list(standing), strict=True))
    heapify(dying)
    aligned = bool((alignment > 1).any())
    by_start: dict[int, int] = {}  # holes: start to end
    by_end: dict[int, int] = {}  # holes: end to start
    holes: list[tuple[int, int]] = []  # (bytes, start), sorted
    above: dict[int, int] = {}  # bodies by first byte: the neighbours of holes
    below: dict[int, int] = {}  # bodies by end
    top = 0
    for k in sorted(as_list(standing), key=place.__getitem__):
        if place[k] > top:
            by_start[top], by_end[place[k]] = place[k], top
            insort(holes, (place[k] - top, top))
        above[place[k]] = below[place[k] + need_of[k]] = k
        top = place[k] + need_of[k]

    for turn, (k, now) in enumerate(zip(as_list(coming), as_list(births[coming]), strict=True)):
        hold(deadline, turn)
        while dying and dying[0][0] <= now:
            _, dead = heappop(dying)
            start, end = place[dead], place[dead] + need_of[dead]
            del above[start], below[end]
            if start in by_end:
                low = by_end.pop(start)
                del by_start[low], holes[bisect_left(holes, (start - low, low))]
                start = low
            if end in by_start:
                high = by_start.pop(end)
                del by_end[high], holes[bisect_left(holes, (high - end, end))]
                end = high
            if end == top:
                top = start
            else:
                by_start[start], by_end[end] = end, start
                insort(holes, (end - start, start))
        need, until = need_of[k], until_of[k]
        i = bisect_left(holes, (need, -1))
        at = -1
        while i < len(holes):
            room, start = holes[i]
            at = -(-start // align_of[k]) * align_of[k] if aligned else start
            if at + need <= start + room:
                break
            i += 1
        if i < len(holes):
            room, start = holes.pop(i)
            end = start + room
            del by_start[start], by_end[end]
            if ends and room > need and not (need_of and aligned):
                under, over = below.get(start), above.get(end)
                if over is not None and (
                    under is None or abs(until_of[over] - until) < abs(until_of[under] - until)
                ):
                    at = end - need
            for a, z in ((start, at), (at + need, end)):
                if a < z:
                    by_start[a], by_end[z] = z, a
                    insort(holes, (z - a, a))
        else:
            at = -(-top // align_of[k]) * align_of[k]
            if at > top:
                by_start[top], by_end[at] = at, top
                insort(holes, (at - top, top))
            top = at + need
        place[k] = at
        above[at] = below[at + need] = k
        heappush(dying, (until, k))
    offsets[coming] = np.array(place, dtype=np.int64)[coming]
