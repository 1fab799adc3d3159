"""
LSTM, GRU and RNN against onnxruntime, at level relay, and some in the VM.

The VM runs those with an initial state, long sequences, and one of each attribute.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import Array, run_onnxruntime
from helpers.onnx.onnx_programs import agree, functions, model, value
from helpers.onnx.onnx_small import random_array
from helpers.programs.random_settings import share
from onnx import ModelProto, helper

from xrelay.frontends.onnx import OnnxError
from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.passes.evaluation.evaluator import evaluate

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
DIRECTIONS = ["forward", "reverse", "bidirectional"]
STEPS, BATCH, SIZE, STATE = 5, 3, 4, 6


def layer(
    op_type: str,
    given: str = "XWR",
    steps: int = STEPS,
    directions: int = 1,
    seed: int = 0,
    **attributes: Any,
) -> tuple[ModelProto, dict[str, Array]]:
    """
    A layer with the inputs `given`: X, W, R, B, lengths, H, C and P; and these inputs.

    The weights W, R, B and P are initializers.
    """
    g, d = GATES[op_type], directions
    batch_first = attributes.get("layout", 0)
    shapes = {
        "X": (BATCH, steps, SIZE) if batch_first else (steps, BATCH, SIZE),
        "W": (d, g * STATE, SIZE),
        "R": (d, g * STATE, STATE),
        "B": (d, 2 * g * STATE),
        "H": (BATCH, d, STATE) if batch_first else (d, BATCH, STATE),
        "C": (BATCH, d, STATE) if batch_first else (d, BATCH, STATE),
        "P": (d, 3 * STATE),
    }
    arrays: dict[str, Array] = {
        name: random_array(*shape, seed=seed + i) / 2
        for i, (name, shape) in enumerate(shapes.items())
    }
    arrays["L"] = np.array([steps, 1, max(1, steps - 2)], np.int32)
    order = "XWRBLHCP" if op_type == "LSTM" else "XWRBLH"
    names = [name if name in given else "" for name in order]
    outputs = ["Y", "Y_h", "Y_c"][: 3 if op_type == "LSTM" else 2]
    node = helper.make_node(op_type, names, outputs, name="layer", hidden_size=STATE, **attributes)
    constants = {name: arrays[name] for name in given if name in "WRBP"}
    feeds = {name: arrays[name] for name in given if name in "XLHC"}
    return model([node], feeds, [value(name) for name in outputs], constants, opset=14), feeds


@pytest.mark.ci
@pytest.mark.parametrize(
    ("op_type", "direction", "given"),
    [
        *share([*product(GATES, DIRECTIONS, ["XWR", "XWRB", "XWRBL"])], 2),
        *product(GATES, DIRECTIONS, ["XWRBLHC"]),
    ],
)
def test_operands_and_directions(op_type: str, direction: str, given: str):
    if op_type != "LSTM":
        given = given.replace("C", "")
    directions = 2 if direction == "bidirectional" else 1
    made = layer(op_type, given, directions=directions, direction=direction)
    agree(*made, in_machine="H" in given)


@pytest.mark.parametrize("given", ["XWRP", "XWRBLHCP"])
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_peepholes(direction: str, given: str):
    directions = 2 if direction == "bidirectional" else 1
    made = layer("LSTM", given, directions=directions, direction=direction)
    agree(*made, in_machine="H" in given)


@pytest.mark.parametrize("linear", [0, 1])
@pytest.mark.parametrize("given", ["XWR", "XWRBLH"])
def test_linear_before_reset(given: str, linear: int):
    agree(*layer("GRU", given, linear_before_reset=linear), in_machine="H" in given)


def test_coupled_gates():
    agree(*layer("LSTM", "XWRB", input_forget=1))


@pytest.mark.parametrize("op_type", GATES)
def test_clip(op_type: str):
    agree(*layer(op_type, "XWRB", clip=0.2))


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        (["Relu", "Softsign", "Softplus"], {}),
        (["HardSigmoid", "Elu", "LeakyRelu"], {}),
        (
            ["HardSigmoid", "ScaledTanh", "Affine"],
            {"activation_alpha": [0.3, 1.5, 0.5], "activation_beta": [0.4, 0.7, 0.1]},
        ),
        (["Sigmoid", "LeakyRelu", "ThresholdedRelu"], {"activation_alpha": [0.2, 0.05]}),
    ],
)
def test_activations(names: list[str], numbers: dict[str, Any]):
    agree(*layer("LSTM", "XWRB", activations=names, **numbers), in_machine=len(numbers) == 2)


@pytest.mark.ci
@pytest.mark.parametrize(("op_type", "given"), share([*product(GATES, ["XWRB", "XWRBLH"])], 3))
def test_long_sequences_are_functions(op_type: str, given: str):
    conversion = agree(*layer(op_type, given, steps=100))
    assert 5 < len(functions(conversion)) < 12


def test_a_direction_that_does_not_fit():
    proto, _ = layer("GRU", "XWR", directions=2)
    with pytest.raises(Exception, match=r"R is for \[2\] directions; supported: 1"):
        agree(proto)


@pytest.mark.parametrize("op_type", GATES)
def test_layout(op_type: str):
    """Onnxruntime does not have this layout: compare with transposed sequences."""
    proto, feeds = layer(op_type, "XWRBH", layout=1)
    other, _ = layer(op_type, "XWRBH")
    conversion = convert_model(proto, "small.onnx")
    actual = evaluate(conversion.module, list(feeds.values()), conversion.params)
    turned = {name: np.ascontiguousarray(a.swapaxes(0, 1)) for name, a in feeds.items()}
    y, *states = run_onnxruntime(other, turned)
    np.testing.assert_allclose(actual[0], y.transpose(2, 0, 1, 3), rtol=1e-4, atol=1e-6)
    for a, e in zip(actual[1:], states, strict=True):
        np.testing.assert_allclose(a, e.swapaxes(0, 1), rtol=1e-4, atol=1e-6)


def test_a_batch_of_any_size_without_an_initial_state():
    proto, feeds = layer("LSTM")
    proto.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "batch"
    conversion = convert_model(proto, "small.onnx")
    for batch in (1, 2):
        x = feeds["X"][:, :batch]
        actual = evaluate(conversion.module, [x], conversion.params)
        for mine, theirs in zip(actual, run_onnxruntime(proto, {"X": x}), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("activation", ["Affine", "ScaledTanh"])
def test_activations_without_default_numbers(activation: str):
    proto, _ = layer("RNN", activations=[activation], activation_alpha=[0.5])
    with pytest.raises(OnnxError, match=f'"{activation}" has no default numbers; supported: an'):
        convert_model(proto, "bad.onnx")


@pytest.mark.parametrize(
    ("activation", "numbers"),
    [
        ("ThresholdedRelu", {"activation_alpha": [1.0]}),
        ("LeakyRelu", {"activation_alpha": [0.01]}),
        ("Elu", {"activation_alpha": [1.0]}),
        ("HardSigmoid", {"activation_alpha": [0.2], "activation_beta": [0.5]}),
    ],
)
def test_default_numbers_are_those_of_the_operator(activation: str, numbers: dict[str, Any]):
    """Here onnxruntime is given them: it takes 0 for that of ThresholdedRelu."""
    omitted, feeds = layer("RNN", activations=[activation])
    given, _ = layer("RNN", activations=[activation], **numbers)
    conversion = convert_model(omitted, "small.onnx")
    found = evaluate(conversion.module, list(feeds.values()), conversion.params)
    for a, e in zip(found, run_onnxruntime(given, feeds), strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-6)
