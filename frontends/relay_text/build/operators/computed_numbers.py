"""
Arithmetic on tensors that a program computes: the notation of rules that build formulas.

    (at - 1.0).clamped(0.0, size - 1.0)
    ->
    %a = relay.subtract %at, %one
    %b = relay.maximum %a, %zero
    %c = relay.minimum %b, %last
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from .call_site import Site, dtype_of
from .decomposed_operators import array


@dataclass(frozen=True)
class Numbers:
    """Numbers that the program computes."""

    site: Site
    value: SSAValue

    def call(self, name: str, *others: Numbers | float, **attrs: Any) -> Numbers:
        """Build an operator; floats become constants of the dtype of these numbers."""
        values = (
            other.value if isinstance(other, Numbers) else self._constant(other) for other in others
        )
        return Numbers(self.site, self.site.value(name, self.value, *values, **attrs))

    def _constant(self, value: float) -> SSAValue:
        return self.site.scalar(value, dtype_of(self.value))

    def __add__(self, other: Numbers | float) -> Numbers:
        return self.call("add", other)

    def __sub__(self, other: Numbers | float) -> Numbers:
        return self.call("subtract", other)

    def __rsub__(self, other: float) -> Numbers:
        return self.call("negative") + other

    def __mul__(self, other: Numbers | float) -> Numbers:
        return self.call("multiply", other)

    def __truediv__(self, other: Numbers | float) -> Numbers:
        return self.call("divide", other)

    def __and__(self, other: Numbers) -> Numbers:
        return self.call("logical_and", other)

    def clamped(self, low: Numbers | float, high: Numbers | float) -> Numbers:
        return self.call("maximum", low).call("minimum", high)

    def is_within(self, low: Numbers | float, high: Numbers | float) -> Numbers:
        return self.call("greater_equal", low) & self.call("less_equal", high)

    def viewed(self, *shape: int) -> Numbers:
        return self.call("reshape", newshape=shape)

    def permuted(self, *axes: int) -> Numbers:
        return self.call("transpose", axes=axes)

    def cast(self, dtype: str) -> Numbers:
        return Numbers(self.site, self.site.cast(self.value, dtype))

    def where(self, condition: Numbers, other: Numbers | float) -> Numbers:
        """Return these numbers where the condition is true, others elsewhere."""
        if not isinstance(other, Numbers):
            other = Numbers(self.site, self._constant(other))
        return condition.call("where", self, other)

    def counted(self, count: int, *shape: int) -> Numbers:
        """Return 0, 1, … in the dtype of these numbers, as a vector or a tensor of `shape`."""
        numbers = Numbers(self.site, array(self.site, range(count), shape or (count,), "int64"))
        return numbers.cast(dtype_of(self.value))
