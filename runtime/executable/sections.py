"""
The sections of an executable: `sections_of` writes them, and `decode` reads them.

Most are records in the form that their annotations say (`word_format`). Nothing is allocated before
it is known to be in the file, and nothing recurses. That a program is well-formed, such as that
registers are in range, is the task of `runtime.program.checking`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, TypeAlias

from ..errors import Location
from ..program.data_types import DataTypes
from ..program.instructions import Instruction
from ..program.planned_memory import PlannedMemory
from ..program.program import Constant, Function, Kernel, Late, Program, spec_of
from ..program.records import record
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
from .errors import ExecutableError, damaged
from .layout import OPTIONAL, UNSUMMED, Layout, Section, aligned, read_layout
from .opcodes import Opcode, opcode_of, putters_of, reader_of
from .word_format import WORDS, array_of
from .words import Strings, TextBudget, WordReader, WordWriter, read_strings

Devices: TypeAlias = tuple[str, ...]
Plans: TypeAlias = tuple[PlannedMemory, ...]

RECORDS: Mapping[str, Any] = {
    "info": Info,
    "devices": Devices,
    "types": DataTypes,
    "functions": tuple[Function, ...],
    "kernels": tuple[Kernel, ...],
    "constants": tuple[StoredConstant, ...],
    "memory": Plans,
}
"""The sections that are one value, with its type."""

SECTIONS = (
    *("strings", "info", "devices", "types", "functions", "code", "kernels", "locations"),
    *("constants", "memory", "data"),
)
"""The sections, in their order in a file."""

FLAGS: Mapping[str, int] = {"locations": OPTIONAL, "memory": OPTIONAL, "data": UNSUMMED}
"""Sections that a reader may ignore, and the one whose constants have their own checksums."""


@record
class Run:
    """Instructions or steps that follow each other and have one location, -1 without one."""

    length: int
    location: int


def sections_of(executable: ExecutableFile) -> dict[str, list[memoryview]]:
    """Return the contents of each section, in pieces."""
    strings = Strings()
    words = {name: WordWriter(strings) for name in SECTIONS[1:-1]}
    program = executable.program
    constants, data = _stored(executable)
    values = {
        "info": Info(executable.producer, executable.weights_file, executable.unused),
        "devices": program.devices,
        "types": program.data,
        "functions": program.functions,
        "kernels": program.kernels,
        "constants": constants,
        "memory": executable.memory,
    }
    for name, writer in words.items():
        if name == "code":
            _put_code(writer, program.functions)
        elif name == "locations":
            _put_locations(writer, _located(program.functions, program.kernels))
        else:
            WORDS.of(RECORDS[name]).put(writer, values[name])
    pieces = {name: writer.pieces() for name, writer in words.items()}
    return {"strings": strings.pieces(), **pieces, "data": data}


def decode(data: memoryview, verify: bool = False) -> ExecutableFile:
    """
    Read the executable whose file is `data`; its program may not be well-formed.

    With `verify`, all bytes of its constants are checked, otherwise samples. Raises
    `ExecutableError`.
    """
    layout = read_layout(data)
    by_name = {section.name: section for section in layout.sections}
    _check_names(layout, by_name)
    at = by_name["strings"]
    strings = read_strings(_bytes(data, at), "strings", at.offset)
    budget = TextBudget(len(data))
    readers = {
        name: WordReader(name, section.offset, _bytes(data, section), strings, budget)
        for name, section in by_name.items()
        if name in SECTIONS[1:-1]
    }
    values = {
        name: WORDS.of(RECORDS[name], name).take(readers[name])
        for name in RECORDS
        if name in readers
    }
    info, functions, kernels = values["info"], values["functions"], values["kernels"]
    code = _code(readers["code"], len(functions))
    functions = [replace(f, instructions=c) for f, c in zip(functions, code, strict=True)]
    if "locations" in readers:
        functions, kernels = _with_locations(readers["locations"], functions, kernels)
    for reader in readers.values():
        reader.end()
    stored = values["constants"]
    constants = _constants(stored, by_name["data"], data, verify)
    program = Program(
        tuple(functions), constants, tuple(kernels), values["devices"], values["types"]
    )
    return ExecutableFile(
        *(program, info.producer, info.weights_file, info.unused),
        *(_checksums(readers["constants"], stored), values.get("memory", ()), layout),
    )


def _bytes(data: memoryview, section: Section) -> memoryview:
    return data[section.offset : section.offset + section.length]


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
        if section.name in SECTIONS and not section.has_checksum and section.name != "data":
            raise damaged(section.name, section.offset, "it must have a checksum")
    for name in SECTIONS:
        if name not in by_name and not FLAGS.get(name, 0) & OPTIONAL:
            raise ExecutableError(f"section '{name}' is missing")


def _put_code(writer: WordWriter, functions: Sequence[Function]) -> None:
    """Write the table of opcodes, and the instructions of each function."""
    used = {type(i): None for function in functions for i in function.instructions}
    opcodes = tuple(map(opcode_of, used))
    WORDS.of(tuple[Opcode, ...]).put(writer, opcodes)
    numbered = {
        kind: (number, putters_of(opcode))
        for number, (kind, opcode) in enumerate(zip(used, opcodes, strict=True))
    }
    for function in functions:
        writer.put(len(function.instructions))
        for instruction in function.instructions:
            number, putters = numbered[type(instruction)]
            writer.put(number)
            for name, put in putters:
                put(writer, getattr(instruction, name))


def _code(reader: WordReader, functions: int) -> list[tuple[Instruction, ...]]:
    listed = WORDS.of(tuple[Opcode, ...], "opcodes").take(reader)
    opcodes = [reader_of(opcode, reader) for opcode in listed]
    code: list[tuple[Instruction, ...]] = []
    for _ in range(functions):
        numbers = range(reader.count("instructions"))
        code.append(tuple([opcodes[reader.below(len(opcodes), "opcode")](reader) for _ in numbers]))
    return code


def _located(
    functions: Sequence[Function], kernels: Sequence[Kernel]
) -> list[Sequence[Location | None]]:
    """Return the locations of the instructions of each function, and the steps of each kernel."""
    steps = ([step.location for step in kernel.steps] for kernel in kernels)
    return [*(function.locations for function in functions), *steps]


def _put_locations(writer: WordWriter, located: Sequence[Sequence[Location | None]]) -> None:
    """Write each location once, and runs of equal ones for instructions and steps."""
    table = {place: None for places in located for place in places if place is not None}
    numbers = {None: -1, **{place: number for number, place in enumerate(table)}}
    WORDS.of(tuple[Location, ...]).put(writer, tuple(table))
    for places in located:
        runs = tuple(Run(len([*run]), numbers[place]) for place, run in groupby(places))
        WORDS.of(tuple[Run, ...]).put(writer, runs)


def _with_locations(
    reader: WordReader, functions: Sequence[Function], kernels: Sequence[Kernel]
) -> tuple[list[Function], list[Kernel]]:
    """Return functions and kernels with the locations of their instructions and steps."""
    table = WORDS.of(tuple[Location, ...], "locations").take(reader)

    def places(size: int) -> tuple[Location | None, ...]:
        listed: list[Location | None] = []
        for run in WORDS.of(tuple[Run, ...], "runs").take(reader):
            if not 1 <= run.length <= size - len(listed):
                most = size - len(listed)
                raise reader.fault(f"a run must have 1 to {most} items, but has {run.length}")
            if not -1 <= run.location < len(table):
                raise reader.fault(f"location {run.location} is out of range [-1, {len(table)})")
            listed += [None if run.location < 0 else table[run.location]] * run.length
        if listed and len(listed) != size:
            raise reader.fault(f"there are {len(listed)} locations for {size} items")
        return tuple(listed)

    located = [replace(f, locations=places(len(f.instructions))) for f in functions]
    return located, [_with_places(kernel, places(len(kernel.steps))) for kernel in kernels]


def _with_places(kernel: Kernel, places: Sequence[Location | None]) -> Kernel:
    if not any(places):
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


def _checksums(reader: WordReader, stored: Sequence[StoredConstant]) -> dict[str, Checksums]:
    """Return the checksums of late-bound constants by name."""
    checksums: dict[str, Checksums] = {}
    for late in stored:
        if isinstance(late, LateBound) and late.checksums is not None:
            if checksums.setdefault(late.name, late.checksums) != late.checksums:
                raise reader.fault(f"constant '{late.name}' has two checksums")
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
        begin = aligned(end)
        reader = WordReader("data", section.offset + begin, memoryview(b""), (), TextBudget(0))

        def bytes_in_file(size: int) -> memoryview:
            if size > len(data) - begin:
                raise reader.fault(
                    f"constant {number} has {size} bytes from {section.offset + begin} on, but "
                    f"the section ends at {section.offset + len(data)}"
                )
            return data[begin : begin + size]

        array = array_of(constant.spec, reader, bytes_in_file)
        if any(data[end:begin]):
            raise damaged("data", section.offset + end, "the bytes between constants are not zero")
        end = begin + array.nbytes
        sums, bytes = constant.checksums, data[begin:end]
        if sums is None:
            raise reader.fault(f"constant {number} has no checksums")
        if sample_of(bytes) != sums.sample or (verify and sha256_of(bytes) != sums.sha256):
            raise reader.fault(f"the checksum of constant {number} is wrong: it is damaged")
        constants.append(array)
    if end != len(data):
        at = section.offset + end
        raise damaged("data", at, f"{len(data) - end} bytes follow the last constant")
    return tuple(constants)
