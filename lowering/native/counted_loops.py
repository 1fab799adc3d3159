"""Loops and prefetches that passes write op by op, where a kernel is not a generic op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, UnregisteredOp, i32
from xdsl.ir import Block, Operation, Region, SSAValue

from ..linalg.builder import INDEX, Builder, Size

Step: TypeAlias = Callable[[Builder, SSAValue, Sequence[SSAValue]], Sequence[SSAValue]]
"""Builds a turn of a loop from its index and what the loop carries; returns what it carries on."""


def carrying_loop(
    b: Builder, stop: Size, by: int, step: Step, initial: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """Append a loop from 0, and return what it carries at its end."""
    block = Block(arg_types=[INDEX, *(value.type for value in initial)])
    inner, (index, *carried) = Builder(block, b), block.args
    inner.insert_all(scf.YieldOp(*step(inner, index, carried)))
    bounds = (b.index(0), b.index(stop), b.index(by))
    return b.insert_all(scf.ForOp(*bounds, initial, Region(block)))


def plain_loop(b: Builder, stop: Size, by: int, body: Callable[[Builder, SSAValue], None]) -> None:
    """Append a loop from 0."""

    def step(inner: Builder, index: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        body(inner, index)
        return carried

    carrying_loop(b, stop, by, step, ())


def prefetch(buffer: SSAValue, at: Sequence[SSAValue]) -> Operation:
    """Return an op that brings an element, which may be past the end, into the cache."""
    return UnregisteredOp.with_name("memref.prefetch").create(
        operands=[buffer, *at],
        properties={
            "isDataCache": IntegerAttr.from_bool(True),
            "isWrite": IntegerAttr.from_bool(False),
            "localityHint": IntegerAttr(3, i32),
        },
    )


def in_chunks(
    b: Builder, stop: int, chunks: int, body: Callable[[Builder, SSAValue, SSAValue], None]
) -> None:
    """Append a loop from 0, in chunks that threads compute; `body` gets their number, too."""
    if chunks == 1:
        plain_loop(b, stop, 1, lambda b, index: body(b, b.index(0), index))
        return
    block = Block(arg_types=[INDEX])
    inner, (chunk,) = Builder(block, b), block.args
    first = inner.floordiv(inner.mul(chunk, stop), chunks)
    end = inner.floordiv(inner.mul(inner.add(chunk, 1), stop), chunks)
    turns = inner.sub(end, first) if stop % chunks else stop // chunks
    plain_loop(inner, turns, 1, lambda b, index: body(b, chunk, b.index(b.add(first, index))))
    inner.insert_all(scf.ReduceOp())
    low, high, step = ([b.index(n)] for n in (0, chunks, 1))
    b.insert_all(scf.ParallelOp(low, high, step, Region(block)))
