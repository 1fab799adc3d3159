"""A line on a terminal that says what is going on, and is removed when it is over."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from io import StringIO
from typing import TextIO

from .commands import is_quiet

CLEAR = "\r\x1b[K"
"""Moves to the start of the line and erases it."""

WIDTH = 76
"""Characters that are shown: longer lines would wrap, and could not be erased."""


class Progress:
    """
    One line on `stream` (default: the current stderr), if it is a terminal.

    Whatever else is printed there must be preceded by `clear`.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._is_shown = False
        is_terminal = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self.is_enabled = is_terminal and not is_quiet()

    def show(self, text: str) -> None:
        """Show `text` in place of what is shown."""
        if self.is_enabled:
            self._write(CLEAR + "".join(c if c.isprintable() else "?" for c in text)[:WIDTH])
            self._is_shown = True

    def count(self, text: str) -> Callable[[int, int], None]:
        """Return a function that shows `text` with two numbers, until these are equal."""

        def show(done: int, total: int) -> None:
            if done < total:
                self.show(text.format(done, total))
            else:
                self.clear()

        return show

    def clear(self) -> None:
        """Remove what is shown."""
        if self._is_shown:
            self._write(CLEAR)
            self._is_shown = False

    @contextmanager
    def during(self, text: str) -> Generator[None]:
        """Show `text` until the end of the `with` block."""
        self.show(text)
        try:
            yield
        finally:
            self.clear()

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # a stream that was closed
            self._stream.write(text)
            self._stream.flush()


def no_progress() -> Progress:
    """Return one that shows nothing."""
    return Progress(StringIO())
