"""ONNX's interface for backends, on the Python API."""

from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import Array, run_onnxruntime
from helpers.onnx.onnx_small import model_of, node, random_array
from onnx import TensorProto, helper

import xrelay
from xrelay.frontends.onnx.backend import Backend

X = random_array(2, 3)
C = random_array(3, seed=1)


def test_a_model_is_prepared_once_and_run_often():
    model = model_of(
        [node("Add", "x c", "h"), node("Relu", "h", "y")], {"x": X}, {"c": C}, outputs="y h"
    )
    prepared = Backend.prepare(model)
    for x in (X, -X):
        results: Any = prepared.run([x])
        for actual, expected in zip(results, run_onnxruntime(model, {"x": x}), strict=True):
            np.testing.assert_array_equal(actual, expected)
        assert results["y"] is results[0]


@pytest.mark.parametrize("inputs", [[X], (X,), X, {"x": X}])
def test_inputs_are_given_by_position_or_name(inputs: Any):
    (y,) = Backend.run_model(model_of(node("Abs", "x"), {"x": X}), inputs)
    np.testing.assert_array_equal(y, np.abs(X))


def test_inputs_of_other_names_are_an_error():
    prepared = Backend.prepare(model_of(node("Add", "x z"), {"x": X, "z": X}))
    with pytest.raises(xrelay.Error, match="expected the inputs x, z, but got x, w"):
        prepared.run({"x": X, "w": X})


def test_options_are_those_of_compile():
    model = model_of(node("Abs", "x"), {"x": X})
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    prepared = Backend.prepare(model, dims={"batch": 2})
    with pytest.raises(xrelay.Error, match=r"must be float32\[2, 3\]"):
        prepared.run([X[:1]])


def test_a_single_node():
    (y,) = Backend.run_node(node("Mul", "x x"), [X])
    np.testing.assert_array_equal(y, X * X)
    values, indices = Backend.run_node(
        node("TopK", "x k", "values indices"), {"x": X, "k": np.array([1])}
    )
    np.testing.assert_array_equal(values, X.max(1, keepdims=True))
    np.testing.assert_array_equal(indices, X.argmax(1, keepdims=True))


@pytest.mark.parametrize(("opset", "rows"), [(12, 1), (13, 2)])
def test_a_single_node_has_the_meaning_of_its_opset(opset: int, rows: int):
    """Before opset 13, softmax was that of a matrix, here of one row."""
    (y,) = Backend.run_node(node("Softmax", "x", axis=0), [X], opset_version=opset)
    axis = (0, 1) if rows == 1 else 0
    np.testing.assert_allclose(y, np.exp(X) / np.exp(X).sum(axis, keepdims=True), rtol=1e-5)


def test_a_single_node_of_another_domain():
    gelu = helper.make_node("BiasGelu", ["x", "c"], ["y"], domain="com.microsoft")
    (y,) = Backend.run_node(gelu, [X, C])
    model = model_of(gelu, {"x": X, "c": C})
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    np.testing.assert_allclose(y, run_onnxruntime(model, {"x": X, "c": C})[0], rtol=1e-5)


def test_a_single_node_has_all_its_inputs():
    with pytest.raises(xrelay.Error, match="expected 2 inputs, but got 1"):
        Backend.run_node(node("Add", "x z"), [X])


def test_devices():
    model = model_of(node("Abs", "x"), {"x": X})
    assert Backend.supports_device("CPU")
    assert Backend.is_compatible(model, "CPU")
    assert not Backend.supports_device("CUDA:1")
    assert not Backend.is_compatible(model, "CUDA:1")
    with pytest.raises(xrelay.Error, match='device "CUDA:1" is not supported; supported: CPU'):
        Backend.prepare(model, "CUDA:1")


def test_a_model_that_is_not_supported_is_not_compatible():
    model = model_of(node("StringNormalizer", "x"), {"x": X})
    assert not Backend.is_compatible(model)
    with pytest.raises(xrelay.Error, match=r"\(StringNormalizer, opset 13\)"):
        Backend.prepare(model)


def test_a_result_of_no_elements():
    empty: Array = np.zeros((0, 3), np.float32)
    assert helper.np_dtype_to_tensor_dtype(empty.dtype) == TensorProto.FLOAT
    (y,) = Backend.run_model(model_of(node("Abs", "x"), {"x": empty}), [empty])
    assert y.shape == (0, 3)
