"""
Save a program and its weights as files, and load them.

    model.xrx            the program, with checksums of its weights
    model.safetensors    the weights, mapped into memory when the program is loaded
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from ..errors import MachineError
from ..executable import (
    ExecutableError,
    ExecutableFile,
    executable_of,
    load_weights,
    read_executable,
    write_executable,
)
from ..files import path_text
from ..program.planned_memory import PlannedMemory
from ..program.program import Array, Program
from ..weights.tensor_file import write_side_file

AnyPath: TypeAlias = str | os.PathLike[str]
SUFFIX = ".safetensors"

SAVED_AS = {"machine": (".xrx",), "native": (".so", ".o", ".h")}
"""The extensions of the files of a program, by its target."""


def suffix_for(target: str, path: AnyPath) -> str:
    """Return the extension of `path`; raise `MachineError` unless it is one of the target's."""
    suffix = Path(text := path_text(path)).suffix
    if suffix in SAVED_AS[target]:
        return suffix
    named = {
        name: f"{', '.join(known[:-1])} or {known[-1]}".removeprefix(" or ")
        for name, known in SAVED_AS.items()
    }
    other, (cure,) = named.pop(target), named.items()
    raise MachineError(
        f"cannot save '{text}': a program with the target '{target}' is saved as {other}; "
        f"xrelay.compile(…, target='{cure[0]}') makes one that is saved as {cure[1]}"
    )


def save(
    program: Program,
    weights: Mapping[str, Array],
    plans: Iterable[PlannedMemory],
    path: AnyPath,
    embed: bool,
    overwrite: bool = False,
) -> None:
    """
    Write `program` to `path`, and its `weights` to a file beside it, or with `embed` into it.

    Files are replaced as `replace` and `write_side_file` do. Raises `MachineError` if one cannot be
    written.
    """
    suffix_for("machine", path := path_text(path))
    if embed or not program.late_constants:
        file = executable_of(program, weights or None, embed=bool(weights), memory=plans)
        write_executable(path, file, overwrite=overwrite)
        return
    beside = Path(path).with_suffix(SUFFIX)
    values = {late.name: weights[late.name] for late in program.late_constants}
    write_side_file(beside, values, Path(path).name, overwrite=overwrite)
    file = executable_of(program, values, file=beside.name, memory=plans)
    write_executable(path, file, overwrite=overwrite)


def load(
    path: AnyPath, params: AnyPath | Mapping[str, Array] | None, verify: bool
) -> tuple[ExecutableFile, Mapping[str, Array], Mapping[str, Array]]:
    """
    Return the executable at `path`, its weights, and the values of parameters of its `main`.

    `params` are these values or their file, by default the one beside it that the executable names.
    With `verify`, all bytes of constants are compared with their checksums. Raises `MachineError`
    for a file that cannot be read, and `ExecutableError` for one that cannot be used.
    """
    name = path_text(path)
    try:
        file = read_executable(path, verify=verify)
    except ExecutableError as error:
        hint = "" if name.endswith(".xrx") else " (models are read by xrelay.compile)"
        raise ExecutableError(f"cannot load '{name}': {error.message}{hint}") from None
    bound: Mapping[str, Array] = {}
    if params is not None:
        from ..weights.given_weights import bound_inputs  # on demand, for fast start-up

        bound = bound_inputs(file.program, params, unused=file.unused)
    return file, _weights(file, Path(path), params, verify), bound


def _weights(
    file: ExecutableFile, path: Path, params: AnyPath | Mapping[str, Array] | None, verify: bool
) -> Mapping[str, Array]:
    if params is not None:
        inputs = {param.name for function in file.program.functions for param in function.params}
        return load_weights(file, params, verify=verify, others=inputs)
    late = file.program.late_constants
    if not late:
        return {}
    if not file.weights_file:
        first = f"'{late[0].name}' ({late[0].spec})"
        raise MachineError(f"'{path}' needs a value for weight {first}: give params=")
    return load_weights(file, path.parent / file.weights_file, verify=verify)
