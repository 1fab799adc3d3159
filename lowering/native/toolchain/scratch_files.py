"""Temporary files of a compilation: errors name the file that could not be written."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ....runtime.errors import Error, reason_of
from ....runtime.files import writing


@contextmanager
def scratch_folder(name: str) -> Generator[Path]:
    """Make a folder that is removed at the end of the context. Raises `Error`."""
    try:
        folder = TemporaryDirectory(prefix=f"xrelay-{name}-", ignore_cleanup_errors=True)
    except OSError as error:
        text = f"cannot make a folder for temporary files: {reason_of(error)}"
        raise Error(text) from None
    with folder as path:
        yield Path(path)


def write(path: Path, contents: str | bytes) -> None:
    """Write the file at `path`. Raises `Error`."""
    with writing(path):
        path.write_bytes(contents.encode() if isinstance(contents, str) else contents)
