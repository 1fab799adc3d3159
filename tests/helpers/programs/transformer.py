"""
A transformer encoder and a decoder as exporters write them, with open batch and sequence dims.

Token ids go through an embedding, positions are sliced to the sequence's length, and heads are
split and merged by Reshapes whose targets are computed from Shape, Gather, Unsqueeze and Concat.
The decoder masks what follows by a comparison of ranges, expanded to all rows of a batch, and
attends with batch and heads in one dim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from helpers.onnx.onnx_models import Array
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

VOCABULARY, POSITIONS = 50, 64


@dataclass
class Graph:
    """Nodes and initializers, as they are added."""

    seed: int | None
    """None: weights are 0, which need not be drawn."""
    nodes: list[NodeProto] = field(default_factory=list[NodeProto])
    constants: dict[str, Array] = field(default_factory=dict[str, Array])

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed or 0)

    def op(self, type: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output, and return the output's name."""
        name = f"{type.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(type, inputs, [name], name=name, **attributes))
        return name

    def constant(self, value: object, dtype: type = np.int64) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants[name] = np.array(value, dtype)
        return name

    def weight(self, *shape: int) -> str:
        if self.seed is None:
            return self.constant(np.zeros(shape, np.float32), np.float32)
        scale = 1 / np.sqrt(shape[0])
        return self.constant(self.random.normal(0, scale, shape), np.float32)

    def linear(self, x: str, inputs: int, outputs: int) -> str:
        """Multiply by a weight, and add a bias."""
        product = self.op("MatMul", x, self.weight(inputs, outputs))
        return self.op("Add", product, self.weight(outputs))

    def normalized(self, x: str, width: int) -> str:
        """Normalize the last axis in elementary operators, as exporters of opset 13 do."""
        mean = self.op("ReduceMean", x, axes=[-1])
        centered = self.op("Sub", x, mean)
        two = self.constant(2.0, np.float32)
        variance = self.op("ReduceMean", self.op("Pow", centered, two), axes=[-1])
        epsilon = self.constant(1e-5, np.float32)
        deviation = self.op("Sqrt", self.op("Add", variance, epsilon))
        scaled = self.op("Mul", self.op("Div", centered, deviation), self.weight(width))
        return self.op("Add", scaled, self.weight(width))

    def dim(self, x: str, axis: int) -> str:
        """Return dim `axis` of `x` as a vector of one element."""
        size = self.op("Gather", self.op("Shape", x), self.constant(axis), axis=0)
        return self.op("Unsqueeze", size, self.constant([0]))

    def split_heads(self, x: str, heads: int, width: int) -> str:
        """Reshape (batch, sequence, width) to (batch, heads, sequence, width / heads)."""
        sizes = self.constant([heads]), self.constant([width // heads])
        shape = self.op("Concat", self.dim(x, 0), self.dim(x, 1), *sizes, axis=0)
        return self.op("Transpose", self.op("Reshape", x, shape), perm=[0, 2, 1, 3])

    def attention(self, x: str, heads: int, width: int) -> str:
        q, k, v = (self.split_heads(self.linear(x, width, width), heads, width) for _ in range(3))
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        scale = self.constant(np.sqrt(width // heads), np.float32)
        weights = self.op("Softmax", self.op("Div", scores, scale), axis=-1)
        merged = self.op("Transpose", self.op("MatMul", weights, v), perm=[0, 2, 1, 3])
        parts = self.dim(merged, 0), self.dim(merged, 1), self.constant([width])
        shape = self.op("Concat", *parts, axis=0)
        return self.linear(self.op("Reshape", merged, shape), width, width)

    def joined(self, *parts: str) -> str:
        """Return the vector of these, each of one element, as the target of a Reshape."""
        return self.op("Concat", *parts, axis=0)

    def causal_mask(self, ids: str) -> str:
        """Return a mask (batch, 1, sequence, sequence): 0 up to each position, then -1e9."""
        batch, length = self.dim(ids, 0), self.dim(ids, 1)
        zero, step, one = self.constant(0), self.constant(1), self.constant([1])
        count = self.op("Squeeze", length, self.constant([0]))
        places = self.op("Range", zero, count, step)
        rows = self.op("Reshape", places, self.joined(length, one))
        later = self.op("Less", rows, places)
        high, low = self.constant(-1e9, np.float32), self.constant(0.0, np.float32)
        mask = self.op("Where", later, high, low)
        mask = self.op("Unsqueeze", mask, self.constant([0, 1]))
        target = self.joined(batch, one, length, length)
        value = numpy_helper.from_array(np.ones(1, np.int64))
        ones = self.op("ConstantOfShape", self.op("Shape", target), value=value)
        is_open = self.op("Equal", target, self.op("Mul", ones, self.constant(-1)))
        target = self.op("Where", is_open, ones, target)
        return self.op("Expand", mask, target)

    def masked_attention(self, x: str, mask: str, heads: int, width: int) -> str:
        """Attend with batch and heads in one dim."""
        count, part = self.constant([heads]), self.constant([width // heads])
        batch, length = self.dim(x, 0), self.dim(x, 1)
        rows = self.op("Mul", batch, count)
        q, k, v = (
            self.op(
                "Reshape",
                self.split_heads(self.linear(x, width, width), heads, width),
                self.joined(rows, self.constant([-1]), part),
            )
            for _ in range(3)
        )
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 2, 1]))
        split = self.joined(batch, count, length, length)
        masked = self.op("Add", self.op("Reshape", scores, split), mask)
        together = self.joined(rows, length, length)
        weights = self.op("Softmax", self.op("Reshape", masked, together), axis=-1)
        heads_apart = self.joined(batch, count, length, part)
        made = self.op("Reshape", self.op("MatMul", weights, v), heads_apart)
        merged = self.op("Transpose", made, perm=[0, 2, 1, 3])
        whole = self.joined(batch, length, self.constant([width]))
        return self.linear(self.op("Reshape", merged, whole), width, width)

    def gelu(self, x: str) -> str:
        root = self.constant(np.sqrt(2), np.float32)
        erf = self.op("Erf", self.op("Div", x, root))
        one, half = self.constant(1, np.float32), self.constant(0.5, np.float32)
        return self.op("Mul", self.op("Mul", x, self.op("Add", erf, one)), half)

    def layer(self, x: str, heads: int, width: int, mask: str | None = None) -> str:
        if mask is None:
            attended = self.attention(x, heads, width)
        else:
            attended = self.masked_attention(x, mask, heads, width)
        x = self.normalized(self.op("Add", x, attended), width)
        hidden = self.gelu(self.linear(x, width, 4 * width))
        return self.normalized(self.op("Add", x, self.linear(hidden, 4 * width, width)), width)

    def model(self, name: str, dims: Sequence[int | str], width: int) -> ModelProto:
        """Return the model of ids of `dims` whose result `y` is that of the last node."""
        self.nodes[-1].output[0] = "y"
        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info("ids", TensorProto.INT64, dims)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [*dims, width])],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()],
        )
        return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])


def encoder(
    layers: int = 2,
    heads: int = 4,
    width: int = 16,
    seed: int | None = 0,
    *,
    positions: int = POSITIONS,
    dims: Sequence[int | str] = ("batch", "sequence"),
) -> ModelProto:
    """Return an encoder of ids (batch, sequence) to vectors (batch, sequence, `width`)."""
    graph = Graph(seed)
    words = graph.op("Gather", graph.weight(VOCABULARY, width), "ids")
    table = graph.weight(positions, width)
    starts, axes = graph.constant([0]), graph.constant([0])
    places = graph.op("Slice", table, starts, graph.dim("ids", 1), axes)
    x = graph.normalized(graph.op("Add", words, places), width)
    for _ in range(layers):
        x = graph.layer(x, heads, width)
    return graph.model("encoder", dims, width)


def decoder(layers: int = 2, heads: int = 4, width: int = 16, seed: int | None = 0) -> ModelProto:
    """Return a decoder of ids (batch, sequence) to scores (batch, sequence, `VOCABULARY`)."""
    graph = Graph(seed)
    table = graph.weight(POSITIONS, width)
    mask = graph.causal_mask("ids")
    count = graph.op("Squeeze", graph.dim("ids", 1), graph.constant([0]))
    places = graph.op("Range", graph.constant(0), count, graph.constant(1))
    words = graph.op("Gather", graph.weight(VOCABULARY, width), "ids")
    x = graph.op("Add", words, graph.op("Gather", table, places))
    for _ in range(layers):
        x = graph.layer(x, heads, width, mask)
    graph.linear(graph.normalized(x, width), width, VOCABULARY)
    return graph.model("decoder", ("batch", "sequence"), VOCABULARY)
