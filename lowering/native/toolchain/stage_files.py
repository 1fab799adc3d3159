"""
Files of a compilation: temporary ones, and those that `--save-temps` keeps.

Errors name the file that could not be written.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ....runtime.errors import Error, reason_of
from ....runtime.files import replace, writing


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


@dataclass(frozen=True)
class SavedStages:
    """A folder that gets a file for every stage; None for nothing to be kept."""

    folder: Path | None = None

    def save(self, name: str, contents: bytes | str) -> None:
        """Write a stage into the folder, if there is one. Raises `MachineError`."""
        if self.folder is None:
            return
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        data = contents.encode() if isinstance(contents, str) else contents
        replace(self.folder / name, [data])


UNSAVED = SavedStages()
