"""
Copy rows at once to where a copy of their copy puts them.

    %t = memory.alloc_tensor %s[0]
    %k = memory.copy_rows ins(%j) outs(%t)        %u = memory.alloc_tensor %r[0]
    …                                             %c = memory.copy_rows ins(%j) outs(%u)
    %u = memory.alloc_tensor %r[0]           ->   …
    %c = memory.copy_rows ins(%k) outs(%u)

Stripes copy a halo twice: out of the rows that it is among, whose memory is then free, and to where
it is joined with new rows or carried to the next turn of a loop. One copy needs no more bytes, but
holds one place for the time of both, which is harder to plan. So two become one only where much
less is live meanwhile than at the peak.

    %a = memory.copy_rows ins(%x) outs(%t)        %a = memory.copy_rows ins(%x) outs(%t)
    %b = memory.copy_rows ins(%x) outs(%u)   ->   %y = vm.invoke_tvm_op @f ins(%a, %a) …
    %y = vm.invoke_tvm_op @f ins(%a, %b) …

Each step of a stripe copies the rows that it reads, as steps may be far apart. Two copies of the
same rows become one if both would be live at once, as where fusion has put the steps together.

From level `manifest` to the same; before storages are joined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ..dialects import memory, vm
from ..dialects.relay.loops import repeated_in
from .bytes.aliases import AliasClasses, bodies_of
from .bytes.live_bytes import Load, Span
from .bytes.storages import storages_of
from .support.changes import ReportingPass
from .support.rewriting import rewrite_each

SHARE = 0.7
"""The part of the peak that live bytes between two copies may be, for them to become one."""


def first_copy(op: memory.CopyRowsOp) -> memory.CopyRowsOp | None:
    """Return the op that made the rows, all of them, that `op` copies; None if others read them."""
    first = op.ins.owner
    if not isinstance(first, memory.CopyRowsOp) or first.parent is not op.parent:
        return None
    is_alone = first.result.has_one_use() and first.outs.has_one_use()
    is_alone &= all(isinstance(o.outs.owner, memory.AllocTensorOp) for o in (first, op))
    are_all = first.result.type == op.result.type and not op.step.value.data
    return first if is_alone and are_all and not (op.fill or op.wraps) else None


def copies_of_copies(classes: AliasClasses) -> Iterator[memory.CopyRowsOp]:
    """Yield the second of two copies if nothing reads meanwhile what it writes over."""
    load, last_use = None, dict[int, int]()
    repeated = repeated_in(classes.block)
    for row in classes.body.rows:
        op = row.op
        if isinstance(op, memory.CopyRowsOp) and (first := first_copy(op)) is not None:
            start, tensor = classes.body.position(first), op.outs.owner
            assert start is not None, "an op of the same block"
            assert isinstance(tensor, memory.AllocTensorOp), "checked before"
            users = (use.operation for use in tensor.storage.uses)
            inside = {classes.of(result) for user in users for result in user.results}
            is_unread = all(last_use.get(tensor, -1) < start for tensor in inside)
            if is_unread and repeated.get(first) is repeated.get(op):
                load = load or load_of(classes)
                if load.is_low(start, row.at + 1, SHARE):
                    yield op
        last_use.update((classes.class_of[number], row.at) for number in row.uses)


def copies_of_the_same(
    classes: AliasClasses,
) -> Iterator[tuple[memory.CopyRowsOp, memory.CopyRowsOp]]:
    """Yield copies of rows, which only kernels read, and another of the same rows that is live."""
    position, known = classes.body.positions, dict[object, tuple[memory.CopyRowsOp, int]]()
    for row in classes.body.rows:
        op = row.op
        if not isinstance(op, memory.CopyRowsOp) or op.fill is not None:
            continue
        users = [use.operation for use in op.result.uses]
        if not all(isinstance(user, vm.InvokeTvmOp) and op.result in user.ins for user in users):
            continue
        read, how = tuple(op.operands[:-1]), frozenset(op.properties.items())
        key = op.parent, op.result.type, read, how
        stop = max((position[id(user)] for user in users), default=row.at)
        first, last = known.get(key, (op, row.at))
        if last > row.at:
            yield op, first
        else:
            first = op
        known[key] = first, max(stop, last)


def load_of(classes: AliasClasses) -> Load:
    """Return the bytes that are live at each position."""
    spans: list[Span] = []
    for storage in storages_of(classes, outliving=True).storages:
        size = None if storage.op.size is None else storage.op.size.value.data
        spans.append((storage.lifetime.start, storage.lifetime.stop, size))
    return Load(len(classes.body.rows) + 1, spans)


def forward(op: memory.CopyRowsOp, rewriter: PatternRewriter) -> None:
    """Let the first copy write where the second one does, and erase this."""
    first, tensor = op.ins.owner, op.outs.owner
    assert isinstance(first, memory.CopyRowsOp)
    assert isinstance(tensor, memory.AllocTensorOp)
    for allocated in (tensor.storage.owner, tensor):
        if isinstance(allocated, Operation) and first.is_before_in_block(allocated):
            allocated.detach()
            rewriter.insert(allocated, InsertPoint.before(first))
    unused = first.outs
    first.operands = [*first.operands[:-1], op.outs]
    rewriter.replace(op, [], [first.result])
    erase_tensor(unused, rewriter)


def erase_tensor(tensor: SSAValue, rewriter: PatternRewriter) -> None:
    """Erase a tensor that nothing uses, and its storage if that was its only one."""
    unused = tensor.owner
    assert isinstance(unused, memory.AllocTensorOp)
    rewriter.erase(unused)
    if isinstance(unused.storage.owner, Operation) and unused.storage.first_use is None:
        rewriter.erase(unused.storage.owner)


@dataclass(frozen=True)
class ForwardCopiesPass(ReportingPass):
    name = "forward-copies"
    accepts = "manifest"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        bodies = [*bodies_of(op, separate=False)]
        again = {copy: first for body in bodies for copy, first in copies_of_the_same(body)}

        def reuse(copy: memory.CopyRowsOp, rewriter: PatternRewriter) -> None:
            tensor = copy.outs
            rewriter.replace(copy, [], [again[copy].result])
            erase_tensor(tensor, rewriter)

        is_changed = rewrite_each(again, reuse)
        bodies = [*bodies_of(op, separate=False)] if is_changed else bodies
        copies = [copy for body in bodies for copy in copies_of_copies(body)]
        return rewrite_each(copies, forward) or is_changed
