"""Walks that stop at kernels, and of blocks in blocks; the only block of a function."""

from collections.abc import Iterator
from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, Region

from ...dialects import relay
from ...dialects.xdsl_extras.walking import walk
from .diagnostics import PassError


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


def only_block(function: Operation) -> Block:
    """Return the only block of `function`; an error if it has none or several."""
    blocks = [block for region in function.regions for block in region.blocks]
    name = function.properties.get("sym_name")
    shown = f"@{name.data}" if isinstance(name, StringAttr) else function.name
    if not blocks:
        raise PassError(f"{shown} has no body", function)
    if len(blocks) > 1:
        raise PassError(
            f"{shown} must be one block, but has {len(blocks)}: branch with relay.if, and loop "
            "with calls",
            function,
        )
    return blocks[0]
