"""
Chains of which all stripes are turns of one loop, from above the first row to below the last one.

A turn computes as many rows as one of those that are alike. Those that a value does not have are
computed in vain, in turns in which it has others; in turns without any, a step does not run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...operators.intervals import Interval
from .striped import Cost, Striped, Turns


class Loop(NamedTuple):
    """The turns of a chain that is one loop."""

    early: int
    """The number of turns before the first of those that are alike."""
    turns: int
    start: int
    """The first row of the result in the first turn."""
    step: int
    """The number of rows by which a turn moves it."""
    runs: Mapping[tuple[int, int], Interval]
    """Of each step and stripe of a turn, the turns in which there is a row to compute."""


def loop_of(this: Striped, turns: Turns | None) -> Loop | None:
    """
    Return the turns of a loop, each of which is like those of `turns`.

    None if there are none, or if these do not have new rows of each step.
    """
    if turns is None:
        return None
    runs, early, start, step, rows = dict[tuple[int, int], Interval](), 0, 0, 1, 0
    for at in range(this.first, this.chain.last + 1):
        of, rows = this.rows[this.net.steps[at].writes], this.net.steps[at].rows
        stripes = range(turns.first, turns.first + turns.period)
        new = [stripe for stripe in stripes if of.start[stripe] < of.stop[stripe]]
        steps = [int(of.start[stripe + turns.period] - of.start[stripe]) for stripe in new]
        if not all(steps) or not new:
            return None
        for stripe, step in zip(new, steps, strict=True):
            first, last = -int(of.stop[stripe]) // step + 1, (int(of.start[stripe]) - rows) // step
            runs[at, stripe] = Interval(first, -last)
        start, step = int(of.start[new[0]]), steps[0]
        # what its first rows in a turn need is computed in the same one, or carried
        early = max(early, -(-start // step))
    count = early - (start - rows) // step
    inside = {
        key: Interval(max(0, span.start + early), min(count, span.stop + early))
        for key, span in runs.items()
    }
    return Loop(early, count, start - early * step, step, inside)


def cost_of_loop(this: Striped, turns: Turns, loop: Loop) -> Cost:
    """Return what the steps that were added cost as one loop."""
    net, work, weights = this.net, 0, 0
    for (at, stripe), span in loop.runs.items():
        step = net.steps[at]
        of = this.rows[step.writes]
        work += step.work * int(of.stop[stripe] - of.start[stripe]) * span.size // step.rows
        weights += step.weights * span.size
    turn = slice(turns.first, turns.first + turns.period)
    loads, last = this.loads[this.first - this.chain.first :, turn], net.steps[this.chain.last]
    sliced, read = loads + this.sliced[this.first - this.chain.first :, turn], loads.copy()
    for at, outer in this.outer.items():
        read[at - this.first] += outer[turn]
    end, result = this.rows[last.writes], net.values[last.writes]
    of_end = read[-1] + ((end.stop - end.start) * result.row_bytes)[turn]
    peak, wider = int(max(read.max(), of_end.max())), this.wider(turns)
    copied = this.copied + sum(int(outer.sum()) for outer in this.outer.values())
    copied += 0 if last.reduces else result.bytes
    most = max(peak, int(sliced.max()))
    return Cost(peak + wider, work, weights, copied, len(loop.runs), most + wider)
