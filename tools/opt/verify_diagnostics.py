"""
`--verify-diagnostics`: compare the messages with comments in the file.

    // expected-error@+1 {{alignment must be a power of two}}
    %s = memory.alloc_storage 64 align 48 : !memory.storage

As in mlir-opt: `expected-error`, `-warning`, `-remark` and `-note`; on this line, `@+N` or
`@-N` lines away, on the nearest line `@above` or `@below` that has no such comment, or
`@unknown` for messages without a place. The text in braces is part of the message; after
`-re`, text in inner braces is a regular expression. Each comment expects one message, and other
messages are errors.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...passes.support.diagnostics import Message, Severity
from ..errors import UsageError
from ..messages import place

COMMENT = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<re>-re)?"
    r" *(?P<at>@(?:[+-][0-9]+|above|below|unknown))? *\{\{(?P<text>.*)\}\}\s*$"
)


@dataclass
class Expectation:
    """One comment: a message that is expected."""

    severity: Severity
    text: re.Pattern[str]
    shown: str
    line: int | None
    """The line of the message, counted from 1; None when it has no place."""
    written: int
    """The line of the comment."""
    came: bool = field(default=False)


def expectations(lines: Sequence[str], first: int = 1) -> Iterator[Expectation]:
    """Yield the comments in `lines`, of which the first has the number `first`."""
    matches = [COMMENT.search(line) for line in lines]
    plain = [i for i, match in enumerate(matches) if match is None]
    for i, match in enumerate(matches):
        if match is None:
            continue
        line: int | None = i
        match match["at"]:
            case None:
                pass
            case "@above":
                line = max((p for p in plain if p < i), default=i)
            case "@below":
                line = min((p for p in plain if p > i), default=i)
            case "@unknown":
                line = None
            case offset:
                line = i + int(offset[1:])
        yield Expectation(
            Severity(match["severity"]),
            _pattern(match["text"], match["re"] is not None),
            match["text"],
            None if line is None else line + first,
            i + first,
        )


def _pattern(text: str, has_expressions: bool) -> re.Pattern[str]:
    if not has_expressions:
        return re.compile(re.escape(text))
    parts = re.split(r"\{\{(.*?)\}\}", text)
    pattern = "".join(f"(?:{p})" if i % 2 else re.escape(p) for i, p in enumerate(parts))
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"'{text}' has an invalid regular expression: {error}") from None


def check(expected: Sequence[Expectation], messages: Sequence[Message], name: str) -> list[Message]:
    """Return errors for unexpected messages, and for expected ones that were not produced."""
    wrong: list[Message] = []
    for message in messages:
        for part in (message, *_notes(message)):
            if not _take(expected, part, name):
                shown = f"unexpected {part.severity}: {part.message}"
                wrong.append(Message(Severity.ERROR, shown, part.location))
    for one in expected:
        if not one.came:
            shown = f"expected {one.severity} {one.shown!r} was not produced"
            at = place(name, one.written, 1)
            wrong.append(Message(Severity.ERROR, shown, at))
    return wrong


def _notes(message: Message) -> Iterator[Message]:
    for note in message.notes:
        yield Message(Severity.NOTE, note.message, note.location)


def _take(expected: Sequence[Expectation], message: Message, name: str) -> bool:
    """Mark the first comment that `message` matches; return whether there is one."""
    at = message.location
    line = None
    if at is not None:
        if at.filename.data != name:
            return False
        line = at.line.data
    for one in expected:
        if (
            not one.came
            and one.severity is message.severity
            and one.line == line
            and one.text.search(message.message)
        ):
            one.came = True
            return True
    return False
