"""Operators of other domains: com.microsoft, ai.onnx.ml, and the functions of a model."""

from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import Array
from helpers.onnx.onnx_programs import agree, model, value
from helpers.onnx.onnx_small import node, random_array
from onnx import FunctionProto, helper

from xrelay.frontends.onnx.convert import importer
from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.frontends.onnx.errors import OnnxError

RANDOM = np.random.default_rng(0)
X = random_array(2, 5, 12)
Vector = random_array(12, seed=1)


def check(
    op_type: str,
    feeds: dict[str, Array],
    outputs: str = "y",
    inputs: str | None = None,
    domain: str = "com.microsoft",
    dtypes: tuple[Any, ...] = (np.float32,),
    known: str = "",
    **attributes: Any,
) -> None:
    """
    Compare with onnxruntime, once more with dims of 2 and 5 (batch and length) open.

    Inputs `known` are initializers, `-` is one that is omitted.
    """
    names = list(feeds) if inputs is None else inputs.replace("-", "").split(" ")
    proto = helper.make_node(op_type, names, outputs.split(" "), domain=domain, **attributes)
    constants = {name: feeds[name] for name in known.split()}
    given = {name: array for name, array in feeds.items() if name not in constants}
    results = [name for name in outputs.split(" ") if name]
    values = [value(n, d) for n, d in zip(results, dtypes * len(results), strict=False)]
    whole = model([proto], given, values, constants, domain=domain)
    agree(whole, given)
    for info in whole.graph.input:
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_value in (2, 5):
                dim.dim_param = f"n{dim.dim_value}"
    agree(whole, given, in_machine=False)


@pytest.mark.parametrize("trans_a", [0, 1])
@pytest.mark.parametrize("trans_b", [0, 1])
def test_fused_matmul(trans_a: int, trans_b: int):
    x = X.swapaxes(1, 2).copy() if trans_a else X
    w = random_array(2, 7, 12, seed=1) if trans_b else random_array(2, 12, 7, seed=1)
    check("FusedMatMul", {"x": x, "w": w}, transA=trans_a, transB=trans_b, alpha=0.5)


def test_activations():
    check("BiasGelu", {"x": X, "b": Vector})
    check("Gelu", {"x": X})
    check("FastGelu", {"x": X})
    check("FastGelu", {"x": X, "b": Vector})
    check("QuickGelu", {"x": X}, alpha=1.5)


@pytest.mark.parametrize("inputs", ["x s g", "x s g b", "x s g b c", "x s g  c"])
@pytest.mark.parametrize("outputs", ["y", "y   total"])
def test_skip_layer_normalization(inputs: str, outputs: str):
    feeds = {
        "x": X,
        "s": random_array(2, 5, 12, seed=2),
        "g": Vector,
        "b": Vector + 1,
        "c": Vector - 1,
    }
    feeds = {name: array for name, array in feeds.items() if name in inputs}
    check("SkipLayerNormalization", feeds, outputs, inputs, epsilon=1e-5)


@pytest.mark.parametrize("inputs", ["x s g", "x s g c"])
def test_skip_simplified_layer_normalization(inputs: str):
    feeds = {"x": X, "s": random_array(2, 5, 12, seed=2), "g": Vector, "c": Vector - 1}
    feeds = {name: array for name, array in feeds.items() if name in inputs}
    check("SkipSimplifiedLayerNormalization", feeds, "y   total", inputs)


def test_embed_layer_normalization():
    ids = RANDOM.integers(0, 20, (2, 5)).astype(np.int32)
    feeds = {
        "ids": ids,
        "segments": RANDOM.integers(0, 2, (2, 5)).astype(np.int32),
        "words": random_array(20, 12),
        "positions": random_array(9, 12, seed=1),
        "kinds": random_array(2, 12, seed=2),
        "gamma": Vector,
        "beta": Vector + 1,
    }
    check("EmbedLayerNormalization", feeds, "y ", known="words positions kinds gamma beta")


@pytest.mark.parametrize("mask", ["none", "lengths", "flags"])
@pytest.mark.parametrize("causal", [0, 1])
def test_attention(mask: str, causal: int):
    feeds = {"x": X, "w": random_array(12, 36, seed=1) / 4, "b": random_array(36, seed=2)}
    if mask == "lengths":
        feeds["m"] = np.array([5, 3], np.int32)
    elif mask == "flags":
        feeds["m"] = np.array([[1, 1, 0, 1, 1], [1, 1, 1, 0, 0]], np.int32)
    check("Attention", feeds, num_heads=3, unidirectional=causal)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("mask", [False, True])
def test_multi_head_attention(bias: bool, mask: bool):
    feeds = {"q": X, "k": random_array(2, 7, 12, seed=1), "v": random_array(2, 7, 12, seed=2)}
    feeds |= {"b": random_array(36, seed=3)} if bias else {}
    feeds |= {"m": np.array([[1] * 7, [1] * 4 + [0] * 3], np.int32)} if mask else {}
    inputs = " ".join(["q k v", "b" if bias else "", "m" if mask else ""]).rstrip(" ")
    check("MultiHeadAttention", feeds, inputs=inputs, num_heads=2)


def test_a_past_is_refused():
    feeds = {
        "x": X,
        "w": random_array(12, 36),
        "b": random_array(36),
        "past": random_array(2, 2, 3, 5, 4),
    }
    with pytest.raises(OnnxError, match=r"input 4 \(the past\) is given"):
        check("Attention", feeds, inputs="x w b  past", num_heads=3)


ML = "ai.onnx.ml"


def test_features():
    x = random_array(6, 4)
    at = np.array([2, 0, 3], np.int64)
    check("ArrayFeatureExtractor", {"x": x, "i": at}, domain=ML)
    check("Scaler", {"x": x}, domain=ML, offset=[1.0, 2.0, 3.0, 4.0], scale=[0.5, 2.0, 1.0, 3.0])


@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_normalizer(norm: str):
    x = np.abs(random_array(6, 4)) if norm == "MAX" else random_array(6, 4)
    check("Normalizer", {"x": x}, domain=ML, norm=norm)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_linear_regressor(transform: str):
    numbers: dict[str, Any] = {"coefficients": random_array(8).tolist(), "intercepts": [0.5, -0.5]}
    x = {"x": random_array(6, 4, seed=1)}
    check("LinearRegressor", x, domain=ML, targets=2, post_transform=transform, **numbers)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_linear_classifier(transform: str):
    numbers: dict[str, Any] = {
        "coefficients": random_array(12).tolist(),
        "intercepts": [0.5, -0.5, 0.1],
    }
    labels: dict[str, Any] = {
        "classlabels_ints": [7, 3, 5],
        "post_transform": transform,
        "multi_class": 1,
    }
    x = {"x": random_array(6, 4, seed=1)}
    check(
        "LinearClassifier",
        x,
        "label y",
        domain=ML,
        dtypes=(np.int64, np.float32),
        **numbers,
        **labels,
    )


def test_vectors_are_a_row_and_intercepts_optional():
    check("ArrayFeatureExtractor", {"x": Vector, "i": np.array([2, 0], np.int64)}, domain=ML)
    numbers = random_array(8).tolist()
    check("LinearRegressor", {"x": random_array(3, 4)}, domain=ML, targets=2, coefficients=numbers)


@pytest.mark.parametrize(
    ("op_type", "attributes", "message"),
    [
        ("Scaler", {"offset": [1.0, 2.0]}, "attribute offset has 2 numbers; supported: 1, 4"),
        ("LinearRegressor", {"coefficients": [1.0]}, "1 coefficients; supported: 1 times 4"),
        (
            "LinearRegressor",
            {"coefficients": [1.0] * 4, "intercepts": [1.0, 2.0]},
            "2 intercepts; supported: 1",
        ),
    ],
)
def test_numbers_that_do_not_fit_the_features(
    op_type: str, attributes: dict[str, Any], message: str
):
    proto = helper.make_node(op_type, ["x"], ["y"], domain=ML, **attributes)
    with pytest.raises(OnnxError, match=message):
        convert_model(model([proto], {"x": random_array(3, 4)}, [value("y")], domain=ML), "f.onnx")


def function(nodes: list[Any], name: str = "Twice", **more: Any) -> FunctionProto:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    return helper.make_function("mine", name, ["a"], ["c"], nodes, opsets, **more)


def calling(*functions: FunctionProto, name: str = "Twice", **attributes: Any) -> Any:
    call = helper.make_node(name, ["x"], ["y"], name="call", domain="mine", **attributes)
    proto = model([call], {"x": X}, [value("y", shape=X.shape)], domain="mine")
    proto.functions.extend(functions)
    return proto


def test_functions_of_a_model():
    nodes = [node("Add", "a a", "b"), node("Mul", "b a", "c")]
    agree(calling(function(nodes)), {"x": X})


def test_functions_call_functions_with_attributes():
    leaky = helper.make_node("LeakyRelu", ["a"], ["c"])
    leaky.attribute.add(name="alpha", ref_attr_name="slope", type=1)
    inner = function([leaky], "Inner", attributes=["slope"])
    call = helper.make_node("Inner", ["a"], ["b"], domain="mine", slope=0.3)
    outer = function([call, node("Exp", "b", "c")], "Outer")
    agree(calling(inner, outer, name="Outer"), {"x": X})


def test_a_function_that_calls_itself_is_refused():
    call = helper.make_node("Twice", ["a"], ["c"], domain="mine")
    with pytest.raises(OnnxError, match="calls itself") as raised:
        convert_model(calling(function([call])), "small.onnx")
    assert raised.value.message.count("in its body") == 1


def test_functions_that_call_each_other_are_refused():
    there = function([helper.make_node("Back", ["a"], ["c"], domain="mine")], "There")
    back = function([helper.make_node("There", ["a"], ["c"], domain="mine")], "Back")
    with pytest.raises(OnnxError, match="calls itself") as raised:
        convert_model(calling(there, back, name="There"), "small.onnx")
    assert raised.value.message.count("in its body") == 2


def test_functions_are_nested_up_to_64_deep():
    functions = [function([node("Neg", "a", "c")], "F64")]
    for i in range(64):
        call = helper.make_node(f"F{i + 1}", ["a"], ["c"], domain="mine")
        functions.append(function([call], f"F{i}"))
    with pytest.raises(OnnxError, match="nested more than 64 deep"):
        convert_model(calling(*functions, name="F0"), "small.onnx")
    convert_model(calling(*functions, name="F1"), "small.onnx")


def test_functions_that_grow_without_bound_are_refused(monkeypatch: pytest.MonkeyPatch):
    """Each function calls the next one twice: 2^40 nodes in all."""
    monkeypatch.setattr(importer, "MAX_INLINED", 2000)
    functions: list[FunctionProto] = []
    for i in range(40):
        calls = [
            helper.make_node(f"F{i + 1}", ["a"], ["b"], domain="mine"),
            helper.make_node(f"F{i + 1}", ["b"], ["c"], domain="mine"),
        ]
        functions.append(function(calls, f"F{i}"))
    functions.append(function([node("Identity", "a", "c")], "F40"))
    with pytest.raises(OnnxError, match="more than 2000 nodes"):
        convert_model(calling(*functions, name="F0"), "small.onnx")


def test_an_unknown_domain_is_named():
    with pytest.raises(OnnxError, match=r'node "call" \(Twice, opset 1\): .* of domain mine'):
        convert_model(calling(), "small.onnx")
