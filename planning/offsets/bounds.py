"""
A lower bound on the height of every plan.

`lower_bound` is the largest load: the most bytes alive at one time. It is exact for most
real networks (a plan of that height exists) and cheap: O(n log n) by sorting births and
deaths. Four constraints refine it:

- *Alignment.* Among bodies aligned to multiples of `a`, every one but the topmost takes
  its size rounded up to `a`.
- *Branches.* Only one arm of a branch is taken: the bound uses the largest arm, not their
  sum (innermost branches first, so nesting is exact).
- *Pools.* Heights add up, so the bound is the larger of the load over all pools together
  and the sum of what each pool must hold on its own.
- *Fixed offsets.* The height is at least the end of every fixed body.
"""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from ..buffers import Ints, as_list
from .core import Core

_MAX_ALIGNMENTS = 16
"""Number of distinct alignments that the refinement tries, largest first."""


def lower_bound(core: Core) -> int:
    """Return a lower bound on the heights of `core`'s pools, summed."""
    if not len(core.lower):
        return 0
    if core.pools is None:
        return _one_pool(core)
    apart = 0
    for pool in range(len(core.capacities)):
        only = [k for k, allowed in enumerate(core.pools) if allowed == (pool,)]
        if only:
            apart += _one_pool(core.in_pool(np.array(only), pool))
    return max(_one_pool(core), apart)


def _one_pool(core: Core) -> int:
    bound = _load_bound(core)
    if (core.fixed >= 0).any():
        top = core.fixed[core.body] + core.size
        bound = max(bound, int(top[core.fixed[core.body] >= 0].max()))
    return bound


def loads_at_births(core: Core) -> Ints:
    """Return the bytes alive at the birth of each box, of the heaviest arm of each branch."""
    if core.arms is not None:
        return _load_with_arms(core)
    return loads(core.lower, core.upper, core.size)


def _load_bound(core: Core) -> int:
    best = int(loads_at_births(core).max())
    if core.arms is not None:
        return best
    alignment = core.alignment[core.body]
    # (Sets, not np.unique: that imports numpy.ma, 10 ms.)
    multiples = [a for a in sorted(set(as_list(alignment))) if a > 1][::-1]
    for a in multiples[:_MAX_ALIGNMENTS] if core.pools is None else ():
        best = max(best, _aligned_load(core, alignment % a == 0, a))
    return best


def loads(lower: Ints, upper: Ints, size: Ints) -> Ints:
    """
    Return the bytes alive at each birth.

    `lower` ascends; entry i is the load at time `lower[i]`. The largest load always
    occurs at a birth.
    """
    return loads_at(lower, lower, upper, size)


def loads_at(times: Ints, lower: Ints, upper: Ints, size: Ints) -> Ints:
    """Return the bytes alive at each of `times`; boxes are in order of birth."""
    born = np.concatenate([[0], np.cumsum(size)])
    deaths = np.argsort(upper, kind="stable")
    died = np.concatenate([[0], np.cumsum(size[deaths])])
    return (
        born[np.searchsorted(lower, times, side="right")]
        - died[np.searchsorted(upper[deaths], times, side="right")]
    )


def _aligned_load(core: Core, member: NDArray[np.bool_], a: int) -> int:
    """Return a bound from the boxes that are aligned to multiples of `a`."""
    lower, upper, size = core.lower[member], core.upper[member], core.size[member]
    rounded = -(-size // a) * a
    load = loads(lower, upper, rounded)
    pad = rounded - size
    highest = int(load.max())
    peaks = sorted(set(as_list(lower[load == highest])))
    # As many of the last as of the first, so that the bound is the same with time reversed.
    tallest_pads = [
        int(pad[(lower <= time) & (upper > time)].max()) for time in {*peaks[:4], *peaks[-4:]}
    ]
    return highest - min(*tallest_pads, int(pad.max()))


def _load_with_arms(core: Core) -> Ints:
    """
    Return the load at each birth when every branch takes its heaviest arm.

    Boxes outside branches are summed as arrays; the load of the others is recomputed at
    each of their births and deaths. O(n log n + branched * alive).
    """
    assert core.arms is not None, "only a core with branches has arms"
    branched = np.zeros(core.n_bodies, dtype=np.bool_)
    branched[core.body[np.array([bool(arms) for arms in core.arms])]] = True
    in_branch = branched[core.body]
    outside = ~in_branch
    result = np.zeros(len(core.lower), dtype=np.int64)
    if outside.any():
        result += loads_at(core.lower, core.lower[outside], core.upper[outside], core.size[outside])
    boxes = as_list(np.flatnonzero(in_branch))
    lower, upper, size = as_list(core.lower), as_list(core.upper), as_list(core.size)
    body = as_list(core.body)
    times = sorted({lower[box] for box in boxes} | {upper[box] for box in boxes})
    heights: list[int] = []
    alive: list[int] = []
    following = 0
    for time in times:
        alive = [box for box in alive if upper[box] > time]
        while following < len(boxes) and lower[boxes[following]] <= time:
            alive.append(boxes[following])
            following += 1
        largest: dict[int, int] = {}
        for box in one_arm_each(alive, core, size):
            largest[body[box]] = max(largest.get(body[box], 0), size[box])
        heights.append(sum(largest.values()))
    step = np.searchsorted(np.array(times), core.lower, side="right")
    return result + np.array([0, *heights], dtype=np.int64)[step]


def one_arm_each(alive: list[int], core: Core, size: list[int]) -> list[int]:
    """
    Return those of `alive` that remain when every branch takes its heaviest arm.

    The innermost branches are decided first. The remaining boxes conflict pairwise, so
    their bytes are needed together; if branches nest properly, no other choice of arms
    is heavier.
    """
    assert core.arms is not None, "only a core with branches has arms"
    depth: dict[str, int] = {}
    members: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for box in alive:
        for level, (branch, arm) in enumerate(core.arms[box]):
            depth[branch] = max(depth.get(branch, 0), level)
            members[branch].append((box, arm))
    dropped: set[int] = set()
    for branch in sorted(depth, key=lambda name: (-depth[name], name)):
        weight: defaultdict[str, int] = defaultdict(int)
        for box, arm in members[branch]:
            if box not in dropped:
                weight[arm] += size[box]
        if len(weight) > 1:
            taken = min(weight, key=lambda name: (-weight[name], name))
            dropped.update(box for box, arm in members[branch] if arm != taken)
    return [box for box in alive if box not in dropped]
