"""A run leaves no state behind in the process, and imports only what it needs."""

import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.diagnostic import Diagnostic

Opt = Callable[..., Any]
Write = Callable[[str], Path]

PROGRAM = """\
func.func @f(%a: i32) -> i32 {
  %c = arith.constant 1 : i32
  %x = arith.addi %a, %c : i32
  func.return %x : i32
}
"""
RESOURCE = """\
"test.op"() {a = dense_resource<weights> : tensor<1xi32>} : () -> ()
{-# dialect_resources: { builtin: { weights: "0x04000000XX000000" } } #-}
"""


def state() -> tuple[object, ...]:
    """The process-wide settings that a run changes while it runs."""
    return (
        sys.getrecursionlimit(),
        gc.get_threshold(),
        Attribute.__post_init__,
        Diagnostic.colored,
        Block._attach_op,  # pyright: ignore[reportPrivateUsage]
        *(cls.walk for cls in (Operation, Region, Block)),
        IsolatedFromAbove.verify,
        sys.stdout,
        sys.stderr,
    )


def test_settings_are_restored(opt: Opt, source: Write):
    before = state()
    path = source(PROGRAM)
    for arguments in (
        (path,),
        (path, "--disable-verify", "--syntax-highlight"),
        (path, "-p", "nothing"),
        ("--list-passes",),
        ("--version",),
    ):
        opt(*arguments)
        assert state() == before


def test_verifying_is_back_after_a_run_without(opt: Opt, source: Write):
    bad = source('"test.op"() {a = array<i32: 4000000000000>} : () -> ()')
    first = opt(bad)
    assert first.status == 1
    opt(bad, "--disable-verify")
    assert opt(bad) == first


def test_resources_of_runs_are_apart(opt: Opt, source: Write):
    for digits in ("07", "08"):
        ran = opt(source(RESOURCE.replace("XX", digits)))
        assert ran.status == 0
        assert "dense_resource<weights>" in ran.out
        assert f'weights: "0x04000000{digits}000000"' in ran.out


def test_resources_of_parts_are_apart(opt: Opt, source: Write):
    parts = [RESOURCE.replace("XX", digits) for digits in ("07", "08")]
    ran = opt(source("// -----\n".join(parts)), "--split-input-file")
    first, second = ran.out.split("// -----")
    assert "0x0400000007000000" in first
    assert "0x0400000008000000" in second
    assert "weights_" not in ran.out


def test_unregistered_ops_of_one_run_are_unknown_to_the_next(opt: Opt, source: Write):
    path = source('"unknown.op"() : () -> ()')
    assert opt(path, "--allow-unregistered-dialect").status == 0
    assert opt(path).status == 1


LOADED = """
import sys
from xrelay.tools.opt.opt import main
status = main([sys.argv[1], "-o", sys.argv[2], *sys.argv[3:]])
print(status, *sorted(sys.modules), file=sys.stderr)
"""


def modules_after(*arguments: object) -> set[str]:
    """The modules that are loaded at the end of a run in a separate process."""
    command = [sys.executable, "-c", LOADED, *(str(a) for a in arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    status, *modules = ran.stderr.split()
    assert status == "0"
    return set(modules)


@pytest.mark.ci
def test_only_what_is_needed_is_loaded(source: Write, tmp_path: Path):
    """A module of `func` and `arith` loads these dialects and no pass."""
    loaded = modules_after(source(PROGRAM), tmp_path / "out.mlir")
    assert "xdsl.dialects.arith" in loaded
    eager = {
        name
        for name in loaded
        if name.split(".")[0] in ("numpy", "onnx", "safetensors", "lit", "filecheck")
        or name.startswith(("xrelay.dialects.", "xrelay.lowering", "xrelay.runtime"))
        or name.startswith(("xrelay.frontends", "xdsl.transforms."))
    }
    light = {f"xrelay.runtime.{name}" for name in ("entry_points", "errors", "files")}
    runtime = {f"xrelay.runtime.{name}" for name in ("calls", "calls.input_bindings")}
    assert eager - {"xrelay.runtime", *light, *runtime} == {
        f"xrelay.dialects.{name}"
        for name in (
            *("device", "errors", "foreign", "tensors", "type_algebra", "xdsl_extras"),
            *("foreign.form_parts", "foreign.func_forms"),
            *(
                f"xdsl_extras.{name}"
                for name in (
                    *("described_constraints", "identity", "late_definitions"),
                    *("locations_at_ends", "segments", "walking", "xdsl_internals"),
                )
            ),
        )
    }
    passes = {name for name in loaded if name.startswith("xrelay.passes.")}
    assert passes <= {
        "xrelay.passes.analysis",
        "xrelay.passes.analysis.dominance",
        "xrelay.passes.support",
        "xrelay.passes.support.changes",
        "xrelay.passes.support.diagnostics",
        "xrelay.passes.support.changes",
        "xrelay.passes.support.op_definitions",
        "xrelay.passes.support.levels",
        "xrelay.passes.support.reached",
        "xrelay.passes.support.verifier",
    }


@pytest.mark.ci
def test_only_the_passes_that_are_run_are_loaded(source: Write, tmp_path: Path):
    loaded = modules_after(source(PROGRAM), tmp_path / "out.mlir", "-p", "cse")
    transforms = {name for name in loaded if name.startswith("xdsl.transforms.")}
    assert "xdsl.transforms.common_subexpression_elimination" in transforms
    assert "xdsl.transforms.canonicalize" not in transforms


COMMAND = """
import sys
from importlib import import_module
main = getattr(import_module(sys.argv[1]), sys.argv[2])
sys.argv[1:] = sys.argv[3:]
status = main()
print("\\n", status, *sorted(sys.modules))
"""
CSV = "id,lower,upper,size\nx,0,4,4096\n"


@pytest.mark.parametrize("main", ["opt", "run", "objdump"])
def test_help_imports_nothing_heavy(main: str):
    code = f"""
import sys
from xrelay.tools.start import {main}
sys.argv[1:] = ["--help"]
assert {main}() == 0
heavy = ("xdsl", "onnx", *(["numpy"] if {main!r} != "objdump" else []))
assert not [name for name in sys.modules if name.partition(".")[0] in heavy]
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("main", "text", "arguments", "loads"),
    [
        ("start:opt", PROGRAM, ("-p", "cse"), "xrelay.tools.opt.driver"),
        ("start:opt", PROGRAM, ("--verify-diagnostics",), "xrelay.tools.opt.verify_diagnostics"),
        ("start:run", PROGRAM, ("--evaluate", "--random-seed=0"), "xrelay.tools.run.executables"),
        ("start:plan", CSV, (), "xrelay.planning"),
    ],
    ids=["xrelay-opt", "xrelay-opt --verify-diagnostics", "xrelay-run", "xrelay-plan"],
)
def test_commands_do_not_load_what_only_tests_need(
    tmp_path: Path, main: str, text: str, arguments: tuple[str, ...], loads: str
):
    module, _, function = main.partition(":")
    path = tmp_path / "input"
    path.write_text(text)
    if text is PROGRAM:
        path = path.rename(tmp_path / "input.mlir")
    command = [sys.executable, "-c", COMMAND, f"xrelay.tools.{module}", function, str(path)]
    ran = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True)
    _, *loaded = ran.stdout.rpartition("\n ")[2].split()
    assert loads in loaded
    assert ("xrelay.tools.opt.verify_diagnostics" in loaded) == (
        "--verify-diagnostics" in arguments
    )
    assert not [name for name in loaded if name.startswith("xrelay.tools.testing")]
