"""Standard input as bytes, up to the limit on pipes and devices unless it is a file."""

import os
import stat
import sys
from contextlib import suppress
from typing import BinaryIO

from ..runtime.files import read_stream

NAME = "<stdin>"


def read_stdin() -> bytes | memoryview:
    """Return the rest of stdin; `MachineError` if it cannot be read, or has too much."""
    binary: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if binary is None:
        return sys.stdin.read().encode()
    return binary.read() if _is_file(binary) else read_stream(binary, NAME)


def _is_file(stream: BinaryIO) -> bool:
    with suppress(OSError, ValueError):  # one in memory has no descriptor
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    return False
