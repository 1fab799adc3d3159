"""Commands replace what earlier runs wrote, else only what `--overwrite` allows; disks end."""

import resource
import sys
from pathlib import Path

import pytest

from xrelay.tools.opt import opt
from xrelay.tools.run import run

TEXT = (
    "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  func.return %x : tensor<4xf32>\n}\n"
)

Stderr = pytest.CaptureFixture[str]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "in.mlir"
    path.write_text(TEXT)
    return path


def test_an_earlier_output_is_replaced(program: Path):
    output = program.with_name("out.mlir")
    assert opt.main([str(program), "-o", str(output)]) == 0
    earlier = output.read_text()
    assert opt.main([str(program), "-p", "vm", "-o", str(output)]) == 0
    assert output.read_text() != earlier


@pytest.mark.parametrize("through_link", [False, True])
def test_an_input_stays(program: Path, capsys: Stderr, through_link: bool):
    output = program
    if through_link:
        output = program.with_name("link.mlir")
        output.symlink_to(program)
    assert opt.main([str(program), "-p", "vm", "-o", str(output)]) == 1
    assert "it is an input" in capsys.readouterr().err
    assert program.read_text() == TEXT
    assert opt.main([str(program), "-p", "vm", "-o", str(output), "--overwrite"]) == 0
    assert "bytecode.func" in program.read_text()


def test_a_file_of_another_kind_stays(program: Path, capsys: Stderr):
    model = program.with_name("model.txt")
    model.write_bytes(b"\x08\x07\x12\x00onnx")
    assert opt.main([str(program), "-o", str(model)]) == 1
    said = capsys.readouterr().err
    assert "it exists and is data, not text: choose another name\n" in said
    assert model.read_bytes() == b"\x08\x07\x12\x00onnx"
    assert opt.main([str(program), "-o", str(model), "--overwrite"]) == 0
    assert b"func.func" in model.read_bytes()


def test_an_output_file_that_is_full(program: Path, capsys: Stderr):
    assert opt.main([str(program), "-o", "/dev/full"]) == 1
    said = capsys.readouterr().err
    assert said == "error: cannot write '/dev/full': No space left on device\n"


TEMPORARY_FILES = [
    ("xrelay-opt", 100, ["-p", "aot", "-t", "native{cache=off}", "-o", "m.so"], "weights.bin"),
    ("xrelay-opt", 600, ["-p", "aot", "-t", "native{cache=off}", "-o", "m.so"], "interface.c"),
    ("xrelay-opt", 600, ["-p", "aot", "-t", "object{cache=off}", "-o", "m.o"], "interface.c"),
    (
        "xrelay-opt",
        300,
        ["-p", "aot", "-t", "native{cache=off}", "--save-temps", "temps", "-o", "m.so"],
        "module.json",
    ),
    ("xrelay-run", 600, ["--kernels", "native", "--random-seed", "0"], "calls.c"),
]


@pytest.mark.parametrize(("command", "size", "arguments", "file"), TEMPORARY_FILES)
def test_a_temporary_file_that_is_full_is_named(
    command: str,
    size: int,
    arguments: list[str],
    file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Stderr,
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("in.mlir").write_text(
        "func.func @main(%x: tensor<32xf32>) -> tensor<32xf32> {\n"
        '  %w = relay.param "w" : tensor<32xf32>\n'
        "  %y = relay.add %x, %w : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>\n"
        "  func.return %y : tensor<32xf32>\n}\n"
    )
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python keeps a truncated one
    main = {"xrelay-opt": opt.main, "xrelay-run": run.main}[command]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        assert main(["in.mlir", "--random-weights", *arguments]) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    said = capsys.readouterr().err
    assert "<stdout>" not in said
    assert "internal error" not in said
    assert said.endswith(f"/{file}': File too large\n")
    assert not Path("m.so").exists()
