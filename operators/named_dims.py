"""Dims of parameters that have a name: those of one name are equal, and may have bounds."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import NamedTuple


class Bounds(NamedTuple):
    """The least and the greatest size of a dim, both possible; no greatest one if it is None."""

    low: int
    high: int | None

    @property
    def are_in_order(self) -> bool:
        """True if there are sizes within the bounds, and none below 0."""
        return 0 <= self.low and (self.high is None or self.low <= self.high)

    @property
    def range(self) -> tuple[float, float]:
        """The bounds as numbers."""
        return self.low, inf if self.high is None else self.high

    def allow(self, size: int) -> bool:
        """Test whether `size` is within the bounds."""
        return self.low <= size and (self.high is None or size <= self.high)

    def __str__(self) -> str:
        return f"at least {self.low}" if self.high is None else f"from {self.low} to {self.high}"


Parameter = tuple[str, Sequence[str | None], Sequence[int]]
"""The name of a parameter, the names of its dims (None or "" for one without), and their sizes."""


def dims_fault(
    parameters: Iterable[Parameter], bounds: Mapping[str, Bounds] | None = None
) -> str | None:
    """
    Return which named dim is not within its `bounds`, or which of one name differ; None if none.

    The message names the parameters.
    """
    found: dict[str, tuple[str, int, int]] = {}
    for parameter, names, sizes in parameters:
        for axis, (name, size) in enumerate(zip(names, sizes, strict=False)):
            if not name:
                continue
            here = parameter, axis, size
            limits = bounds.get(name) if bounds else None
            if limits is not None and not limits.allow(size):
                return f"{_place(name, *here)}, but {name} must be {limits}"
            there = found.setdefault(name, here)
            if there[2] != size:
                return f"{_place(name, *there)}, but {_place(name, *here)}"
    return None


def _place(name: str, parameter: str, axis: int, size: int) -> str:
    return f"parameter '{parameter}' has dim {axis} ({name}) of {size}"
