"""
Recurrent layers: LSTM, GRU, and simple ones.

The products of all elements of the sequences with the weights are one product; only those of the
states are computed step by step. The steps are unrolled, or functions (`repetition`).

Names: T steps, N sequences, D directions, I and H the sizes of elements and states.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from onnx import NodeProto, helper

from ..convert.computed import Computed
from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_data import is_tensor
from ..convert.onnx_values import Value, dims_of, dtype_of, rank_of, shape_text
from .repetition import NUMBER, Repeated, repeat
from .rule import Results, Rules, since

Function: TypeAlias = Callable[[Value, Builder], Value]

DIRECTIONS: Mapping[str, tuple[bool, ...]] = {
    "forward": (False,),
    "reverse": (True,),
    "bidirectional": (False, True),
}
"""For each direction of a layer: whether it reads the sequences from their ends."""


_PLAIN = {"relu": "nn.relu", "sigmoid": "sigmoid", "tanh": "tanh"}
"""Activation functions that are operators of `relay`."""

_OPERATORS: Mapping[str, tuple[str, Mapping[str, float]]] = {
    "elu": ("Elu", {"alpha": 1.0}),
    "hardsigmoid": ("HardSigmoid", {"alpha": 0.2, "beta": 0.5}),
    "leakyrelu": ("LeakyRelu", {"alpha": 0.01}),
    "softplus": ("Softplus", {}),
    "softsign": ("Softsign", {}),
    "thresholdedrelu": ("ThresholdedRelu", {"alpha": 1.0}),
}
"""
Activation functions that are operators of ONNX, and the defaults of their numbers.

For numbers that are omitted, onnxruntime takes 0 in all but `LeakyRelu`, `Elu` and `HardSigmoid`;
ONNX says 1 for `ThresholdedRelu`.
"""
_OF_BOTH: Mapping[str, Callable[[Computed, float, float], Computed]] = {
    "affine": lambda x, alpha, beta: x * alpha + beta,
    "scaledtanh": lambda x, alpha, beta: (x * beta).tanh() * alpha,
}
"""Activation functions of two numbers, which have no defaults."""


def _activations(node: Node, defaults: Sequence[str], directions: int) -> list[Function]:
    """
    Return the activation functions of all directions.

    Each takes the next of the attributes `activation_alpha` and `activation_beta` if it needs it.
    """
    names = node.words("activations") or [*defaults] * directions
    if len(names) != len(defaults) * directions:
        raise node.error(
            f"there are {len(names)} activations; supported: {len(defaults) * directions}"
        )
    alphas, betas = (iter(node.floats(f"activation_{w}") or ()) for w in ("alpha", "beta"))
    return [_activation(node, name, alphas, betas) for name in names]


def _activation(node: Node, name: str, alphas: Iterator[float], betas: Iterator[float]) -> Function:
    key = name.lower()
    if key in _PLAIN:
        return lambda x, b: b.op(_PLAIN[key], x)
    if key in _OPERATORS:
        operator, defaults = _OPERATORS[key]
        given = {"alpha": alphas, "beta": betas}
        numbers: dict[str, Any] = {
            what: next(given[what], default) for what, default in defaults.items()
        }
        return _by_operator(node, helper.make_node(operator, ["x"], ["y"], name, **numbers))
    if key in _OF_BOTH:
        alpha, beta = next(alphas, None), next(betas, None)
        if alpha is None or beta is None:
            raise node.error(
                f'activation "{name}" has no default numbers; supported: an activation_alpha and '
                "an activation_beta"
            )
        return lambda x, b: _OF_BOTH[key](Computed(x, b), alpha, beta).value
    names = ", ".join(sorted((*_PLAIN, *_OPERATORS, *_OF_BOTH)))
    raise node.error(f'activation "{name}" is not supported; supported: {names}')


def _by_operator(node: Node, operator: NodeProto) -> Function:
    x, y = (helper.make_empty_tensor_value_info(name) for name in "xy")
    graph = helper.make_graph([operator], operator.name, [x], [y])

    def convert(x: Value, b: Builder) -> Value:
        (y,) = b.convert_graph(node, graph, [x])
        assert is_tensor(y), "an activation of a tensor is one"
        return y

    return convert


@dataclass
class Cell(ABC):
    """
    The computation of a step of one direction.

    `weights` (G * H, H) are those of the state, for G gates; `bias` (G * H), if there is one, is
    added to their product.
    """

    node: Node
    b: Builder
    size: int
    functions: Sequence[Function]
    weights: Value
    bias: Value | None
    clip: float | None
    peepholes: Value | None
    """Of an LSTM: the weights (3 * H) of C in the gates i, o and f."""

    @abstractmethod
    def step(self, x: Value, states: Sequence[Value]) -> list[Value]:
        """Return the states after a step; `x` (N, G * H) is the element's product."""

    def part(self, value: Value, gate: int) -> Value:
        """Return the part of `value` of a gate: along the last axis, of size H each."""
        axis = len(dims_of(value)) - 1
        return self.b.slice(value, axis, gate * self.size, (gate + 1) * self.size)

    def product(self, state: Value, first: int, stop: int) -> Value:
        """Return the product of `state` with the weights of these gates."""
        b, size = self.b, self.size
        y = b.op("nn.dense", state, b.slice(self.weights, 0, first * size, stop * size))
        if self.bias is None:
            return y
        return b.op("nn.bias_add", y, b.slice(self.bias, 0, first * size, stop * size), axis=1)

    def active(self, function: int, value: Value) -> Value:
        """Apply activation `function`, after limiting `value`."""
        if self.clip is not None:
            value = self.b.op("clip", value, a_min=-self.clip, a_max=self.clip)
        return self.functions[function](value, self.b)


class SimpleCell(Cell):
    """H' = f(X W + H R + b)."""

    def step(self, x: Value, states: Sequence[Value]) -> list[Value]:
        return [self.active(0, self.b.op("add", x, self.product(states[0], 0, 1)))]


@dataclass
class GatedCell(Cell):
    """
    A cell of a GRU, with gates z (update), r (reset) and h.

    With `linear_before_reset`, the reset gate scales the state's product, not the state.
    """

    linear_before_reset: bool = False

    def step(self, x: Value, states: Sequence[Value]) -> list[Value]:
        b, (state,) = self.b, states
        gates = b.op("add", b.slice(x, 1, 0, 2 * self.size), self.product(state, 0, 2))
        update, reset = (self.active(0, self.part(gates, gate)) for gate in (0, 1))
        if self.linear_before_reset:
            hidden = b.op("multiply", reset, self.product(state, 2, 3))
        else:
            hidden = self.product(b.op("multiply", reset, state), 2, 3)
        hidden = self.active(1, b.op("add", self.part(x, 2), hidden))
        kept = b.op("multiply", update, b.op("subtract", state, hidden))
        return [b.op("add", hidden, kept)]


@dataclass
class MemoryCell(Cell):
    """A cell of an LSTM, with gates i (input), o (output), f (forget) and c; states H and C."""

    coupled: bool = False
    """The forget gate is 1 minus the input gate."""

    def step(self, x: Value, states: Sequence[Value]) -> list[Value]:
        b, (state, memory) = self.b, states
        gates = b.op("add", x, self.product(state, 0, 4))
        input_gate = self.active(0, self._with_peephole(self.part(gates, 0), memory, 0))
        if self.coupled:
            forget_gate = b.op("subtract", b.scalar_like(1, input_gate), input_gate)
        else:
            forget_gate = self.active(0, self._with_peephole(self.part(gates, 2), memory, 2))
        new = b.op("multiply", input_gate, self.active(1, self.part(gates, 3)))
        memory = b.op("add", b.op("multiply", forget_gate, memory), new)
        output_gate = self.active(0, self._with_peephole(self.part(gates, 1), memory, 1))
        return [b.op("multiply", output_gate, self.functions[2](memory, b)), memory]

    def _with_peephole(self, gate: Value, memory: Value, number: int) -> Value:
        if self.peepholes is None:
            return gate
        return self.b.op(
            "add", gate, self.b.op("multiply", memory, self.part(self.peepholes, number))
        )


@dataclass
class Layer:
    """A recurrent layer: its operands and attributes; `gates` is the number of gates."""

    node: Node
    b: Builder
    gates: int

    def __post_init__(self) -> None:
        node = self.node
        self.batch_first = node.opset >= 14 and node.flag("layout", False)
        direction = node.choice("direction", "forward", tuple(DIRECTIONS))
        self.backward = DIRECTIONS[direction]
        x = node.input(0)
        node.require_rank(x, [3], "X")
        self.x = self._steps_first(x)
        steps, self.batch, _ = dims_of(self.x)
        if steps == 0:
            raise node.error(
                f"the sequences have shape {shape_text(dims_of(x))}; supported: at least one step"
            )
        self.steps = steps
        weights = self._required(2, 3, "R")
        size, hidden = dims_of(weights)[2], node.optional_int("hidden_size")
        if not isinstance(size, int):
            size = hidden
        if size is None:
            message = "the size of the states is computed at run time; supported: known"
            raise node.error(message, weights, needs_shape=True)
        if hidden not in (None, size):
            raise node.error(f"attribute hidden_size is {hidden}, but R has states of {size}")
        self.size = size
        self.clip = node.optional_float("clip")
        self.lengths = node.optional(4)

    def _required(self, index: int, rank: int, what: str) -> Value:
        """Return an operand whose first dim is that of the directions."""
        value = self.node.input(index)
        self.node.require_rank(value, [rank], what)
        count = dims_of(value)[0]
        if isinstance(count, int) and count != len(self.backward):
            raise self.node.error(
                f"{what} is for {shape_text([count])} directions; supported: {len(self.backward)}"
            )
        return value

    def _steps_first(self, x: Value) -> Value:
        return self.b.transpose(x, (1, 0, 2)) if self.batch_first else x

    def of_direction(self, value: Value, direction: int, *last: int) -> Value:
        """Return the part of `value` for a direction, without that axis; `last` are its dims."""
        part = self.b.slice(value, 0, direction, direction + 1)
        return self.b.reshape(part, (*dims_of(value)[1 : rank_of(value) - len(last)], *last))

    def weights(self, index: int, direction: int, what: str) -> Value:
        """Return the weights of the elements or of the states: (G * H, I) or (G * H, H)."""
        weights = self._required(index, 3, what)
        rows, columns = self.gates * self.size, dims_of(weights)[2]
        columns = self.size if index == 2 else columns
        if isinstance(columns, int):
            return self.of_direction(weights, direction, rows, columns)
        part = self.b.slice(weights, 0, direction, direction + 1)
        return self.b.op("reshape", part, newshape=(rows, -1))

    def vector(self, index: int, direction: int, what: str, parts: int) -> Value:
        """Return a vector of `parts` times H numbers."""
        return self.of_direction(self._required(index, 2, what), direction, parts * self.size)

    def initial(self, index: int, direction: int, what: str) -> Value:
        """Return an initial state (N, H), by default 0."""
        if self.node.optional(index) is None:
            shape = self.batch, self.size
            zeros = self.b.broadcast_to(self.b.scalar_like(0, self.x), shape)
            return self.b.reshape(
                zeros, shape
            )  # the type of a dynamic broadcast has no static dims
        value = self.node.input(index)
        self.node.require_rank(value, [3], what)
        return self.of_direction(self._steps_first(value), direction, self.size)

    def biases(self, direction: int, apart: bool) -> tuple[Value | None, Value | None]:
        """
        Return the biases (G * H) of the products with the elements and with the states.

        Unless they are kept `apart`, the first are the sums of both, and the second None.
        """
        if self.node.optional(3) is None:
            return None, None
        half = self.gates * self.size
        both = self.vector(3, direction, "B", 2 * self.gates)
        first, second = self.b.slice(both, 0, 0, half), self.b.slice(both, 0, half, 2 * half)
        return (first, second) if apart else (self.b.op("add", first, second), None)

    def products(self, direction: int, bias: Value | None) -> Value:
        """Return the products of all elements with the weights: (T, N, G * H)."""
        y = self.b.op("nn.dense", self.x, self.weights(1, direction, "W"))
        return y if bias is None else self.b.op("nn.bias_add", y, bias, axis=2)

    def run(
        self,
        make: Callable[..., Cell],
        functions: Sequence[str],
        states: Sequence[tuple[int, str]],
        *,
        apart: bool = False,
    ) -> Results:
        """
        Run a cell of each direction, which `make` returns.

        Its activation functions are by default those called `functions`, its bias is None unless
        biases are kept `apart`, and `states` are the inputs of its initial states.
        """
        count = len(functions)
        active = _activations(self.node, functions, len(self.backward))
        done: list[Repeated] = []
        for i in range(len(self.backward)):
            bias, own = self.biases(i, apart)
            weights = self.weights(2, i, "R")
            peepholes = None if self.node.optional(7) is None else self.vector(7, i, "P", 3)
            chosen = active[count * i : count * (i + 1)]
            cell = make(self.node, self.b, self.size, chosen, weights, own, self.clip, peepholes)
            initial = [self.initial(index, i, what) for index, what in states]
            done.append(self._run_cell(i, cell, self.products(i, bias), initial))
        return self.results(done)

    def _run_cell(self, direction: int, cell: Cell, x: Value, initial: Sequence[Value]) -> Repeated:
        """Run `cell` on the products `x`; the output is the state after each step."""
        b, backward = self.b, self.backward[direction]
        last = b.op("subtract", b.size(self.steps), b.scalar(1, NUMBER)) if backward else None
        collects = self.node.is_used(0)

        def step(number: Value, states: Sequence[Value]) -> tuple[list[Value], list[Value]]:
            if last is not None:
                number = b.op("subtract", last, number)
            after = cell.step(b.op("take", x, number, axis=0, mode="clip"), states)
            outputs = after[:1]
            if self.lengths is not None:
                inside = b.op("less", b.cast(number, dtype_of(self.lengths)), self.lengths)
                inside = b.reshape(inside, (self.batch, 1))
                outputs = [b.op("where", inside, after[0], b.scalar_like(0, after[0]))]
                pairs = zip(after, states, strict=True)
                after = [b.op("where", inside, new, old) for new, old in pairs]
            return after, outputs if collects else []

        done = repeat(self.node, b, self.steps, initial, step)
        if backward and collects:
            return Repeated(done.states, [b.op("reverse", done.outputs[0], axis=0)])
        return done

    def results(self, done: Sequence[Repeated]) -> list[Value | None]:
        """Return Y (T, D, N, H), if it is used, and the last states (D, N, H)."""
        b = self.b
        outputs: list[Value | None] = [None]
        if self.node.is_used(0):
            y = b.op("stack", *(part.outputs[0] for part in done), axis=1)
            outputs = [b.transpose(y, (2, 0, 1, 3)) if self.batch_first else y]
        for states in zip(*(part.states for part in done), strict=True):
            state = b.op("stack", *states, axis=0)
            outputs.append(self._steps_first(state))
        return outputs


HIDDEN, MEMORY = (5, "initial_h"), (6, "initial_c")
"""The inputs of initial states, and their names."""


def rnn(node: Node, b: Builder) -> Results:
    return Layer(node, b, gates=1).run(SimpleCell, ("Tanh",), [HIDDEN])


def gru(node: Node, b: Builder) -> Results:
    linear = node.flag("linear_before_reset", False)
    cell = partial(GatedCell, linear_before_reset=linear)
    return Layer(node, b, gates=3).run(cell, ("Sigmoid", "Tanh"), [HIDDEN], apart=linear)


def lstm(node: Node, b: Builder) -> Results:
    cell = partial(MemoryCell, coupled=node.flag("input_forget", False))
    return Layer(node, b, gates=4).run(cell, ("Sigmoid", "Tanh", "Tanh"), [HIDDEN, MEMORY])


RULES: Rules = {"GRU": since(7, gru), "LSTM": since(7, lstm), "RNN": since(7, rnn)}
