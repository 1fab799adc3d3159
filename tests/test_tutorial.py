"""
The tutorial: what its code prints is what it shows, and `examples/tour.py` is its code.

    python tests/test_tutorial.py        write examples/tour.py again
"""

import io
import re
import subprocess
import sys
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path

import pytest
from documents import ROOT, blocks, matches

TUTORIAL = ROOT / "docs" / "tutorial.md"
TOUR = ROOT / "examples" / "tour.py"


def tour() -> str:
    """Return the code of the tutorial in cells, with its headings."""
    text = TUTORIAL.read_text(encoding="utf-8")
    headings = [(n, line[3:]) for n, line in enumerate(text.split("\n"), 1) if line[:3] == "## "]
    cells = ['"""The code of docs/tutorial.md, to be run in the root of the repository."""\n']
    title = ""
    for block in blocks(text):
        if block.language == "python":
            heading = [name for line, name in headings if line < block.line][-1]
            cells.append(f"# %%{'' if heading == title else f' {heading}'}\n{block.text}")
            title = heading
    return "\n".join(cells)


def test_the_tutorial_prints_what_it_shows(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {"__name__": "tutorial"}
    printed, shown = "", 0
    for block in blocks(TUTORIAL.read_text(encoding="utf-8")):
        if block.language == "python":
            with redirect_stdout(io.StringIO()) as stream:
                exec(compile(block.text, f"{TUTORIAL.name}:{block.line}", "exec"), names)
            printed = stream.getvalue()
        elif block.language == "text":
            assert matches(block.text, printed), f"line {block.line} prints\n{printed}"
            printed, shown = "", shown + 1
    assert shown >= 15


def test_all_that_is_printed_is_shown():
    for block, after in pairwise(blocks(TUTORIAL.read_text(encoding="utf-8"))):
        if block.language == "python" and re.search(r"^ *print\(", block.text, re.M):
            assert after.language == "text", f"line {block.line}"


def test_the_tour_is_the_code_of_the_tutorial():
    assert TOUR.read_text(encoding="utf-8") == tour(), f"run: python tests/{Path(__file__).name}"


def test_the_tour_runs():
    done = subprocess.run(
        [sys.executable, str(TOUR)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("[0. 0. 1. 2.]\n")


if __name__ == "__main__":
    TOUR.write_text(tour(), encoding="utf-8")
