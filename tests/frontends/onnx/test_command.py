"""ONNX models on the command line: `xrelay-opt` and `xrelay-run` accept them like IR text."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.onnx.onnx_models import Array, run_onnxruntime
from helpers.onnx.onnx_small import model_of, node, random_array
from helpers.programs.random_settings import share
from onnx import ModelProto

from xrelay.tools.opt import opt
from xrelay.tools.run import run

X = random_array(1, 3, 9, 9)


def small_network() -> ModelProto:
    nodes = [
        node("Conv", "data w b", "h", pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Relu", "h", "r"),
        node("GlobalAveragePool", "r", "g"),
        node("Flatten", "g", "f"),
        node("Gemm", "f v", "logits", transB=1),
    ]
    constants = {
        "w": random_array(32, 3, 3, 3, seed=1),
        "b": random_array(32, seed=2),
        "v": random_array(10, 32, seed=3),
    }
    return model_of(nodes, {"data": X}, constants, outputs="logits")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.onnx").write_bytes(small_network().SerializeToString())
    np.savez(tmp_path / "x.npz", data=X)
    return tmp_path


def outputs_of(path: Path) -> Array:
    with np.load(path) as outputs:
        (name,) = outputs.files
        assert name == "logits"
        return outputs[name]


def expected() -> Array:
    (logits,) = run_onnxruntime(small_network(), {"data": X})
    return logits


def test_text_and_weights_run_like_the_model(folder: Path):
    assert opt.main(["net.onnx", "-o", "out.mlir"]) == 0
    text = (folder / "out.mlir").read_text()
    assert 'relay.params = "out.safetensors"' in text
    assert '{relay.name = "data"}' in text
    assert '%w = relay.param "w" : tensor<32x3x3x3xf32>' in text
    assert (folder / "out.safetensors").exists()
    assert run.main(["out.mlir", "--inputs", "x.npz", "--outputs", "y.npz"]) == 0
    np.testing.assert_allclose(outputs_of(folder / "y.npz"), expected(), rtol=1e-4, atol=1e-5)


def test_the_model_itself_runs(folder: Path):
    assert run.main(["net.onnx", "--inputs", "x.npz", "--outputs", "y.npz"]) == 0
    np.testing.assert_allclose(outputs_of(folder / "y.npz"), expected(), rtol=1e-4, atol=1e-5)


def test_passes_run_on_a_model(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert opt.main(["net.onnx", "-p", "vm"]) == 0
    assert "bytecode.invoke_packed" in capsys.readouterr().out


def test_a_refused_node_is_a_diagnostic(folder: Path, capsys: pytest.CaptureFixture[str]):
    bad = model_of([node("Relu", "x", "h"), node("Unfold", "h")], {"x": X})
    (folder / "bad.onnx").write_bytes(bad.SerializeToString())
    for main in (opt.main, run.main):
        assert main(["bad.onnx"]) == 1
        error = capsys.readouterr().err
        assert error.startswith(
            'bad.onnx:the_unfold: error: node "the_unfold" (Unfold, opset 13): the operator is not '
        )
        assert "Traceback" not in error


def test_a_pass_that_fails_points_at_the_node(folder: Path, capsys: pytest.CaptureFixture[str]):
    """Errors of passes have the location of the ONNX node."""
    model = model_of([node("Identity", "x", "h"), node("Relu", "h")], {"x": X})
    (folder / "relu.onnx").write_bytes(model.SerializeToString())
    assert opt.main(["relu.onnx", "-p", "plan-devices,verify-stage{stage=fused}"]) == 1
    assert "relu.onnx:the_relu: error: relay.nn.relu is left" in capsys.readouterr().err


@pytest.mark.ci
def test_importing_the_frontend_imports_no_onnx():
    """The driver imports it for every kind of input, so it must stay light."""
    code = "import sys, xrelay.frontends.onnx; print({'onnx', 'numpy'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("tool", "options"), share([("opt", ', "--summary"'), ("opt", ""), ("run", "")], 2)
)
def test_without_the_package_onnx_the_error_says_what_to_install(
    folder: Path, tool: str, options: str
):
    code = f"""
import sys
sys.modules["onnx"] = None  # whoever imports it gets an error
from xrelay.tools.{tool}.{tool} import main
sys.exit(main(["net.onnx"{options}]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("net.onnx:1:1: error: reading ONNX models needs the package onnx")
    assert done.stderr.endswith(": pip install onnx\n")
