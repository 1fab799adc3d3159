"""
Evaluation of ops that copy rows in a turn of a loop, over which an open tensor may not reach.

    copied(read_rows, data = 5 rows, out = 3 rows, first = 4)        row 4 is copied, two stay
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from ...dialects import memory, relay
from ..analysis.arrays import Array

Copies: TypeAlias = relay.ReadRowsOp | relay.WriteRowsOp | memory.CopyRowsOp


def along(array: Array, op: Copies, first: int, count: int) -> Array:
    """Return those of `count` rows of an array, from the `first` on, that it has."""
    rows = slice(max(first, 0), max(first + count, 0))
    return array[(slice(None),) * op.axis.value.data + (rows,)]


def copied(op: Copies, data: Array, out: Array, count: int, turn: int) -> None:
    """Copy rows, of which the moving ones, those of an open tensor, may not all exist."""
    moving, fixed = (out, data) if isinstance(op, relay.WriteRowsOp) else (data, out)
    first = memory.first_row(op, turn, moving.shape[op.axis.value.data])
    there = along(moving, op, first, count)
    source = op.source.value.data if isinstance(op, relay.WriteRowsOp) else 0
    here = along(fixed, op, source + max(-first, 0), there.shape[op.axis.value.data])
    np.copyto(*((there, here) if moving is out else (here, there)))


def read_rows(op: relay.ReadRowsOp, args: Sequence[Array], turn: int) -> list[Array]:
    dims = [*args[0].shape]
    dims[op.axis.value.data] = op.result.type.get_shape()[op.axis.value.data]
    return copy_rows(op, [*args, np.zeros(dims, args[0].dtype)], turn)


def copy_rows(
    op: relay.ReadRowsOp | memory.CopyRowsOp, args: Sequence[Array], turn: int
) -> list[Array]:
    data, *fill, out = args
    for value in fill:
        out[...] = value
    copied(op, data, out, out.shape[op.axis.value.data], turn)
    return [out]


def write_rows(op: relay.WriteRowsOp, args: Sequence[Array], turn: int) -> list[Array]:
    data, target = args
    copied(op, data, target, op.count.value.data, turn)
    return [target]


def fill_rows(op: relay.FillRowsOp, args: Sequence[Array], turn: int) -> list[Array]:
    target, value, shape = args
    axis = op.axis.value.data
    first, bound = memory.first_row(op, turn, 0), int(shape[axis])
    outside = [i for i in range(target.shape[axis]) if not 0 <= first + i < bound]
    target[(slice(None),) * axis + (outside,)] = value
    return [target]
