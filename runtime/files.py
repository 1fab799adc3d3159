"""Files: mapped into memory to read, replaced as a whole to write."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import cast

from .errors import MachineError, reason_of


def path_text(path: object) -> str:
    """Return a path as text; raise `MachineError` for what is not one."""
    text: object = (
        os.fspath(cast("os.PathLike[str]", path)) if hasattr(path, "__fspath__") else path
    )
    if not isinstance(text, str):
        raise MachineError(f"expected a path as str or os.PathLike, but got {type(text).__name__}")
    return text


def mapped(path: str | os.PathLike[str]) -> memoryview:
    """
    Map the file at `path` into memory: its bytes are read when they are used.

    The file must not be changed while they are. Raises `MachineError`.
    """
    name = path_text(path)
    try:
        # Opening a pipe without O_NONBLOCK would wait for its writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise MachineError(f"cannot read '{name}': not a file")
            if not status.st_size:
                return memoryview(b"")
            return memoryview(mmap(descriptor, status.st_size, access=ACCESS_READ))
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise MachineError(f"cannot read '{name}': {reason_of(error)}") from None


def replace(path: str | os.PathLike[str], pieces: Iterable[bytes | memoryview]) -> None:
    """
    Write `pieces` to the file at `path`: as a whole, or not at all.

    Programs that read an earlier file of this name keep it. Raises `MachineError`.
    """
    name = path_text(path)
    try:
        final = Path(os.path.realpath(name))
        temporary = final.with_name(f".{final.name[:200]}.{os.getpid()}.{os.urandom(4).hex()}")
        if final.exists() and not final.is_file():  # a device or a pipe cannot be replaced
            with open(final, "wb") as file:
                file.writelines(pieces)
            return
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with open(descriptor, "wb") as file:
                file.writelines(pieces)
            if final.exists():
                os.chmod(temporary, stat.S_IMODE(final.stat().st_mode))
            os.replace(temporary, final)
        except BaseException:
            os.unlink(temporary)
            raise
    except (OSError, ValueError) as error:
        raise MachineError(f"cannot write '{name}': {reason_of(error)}") from None
