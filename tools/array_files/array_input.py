"""Open files of arrays. Pipes and devices, which can be read once, are read up to the limit."""

import io
from typing import IO

from ...runtime.errors import MachineError
from ...runtime.files import contents, is_stream
from ..errors import FileError


def open_file(path: str) -> IO[bytes]:
    """Open the file at `path` to read it; `FileError` if that fails."""
    data = stream_data(path)
    try:
        return open(path, "rb") if data is None else io.BytesIO(data)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise FileError(path, f"cannot be read: {reason or error}") from error


def stream_data(path: str) -> memoryview | None:
    """Return the bytes of a pipe or device, None for a file; `FileError` if it has too many."""
    try:
        return contents(path) if is_stream(path) else None
    except MachineError as error:
        raise FileError(path, error.message) from None
