"""Numbers that the program computes, for formulas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.dialects.tensor import ExtractOp

from ....dialects.relay.shapes import RequireOp
from ....operators.sizes import Check
from ...program_numbers import Numbers
from .onnx_builder import Builder
from .onnx_values import Dim, Value, dims_of, dtype_of, has_static_shape, rank_of, shape_of


def require_equal(b: Builder, one: Dim, other: Dim) -> None:
    """Check when the program runs that two dims are equal, unless both are known."""
    if one != other and not (isinstance(one, int) and isinstance(other, int)):
        scalars = (b.tensor(b.size(dim)) for dim in (one, other))
        lhs, rhs = (b.append(ExtractOp(scalar, [], i64))[0] for scalar in scalars)
        b.append(RequireOp(Check.EQUAL, lhs, rhs, "dims must be equal, but are {0} and {1}"))


@dataclass(frozen=True)
class Computed(Numbers):
    """Numbers that a node computes."""

    value: Value
    b: Builder

    @property
    def dtype(self) -> str:
        return dtype_of(self.value).name

    @property
    def dims(self) -> tuple[int, ...]:
        return shape_of(self.value)

    @property
    def open_dims(self) -> tuple[Dim, ...]:
        return dims_of(self.value)

    def call(self, name: str, *others: Number, **attrs: Any) -> Computed:
        values = (self.like(other).value for other in others)
        return Computed(self.b.op(name, self.value, *values, **attrs), self.b)

    def like(self, other: Number) -> Computed:
        if isinstance(other, Computed):
            return other
        return Computed(self.b.scalar(float(other), dtype_of(self.value)), self.b)

    def __lt__(self, other: Number) -> Computed:
        return self.call("less", other)

    def cast(self, dtype: str) -> Computed:
        return Computed(self.b.cast(self.value, np.dtype(dtype)), self.b)

    def viewed(self, *shape: Dim) -> Computed:
        return Computed(self.b.reshape(self.value, shape), self.b)

    def require_equal(self, axis: int, other: Number, other_axis: int) -> None:
        require_equal(self.b, dims_of(self.value)[axis], dims_of(other.value)[other_axis])

    def grouped(self, *counts: int) -> Computed:
        if has_static_shape(self.value):
            return super().grouped(*counts)
        x, first = self.value, rank_of(self.value)
        for count in reversed(counts):
            first -= count
            if not count:
                x = self.b.op("expand_dims", x, axis=first)
            for _ in range(1, count):  # -3 is the product of two dims
                x = self.b.op("reshape", x, newshape=(*[0] * first, -3, -2))
        return Computed(x, self.b)


Number: TypeAlias = Any
"""A float, an array of float32, or `Computed`."""
