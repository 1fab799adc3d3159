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
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ..dialects import memory, vm
from ..dialects.device import device_of
from ..dialects.relay.loops import repeated_in
from ..operators.sizes.size_expressions import Expr
from .bytes.aliases import bodies_of
from .bytes.joins import Join, Joining, Part, joined_by
from .functions.symbols import symbols_of
from .sizes.available import Available
from .sizes.reader import Sizes
from .support.changes import ReportingPass
from .support.rewriting import rewrite_each


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
    first: dict[Operation, list[Sequence[Part]]] = {}
    places: dict[Part, Place] = {}
    for chain in chains.values():
        wholes = [join.whole.op for join in joins.values() if join.chain is chain]
        owned = [part.storage.op for part in chain if part.storage]
        op = min([*wholes, *owned], key=position)
        assert op.parent is not None, "an op of a body"
        end = repeated_in(op.parent).get(op)
        first.setdefault(op if end is None else end.start, []).append(chain)

    def allocate(op: Operation, rewriter: PatternRewriter) -> None:
        for chain in first[op]:
            places.update(allocated(chain, op, rewriter))

    def cut(op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(op, memory.AllocStorageOp)
        place = places[parts[op]]
        rewriter.replace(op, place.cut(place.size))

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
        rewriter.replace(op, vm.JoinTensorsOp(values, out.type, out.owner.shape))
        rewriter.erase(out.owner)
        if len(join.whole.tensors) == 1:
            rewriter.erase(join.whole.op)
        else:  # results are written over the join
            rewriter.replace(join.whole.op, place.cut(join.whole.op.bytes))

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
class JoinTensorsPass(ReportingPass):
    """Let the operands of a concatenation be computed where it has them."""

    name = "join-tensors"
    accepts = "manifest"

    compiled: bool = False
    """
    For kernels that are compiled: a concatenation that a function returns stays as it is, as its
    caller has memory for it.
    """

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        kernels, sizes, is_changed = symbols_of(op), Sizes(), False
        joining = {name: side for name, kernel in kernels.items() if (side := joined_by(kernel))}
        for classes in bodies_of(op, separate=False) if joining else ():
            chosen = Joining(classes, kernels, joining, sizes, self.compiled)
            chosen.choose()
            if chosen.joins:
                rewrite(chosen.joins, chosen.position)
                is_changed = True
        return is_changed
