"""Models whose large tensors are left where they are."""

from pathlib import Path

import numpy as np
import pytest
from helpers.onnx.onnx_models import run_onnxruntime
from helpers.onnx.onnx_small import model_of, node, random_array
from onnx import TensorProto, helper
from xdsl.context import Context

from xrelay.frontends.onnx import load_module
from xrelay.frontends.onnx.model.wire import without_data
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.runtime.files import mapped

X = random_array(2, 600)


@pytest.mark.parametrize("field", ["raw_data", "float_data"])
def test_weights_are_views_of_the_file(tmp_path: Path, field: str):
    weight = random_array(600, 700)
    model = model_of(node("MatMul", "x w"), {"x": X}, {"w": weight})
    if field == "float_data":
        tensor = helper.make_tensor("w", TensorProto.FLOAT, weight.shape, weight.reshape(-1))
        model.graph.initializer[0].CopyFrom(tensor)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    converted = load_module(Context(), mapped(path), str(path))
    (found,) = converted.params.values()
    np.testing.assert_array_equal(found, weight)
    assert not found.flags.owndata
    assert not found.flags.writeable
    (actual,) = evaluate(converted.module, [X], converted.params)
    (expected,) = run_onnxruntime(model, {"x": X})
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)


def test_what_is_parsed_is_small_and_damage_is_noticed():
    model = model_of(node("MatMul", "x w"), {"x": X}, {"w": random_array(600, 700)})
    data = model.SerializeToString()
    small = without_data(memoryview(data), "here")
    assert small is not None
    assert len(small) < 1000
    for end in (len(data) - 1, len(data) // 2):
        assert without_data(memoryview(data)[:end], "here") is None
