"""Commands replace what earlier runs of theirs wrote, and else only what `--overwrite` allows."""

from pathlib import Path

import pytest

from xrelay.tools.opt import opt

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
