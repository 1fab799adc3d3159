"""
The range of the numbers that an operator computes, from its name, attributes and operands' range.

    relay.clip {a_min = 0.0, a_max = 6.0}     [0, 6]
    relay.round of these                      [0, 6]
    relay.cast to i8 of these                 converts without a clamp: see `can_convert`

A NaN may be among the numbers of any range.
"""

from collections.abc import Mapping
from math import ceil, floor, inf, isfinite
from typing import NamedTuple

from .element_types import NUMBER_TYPES

MOVES = frozenset(
    f"relay.{name}"
    for name in (
        *("copy", "reshape", "transpose", "expand_dims", "squeeze", "nn.batch_flatten"),
        *("broadcast_to", "strided_slice", "split", "reverse", "tile", "repeat"),
    )
)
"""Operators whose results consist of elements of operand 0."""

ROUNDINGS = frozenset(f"relay.{name}" for name in ("round", "ceil", "floor", "trunc"))

PRECISIONS: Mapping[str, int] = {
    row.mlir: row.precision for row in NUMBER_TYPES.values() if row.precision
}
"""The number of bits up to which every integer is a float of the type, by MLIR's names."""


class Range(NamedTuple):
    """All numbers, NaN excepted, are at least `low` and at most `high`."""

    low: float
    high: float


ALL = Range(-inf, inf)


def reads_range(name: str) -> bool:
    """Test whether the range of the result of operator `name` follows from that of operand 0."""
    return name in MOVES or name in ROUNDINGS or name in ("relay.clip", "relay.nn.relu")


def result_range(name: str, attributes: Mapping[str, object], operand: Range) -> Range:
    """Return a range of the result of operator `name` on floats in the range `operand`."""
    if name in MOVES:
        return operand
    if name in ROUNDINGS:
        low, high = operand
        return Range(floor(low) if isfinite(low) else low, ceil(high) if isfinite(high) else high)
    if name == "relay.nn.relu":
        return Range(max(operand.low, 0), max(operand.high, 0))
    if name == "relay.clip":
        low, high = attributes["a_min"], attributes["a_max"]
        assert isinstance(low, int | float)
        assert isinstance(high, int | float)
        if low <= high:  # false for NaN, too
            return Range(low, high)
    return ALL


def can_convert(numbers: Range, source: str, least: int, greatest: int) -> tuple[bool, bool]:
    """
    Test whether floats of type `source` ("f32") in the range `numbers` are at least `least` when
    they are truncated, and whether they are at most `greatest`.

    The bounds of `numbers` were stated before they were rounded to `source`. Rounding moves none
    of them over an integer that is a number of this type.
    """
    exact = 2 ** PRECISIONS.get(source, 0)
    return (
        least <= numbers.low and -exact <= least,
        numbers.high <= greatest and greatest <= exact,
    )
