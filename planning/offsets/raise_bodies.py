"""
Place bodies again and again in other orders: one that sticks out at the top is placed earlier.

Each time one of the bodies that end above the best height so far moves to a random place before its
own in the order. A worse placement is kept, as the next moves start from it; after `PATIENCE`
placements without a better one, the next moves start from the best order again. Orders have no
fragments to repair, so this finds plans where bodies with gaps lie around others that live long,
such as what loops carry, and exact searches do not end. Weakness: it proves nothing.
"""

from random import Random

import numpy as np

from ..buffers import as_list
from ..meter import is_over
from .core import Core
from .greedy import Placement, place_in_order
from .sort_keys import by_size

ROUNDS = 12
PLACED = 100_000
"""The bodies that are placed in a round."""
PATIENCE = 25


def raise_bodies(core: Core, bound: int, deadline: float) -> Placement | None:
    """Return the best placement in one pool, whose height is at least `bound`."""
    best: Placement | None = None
    sizes = as_list(core.body_size)
    for seed in range(ROUNDS):
        random, order = Random(seed), as_list(by_size(core))
        lowest, patience, kept = 2**63, 0, order
        for _ in range(PLACED // max(1, core.n_bodies)):
            if is_over(deadline) or (best is not None and best.heights[0] <= bound):
                return best
            placed = place_in_order(core, np.array(order), deadline=deadline)
            assert placed is not None, "one pool holds everything"
            patience += 1
            if placed.heights[0] < lowest:
                lowest, patience, kept = placed.heights[0], 0, order
                if best is None or lowest < best.heights[0]:
                    best = placed
            ends = [at + size for at, size in zip(placed.offsets, sizes, strict=True)]
            high = [k for k, end in enumerate(ends) if end >= lowest]
            if patience >= PATIENCE:
                patience, order = 0, kept
            order, at = order.copy(), order.index(random.choice(high))
            order.insert(random.randrange(at + 1), order.pop(at))
    return best
