"""
The blocks of text in a document, and the commands in them.

Commands are in blocks of ```console: lines that start with `$ ` are commands, the lines after
them are the expected output (stdout and stderr), in which `...` matches any text.
"""

import os
import re
import subprocess
import sysconfig
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from helpers.processes.forked_commands import with_commands

from xrelay.tools.testing.lit_format import NotOurs, parse, run

ROOT = Path(__file__).parents[2]
SCRIPTS = sysconfig.get_path("scripts")


class Shown(NamedTuple):
    """A command of a document, the output shown under it, and its line."""

    command: str
    output: str
    line: int


class Block(NamedTuple):
    """A block of text, its language, and the line of its opening ```."""

    language: str
    text: str
    line: int
    file: str | None
    """The path in the line before the block: "`src/a.py`:"."""


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a document."""
    lines = text.split("\n")
    start: int | None = None
    for number, line in enumerate(lines):
        if start is None and line.startswith("```"):
            start = number
        elif start is not None and line == "```":
            body = "".join(f"{inner}\n" for inner in lines[start + 1 : number])
            named = re.fullmatch(r"`([^`]+)`:", lines[start - 2] if start > 1 else "")
            yield Block(lines[start][3:], body, start + 1, named and named[1])
            start = None


def shown_blocks(text: str) -> Iterator[list[Shown]]:
    """The commands of each `console` block of a document."""
    for block in blocks(text):
        if block.language != "console":
            continue
        parts = re.split(r"^\$ (.*)\n", block.text, flags=re.M)
        line = block.line + 1 + parts[0].count("\n")
        found: list[Shown] = []
        for command, output in zip(parts[1::2], parts[2::2], strict=True):
            found.append(Shown(command, output.removesuffix("\n"), line))
            line += 1 + output.count("\n")
        yield found


def shown_commands(text: str) -> Iterator[Shown]:
    """The commands in all `console` blocks of a document."""
    return (shown for block in shown_blocks(text) for shown in block)


def matches(expected: str, actual: str) -> bool:
    """Test whether `actual` matches `expected`, in which `...` matches any text."""
    parts = (re.escape(part) for part in expected.rstrip().split("..."))
    return re.fullmatch(".*?".join(parts), actual.rstrip(), re.DOTALL) is not None


def printed_by(command: str, cwd: Path, env: Mapping[str, str] = os.environ) -> str:
    """Run `command` in a shell that finds our tools; return what it prints."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=cwd,
        env=with_commands(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    return done.stdout


def shown_by(command: str, cwd: Path, env: Mapping[str, str]) -> str:
    """Run `command` in this process if it has our tools only, as `printed_by` otherwise."""
    try:
        pipeline = parse(f"{command} 2>&1", pipefail=False)
    except NotOurs:
        return printed_by(command, cwd, env)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("default")
        patch.chdir(cwd)
        patch.setattr(os, "environ", dict(env))
        done = run(pipeline)
    return (done.log.getvalue() + done.out).decode()


def rows(text: str, *header: str) -> list[list[str]]:
    """The rows of the table whose columns are called `header`."""
    lines = iter(text.split("\n"))
    for line in lines:
        if line == f"| {' | '.join(header)} |":
            break
    next(lines, None)
    found: list[list[str]] = []
    for line in lines:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found
