"""Walks over the ops that are not yet, or no longer, inside a kernel."""

from collections.abc import Iterator

from xdsl.ir import Block, Operation, Region

from ...dialects import relay
from ...dialects.walking import walk


def outside_primitives(
    root: Operation | Region | Block, *, region_first: bool = False
) -> Iterator[Operation]:
    """
    The ops in `root` in program order, `relay.primitive` ops included but not entered.

    An op comes before those in its regions, or after them with `region_first`.
    """
    return walk(root, region_first=region_first, enters=_is_not_primitive)


def _is_not_primitive(op: Operation) -> bool:
    return not isinstance(op, relay.PrimitiveOp)
