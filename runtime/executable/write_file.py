"""Write executable files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

from ..files import replace
from .content import ExecutableFile
from .layout import header_of, laid_out
from .sections import flags_of, sections_of


def pieces_of(executable: ExecutableFile) -> Iterator[bytes | memoryview]:
    """Yield the bytes of the file; the same for the same executable."""
    contents = sections_of(executable)
    layout = laid_out(contents, {name: flags_of(name) for name in contents})
    header = header_of(layout)
    yield header
    end = len(header)
    for section in layout.sections:
        yield bytes(section.offset - end)
        yield from contents[section.name]
        end = section.offset + section.length


def write_executable(
    target: str | os.PathLike[str] | BinaryIO,
    executable: ExecutableFile,
    *,
    overwrite: bool = False,
) -> None:
    """
    Write `executable` to a file, or to a path: as a whole, or not at all.

    An earlier file of another kind is replaced only with `overwrite`. Raises `ExecutableError`, and
    `MachineError` for a file that cannot be written.
    """
    if isinstance(target, str | os.PathLike):
        replace(target, pieces_of(executable), overwrite=overwrite)
    else:
        target.writelines(pieces_of(executable))
