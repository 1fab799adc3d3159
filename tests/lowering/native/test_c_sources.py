"""
clang-tidy reads the C of libraries: the support files, beside the tables of a program.

Like other checks of style, it runs in CI.
"""

import subprocess
import sysconfig
from pathlib import Path

import pytest
from helpers.programs.random_settings import ROUNDS

from xrelay.lowering.native.toolchain.linking import c_file
from xrelay.tools.opt.opt import main

pytestmark = pytest.mark.skipif(ROUNDS < 4, reason="a check of style: XRELAY_ROUNDS=4, as in CI")

PROGRAM = """
func.func @main(%x: tensor<?x8xf32>, %y: tensor<4xi1>, %k: tensor<2xi64>)
    -> (tensor<?x8xf32>, tensor<4xi1>, tensor<?x?xi1>) {
  %w = relay.param "w" : tensor<8x8xf32>
  %a = relay.nn.dense %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %n = relay.logical_not %y : (tensor<4xi1>) -> tensor<4xi1>
  %r = relay.dyn.reshape %y, %k : (tensor<4xi1>, tensor<2xi64>) -> tensor<?x?xi1>
  func.return %a, %n, %r : tensor<?x8xf32>, tensor<4xi1>, tensor<?x?xi1>
}"""
"""A program with all parts: sizes that are computed, weights, and results that a call allocates."""

TARGET = "object{cpu=levels weights=file blas=openblas-always threads=on cache=off}"
CLANG_TIDY = Path(sysconfig.get_path("scripts")) / "clang-tidy"
CONFIGURATION = Path("lowering/native/c/.clang-tidy")


def messages(source: Path, *options: str) -> str:
    """Return what clang-tidy prints about a C file."""
    root = Path(__file__).parents[3]
    command = [CLANG_TIDY, "--quiet", f"--config-file={root / CONFIGURATION}", *options]
    done = subprocess.run(
        [*command, source, "--", "-std=c11"], capture_output=True, text=True, check=False
    )
    return done.stdout


def test_clang_tidy_has_nothing_to_say(tmp_path: Path):
    source, stages = tmp_path / "net.mlir", tmp_path / "stages"
    source.write_text(PROGRAM)
    arguments = ["-p", "aot", "-t", TARGET, "--random-weights", "--save-temps", str(stages)]
    assert main([str(source), *arguments, "-o", str(tmp_path / "net.o")]) == 0
    (stages / "shim.c").write_text(with_tables(stages))
    files = {path.name: messages(path) for path in stages.glob("*.c")}
    names = ["blas.c", "interface.c", "levels.c", "runtime_support.c", "shim.c", "weights.c"]
    assert files == dict.fromkeys(names, "")


def with_tables(stages: Path) -> str:
    """Return the functions with the tables of a program, which promise what they need."""
    interface = (stages / "interface.c").read_text()
    tables = interface[interface.index("/* ---- the program ---- */") :]
    return (stages / "shim.c").read_text() + tables


def test_clang_tidy_sees_a_mistake(tmp_path: Path):
    source = tmp_path / "shim.c"
    text = c_file("shim.c").replace('#include "dlpack.h"', c_file("dlpack.h"))
    wrong = text.replace("tensor->bits > 8", "tensor->bits > tensor->bits")
    assert wrong != text
    source.write_text(wrong)
    assert "misc-redundant-expression" in messages(source, "--checks=-clang-analyzer-*")
