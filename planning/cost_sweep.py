"""
Choose pools in order of birth, by a beam search: the start of `costs.CostSearch`.

A state is where the bodies are that are alive now, in pools with a capacity. The next body goes to
either end of each gap that holds it, in each of its pools. States with the same bytes in use are
one, the cheapest; of all others, the cheapest are kept. Where few bodies are alive at once, as in
a chain of layers, that is a dynamic program over all placements.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest
from typing import NamedTuple

from .buffers import as_list
from .offsets.core import Core

MAX_WIDTH = 256
EXPANSIONS = 120_000
"""The states to make for a problem, about: fewer are kept at a time if there are more bodies."""

Alive = tuple[int, int, int, int]
"""A pool, the bytes from a first to a last, and the time at which they are free."""


class _State(NamedTuple):
    cost: int
    alive: tuple[Alive, ...]
    choices: _Choices | None


class _Choices(NamedTuple):
    """The pool and the offset of the last body, and the choices before."""

    before: _Choices | None
    pool: int
    at: int


def sweep(
    core: Core, choices: Sequence[Sequence[int]], prices: Sequence[Sequence[int]], steps: Steps
) -> list[tuple[int, int]] | None:
    """
    Return a pool and an offset for each body, with -1 for the offset in pools without a capacity.

    None if a body does not fit. `choices` are the pools of each body, `prices` what each costs,
    `steps` what its offsets are multiples of.
    """
    lower, upper, sizes = as_list(core.body_lower), as_list(core.body_upper), as_list(core.size)
    order = sorted(range(core.n_bodies), key=lower.__getitem__)
    width = max(1, min(MAX_WIDTH, EXPANSIONS // (4 * max(1, len(order)))))
    states = [_State(0, (), None)]
    for k in order:
        reached: dict[tuple[Alive, ...], _State] = {}
        for cost, before, link in states:
            alive = tuple(part for part in before if part[3] > lower[k])
            for pool in choices[k]:
                price, capacity = cost + prices[k][pool], core.capacities[pool]
                if capacity is None:
                    offsets = {-1}
                else:
                    offsets = _offsets(alive, pool, sizes[k], capacity, steps[k][pool])
                for at in offsets:
                    after = alive
                    if at >= 0:
                        after = tuple(sorted((*alive, (pool, at, at + sizes[k], upper[k]))))
                    other = reached.get(after)
                    if other is None or price < other.cost:
                        reached[after] = _State(price, after, _Choices(link, pool, at))
        states = list(reached.values())
        if len(states) > width:
            states = nsmallest(width, states, key=lambda state: state.cost)
    return _places(order, min(states, key=lambda state: state.cost)) if states else None


Steps = Sequence[Sequence[int]]


def _offsets(alive: Sequence[Alive], pool: int, size: int, capacity: int, step: int) -> set[int]:
    """Return both ends of each gap of `pool` that holds `size` bytes."""
    offsets: set[int] = set()
    top = 0
    for low, high in (*((low, high) for p, low, high, _ in alive if p == pool), (capacity, 0)):
        at = -(-top // step) * step
        if low - at >= size:
            offsets |= {at, (low - size) // step * step}
        top = max(top, high)
    return offsets


def _places(order: Sequence[int], state: _State) -> list[tuple[int, int]]:
    places = [(0, 0)] * len(order)
    link = state.choices
    for k in reversed(order):
        assert link is not None, "a choice for each body"
        places[k] = link.pool, link.at
        link = link.before
    return places
