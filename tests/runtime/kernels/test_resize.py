"""Resized images against onnxruntime, in float32."""

from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import Array, run_onnxruntime
from helpers.operators.inferring import attributes
from onnx import TensorProto, helper

from xrelay.runtime.kernels import KERNELS

MODES = ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"]


def resized(x: Array, size: tuple[int, int], **attrs: Any) -> Array:
    y = np.full((*x.shape[:2], *size), np.nan, x.dtype)
    KERNELS["relay.image.resize2d"](attributes("image.resize2d", size=size, **attrs), [x], [y])()
    return y


def expected(x: Array, size: tuple[int, int], **attrs: Any) -> Array:
    node = helper.make_node("Resize", ["x", "", "", "n"], ["y"], **attrs)
    infos = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape),
        helper.make_tensor_value_info("n", TensorProto.INT64, [4]),
    ]
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", infos, [out])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 18)])
    return run_onnxruntime(model, {"x": x, "n": np.array([*x.shape[:2], *size])})[0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", ["linear", "cubic"])
@pytest.mark.parametrize("size", [(7, 9), (2, 3), (1, 1), (6, 10)])
def test_interpolation(mode: str, method: str, size: tuple[int, int]):
    x = np.random.default_rng(0).standard_normal((2, 3, 3, 5)).astype(np.float32)
    for exclude in (0, 1) if method == "cubic" else (0,):
        ours = resized(x, size, method=method, coordinate_transformation_mode=mode,
                       cubic_alpha=-0.75, cubic_exclude=exclude)  # fmt: skip
        theirs = expected(x, size, mode=method, coordinate_transformation_mode=mode,
                          cubic_coeff_a=-0.75, exclude_outside=exclude)  # fmt: skip
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rounding", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize("size", [(7, 9), (2, 3), (1, 1), (6, 13)])
def test_nearest_pixels(mode: str, rounding: str, size: tuple[int, int]):
    x = np.random.default_rng(0).standard_normal((1, 2, 3, 5)).astype(np.float32)
    ours = resized(x, size, method="nearest_neighbor", coordinate_transformation_mode=mode,
                   rounding_method=rounding)  # fmt: skip
    theirs = expected(x, size, mode="nearest", coordinate_transformation_mode=mode,
                      nearest_mode=rounding)  # fmt: skip
    np.testing.assert_array_equal(ours, theirs)
