"""
Check that storages have room for what lies in them, and that callers lend what functions need.

```mlir
func.func private @f(%x: tensor<?xf32>, %w: !memory.storage) {
  %t = memory.alloc_tensor %w[64] shape %s … tensor<?xf32>        64 + 4*dim(%x, 0) bytes of %w
}
func.call @f(%a, %s)                                              64 + 4*dim(%a, 0) bytes of %s
```

What a function needs in a storage that is a parameter is noted in the sizes of the function.
`Sizes.translated` computes it from the arguments of a call; what depends on more than their shapes
and sizes cannot be translated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import lcm
from typing import NamedTuple

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, BlockArgument, Operation, OpResult

from ...dialects import memory
from ...dialects.memrefs import MemRef, as_memref, element_bytes
from ...dialects.tensors import Tensor, as_tensor, element_size, storage_alignment
from ...operators.sizes.holds import at_least
from ...operators.sizes.size_expressions import Dims, Expr
from ..bytes.op_facts import is_part, part_of
from ..bytes.rooms import Room
from ..sizes.reader import PACK
from ..support.diagnostics import PassError
from .faults import NotShown, hint_of, place_note
from .slots import ZERO, Slot, Slots


@dataclass
class Need:
    """The bytes that a function needs in a storage that is a parameter."""

    alignment: int = 1
    ends: dict[Expr, Operation] = field(default_factory=lambda: {})
    """Ends of slots, each with an op that needs the bytes; of constant ones the greatest."""

    def add(self, end: Expr, alignment: int, op: Operation) -> None:
        self.alignment = lcm(self.alignment, alignment)
        if end.constant is not None:
            for other in [other for other in self.ends if other.constant is not None]:
                if at_least(other, end):
                    return
                del self.ends[other]
        self.ends.setdefault(end, op)


class Checked(NamedTuple):
    """A function that was checked."""

    body: Block
    needs: dict[int, Need]
    """The bytes it needs in the storages that it is lent, by parameter."""
    dims: Sequence[Dims | None]
    """Those of its results that are tensors, in its sizes."""


@dataclass(eq=False)
class Lending:
    """Checks the storages of one body, and notes what it needs in those that are parameters."""

    slots: Slots
    lent: Mapping[str, Checked]
    """The functions that were checked."""
    needs: dict[int, Need] = field(default_factory=lambda: {})

    def require_room(self, op: Operation, slot: Slot) -> None:
        """Check that `slot`, a tensor or a slice, is aligned and lies in its storage."""
        room = self.slots.rooms.of_storage(op.operands[0])
        type = as_tensor(op.results[0].type) or as_memref(op.results[0].type)
        if (part := part_of(op)) is not None:
            alignment = part.alignment
        elif isinstance(type, MemRefType):
            alignment = element_bytes(type.element_type) or 1
        else:
            assert type is not None, "verified: a tensor or a memref"
            alignment = (element_size if is_part(op) else storage_alignment)(type.element_type)
        first = slot.start - room.start if room.start.terms else slot.start
        if first.divisor % alignment:
            is_known = first.constant is not None
            raise (PassError if is_known else NotShown)(
                f"the offset of a {_name(type)} must be a multiple of {alignment}, but {first} "
                f"{'is not' if is_known else 'cannot be shown to be'}",
                op,
            )
        if room.alignment is not None and room.alignment % alignment:
            raise PassError(
                f"a {_name(type)} needs a storage aligned to {alignment} bytes, but its storage is "
                f"aligned to {room.alignment}",
                op,
                notes=[place_note(op.operands[0])],
            )
        if not (at_least(first, ZERO) and self.slots.lies_in(slot, room)):
            size = "" if room.size is None else f" of {room.size} bytes"
            raise NotShown(
                f"cannot show that a {_name(type).split()[0]} at bytes [{first}, "
                f"{slot.stop - room.start}) fits in its storage{size}{hint_of(slot)}",
                op,
                notes=[place_note(op.operands[0])],
            )
        if room.size is None:
            self.need(room, slot, alignment, op)

    def need(self, room: Room, slot: Slot, alignment: int, op: Operation) -> None:
        """Record what `op` needs in a parameter."""
        if not isinstance(room.root, BlockArgument):
            return
        end, place = slot.stop, slot.place
        packing = None if place is None else place.packed.packing
        if packing is not None and packing.op.workspace is room.root:  # it names what it needs
            end = self.slots.rooms.sizes.total_of(packing) or (place and place.total) or end
        self.needs.setdefault(room.root.index, Need()).add(end, alignment, op)

    def require_lent(self, op: Operation, name: str, storages: Sequence[int]) -> None:
        """Check that storages that a call lends are as large and aligned as its callee needs."""
        if name not in self.lent:
            raise NotShown(
                f"cannot tell how many bytes @{name} needs in its storage {storages[0]}: it is "
                "recursive",
                op,
            )
        body, needs, _ = self.lent[name]
        sizes = self.slots.rooms.sizes
        for i, need in ((i, needs[i]) for i in storages if i in needs):
            room, lender = self.slots.rooms.of_storage(op.operands[i]), place_note(op.operands[i])
            if room.alignment is not None and room.alignment % need.alignment:
                raise PassError(
                    f"@{name} needs storage {i} aligned to {need.alignment} bytes, but it is "
                    f"aligned to {room.alignment}",
                    op,
                    notes=[lender],
                )
            for end, user in need.ends.items():
                needed = user, "they are needed here"
                size = sizes.translated(end, body, op.operands)
                whole = size is None and end.symbol is not None and end.symbol.kind == PACK
                if whole and self._is_workspace_size(room.size, body, i, op):
                    continue
                if size is None:
                    raise NotShown(
                        f"cannot tell how many bytes @{name} needs in its storage {i}: {end} "
                        "depends on more than the shapes of arguments",
                        op,
                        notes=[needed],
                    )
                if room.size is None:
                    slot = self.slots.slot(room.root, room.start, size)
                    self.need(room, slot, need.alignment, op)
                elif not at_least(room.size, size):
                    raise NotShown(
                        f"cannot show that storage {i} is large enough for @{name}: it needs "
                        f"{size} bytes, but has {room.size}",
                        op,
                        notes=[needed, lender],
                    )

    def _is_workspace_size(self, size: Expr | None, body: Block, i: int, call: Operation) -> bool:
        """Test whether `size` is at least the `memory.workspace_size` of storage `i` of a call."""
        function = body.parent_op()
        if size is None or not isinstance(function, func.FuncOp):
            return False
        sizes, name = self.slots.rooms.sizes, function.sym_name.data
        listed = memory.shapes_of_workspace(function, i) or ()
        dims = [sizes.dims(call.operands[k]) for k in listed]
        values = (symbol.args[0] for symbol in size.symbols() if symbol.kind == "value")
        return any(
            isinstance(op := value.owner, memory.WorkspaceSizeOp)
            and (op.function.string_value(), op.param.value.data) == (name, i)
            and [
                sizes.dims_from(body.args[i], shape)
                for i, shape in op.shapes_by_parameter(function)
            ]
            == dims
            and at_least(size, sizes.size(op.bytes))
            for value in values
            if isinstance(value, OpResult)
        )


def _name(type: Tensor | MemRef | None) -> str:
    if type is None:
        return "slice"
    what = "buffer" if isinstance(type, MemRefType) else "tensor"
    return f"{what} of {type.element_type}"
