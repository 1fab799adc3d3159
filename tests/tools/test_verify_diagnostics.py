"""Comments with expected messages, as in mlir-opt."""

import pytest

from xrelay.passes.support.diagnostics import Message, Note, Severity
from xrelay.tools.errors import UsageError
from xrelay.tools.messages import place
from xrelay.tools.opt.verify_diagnostics import check, expectations

NAME = "f.mlir"


def read(text: str, first: int = 1) -> list[tuple[Severity, str, int | None]]:
    found = expectations(text.split("\n"), first)
    return [(one.severity, one.shown, one.line) for one in found]


def said(severity: str, text: str, line: int | None, name: str = NAME) -> Message:
    where = None if line is None else place(name, line, 1)
    return Message(Severity(severity), text, where)


def wrong(text: str, *messages: Message) -> list[str]:
    return [m.message for m in check(list(expectations(text.split("\n"))), messages, NAME)]


@pytest.mark.parametrize(
    ("comment", "line"),
    [
        ("op // expected-error {{m}}", 3),
        ("// expected-error@+1 {{m}}", 4),
        ("// expected-error @+2 {{m}}", 5),
        ("// expected-error@-1 {{m}}", 2),
        ("// expected-error@above {{m}}", 2),
        ("// expected-error@below {{m}}", 5),
        ("// expected-error@unknown {{m}}", None),
    ],
)
def test_lines(comment: str, line: int | None):
    text = f"one\ntwo\n{comment}\n// expected-note {{{{n}}}}\nfive"
    assert read(text)[0] == (Severity.ERROR, "m", line)
    assert read(text, 11)[0] == (Severity.ERROR, "m", None if line is None else line + 10)


def test_kinds_and_braces():
    text = """\
// expected-error {{a}}
// expected-warning {{b {c} }}
// expected-remark {{d}}}}
// expected-note {{}}
// expected-error a
// expected-error {{not at the end}} of the line
"""
    assert [(s.value, t) for s, t, _ in read(text)] == [
        ("error", "a"),
        ("warning", "b {c} "),
        ("remark", "d}}"),
        ("note", ""),
    ]


def test_all_as_announced():
    text = "a // expected-error {{is (not) 4}}\nb // expected-warning {{w}}"
    assert wrong(text, said("warning", "w", 2), said("error", "x is (not) 48", 1)) == []


def test_one_comment_stands_for_one_message():
    text = "a // expected-error {{m}}"
    twice = said("error", "m", 1), said("error", "m", 1)
    assert wrong(text, *twice) == ["unexpected error: m"]


@pytest.mark.parametrize(
    "message",
    [
        said("warning", "m", 1),
        said("error", "m", 2),
        said("error", "n", 1),
        said("error", "m", None),
        said("error", "m", 1, "other.mlir"),
    ],
    ids=["kind", "line", "text", "place", "file"],
)
def test_another_message_is_not_it(message: Message):
    assert wrong("a // expected-error {{m}}", message) == [
        f"unexpected {message.severity}: {message.message}",
        "expected error 'm' was not produced",
    ]


def test_notes_are_announced_too():
    message = Message(Severity.ERROR, "m", place(NAME, 1, 1), (Note("n", place(NAME, 2, 1)),))
    assert wrong("a // expected-error {{m}}", message) == ["unexpected note: n"]
    text = "a // expected-error {{m}}\nb // expected-note {{n}}"
    assert wrong(text, message) == []


def test_expressions():
    text = "a // expected-error-re {{has {{[0-9]+}} (of {{x|y}})}}"
    assert wrong(text, said("error", "it has 42 (of y) here", 1)) == []
    assert len(wrong(text, said("error", "it has no (of y)", 1))) == 2
    with pytest.raises(UsageError, match="invalid regular expression"):
        read("// expected-error-re {{a {{(}} b}}")
