"""
Stripes that are all in one loop, whose turns are those in the midst of a sample.

    %s = relay.shape_of %a                          %a, %y stay for their shapes alone
    %y0 = relay.dyn.zeros (relay.shape_of %y)
    %h0 = relay.zeros                               rows above the first: padding
    %h, %r = relay.loop %h0, %y0 {axis = 1, start = -3, step = 2}
    %x1 = relay.read_rows %x fill %zero {start = -6, step = 4}     rows that %x does not have too
    %a1 = conv2d %x1, %w                            without padding
    %b1 = fill_rows (concatenate %h, %a1), %zero, %s {start = -3, step = 4}
    …
    %w1 = relay.write_rows %y1, %r {start = -3, step = 2}          those that %y has
    %y = relay.end_loop …

Rows are counted from the top, so those of a turn, and what they are computed from, are the same for
all heights. The first turn is so early that no step has computed a row before it; turns end after
the last row. What a turn computes of rows that a value does not have is written over with what
windows see there. So there is neither a top nor a bottom, and no height is a special one; what is
computed in vain is less than what a row of the result depends on.

Of a known height, the sample is the function itself, shapes are constants, the loop has a number of
turns, and a step is needed in those in which it has a row: `relay.turns`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, UnitAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import relay
from ...dialects.device import tensor_type
from ...dialects.integers import i64_attribute
from ...dialects.relay import broadcast, creation, elementwise
from ...dialects.relay.operator import Operator, infer_result_types
from ...dialects.relay.properties import ints
from ...dialects.tensors import has_dynamic, is_static, tensor_of
from ...dialects.turns import TURNS
from ...operators.intervals import Interval
from ...planning.stripes.whole_loop import Loop
from ..analysis.arrays import dense_of, numpy_dtype
from ..sizes.size_code import SizeCode
from .borders import Outside, seen_outside
from .open_steps import values_of, with_rows
from .rows import dims_of, slice_of
from .stripe_writer import Held, Stripes, alone, of_rows

OUTSIDE = relay.ConstantOp | creation.ShapeOfOp
"""The ops that are computed before a loop."""


@dataclass
class Sampled:
    """A function as it was, whose values are replaced as chains are written."""

    whole: func.FuncOp
    values: dict[SSAValue, SSAValue]
    """For each value of the whole, that of the function."""
    value_of: Mapping[SSAValue, SSAValue]
    """For each value of the function, that of the whole."""

    @staticmethod
    def of(function: func.FuncOp) -> Sampled:
        whole = function.clone()
        pairs = [*zip(values_of(whole), values_of(function), strict=True)]
        return Sampled(whole, dict(pairs), {mine: value for value, mine in pairs})

    def at(self, rows: int | None) -> dict[SSAValue, SSAValue]:
        """Copy the whole, of so many rows if it is open; return for each value the function's."""
        sample = self.whole.clone() if rows is None else with_rows(self.whole, rows)
        pairs = zip(values_of(sample), values_of(self.whole), strict=True)
        return {value: self.values[mine] for value, mine in pairs}


def zeros_in(whole: SSAValue, builder: Builder, axis: int = 0, rows: int | None = None) -> SSAValue:
    """Return zeros in the shape of a tensor, or in that of so many rows of it."""
    type = tensor_of(whole) if rows is None else of_rows(whole, axis, rows)
    attributes = {"dtype": type.element_type}
    if is_static(type):
        fixed = {"shape": ints(type.get_shape()), **attributes}
        return builder.insert(alone(creation.ZerosOp.on([], fixed))).results[0]
    shape = builder.insert(creation.ShapeOfOp.on([whole], {"dtype": i64})).results[0]
    if rows is not None:
        code, dims = SizeCode(builder.insert), enumerate(type.get_shape())
        sizes = [code.extract(shape, [i]) if d == DYNAMIC_INDEX else code.value(d) for i, d in dims]
        shape = code.vector(sizes, shape.type)
    zeros = creation.DynZerosOp.create(operands=[shape], properties=attributes, result_types=[type])
    return builder.insert(alone(zeros)).results[0]


@dataclass
class LoopStripes(Stripes):
    """Writes the turns of a chain in a sample, and from these the loop of the chain."""

    loop: Loop | None = None
    """The turns, if their number is known."""

    def padding(self, value: SSAValue) -> Outside | None:
        """Return what the windows of the chain see above and below a value."""
        seen = (pair for group in self.tiled.groups for pair in seen_outside(group, self.axes))
        return next((outside for of, outside in seen if of is value), None)

    def scalar(self, like: SSAValue, number: float) -> SSAValue:
        """Return a constant, of the least number if it is not one."""
        type = tensor_of(like)
        dtype = numpy_dtype(type)
        assert dtype is not None, "an element type of windows"
        if np.isinf(number) and np.issubdtype(dtype, np.integer):
            number = np.iinfo(dtype).min
        constant = dense_of(np.array(number, dtype), tensor_type(type.element_type, []))
        return self.add(relay.ConstantOp(constant))

    def result_of(self, at: int) -> SSAValue:
        return self.tiled.groups[at][-1].results[0]

    def fill(self, at: int, data: SSAValue, rows: Interval, step: int = 0) -> SSAValue:
        """Write over rows that the result of a step does not have, if windows see them."""
        result = self.result_of(at)
        if (outside := self.padding(result)) is None:
            return data
        shape = self.add(creation.ShapeOfOp.on([outside.value], {"dtype": i64}))
        places = {"axis": self.axis(at), "start": rows.start - outside.above, "step": step}
        return self.add(
            relay.FillRowsOp.create(
                operands=[data, self.scalar(result, outside.number), shape],
                properties={name: i64_attribute(number) for name, number in places.items()},
                result_types=[data.type],
            )
        )

    def hold(self, at: int, made: SSAValue, new: Interval, halo: Held | None, moved: int) -> None:
        if halo is None:
            super().hold(at, self.fill(at, made, new, moved), new, halo, moved)
            return
        before, value = self.last_op, self.net.steps[at].writes
        super().hold(at, made, new, halo, moved)
        self.limit(before, at, *self.striped.users(value))
        tensor, rows = self.held[value]
        self.held[value] = Held(self.fill(at, tensor, rows, moved), rows)

    def read(
        self, data: SSAValue, rows: Interval, axis: int, step: int = 0, around: int = 0
    ) -> SSAValue:
        copy = super().read(data, rows, axis, step, around)
        if step and not around:
            assert isinstance(copy.owner, Operation)
            outside = self.padding(data)
            copy.owner.operands = [data, self.scalar(data, outside.number if outside else 0.0)]
        return copy

    def compute(self, at: int, stripe: int) -> SSAValue:
        before = self.last_op
        result = super().compute(at, stripe)
        self.limit(before, at, stripe=stripe)
        return result

    @property
    def last_op(self) -> Operation | None:
        """The op that was written last."""
        after = self.builder.insertion_point.insert_before
        return None if after is None else after.prev_op

    def limit(self, before: Operation | None, *steps: int, stripe: int | None = None) -> None:
        """Let operators after `before` be needed in turns in which one of `steps` has a row."""
        if self.loop is None:
            return
        runs = self.loop.runs.items()
        spans = [n for (at, of), n in runs if at in steps and stripe in (of, None)]
        turns = min((n.start for n in spans), default=0), max((n.stop for n in spans), default=0)
        if turns[1] - turns[0] in range(1, self.loop.turns):
            for op in self.since(before):
                if isinstance(op, Operator) and not isinstance(op, OUTSIDE):
                    op.attributes[TURNS] = ints(turns)

    def since(self, first: Operation | None) -> list[Operation]:
        """Return the ops that were written after `first`."""
        after, ops = self.builder.insertion_point.insert_before, list[Operation]()
        while first is not None and (first := first.next_op) is not after and first is not None:
            ops.append(first)
        return ops

    def write_loop(
        self, loop: Loop, values: dict[SSAValue, SSAValue], builder: Builder
    ) -> SSAValue:
        """Write the loop of the chain; `values` are those for the ones of the sample."""
        turns, result = self.turns, self.result_of(-1)
        assert turns is not None, "checked before"
        is_open = any(has_dynamic(values[group[-1].results[0]].type) for group in self.tiled.groups)
        self.result = [self.zeros(result)]
        for stripe in range(turns.first):
            self.write_stripe(stripe)
        self.start_loop(turns)
        self.loop = None if is_open else loop
        start = self.result[0].owner
        assert isinstance(start, relay.LoopOp)
        held = [*self.carried, *self.rings]
        for stripe in range(turns.first, turns.first + turns.period):
            self.write_stripe(stripe)
        self.end_loop(turns)
        *body, end = self.since(start)
        initial = [
            self.initial(value, tensor, values, builder)
            for value, tensor in zip(held, start.initial, strict=False)
        ]
        initial.append(zeros_in(values[result], builder))
        is_counted = is_open and self.net.steps[-1].reduces
        counted = [self.rows_of_mean(values, builder)] if is_counted else []
        for op in body:
            if isinstance(op, OUTSIDE):
                self.insert(op, values, builder)
        if is_open:
            axis = 0 if counted else self.axis(len(self.net.steps) - 1)
            place = {"axis": axis, "start": loop.start, "step": loop.step}
            begun = relay.LoopOp([*initial, *counted], None, **place)
        else:
            begun = relay.LoopOp(initial, loop.turns)
        values |= zip(start.results, builder.insert(begun).results, strict=False)
        for op in body:
            if not isinstance(op, OUTSIDE):
                self.insert(op, values, builder, loop.early)
        kept = [*(values[value] for value in end.operands), *begun.results[len(initial) :]]
        total = builder.insert(relay.EndLoopOp(kept)).results[len(initial) - 1]
        return self.mean_of(total, values, builder) if counted else total

    def count_of(self, data: SSAValue) -> int:
        """Return 1 if it is not known: what is added up is divided once all rows are there."""
        return 1 if self.loop is None else super().count_of(data)

    def data_of_mean(self, values: Mapping[SSAValue, SSAValue]) -> tuple[SSAValue, int]:
        """Return the value of which all rows are added up, and their axis."""
        data = self.tiled.groups[-1][0].operands[0]
        return values[data], self.axes.of[data]

    def rows_of_mean(self, values: Mapping[SSAValue, SSAValue], builder: Builder) -> SSAValue:
        """Return a tensor of as many rows as are added up, without elements: where turns end."""
        (data, axis), code = self.data_of_mean(values), SizeCode(builder.insert)
        shape = builder.insert(creation.ShapeOfOp.on([data], {"dtype": i64})).results[0]
        sizes = code.vector([code.extract(shape, [axis]), code.value(0)], tensor_type(i64, [2]))
        type = tensor_type(tensor_of(data).element_type, [DYNAMIC_INDEX, 0])
        properties = {"dtype": type.element_type}
        zeros = creation.DynZerosOp.create(
            operands=[sizes], properties=properties, result_types=[type]
        )
        return builder.insert(alone(zeros)).results[0]

    def mean_of(
        self, total: SSAValue, values: Mapping[SSAValue, SSAValue], builder: Builder
    ) -> SSAValue:
        """Divide what is added up by the number of rows."""
        (data, axis), type = self.data_of_mean(values), tensor_of(total)
        shape = creation.ShapeOfOp.on([data], {"dtype": i64})
        rows = slice_of(shape.results[0], 0, Interval(axis, axis + 1))
        number = elementwise.CastOp.on([rows.results[0]], {"dtype": type.element_type})
        mean = broadcast.DivideOp.on([total, number.results[0]])
        for op in (shape, rows, number, mean):
            builder.insert(op)
        return mean.results[0]

    def initial(
        self, value: int, like: SSAValue, values: dict[SSAValue, SSAValue], builder: Builder
    ) -> SSAValue:
        """Return what is held of a value before the first turn: what windows see there."""
        at = self.step_of(value)
        zeros, rows = self.zeros(like), (dims_of(like) or ())[self.axis(at)]
        filled, whole = (
            self.fill(at, zeros, Interval(-rows, 0)),
            self.tiled.groups[at][-1].results[0],
        )
        assert isinstance(zeros.owner, Operation)
        values[zeros] = zeros_in(values[whole], builder, self.axis(at), rows)
        for op in self.since(zeros.owner):
            self.insert(op, values, builder)
        return values[filled]

    def insert(
        self, op: Operation, values: dict[SSAValue, SSAValue], builder: Builder, early: int = 0
    ) -> None:
        """Insert an op, whose rows are `early` turns before those in the sample."""
        operands = [values[value] for value in op.operands]
        if isinstance(op, creation.ShapeOfOp) and (dims := dims_of(operands[0])) is not None:
            shape = dense_of(np.array(dims), tensor_of(op.results[0]))
            values[op.results[0]] = builder.insert(relay.ConstantOp(shape)).results[0]
            return
        copy = op.clone()
        copy.operands = operands
        if isinstance(copy, relay.ReadRowsOp | relay.WriteRowsOp | relay.FillRowsOp):
            start = copy.start.value.data - early * copy.step.value.data
            if "wraps" in copy.properties:
                around = tensor_of(operands[isinstance(op, relay.WriteRowsOp)]).get_shape()
                start %= around[copy.axis.value.data]
            elif isinstance(copy, relay.WriteRowsOp) and copy.step.value.data:
                copy.properties["clips"] = UnitAttr()
            copy.properties["start"] = i64_attribute(start)
        (copied,), types = copy.results, infer_result_types(copy)
        type = types[0] if types else copied.type
        if isinstance(copy, relay.WriteRowsOp | relay.FillRowsOp):
            type = copy.target.type
        elif isinstance(copy, relay.ReadRowsOp):
            axis = copy.axis.value.data
            type = of_rows(copy.data, axis, tensor_of(copied).get_shape()[axis])
        if type != copied.type:
            Rewriter.replace_value_with_new_type(copied, type)
        builder.insert(copy)
        values |= zip(op.results, copy.results, strict=True)
