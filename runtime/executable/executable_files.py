"""
Read and write executable files.

The sections but the bytes of constants are JSON, in the form that the annotations of records say
(`runtime.codec`). That a program is well-formed, such as that registers are in range, is the task
of `runtime.program.checking`.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, BinaryIO, Union

from ...operators.records import record
from ..codec.notes import Check
from ..codec.plain import DAMAGED, PLAIN, array_of, size_of
from ..errors import Location
from ..files import contents
from ..files import replace as replace_file
from ..program.checking import check_kernel, check_program
from ..program.data_types import DataTypes
from ..program.instructions import INSTRUCTIONS
from ..program.planned_memory import PlannedMemory
from ..program.program import (
    Constant,
    Function,
    Kernel,
    Late,
    Pool,
    Program,
    WeightFunction,
    spec_of,
)
from ..weights.derived_weights import faults_of
from .content import (
    Checksums,
    ExecutableFile,
    InFile,
    Info,
    LateBound,
    StoredConstant,
    bytes_of,
    checksums_of,
    sample_of,
    sha256_of,
)
from .layout import (
    OPTIONAL,
    UNSUMMED,
    ExecutableError,
    Layout,
    Section,
    aligned,
    damaged,
    header_of,
    laid_out,
    read_layout,
)

AnyInstruction: Any = Union[tuple(INSTRUCTIONS.values())]  # noqa: UP007


PLACE = Check("have a line and column from 0 on", lambda at: min(at.line, at.column) >= 0)


@record
class Places:
    """
    Each location once, and their numbers for the instructions of functions and steps of kernels.

    The number of an item without one is -1, and a list without any is empty.
    """

    table: tuple[Annotated[Location, PLACE], ...]
    numbers: tuple[tuple[int, ...], ...]


RECORDS: Mapping[str, Any] = {
    "info": Info,
    "devices": tuple[str, ...],
    "pools": tuple[Pool, ...],
    "types": DataTypes,
    "functions": tuple[Function, ...],
    "code": tuple[tuple[AnyInstruction, ...], ...],
    "kernels": tuple[Kernel, ...],
    "locations": Places,
    "constants": tuple[StoredConstant, ...],
    "memory": tuple[PlannedMemory, ...],
    "weights": tuple[WeightFunction, ...],
    "metadata": Mapping[str, str],
}
"""The sections with the type of each, in their order in a file; those of plug-ins follow."""

DATA = "data"
"""The last section: the bytes of constants."""

SECTIONS = (*RECORDS, DATA)

_OPTIONAL: Mapping[str, Any] = {
    "pools": (),
    "locations": Places((), ()),
    "memory": (),
    "weights": (),
    "metadata": {},
}
"""The sections that a reader may ignore, and what it takes for one that is missing."""


def flags_of(name: str) -> int:
    """
    Return the flags of a section.

    A reader may ignore those of plug-ins, and constants have checksums of their own.
    """
    needed = {*RECORDS} - {*_OPTIONAL} | {"pools"}
    return UNSUMMED if name == DATA else 0 if name in needed else OPTIONAL


def sections_of(executable: ExecutableFile) -> dict[str, list[memoryview]]:
    """Return the contents of each section, in pieces."""
    program = executable.program
    constants, data = _stored(executable)
    values = {
        "info": Info(executable.producer, executable.weights_file, executable.unused),
        "devices": program.devices,
        "pools": program.pools,
        "types": program.data,
        "functions": program.functions,
        "code": [function.instructions for function in program.functions],
        "kernels": program.kernels,
        "locations": _places(program),
        "constants": constants,
        "memory": executable.memory,
        "weights": executable.weights,
        "metadata": executable.metadata,
    }
    present = (name for name in RECORDS if name != "pools" or program.pools)
    written = {name: [_json(name, values[name])] for name in present}
    added = {name: [memoryview(content)] for name, content in executable.added.items()}
    return {**written, **added, DATA: data}


def _json(section: str, value: Any) -> memoryview:
    try:
        plain = PLAIN.of(RECORDS[section]).put(value)
    except DAMAGED as error:
        raise ExecutableError(f"cannot write section '{section}': {error}") from None
    text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False)
    return memoryview(text.encode())


def decode(data: memoryview, verify: bool = False) -> ExecutableFile:
    """
    Read the executable whose file is `data`; its program may not be well-formed.

    With `verify`, all bytes of its constants are checked, otherwise samples. Raises
    `ExecutableError`.
    """
    layout = read_layout(data)
    by_name = {section.name: section for section in layout.sections}
    _check_names(layout, by_name)
    values = {
        name: _value(data, by_name[name]) if name in by_name else _OPTIONAL[name]
        for name in RECORDS
    }
    info, functions, code = values["info"], values["functions"], values["code"]
    kernels: Sequence[Kernel] = values["kernels"]
    if len(code) != len(functions):
        fault = f"there is code of {len(code)} functions, not {len(functions)}"
        raise damaged("code", by_name["code"].offset, fault)
    sizes = [*map(len, code), *(len(kernel.steps) for kernel in kernels)]
    try:
        located = _located(values["locations"], sizes)
    except ValueError as error:
        raise damaged("locations", by_name["locations"].offset, str(error)) from None
    parts = zip(functions, code, located, strict=False)
    functions = tuple(replace(f, instructions=c, locations=at) for f, c, at in parts)
    kernels = tuple(map(_with_locations, kernels, located[len(code) :]))
    stored = values["constants"]
    constants = _constants(stored, by_name[DATA], data, verify)
    return ExecutableFile(
        Program(functions, constants, kernels, values["devices"], values["types"], values["pools"]),
        *(info.producer, info.weights_file, info.unused),
        *(_checksums(stored, by_name["constants"]), values["memory"], values["weights"]),
        *(values["metadata"], {n: _bytes(data, by_name[n]) for n in by_name if n not in SECTIONS}),
        layout,
    )


def _bytes(data: memoryview, section: Section) -> memoryview:
    return data[section.offset : section.offset + section.length]


def _value(data: memoryview, section: Section) -> Any:
    """Return the value that a section is."""
    try:
        plain = json.loads(str(_bytes(data, section), "utf-8"))
        return PLAIN.of(RECORDS[section.name]).take(plain)
    except (*DAMAGED, RecursionError) as error:
        raise damaged(section.name, section.offset, str(error)) from None


def _check_names(layout: Layout, by_name: Mapping[str, Section]) -> None:
    for section in layout.sections:
        if section.name not in SECTIONS and not section.is_optional:
            major, minor = layout.version
            raise damaged(
                section.name,
                section.offset,
                f"unknown section that readers must not ignore: the file has format "
                f"{major}.{minor}; use a newer xrelay",
            )
        if section.name in RECORDS and not section.has_checksum:
            raise damaged(section.name, section.offset, "it must have a checksum")
    for name in SECTIONS:
        if name not in by_name and name not in _OPTIONAL:
            raise ExecutableError(f"section '{name}' is missing")


def _places(program: Program) -> Places:
    """Return the locations of the instructions of each function, and the steps of each kernel."""
    located: list[Sequence[Location | None]] = [f.locations for f in program.functions]
    located += [[step.location for step in kernel.steps] for kernel in program.kernels]
    numbers: dict[Location | None, int] = {None: -1}
    for place in (place for places in located for place in places):
        numbers.setdefault(place, len(numbers) - 1)
    listed = (tuple(numbers[p] for p in places) if any(places) else () for places in located)
    return Places(tuple(place for place in numbers if place is not None), tuple(listed))


def _located(places: Places, sizes: Sequence[int]) -> list[tuple[Location | None, ...]]:
    """Return the locations of lists of instructions or steps of these sizes."""
    if places.numbers and len(places.numbers) != len(sizes):
        raise ValueError(f"there are locations for {len(places.numbers)} lists, not {len(sizes)}")
    for size, numbers in zip(sizes, places.numbers, strict=False):
        if numbers and len(numbers) != size:
            raise ValueError(f"there are {len(numbers)} locations for {size} items")
        if numbers and not -1 <= min(numbers) <= max(numbers) < len(places.table):
            raise ValueError(f"a location is out of range [-1, {len(places.table)})")
    table = (*places.table, None)
    return [tuple(table[n] for n in numbers) for numbers in places.numbers or ((),) * len(sizes)]


def _with_locations(kernel: Kernel, places: Sequence[Location | None]) -> Kernel:
    if not places:
        return kernel
    steps = zip(kernel.steps, places, strict=True)
    return replace(kernel, steps=tuple(replace(step, location=place) for step, place in steps))


def _stored(executable: ExecutableFile) -> tuple[tuple[StoredConstant, ...], list[memoryview]]:
    """Return what is stored of each constant, and the bytes of those in the file."""
    stored: list[StoredConstant] = []
    pieces: list[memoryview] = []
    size = 0
    for constant in executable.program.constants:
        if isinstance(constant, Late):
            sums = executable.checksums.get(constant.name)
            stored.append(LateBound(constant.spec, constant.name, sums))
            continue
        if constant.dtype.hasobject:
            raise ExecutableError(f"a constant has unsupported element type {constant.dtype}")
        stored.append(InFile(spec_of(constant), checksums_of(constant)))
        gap, data = aligned(size) - size, bytes_of(constant)
        pieces += [memoryview(bytes(gap)), data]
        size += gap + len(data)
    return tuple(stored), pieces


def _checksums(stored: Sequence[StoredConstant], section: Section) -> dict[str, Checksums]:
    """Return the checksums of late-bound constants by name."""
    checksums: dict[str, Checksums] = {}
    for late in stored:
        if isinstance(late, LateBound) and late.checksums is not None:
            if checksums.setdefault(late.name, late.checksums) != late.checksums:
                fault = f"constant '{late.name}' has two checksums"
                raise damaged(section.name, section.offset, fault)
    return checksums


def _constants(
    stored: Sequence[StoredConstant], section: Section, file: memoryview, verify: bool
) -> tuple[Constant, ...]:
    """Return the constants; the bytes of those in the file are views of its section `data`."""
    data, end = _bytes(file, section), 0
    constants: list[Constant] = []
    for number, constant in enumerate(stored):
        if isinstance(constant, LateBound):
            constants.append(Late(constant.name, constant.spec))
            continue
        begin, sums = aligned(end), constant.checksums
        try:
            if any(data[end:begin]):
                raise ValueError("the bytes before it are not zero")
            end = begin + size_of(constant.spec)
            bytes = data[begin:end]
            constants.append(array_of(constant.spec, bytes))
            if sample_of(bytes) != sums.sample or (verify and sha256_of(bytes) != sums.sha256):
                raise ValueError("the checksum is wrong: it is damaged")
        except DAMAGED as error:
            at = section.offset + begin
            raise damaged(DATA, at, f"constant {number}: {error}") from None
    if end != len(data):
        at = section.offset + end
        raise damaged(DATA, at, f"{len(data) - end} bytes follow the last constant")
    return tuple(constants)


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
        replace_file(target, pieces_of(executable), overwrite=overwrite)
    else:
        target.writelines(pieces_of(executable))
