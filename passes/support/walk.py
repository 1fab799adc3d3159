"""Walks that stop at kernels, and walks of blocks in blocks."""

from collections.abc import Iterator
from typing import Any

from xdsl.ir import Block, Operation, Region

from ...dialects import relay
from ...dialects.xdsl_extras.walking import walk


def is_kernel(op: Operation) -> bool:
    """Test whether `op` holds a kernel: a primitive, its function, or its shape function."""
    return isinstance(op, relay.PrimitiveOp | relay.PrimFuncOp | relay.ShapeFuncOp)


def outside_primitives(
    root: Operation | Region | Block, *, region_first: bool = False
) -> Iterator[Operation]:
    """
    Yield the ops in `root` in program order; kernels are visited, but not entered.

    An op comes before those in its regions, or after them with `region_first`.
    """
    return walk(root, region_first=region_first, enters=_is_entered)


def _is_entered(op: Operation) -> bool:
    return not is_kernel(op)


def run_nested(walk: Iterator[Any]) -> None:
    """Run a generator that yields others, to be run first: nested blocks need no recursion."""
    pending = [walk]
    while pending:
        inner = next(pending[-1], None)
        if inner is None:
            pending.pop()
        else:
            pending.append(inner)
