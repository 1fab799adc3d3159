"""Progress is shown on terminals alone, and removed at the end."""

import sys
from io import StringIO
from pathlib import Path

import pytest

from xrelay.tools.opt import opt
from xrelay.tools.progress import CLEAR, WIDTH, Progress
from xrelay.tools.run import run

EXAMPLES = Path(__file__).parents[2] / "examples"
CLASSIFIER = str(EXAMPLES / "classifier.mlir")


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True

    @property
    def visible(self) -> str:
        """Return the text on the terminal; erased lines are not part of it."""
        lines = self.getvalue().split("\n")
        return "\n".join(line.rpartition(CLEAR)[2] for line in lines)


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stderr a terminal: not in a fixture, after which pytest replaces it."""
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    return terminal


def test_a_line_is_replaced_and_removed(monkeypatch: pytest.MonkeyPatch):
    terminal = on_terminal(monkeypatch)
    progress = Progress()
    progress.show("one")
    progress.show("two")
    assert terminal.visible == "two"
    progress.clear()
    progress.clear()
    assert terminal.visible == ""
    progress.show("a\nb\x1b" + 100 * "c")
    assert terminal.visible == ("a?b?" + 100 * "c")[:WIDTH]


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_nothing_is_shown_elsewhere(term: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", term)
    stream = Terminal() if term == "dumb" else StringIO()
    with Progress(stream).during("one"):
        pass
    assert stream.getvalue() == ""


def test_passes_are_shown(monkeypatch: pytest.MonkeyPatch):
    terminal = on_terminal(monkeypatch)
    assert run.main([CLASSIFIER, "--random-seed", "0", "--benchmark", "1"]) == 0
    assert f"{CLEAR}pass 1 of " in terminal.getvalue()
    assert ": fuse-ops" in terminal.getvalue()
    assert f"{CLEAR}running main" in terminal.getvalue()
    assert terminal.visible == ""


def test_messages_are_not_mixed_with_progress(monkeypatch: pytest.MonkeyPatch):
    terminal = on_terminal(monkeypatch)
    assert opt.main([CLASSIFIER, "-p", "infer-types,verify-stage{stage=bytecode}"]) == 1
    assert f"{CLEAR}pass 1 of 2: infer-types" in terminal.getvalue()
    assert terminal.visible.startswith(f"{CLASSIFIER}:")


def test_dumps_are_not_mixed_with_progress(monkeypatch: pytest.MonkeyPatch):
    terminal = on_terminal(monkeypatch)
    argv = [CLASSIFIER, "-p", "infer-types,fuse-ops", "--print-ir-after-all"]
    assert opt.main(argv) == 0
    assert CLEAR not in terminal.getvalue()
    assert opt.main([CLASSIFIER, "-p", "vm", "--memory-report"]) == 0
    assert f"{CLEAR}memory of @main on" in terminal.getvalue()
