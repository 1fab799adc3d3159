"""
One call for every strategy: `solve(problem, strategy, budget)`.

- `coalesce`, `first-fit`, `best-fit`, `greedy-by-size`, `greedy-by-breadth`: one plan,
  in milliseconds.
- `exact`: the best of the cheap plans, then the search for the smallest height; with
  no budget it goes on until that is proved.
- `auto`: the lower bound, the cheap plans until one reaches it, repair of the stretches
  of time that stand out, the search with a budget that fits the problem's size.

A budget counts search nodes, not seconds, so results do not depend on the machine.
The searches are imported when they are first needed: most problems end at a cheap plan,
and `xrelay-plan` should start fast.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice

import numpy as np

from .bounds import lower_bound
from .core import Core, allowed_places, core_of, tied_rows
from .greedy import Placement
from .portfolio import NAMED, as_array, best_plan, plans
from .problem import Infeasible, Plan, Problem, as_list

STRATEGIES = (*NAMED, "exact", "auto")
"""What `solve` accepts as `strategy`."""

NODES = 130_000
"""Search nodes that `auto` may spend when it is given no budget; see `_usual_budget`."""

_UNLIMITED = 2**62
_MOST_BODIES = 1500
"""Above this `auto` without a budget only repairs stretches of time."""


class UnknownStrategy(ValueError):
    """A strategy that does not exist; the message lists those that do."""


class _Best:
    """The best placement so far, and what it took."""

    def __init__(self, core: Core, bound: int):
        self.core, self.bound = core, bound
        self.name = ""
        self.placement: Placement | None = None
        self.nodes = 0
        self.is_impossible = False

    @property
    def height(self) -> int:
        assert self.placement is not None, "no placement yet"
        return sum(self.placement.heights)


def solve(problem: Problem, strategy: str = "auto", budget: int | None = None) -> Plan | Infeasible:
    """
    Plan `problem`.

    `budget` limits the search nodes of `exact` and `auto`; the others ignore it.
    Raises UnknownStrategy. With a capacity, searching ends at the first plan that fits.
    """
    began = time.process_time()
    if strategy not in STRATEGIES:
        raise UnknownStrategy(
            f"there is no strategy '{strategy}' (there are: {', '.join(STRATEGIES)})"
        )
    core = core_of(problem)
    best = _Best(core, lower_bound(core))
    _STEPS.get(strategy, _cheap)(best, strategy, budget)
    return _answer(problem, best, strategy, time.process_time() - began)


def _cheap(best: _Best, strategy: str, budget: int | None) -> None:
    best.placement, best.name = NAMED[strategy](best.core), strategy


def _exact(best: _Best, strategy: str, budget: int | None) -> None:
    """The cheap plans, then all the nodes there are."""
    found = best_plan(best.core, best.bound)
    if found is not None:
        best.name, best.placement = found
    _search(best, _UNLIMITED if budget is None else budget)


def _auto(best: _Best, strategy: str, budget: int | None) -> None:
    core = best.core
    if budget is None and core.is_simple and core.n_bodies > _MOST_BODIES:
        _auto_large(best)
        return
    found = best_plan(core, best.bound)
    if found is not None:
        best.name, best.placement = found
        if best.height <= best.bound:
            return
    _search(best, _usual_budget(core) if budget is None else budget)


def _usual_budget(core: Core) -> int:
    """Fewer nodes where each costs more: some seconds in all, whatever the problem."""
    return int(NODES / (1 + core.n_overlaps / 14_000))


def _auto_large(best: _Best) -> None:
    """Two cheap plans and repair; the other cheap plans and repair if that is not enough."""
    from .windows import repair

    core, capacity = best.core, best.core.capacities[0]
    everything = plans(core)
    for some in (islice(everything, 2), everything):
        found = best_plan(core, best.bound, some)
        if found is None or (best.placement and sum(found[1].heights) >= best.height):
            continue
        best.name, best.placement = found
        if best.height <= best.bound:
            return
        left = NODES - best.nodes
        outcome = repair(core, as_array(best.placement), best.bound, left, capacity)
        best.nodes += outcome.nodes
        if outcome.height < best.height:
            best.name = f"{best.name}, windows"
            best.placement = Placement(as_list(outcome.offsets), None, [outcome.height])
        if best.height <= best.bound:
            return


_STEPS: dict[str, Callable[[_Best, str, int | None], None]] = {"exact": _exact, "auto": _auto}


def _search(best: _Best, budget: int) -> None:
    core = best.core
    if core.pools is not None:
        from .pools import shrink_pools

        result = shrink_pools(core, best.placement, best.bound, budget)
        if result.placement is not None and result.height < (
            best.height if best.placement is not None else _UNLIMITED
        ):
            best.name = "exact"
        best.placement, best.bound = result.placement, result.bound
        best.is_impossible = result.is_complete and result.placement is None
        best.nodes += result.nodes
        return
    if best.placement is None or best.height <= best.bound:
        return
    from .exact import shrink

    outcome = shrink(core, as_array(best.placement), best.bound, budget, core.capacities[0])
    if outcome.height < best.height:
        best.name = "exact"
        best.placement = Placement(as_list(outcome.offsets), None, [outcome.height])
    best.bound = outcome.bound
    best.nodes += outcome.nodes


def _answer(problem: Problem, best: _Best, strategy: str, seconds: float) -> Plan | Infeasible:
    name = strategy if strategy == best.name or not best.name else f"{strategy} ({best.name})"
    if best.placement is None:
        return _no_room(best, name, seconds)
    height = best.height
    missing = sum(
        max(0, tall - pool.capacity)
        for tall, pool in zip(best.placement.heights, problem.pools, strict=True)
        if pool.capacity is not None
    )
    if missing:
        capacities = [pool.capacity for pool in problem.pools]
        total = None if None in capacities else sum(c for c in capacities if c is not None)
        proved = total is not None and best.bound > total
        return Infeasible(proved, missing, height, best.bound, name, best.nodes, seconds)
    offsets, pools = _by_row(problem, best.core, best.placement)
    return Plan(
        offsets,
        pools,
        tuple(best.placement.heights),
        best.bound,
        height == best.bound,
        name,
        best.nodes,
        seconds,
    )


def _no_room(best: _Best, name: str, seconds: float) -> Infeasible:
    """Several pools, and no way found to stay within their capacities."""
    unlimited = replace(best.core, capacities=(None,) * len(best.core.capacities))
    found = best_plan(unlimited, 0)
    heights = found[1].heights if found is not None else [0]
    limits = best.core.capacities
    missing = sum(
        max(0, tall - limit)
        for tall, limit in zip(heights, limits, strict=False)
        if limit is not None
    )
    total = None if None in limits else sum(c for c in limits if c is not None)
    proved = best.is_impossible or (total is not None and best.bound > total)
    return Infeasible(proved, max(missing, 1), sum(heights), best.bound, name, best.nodes, seconds)


def _by_row(
    problem: Problem, core: Core, placement: Placement
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Offsets and pools of the input's rows."""
    row_body = core.row_body
    offsets = np.append(as_array(placement), 0)[row_body]
    pools = np.append(np.array(placement.pools or [0] * core.n_bodies, dtype=np.int64), 0)[row_body]
    if not problem.is_plain:
        # Rows that need no bytes are still where they are fixed, tied or allowed to be.
        for rows in tied_rows(problem):
            if row_body[rows[0]] < 0:
                fixed, allowed = allowed_places(problem, [problem.buffers[row] for row in rows])
                offsets[rows], pools[rows] = max(fixed, 0), allowed[0]
    return tuple(as_list(offsets)), tuple(as_list(pools))
