"""Executables: written by `xrelay-opt`, run by `xrelay-run`, shown by `xrelay-objdump`."""

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import light_network
from onnx import TensorProto, helper
from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType]

import xrelay
from xrelay.runtime.executable import read_executable, write_executable
from xrelay.runtime.program.program import Kernel, Step, TensorSpec, WeightFunction
from xrelay.tools import objdump
from xrelay.tools.opt import opt
from xrelay.tools.run import run

EXAMPLES = Path(__file__).parents[2] / "examples"
MLP = """
builtin.module attributes {relay.params = "w.safetensors"} {
  func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x4xf32> {relay.name = "scores"}) {
    %w = relay.param "w" : tensor<4x3xf32>
    %0 = relay.nn.dense %x, %w : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    func.return %0 : tensor<2x4xf32>
  }
}
"""
X = np.array([[1, 2, 3], [-1, 0, 1]], np.float32)
W = np.arange(12, dtype=np.float32).reshape(4, 3) - 5

WITHOUT_COMPILER = """
import sys
from pathlib import Path

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("xdsl", "onnx", "safetensors"):
            raise ImportError(f"{name} is not installed")

sys.meta_path.insert(0, Refuse())
from xrelay.tools.start import run
sys.argv[0] = "xrelay-run"
status = run()
rooms = ("dialects", "lowering", "frontends")
assert not [name for name in sys.modules if name.startswith(tuple(f"xrelay.{r}" for r in rooms))]
sys.exit(status)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a program, its weights, its executable and its inputs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.mlir").write_text(MLP)
    save_file({"w": W, "unused": X}, tmp_path / "w.safetensors")
    np.savez(tmp_path / "in.npz", x=X)
    assert opt.main(["m.mlir", "-p", "vm", "-t", "executable", "-o", "m.xrx"]) == 0
    return tmp_path


def fails(capsys: pytest.CaptureFixture[str], *argv: str, main: Any = run.main) -> str:
    """Run a command that must fail; return its message."""
    capsys.readouterr()
    status = main(list(argv))
    said = capsys.readouterr().err
    assert status in (1, 2)
    assert "internal error" not in said
    return said


def test_an_executable_has_the_outputs_of_its_program(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    shown: list[str] = []
    for file in ("m.mlir", "m.xrx"):
        assert run.main([file, "--inputs", "in.npz", "--outputs", "out.npz", "--stats"]) == 0
        shown.append(capsys.readouterr().out)
        with np.load("out.npz") as written:
            np.testing.assert_allclose(written["scores"], X @ W.T)
    assert shown[0] == shown[1]


def same_without_the_compiler(
    capsys: pytest.CaptureFixture[str], program: str, exe: str, *options: str
) -> None:
    """Assert that `exe` computes what `program` does, in a process that lacks the compiler."""
    capsys.readouterr()
    options = ("--random-seed", "3", "--random-weights", *options)
    assert run.main([program, *options]) == 0
    wanted = capsys.readouterr().out
    assert wanted
    command = [sys.executable, "-c", WITHOUT_COMPILER, exe, *options]
    one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # as here: another order of sums
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=one_thread)
    assert ran.stdout == wanted


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("lists.relay", [()]),
        *(
            pytest.param(*case, marks=pytest.mark.ci)
            for case in (
                ("closures.relay", [()]),
                ("lstm.relay", [("xs:0=4", "xs:1=2", "h:0=2", "c:0=2")]),
                ("dynamic.mlir", [("n=5",), ("n=2",)]),
                ("mlp.mlir", [()]),
                ("classifier.mlir", [()]),
            )
        ),
    ],
)
def test_examples_run_without_the_compiler(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    sizes: Sequence[tuple[str, ...]],
):
    program, exe = str(EXAMPLES / name), str(tmp_path / "m.xrx")
    assert opt.main([program, "-p", "vm", "-t", "executable", "-o", exe]) == 0
    for dims in sizes:
        same_without_the_compiler(capsys, program, exe, *(f"--dim={dim}" for dim in dims))


@pytest.mark.ci
def test_a_program_that_allocates_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    program, exe = str(tmp_path / "same.relay"), str(tmp_path / "same.xrx")
    Path(program).write_text('#[version = "0.0.5"]\ndef @main(%x: float32) { %x }\n')
    assert opt.main([program, "-p", "vm", "-t", "executable", "-o", exe]) == 0
    same_without_the_compiler(capsys, program, exe)


@pytest.mark.ci
def test_a_model_with_its_weights_beside_and_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(light_network("squeezenet").model.SerializeToString())
    assert opt.main(["m.onnx", "-p", "vm", "-t", "executable", "-o", "beside.xrx"]) == 0
    embedded = "executable{embed=true}"
    assert opt.main(["m.onnx", "-p", "vm", "-t", embedded, "-o", "inside.xrx"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "beside.safetensors",
        "beside.xrx",
        "inside.xrx",
        "m.onnx",
    ]
    for file in ("beside.xrx", "inside.xrx"):
        same_without_the_compiler(capsys, "m.onnx", file)
        assert run.main([file, "--random-seed", "0", "--verify-constants"]) == 0


def test_output_names_in_every_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in ("p", "q/1")
    ]
    nodes = [helper.make_node("Softmax", ["x"], ["p"]), helper.make_node("Relu", ["x"], ["q/1"])]
    opset = [helper.make_opsetid("", 13)]
    graph = helper.make_graph(nodes, "g", [x], outputs)
    Path("m.onnx").write_bytes(
        helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()
    )
    assert opt.main(["m.onnx", "-p", "vm", "-o", "m.mlir"]) == 0
    assert opt.main(["m.onnx", "-p", "vm", "-t", "executable", "-o", "m.xrx"]) == 0
    assert opt.main(["m.mlir", "-t", "executable", "-o", "again.xrx"]) == 0
    shown: set[str] = set()
    for file in ("m.onnx", "m.mlir", "m.xrx", "again.xrx"):
        capsys.readouterr()
        assert run.main([file, "--random-seed", "0", "--dim", "n=2"]) == 0
        shown.add(capsys.readouterr().out)
    (text,) = shown
    names = [line for line in text.splitlines() if not line.startswith(" ")]
    assert names == ["p: float32[2, 4]", "q/1: float32[2, 4]"]
    again, first = xrelay.load("again.xrx"), xrelay.load("m.xrx")
    assert [result.name for result in again.outputs] == [result.name for result in first.outputs]
    assert again.inputs == first.inputs  # bytecode text has no names of dims of results


def test_an_executable_on_stdin(folder: Path, monkeypatch: pytest.MonkeyPatch):
    class Stdin:
        buffer = io.BufferedReader(io.BytesIO(Path("m.xrx").read_bytes()))

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert run.main(["-", "--inputs", "in.npz"]) == 0


def test_an_executable_with_another_extension(folder: Path):
    Path("m.xrx").rename("m.bin")
    assert run.main(["m.bin", "--inputs", "in.npz"]) == 0


def test_weights_that_changed(folder: Path, capsys: pytest.CaptureFixture[str]):
    save_file({"w": W + 1, "unused": X}, folder / "w.safetensors")
    said = fails(capsys, "m.xrx", "--inputs", "in.npz")
    assert said.startswith("m.xrx: error: 'w.safetensors': the values of 'w' are not those")
    (folder / "w.safetensors").unlink()
    said = fails(capsys, "m.xrx", "--inputs", "in.npz")
    assert "its file 'w.safetensors' does not exist" in said
    assert run.main(["m.xrx", "--inputs", "in.npz", "--random-seed", "0", "--random-weights"]) == 0


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["no.xrx"], "error: cannot read 'no.xrx': No such file"),
        (["text.xrx"], "text.xrx: error: not an executable, but text"),
        (["short.xrx"], "short.xrx: error: section 'header', byte 16: the file has 500 bytes, but"),
        (["m.xrx"], "error: no value for input 'x' (float32[2, 3]); give --inputs"),
        (["lib.so"], "lib.so: error: cannot load lib.so: "),
        (["m.xrx", "--function", "f"], "error: unknown function 'f'; the program has: main"),
        (["m.xrx", "--evaluate"], "error: --evaluate is for programs, but this is an exec"),
        (["m.xrx", "--pipeline", "vm"], "error: --pipeline is for programs, but this is"),
        (["m.mlir", "--verify-constants"], "error: --verify-constants is for executables"),
        (
            ["m.xrx", "--inputs", "bad.npz"],
            "bad.npz: error: member 'x' must be float32[2, 3] for main, but is float32[3, 2]",
        ),
        (["m.xrx", "--random-seed", "0", "--memory-limit", "100"], "m.mlir:5:10: error: "),
        (["m.xrx", "--inputs", "in.npz", "--max-instructions", "1"], "m.mlir:6:5: error: "),
    ],
)
def test_mistakes(folder: Path, capsys: pytest.CaptureFixture[str], argv: list[str], message: str):
    (folder / "text.xrx").write_text(MLP)
    (folder / "lib.so").write_bytes(b"\x7fELF\x02")
    (folder / "short.xrx").write_bytes((folder / "m.xrx").read_bytes()[:500])
    np.savez("bad.npz", x=X.T)
    assert fails(capsys, *argv).startswith(message)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["-p", "infer-types", "-o", "n.xrx"], "error: an executable needs bytecode: end the pip"),
        (["-p", "vm", "-o", "no/n.xrx"], "error: cannot write 'no/n.xrx': No such file"),
        (["-p", "vm", "--split-input-file"], "error: -t executable writes one program, not --sp"),
    ],
)
def test_mistakes_in_writing(
    folder: Path, capsys: pytest.CaptureFixture[str], argv: list[str], message: str
):
    assert (
        fails(capsys, "m.mlir", "-t", "executable", *argv, main=opt.main)
        .splitlines()[-1]
        .startswith(message)
    )
    assert not (folder / "n.xrx").exists()


def test_targets_name_their_options(capsys: pytest.CaptureFixture[str]):
    for target, message in (
        (
            "executable{shrink=true}",
            "1:12: error: target 'executable' has no option 'shrink' (it a",
        ),
        (
            "executable{embed=3}",
            "1:12: error: option 'embed' of target 'executable' must be true or ",
        ),
        ("native{blas=mkl}", "'native' must be one of openblas, openblas-always, but is \"mkl\""),
        ("native{cpu=a cpu=b}", "target:1:14: error: option 'cpu' is given twice"),
        ("relay-text{dims=3}", "target 'relay-text' has no option 'dims' (it accepts none)"),
        ("object{cpu=x", "target:1:13: error: expected the name of an option or '}', but got the"),
    ):
        assert opt.main(["m.mlir", "-t", target]) == 2
        assert message in capsys.readouterr().err


def test_files_of_arrays_are_named_in_errors(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert opt.main(["m.mlir", "--shapes-of", "no.npz"]) == 1
    assert capsys.readouterr().err.startswith("no.npz: error: cannot be read: No such file")


def test_missing_weights_are_a_warning(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "w.safetensors").unlink()
    assert opt.main(["m.mlir", "-p", "vm", "-t", "executable", "-o", "n.xrx"]) == 0
    assert "warning: 'w.safetensors' does not exist: the exec" in capsys.readouterr().err
    assert read_executable("n.xrx").checksums == {}
    assert run.main(["n.xrx", "--inputs", "in.npz", "--random-weights"]) == 0


def test_weights_elsewhere_are_a_warning(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "out").mkdir()
    assert opt.main(["m.mlir", "-p", "vm", "-t", "executable", "-o", "out/m.xrx"]) == 0
    said = capsys.readouterr().err
    assert "will look for 'w.safetensors' beside it: copy 'w.safetensors'" in said
    argv = ["out/m.xrx", "--inputs", "in.npz"]
    assert run.main(argv) == 1
    assert run.main([*argv, "--params", "w.safetensors"]) == 0


def test_a_dump_shows_everything(folder: Path, capsys: pytest.CaptureFixture[str]):
    capsys.readouterr()
    assert objdump.main(["m.xrx", "--verify-constants"]) == 0
    out = capsys.readouterr().out
    for text in (
        "executable, format 7.2, made by xrelay ",
        "weights in w.safetensors",
        "function main(x: float32[2, 3]) -> (scores: float32[2, 4]): ",
        "device 0: cpu:0 (host)",
        "constant 0:  float32[4, 3]  48  'w'  sha256 ",
        "main            cpu:0      32        32   32        1            1",
        "relay.nn.dense(%0, %1): float32[2, 4]",
        "invoke_packed @fused_nn_dense(",
    ):
        assert text in out
    sizes = [int(line.split()[2].replace(",", "")) for line in out.splitlines() if "KiB" in line]
    assert sum(sizes) < (folder / "m.xrx").stat().st_size


def test_a_dump_of_weights_metadata_and_sections_of_plug_ins(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    """Weights by formula are functions; a section is shown by its first bytes."""
    spec = TensorSpec("float32", (4, 3))
    twice = Kernel(*("weight", (spec,), (), (spec,)), (Step("relay.add", {}, (0, 0), (1,)),), (1,))
    file = replace(
        read_executable("m.xrx"),
        weights=(WeightFunction("=relay.add('v', 'v')", ("v",), twice),),
        added={"demo": b"\x01" * 50},
        metadata={"pipeline": "vm", "made for": "a test"},
    )
    write_executable("w.xrx", file)
    capsys.readouterr()
    sections = ["weights", "metadata", "plug-ins"]
    options = [option for name in sections for option in ("--section", name)]
    assert objdump.main(["w.xrx", *options]) == 0
    out = capsys.readouterr().out
    assert "weight =relay.add('v', 'v') of v:\n" in out
    assert "relay.add(%0, %0): float32[4, 3]" in out
    assert "pipeline: vm\nmade for: a test\n" in out
    assert "section 'demo' of a plug-in: 50 bytes: b'" in out
    assert objdump.main(["w.xrx", "--json", *options]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["plug-ins"] == {"demo": "01" * 50}
    assert facts["metadata"] == {"pipeline": "vm", "made for": "a test"}
    (weight,) = facts["weights"]
    assert (weight["weights"], weight["kernel"]["operators"]) == (["v"], ["relay.add"])
    assert objdump.main(["w.xrx"]) == 0
    assert re.search(r"  demo +\d+ +50 +50 B +\w{8}  optional\n", capsys.readouterr().out)


def test_a_dump_as_json(folder: Path, capsys: pytest.CaptureFixture[str]):
    capsys.readouterr()
    assert objdump.main(["m.xrx", "--json", "--section", "file", "--section", "memory"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["file", "memory"]
    assert found["memory"][0]["planned"] == {"bytes": 32, "formula": ""}
    last = found["file"]["sections"][-1]
    assert last["offset"] + last["bytes"] == (folder / "m.xrx").stat().st_size


def test_a_dump_of_hostile_names_is_printable(folder: Path, capsys: pytest.CaptureFixture[str]):
    text = MLP.replace('"scores"', '"\\1B[2J"').replace('"w"', '"\\1B]0;x\\07"')
    Path("m.mlir").write_text(text)
    assert opt.main(["m.mlir", "-p", "vm", "-t", "executable", "-o", "h.xrx"]) == 1
    save_file({"\x1b]0;x\x07": W}, "w.safetensors")
    assert opt.main(["m.mlir", "-p", "vm", "-t", "executable", "-o", "h.xrx"]) == 0
    capsys.readouterr()
    assert objdump.main(["h.xrx"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\\x1b[2J" in out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["no.xrx"], "error: cannot read 'no.xrx': No such file"),
        (["m.mlir"], "m.mlir: error: not an executable, but text"),
        (["lib.so"], "lib.so: error: not an executable, but machine code"),
        (["cut.xrx"], "cut.xrx: error: section 'code', byte "),
        (["--nonsense", "m.xrx"], "error: unrecognized arguments: --nonsense (see"),
    ],
)
def test_mistakes_in_dumping(
    folder: Path, capsys: pytest.CaptureFixture[str], argv: list[str], message: str
):
    data = bytearray((folder / "m.xrx").read_bytes())
    layout = read_executable("m.xrx").layout
    assert layout is not None
    code = next(section for section in layout.sections if section.name == "code")
    data[code.offset] ^= 1
    (folder / "cut.xrx").write_bytes(data)
    (folder / "lib.so").write_bytes(b"\x7fELF\x02")
    assert fails(capsys, *argv, main=objdump.main).startswith(message)


@pytest.mark.ci
def test_a_closed_pipe_is_quiet(folder: Path):
    code = "from xrelay.tools.start import objdump; import sys; sys.exit(objdump())"
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        command = [sys.executable, "-c", code, "m.xrx"]
        ran = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, check=False)
    assert (ran.returncode, ran.stderr) == (1, b"")
