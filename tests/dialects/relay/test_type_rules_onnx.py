"""The type rules of windows and products against ONNX's shape inference, on random attributes."""

from typing import Any

import onnx
from helpers.operators.inferring import infer
from helpers.programs.random_settings import exactly
from hypothesis import assume, given
from hypothesis import strategies as st
from onnx import TensorProto, helper, shape_inference

SIZE = st.integers(1, 12)
SMALL = st.integers(1, 3)
PAD = st.integers(0, 2)


def _text(dims: list[int]) -> str:
    return "x".join([*map(str, dims), "f32"])


def onnx_infers(operator: str, shapes: list[list[int]], rank: int, **attrs: Any) -> str:
    """The type that ONNX infers for `operator` on f32 of `shapes`, with at least `rank` known."""
    inputs = [
        helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, shape)
        for i, shape in enumerate(shapes)
    ]
    node = helper.make_node(operator, [i.name for i in inputs], ["y"], **attrs)
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * rank)
    graph = helper.make_graph([node], "g", inputs, [result])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
    inferred = shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    onnx_type = inferred.graph.output[0].type.tensor_type
    return _text([dim.dim_value for dim in onnx_type.shape.dim])


@exactly(50)
@given(st.data())
def test_conv2d(data: st.DataObject):
    draw = data.draw
    n, groups, per_group, out = draw(SMALL), draw(SMALL), draw(SMALL), draw(SMALL)
    h, w, kh, kw = draw(SIZE), draw(SIZE), draw(SMALL), draw(SMALL)
    strides, dilation = [draw(SMALL), draw(SMALL)], [draw(SMALL), draw(SMALL)]
    padding = [draw(PAD) for _ in range(4)]
    assume(h + padding[0] + padding[2] > (kh - 1) * dilation[0])
    assume(w + padding[1] + padding[3] > (kw - 1) * dilation[1])
    x, k = [n, groups * per_group, h, w], [groups * out, per_group, kh, kw]
    common: dict[str, Any] = {"strides": strides}
    expected = onnx_infers(
        "Conv", [x, k], 4, pads=padding, dilations=dilation, group=groups, **common
    )
    assert expected == infer(
        "nn.conv2d",
        f"{_text(x)} {_text(k)}",
        padding=padding,
        dilation=dilation,
        groups=groups,
        **common,
    )
    channels_last = f"{_text([x[0], x[2], x[3], x[1]])} {_text([k[2], k[3], k[1], k[0]])}"
    result = infer(
        "nn.conv2d",
        channels_last,
        padding=padding,
        dilation=dilation,
        groups=groups,
        data_layout="NHWC",
        kernel_layout="HWIO",
        **common,
    )
    b, oh, ow, o, element = result.split("x")
    assert expected == "x".join([b, o, oh, ow, element])


@exactly(50)
@given(st.data())
def test_conv2d_transpose(data: st.DataObject):
    draw = data.draw
    n, groups, per_group, out = draw(SMALL), draw(SMALL), draw(SMALL), draw(SMALL)
    sizes, window = [draw(SIZE), draw(SIZE)], [draw(SMALL), draw(SMALL)]
    strides, dilation = [draw(SMALL), draw(SMALL)], [draw(SMALL), draw(SMALL)]
    padding = [draw(PAD) for _ in range(4)]
    extra = [draw(st.integers(0, max(s, d) - 1)) for s, d in zip(strides, dilation, strict=True)]
    for i in (0, 1):
        full = (sizes[i] - 1) * strides[i] + (window[i] - 1) * dilation[i] + 1 + extra[i]
        assume(full - padding[i] - padding[i + 2] > 0)
    x, k = [n, groups * per_group, *sizes], [groups * per_group, out, *window]
    expected = onnx_infers(
        "ConvTranspose",
        [x, k],
        4,
        strides=strides,
        pads=padding,
        dilations=dilation,
        group=groups,
        output_padding=extra,
    )
    assert expected == infer(
        "nn.conv2d_transpose",
        f"{_text(x)} {_text(k)}",
        strides=strides,
        padding=padding,
        dilation=dilation,
        groups=groups,
        output_padding=extra,
    )


@exactly(50)
@given(st.data())
def test_pooling(data: st.DataObject):
    draw = data.draw
    x = [draw(SMALL), draw(SMALL), draw(SIZE), draw(SIZE)]
    window, strides = [draw(SMALL), draw(SMALL)], [draw(SMALL), draw(SMALL)]
    dilation = [draw(SMALL), draw(SMALL)]
    padding = [draw(PAD) for _ in range(4)]
    ceil = draw(st.booleans())
    for i in (0, 1):
        size = x[2 + i] + padding[i] + padding[i + 2]
        reach = (window[i] - 1) * dilation[i] + 1
        assume(size >= reach)
        # ONNX drops a last window that would begin after the data; Relay keeps it
        last = -(-(size - reach) // strides[i]) * strides[i]
        assume(not ceil or last < x[2 + i] + padding[i])
    expected = onnx_infers(
        "MaxPool",
        [x],
        4,
        kernel_shape=window,
        strides=strides,
        pads=padding,
        dilations=dilation,
        ceil_mode=int(ceil),
    )
    for name in ("nn.max_pool2d", "nn.avg_pool2d"):
        assert expected == infer(
            name,
            _text(x),
            pool_size=window,
            strides=strides,
            padding=padding,
            dilation=dilation,
            ceil_mode=ceil,
        )


@exactly(60)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=4), st.data())
def test_global_pooling_softmax_and_normalization(dims: list[int], data: st.DataObject):
    assert onnx_infers("Softmax", [dims], len(dims)) == infer("nn.softmax", _text(dims))
    image = [data.draw(SMALL) for _ in range(4)]
    expected = onnx_infers("GlobalMaxPool", [image], 4)
    assert expected == infer("nn.global_max_pool2d", _text(image))
    vector = _text([image[1]])
    assert (
        _text(image) == infer("nn.batch_norm", " ".join([_text(image), *[vector] * 4])).split()[0]
    )


@exactly(100)
@given(st.data())
def test_products(data: st.DataObject):
    draw = data.draw
    n, k, m, batch = draw(SIZE), draw(SIZE), draw(SIZE), draw(SMALL)
    a, b = [n, k], [k, m]
    expected = onnx_infers("MatMul", [a, b], 2)
    assert expected == infer("nn.matmul", f"{_text(a)} {_text(b)}")
    assert expected == infer("nn.dense", f"{_text(a)} {_text(b[::-1])}")
    x, y = [draw(st.sampled_from([1, batch])), n, k], [draw(st.sampled_from([1, batch])), k, m]
    expected = onnx_infers("MatMul", [x, y], 3)
    assert expected == infer("nn.batch_matmul", f"{_text(x)} {_text(y)}", transpose_b=False)


def test_onnx_is_asked():
    assert onnx.__version__
    assert onnx_infers("MatMul", [[2, 3], [3, 4]], 2) == "2x4xf32"
