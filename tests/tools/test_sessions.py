"""One session: levels of pipelines, options that all share, and an install without the compiler."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy
import pytest

import xrelay
from xrelay.tools.api.shared_options import SharedOptions, shared_options
from xrelay.tools.errors import UsageError
from xrelay.tools.opt.opt import main as opt
from xrelay.tools.opt.opt_arguments import parse_arguments as opt_arguments
from xrelay.tools.run.run import main as run
from xrelay.tools.run.run_options import parse_arguments as run_arguments

PROGRAM = """
func.func @main(%x: tensor<2x3xf32> {relay.name = "x"}) -> tensor<2x3xf32> {
  %y = relay.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = relay.add %y, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %z : tensor<2x3xf32>
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


@pytest.mark.ci
def test_a_pipeline_stops_at_a_level_and_goes_on_from_it(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """The parts before and after each level make what the whole pipeline makes."""
    assert opt([str(program), "-p", "vm"]) == 0
    whole = capsys.readouterr().out
    assert whole.count("bytecode.func") == 1
    for level in ("planned", "fused", "lowered", "manifest", "memory-planned"):
        half = tmp_path / f"{level}.mlir"
        assert opt([str(program), "-p", "vm", "--to-level", level, "-o", str(half)]) == 0
        assert "bytecode" not in half.read_text(encoding="utf-8")
        assert opt([str(half), "-p", "vm", "--from-level", level]) == 0
        assert capsys.readouterr().out == whole
        assert (
            run([str(half), "--pipeline", "vm", "--from-level", level, "--random-seed", "0"]) == 0
        )
        assert "output_0: float32[2, 3]" in capsys.readouterr().out
    assert opt([str(program), "-p", "vm", "--from-level", "lowered", "--to-level", "planned"]) == 0
    assert "relay.exp" in capsys.readouterr().out


def test_levels_in_python(program: Path):
    module = xrelay.run_pipeline(xrelay.parse(program), "vm", to_level="manifest")
    assert "memory.alloc_storage" in str(module)
    exe = xrelay.compile(module, from_level="manifest")
    assert "float32[2, 3]" in str(exe.signature)
    with pytest.raises(xrelay.Error, match="must end in bytecode"):
        xrelay.compile(program, to_level="planned")


@pytest.mark.parametrize("arguments", [["-p", "cse"], ["-p", "linalg"]])
def test_a_level_that_a_pipeline_lacks(
    program: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
):
    assert opt([str(program), *arguments, "--to-level", "planned"]) == 2
    assert "the pipeline has no level 'planned'; its levels: relay" in capsys.readouterr().err


def test_options_that_all_share():
    """Each is declared once: the commands have it, and the functions in Python check it."""
    for name in SharedOptions.__annotations__:
        assert hasattr(opt_arguments([]), name)
        option = f"--{name.replace('_', '-')}"
        is_flag = name == "allow_unregistered_dialect"
        given = [option] if is_flag else [option, "planned"]
        expected: Any = True if is_flag else "planned"
        assert getattr(opt_arguments(given), name) == expected
        assert run_arguments(["file", *given]).shared == {
            **run_arguments(["file"]).shared,
            name: expected,
        }
    wrong: Any = {"to_level": "plan"}
    with pytest.raises(xrelay.Error, match=r"to_level must be one of relay, planned, .* 'plan'"):
        xrelay.compile("none.mlir", **wrong)
    unknown: Any = {"to_stage": "planned"}
    with pytest.raises(TypeError, match="unexpected keyword argument 'to_stage'"):
        xrelay.compile("none.mlir", **unknown)


def test_an_option_is_one_place(monkeypatch: pytest.MonkeyPatch):
    """A key of the type is an option of both commands, and a keyword that is checked."""
    hints = {**SharedOptions.__annotations__, "stop_early": Annotated[bool, "stop early"]}
    monkeypatch.setattr(SharedOptions, "__annotations__", hints)
    assert opt_arguments(["--stop-early"]).stop_early is True
    assert run_arguments(["file", "--stop-early"]).shared == {"stop_early": True, **UNSET}
    assert shared_options({"stop_early": True}) == {"stop_early": True}
    with pytest.raises(UsageError, match="stop_early must be one of True, False, but is 3"):
        shared_options({"stop_early": 3})


UNSET = {"allow_unregistered_dialect": False}
"""The options of a command without options."""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder of packages as after `pip install --no-deps xrelay numpy`."""
    folder = tmp_path / "installed"
    folder.mkdir()
    for package in (Path(numpy.__file__).parent, Path(xrelay.__file__).parent):
        (folder / package.name).symlink_to(package)
        if (beside := package.with_name(f"{package.name}.libs")).exists():
            (folder / beside.name).symlink_to(beside)
    return folder


def without_compiler(folder: Path, command: str, *arguments: object) -> tuple[int, str, str]:
    """Run a command with the packages in `folder` only; return status, stdout and stderr."""
    argv = [f"xrelay-{command}", *map(str, arguments)]
    code = f"import sys; sys.path[:0], sys.argv = [{str(folder)!r}], {argv!r}; "
    code += f"from xrelay.tools import start; sys.exit(start.{command}())"
    line = [sys.executable, "-S", "-c", code]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.ci
def test_executables_run_without_the_compiler(program: Path, installed: Path):
    executable = program.with_suffix(".xrx")
    assert opt([str(program), "-p", "vm", "-t", "executable", "-o", str(executable)]) == 0
    ran = without_compiler(installed, "run", executable, "--random-seed", 0, "--stats")
    assert (ran[0], ran[2]) == (0, "")
    assert "output_0: float32[2, 3]" in ran[1]
    dumped = without_compiler(installed, "objdump", executable)
    assert (dumped[0], dumped[2]) == (0, "")
    assert "pipeline: infer-types," in dumped[1]
    assert without_compiler(installed, "opt", "--help")[0] == 0
    assert without_compiler(installed, "opt", "--nothing")[0] == 2


CURE = "pip install xrelay installs it with xDSL; "


@pytest.mark.parametrize(
    ("command", "instead"),
    [("opt", "xrelay-run FILE.xrx and xrelay.load run"), ("run", "xrelay-run FILE.xrx runs")],
)
def test_what_needs_the_compiler_says_what_installs_it(
    command: str, instead: str, program: Path, installed: Path
):
    status, out, err = without_compiler(installed, command, program)
    assert (status, out) == (1, "")
    assert err.removeprefix(f"{program}: ") == (
        "error: the compiler is not installed here, only what runs compiled programs: "
        f"{CURE}{instead} compiled programs\n"
    )
