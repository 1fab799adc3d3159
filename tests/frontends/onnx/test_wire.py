"""Models whose large tensors are left where they are."""

from pathlib import Path

import numpy as np
import pytest
from helpers.onnx.onnx_models import run_onnxruntime
from helpers.onnx.onnx_small import model_of, node, random_array
from onnx import ModelProto, TensorProto, helper, numpy_helper
from xdsl.context import Context

from xrelay.frontends.onnx import load_module
from xrelay.frontends.onnx.model.wire import VARINTS, without_data
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
    small = without_data(memoryview(data), "here")
    assert small is not None
    assert len(small) < 1000
    for end in (len(data) - 1, len(data) // 2):
        assert without_data(memoryview(data)[:end], "here") is None


@pytest.mark.parametrize("type", sorted({t for types in VARINTS.values() for t in types}))
def test_varints_become_raw_data(type: int):
    bits = 8 * np.dtype(helper.tensor_dtype_to_np_dtype(type)).itemsize
    rng = np.random.default_rng(type)
    patterns = rng.integers(0, 256, (600_000, bits // 8), dtype=np.uint8)
    if type == TensorProto.BOOL:
        patterns &= 1
    values = patterns.view(helper.tensor_dtype_to_np_dtype(type)).reshape(-1)
    is_wide = type in VARINTS[TensorProto.UINT64_DATA_FIELD_NUMBER]
    field = (
        "uint64_data" if is_wide else "int64_data" if type == TensorProto.INT64 else "int32_data"
    )
    is_pattern = type in (TensorProto.FLOAT16, TensorProto.BFLOAT16)
    given = (
        values.view(np.uint16) if is_pattern else values.astype(np.int64) if bits < 64 else values
    )
    tensor = TensorProto(name="w", data_type=type, dims=[len(values)])
    getattr(tensor, field).extend(given.tolist())
    model = ModelProto()
    model.graph.initializer.append(tensor)
    data = model.SerializeToString()
    changed = without_data(memoryview(data), "here")
    assert changed is not None
    (found,) = ModelProto.FromString(changed).graph.initializer
    assert (found.name, found.dims, found.HasField("raw_data")) == ("w", [len(values)], True)
    assert found.raw_data == values.tobytes() == numpy_helper.to_array(tensor).tobytes()
    assert without_data(memoryview(data)[:-1], "here") is None


def test_numbers_that_do_not_end_are_noticed():
    """A field of bytes that all say that their number goes on."""
    header = bytes([TensorProto.INT32_DATA_FIELD_NUMBER << 3 | 2, *varint_of(20_000)])
    tensor = bytes([TensorProto.DATA_TYPE_FIELD_NUMBER << 3, TensorProto.INT8]) + header
    tensor += b"\x80" * 20_000
    graph = bytes([5 << 3 | 2, *varint_of(len(tensor))]) + tensor
    assert (
        without_data(memoryview(bytes([7 << 3 | 2, *varint_of(len(graph))]) + graph), "x") is None
    )


def varint_of(value: int) -> list[int]:
    return [value & 127 | 128, value >> 7 & 127 | 128, value >> 14]
