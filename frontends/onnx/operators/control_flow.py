"""Control flow: nodes whose attributes are graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from onnx import GraphProto
from xdsl.ir import Block

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_data import Datum, is_tensor, type_of
from ..convert.onnx_values import (
    Constant,
    Value,
    dims_of,
    dtype_of,
    has_static_shape,
    rank_of,
    shape_of,
)
from ..convert.subgraphs import choose
from .repetition import NUMBER, UNROLLED, Functions, Repeated, as_row, joined, repeat
from .rule import Results, Rules, since

ENDLESS = 2**63 - 1
"""The limit of a loop without one."""


def _known(node: Node, condition: Value) -> bool | None:
    """Return the value of `condition`; None if it is computed at run time."""
    if not isinstance(condition, Constant):
        return None
    array = condition.array
    if array.size != 1 or array.dtype != np.bool_:
        raise node.error(f"the condition must be one bool, but has shape {list(array.shape)}")
    return bool(array.reshape(-1)[0])


def if_(node: Node, b: Builder) -> Results:
    """Convert the branch that is taken, if that is known; otherwise, choose at run time."""
    condition = node.input(0)
    then, otherwise = node.graph("then_branch"), node.graph("else_branch")
    taken = _known(node, condition)
    if taken is not None:
        return b.convert_graph(node, then if taken else otherwise, ())
    return choose(
        b,
        b.reshape(condition, ()),
        lambda: b.convert_graph(node, then, ()),
        lambda: b.convert_graph(node, otherwise, ()),
        [node.output_rank(i) for i in range(len(node.outputs))],
    )


@dataclass
class Progress:
    """The state of a loop before iteration `number`: `rows` are those of each output so far."""

    number: int
    condition: Value
    states: Sequence[Datum]
    rows: Sequence[list[Value]]


@dataclass(frozen=True)
class Loop:
    """A loop on `state_count` states, and the limit on its iterations, if it has one."""

    node: Node
    b: Builder
    state_count: int
    limit: Value | None

    @property
    def body(self) -> GraphProto:
        return self.node.graph("body")

    @property
    def output_count(self) -> int:
        """The number of outputs that collect a row in each iteration."""
        return len(self.body.output) - 1 - self.state_count

    @property
    def most(self) -> int | None:
        """The limit on the iterations; None if it is computed at run time."""
        if self.limit is None:
            return ENDLESS
        return int(self.limit.array) if isinstance(self.limit, Constant) else None

    def step(
        self, number: Value, states: Sequence[Datum]
    ) -> tuple[Value, Sequence[Datum], Sequence[Value]]:
        """Build an iteration; return the next condition, the states and a row of each output."""
        true = self.b.constant(np.asarray(True))
        condition, *results = self.b.convert_graph(self.node, self.body, [number, true, *states])
        done = Repeated.of(self.node, results, self.state_count)
        if not is_tensor(condition):
            raise self.node.error("the condition is a sequence or optional; supported: tensors")
        return condition, done.states, done.outputs

    def unrolled(self, condition: Value, states: Sequence[Datum]) -> Progress:
        """Build the first iterations, while they certainly follow and are short."""
        b, before = self.b, self.b.built
        done = Progress(0, condition, states, [[] for _ in range(self.output_count)])
        while (
            self.most is not None
            and done.number < self.most
            and _known(self.node, done.condition)
            and max(b.built - before, done.number) <= UNROLLED
        ):
            done.condition, done.states, outputs = self.step(
                b.scalar(done.number, NUMBER), done.states
            )
            done.number += 1
            for rows, output in zip(done.rows, outputs, strict=True):
                rows.append(as_row(b, output))
        return done

    def remaining(self, done: Progress) -> Repeated:
        """Build all iterations after `done` as functions."""
        b, node = self.b, self.node

        def step(number: Value, states: Sequence[Datum]) -> tuple[Sequence[Datum], Sequence[Value]]:
            condition, after, outputs = self.step(number, states)
            if not _known(node, condition):
                after = [*after, b.reshape(condition, ())]
            return after, outputs

        functions = Functions(node, b, done.states, step)
        going = None if _known(node, done.condition) else b.reshape(done.condition, ())
        if going is None and not functions.is_conditional:
            if self.most == ENDLESS:
                raise node.error(
                    f"the loop has more than {done.number} iterations; supported then: a limit"
                )
            if self.most is not None:
                return functions.repeat(done.number, self.most - done.number, done.states)
        first = b.scalar(done.number, NUMBER)
        limit = b.scalar(ENDLESS, NUMBER) if self.limit is None else self.limit
        return functions.halving(first, b.op("subtract", limit, first), done.states, going)

    def no_rows(self, states: Sequence[Datum]) -> list[Value]:
        """Return the outputs of a loop without iterations."""
        b = self.b
        with b.at(Block(), isolated=True):
            arguments = Block(arg_types=[type_of(state) for state in states]).args
            _, _, outputs = self.step(b.scalar(0, NUMBER), arguments)
            return [
                b.constant(np.zeros((0, *shape_of(output)), dtype_of(output))) for output in outputs
            ]


def loop(node: Node, b: Builder) -> Results:
    """
    Repeat the body while its condition holds, up to a limit.

    The first iterations are unrolled, while the condition is known to be true and they are short;
    the following ones are functions (`repetition`).
    """
    states: Sequence[Datum] = [node.datum(i) for i in range(2, len(node.inputs))]
    limit, condition = node.optional(0), node.optional(1)
    made = Loop(node, b, len(states), None if limit is None else b.reshape(limit, ()))
    if made.output_count < 0:
        raise node.error(
            f"the body must have a condition and {len(states)} states as results, but has "
            f"{len(made.body.output)} results"
        )
    condition = b.constant(np.asarray(True)) if condition is None else condition
    start = Progress(0, condition, states, [[] for _ in range(made.output_count)])
    done = made.unrolled(condition, states)
    goes_on = _known(node, done.condition)
    if done.number != made.most and goes_on is not False:
        if not all(has_static_shape(row) for rows in done.rows for row in rows):
            done = start  # without later rows, the sizes of dims are not known
        following = made.remaining(done)
        done.states = following.states
        for rows, output in zip(done.rows, following.outputs, strict=True):
            rows.append(output)
    elif not done.number:
        return [*states, *made.no_rows(states)]
    return [*done.states, *joined(b, done.rows)]


def scan(node: Node, b: Builder) -> Results:
    """Repeat the body along an axis of each sequence, and stack what it adds to each output."""
    body = node.graph("body")
    sequences = node.integer("num_scan_inputs", 0)
    first = len(node.inputs) - sequences
    if sequences < 1 or first < 0:
        raise node.error(
            f"attribute num_scan_inputs is {sequences}; supported: 1 to {len(node.inputs)}"
        )
    states = [node.input(i) for i in range(first)]
    inputs = [node.input(i) for i in range(first, len(node.inputs))]
    outputs = len(body.output) - first
    if outputs < 0:
        raise node.error(
            f"the body must have {first} states as results, but has {len(body.output)} results"
        )
    axes = node.ints("scan_input_axes") or [0] * sequences
    backward = _directions(node, "scan_input_directions", sequences)
    out_axes = node.ints("scan_output_axes") or [0] * outputs
    out_backward = _directions(node, "scan_output_directions", outputs)
    if len(axes) != sequences or len(out_axes) != outputs:
        raise node.error(
            f"there are {len(axes)} and {len(out_axes)} axes; supported: {sequences} and {outputs}"
        )
    axes = [node.axis(axis, rank_of(x)) for axis, x in zip(axes, inputs, strict=True)]
    dims = [dims_of(x)[axis] for axis, x in zip(axes, inputs, strict=True)]
    lengths = {dim for dim in dims if isinstance(dim, int)}
    if len(lengths) > 1 or 0 in lengths:
        raise node.error(
            f"the sequences have {sorted(lengths)} elements; supported: one length > 0"
        )
    count = lengths.pop() if lengths else dims[0]
    most = b.op("subtract", b.size(count), b.scalar(1, NUMBER))

    def step(number: Value, states: Sequence[Datum]) -> tuple[Sequence[Datum], Sequence[Value]]:
        last = b.op("subtract", most, number) if any(backward) else number
        elements = [
            b.op("take", x, last if reverse else number, axis=axis, mode="clip")
            for x, axis, reverse in zip(inputs, axes, backward, strict=True)
        ]
        done = Repeated.of(node, b.convert_graph(node, body, [*states, *elements]), first)
        return done.states, done.outputs

    done = repeat(node, b, count, states, step)
    results = [
        _placed(node, b, output, axis, reverse)
        for output, axis, reverse in zip(done.outputs, out_axes, out_backward, strict=True)
    ]
    return [*done.states, *results]


def _directions(node: Node, name: str, count: int) -> list[bool]:
    """Return for each sequence whether it is in reverse order."""
    axes = node.ints(name) or [0] * count
    if len(axes) != count or not {*axes} <= {0, 1}:
        raise node.error(f"attribute {name} is {axes}; supported: {count} times 0 or 1")
    return [bool(value) for value in axes]


def _placed(node: Node, b: Builder, output: Value, axis: int, reverse: bool) -> Value:
    """Return a stacked `output` with its first axis at `axis`."""
    if reverse:
        output = b.op("reverse", output, axis=0)
    rank = rank_of(output)
    order = list(range(1, rank))
    order.insert(node.axis(axis, rank), 0)
    return b.transpose(output, order)


RULES: Rules = {"If": since(1, if_), "Loop": since(1, loop), "Scan": since(9, scan)}
