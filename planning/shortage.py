"""
Explain why a problem does not fit: a moment, the buffers that are alive then, and their bytes.

    at 5, x and y need 24 bytes of dtcm, which has 16

It is proved that nothing fits if, at one moment, buffers that may only be in some of the pools have
more bytes than those pools, or if a buffer is larger than each pool that it may be in.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from .buffers import as_list
from .offsets.bounds import loads_at_births
from .offsets.core import Core
from .problem import Infeasible, Problem

_MAX_POOLS = 8
"""The pools of which all combinations are examined; of more, each alone and all together."""


class Shortage(NamedTuple):
    """The `rows` alive at `moment` need `missing` bytes more than the pools they may be in have."""

    moment: int
    rows: tuple[int, ...]
    missing: int


def largest_shortage(problem: Problem, core: Core) -> Shortage:
    """Return the shortage of the most bytes; if these are not positive, a plan may exist."""
    return max(_shortages(problem, core), key=lambda found: found.missing)


def _shortages(problem: Problem, core: Core) -> Iterator[Shortage]:
    everywhere = tuple(range(len(core.capacities)))
    allowed = core.pools or (everywhere,) * core.n_bodies
    sizes, lower = as_list(core.body_size), as_list(core.body_lower)
    for k, pools in enumerate(allowed):
        capacities = [core.capacities[pool] for pool in pools]
        if None not in capacities:
            most = max(capacity for capacity in capacities if capacity is not None)
            yield Shortage(lower[k], _rows(problem, core, [k]), sizes[k] - most)
    counts = (
        range(1, len(everywhere) + 1) if len(everywhere) <= _MAX_POOLS else (1, len(everywhere))
    )
    for group in (set(group) for count in counts for group in combinations(everywhere, count)):
        capacities = [core.capacities[pool] for pool in group]
        bodies = [k for k, pools in enumerate(allowed) if group.issuperset(pools)]
        if None in capacities or not bodies:
            continue
        part = core.restrict(np.array(bodies))
        loads = loads_at_births(part)
        moment = int(part.lower[int(loads.argmax())])
        boxes = (part.lower <= moment) & (part.upper > moment)
        alive = {bodies[body] for body in map(int, part.body[boxes])}
        room = sum(capacity for capacity in capacities if capacity is not None)
        yield Shortage(moment, _rows(problem, core, sorted(alive)), int(loads.max()) - room)


def _rows(problem: Problem, core: Core, bodies: list[int]) -> tuple[int, ...]:
    """Return the input's rows of `bodies`, the largest first."""
    rows = [row for row, body in enumerate(as_list(core.row_body)) if body in set(bodies)]
    return tuple(sorted(rows, key=lambda row: -problem.buffers[row].size))


_SHOWN = 8
"""Buffers to name in a message."""


def shortage_message(what: str, problem: Problem, answer: Infeasible) -> str:
    """Return the error that `what`, the buffers of `problem`, do not fit in its pools."""
    proved = "" if answer.proved else " (the search found no plan; one may exist)"
    return (
        f"{what} do not fit in {', '.join(map(str, problem.pools))}: "
        f"{answer.shortfall} bytes are missing{proved}\n{shortage_text(problem, answer)}"
    )


def shortage_text(problem: Problem, answer: Infeasible) -> str:
    """Return which buffers do not fit, when, and the capacities with which they would."""
    rows = [problem.buffers[row] for row in answer.rows]
    named = ", ".join(f"{buffer.id} ({buffer.size})" for buffer in rows[:_SHOWN])
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    text = f"  alive at {answer.moment}: {named}{more}"
    changed = [
        f"{pool.name}={pool.capacity}"
        for pool, old in zip(answer.enough, problem.pools, strict=bool(answer.enough))
        if pool.capacity != old.capacity
    ]
    return f"{text}\n  it would fit with {', '.join(changed)}" if changed else text
