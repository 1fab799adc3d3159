"""Read executable files."""

from __future__ import annotations

import os

from ..files import contents
from ..program.checking import check_kernel, check_program
from ..weights.derived_weights import faults_of
from .content import ExecutableFile
from .errors import ExecutableError
from .sections import decode


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
