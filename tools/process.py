"""
What a run changes in the Python process, and changes back.

The parser, the verifier of nested attributes and cloning recurse: 20,000 frames allow
about 1,500 nested regions. The collector looks for cycles after every 700 objects by
default, which is a fifth to a half of the time of anything that makes ops.
`--disable-verify` and `--syntax-highlight` set attributes of xDSL classes.

n nested regions take xDSL n² steps: its `walk` costs each op its depth, and two checks climb
from every op to the module. That no op is put into itself is checked in fewer steps here; that
ops use nothing from above an isolated op is checked by our verifier.
"""

import gc
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.diagnostic import Diagnostic

from ..dialects.walking import walk

RECURSION_LIMIT = 20_000
GC_THRESHOLDS = (100_000, 50, 100)


def holds(op: Operation, block: Block) -> bool:
    """
    Whether `block` is in `op`.

    Climbs from the block and descends from the op at once, until one of the ways ends.
    """
    holder = around = block.parent_op()
    for inner in walk(op):
        if around is None:
            return False
        if inner is holder or around is op:
            return True
        around = around.parent_op()
    return False


def attach(block: Block, op: Operation) -> None:
    """As `Block._attach_op`, which climbs to the module even for an op without regions."""
    if op.parent is not None:
        raise ValueError("Can't add to a block an operation already attached to a block.")
    if op.regions and holds(op, block):
        raise ValueError("Can't add an operation to a block contained in the operation.")
    op.parent = block


def isolated(trait: IsolatedFromAbove, op: Operation) -> None:
    """Instead of `IsolatedFromAbove.verify`: our verifier looks at every operand once."""


LINEAR: tuple[tuple[type, str, Callable[..., object]], ...] = (
    (Operation, "walk", walk),
    (Region, "walk", walk),
    (Block, "walk", walk),
    (Block, "_attach_op", attach),
    (IsolatedFromAbove, "verify", isolated),
)
"""Methods of xDSL, and functions that do the same in linear time."""

CHANGED = (
    (Attribute, "__post_init__"),
    (Diagnostic, "colored"),
    *(changed[:2] for changed in LINEAR),
)
"""What is changed in xDSL's classes."""


@contextmanager
def settings() -> Generator[None]:
    """Run with our limits, and leave the process as it was."""
    recursion = sys.getrecursionlimit()
    thresholds = gc.get_threshold()
    before = [(cls, name, getattr(cls, name)) for cls, name in CHANGED]
    sys.setrecursionlimit(max(recursion, RECURSION_LIMIT))
    gc.set_threshold(*GC_THRESHOLDS)
    for cls, name, linear in LINEAR:
        setattr(cls, name, linear)
    try:
        yield
    finally:
        sys.setrecursionlimit(recursion)
        gc.set_threshold(*thresholds)
        for cls, name, value in before:
            setattr(cls, name, value)
