"""
A compiled program in memory: functions of instructions, constants, kernels and devices.

These are plain data. `machine.Machine` runs a program, `listing.listing` prints one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy.typing as npt

from .errors import Location
from .instructions import Instruction, mnemonic

Array: TypeAlias = npt.NDArray[Any]
AttrValue: TypeAlias = int | float | bool | str | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """
    Element type (NumPy's name: "float32", "bool") and shape of a tensor.

    A dimension that is only known at run time is None.
    """

    dtype: str
    shape: tuple[int | None, ...]

    @property
    def is_static(self) -> bool:
        return None not in self.shape

    def accepts(self, other: TensorSpec) -> bool:
        """Whether `other` is what this says; a dimension None is any."""
        return (
            self.dtype == other.dtype
            and len(self.shape) == len(other.shape)
            and all(a in (None, b) for a, b in zip(self.shape, other.shape, strict=True))
        )

    def __str__(self) -> str:
        dims = ", ".join("?" if dim is None else str(dim) for dim in self.shape)
        return f"{self.dtype}[{dims}]"


def spec_of(array: Array) -> TensorSpec:
    """The element type and shape of `array`."""
    return TensorSpec(array.dtype.name, array.shape)


@dataclass(frozen=True, slots=True)
class Late:
    """A constant that is bound by name when the program is loaded (a weight in a side file)."""

    name: str
    spec: TensorSpec


Constant: TypeAlias = Array | Late


@dataclass(frozen=True, slots=True)
class Param:
    """
    A function's parameter. `spec` is None when it is not a tensor (a tuple, data, a closure).

    `device` is an index into `Program.devices`; all tensors inside a tuple are on it.
    """

    name: str
    spec: TensorSpec | None
    device: int = 0


@dataclass(frozen=True, slots=True)
class Function:
    """
    A function: its parameters are in registers 0, 1, …; `register_count` registers in all.

    `locations` are the places in the source that the instructions stem from, if they are kept.
    """

    name: str
    params: tuple[Param, ...]
    register_count: int
    instructions: tuple[Instruction, ...]
    locations: tuple[Location | None, ...] = field(default=(), compare=False)

    def where(self, pc: int) -> str:
        """What errors call instruction `pc`: `main[3] invoke_packed`."""
        return f"{self.name}[{pc}] {mnemonic(self.instructions[pc])}"

    def location(self, pc: int) -> Location | None:
        """The place in the source that instruction `pc` stems from."""
        return self.locations[pc] if pc < len(self.locations) else None


@dataclass(frozen=True, slots=True)
class Step:
    """
    One operator of a kernel: `op` is its full name ("relay.add"), `ins`/`outs` value ids.

    `location` is its place in the source, if that is kept and there is only one.
    """

    op: str
    attrs: Mapping[str, AttrValue]
    ins: tuple[int, ...]
    outs: tuple[int, ...]
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """
    A primitive: a straight-line program over numbered values.

    Values are numbered through: first the `ins`, then the `constants` (small arrays inlined into
    the kernel), then the `locals` (what the steps compute, each written by one step).
    `results` are the values, of any kind, that the kernel's outputs receive.
    """

    name: str
    ins: tuple[TensorSpec, ...]
    constants: tuple[Array, ...]
    locals: tuple[TensorSpec, ...]
    steps: tuple[Step, ...]
    results: tuple[int, ...]

    def spec(self, value: int) -> TensorSpec:
        """The element type and shape of the value with this number."""
        n, m = len(self.ins), len(self.constants)
        if value < n:
            return self.ins[value]
        return spec_of(self.constants[value - n]) if value < n + m else self.locals[value - n - m]

    @property
    def outs(self) -> tuple[TensorSpec, ...]:
        return tuple(self.spec(value) for value in self.results)


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """
    Functions (an `Invoke` names one by its index), constants, kernels, and the devices' names
    ("cpu:0"); device 0 is the host.
    """

    functions: tuple[Function, ...]
    constants: tuple[Constant, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    devices: tuple[str, ...] = field(default=("cpu:0",))

    @property
    def late_constants(self) -> tuple[Late, ...]:
        """The constants that must be given when the program is loaded, in order."""
        return tuple(c for c in self.constants if isinstance(c, Late))
