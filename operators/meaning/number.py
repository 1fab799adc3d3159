"""
Numbers that know their element type: what formulas are written over.

    def sigmoid(x: Number) -> Number:
        wide = x.widened()
        return (1 / ((-wide).math("exp") + 1)).converted(x.element)

Nothing is undefined. Integers wrap around; a quotient and a remainder by 0 are 0. A float is
rounded once by each operation; the functions of `Function` are computed in f32 for narrower ones.
i1 is an unsigned integer of which maximum and minimum are or and and.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from math import inf
from typing import Any, Literal, Self, TypeAlias

from ..signature import ELEMENTS, Element, ElementKind

Function: TypeAlias = (
    Literal["sqrt", "exp", "log", "log2", "log10", "erf", "ceil", "floor", "round", "trunc"]
    | Literal["sin", "cos", "tan", "asin", "acos", "atan"]
    | Literal["sinh", "cosh", "tanh", "asinh", "acosh", "atanh"]
)
"""A function of one float; `round` rounds halves to even."""

Arithmetic: TypeAlias = (
    Literal["add", "subtract", "multiply", "divide", "maximum", "minimum", "power"]
    | Literal["quotient", "remainder", "copysign", "and", "or", "xor", "shift_left", "shift_right"]
)
"""
An operation on two numbers of one type: `divide` and `copysign` of floats, `quotient` of integers.

A quotient is truncated, as in C; a remainder has the sign of the dividend. The maximum of a NaN and
a number is NaN; that of both zeros is either. A shift by a negative number, or by the width and
more, shifts all bits out; `shift_right` copies the sign of a signed integer. An integer to a
negative power is 1 divided by the positive one.
"""

Comparison: TypeAlias = Literal["eq", "ne", "lt", "le", "gt", "ge"]
"""For NaN nothing but `ne` holds."""

FLOAT32 = ELEMENTS["float32"]
FLOAT64 = ELEMENTS["float64"]
INT64 = ELEMENTS["int64"]
UINT64 = ELEMENTS["uint64"]


class Number(ABC):
    """
    A number of type `element`; operators of Python compute another one.

    A plain number beside it is a constant of its type. Comparisons result in i1, and `select`
    chooses by one. `equals` and `differs` compare, as `==` says whether two objects are equal.
    """

    element: Element

    @abstractmethod
    def constant(self, value: float) -> Self:
        """Return `value` in this type; an integer that does not fit wraps around."""

    @abstractmethod
    def apply(self, operation: Arithmetic, other: Any) -> Self:
        """Apply `operation` to two numbers of one type (and of one class, as in all methods)."""

    @abstractmethod
    def math(self, function: Function) -> Self:
        """Apply `function` to a float."""

    @abstractmethod
    def negated(self) -> Self:
        """Return this with the other sign; the least integer stays."""

    @abstractmethod
    def magnitude(self) -> Self:
        """Return the float without its sign."""

    @abstractmethod
    def compared(self, predicate: Comparison, other: Any) -> Self:
        """Compare two numbers of one type."""

    @abstractmethod
    def chosen(self, yes: Any, no: Any) -> Self:
        """Return `yes` if this i1 holds, else `no`."""

    @abstractmethod
    def converted(self, element: Element) -> Self:
        """Convert to another type: a float is truncated to an integer, saturates, and NaN is 0."""

    @abstractmethod
    def reinterpreted(self, element: Element) -> Self:
        """Return the number of another type of as many bits that has these bits."""

    # ------------------------------------------------------------ the same in words of formulas

    @property
    def is_float(self) -> bool:
        return self.element.kind is ElementKind.FLOAT

    @property
    def is_unsigned(self) -> bool:
        """Test for an unsigned integer, or i1."""
        return self.element.is_unsigned

    def __bool__(self) -> bool:
        raise TypeError(
            "a formula cannot branch on a number, which it computes later: choose by "
            "condition.select(yes, no)"
        )

    def _with(self, operation: Arithmetic, other: Self | float) -> Self:
        return self.apply(operation, self.lifted(other))

    def lifted(self, other: Self | float) -> Self:
        """Return `other` as a number of this type."""
        return other if isinstance(other, Number) else self.constant(other)

    def __add__(self, other: Self | float) -> Self:
        return self._with("add", other)

    def __rsub__(self, other: float) -> Self:
        return self.constant(other).apply("subtract", self)

    def __sub__(self, other: Self | float) -> Self:
        return self._with("subtract", other)

    def __mul__(self, other: Self | float) -> Self:
        return self._with("multiply", other)

    def __truediv__(self, other: Self | float) -> Self:
        return self._with("divide", other)

    def __rtruediv__(self, other: float) -> Self:
        return self.constant(other).apply("divide", self)

    def __neg__(self) -> Self:
        return self.negated()

    def __and__(self, other: Self) -> Self:
        return self._with("and", other)

    def __or__(self, other: Self) -> Self:
        return self._with("or", other)

    def __xor__(self, other: Self | int) -> Self:
        return self._with("xor", other)

    def __lt__(self, other: Self | float) -> Self:
        return self.compared("lt", self.lifted(other))

    def __gt__(self, other: Self | float) -> Self:
        return self.compared("gt", self.lifted(other))

    def equals(self, other: Self | float) -> Self:
        return self.compared("eq", self.lifted(other))

    def differs(self, other: Self | float) -> Self:
        return self.compared("ne", self.lifted(other))

    def is_nan(self) -> Self:
        """Test a float for NaN."""
        return self.compared("ne", self)

    def select(self, yes: Self | float, no: Self | float) -> Self:
        """Return `yes` if this i1 holds, else `no`; one of them is a number."""
        if isinstance(yes, Number):
            return self.chosen(yes, yes.lifted(no))
        assert isinstance(no, Number), "a constant has the type of the other choice"
        return self.chosen(no.lifted(yes), no)

    def widened(self) -> Self:
        """Return this as f32 if it is a narrower float."""
        return self.converted(FLOAT32) if self.is_float and self.element.bits < 32 else self


class Source(ABC):
    """An operand of a formula of indices: `x[i, j]` is its element there."""

    element: Element

    @property
    @abstractmethod
    def dims(self) -> Sequence[Any]:
        """The dims, as numbers."""

    @abstractmethod
    def integer(self, value: int) -> Any:
        """Return `value` as an index."""

    @abstractmethod
    def __getitem__(self, index: Sequence[Any]) -> Any:
        """Return the element at an index within the dims."""


def least(element: Element) -> float:
    """Return the least number of a type."""
    return -inf if element.kind is ElementKind.FLOAT else element.integers[0]


def greatest(element: Element) -> float:
    """Return the greatest number of a type."""
    return inf if element.kind is ElementKind.FLOAT else element.integers[1]


def clamped(index: Number, dim: Number) -> Any:
    """Return an integer as an index in [0, `dim`), the nearest one."""
    wide = index.converted(UINT64 if index.is_unsigned else INT64)
    least = wide.apply("minimum", (dim - 1).converted(wide.element))
    return least.converted(INT64) if index.is_unsigned else least.apply("maximum", wide.constant(0))


def element_or(data: Source, at: Sequence[Any], axes: Iterable[int], other: float) -> Any:
    """Return the element of `data` at an index, or `other` if it is out of bounds along `axes`."""
    index, dims = list(at), data.dims
    inside: Any = None
    for axis in axes:
        place, dim = index[axis], dims[axis]
        here = (place > -1) & (place < dim)
        inside = here if inside is None else inside & here
        index[axis] = clamped(place, dim)
    return data[index] if inside is None else inside.select(data[index], other)


def computed_number(result: object) -> Any:
    """Return the result of a formula; raise `TypeError` unless it is a number."""
    if not isinstance(result, Number):
        raise TypeError(f"a formula must return a number, but returned {result!r:.80}")
    return result
