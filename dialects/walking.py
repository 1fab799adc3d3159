"""
Traversal of all ops in a region, in time that does not depend on their nesting depth.

xDSL's `walk` nests one generator per level, so that each op costs its depth: a walk of n nested
regions takes n² steps.
"""

from collections.abc import Callable, Iterator, Sequence

from xdsl.ir import Block, Operation, Region, SSAValue


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


def values_from_above(
    root: Operation, holds: Callable[[Operation], bool]
) -> dict[Operation, list[SSAValue]]:
    """
    The values from above that the regions of each op that `holds` use, in order of their first use.

    Linear in ops, operands and values found: when an op has a value already, so have the ops that
    enclose it. `root` itself may be among the ops.
    """
    found: dict[Operation, dict[SSAValue, None]] = {}
    around: list[Operation] = []
    """The ops that hold the current one, innermost last."""
    depths: dict[SSAValue, int] = {}
    """The number of ops that hold each value's definition; absent for values from above `root`."""
    pending: list[Operation | None] = [root]
    while pending:
        op = pending.pop()
        if op is None:
            around.pop()
            continue
        for operand in op.operands:
            for holder in reversed(around[depths.get(operand, 0) :]):
                if operand in found[holder]:
                    break
                found[holder][operand] = None
        depths.update((result, len(around)) for result in op.results)
        if holds(op):
            found[op] = {}
            around.append(op)
            pending.append(None)
        for block in reversed([block for region in op.regions for block in region.blocks]):
            depths.update((argument, len(around)) for argument in block.args)
            pending.extend(reversed(block.ops))
    return {op: list(values) for op, values in found.items()}


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
