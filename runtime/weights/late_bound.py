"""The values of late-bound constants: read from a `.safetensors` file, and checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from warnings import warn

from ..entry_points import entry_points_of
from ..executable.content import ExecutableFile, bytes_of, checksums_of, sample_of, sha256_of
from ..executable.layout import ExecutableError
from ..program.planned_memory import PlannedMemory
from ..program.program import Array, Late, Program
from .derived_weights import Weights, place_of, weights_in

GROUP = "xrelay.sections"
"""The group of entry points."""


def added_sections(program: Program) -> dict[str, bytes]:
    """
    Return the sections of plug-ins for `program`, by the names of their entry points.

    A plug-in that fails, returns other objects than bytes, or whose name is that of a section or
    none, is skipped with a warning.
    """
    from ..executable.executable_files import SECTIONS
    from ..executable.layout import is_section_name

    added: dict[str, bytes] = {}
    for entry in sorted(entry_points_of(GROUP)):
        reason, content = "", None
        if entry.name in (*SECTIONS, *added) or not is_section_name(entry.name):
            reason = "its name must be up to 16 ASCII letters, digits and -, and not be taken"
        else:
            try:
                contents_of: Callable[[Program], object] = entry.load()
                content = contents_of(program)
            except (Exception, SystemExit) as error:  # a plug-in may fail in any way
                reason = f"{type(error).__name__}: {error}"
        if isinstance(content, bytes):
            added[entry.name] = content
        elif content is not None:
            reason = f"it must return bytes or None, but returned {type(content).__name__}"
        if reason:
            warn(f"section of plug-in '{entry.name}' is skipped: {reason}", stacklevel=4)
    return added


SHOWN = 5
"""The number of names that a message lists."""


def executable_of(
    program: Program,
    weights: str | os.PathLike[str] | Mapping[str, Array] | None = None,
    *,
    file: str = "",
    embed: bool = False,
    memory: Iterable[PlannedMemory] = (),
    metadata: Mapping[str, str] | None = None,
) -> ExecutableFile:
    """
    Return the executable of `program`, to be written.

    With `weights`, the values of its late-bound constants or a `.safetensors` file with them, it
    has checksums of them, or with `embed` the values themselves. Without, any values of the right
    types can be bound. `file` is the name of the file beside the executable with given values.
    `metadata` are texts by name. Plug-ins add their sections. Raises `ExecutableError` for values
    that are missing or do not fit.
    """
    written = partial(
        ExecutableFile,
        producer=_producer(),
        memory=tuple(memory),
        metadata=metadata or {},
        added=added_sections(program),
    )
    if weights is None:
        if embed and program.late_constants:
            raise ExecutableError(
                f"cannot embed {_listed(late.name for late in program.late_constants)}: "
                "weights must be given"
            )
        return written(program)
    source, where = weights_in(weights), place_of(weights, "the given weights")
    late = {constant.name: constant for constant in program.late_constants}
    arrays = _bound(late.values(), source, where)
    if embed:
        constants = tuple(arrays[c.name] if isinstance(c, Late) else c for c in program.constants)
        bundled = replace(program, constants=constants)
        return written(bundled)
    if not isinstance(weights, Mapping):
        file = Path(weights).name
    unused = tuple(name for name in source.names if name not in late)
    sums = {name: checksums_of(array) for name, array in arrays.items()}
    derived = tuple(source.function(name) for name in late if name not in source.source)
    return written(program, weights_file=file, unused=unused, checksums=sums, weights=derived)


def _producer() -> str:
    """Return the name and the version of this program."""
    from importlib.metadata import PackageNotFoundError, version  # only writing needs it

    try:
        return f"xrelay {version('xrelay')}"
    except PackageNotFoundError:  # it was not installed
        return "xrelay"


def _bound(late: Iterable[Late], source: Weights, where: str) -> dict[str, Array]:
    """Return the value of each constant; an error if one is missing or does not fit."""
    late = list(late)
    missing = [constant.name for constant in late if constant.name not in source]
    if missing:
        raise ExecutableError(f"{where} lacks {_listed(missing)}, which the program needs")
    for constant in late:
        given = source.spec(constant.name)
        if not constant.spec.accepts(given):
            raise ExecutableError(
                f"{where}: '{constant.name}' must be {constant.spec}, but is {given}"
            )
    return {constant.name: source.array(constant.name) for constant in late}


def load_weights(
    executable: ExecutableFile,
    weights: str | os.PathLike[str] | Mapping[str, Array],
    *,
    verify: bool = False,
    partial: bool = False,
    others: Collection[str] = (),
) -> dict[str, Array]:
    """
    Return the values of the late-bound constants in `weights`, or in their `.safetensors` file.

    The values in a file are views of it: it must not be changed while they are used. It may have
    `others`, such as parameters of functions, too. Small values and samples of large ones are
    compared with the checksums in the executable; all bytes with `verify`. Raises
    `ExecutableError` if values are missing (unless `partial`), are not those that the program was
    compiled with, or if a file has others.
    """
    source, where = weights_in(weights, executable.weights), place_of(weights, "params")
    late = {constant.name: constant for constant in executable.program.late_constants}
    wanted = [c for c in late.values() if not partial or c.name in source]
    arrays = _bound(wanted, source, where)
    if executable.checksums and not isinstance(weights, Mapping):
        known = {*late, *executable.unused, *others}
        extra = [name for name in source.names if name not in known]
        if extra:
            raise ExecutableError(
                f"{where} has {_listed(extra)}, which the file that the program was compiled with "
                "lacks: it belongs to another program"
            )
    for name, sums in executable.checksums.items():
        if name not in arrays:
            continue
        data = bytes_of(arrays[name])
        if sample_of(data) != sums.sample or (verify and sha256_of(data) != sums.sha256):
            raise ExecutableError(
                f"{where}: the values of '{name}' are not those that the program was compiled "
                "with: compile it again, or give the file that belongs to it"
            )
    return arrays


def _listed(names: Iterable[str]) -> str:
    every = [f"'{name}'" for name in names]
    more = f" and {len(every) - SHOWN} more" if len(every) > SHOWN else ""
    return ", ".join(every[:SHOWN]) + more
