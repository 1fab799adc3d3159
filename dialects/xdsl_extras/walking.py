"""
Traversal of all ops in a region, in time that does not depend on their nesting depth.

xDSL's `walk` nests one generator per level, so that each op costs its depth: a walk of n nested
regions takes n² steps.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar, cast

from xdsl.ir import Block, Operation, Region, SSAValue

_Op = TypeVar("_Op", bound=Operation)


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
    entered: list[tuple[Operation, Operation | None, Block | None, Iterator[Region]]] = []
    """The ops whose regions are being walked, and where to go on after each of them."""
    op: Operation | None = None
    block: Block | None = None  # after that of `op`
    regions: Iterator[Region] = iter(())  # after that of `block`
    match root:
        case Operation():
            op = root
        case Block():
            op = root.last_op if reverse else root.first_op
        case Region():
            regions = iter((root,))
    while True:
        while op is not None:
            after = None if op is root else op.prev_op if reverse else op.next_op
            if op.regions and (enters is None or enters(op)):
                if not region_first:
                    yield op
                entered.append((op, after, block, regions))
                after, block = None, None
                regions = reversed(op.regions) if reverse else iter(op.regions)
            else:
                yield op
            op = after
        if block is not None:
            op = block.last_op if reverse else block.first_op
            block = block.prev_block if reverse else block.next_block
        elif (region := next(regions, None)) is not None:
            block = region.last_block if reverse else region.first_block
        elif entered:
            holder, op, block, regions = entered.pop()
            if region_first:
                yield holder
        else:
            return


def ops_of(ops: Iterable[Operation], *kinds: type[_Op]) -> list[_Op]:
    """Return those of `ops` that are of one of `kinds`; each class is tested once."""
    tested: dict[type[Operation], bool] = {}
    result: list[_Op] = []
    for op in ops:
        kind = type(op)
        is_wanted = tested.get(kind)
        if is_wanted is None:
            is_wanted = tested[kind] = issubclass(kind, kinds)
        if is_wanted:
            result.append(cast(_Op, op))
    return result


def values_from_above(
    root: Operation, holds: Callable[[Operation], bool]
) -> dict[Operation, list[SSAValue]]:
    """
    The values from above that the regions of each op that `holds` use, in order of their first use.

    Linear in ops, operands and values found: when an op has a value already, so have the ops that
    enclose it. `root` itself may be among the ops.
    """
    values_by_op: dict[Operation, dict[SSAValue, None]] = {}
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
                if operand in values_by_op[holder]:
                    break
                values_by_op[holder][operand] = None
        depths.update((result, len(around)) for result in op.results)
        if holds(op):
            values_by_op[op] = {}
            around.append(op)
            pending.append(None)
        for block in reversed([block for region in op.regions for block in region.blocks]):
            depths.update((argument, len(around)) for argument in block.args)
            pending.extend(reversed(block.ops))
    return {op: list(values) for op, values in values_by_op.items()}
