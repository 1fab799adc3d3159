"""
Which rows an op of a loop copies or fills, as arithmetic: instructions, or ops of `arith`.

    relay.read_rows %x fill %z {start = -2, step = 3}, 4 rows of a tensor that has 9
      turn 0: rows -2 to 1     low 2, high 4, first 0, number 2
      turn 3: rows 7 to 10     low 0, high 2, first 7, number 2
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from ..memory.destination_ops import CopyRowsOp
from .loops import FillRowsOp, LoopOp, WriteRowsOp

Value = TypeVar("Value")

Compute: TypeAlias = Callable[[str, Value | int, Value | int], Value]
"""Writes an operation on two integers, by its name in `arith`."""

RowsOp: TypeAlias = CopyRowsOp | WriteRowsOp | FillRowsOp


class Window(NamedTuple, Generic[Value]):
    """Those of some rows that a tensor has: `low` to `high` of them, its rows from `first` on."""

    low: Value
    high: Value
    first: Value
    number: Value


def first_row(op: RowsOp, turn: Value | None, compute: Compute[Value]) -> Value | int:
    """Return the first of the rows that move from turn to turn."""
    start, step = op.start.value.data, op.step.value.data
    if turn is None or not step:
        return start
    row = turn if step == 1 else compute("muli", turn, step)
    return compute("addi", row, start) if start else row


def window(
    first: Value | int, rows: int, bound: Value | int, compute: Compute[Value]
) -> Window[Value]:
    """Return which of `rows` from `first` on a tensor of `bound` rows has."""
    start = compute("maxsi", compute("minsi", first, bound), -rows)  # no sum overflows
    begin, end = compute("maxsi", start, 0), compute("minsi", compute("addi", start, rows), bound)
    low, number = compute("subi", begin, start), compute("subi", end, begin)
    return Window(low, compute("addi", low, number), begin, number)


def rows_to_fill(there: Window[Value], rows: int, compute: Compute[Value]) -> Value:
    """Return the number of rows to fill before some are copied over them: 0 if all are there."""
    some = compute("minsi", compute("subi", rows, there.number), 1)
    return compute("muli", some, rows)


MOST = 2**62
"""A number of rows that no tensor has; rows near it can be added."""


def bounded(size: Value, compute: Compute[Value]) -> Value:
    """Return a number of rows that data decide, which may be any, as one of a tensor."""
    return compute("minsi", compute("maxsi", size, 0), MOST)


def turns(loop: LoopOp, rows: Value | int, compute: Compute[Value]) -> Value:
    """Return the number of turns of an open loop whose last operand has so many rows."""
    start, step = loop.start.value.data, loop.step.value.data
    left = compute("addi", rows, step - 1 - start)
    return compute("maxsi", compute("floordivsi", left, step), 1)
