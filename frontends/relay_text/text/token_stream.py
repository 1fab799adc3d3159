"""A cursor over the tokens of a program, with errors of the form "expected …, but got …"."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ....dialects.errors import TOO_DEEP
from ..errors import RelayTextError, SourceMap
from ..literals import LiteralError, number, unescaped
from .lexer import Tokens

T = TypeVar("T")

_WORDS = {
    "local": "a local variable",
    "graph": "a graph reference",
    "global": "a global name",
    "ident": "a name",
    "number": "a number",
    "string": "a string",
    "quoted": "a name in quotes",
    "meta": "a reference to the metadata",
    "version": "the version",
    "end": "the end of the program",
}
_SIGILS = {"local": "%", "graph": "%", "global": "@"}


class TokenStream:
    """Tokens and the position of the current one."""

    def __init__(self, tokens: Tokens, source_map: SourceMap):
        self.kinds, self.texts, self.starts = tokens.kinds, tokens.texts, tokens.starts
        self.source_map = source_map
        self.position: int = 0

    # ------------------------------------------------------------------ errors

    def error(self, message: str, at: int, width: int = 1) -> RelayTextError:
        """Return an error about the text at the offset `at`."""
        return self.source_map.error(message, at, width)

    def width(self, position: int) -> int:
        """Return the length of the token at `position`."""
        kind = self.kinds[position]
        return max(1, len(self.texts[position]) + len(_SIGILS.get(kind, "")))

    def found(self) -> str:
        """Describe the current token."""
        kind, text = self.kinds[self.position], self.texts[self.position]
        if kind == "end":
            return _WORDS[kind]
        return f"'{_SIGILS.get(kind, '')}{text}'"

    def unexpected(self, expected: str) -> RelayTextError:
        """Return the error that `expected` was expected instead of the current token."""
        position = self.position
        return self.error(
            f"expected {expected}, but got {self.found()}",
            self.starts[position],
            self.width(position),
        )

    def too_deep(self, most: int, what: str) -> RelayTextError:
        """Return the error that the current token nests `what` more than `most` levels deep."""
        at = self.starts[self.position]
        return self.error(f"{TOO_DEEP}: more than {most} {what} inside each other", at)

    # ------------------------------------------------------------------ tokens

    def take(self, kind: str, expected: str | None = None) -> str:
        """Consume the current token, which must be of `kind`, and return its text."""
        position = self.position
        if self.kinds[position] != kind:
            raise self.unexpected(expected or _WORDS.get(kind, f"'{kind}'"))
        self.position = position + 1
        return self.texts[position]

    def take_if(self, kind: str) -> bool:
        """Consume a token of `kind` if it is the current one; return whether it was."""
        if self.kinds[self.position] != kind:
            return False
        self.position += 1
        return True

    def listed(self, item: Callable[[], T], close: str) -> list[T]:
        """Parse items between commas up to `close`; a comma may follow the last."""
        items: list[T] = []
        while self.kinds[self.position] != close:
            items.append(item())
            if not self.take_if(","):
                break
        if self.kinds[self.position] != close:
            raise self.unexpected(f"',' or '{close}'")
        self.position += 1
        return items

    # ---------------------------------------------------------------- literals

    def number(self, negative: bool = False, rounded: bool = True) -> tuple[int | float, str]:
        """Parse a number, negated if `negative`, and return it with its dtype."""
        position = self.position
        try:
            value = number(self.take("number"), negative, rounded)
        except LiteralError as error:
            at = self.starts[position]
            raise self.error(str(error), at, self.width(position)) from None
        return value

    def negative(self, rounded: bool = True) -> tuple[int | float, str]:
        """Parse a number preceded by one or more adjacent minus signs."""
        negative = False
        start = self.position
        while self.kinds[self.position] == "-":
            negative = not negative
            self.position += 1
            if self.starts[self.position] != self.starts[self.position - 1] + 1:
                self.position = start
                raise self.unexpected("an expression")
        if self.kinds[self.position] == "ident" and self.texts[self.position] == "inff":
            self.position += 1
            return (-float("inf") if negative else float("inf")), "float32"
        if self.kinds[self.position] != "number":
            self.position = start
            raise self.unexpected("an expression")
        return self.number(negative, rounded)

    def integer(self, what: str) -> int:
        """Parse a nonnegative integer, described as `what` in errors."""
        position = self.position
        if self.kinds[position] != "number":
            raise self.unexpected(what)
        value, _ = self.number()
        if not isinstance(value, int):
            self.position = position
            raise self.unexpected(what)
        return value

    def string(self) -> str:
        return unescaped(self.take("string"))
