"""Convolution and pooling against onnxruntime: padding, strides, groups, one and two dims."""

import itertools

import numpy as np
import pytest
from helpers.onnx import onnx_programs
from helpers.onnx.onnx_models import run_onnxruntime
from helpers.onnx.onnx_small import agree, model_of, node, operators_of, random_array
from helpers.programs.every_case import every
from onnx import TensorProto, helper

from xrelay.frontends.onnx.backend import Backend

AUTO_PADS = ("SAME_UPPER", "SAME_LOWER", "VALID")


def conv(x: tuple[int, ...], w: tuple[int, ...], bias: bool = True, **attributes: object):
    constants = {"w": random_array(*w, seed=1)}
    if bias:
        constants["b"] = random_array(w[0], seed=2)
    names = "x w b" if bias else "x w"
    return agree(node("Conv", names, **attributes), {"x": random_array(*x)}, constants)


def test_conv_is_a_conv2d_and_a_bias():
    made = conv((1, 3, 8, 9), (4, 3, 3, 2))
    assert operators_of(made) == ["nn.conv2d", "nn.bias_add"]


def test_conv_without_bias():
    assert operators_of(conv((1, 3, 8, 9), (4, 3, 3, 2), bias=False)) == ["nn.conv2d"]


@pytest.mark.parametrize("group", [1, 2, 6])
def test_conv_in_groups(group: int):
    conv((2, 6, 7, 7), (12, 6 // group, 3, 3), group=group)


@pytest.mark.parametrize(
    ("pads", "strides", "dilations"),
    [
        ([0, 1, 2, 3], [1, 1], [1, 1]),
        ([2, 0, 1, 0], [2, 3], [1, 1]),
        ([1, 1, 1, 1], [1, 2], [2, 1]),
    ],
)
def test_conv_with_uneven_windows(pads: list[int], strides: list[int], dilations: list[int]):
    conv((1, 2, 9, 11), (3, 2, 3, 2), pads=pads, strides=strides, dilations=dilations)


@pytest.mark.parametrize("auto_pad", AUTO_PADS)
@pytest.mark.parametrize("strides", [[1, 1], [2, 3]])
def test_conv_with_automatic_padding(auto_pad: str, strides: list[int]):
    conv((1, 2, 8, 9), (3, 2, 4, 3), auto_pad=auto_pad, strides=strides)


def test_conv_over_one_dim():
    conv((2, 4, 10), (6, 2, 3), group=2, strides=[2], pads=[1, 2], dilations=[2])


def transposed(x: tuple[int, ...], w: tuple[int, ...], **attributes: object):
    group = attributes.get("group", 1)
    assert isinstance(group, int)
    constants = {"w": random_array(*w, seed=1), "b": random_array(w[1] * group, seed=2)}
    agree(node("ConvTranspose", "x w b", **attributes), {"x": random_array(*x)}, constants)


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"group": 2},
        {"strides": [2, 3], "pads": [1, 0, 2, 1]},
        {"strides": [3, 2], "output_padding": [2, 1], "dilations": [2, 1]},
        {"strides": [2, 2], "output_shape": [9, 10]},
        {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
        {"strides": [2, 2], "auto_pad": "SAME_LOWER"},
        {"auto_pad": "VALID"},
    ],
)
def test_conv_transpose(attributes: dict[str, object]):
    transposed((1, 4, 5, 4), (4, 3, 3, 3), **attributes)


def test_conv_transpose_over_one_dim():
    transposed((1, 4, 5), (4, 2, 3), strides=[2], pads=[1, 0])


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("pads", [[0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 2, 1]])
@pytest.mark.parametrize("strides", [[1, 1], [2, 3]])
def test_pool(op_type: str, pads: list[int], strides: list[int]):
    pool = node(op_type, "x", kernel_shape=[3, 3], pads=pads, strides=strides)
    agree(pool, {"x": random_array(1, 2, 8, 9)})


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("auto_pad", AUTO_PADS)
def test_pool_with_automatic_padding(op_type: str, auto_pad: str):
    pool = node(op_type, "x", kernel_shape=[3, 2], strides=[2, 2], auto_pad=auto_pad)
    agree(pool, {"x": random_array(1, 2, 8, 7)})


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
def test_pool_over_one_dim(op_type: str):
    agree(
        node(op_type, "x", kernel_shape=[3], strides=[2], pads=[1, 0]), {"x": random_array(2, 3, 9)}
    )


def test_max_pool_with_dilations():
    agree(
        node("MaxPool", "x", kernel_shape=[2, 3], dilations=[2, 2]), {"x": random_array(1, 2, 7, 8)}
    )


CEILED = list(itertools.product(range(5, 11), (2, 3), (1, 2, 3), (0, 1)))


@every(("size", "kernel", "stride", "pad"), CEILED)
def test_max_pool_rounded_up(size: int, kernel: int, stride: int, pad: int):
    attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [0, pad, pad, 0]}
    pool = node("MaxPool", "x", ceil_mode=1, **attributes)
    agree(pool, {"x": random_array(1, 1, size, size)})


@every(("size", "kernel", "stride", "pad"), CEILED)
@pytest.mark.parametrize("count_include_pad", [0, 1])
def test_average_pool_rounded_up(
    size: int, kernel: int, stride: int, pad: int, count_include_pad: int
):
    """Elements past the end are never counted, and padding only if the attribute says so."""
    pool = node(
        "AveragePool",
        "x",
        ceil_mode=1,
        kernel_shape=[kernel] * 2,
        strides=[stride] * 2,
        pads=[pad, 0, 0, pad],
        count_include_pad=count_include_pad,
    )
    agree(pool, {"x": random_array(1, 1, size, size)}, opset=19)


SAME, CEIL = {"auto_pad": "SAME_UPPER"}, {"ceil_mode": 1}
OPEN = [
    ("MaxPool", {**SAME, "kernel_shape": [3, 3], "strides": [2, 3]}),
    ("MaxPool", {"auto_pad": "SAME_LOWER", "kernel_shape": [2, 4], "strides": [1, 3]}),
    ("AveragePool", {**SAME, "kernel_shape": [3, 3], "strides": [2, 2]}),
    ("AveragePool", {**SAME, "kernel_shape": [3, 2], "strides": [2, 1], "count_include_pad": 1}),
    ("LpPool", {**SAME, "kernel_shape": [2, 3], "strides": [2, 2], "p": 1}),
    ("MaxPool", {**CEIL, "kernel_shape": [3, 3], "strides": [2, 2], "pads": [0, 0, 1, 1]}),
    ("MaxPool", {**CEIL, "kernel_shape": [2, 1], "strides": [3, 2], "pads": [1, 0, 1, 0]}),
    ("AveragePool", {**CEIL, "kernel_shape": [2, 2], "strides": [3, 2], "pads": [1, 1, 1, 1]}),
    (
        "AveragePool",
        {**CEIL, "kernel_shape": [3, 2], "strides": [2, 3], "pads": [1, 0, 1, 1]}
        | {"count_include_pad": 1},
    ),
    ("Conv", {"auto_pad": "SAME_LOWER", "strides": [2, 3]}),
    ("Conv", {**SAME, "strides": [1, 2]}),
    ("MaxPool y i", {"kernel_shape": [2, 3], "strides": [2, 1], "pads": [1, 1, 0, 1]}),
    ("MaxPool y i", {**CEIL, "kernel_shape": [3, 2], "strides": [2, 3], "storage_order": 1}),
]


@every(("op_type", "attributes"), OPEN)
def test_windows_of_open_dims(op_type: str, attributes: dict[str, object]):
    op_type, *outputs = op_type.split()
    weights = {"w": random_array(3, 2, 3, 2, seed=1)} if op_type == "Conv" else {}
    windows = node(op_type, " ".join(["x", *weights]), " ".join(outputs) or "y", **attributes)
    x = onnx_programs.value("x", shape=["n", 2, "h", "w"])
    results = [onnx_programs.value(y, np.int64 if y == "i" else np.float32) for y in windows.output]
    graph = onnx_programs.graph([windows], results, [x], weights)
    proto = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 19)])
    shapes = (1, 2, 8, 9), (2, 2, 7, 6), (1, 2, 5, 5), (1, 2, 10, 7)
    onnx_programs.agree(proto, *({"x": random_array(*shape, seed=3)} for shape in shapes))


@pytest.mark.parametrize("op_type", ["GlobalAveragePool", "GlobalMaxPool"])
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (2, 3, 4), (1, 2, 3, 2, 3)])
def test_global_pool(op_type: str, shape: tuple[int, ...]):
    agree(node(op_type, "x"), {"x": random_array(*shape)})


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        ((2, 3, 7), {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}),
        ((2, 3, 6, 5), {"kernel_shape": [3, 2], "pads": [1, 0, 2, 1], "dilations": [2, 1]}),
        ((2, 2, 5, 7), {"kernel_shape": [2, 3], "ceil_mode": 1, "strides": [2, 2]}),
        ((1, 2, 4, 3, 5), {"kernel_shape": [2, 2, 3], "storage_order": 1}),
    ],
)
def test_where_the_greatest_elements_are(
    shape: tuple[int, ...], attributes: dict[str, object], dtype: str
):
    x = (20 * random_array(*shape)).astype(dtype)
    pool = node("MaxPool", "x", "y i", **attributes)
    model = model_of(pool, {"x": x}, outputs="y i", dtype=dtype)
    model.graph.output[1].type.tensor_type.elem_type = TensorProto.INT64
    for a, e in zip(Backend.run_model(model, [x]), run_onnxruntime(model, {"x": x}), strict=True):
        np.testing.assert_array_equal(a, e, strict=True)


def test_pool_of_bytes():
    x = np.random.default_rng(0).integers(0, 255, (1, 2, 6, 6), np.uint8)
    pool = node("MaxPool", "x", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    agree(pool, {"x": x}, dtype=np.uint8)
