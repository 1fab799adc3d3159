"""Running lit tests in this process has the same results as in a shell."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from xrelay.tools.testing import lit_discovery, lit_format
from xrelay.tools.testing.lit_discovery import find_tests

# lit's own shell leaves pipes open.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

CONFIG = Path(__file__).parent.parent.parent / "lit_tests" / "lit.cfg.py"


def execute(folder: Path, text: str, **params: str) -> Any:
    """Run a single test with this text; return lit's result."""
    (folder / "lit.cfg.py").write_text(CONFIG.read_text())
    path = folder / "test.mlir"
    path.write_text(text)
    (test,) = find_tests(path, **params)
    return lit_discovery.execute(test)


@pytest.fixture
def no_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if a process is started."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr("subprocess.Popen", refuse)


CASES = {
    "passes": ("xrelay-opt %s | filecheck %s", "PASS"),
    "no match": ("xrelay-opt %s | filecheck %s --check-prefix=OTHER", "FAIL"),
    "a failing tool": ("xrelay-opt %s -p nothing", "FAIL"),
    "a failing tool before one that succeeds": ("xrelay-opt %s -p nothing | not filecheck %s",
                                                "FAIL"),
    "wanted failure": ("not xrelay-opt %s -p nothing", "PASS"),
    "a failure that does not come": ("not xrelay-opt %s", "FAIL"),
    "messages in the pipe": (
        "not xrelay-opt %s -p nothing 2>&1 | filecheck %s --check-prefix=ERROR", "PASS"),
    "files between lines": ("cat %s > %t && filecheck %s < %t", "PASS"),
    "an input from a file": ("xrelay-opt < %s | filecheck %s", "PASS"),
    "roundtrip": ("ROUNDTRIP", "PASS"),
    "generic roundtrip": ("GENERIC_ROUNDTRIP", "PASS"),
    "bytes that are no executable": ("xrelay-opt %s | not xrelay-objdump -", "PASS"),
    "another program": ("cat %s | filecheck %s", "PASS"),
}  # fmt: skip


SHELL = ("another program", "files between lines")
"""The cases that need lit's shell."""


def check(tmp_path: Path, name: str, **params: str) -> None:
    line, code = CASES[name]
    text = f"// RUN: {line}\n// CHECK: func.func private @f\n// ERROR: unknown pass\n"
    text += "func.func private @f()\n"
    assert execute(tmp_path, text, **params).code.name == code


@pytest.mark.usefixtures("no_shell")
@pytest.mark.parametrize("name", [name for name in CASES if name not in SHELL])
def test_results_without_a_process(tmp_path: Path, name: str):
    check(tmp_path, name)


@pytest.mark.parametrize("name", SHELL)
def test_results_in_a_shell(tmp_path: Path, name: str):
    check(tmp_path, name)


@pytest.mark.ci
@pytest.mark.parametrize("name", ["no match", "messages in the pipe", "roundtrip"])
def test_a_shell_agrees(tmp_path: Path, name: str):
    check(tmp_path, name, shell="1")


@pytest.mark.usefixtures("no_shell")
@pytest.mark.parametrize("reader", ["xrelay-objdump -", "xrelay-run - --random-seed 0"])
def test_an_executable_goes_through_a_pipe(tmp_path: Path, reader: str):
    text = f"""// RUN: xrelay-opt %s -p vm -t executable | {reader} | filecheck %s
        // CHECK: float32
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
          %y = relay.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
          func.return %y : tensor<4xf32>
        }}"""
    assert execute(tmp_path, text).code.name == "PASS"


def test_a_failure_shows_the_line_and_what_was_said(tmp_path: Path):
    result = execute(tmp_path, "// RUN: xrelay-opt %s -p nothing\nfunc.func private @f()\n")
    assert "xrelay-opt" in result.output
    assert "unknown pass or pipeline 'nothing'" in result.output


def test_requirements_are_heeded(tmp_path: Path):
    text = "// REQUIRES: something-else\n// RUN: xrelay-opt %s -p nothing\n"
    assert execute(tmp_path, text).code.name == "UNSUPPORTED"


def test_streams_and_directory_are_restored(tmp_path: Path):
    before = sys.stdin, sys.stdout, sys.stderr, os.getcwd()
    check(tmp_path, "a failing tool")
    assert (sys.stdin, sys.stdout, sys.stderr, os.getcwd()) == before


def test_time_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def spin(_: list[str]) -> int:
        while True:
            pass

    monkeypatch.setattr("xrelay.tools.opt.opt.main", spin)
    config = CONFIG.read_text().replace("InProcess()", "InProcess(0.2)")
    assert "InProcess(0.2)" in config

    def read_text(_: Path) -> str:
        return config

    monkeypatch.setattr(Path, "read_text", read_text)
    result = execute(tmp_path, "// RUN: xrelay-opt %s\n")
    assert result.code.name == "TIMEOUT"


def test_what_needs_a_shell_is_recognized():
    for line in (
        "xrelay-opt a | sort",
        "echo $HOME",
        "xrelay-opt a; xrelay-opt b",
        "X=1 xrelay-opt",
    ):
        with pytest.raises(lit_format.NotOurs):
            lit_format.parse(line, True)
