"""
Turn what the tools print to stderr into errors at the user's source lines.

    model.relay:3:8: error: 'linalg.matmul' op inferred …      ->   Error at model.relay:3:8
    <stdin>:12:5: error: custom op 'x' is unknown              ->   Error with that line as a note
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from xdsl.ir import Operation

from ....passes.support.diagnostics import location_of
from ....runtime.errors import Error, Location, Note
from .processes import ProcessFailed

MESSAGE = re.compile(r"(?P<file>.+?):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<kind>error|note): ")
NOT_FILES = ("<stdin>", "<unknown>", "-")
"""The names of files in messages about text that the tools get from us."""

LONGEST = 2000
"""Characters of stderr that an error without any known message quotes."""

BORING = ("see current operation", "called from")


class ToolError(Error):
    """An error that a tool printed, or how it ended."""

    def at(self, op: Operation, what: str) -> ToolError:
        """Return the error about `what`, at `op` if it has no place of its own."""
        place = location_of(op)
        where = self.location
        if where is None and place is not None:
            where = Location(place.filename.data, place.line.data, place.column.data)
        return ToolError(f"{what}: {self.message}", where, self.notes)


def error_of(failed: ProcessFailed, text: str = "") -> ToolError:
    """Return the first error that a tool printed about its input `text`, and its notes."""
    lines = failed.errors.splitlines()
    found = [(at, m) for at, line in enumerate(lines) if (m := MESSAGE.match(line))]
    first = next((i for i, (_, m) in enumerate(found) if m["kind"] == "error"), None)
    if first is None:
        return ToolError(_plain(failed))
    at, match = found[first]
    message = f"{failed.name}: {lines[at][match.end() :]}"
    notes = list(_notes(lines, found[first + 1 :]))
    if match["file"] in NOT_FILES:
        return ToolError(message, None, [*_quoted(match, text), *notes])
    return ToolError(message, _location(match), notes)


def _plain(failed: ProcessFailed) -> str:
    errors = failed.errors.strip()
    if not errors:
        return f"{failed.name} {failed.reason}"
    shown = errors if len(errors) <= LONGEST else f"{errors[:LONGEST]} …"
    return f"{failed.name} {failed.reason}: {shown}"


def _notes(lines: Sequence[str], found: Iterable[tuple[int, re.Match[str]]]) -> Iterable[Note]:
    for at, match in found:
        if match["kind"] == "error":
            return
        text = lines[at][match.end() :]
        if text.startswith(BORING) or match["file"] in NOT_FILES:
            continue
        yield Note(text, _location(match))


def _quoted(match: re.Match[str], text: str) -> Iterable[Note]:
    lines, number = text.split("\n"), int(match["line"])
    if 0 < number <= len(lines) and lines[number - 1].strip():
        yield Note(f"in: {lines[number - 1].strip()[:LONGEST]}")


def _location(match: re.Match[str]) -> Location:
    return Location(match["file"], int(match["line"]), int(match["column"] or 1))
