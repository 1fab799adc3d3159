"""Elementwise operators and activations against onnxruntime, in opsets old and new."""

import numpy as np
import pytest
from helpers.onnx.onnx_small import agree, node, operators_of, random_array
from onnx import TensorProto

X = random_array(3, 4, seed=1)
Y = random_array(3, 4, seed=2)


def test_one_operator_for_one_node():
    assert operators_of(agree(node("Add", "x z"), {"x": X, "z": Y})) == ["add"]


def test_broadcast_of_both_sides():
    agree(node("Mul", "x z"), {"x": random_array(3, 1, 4), "z": random_array(5, 1)})


def test_integer_division_is_toward_zero():
    x = np.array([7, -7, 7, -7, 0], np.int32)
    z = np.array([2, 2, -2, -2, 5], np.int32)
    agree(node("Div", "x z"), {"x": x, "z": z}, dtype=np.int32)


@pytest.mark.parametrize("fmod", [0, 1])
def test_remainder_of_integers(fmod: int):
    x = np.array([7, -7, 7, -7, 0], np.int64)
    z = np.array([3, 3, -3, -3, 5], np.int64)
    agree(node("Mod", "x z", fmod=fmod), {"x": x, "z": z}, dtype=np.int64)


def test_remainder_of_floats():
    agree(node("Mod", "x z", fmod=1), {"x": 3 * X, "z": Y})


def test_power_with_an_exponent_of_another_dtype():
    exponent = np.array([2, 3, 0, 1], np.int64)
    agree(node("Pow", "x z"), {"x": X, "z": exponent})
    agree(node("Pow", "z x"), {"x": np.abs(X), "z": exponent}, dtype=np.int64)


@pytest.mark.parametrize("op_type", ["Sum", "Max", "Min", "Mean"])
def test_any_number_of_inputs(op_type: str):
    feeds = {"a": X, "b": Y, "c": random_array(4, seed=3)}
    agree(node(op_type, "a"), feeds)
    agree(node(op_type, "a b c"), feeds)


def test_comparisons_give_truth_values():
    for op_type in ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"):
        agree(node(op_type, "x z"), {"x": np.round(X), "z": np.round(Y)}, dtype=np.bool_)


def test_where_of_constants_and_inputs():
    constants = {"c": X > 0, "z": np.array(0.5, np.float32)}
    agree(node("Where", "c x z"), {"x": Y}, constants)


@pytest.mark.parametrize("to", [np.float64, np.int32, np.bool_, np.uint8, np.float16])
def test_cast(to: type):
    number = int(TensorProto.DataType.Value(_DTYPES[to]))
    agree(node("Cast", "x", to=number), {"x": np.abs(3 * X)}, dtype=to)


_DTYPES = {
    np.float64: "DOUBLE",
    np.int32: "INT32",
    np.bool_: "BOOL",
    np.uint8: "UINT8",
    np.float16: "FLOAT16",
}


def test_cast_to_the_same_dtype_vanishes():
    made = agree(node("Cast", "x", to=TensorProto.FLOAT), {"x": X})
    assert operators_of(made) == []


class Test_clip:
    """Bounds are attributes up to opset 10 and inputs from 11; each is optional."""

    def test_by_attributes(self):
        made = agree(node("Clip", "x", min=-0.5, max=0.25), {"x": X}, opset=9)
        assert operators_of(made) == ["clip"]
        agree(node("Clip", "x", max=0.25), {"x": X}, opset=9)

    def test_by_constants(self):
        low, high = np.array(-0.5, np.float32), np.array(0.25, np.float32)
        made = agree(node("Clip", "x low high"), {"x": X}, {"low": low, "high": high})
        assert operators_of(made) == ["clip"]

    @pytest.mark.parametrize("names", ["x low", "x - high", "x"])
    def test_by_one_bound_or_none(self, names: str):
        bounds = {"low": np.array(-0.5, np.float32), "high": np.array(0.25, np.float32)}
        agree(node("Clip", names), {"x": X}, {k: v for k, v in bounds.items() if k in names})

    def test_by_what_is_computed(self):
        feeds = {"x": X, "low": np.array(-0.5, np.float32), "high": np.array(0.25, np.float32)}
        agree(node("Clip", "x low high"), feeds)

    def test_of_integers_beyond_float(self):
        big = 2**60
        x = np.array([big + 1, 3, -big], np.int64)
        constants = {"low": np.array(0, np.int64), "high": np.array(big + 1, np.int64)}
        agree(node("Clip", "x low high"), {"x": x}, constants, dtype=np.int64)


ACTIVATIONS: list[tuple[str, int, dict[str, object]]] = [
    ("Celu", 12, {"alpha": 1.5}),
    ("Elu", 9, {"alpha": 1.5}),
    ("Gelu", 20, {}),
    ("Gelu", 20, {"approximate": "tanh"}),
    ("HardSigmoid", 9, {"alpha": 0.3, "beta": 0.4}),
    ("HardSwish", 14, {}),
    ("LeakyRelu", 9, {}),
    ("LeakyRelu", 9, {"alpha": 0.2}),
    ("Mish", 18, {}),
    ("Relu", 9, {}),
    ("Selu", 9, {}),
    ("Shrink", 9, {"bias": 0.25, "lambd": 0.5}),
    ("Sigmoid", 9, {}),
    ("Softplus", 9, {}),
    ("Softsign", 9, {}),
    ("Tanh", 9, {}),
    ("ThresholdedRelu", 10, {"alpha": 0.5}),
]


@pytest.mark.parametrize(("op_type", "opset", "attributes"), ACTIVATIONS)
def test_activation(op_type: str, opset: int, attributes: dict[str, object]):
    agree(node(op_type, "x", **attributes), {"x": 4 * X}, opset=opset)


@pytest.mark.parametrize("op_type", ["Softplus", "Mish", "Elu", "Selu", "Celu", "Sigmoid"])
def test_activation_of_large_numbers(op_type: str):
    """An intermediate exp must not overflow if the result is small."""
    x = np.array([-1000.0, -90.0, 0.0, 90.0, 1000.0], np.float32)
    agree(node(op_type, "x"), {"x": x}, opset=18)


@pytest.mark.parametrize(
    ("slope", "operators"),
    [((4, 1, 1), ["nn.prelu"]), ((1, 4, 1, 1), ["nn.prelu"]), ((1,), None), ((5,), None)],
)
def test_prelu_slopes(slope: tuple[int, ...], operators: list[str] | None):
    made = agree(
        node("PRelu", "x slope"), {"x": random_array(2, 4, 3, 5)}, {"slope": random_array(*slope)}
    )
    if operators is not None:
        assert operators_of(made) == operators


class Test_softmax:
    @pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax"])
    @pytest.mark.parametrize("axis", [0, 1, 2, 3, -1, -2])
    @pytest.mark.parametrize("opset", [9, 11, 13])
    def test_axis(self, op_type: str, axis: int, opset: int):
        """Up to opset 12, softmax flattens all dims from the axis on; opset 13 does not."""
        agree(node(op_type, "x", axis=axis), {"x": random_array(2, 3, 4, 2)}, opset=opset)

    @pytest.mark.parametrize("opset", [9, 13])
    def test_default_axis(self, opset: int):
        agree(node("Softmax", "x"), {"x": random_array(2, 3, 4)}, opset=opset)


@pytest.mark.parametrize(("positive", "negative"), [(1, 1), (1, 0), (0, 1), (0, 0)])
def test_infinities(positive: int, negative: int):
    x = np.array([1.0, np.inf, -np.inf, np.nan], np.float32)
    attributes = {"detect_positive": positive, "detect_negative": negative}
    agree(node("IsInf", "x", **attributes), {"x": x}, dtype=np.bool_)


def test_celu_of_a_scalar_is_a_scalar():
    agree(node("Celu", "x", alpha=1.5), {"x": np.array(-0.75, np.float32)})
