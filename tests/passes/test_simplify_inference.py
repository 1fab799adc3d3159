"""`simplify-inference` on networks with random weights, against onnxruntime and float64."""

from typing import Any, cast

import numpy as np
import onnx.reference
import pytest
from helpers.onnx.onnx_models import run_onnxruntime
from helpers.onnx.onnx_small import node
from onnx import ModelProto, helper, numpy_helper
from xdsl.context import Context

from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.runtime.machine.machine import Machine
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.registry import UNIVERSE, named_pipelines


def convolution_and_norm(channels: int, dtype: Any) -> ModelProto:
    """
    Build a 3x3 convolution of 4 channels, batch norm and ReLU.

    Weights of 3 channels are constants in the IR, those of 32 are in the side file.
    """
    random = np.random.default_rng(channels)
    weights = {
        "w": random.normal(size=(channels, 4, 3, 3)),
        "s": random.uniform(0.5, 2, channels),
        "b": random.normal(size=channels),
        "m": random.normal(size=channels),
        "v": random.uniform(0.1, 3, channels),
    }
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [
            node("Conv", "x w", "c", pads=[1, 1, 1, 1]),
            node("BatchNormalization", "c s b m v", "n", epsilon=1e-3),
            node("Relu", "n", "y"),
        ],
        "network",
        [helper.make_tensor_value_info("x", kind, [2, 4, 9, 7])],
        [helper.make_tensor_value_info("y", kind, [2, channels, 9, 7])],
        # Rounded to f32 first: both models have the same weights.
        [
            numpy_helper.from_array(value.astype(np.float32).astype(dtype), name)
            for name, value in weights.items()
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)


@pytest.mark.parametrize("channels", [3, 32])
def test_convolution_and_batch_norm(channels: int):
    model = convolution_and_norm(channels, np.float32)
    x = np.random.default_rng(0).normal(size=(2, 4, 9, 7)).astype(np.float32)
    converted = convert_model(model, "network.onnx")
    for step in build("vm", UNIVERSE.all_passes, named_pipelines):
        step.run.apply(Context(), converted.module)
    machine = Machine(assemble(converted.module), converted.params)
    (found,) = machine.run("main", x)
    assert machine.counters.instructions["invoke_packed"] == 1

    exact_model = onnx.reference.ReferenceEvaluator(convolution_and_norm(channels, np.float64))
    (exact,) = cast(Any, exact_model).run(None, {"x": x.astype(np.float64)})
    (theirs,) = run_onnxruntime(model, {"x": x})
    assert np.count_nonzero(exact) > exact.size / 4
    scale = float(np.abs(exact).max())
    assert np.abs(theirs - exact).max() < 1e-6 * scale
    assert np.abs(found - exact).max() < 1e-6 * scale
