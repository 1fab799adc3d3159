"""
Turns of a loop: how many there are, and those in which an op is needed.

    %y = relay.nn.relu %x {relay.turns = array<i64: 1, 4>}       needed in turns 1, 2 and 3

In other turns, of which the first is 0, the result is unspecified, and the op need not run. Running
it always is right: analyses of bytes read it as if it did, and a pass may drop the attribute.
Operators have it as a discardable attribute, calls of kernels as a property, `turns`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import I64, DenseArrayBase, i64
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from .integers import i64_array, integers_of
from .interfaces import EndsLoop, StartsLoop

TURNS = "relay.turns"
"""The attribute of an operator that is not needed in all turns."""


def loop_around(op: Operation) -> Operation | None:
    """Return the op that starts the loop in which `op` is, if it is in one."""
    at = op.prev_op
    while at is not None and not at.has_trait(EndsLoop):
        if at.has_trait(StartsLoop):
            return at
        at = at.prev_op
    return None


def turns_around(op: Operation) -> int | None:
    """Return how many times `op` is repeated, None if that is open; once if it is in no loop."""
    loop = loop_around(op)
    return 1 if loop is None else StartsLoop.turns(loop)


def verify_turns(op: Operation, turns: Attribute | None) -> None:
    """Check that the turns in which `op` is needed are some of those of its loop."""
    if turns is None:
        return
    loop = loop_around(op)
    if loop is None:
        raise VerifyException("has turns, but is not in a loop")
    (first, stop), count = span_of(turns) or (0, 0), StartsLoop.turns(loop)
    if not 0 <= first < stop or (count is not None and stop > count):
        bounds = "0 <= first < stop" if count is None else f"0 <= first < stop <= {count}"
        raise VerifyException(f"turns must be [first, stop], {bounds}, but are {turns}")


def span_of(turns: Attribute | None) -> tuple[int, int] | None:
    """Return the first turn, and that after the last, if there are two numbers."""
    array = cast("DenseArrayBase[I64]", turns) if isinstance(turns, DenseArrayBase) else None
    numbers = integers_of(array) if array is not None and array.elt_type == i64 else ()
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None


def take_turns(ops: Sequence[Operation]) -> DenseArrayBase[I64] | None:
    """Take from operators of a loop the turns in which one of them is needed; None if in all."""
    spans = [span_of(op.attributes.pop(TURNS, None)) for op in ops]
    needed = [span for span in spans if span is not None]
    if len(needed) < len(spans):
        return None
    hull = min(first for first, _ in needed), max(stop for _, stop in needed)
    return None if hull == (0, turns_around(ops[-1])) else i64_array(hull)
