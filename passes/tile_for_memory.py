"""
Compute chains of operators in stripes of rows, so that fewer bytes are live at once.

    %a = conv2d %x, %w  {carried}       %a1 = conv2d %x1, %w          new rows [17, 33)
    %y = conv2d %a, %v  {height 16}     %b1 = concatenate %k0, %a1    rows [15, 33)
                                  ->    %y1 = conv2d %b1, %v          rows [16, 32)
                                        %k1 = strided_slice %b1       the halo, rows [31, 33)
                                        …
                                        %y = concatenate %y0, %y1, …

`choose-tiling` says in attributes which ops are a chain, or a person does. Stripes follow each
other in the block: each step computes its new rows for all steps after it. Of a value whose halo is
carried the live rows are the halo, a copy that stays for the next stripe, and the new rows after
it. Where rows are contiguous, the halo is copied to their front before they are computed, so that
it is dead when they are live. Where many more rows stay than a step reads at once, such as those of
a skip, they stay in a ring, in which row r is row r modulo its rows: new rows are copied into it,
and a step reads a copy of those that are not new. Other steps compute the rows that a stripe needs,
again if another stripe has computed them.
Of a loop, a second copy of a halo is handed to the next turn: it may be in the bytes that are read.
Stripes that are alike are one, in a `relay.loop` that carries the halos, the rings and the result,
into which rows are written then.
Of an open height all stripes are in a loop, and of a chain that is a `loop`, if steps compute rows
at the borders as between: `tiling.loop_writer` has the picture.
Padding belongs to the borders of the whole. A mean at the end of a chain is added up as soon as
rows are there. What a chain reads from outside is sliced.

A program is as before whatever the attributes say, or they are an error. From level `relay` to the
same; before `fuse-ops`, which leaves halos and sums, marked `relay.unfused`, alone: a kernel that
they were part of would run later, and keep what they read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ..dialects.relay import pooling
from ..dialects.relay.creation import ShapeOfOp
from ..dialects.tensors import has_dynamic
from ..planning.stripes.striped import Chain, striped
from ..planning.stripes.whole_loop import loop_of
from .support.changes import LevelPass
from .support.diagnostics import PassError
from .support.rewriting import rewrite_each
from .tiling.borders import note_borders
from .tiling.loop_writer import LoopStripes, Sampled
from .tiling.open_steps import ROWS
from .tiling.step_network import Axes, read_network, sum_of_rows
from .tiling.stripe_attributes import STRIPES, Tiled, tiled_in
from .tiling.stripe_attributes import Stripes as StripesAttribute
from .tiling.stripe_writer import Stripes

Writer = TypeVar("Writer", bound=Stripes)


def stripes_of(tiled: Tiled, builder: Builder, kind: type[Writer] = Stripes) -> Writer:
    """Read a chain. Raises `PassError` if it is not one, or is not computed by rows."""
    axes, ops = Axes(), ops_of(tiled)
    end, last = tiled.stripes[-1], tiled.groups[-1][-1]
    assert end.axis is not None, "verified: the last step has an axis"
    assert end.height is not None, "verified: the last step has a height"
    if not isinstance(last, pooling.GlobalAvgPool2dOp):
        axes.of[last.results[0]] = end.axis
    outer = dict.fromkeys(v for op in ops for v in op.operands if v.owner not in ops)
    sum_of_rows(tiled.groups[-1], axes)
    axes.spread(ops)
    net, number = read_network(tiled.groups, axes, [v for v in outer if v in axes.of])
    for value, number_of in number.items():
        if any(use.operation not in ops for use in value.uses) and value not in outer:
            net.values[number_of].stop = len(net.steps)
    for group, step in zip(tiled.groups[:-1], net.steps, strict=False):
        if net.values[step.writes].stop == len(net.steps):
            raise PassError("a step of a chain must be used in the chain alone", group[-1])
        if step.reduces or not step.reads:
            raise PassError(
                f"a step that ends in {group[-1].name} is not computed by rows", group[-1]
            )
    if len(net.steps) < 2 or not net.is_chain(0, len(net.steps) - 1):
        raise PassError("these steps are not a chain that is computed by rows", last)
    carried = [
        step.writes
        for step, stripes in zip(net.steps[:-1], tiled.stripes, strict=False)
        if stripes.carried
    ]
    early = sum(stripes.early for stripes in tiled.stripes)
    if any(stripes.early for stripes in tiled.stripes[early:]):
        raise PassError("the early steps of a chain must be its first ones", last)
    last_step, inner = len(net.steps) - 1, frozenset(carried)
    chain = Chain(0, last_step, end.height, inner, end.joined, early, end.is_loop)
    *_, every = striped(net, chain)
    return kind(tiled, every, axes, number, builder)


def ops_of(tiled: Tiled) -> list[Operation]:
    """Return the ops of a chain, in order."""
    return [op for group in tiled.groups for op in group]


def is_open(ops: Iterable[Operation]) -> bool:
    """Test whether a chain of ops has an open number of rows."""
    return any(has_dynamic(op.results[0].type) for op in ops)


def is_loop(ops: Sequence[Operation]) -> bool:
    """Test whether a chain of ops is to be one loop."""
    end = StripesAttribute.of(ops[-1])
    return is_open(ops) or (end is not None and end.is_loop)


class TileForMemoryPass(LevelPass):
    name = "tile-for-memory"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, func.FuncOp):
                tilings = [tiled_in(block) for block in function.body.blocks]
                every = [ops_of(tiled) for of_block in tilings for tiled in of_block]
                whole = Sampled.of(function) if any(map(is_loop, every)) else None
                for of_block in tilings:
                    chains = {tiled.groups[-1][-1]: tiled for tiled in of_block}
                    rewrite_each([*chains], lambda op, rewriter: tile(chains[op], whole, rewriter))


def tile(tiled: Tiled, whole: Sampled | None, rewriter: PatternRewriter) -> None:
    """Replace the result of a chain by its stripes."""
    ops, result = ops_of(tiled), None
    builder, old = Builder(InsertPoint.before(ops[-1])), ops[-1].results[0]
    if whole is not None and is_loop(ops):
        result = write_loop(ops, whole, Builder(InsertPoint.after(ops[-1])))
    if result is None:
        result = stripes_of(tiled, builder).write()
    if whole is not None:
        whole.values[whole.value_of[old]] = result
    if is_open(ops):
        old.replace_uses_with_if(result, lambda use: not isinstance(use.operation, ShapeOfOp))
    else:
        rewriter.replace(ops.pop(), [], [result])
    for op in reversed(ops):
        if not any(use for use in op.results[0].uses):
            rewriter.erase(op)
        else:
            del op.attributes[STRIPES]


def write_loop(ops: Sequence[Operation], whole: Sampled, builder: Builder) -> SSAValue | None:
    """Write the stripes of a chain of ops as one loop; None if none are alike."""
    last = ops[-1]
    for rows in ROWS if is_open(ops) else [None]:
        values = whole.at(rows)
        end = next(v for v in values if values[v] is last.results[0]).owner
        assert isinstance(end, Operation), "as in the function"
        assert end.parent is not None, "as in the function"
        tiled = next(t for t in tiled_in(end.parent) if t.groups[-1][-1] is end)
        stripes = stripes_of(tiled, Builder(InsertPoint.before(end)), LoopStripes)
        note_borders(stripes.net, tiled.groups, stripes.axes)
        if any(step.apart for step in stripes.net.steps):
            break
        loop = loop_of(stripes.striped, stripes.turns)
        if loop is not None:
            return stripes.write_loop(loop, values, builder)
    if not is_open(ops):
        return None
    raise PassError(f"no stripes of {ROWS[-1]} rows are alike: choose fewer rows a stripe", last)
