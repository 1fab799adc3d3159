"""
The sections of an executable: `sections_of` writes them, and `decode` reads them.

Most are records in the form that their annotations say (`word_format`). Nothing is allocated before
it is known to be in the file, and nothing recurses. That a program is well-formed, such as that
registers are in range, is the task of `runtime.program.checking`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Annotated, Any

from ..codec.notes import Check
from ..errors import Location
from ..program.data_types import DataTypes
from ..program.instructions import Instruction
from ..program.planned_memory import PlannedMemory
from ..program.program import (
    Constant,
    Function,
    Kernel,
    Late,
    Program,
    Step,
    WeightFunction,
    spec_of,
)
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


@record
class Run:
    """Instructions or steps that follow each other and have one location, -1 without one."""

    length: int
    location: int


@record
class IsPlace(Check):
    """A location whose line and column are not negative."""

    def fault(self, value: Location) -> str | None:
        """Return the fault of a value."""
        is_place = min(value.line, value.column) >= 0
        return None if is_place else f"must not be negative, but is {value.line}:{value.column}"


@record
class Places:
    """Each location once, and those of the instructions of functions and the steps of kernels."""

    table: tuple[Annotated[Location, IsPlace()], ...]
    runs: tuple[tuple[Run, ...], ...]


RECORDS: Mapping[str, Any] = {
    "info": Info,
    "devices": tuple[str, ...],
    "types": DataTypes,
    "functions": tuple[Function, ...],
    "kernels": tuple[Kernel, ...],
    "locations": Places,
    "constants": tuple[StoredConstant, ...],
    "memory": tuple[PlannedMemory, ...],
    "weights": tuple[WeightFunction, ...],
    "metadata": Mapping[str, str],
}
"""The sections that are one value, with its type."""

SECTIONS = (
    *("strings", "info", "devices", "types", "functions", "code", "kernels", "locations"),
    *("constants", "memory", "weights", "metadata", "data"),
)
"""The sections, in their order in a file; those of plug-ins are before the last one."""

_FLAGS: Mapping[str, int] = {
    **dict.fromkeys(("locations", "memory", "weights", "metadata"), OPTIONAL),
    "data": UNSUMMED,
}


def flags_of(name: str) -> int:
    """
    Return the flags of a section.

    A reader may ignore those of plug-ins, and constants have checksums of their own.
    """
    return _FLAGS.get(name, 0) if name in SECTIONS else OPTIONAL


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
        "locations": _places(program),
        "constants": constants,
        "memory": executable.memory,
        "weights": executable.weights,
        "metadata": executable.metadata,
    }
    for name, writer in words.items():
        if name == "code":
            _put_code(writer, program.functions)
        else:
            WORDS.of(RECORDS[name]).put(writer, values[name])
    pieces = {name: writer.pieces() for name, writer in words.items()}
    added = {name: [memoryview(content)] for name, content in executable.added.items()}
    return {"strings": strings.pieces(), **pieces, **added, "data": data}


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
    located: list[tuple[Location | None, ...]] = [()] * (len(code) + len(kernels))
    if "locations" in readers:
        sizes = [*map(len, code), *(len(kernel.steps) for kernel in kernels)]
        located = _locations(readers["locations"], values["locations"], sizes)
    parts = zip(functions, code, located[: len(code)], strict=True)
    functions = [replace(f, instructions=c, locations=at) for f, c, at in parts]
    kernels = map(_with_locations, kernels, located[len(code) :])
    for reader in readers.values():
        reader.end()
    stored = values["constants"]
    constants = _constants(stored, by_name["data"], data, verify)
    program = Program(
        tuple(functions), constants, tuple(kernels), values["devices"], values["types"]
    )
    added = {name: _bytes(data, s) for name, s in by_name.items() if name not in SECTIONS}
    return ExecutableFile(
        *(program, info.producer, info.weights_file, info.unused),
        *(_checksums(readers["constants"], stored), values.get("memory", ())),
        *(values.get("weights", ()), values.get("metadata", {}), added, layout),
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
        if name not in by_name and not flags_of(name) & OPTIONAL:
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


def _places(program: Program) -> Places:
    """Return the locations of the instructions of each function, and the steps of each kernel."""
    located: list[Sequence[Location | None]] = [f.locations for f in program.functions]
    located += [[step.location for step in kernel.steps] for kernel in program.kernels]
    table = {place: None for places in located for place in places if place is not None}
    numbers = {None: -1, **{place: number for number, place in enumerate(table)}}
    runs = (
        tuple(Run(len([*run]), numbers[place]) for place, run in groupby(places))
        for places in located
    )
    return Places(tuple(table), tuple(runs))


def _locations(
    reader: WordReader, places: Places, sizes: Sequence[int]
) -> list[tuple[Location | None, ...]]:
    """Return the locations of lists of instructions or steps of these sizes."""
    table, located = places.table, list[tuple[Location | None, ...]]()
    if len(places.runs) != len(sizes):
        raise reader.fault(f"there are locations for {len(places.runs)} lists, not {len(sizes)}")
    for size, runs in zip(sizes, places.runs, strict=True):
        listed: list[Location | None] = []
        for run in runs:
            most = size - len(listed)
            if not 1 <= run.length <= most:
                raise reader.fault(f"a run must have 1 to {most} items, but has {run.length}")
            if not -1 <= run.location < len(table):
                raise reader.fault(f"location {run.location} is out of range [-1, {len(table)})")
            listed += [None if run.location < 0 else table[run.location]] * run.length
        if listed and len(listed) != size:
            raise reader.fault(f"there are {len(listed)} locations for {size} items")
        located.append(tuple(listed))
    return located


def _with_locations(kernel: Kernel, places: Sequence[Location | None]) -> Kernel:
    if not any(places):
        return kernel
    steps = zip(kernel.steps, places, strict=True)
    located = (Step(step.op, step.attrs, step.ins, step.outs, place) for step, place in steps)
    return replace(kernel, steps=tuple(located))


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
        if sample_of(bytes) != sums.sample or (verify and sha256_of(bytes) != sums.sha256):
            raise reader.fault(f"the checksum of constant {number} is wrong: it is damaged")
        constants.append(array)
    if end != len(data):
        at = section.offset + end
        raise damaged("data", at, f"{len(data) - end} bytes follow the last constant")
    return tuple(constants)
