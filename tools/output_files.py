"""The files that a command writes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..runtime.errors import MachineError
from .errors import UsageError


@dataclass(frozen=True)
class OutputFiles:
    """
    Writes files as `replace` does.

    What the command reads is replaced only with `overwrite`, as are files of another kind.
    """

    inputs: Sequence[str]
    """The files that the command reads, as far as they are named on its command line."""
    overwrite: bool = False

    def check(self, path: str) -> None:
        """Raise `UsageError` if the file at `path` is an input."""
        if not self.overwrite and any(_is_same(path, name) for name in self.inputs):
            raise UsageError(
                f"cannot write '{path}': it is an input: choose another name, or say that it may "
                "be replaced (--overwrite)"
            )

    def write(self, path: str, contents: str | Iterable[bytes | memoryview]) -> None:
        """Write text or bytes to the file at `path`; `UsageError` if that fails."""
        from ..runtime.files import replace

        self.check(path)
        pieces = [contents.encode()] if isinstance(contents, str) else contents
        try:
            replace(path, pieces, overwrite=self.overwrite)
        except MachineError as error:
            raise UsageError(error.message) from error


def _is_same(path: str, other: str) -> bool:
    try:
        return other != "-" and os.path.isfile(other) and os.path.samefile(path, other)
    except (OSError, ValueError):
        return False
