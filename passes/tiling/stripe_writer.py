"""
The writer of the stripes of a chain: new rows, halos that are carried, loops of stripes alike.

`tile_for_memory` has the pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod
from typing import NamedTuple

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import relay
from ...dialects.device import tensor_type
from ...dialects.integers import i64_attribute
from ...dialects.relay import broadcast, creation, pooling
from ...dialects.relay.properties import ints
from ...dialects.tensors import Tensor, tensor_of
from ...operators.intervals import Interval
from ...operators.meaning.forms import Attributes
from ...planning.stripes.striped import Striped, Turns
from ..analysis.arrays import dense_of, numpy_dtype
from ..analysis.fusion import UNFUSED
from .rows import attributes_for, dims_of, join_of, on_rows, slice_of
from .step_network import Axes
from .stripe_attributes import Tiled


class Held(NamedTuple):
    """Rows of a value that are live, in a tensor."""

    tensor: SSAValue
    rows: Interval


class Part(NamedTuple):
    """The ops of a step that compute some rows of its result."""

    ops: Sequence[tuple[Operation, Attributes]]
    need: Mapping[SSAValue, Interval]
    """The rows of each value that are computed or read."""
    reads: Mapping[tuple[Operation, SSAValue], Interval]
    """The rows of each operand that an op reads."""

    @property
    def constant(self) -> object:
        """Attributes and numbers of rows, which are equal in all turns of a loop."""
        return [attributes for _, attributes in self.ops], [
            rows.size for rows in (*self.need.values(), *self.reads.values())
        ]

    @property
    def starts(self) -> Sequence[int]:
        """First rows, which move from turn to turn."""
        return [rows.start for rows in (*self.need.values(), *self.reads.values())]


def alike(parts: Sequence[Part]) -> int:
    """Return how many parts differ from the first in nothing but rows, which move evenly."""
    moved = [np.subtract(b.starts, a.starts).tolist() for a, b in pairwise(parts)]
    for turn, part in enumerate(parts):
        if part.constant != parts[0].constant or (turn > 1 and moved[turn - 1] != moved[0]):
            return turn
    return len(parts)


def alone(op: Operation) -> Operation:
    """Let `op` be a kernel of its own, so that it runs where it is."""
    op.attributes[UNFUSED] = UnitAttr()
    return op


def moving(start: int, axis: int, step: int, around: int) -> dict[str, Attribute]:
    """Return the properties of a copy of rows from `start` on, of a ring if `around` is not 0."""
    numbers = {"axis": axis, "start": start % around if around else start, "step": step}
    wraps = {"wraps": UnitAttr()} if around and step else {}
    return {**{name: i64_attribute(n) for name, n in numbers.items()}, **wraps}


def hull(one: Interval, other: Interval | None) -> Interval:
    if other is None:
        return one
    return Interval(min(one.start, other.start), max(one.stop, other.stop))


def of_rows(value: SSAValue, axis: int, rows: int) -> Tensor:
    """Return the type of some rows of a value."""
    type = tensor_of(value)
    dims = [*type.get_shape()]
    dims[axis] = rows
    return tensor_type(type.element_type, dims)


def is_contiguous(value: SSAValue, axis: int) -> bool:
    """Test whether the rows of a value follow each other in memory."""
    return prod((dims_of(value) or ())[:axis]) == 1


@dataclass
class Stripes:
    """Writes the stripes of a chain before its last op."""

    tiled: Tiled
    striped: Striped
    axes: Axes
    number: Mapping[SSAValue, int]
    builder: Builder
    held: dict[int, Held] = field(default_factory=dict[int, Held])
    """The live rows of each value; of one with a ring, those that are new."""
    rings: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    """The ring of each value that has one: row r is its row r modulo its rows."""
    result: list[SSAValue] = field(default_factory=list[SSAValue])
    """The result, which rows are written into, its sum so far, or its parts so far."""
    carried: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    """In a loop, the rows that each value has at the start of a turn."""

    def __post_init__(self) -> None:
        self.net, self.rows = self.striped.net, self.striped.rows
        turns = self.striped.turns()
        self.turns = None if turns is None else self.alike(turns)

    def add(self, op: Operation) -> SSAValue:
        return self.builder.insert(op).results[0]

    def axis(self, step: int) -> int:
        return self.axes.of[self.tiled.groups[step][-1].results[0]]

    def slice(self, held: Held, rows: Interval, axis: int) -> SSAValue:
        """Return some of the rows that are held."""
        if rows == held.rows:
            return held.tensor
        inside = Interval(rows.start - held.rows.start, rows.stop - held.rows.start)
        return self.add(slice_of(held.tensor, axis, inside))

    def write(self) -> SSAValue:
        """Write all stripes; return the result of the chain."""
        last, turns, stripe = self.net.steps[-1], self.turns, 0
        if turns is not None:
            self.result = [self.zeros(self.tiled.groups[-1][-1].results[0])]
        while stripe < len(self.rows[last.writes].stop):
            if turns is not None and stripe == turns.first:
                self.start_loop(turns)
            self.write_stripe(stripe)
            if turns is not None and stripe == turns.first + turns.period - 1:
                self.end_loop(turns)
                stripe = turns.last
            stripe += 1
        if len(self.result) > 1:
            return self.add(join_of(self.result, self.axis(len(self.net.steps) - 1)))
        return self.result[0]

    def write_stripe(self, stripe: int) -> None:
        for at, step in enumerate(self.net.steps):
            new = self.new(at, stripe)
            if new.size and step.reduces:
                mean = self.mean(self.tiled.groups[at][0], stripe)
                sums = [broadcast.AddOp.on([result, mean]) for result in self.result]
                total = [self.add(alone(op)) for op in sums] or [mean]
                if self.turns is not None:
                    every = Interval(0, tensor_of(mean).get_shape()[0])
                    total = [self.copy(total[0], 0, every, self.result[0], 0)]
                self.result = total
            elif new.size:
                halo = self.halo(at, new.start, int(self.rows[step.writes].keep[stripe]))
                rows, moved = self.compute(at, stripe), self.later(at, stripe).start - new.start
                if at < len(self.net.steps) - 1:
                    self.hold(at, rows, new, halo, moved)
                elif self.turns is None:
                    self.result.append(rows)
                else:
                    self.result = [self.copy(rows, 0, new, self.result[0], self.axis(at), moved)]
            self.drop(at, stripe)

    def new(self, at: int, stripe: int) -> Interval:
        """Return the rows of the result of a step that a stripe computes."""
        of = self.rows[self.net.steps[at].writes]
        return Interval(int(of.start[stripe]), int(of.stop[stripe]))

    def later(self, at: int, stripe: int) -> Interval:
        """Return those that the stripe computes in the next turn; the same outside of the loop."""
        turns = self.turns
        is_inside = turns is not None and 0 <= stripe - turns.first < turns.period
        return self.new(at, stripe + turns.period if turns is not None and is_inside else stripe)

    # ------------------------------------------------------------ loops

    def alike(self, turns: Turns) -> Turns | None:
        """Return the turns up to the first whose ops differ from those of the first one."""
        count = turns.turns
        for at in (at for at, step in enumerate(self.net.steps) if not step.reduces):
            for stripe in range(turns.first, turns.first + turns.period):
                every = range(stripe, stripe + count * turns.period, turns.period)
                news = [self.new(at, each) for each in every]
                if news[0].size:
                    count = alike([self.part(self.tiled.groups[at], new) for new in news])
        return Turns(turns.first, turns.period, count) if count > 2 else None

    def zeros(self, like: SSAValue, axis: int = 0, rows: int | None = None) -> SSAValue:
        """Return a tensor of zeros, of the `rows` along `axis`, to be written over."""
        type = tensor_of(like) if rows is None else of_rows(like, axis, rows)
        attributes = {"shape": ints(type.get_shape()), "dtype": type.element_type}
        return self.add(alone(creation.ZerosOp.on([], attributes)))

    def read(
        self, data: SSAValue, rows: Interval, axis: int, step: int = 0, around: int = 0
    ) -> SSAValue:
        """
        Copy rows into a tensor of their own; in each turn, those `step` further.

        Those of a ring are `around` a number of rows.
        """
        read = relay.ReadRowsOp.create(
            operands=[data],
            properties=moving(rows.start, axis, step, around),
            result_types=[of_rows(data, axis, rows.size)],
        )
        read.result.name_hint = data.name_hint
        return self.add(read)

    def copy(
        self,
        data: SSAValue,
        source: int,
        to: Interval,
        target: SSAValue,
        axis: int,
        step: int = 0,
        around: int = 0,
    ) -> SSAValue:
        """Copy rows of `data`, from `source` on, over rows of `target`."""
        numbers = {"axis": axis, "source": source, "count": to.size}
        properties = {name: i64_attribute(number) for name, number in numbers.items()}
        properties |= moving(to.start, axis, step, around)
        return self.add(
            relay.WriteRowsOp.create(
                operands=[data, target], properties=properties, result_types=[target.type]
            )
        )

    def start_loop(self, turns: Turns) -> None:
        """Carry all rows that are held, in tensors of their own, rings and the result."""
        for value in sorted(self.striped.rings):
            if self.rows[value].stop[turns.first + turns.period - 1]:
                self.ring(value)
        initial = [
            self.read(tensor, Interval(0, rows.size), self.axis_of(value))
            for value, (tensor, rows) in self.held.items()
        ]
        loop = relay.LoopOp([*initial, *self.rings.values(), *self.result], turns.turns)
        self.builder.insert(loop)
        *tensors, self.result[0] = loop.results
        self.carried = dict(zip(self.held, tensors, strict=False))
        for value, tensor in self.carried.items():
            self.held[value] = Held(tensor, self.held[value].rows)
        self.rings = dict(zip(self.rings, tensors[len(initial) :], strict=True))

    def end_loop(self, turns: Turns) -> None:
        """Hand what is held to the next turn; after the last one, hold that."""
        handed: list[SSAValue] = []
        for value, tensor in self.carried.items():
            held, rows = self.held[value]
            if held is not tensor and not isinstance(held.owner, relay.ReadRowsOp):
                held = self.read(held, Interval(0, rows.size), self.axis_of(value))
            handed.append(held)
        end = relay.EndLoopOp([*handed, *self.rings.values(), *self.result])
        self.builder.insert(end)
        *tensors, self.result[0] = end.results
        for value, tensor in zip(self.carried, tensors, strict=False):
            of = self.rows[value]
            kept = Interval(int(of.later[turns.last]), int(of.stop[turns.last]))
            self.held[value] = Held(tensor, kept)
        self.rings = dict(zip(self.rings, tensors[len(handed) :], strict=True))
        self.carried = {}

    # ------------------------------------------------------------ rows

    def ring(self, value: int) -> tuple[int, SSAValue]:
        """Return the number of rows of the ring of a value, and the ring; make it at first."""
        rows = self.striped.ring(value, self.turns)
        if value not in self.rings:
            result = self.tiled.groups[self.step_of(value)][-1].results[0]
            self.rings[value] = self.zeros(result, self.axes.of[result], rows)
        return rows, self.rings[value]

    def halo(self, at: int, start: int, keep: int) -> Held | None:
        """Return the rows that are held of the result of a step, from `keep` on up to `start`."""
        value = self.net.steps[at].writes
        old = self.held.get(value) if value in self.striped.chain.carried else None
        if old is None or keep >= old.rows.stop or value in self.striped.rings:
            return None
        assert old.rows.stop == start, "rows are computed in order"
        rows, axis = Interval(keep, start), self.axis(at)
        halo = self.slice(old, rows, axis)
        if is_contiguous(halo, axis):
            halo = self.read(halo, Interval(0, rows.size), axis)  # before new rows are live
        return Held(halo, rows)

    def hold(self, at: int, made: SSAValue, new: Interval, halo: Held | None, moved: int) -> None:
        """Hold new rows, after those of a halo; in each turn of a loop, those `moved` further."""
        value = self.net.steps[at].writes
        if value in self.striped.rings:
            axis, rows, ring = self.axis(at), *self.ring(value)
            for part in self.unbroken(new, rows, moved):
                ring = self.copy(made, part.start - new.start, part, ring, axis, moved, rows)
            self.rings[value] = ring
        if halo is not None:
            join, axis = join_of([halo.tensor, made], self.axis(at)), self.axis(at)
            made = self.add(alone(join) if is_contiguous(made, axis) else join)
            new = Interval(halo.rows.start, new.stop)
        self.held[value] = Held(made, new)

    def drop(self, at: int, stripe: int) -> None:
        """
        Drop, of values that a step used last in a stripe, the rows that no later stripe needs.

        What stays is a copy.
        """
        last = len(self.net.steps) - 1
        for value, held in [*self.held.items()]:
            if self.net.last_user(value, last) != at:
                continue
            later = int(self.rows[value].later[stripe])
            if held.rows.stop <= later or value in self.rings:
                del self.held[value]
            elif later > held.rows.start:
                axis, keep = self.axis_of(value), Interval(later, held.rows.stop)
                turns = self.turns
                ends_turn = turns is not None and stripe == turns.first + turns.period - 1
                is_carried = ends_turn and value in self.carried
                if is_carried or is_contiguous(held.tensor, axis):
                    kept = Interval(later - held.rows.start, held.rows.size)
                    halo = self.read(held.tensor, kept, axis)
                    if is_carried:  # to where it comes from once the whole is dead
                        halo = self.read(halo, Interval(0, keep.size), axis)
                else:
                    halo = self.slice(held, keep, axis)
                    assert isinstance(halo.owner, Operation)
                    alone(halo.owner)
                self.held[value] = Held(halo, keep)

    def axis_of(self, value: int) -> int:
        return self.axis(self.step_of(value))

    def step_of(self, value: int) -> int:
        return next(at for at, step in enumerate(self.net.steps) if step.writes == value)

    def outer(self, value: SSAValue, rows: Interval, step: int) -> SSAValue:
        """Return rows of a value from outside of a step, those of a turn `step` further."""
        axis, number = self.axes.of[value], self.number.get(value, -1)
        held, ring = self.held.get(number), self.rings.get(number)
        if ring is not None and not (
            held and held.rows.start <= rows.start and rows.stop <= held.rows.stop
        ):
            around = self.striped.ring(number, self.turns)
            parts = [
                self.read(ring, part, axis, step, around)
                for part in self.unbroken(rows, around, step)
            ]
            return parts[0] if len(parts) == 1 else self.add(alone(join_of(parts, axis)))
        if held is None and step:
            return self.read(value, rows, axis, step)
        dims = dims_of(value)
        assert dims is not None, "checked before"
        return self.slice(held or Held(value, Interval(0, dims[axis])), rows, axis)

    @staticmethod
    def unbroken(rows: Interval, around: int, moved: int) -> Iterator[Interval]:
        """Yield parts of rows of which none is at both ends of a ring of `around` rows."""
        start, grid = rows.start, moved or around
        while start < rows.stop:
            stop = min(rows.stop, (start // grid + 1) * grid)
            yield Interval(start, stop)
            start = stop

    def part(self, group: Sequence[Operation], rows: Interval) -> Part:
        """Return how rows of the result of a step are computed."""
        result: SSAValue = group[-1].results[0]
        need: dict[SSAValue, Interval] = {result: rows}
        parts: list[tuple[Operation, Attributes]] = []
        reads: dict[tuple[Operation, SSAValue], Interval] = {}
        for op in reversed(group):
            value = op.results[0]
            if value not in need:
                continue  # it is read as a whole
            parts.append((op, attributes_for(op, self.axes.of[value], need[value])))
            for operand, read in self.rows_read(op, need[value]):
                if read is not None:
                    reads[op, operand] = read
                    need[operand] = hull(read, need.get(operand))
        return Part(parts[::-1], need, reads)

    def compute(self, at: int, stripe: int) -> SSAValue:
        """Compute the rows of the result of a step that are new in a stripe."""
        group = self.tiled.groups[at]
        parts, need, _ = self.part(group, self.new(at, stripe))
        later = self.part(group, self.later(at, stripe)).reads
        made: dict[SSAValue, Held] = {}
        outer: dict[tuple[SSAValue, Interval], SSAValue] = {}
        for op, attributes in parts:
            value, operands = op.results[0], list[SSAValue]()
            for operand, read in self.rows_read(op, need[value]):
                if read is None:
                    operands.append(operand)
                elif operand in made:
                    operands.append(self.slice(made[operand], read, self.axes.of[operand]))
                else:
                    if (operand, read) not in outer:
                        step = later[op, operand].start - read.start
                        outer[operand, read] = self.outer(operand, read, step)
                    operands.append(outer[operand, read])
            made[value] = Held(self.add(on_rows(op, attributes, operands)), need[value])
        return made[group[-1].results[0]].tensor

    def rows_read(
        self, op: Operation, rows: Interval
    ) -> Iterator[tuple[SSAValue, Interval | None]]:
        """Yield the operands of `op` with the rows that `rows` read, None of whole ones."""
        axes = self.axes.read(op)
        assert axes is not None, "a step that is computed by rows"
        for operand, read in zip(op.operands, axes.operands, strict=True):
            if read is None:
                yield operand, None
            else:
                reach = read[1]
                yield operand, Interval(int(reach.first[rows.start]), int(reach.end[rows.stop]))

    def count_of(self, data: SSAValue) -> int:
        """Return by which number of rows their mean is divided in stripes."""
        return self.net.values[self.number[data]].rows

    def mean(self, op: Operation, stripe: int) -> SSAValue:
        """Return what a stripe contributes to the mean of all rows."""
        rows, later = (f(len(self.net.steps) - 1, stripe) for f in (self.new, self.later))
        data, type = op.operands[0], tensor_of(op.results[0])
        assert isinstance(op, pooling.GlobalAvgPool2dOp)
        part = self.add(
            pooling.GlobalAvgPool2dOp.on(
                [self.outer(data, rows, later.start - rows.start)], op.properties
            )
        )
        share = np.array(rows.size / self.count_of(data), numpy_dtype(type))
        constant = relay.ConstantOp(dense_of(share, tensor_type(type.element_type, [])))
        return self.add(broadcast.MultiplyOp.on([part, self.add(constant)]))
