"""Initializers whose data are in files beside the model."""

from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest
from helpers.onnx.onnx_models import Array, run_onnxruntime
from helpers.onnx.onnx_small import model_of, node, random_array
from onnx import ModelProto, TensorProto
from xdsl.context import Context

from xrelay.frontends.onnx import OnnxError, load_module
from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.frontends.onnx.model.external import ExternalData
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.tools.run.run import main

X = random_array(5, 6)


def loaded(path: Path, external: bool = False) -> ModelProto:
    """The model at `path`, by default without the data of its files."""
    return cast(Any, onnx).load(path, load_external_data=external)


def saved(folder: Path, *constants: Array) -> Path:
    """Save a model whose weights, all but the first constant, are in the file `weights`."""
    names = [f"c{i}" for i in range(len(constants))]
    nodes = [node("Add", "x c0", "h0")]
    nodes += [node("Mul", f"h{i} c{i + 1}", f"h{i + 1}") for i in range(len(constants) - 1)]
    nodes.append(node("Relu", f"h{len(constants) - 1}", "y"))
    model = model_of(nodes, {"x": X}, dict(zip(names, constants, strict=True)))
    path = folder / "model.onnx"
    cast(Any, onnx).save(
        model, path, save_as_external_data=True, location="weights", size_threshold=0
    )
    return path


def changed(path: Path, **entries: str) -> ModelProto:
    """The model at `path`, with other entries in the description of its last initializer."""
    model = loaded(path)
    described = model.graph.initializer[-1].external_data
    kept = {entry.key: entry.value for entry in described} | entries
    del described[:]
    for key, value in kept.items():
        described.add(key=key, value=value)
    return model


def error_of(model: ModelProto, folder: Path | None) -> str:
    with pytest.raises(OnnxError) as caught:
        convert_model(model, "model.onnx", external=ExternalData(folder))
    return caught.value.message


def test_numbers(tmp_path: Path):
    path = saved(tmp_path, random_array(6, seed=1), random_array(5, 6, seed=2))
    model = loaded(path)
    conversion = convert_model(
        model, "model.onnx", external=ExternalData(tmp_path), inline_limit=16
    )
    (actual,) = evaluate(conversion.module, [X], conversion.params)
    (expected,) = run_onnxruntime(loaded(path, external=True), {"x": X})
    np.testing.assert_allclose(actual, expected, rtol=1e-6)


def test_data_are_not_copied(tmp_path: Path):
    """An array of the conversion is a view of the mapped file."""
    path = saved(tmp_path, random_array(6), random_array(5, 6))
    model = loaded(path)
    params = convert_model(model, "m.onnx", external=ExternalData(tmp_path), inline_limit=16).params
    assert sorted(params) == ["c0", "c1"]
    for array in params.values():
        assert not array.flags.owndata
        assert not array.flags.writeable


def test_more_than_2_gib(tmp_path: Path):
    """Only what is used is read: the file has holes, and its last element is a number."""
    rows = 3 * 2**30 // 1024
    with (tmp_path / "weights").open("wb") as file:
        file.truncate(rows * 1024)
        file.seek(rows * 1024 - 1)
        file.write(b"\x07")
    table = TensorProto(name="table", data_type=TensorProto.INT8, dims=[rows, 1024])
    table.data_location = TensorProto.EXTERNAL
    for key, value in {"location": "weights", "offset": "0", "length": str(rows * 1024)}.items():
        table.external_data.add(key=key, value=value)
    at = np.array([rows - 1], np.int64)
    model = model_of([node("Gather", "table at", "y")], {"at": at})
    model.graph.initializer.append(table)
    conversion = convert_model(model, "model.onnx", external=ExternalData(tmp_path))
    (actual,) = evaluate(conversion.module, [at], conversion.params)
    assert cast(Array, actual)[0, -2:].tolist() == [0, 7]


def test_the_command_reads_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = saved(tmp_path, random_array(6), random_array(5, 6))
    assert main([str(path), "--random-seed", "0"]) == 0
    assert "y: float32[5, 6]" in capsys.readouterr().out


@pytest.mark.parametrize(
    "location", ["../weights", "/etc/passwd", "", ".", "inner/../../weights", "link"]
)
def test_other_folders_are_refused(tmp_path: Path, location: str):
    folder = tmp_path / "models"
    folder.mkdir()
    path = saved(folder, random_array(6), random_array(5, 6))
    (tmp_path / "weights").write_bytes((folder / "weights").read_bytes())
    (folder / "link").symlink_to(tmp_path / "weights")
    message = error_of(changed(path, location=location), folder)
    assert "supported: files in the model's folder" in message


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"location": "none"}, "none': No such file"),
        ({"location": "a\0b"}, "not a path: embedded null byte"),
        ({"offset": "1000000"}, "its bytes 1000000 to 1000120 are not in the file"),
        ({"offset": "-4"}, 'the offset of its data is "-4"'),
        ({"offset": "9" * 30}, "the offset of its data is"),
        ({"length": "8"}, 'it needs 120 bytes, but has 8 in the file "weights"'),
    ],
)
def test_wrong_descriptions(tmp_path: Path, entries: dict[str, str], message: str):
    path = saved(tmp_path, random_array(6), random_array(5, 6))
    assert message in error_of(changed(path, **entries), tmp_path)


def test_more_dims_than_arrays_have(tmp_path: Path):
    model = loaded(saved(tmp_path, random_array(6)))
    model.graph.initializer[0].dims[:] = [1 << 62] * 200_000
    assert "rank 200000, above 64" in error_of(model, tmp_path)


def test_a_model_that_is_not_a_file(tmp_path: Path):
    path = saved(tmp_path, random_array(6))
    assert "beside the model" in error_of(loaded(path), None)
    with pytest.raises(OnnxError, match="beside the model"):
        load_module(Context(), path.read_bytes(), "<stdin>")


def test_bools_other_than_0_and_1(tmp_path: Path):
    model = model_of(node("Not", "c"), {}, {"c": np.ones(3, np.bool_)}, dtype=np.bool_)
    model.graph.initializer[0].ClearField("raw_data")
    model.graph.initializer[0].data_location = TensorProto.EXTERNAL
    model.graph.initializer[0].external_data.add(key="location", value="data")
    (tmp_path / "data").write_bytes(bytes([0, 1, 200]))
    conversion = convert_model(model, "m.onnx", external=ExternalData(tmp_path))
    (actual,) = evaluate(conversion.module, [], conversion.params)
    assert actual.tolist() == [True, False, False]
