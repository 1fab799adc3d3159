"""
Solve a problem with a named strategy: `solve(problem, strategy, budget, timeout, minimize)`.

- `coalesce`, `first-fit`, `best-fit`, `greedy-by-size`, `greedy-by-breadth`: one plan, fast.
- `exact`: the best of the cheap plans, then a search for the smallest height; without a
  budget it continues until that is proved.
- `auto`: the cheap plans until one reaches the lower bound, then a search with a budget
  that depends on the problem's size. A large problem is repaired locally, then planned from
  its peak; only what an explicit budget leaves is spent on searching it as a whole.

With several pools, `minimize="cost"` weighs the bytes that are read and written instead of heights
(`planning.objectives`): moves (`planning.costs`) take the place of the cheap plans, and the search
is the same.

A budget counts search nodes, not seconds, so results do not depend on the machine. A timeout does:
it ends the search where it is. The searches are imported on first use: a cheap plan is enough for
most problems, and `xrelay-plan` should start fast.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from .buffers import ProblemError, as_list
from .meter import NEVER, Meter, is_over
from .objectives import Cost, Heights, Objective
from .offsets.bounds import lower_bound
from .offsets.core import Core, allowed_places, core_of, tied_rows
from .offsets.greedy import Placement
from .offsets.portfolio import NAMED, as_array, best_plan, is_dense, plans
from .problem import Infeasible, Plan, Problem

STRATEGIES = (*NAMED, "exact", "auto")
"""The values of `strategy` that `solve` accepts."""

NODES = 130_000
"""Search nodes that `auto` may spend without an explicit budget; see `_usual_budget`."""

OBJECTIVES = ("heights", "cost")
"""The values of `minimize` that `solve` accepts."""

_UNLIMITED = 2**62

_MAX_MOVED = 200_000
"""Overlapping pairs up to which bodies are moved to meet a capacity."""

_COST_NODES, _COST_NODES_EACH = 6000, 250
"""Moves that try to lower a cost, without an explicit budget: in all, and for each body."""

_ASSIGNED = 50_000
"""Bodies that `auto` assigns to several pools, without an explicit budget: at each node, all."""

_LARGE_NODES = 20_000
"""Search nodes for a large problem; an explicit budget from here on is never worse."""

_REPAIR_NODES = 8000
"""Search nodes for the windows of one plan of a large problem."""

_MAX_BODIES = 1500
"""Above this, windows and peaks are searched before the whole problem."""

_MAX_SEARCHED = 50_000
"""Bodies above which a problem is not searched as a whole."""

_MAX_PAIRS = 20_000_000
"""Overlapping pairs above which it is not, because the tables of a search list them (1 GB)."""

_PAIRS_PER_NODE = 14_000
"""Overlapping pairs that double the time of a search node."""


class UnknownStrategy(ValueError):
    """An unknown strategy; the message lists the known ones."""


class _Best:
    """The best placement so far, its strategy, the nodes spent, and the deadline."""

    def __init__(self, core: Core, objective: Objective, deadline: float):
        self.core, self.objective, self.deadline = core, objective, deadline
        self.bound = objective.bound
        self.name = ""
        self.placement: Placement | None = None
        self.nodes = 0
        self.is_impossible = False

    @property
    def height(self) -> int:
        assert self.placement is not None, "no placement yet"
        return sum(self.placement.heights)

    @property
    def value(self) -> int:
        assert self.placement is not None, "no placement yet"
        return self.objective.value(self.placement)

    @property
    def is_done(self) -> bool:
        """True if the value is proved smallest or fits a capacity, or time is up."""
        if self.placement is None:
            return False
        capacity = self.core.capacities[0] if len(self.core.capacities) == 1 else None
        enough = self.bound if capacity is None else max(self.bound, capacity)
        return self.value <= enough or is_over(self.deadline)

    def keep(self, name: str, placement: Placement) -> bool:
        """Keep `placement` if it is better than the best so far; return whether it is."""
        if self.placement is not None and self.objective.value(placement) >= self.value:
            return False
        self.name, self.placement = name, placement
        return True


def solve(
    problem: Problem,
    strategy: str = "auto",
    budget: int | None = None,
    timeout: float | None = None,
    minimize: str = "heights",
) -> Plan | Infeasible:
    """
    Plan `problem` with `strategy`; raise UnknownStrategy if it does not exist.

    What is minimized is the sum of the pools' `heights`, or what reading and writing them may
    `cost`.

    `budget` limits the search nodes of `exact` and `auto`; the others ignore it. With a
    capacity, the search stops at the first plan that fits. After `timeout` seconds, `exact` and
    `auto` return the best plan so far (at least one cheap plan is always completed). Raises
    ProblemError for a problem that is too large for `exact` without either limit, or that has so
    many pairs alive together that their arms, gaps, ties, pools or offsets cannot be compared.
    """
    began = time.process_time()
    if strategy not in STRATEGIES:
        raise UnknownStrategy(
            f"unknown strategy '{strategy}' (expected one of: {', '.join(STRATEGIES)})"
        )
    if minimize not in OBJECTIVES:
        expected = ", ".join(OBJECTIVES)
        raise UnknownStrategy(f"unknown objective '{minimize}' (expected one of: {expected})")
    deadline = NEVER if timeout is None else time.monotonic() + timeout
    core = core_of(problem)
    by_cost, costs = minimize == "cost", [pool.cost for pool in problem.pools]
    several = by_cost and core.pools is not None
    best = _Best(core, Cost(core, costs) if several else Heights(core), deadline)
    _STEPS.get(strategy, _cheap)(best, strategy, budget)
    if strategy in _STEPS:
        _fit_by_moves(best)
    answer = _answer(problem, best, strategy, time.process_time() - began)
    if not by_cost or isinstance(answer, Infeasible):
        return answer
    if several:
        return replace(answer, cost=best.value)
    cost = sum(buffer.traffic for buffer in problem.buffers) * costs[0]
    return replace(answer, cost=cost, lower_bound=cost, is_optimal=True)


def _plan_by_moves(best: _Best, objective: Cost, nodes: int) -> None:
    """Take the placement of the least cost that moves find, if there is one."""
    from .costs import CostSearch

    meter = Meter(nodes, deadline=best.deadline)
    search = CostSearch(best.core, objective.costs, meter)
    search.run(objective.bound)
    best.placement, best.name = search.placement(), "moves"
    best.nodes += min(meter.nodes, meter.limit)


def _cheap(best: _Best, strategy: str, budget: int | None) -> None:
    best.placement, best.name = NAMED[strategy](best.core, NEVER), strategy


def _exact(best: _Best, strategy: str, budget: int | None) -> None:
    """Take the best cheap plan, then search with the whole budget."""
    _begin(best, budget)
    is_unlimited = budget is None and best.deadline == NEVER
    if is_unlimited and not best.is_done and not _has_tables(best.core):
        raise ProblemError(
            f"{best.core.n_bodies} buffers with {best.core.n_overlaps} pairs alive together are "
            f"too many for strategy exact (at most {_MAX_SEARCHED} and {_MAX_PAIRS}); "
            "use auto, or a budget or timeout to get the best plan found"
        )
    _search(best, _UNLIMITED if budget is None else _left(best, budget))


def _auto(best: _Best, strategy: str, budget: int | None) -> None:
    _begin(best, budget)
    if best.placement is not None and best.value <= best.bound:
        return
    if budget is not None:
        _search(best, _left(best, budget))
    elif not _is_large(best.core):
        _search(best, _usual_budget(best.core))


def _begin(best: _Best, budget: int | None) -> None:
    """Find the plan that a search begins with."""
    if _is_large(best.core):
        _plan_large(best, _LARGE_NODES if budget is None else min(budget, _LARGE_NODES))
    else:
        _start(best, budget)


def _is_large(core: Core) -> bool:
    return core.is_simple and core.n_bodies > _MAX_BODIES


def _has_tables(core: Core) -> bool:
    """Test whether the tables for a search of the whole problem are small enough."""
    return core.n_bodies <= _MAX_SEARCHED and core.n_overlaps <= _MAX_PAIRS


def _usual_budget(core: Core) -> int:
    """Return fewer nodes if each costs more: a few seconds in all, whatever the problem."""
    if core.pools is not None:
        return _ASSIGNED // max(1, core.n_bodies)
    return int(NODES / (1 + core.n_overlaps / _PAIRS_PER_NODE))


def _left(best: _Best, budget: int) -> int:
    """
    Return how many nodes of `budget` are left for the whole problem.

    In a large problem a node counts for as many as it takes time, and preparing the search
    for one node per body: a budget bounds the time of the answer, whatever the size.
    """
    left = max(budget - best.nodes, 0)
    if not _is_large(best.core):
        return left
    nodes = int(left / (1 + best.core.n_overlaps / _PAIRS_PER_NODE))
    return max(nodes - best.core.n_bodies, 0)


def _start(best: _Best, budget: int | None) -> None:
    """Take the best of the cheap plans, or one that moves find, with a part of `budget`."""
    if isinstance(best.objective, Cost):
        most = min(_COST_NODES, _COST_NODES_EACH * best.core.n_bodies)
        nodes = most if budget is None else budget - budget // 8
        return _plan_by_moves(best, best.objective, nodes)
    placed = best_plan(best.core, best.bound, deadline=best.deadline)
    if placed is not None:
        best.keep(*placed)


def _plan_large(best: _Best, budget: int) -> None:
    """
    Improve a large problem's plan step by step, until a step reaches the bound.

    Take the better of two cheap plans, lower it in windows, plan from the peak, then repair
    the best of the other cheap plans. In a dense problem, where windows seldom help, the peak
    comes first. No step makes the plan worse.
    """
    everything = plans(best.core, best.deadline)
    placed = best_plan(best.core, best.bound, islice(everything, 2), best.deadline)
    assert placed is not None, "one pool holds everything"
    best.keep(*placed)
    if not is_dense(best.core):
        _repair(best, budget)
    if _plan_from_peak(best, budget) or is_dense(best.core):
        _repair(best, budget)
    if not best.is_done and best.nodes < budget:
        placed = best_plan(best.core, best.bound, everything, best.deadline)
        if placed is not None and best.keep(*placed):
            _repair(best, budget)


def _plan_from_peak(best: _Best, budget: int) -> bool:
    """Keep a plan from the peak if it is lower; return whether it is."""
    if best.is_done or best.nodes >= budget:
        return False
    from .offsets.peak_first import plan_from_peak

    left = budget - best.nodes
    plan = plan_from_peak(best.core, best.bound, best.height, left, best.deadline)
    best.nodes += plan.nodes
    return plan.placement is not None and best.keep(plan.name, plan.placement)


def _repair(best: _Best, budget: int) -> None:
    """Lower the best plan in windows."""
    if best.is_done or best.placement is None or best.nodes >= budget:
        return
    from .offsets.local_repair import repair

    core, left = best.core, min(budget - best.nodes, _REPAIR_NODES)
    offsets = as_array(best.placement)
    outcome = repair(core, offsets, best.bound, left, core.capacities[0], best.deadline)
    best.nodes += outcome.nodes
    repaired = Placement(as_list(outcome.offsets), None, [outcome.height])
    best.keep(f"{best.name}, local repair", repaired)


_STEPS: dict[str, Callable[[_Best, str, int | None], None]] = {"exact": _exact, "auto": _auto}


def _search(best: _Best, budget: int) -> None:
    core = best.core
    if core.pools is not None:
        if best.placement is None:
            best.placement = _any_placement(core)
        if core.n_bodies > max(budget, _MAX_BODIES):
            return  # one assignment takes a node per body
        from .pools import shrink_pools

        result = shrink_pools(core, best.placement, best.objective, budget, best.deadline)
        if result.placement is not None and (
            best.placement is None or best.objective.value(result.placement) < best.value
        ):
            best.name = "exact"
        best.placement, best.bound = result.placement, result.bound
        best.is_impossible = result.is_complete and result.placement is None
        best.nodes += result.nodes
        return
    if best.placement is None or best.is_done or not budget or not _has_tables(core):
        return
    if best.deadline < NEVER and _is_large(core) and is_dense(core):
        return  # the tables of such a search alone may take longer than the time limit
    from .offsets.exact import shrink

    offsets = as_array(best.placement)
    outcome = shrink(core, offsets, best.bound, budget, core.capacities[0], best.deadline)
    if outcome.height < best.height:
        best.name = "exact"
        best.placement = Placement(as_list(outcome.offsets), None, [outcome.height])
    best.bound = outcome.bound
    best.nodes += outcome.nodes


def _answer(problem: Problem, best: _Best, strategy: str, seconds: float) -> Plan | Infeasible:
    name = strategy if strategy == best.name or not best.name else f"{strategy} ({best.name})"
    if best.placement is None:
        return _no_room(problem, best, name, seconds)
    limits = [pool.capacity for pool in problem.pools]
    missing = _missing(best.placement.heights, limits)
    if missing:
        enough = tuple(
            pool if pool.capacity is None else pool._replace(capacity=max(pool.capacity, tall))
            for pool, tall in zip(problem.pools, best.placement.heights, strict=True)
        )
        proved = _is_above(best.bound, limits)
        short = Infeasible(proved, missing, best.height, best.bound, name, best.nodes, seconds)
        return _explained(problem, best.core, replace(short, enough=enough))
    offsets, pools = _by_row(problem, best.core, best.placement)
    return Plan(
        offsets,
        pools,
        tuple(best.placement.heights),
        best.bound,
        best.value == best.bound,
        name,
        best.nodes,
        seconds,
    )


def _missing(heights: Sequence[int], limits: Sequence[int | None]) -> int:
    """Return the bytes that pools of these heights have above their limits."""
    pairs = zip(heights, limits, strict=False)
    return sum(max(0, tall - limit) for tall, limit in pairs if limit is not None)


def _is_above(bytes: int, limits: Sequence[int | None]) -> bool:
    """Test whether `bytes` are more than pools have together."""
    return None not in limits and bytes > sum(limit or 0 for limit in limits)


def _no_room(problem: Problem, best: _Best, name: str, seconds: float) -> Infeasible:
    """Return the answer for several pools whose capacities no placement was found to meet."""
    unlimited = replace(best.core, capacities=(None,) * len(best.core.capacities))
    outcome = best_plan(unlimited, 0)
    heights = outcome[1].heights if outcome is not None else [0]
    limits = best.core.capacities
    missing = _missing(heights, limits)
    bound = lower_bound(best.core) if isinstance(best.objective, Cost) else best.bound
    proved = best.is_impossible or _is_above(bound, limits)
    short = Infeasible(proved, max(missing, 1), sum(heights), bound, name, best.nodes, seconds)
    roomy = max(problem.pools, key=lambda pool: pool.capacity or 0)
    for open_ in ({roomy.name}, {pool.name for pool in problem.pools}):
        capacities = tuple(None if p.name in open_ else p.capacity for p in problem.pools)
        placed = _any_placement(replace(best.core, capacities=capacities))
        if placed is not None:
            enough = tuple(
                pool._replace(capacity=tall) if pool.name in open_ else pool
                for pool, tall in zip(problem.pools, placed.heights, strict=True)
            )
            short = replace(short, enough=enough)
            break
    return _explained(problem, best.core, short)


def _fit_by_moves(best: _Best) -> None:
    """Look for a plan within the capacity of the only pool, if no search has found one."""
    core, capacity = best.core, best.core.capacities[0]
    if len(core.capacities) > 1 or capacity is None or best.placement is None:
        return
    if best.height <= capacity or best.bound > capacity or is_over(best.deadline):
        return
    if core.n_overlaps <= _MAX_MOVED:
        several = replace(core, pools=((0,),) * core.n_bodies, traffic=(1,) * core.n_bodies)
        placed = _any_placement(several)
        if placed is not None:
            best.keep("moves", Placement(placed.offsets, None, placed.heights))


def _any_placement(core: Core) -> Placement | None:
    """Return a placement within the capacities, if moves find one."""
    from .costs import CostSearch

    search = CostSearch(core, [1] * len(core.capacities), Meter(_COST_NODES))
    search.run(search.nowhere - 1)
    return search.placement()


def _explained(problem: Problem, core: Core, answer: Infeasible) -> Infeasible:
    """Return `answer` with the moment at which the most bytes are missing."""
    from .shortage import largest_shortage

    shortage = largest_shortage(problem, core)
    shortfall = max(answer.shortfall, shortage.missing)
    if len(problem.pools) > 1 and shortage.missing > 0:
        shortfall = shortage.missing
    return replace(
        answer,
        proved=answer.proved or shortage.missing > 0,
        shortfall=shortfall,
        moment=shortage.moment,
        rows=shortage.rows,
    )


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
