"""Walks that stop at kernels."""

from collections.abc import Iterator

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
