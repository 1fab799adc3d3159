"""`xrelay.compile` for each target, what it saves, and `lower`, `summary` and `list_passes`."""

import copy
import pickle
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from shutil import which
from typing import Any, assert_type

import numpy as np
import onnx
import pytest
from helpers.documents import ROOT
from numpy.typing import NDArray

import xrelay
from xrelay.runtime.weights.tensor_file import write_tensors
from xrelay.tools.opt import opt

EXAMPLES = ROOT / "examples"
WEIGHED = """func.func @main(%x: tensor<?x3xf32> {relay.dims = ["n", 3]}) -> tensor<?x400xf32> {
  %w = relay.param "w" : tensor<400x3xf32>
  %y = relay.nn.dense %x, %w : (tensor<?x3xf32>, tensor<400x3xf32>) -> tensor<?x400xf32>
  func.return %y : tensor<?x400xf32>
}
"""


def drawn(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


X, W = drawn(5, 3), drawn(400, 3, seed=1)
Y = X @ W.T


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("targets") / "dense.mlir"
    path.write_text(WEIGHED)
    return path


@pytest.fixture(scope="module")
def machine(source: Path) -> xrelay.Executable:
    return assert_type(xrelay.compile(source, params={"w": W}), xrelay.Executable)


@pytest.fixture(scope="module")
def native(source: Path) -> xrelay.NativeExecutable:
    return assert_type(
        xrelay.compile(source, params={"w": W}, target="native"), xrelay.NativeExecutable
    )


def check(exe: xrelay.Executable | xrelay.NativeExecutable) -> None:
    np.testing.assert_allclose(exe(X), Y, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(exe(x=X[:2]), Y[:2], rtol=1e-5, atol=1e-5)


# ------------------------------------------------------------------ native programs


def test_native_programs_run(native: xrelay.NativeExecutable):
    check(native)
    assert native.memory.weights == W.nbytes


def test_a_native_program_is_saved_as_a_library(native: xrelay.NativeExecutable, tmp_path: Path):
    path = tmp_path / "libdense.so"
    native.save(path)
    check(xrelay.load(path))
    (tmp_path / "text.so").write_text("mine")
    with pytest.raises(FileExistsError, match="it exists and is text, not machine code"):
        native.save(tmp_path / "text.so")
    native.save(tmp_path / "text.so", overwrite=True)
    check(xrelay.load(tmp_path / "text.so"))


C = """
#include "dense.h"
#include <stdio.h>
int main(void) {
  float x[3] = {1, 2, 3}, y[400];
  int64_t dims[1] = {1};
  if (dense_main(x, y, dims, NULL)) return 1;
  printf("%.4f\\n", y[7]);
  return 0;
}
"""


@pytest.mark.ci
@pytest.mark.skipif(which("cc") is None, reason="needs a C compiler")
def test_c_programs_use_what_is_saved(native: xrelay.NativeExecutable, tmp_path: Path):
    native.save(tmp_path / "dense.o")
    native.save(tmp_path / "dense.h")
    (tmp_path / "main.c").write_text(C)
    command = ["cc", "main.c", "dense.o", "-lm", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert float(done.stdout) == pytest.approx(W[7] @ [1, 2, 3], abs=1e-3)
    assert "output output_0: float32[n, 400]" in (tmp_path / "dense.h").read_text()


def test_a_loaded_library_is_saved_again(native: xrelay.NativeExecutable, tmp_path: Path):
    native.save(tmp_path / "one.so")
    loaded = xrelay.load(tmp_path / "one.so")
    loaded.save(tmp_path / "two.so")
    assert (tmp_path / "one.so").read_bytes() == (tmp_path / "two.so").read_bytes()
    with pytest.raises(xrelay.MachineError, match=r"that was loaded is saved as \.so; xrelay"):
        loaded.save(tmp_path / "two.o")


def test_a_library_is_copied_with_its_file_of_weights(source: Path, tmp_path: Path):
    path, weights = tmp_path / "dense.so", tmp_path / "w.safetensors"
    write_tensors(weights, {"w": W})
    args = [str(source), "-p", "aot", "-t", "native{weights=file}", "-o", str(path)]
    assert opt.main([*args, "--params", str(weights)]) == 0
    loaded = xrelay.load(path)
    (other := tmp_path / "other").mkdir()
    loaded.save(other / "copy.so")
    check(xrelay.load(other / "copy.so"))
    assert sorted(file.name for file in other.iterdir()) == ["copy.so", "dense.weights"]
    with pytest.raises(xrelay.MachineError, match=r"dense\.so has its weights in a file: save"):
        pickle.dumps(loaded)


# ------------------------------------------------------------------ contradictions


@pytest.mark.parametrize("name", ["model.so", "model.o", "model.h", "model.png", "model"])
def test_a_program_of_the_machine_is_saved_as_xrx(
    machine: xrelay.Executable, name: str, tmp_path: Path
):
    message = r"'machine' is saved as \.xrx; .*target='native'\) makes .* as \.so, \.o or \.h"
    with pytest.raises(xrelay.MachineError, match=message):
        machine.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["model.xrx", "model.safetensors", "model"])
def test_a_native_program_is_not_saved_as_xrx(
    native: xrelay.NativeExecutable, name: str, tmp_path: Path
):
    message = r"'native' is saved as \.so, \.o or \.h; .*target='machine'\) makes .* as \.xrx"
    with pytest.raises(xrelay.MachineError, match=message):
        native.save(tmp_path / name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": "linalg"}, "must be 'machine' or 'native', but is 'linalg'; xrelay.lower"),
        ({"target": 3}, "target must be a str, but got int 3"),
        ({"target": "native{cpus=2}"}, r"target 'native' has no option 'cpus' .*'cpu'"),
        ({"target": "native{weights=file}"}, "a program in memory has its weights with it"),
        ({"target": "native", "sanitize": True}, "sanitize are for programs that the machine runs"),
        ({"target": "native", "memory_limit": 9}, "but the target is 'native'"),
        ({"target": "native", "kernels": "native"}, "but the target is 'native'"),
        ({"target": "native", "pipeline": "vm"}, "needs a program at level memref, not bytecode"),
        ({"pipeline": "aot"}, "'aot' must end in bytecode, unless the target is 'native'"),
    ],
)
def test_contradictions(arguments: Any, message: str):
    with pytest.raises(xrelay.Error, match=message):
        xrelay.compile(EXAMPLES / "classifier.mlir", **arguments)


def test_native_programs_need_their_weights(source: Path):
    with pytest.raises(xrelay.Error, match="the program has weights, but they are in no file"):
        xrelay.compile(source, target="native")


# ------------------------------------------------------------------ copies


def pickled(exe: object) -> object:
    return pickle.loads(pickle.dumps(exe))


@pytest.mark.parametrize("name", ["machine", "native"])
@pytest.mark.parametrize(
    "how", [copy.copy, copy.deepcopy, pickled], ids=["copy", "deepcopy", "pickle"]
)
def test_copies(name: str, how: Any, request: pytest.FixtureRequest):
    exe: xrelay.Executable | xrelay.NativeExecutable = request.getfixturevalue(name)
    copied = how(exe)
    assert type(copied) is type(exe)
    assert copied is not exe
    check(copied)
    assert copied.signature == exe.signature
    assert copied.memory.devices["cpu:0"].planned == exe.memory.devices["cpu:0"].planned


def test_copies_keep_their_options(tmp_path: Path):
    path = EXAMPLES / "classifier.mlir"
    exe = xrelay.compile(path, memory_limit=100)
    restored = pickle.loads(pickle.dumps(exe))
    for copied in (restored, copy.deepcopy(exe)):
        with pytest.raises(xrelay.MachineError, match="the memory limit is 100"):
            copied(drawn(2, 8), drawn(4, 8), drawn(4))


def test_a_deep_copy_shares_what_does_not_change(machine: xrelay.Executable):
    copied = copy.deepcopy(machine)
    assert copied.program is machine.program
    assert copied.plan_html() == machine.plan_html()


@pytest.mark.ci
def test_another_process_gets_a_program(machine: xrelay.Executable, tmp_path: Path):
    (tmp_path / "exe.pickle").write_bytes(pickle.dumps(machine))
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", machine(X))
    code = """
import pickle, sys
sys.modules["xdsl"] = None  # whoever imports it gets an error
import numpy as np
exe = pickle.load(open("exe.pickle", "rb"))
np.testing.assert_array_equal(exe(np.load("x.npy")), np.load("y.npy"))
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, timeout=60)


# ------------------------------------------------------------------ looking at it


@pytest.mark.parametrize("name", ["machine", "native"])
def test_inputs_and_outputs(name: str, request: pytest.FixtureRequest):
    exe: xrelay.Executable | xrelay.NativeExecutable = request.getfixturevalue(name)
    (x,), (y,) = exe.inputs, exe.outputs
    assert_type(x, xrelay.Value)
    assert (x.name, x.dtype, x.shape, x.device) == ("x", "float32", ("n", 3), "cpu:0")
    assert (y.name, y.dtype, y.shape, y.device) == ("output_0", "float32", ("n", 400), "cpu:0")
    assert exe.main.inputs == (x,)


def test_inputs_of_a_program_without_main(tmp_path: Path):
    path = tmp_path / "two.mlir"
    names = ("f", "inputs")
    path.write_text("\n".join(WEIGHED.replace("main", name) for name in names))
    exe = xrelay.compile(path, params={"w": W})
    with pytest.raises(xrelay.MachineError, match="no function main; its functions are: f, input"):
        _ = exe.inputs
    assert exe["inputs"].inputs == exe.f.inputs  # the name of the attribute is taken


@pytest.mark.parametrize("name", ["machine", "native"])
def test_names_are_listed_once(name: str, request: pytest.FixtureRequest):
    names = dir(request.getfixturevalue(name))
    assert len(names) == len(set(names))
    assert {"main", "inputs", "memory", "save"} <= set(names)


def test_texts_show_as_they_are(machine: xrelay.Executable):
    for text in (machine.listing, machine.signature, machine.memory, machine.main.signature):
        assert repr(text) == str(text)
    assert repr(machine.listing).startswith("device 0: cpu:0\n")
    assert repr(machine.memory).startswith("device    planned ")


def shown_in_notebook(exe: xrelay.Executable | xrelay.NativeExecutable) -> str:
    return getattr(exe.memory, "_repr_html_")()


@pytest.mark.parametrize("name", ["machine", "native"])
def test_notebooks_show_the_plan(name: str, request: pytest.FixtureRequest):
    shown = shown_in_notebook(request.getfixturevalue(name))
    assert shown.startswith("<table><thead><tr><td>device</td><td>planned</td>")
    assert '<img alt="memory plan" src="data:image/svg+xml;base64,' in shown


def test_a_loaded_program_has_a_table_but_no_picture(machine: xrelay.Executable, tmp_path: Path):
    machine.save(tmp_path / "m.xrx")
    loaded = xrelay.load(tmp_path / "m.xrx")
    assert "<table>" in shown_in_notebook(loaded)
    assert "<img" not in shown_in_notebook(loaded)
    with pytest.raises(xrelay.MachineError, match=r"but no picture: xrelay.compile\(model\)"):
        loaded.plan_html()


@pytest.mark.parametrize("name", ["machine", "native"])
def test_the_page_of_the_plan(name: str, request: pytest.FixtureRequest):
    exe: xrelay.Executable | xrelay.NativeExecutable = request.getfixturevalue(name)
    page = exe.plan_html({"n": 7})
    assert page.startswith("<!DOCTYPE html>")
    assert 'value="7"' in page
    assert "dense.mlir" in page
    with pytest.raises(xrelay.Error, match="no size depends on a dim 'm'; there are: n"):
        exe.plan_html({"m": 7})


# ------------------------------------------------------------------ text, and facts


def test_lower(source: Path):
    found = xrelay.lower(source, "linalg", params={"w": W})
    assert "linalg." in found
    assert "dialect_resources" in found
    assert "= relay." not in found
    assert "dialect_resources" not in xrelay.lower(source, "linalg{weights=arguments}")
    module = xrelay.lower(source, "mlir", pipeline="infer-types,plan-devices")
    assert "#relay.device<cpu:0>" in module
    assert xrelay.lower(source, "memory-plan-svg").startswith("<svg ")
    assert "def @main(" in xrelay.lower(EXAMPLES / "classifier.mlir", "relay-text")


def test_lower_of_a_module_does_not_change_it():
    module = xrelay.parse(EXAMPLES / "dynamic.mlir")
    before = str(module)
    assert "tensor<5x8xf32>" in xrelay.lower(module, "linalg", dims={"n": 5})
    assert str(module) == before


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("executable", "'executable' is not text: save what xrelay.compile returns"),
        ("linalk", "invalid choice: 'linalk' .*linalg"),
    ],
)
def test_targets_that_are_not_text(target: str, message: str):
    with pytest.raises(xrelay.Error, match=message):
        xrelay.lower(EXAMPLES / "classifier.mlir", target, pipeline="vm")


def test_summary():
    found = assert_type(xrelay.summary(EXAMPLES / "dynamic.mlir"), xrelay.Summary)
    assert repr(found) == str(found)
    assert "\noutputs:\n  output_0: float32[n, 4]\nopen dims: n (x:0, y:0)" in str(found)
    assert (found.operators["nn.dense"], found.error) == (1, None)
    assert str(xrelay.summary(xrelay.parse(EXAMPLES / "dynamic.mlir"))).startswith("module\n")


def test_the_summary_of_a_model_that_is_not_supported():
    graph = onnx.parser.parse_graph("g (float[n] x) => (float[n] y) { y = ImageDecoder(x) }")
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)])
    found = xrelay.summary(model)
    assert found.operators == {"ImageDecoder": 1}
    assert isinstance(found.error, xrelay.Error)
    assert "ImageDecoder" in str(found).splitlines()[-1]
    assert "x: float32[n]" in str(found)


@pytest.mark.ci
def test_passes_are_listed():
    found = {info.name: info for info in xrelay.list_passes()}
    assert {"vm", "aot", "plan-memory", "canonicalize"} <= found.keys()
    assert found["plan-devices"].description
    assert "default" in [option.name for option in found["plan-devices"].options]


def test_the_version():
    assert xrelay.__version__ == version("xrelay")


# ------------------------------------------------------------------ errors of the system


def test_missing_files_are_errors_of_python(tmp_path: Path, machine: xrelay.Executable):
    none = tmp_path / "none"
    for call in (
        lambda: xrelay.load(f"{none}.xrx"),
        lambda: xrelay.load(f"{none}.so"),
        lambda: xrelay.compile(f"{none}.mlir"),
        lambda: xrelay.parse(f"{none}.onnx"),
        lambda: xrelay.summary(f"{none}.onnx"),
        lambda: xrelay.lower(f"{none}.mlir", "linalg"),
        lambda: xrelay.compile(EXAMPLES / "mlp.mlir", params=f"{none}.safetensors"),
    ):
        with pytest.raises(FileNotFoundError, match=r"^cannot read '.*none") as caught:
            call()
        assert isinstance(caught.value, xrelay.Error)
        assert (caught.value.errno, caught.value.filename[: len(str(none))]) == (2, str(none))
    with pytest.raises(FileNotFoundError, match=r"^cannot write '.*none/m\.xrx'") as caught:
        machine.save(none / "m.xrx", embed=True)
    assert caught.value.filename == str(none / "m.xrx")


def test_errors_of_other_kinds(tmp_path: Path):
    with pytest.raises(IsADirectoryError, match="not a file") as caught:
        xrelay.load(tmp_path)
    assert isinstance(caught.value, xrelay.MachineError)
    (tmp_path / "bad.xrx").write_text("not one")
    with pytest.raises(xrelay.ExecutableError) as other:
        xrelay.load(tmp_path / "bad.xrx")
    assert not isinstance(other.value, OSError)


def test_errors_are_pickled(tmp_path: Path):
    with pytest.raises(FileNotFoundError) as caught:
        xrelay.load("none.xrx")
    restored = pickle.loads(pickle.dumps(caught.value))
    assert type(restored) is type(caught.value)
    assert (str(restored), restored.errno) == (str(caught.value), 2)
