"""
Stripes of an open number of rows: one loop, whose turns are those in the midst of a sample.

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
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from ...dialects import relay
from ...dialects.dense import constant_tensor
from ...dialects.device import device_of, tensor_type
from ...dialects.integers import i64_attribute
from ...dialects.relay import convolution, creation, pooling, rearrange
from ...dialects.relay.language.dims_attributes import dim_bounds, dim_names
from ...dialects.relay.operator import infer_result_types
from ...dialects.tensors import as_tensor, dynamic_axes, has_dynamic, tensor_of
from ...operators.intervals import Interval
from ...planning.stripes.network import Network
from ...planning.stripes.striped import Turns
from ..analysis.arrays import array_of, dense_of, numpy_dtype
from .rows import dims_of
from .step_network import Axes, Group
from .stripe_writer import Held, Stripes, alone

ROWS = (512, 1024, 2048)
"""
The sizes of open dims at which stripes are written, the first where some are alike.

Chains are chosen at the first, unless bounds are lower, and a peak is kept up to the last: there is
the most outside of chains, whose own bytes are the same.
"""


def open_sizes(function: func.FuncOp, rows: int) -> Mapping[tuple[int, int], int]:
    """
    Return a size for each open dim, by parameter and axis: `rows`, or its bound if that is lower.

    Dims of one name have one size. No two others have, as far as there are numbers: at any size but
    that of a sample, an operator may broadcast the one along the other, or find that they differ.
    """
    names, bounds, sizes = dim_names(function), dim_bounds(function), dict[Hashable, int]()
    places: dict[tuple[int, int], int] = {}
    for number, argument in enumerate(function.args):
        type = as_tensor(argument.type)
        for axis in dynamic_axes(argument.type) if type is not None else ():
            name = names[number][axis] if names[number] else None
            high = None if name is None or name not in bounds else bounds[name].high
            size = rows if high is None else min(rows, high)
            taken = {other for key, other in sizes.items() if key != name}
            while name not in sizes and size in taken and size > 1:
                size -= 1
            places[number, axis] = sizes.setdefault(name or (number, axis), size)
    return places


def with_rows(function: func.FuncOp, rows: int) -> func.FuncOp:
    """Return a copy of a function in which open dims of parameters have their `open_sizes`."""
    copy, sizes = function.clone(), open_sizes(function, rows)
    for number, argument in enumerate(copy.args):
        type = as_tensor(argument.type)
        if type is not None and has_dynamic(type):
            dims = [sizes.get((number, axis), dim) for axis, dim in enumerate(type.get_shape())]
            closed = tensor_type(type.element_type, dims, device_of(type))
            Rewriter.replace_value_with_new_type(argument, closed)
    for op in copy.body.block.ops:
        try:
            types = infer_result_types(op) or ()
        except VerifyException:  # not for these sizes, so its results stay open
            continue
        for result, type in zip(op.results, types, strict=False):
            if result.type != type:
                Rewriter.replace_value_with_new_type(result, type)
    return copy


def sampled_rows(function: func.FuncOp) -> list[int]:
    """Return the least and greatest size of open dims in samples; none if all dims are known."""
    if len(function.body.blocks) != 1 or not any(map(has_dynamic, function.body.block.arg_types)):
        return []
    most = max(open_sizes(function, ROWS[-1]).values())
    return sorted({min(ROWS[0], most), most})


def padding_of(op: Operation, axis: int) -> float | None:
    """Return what `op` sees above and below an image; None if it sees nothing there."""
    if isinstance(op, rearrange.PadOp):
        number, widths = constant_tensor(op.pad_value), op.pad_width.get_values()
        if not any(widths[2 * axis : 2 * axis + 2]):
            return None
        array = None if number is None else array_of(number)
        return np.nan if array is None or op.pad_mode.data != "constant" else float(array)
    if not isinstance(op, convolution.Conv2dOp | pooling.MaxPool2dOp | pooling.AvgPool2dOp):
        return None
    *padding, ceils = *op.padding.get_values(), op.properties.get("ceil_mode")
    above, below = padding[0], padding[2 if len(padding) == 4 else 0]
    is_ceil = isinstance(ceils, IntegerAttr) and bool(ceils.value.data)
    if not above and not below and not is_ceil:
        return None
    return -np.inf if isinstance(op, pooling.MaxPool2dOp) else 0.0


def seen_outside(group: Group, axes: Axes) -> Iterator[tuple[SSAValue, float]]:
    """Yield the values of which the ops of a step see rows outside, and what they see there."""
    for op in group:
        if op.results[0] in axes.of:
            number, value = padding_of(op, axes.of[op.results[0]]), op.operands[0]
            while value.owner in group and isinstance(value.owner, rearrange.TransposeOp):
                value = value.owner.operands[0]
            if number is not None:
                yield value, number


def is_of_rows(op: Operation, axes: Axes) -> bool:
    """Test whether `op` computes rows of a taller image as it computes those of a lower one."""
    read = axes.read(op)
    if read is None:
        return False
    if isinstance(op, pooling.AvgPool2dOp):
        included = bool(op.count_include_pad.value.data)
        is_inside = padding_of(op, axes.of[op.result]) is None
        return is_inside or (included and not op.ceil_mode.value.data)
    if isinstance(op, convolution.Conv2dOp | pooling.MaxPool2dOp):
        return True
    cuts = read.cuts
    reaches = [reach for _, reach in (each for each in read.operands if each is not None)]
    return all(
        reach.first[0] == 0 and (reach.first[cuts[1:-1]] == reach.end[cuts[1:-1]]).all()
        for reach in reaches
    )


def close_steps(
    function: func.FuncOp, sample: func.FuncOp, net: Network, groups: Sequence[Group], axes: Axes
) -> bool:
    """Let steps of open results that cannot be in a chain be in none; test whether one can be."""
    values = dict(zip(values_of(sample), values_of(function), strict=True))
    padding, some = dict[SSAValue, float](), False
    for step, group in zip(net.steps, groups, strict=True):
        results = [result for op in group for result in op.results]
        read = [v for op in group for v in (*op.operands, *op.results) if v in axes.of]
        if not any(dynamic_axes(values[value].type) for value in (*read, *results)):
            continue
        padded = [*seen_outside(group, axes)]
        fits = (
            not step.reduces
            and all(dynamic_axes(values[value].type) == [axes.of[value]] for value in read)
            and all(is_of_rows(op, axes) for op in group if any(v in axes.of for v in op.results))
            and all(v not in results and padding.get(v, x) == x for v, x in padded)
        )
        some = some or fits
        padding |= padded if fits else ()
        if not fits:
            step.reads, step.whole, step.reduces = {}, step.whole | step.reads.keys(), False
    return some


def values_of(function: func.FuncOp) -> list[SSAValue]:
    """Return all values of a function, in order."""
    return [*function.args, *(result for op in function.walk() for result in op.results)]


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

    def at(self, rows: int) -> tuple[func.FuncOp, dict[SSAValue, SSAValue]]:
        """Return a copy of the whole with so many rows, and for each value of it the function's."""
        sample = with_rows(self.whole, rows)
        pairs = zip(values_of(sample), values_of(self.whole), strict=True)
        return sample, {value: self.values[mine] for value, mine in pairs}


@dataclass
class OpenStripes(Stripes):
    """Writes the turns of a chain in a sample, and from these the loop of the chain."""

    def padding(self, value: SSAValue) -> float | None:
        """Return what the windows of the chain see above and below a value."""
        seen = (pair for group in self.tiled.groups for pair in seen_outside(group, self.axes))
        return next((number for of, number in seen if of is value), None)

    def scalar(self, like: SSAValue, number: float) -> SSAValue:
        """Return a constant, of the least number if it is not one."""
        type = tensor_of(like)
        dtype = numpy_dtype(type)
        assert dtype is not None, "an element type of windows"
        if np.isinf(number) and np.issubdtype(dtype, np.integer):
            number = np.iinfo(dtype).min
        constant = dense_of(np.array(number, dtype), tensor_type(type.element_type, []))
        return self.add(relay.ConstantOp(constant))

    def fill(self, at: int, data: SSAValue, rows: Interval, step: int = 0) -> SSAValue:
        """Write over rows that the result of a step does not have, if windows see them."""
        result = self.tiled.groups[at][-1].results[0]
        if (number := self.padding(result)) is None:
            return data
        shape = self.add(creation.ShapeOfOp.on([result], {"dtype": i64}))
        places = {"axis": self.axis(at), "start": rows.start, "step": step}
        return self.add(
            relay.FillRowsOp.create(
                operands=[data, self.scalar(result, number), shape],
                properties={name: i64_attribute(number) for name, number in places.items()},
                result_types=[data.type],
            )
        )

    def hold(self, at: int, made: SSAValue, new: Interval, halo: Held | None, moved: int) -> None:
        if halo is None:
            super().hold(at, self.fill(at, made, new, moved), new, halo, moved)
            return
        super().hold(at, made, new, halo, moved)
        value = self.net.steps[at].writes
        tensor, rows = self.held[value]
        self.held[value] = Held(self.fill(at, tensor, rows, moved), rows)

    def read(
        self, data: SSAValue, rows: Interval, axis: int, step: int = 0, around: int = 0
    ) -> SSAValue:
        copy = super().read(data, rows, axis, step, around)
        if step and not around:
            assert isinstance(copy.owner, Operation)
            copy.owner.operands = [data, self.scalar(data, self.padding(data) or 0.0)]
        return copy

    def early(self, turns: Turns) -> int:
        """Return how many turns before those of the loop no step computes a row."""
        rows = [self.first_row(at, turns) for at in range(len(self.net.steps))]
        return max(-(-row // moved) for row, moved in rows)

    def first_row(self, at: int, turns: Turns) -> tuple[int, int]:
        """Return the first row of a step in the loop, and by how many rows a turn moves it."""
        stripes = range(turns.first, turns.first + turns.period)
        stripe = next(stripe for stripe in stripes if self.new(at, stripe).size)
        row = self.new(at, stripe).start
        return row, self.later(at, stripe).start - row

    def since(self, first: Operation | None) -> list[Operation]:
        """Return the ops that were written after `first`."""
        after, ops = self.builder.insertion_point.insert_before, list[Operation]()
        while first is not None and (first := first.next_op) is not after and first is not None:
            ops.append(first)
        return ops

    def write_open(self, values: dict[SSAValue, SSAValue], builder: Builder) -> SSAValue:
        """Write the loop of the chain; `values` are those for the ones of the sample."""
        turns, result = self.turns, self.tiled.groups[-1][-1].results[0]
        assert turns is not None, "checked before"
        self.result = [self.zeros(result)]
        for stripe in range(turns.first):
            self.write_stripe(stripe)
        self.start_loop(turns)
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
        initial.append(self.open_result(values[result], builder))
        is_outside = relay.ConstantOp | creation.ShapeOfOp
        for op in body:
            if isinstance(op, is_outside):
                self.insert(op, values, builder)
        last, early = len(self.net.steps) - 1, self.early(turns)
        row, moved = self.first_row(last, turns)
        place = {"axis": self.axis(last), "start": row - early * moved, "step": moved}
        loop = builder.insert(relay.LoopOp(initial, None, **place))
        values |= zip(start.results, loop.results, strict=True)
        for op in body:
            if not isinstance(op, is_outside):
                self.insert(op, values, builder, early)
        ended = relay.EndLoopOp([values[value] for value in end.operands])
        return builder.insert(ended).results[-1]

    @staticmethod
    def open_result(whole: SSAValue, builder: Builder) -> SSAValue:
        """Return a tensor for a result, into which its rows are written."""
        shape = builder.insert(creation.ShapeOfOp.on([whole], {"dtype": i64})).results[0]
        zeros = creation.DynZerosOp.create(
            operands=[shape],
            properties={"dtype": tensor_of(whole).element_type},
            result_types=[whole.type],
        )
        return builder.insert(alone(zeros)).results[0]

    def initial(
        self, value: int, like: SSAValue, values: dict[SSAValue, SSAValue], builder: Builder
    ) -> SSAValue:
        """Return what is held of a value before the first turn: what windows see there."""
        at = self.step_of(value)
        zeros, rows = self.zeros(like), (dims_of(like) or ())[self.axis(at)]
        filled = self.fill(at, zeros, Interval(-rows, 0))
        assert isinstance(zeros.owner, Operation)
        for op in (zeros.owner, *self.since(zeros.owner)):
            self.insert(op, values, builder)
        return values[filled]

    def insert(
        self, op: Operation, values: dict[SSAValue, SSAValue], builder: Builder, early: int = 0
    ) -> None:
        """Insert an op, whose rows are `early` turns before those in the sample."""
        operands, copy = [values[value] for value in op.operands], op.clone()
        copy.operands = operands
        if isinstance(copy, relay.ReadRowsOp | relay.WriteRowsOp | relay.FillRowsOp):
            start = copy.start.value.data - early * copy.step.value.data
            if "wraps" in copy.properties:
                around = dims_of(operands[isinstance(op, relay.WriteRowsOp)]) or ()
                start %= around[copy.axis.value.data]
            copy.properties["start"] = i64_attribute(start)
        if isinstance(copy, relay.WriteRowsOp):
            Rewriter.replace_value_with_new_type(copy.result, copy.target.type)
        builder.insert(copy)
        values |= zip(op.results, copy.results, strict=True)
