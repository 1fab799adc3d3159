"""
A decoder-only language model with a KV cache, as exporters write it, and greedy generation.

    tokens (1, n), l0_pk (1, heads, past, depth), l0_pv, ...  ->  logits (1, n, vocab), caches
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

PROMPT = (3, 1, 4, 1, 5)


class _Graph:
    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []
        self.random = np.random.default_rng(0)

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def const(self, value: Any, dtype: Any = np.int64) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def weight(self, *shape: int) -> str:
        return self.const(self.random.standard_normal(shape) / np.sqrt(shape[0]), np.float32)

    def dim(self, value: str, axis: int) -> str:
        return self.op("Gather", self.op("Shape", value), self.const(axis), axis=0)

    def linear(self, x: str, n: int, m: int) -> str:
        return self.op("Add", self.op("MatMul", x, self.weight(n, m)), self.weight(m))

    def norm(self, x: str, width: int) -> str:
        scale, bias = self.const(np.ones(width), np.float32), self.weight(width)
        return self.op("LayerNormalization", x, scale, bias, axis=-1)


def build(layers: int, heads: int, width: int, vocab: int) -> ModelProto:
    """Return the model."""
    g, depth = _Graph(), width // heads
    past = g.dim("l0_pk", 2)
    new = g.dim("tokens", 1)
    total = g.op("Add", past, new)
    zero, one = g.const(0), g.const(1)
    rows = g.op("Unsqueeze", g.op("Range", past, total, one), g.const([1]))
    columns = g.op("Unsqueeze", g.op("Range", zero, total, one), g.const([0]))
    seen = g.op("LessOrEqual", columns, rows)
    x = g.op("Gather", g.weight(vocab, width), "tokens")
    kept: list[str] = []
    for layer in range(layers):
        h = g.norm(x, width)
        split = g.const([0, 0, heads, depth])
        q, k, v = (
            g.op("Transpose", g.op("Reshape", g.linear(h, width, width), split), perm=[0, 2, 1, 3])
            for _ in range(3)
        )
        k = g.op("Concat", f"l{layer}_pk", k, axis=2)
        v = g.op("Concat", f"l{layer}_pv", v, axis=2)
        kept += [k, v]
        scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = g.op("Mul", scores, g.const(depth**-0.5, np.float32))
        scores = g.op("Where", seen, scores, g.const(-1e9, np.float32))
        mixed = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
        mixed = g.op("Transpose", mixed, perm=[0, 2, 1, 3])
        mixed = g.op("Reshape", mixed, g.const([0, 0, width]))
        x = g.op("Add", x, g.linear(mixed, width, width))
        f = g.op("Relu", g.linear(g.norm(x, width), width, 4 * width))
        x = g.op("Add", x, g.linear(f, 4 * width, width))
    logits = g.op("MatMul", g.norm(x, width), g.weight(width, vocab))
    f4, i8 = TensorProto.FLOAT, TensorProto.INT64
    cache = [1, heads, "past", depth]
    longer = [1, heads, "total", depth]
    names = [f"l{i // 2}_p{'kv'[i % 2]}" for i in range(2 * layers)]
    graph = helper.make_graph(
        g.nodes,
        "decoder",
        [
            helper.make_tensor_value_info("tokens", i8, [1, "n"]),
            *(helper.make_tensor_value_info(name, f4, cache) for name in names),
        ],
        [
            helper.make_tensor_value_info(logits, f4, [1, "n", vocab]),
            *(helper.make_tensor_value_info(name, f4, longer) for name in kept),
        ],
        g.weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def empty_cache(layers: int, heads: int, width: int, length: int = 0) -> dict[str, Any]:
    """Return the inputs for the cache of `length` tokens."""
    zeros = np.zeros((1, heads, length, width // heads), np.float32)
    return {f"l{i // 2}_p{'kv'[i % 2]}": zeros for i in range(2 * layers)}


def generate(
    run: Callable[[dict[str, Any]], Sequence[Any]],
    layers: int,
    heads: int,
    width: int,
    count: int,
    prompt: Sequence[int] = PROMPT,
) -> list[int]:
    """Return the `count` tokens that follow `prompt`, each the likeliest one."""
    cache = empty_cache(layers, heads, width)
    tokens, found = list(prompt), list[int]()
    for _ in range(count):
        logits, *kept = run({"tokens": np.array([tokens], np.int64), **cache})
        cache = dict(zip(cache, kept, strict=True))
        tokens = [int(np.argmax(logits[0, -1]))]
        found += tokens
    return found
