"""Read the text that `mlir-opt` prints of upstream dialects, without unregistered ops."""

import mmap
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from xrelay.lowering.native.toolchain.tool_paths import tool
from xrelay.tools.opt import opt

FORMS = Path(__file__).parent.parent / "data" / "foreign" / "forms.mlir"


@cache
def mlir_opt(text: str, *options: str) -> str:
    """Return what `mlir-opt` prints of `text`, part by part."""
    command = [tool("mlir-opt"), "--split-input-file", *options]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("options", [[], ["--mlir-print-op-generic"]], ids=["custom", "generic"])
def test_each_form_is_read_and_printed(options: list[str], tmp_path: Path):
    text = mlir_opt(FORMS.read_text(), *options)
    source, printed = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text(text)
    assert opt.main([str(source), "--split-input-file", "-o", str(printed)]) == 0
    assert mlir_opt(printed.read_text()) == mlir_opt(text)


def test_each_op_of_the_seven_dialects_is_among_the_forms():
    library = Path(tool("mlir-opt")).parents[1] / "lib" / "libMLIR.so"
    word = rb"\0((?:memref|scf|cf|func|arith|affine|linalg)\.[a-z_0-9.]+)(?=\0)"
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        names = {name.decode() for name in re.findall(word, data)}
    text = "\n// -----\n".join(f"{name} =" for name in sorted(names))
    command = [tool("mlir-opt"), "--split-input-file"]
    errors = subprocess.run(command, input=text, capture_output=True, text=True).stderr
    ops = names - {*re.findall("custom op '(.*)' is unknown", errors)}
    forms = mlir_opt(FORMS.read_text(), "--mlir-print-op-generic")
    assert len(ops) > 200
    assert not ops - {*re.findall(r'"([a-z]+\.[\w.]+)"[ (]', forms)}
