"""
Names of locals: those of the IR, made legal and unique in their function.

A parameter keeps any name that the reader accepts (`%conv1/w-0`, which TVM's printer writes too);
other names have letters, digits and `_` only.
"""

from __future__ import annotations

import re

from ..text.lexer import GLOBAL, LOCAL, WORD

_READABLE, _GLOBAL, _WORD = (re.compile(name, re.ASCII) for name in (LOCAL, GLOBAL, WORD))
_OTHER = re.compile(r"[^A-Za-z0-9_]", re.ASCII)
_PROJECTION = re.compile(r"(.*?)(?:\.[0-9]+)+", re.DOTALL)


def is_global_name(name: str) -> bool:
    """Return whether `@name` can be read."""
    return _GLOBAL.fullmatch(name) is not None


def is_word(name: str) -> bool:
    """Return whether `name` can name a type, a constructor or a type parameter."""
    return _WORD.fullmatch(name) is not None


class LocalNames:
    """Allocates the names of one function."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def param(self, name: str | None) -> str:
        """Return a unique name for a parameter called `name`."""
        if name is None or name in self._taken or not _READABLE.fullmatch(name):
            return self.local(name, "p0")
        projection = _PROJECTION.fullmatch(name)
        if projection is not None:  # %x.0 could be field 0 of %x
            if projection[1] in self._taken:
                return self.local(name, "p0")
            self._taken.add(projection[1])
        self._taken.add(name)
        return name

    def local(self, name: str | None, default: str = "v") -> str:
        """Return a unique name for a value called `name`, if anything."""
        word = _OTHER.sub("_", name) if name else default
        if word[0].isdigit():
            word = f"v{word}"
        if word not in self._taken:
            self._taken.add(word)
            return word
        base = word.rstrip("0123456789") if name is None else word
        number = self._next.get(base, 1)
        while f"{base}{number}" in self._taken:
            number += 1
        self._next[base] = number + 1
        self._taken.add(f"{base}{number}")
        return f"{base}{number}"
