"""Plug-ins that are one file: `--load FILE.py`. Commands are processes, as files stay loaded."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.documents import blocks
from helpers.processes.forked_commands import with_commands
from onnx import TensorProto, helper

from xrelay.runtime import entry_points
from xrelay.tools.api.plugin_files import load_files
from xrelay.tools.errors import UsageError

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
PROGRAM = """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = mine.cube %x : (tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}
"""
CUBES = "[1, 8, 0.125]"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "one_file.py").write_bytes((ROOT / "examples" / "one_file.py").read_bytes())
    (tmp_path / "cube.mlir").write_text(PROGRAM)
    node = helper.make_node("Cube", ["x"], ["y"], domain="my.domain")
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "xy")
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my.domain", 1)]
    graph = helper.make_graph([node], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=opsets)
    (tmp_path / "cube.onnx").write_bytes(model.SerializeToString())
    return tmp_path


def ran(command: str, folder: Path) -> tuple[int, str]:
    """The status of a command, and what it prints."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=with_commands(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout


def test_the_commands_of_the_page(folder: Path):
    (block,) = [b for b in blocks(PAGE) if b.language == "sh" and "--load" in b.text]
    mlir, model, native = block.text.splitlines()
    for command in (mlir, model):
        status, printed = ran(command, folder)
        assert (status, CUBES in printed) == (0, True), printed
    assert ran(native, folder) == (0, "")
    status, printed = ran("xrelay-run libcube.so --inputs x=1,2,0.5", folder)
    assert (status, CUBES in printed) == (0, True), printed


def test_an_executable_needs_the_file_again(folder: Path):
    assert ran("xrelay-opt cube.mlir --load one_file.py -o cube.xrx", folder) == (0, "")
    status, printed = ran("xrelay-run cube.xrx --load one_file.py --inputs x=1,2,0.5", folder)
    assert (status, CUBES in printed) == (0, True), printed
    status, printed = ran("xrelay-run cube.xrx --inputs x=1,2,0.5", folder)
    assert status == 1
    assert "mine.cube" in printed


def test_without_the_file(folder: Path):
    status, printed = ran("xrelay-run cube.onnx --inputs x=1,2,0.5", folder)
    assert status == 1
    assert "the operator is of domain my.domain; supported: ai.onnx, ai.onnx.ml" in printed


@pytest.mark.parametrize(
    ("command", "text", "message"),
    [
        (
            "opt",
            "import none_such",
            r"bad.py:1:1: error: ModuleNotFoundError: No module named 'none_such'",
        ),
        ("run", "x = 1\n\ny = 1 / 0\n", r"bad.py:3:1: error: ZeroDivisionError: division by zero"),
        ("opt", "x = (", r"bad.py:1:\d+: error: SyntaxError: '\(' was never closed"),
        ("run", "raise SystemExit(3)", r"bad.py:1:1: error: SystemExit: 3"),
        (
            "opt",
            "from xdsl.ir import Dialect\nD = Dialect('relay')",
            r"warning: plug-in 'bad' is skipped: it defines dialect 'relay', which xrelay defines",
        ),
    ],
)
def test_what_is_wrong_with_a_file(command: str, text: str, message: str, folder: Path):
    (folder / "bad.py").write_text(text)
    program = ROOT / "examples" / "classifier.mlir"
    options = {"opt": "-p vm", "run": "--random-seed 0"}[command]
    status, printed = ran(f"xrelay-{command} {program} --load bad.py {options}", folder)
    assert re.search(message, printed), printed
    assert status == (1 if "error" in message else 0)


BRANCHES = "TypeError: a formula cannot branch on a number, which it computes later: choose by"


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("return x if x > 0 else -x", BRANCHES),
        ("return max(x, x * x)", BRANCHES),
        ("x * x", "TypeError: a formula must return a number, but returned None"),
        ("return y", "NameError: name 'y' is not defined"),
    ],
)
def test_a_wrong_formula_is_an_error_at_the_op(formula: str, message: str, folder: Path):
    """Not a number that is computed without the branch."""
    text = (folder / "one_file.py").read_text()
    (folder / "wrong.py").write_text(text.replace("return x * x * x", formula))
    for command in ("xrelay-run {} --inputs x=1,-2,0.5", "xrelay-opt {} -o libwrong.so"):
        status, printed = ran(f"{command.format('cube.mlir')} --load wrong.py", folder)
        assert status == 1
        assert re.match(r"cube.mlir:\d+:\d+: error: ", printed), printed
        assert "mine.cube cannot be" in printed
        assert message in printed


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (
            "def k(attrs, ins, outs):\n    outs[0][...] = 0\nKERNELS = {'mine.cube': k}",
            "TypeError: its kernel must return a function to call, but returned None",
        ),
        (
            "DEFINITIONS = {'relay.add': 1}",
            "operators of plug-in 'wrong' are skipped: relay.add already has a definition from "
            "xrelay",
        ),
    ],
)
def test_wrong_tables(tables: str, message: str, folder: Path):
    text = (folder / "one_file.py").read_text().replace("DEFINITIONS = ", "NONE = ")
    (folder / "wrong.py").write_text(f"{text}\n{tables}\n")
    status, printed = ran("xrelay-run cube.mlir --load wrong.py --inputs x=1,2,0.5", folder)
    assert (status, message in printed) == (1, True), printed


def test_files_that_are_not_there_or_not_python(folder: Path):
    status, printed = ran("xrelay-opt cube.mlir --load none.py", folder)
    assert (status, printed) == (1, "error: cannot read 'none.py': No such file or directory\n")
    for command in ("xrelay-opt", "xrelay-run"):
        status, printed = ran(f"{command} cube.mlir --load cube.onnx", folder)
        message = "cannot load 'cube.onnx': the name of a file of Python must end in .py"
        assert (status, printed) == (1, f"error: {message}\n")
    (folder / "numpy.py").write_text("")
    status, printed = ran("xrelay-run cube.mlir --load numpy.py", folder)
    assert status == 1


def test_the_numbers_are_those_of_numpy(folder: Path):
    x = np.random.default_rng(0).standard_normal(3).astype(np.float32)
    np.savez(folder / "in.npz", x=x)
    np.savez(folder / "out.npz", output_0=x * x * x)
    for options in ("", "--evaluate", "--kernels native"):
        command = (
            f"xrelay-run cube.mlir --load one_file.py --inputs in.npz --expect out.npz {options}"
        )
        status, printed = ran(command, folder)
        assert (status, "as expected" in printed) == (0, True), printed


DEFINED = """
from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.utils.target import Target

class Renamed(ModulePass):
    name = "rename-mine"

class Listed(Target):
    name = "mine-list"

MINE = Dialect("mine_too", [], [])
KERNELS = {}
"""


def test_what_a_file_defines_is_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(entry_points, "_FILES", {})
    path = tmp_path / "defined_here.py"
    path.write_text(DEFINED)
    load_files([str(path)])
    module = sys.modules["defined_here"]
    monkeypatch.delitem(sys.modules, "defined_here")
    load_files([str(path)])  # it is not run again
    assert "defined_here" not in sys.modules
    universe = module.UNIVERSE
    names = [
        [*found] for found in (universe.all_dialects, universe.all_passes, universe.all_targets)
    ]
    assert names == [["mine_too"], ["rename-mine"], ["mine-list"]]
    assert universe.all_dialects["mine_too"]() is module.MINE


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("none.py", None, "cannot read '{}': No such file or directory"),
        ("broken.py", "x = 1\ny = (\n", "{}:2:5: error: SyntaxError: '(' was never closed"),
        ("raises.py", "x = 1\nx.y\n", "{}:2:1: error: AttributeError: 'int' object has no"),
        ("ends.py", "\n\nraise SystemExit(3)\n", "{}:3:1: error: SystemExit: 3"),
        ("text.txt", "", "cannot load '{}': the name of a file of Python must end in .py"),
        ("json.py", "", "cannot load '{}': there is a module 'json' already"),
    ],
)
def test_a_file_that_cannot_be_loaded(name: str, text: str | None, message: str, tmp_path: Path):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_files([str(path)])
    error = caught.value
    place = f"{error.location}: error: " if error.location else ""
    assert f"{place}{error.message}".startswith(message.format(path))
    assert path.stem == "json" or path.stem not in sys.modules
