"""Sizes and values of inputs, files of arrays, expected outputs, and `--summary`."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import run_onnxruntime
from onnx import ModelProto, TensorProto, helper, numpy_helper

import xrelay
from xrelay.runtime import files
from xrelay.tools import array_files
from xrelay.tools.array_files import read_array
from xrelay.tools.errors import FileError, UsageError
from xrelay.tools.run import run
from xrelay.tools.run.run_calls import difference

Opt = Callable[..., Any]
Capture = pytest.CaptureFixture[str]
DOCS = Path(__file__).parents[2] / "docs" / "models.md"


def info(name: str, dims: list[Any] | None, type: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, type, dims)


def model(nodes: list[Any], inputs: list[Any], outputs: list[Any]) -> ModelProto:
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    opsets = [helper.make_opsetid("", 13)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    made.producer_name, made.producer_version = "pytorch", "2.1"
    return made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `net.onnx`, y = (x + z) * k, whose declared dims are wrong; and inputs."""
    nodes = [helper.make_node("Add", ["x", "z"], ["s"]), helper.make_node("Mul", ["s", "k"], ["y"])]
    net = model(
        nodes,
        # `n` is 2 in x and 1 in z; -1 and 0 are open dims; z has no shape
        [info("x", ["n", -1, 0]), info("z", None), info("k", ["n"])],
        [info("y", ["n", 7, "n"])],
    )
    (tmp_path / "net.onnx").write_bytes(net.SerializeToString())
    np.savez(tmp_path / "in.npz", x=X, z=Z, k=K)
    np.savez(tmp_path / "out.npz", y=Y)
    np.save(tmp_path / "k.npy", K)
    np.save(tmp_path / "f.npy", np.asfortranarray(X))
    np.save(tmp_path / "objects.npy", np.array([None]), allow_pickle=True)
    for name, array in (("x", X), ("z", Z), ("y", Y)):
        tensor = numpy_helper.from_array(array, "")
        (tmp_path / f"{name}.pb").write_bytes(tensor.SerializeToString())
    sets = tmp_path / "data"
    sets.mkdir()
    for kind, arrays in (("input", (X, Z, K)), ("output", (Y,))):
        for i, array in enumerate(arrays):
            tensor = numpy_helper.from_array(array, "xzk"[i] if kind == "input" else "")
            (sets / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())
    for name in ("pipe.npy", "pipe.pb"):
        os.mkfifo(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
Z = np.full((1, 3, 1), 0.5, np.float32)
K = np.array([1, 2, 3, 4], np.float32)
Y = (X + Z) * K


@pytest.mark.parametrize(
    "argv",
    [
        ["--inputs", "in.npz", "--expect", "out.npz"],
        ["--inputs", "x=x.pb", "--inputs", "z=z.pb", "--inputs", "k=k.npy", "--expect", "y=y.pb"],
        ["--inputs", "data", "--expect", "data"],
        ["--inputs", "data", "--inputs", "k=1,2,3,4", "--expect", "data"],
        [
            "--inputs",
            "x=f.npy",
            "--constant",
            "z=z.pb",
            "--constant",
            "k=1,2,3,4",
            "--expect",
            "data",
        ],
        [
            "--inputs=x=x.pb",
            "--shape=z=1x3x1",
            "--constant=z=0.5",
            "--constant=k=k.npy",
            "--expect=data",
        ],
    ],
)
def test_the_ways_to_give_inputs(folder: Path, capsys: Capture, argv: list[str]):
    assert run.main(["net.onnx", *argv]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out.endswith("as expected: 1 output\n")


def test_drawn_inputs_have_the_sizes_that_are_given(folder: Path, capsys: Capture):
    sizes = ["--shape", "x=2x3x4", "--shape", "z=1x3x1", "--shape", "k=4"]
    assert run.main(["net.onnx", "--random-seed", "0", *sizes]) == 0
    assert capsys.readouterr().out.startswith("y: float32[2, 3, 4]\n")
    assert run.main(["net.onnx", "--random-seed", "0", "--shape", "z=1x1x1"]) == 1
    assert "give --dim n=SIZE --dim x:1=SIZE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], 'net.onnx:1:1: error: input "z" has no shape; give it: --shape z=SIZExSIZE…\n'),
        (["--inputs", "x=objects.npy"], "objects.npy: error: its elements are Python objects"),
        (["--inputs", "x=net.pb"], "net.pb: error: cannot be read: No such file"),
        (["--inputs", "x.pb"], "error: 'x.pb' has one tensor without a name; give NAME="),
        (["--inputs", "in.npz", "--shape", "xx=1"], "net.onnx:1:1: error: unknown input 'xx'; the"),
        (
            ["--inputs", "in.npz", "--shape", "x=1xn"],
            "error: argument --shape: must be",
        ),
        (["--inputs", "in.npz", "--shape", "x=-1"], "error: argument --shape: must be"),
        (
            ["--inputs", "in.npz", "--constant", "k"],
            "error: argument --constant: must be an",
        ),
        (
            ["--inputs", "in.npz", "--constant", "k=[1"],
            "error: --constant k: must be a number",
        ),
        (["--inputs", "in.npz", "--constant", "k=1,2"], "net.onnx:"),
        (["--inputs", "in.npz", "--rtol", "-1"], "error: argument --rtol: must be a"),
        (["--inputs", "in.npz", "--rtol", "1"], "error: --rtol and --atol are toler"),
        (["--inputs", "in.npz", "--expect", "y=no.npy"], "no.npy: error: cannot be read: No such"),
        (["--inputs", "in.npz", "--expect", "in.npz"], "in.npz: error: member 'x' is not an outp"),
        (["--inputs", "in.npz", "--expect", "y=x.pb"], "error: the outputs are not as"),
        (
            ["--inputs", "/dev/zero", "--max-input", "1M"],
            "error: cannot read '/dev/zero': a pipe or device of more than",
        ),
        (["--inputs", "x=pipe.npy"], "error: cannot read 'pipe.npy': no process writes"),
        (["--inputs", "x=pipe.pb"], "error: cannot read 'pipe.pb': no process writes"),
        (
            ["--inputs", "in.npz", "--expect", "out.npz", "--outputs", "out.npz"],
            "error: cannot write 'out.npz': it is an input",
        ),
    ],
)
def test_mistakes(
    folder: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    argv: list[str],
    message: str,
):
    monkeypatch.setattr(files, "WRITER_WAIT", 0.0)
    status = run.main(["net.onnx", *argv])
    said = capsys.readouterr().err
    assert said.startswith(message)
    assert status == (2 if "(see xrelay-run --help)" in said else 1)
    assert "Traceback" not in said


def test_expected_outputs_are_opened_before_the_run(folder: Path, capsys: Capture):
    assert run.main(["net.onnx", "--inputs", "in.npz", "--expect", "y=no.npy"]) == 1
    assert capsys.readouterr().out == ""


def test_damaged_tensors_are_errors(folder: Path):
    good = (folder / "x.pb").read_bytes()
    huge = TensorProto(data_type=1, dims=[2**62, 2**62])
    bad = [good[:-1], good + b"\x08\x05", b"\xff" * 30, b"", huge.SerializeToString()]
    bad += [TensorProto(data_type=8, dims=[1], string_data=[b"x"]).SerializeToString()]
    for data in bad:
        (folder / "bad.pb").write_bytes(data)
        with pytest.raises(FileError, match="not an ONNX tensor, or damaged: "):
            read_array("bad.pb")


def test_tensors_need_the_library_that_owns_their_format(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    def none_is_installed(name: str) -> None: ...

    monkeypatch.setattr(array_files, "find_spec", none_is_installed)
    with pytest.raises(UsageError, match=r"'x.pb' is an ONNX tensor, .* install 'xrelay\[onnx\]'"):
        read_array("x.pb")


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int8", "int64", "uint64", "float16", "float64"]
)
def test_tensors_of_every_type(folder: Path, dtype: str):
    """Also those in fields by type, such as `int32_data`."""
    values = np.array([[0, 1], [1, 100]]).astype(dtype)
    number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    listed = helper.make_tensor("t", number, values.shape, values.reshape(-1).tolist())
    for tensor in (numpy_helper.from_array(values), listed):
        (folder / "t.pb").write_bytes(tensor.SerializeToString())
        read = read_array("t.pb")
        assert (read.dtype, read.tolist()) == (values.dtype, values.tolist())


def test_differences():
    expected = np.array([[1, 2, np.nan], [np.inf, 0, 100]], np.float32)
    assert difference(expected, expected.copy(), 0, 0) is None
    actual = expected + np.array([[0, 0.5, 0], [0, 0, 0.01]], np.float32)
    assert difference(actual, expected, 1e-3, 1e-5) == (
        "1 of 6 elements differ by more than 1e-05 + 0.001 * |expected|; worst at [0, 1]: 2.5, "
        "expected 2 (difference 0.5)"
    )
    actual[0, 0] = np.nan
    assert "2 of 6" in str(difference(actual, expected, 1e-3, 0))
    assert difference(actual, expected[0], 0, 0) == ("is float32[2, 3], but float32[3] is expected")


def test_the_driver_binds_programs_of_every_format(opt: Opt, folder: Path):
    ran = opt("net.onnx", "--shapes-of", "in.npz", "--constant", "k=2")
    assert "func.func @main(%x: tensor<2x3x4xf32> {relay.name" in ran.out
    assert "%z: tensor<1x3x1xf32>" in ran.out
    assert "%k" not in ran.out.partition("->")[0]
    program = "def @main(%a: Tensor[(?, 3), float32], %n: int32) { (%a, %n) }"
    (folder / "p.relay").write_text(f'#[version = "0.0.5"]\n{program}')
    ran = opt("p.relay", "--dim", "a:0=2", "--constant", "n=-7")
    assert "func.func @main(%a: tensor<2x3xf32>) ->" in ran.out
    assert "relay.constant dense<-7> : tensor<i32>" in ran.out
    for wrong in ("n=1.5", "m=1", "n=3000000000", "n=nan"):
        ran = opt("p.relay", "--constant", wrong)
        assert (ran.status, ran.out) == (1, "")
        assert "p.relay:2:5: error: @main: " in ran.err


def test_weights_are_not_written_beside_devices(
    opt: Opt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    add, x, y = helper.make_node("Add", ["x", "w"], ["y"]), info("x", [4096]), info("y", [4096])
    net = model([add], [x], [y])
    net.graph.initializer.append(numpy_helper.from_array(np.arange(4096, dtype=np.float32), "w"))
    (tmp_path / "net.onnx").write_bytes(net.SerializeToString())
    (tmp_path / "out.mlir").symlink_to("/dev/null")
    monkeypatch.chdir(tmp_path)
    ran = opt("net.onnx", "-o", "out.mlir")
    assert (ran.status, ran.out) == (0, "")
    assert "the weights stay in 'net.onnx', the output has none" in ran.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.onnx", "out.mlir"]


@pytest.mark.parametrize("unknown", ["?", "-1", "*"])
def test_a_dim_that_the_model_calls_unknown_has_no_name(
    opt: Opt, tmp_path: Path, capsys: Capture, unknown: str
):
    """Height and width are two sizes, as the exporter of Paddle writes them."""
    path = tmp_path / "net.onnx"
    shape = ["batch", 3, unknown, unknown]
    net = model([helper.make_node("Relu", ["x"], ["y"])], [info("x", shape)], [info("y", shape)])
    path.write_bytes(net.SerializeToString())
    assert "--dim batch=SIZE --dim x:2=SIZE --dim x:3=SIZE\n" in opt(path, "--summary").out
    assert run.main([str(path), "--random-seed", "0", "--shape", "x=1x3x2x5"]) == 0
    assert capsys.readouterr().out.startswith("y: float32[1, 3, 2, 5]\n")
    image = np.zeros((1, 3, 2, 5), np.float32)
    assert xrelay.compile(path)(image).shape == image.shape


NAMES = ["floor(h/2)", "a b", "$HOME", "-n", "~n", "*x", "it's", "größe", "plain"]


@pytest.mark.parametrize("name", NAMES)
def test_options_in_messages_can_be_typed_into_a_shell(
    opt: Opt, tmp_path: Path, capsys: Capture, name: str
):
    path = tmp_path / "net.onnx"
    nodes = [
        helper.make_node("Dropout", ["x", "", f"{name}s"], ["a"]),
        helper.make_node("Shape", ["x"], ["height"], start=2, end=3),
        helper.make_node("Cast", ["height"], ["is_training"], to=TensorProto.BOOL),
        helper.make_node("Dropout", ["x", "", "is_training"], ["y"]),
    ]
    inputs = [info("x", [1, 1, name, 4]), info(f"{name}s", [], TensorProto.BOOL)]
    net = model(nodes, inputs, [info("y", None)])
    path.write_bytes(net.SerializeToString())
    refusal = opt(path).err
    del net.graph.node[:], net.graph.input[1:]
    net.graph.node.append(helper.make_node("Relu", ["x"], ["y"]))
    path.write_bytes(net.SerializeToString())
    assert run.main([str(path), "--random-seed", "0"]) == 1
    for text in (refusal, capsys.readouterr().err, opt(path, "--summary").out):
        options = re.findall(r"--(?:dim|constant)[ =].*", text)[0]
        printed = subprocess.check_output(["sh", "-c", f"printf '%s\\n' {options}"], text=True)
        words = printed.splitlines()
        assert any(word.removeprefix("--dim=") == f"{name}=SIZE" for word in words), text
        if text is refusal:
            assert any(word.removeprefix("--constant=") == f"{name}s=VALUE" for word in words), text
    sized = f"--dim={name}=3"
    assert run.main([str(path), "--random-seed", "0", sized]) == 0


def test_values_in_python(folder: Path):
    exe = xrelay.compile("net.onnx", shapes={"x": (2, 3, 4)}, inputs={"z": Z, "k": [1, 2, 3, 4]})
    assert str(exe.signature).startswith("main(x: float32[2, 3, 4]) -> (y: ")
    np.testing.assert_allclose(exe(X), Y)
    with pytest.raises(xrelay.Error, match="inputs: 'k' must have a number or an array of"):
        xrelay.compile("net.onnx", inputs={"k": "four"})
    with pytest.raises(xrelay.Error, match=r"the shape of 'k' is given as .*, but its value has"):
        xrelay.compile("net.onnx", shapes={"k": (3,)}, inputs={"k": K})


def test_everything_that_is_not_supported_is_listed(opt: Opt, tmp_path: Path):
    """The model and the text of the page in `docs/`."""
    nodes = [
        helper.make_node("Unfold", ["x"], ["a"], "u1"),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Unfold", ["b"], ["c"], "u2"),
        helper.make_node("Dropout", ["x", "", "training"], ["d"], "dropout"),
        helper.make_node("Relu", ["d"], ["y"]),
    ]
    inputs = [info("x", ["batch", 4]), info("training", [], TensorProto.BOOL)]
    path = tmp_path / "model.onnx"
    net = model(nodes, inputs, [info("y", ["batch", 4])])
    path.write_bytes(net.SerializeToString())
    ran = opt(path, "--summary")
    assert ran.status == 1
    assert (ran.out + ran.err).replace(str(path), "model.onnx") in DOCS.read_text()
    assert opt(path).err == ran.err
    del net.graph.node[:3]
    path.write_bytes(net.SerializeToString())
    assert opt(path, "--constant", "training=0", "--summary").status == 0
    exe = xrelay.compile(path, inputs={"training": 0})
    (expected,) = run_onnxruntime(net, {"x": X[0], "training": np.array(0, bool)})
    np.testing.assert_array_equal(exe(X[0]), expected)


def test_the_summary_of_other_programs(opt: Opt, source: Callable[[str], Path]):
    path = source(
        """
        func.func @main(%x: tensor<?x4xf32> {relay.dims = ["n", 4]}) -> tensor<?x4xf32> {
          %w = relay.param "w" : tensor<4x4xf32>
          %y = relay.nn.dense %x, %w : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
          func.return %y : tensor<?x4xf32>
        }
        """
    )
    ran = opt(path, "--summary")
    assert ran.out.splitlines()[1:] == [
        "inputs:",
        "  x: float32[n, 4]",
        "outputs:",
        "  output_0: float32[n, 4]",
        "open dims: n (x:0); give them sizes: --dim n=SIZE",
        "operators: 1 different one, 1 in all",
        "  nn.dense: 1",
        "weights: 1 tensor, 64 bytes",
        "  float32: 1, 64 bytes",
    ]
    assert "  x: float32[2, 4]\n" in opt(path, "--summary", "--dim", "n=2").out
