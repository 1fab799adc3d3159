"""Numbers that the program computes, for formulas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ...program_numbers import Numbers
from .onnx_builder import Builder
from .onnx_values import Value, dtype_of, shape_of


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

    def viewed(self, *shape: int) -> Computed:
        return Computed(self.b.reshape(self.value, shape), self.b)


Number: TypeAlias = Any
"""A float, an array of float32, or `Computed`."""
