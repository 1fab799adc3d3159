"""Quantized operators are exact against onnxruntime, and so in the VM."""

from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import Array, run_onnxruntime
from helpers.onnx.onnx_programs import model, value
from onnx import helper

from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.passes.evaluation.evaluator import evaluate

RANDOM = np.random.default_rng(0)


def integers(dtype: Any, *shape: int) -> Array:
    limits: Any = np.iinfo(dtype)
    return RANDOM.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def scales(*shape: int) -> Array:
    return RANDOM.uniform(0.005, 0.05, shape).astype(np.float32)


def exact(
    op_type: str, feeds: dict[str, Array], dtype: Any, opset: int = 13, **attributes: Any
) -> None:
    """Require equal numbers of a node whose first input is at run time, and the others known."""
    names = list(feeds)
    node = helper.make_node(op_type, names, ["y"], name="the_node", **attributes)
    constants = {name: feeds[name] for name in names[1:] if name}
    first = {names[0]: feeds[names[0]]}
    proto = model([node], first, [value("y", dtype)], constants, opset)
    conversion = convert_model(proto, "small.onnx")
    (actual,) = evaluate(conversion.module, list(first.values()), conversion.params)
    (expected,) = run_onnxruntime(proto, first)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("axis", [None, 1, -1])
def test_quantize(dtype: type, axis: int | None):
    x = (RANDOM.standard_normal((3, 5, 4)) * 8).astype(np.float32)
    x[0, 0] = [0.5, 1.5, 2.5, -0.5]  # halves are rounded to even
    size = () if axis is None else (x.shape[axis],)
    scale = np.full(size, 0.25, np.float32) * RANDOM.choice([1, 2], size)
    feeds = {"x": x, "scale": scale.astype(np.float32), "zero": integers(dtype, *size)}
    exact("QuantizeLinear", feeds, dtype, **({} if axis is None else {"axis": axis}))


def test_quantize_without_zero_point():
    exact("QuantizeLinear", {"x": scales(4, 5) * 100, "scale": scales()}, np.uint8)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("axis", [None, 0, 2])
def test_dequantize(dtype: type, axis: int | None):
    x = integers(dtype, 3, 5, 4)
    size = () if axis is None else (x.shape[axis],)
    feeds = {"x": x, "scale": scales(*size), "zero": integers(dtype, *size)}
    exact("DequantizeLinear", feeds, np.float32, **({} if axis is None else {"axis": axis}))


def test_dequantize_sums():
    x = RANDOM.integers(-(2**20), 2**20, (4, 3), np.int32)
    exact("DequantizeLinear", {"x": x, "scale": scales()}, np.float32)


@pytest.mark.parametrize("op_type", ["QuantizeLinear", "DequantizeLinear"])
def test_blocks(op_type: str):
    quantizes = op_type == "QuantizeLinear"
    x = scales(3, 8) * 1000 if quantizes else integers(np.uint8, 3, 8)
    feeds = {"x": x, "scale": scales(3, 2), "zero": integers(np.uint8, 3, 2)}
    exact(op_type, feeds, np.uint8 if quantizes else np.float32, 21, axis=1, block_size=4)


def test_dynamic_quantize():
    x = (RANDOM.standard_normal((3, 50)) * 8).astype(np.float32)
    node = helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "scale", "zero"])
    outputs = [value("y", np.uint8), value("scale"), value("zero", np.uint8)]
    proto = model([node], {"x": x}, outputs, opset=13)
    conversion = convert_model(proto, "small.onnx")
    for a, e in zip(
        evaluate(conversion.module, [x], {}), run_onnxruntime(proto, {"x": x}), strict=True
    ):
        assert a.dtype == e.dtype
        np.testing.assert_array_equal(a, e)


@pytest.mark.parametrize("zeros", [(), (1,), "rows"])
def test_matmul_integer(zeros: Any):
    a, b = integers(np.uint8, 6, 700), integers(np.int8, 700, 5)
    left = np.array(7, np.uint8) if zeros != (1,) else np.array([7], np.uint8)
    right = integers(np.int8, 5) if zeros == "rows" else np.array(-3, np.int8)
    exact("MatMulInteger", {"a": a, "b": b, "az": left, "bz": right}, np.int32)


def test_conv_integer():
    x, w = integers(np.uint8, 2, 4, 7, 6), integers(np.uint8, 6, 2, 3, 3)
    feeds = {"x": x, "w": w, "xz": np.array(120, np.uint8), "wz": np.array(9, np.uint8)}
    exact("ConvInteger", feeds, np.int32, pads=[1, 1, 1, 1], group=2, strides=[2, 1])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_qlinear_matmul(dtype: type):
    zero = [integers(dtype) for _ in range(3)]
    a, b = integers(dtype, 6, 70), integers(dtype, 70, 5)
    order = {"a": a, "as": scales(), "az": zero[0], "b": b, "bs": scales(), "bz": zero[1]}
    exact("QLinearMatMul", order | {"ys": scales() * 100, "yz": zero[2]}, dtype)


@pytest.mark.parametrize("per_channel", [False, True])
def test_qlinear_conv(per_channel: bool):
    x, w = integers(np.uint8, 2, 4, 7, 6), integers(np.int8, 6, 4, 3, 3)
    size = (6,) if per_channel else ()
    feeds = {"x": x, "xs": scales(), "xz": np.array(120, np.uint8), "w": w, "ws": scales(*size)}
    feeds |= {"wz": np.zeros(size, np.int8), "ys": scales() * 100, "yz": np.array(100, np.uint8)}
    feeds["bias"] = RANDOM.integers(-1000, 1000, 6).astype(np.int32)
    exact("QLinearConv", feeds, np.uint8, pads=[1, 1, 1, 1])
