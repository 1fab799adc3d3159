"""
Traversal of all ops in a region, in time that does not depend on their nesting depth.

xDSL's `walk` nests one generator per level, so that each op costs its depth: a walk of n nested
regions takes n² steps.
"""

from collections.abc import Callable, Iterator, Sequence

from xdsl.ir import Block, Operation, Region


def walk(
    root: Operation | Region | Block,
    *,
    reverse: bool = False,
    region_first: bool = False,
    enters: Callable[[Operation], bool] | None = None,
) -> Iterator[Operation]:
    """
    The ops in `root` (including `root` itself), in the order of xDSL's `walk`.

    Each op comes before those in its regions, or after them with `region_first`; `reverse` visits
    regions, blocks and ops from their ends. The regions of an op that `enters` rejects are skipped.
    """
    pending: list[tuple[Iterator[Operation], Operation | None]] = [(_ops(root, reverse), None)]
    while pending:
        ops, holder = pending[-1]
        for op in ops:
            if op.regions and (enters is None or enters(op)):
                if not region_first:
                    yield op
                pending.append((_inner_ops(op.regions, reverse), op))
                break
            yield op
        else:
            pending.pop()
            if holder is not None and region_first:
                yield holder


def _ops(root: Operation | Region | Block, reverse: bool) -> Iterator[Operation]:
    match root:
        case Operation():
            return iter((root,))
        case Region():
            return _inner_ops((root,), reverse)
        case Block():
            return iter(reversed(root.ops) if reverse else root.ops)


def _inner_ops(regions: Sequence[Region], reverse: bool) -> Iterator[Operation]:
    """The ops directly in `regions`."""
    for region in reversed(regions) if reverse else regions:
        for block in reversed(region.blocks) if reverse else region.blocks:
            yield from reversed(block.ops) if reverse else block.ops
