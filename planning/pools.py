"""
Minimize an objective over several pools: the sum of their heights, or the cost of their bytes.

Bodies are assigned to pools depth-first, largest body and best pool first. A branch is pruned when
its least value reaches the best known one, or the lower bounds of the pools' contents exceed a
capacity. When all bodies are assigned, each pool is a problem of its own, solved by `exact.shrink`
and memoised. Exponential in the number of bodies that may lie in more than one pool: proofs are for
small problems; larger ones keep the best plan that the budget finds.
"""

from dataclasses import dataclass
from math import lcm

import numpy as np

from .buffers import Ints, as_list
from .meter import NEVER, Meter, OutOfNodes
from .objectives import Objective
from .offsets.bounds import lower_bound
from .offsets.core import Core
from .offsets.exact import Outcome, shrink
from .offsets.greedy import Placement, find_gap
from .offsets.portfolio import as_array, best_plan
from .offsets.sort_keys import by_size


@dataclass
class PoolsOutcome:
    """
    The best placement (None: none within the capacities) and a lower bound on its value.

    `is_complete`: all assignments were considered, so the placement is optimal or, if
    None, impossible.
    """

    placement: Placement | None
    bound: int
    nodes: int
    is_complete: bool


def shrink_pools(
    core: Core,
    placement: Placement | None,
    objective: Objective,
    budget: int,
    deadline: float = NEVER,
) -> PoolsOutcome:
    """Improve `placement` with at most `budget` nodes, until `deadline`."""
    bound = objective.bound
    if placement is not None and objective.value(placement) <= bound:
        return PoolsOutcome(prefer(core, placement, objective), bound, 0, True)
    search = _AssignmentSearch(core, placement, objective, Meter(budget, deadline=deadline))
    try:
        search.run()
        is_complete = search.all_proved
    except OutOfNodes:
        is_complete = False
    best = prefer(core, search.best, objective) if search.best is not None else None
    if is_complete and best is not None:
        bound = max(bound, objective.value(best))
    return PoolsOutcome(best, bound, min(search.meter.nodes, budget), is_complete)


class _AssignmentSearch:
    def __init__(self, core: Core, placement: Placement | None, objective: Objective, meter: Meter):
        self.core, self.objective = core, objective
        self.best = placement
        self.meter = meter
        self.known: dict[tuple[int, tuple[int, ...]], Outcome] = {}
        self.all_proved = True

    def run(self) -> None:
        """Assign bodies to pools, with a stack of (bodies assigned before, next pool)."""
        core, choices = self.core, self.objective.choices
        order = as_list(by_size(core))
        held: list[list[int]] = [[] for _ in core.capacities]
        assigned: list[int] = []
        stack = [(0, pool) for pool in reversed(choices[order[0]])] if order else []
        while stack:
            depth, pool = stack.pop()
            while len(assigned) > depth:
                held[assigned.pop()].pop()
            self.meter.tick()
            assigned.append(pool)
            held[pool].append(order[depth])
            if not self._may_win(held):
                continue
            if depth + 1 == len(order):
                self._settle(held)
                if not self._beats(self.objective.bound):
                    return
            else:
                stack += [(depth + 1, p) for p in reversed(choices[order[depth + 1]])]

    def _may_win(self, held: list[list[int]]) -> bool:
        needs = [0] * len(held)
        for pool, bodies in enumerate(held):
            capacity = self.core.capacities[pool]
            if bodies and not (capacity is None and self.objective.enough(None) is not None):
                needs[pool] = lower_bound(self.core.in_pool(np.array(sorted(bodies)), pool))
                if capacity is not None and needs[pool] > capacity:
                    return False
        return self._beats(self.objective.least(held, needs))

    def _settle(self, held: list[list[int]]) -> None:
        """Pack each pool of a complete assignment, and keep the placement if it is the best."""
        offsets, pools = [0] * self.core.n_bodies, [0] * self.core.n_bodies
        heights = [0] * len(held)
        for pool, bodies in enumerate(held):
            if not bodies:
                continue
            outcome = self._pack(pool, tuple(sorted(bodies)))
            if outcome is None:
                return
            heights[pool] = outcome.height
            capacity = self.core.capacities[pool]
            too_tall = capacity is not None and outcome.height > capacity
            value = self.objective.least(held, heights)
            lowest = [*heights[:pool], outcome.bound, *heights[pool + 1 :]]
            least = self.objective.least(held, lowest)
            if too_tall or not self._beats(value):
                # Only a lower bound can prove that this assignment is not better.
                still_too_tall = capacity is not None and outcome.bound > capacity
                if not still_too_tall and self._beats(least):
                    self.all_proved = False
                return
            for body, at in zip(sorted(bodies), as_list(outcome.offsets), strict=True):
                offsets[body], pools[body] = at, pool
            if least < value:
                self.all_proved = False
        self.best = Placement(offsets, pools, heights)

    def _beats(self, value: int) -> bool:
        return self.best is None or value < self.objective.value(self.best)

    def _pack(self, pool: int, bodies: tuple[int, ...]) -> Outcome | None:
        """Return the best plan of `bodies` in `pool`; None if fixed ones collide."""
        key = (pool, bodies)
        if key not in self.known:
            core = self.core.in_pool(np.array(bodies), pool)
            if _fixed_collide(core):
                return None
            bound = lower_bound(core)
            best = best_plan(core, bound)
            assert best is not None, "a single pool has no capacity here, so it holds everything"
            left = self.meter.limit - self.meter.nodes
            enough = self.objective.enough(self.core.capacities[pool])
            outcome = shrink(core, as_array(best[1]), bound, left, enough, self.meter.deadline)
            self.meter.nodes += outcome.nodes
            self.known[key] = outcome
        return self.known[key]


def _fixed_collide(core: Core) -> bool:
    fixed = as_list(core.fixed)
    return any(
        fixed[other] >= 0 and fixed[other] - mine < fixed[k] < fixed[other] + its
        for k in as_list(np.flatnonzero(core.fixed >= 0))
        for other, mine, its in core.conflicts[k]
    )


def prefer(core: Core, placement: Placement, objective: Objective) -> Placement:
    """Move bodies to better pools if that raises no pool's height."""
    if placement.pools is None:
        return placement
    offsets, pools = list(placement.offsets), list(placement.pools)
    sizes, alignment = as_list(core.body_size), as_list(core.alignment)
    fixed = as_list(core.fixed)
    for k in as_list(by_size(core)):
        for pool in objective.choices[k]:
            if pool == pools[k]:
                break
            near = sorted(
                (offsets[other] - mine, offsets[other] + its)
                for other, mine, its in core.conflicts[k]
                if pools[other] == pool
            )
            step = lcm(alignment[k], core.pool_alignments[pool])
            at = fixed[k] if fixed[k] >= 0 else find_gap(near, 0, step, False)
            clear = not any(low < at < high for low, high in near)
            if clear and at + sizes[k] <= placement.heights[pool]:
                offsets[k], pools[k] = at, pool
                break
    return Placement(offsets, pools, _heights(offsets, pools, core.body_size, core))


def _heights(offsets: list[int], pools: list[int], size: Ints, core: Core) -> list[int]:
    heights = [0] * len(core.capacities)
    for at, pool, need in zip(offsets, pools, as_list(size), strict=True):
        heights[pool] = max(heights[pool], at + need)
    return heights
