"""
Arithmetic on sizes that may not be known yet, so that each shape rule is written once.

A size is an `int`, or a `Dim`. A rule is ordinary arithmetic plus the functions below; it never
compares sizes. What a `Dim` is depends on the reader of the rule:

- type inference passes `UNKNOWN`, and what depends on it is `UNKNOWN`;
- a shape function passes traced sizes, and the rule leaves the IR that computes its result;
- an analysis passes symbols, and gets expressions.

Integers stay integers: the static part of a rule is computed at once.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import gcd, prod
from typing import TypeAlias, overload

from ..measures import MEASURES
from .size_table import Check as Check
from .size_table import SizeOp as SizeOp


class SignatureError(ValueError):
    """
    An operator does not accept its operands or attributes; the message has the bound.

    `{op}` in the message stands for the operator's name.
    """


class Dim(ABC):
    """A size that is not an integer yet. Equality is identity."""

    @abstractmethod
    def binary(self, op: SizeOp, left: Size, right: Size) -> Size:
        """Return `left op right`; one of them is this size or one of its kind."""

    @abstractmethod
    def require(self, check: Check, left: Size, right: Size, message: str) -> None:
        """
        Require the relation `check` of `left` and `right`.

        `{0}` and `{1}` in the message stand for their values.
        """

    @abstractmethod
    def measure(self, name: str, args: Sequence[Size | float]) -> Size:
        """Return the measure `name` of `args`, of which this size is one."""

    def __add__(self, other: Size) -> Size:
        return self if other == 0 else _binary(SizeOp.ADD, self, other)

    def __radd__(self, other: int) -> Size:
        return self if other == 0 else _binary(SizeOp.ADD, self, other)

    def __sub__(self, other: Size) -> Size:
        return self if other == 0 else _binary(SizeOp.SUB, self, other)

    def __rsub__(self, other: int) -> Size:
        return _binary(SizeOp.SUB, other, self)

    def __mul__(self, other: Size) -> Size:
        return self if other == 1 else _binary(SizeOp.MUL, self, other)

    def __rmul__(self, other: int) -> Size:
        return self if other == 1 else _binary(SizeOp.MUL, self, other)

    def __floordiv__(self, other: Size) -> Size:
        return self if other == 1 else _binary(SizeOp.FLOORDIV, self, other)

    def __rfloordiv__(self, other: int) -> Size:
        return _binary(SizeOp.FLOORDIV, other, self)

    def __mod__(self, other: Size) -> Size:
        return 0 if other == 1 else _binary(SizeOp.MOD, self, other)

    def __bool__(self) -> bool:
        raise TypeError("a rule must not ask for the value of a size; use require_equal and others")


Size: TypeAlias = int | Dim
Shape: TypeAlias = tuple[Size, ...]


class Unknown(Dim):
    """A size known only at run time: `?` in a type."""

    def binary(self, op: SizeOp, left: Size, right: Size) -> Size:
        return self

    def require(self, check: Check, left: Size, right: Size, message: str) -> None:
        """Do nothing: the relation is checked when the program runs."""

    def measure(self, name: str, args: Sequence[Size | float]) -> Size:
        return self

    def __repr__(self) -> str:
        return "?"


UNKNOWN = Unknown()


def is_known(size: Size) -> bool:
    """Test whether `size` is an integer."""
    return isinstance(size, int)


def _reader(left: Size, right: Size) -> Dim:
    """Return the `Dim` that does an operation: one that is not `UNKNOWN`, if there is one."""
    if isinstance(left, Dim) and (left is not UNKNOWN or not isinstance(right, Dim)):
        return left
    assert isinstance(right, Dim), "integers need no reader"
    return right


def _binary(op: SizeOp, left: Size, right: Size) -> Size:
    return _reader(left, right).binary(op, left, right)


_PLACEHOLDER = re.compile(r"\{(0|[1-9][0-9]{0,3})\}")


def placeholders(message: str) -> list[int]:
    """Return the numbers of the values that `fill` inserts into `message`."""
    return [int(digits) for digits in _PLACEHOLDER.findall(message)]


def fill(message: str, values: Sequence[object]) -> str:
    """Return `message` with `{i}` replaced by `values[i]`."""
    return _PLACEHOLDER.sub(lambda found: str(values[int(found[1])]), message)


def require(check: Check, left: Size, right: Size, message: str) -> None:
    """
    Require the relation `check`; raise `SignatureError` if both are integers that violate it.

    `{0}` and `{1}` in the message stand for `left` and `right`.
    """
    if isinstance(left, int) and isinstance(right, int):
        if not check.holds(left, right):
            raise SignatureError(fill(message, (left, right)))
    elif left is not right and not (check is Check.DIVISIBLE and right == 1):
        _reader(left, right).require(check, left, right, message)


def require_equal(left: Size, right: Size, message: str) -> Size:
    """Return the size that `left` and `right` both are, an integer if one of them is."""
    if left is not right:
        require(Check.EQUAL, left, right, message)
    if isinstance(left, int):
        return left
    return right if isinstance(right, int) or left is UNKNOWN else left


def require_at_least(size: Size, bound: int, message: str) -> Size:
    """Return `size`, which must be `bound` or more; `{0}` stands for the size."""
    require(Check.AT_LEAST, size, bound, message)
    return size


def require_at_most(size: Size, bound: Size, message: str) -> Size:
    """Return `size`, which must be `bound` or less; `{0}` and `{1}` stand for both."""
    require(Check.AT_MOST, size, bound, message)
    return size


def require_source(size: Size, count: Size, message: str) -> None:
    """Require that `size` is at least 1 if `count` is: elements cannot come from nothing."""
    if not isinstance(size, int) or size == 0:
        require(Check.AT_LEAST, size, minimum(count, 1), message)


def divided(size: Size, divisor: Size, message: str) -> Size:
    """Return `size / divisor`, which must have no remainder; `{0}` and `{1}` stand for both."""
    require(Check.DIVISIBLE, size, divisor, message)
    return size // divisor


def broadcast(left: Size, right: Size, message: str) -> Size:
    """Return the size that `left` and `right` broadcast to, as in NumPy: equal, or one is 1."""
    if left is right or right == 1:
        return left
    if left == 1:
        return right
    if isinstance(left, int) == isinstance(right, int):
        require(Check.BROADCAST, left, right, message)
        return left if isinstance(left, int) else _binary(SizeOp.BROADCAST, left, right)
    known, other = (left, right) if isinstance(left, int) else (right, left)
    require(Check.ONE_OR_EQUAL, other, known, message)  # an integer other than 1 wins
    return known


@overload
def maximum(left: int, right: int) -> int: ...
@overload
def maximum(left: Size, right: Size) -> Size: ...
def maximum(left: Size, right: Size) -> Size:
    """Return the greater of two sizes."""
    if isinstance(left, int) and isinstance(right, int):
        return max(left, right)
    return left if left is right else _binary(SizeOp.MAX, left, right)


def minimum(left: Size, right: Size) -> Size:
    """Return the lesser of two sizes."""
    if isinstance(left, int) and isinstance(right, int):
        return min(left, right)
    return left if left is right else _binary(SizeOp.MIN, left, right)


def product(sizes: Sequence[Size]) -> Size:
    """Return the product of `sizes`; 0 if one of them is."""
    result: Size = 1
    for size in sizes:
        if size == 0:
            return 0
        result = size * result
    return result


def _factors(sizes: Sequence[Size]) -> tuple[int, list[Size]]:
    """Return the product of those `sizes` that are integers, and the others."""
    return (
        prod(size for size in sizes if isinstance(size, int)),
        [size for size in sizes if not isinstance(size, int)],
    )


def require_equal_products(left: Sequence[Size], right: Sequence[Size], message: str) -> None:
    """Require that the products of `left` and `right` are equal; integer factors cancel."""
    (a, unknown), (b, others) = _factors(left), _factors(right)
    common = gcd(a, b) or 1
    a, b = a // common, b // common
    if a > 1 and not others:  # no integer times `a` is `b`
        raise SignatureError(fill(message, (product(left), product(right))))
    require_equal(product((a, *unknown)), product((b, *others)), message)


def quotient(left: Sequence[Size], right: Sequence[Size], message: str) -> Size:
    """
    Return the product of `left` divided by that of `right`, which must have no remainder.

    No size of `right` may be 0. Dims that are on both sides cancel, and so do integer factors.
    """
    above, below = list(left), list[Size]()
    for size in right:
        at = next((i for i, other in enumerate(above) if other is size), None)
        if at is None or isinstance(size, int) or size is UNKNOWN:
            below.append(size)
        else:
            del above[at]
    (a, unknown), (b, others) = _factors(above), _factors(below)
    common = gcd(a, b)
    return divided(product((a // common, *unknown)), product((b // common, *others)), message)


def total(sizes: Sequence[Size]) -> Size:
    """Return the sum of `sizes`."""
    result: Size = 0
    for size in sizes:
        result = size + result
    return result


def measure(name: str, *args: Size | float) -> Size:
    """Return the measure `name` of sizes and numbers, such as the length of a slice."""
    reader = next((arg for arg in args if isinstance(arg, Dim) and arg is not UNKNOWN), None)
    if UNKNOWN in args and reader is None:
        return UNKNOWN
    if reader is not None:
        return reader.measure(name, args)
    try:
        return MEASURES[name](*args)
    except ValueError as error:
        raise SignatureError(str(error)) from error
