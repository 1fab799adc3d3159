"""
The rows of a packing problem: buffers, what constrains them, and the pools they go to.

Sizes and offsets are bytes; times are integers in ascending order.

Options spell pools with name, capacity, cost of a byte, and alignment:

    dtcm=64KiB:1,sram=512KiB:3:32,psram=:10

A pool without a capacity is unbounded; its cost and its alignment are 1 unless they are given. A
capacity is in bytes, in K, M, G (of 1,000) or in KiB, MiB, GiB (of 1,024).
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..operators.intervals import Interval

Ints = NDArray[np.int64]


def as_list(values: Ints) -> list[int]:
    """Return the array as Python integers: `tolist`, but typed."""
    return values.tolist()


LIMIT = 2**62
"""Exclusive bound on times, sizes, their sum, alignments and offsets, so that int64 holds them."""


class ProblemError(ValueError):
    """
    A problem that contradicts itself or has an invalid value.

    `rows` are the indices of the buffers that the message is about.
    """

    def __init__(self, message: str, rows: tuple[int, ...] = ()):
        super().__init__(message)
        self.message = message
        self.rows = rows


class TooManyPairs(ProblemError):
    """A problem with gaps, arms, ties, pools or offsets in which too many lifetimes overlap."""


class Gap(NamedTuple):
    """Times `[start, stop)` within a lifetime at which only the first `kept` bytes are live."""

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
    - `offset`: the fixed offset; None leaves it to the solver.
    - `pools`: names of the pools it may lie in, most preferred first; empty allows all.
    - `arms`: the branch arms it belongs to, outermost first.
    - `tie`: buffers with the same tie get the same pool and offset and, as they share
      bytes on purpose (an update in place), never conflict with each other.
    - `reads`, `writes`: how often all of its bytes are read and written.
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
    reads: int = 1
    writes: int = 1

    @property
    def traffic(self) -> int:
        """The bytes that are read and written."""
        return self.size * (self.reads + self.writes)

    @property
    def is_plain(self) -> bool:
        """True if only a lifetime, a size, an alignment and pools are given."""
        return not (self.gaps or self.arms or self.tie is not None or self.offset is not None)

    def needs(self) -> Iterator[tuple[int, int, int]]:
        """
        Yield (start, stop, bytes) for each stretch of the lifetime.

        Within a gap the first `kept` bytes are needed; where gaps overlap, the fewest
        that any of them keeps. Bytes that are never needed are not part of the arena.
        """
        edges = sorted({*self.lifetime, *(t for g in self.gaps for t in (g.start, g.stop))})
        for start, stop in pairwise(edges):
            kept = [g.kept for g in self.gaps if g.start <= start and stop <= g.stop]
            yield start, stop, min([self.size, *kept])


class Pool(NamedTuple):
    """
    An arena. `capacity` bounds its height; None means no bound.

    Offsets in it are multiples of `alignment`. To read or write one of its bytes costs `cost`.
    """

    name: str
    capacity: int | None = None
    cost: int = 1
    alignment: int = 1

    def __str__(self) -> str:
        """Return the pool as options spell it; see `parse_pool`."""
        capacity = "" if self.capacity is None else self.capacity
        aligned = f":{self.alignment}" if self.alignment != 1 else ""
        return f"{self.name}={capacity}:{self.cost}{aligned}"


class Columns(NamedTuple):
    """The numbers of all rows, each an int64 array with one entry per row."""

    lower: Ints
    upper: Ints
    size: Ints
    alignment: Ints


class BufferTable(Sequence[Buffer]):
    """Rows held as columns; row i is built on access, with `str(i)` as its id."""

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


def columns_of(buffers: Sequence[Buffer]) -> Columns:
    """Return the numbers of `buffers`; raise ProblemError for one that int64 cannot hold."""
    if isinstance(buffers, BufferTable):
        return buffers.columns
    try:
        return Columns(
            np.array([b.lifetime[0] for b in buffers], dtype=np.int64),
            np.array([b.lifetime[1] for b in buffers], dtype=np.int64),
            np.array([b.size for b in buffers], dtype=np.int64),
            np.array([b.alignment for b in buffers], dtype=np.int64),
        )
    except OverflowError:
        for row, b in enumerate(buffers):
            for value in (*b.lifetime, b.size, b.alignment):
                if abs(value) >= LIMIT:
                    message = f"buffer '{b.id}': {value} is not between -2^62 and 2^62"
                    raise ProblemError(message, (row,)) from None
        raise


_POOL = re.compile(
    r"(?P<name>[^=,\s\"]+)"
    r"(=(?P<number>[0-9]*)(?P<unit>[KMG]i?B?)?(:(?P<cost>[0-9]+)(:(?P<alignment>[0-9]+))?)?)?",
    re.ASCII,
)

_UNITS = {
    f"{prefix}{suffix}": base**power
    for power, prefix in enumerate("KMG", 1)
    for suffix, base in (("", 1000), ("B", 1000), ("iB", 1024))
}


def parse_pool(text: str) -> Pool:
    """Return the pool that `text` spells; raise ValueError if it has another form."""
    parts = _POOL.fullmatch(text.strip())
    if parts is None or (parts["unit"] and (not parts["number"] or parts["unit"] not in _UNITS)):
        raise ValueError(
            f"a pool must be NAME=[CAPACITY][:COST[:ALIGNMENT]], such as sram=512KiB:3, but is "
            f"'{text}'"
        )
    number = parts["number"]
    capacity = int(number) * _UNITS.get(parts["unit"], 1) if number else None
    return Pool(parts["name"], capacity, int(parts["cost"] or 1), int(parts["alignment"] or 1))


def parse_pools(text: str) -> Sequence[Pool]:
    """Return the pools in a list that is separated by commas."""
    return [parse_pool(part) for part in text.split(",")] if text.strip() else []
