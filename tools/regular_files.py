"""Open files of arrays."""

import os
import stat
from typing import IO

from .errors import FileError


def open_file(path: str) -> IO[bytes]:
    """
    Open the file at `path` to read it; `FileError` if that fails.

    A device or a pipe, which may have no end or no writer, is an error, too.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise FileError(path, "cannot be read: not a file")
        return open(path, "rb")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise FileError(path, f"cannot be read: {reason or error}") from error
