"""The name of an output says what is written, and the contents of an input what is read."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from xrelay.runtime.files import START, kind_of
from xrelay.tools.opt import opt
from xrelay.tools.run import run
from xrelay.tools.targets.file_target import BY_EXTENSION, FOREIGN

ROOT = Path(__file__).parents[2]
PROGRAM = str(ROOT / "examples" / "classifier.mlir")
Capture = pytest.CaptureFixture[str]

STARTS = {
    ".mlir": "func.func @main(",
    ".relay": '#[version = "0.0.5"]\ndef @main(',
    ".xrx": "an executable",
    ".so": "machine code",
    ".o": "machine code",
    ".h": "int32_t ",
    ".html": "<!doctype html>",
    ".svg": "<svg xmlns",
    ".dot": "digraph {",
    ".smt2": "(set-logic ",
}
"""The contents of a file, by its extension."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.ci
@pytest.mark.parametrize("extension", BY_EXTENSION)
def test_the_name_says_what_is_written(extension: str):
    assert opt.main([PROGRAM, "-o", f"out{extension}"]) == 0
    data = Path(f"out{extension}").read_bytes()
    shown = STARTS[extension]
    assert kind_of(data[:START]) == shown or shown.lower() in data.decode().lower()


@pytest.mark.parametrize("extension", FOREIGN)
def test_what_no_target_writes_is_an_error(extension: str, capsys: Capture):
    assert opt.main([PROGRAM, "-o", f"out{extension}"]) == 2
    said = capsys.readouterr().err
    assert f"no target writes {extension}; a name ends in .mlir, .relay, .xrx, .so," in said
    assert opt.main([PROGRAM, "-p", "vm", "-t", "memory-plan-svg", "-o", f"out{extension}"]) == 2
    assert not [*Path().iterdir()]


def test_options_say_otherwise():
    assert opt.main([PROGRAM, "-t", "relay-text", "-o", "out.svg"]) == 0
    assert Path("out.svg").read_text().startswith("#[version")
    assert opt.main([PROGRAM, "-p", "vm{memory=none}", "-o", "out.xrx"]) == 0
    assert opt.main([PROGRAM, "-o", "plain"]) == 0
    assert "func.func" in Path("plain").read_text()


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([PROGRAM, "-p", "vm", "-o", "out.so"], "-t native needs a program at level memref, not"),
        ([PROGRAM, "-p", "vm", "-o", "out.h"], "-t c-header needs a program at level memref, not"),
        (["code.mlir", "-o", "out.o"], "-t object needs a program at level memref, not bytecode"),
        ([PROGRAM, "-p", "aot", "-o", "out.xrx"], "an executable needs bytecode: end the pipeline"),
        ([PROGRAM, "-p", "infer-types", "-o", "out.xrx"], "an executable needs bytecode"),
    ],
)
def test_contradictions(argv: list[str], message: str, capsys: Capture):
    assert opt.main([PROGRAM, "-p", "vm", "-o", "code.mlir"]) == 0
    assert opt.main(argv) == 1
    assert message in capsys.readouterr().err
    assert not Path(argv[-1]).exists()


def test_bytecode_is_written_as_it_is():
    assert opt.main([PROGRAM, "-p", "vm", "-o", "code.mlir"]) == 0
    assert opt.main(["code.mlir", "-o", "out.xrx"]) == 0
    assert run.main(["out.xrx", "--random-seed", "0"]) == 0


# ---------------------------------------------------------------------- what is read


def model() -> bytes:
    node = helper.make_node("Relu", ["x"], ["y"])
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    opsets = [helper.make_opsetid("", 17)]
    made = helper.make_model(helper.make_graph([node], "g", [x], [y]), opset_imports=opsets)
    return made.SerializeToString()


RELAY = '/* of TVM */\n// printed\n#[version = "0.0.5"]\ndef @main(%x: Tensor[(2), int8]) { %x }\n'
JSON = {"root": 1, "nodes": [{"type_key": ""}], "attrs": {"tvm_version": "0.9.0"}}


@pytest.mark.parametrize("extension", ["", ".txt", ".pb", ".mlir", ".onnx", ".json"])
@pytest.mark.parametrize("kind", ["onnx", "relay", "mlir", "generic mlir"])
def test_contents_say_what_is_read(kind: str, extension: str):
    contents = {
        "onnx": model(),
        "relay": RELAY.encode(),
        "mlir": (ROOT / "examples" / "classifier.mlir").read_bytes(),
        "generic mlir": b'"builtin.module"() ({ "test.op"() : () -> () }) : () -> ()\n',
    }
    Path(f"in{extension}").write_bytes(contents[kind])
    assert opt.main([f"in{extension}", "-o", "out.mlir"]) == 0
    if "generic" not in kind:
        assert run.main([f"in{extension}", "--random-seed", "0"]) == 0


def test_json_is_that_of_tvm(capsys: Capture):
    Path("in.txt").write_text(json.dumps(JSON))
    assert opt.main(["in.txt"]) == 1
    said = capsys.readouterr().err
    assert opt.main(["in.txt", "-f", "relay-json"]) == 1
    assert said == capsys.readouterr().err


def test_what_nothing_recognises(capsys: Capture):
    Path("in.txt").write_text("once upon a time")
    assert opt.main(["in.txt"]) == 1
    assert "cannot tell what 'in.txt' is: its extension is not one of .mlir, .onnx, .relay," in (
        capsys.readouterr().err
    )
    assert opt.main([PROGRAM, "-o", "a.xrx"]) == 0
    assert opt.main(["a.xrx"]) == 1
    assert (
        "'a.xrx' is an executable, which is compiled already: xrelay-run and xrelay.load run"
        in (capsys.readouterr().err)
    )


# --------------------------------------------------------------------- what is run


def test_a_library_runs_like_a_program(capsys: Capture):
    """With the numbers of the machine, and times of its calls."""
    assert opt.main([PROGRAM, "-o", "liba.so"]) == 0
    assert run.main([PROGRAM, "--random-seed", "3", "-o", "y.npz"]) == 0
    machine = capsys.readouterr().out
    argv = ["--random-seed", "3", "--expect", "y.npz", "--benchmark", "3"]
    assert run.main(["liba.so", *argv]) == 0
    native = capsys.readouterr().out
    assert machine.splitlines()[0] == native.splitlines()[0] == "output_0: float32[2, 4]"
    assert "as expected: 1 output" in native
    line = r"one call    min .*, median .*, spread .* between quartiles, 95 % within"
    assert re.search(line, native)
    assert re.search(r"\n  load  ", native)
    w = np.zeros((4, 8), np.float32)
    np.savez("in.npz", w=w)
    values = ["--inputs", "in.npz", "--inputs", "x=1", "--inputs", "b=1,2,3,4"]
    assert run.main(["liba.so", *values]) == 0
    assert "[0.0320586, 0.0871443, 0.236883, 0.643914, 0.0320586, 0.0871443, …]" in (
        capsys.readouterr().out
    )


def test_options_that_a_library_has_no_use_for(capsys: Capture):
    assert opt.main([PROGRAM, "-o", "liba.so"]) == 0
    for option in (
        *("--stats", "--params=w", "--memory-limit=1M", "--profile", "--pipeline=vm"),
        *("--random-weights", "--sanitize", "--constant=x=1", "--save=a.xrx", "--kernels=native"),
    ):
        assert run.main(["liba.so", "--random-seed", "0", option]) == 2
        name = option.partition("=")[0]
        said = capsys.readouterr().err
        assert f"error: {name} is for programs, but this is machine code" in said


def test_what_was_run_is_saved(capsys: Capture):
    program = str(ROOT / "examples" / "mlp.mlir")
    argv = ["--random-seed", "0", "--random-weights"]
    assert run.main([program, *argv, "--save", "mlp.xrx", "--outputs", "y.npz"]) == 0
    assert run.main(["mlp.xrx", "--random-seed", "0", "--expect", "y.npz"]) == 0
    assert sorted(p.name for p in Path().iterdir()) == ["mlp.safetensors", "mlp.xrx", "y.npz"]
    capsys.readouterr()
    assert run.main(["mlp.xrx", "--random-seed", "0", "--save", "b.xrx"]) == 2
    assert "--save is for programs, but this is an executable: it is saved already" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--outputs=a.npy", "--outputs writes .npz files, but 'a.npy' says otherwise"),
        ("--save=a.so", "--save writes .xrx files, but 'a.so' says otherwise"),
        ("--save=a.onnx", "--save writes .xrx files, but 'a.onnx' says otherwise"),
    ],
)
def test_names_that_say_otherwise(option: str, message: str, capsys: Capture):
    assert run.main([PROGRAM, "--random-seed", "0", option]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--outputs", "--save", "--trace"])
@pytest.mark.parametrize(
    ("parent", "reason"), [("none", "No such file or directory"), ("file", "Not a directory")]
)
def test_a_missing_folder_is_an_error_before_the_run(
    option: str, parent: str, reason: str, capsys: Capture
):
    Path("file").write_text("")
    path = f"{parent}/x"
    assert run.main([PROGRAM, "--random-seed", "0", option, path]) == 1
    printed = capsys.readouterr()
    assert f"error: cannot write '{path}': {reason}" in printed.err
    assert not printed.out  # no outputs: it did not run
