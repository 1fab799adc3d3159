"""Read and write executable files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

from ..files import contents, replace
from ..program.checking import check_kernel, check_program
from ..weights.derived_weights import faults_of
from .content import ExecutableFile
from .layout import ExecutableError, header_of, laid_out
from .sections import decode, flags_of, sections_of


def read_executable(
    source: str | os.PathLike[str] | bytes | memoryview, *, verify: bool = False
) -> ExecutableFile:
    """
    Read the executable at a path, or the one in these bytes.

    A file is mapped into memory, and the constants of the program are views of it: it must not be
    changed while the program is used. A pipe is read to its end. With `verify`, every byte of the
    constants is checked, otherwise all of the small ones and samples of the large ones.

    Raises `ExecutableError` for what is not an executable, is damaged, or needs a newer version,
    and `MachineError` for a program that is not well-formed.
    """
    data = memoryview(source) if isinstance(source, bytes | memoryview) else contents(source)
    executable = decode(data, verify)
    check_program(executable.program)
    for function in executable.weights:
        for fault in faults_of(function):
            raise ExecutableError(f"weight {function.name:.80}: {fault}")
        check_kernel(function.kernel, f"{function.name:.80}")
    return executable


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
