"""Files of machine code, told from others by how they begin."""

from __future__ import annotations

from os import PathLike
from pathlib import Path


def is_library(path: str | PathLike[str]) -> bool:
    """Test whether the file at `path` is machine code; False if it cannot be read."""
    try:
        if not Path(path).is_file():  # to open a pipe may take for ever
            return False
        with open(path, "rb") as file:
            start = file.read(4)
    except (OSError, TypeError, ValueError):
        return False
    return start in (b"\x7fELF", b"\xcf\xfa\xed\xfe") or start[:2] == b"MZ"
