"""
What the README shows is what happens: its tour, its table of passes, its two commands.

The tour is in blocks of ```console: lines that start with `$ ` are commands, the lines after
them what is printed (on stdout and stderr); `...` stands for any text.
"""

import os
import re
import shlex
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from xrelay.tools.pass_table import main as update_tables
from xrelay.tools.pass_table import with_table

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
SCRIPTS = sysconfig.get_path("scripts")
DOCUMENTS = [
    path
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/**/*.md", "examples/**/*.md")
    for path in sorted(ROOT.glob(pattern))
]


class Shown(NamedTuple):
    """A command of a document, and the output shown under it."""

    command: str
    output: str
    place: str


def shown_commands(path: Path) -> Iterator[Shown]:
    """The commands in the `console` blocks of a document."""
    inside, command, output, at = False, None, list[str](), 0
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        starts = inside and line.startswith("$ ")
        ends = inside and line == "```"
        if (starts or ends) and command is not None:
            yield Shown(command, "\n".join(output), f"{path.relative_to(ROOT)}:{at}")
            command = None
        if starts:
            command, output, at = line[2:], [], number
        elif inside:
            output.append(line)
        inside = (inside or line == "```console") and not ends


def matches(expected: str, actual: str) -> bool:
    """Whether `actual` is `expected`, in which `...` is any text."""
    parts = (re.escape(part) for part in expected.rstrip().split("..."))
    return re.fullmatch(".*?".join(parts), actual.rstrip(), re.DOTALL) is not None


def command_of(name: str) -> str:
    """The command under the comment `<!-- command: NAME -->`."""
    pattern = rf"<!-- command: {name} -->\n```sh\n(.*)\n```"
    (found,) = re.findall(pattern, README.read_text(encoding="utf-8"))
    return found


TOUR = [shown for path in DOCUMENTS for shown in shown_commands(path)]


@pytest.mark.parametrize("shown", TOUR, ids=[shown.place for shown in TOUR])
def test_commands_print_what_is_shown(shown: Shown):
    env = os.environ | {"PATH": os.pathsep.join((SCRIPTS, os.environ["PATH"]))}
    done = subprocess.run(
        ["bash", "-c", shown.command],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    assert matches(shown.output, done.stdout), f"{shown.command}\nprints\n{done.stdout}"


def test_there_is_a_tour():
    assert sum(shown.place.startswith("README") for shown in TOUR) >= 6


def test_dots_stand_for_any_text_and_nothing_else_does():
    assert matches("a\n...\nd", "a\nb\nc\nd\n")
    assert matches("x ... y", "x (1, 2) y")
    assert not matches("a.b", "aXb")
    assert not matches("a\n...", "b")
    assert not matches("a", "a\nb")


def test_commands_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    path = tmp_path / "a.md"
    path.write_text("```console\n$ x\n1\n2\n$ y\n```\n$ no\n```sh\n$ no\n```\n")
    assert list(shown_commands(path)) == [Shown("x", "1\n2", "a.md:2"), Shown("y", "", "a.md:5")]


def test_table_of_passes_is_up_to_date():
    text = README.read_text(encoding="utf-8")
    assert with_table(text) == text, "run: python -m xrelay.tools.pass_table README.md"


def test_table_of_passes_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    stale = tmp_path / "stale.md"
    stale.write_text("a\n<!-- passes: begin -->\nstale\n<!-- passes: end -->\nb\n")
    assert update_tables([str(stale)]) == 0
    text = stale.read_text()
    assert text.startswith("a\n<!-- passes: begin -->\n| pass |")
    assert text.endswith("<!-- passes: end -->\nb\n")
    assert "| `fuse-ops` |" in text
    assert "stale" not in text
    (tmp_path / "none.md").write_text("a")
    assert update_tables([str(tmp_path / "none.md")]) == 1
    assert "error: there are no lines" in capsys.readouterr().err


def test_the_two_commands_use_what_there_is():
    """`.ci/run` runs both; here, that they name scripts and files that exist."""
    environment, main = command_of("main").split(" && ", 1)
    assert environment == "python3 -m venv .venv"
    assert main.startswith(".venv/bin/pip install -q . && .venv/bin/xrelay-run ")
    words = shlex.split(main.rpartition(" && ")[2])
    assert (ROOT / words[1]).is_file()
    assert command_of("tests").endswith(".venv/bin/pytest -q -n auto")


@pytest.mark.parametrize("path", DOCUMENTS, ids=[str(p.relative_to(ROOT)) for p in DOCUMENTS])
def test_links_lead_somewhere(path: Path):
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    local = [t for t in targets if "://" not in t]
    assert not [t for t in local if not (path.parent / t).exists()]


def test_every_design_note_is_listed_and_has_its_three_parts():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    notes = sorted((ROOT / "docs" / "design").glob("*.md"))
    assert len({note.name[:4] for note in notes}) == len(notes), "two notes have one number"
    for note in notes:
        text = note.read_text(encoding="utf-8")
        title = re.sub(r"^# \d+\.? ", "", text.partition("\n")[0])
        assert f"- [{note.name[:4]}](design/{note.name}) {title}\n" in index
        assert re.findall(r"^\*\*(\w+)\.\*\*", text, re.M) == ["Context", "Decision", "Consequence"]
