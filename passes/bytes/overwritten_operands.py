"""
Results that are written over operands: two tensors at the same bytes.

    %t = memory.alloc_tensor %s[0]
    %x = vm.invoke_tvm_op @f … outs(%t)             %x is in %t
    %w = memory.slice_storage %s[0] size 64 …
    %u = memory.alloc_tensor %w[0]
    %y = vm.invoke_tvm_op @g ins(%x) outs(%u)       %y is in %u, and written over %x

Linear in operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import SSAValue

from ...dialects import memory
from ...dialects.xdsl_extras.xdsl_internals import operands_of
from .numbered import Row
from .op_facts import part_of

Start: TypeAlias = tuple[int, int, bool]
"""A storage, an offset in it, and whether that is the number of a value instead of bytes."""


@dataclass(eq=False)
class Tensors:
    """
    The tensor that each value of a body was written into, as far as it is known.

    The ops that make these values are added in program order.
    """

    of: dict[int, int] = field(default_factory=lambda: {})
    """By the numbers of values; a tensor is the value that `memory.alloc_tensor` defines."""
    _starts: dict[int, Start] = field(default_factory=lambda: {})
    """The places of tensors and slices."""
    _first: dict[Start, int] = field(default_factory=lambda: {})
    """The first tensor that starts at a place."""
    _shared: set[Start] = field(default_factory=lambda: set())
    """The places at which several tensors start."""

    def add_slice(self, row: Row) -> None:
        """Add a part of a storage."""
        part = part_of(row.op)
        assert part is not None, "an op that cuts a storage"
        self._starts[row.results[0]] = self._start(row, part.offset)

    def _start(self, row: Row, offset: int | SSAValue) -> Start:
        """Return the place of a tensor or slice: that of a slice in its storage, if it can be."""
        storage = row.uses[0]
        if not isinstance(offset, int):
            return storage, row.uses[[*operands_of(row.op)].index(offset)], True
        root, start, is_value = self._starts.get(storage, (storage, 0, False))
        if is_value and offset:
            return storage, offset, False
        return root, start if is_value else start + offset, is_value

    def add_tensor(self, row: Row) -> None:
        """Add a `memory.alloc_tensor`."""
        (tensor,) = row.results
        assert isinstance(row.op, memory.PlacedOp)
        start = self._start(row, row.op.start[1])
        self.of[tensor] = tensor
        self._starts[tensor] = start
        if self._first.setdefault(start, tensor) != tensor:
            self._shared.add(start)

    def add_view(self, row: Row, operand: int, result: int = 0) -> None:
        """Add a view of an operand."""
        tensor = self.of.get(row.uses[operand])
        if tensor is not None:
            self.of[row.results[result]] = tensor

    def add_write(self, result: int, out: int, ins: Sequence[int]) -> list[int]:
        """Add a result that is written into `out`; return the operands that it is written over."""
        start = self._starts.get(out)
        if start is None:
            return []
        self.of[result] = out
        if start not in self._shared:
            return []
        tensors = [self.of.get(number, -1) for number in ins]
        return [
            i for i, tensor in zip(ins, tensors, strict=True) if self._starts.get(tensor) == start
        ]
