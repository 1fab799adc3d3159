"""Models whose large tensors are left where they are."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from helpers.onnx.onnx_models import Array, run_onnxruntime
from helpers.onnx.onnx_small import model_of, node, random_array
from onnx import ModelProto, TensorProto, helper, numpy_helper
from xdsl.context import Context

from xrelay.frontends.onnx import OnnxError, load_module
from xrelay.frontends.onnx.convert.onnx_values import SUPPORTED_DTYPES
from xrelay.frontends.onnx.model.external import ExternalData, array_of
from xrelay.frontends.onnx.model.wire import Malformed, decoded, without_data
from xrelay.operators.element_types import ELEMENT_TABLE, ONNX_DTYPES
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.runtime.files import mapped

X = random_array(2, 600)


@pytest.mark.parametrize("field", ["raw_data", "float_data"])
def test_weights_are_views_of_the_file(tmp_path: Path, field: str):
    weight = random_array(600, 700)
    model = model_of(node("MatMul", "x w"), {"x": X}, {"w": weight})
    if field == "float_data":
        tensor = helper.make_tensor("w", TensorProto.FLOAT, weight.shape, weight.reshape(-1))
        model.graph.initializer[0].CopyFrom(tensor)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    converted = load_module(Context(), mapped(path), str(path))
    (found,) = converted.params.values()
    np.testing.assert_array_equal(found, weight)
    assert not found.flags.owndata
    assert not found.flags.writeable
    (actual,) = evaluate(converted.module, [X], converted.params)
    (expected,) = run_onnxruntime(model, {"x": X})
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)


def test_what_is_parsed_is_small_and_damage_is_noticed():
    model = model_of(node("MatMul", "x w"), {"x": X}, {"w": random_array(600, 700)})
    data = model.SerializeToString()
    small = without_data(memoryview(data), "here", "")
    assert small is not None
    assert len(small) < 1000
    for end in (len(data) - 1, len(data) // 2):
        assert without_data(memoryview(data)[:end], "here", "") is None


BY_VARINTS = [
    type
    for type, dtype in ONNX_DTYPES.items()
    if dtype in SUPPORTED_DTYPES and "int" in helper.tensor_dtype_to_field(type)
]


def with_varints(type: int, count: int, operator: str) -> tuple[ModelProto, Array]:
    """Return a model with random numbers in a field of varints, and these."""
    dtype = helper.tensor_dtype_to_np_dtype(type)
    bits = 8 if dtype == np.bool_ else ELEMENT_TABLE[dtype.name].bits
    rng = np.random.default_rng(type)
    if bits < 8:
        patterns = rng.integers(0, 256, count, np.uint8)
    else:
        patterns = rng.integers(0, 256, (count, bits // 8), np.uint8).view(f"<u{bits // 8}")
    patterns = patterns & 1 if type == TensorProto.BOOL else patterns
    signed = patterns.view(f"<i{patterns.itemsize}") if dtype.name.startswith("int") else patterns
    tensor = TensorProto(name="w", data_type=type, dims=[count * 8 // bits if bits < 8 else count])
    getattr(tensor, helper.tensor_dtype_to_field(type)).extend(signed.reshape(-1).tolist())
    model = model_of(node(operator, "x w"), {"x": np.zeros(1, np.float32)})
    model.graph.initializer.append(tensor)
    return model, numpy_helper.to_array(tensor)


@pytest.mark.parametrize("type", BY_VARINTS)
def test_varints_are_decoded_when_they_are_used(type: int):
    model, expected = with_varints(type, 80_000, "Shape")
    data = memoryview(model.SerializeToString())
    small = without_data(data, "file", "numbers")
    assert small is not None
    assert len(small) < 1000
    (tensor,) = ModelProto.FromString(small).graph.initializer
    external = ExternalData(encoded={"numbers": data})
    assert array_of(tensor, external).tobytes() == expected.tobytes()
    tensor.dims[0] += 8
    with pytest.raises(OnnxError, match="its data are damaged: "):
        array_of(tensor, external)


@pytest.mark.ci
@pytest.mark.parametrize("type", [TensorProto.FLOAT16, TensorProto.INT32, TensorProto.UINT64])
def test_refusing_takes_little_memory(type: int):
    """With the file, which is mapped, at most 2.1 times its size; most of it is the array."""
    model, _ = with_varints(type, 1_500_000, "Frobnicate")
    data = model.SerializeToString()
    tracemalloc.start()
    try:
        with pytest.raises(OnnxError, match="Frobnicate"):
            load_module(Context(), memoryview(data), "model.onnx")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1.1 * len(data)


def test_numbers_that_do_not_end_are_noticed():
    """A field of bytes that all say that their number goes on."""
    with pytest.raises(Malformed, match="they are not 15000 numbers"):
        decoded(memoryview(b"\x80" * 20_000), 15_000, 1)
