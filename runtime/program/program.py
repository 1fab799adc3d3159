"""
A compiled program in memory: functions of instructions, constants, kernels and devices.

Plain data: `machine.Machine` runs a program, `listing.listing` prints one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from math import prod
from typing import Annotated, Any, TypeAlias

import numpy.typing as npt

from ...operators.named_dims import Bounds
from ...operators.records import record
from ..codec.notes import ELSEWHERE
from ..errors import Location
from .data_types import DataTypes, Shape
from .dtypes import element_type, type_name
from .instructions import Instruction

Array: TypeAlias = npt.NDArray[Any]
AttrValue: TypeAlias = int | float | bool | str | tuple[int, ...]


@record
class TensorSpec:
    """
    Element type (NumPy's name: "float32", "bool") and shape of a tensor.

    A dimension that is unknown until run time is None.
    """

    dtype: str
    shape: Shape

    @property
    def is_static(self) -> bool:
        return None not in self.shape

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape, which must be static."""
        dims = tuple(dim for dim in self.shape if dim is not None)
        assert len(dims) == len(self.shape), f"{self} is not static"
        return dims

    @property
    def size(self) -> int:
        """The bytes of a tensor of this type, whose shape must be static."""
        return prod(self.dims) * element_type(self.dtype).itemsize

    def accepts(self, other: "TensorSpec") -> bool:
        """Test whether `other` matches this spec; a dimension None matches any."""
        return (
            self.dtype == other.dtype
            and len(self.shape) == len(other.shape)
            and all(a in (None, b) for a, b in zip(self.shape, other.shape, strict=True))
        )

    def __str__(self) -> str:
        dims = ", ".join("?" if dim is None else str(dim) for dim in self.shape)
        return f"{self.dtype}[{dims}]"


def spec_of(array: Array) -> TensorSpec:
    """Return the element type and shape of `array`."""
    return TensorSpec(type_name(array.dtype), array.shape)


@record
class Late:
    """A constant bound by name when the program is loaded, such as a weight in a side file."""

    name: str
    spec: TensorSpec


Constant: TypeAlias = Array | Late


@record
class Pool:
    """
    A memory of a device, with a capacity in bytes or None. `device` and `home` are indices.

    Storages are allocated on `device`, such as "cpu:0/dtcm", and tensors in them are on `home`,
    "cpu:0". The memory of a device itself has both equal.
    """

    device: int
    home: int
    capacity: int | None = None


@record
class Param:
    """
    A function's parameter or result. `spec` is None if it is not a tensor (a tuple, data, …).

    `device` is an index into `Program.devices`; all tensors of a tuple are on it. `dims` are the
    names of the dims, "" for one without, or nothing; dims of one name in a function are equal.
    `type` is an index into `Program.data.types`, if its type is recorded.
    """

    name: str
    spec: TensorSpec | None
    device: int = 0
    dims: tuple[str, ...] = ()
    type: int | None = None


@record
class Cache:
    """
    A result that is a parameter with more rows, in its buffer, of `maximum` rows at most.

    Both are numbers; rows are the outermost dim.
    """

    result: int
    parameter: int
    maximum: int


@record
class Function:
    """
    A function of `register_count` registers; its parameters are in the first ones.

    `dim_bounds` are the bounds of named dims. `locations` are the source positions of the
    instructions, if recorded. `results` are what callers from outside get, one or a tuple; None
    for internal functions and for bytecode that does not record results. Bytecode records the
    types of tensors only. `caches` are the results whose memory is that of parameters.
    """

    name: str
    params: tuple[Param, ...]
    register_count: int = 0
    instructions: Annotated[tuple[Instruction, ...], ELSEWHERE] = ()
    locations: Annotated[tuple[Location | None, ...], ELSEWHERE] = field(default=(), compare=False)
    dim_bounds: Mapping[str, Bounds] = field(default_factory=dict[str, Bounds], compare=True)
    results: tuple[Param, ...] | None = field(default=None, compare=False)
    caches: tuple[Cache, ...] = ()

    def where(self, pc: int) -> str:
        """Return the name of instruction `pc` in errors: `main[3] invoke_packed`."""
        return f"{self.name}[{pc}] {self.instructions[pc].mnemonic}"

    def location(self, pc: int) -> Location | None:
        """Return the source position of instruction `pc`, if recorded."""
        return self.locations[pc] if pc < len(self.locations) else None


@record
class Step:
    """
    One operator of a kernel: `op` is its full name ("relay.add"), `ins`/`outs` value ids.

    `location` is its source position, if recorded and unique.
    """

    op: str
    attrs: Mapping[str, AttrValue]
    ins: tuple[int, ...]
    outs: tuple[int, ...]
    location: Annotated[Location | None, ELSEWHERE] = field(default=None, compare=False)


@record(eq=False)
class Kernel:
    """
    A primitive: a straight-line program over numbered values.

    Values are numbered consecutively: the `ins`, then the `constants` (small arrays inlined into
    the kernel), then the `locals` (each computed by one step). The kernel's outputs are the
    values `results`, which may be of any of the three kinds. The inputs `host_ins`, by number, are
    sizes that operators read on the host: they may be there while all others are elsewhere.
    """

    name: str
    ins: tuple[TensorSpec, ...]
    constants: tuple[Array, ...]
    locals: tuple[TensorSpec, ...]
    steps: tuple[Step, ...]
    results: tuple[int, ...]
    host_ins: tuple[int, ...] = ()

    def spec(self, value: int) -> TensorSpec:
        """Return the element type and shape of the value with this number."""
        n, m = len(self.ins), len(self.constants)
        if value < n:
            return self.ins[value]
        return spec_of(self.constants[value - n]) if value < n + m else self.locals[value - n - m]

    @property
    def outs(self) -> tuple[TensorSpec, ...]:
        return tuple(self.spec(value) for value in self.results)


@record(eq=False)
class WeightFunction:
    """
    A weight that is computed when it is read: its name, the weights it comes from, and how.

    `kernel` has the weights of these `names` as its inputs. Each value that it computes is read
    once, and the last one is the result.
    """

    name: str
    names: tuple[str, ...]
    kernel: Kernel


@record(eq=False)
class Program:
    """
    Functions, constants, kernels, and device names such as "cpu:0"; device 0 is the host.

    Instructions refer to all of these by index. `data` are the types that name their data.
    """

    functions: tuple[Function, ...]
    constants: tuple[Constant, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    devices: tuple[str, ...] = field(default=("cpu:0",))
    data: DataTypes = field(default=DataTypes())
    pools: tuple[Pool, ...] = ()

    @property
    def entries(self) -> tuple[Function, ...]:
        """The functions for callers from outside; all if none is known to be."""
        return tuple(f for f in self.functions if f.results is not None) or self.functions

    @property
    def late_constants(self) -> tuple[Late, ...]:
        """The constants whose values must be supplied when the program is loaded, in order."""
        return tuple(c for c in self.constants if isinstance(c, Late))


def homes_of(program: Program) -> Sequence[int]:
    """Return, for each device, the one on which tensors in its storages are."""
    homes = [*range(len(program.devices))]
    for pool in program.pools:
        homes[pool.device] = pool.home
    return homes


def capacities_of(program: Program) -> Mapping[int, int]:
    """Return the bytes of the devices that have a capacity."""
    return {p.device: p.capacity for p in program.pools if p.capacity is not None}
