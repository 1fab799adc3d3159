"""
A packing problem and its two possible answers.

A `Problem` is rows of buffers (bytes, a half-open lifetime, and constraints on their
place) and the pools they may lie in. The answer is a `Plan` (a pool and an offset for
every row) or an `Infeasible` (some pool's capacity cannot be met).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..operators.records import record
from .buffers import Buffer, BufferTable, Columns, Pool, ProblemError, columns_of
from .validate import validate


@dataclass(frozen=True, eq=False)
class Problem:
    """
    Buffers and the pools they may lie in.

    Raises ProblemError, naming the rows, for a problem that no plan could satisfy
    whatever the capacities: negative numbers, duplicate ids, undeclared pools, ties or
    fixed offsets that contradict each other.
    """

    buffers: Sequence[Buffer]
    pools: tuple[Pool, ...] = (Pool("arena"),)

    def __post_init__(self):
        validate(self.buffers, self.pools, self.columns)

    @staticmethod
    def of(
        lower: Iterable[int],
        upper: Iterable[int],
        size: Iterable[int],
        alignment: Iterable[int] | None = None,
        capacity: int | None = None,
    ) -> "Problem":
        """
        Build the problem with these columns, one pool, and row numbers as ids.

        Accepts sequences of integers or int64 arrays of equal length, and keeps them as
        columns: a million rows cost 32 MB.
        """
        columns = [
            np.array(c if isinstance(c, np.ndarray) else list(c), dtype=np.int64)
            for c in (lower, upper, size)
        ]
        if alignment is None:
            columns.append(np.ones_like(columns[0]))
        else:
            columns.append(np.array(list(alignment), dtype=np.int64))
        if len({len(c) for c in columns}) > 1:
            lengths = ", ".join(str(len(c)) for c in columns)
            raise ProblemError(f"columns must have equal lengths, but have {lengths}")
        return Problem(BufferTable(Columns(*columns)), (Pool("arena", capacity),))

    @cached_property
    def columns(self) -> Columns:
        return columns_of(self.buffers)

    @cached_property
    def is_plain(self) -> bool:
        """True if there is one pool, and rows have only a lifetime, a size and an alignment."""
        if len(self.pools) != 1:
            return False
        return isinstance(self.buffers, BufferTable) or all(b.is_plain for b in self.buffers)

    def with_capacity(self, capacity: int | None) -> "Problem":
        """Return the problem with `capacity` for every pool that has none of its own."""
        pools = tuple(
            p if p.capacity is not None else p._replace(capacity=capacity) for p in self.pools
        )
        return Problem(self.buffers, pools)


@record
class Plan:
    """
    The place of every buffer, in the order of the problem's rows.

    `pools[i]` is an index into the problem's pools. `heights[p]` is the first offset
    above every byte that a buffer of pool p ever needs. `cost` is what reading and writing
    costs in these pools, if that was minimized. No plan's `objective`, cost or height, is below
    `lower_bound`; `is_optimal` means that this one is proved minimal.
    `nodes` counts the search nodes spent; `seconds` is CPU time.
    """

    offsets: tuple[int, ...]
    pools: tuple[int, ...]
    heights: tuple[int, ...]
    lower_bound: int = 0
    is_optimal: bool = False
    strategy: str = ""
    nodes: int = 0
    seconds: float = field(default=0.0, compare=False)
    cost: int | None = None

    @property
    def height(self) -> int:
        """The sum of the pools' heights."""
        return sum(self.heights)

    @property
    def objective(self) -> int:
        """The cost or the height, whichever was minimized."""
        return self.height if self.cost is None else self.cost

    @property
    def gap(self) -> int:
        """The difference between the lower bound and the objective."""
        return self.objective - self.lower_bound

    @property
    def ratio(self) -> float:
        """Objective over lower bound; 1.0 for a problem that needs no bytes."""
        return self.objective / self.lower_bound if self.lower_bound else 1.0


@record
class Infeasible:
    """
    No plan within the pools' capacities was found.

    `proved` means that none exists. `shortfall` is how many bytes of capacity the best
    plan found lacks; `height` is that plan's height, and no plan is lower than
    `lower_bound`. The `rows` that are alive at `moment`, the largest first, need the most
    bytes beyond the pools that they may be in; a plan exists for the pools `enough`.
    """

    proved: bool
    shortfall: int
    height: int = 0
    lower_bound: int = 0
    strategy: str = ""
    nodes: int = 0
    seconds: float = field(default=0.0, compare=False)
    moment: int = 0
    rows: tuple[int, ...] = ()
    enough: tuple[Pool, ...] = ()
