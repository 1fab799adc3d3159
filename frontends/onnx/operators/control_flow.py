"""Control flow: nodes whose attributes are graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.func import CallOp
from xdsl.ir import Block, SSAValue

from ..builder import Builder
from ..node import Node
from ..regions import call, choose, outline
from ..values import Constant, Value, dtype_of, rank_of, shape_of, tensor_type_of
from .repetition import NUMBER, UNROLLED, Functions, repeat, require_equal_types
from .rule import Results, Rules, since

ENDLESS = 2**63 - 1


def _is_true(node: Node, value: Constant, what: str) -> bool:
    if value.array.size != 1 or value.array.dtype != np.bool_:
        raise node.error(f"{what} must be one bool, but has shape {list(value.array.shape)}")
    return bool(value.array.reshape(-1)[0])


def _holds(node: Node, condition: Value) -> bool:
    """Test whether `condition` is known to be true."""
    return isinstance(condition, Constant) and _is_true(node, condition, "the condition")


def if_(node: Node, b: Builder) -> Results:
    """Convert the branch that is taken, if that is known; otherwise, choose at run time."""
    condition = node.input(0)
    then, otherwise = node.graph("then_branch"), node.graph("else_branch")
    if isinstance(condition, Constant):
        taken = then if _is_true(node, condition, "the condition") else otherwise
        return b.convert_graph(node, taken, ())
    return choose(
        b,
        b.reshape(condition, ()),
        lambda: b.convert_graph(node, then, ()),
        lambda: b.convert_graph(node, otherwise, ()),
    )


def loop(node: Node, b: Builder) -> Results:
    """
    Repeat the body while its condition holds, up to a number of times.

    If the condition or the number is computed when the program runs, that is a recursive function,
    which cannot collect outputs: nobody knows how many there are.
    """
    body = node.graph("body")
    states: Sequence[Value] = [node.input(i) for i in range(2, len(node.inputs))]
    true = b.constant(np.asarray(True))

    def step(number: Value, states: Sequence[Value]) -> tuple[Value, list[Value], list[Value]]:
        condition, *results = b.convert_graph(node, body, [number, true, *states])
        return condition, results[: len(states)], results[len(states) :]

    def lasting(number: Value, states: Sequence[Value]) -> tuple[list[Value], list[Value]]:
        condition, after, outputs = step(number, states)
        if not _holds(node, condition):
            raise node.error(
                f"the loop ends by a condition on the number of the iteration; supported: up to "
                f"{UNROLLED} operators in all iterations then"
            )
        return after, outputs

    count = len(body.output) - 1 - len(states)
    if count < 0:
        raise node.error(f"the body has no result for each of the {len(states)} states")
    limit, condition = node.optional(0), node.optional(1)
    if limit is not None:
        limit = b.reshape(limit, ())
    if condition is None:
        condition = true
    most = _limit(limit)
    added: list[list[Value]] = [[] for _ in range(count)]
    at, before = 0, b.built
    while most is not None and at < most and _holds(node, condition):
        if b.built - before > UNROLLED:
            if most == ENDLESS:
                raise node.error(f"the loop has more than {at} iterations; supported then: a limit")
            rest = Functions(node, b, states, lasting).repeat(at, most - at, states)
            at, states = most, rest.states
            for parts, output in zip(added, rest.outputs, strict=True):
                parts.append(output)
            break
        condition, states, outputs = step(b.scalar(at, NUMBER), states)
        at += 1
        for parts, output in zip(added, outputs, strict=True):
            parts.append(b.op("expand_dims", output, axis=0))
    if (at != most and not isinstance(condition, Constant)) or most is None:
        if count:
            raise node.error(
                f"the number of iterations, and so of rows of output {len(states)}, is computed at "
                "run time; supported then: states"
            )
        return _while(node, b, at, limit, condition, states, step)
    if not at:
        added = [[empty] for empty in _empty(b, step, states)]
    joined = [p[0] if len(p) == 1 else b.op("concatenate", *p, axis=0) for p in added]
    return [*states, *joined]


def _limit(limit: Value | None) -> int | None:
    """Return the largest number of iterations; None if it is not known."""
    if limit is None:
        return ENDLESS
    return int(limit.array) if isinstance(limit, Constant) else None


LoopStep = Callable[[Value, Sequence[Value]], tuple[Value, list[Value], list[Value]]]


def _empty(b: Builder, step: LoopStep, states: Sequence[Value]) -> list[Value]:
    """Return the outputs of a loop without iterations, which have no rows."""
    with b.at(Block(), isolated=True):
        arguments = Block(arg_types=[tensor_type_of(state) for state in states]).args
        _, _, outputs = step(b.scalar(0, NUMBER), arguments)
        return [
            b.constant(np.zeros((0, *shape_of(output)), dtype_of(output))) for output in outputs
        ]


def _while(
    node: Node,
    b: Builder,
    at: int,
    limit: Value | None,
    condition: Value,
    states: Sequence[Value],
    step: LoopStep,
) -> Sequence[Value]:
    """Build a recursive function that repeats `step` from iteration `at` on."""
    name = b.unique_function(f"{node.title}_loop")
    types = [tensor_type_of(state) for state in states]
    true = b.constant(np.asarray(True))

    def build(arguments: Sequence[SSAValue]) -> Sequence[Value]:
        number, holds, *states = arguments
        going: Value = holds
        if _limit(limit) != ENDLESS:
            assert limit is not None
            going = b.op("logical_and", going, b.op("less", number, limit))

        def again() -> Sequence[Value]:
            condition, after, _ = step(number, states)
            require_equal_types(node, states, after)
            following = b.op("add", number, b.scalar(1, NUMBER))
            operands = [following, b.reshape(condition, ()), *after]
            return b.append(CallOp(name, [b.tensor(v) for v in operands], types))

        return choose(b, going, again, lambda: states)

    size, flag = tensor_type_of(b.scalar(0, NUMBER)), tensor_type_of(true)
    made = outline(b, name, [size, flag, *types], build)
    first = b.reshape(condition, ())
    operands = [b.scalar(at, NUMBER), first, *states]
    return call(b, made.function, [*(b.tensor(v) for v in operands), *made.captured])


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
    axes = node.ints("scan_input_axes") or [0] * sequences
    backward = _directions(node, "scan_input_directions", sequences)
    out_axes = node.ints("scan_output_axes") or [0] * outputs
    out_backward = _directions(node, "scan_output_directions", outputs)
    if len(axes) != sequences or len(out_axes) != outputs:
        raise node.error(
            f"there are {len(axes)} and {len(out_axes)} axes; supported: {sequences} and {outputs}"
        )
    axes = [node.axis(axis, rank_of(x)) for axis, x in zip(axes, inputs, strict=True)]
    lengths = {shape_of(x)[axis] for axis, x in zip(axes, inputs, strict=True)}
    if len(lengths) != 1 or 0 in lengths:
        raise node.error(
            f"the sequences have {sorted(lengths)} elements; supported: one length > 0"
        )
    (count,) = lengths

    def step(number: Value, states: Sequence[Value]) -> tuple[list[Value], list[Value]]:
        last = b.op("subtract", b.scalar(count - 1, NUMBER), number) if any(backward) else number
        elements = [
            b.op("take", x, last if reverse else number, axis=axis, mode="clip")
            for x, axis, reverse in zip(inputs, axes, backward, strict=True)
        ]
        results = list(b.convert_graph(node, body, [*states, *elements]))
        return results[:first], results[first:]

    done = repeat(node, b, count, states, step)
    results = [
        _placed(node, b, output, axis, reverse)
        for output, axis, reverse in zip(done.outputs, out_axes, out_backward, strict=True)
    ]
    return [*done.states, *results]


def _directions(node: Node, name: str, count: int) -> list[bool]:
    """Return for each sequence whether it is in reverse order."""
    found = node.ints(name) or [0] * count
    if len(found) != count or not {*found} <= {0, 1}:
        raise node.error(f"attribute {name} is {found}; supported: {count} times 0 or 1")
    return [bool(value) for value in found]


def _placed(node: Node, b: Builder, output: Value, axis: int, reverse: bool) -> Value:
    """Return a stacked `output` with its first axis at `axis`."""
    if reverse:
        output = b.op("reverse", output, axis=0)
    rank = rank_of(output)
    order = list(range(1, rank))
    order.insert(node.axis(axis, rank), 0)
    return b.transpose(output, order)


RULES: Rules = {"If": since(1, if_), "Loop": since(1, loop), "Scan": since(9, scan)}
