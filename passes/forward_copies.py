"""
Copy rows at once to where a copy of their copy puts them.

    %t = memory.alloc_tensor %s[0]                         %u = memory.alloc_tensor %r[0]
    %k = memory.copy_rows ins(%j) outs(%t) {start = 4}     %c = memory.copy_rows ins(%j) outs(%u) {start = 4}
    …                                                 ->   …
    %u = memory.alloc_tensor %r[0]
    %c = memory.copy_rows ins(%k) outs(%u) {start = 0}

Stripes copy a halo twice: out of the rows that it is among, so that these end, and to where new
rows are put after it, or the next turn of a loop finds it. With one copy, no more bytes are live,
but they have one place for the time of both, which is harder to plan. So two become one only where
much less is live meanwhile than at the peak.

Steps of a stripe that read the same rows copy them each, as they may be far apart. Where fusion has
put the steps together, so that both copies would be live at once, one is made for both.

From level `manifest` to the same; before storages are joined.
"""  # noqa: E501

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
    is_alone &= isinstance(first.outs.owner, memory.AllocTensorOp)
    are_all = first.result.type == op.result.type and not op.step.value.data
    return first if is_alone and are_all and not (op.fill or op.wraps) else None


def copies_of_copies(classes: AliasClasses) -> Iterator[memory.CopyRowsOp]:
    """Yield the second of two copies if nothing reads meanwhile what it writes over."""
    rows, class_of, load = classes.body.rows, classes.class_of, None
    repeated = repeated_in(classes.block)
    for row in rows:
        op = row.op
        if not isinstance(op, memory.CopyRowsOp) or (first := first_copy(op)) is None:
            continue
        start, tensor = classes.body.position(first), op.outs.owner
        if start is None or not isinstance(tensor, memory.AllocTensorOp):
            continue
        users = [use.operation for use in tensor.storage.uses]
        inside = {classes.of(user.results[0]) for user in users}
        read = {class_of[use] for other in rows[start : row.at] for use in other.uses}
        if inside & read or repeated.get(first) is not repeated.get(op):
            continue
        load = load or load_of(classes)
        if load.is_low(start, row.at + 1, SHARE):
            yield op


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
