"""Scattered updates and running sums against onnxruntime."""

import numpy as np
import pytest
from helpers.onnx.onnx_small import agree, model_of, node, random_array

from xrelay.frontends.onnx import OnnxError
from xrelay.frontends.onnx.convert.importer import convert_model

X = random_array(4, 5)
COLUMNS = np.array([[0, 2, -1], [1, 1, 1], [4, 0, 4]])
ROWS = np.array([[2], [0], [2], [-1], [2]])


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_elements(reduction: str):
    """The second row updates one element three times, which is defined if they are reduced."""
    indices = COLUMNS[::2] if reduction == "none" else COLUMNS
    indices = indices[:, :2] if reduction == "none" else indices
    scatter = node("ScatterElements", "x i u", axis=1, reduction=reduction)
    feeds = {"x": X, "u": random_array(*indices.shape, seed=1)}
    agree(scatter, feeds, {"i": indices}, opset=18)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_blocks(reduction: str):
    indices = ROWS[1:4] if reduction == "none" else ROWS
    feeds = {"x": X, "u": random_array(len(indices), 5, seed=1)}
    agree(node("ScatterND", "x i u", reduction=reduction), feeds, {"i": indices}, opset=18)


def test_vectors_of_all_indices():
    feeds = {"x": X, "u": random_array(2, 1, seed=1)}
    agree(node("ScatterND", "x i u"), feeds, {"i": np.array([[[1, 2]], [[-1, 0]]])})


def test_no_updates():
    feeds = {"x": X, "u": random_array(0, 5)}
    agree(node("ScatterElements", "x i u"), feeds, {"i": np.zeros((0, 5), np.int64)})


@pytest.mark.parametrize(
    ("op", "indices", "updates", "message"),
    [
        ("ScatterElements", [[5]], (1, 1), "index 5 is out of range; the axis has 4 elements"),
        ("ScatterElements", [[0]], (1, 2), "dim 1 of updates must be 1, but is 2"),
        ("ScatterND", [[-5]], (1, 5), "index -5 is out of range; the axis has [4] elements"),
        ("ScatterND", [[0, 0, 0]], (1,), "supported: vectors of 1 to 2 indices"),
    ],
)
def test_refused(op: str, indices: list[list[int]], updates: tuple[int, ...], message: str):
    feeds = {"x": X, "u": random_array(*updates)}
    model = model_of(node(op, "x i u"), feeds, {"i": np.array(indices)})
    with pytest.raises(OnnxError, match=message.replace("[", r"\[")):
        convert_model(model, "bad.onnx")


def test_many_updates_of_one_element():
    feeds = {"x": X, "u": random_array(65, 5)}
    indices = {"i": np.zeros((65, 1), np.int64)}
    agree(node("ScatterND", "x i u", reduction="add"), feeds, indices, opset=18)


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize(("exclusive", "reverse"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_running_sums(axis: int, exclusive: int, reverse: int):
    sums = node("CumSum", "x a", exclusive=exclusive, reverse=reverse)
    agree(sums, {"x": random_array(5, 7)}, {"a": np.array(axis)}, opset=14)


@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
def test_shifts(direction: str):
    x = np.array([0, 1, 200, 2**32 - 1, 77], np.uint32)
    feeds = {"x": x, "s": np.array([0, 31, 7, 4, 1], np.uint32)}
    agree(node("BitShift", "x s", direction=direction), feeds, dtype=np.uint32)
