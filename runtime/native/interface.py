"""
The interface of a compiled library: what its metadata says, as plain data.

    library = Library.from_json(text)
    library.to_json()

`aot-lower-main` writes it, the C wrappers are generated from it, and the loader reads it.
`docs/aot.md` describes the JSON. Callers may have tuples, where functions take and return tensors:

    (T, (U, V))  ->  nesting (2, None, 2, None, None)

A nesting is the number of fields of each tuple, depth first, and None for each tensor. Nothing here
recurses, as in `runtime.calls.values`.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Literal, TypeAlias, cast, get_args

from ...operators.records import record
from ..calls.values import Value
from ..codec.notes import NoneAs
from ..codec.plain import DAMAGED, PLAIN
from ..errors import MachineError
from ..program.named_results import unique_names
from ..program.program import Array, Function, Kernel, Param, Program, TensorSpec

Nesting: TypeAlias = tuple[Annotated[int | None, NoneAs(-1)], ...]

TENSOR: Nesting = (None,)


@record
class Nested:
    """A parameter or result: its name, or "", and the nesting of its fields."""

    name: str
    fields: Nesting


@record
class Structure:
    """The parameters and results of callers; their tensors, in order, are those of the function."""

    inputs: tuple[Nested, ...]
    outputs: tuple[Nested, ...]

    def require_fit(self, function: Function) -> None:
        """Raise `ValueError` unless `function` has as many tensors."""
        for nested, flat in ((self.inputs, function.params), (self.outputs, function.results)):
            counts = [_tensors(each.fields) for each in nested]
            if sum(counts) != len(flat or ()):
                raise ValueError(f"expected {len(flat or ())} tensors, but got {sum(counts)}")


def structure_of(function: Function) -> Structure:
    """Return the structure of a function that is called without tuples."""
    inputs, outputs = function.params, function.results or ()
    return Structure(
        tuple(Nested(param.name, TENSOR) for param in inputs),
        tuple(Nested(result.name, TENSOR) for result in outputs),
    )


def params_of(
    nested: Sequence[Nested], tensors: Sequence[Param], default: str
) -> tuple[Param, ...]:
    """
    Return the parameters or results as callers see them, with unique names: by default `default`
    and the number.

    As in a program of the machine, a tuple has no type, and the device of its first tensor.
    """
    left, params = iter(tensors), list[Param]()
    names = unique_names([each.name for each in nested], default)
    for each, name in zip(nested, names, strict=True):
        parts = [next(left) for _ in range(_tensors(each.fields))]
        if each.fields == TENSOR:
            params.append(Param(name, parts[0].spec, parts[0].device, parts[0].dims))
        else:
            params.append(Param(name, None, parts[0].device if parts else 0))
    return tuple(params)


def fields_of(
    nesting: Nesting, value: object, name: str, where: str = "{}"
) -> Iterator[tuple[str, object]]:
    """
    Yield each tensor of `value` with its place, such as `out[1]` in the value `out`.

    Raises `MachineError` at the first place that differs; `where` formats the place.
    """
    head, _, tail = where.partition("{}")
    pending: list[tuple[str, object]] = [(name, value)]
    for size in nesting:
        place, item = pending.pop()
        if size is None:
            yield place, item
            continue
        fields = cast("Sequence[object]", item) if isinstance(item, tuple | list) else None
        if fields is None or len(fields) != size:
            raise MachineError(f"{head}{place}{tail} must be a tuple of {size}")
        pending += [(f"{place}[{i}]", fields[i]) for i in reversed(range(size))]


def nested(nesting: Nesting, arrays: Sequence[Array]) -> Value:
    """Return `arrays` in tuples of this nesting."""
    left, done = list(arrays), list[Value]()
    for size in reversed(nesting):
        done.append(left.pop() if size is None else tuple(done.pop() for _ in range(size)))
    return done.pop()


def together(several: Sequence[Nested]) -> Nesting:
    """Return the nesting of a call's value: the only result, or a tuple of all results."""
    fields = tuple(size for each in several for size in each.fields)
    return fields if len(several) == 1 else (len(several), *fields)


def _tensors(nesting: Nesting) -> int:
    return nesting.count(None)


FLAT = "_flat"
"""The end of the name of a compiled function, after the symbol of its entry."""

ALIGNMENT = 64
"""The alignment (bytes) of workspaces, at least, and of constants."""

FORMAT = 3
"""The version of the metadata."""

Form: TypeAlias = Literal["packed", "cpacked", "unpacked"]
"""A way to call a function from C."""

FORMS: tuple[Form, ...] = get_args(Form)


class InterfaceError(Exception):
    """Metadata that cannot be used."""


@record
class Pool:
    """
    A workspace, one a device or a pool of one: memory that the caller lends for a call.

    `symbol` is its name in C. `size` (bytes) is None if it depends on the dims of the inputs.
    `place` is the pool that it is in, such as `cpu:0/dtcm`, and `capacity` are its bytes.
    """

    symbol: str
    device: int
    size: int | None
    alignment: int
    place: str = ""
    capacity: int | None = None


@record
class ConstantPool:
    """
    Constants in one memory: `size` bytes from byte `start` of all, in a `section` of the object.

    `symbol` is its name, `place` the pool that it is in, such as `cpu:0/flash`, if any, and
    `capacity` are its bytes.
    """

    symbol: str
    start: int
    size: int
    alignment: int
    section: str = ".rodata"
    place: str = ""
    capacity: int | None = None


@record
class Constant:
    """A tensor in a pool of constants, by number: `size` bytes from byte `offset`."""

    name: str
    spec: TensorSpec
    offset: int
    size: int
    digest: str = ""
    """The SHA-256 of its bytes, in hexadecimal; "" if it was not known."""
    pool: int = 0


@record
class KernelCall:
    """
    A place in `function` that calls `kernel`.

    `used` are the bytes of computed tensors that are needed there; None if they depend on dims.
    """

    function: str
    kernel: str
    used: int | None


@record
class Entry:
    """
    A function that can be called.

    `symbol` is the prefix of its names in C, and `names` those of its inputs and outputs there.
    By output, `typed` is whether the compiled function has it as a tensor rather than as bytes, and
    `allocated` whether the call allocates it, as its size is known only afterwards.
    `contexts` are the devices that get a context. `workspace` and `io` are the bytes of the
    workspaces, and of inputs and outputs; None if they depend on dims. `calls` are the calls of
    kernels, here and in functions that this one calls. `may_fail` says whether a call may fail
    after it began to write outputs. `structure` is set if callers pass or receive tuples.
    """

    function: Function
    symbol: str
    names: tuple[str, ...]
    typed: tuple[bool, ...]
    allocated: tuple[bool, ...]
    pools: tuple[Pool, ...] = ()
    has_constants: bool = False
    contexts: tuple[int, ...] = ()
    forms: tuple[Form, ...] = FORMS
    io: int | None = None
    calls: tuple[KernelCall, ...] = ()
    may_fail: bool = True
    structure: Structure | None = None

    @property
    def results(self) -> tuple[Param, ...]:
        return self.function.results or ()

    @property
    def nested(self) -> Structure:
        """The parameters and results as callers pass them, with tuples."""
        return self.structure or structure_of(self.function)

    @property
    def called(self) -> Function:
        """The function as its callers see it: a tuple is one parameter, or result, without type."""
        structure, function = self.nested, self.function
        return replace(
            function,
            params=params_of(structure.inputs, function.params, "arg"),
            results=params_of(structure.outputs, self.results, "output_"),
        )

    @property
    def tensors(self) -> tuple[Param, ...]:
        """The inputs, then the outputs."""
        return (*self.function.params, *self.results)

    def allocates(self, tensor: int) -> bool:
        """Test whether the call allocates a tensor, by its number among `tensors`."""
        output = tensor - len(self.function.params)
        return output >= 0 and self.allocated[output]

    @property
    def is_dynamic(self) -> bool:
        """True if an input has a dim whose size is known when the function is called."""
        return any(not spec_of(param).is_static for param in self.function.params)

    @property
    def workspace(self) -> int | None:
        """The bytes of all workspaces; None if they depend on dims."""
        sizes = [pool.size for pool in self.pools if pool.size is not None]
        return sum(sizes) if len(sizes) == len(self.pools) else None


def spec_of(param: Param) -> TensorSpec:
    assert param.spec is not None, "a native function takes and returns tensors"
    return param.spec


@record
class Library:
    """
    A compiled library: its entries and what they share.

    `name` is the prefix of all its symbols. `messages` are those of failures, by their number.
    `kernels` are those that the runtime must supply, in the order of their numbers. `weights_file`
    is the name of the file beside it with the constants, "" if it has them.
    """

    name: str
    entries: tuple[Entry, ...]
    devices: tuple[str, ...] = ("cpu:0",)
    constants: tuple[Constant, ...] = ()
    constant_pools: tuple[ConstantPool, ...] = ()
    messages: tuple[str, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    weights_file: str = ""

    @property
    def constants_size(self) -> int:
        """The bytes of all pools of constants, one after the other."""
        return max((pool.start + pool.size for pool in self.constant_pools), default=0)

    @property
    def program(self) -> Program:
        """The functions and kernels, for those who read a program; the functions have no code."""
        functions = tuple(entry.called for entry in self.entries)
        return Program(functions, (), self.kernels, self.devices)

    def to_json(self) -> str:
        """Return the metadata as JSON."""
        return json.dumps({"format": FORMAT, **PLAIN.of(Library).put(self)}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> "Library":
        """Return the library that `to_json` wrote; raise `InterfaceError` if it is not one."""
        try:
            plain = json.loads(text)
            if plain["format"] != FORMAT:
                raise InterfaceError(
                    f"the metadata have format {plain['format']}, but this version reads {FORMAT}: "
                    "compile the program again"
                )
            return checked(PLAIN.of(Library).take(plain))
        except (*DAMAGED, RecursionError) as error:
            raise InterfaceError(f"the metadata are damaged: {error!r}") from error


def checked(library: Library) -> Library:
    """Return `library` if its tuples and pools are those of its tensors, or raise `ValueError`."""
    for entry in library.entries:
        if entry.structure is not None:
            entry.structure.require_fit(entry.function)
    for constant in library.constants:
        if not 0 <= constant.pool < len(library.constant_pools):
            raise ValueError(f"'{constant.name}' is in pool {constant.pool}, which does not exist")
    return library
