"""`Executable.save` and `xrelay.load`."""

import os
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import xrelay

DENSE = """func.func @main(%x: tensor<?x3xf32> {relay.dims = ["n", 3]}) -> tensor<?x400xf32> {
  %w = relay.param "w" : tensor<400x3xf32>
  %y = relay.nn.dense %x, %w : (tensor<?x3xf32>, tensor<400x3xf32>) -> tensor<?x400xf32>
  func.return %y : tensor<?x400xf32>
}
"""


def drawn(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


X, W = drawn(2, 3), drawn(400, 3, seed=1)
Y = X @ W.T


@pytest.fixture
def exe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> xrelay.Executable:
    """A program, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    Path("dense.mlir").write_text(DENSE)
    return xrelay.compile("dense.mlir", params={"w": W})


@pytest.mark.ci
def test_a_saved_program_runs_without_the_compiler(exe: xrelay.Executable):
    exe.save("dense.xrx")
    exe.save(Path("whole.xrx"), embed=True)
    assert sorted(os.listdir()) == ["dense.mlir", "dense.safetensors", "dense.xrx", "whole.xrx"]
    np.save("x.npy", X)
    np.save("y.npy", exe(X))
    code = """
import sys
for name in ("xdsl", "safetensors", "onnx"):
    sys.modules[name] = None  # whoever imports it gets an error
import numpy as np
import xrelay
x, y = np.load("x.npy"), np.load("y.npy")
for path in ("dense.xrx", "whole.xrx"):
    exe = xrelay.load(path)
    assert str(exe.signature) == "main(x: float32[n, 3]) -> (output_0: float32[n, 400])"
    np.testing.assert_array_equal(exe(x), y)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    np.testing.assert_allclose(exe(X), Y, rtol=1e-5, atol=1e-6)


def test_the_weights_are_an_ordinary_file(exe: xrelay.Executable):
    from safetensors.numpy import load_file, save_file  # pyright: ignore[reportUnknownVariableType]

    exe.save("dense.xrx")
    written = load_file("dense.safetensors")
    np.testing.assert_array_equal(written["w"], W)
    save_file(written, "moved.safetensors")
    os.remove("dense.safetensors")
    with pytest.raises(xrelay.MachineError, match=r"cannot read 'dense.safetensors'"):
        xrelay.load("dense.xrx")
    for params in ("moved.safetensors", {"w": W}):
        loaded = xrelay.load("dense.xrx", params=params, verify=True)
        np.testing.assert_allclose(loaded(X), Y, rtol=1e-5, atol=1e-6)


def test_a_loaded_program_is_saved_again(exe: xrelay.Executable):
    exe.save("dense.xrx")
    first = {name: Path(name).read_bytes() for name in ("dense.xrx", "dense.safetensors")}
    loaded = xrelay.load("dense.xrx")
    loaded.save("dense.xrx")
    assert first == {name: Path(name).read_bytes() for name in first}
    np.testing.assert_array_equal(loaded(X), exe(X))


def test_weights_of_another_program(exe: xrelay.Executable):
    exe.save("dense.xrx")
    with pytest.raises(xrelay.MachineError, match="values of 'w' are not those that the program"):
        xrelay.load("dense.xrx", params={"w": W + 1})
    with pytest.raises(xrelay.MachineError, match="params lacks 'w'"):
        xrelay.load("dense.xrx", params={"v": W})
    with pytest.raises(xrelay.MachineError, match=r"'w' must be float32\[400, 3\], but is"):
        xrelay.load("dense.xrx", params={"w": W.T})


def test_damaged_programs_have_an_error_of_their_own(exe: xrelay.Executable):
    Path("bad.xrx").write_text("not one")
    with pytest.raises(xrelay.ExecutableError, match=r"^cannot load 'bad.xrx': ") as caught:
        xrelay.load("bad.xrx")
    shown = "".join(traceback.format_exception_only(caught.value))
    assert shown.startswith("xrelay.ExecutableError: cannot load")
    exe.save("dense.xrx")
    with pytest.raises(xrelay.ExecutableError, match="values of 'w' are not those"):
        xrelay.load("dense.xrx", params={"w": W + 1})


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("none.xrx", "^cannot read 'none.xrx': No such file"),
        (".", "^cannot read '.': "),
        ("dense.mlir", "^cannot load 'dense.mlir': .*models are read by xrelay.compile"),
        ("short.xrx", "^cannot load 'short.xrx': "),
    ],
)
def test_files_that_are_not_programs(exe: xrelay.Executable, path: str, message: str):
    exe.save("dense.xrx")
    Path("short.xrx").write_bytes(Path("dense.xrx").read_bytes()[:-100])
    with pytest.raises(xrelay.MachineError, match=message):
        xrelay.load(path)


def test_files_that_cannot_be_written(exe: xrelay.Executable):
    with pytest.raises(xrelay.MachineError, match="cannot write 'none/dense"):
        exe.save("none/dense.xrx")
    with pytest.raises(xrelay.MachineError, match=r"'machine' is saved as \.xrx; "):
        exe.save("dense.safetensors")
    assert os.listdir() == ["dense.mlir"]


def test_faults_of_a_loaded_program_have_their_place(exe: xrelay.Executable):
    text = """func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = relay.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %z : tensor<?xf32>
}
"""
    Path("add.mlir").write_text(text)
    xrelay.compile("add.mlir").save("add.xrx")
    loaded = xrelay.load("add.xrx")
    with pytest.raises(xrelay.MachineError, match=r"^add.mlir:2:8: error: ") as caught:
        loaded(drawn(2), drawn(3))
    assert caught.value.location == ("add.mlir", 2, 8)


@pytest.mark.parametrize("dtype", ["bool", "float16", "float64", "int8", "uint64"])
def test_weights_of_all_kinds(dtype: str, tmp_path: Path):
    from safetensors.numpy import load_file  # pyright: ignore[reportUnknownVariableType]

    from xrelay.runtime.weights.tensor_file import TensorFile, write_tensors

    arrays = {
        "é": (drawn(3, 5) * 100).astype(dtype)[:, ::-1],
        "scalar": np.ones((), dtype),
        "none": np.zeros((0, 2), dtype),
        "f": drawn(1),
    }
    write_tensors(tmp_path / "w.safetensors", arrays)
    ours, theirs = TensorFile(tmp_path / "w.safetensors"), load_file(tmp_path / "w.safetensors")
    assert set(ours.names) == set(theirs) == set(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(ours.array(name), array, strict=True)
        np.testing.assert_array_equal(theirs[name], array, strict=True)
