"""Operators of classical machine learning: the domain ai.onnx.ml."""

from __future__ import annotations

import numpy as np

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Value, dims_of, dtype_of, rank_of
from .normalization import by_norm, by_size
from .rule import Results, Rules, since
from .windows import known_dims

FLOAT = np.dtype(np.float32)
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO")


def array_feature_extractor(node: Node, b: Builder) -> Value:
    """Take elements of the last axis by their indices."""
    x, indices = node.input(0), node.input(1)
    if rank_of(x) == 1:
        x = b.reshape(x, (1, *dims_of(x)))
    indices = b.op("reshape", indices, newshape=(-1,))
    return b.op("take", x, indices, axis=rank_of(x) - 1, mode="clip")


def _row(node: Node, name: str, size: int, default: float, b: Builder) -> Value:
    """Return the attribute `name`: one number for all features, or one for each."""
    numbers = node.floats(name) or [default]
    if len(numbers) not in (1, size):
        raise node.error(f"attribute {name} has {len(numbers)} numbers; supported: 1, {size}")
    return b.constant(np.asarray(numbers, np.float32))


def scaler(node: Node, b: Builder) -> Value:
    """Compute (x - offset) * scale."""
    x = b.cast(node.input(0), FLOAT)
    (size,) = known_dims(node, dims_of(x)[-1:], "the scale")
    y = b.op("subtract", x, _row(node, "offset", size, 0.0, b))
    return b.op("multiply", y, _row(node, "scale", size, 1.0, b))


def normalizer(node: Node, b: Builder) -> Value:
    """Divide rows by their greatest, the sum of their absolute values, or their length."""
    norm = node.choice("norm", "MAX", ("MAX", "L1", "L2"))
    x = b.cast(node.input(0), FLOAT)
    axis = (rank_of(x) - 1,)
    if norm != "MAX":
        return by_norm(x, axis, 1 if norm == "L1" else 2, b)
    return by_size(x, b.op("max", x, axis=axis, keepdims=True), b)


def _linear(node: Node, rows: int, b: Builder) -> Value:
    """Return the product of the input with `rows` rows of coefficients, plus intercepts."""
    x = b.cast(node.input(0), FLOAT)
    if rank_of(x) == 1:
        x = b.reshape(x, (1, *dims_of(x)))
    numbers = node.floats("coefficients") or []
    (size,) = known_dims(node, dims_of(x)[1:], "attribute coefficients")
    if len(numbers) != rows * size:
        raise node.error(
            f"there are {len(numbers)} coefficients; supported: {rows} times {size} features"
        )
    weights = b.constant(np.asarray(numbers, np.float32).reshape(rows, size))
    y = b.op("nn.dense", x, weights)
    intercepts = node.floats("intercepts")
    if intercepts is None:
        return y
    if len(intercepts) != rows:
        raise node.error(f"there are {len(intercepts)} intercepts; supported: {rows}")
    return b.op("nn.bias_add", y, b.constant(np.asarray(intercepts, np.float32)), axis=1)


def _transformed(node: Node, y: Value, b: Builder) -> Value:
    transform = node.choice("post_transform", "NONE", TRANSFORMS)
    if transform == "LOGISTIC":
        return b.op("sigmoid", y)
    if transform == "SOFTMAX":
        return b.op("nn.softmax", y, axis=1)
    if transform == "SOFTMAX_ZERO":
        nonzero = b.op("not_equal", y, b.scalar_like(0, y))
        return b.op("multiply", b.op("nn.softmax", y, axis=1), b.cast(nonzero, dtype_of(y)))
    return y


def binarizer(node: Node, b: Builder) -> Value:
    """Return 1 where an element is above the threshold, else 0."""
    x = node.input(0)
    above = b.op("greater", x, b.scalar_like(node.number("threshold", 0.0), x))
    return b.cast(above, dtype_of(x))


def linear_regressor(node: Node, b: Builder) -> Value:
    return _transformed(node, _linear(node, node.integer("targets", 1), b), b)


def linear_classifier(node: Node, b: Builder) -> Results:
    """Return the label of the class with the best score, and the scores."""
    labels = node.ints("classlabels_ints")
    if labels is None:
        raise node.error("there are no integer labels; supported: classlabels_ints")
    node.ignore("multi_class")
    intercepts = node.floats("intercepts") or []
    rows = len(intercepts) or len(labels)
    y = _linear(node, rows, b)
    if rows == 1 and len(labels) == 2:  # the score of the second class
        y = b.op("concatenate", b.op("negative", y), y, axis=1)
    if dims_of(y)[1] != len(labels):
        raise node.error(f"there are {len(labels)} labels; supported: {dims_of(y)[1]}")
    best = b.op("argmax", y, axis=(1,), keepdims=False)
    label = b.op("take", b.ints(labels), best, axis=0, mode="clip")
    return [label, _transformed(node, y, b)]


RULES: Rules = {
    "ArrayFeatureExtractor": since(1, array_feature_extractor),
    "Binarizer": since(1, binarizer),
    "LinearClassifier": since(1, linear_classifier),
    "LinearRegressor": since(1, linear_regressor),
    "Normalizer": since(1, normalizer),
    "Scaler": since(1, scaler),
}
