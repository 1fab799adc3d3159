"""Inputs that are pipes or devices: read to their end, or refused by name at a limit."""

import io
import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import xrelay
from xrelay.runtime import files
from xrelay.runtime.errors import MachineError
from xrelay.runtime.program.program import Array
from xrelay.runtime.weights.tensor_file import write_tensors
from xrelay.tools import objdump, plan
from xrelay.tools.opt import opt
from xrelay.tools.run import run

Capture = pytest.CaptureFixture[str]

PROGRAM = """\
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = relay.param "w" : tensor<2xf32>
  %y = relay.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
"""
ONES = np.ones(2, np.float32)
RUN = ["m.mlir", "--params", "w.safetensors", "--random-seed", "0"]
PROBLEM = "id,lower,upper,size\na,0,2,64\n"


def plan_main(argv: list[str]) -> int:
    try:
        return plan.main(argv)
    finally:
        files.limit_input(None)


def objdump_main(argv: list[str]) -> int:
    try:
        return objdump.main(argv)
    finally:
        files.limit_input(None)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("m.mlir").write_text(PROGRAM)
    Path("problem.csv").write_text(PROBLEM)
    write_tensors("w.safetensors", {"w": ONES})
    np.savez("x.npz", x=ONES)
    np.save("x.npy", ONES)
    return tmp_path


@contextmanager
def piped(source: str | Path) -> Generator[str]:
    """The name of a pipe to which the bytes of the file `source` are written once."""
    data = Path(source).read_bytes()
    name = f"pipe{len(list(Path().iterdir()))}"
    os.mkfifo(name)

    def write() -> None:
        with open(name, "wb") as pipe:
            pipe.write(data)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        yield name
    finally:
        writer.join(10)


@pytest.mark.parametrize(
    ("main", "argv"),
    [
        (opt.main, ["/dev/zero"]),
        *((opt.main, ["/dev/zero", "-f", name]) for name in ("onnx", "relay", "relay-json")),
        (opt.main, ["m.mlir", "--shapes-of", "/dev/zero"]),
        (opt.main, ["m.mlir", "-t", "executable{embed=true}", "-p", "vm", "--params", "/dev/zero"]),
        (run.main, ["/dev/zero", "--random-seed", "0"]),
        (run.main, ["m.mlir", "--random-seed", "0", "--params", "/dev/zero"]),
        (run.main, [*RUN, "--inputs", "/dev/zero"]),
        (run.main, [*RUN, "--inputs", "x=/dev/zero"]),
        (run.main, [*RUN, "--expect", "/dev/zero"]),
        (plan_main, ["/dev/zero"]),
        (plan_main, ["--check", "problem.csv", "/dev/zero"]),
        (objdump_main, ["/dev/zero"]),
    ],
)
def test_what_has_no_end_is_refused_by_name(
    main: Callable[[list[str]], int], argv: list[str], capsys: Capture
):
    assert main([*argv, "--max-input", "1M"]) == 1
    said = capsys.readouterr().err
    text = "cannot read '/dev/zero': a pipe or device of more than 1000000 bytes (--max-input)"
    assert text in said
    assert "internal error" not in said


@pytest.mark.parametrize("main", [opt.main, run.main, plan_main, objdump_main])
def test_stdin_without_an_end(
    main: Callable[[list[str]], int], capsys: Capture, monkeypatch: pytest.MonkeyPatch
):
    with open("/dev/zero", encoding="utf-8") as zeros:
        monkeypatch.setattr(sys, "stdin", zeros)
        assert main(["-", "--max-input", "2K"]) == 1
    assert "cannot read '<stdin>': a pipe or device of more than 2000" in capsys.readouterr().err


def test_stdin_that_is_a_file_has_no_limit(capsys: Capture, monkeypatch: pytest.MonkeyPatch):
    with open("m.mlir", encoding="utf-8") as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert opt.main(["-", "--max-input", "1"]) == 0


def test_a_limit_ends_with_its_command(monkeypatch: pytest.MonkeyPatch):
    assert opt.main(["m.mlir", "--max-input", "1"]) == 0
    assert files.read_stream(io.BytesIO(b"several bytes"), "bytes") == b"several bytes"


def test_every_input_of_a_run_may_be_a_pipe(capsys: Capture):
    with piped("m.mlir") as program, piped("w.safetensors") as weights, piped("x.npz") as inputs:
        assert run.main([program, "--params", weights, "--inputs", inputs]) == 0
    with piped("x.npy") as x, piped("x.npy") as expected:
        argv = ["m.mlir", "--params", "w.safetensors", "--inputs", f"x={x}"]
        assert run.main([*argv, "--expect", f"output_0={expected}"]) == 1
    assert "output_0: 2 of 2 elements differ" in capsys.readouterr().err


def test_executables_and_problems_may_be_pipes(capsys: Capture):
    argv = ["m.mlir", "-p", "vm", "-t", "executable{embed=true}", "--params", "w.safetensors"]
    assert opt.main([*argv, "-o", "m.xrx"]) == 0
    with piped("m.xrx") as executable:
        assert run.main([executable, "--random-seed", "0"]) == 0
    with piped("m.xrx") as executable:
        assert objdump.main([executable, "--section", "devices"]) == 0
    with piped("m.xrx") as executable:
        result: Array = xrelay.load(executable)(ONES)
        assert result.tolist() == [2, 2]
    with piped("problem.csv") as problem:
        assert plan.main([problem]) == 0
    assert "1 buffers, height 64" in capsys.readouterr().out


def test_the_python_api_has_the_default_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "MAX_INPUT", 1 << 16)
    files.limit_input(None)
    try:
        for frontend in ("mlir", "onnx", "relay"):
            with pytest.raises(xrelay.Error, match="cannot read '/dev/zero': a pipe or device of"):
                xrelay.parse("/dev/zero", frontend=frontend)
        with pytest.raises(MachineError, match="cannot read '/dev/zero': a pipe or device of"):
            xrelay.load("/dev/zero")
        with pytest.raises(xrelay.Error, match="cannot read '/dev/zero': a pipe or device of"):
            xrelay.compile("m.mlir", params="/dev/zero")
    finally:
        monkeypatch.undo()
        files.limit_input(None)
