"""
Let the operands of a concatenation be computed where it has them, instead of copying them.

    %s = memory.alloc_storage 64 align 64       %j = memory.alloc_storage 128 align 64
    %t = memory.alloc_tensor %s[0]              %s = memory.slice_storage %j[0] size 64 align 64
    %a = vm.invoke_tvm_op @f … outs(%t)         %t = memory.alloc_tensor %s[0]
    %r = memory.alloc_storage 64 align 64       %a = vm.invoke_tvm_op @f … outs(%t)
    %u = memory.alloc_tensor %r[0]              %r = memory.slice_storage %j[64] size 64 align 64
    %b = vm.invoke_tvm_op @g … outs(%u)    ->   %u = memory.alloc_tensor %r[0]
    %w = memory.alloc_storage 128 align 64      %b = vm.invoke_tvm_op @g … outs(%u)
    %v = memory.alloc_tensor %w[0]              %y = vm.join_tensors %a, %b
    %y = vm.invoke_tvm_op @concatenate
           ins(%a, %b) outs(%v)

`@concatenate` is relay.concatenate or relay.stack of contiguous bytes: all dims before the axis are
1. The storages of the operands become slices of one, side by side; a join of joins is one of all
their parts, and a storage may be in several joins if it has the same neighbours in all of them. An
operand that cannot be a part is copied, as long as fewer are copied than are not: a parameter, a
constant, an operand that occurs twice or has other neighbours, one whose storage holds something
else later. A concatenation stays as it is where more bytes would be live at the worst moment, or
where that cannot be known.

A part starts where the one before it ends, so it may not be aligned as storages are. Kernels whose
code is in the program need elements that are aligned; a value that others use stays where it is.

From level `manifest` to the same, after `reuse-in-place`, which would write no result over a part,
and before `pack-storage`, which lets each part live from its own write; `remove-unused-kernels`
after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from math import gcd
from typing import ClassVar, NamedTuple

import numpy as np
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ..dialects import memory, relay, vm
from ..dialects.device import device_of
from ..dialects.relay.rearrange import ConcatenateOp, StackOp
from ..dialects.tensors import MIN_ALIGNMENT, Tensor, as_tensor, element_size
from ..operators.sizes.size_expressions import Expr
from .bytes.aliases import AliasClasses, bodies_of
from .bytes.op_facts import facts_of, viewed_whole
from .bytes.packs import size_of as bytes_in
from .bytes.rooms import bytes_of, size_of
from .bytes.storages import Storage, storages_of
from .functions.symbol_names import symbols_of
from .sizes.available import Available
from .sizes.reader import Sizes
from .support.levels import Level
from .support.rewriting import rewrite_each


def joined_by(kernel: Operation) -> Sequence[int]:
    """Return the operands, by number, whose bytes a kernel puts side by side; none of another."""
    if not isinstance(kernel, relay.PrimFuncOp):
        return ()
    block = kernel.body.block
    op, last = block.first_op, block.last_op
    if not isinstance(op, ConcatenateOp | StackOp) or op.next_op is not last or last is None:
        return ()
    shape = tensor_type_of(op.results[0]).get_shape()
    numbers = [value.index for value in op.operands if isinstance(value, BlockArgument)]
    is_all = len(numbers) == len(op.operands) and [*last.operands] == [*op.results]
    is_contiguous = all(dim == 1 for dim in shape[: op.axis.value.data % len(shape)])
    return numbers if is_all and is_contiguous else ()


def tensor_type_of(value: SSAValue) -> Tensor:
    type = as_tensor(value.type)
    assert type is not None, "verified: a tensor"
    return type


@dataclass(eq=False)
class Part:
    """Bytes of a join: of a storage that becomes a slice, or of the copy of an operand."""

    size: Expr
    start: int
    stop: int
    """When they are live, joins included."""
    storage: Storage | None = None


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
    chains: dict[Part, list[Part]] = field(default_factory=lambda: {})
    """All parts that are adjacent to each one, in order, itself included."""

    @cached_property
    def storages(self) -> Mapping[Operation, Storage]:
        found = storages_of(self.classes, outliving=True).found
        return {storage.op: storage for storage in found if not storage.calls}

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
        found: set[int] = set()
        for row in self.classes.body.rows:
            facts, kernel = row.facts, None
            if isinstance(row.op, vm.InvokeTvmOp):
                kernel = self.kernels.get(row.op.callee.string_value())
            is_ours = (
                isinstance(kernel, relay.PrimFuncOp)
                or facts.views
                or facts.joins
                or facts.only_sizes
            )
            if not (is_ours or isinstance(row.op, memory.AllocTensorOp | memory.CopyOp)):
                found.update(self.classes.class_of[n] for n in (*row.uses, *row.results))
        return found

    def position(self, op: Operation) -> int:
        found = self.classes.body.position(op)
        assert found is not None, "an op of the body"
        return found

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
        op = value.owner
        if not isinstance(op, Operation) or not facts_of(op).writes or self.classes.is_kept(value):
            return None
        out = op.operands[len(op.operands) - len(op.results) + op.results.index(value)]
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
        others = [other for other in self.joins.values() if other.chain[0] in join.chain]
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
        if self.compiled:
            return False
        if device is not None and str(device.device_type) != '"cpu"':
            return False
        element = element_size(tensor_type_of(join.call.outs[0]).element_type)
        joins = [other for other in self.joins.values() if other.parts[0] in unaligned]
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
        """Test whether no more bytes are live at the worst moment."""
        stop, lasts = join.stop, join.whole.lifetime.stop == join.stop
        if all(part.stop == stop or (lasts and part in join.parts) for part in join.chain):
            return True
        before, after = self.peak(), self.peak(join)
        return before is not None and after is not None and after <= before

    def peak(self, join: Join | None = None) -> int | None:
        """Return the most bytes that are live, with one more join; None if it is not known."""
        change = np.zeros(len(self.classes.body.rows) + 2, np.int64)
        parts = {**dict.fromkeys(self.parts.values()), **self.chains}
        parts.update(dict.fromkeys(join.chain if join else ()))
        for part in parts:
            op, size = part.storage and part.storage.op, part.size.constant
            if op in self.joins or (join is not None and op is join.whole.op):
                continue
            if size is None:
                return None
            change[part.start] += size
            change[join.stop if join is not None and part in join.chain else part.stop] -= size
        return int(change.cumsum().max())

    def accept(self, join: Join) -> None:
        for other in self.joins.values():
            if other.chain[0] in join.chain:
                other.chain = join.chain
        stop = join.stop
        for part in join.chain:
            part.stop = stop
            self.chains[part] = join.chain
        self.joins[join.whole.op] = join


class Place(NamedTuple):
    """The place of a part in the storage of its chain."""

    joined: SSAValue
    offset: int | SSAValue
    size: int | SSAValue
    alignment: int

    def cut(self, size: int | SSAValue) -> memory.SliceStorageOp:
        """Return a slice from the place on."""
        return memory.SliceStorageOp(self.joined, self.offset, size, self.alignment)


def rewrite(joins: Mapping[Operation, Join], position: Callable[[Operation], int]) -> None:
    """Make calls joins, and the storages of their parts slices."""
    chains = {id(join.chain): join.chain for join in joins.values()}
    first: dict[Operation, list[Part]] = {}
    places: dict[Part, Place] = {}
    for chain in chains.values():
        wholes = [join.whole.op for join in joins.values() if join.chain is chain]
        owned = [part.storage.op for part in chain if part.storage]
        first[min([*wholes, *owned], key=position)] = chain

    def allocate(op: Operation, rewriter: PatternRewriter) -> None:
        places.update(allocated(first[op], op, rewriter))

    def cut(op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(op, memory.AllocStorageOp)
        place = places[parts[op]]
        piece = place.cut(place.size)
        piece.slice.name_hint = op.storage.name_hint
        rewriter.replace(op, piece)

    def call(op: Operation, rewriter: PatternRewriter) -> None:
        join = calls[op]
        out, place = join.call.outs[0], places[join.parts[0]]
        assert isinstance(out.owner, memory.AllocTensorOp)
        values = join.values
        for k, part in join.copied.items():
            room = places[part].cut(places[part].size)
            tensor = memory.AllocTensorOp(room.slice, 0, values[k].type)
            copy = memory.CopyOp.create(
                operands=[values[k], tensor.tensor], result_types=[values[k].type]
            )
            rewriter.insert([room, tensor, copy], InsertPoint.before(op))
            values[k] = copy.result
        made = vm.JoinTensorsOp(values, out.type, out.owner.shape)
        made.result.name_hint = op.results[0].name_hint
        rewriter.replace(op, made)
        rewriter.erase(out.owner)
        if len(join.whole.tensors) == 1:
            rewriter.erase(join.whole.op)
        else:  # results are written over the join
            rewriter.replace(join.whole.op, place.cut(bytes_in(join.whole.op)))

    parts = {part.storage.op: part for chain in chains.values() for part in chain if part.storage}
    calls: dict[Operation, Join] = {join.call: join for join in joins.values()}
    rewrite_each(first, allocate)
    rewrite_each(parts, cut)
    rewrite_each(calls, call)


def allocated(
    chain: Sequence[Part], first: Operation, rewriter: PatternRewriter
) -> Iterator[tuple[Part, Place]]:
    """Allocate a storage for a chain before the op `first`; yield the places of its parts in it."""
    owned = [part.storage.op for part in chain if part.storage]
    sizes = {op: size for op in owned if isinstance(size := op.dynamic_size, SSAValue)}
    new: list[Operation] = []
    if sizes:
        assert first.parent is not None, "an op of a body"
        available = Available.of(first.parent)
        new = available.needed_before(available.index[first], sizes.values())
    for op in new:
        op.detach()

    def number(value: int | SSAValue) -> SSAValue:
        if isinstance(value, int):
            new.append(arith.ConstantOp.from_int_and_width(value, i64))
            value = new[-1].results[0]
        return value

    ends: list[int | SSAValue] = [0]
    lengths: list[int | SSAValue] = []
    for part in chain:
        end, size = ends[-1], part.size.constant
        length = sizes[part.storage.op] if size is None and part.storage else size
        assert length is not None, "a copy has a known size"
        if isinstance(end, int) and isinstance(length, int):
            end += length
        elif end == 0:
            end = length
        else:
            new.append(arith.AddiOp(number(end), number(length)))
            end = new[-1].results[0]
            end.name_hint = "end"
        ends.append(end)
        lengths.append(length)
    most = max(op.alignment.value.data for op in owned)
    joined = memory.AllocStorageOp(ends[-1], most, device_of(owned[0].storage.type))
    joined.storage.name_hint = "joined"
    rewriter.insert([*new, joined], InsertPoint.before(first))
    start = Expr.of(0)
    for part, offset, length in zip(chain, ends, lengths, strict=False):
        yield part, Place(joined.storage, offset, length, gcd(most, start.divisor))
        start += part.size


@dataclass(frozen=True)
class JoinTensorsPass(ModulePass):
    """Let the operands of a concatenation be computed where it has them."""

    name = "join-tensors"
    accepts: ClassVar[Level] = "manifest"

    compiled: bool = False
    """
    For kernels that are compiled: parts must be aligned as storages are, and a concatenation that
    a function returns stays as it is, as its caller has memory for it.
    """

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels, sizes = symbols_of(op), Sizes()
        joining = {name: found for name, kernel in kernels.items() if (found := joined_by(kernel))}
        for classes in bodies_of(op, separate=False) if joining else ():
            found = Joining(classes, kernels, joining, sizes, self.compiled)
            found.choose()
            if found.joins:
                rewrite(found.joins, found.position)
