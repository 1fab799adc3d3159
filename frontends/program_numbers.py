"""
Numbers that the program computes, in formulas that Relay text and ONNX share.

    (at * 0.5).floor()    ->    relay.multiply, with a constant of the dtype of `at`; relay.floor
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, pairwise
from math import prod
from typing import Any, Self, TypeAlias, TypeVar

N = TypeVar("N", bound="Numbers")
Shape: TypeAlias = tuple[int, ...]


class Numbers(ABC):
    """Numbers of a dtype; an operator of the dialect is a method, by its name."""

    @property
    @abstractmethod
    def dtype(self) -> str: ...

    @property
    @abstractmethod
    def dims(self) -> Shape:
        """The shape, which must be static."""

    @property
    def open_dims(self) -> Sequence[Any]:
        """The shape; a dim that is known at run time is not an `int`."""
        return self.dims

    @abstractmethod
    def call(self, name: str, *others: Self | float, **attrs: Any) -> Self:
        """Build an operator; Python's numbers become constants of the dtype of these numbers."""

    @abstractmethod
    def like(self, other: Self | float) -> Self:
        """Return `other`, as a constant of the dtype of these numbers if it is one of Python's."""

    @abstractmethod
    def cast(self, dtype: str) -> Self: ...

    def __getattr__(self, name: str) -> Callable[..., Self]:
        return partial(self.call, name)

    def __add__(self, other: Self | float) -> Self:
        return self.call("add", other)

    def __sub__(self, other: Self | float) -> Self:
        return self.call("subtract", other)

    def __rsub__(self, other: float) -> Self:
        return self.like(other).call("subtract", self)

    def __mul__(self, other: Self | float) -> Self:
        return self.call("multiply", other)

    def __truediv__(self, other: Self | float) -> Self:
        return self.call("divide", other)

    def __and__(self, other: Self) -> Self:
        return self.call("logical_and", other)

    def where(self, condition: Self, other: Self | float) -> Self:
        """Return these numbers where the condition is true, others elsewhere."""
        return condition.call("where", self, self.like(other))

    def viewed(self, *shape: int) -> Self:
        return self.call("reshape", newshape=shape)

    def require_equal(self, axis: int, other: Self, other_axis: int) -> None:
        """Check when the program runs that two dims are equal; these are known."""

    def grouped(self, *counts: int) -> Self:
        """Merge dims into one for each of `counts`, as many each; 1 for none."""
        ends = [0, *accumulate(counts)]
        return self.viewed(*(prod(self.dims[i:end]) for i, end in pairwise(ends)))

    def permuted(self, *axes: int) -> Self:
        return self if axes == tuple(range(len(axes))) else self.call("transpose", axes=axes)

    def along(self, axis: int, rank: int) -> Self:
        """View a vector as a tensor of `rank` whose only other dim than 1 is `axis`."""
        return self.viewed(*(-1 if i == axis else 1 for i in range(rank)))

    def clamped(self, low: Self | float, high: Self | float) -> Self:
        return self.call("maximum", low).call("minimum", high)

    def is_within(self, low: Self | float, high: Self | float) -> Self:
        return self.call("greater_equal", low) & self.call("less_equal", high)
