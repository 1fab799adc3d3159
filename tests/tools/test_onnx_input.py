"""ONNX models as inputs of the driver; their weights are written beside the output."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Opt = Callable[..., Any]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """`y = x + weight`, with a weight too large for IR text."""
    onnx: Any = import_module("onnx")
    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
    weight = np.arange(1000, dtype=np.float32)
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "weight"], ["y"])],
        "graph",
        [helper.make_tensor_value_info("x", float32, [1000])],
        [helper.make_tensor_value_info("y", float32, [1000])],
        [onnx.numpy_helper.from_array(weight, "weight")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)], ir_version=8)
    path = tmp_path / "model.onnx"
    path.write_bytes(made.SerializeToString())
    return path


def test_weights_are_beside_the_output(opt: Opt, model: Path, tmp_path: Path):
    out = tmp_path / "out.mlir"
    ran = opt(model, "-o", out, "-p", "infer-types")
    weights = tmp_path / "out.safetensors"
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == f"xrelay-opt: the weights are in {weights}\n"
    assert 'relay.params = "out.safetensors"' in out.read_text()
    arrays: Any = import_module("safetensors.numpy").load_file(weights)
    (array,) = arrays.values()
    assert array.tolist() == list(range(1000))
    assert opt(out).status == 0


def test_printing_writes_no_files(
    opt: Opt, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Even where nothing can be written; the weights stay in the model, unless they are saved."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    ran = opt(model)
    assert ran.status == 0
    text = f"the weights stay in '{model}', the output has none: --save-weights FILE writes them"
    assert ran.err == f"xrelay-opt: {text}\n"
    assert not [*Path().iterdir()]
    assert "relay.params" not in ran.out
    assert opt(model, "-q").err == ""
    saved = opt(model, "--save-weights", "w/a.safetensors")
    assert saved.status == 1  # the folder does not exist
    Path("w").mkdir()
    saved = opt(model, "--save-weights", "w/a.safetensors")
    assert (saved.status, saved.err) == (0, "xrelay-opt: the weights are in w/a.safetensors\n")
    assert 'relay.params = "w/a.safetensors"' in saved.out


def test_weights_of_others_stay(opt: Opt, model: Path):
    """No message proposes to replace a file that we did not write."""
    others = model.with_suffix(".safetensors")
    others.write_bytes(b"trained for weeks")
    ran = opt(model, "-o", model.with_suffix(".mlir"))
    assert ran.status == 1
    assert "choose another name for it (--save-weights), or for the output" in ran.err
    assert "overwrite" not in ran.err
    assert others.read_bytes() == b"trained for weeks"


def test_a_damaged_model_is_an_error(opt: Opt, model: Path, tmp_path: Path):
    model.write_bytes(model.read_bytes()[:40])
    ran = opt(model, "-o", tmp_path / "out.mlir")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"{model}:1:1: error: ")
    assert "internal" not in ran.err
    assert not (tmp_path / "out.mlir").exists()
