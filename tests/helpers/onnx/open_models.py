"""Networks with open dims and random weights, as ONNX models: encoder, decoder, residual."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

Dims: TypeAlias = Sequence[int | str | None]
Activation: TypeAlias = Literal["gelu", "x*erf(x)"]


class Graph:
    """Collects nodes and weights."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.count = 0

    def name(self) -> str:
        """Return a name for a value."""
        self.count += 1
        return f"value{self.count}"

    def constant(self, value: object, dtype: str = "float32") -> str:
        """Add a constant."""
        self.weights.append(numpy_helper.from_array(np.asarray(value, dtype), self.name()))
        return self.weights[-1].name

    def weight(self, *shape: int, scale: float | None = None) -> str:
        """Add a random weight, by default scaled by its first dim."""
        factor = float(shape[0] ** -0.5) if scale is None else scale
        return self.constant(self.random.standard_normal(shape) * factor)

    def __call__(self, kind: str, *inputs: str, to: str | None = None, **attributes: Any) -> str:
        """Add a node of one result."""
        result = to or self.name()
        self.nodes.append(helper.make_node(kind, list(inputs), [result], **attributes))
        return result

    def dense(self, x: str, inside: int, outside: int, bias: bool = True) -> str:
        """Multiply by random weights, and add a random bias."""
        y = self("MatMul", x, self.weight(inside, outside))
        return self("Add", y, self.weight(outside, scale=0.1)) if bias else y

    def norm(self, x: str, width: int) -> str:
        """Normalize the last dim."""
        gain, shift = self.constant(np.ones(width)), self.weight(width, scale=0.1)
        return self("LayerNormalization", x, gain, shift, axis=-1)

    def heads(self, x: str, heads: int, each: int) -> str:
        """Reshape (b, n, heads * each) to (b, heads, n, each)."""
        split = self("Reshape", x, self.constant([0, 0, heads, each], "int64"))
        return self("Transpose", split, perm=[0, 2, 1, 3])

    def joined(self, x: str, width: int) -> str:
        """Undo `heads`."""
        back = self("Transpose", x, perm=[0, 2, 1, 3])
        return self("Reshape", back, self.constant([0, 0, width], "int64"))

    def scores(self, q: str, k: str, each: int) -> str:
        """Multiply queries by keys."""
        turned = self("Transpose", k, perm=[0, 1, 3, 2])
        return self("Mul", self("MatMul", q, turned), self.constant(each**-0.5))

    def activated(self, x: str, activation: Activation) -> str:
        """Compute GELU, or `x * erf(x)`, for which onnxruntime has no kernel of its own."""
        if activation == "x*erf(x)":
            return self("Mul", x, self("Erf", x))
        bent = self("Add", self("Erf", self("Mul", x, self.constant(2**-0.5))), self.constant(1))
        return self("Mul", self("Mul", x, bent), self.constant(0.5))

    def model(
        self, inputs: Mapping[str, tuple[int, Dims]], outputs: Mapping[str, Dims]
    ) -> ModelProto:
        """Return the model."""
        info = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes,
            "g",
            [info(name, kind, shape) for name, (kind, shape) in inputs.items()],
            [info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
            self.weights,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def encoder(
    layers: int = 4,
    width: int = 128,
    heads: int = 4,
    inner: int = 512,
    activation: Activation = "gelu",
) -> ModelProto:
    """A transformer encoder of (batch, length, width), both open."""
    g, x, each = Graph(1), "x", width // heads
    for _ in range(layers):
        q, k, v = (g.heads(g.dense(x, width, width), heads, each) for _ in range(3))
        mixed = g("MatMul", g("Softmax", g.scores(q, k, each), axis=-1), v)
        x = g.norm(g("Add", g.dense(g.joined(mixed, width), width, width), x), width)
        up = g.activated(g.dense(x, width, inner), activation)
        x = g.norm(g("Add", g.dense(up, inner, width), x), width)
    g("Identity", x, to="y")
    dims = ["batch", "length", width]
    return g.model({"x": (TensorProto.FLOAT, dims)}, {"y": dims})


def decoder(layers: int, heads: int, width: int, vocabulary: int = 1000) -> ModelProto:
    """A decoder of `tokens` (1, t) with the keys and values of `past` tokens before them."""
    g, each = Graph(2), width // heads
    inputs: dict[str, tuple[int, Dims]] = {"tokens": (TensorProto.INT64, [1, "t"])}
    outputs: dict[str, Dims] = {"logits": [1, "t", vocabulary]}
    x = g("Gather", g.weight(vocabulary, width, scale=1), "tokens")
    keep, masked = "", g.constant(-1e9)

    def number(n: object) -> str:
        return g.constant(n, "int64")

    for layer in range(layers):
        h = g.norm(x, width)
        q, k, v = (g.heads(g.dense(h, width, width, False), heads, each) for _ in range(3))
        joined: list[str] = []
        for letter, new in (("k", k), ("v", v)):
            past, now = f"past_{letter}{layer}", f"{letter}{layer}"
            inputs[past] = (TensorProto.FLOAT, [1, heads, "past", each])
            outputs[now] = [1, heads, "total", each]
            joined.append(g("Concat", past, new, axis=2, to=now))
        if not keep:  # a key is visible to queries that are not before it
            t = g("Gather", g("Shape", "tokens"), number(1))
            total = g("Gather", g("Shape", joined[0]), number(2))
            rows = g("Add", g("Range", number(0), t, number(1)), g("Sub", total, t))
            columns = g("Range", number(0), total, number(1))
            rows, columns = (g("Unsqueeze", s, number([i])) for s, i in ((rows, 1), (columns, 0)))
            keep = g("LessOrEqual", columns, rows)
        scores = g("Where", keep, g.scores(q, joined[0], each), masked)
        mixed = g("MatMul", g("Softmax", scores, axis=-1), joined[1])
        x = g("Add", x, g.dense(g.joined(mixed, width), width, width, False))
        up = g("Relu", g.dense(g.norm(x, width), width, 4 * width))
        x = g("Add", x, g.dense(up, 4 * width, width, False))
    g("MatMul", x, g.weight(width, vocabulary), to="logits")
    return g.model(inputs, outputs)


def residual(width: int = 256) -> ModelProto:
    """relu(x * w + y), where x and y may have different numbers of rows."""
    g = Graph(3)
    g("Relu", g("Add", g("MatMul", "x", g.weight(width, width)), "y"), to="z")
    shapes: dict[str, tuple[int, Dims]] = {
        n: (TensorProto.FLOAT, [n + "_rows", width]) for n in "xy"
    }
    return g.model(shapes, {"z": [None, width]})


OPEN_MODELS: Mapping[str, Callable[[], ModelProto]] = {
    "encoder": encoder,
    "encoder-erf": lambda: encoder(activation="x*erf(x)"),
    "decoder2x32": lambda: decoder(2, 4, 32),
    "decoder6x512": lambda: decoder(6, 8, 512),
    "residual": residual,
}
"""The networks of `benchmarks/native_shapes.py`, by name."""
