"""
Tests of what the README and other documents show, and of the README's two commands.

`documents.py` describes the format of the tour.
"""

import os
import re
import shlex
from pathlib import Path

import pytest
from helpers.documents import (
    ROOT,
    Shown,
    blocks,
    matches,
    printed_by,
    shown_blocks,
    shown_by,
    shown_commands,
)
from helpers.programs.every_case import every

README = ROOT / "README.md"
DOCUMENTS = [
    path
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/**/*.md", "examples/**/*.md")
    for path in sorted(ROOT.glob(pattern))
]


def command_of(name: str) -> str:
    """The command under the comment `<!-- command: NAME -->`."""
    pattern = rf"<!-- command: {name} -->\n```sh\n(.*)\n```"
    (found,) = re.findall(pattern, README.read_text(encoding="utf-8"))
    return found


TOUR = [
    pytest.param(shown, id=f"{path.relative_to(ROOT)}:{shown[0].line}")
    for path in DOCUMENTS
    if path.name != "plugins.md"  # test_plugin.py has a folder for these
    for shown in shown_blocks(path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("block", TOUR)
def test_commands_print_what_is_shown(block: list[Shown], tmp_path: Path):
    """
    The commands of a block share a folder, which has all files of the repository.

    Commands that also need others, like `sed`, are processes; `.ci/run` starts those of the README.
    """
    for entry in ROOT.iterdir():
        (tmp_path / entry.name).symlink_to(entry)
    for shown in block:
        is_cold = "--profile" in shown.command  # its rows are in the order of a first call's times
        run = printed_by if is_cold else shown_by
        printed = run(shown.command, tmp_path, os.environ)
        assert matches(shown.output, printed), f"{shown.command}\nprints\n{printed}"


def test_there_is_a_tour():
    tour = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    assert len(list(shown_commands(tour))) >= 12


def test_the_readme_fits_four_screens():
    """Lines of 100 characters, 38 to a screen; two pictures of half a screen."""
    text = README.read_text(encoding="utf-8")
    lines = sum(-(-len(line) // 100) for line in text.splitlines())
    assert lines <= 3 * 38


def test_dots_stand_for_any_text_and_nothing_else_does():
    assert matches("a\n...\nd", "a\nb\nc\nd\n")
    assert matches("x ... y", "x (1, 2) y")
    assert not matches("a.b", "aXb")
    assert not matches("a\n...", "b")
    assert not matches("a", "a\nb")


def test_commands_and_files_are_found():
    text = (
        "```console\n$ x\n1\n2\n$ y\n```\n$ no\n```sh\n$ no\n```\n`a/b.py`:\n\n```python\nc\n```\n"
    )
    assert list(shown_blocks(text)) == [[Shown("x", "1\n2", 2), Shown("y", "", 5)]]
    assert [(block.file, block.text) for block in blocks(text)][1:] == [
        (None, "$ no\n"),
        ("a/b.py", "c\n"),
    ]


def test_the_picture_of_the_memory_plan_is_up_to_date():
    command = "xrelay-opt examples/squeezenet.mlir -p vm -t memory-plan-svg"
    drawn = (ROOT / "docs" / "images" / "squeezenet.svg").read_text(encoding="utf-8")
    printed = shown_by(command, ROOT, os.environ)
    assert printed == drawn, f"run: {command} -o docs/images/squeezenet.svg"


def test_the_two_commands_use_what_there_is():
    """`.ci/run` runs both; this tests that their scripts and files exist."""
    environment, main = command_of("main").split(" && ", 1)
    assert environment == "python3 -m venv .venv"
    assert main.startswith(".venv/bin/pip install -q . && .venv/bin/xrelay-run ")
    words = shlex.split(main.rpartition(" && ")[2])
    assert (ROOT / words[1]).is_file()
    assert command_of("tests").endswith(".venv/bin/pytest -q -n auto")


@every("path", DOCUMENTS)
def test_links_lead_somewhere(path: Path):
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    local = [t for t in targets if "://" not in t]
    assert not [t for t in local if not (path.parent / t).exists()]


def test_every_page_is_listed():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    pages |= {f"reference/{path.name}" for path in (ROOT / "docs" / "reference").glob("*.md")}
    assert not [page for page in pages if f"]({page})" not in index]


def test_every_design_note_is_listed_and_has_its_three_parts():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    notes = sorted((ROOT / "docs" / "design").glob("*.md"))
    assert len({note.name[:4] for note in notes}) == len(notes), "two notes have one number"
    for note in notes:
        text = note.read_text(encoding="utf-8")
        title = re.sub(r"^# \d+\.? ", "", text.partition("\n")[0])
        assert f"- [{note.name[:4]}](design/{note.name}) {title}\n" in index
        assert re.findall(r"^\*\*(\w+)\.\*\*", text, re.M) == ["Context", "Decision", "Consequence"]
