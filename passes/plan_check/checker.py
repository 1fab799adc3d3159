"""
Check one body: follow what each value names, in program order, on every path.

`verify_memory_plan` says what is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import lcm
from typing import NamedTuple

from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from ...dialects import memory, vm
from ...dialects.device import device_of
from ...dialects.interfaces import AllocatesResults, OverwritesOperands
from ...dialects.tensors import as_tensor, has_dynamic, storage_alignment
from ...operators.sizes.holds import at_least
from ...operators.sizes.size_expressions import Dims, Expr
from ..bytes.numbered import Arm, Numbered, Row
from ..bytes.op_facts import is_storage, viewed
from ..bytes.rooms import Room, bytes_of
from ..sizes.reader import PACK
from ..support.diagnostics import PassError
from .faults import End, How, NotShown, fault_in_place, fault_of_use, hint_of, place_note
from .held import Changes, State
from .names import BodyNames, Summaries
from .overwriting_kernels import may_lie_over
from .slots import ZERO, Slot, Slots, Unordered

PLACES = {memory.AllocStorageOp, memory.AllocTensorOp, memory.SliceStorageOp, memory.SliceOp}
"""The ops of which sizes are read."""


@dataclass
class Need:
    """
    The bytes that a function needs in a storage that is a parameter.

    ```mlir
    func.func private @f(%x: tensor<?xf32>, %w: !memory.storage) {
      %t = memory.alloc_tensor %w[64] shape %s … tensor<?xf32>        64 + 4*dim(%x, 0) bytes of %w
    }
    func.call @f(%a, %s)                                              64 + 4*dim(%a, 0) bytes of %s
    ```

    It is in the sizes of the function; `Sizes.translated` computes it from the arguments of a call.
    What depends on more than the arguments' shapes and sizes cannot be translated.
    """

    alignment: int = 1
    ends: dict[Expr, Operation] = field(default_factory=dict[Expr, Operation])
    """Ends of slots, each with an op that needs the bytes; of constant ones the greatest."""

    def add(self, end: Expr, alignment: int, op: Operation) -> None:
        self.alignment = lcm(self.alignment, alignment)
        fixed = end.constant
        for other in list(self.ends) if fixed is not None else ():
            if other.constant is not None and fixed is not None:
                if other.constant >= fixed:
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


class Choosing(NamedTuple):
    """A choice of which an arm is being checked."""

    row: Row
    arm: Arm
    done: list[Changes]
    """The changes of the arms before it."""


@dataclass(eq=False)
class Checker:
    """Checks one body."""

    body: Numbered
    returned: Summaries
    kernels: Mapping[str, Operation]
    lent: Mapping[str, Checked]
    """The functions that were checked."""
    needs: dict[int, Need] = field(default_factory=dict[int, Need])
    """Those of this body."""
    overwritable: dict[tuple[str, int, int], bool] = field(
        default_factory=dict[tuple[str, int, int], bool]
    )
    """For each kernel, result and parameter, true if one may be written over the other."""
    slots: Slots = field(default_factory=Slots)
    names: BodyNames = field(init=False)
    state: State = field(init=False)
    storages: set[int] = field(init=False)
    sized: set[int] = field(init=False)
    """The positions of the ops that compute sizes of tensors and storages."""

    def check(self) -> Unordered:
        """
        Raise an error at the first fault.

        Returns the slices that are needed together and may share bytes: they were taken to be
        apart, so the body must be checked again with them as `slots.unordered`.
        """
        self.state = State(self.slots)
        self.names = BodyNames(self.body, self.returned)
        values, may_have_bytes = self.body.values, self.body.may_have_bytes
        self.storages = {
            number
            for number, has_bytes in enumerate(may_have_bytes)
            if not has_bytes and is_storage(values[number])
        }
        self.sized = self.with_sizes()
        path, ends = list[Choosing](), self.state.ends.now
        for row in self.body.rows:
            while path and row.at == path[-1].arm.stop:
                self.leave(path)
            for value in row.uses:
                if value in ends:
                    raise fault_of_use(row.op, ends[value])
            if row.arms:
                self.names.enter(row)
                self.state.open()
                path.append(Choosing(row, row.arms[0], []))
            else:
                self.execute(row)
                if row.at in self.sized:
                    self.read_sizes(row)
        while path:
            self.leave(path)
        return self.state.held.unordered()

    def leave(self, path: list[Choosing]) -> None:
        """Leave an arm at its end, for the next one or for what follows its choice."""
        row, arm, done = path.pop()
        done.append(self.state.close())
        if arm is not row.arms[-1]:
            self.state.open()
            path.append(Choosing(row, row.arms[len(done)], done))
            return
        self.state.meet(done)
        self.names.leave(row)
        self.require_known_storages(row)
        self.read_sizes(row)

    def with_sizes(self) -> set[int]:
        """Return the ops of which sizes of tensors and storages are computed, by position."""
        found, needed = set[int](), set[int]()
        for row in reversed(self.body.rows):
            is_read = type(row.op) in PLACES or row.facts.calls is not None
            if is_read or not needed.isdisjoint(row.results):
                found.add(row.at)
                needed.update(row.uses)
        return found

    def read_sizes(self, row: Row) -> None:
        """Read sizes after those of the operands, and dims that follow from those of arguments."""
        sizes, calls = self.slots.rooms.sizes, row.facts.calls
        for result in row.op.results:
            if result.type == i64:
                sizes.size(result)
        callee = None if calls is None else self.lent.get(calls.callee(row.op))
        for result, dims in zip(row.op.results, callee.dims if callee else (), strict=False):
            if callee and dims is not None and has_dynamic(result.type):
                here = [sizes.translated(dim, callee.body, row.op.operands) for dim in dims]
                known = tuple(dim for dim in here if dim is not None)
                if len(known) == len(dims):
                    sizes.know_dims(result, known)

    def execute(self, row: Row) -> None:
        """Check an op other than a choice."""
        op, facts, kind = row.op, row.facts, type(row.op)
        if facts.frees:
            self.kill(row)
        elif kind is memory.AllocTensorOp:
            self.check_slot(op)
        elif facts.views is not None and is_storage(op.results[0]):
            self.check_slice(op)
        elif kind is not memory.AllocStorageOp:
            if facts.views is not None:
                self.check_view(op, facts.views.viewed(op))
            if not (self.storages.isdisjoint(row.uses) and self.storages.isdisjoint(row.results)):
                self.require_known_storages(row)
                self.lend(row)
            if facts.links or op.regions:
                self.names.read(row)
            if facts.writes:
                outs = row.uses[len(op.operands) - len(op.results) : len(op.operands)]
                for result, tensor in zip(row.results, outs, strict=True):
                    self.write(row, result, tensor)
        else:
            self.check_capacity(op)

    def check_capacity(self, op: Operation) -> None:
        """Check that a storage of static size is within the capacity of its pool."""
        device = device_of(op.results[0].type)
        pool = None
        if device is not None and (pools := memory.pools_of(op)):
            pool = pools.get(memory.place_of(device))
        size = op.properties.get("size")
        if pool is not None and pool.capacity is not None and isinstance(size, IntegerAttr):
            bytes = size.value.data
            if bytes > pool.capacity:
                message = f"a storage of {bytes} bytes does not fit in pool {pool.label}"
                raise PassError(f"{message}, which has {pool.capacity}", op)

    # ---------------------------------------------------------------- contents

    def write(self, row: Row, result: int, tensor: int) -> None:
        """End what lies in the bytes of `tensor`, which then hold `result`."""
        op, written = row.op, self.state.written
        if tensor in written.now:
            raise PassError(
                f"{op.name} writes a tensor that is written before on this path: a tensor is "
                "written once",
                op,
                notes=[(written.now[tensor], "it is written here")],
            )
        written.set(tensor, op)
        self.names.add(result, tensor)
        slot = self.slots.of(self.body.values[tensor])
        if slot is not None:
            self.overwrite(row, slot, result=result)
            self.state.held.set((slot, result), True)

    def overwrite(
        self, row: Row, slot: Slot, certain: How = How.OVERWRITTEN, result: int | None = None
    ) -> None:
        """End the values that name contents that overlap `slot`, which then holds `result`."""
        held, ends, op = self.state.held, self.state.ends, row.op
        for other, is_certain, origin in held.near(slot):
            held.set((other, origin), None)
            intact = [value for value in self.names.naming(origin) if value not in ends.now]
            if not intact:
                continue
            how = certain if is_certain else How.MAYBE_OVERWRITTEN
            end = End(how, op, slot, other, self.body.values[origin])
            read = row.uses[: len(op.operands) - len(op.results) * row.facts.writes]
            for value in intact:
                if value in read and not (
                    slot is other
                    and result is not None
                    and self.is_in_place(row, result - row.results.start, value, origin)
                ):
                    raise fault_in_place(op, end)
                ends.set(value, end)
            for source in self.names.above.get(origin, ()):
                if isinstance(self.body.values[source].owner, memory.AllocTensorOp):
                    ends.set(source, end)

    def is_in_place(self, row: Row, index: int, value: int, origin: int) -> bool:
        """Test whether an op reads each element of `value` before it writes that of a result."""
        at, first = self.body.values[value], self.body.values[origin]
        while at is not first and (source := viewed(at)) is not None:
            at = source
        if at is not first:
            return False  # on some path, it may name other bytes
        op, read = row.op, row.uses[: len(row.op.operands) - len(row.results)]
        places = [k for k, other in enumerate(read) if other == value]
        if not isinstance(op, vm.InvokeTvmOp):
            trait = op.get_trait(OverwritesOperands)
            allowed = trait.overwritable(op, self.kernels.get) if trait is not None else None
            return allowed is not None and allowed[index].issuperset(places)
        for key in ((op.callee.string_value(), index, k) for k in places):
            if key not in self.overwritable:
                self.overwritable[key] = may_lie_over(self.kernels.get(key[0]), *key[1:])
            if not self.overwritable[key]:
                return False
        return True

    def kill(self, row: Row) -> None:
        """End all values that may name the bytes of the operand."""
        value, ends = row.uses[0], self.state.ends
        if not self.body.may_have_bytes[value]:
            return
        slot = self.slots.of(self.body.values[value])
        if slot is not None and value not in self.state.written.now:
            self.overwrite(row, slot, How.KILLED)  # what lies there is of another tensor
        killed = End(How.KILLED, row.op)
        found = self.names.sharing(value)
        for shared in found:
            if shared not in ends.now or ends.now[shared].how is not How.KILLED:
                ends.set(shared, killed)
        for origin in found:
            slots = self.state.held.slots_of(origin)
            if slots and all(name in ends.now for name in self.names.naming(origin)):
                for slot in slots:  # no intact value names it: any op may overwrite it
                    self.state.held.set((slot, origin), None)

    # ------------------------------------------------------------------ places

    def require_known_storages(self, row: Row) -> None:
        op = row.op
        for result in row.results:
            if result in self.storages and not op.has_trait(
                AllocatesResults, value_if_unregistered=False
            ):
                raise PassError(
                    f"cannot tell which bytes the storage is that {op.name} returns: tensors must "
                    "be allocated in a memory.alloc_storage or a parameter",
                    op,
                )

    def check_slot(self, op: Operation) -> None:
        """Check that a tensor lies in its storage, aligned."""
        assert isinstance(op, memory.AllocTensorOp)
        tensor, room = op.results[0], self.slots.rooms.of_storage(op.operands[0])
        slot, type = self.slots.of(tensor), as_tensor(tensor.type)
        assert slot is not None
        assert type is not None
        alignment = storage_alignment(type.element_type)
        first = slot.start - room.start if room.start.terms else slot.start
        if not at_least(first, ZERO):
            raise NotShown(f"cannot show that offset {first} is at least 0", op)
        if first.divisor % alignment:
            is_known = first.constant is not None
            raise (PassError if is_known else NotShown)(
                f"the offset of a tensor of {type.element_type} must be a multiple of {alignment}, "
                f"but {first} {'is not' if is_known else 'cannot be shown to be'}",
                op,
            )
        self.check_room(op, room, slot, alignment, "tensor")

    def check_slice(self, op: Operation) -> None:
        """Check that a slice lies in its storage, aligned."""
        assert isinstance(op, memory.SliceStorageOp)
        outer, room = self.slots.rooms.of_storage(op.storage), self.slots.rooms.of_storage(op.slice)
        first = room.start - outer.start
        assert room.size is not None
        assert room.alignment is not None
        if not at_least(first, ZERO):
            raise NotShown(f"cannot show that the offset of a slice, {first}, is at least 0", op)
        if first.divisor % room.alignment:
            raise NotShown(
                f"cannot show that the offset of a slice, {first}, is a multiple of its alignment, "
                f"{room.alignment}",
                op,
            )
        slot = self.slots.slot(room.root, room.start, room.size)
        self.check_room(op, outer, slot, room.alignment, "slice")

    def check_room(
        self,
        op: memory.AllocTensorOp | memory.SliceStorageOp,
        room: Room,
        slot: Slot,
        alignment: int,
        kind: str,
    ) -> None:
        """Check that a storage has room for `slot`, a tensor or slice, and is as aligned."""
        if room.alignment is not None and room.alignment % alignment:
            type = as_tensor(op.results[0].type)
            user, needs = f"that is aligned to {alignment} bytes", "that is"
            if type is not None:
                user, needs = f"of {type.element_type}", f"aligned to {alignment} bytes"
            message = f"a {kind} {user} needs a storage {needs}, but its storage is aligned to"
            raise PassError(f"{message} {room.alignment}", op, notes=[place_note(op.storage)])
        if room.size is None:
            self.need(room, slot, alignment, op)
        elif not self.slots.lies_in(slot, room):
            within = f"[{slot.start - room.start}, {slot.stop - room.start})"
            raise NotShown(
                f"cannot show that a {kind} at bytes {within} fits in its storage of {room.size} "
                f"bytes{hint_of(slot)}",
                op,
                notes=[place_note(op.storage)],
            )

    def check_view(self, op: Operation, data: SSAValue) -> None:
        """Check that a view is not certainly larger than its tensor `data`."""
        sizes = self.slots.rooms.sizes
        tensor, view = bytes_of(data, sizes), bytes_of(op.results[0], sizes)
        if tensor != view and at_least(view, tensor + 1):
            raise PassError(
                f"a view of {view} bytes is larger than its tensor of {tensor} bytes",
                op,
                notes=[(data, "the tensor is defined here")],
            )

    # ------------------------------------------------------------------- calls

    def lend(self, row: Row) -> None:
        """End all that lies in storages that an op is given: it may write and return them."""
        op = row.op
        if isinstance(op, memory.PackOp):
            return
        name = None if row.facts.calls is None else row.facts.calls.callee(op)
        returned = None if name is None else self.returned.get(name)
        slots = {
            i: self.slots.all_of(operand)
            for i, operand in enumerate(op.operands)
            if is_storage(operand)
        }
        if any(number in self.storages for number in row.uses[len(op.operands) :]):
            raise PassError(
                f"{op.name} captures a storage: the bytes that its code writes are not known", op
            )
        for j, slot in slots.items():
            for i in slots:
                if i < j and slot.storage is slots[i].storage:
                    self.require_apart(op, i, j, slots[i], slot)
            self.overwrite(row, slot)
        if name is not None and returned is not None:
            self.check_lent(op, name, [*slots])
        for j, slot in slots.items():
            for i, result in enumerate(row.results):
                is_in = returned is None or j in returned.params[i]
                if is_in and self.body.may_have_bytes[result]:
                    self.state.held.set((slot, result), True)

    def require_apart(self, op: Operation, i: int, j: int, one: Slot, other: Slot) -> None:
        """Check that operands `i` and `j` of a call do not overlap."""
        self.state.held.need_together(one, other)
        overlap = self.slots.overlap(one, other)
        if overlap is not False:
            raise (NotShown if overlap is None else PassError)(
                f"{op.name} is given storages {i} and {j} that overlap, or cannot be shown not to: "
                f"bytes {one} and {other} of one storage",
                op,
                notes=[(op.operands[i], "one is this"), (op.operands[j], "the other is this")],
            )

    def check_lent(self, op: Operation, name: str, storages: Sequence[int]) -> None:
        """Check that storages that a call lends are as large and aligned as its callee needs."""
        if name not in self.lent:
            raise NotShown(
                f"cannot tell how many bytes @{name} needs in its storage {storages[0]}: it is "
                "recursive",
                op,
            )
        body, needs, _ = self.lent[name]
        for i in storages:
            need, room = needs.get(i), self.slots.rooms.of_storage(op.operands[i])
            if need is None:
                continue
            if room.alignment is not None and room.alignment % need.alignment:
                raise PassError(
                    f"@{name} needs storage {i} aligned to {need.alignment} bytes, but it is "
                    f"aligned to {room.alignment}",
                    op,
                    notes=[place_note(op.operands[i])],
                )
            for end, user in need.ends.items():
                size = self.slots.rooms.sizes.translated(end, body, op.operands)
                whole = size is None and end.symbol is not None and end.symbol.kind == PACK
                if whole and self.is_workspace_size(room.size, body.parent_op(), i, op):
                    continue
                if size is None:
                    raise NotShown(
                        f"cannot tell how many bytes @{name} needs in its storage {i}: {end} "
                        "depends on more than the shapes of arguments",
                        op,
                        notes=[(user, "they are needed here")],
                    )
                if room.size is None:
                    self.need(
                        room, self.slots.slot(room.root, room.start, size), need.alignment, op
                    )
                elif not at_least(room.size, size):
                    raise NotShown(
                        f"cannot show that storage {i} is large enough for @{name}: it needs "
                        f"{size} bytes, but has {room.size}",
                        op,
                        notes=[(user, "they are needed here"), place_note(op.operands[i])],
                    )

    def need(self, room: Room, slot: Slot, alignment: int, op: Operation) -> None:
        """Record what `op` needs in a parameter."""
        if not isinstance(room.root, BlockArgument):
            return
        end, place = slot.stop, slot.place
        packing = None if place is None else place.packed.packing
        if packing is not None and packing.op.workspace is room.root:  # it names what it needs
            end = self.slots.rooms.sizes.total_of(packing) or (place and place.total) or end
        self.needs.setdefault(room.root.index, Need()).add(end, alignment, op)

    def is_workspace_size(
        self, size: Expr | None, function: Operation | None, i: int, call: Operation
    ) -> bool:
        """Test whether `size` is at least the `memory.workspace_size` of storage `i` of a call."""
        if size is None or not isinstance(function, func.FuncOp):
            return False
        listed = memory.shapes_of_workspace(function, i) or ()
        sizes = self.slots.rooms.sizes
        for symbol in size.symbols():
            value = symbol.args[0] if symbol.kind == "value" else None
            op = value.owner if isinstance(value, OpResult) else None
            if not isinstance(op, memory.WorkspaceSizeOp) or op.param.value.data != i:
                continue
            if op.function.string_value() != function.sym_name.data:
                continue
            shapes = [sizes.shape(shape) for shape in op.shapes]
            if shapes == [sizes.dims(call.operands[k]) for k in listed]:
                return at_least(size, sizes.size(op.bytes))
        return False

    def dims_of_results(self) -> list[Dims | None]:
        """Return the dims of the tensors that the body returns."""
        values = self.body.body.rows[-1].op.operands
        return [as_tensor(v.type) and self.slots.rooms.sizes.dims(v) for v in values]
