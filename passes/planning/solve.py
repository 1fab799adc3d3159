"""
Solve a problem with a named strategy: `solve(problem, strategy, budget)`.

- `coalesce`, `first-fit`, `best-fit`, `greedy-by-size`, `greedy-by-breadth`: one plan,
  in milliseconds.
- `exact`: the best of the cheap plans, then a search for the smallest height; without a
  budget it continues until that is proved.
- `auto`: the cheap plans until one reaches the lower bound, then a search with a budget
  that depends on the problem's size, or local repair of a large problem.

A budget counts search nodes, not seconds, so results do not depend on the machine.
The searches are imported on first use: a cheap plan is enough for most problems, and
`xrelay-plan` should start fast.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice

import numpy as np

from .bounds import lower_bound
from .buffers import as_list
from .core import Core, allowed_places, core_of, tied_rows
from .greedy import Placement
from .portfolio import NAMED, as_array, best_plan, plans
from .problem import Infeasible, Plan, Problem

STRATEGIES = (*NAMED, "exact", "auto")
"""The values of `strategy` that `solve` accepts."""

NODES = 130_000
"""Search nodes that `auto` may spend without an explicit budget; see `_usual_budget`."""

_UNLIMITED = 2**62
_MAX_BODIES = 1500
"""Above this, `auto` without a budget repairs locally instead of searching."""


class UnknownStrategy(ValueError):
    """An unknown strategy; the message lists the known ones."""


class _Best:
    """The best placement so far, its strategy, and the nodes spent."""

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
    Plan `problem` with `strategy`; raise UnknownStrategy if it does not exist.

    `budget` limits the search nodes of `exact` and `auto`; the others ignore it. With a
    capacity, the search stops at the first plan that fits.
    """
    began = time.process_time()
    if strategy not in STRATEGIES:
        raise UnknownStrategy(
            f"unknown strategy '{strategy}' (expected one of: {', '.join(STRATEGIES)})"
        )
    core = core_of(problem)
    best = _Best(core, lower_bound(core))
    _STEPS.get(strategy, _cheap)(best, strategy, budget)
    return _answer(problem, best, strategy, time.process_time() - began)


def _cheap(best: _Best, strategy: str, budget: int | None) -> None:
    best.placement, best.name = NAMED[strategy](best.core), strategy


def _exact(best: _Best, strategy: str, budget: int | None) -> None:
    """Take the best cheap plan, then search with the whole budget."""
    found = best_plan(best.core, best.bound)
    if found is not None:
        best.name, best.placement = found
    _search(best, _UNLIMITED if budget is None else budget)


def _auto(best: _Best, strategy: str, budget: int | None) -> None:
    core = best.core
    if budget is None and core.is_simple and core.n_bodies > _MAX_BODIES:
        _auto_large(best)
        return
    found = best_plan(core, best.bound)
    if found is not None:
        best.name, best.placement = found
        if best.height <= best.bound:
            return
    _search(best, _usual_budget(core) if budget is None else budget)


def _usual_budget(core: Core) -> int:
    """Return fewer nodes if each costs more: a few seconds in all, whatever the problem."""
    return int(NODES / (1 + core.n_overlaps / 14_000))


def _auto_large(best: _Best) -> None:
    """Repair the better of two cheap plans; if that is not enough, the best of the others."""
    from .local_repair import repair

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
            best.name = f"{best.name}, local repair"
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
    """Return the answer for several pools whose capacities no placement was found to meet."""
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
    """Return the offsets and pools of the input's rows."""
    row_body = core.row_body
    offsets = np.append(as_array(placement), 0)[row_body]
    pools = np.append(np.array(placement.pools or [0] * core.n_bodies, dtype=np.int64), 0)[row_body]
    if not problem.is_plain:
        # Rows that need no bytes still obey fixed offsets, ties and allowed pools.
        for rows in tied_rows(problem):
            if row_body[rows[0]] < 0:
                fixed, allowed = allowed_places(problem, [problem.buffers[row] for row in rows])
                offsets[rows], pools[rows] = max(fixed, 0), allowed[0]
    return tuple(as_list(offsets)), tuple(as_list(pools))
