"""
The contents of a memory report: functions, their storages, and the tensors in them.

    @main                           columns  0 fused_add  1 fused_dense  2 func.return
      cpu:0                         storages #0 arena 1,024 bytes, [0, 3)
                                    tensors  sum 512 bytes at 0 of #0, [0, 2)
                                             dense 512 bytes at 512 of #0, [1, 3)

Time is counted in columns: an op that uses tensors, and the allocations around it, is one. Sizes
and offsets are numbers of `Formulas`. Nothing here refers to IR.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import NamedTuple

from ...operators.sizes import SizeOp
from ...operators.sizes.size_expressions import Expr
from ...planning import Pool
from ..tiling.stripe_attributes import TilingRecord
from .formulas import Formulas
from .path_liveness import Arms, Span


class SourceLine(NamedTuple):
    """A line of the program that the user wrote."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class Segment(NamedTuple):
    """Bytes in use from column `start` until just before `stop`, on the paths through `arms`."""

    start: int
    stop: int
    arms: Arms
    size: int
    """A formula."""
    row: int
    """The tensor or storage that uses them."""


@dataclass(frozen=True)
class Column:
    """An op that uses tensors."""

    label: str
    source: SourceLine | None

    def __str__(self) -> str:
        return f"{self.label or 'no op'}{f' ({self.source})' if self.source else ''}"


@dataclass(frozen=True)
class Branch:
    """A branch, and the columns of each of its arms."""

    label: str
    names: tuple[str, ...]
    arms: tuple[tuple[int, int], ...]
    source: SourceLine | None


@dataclass(frozen=True)
class Storage:
    """An allocation."""

    name: str
    device: str
    size: int
    alignment: int
    source: SourceLine | None
    spans: tuple[Span, ...]
    outlives: bool
    """True if bytes in it are in use when the function returns."""
    is_given: bool = False
    """True if the caller allocates it."""


@dataclass(frozen=True)
class Tensor:
    """A tensor in a storage."""

    name: str
    op: str
    """The kernel or op that writes it."""
    operators: tuple[str, ...]
    """The operators in the kernel."""
    source: SourceLine | None
    storage: int
    offset: int
    size: int
    spans: tuple[Span, ...]
    outlives: bool
    in_arm: str = ""
    """The arm of a branch in which it is allocated; "" outside branches."""
    is_passed: bool = False
    """True if it is a storage that a call uses."""


class Call(NamedTuple):
    """A call of a function of the program."""

    column: int
    callee: str


@dataclass
class DeviceUse:
    """The memory of one device that a function uses: rows of its tensors and storages."""

    device: str
    tensors: list[int] = field(default_factory=lambda: [])
    storages: list[int] = field(default_factory=lambda: [])


@dataclass
class FunctionUse:
    """The memory that a function uses."""

    name: str
    formulas: Formulas = field(default_factory=Formulas)
    columns: list[Column] = field(default_factory=lambda: [])
    tensors: list[Tensor] = field(default_factory=lambda: [])
    storages: list[Storage] = field(default_factory=lambda: [])
    branches: list[Branch] = field(default_factory=lambda: [])
    calls: list[Call] = field(default_factory=lambda: [])
    live: list[Segment] = field(default_factory=lambda: [])
    """The bytes of tensors in use; those of a tensor written in place are counted once."""
    held: list[Segment] = field(default_factory=lambda: [])
    """The bytes of storages in use."""
    pools: dict[str, Pool] = field(default_factory=lambda: {})
    """The pools of constants, if that is what this is."""
    tiling: TilingRecord | None = None
    """The bytes live before chains of it were tiled, and these chains."""

    def add(self, storage: Storage) -> None:
        """Add a storage, whose bytes are in use here unless the caller allocates it."""
        if not storage.is_given:
            row = len(self.storages)
            self.held += (Segment(*span, storage.size, row) for span in storage.spans)
        self.storages.append(storage)

    def measure_given(self) -> None:
        """Compute the bytes that the function needs in storages of its caller."""
        sizes, apply = self.formulas.polynomials, self.formulas.sizes.algebra.apply
        for row, storage in enumerate(self.storages):
            if storage.is_given:
                inside = (tensor for tensor in self.tensors if tensor.storage == row)
                ends = (sizes[tensor.offset] + sizes[tensor.size] for tensor in inside)
                size = self.formulas.number(reduce(partial(apply, SizeOp.MAX), ends, Expr.of(0)))
                self.storages[row] = replace(storage, size=size)

    def devices(self) -> list[DeviceUse]:
        """Return the devices that the function uses, in order of their first storage."""
        uses: dict[str, DeviceUse] = {}
        for row, storage in enumerate(self.storages):
            use = uses.setdefault(storage.device, DeviceUse(storage.device))
            use.storages.append(row)
        for row, tensor in enumerate(self.tensors):
            uses[self.storages[tensor.storage].device].tensors.append(row)
        return list(uses.values())


@dataclass
class MemoryUse:
    """The memory that a program uses: its functions that allocate, in order, then constants."""

    functions: list[FunctionUse] = field(default_factory=lambda: [])
    pools: dict[str, Pool] = field(default_factory=lambda: {})
    """The pools of devices, by the names that these have."""
