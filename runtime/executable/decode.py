"""
Read the sections of an executable; `executable.encode` is the inverse.

Nothing is allocated before it is known to be in the file, and nothing recurses. That a program is
well-formed, such as that registers are in range, is the task of `runtime.checking`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TypeVar

import numpy as np

from ...operators.named_dims import Bounds
from ..errors import Location, MachineError
from ..memory.limits import MAX_EXTENT, MAX_RANK
from ..program.data_types import (
    Constructor,
    DataType,
    DataTypes,
    Definition,
    OpaqueType,
    TensorType,
    TupleType,
    TypeParameter,
    ValueType,
)
from ..program.dtypes import element_type
from ..program.instructions import Instruction
from ..program.planned_memory import PlannedMemory
from ..program.program import (
    Array,
    AttrValue,
    Constant,
    Function,
    Kernel,
    Late,
    Param,
    Program,
    Step,
    TensorSpec,
)
from .content import Checksums, ExecutableFile, sample_of, sha256_of
from .encode import (
    BOOL,
    DATA,
    FLAGS,
    FLOAT,
    INTEGER,
    INTEGERS,
    LATE,
    OPAQUE,
    PARAMETER,
    SECTIONS,
    TENSOR,
    TEXT,
    TUPLE,
)
from .errors import ExecutableError, damaged
from .instruction_encoding import read_opcodes
from .layout import ALIGNMENT, OPTIONAL, Layout, Section, read_layout
from .words import TextBudget, WordReader, read_strings

T = TypeVar("T")


def decode(data: memoryview, verify: bool = False) -> ExecutableFile:
    """
    Read the executable whose file is `data`; its program may not be well-formed.

    With `verify`, all bytes of its constants are checked, otherwise samples. Raises
    `ExecutableError`.
    """
    layout = read_layout(data)
    found = {section.name: section for section in layout.sections}
    _check_names(layout, found)
    strings_at = found["strings"]
    strings = read_strings(_bytes(data, strings_at), "strings", strings_at.offset)
    budget = TextBudget(len(data))

    def reader(name: str) -> WordReader:
        section = found[name]
        return WordReader(name, section.offset, _bytes(data, section), strings, budget)

    producer, weights_file, unused = _whole(reader("info"), _info)
    devices = _whole(reader("devices"), lambda r: [r.text() for _ in range(r.count("devices"))])
    types = _whole(reader("types"), _types)
    functions = _whole(reader("functions"), lambda r: _functions(r, len(types.types)))
    code = _whole(reader("code"), lambda r: _code(r, len(functions)))
    kernels = _whole(reader("kernels"), lambda r: [_kernel(r) for _ in range(r.count("kernels"))])
    here: list[tuple[Location | None, ...]] = [() for _ in functions]
    steps: list[tuple[Location | None, ...]] = [() for _ in kernels]
    if "locations" in found:
        sizes = [*map(len, code), *(len(kernel.steps) for kernel in kernels)]
        runs = _whole(reader("locations"), lambda r: _locations(r, sizes))
        here, steps = runs[: len(functions)], runs[len(functions) :]
    constants, checksums = _whole(
        reader("constants"), lambda r: _constants(r, _bytes(data, found["data"]), found, verify)
    )
    memory: tuple[PlannedMemory, ...] = ()
    if "memory" in found:
        memory = _whole(reader("memory"), _memory)
    program = Program(
        tuple(
            Function(f.name, f.params, f.register_count, c, at, f.dim_bounds, f.results)
            for f, c, at in zip(functions, code, here, strict=True)
        ),
        constants,
        tuple(_located(kernel, at) for kernel, at in zip(kernels, steps, strict=True)),
        tuple(devices),
        types,
    )
    return ExecutableFile(program, producer, weights_file, unused, checksums, memory, layout)


def _bytes(data: memoryview, section: Section) -> memoryview:
    return data[section.offset : section.offset + section.length]


def _check_names(layout: Layout, found: Mapping[str, Section]) -> None:
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
        if name not in found and not FLAGS.get(name, 0) & OPTIONAL:
            raise ExecutableError(f"section '{name}' is missing")


def _whole(reader: WordReader, read: Callable[[WordReader], T]) -> T:
    """Read a section to its end."""
    found = read(reader)
    reader.end()
    return found


def _info(reader: WordReader) -> tuple[str, str, tuple[str, ...]]:
    producer, weights_file = reader.text(), _file_name(reader)
    return producer, weights_file, tuple(reader.text() for _ in range(reader.count("names")))


def _file_name(reader: WordReader) -> str:
    """Read the name of a file beside the executable: never a path to another place."""
    name = reader.text("file name")
    if name in (".", "..") or any(c in "/\\:\0" for c in name):
        raise reader.fault("the weights must be beside the executable, not in another folder")
    return name


def _spec(reader: WordReader) -> TensorSpec:
    dtype, shape = reader.text("element type"), reader.take_many("dims")
    if len(shape) > MAX_RANK:
        raise reader.fault(f"a tensor has rank {len(shape)}, above {MAX_RANK}", len(shape) + 1)
    if any(dim < -1 for dim in shape):
        raise reader.fault(f"dims must be at least 0, or -1 if unknown, but are {list(shape)}")
    return TensorSpec(dtype, tuple(None if dim == -1 else dim for dim in shape))


def _array(reader: WordReader, data: Callable[[int], memoryview]) -> Array:
    """Read the type of an array, and view it in the bytes that `data` returns for its size."""
    spec = _spec(reader)
    if not spec.is_static:
        raise reader.fault(f"a constant must have a static shape, but is {spec}")
    shape = spec.dims
    try:
        dtype = element_type(spec.dtype)
    except MachineError as error:
        raise reader.fault(str(error)) from None
    if prod(dim for dim in shape if dim) * dtype.itemsize > MAX_EXTENT:
        raise reader.fault(f"{spec} exceeds NumPy's array size limit")
    size = prod(shape) * dtype.itemsize
    bytes = data(size)
    if dtype == np.bool_ and np.any(np.frombuffer(bytes, np.uint8) > 1):
        raise reader.fault("a bool must be 0 or 1")
    array = np.frombuffer(bytes, dtype.newbyteorder("<")).reshape(shape)
    return array.astype(dtype, copy=False)


def _types(reader: WordReader) -> DataTypes:
    count = reader.count("types")
    types = [_type(reader, earlier) for earlier in range(count)]
    definitions: list[Definition] = []
    for _ in range(reader.count("definitions", 3)):
        name, parameters = reader.text("name"), reader.natural("number of parameters")
        constructors: list[Constructor] = []
        for _ in range(reader.count("constructors", 2)):
            constructor = reader.text("name")
            fields = reader.take_many("fields")
            _check_indices(reader, fields, count)
            constructors.append(Constructor(constructor, fields))
        definitions.append(Definition(name, parameters, tuple(constructors)))
    for type in types:
        if isinstance(type, DataType) and type.definition >= len(definitions):
            raise reader.fault(
                f"definition {type.definition} is out of range [0, {len(definitions)})"
            )
    return DataTypes(tuple(definitions), tuple(types))


def _check_indices(reader: WordReader, types: Sequence[int], limit: int) -> None:
    for type in types:
        if not 0 <= type < limit:
            raise reader.fault(f"type {type} is out of range [0, {limit})")


def _type(reader: WordReader, earlier: int) -> ValueType:
    """Read a type; its parts are among the `earlier` ones, so that none contains itself."""
    kind = reader.below(TENSOR + 1, "kind of type")
    if kind == OPAQUE:
        return OpaqueType()
    if kind == PARAMETER:
        return TypeParameter(reader.natural("type parameter"))
    if kind == TENSOR:
        spec = _spec(reader)
        return TensorType(spec.dtype, spec.shape)
    definition = reader.natural("definition") if kind == DATA else 0
    parts = reader.take_many("types")
    _check_indices(reader, parts, earlier)
    return TupleType(parts) if kind == TUPLE else DataType(definition, parts)


def _functions(reader: WordReader, types: int) -> list[Function]:
    return [_function(reader, types) for _ in range(reader.count("functions", 5))]


def _function(reader: WordReader, types: int) -> Function:
    """Read a function but for its instructions."""
    name, registers = reader.text("name"), reader.natural("number of registers")
    params = _params(reader, types)
    bounds: dict[str, Bounds] = {}
    for _ in range(reader.count("bounds", 3)):
        dim = reader.text("dim")
        bounds[dim] = Bounds(reader.take(), reader.optional())
    results = None
    if reader.below(2, "flag"):
        results = _params(reader, types)
    return Function(name, params, registers, (), (), bounds, results)


def _params(reader: WordReader, types: int) -> tuple[Param, ...]:
    return tuple(_param(reader, types) for _ in range(reader.count("parameters", 5)))


def _param(reader: WordReader, types: int) -> Param:
    name, device = reader.text("name"), reader.take()
    spec = _spec(reader) if reader.below(2, "flag") else None
    dims = tuple(reader.text("dim") for _ in range(reader.count("dims")))
    type = reader.below(types, "type") if reader.below(2, "flag") else None
    return Param(name, spec, device, dims, type)


def _code(reader: WordReader, functions: int) -> list[tuple[Instruction, ...]]:
    opcodes = read_opcodes(reader)
    code: list[tuple[Instruction, ...]] = []
    for _ in range(functions):
        count = reader.count("instructions")
        code.append(
            tuple(opcodes[reader.below(len(opcodes), "opcode")].read(reader) for _ in range(count))
        )
    return code


def _kernel(reader: WordReader) -> Kernel:
    name = reader.text("name")
    ins = tuple(_spec(reader) for _ in range(reader.count("inputs", 2)))
    constants = tuple(
        _array(reader, lambda size: reader.raw(size, "a constant")).copy()
        for _ in range(reader.count("constants", 2))
    )
    locals = tuple(_spec(reader) for _ in range(reader.count("values", 2)))
    steps = tuple(_step(reader) for _ in range(reader.count("steps", 4)))
    results, host_ins = reader.take_many("results"), reader.take_many("inputs")
    # `Kernel.spec` is used to check the rest, and a negative index would be another value.
    values = len(ins) + len(constants) + len(locals)
    for step in steps:
        _check_values(reader, (*step.ins, *step.outs), values)
    _check_values(reader, results, values)
    return Kernel(name, ins, constants, locals, steps, results, host_ins)


def _check_values(reader: WordReader, found: Sequence[int], limit: int) -> None:
    for value in found:
        if not 0 <= value < limit:
            raise reader.fault(f"value {value} of a kernel is out of range [0, {limit})")


def _step(reader: WordReader) -> Step:
    op = reader.text("operator")
    ins, outs = reader.take_many("operands"), reader.take_many("results")
    attrs: dict[str, AttrValue] = {}
    for _ in range(reader.count("attributes", 3)):
        name = reader.text("name")
        if name in attrs:
            raise reader.fault(f"{op} has two attributes '{name}'")
        attrs[name] = _attribute(reader)
    return Step(op, attrs, ins, outs)


def _attribute(reader: WordReader) -> AttrValue:
    kind = reader.below(INTEGERS + 1, "kind of attribute")
    if kind == INTEGER:
        return reader.take()
    if kind == FLOAT:
        return reader.real()
    if kind == BOOL:
        return bool(reader.below(2, "bool"))
    return reader.text() if kind == TEXT else reader.take_many("integers")


def _locations(reader: WordReader, sizes: Sequence[int]) -> list[tuple[Location | None, ...]]:
    """Read the locations of lists of instructions or steps of these sizes."""
    table: list[Location | None] = [
        Location(reader.text("file"), reader.natural("line"), reader.natural("column"))
        for _ in range(reader.count("locations", 3))
    ]
    found: list[tuple[Location | None, ...]] = []
    for size in sizes:
        here: list[Location | None] = []
        for _ in range(reader.count("runs", 2)):
            length = reader.take()
            if not 1 <= length <= size - len(here):
                raise reader.fault(
                    f"a run must have 1 to {size - len(here)} items, but has {length}"
                )
            number = reader.take()
            if not -1 <= number < len(table):
                raise reader.fault(f"location {number} is out of range [-1, {len(table)})")
            here += [None if number < 0 else table[number]] * length
        if here and len(here) != size:
            raise reader.fault(f"there are {len(here)} locations for {size} items")
        found.append(tuple(here))
    return found


def _located(kernel: Kernel, locations: Sequence[Location | None]) -> Kernel:
    if not any(locations):
        return kernel
    steps = tuple(
        Step(step.op, step.attrs, step.ins, step.outs, at)
        for step, at in zip(kernel.steps, locations, strict=True)
    )
    return Kernel(
        *(kernel.name, kernel.ins, kernel.constants, kernel.locals),
        *(steps, kernel.results, kernel.host_ins),
    )


def _constants(
    reader: WordReader, data: memoryview, found: Mapping[str, Section], verify: bool
) -> tuple[tuple[Constant, ...], dict[str, Checksums]]:
    """Read the constants, whose bytes are in `data`, and the checksums of late-bound ones."""
    constants: list[Constant] = []
    checksums: dict[str, Checksums] = {}
    start = found["data"].offset
    end = 0

    def bytes_in_file(size: int) -> memoryview:
        """Return the next `size` bytes of the constants, after the gap before them."""
        nonlocal end
        begin = -(-end // ALIGNMENT) * ALIGNMENT
        if size > len(data) - begin:
            raise reader.fault(
                f"constant {len(constants)} has {size} bytes from {start + begin} on, but section "
                f"'data' ends at {start + len(data)}"
            )
        if any(data[end:begin]):
            raise damaged("data", start + end, "the bytes between constants are not zero")
        end = begin + size
        return data[begin:end]

    for number in range(reader.count("constants", 4)):
        if reader.below(LATE + 1, "kind of constant") == LATE:
            late = _late(reader, checksums)
            constants.append(late)
            continue
        array = _array(reader, bytes_in_file)
        size = array.nbytes
        sums = _checksums(reader)
        if sums is None:
            raise reader.fault(f"constant {number} has no checksums")
        bytes = data[end - size : end]
        if sample_of(bytes) != sums.sample or (verify and sha256_of(bytes) != sums.sha256):
            at = start + end - size
            raise damaged("data", at, f"the checksum of constant {number} is wrong: it is damaged")
        constants.append(array)
    if end != len(data):
        raise damaged("data", start + end, f"{len(data) - end} bytes follow the last constant")
    return tuple(constants), checksums


def _late(reader: WordReader, checksums: dict[str, Checksums]) -> Late:
    spec, name = _spec(reader), reader.text("name")
    sums = _checksums(reader)
    if sums is not None and checksums.setdefault(name, sums) != sums:
        raise reader.fault(f"constant '{name}' has two checksums")
    return Late(name, spec)


def _checksums(reader: WordReader) -> Checksums | None:
    if not reader.below(2, "flag"):
        return None
    return Checksums(bytes(reader.raw(32, "a SHA-256")), reader.below(1 << 32, "checksum"))


def _memory(reader: WordReader) -> tuple[PlannedMemory, ...]:
    def amount() -> tuple[int | None, str]:
        return reader.optional(), reader.text("formula")

    return tuple(
        PlannedMemory(
            reader.text("function"),
            reader.text("device"),
            reader.natural("number of tensors"),
            reader.natural("number of allocations"),
            amount(),
            amount(),
            amount(),
        )
        for _ in range(reader.count("plans", 10))
    )
