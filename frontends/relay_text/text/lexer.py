"""
Split Relay text into tokens.

    %0 = nn.dense(%x, %w, units=None);   ->   graph 0, =, ident nn.dense, (, local x, …

White space, `//` and nested `/* */` comments are dropped; TVM's printer writes types and spans in
comments. Names of locals may contain what TVM's printer does not clean: `/`, `-`, `.`, `::`, and
`:` before a number; those of globals may begin with a digit. `#[metadata]` ends the program; JSON
follows.

One expression matches every token together with the blanks before it, so the time is linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..errors import SourceMap

KEYWORDS = frozenset(
    (
        *("let", "fn", "def", "if", "else", "type", "match", "extern", "free_var"),
        *("ref", "ref_read", "ref_write", "True", "False"),
    )
)

_BLANK = r"(?:[ \t\r\n]+|//[^\n]*|/\*(?:[^*/]+|\*(?!/)|/(?!\*))*+\*/)*+"
VERSION = "0.0.5"
WORD = r"[A-Za-z_][A-Za-z0-9_]*"
"""The pattern of names of types, constructors and type parameters."""
LOCAL = rf"{WORD}(?:(?:[/.-]|::)[A-Za-z0-9_]+|:[0-9][A-Za-z0-9_]*)*+"
"""The pattern of names of variables."""
GLOBAL = r"[A-Za-z0-9_]+(?:[/.-][A-Za-z0-9_]+)*+"
"""The pattern of names of functions."""
_TOKEN = re.compile(
    _BLANK
    + r"(?:"
    + rf"(?P<local>%{LOCAL})"
    + r"|(?P<graph>%[0-9]+)"
    + rf"|(?P<global>@{GLOBAL})"
    + r"|(?P<meta>meta\[[^\]\s]+\]\[[0-9]+\])"
    + r"|(?P<ident>match\?|"
    + rf"{WORD}(?:[./]{WORD})*+)"
    + r"|(?P<number>[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?(?:[fi][0-9]*)?)"
    + r"|(?P<proj>\.[0-9]+)"
    + r"|(?P<punct>->|=>|<=|>=|==|!=|/(?!\*)|[.,=;:()+\-*<>{}\[\]!?])"
    + r'|(?P<string>"(?:[^"\\]|\\.)*+")'
    + r"|(?P<quoted>'[^'\n]*')"
    + r'|(?P<version>\#\[version\s*=\s*"[^"\n]*"\])'
    + r"|(?P<metadata>\#\[metadata\])"
    + r"|(?P<end>\Z)"
    + r")",
    re.ASCII | re.DOTALL,
)
_SIGILED = frozenset(("local", "graph", "global"))
_COMMENT_MARK = re.compile(r"/\*|\*/")
_BEFORE = re.compile(_BLANK, re.ASCII)


@dataclass
class Tokens:
    """
    The tokens of a program, in three lists of equal length.

    A kind is a word of the lexer's expression (`local`, `graph`, `ident`, …), a keyword, or the
    punctuation itself. Texts are without sigil. The last two tokens are of the kind `end`.
    """

    kinds: list[str] = field(default_factory=list[str])
    texts: list[str] = field(default_factory=list[str])
    starts: list[int] = field(default_factory=list[int])
    metadata: int | None = None
    """Offset of the JSON after `#[metadata]`, if present."""


def tokenize(text: str, source_map: SourceMap) -> Tokens:
    """Return the tokens of `text`; raises `RelayTextError` at an invalid one."""
    tokens = Tokens()
    kinds, texts, starts = tokens.kinds, tokens.texts, tokens.starts
    position = 0
    find = _TOKEN.match
    while True:
        match = find(text, position)
        if match is None:
            position = _after_nested_comment(text, position, source_map)
            continue
        kind = match.lastgroup
        assert kind is not None
        start, position = match.span(kind)
        word = text[start:position]
        if kind == "punct":
            kind = word
        elif kind in _SIGILED:
            word = word[1:]
        elif kind == "ident" and (word in KEYWORDS or word == "match?"):
            kind = word
        elif kind == "metadata":
            tokens.metadata = position
            kind = "end"
        kinds.append(kind)
        texts.append(word)
        starts.append(start)
        if kind == "end":
            kinds.append(kind)  # so that lookahead needs no bounds check
            texts.append(word)
            starts.append(start)
            return tokens


def _after_nested_comment(text: str, position: int, source_map: SourceMap) -> int:
    """
    Return the position after a nested comment at `position`; report an error if there is none.
    """
    blank = _BEFORE.match(text, position)
    assert blank is not None
    start = blank.end()
    if text.startswith("/*", start):
        depth = 0
        for mark in _COMMENT_MARK.finditer(text, start):
            depth += 1 if mark[0] == "/*" else -1
            if depth == 0:
                return mark.end()
        raise source_map.error("unterminated comment", start, 2)
    if text[start] == '"':
        raise source_map.error("unterminated string", start)
    if text.startswith("#[", start):
        end = text.find("]", start)
        width = end + 1 - start if end >= 0 else 2
        invalid = text[start : start + width]
        raise source_map.error(
            f'expected #[version = "{VERSION}"] or #[metadata], but got {invalid}', start, width
        )
    if text[start] in "%@":
        raise source_map.error(f"expected a name right after '{text[start]}'", start)
    raise source_map.error(f"unexpected character {text[start]!r}", start)
