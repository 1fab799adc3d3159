"""
A packing problem, and the two answers it can have.

A `Problem` is rows of buffers (bytes, a half-open lifetime, and what restricts their
place) and the pools they may lie in. The answer is a `Plan` (a pool and an offset for
every row) or an `Infeasible` (some pool's capacity cannot be met). Sizes, offsets and
heights are bytes; times are any integers that grow.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def as_list(values: Ints) -> list[int]:
    """The array as Python integers (what `tolist` gives, with its type)."""
    return values.tolist()


LIMIT = 2**62
"""Times, sizes, their sum, alignments and offsets stay below this, so int64 holds them."""


class ProblemError(ValueError):
    """
    A problem that says two things at once, or something that has no meaning.

    `rows` are the indices of the buffers that the message is about.
    """

    def __init__(self, message: str, rows: tuple[int, ...] = ()):
        super().__init__(message)
        self.message = message
        self.rows = rows


class Interval(NamedTuple):
    """Times `[start, stop)`; half-open, so touching intervals do not meet."""

    start: int
    stop: int

    def meets(self, other: "Interval") -> bool:
        return max(self.start, other.start) < min(self.stop, other.stop)


class Gap(NamedTuple):
    """Times `[start, stop)` within a lifetime at which only the first `kept` bytes live."""

    start: int
    stop: int
    kept: int = 0


class Arm(NamedTuple):
    """One arm of a branch. Buffers in different arms of one branch never conflict."""

    branch: str
    arm: str


class Buffer(NamedTuple):
    """
    `size` bytes that are needed during `lifetime`.

    - `alignment`: the offset is a multiple of it (any integer from 1).
    - `gaps`: times within the lifetime when the bytes, or all but the first few, are
      not needed.
    - `offset`: where the buffer has to be; None leaves it to the solver.
    - `pools`: names of the pools it may lie in, the preferred first; empty allows all.
    - `arms`: the branch arms it belongs to, outermost first.
    - `tie`: buffers with the same tie get the same pool and offset and, as they share
      bytes on purpose (an update in place), never conflict with each other.
    """

    id: str
    lifetime: Interval
    size: int
    alignment: int = 1
    gaps: tuple[Gap, ...] = ()
    offset: int | None = None
    pools: tuple[str, ...] = ()
    arms: tuple[Arm, ...] = ()
    tie: str | None = None


class Pool(NamedTuple):
    """An arena. `capacity` is the greatest height it may get; None means no limit."""

    name: str
    capacity: int | None = None


class Columns(NamedTuple):
    """The numbers of a problem's rows, each an int64 array of one entry per row."""

    lower: Ints
    upper: Ints
    size: Ints
    alignment: Ints


class BufferTable(Sequence[Buffer]):
    """Rows held as columns; row i is made when asked for, and its id is `str(i)`."""

    def __init__(self, columns: Columns):
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns.size)

    def __getitem__(self, index: int | slice) -> "Buffer | Sequence[Buffer]":  # pyright: ignore[reportIncompatibleMethodOverride]
        if isinstance(index, slice):
            return [self._row(i) for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self._row(index % len(self))

    def _row(self, i: int) -> Buffer:
        lower, upper, size, alignment = (int(column[i]) for column in self.columns)
        return Buffer(str(i), Interval(lower, upper), size, alignment)


@dataclass(frozen=True, eq=False)
class Problem:
    """
    Buffers and the pools they may lie in.

    Raises ProblemError, naming the rows, for a problem that no plan could satisfy
    whatever the capacities: negative numbers, an id twice, a pool that is not there,
    ties or fixed offsets that contradict each other.
    """

    buffers: Sequence[Buffer]
    pools: tuple[Pool, ...] = (Pool("arena"),)

    def __post_init__(self):
        from .validate import validate

        validate(self)

    @staticmethod
    def of(
        lower: Iterable[int],
        upper: Iterable[int],
        size: Iterable[int],
        alignment: Iterable[int] | None = None,
        capacity: int | None = None,
    ) -> "Problem":
        """
        The problem with these columns, one pool, and row numbers for ids.

        Takes sequences of integers or int64 arrays of one length, and keeps them as
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
            raise ProblemError(f"columns must have one length, but have {lengths}")
        return Problem(BufferTable(Columns(*columns)), (Pool("arena", capacity),))

    @cached_property
    def columns(self) -> Columns:
        if isinstance(self.buffers, BufferTable):
            return self.buffers.columns
        rows = self.buffers
        return Columns(
            np.array([b.lifetime[0] for b in rows], dtype=np.int64),
            np.array([b.lifetime[1] for b in rows], dtype=np.int64),
            np.array([b.size for b in rows], dtype=np.int64),
            np.array([b.alignment for b in rows], dtype=np.int64),
        )

    @cached_property
    def is_plain(self) -> bool:
        """One pool, and rows that have only a lifetime, a size and an alignment."""
        if len(self.pools) != 1:
            return False
        return isinstance(self.buffers, BufferTable) or not any(
            b.gaps or b.arms or b.tie is not None or b.offset is not None for b in self.buffers
        )

    def with_capacity(self, capacity: int | None) -> "Problem":
        """The same problem with `capacity` on every pool that has none of its own."""
        pools = tuple(p if p.capacity is not None else Pool(p.name, capacity) for p in self.pools)
        return Problem(self.buffers, pools)


@dataclass(frozen=True)
class Plan:
    """
    Where every buffer goes, in the order of the problem's rows.

    `pools[i]` is an index into the problem's pools. `heights[p]` is the first offset
    above every byte that a buffer of pool p needs at some time. `lower_bound` is a number
    of bytes that no plan's height is below, and `is_optimal` says that this plan's height
    is proved to be the smallest. `nodes` counts the search nodes spent; `seconds` is CPU
    time.
    """

    offsets: tuple[int, ...]
    pools: tuple[int, ...]
    heights: tuple[int, ...]
    lower_bound: int = 0
    is_optimal: bool = False
    strategy: str = ""
    nodes: int = 0
    seconds: float = field(default=0.0, compare=False)

    @property
    def height(self) -> int:
        """The sum of the pools' heights: what is minimised."""
        return sum(self.heights)

    @property
    def gap(self) -> int:
        """Bytes between the height and the lower bound."""
        return self.height - self.lower_bound

    @property
    def ratio(self) -> float:
        """Height over lower bound; 1.0 for a problem that needs no bytes."""
        return self.height / self.lower_bound if self.lower_bound else 1.0


@dataclass(frozen=True)
class Infeasible:
    """
    No plan within the pools' capacities was found.

    `proved` says that there is none. `shortfall` is how many bytes of capacity the
    best plan found lacks; `height` is that plan's height, and no plan is lower than
    `lower_bound`.
    """

    proved: bool
    shortfall: int
    height: int = 0
    lower_bound: int = 0
    strategy: str = ""
    nodes: int = 0
    seconds: float = field(default=0.0, compare=False)
