"""
Check one body: follow what each value names, in program order, on every path.

`verify_memory_plan` says what is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue

from ...dialects import memory, relay, vm
from ...dialects.device import device_of
from ...dialects.interfaces import AllocatesResults, OverwritesOperands, RewritesOperand
from ...dialects.relay.loops import same_bytes_as
from ...dialects.tensors import as_tensor, has_dynamic
from ...operators.sizes.holds import at_least
from ...operators.sizes.size_expressions import Expr
from ..bytes.numbered import Arm, Numbered, Row
from ..bytes.op_facts import is_storage, viewed_whole
from ..bytes.rooms import bytes_of
from ..support.diagnostics import PassError
from .faults import End, How, NotShown, fault_in_place, fault_of_use
from .held import Changes, State
from .lent import Checked, Lending
from .names import BodyNames, Summaries
from .overwriting_kernels import may_lie_over
from .slots import ZERO, Slot, Slots, Unordered


class Choosing(NamedTuple):
    """A choice of which an arm is being checked."""

    row: Row
    arm: Arm
    done: list[Changes]
    """The changes of the arms before it."""


@dataclass(eq=False)
class Checker:
    """Checks one body, whose results in destinations have the numbers of these."""

    body: Numbered
    returned: Summaries
    kernels: Mapping[str, Operation]
    lent: Mapping[str, Checked]
    """The functions that were checked."""
    slots: Slots = field(default_factory=Slots)
    may_lie_over: Callable[[str, int, int], bool] = field(init=False)
    """Test whether a result of a kernel may be written over a parameter, computed once."""
    names: BodyNames = field(init=False)
    state: State = field(init=False)
    lending: Lending = field(init=False)
    storages: set[int] = field(init=False)
    captured: frozenset[int] = field(init=False)
    joined: dict[int, Slot] = field(default_factory=lambda: {})
    """The bytes of the joins."""
    starts: dict[Slot, Expr] = field(default_factory=lambda: {})
    """The starts of joins, by the offset of the first of the slices that lie beside each other."""
    placed: set[tuple[Slot, int, int]] = field(default_factory=lambda: set())
    """The slots that were checked, each with the identities of a storage and a type."""

    def check(self) -> Unordered:
        """
        Raise an error at the first fault.

        Returns the slices that are needed together and may share bytes: they were taken to be
        apart, so the body must be checked again with them as `slots.unordered`.
        """
        self.state = State(self.slots)
        self.may_lie_over = cache(partial(may_lie_over, self.kernels))
        self.names = BodyNames(self.body, self.returned)
        self.lending = Lending(self.slots, self.lent)
        bytes_or_not = enumerate(zip(self.body.may_have_bytes, self.body.values, strict=True))
        self.storages = {n for n, (has, value) in bytes_or_not if not has and is_storage(value)}
        self.captured = frozenset(self.body.from_above)
        sized = self.with_sizes()
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
                if row.at in sized:
                    self.read_sizes(row)
        while path:
            self.leave(path)
        return self.state.held.unordered()

    def leave(self, path: list[Choosing]) -> None:
        """Leave an arm at its end, for the next one or for what follows its choice."""
        row, arm, done = path.pop()
        first, results, captured = row.arms[0].args.start, row.results, self.captured
        done.append(self.state.close(lambda n: n < first or n in results or n in captured))
        if arm is not row.arms[-1]:
            self.state.open()
            path.append(Choosing(row, row.arms[len(done)], done))
            return
        self.state.meet(done)
        self.names.leave(row)
        self.require_known_storages(row)
        self.read_sizes(row)

    def execute(self, row: Row) -> None:
        """Check an op other than a choice."""
        op, facts, kind = row.op, row.facts, type(row.op)
        if facts.cuts or kind is memory.AllocTensorOp:
            slot = self.slots.of(op.results[0])
            assert slot is not None, "bytes of a storage"
            self.place(op, slot)
        elif facts.frees:
            self.kill(row)
        elif kind is memory.AllocStorageOp:
            self.check_capacity(op)
        elif kind is not memory.PackOp:
            if facts.views is not None:
                self.check_view(op, facts.views.viewed(op))
                if isinstance(facts.views, RewritesOperand):
                    (target,) = facts.views.operands
                    for value in self.names.sharing(row.uses[target]):
                        self.state.ends.set(value, End(How.REWRITTEN, op))
            elif facts.ends_loop:
                self.require_same_places(op)
            elif facts.joins is not None:
                self.join(row, facts.joins.parts(op))
            if not (self.storages.isdisjoint(row.uses) and self.storages.isdisjoint(row.results)):
                self.require_known_storages(row)
                self.lend(row)
            if op.regions or (facts.links and any(map(self.names.has_bytes, row.uses))):
                self.names.read(row)
            if facts.writes:
                self.write(row)

    # ------------------------------------------------------------------- sizes

    def with_sizes(self) -> set[int]:
        """Return the ops that compute sizes of tensors and storages, by position."""
        rows, needed = set[int](), set[int]()
        for row in reversed(self.body.rows):
            kind = type(row.op)
            if not row.facts.cuts and kind not in (memory.AllocTensorOp, memory.AllocStorageOp):
                is_read = kind is memory.SliceOp or row.facts.calls is not None
                if not is_read and needed.isdisjoint(row.results):
                    continue
                rows.add(row.at)
            needed.update(row.uses)
        return rows

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
                translated = tuple(dim for dim in here if dim is not None)
                if len(translated) == len(dims):
                    sizes.know_dims(result, translated)

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

    def join(self, row: Row, parts: Sequence[SSAValue]) -> None:
        """Check that the parts of a join tile it, and note where it is."""
        whole, number = bytes_of(row.op.results[0], self.slots.rooms.sizes), self.body.number
        slots = [self.place_of(number(part)) for part in parts]
        places = [slot for slot in slots if slot is None or not slot.is_empty]
        first, end = places[0] if places else None, ZERO
        for slot in places:
            if first is None or slot is None:
                raise NotShown("cannot tell where the parts of a join are", row.op)
            at = self.start_of(first) + end
            if slot.storage is not first.storage or self.start_of(slot) != at:
                fault = f"a part of a join is at {slot} of its storage, not where the one before it"
                raise PassError(f"{fault} ends, at byte {at}", row.op)
            end += slot.size
        if end != whole:
            fault = f"the parts of a join have {end} bytes, but it has {whole}"
            raise PassError(fault, row.op)
        if first is not None:
            slot = self.slots.slot(first.storage, first.start, whole)
            self.joined[row.results[0]], self.starts[slot] = slot, self.start_of(first)

    def require_same_places(self, end: Operation) -> None:
        """Check that each turn of a loop finds what it carries where the first one does."""
        assert isinstance(end, relay.EndLoopOp)
        for first, last in zip(end.start.initial, end.next, strict=True):
            if same_bytes_as(first) is same_bytes_as(last):
                continue
            used, handed = (self.place_of(self.body.number(value)) for value in (first, last))
            if used is None or handed is None:
                raise NotShown("cannot tell where what a loop carries is", end)
            is_same = used.storage is handed.storage
            if not is_same or self.start_of(used) != self.start_of(handed):
                raise PassError(
                    f"a turn hands on bytes {handed}, but the next one uses bytes {used}",
                    end,
                    notes=[(end.start, "it starts here")],
                )

    def start_of(self, slot: Slot) -> Expr:
        """Return the start of a slot; in slices beside each other, by that of the first of them."""
        return self.starts[slot] if slot in self.starts else self.slots.start_of(slot)

    def place_of(self, value: int) -> Slot | None:
        """Return the bytes of a tensor, a join, or a view of all of one; None if not known."""
        while (source := viewed_whole(self.body.values[value])) is not None:
            value = self.body.number(source)
        return self.joined.get(value) or self.slots.of(self.body.values[value])

    def place(self, op: Operation, slot: Slot) -> None:
        """Check that a tensor or slice has its place, once for each slot, storage and type."""
        key = slot, id(op.operands[0]), id(op.results[0].type)
        if key not in self.placed:
            self.placed.add(key)
            self.lending.require_room(op, slot)

    def check_capacity(self, op: Operation) -> None:
        """Check that a storage of static size is within the capacity of its pool."""
        device = device_of(op.results[0].type)
        pools = memory.pools_of(op)
        pool = pools.get(memory.place_of(device)) if pools and device is not None else None
        size = op.properties.get("size")
        if pool is not None and pool.capacity is not None and isinstance(size, IntegerAttr):
            bytes = size.value.data
            if bytes > pool.capacity:
                message = f"a storage of {bytes} bytes does not fit in pool {pool.label}"
                raise PassError(f"{message}, which has {pool.capacity}", op)

    # ---------------------------------------------------------------- contents

    def write(self, row: Row) -> None:
        """End what lies in the bytes of the destinations, which then hold the results."""
        op, written = row.op, self.state.written
        for k, tensor in enumerate(row.results):
            if tensor in written.now:
                raise PassError(
                    f"{op.name} writes a tensor that is written before on this path: a tensor is "
                    "written once",
                    op,
                    notes=[(written.now[tensor], "it is written here")],
                )
            written.set(tensor, op)
            slot = self.slots.of(self.body.values[tensor])
            if slot is not None:
                self.overwrite(row, slot, result=k)
                self.state.held.set((slot, tensor), True)

    def overwrite(
        self, row: Row, slot: Slot, certain: How = How.OVERWRITTEN, result: int | None = None
    ) -> None:
        """End the values that name contents that overlap `slot`, which then holds a `result`."""
        held, ends, op = self.state.held, self.state.ends, row.op
        for other, is_certain, origin in held.near(slot):
            held.set((other, origin), None)
            intact = [value for value in self.names.naming(origin) if value not in ends.now]
            if not intact:
                continue
            how = certain if is_certain else How.MAYBE_OVERWRITTEN
            first = self.state.written.now.get(origin, self.body.values[origin])
            end = End(how, op, slot, other, first)
            read = row.operands[: -len(row.results)] if row.facts.writes else row.operands
            for value in intact:
                if value in read and not (
                    result is not None
                    and self.bytes_named(value, origin, other) is slot
                    and self.is_in_place(row, read, result, value)
                ):
                    raise fault_in_place(op, end)
                ends.set(value, end)

    def bytes_named(self, value: int, origin: int, slot: Slot) -> Slot | None:
        """Return the bytes of `value`, which names `slot` of `origin`; None if others on a path."""
        while value != origin and (source := viewed_whole(self.body.values[value])) is not None:
            value = self.body.number(source)
        return slot if value == origin else self.joined.get(value)

    def is_in_place(self, row: Row, read: Sequence[int], result: int, value: int) -> bool:
        """Test whether an op reads each element of `value` before it writes that of a result."""
        op, places = row.op, [k for k, other in enumerate(read) if other == value]
        if not isinstance(op, vm.InvokeTvmOp):
            trait = op.get_trait(OverwritesOperands)
            allowed = trait.overwritable(op, self.kernels.get) if trait is not None else None
            return allowed is not None and allowed[result].issuperset(places)
        kernel = op.callee.string_value()
        return all(self.may_lie_over(kernel, result, k) for k in places)

    def kill(self, row: Row) -> None:
        """End all values that may name the bytes of the operand."""
        value, ends, held = row.uses[0], self.state.ends, self.state.held
        if not self.body.may_have_bytes[value]:
            return
        slot = self.slots.of(self.body.values[value])
        if slot is not None and value not in self.state.written.now:
            self.overwrite(row, slot, How.KILLED)  # what lies there is of another tensor
        killed, names = End(How.KILLED, row.op), self.names.sharing(value)
        for shared in names:
            if shared not in ends.now or ends.now[shared].how is not How.KILLED:
                ends.set(shared, killed)
        for origin in names:
            slots = [*held.slots_of.get(origin, ())]
            if slots and all(name in ends.now for name in self.names.naming(origin)):
                for slot in slots:  # no intact value names it: any op may overwrite it
                    held.set((slot, origin), None)

    # ------------------------------------------------------------------- calls

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

    def lend(self, row: Row) -> None:
        """End all that lies in storages that an op is given: it may write and return them."""
        op = row.op
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
            self.lending.require_lent(op, name, [*slots])
        for j, slot in slots.items():
            for i, result in enumerate(row.results):
                is_in = returned is None or j in returned.params[i]
                if is_in and self.body.may_have_bytes[result]:
                    self.state.held.set((slot, result), True)

    def require_apart(self, op: Operation, i: int, j: int, one: Slot, other: Slot) -> None:
        """Check that operands `i` and `j` of a call do not overlap."""
        place, second = one.place, other.place
        if place is not None and second is not None and place.packed is second.packed:
            self.state.held.beside(one).need_together(place, second)
        overlap = self.slots.overlap(one, other)
        if overlap is not False:
            raise (NotShown if overlap is None else PassError)(
                f"{op.name} is given storages {i} and {j} that overlap, or cannot be shown not to: "
                f"bytes {one} and {other} of one storage",
                op,
                notes=[(op.operands[i], "one is this"), (op.operands[j], "the other is this")],
            )

    def checked(self) -> Checked:
        """Return what callers must know of the function of the body."""
        values, sizes = self.body.body.rows[-1].op.operands, self.slots.rooms.sizes
        dims = [as_tensor(value.type) and sizes.dims(value) for value in values]
        return Checked(self.body.block, self.lending.needs, dims)
