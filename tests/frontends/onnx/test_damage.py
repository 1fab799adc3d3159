"""Damaged and hostile models end in an `OnnxError`, or in a module that verifies."""

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest
from onnx import AttributeProto, ModelProto, numpy_helper
from onnx_models import light_model_path
from onnx_small import model_of, node, random_array
from xdsl.context import Context

from xrelay.frontends.onnx import OnnxError, load_module

NUMBERS = (0, -1, 1, 2, 3, -2, 5, 1000, 2**31, 2**62, -(2**63), 2**63 - 1)
"""Small ones, and those at which arithmetic goes wrong."""


def small_models() -> Iterator[ModelProto]:
    """Models with attributes, shapes and integer constants of many operators."""
    x = {"x": random_array(1, 4, 6, 6)}
    w = {"w": random_array(4, 4, 3, 3)}
    scales = {"s": np.array([1, 1, 2, 2], np.float32)}
    windows = {"kernel_shape": [3, 3], "strides": [2, 1], "pads": [1, 0, 1, 2]}
    yield model_of(node("Conv", "x w", dilations=[1, 2], group=1, **windows), x, w)
    yield model_of(node("ConvTranspose", "x w", output_padding=[1, 0], **windows), x, w)
    yield model_of(node("AveragePool", "x", ceil_mode=1, count_include_pad=1, **windows), x)
    yield model_of(node("MaxPool", "x", ceil_mode=1, **windows), x)
    yield model_of(node("Resize", "x - s"), x, scales)
    yield model_of(node("Softmax", "x", axis=2), x, opset=9)
    yield model_of(node("Transpose", "x", perm=[0, 2, 3, 1]), x)
    yield model_of(node("ReduceMean", "x", axes=[1, -1]), x)
    yield model_of(node("Slice", "x", starts=[1, 0], ends=[3, 4], axes=[1, 2]), x, opset=9)
    yield model_of(node("Pad", "x", pads=[0, 0, 1, 1, 0, 0, 1, 1]), x, opset=10)
    yield model_of(node("Split", "x", "y z", axis=1, split=[1, 3]), x, opset=11)
    yield model_of(node("DepthToSpace", "x", blocksize=2), x)
    integers: dict[str, tuple[str, list[int]]] = {
        "Reshape": ("x c", [0, -1]),
        "Expand": ("x c", [2, 4, 6, 6]),
        "Tile": ("x c", [1, 2, 1, 1]),
        "Gather": ("x c", [0, -1]),
        "ConstantOfShape": ("c", [2, 3]),
        "Unsqueeze": ("x c", [0, 3]),
        "Trilu": ("x c", [1]),
    }
    for op_type, (inputs, numbers) in integers.items():
        yield model_of(node(op_type, inputs), x, {"c": np.array(numbers, np.int64)}, opset=14)


def damage(model: ModelProto, random: Random) -> None:
    """Change one number, dtype, name or dim of the model."""
    graph = model.graph
    changed = random.choice(graph.node)
    dims = graph.input[0].type.tensor_type.shape.dim
    match random.randrange(7):
        case 0 | 1 if changed.attribute:
            attribute = random.choice(changed.attribute)
            if attribute.type == AttributeProto.INT:
                attribute.i = random.choice(NUMBERS)
            elif attribute.ints:
                attribute.ints[random.randrange(len(attribute.ints))] = random.choice(NUMBERS)
        case 2 if changed.attribute:
            attribute = random.choice(changed.attribute)
            attribute.ints.append(1)
        case 3:
            dims[random.randrange(len(dims))].dim_value = random.choice(NUMBERS)
        case 4:
            dims.add().dim_value = random.choice(NUMBERS)
        case 5:
            numbers = [random.choice(NUMBERS) for _ in range(random.choice((0, 1, 2, 4)))]
            for tensor in graph.initializer:
                if tensor.name == "c":
                    array = np.array(numbers, np.int64)
                    tensor.CopyFrom(numpy_helper.from_array(array, "c"))
        case _:
            changed.input[random.randrange(len(changed.input))] = random.choice(("", "x", "y"))


def load(data: bytes) -> bool:
    """Whether the model is accepted; anything but an `OnnxError` goes through."""
    try:
        module = load_module(Context(), data, "damaged.onnx", None)
    except OnnxError:
        return False
    module.verify()
    return True


@pytest.mark.parametrize("seed", range(8))
def test_damaged_numbers(seed: int):
    random = Random(seed)
    accepted = 0
    for original in small_models():
        for _ in range(25):
            model = ModelProto()
            model.CopyFrom(original)
            damage(model, random)
            accepted += load(model.SerializeToString())
    assert accepted > 10, "some changes are harmless: the models are not all refused at once"


@pytest.mark.parametrize("name", ["squeezenet", "shufflenet"])
def test_damaged_bytes(name: str):
    random = Random(0)
    data = light_model_path(name).read_bytes()
    for _ in range(100):
        damaged = bytearray(data)
        for _ in range(random.choice((1, 2, 8))):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        load(bytes(damaged))


def test_small_models_are_sound():
    for model in small_models():
        assert load(model.SerializeToString())
