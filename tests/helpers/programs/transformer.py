"""
A transformer encoder as an exporter writes it, with open batch and sequence dims.

Token ids go through an embedding, positions are sliced to the sequence's length, and heads are
split and merged by Reshapes whose targets are computed from Shape, Gather, Unsqueeze and Concat.
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

    def gelu(self, x: str) -> str:
        root = self.constant(np.sqrt(2), np.float32)
        erf = self.op("Erf", self.op("Div", x, root))
        one, half = self.constant(1, np.float32), self.constant(0.5, np.float32)
        return self.op("Mul", self.op("Mul", x, self.op("Add", erf, one)), half)

    def layer(self, x: str, heads: int, width: int) -> str:
        x = self.normalized(self.op("Add", x, self.attention(x, heads, width)), width)
        hidden = self.gelu(self.linear(x, width, 4 * width))
        return self.normalized(self.op("Add", x, self.linear(hidden, 4 * width, width)), width)


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
    graph.nodes[-1].output[0] = "y"
    model = helper.make_graph(
        graph.nodes,
        "encoder",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, dims)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [*dims, width])],
        [numpy_helper.from_array(value, name) for name, value in graph.constants.items()],
    )
    return helper.make_model(model, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
