"""
The joins of a body: which concatenations can have their operands computed side by side, and where.

    %c = concatenate %a, %b        a chain %a, %b, %d of parts, each of which starts where the
    %e = concatenate %c, %d        one before it ends: %c is its first two, %e all of them

`join-tensors` says what may be a part. The joins that share parts have one chain, which is one
storage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from xdsl.dialects.builtin import i64
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...dialects import memory, relay, vm
from ...dialects.device import device_of
from ...dialects.relay.rearrange import ConcatenateOp, StackOp
from ...dialects.tensors import MIN_ALIGNMENT, element_size, tensor_of
from ...operators.sizes.size_expressions import Expr
from ..sizes.available import Available
from ..sizes.reader import Sizes
from .aliases import AliasClasses
from .live_bytes import Load, Span
from .op_facts import destination, viewed_whole
from .rooms import bytes_of, size_of
from .storages import Storage, storages_of


def joined_by(kernel: Operation) -> Sequence[int]:
    """Return the operands, by number, whose bytes a kernel puts side by side; none of another."""
    if not isinstance(kernel, relay.PrimFuncOp):
        return ()
    block = kernel.body.block
    op, last = block.first_op, block.last_op
    if not isinstance(op, ConcatenateOp | StackOp) or op.next_op is not last or last is None:
        return ()
    shape = tensor_of(op.results[0]).get_shape()
    numbers = [value.index for value in op.operands if isinstance(value, BlockArgument)]
    is_all = len(numbers) == len(op.operands) and [*last.operands] == [*op.results]
    is_contiguous = all(dim == 1 for dim in shape[: op.axis.value.data % len(shape)])
    return numbers if is_all and is_contiguous else ()


@dataclass(eq=False)
class Part:
    """Bytes of a join: of a storage that becomes a slice, or of the copy of an operand."""

    size: Expr
    start: int
    stop: int
    """When they are live, joins included."""
    storage: Storage | None = None


def held_from(chain: Sequence[Part]) -> list[int]:
    """Return from where on a plan has the bytes of each part: it cannot have later ones alone."""
    return [*accumulate((part.start for part in reversed(chain)), min)][::-1]


@dataclass(eq=False)
class Join:
    """A call that becomes a join of `parts`, which are in a `chain` of more that are adjacent."""

    call: vm.InvokeTvmOp
    numbers: Sequence[int]
    """The operands of the call that are joined."""
    whole: Storage
    """The storage that the call would write into."""
    parts: list[Part] = field(default_factory=lambda: [])
    copied: dict[int, Part] = field(default_factory=lambda: {})
    """The parts that operands are copied to."""
    chain: list[Part] = field(default_factory=lambda: [])

    @property
    def values(self) -> list[SSAValue]:
        return [self.call.ins[number] for number in self.numbers]

    @property
    def stop(self) -> int:
        """The end of the lifetime of all parts in the chain."""
        return max(self.whole.lifetime.stop, *(part.stop for part in self.chain))


@dataclass(eq=False)
class Joining:
    """Chooses the joins of a body."""

    classes: AliasClasses
    kernels: Mapping[str, Operation]
    joining: Mapping[str, Sequence[int]]
    """The operands that kernels put side by side."""
    sizes: Sizes
    compiled: bool = False
    """True if kernels will be compiled."""
    joins: dict[Operation, Join] = field(default_factory=lambda: {})
    """By the storages that their calls would write into."""
    sharing: dict[Part, list[Join]] = field(default_factory=lambda: {})
    """The joins of each chain, by its first part."""
    chains: dict[Part, list[Part]] = field(default_factory=lambda: {})
    """All parts that are adjacent to each one, in order, itself included."""

    @cached_property
    def storages(self) -> Mapping[Operation, Storage]:
        outliving = storages_of(self.classes, outliving=True).storages
        return {storage.op: storage for storage in outliving if not storage.calls}

    @cached_property
    def parts(self) -> Mapping[Operation, Part]:
        """A part for each storage that may become one."""
        return {
            op: Part(size_of(storage.op, self.sizes), *storage.lifetime, storage)
            for op, storage in self.storages.items()
        }

    @cached_property
    def aligned(self) -> set[int]:
        """The classes of values that may have to be aligned as storages are."""
        aligned: set[int] = set()
        for row in self.classes.body.rows:
            facts, kernel = row.facts, None
            if isinstance(row.op, vm.InvokeTvmOp):
                kernel = self.kernels.get(row.op.callee.string_value())
            is_ours = (
                isinstance(kernel, relay.PrimFuncOp)
                or facts.views
                or facts.joins
                or facts.carries
                or facts.only_sizes
            )
            copies = memory.AllocTensorOp | memory.CopyOp | memory.CopyRowsOp
            if not (is_ours or isinstance(row.op, copies)):
                aligned.update(self.classes.class_of[n] for n in (*row.uses, *row.results))
        return aligned

    def position(self, op: Operation) -> int:
        number = self.classes.body.position(op)
        assert number is not None, "an op of the body"
        return number

    def choose(self) -> None:
        """Decide which calls become joins, in program order."""
        rows = self.classes.body.rows
        calls = [
            (row.op, numbers)
            for row in rows
            if isinstance(row.op, vm.InvokeTvmOp)
            and (numbers := self.joining.get(row.op.callee.string_value()))
        ]
        if not calls or any(row.facts.frees for row in rows):
            return
        for row in rows:
            for result in row.op.results:
                if result.type == i64:
                    self.sizes.size(result)  # after those of its operands
        for call, numbers in calls:
            self.consider(call, numbers)

    def storage_of(self, out: SSAValue, block: Block | None) -> Storage | None:
        """Return the storage, of `block`, that a tensor fills if others there do so, too."""
        tensor = out.owner
        if not isinstance(tensor, memory.AllocTensorOp):
            return None
        owner = tensor.start[0].owner
        storage = self.storages.get(owner) if isinstance(owner, Operation) else None
        if storage is None or any(tensor.start[1] != 0 for tensor in storage.tensors):
            return None
        if any(op.parent is not block for op in (storage.op, *storage.tensors)):
            return None
        is_full = bytes_of(out, self.sizes) == size_of(storage.op, self.sizes)
        return storage if is_full else None

    def parts_of(self, value: SSAValue, block: Block | None) -> list[Part] | None:
        """Return the parts that hold `value`; None if it cannot be computed as a part."""
        while (source := viewed_whole(value)) is not None:
            value = source
        out = destination(value)
        if out is None or self.classes.is_kept(value):
            return None
        storage = self.storage_of(out, block)
        if storage is None or max(storage.tensors, key=self.position) is not out.owner:
            return None  # or its bytes are written again
        join = self.joins.get(storage.op)
        return [self.parts[storage.op]] if join is None else join.parts

    def consider(self, call: vm.InvokeTvmOp, numbers: Sequence[int]) -> None:
        """Make `call` a join of its operands `numbers` if these allow it."""
        whole = self.storage_of(call.outs[0], call.parent)
        operands = [self.parts_of(value, call.parent) for value in (call.ins[k] for k in numbers)]
        while whole is not None and 2 * operands.count(None) <= len(operands):
            join = Join(call, numbers, whole)
            obstacle = self.put_together(join, operands)
            if obstacle is None:
                if self.is_possible(join) and self.is_no_larger(join):
                    self.accept(join)
                return
            operands[obstacle] = None  # and so it is copied

    def put_together(self, join: Join, operands: Sequence[list[Part] | None]) -> int | None:
        """Find the parts of a join and its chain; return the operand that is in the way, if any."""
        end, last, at = 0, 0, self.position(join.call)
        for k, parts in enumerate(operands):
            if parts is None:
                size = bytes_of(join.values[k], self.sizes)
                parts = [join.copied.setdefault(k, Part(size, at, at + 1))]
            chain = join.chain
            if parts[0] in chain:
                if chain[end : end + len(parts)] != parts:
                    return k
            else:
                beside = self.chains.get(parts[0], parts)
                first = beside.index(parts[0])
                if beside[first : first + len(parts)] != parts or (chain and first):
                    return k
                if end < len(chain):
                    return last
                join.chain = [*chain, *beside]
                end += first
            join.parts += parts
            end += len(parts)
            last = last if k in join.copied else k
        return None

    def is_possible(self, join: Join) -> bool:
        """Test whether the parts may be where they would be, and are the bytes of the result."""
        type = join.whole.op.storage.type
        if self.compiled and self.classes.is_kept(join.call.results[0]):
            return False  # the caller of compiled code has memory for it
        if sum((part.size for part in join.parts), Expr.of(0)) != self.parts[join.whole.op].size:
            return False
        if any(part.storage and part.storage.op.storage.type != type for part in join.chain):
            return False
        if not self.is_written_last(join):
            return False
        return self.is_aligned(join) and self.is_available(join.chain)

    def is_written_last(self, join: Join) -> bool:
        """Test whether results that are written over a join are not written over a live part."""
        others = self.beside(join)
        out = join.call.outs[0].owner
        overwriting = [tensor for tensor in join.whole.tensors if tensor is not out]
        if others:
            return not overwriting and all(len(other.whole.tensors) == 1 for other in others)
        end = min(map(self.position, overwriting), default=join.stop)
        return all(part.stop <= end for part in join.parts)

    def is_aligned(self, join: Join) -> bool:
        """Test whether all parts, and joins of them, are aligned as they have to be."""
        starts = dict(zip(join.chain, accumulate((p.size for p in join.chain), initial=Expr.of(0))))
        unaligned = {part for part, start in starts.items() if start.divisor % MIN_ALIGNMENT}
        if not unaligned:
            return True
        device = device_of(join.whole.op.storage.type)
        if device is not None and str(device.device_type) != '"cpu"':
            return False
        element = element_size(tensor_of(join.call.outs[0]).element_type)
        joins = [other for other in self.beside(join) if other.parts[0] in unaligned]
        joins += [join] if join.parts[0] in unaligned else []
        storages = [part.storage for part in unaligned if part.storage]
        storages += [other.whole for other in joins]
        return all(starts[part].divisor % element == 0 for part in unaligned) and not any(
            len(storage.tensors) > 1
            or self.classes.of(storage.tensors[0].results[0]) in self.aligned
            for storage in storages
        )

    def is_available(self, chain: Sequence[Part]) -> bool:
        """Test whether all sizes are known before the first part is allocated."""
        ops = [part.storage.op for part in chain if part.storage]
        if any(part.size.constant is None and part.storage is None for part in chain):
            return False
        values = [size for op in ops if isinstance(size := op.dynamic_size, SSAValue)]
        if not values:
            return True
        block = ops[0].parent
        assert block is not None, "an op of the body"
        available = Available.of(block)
        first = min(available.index[op] for op in ops)
        return all(available.after_value(value) < first for value in values)

    def is_no_larger(self, join: Join) -> bool:
        """Test whether no more bytes are live at the worst moment, and count them if so."""
        stop, whole, starts = join.stop, join.whole, held_from(join.chain)
        _, _, size = self.span_of(self.parts[whole.op])
        start, now = whole.lifetime
        spans: list[Span] = [(start, now, None if size is None else -size)]
        for part, since in zip(join.chain, starts, strict=True):
            start, now, size = self.span_of(part)
            is_copied = part in join.copied.values()
            spans += (
                [(since, stop, size)]
                if is_copied
                else [
                    (since, start, size),
                    (now, stop, size),
                ]
            )
        lasts = whole.lifetime.stop == stop
        is_same = starts == [part.start for part in join.chain]
        if is_same and all(p.stop == stop or (lasts and p in join.parts) for p in join.chain):
            self.load.add(spans)
            return True
        return self.load.takes(spans)

    @staticmethod
    def span_of(part: Part) -> Span:
        return part.start, part.stop, part.size.constant

    @cached_property
    def load(self) -> Load:
        return Load(len(self.classes.body.rows) + 1, map(self.span_of, self.parts.values()))

    def beside(self, join: Join) -> list[Join]:
        """Return the joins of parts that are in the chain of `join`."""
        return [other for part in join.chain for other in self.sharing.get(part, ())]

    def accept(self, join: Join) -> None:
        sharing, stop = [*self.beside(join), join], join.stop
        for other in sharing:
            self.sharing.pop(other.chain[0], None)
            other.chain = join.chain
        self.sharing[join.chain[0]] = sharing
        for part, part.start in zip(join.chain, held_from(join.chain), strict=True):
            part.stop = stop
            self.chains[part] = join.chain
        self.joins[join.whole.op] = join
