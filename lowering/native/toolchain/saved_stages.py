"""Keep what lies between the stages of a compilation in a folder, for `--save-temps`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ....runtime.files import replace, writing


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
