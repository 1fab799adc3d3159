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


def test_weights_of_stdout_are_in_the_current_directory(
    opt: Opt, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    ran = opt(model)
    assert ran.status == 0
    assert ran.err == "xrelay-opt: the weights are in model.safetensors\n"
    assert (tmp_path / "here" / "model.safetensors").exists()


def test_a_damaged_model_is_an_error(opt: Opt, model: Path, tmp_path: Path):
    model.write_bytes(model.read_bytes()[:40])
    ran = opt(model, "-o", tmp_path / "out.mlir")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"{model}:1:1: error: ")
    assert "internal" not in ran.err
    assert not (tmp_path / "out.mlir").exists()
