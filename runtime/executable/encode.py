"""Write the parts of an executable into sections: `executable.decode` is the inverse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from ..errors import Location
from ..program.data_types import DataType, OpaqueType, TensorType, TupleType, TypeParameter
from ..program.instructions import Instruction
from ..program.program import (
    Array,
    AttrValue,
    Function,
    Kernel,
    Late,
    Param,
    Step,
    TensorSpec,
    spec_of,
)
from .content import Checksums, ExecutableFile, bytes_of, checksums_of
from .errors import ExecutableError
from .instruction_encoding import PUT, encoding_of, write_opcodes
from .layout import ALIGNMENT, OPTIONAL, UNSUMMED
from .words import Strings, WordWriter

SECTIONS = (
    *("strings", "info", "devices", "types", "functions", "code", "kernels", "locations"),
    *("constants", "memory", "data"),
)
"""The sections, in their order in a file."""

FLAGS: Mapping[str, int] = {"locations": OPTIONAL, "memory": OPTIONAL, "data": UNSUMMED}
"""Sections that a reader may ignore, and the one whose constants have their own checksums."""

IN_FILE, LATE = 0, 1
"""The kinds of constants."""

OPAQUE, TUPLE, DATA, PARAMETER, TENSOR = range(5)
"""The kinds of types."""

INTEGER, FLOAT, BOOL, TEXT, INTEGERS = range(5)
"""The kinds of attributes of operators."""


def sections_of(executable: ExecutableFile) -> dict[str, list[memoryview]]:
    """Return the contents of each section, in pieces."""
    strings = Strings()
    program = executable.program
    words = {name: WordWriter(strings) for name in SECTIONS[1:-1]}
    words["info"].put_text(executable.producer)
    words["info"].put_text(executable.weights_file)
    words["info"].put(len(executable.unused))
    for name in executable.unused:
        words["info"].put_text(name)
    words["devices"].put(len(program.devices))
    for device in program.devices:
        words["devices"].put_text(device)
    _put_types(words["types"], executable)
    _put_functions(words["functions"], program.functions)
    _put_code(words["code"], program.functions)
    words["kernels"].put(len(program.kernels))
    for kernel in program.kernels:
        _put_kernel(words["kernels"], kernel)
    _put_locations(words["locations"], program.functions, program.kernels)
    data = _put_constants(words["constants"], executable)
    _put_memory(words["memory"], executable)
    pieces = {name: writer.pieces() for name, writer in words.items()}
    return {"strings": strings.pieces(), **pieces, "data": data}


def put_spec(writer: WordWriter, spec: TensorSpec) -> None:
    """Write an element type and a shape; an unknown dim is -1."""
    writer.put_text(spec.dtype)
    writer.put_many([-1 if dim is None else dim for dim in spec.shape])


def _put_types(writer: WordWriter, executable: ExecutableFile) -> None:
    data = executable.program.data
    writer.put(len(data.types))
    for type in data.types:
        match type:
            case OpaqueType():
                writer.put(OPAQUE)
            case TupleType():
                writer.put(TUPLE)
                writer.put_many(type.fields)
            case DataType():
                writer.put(DATA, type.definition)
                writer.put_many(type.args)
            case TypeParameter():
                writer.put(PARAMETER, type.number)
            case TensorType():
                writer.put(TENSOR)
                put_spec(writer, TensorSpec(type.dtype, type.shape))
    writer.put(len(data.definitions))
    for definition in data.definitions:
        writer.put_text(definition.name)
        writer.put(definition.parameters, len(definition.constructors))
        for constructor in definition.constructors:
            writer.put_text(constructor.name)
            writer.put_many(constructor.fields)


def _put_functions(writer: WordWriter, functions: Sequence[Function]) -> None:
    writer.put(len(functions))
    for function in functions:
        writer.put_text(function.name)
        writer.put(function.register_count, len(function.params))
        for param in function.params:
            _put_param(writer, param)
        writer.put(len(function.dim_bounds))
        for name, bounds in function.dim_bounds.items():
            writer.put_text(name)
            writer.put(bounds.low)
            writer.put_optional(bounds.high)
        writer.put(function.results is not None)
        if function.results is not None:
            writer.put(len(function.results))
            for result in function.results:
                _put_param(writer, result)


def _put_param(writer: WordWriter, param: Param) -> None:
    """Write a parameter or a result."""
    writer.put_text(param.name)
    writer.put(param.device, param.spec is not None)
    if param.spec is not None:
        put_spec(writer, param.spec)
    writer.put(len(param.dims))
    for name in param.dims:
        writer.put_text(name)
    writer.put_optional(param.type)


def _put_code(writer: WordWriter, functions: Sequence[Function]) -> None:
    used = {type(i): None for function in functions for i in function.instructions}
    kinds: list[type[Instruction]] = list(used)
    write_opcodes(writer, kinds)
    numbers = {kind: number for number, kind in enumerate(kinds)}
    puts = {
        kind: [(name, PUT[field]) for name, field in encoding_of(kind).items()] for kind in kinds
    }
    for function in functions:
        writer.put(len(function.instructions))
        for instruction in function.instructions:
            kind = type(instruction)
            writer.put(numbers[kind])
            for name, put in puts[kind]:
                put(writer, getattr(instruction, name))


def _put_kernel(writer: WordWriter, kernel: Kernel) -> None:
    writer.put_text(kernel.name)
    writer.put(len(kernel.ins))
    for spec in kernel.ins:
        put_spec(writer, spec)
    writer.put(len(kernel.constants))
    for array in kernel.constants:
        put_spec(writer, spec_of(array))
        writer.put_bytes(bytes(bytes_of(array)))
    writer.put(len(kernel.locals))
    for spec in kernel.locals:
        put_spec(writer, spec)
    writer.put(len(kernel.steps))
    for step in kernel.steps:
        _put_step(writer, step)
    writer.put_many(kernel.results)
    writer.put_many(kernel.host_ins)


def _put_step(writer: WordWriter, step: Step) -> None:
    writer.put_text(step.op)
    writer.put_many(step.ins)
    writer.put_many(step.outs)
    writer.put(len(step.attrs))
    for name, value in step.attrs.items():
        writer.put_text(name)
        _put_attribute(writer, value)


def _put_attribute(writer: WordWriter, value: AttrValue) -> None:
    match value:
        case bool():
            writer.put(BOOL, value)
        case int():
            writer.put(INTEGER, value)
        case float():
            writer.put(FLOAT)
            writer.put_float(value)
        case str():
            writer.put(TEXT)
            writer.put_text(value)
        case tuple():
            writer.put(INTEGERS)
            writer.put_many(value)


def _put_locations(
    writer: WordWriter, functions: Sequence[Function], kernels: Sequence[Kernel]
) -> None:
    """Write each location once, and runs of equal ones for instructions and steps."""
    lists: list[Sequence[Location | None]] = [function.locations for function in functions]
    lists += [[step.location for step in kernel.steps] for kernel in kernels]
    table = {location: None for found in lists for location in found if location is not None}
    numbers = {location: number for number, location in enumerate(table)}
    writer.put(len(table))
    for location in table:
        writer.put_text(location.file)
        writer.put(location.line, location.column)
    for found in lists:
        runs = [(location, len(list(run))) for location, run in groupby(found)]
        writer.put(len(runs))
        for location, length in runs:
            writer.put(length, -1 if location is None else numbers[location])


def _put_constants(writer: WordWriter, executable: ExecutableFile) -> list[memoryview]:
    """Write what is known of each constant, and return the bytes of those in the file."""
    constants = executable.program.constants
    writer.put(len(constants))
    pieces: list[memoryview] = []
    size = 0
    for constant in constants:
        late = isinstance(constant, Late)
        writer.put(LATE if late else IN_FILE)
        put_spec(writer, constant.spec if late else _spec(constant))
        checksums = executable.checksums.get(constant.name) if late else checksums_of(constant)
        if late:
            writer.put_text(constant.name)
        writer.put(checksums is not None)
        if checksums is not None:
            _put_checksums(writer, checksums)
        if not late:
            data = bytes_of(constant)
            gap = -size % ALIGNMENT
            pieces += [memoryview(bytes(gap)), data]
            size += gap + len(data)
    return pieces


def _spec(array: Array) -> TensorSpec:
    spec = spec_of(array)
    if array.dtype.hasobject:
        raise ExecutableError(f"a constant has unsupported element type {array.dtype}")
    return spec


def _put_checksums(writer: WordWriter, checksums: Checksums) -> None:
    writer.put_bytes(checksums.sha256)
    writer.put(checksums.sample)


def _put_memory(writer: WordWriter, executable: ExecutableFile) -> None:
    writer.put(len(executable.memory))
    for planned in executable.memory:
        writer.put_text(planned.function)
        writer.put_text(planned.device)
        writer.put(planned.tensors, planned.allocations)
        amounts: Iterable[Any] = (planned.sum, planned.lower_bound, planned.planned)
        for size, formula in amounts:
            writer.put_optional(size)
            writer.put_text(formula)
