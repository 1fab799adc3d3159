"""Transposed convolutions in blocks of pixels have the results of onnxruntime, also natively."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from helpers.machine.in_machine import run_passes
from helpers.onnx.onnx_models import run_onnxruntime
from helpers.onnx.onnx_small import assert_close, model_of, node, random_array

import xrelay
from xrelay.dialects.relay.convolution import Conv2dTransposeOp
from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.passes.evaluation.evaluator import evaluate

Attributes = Mapping[str, int | Sequence[int]]


def model_and_image(strides: Sequence[int], window: Sequence[int], **others: int | Sequence[int]):
    """Return a model of one operator on images of six channels, and such images."""
    group = others.get("group", 1)
    assert isinstance(group, int)
    feeds = {"x": random_array(2, 6, 5, 4)}
    weight = {"w": random_array(6, 4, *window, seed=1), "b": random_array(4 * group, seed=2)}
    operator = node("ConvTranspose", "x w b", strides=strides, **others)
    return model_of([operator], feeds, weight), feeds


CASES: Sequence[tuple[Sequence[int], Sequence[int], Attributes]] = [
    ((2, 2), (2, 2), {}),
    ((2, 2), (3, 3), {"pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
    ((2, 2), (4, 4), {"pads": [1, 1, 1, 1]}),
    ((2, 2), (5, 3), {"pads": [3, 0, 2, 1]}),
    ((3, 3), (2, 7), {"pads": [0, 3, 1, 4], "output_padding": [2, 0], "group": 3}),
    ((1, 5), (1, 5), {}),
    ((3, 2), (3, 5), {"group": 2}),
    ((1, 1), (3, 2), {"pads": [1, 0, 1, 1], "group": 2}),
    ((4, 4), (8, 4), {"pads": [4, 0, 3, 0]}),
]


@pytest.mark.parametrize(("strides", "window", "others"), CASES)
def test_results_are_those_of_onnxruntime(
    strides: Sequence[int], window: Sequence[int], others: Attributes
):
    model, feeds = model_and_image(strides, window, **others)
    conversion = convert_model(model, "m.onnx")
    run_passes(conversion.module, "infer-types,expand-transposed-convolutions")
    assert not any(isinstance(op, Conv2dTransposeOp) for op in conversion.module.walk())
    results = evaluate(conversion.module, list(feeds.values()), conversion.params)
    assert_close([np.asarray(result) for result in results], run_onnxruntime(model, feeds))


@pytest.mark.ci
def test_machine_code_of_images_of_any_size(tmp_path: Path):
    weights = {"w": random_array(6, 6, 3, 3, seed=1)}
    operator = node("ConvTranspose", "x w", strides=[2, 2], pads=[1] * 4, output_padding=[1, 1])
    feeds = [{"x": random_array(1, 6, *size)} for size in ((5, 4), (3, 7))]
    model = model_of(operator, feeds[0], weights)
    for axis, name in ((2, "h"), (3, "w")):
        model.graph.input[0].type.tensor_type.shape.dim[axis].dim_param = name
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    call = xrelay.compile(tmp_path / "m.onnx", target="native")
    for inputs in feeds:
        assert_close([call(inputs["x"])], run_onnxruntime(model, inputs))
