"""
The objective of a plan over several pools: the sum of their heights, or the cost of their bytes.

    heights    the sum over pools of the first offset above every byte
    cost       the sum over bodies of (bytes read and written) * (cost of a byte in its pool)

A search asks for the `value` of a placement, and for the `least` value of all placements with some
bodies in given pools, each of at least a given height.
"""

from collections.abc import Sequence
from typing import Protocol

from .buffers import as_list
from .offsets.bounds import lower_bound
from .offsets.core import Core
from .offsets.greedy import Placement


class Objective(Protocol):
    """The number that a search minimizes."""

    bound: int
    """No placement has a lower value."""
    choices: Sequence[Sequence[int]]
    """The pools that each body may be in, the best first."""

    def value(self, placement: Placement) -> int: ...

    def least(self, held: Sequence[Sequence[int]], heights: Sequence[int]) -> int:
        """Return a bound on the value with the bodies `held` by pools, which have `heights`."""
        ...

    def enough(self, capacity: int | None) -> int | None:
        """Return the height at which a pool need not be lower; None if lower is always better."""
        ...


class Heights:
    """The sum of the pools' heights; pools that bodies prefer break ties."""

    def __init__(self, core: Core):
        self.bound = lower_bound(core)
        self.choices: Sequence[Sequence[int]] = core.pools or ((0,),) * core.n_bodies

    def value(self, placement: Placement) -> int:
        return sum(placement.heights)

    def least(self, held: Sequence[Sequence[int]], heights: Sequence[int]) -> int:
        return sum(heights)

    def enough(self, capacity: int | None) -> int | None:
        return None


class Cost:
    """The cost of reading and writing the bodies in their pools, whose bytes have `costs`."""

    def __init__(self, core: Core, costs: Sequence[int]):
        from .costs import cost_bound

        assert core.pools is not None, "only bodies with several pools have a choice"
        self.bound, self.costs = cost_bound(core, costs), costs
        self.prices = [[traffic * cost for cost in costs] for traffic in core.traffic]
        sizes = as_list(core.body_size)
        self.choices: Sequence[Sequence[int]] = [
            sorted(
                (p for p in allowed if (c := core.capacities[p]) is None or c >= sizes[k]),
                key=self.prices[k].__getitem__,
            )
            for k, allowed in enumerate(core.pools)
        ]
        cheapest = zip(self.prices, self.choices, strict=True)
        self.cheapest = [prices[pools[0]] if pools else max(prices) for prices, pools in cheapest]

    def value(self, placement: Placement) -> int:
        pools = placement.pools or [0] * len(self.prices)
        return sum(prices[pool] for prices, pool in zip(self.prices, pools, strict=True))

    def least(self, held: Sequence[Sequence[int]], heights: Sequence[int]) -> int:
        extra = sum(
            self.prices[k][pool] - self.cheapest[k]
            for pool, bodies in enumerate(held)
            for k in bodies
        )
        return max(self.bound, sum(self.cheapest) + extra)

    def enough(self, capacity: int | None) -> int | None:
        return 2**62 if capacity is None else capacity
