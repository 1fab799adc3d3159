"""
Read the memory of a program on memrefs that is planned: its buffers in storages.

    %arena = memory.alloc_storage 128 align 16        in use to the end of its block
    %a = memory.buffer %arena[64] : memref<4xf32>     alive until the last use of an alias of it

Lifetimes are those by which `pack-buffers` plans (`bytes.buffer_aliases`). A buffer of an arm that
outlives its branch, as what this yields, is alive on the paths through that arm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...dialects import memory
from ...dialects.device import device_of
from ...dialects.xdsl_extras.walking import walk
from ...dialects.xdsl_extras.xdsl_internals import operands_of
from ..bytes.buffer_aliases import Buffers, Nested, buffers_in
from ..bytes.buffer_facts import facts_of
from ..bytes.op_facts import has_bytes, part_of
from ..bytes.rooms import Rooms
from ..functions.symbols import modules_in
from .columns import Timeline, arm_names, device_name, function_name, kernel_of, numbered, source_of
from .model import Branch, Column, FunctionUse, Segment, Storage, Tensor
from .path_liveness import Span


@dataclass(eq=False)
class _Reader:
    """Reads one function."""

    buffers: Buffers
    use: FunctionUse
    branches: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """The branches that buffers outlive, by number."""

    def read(self) -> Sequence[Operation | None]:
        """Read the function; return the op of each column."""
        buffers, use, rooms = self.buffers, self.use, Rooms(self.use.formulas.sizes)
        ops = [*buffers.position]
        steps = [op for op in ops if not isinstance(op, memory.BufferOp) and uses_bytes(op)]
        spans = {op: self.span(op) for op in ops if is_planned(op)}
        spans = {op: span._replace(arms=self.arms(op)) for op, span in spans.items()}
        arenas = {
            value: self.held(value)
            for value in (*buffers.entry.args, *(op.results[0] for op in ops if op.results))
            if isinstance(value.type, memory.StorageType) and value.owner not in spans
        }
        bounds = [(span.start, span.stop) for span in (*spans.values(), *arenas.values())]
        positions = [buffers.position[op] for op in steps]
        time = Timeline.of([*bounds, (buffers.at, buffers.at)], positions)
        at_column: list[Operation | None] = [None] * max(1, time.column(buffers.at))
        for op, position in zip(steps, positions, strict=True):
            at_column[min(time.column(position), len(at_column) - 1)] = op
        use.columns += [column_of(op) for op in at_column]
        use.branches += (self.branch(op, time) for op in self.branches)
        rows, names = dict[SSAValue, int](), dict[str, int]()
        for value, span in arenas.items():
            room, is_given = rooms.of_storage(value), isinstance(value, BlockArgument)
            size = use.formulas.number(room.size or rooms.sizes.size_or(0))
            name, alive = numbered(value.name_hint or "storage", names), time.span(span)
            rows[value] = len(use.storages)
            use.add(
                Storage(
                    *(name, space_name(value), size, room.alignment or 1, source_of(value)),
                    *((alive,), False, is_given),
                )
            )
        for op, span in spans.items():
            value, alive = op.results[0], time.span(span)
            if isinstance(op, memory.BufferOp):
                root, offset, bytes = rooms.of_tensor(op)
            else:
                root, offset, bytes, _ = rooms.of_storage(value)
            row, end = rows[root], offset + (bytes or 0)
            name = numbered(value.name_hint or "buffer", names)
            writer = next((user for user in self.users(op) if uses_bytes(user)), op)
            what, source = column_of(writer).label, source_of(writer)
            at, size = map(use.formulas.number, (offset, end - offset))
            use.live.append(Segment(*alive, size, len(use.tensors)))
            use.tensors.append(Tensor(name, what, (), source, row, at, size, (alive,), False))
        use.measure_given()
        return at_column

    def span(self, op: Operation) -> Span:
        """Return the positions at which a buffer, or what a call lends, is needed."""
        buffers, start = self.buffers, self.buffers.position[op]
        if part_of(op) is not None:
            at = [buffers.position[user] for user in self.users(op)]
            return Span(min(at, default=start), max(at, default=start) + 1, ())
        alias = buffers.of(op.results[0])
        stop = max(start, buffers.loops.extended(min(alias.first, start), alias.last)) + 1
        region: Nested | None = buffers.region(op)
        while region is not None and stop > region.end:
            if region.is_arm and region.holder is not None:
                self.branches.setdefault(region.holder, len(self.branches))
            region = region.parent
        return Span(start, stop, ())

    def arms(self, op: Operation) -> tuple[memory.Arm, ...]:
        """Return the arms that hold `op`, outermost first, of branches that buffers outlive."""
        arms, at = list[memory.Arm](), self.buffers.region(op)
        while at is not None:
            if at.is_arm and at.holder is not None and at.holder in self.branches:
                arms.append(memory.Arm(self.branches[at.holder], at.number))
            at = at.parent
        return tuple(reversed(arms))

    def held(self, storage: SSAValue) -> Span:
        """Return the positions at which a storage is allocated."""
        op = storage.owner
        if isinstance(op, Block):
            return Span(0, self.buffers.at, ())
        return Span(self.buffers.position[op], self.buffers.stop_of(self.buffers.region(op)), ())

    def branch(self, op: Operation, time: Timeline) -> Branch:
        arms = [self.buffers.regions[region.blocks[0]] for region in op.regions if region.blocks]
        bounds = tuple((time.column(self.start(arm)), time.column(arm.end)) for arm in arms)
        names = [name for name, r in zip(arm_names(op), op.regions, strict=True) if r.blocks]
        return Branch(op.name, tuple(names), bounds, source_of(op))

    def start(self, arm: Nested) -> int:
        first = arm.block.first_op
        return arm.end if first is None else self.buffers.position[first]

    def users(self, op: Operation) -> Iterable[Operation]:
        position = self.buffers.position
        return sorted({use.operation for use in op.results[0].uses}, key=position.__getitem__)


def space_name(storage: SSAValue) -> str:
    return "the default space" if device_of(storage.type) is None else device_name(storage)


def uses_bytes(op: Operation) -> bool:
    """Test whether `op` reads or writes memory, and does not only name or free it."""
    facts = facts_of(op)
    is_view = facts.aliasing is not None or isinstance(op, memory.AllocStorageOp)
    if is_view or facts.deallocates or facts.allocates or (op.regions and facts.passes is not None):
        return False
    return any(has_bytes(value.type) for value in operands_of(op))


def is_planned(op: Operation) -> bool:
    """Test whether `op` is a buffer in a storage, or a part of one that a call is lent."""
    return isinstance(op, memory.BufferOp) or part_of(op) is not None


def column_of(op: Operation | None) -> Column:
    return Column("", None) if op is None else Column(kernel_of(op) or op.name, source_of(op))


def read_buffers(module: ModuleOp) -> Iterator[tuple[FunctionUse, Sequence[Operation | None]]]:
    """Yield the memory that each function with buffers uses, and the op of each column of it."""
    for buffers in chain.from_iterable(map(buffers_in, modules_in(module))):
        if any(map(is_planned, walk(buffers.function))):
            use = FunctionUse(function_name(buffers.entry))
            yield use, _Reader(buffers, use).read()
