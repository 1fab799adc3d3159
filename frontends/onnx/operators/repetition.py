"""
Repeat a computation.

    for i in 0 … 4: x = f(i, x)     unrolled, if that is short; otherwise functions,

        func @step(%i, %x) { f }
        func @step_2(%i, %x) { step, step }     each of twice as many steps as the one before:
        func @step_4(%i, %x) { step_2, step_2 }
        f, step_4                                their number is logarithmic

so all shapes stay static. A number that is known when the program runs is halved:

        func @steps(%first, %count, %x) {
          relay.if %count == 1 { @step(%first, %x) } else {
            %half = %count / 2
            %y = @steps(%first, %half, %x)
            @steps(%first + %half, %count - %half, %y)
          }
        }

so that what the steps add to outputs is copied as often as the number can be halved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, i64
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, SSAValue

from ....dialects.device import tensor_type
from ....dialects.tensors import Tensor, as_tensor, dtype_name
from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_data import Datum, MixedTypes, common, is_tensor, type_of
from ..convert.onnx_values import Constant, Dim, Value
from ..convert.subgraphs import Outlined, call, choose, outline

UNROLLED = 400
"""Limit on the number of steps, and of operators in all of them, of an unrolled repetition."""

MAX_COUNT = 1 << 20
"""Limit on the number of repetitions."""

NUMBER = np.dtype(np.int64)

Step: TypeAlias = Callable[[Value, Sequence[Any]], tuple[Sequence[Datum], Sequence[Value]]]
"""
Builds a step from its number (a scalar of i64) and the states before it; returns the states after
it, and what it adds to each output. One state more than before says whether another step follows.
"""


@dataclass(frozen=True)
class Repeated:
    """The states after the last step, and what the steps have added to each output, stacked."""

    states: Sequence[Datum]
    outputs: Sequence[Value]

    @staticmethod
    def of(node: Node, results: Sequence[Datum], state_count: int) -> Repeated:
        """Return `results`, of which the first are the states."""
        outputs = [value for value in results[state_count:] if is_tensor(value)]
        if len(outputs) != len(results[state_count:]):
            raise node.error("a step adds a sequence or an optional value to an output")
        return Repeated(results[:state_count], outputs)


def as_row(b: Builder, output: Value) -> Value:
    """Return what a step adds to an output as a tensor of one row."""
    return b.op("expand_dims", output, axis=0)


def joined(b: Builder, outputs: Sequence[Sequence[Value]]) -> list[Value]:
    """Return each output, given as its rows in one or several tensors."""
    return [rows[0] if len(rows) == 1 else b.op("concatenate", *rows, axis=0) for rows in outputs]


def repeat(node: Node, b: Builder, count: Dim, states: Sequence[Datum], step: Step) -> Repeated:
    """Build `step` `count` times, at least once if that is known."""
    if not isinstance(count, int):
        return Functions(node, b, states, step).halving(b.scalar(0, NUMBER), b.size(count), states)
    if count > MAX_COUNT:
        raise node.error(f"there are {count} steps; supported: up to {MAX_COUNT}")
    before = b.built
    after, outputs = step(b.scalar(0, NUMBER), states)
    if count > 1 and count * max(1, b.built - before) > UNROLLED:
        rest = Functions(node, b, after, step).repeat(1, count - 1, after)
        pairs = zip(outputs, rest.outputs, strict=True)
        return Repeated(
            rest.states, joined(b, [[as_row(b, first), others] for first, others in pairs])
        )
    added = [[output] for output in outputs]
    for i in range(1, count):
        after, outputs = step(b.scalar(i, NUMBER), after)
        for parts, output in zip(added, outputs, strict=True):
            parts.append(output)
    return Repeated(after, [b.op("stack", *parts, axis=0) for parts in added])


class Functions:
    """Functions of 1, 2, 4, … steps: of the first number, the states, and captured values."""

    def __init__(self, node: Node, b: Builder, states: Sequence[Datum], step: Step):
        self.node = node
        self.b = b
        self.types = [type_of(state) for state in states]
        """Those of states, before and after any step."""
        self.is_conditional = False
        size: Attribute = tensor_type(i64, [])

        def build(arguments: Sequence[SSAValue]) -> Sequence[Datum]:
            number, *states = arguments
            after, outputs = step(number, states)
            self.is_conditional = len(after) > len(states)
            made = [
                value if as_tensor(type) else b.as_type(value, common(type, type_of(value)))
                for value, type in zip(after, self.types, strict=False)
            ]
            return [*made, *after[len(made) :], *(as_row(b, output) for output in outputs)]

        name = b.unique_function(f"{node.title}_step")
        outlined = outline(b, name, [size, *self.types], build)
        while (types := self._joined(outlined)) != self.types:
            self.types = types
            b.functions.remove(outlined.function)
            outlined = outline(b, name, [size, *types], build)
        self.captured = outlined.captured
        self.by_size = [outlined.function]

    def _joined(self, made: Outlined) -> list[Attribute]:
        """Return the types that states have before or after a step."""
        types: list[Attribute] = []
        after = made.function.function_type.outputs.data
        for i, (old, new) in enumerate(zip(self.types, after, strict=False)):
            try:
                types.append(common(old, new))
            except MixedTypes:
                raise self.node.error(
                    f"state {i} is {old} before a step, but {new} after it; supported: equal ranks "
                    "and element types"
                ) from None
        return types

    def of(self, log_size: int) -> FuncOp:
        """Return the function of 2 ** `log_size` steps."""
        while len(self.by_size) <= log_size:
            half, size = self.by_size[-1], 1 << (len(self.by_size) - 1)

            def build(arguments: Sequence[SSAValue]) -> Sequence[Datum]:
                number, *values = arguments
                n = len(self.types)
                states, captured = values[:n], values[n:]
                done = self._calls([(half, 0), (half, size)], number, states, captured)
                return [*done.states, *done.outputs]

            types = list(half.function_type.inputs)
            name = self.b.unique_function(f"{self.node.title}_step_{2 * size}")
            self.by_size.append(outline(self.b, name, types, build).function)
        return self.by_size[log_size]

    def _calls(
        self,
        functions: Sequence[tuple[FuncOp, int]],
        number: Value,
        states: Sequence[SSAValue],
        captured: Sequence[SSAValue],
    ) -> Repeated:
        """Call functions in turn, each with the offset of its first step from `number`."""
        b, n = self.b, len(self.types)
        added: list[list[Value]] = [[] for _ in functions[0][0].function_type.outputs.data[n:]]
        for function, offset in functions:
            first = b.op("add", number, b.scalar(offset, NUMBER)) if offset else number
            results = call(b, function, [b.tensor(first), *states, *captured])
            states = results[:n]
            for rows, output in zip(added, results[n:], strict=True):
                rows.append(output)
        return Repeated(states, joined(b, added))

    def repeat(self, start: int, count: int, states: Sequence[Datum]) -> Repeated:
        """Build steps `start` to `start + count - 1`, at least one."""
        before = [type_of(state) for state in states]
        if not before == self.types == list(self.by_size[0].function_type.outputs)[: len(before)]:
            return self.halving(self.b.scalar(start, NUMBER), self.b.scalar(count, NUMBER), states)
        functions: list[tuple[FuncOp, int]] = []
        offset = 0
        for log_size in reversed(range(count.bit_length())):
            if count >> log_size & 1:
                functions.append((self.of(log_size), offset))
                offset += 1 << log_size
        first = self.b.scalar(start, NUMBER)
        tensors = [self.b.tensor(state) for state in states]
        return self._calls(functions, first, tensors, self.captured)

    def halving(
        self, first: Value, count: Value, states: Sequence[Datum], going: Value | None = None
    ) -> Repeated:
        """Build `count` steps from `first` on, known when the program runs, if it is `going`."""
        b, n, (step,) = self.b, len(self.types), self.by_size
        name = b.unique_function(f"{self.node.title}_steps")
        after = n + self.is_conditional
        types = [as_tensor(type) for type in step.function_type.outputs]
        rows = [type for type in types[after:] if type is not None]
        results = [*self.types, *step.function_type.outputs.data[n:after], *map(_open, rows)]

        def again(operands: Sequence[Datum]) -> Repeated:
            op = CallOp(name, [b.tensor(value) for value in operands], results)
            return Repeated.of(self.node, b.append(op), after)

        def build(arguments: Sequence[SSAValue]) -> Sequence[Datum]:
            number, count, *states = arguments

            def halves() -> Sequence[Datum]:
                half = b.op("floor_divide", count, b.scalar(2, NUMBER))
                done = again([number, half, *states])

                def others() -> Sequence[Datum]:
                    left = b.op("subtract", count, half)
                    more = again([b.op("add", number, half), left, *done.states[:n]])
                    pairs = zip(done.outputs, more.outputs, strict=True)
                    return [*more.states, *joined(b, list(pairs))]

                if not self.is_conditional:
                    return others()
                return choose(
                    b, b.tensor(done.states[n]), others, lambda: [*done.states, *done.outputs]
                )

            one = b.op("equal", count, b.scalar(1, NUMBER))
            return choose(b, one, lambda: call(b, step, [number, *states, *self.captured]), halves)

        size: Attribute = tensor_type(i64, [])
        outlined = outline(b, name, [size, size, *self.types], build)
        wide = [b.as_type(state, type) for state, type in zip(states, self.types, strict=True)]
        operands = [b.tensor(value) for value in (first, count, *wide)]

        def run() -> Sequence[Value]:
            values = call(b, outlined.function, [*operands, *outlined.captured])
            return [*values[:n], *values[after:]]

        some = b.op("greater", count, b.scalar(0, NUMBER))
        some = some if going is None else b.op("logical_and", some, going)
        none = [_no_rows(b, row) for row in rows]
        return Repeated.of(self.node, choose(b, some, run, lambda: [*states, *none]), n)


def _open(row: Tensor) -> Tensor:
    """Return the type of any number of rows."""
    return tensor_type(row.element_type, [DYNAMIC_INDEX, *row.get_shape()[1:]])


def _no_rows(b: Builder, row: Tensor) -> Constant:
    """Return what no steps add to an output of a `row`'s type; a dim that is not known is 0."""
    shape = [0, *(max(dim, 0) for dim in row.get_shape()[1:])]
    return b.constant(np.zeros(shape, dtype_name(row.element_type)))
