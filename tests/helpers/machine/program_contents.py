"""Programs as plain values that can be compared: `from program_contents import contents`."""

from dataclasses import fields
from io import BytesIO
from typing import cast

import numpy as np

from xrelay.runtime.executable import executable_of, read_executable, write_executable
from xrelay.runtime.program.program import Array, Kernel, Program


def plain(value: object) -> object:
    """Convert arrays in `value` to comparable objects."""
    if isinstance(value, np.ndarray):
        array = cast(Array, value)
        return (array.dtype.name, array.shape, array.tobytes())
    if isinstance(value, tuple):
        return tuple(map(plain, cast(tuple[object, ...], value)))
    if isinstance(value, Kernel):
        return tuple(plain(getattr(value, f.name)) for f in fields(value))
    return value


def contents(program: Program) -> object:
    """Return everything in `program` but its locations."""
    return tuple(plain(getattr(program, f.name)) for f in fields(program))


def locations(program: Program) -> object:
    """Return the locations of the instructions and steps of `program`, `()` if none is known."""
    code = [f.locations if any(f.locations) else () for f in program.functions]
    return code, [[step.location for step in kernel.steps] for kernel in program.kernels]


def read_back(program: Program) -> Program:
    """Return `program` after it was written to an executable, and compare it."""
    file = BytesIO()
    write_executable(file, executable_of(program))
    found = read_executable(file.getvalue(), verify=True).program
    assert contents(found) == contents(program)
    assert locations(found) == locations(program)
    results = [[function.results for function in p.functions] for p in (found, program)]
    assert results[0] == results[1]
    return found
