"""`--params` and `params=`: values for weights, and for parameters of `main`, by name."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xrelay
from xrelay.runtime.weights.tensor_file import write_tensors
from xrelay.tools.run import run

Opt = Callable[..., Any]
Capture = pytest.CaptureFixture[str]

OLD = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32], %b: Tensor[(4), float32]) {
  nn.bias_add(nn.dense(%x, %w), %b)
}
"""
X = np.arange(6, dtype=np.float32).reshape(2, 3)
W = np.arange(12, dtype=np.float32).reshape(4, 3) - 5
B = np.array([1, 2, 3, 4], np.float32)
Y = X @ W.T + B
TVM = bytes.fromhex("b79c04054f8de5f7") + bytes(16)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program without weights of its own, and files of weights."""
    monkeypatch.chdir(tmp_path)
    Path("old.relay").write_text(OLD)
    for name, arrays in {
        "wb": {"w": W, "b": B},
        "b": {"b": B},
        "typo": {"w": W, "bb": B},
        "wrong": {"w": W.T.copy(), "b": B},
        "dtype": {"w": W.astype(np.float64), "b": B},
    }.items():
        write_tensors(f"{name}.safetensors", arrays)
    Path("deploy.params").write_bytes(TVM)
    np.savez("x.npz", x=X)
    np.savez("xw.npz", x=X, w=W)
    np.savez("y.npz", output_0=Y)
    return tmp_path


def old(name: str, opt: Opt) -> str:
    """Return the old program in one of its forms."""
    if name == "old.xrx":
        assert opt("old.relay", "-p", "vm", "-t", "executable", "-o", name).status == 0
    elif name == "old.mlir":
        assert opt("old.relay", "-p", "vm", "-o", name).status == 0
    return name


FORMS = pytest.mark.parametrize("form", ["old.relay", "old.mlir", "old.xrx"])


@FORMS
def test_parameters_of_main_are_bound_by_name(form: str, opt: Opt, capsys: Capture):
    program = old(form, opt)
    for inputs, params in (("x.npz", "wb.safetensors"), ("xw.npz", "b.safetensors")):
        argv = [program, "--inputs", inputs, "--params", params, "--expect", "y.npz"]
        assert run.main(argv) == 0, capsys.readouterr().err
    assert run.main([program, "--inputs", "x.npz", "--params", "b.safetensors"]) == 1
    assert "no value for input 'w'" in capsys.readouterr().err
    python = xrelay.load if form == "old.xrx" else xrelay.compile
    for params in ("wb.safetensors", {"w": W, "b": B}):
        exe: Any = python(program, params=params)
        np.testing.assert_array_equal(exe(X), Y)
        np.testing.assert_array_equal(exe(x=X), Y)
        assert str(exe.signature).startswith("main(x: float32[2, 3])")
        with pytest.raises(xrelay.MachineError, match="main expects 1 arguments, but got 2"):
            exe(X, W)
    exe = python(program, params={"b": B})
    np.testing.assert_array_equal(exe(X, W), Y)


def test_bound_parameters_are_weights_of_what_is_written(opt: Opt):
    options = ("--params", "wb.safetensors")
    ran = opt("old.relay", "-p", "vm", "-t", "executable{embed=true}", "-o", "m.xrx", *options)
    assert ran.status == 0, ran.err
    exe = xrelay.load("m.xrx")
    np.testing.assert_array_equal(exe(X), Y)
    text = opt("old.relay", *options).out
    assert opt("old.relay", *options, "-o", "written.mlir").status == 0
    np.testing.assert_array_equal(xrelay.compile("written.mlir")(X), Y)
    assert "func.func @main(%x: tensor<2x3xf32>) -> " in text
    assert 'relay.param "w" : tensor<4x3xf32>' in text
    exe = xrelay.compile("old.relay", params={"w": W, "b": B})
    exe.save("saved.xrx")
    np.testing.assert_array_equal(xrelay.load("saved.xrx")(X), Y)


def test_constants_of_the_program_are_kept(opt: Opt, capsys: Capture):
    """Large constants of Relay text are weights of its own."""
    constant = ", ".join(map(str, range(400)))
    Path("own.mlir").write_text(f"""
func.func @main(%x: tensor<400xf32>, %w: tensor<400xf32>) -> tensor<400xf32> {{
  %c = relay.constant dense<[{constant}]> : tensor<400xf32>
  %y = relay.multiply %x, %w : (tensor<400xf32>, tensor<400xf32>) -> tensor<400xf32>
  %z = relay.add %y, %c : (tensor<400xf32>, tensor<400xf32>) -> tensor<400xf32>
  func.return %z : tensor<400xf32>
}}""")
    Path("own.relay").write_text(opt("own.mlir", "-t", "relay-text").out)
    x, w = (np.full(400, n, np.float32) for n in (3, 5))
    y = x * w + np.arange(400, dtype=np.float32)
    write_tensors("w.safetensors", {"w": w})
    np.savez("x.npz", x=x)
    np.savez("y.npz", output_0=y)
    options = ("--params", "w.safetensors")
    assert run.main(["own.relay", "--inputs", "x.npz", "--expect", "y.npz", *options]) == 0
    np.testing.assert_array_equal(xrelay.compile("own.relay", params={"w": w})(x), y)
    ran = opt("own.relay", "-p", "vm", "-t", "executable", "-o", "own.xrx", *options)
    assert ran.status == 0, ran.err
    np.testing.assert_array_equal(xrelay.load("own.xrx")(x), y)
    write_tensors("typo.safetensors", {"ww": w})
    assert run.main(["own.relay", "--random-seed", "0", "--params", "typo.safetensors"]) == 1
    assert "has 'ww', which fits nothing" in capsys.readouterr().err


def test_open_dims_of_a_parameter_are_those_of_its_value():
    Path("old.relay").write_text(OLD.replace("(4, 3)", "(?, 3)").replace("(4)", "(?)"))
    np.testing.assert_array_equal(xrelay.compile("old.relay", params={"w": W, "b": B})(X), Y)


MISTAKES = {
    "none.safetensors": "cannot read 'none.safetensors': No such file or directory",
    "deploy.params": "'deploy.params' is not a safetensors file: it has parameters as TVM saves",
    "old.relay": "'old.relay' is not a safetensors file: ",
    "typo.safetensors": "'typo.safetensors' has 'bb', which fits nothing: the weights of the "
    "program are: none; the inputs of main are: x, w, b; did you mean 'b'?",
    "wrong.safetensors": "'w' must be float32[4, 3] for main, but is float32[3, 4]",
    "dtype.safetensors": "'w' must be float32[4, 3] for main, but is float64[4, 3]",
}


@FORMS
@pytest.mark.parametrize("params", MISTAKES)
def test_a_file_that_does_not_fit_is_an_error(form: str, params: str, opt: Opt, capsys: Capture):
    program, message = old(form, opt), MISTAKES[params]
    random = ["--random-seed", "0", "--random-weights"]
    for argv in ([program, "--params", params, *random], [program, "--params", params]):
        assert run.main(argv) == 1
        said = capsys.readouterr().err
        assert said.startswith(("error: ", f"{program}: error: "))
        assert message in said
    python = xrelay.load if form == "old.xrx" else xrelay.compile
    with pytest.raises(xrelay.Error) as raised:
        python(program, params=params)
    assert message in str(raised.value)
    if form == "old.relay":
        for target in ("mlir", "executable"):
            ran = opt(program, "-p", "vm", "-t", target, "-o", "out", "--params", params)
            assert (ran.status, ran.out) == (1, "")
            assert message in ran.err
            assert not os.path.exists("out")
