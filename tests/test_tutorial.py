"""
The tutorial and the README: what their code prints is what they show; `examples/tour.py` is that of
the tutorial.

    python tests/test_tutorial.py        write examples/tour.py again
"""

import io
import os
import re
import subprocess
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path

import pytest
from helpers.documents import ROOT, blocks, matches
from helpers.processes.forked_commands import with_commands

TUTORIAL = ROOT / "docs" / "tutorial.md"
README = ROOT / "README.md"
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


@pytest.mark.parametrize(("page", "count"), [(TUTORIAL, 15), (README, 1)])
def test_pages_print_what_they_show(
    page: Path, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    printed, shown = "", 0
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "python":
            with redirect_stdout(io.StringIO()) as stream:
                exec(compile(block.text, f"{page.name}:{block.line}", "exec"), names)
            printed = stream.getvalue()
        elif block.language == "text":
            assert matches(block.text, printed), f"line {block.line} prints\n{printed}"
            printed, shown = "", shown + 1
    assert shown >= count


def test_all_that_is_printed_is_shown():
    for block, after in pairwise(blocks(TUTORIAL.read_text(encoding="utf-8"))):
        if block.language == "python" and re.search(r"^ *print\(", block.text, re.M):
            assert after.language == "text", f"line {block.line}"


def test_the_tour_is_the_code_of_the_tutorial():
    assert TOUR.read_text(encoding="utf-8") == tour(), f"run: python tests/{Path(__file__).name}"


def test_the_tour_runs():
    done = subprocess.run(
        ["python", str(TOUR)],
        cwd=ROOT,
        env=with_commands(os.environ),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("[0. 0. 1. 2.]\n")


if __name__ == "__main__":
    TOUR.write_text(tour(), encoding="utf-8")
