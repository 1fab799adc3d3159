"""
The contents of a picture: panels with boxes, before anything is drawn.

    height ──┬────────────┬─────
             │  dense     │          a box: columns [left, right), `size` bytes from `low` up
    bound  ┄┄├───────┬────┘┄┄┄┄┄
             │  sum  │
             └───────┴──────────
             0   1   2   3           columns

Offsets are those in a stack of storages. Texts are not escaped yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

LEVELS = 5
"""The number of offsets above 0 that are marked at most."""


@dataclass(frozen=True)
class Box:
    """Bytes in use."""

    row: int
    """The tensor or buffer; boxes of a row have one colour."""
    left: int
    right: int
    low: int
    size: int
    name: str
    lines: tuple[str, ...]
    """The text that is shown when it is pointed at."""
    at_peak: bool
    arm: int | None = None
    """The arm that left these bytes in use after its branch; other arms may use the same ones."""


@dataclass(frozen=True)
class Band:
    """The columns of an arm of a branch."""

    left: int
    right: int
    depth: int
    arm: int
    name: str
    title: str


@dataclass(frozen=True)
class Shelf:
    """A storage in the stack."""

    low: int
    size: int
    name: str


@dataclass
class Panel:
    """One stack of storages over time."""

    title: str
    facts: str
    """A line about the sizes."""
    columns: Sequence[str]
    """The text that is shown when a column is pointed at."""
    ticks: Sequence[str]
    """The number of each column, and of the end."""
    boxes: list[Box] = field(default_factory=list[Box])
    bands: list[Band] = field(default_factory=list[Band])
    shelves: list[Shelf] = field(default_factory=list[Shelf])
    loads: Sequence[int] = ()
    """The bytes that are alive in each column."""
    time: str = ""
    """The name of the axis of columns."""
    height: int = 0
    bound: int | None = None
    peak: int = 0
    """The first column with the largest load."""
    peak_text: str = ""
    moves: bool = False
    """True if sizes depend on dims."""

    @property
    def top(self) -> int:
        """The largest offset that is drawn."""
        top = max((shelf.low + shelf.size for shelf in self.shelves), default=0)
        return max(self.height, self.bound or 0, top)

    @property
    def ceiling(self) -> int:
        return max(self.top, 1)

    @property
    def levels(self) -> range:
        """The offsets that are marked: multiples of a power of two."""
        step = 1 << max(0, -(-self.top // LEVELS) - 1).bit_length()
        return range(0, self.top + 1, step)
