"""
The operations on sizes: what each computes, its bounds and divisor, and its op and instruction.

    OPERATIONS["shl"] = Operation(int.__lshift__, arith="arith.shli")

That line is all that an operation needs: expressions of it are read from IR, written, evaluated,
bounded, and shown in reports. The machine's instruction has the name of the op without `arith.`.
Measures (`operators.measures`) are operations, too; in IR they are the op `relay.measure`.
"""

from __future__ import annotations

import operator as op
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from math import gcd, inf, prod
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ..measures import MEASURES, SIGNED


class SizeOp(StrEnum):
    """An operation on two sizes. Division and remainder round down; the divisor is above 0."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    FLOORDIV = "floordiv"
    MOD = "mod"
    MAX = "max"
    MIN = "min"
    BROADCAST = "broadcast"
    """The second size if the first is 1, else the first."""


SELECT = "select"
"""The operation on a, b, c, d that is c if a < b, else d."""

CHOOSE = "choose"
"""The operation on a, b, c that is b if a is not 0, else c."""

ALIGN = "align"
"""The operation on a, b that rounds a up to a multiple of b, a constant above 0."""

TOTAL = "total"
"""
The operation on a layout and the sizes of slices that is the number of bytes that they take.

A layout is hashable, and has the method `total(sizes, apply)`, which does each operation by
`apply(op, *operands)`, on whatever sizes are: integers, values of IR, or steps of a formula.
"""

PREDICATES = ("eq", "ne", "lt", "le", "gt", "ge")
"""The comparisons, by the number of their predicate in `arith.cmpi`."""


class Check(StrEnum):
    """A relation of two sizes `a` and `b` that a rule requires."""

    EQUAL = "eq"
    AT_LEAST = "at_least"
    """a >= b."""
    AT_MOST = "at_most"
    """a <= b."""
    DIVISIBLE = "divisible"
    """b divides a; b is above 0."""
    ONE_OR_EQUAL = "one_or_eq"
    """a is 1 or b."""
    BROADCAST = "broadcast"
    """a and b are equal, or one of them is 1."""

    def holds(self, a: int, b: int) -> bool:
        """Test whether `a` and `b` are in this relation."""
        match self:
            case Check.EQUAL:
                return a == b
            case Check.AT_LEAST:
                return a >= b
            case Check.AT_MOST:
                return a <= b
            case Check.DIVISIBLE:
                return b > 0 and a % b == 0
            case Check.ONE_OR_EQUAL:
                return a in (1, b)
            case Check.BROADCAST:
                return a == b or 1 in (a, b)


Range: TypeAlias = tuple[float, float]
"""The least and the greatest value that a size may have; infinite where no bound is known."""

Apply: TypeAlias = Callable[..., Any]
"""Does an operation: `apply(op, *operands)`; operands are sizes of one kind, or integers."""

FREE: Range = -inf, inf
NATURAL: Range = 0, inf


def sum_range(a: Range, b: Range) -> Range:
    """Return the range of a sum."""
    return a[0] + b[0], a[1] + b[1]


def _difference_range(a: Range, b: Range) -> Range:
    return a[0] - b[1], a[1] - b[0]


def product_range(*factors: Range) -> Range:
    """Return the range of a product; of several factors that may be negative none is known."""
    if len(factors) == 1:
        return factors[0]
    least: float = 1
    greatest: float = 1
    for low, high in factors:
        if low < 0:
            return FREE
        least, greatest = least * low, greatest * high if greatest and high else 0
    return least, greatest


def _quotient_range(a: Range, b: Range) -> Range:
    if a[0] < 0 or b[0] < 0:
        return FREE
    return a[0] // b[1] if 0 < b[1] < inf else 0, a[1] if a[1] == inf else a[1] // max(b[0], 1)


def _remainder_range(a: Range, b: Range) -> Range:
    return FREE if b[0] < 0 else (0, max(b[1] - 1, 0))


def _maximum_range(*sizes: Range) -> Range:
    return max(low for low, _ in sizes), max(high for _, high in sizes)


def _minimum_range(*sizes: Range) -> Range:
    return min(low for low, _ in sizes), min(high for _, high in sizes)


def _either(*sizes: Range) -> Range:
    return min(low for low, _ in sizes), max(high for _, high in sizes)


_Result = TypeVar("_Result")


def _always(result: _Result) -> Callable[..., _Result]:
    """Return the function that has this result, whatever the operands are."""
    return lambda *_: result


_free, _natural, _one = _always(FREE), _always(NATURAL), _always(1)


class Operation(NamedTuple):
    """An operation on sizes, of which nothing but the meaning needs to be known."""

    meaning: Callable[..., int]
    """Of integers. `ZeroDivisionError` or `ValueError` if they have no result."""
    range: Callable[..., Range] = _free
    """The range of the result from those of the operands."""
    divisor: Callable[..., int] = _one
    """A number that divides the result, from numbers that divide the operands."""
    arith: str = ""
    """The op of IR; empty if the operation is `expanded`."""
    commutes: bool = False
    identity: int | None = None
    """The second operand for which the first is the result."""
    expanded: Callable[..., Any] | None = None
    """The operation in terms of others: `expanded(apply, *operands)`."""


def truncdiv(a: int, b: int) -> int:
    """Return `a / b` rounded towards 0."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _truncmod(a: int, b: int) -> int:
    return a - b * truncdiv(a, b)


def _truncmod_range(a: Range, b: Range) -> Range:
    return NATURAL if a[0] >= 0 else FREE


def _ceildiv(a: int, b: int) -> int:
    return -(-a // b)


def _ceiling_range(a: Range, b: Range) -> Range:
    low = _quotient_range(a, b)[0]
    return low, a[1] if low >= 0 and b[0] else inf


def _product(*factors: int) -> int:
    return prod(factors)


def _rounded_down(apply: Apply, a: Any, b: Any) -> Any:
    return apply("sub", a, apply("mul", apply("floordiv", a, b), b))


def _broadcast(a: int, b: int) -> int:
    return b if a == 1 else a


def _where_one(apply: Apply, a: Any, b: Any) -> Any:
    return apply(CHOOSE, apply("eq", a, 1), b, a)


def _chosen(a: int, b: int, c: int) -> int:
    return b if a else c


def _selected(a: int, b: int, c: int, d: int) -> int:
    return c if a < b else d


def _compared(apply: Apply, a: Any, b: Any, c: Any, d: Any) -> Any:
    return apply(CHOOSE, apply("lt", a, b), c, d)


def _last_range(a: Range, *others: Range) -> Range:
    return _either(*others[-2:])


def _last_divisor(a: int, *others: int) -> int:
    return gcd(*others[-2:])


def _aligned(a: int, unit: int) -> int:
    return -(-a // unit) * unit


def _rounded_up(apply: Apply, a: Any, unit: int) -> Any:
    if unit & (unit - 1):
        return apply("mul", apply("floordiv", apply("add", a, unit - 1), unit), unit)
    return apply("and", apply("add", a, unit - 1), -unit)


def _total(layout: Any, *sizes: int) -> int:
    return layout.total(sizes, compute)


def _total_range(layout: Any, *sizes: Range) -> Range:
    return _maximum_range(NATURAL, *sizes)[0], inf


def _totalled(apply: Apply, layout: Any, *sizes: Any) -> Any:
    return layout.total(sizes, apply)


# fmt: off
OPERATIONS: dict[str, Operation] = {
    "add": Operation(op.add, sum_range, gcd, "arith.addi", commutes=True, identity=0),
    "sub": Operation(op.sub, _difference_range, gcd, "arith.subi", identity=0),
    "mul": Operation(_product, product_range, _product, "arith.muli", commutes=True, identity=1),
    "floordiv": Operation(int.__floordiv__, _quotient_range, _one, "arith.floordivsi", identity=1),
    "mod": Operation(op.mod, _remainder_range, gcd, expanded=_rounded_down),
    "max": Operation(max, _maximum_range, gcd, "arith.maxsi", commutes=True),
    "min": Operation(min, _minimum_range, gcd, "arith.minsi", commutes=True),
    "broadcast": Operation(_broadcast, _either, gcd, expanded=_where_one),
    "truncdiv": Operation(truncdiv, _free, _one, "arith.divsi", identity=1),
    "truncmod": Operation(_truncmod, _truncmod_range, gcd, "arith.remsi"),
    "ceildiv": Operation(_ceildiv, _ceiling_range, arith="arith.ceildivsi", identity=1),
    "and": Operation(int.__and__, arith="arith.andi", commutes=True, identity=-1),
    "or": Operation(int.__or__, arith="arith.ori", commutes=True, identity=0),
    "xor": Operation(int.__xor__, arith="arith.xori", commutes=True, identity=0),
    **{
        name: Operation(getattr(op, name), _always((0, 1)), arith=f"arith.cmpi {name}")
        for name in PREDICATES
    },
    CHOOSE: Operation(_chosen, _last_range, _last_divisor, "arith.select"),
    SELECT: Operation(_selected, _last_range, _last_divisor, expanded=_compared),
    ALIGN: Operation(_aligned, expanded=_rounded_up),
    TOTAL: Operation(_total, _total_range, expanded=_totalled),
}
# fmt: on
"""The operations, by name; those of `SizeOp` are the ones of shape rules."""


@cache
def _measure(name: str) -> Operation:
    return Operation(MEASURES[name], _free if name in SIGNED else _natural)


def is_operation(name: str) -> bool:
    """Test whether `name` is an operation on sizes."""
    return name in OPERATIONS or name in MEASURES


def operation(name: str) -> Operation:
    """Return the operation of this name, which may be a measure."""
    return OPERATIONS.get(name) or _measure(name)


def compute(name: str, *operands: Any) -> int:
    """
    Return the result of an operation on integers (and what else its operands are).

    Raises `ZeroDivisionError` or `ValueError` if they have none.
    """
    return int(operation(name).meaning(*operands))
