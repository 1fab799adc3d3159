"""
Read the memory that a program uses, at level `manifest` or `memory-planned`.

Constants are read as one more function, if `place-constants` put them into pools: each pool is a
storage that is in use throughout.

Tensors are those that the machine allocates: destinations of shape functions are not. Lifetimes
are those of `path_liveness`; sizes and offsets those of `sizes.reader`. A storage with one tensor
is in use as long as the tensor is; one with several until the last of them is dead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain, pairwise

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import ConstantLike

from ...dialects import memory, relay
from ...dialects.interfaces import CallsFunction, DestinationPassing, Rematerializable
from ...dialects.tensors import MIN_ALIGNMENT, tensor_of, tensor_size
from ...dialects.xdsl_extras.walking import walk
from ...operators.sizes.size_expressions import Expr
from ..bytes import constant_places, storages
from ..bytes.aliases import AliasClasses, bodies_of
from ..bytes.numbered import Row
from ..bytes.op_facts import facts_of, root_of, viewed
from ..bytes.rooms import Rooms
from ..devices.options import planned_pools
from ..support.diagnostics import PassError
from ..support.walk import outside_primitives
from ..tiling.stripe_attributes import TilingRecord
from . import path_liveness
from .buffer_use import read_buffers
from .columns import Timeline, arm_names, device_name, function_name, kernel_of, numbered, source_of
from .model import Branch, Call, Column, FunctionUse, MemoryUse, Segment, Storage, Tensor
from .path_liveness import Arms, Span

CURE = (
    "expected allocations of memory, but the module has none: run a pipeline up to level "
    "'manifest' or 'memory-planned' first, such as -p vm, which is read before lower-to-bytecode; "
    "memrefs are shown by plan-memref, before its expand-packs"
)


def operators_in(kernel: Operation) -> tuple[str, ...]:
    """Return the names of the operators that a kernel computes, in order."""
    return tuple(
        op.name.removeprefix("relay.")
        for region in kernel.regions
        for block in region.blocks
        for op in block.ops
        if op is not block.last_op and not op.has_trait(ConstantLike)
        and not op.has_trait(Rematerializable)
    )  # fmt: skip


BOOKKEEPING = (
    memory.AllocStorageOp,
    memory.AllocTensorOp,
    memory.KillOp,
    memory.PackOp,
    memory.WorkspaceSizeOp,
)


@cache
def uses_tensors(kind: type[Operation]) -> bool:
    """Test whether ops of class `kind` are worth a column: they are not bookkeeping."""
    if issubclass(kind, BOOKKEEPING) or kind.name.startswith(("arith.", "tensor.")):
        return False
    return not (kind.has_trait(Rematerializable) or kind.has_trait(ConstantLike))


@dataclass(eq=False)
class _Reader:
    """Reads one body."""

    classes: AliasClasses
    use: FunctionUse
    kernels: dict[str, Operation]
    rows: dict[SSAValue, int] = field(default_factory=lambda: {})
    """The storages by their values."""
    names: dict[str, int] = field(default_factory=lambda: {})
    """The number of storages of each name, less one."""
    ops: list[Operation | None] = field(default_factory=lambda: [])
    """The op of each column."""
    taken: dict[str, int] = field(default_factory=lambda: {})
    """The number of tensors of each name, less one."""

    @cached_property
    def lent(self) -> Mapping[path_liveness.Holder, SSAValue | None]:
        """The storages that calls use, and for each the result that is written there."""
        return {
            (row.op, index): path_liveness.result_in(row.op, index, self.classes)
            for row in self.classes.body.rows
            for index in path_liveness.storages_used_by(row.op)
        }

    @cached_property
    def rooms(self) -> Rooms:
        return Rooms(self.use.formulas.sizes)

    def read(self) -> None:
        spans, branches, length = path_liveness.spans_of(self.classes)
        rows = self.classes.body.rows
        tensors = [
            row.op
            for row in rows
            if isinstance(row.op, memory.AllocTensorOp)
            and not storages.is_destination_of_shapes(row.op)
        ]
        allocations = list(self._storages(tensors))
        held = self._held(allocations, tensors, spans, length)
        steps = [row for row in rows if uses_tensors(type(row.op))]
        every = [(s.start, s.stop) for s in chain.from_iterable((*spans.values(), *held))]
        time = Timeline.of([*every, (length, length)], [row.at for row in steps])
        self.use.formulas.sizes.read(self.classes.block)
        self._columns(time, steps, length)
        labels = self._branches(time, branches)
        for (value, outlives), used in zip(allocations, held, strict=True):
            self._storage(value, outlives, [time.span(span) for span in used])
        for op in tensors:
            self._tensor(op, [time.span(s) for s in spans.get((op, 0), ())], labels)
        for holder, result in self.lent.items():
            self._passed(*holder, result, [time.span(s) for s in spans.get(holder, ())])
        self._overwrite()
        self.use.measure_given()
        self.use.live += self._live()
        for row in rows:
            callee = kernel_of(row.op) if is_call(row.op) else None
            if callee is not None:
                self.use.calls.append(Call(time.column(row.at), callee))

    def _storages(self, tensors: Sequence[memory.AllocTensorOp]) -> Iterator[tuple[SSAValue, bool]]:
        """Yield the storages that the machine allocates, or the caller, and whether they stay."""
        kept = {root_of(op.storage) for op in tensors if self.classes.is_kept(op.tensor)}
        for (op, index), result in self.lent.items():
            if result is not None and self.classes.is_kept(result):
                kept.add(root_of(op.operands[index]))
        inside = {root_of(op.storage) for op in tensors}
        for argument in self.classes.block.args:
            if isinstance(argument.type, memory.StorageType):
                yield argument, True
        for op in (row.op for row in self.classes.body.rows):
            if not isinstance(op, memory.AllocStorageOp):
                continue
            users = list(users_of(op.storage))
            if op.storage not in inside and users and all(map(is_allocation, users)):
                continue  # for shape functions, which need none
            stays = any(not is_allocation(user) and not is_call(user) for user in users)
            yield op.storage, op.storage in kept or stays

    def _held(
        self,
        allocations: Sequence[tuple[SSAValue, bool]],
        tensors: Sequence[memory.AllocTensorOp],
        spans: dict[path_liveness.Holder, list[Span]],
        length: int,
    ) -> list[list[Span]]:
        """Return the positions in which each storage is in use."""
        inside: dict[SSAValue, list[path_liveness.Holder]] = {}
        lent: dict[SSAValue, list[path_liveness.Holder]] = {}
        for op in tensors:
            inside.setdefault(root_of(op.storage), []).append((op, 0))
        for call, index in self.lent:
            lent.setdefault(root_of(call.operands[index]), []).append((call, index))
        held: list[list[Span]] = []
        for value, outlives in allocations:
            op, members, calls = value.owner, inside.get(value, []), lent.get(value, [])
            start = (self.classes.body.position(op) or 0) if isinstance(op, Operation) else 0
            used = [span for holder in (*members, *calls) for span in spans.get(holder, ())]
            if isinstance(op, Block) or (outlives and not members):
                held.append([Span(start, length, ())])
            elif len(members) == 1 and used and not calls:
                held.append([used[0]._replace(start=start), *used[1:]])
            else:
                held.append(_joined(start, used))
        return held

    def _columns(self, time: Timeline, steps: Sequence[Row], length: int) -> None:
        count = max(1, time.column(length))
        columns = [Column("", None)] * count
        self.ops = [None] * count
        for row in steps:
            at = min(time.column(row.at), count - 1)
            columns[at] = Column(kernel_of(row.op) or row.op.name, source_of(row.op))
            self.ops[at] = row.op
        self.use.columns = columns

    def _branches(
        self, time: Timeline, branches: Sequence[path_liveness.Branch]
    ) -> dict[Block, str]:
        """Read the branches; return the name of each arm."""
        labels: dict[Block, str] = {}
        for branch in branches:
            names = arm_names(branch.op)
            for region, name in zip(branch.op.regions, names, strict=True):
                labels[region.block] = name
            arms = tuple((time.column(start), time.column(stop)) for start, stop in branch.bounds)
            self.use.branches.append(
                Branch(branch.op.name, tuple(names), arms, source_of(branch.op))
            )
        return labels

    def _storage(self, value: SSAValue, outlives: bool, spans: list[Span]) -> None:
        formulas, op = self.use.formulas, value.owner
        self.rows[value] = len(self.use.storages)
        is_given = not isinstance(op, memory.AllocStorageOp)
        size, alignment = Expr.of(0), 1
        if isinstance(op, memory.AllocStorageOp):
            size = self.rooms.of_storage(value).size or size
            alignment = op.alignment.value.data
        self.use.add(
            Storage(
                numbered(value.name_hint or "storage", self.names),
                device_name(value),
                formulas.number(size),
                alignment,
                source_of(value),
                tuple(spans),
                outlives,
                is_given,
            )
        )

    def _tensor(
        self, op: memory.AllocTensorOp, spans: list[Span], labels: dict[Block, str]
    ) -> None:
        formulas = self.use.formulas
        root, offset, size = self.rooms.of_tensor(op)
        writer, value = written_by(op)
        kernel = None if writer is None else kernel_of(writer)
        name = value.name_hint or op.tensor.name_hint or "tensor"
        self.use.tensors.append(
            Tensor(
                numbered(name, self.taken),
                kernel or (op if writer is None else writer).name,
                operators_in(self.kernels[kernel]) if kernel in self.kernels else (),
                source_of(op if writer is None else writer),
                self.rows[root],
                formulas.number(offset),
                formulas.number(size),
                tuple(spans),
                self.classes.is_kept(op.tensor),
                "" if op.parent is None else labels.get(op.parent, ""),
            )
        )

    def _passed(
        self, call: Operation, index: int, result: SSAValue | None, spans: list[Span]
    ) -> None:
        """Read a storage that a call passes on, as a tensor that its callee writes."""
        formulas, value = self.use.formulas, call.operands[index]
        room = self.rooms.of_storage(value)
        row = self.rows.get(room.root)
        if row is None:
            return
        callee = kernel_of(call) or call.name
        size = formulas.polynomials[self.use.storages[row].size]
        if viewed(value) is not None:
            size = room.size or size
        offset = room.start
        what = "workspace" if result is None else "result"
        self.use.tensors.append(
            Tensor(
                numbered(f"{what} of @{callee}", self.taken),
                callee,
                (),
                source_of(call),
                row,
                formulas.number(offset),
                formulas.number(size),
                tuple(spans),
                result is not None and self.classes.is_kept(result),
                is_passed=True,
            )
        )

    def _in_slots(self) -> list[list[int]]:
        """Return the tensors at the same bytes, in the order in which they are there."""
        slots: dict[tuple[int, int], list[int]] = {}
        for row, tensor_ in enumerate(self.use.tensors):
            slots.setdefault((tensor_.storage, tensor_.offset), []).append(row)

        def first(row: int) -> int:
            return min((span.start for span in self.use.tensors[row].spans), default=0)

        return [sorted(rows, key=first) for rows in slots.values()]

    def _overwrite(self) -> None:
        """End the life of a tensor where another is written over it, after the op that does so."""
        for rows in self._in_slots():
            for row, following in pairwise(rows):
                tensor_, over = self.use.tensors[row], self.use.tensors[following]
                left = tuple(without(tensor_.spans, over.spans))
                if left != tensor_.spans:
                    self.use.tensors[row] = replace(tensor_, spans=left)

    def _live(self) -> Iterator[Segment]:
        """Yield the bytes of tensors in use; a tensor written in place adds only its excess."""
        for rows in self._in_slots():
            before: Tensor | None = None
            for row in rows:
                tensor_ = self.use.tensors[row]
                yield from self._segments(row, tensor_, before)
                before = tensor_

    def _segments(self, row: int, tensor_: Tensor, before: Tensor | None) -> Iterator[Segment]:
        """Yield the segments of a tensor, less what it shares with that in its slot before it."""
        until = 0 if before is None else max((span.stop for span in before.spans), default=0)
        for span in tensor_.spans:
            start = span.start
            if before is not None and start < until:
                stop = min(until, span.stop)
                excess = self.use.formulas.excess(tensor_.size, before.size)
                yield Segment(start, stop, span.arms, excess, row)
                start = stop
            if start < span.stop:
                yield Segment(start, span.stop, span.arms, tensor_.size, row)


def users_of(storage: SSAValue) -> Iterator[Operation]:
    """Yield the users of a storage and of its slices, but not the slices."""
    pending = [storage]
    while pending:
        for use in pending.pop().uses:
            if facts_of(use.operation).views is not None:
                pending += use.operation.results
            else:
                yield use.operation


def is_allocation(op: Operation) -> bool:
    return isinstance(op, memory.AllocTensorOp)


def is_call(op: Operation) -> bool:
    return op.has_trait(CallsFunction)


def exclude_each_other(one: Arms, other: Arms) -> bool:
    """Test whether no path goes through all of `one` and all of `other`."""
    taken = dict(other)
    return any(taken.get(arm.branch, arm.arm) != arm.arm for arm in one)


def without(spans: Iterable[Span], others: Sequence[Span]) -> Iterator[Span]:
    """Yield what is left of `spans` where `others` begin a column later."""
    pending = list(reversed(list(spans)))
    while pending:
        span = pending.pop()
        for other in others:
            start = other.start + 1
            if start >= span.stop or other.stop <= span.start or start >= other.stop:
                continue
            if exclude_each_other(span.arms, other.arms):
                continue
            if other.stop < span.stop:
                pending.append(span._replace(start=other.stop))
            span = span._replace(stop=max(start, span.start))
            break
        else:
            yield span
            continue
        if span.start < span.stop:
            pending.append(span)


def _joined(start: int, spans: Sequence[Span]) -> list[Span]:
    """Return the spans of a storage from `start` on: one for each set of arms in `spans`."""
    bounds: dict[Arms, tuple[int, int]] = {(): (start, start + 1)}
    for span in spans:
        known = bounds.get(span.arms, (span.start, span.stop))
        bounds[span.arms] = min(known[0], span.start), max(known[1], span.stop)
    return [Span(first, last, arms) for arms, (first, last) in bounds.items()]


def written_by(op: memory.AllocTensorOp) -> tuple[Operation | None, SSAValue]:
    """Return the first op that writes a tensor, and the value it has then."""
    for use in op.tensor.uses:
        if DestinationPassing.writes(use):
            writer = use.operation
            return writer, writer.results[use.index - len(writer.operands) + len(writer.results)]
    return None, op.tensor


def read_memory(module: ModuleOp) -> MemoryUse:
    """Return the memory that `module` uses; a `PassError` if it allocates none."""
    if not any(isinstance(op, memory.PlacedOp) for op in outside_primitives(module)):
        raise PassError(CURE, module)
    return memory_of(module)


def memory_of(module: ModuleOp) -> MemoryUse:
    """Return the memory that `module` uses, which may be none."""
    pools = memory.pools_of(module)
    declared = dict(zip(pools, planned_pools([*pools.values()]), strict=True))
    constants = [use] if (use := constants_of(module)).storages else []
    return MemoryUse([*(use for use, _ in memory_at_ops(module)), *constants], declared)


def constants_of(module: ModuleOp) -> FunctionUse:
    """Return what is in pools of constants, as the memory of a function."""
    pools = constant_places.constant_pools(module)
    places = [memory.place_of(pool.device) for pool in pools]
    own = dict(zip(places, planned_pools(pools), strict=True))
    use = FunctionUse("constants", columns=[Column("each call", None)], pools=own)
    inside: dict[int, dict[tuple[str, Attribute], tuple[relay.ParamOp, int]]] = {}
    for op in walk(module) if pools else ():
        if isinstance(op, relay.ParamOp):
            pool, offset = constant_places.place_of(op, pools)
            inside.setdefault(pool, {})[op.param.data, op.result.type] = op, offset
    always = (Span(0, 1, ()),)
    for pool, params in sorted(inside.items()):
        end, row, name = 0, len(use.storages), f"constants_{pools[pool].label}"
        for op, offset in params.values():
            size = tensor_size(tensor_of(op.result))
            end = max(end, offset + size)
            at, bytes = use.formulas.number(Expr.of(offset)), use.formulas.number(Expr.of(size))
            use.live.append(Segment(0, 1, (), bytes, len(use.tensors)))
            use.tensors.append(
                Tensor(
                    *(op.param.data, op.name, (), source_of(op), row, at, bytes, always),
                    outlives=True,
                )
            )
        size = use.formulas.number(Expr.of(end))
        alignment = max(pools[pool].alignment.data, MIN_ALIGNMENT)
        use.add(Storage(name, places[pool], size, alignment, None, always, True))
    return use


def memory_at_ops(
    module: ModuleOp,
) -> Iterator[tuple[FunctionUse, Sequence[Operation | None]]]:
    """Yield the memory that each function uses, and the op of each column of it."""
    if any(isinstance(op, memory.BufferOp) for op in outside_primitives(module)):
        yield from read_buffers(module)
        return
    kernels: dict[str, Operation] = {
        op.sym_name.data: op for op in module.ops if isinstance(op, relay.PrimFuncOp)
    }
    for classes in bodies_of(module):
        use = FunctionUse(function_name(classes.block))
        use.tiling = TilingRecord.of(classes.block.parent_op())
        reader = _Reader(classes, use, kernels)
        reader.read()
        if use.storages or use.calls:
            yield use, reader.ops
