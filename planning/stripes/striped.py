"""
The rows of each value of a chain that are computed, and those that are live, in each stripe.

Rows that two stripes need, a halo, are computed again, or carried: they stay live from one stripe
to the next, and each row is computed once. Where values are carried a chain runs ahead: in the
first stripes only its early steps compute rows, as the first stripe would otherwise have the halos
of the whole chain at once. A stripe may be a part of a row of the result; early steps, which have
more rows, then run more often than late ones. Rows that nothing reads are not computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..buffers import Ints
from .network import Network

FAR = 2**40


class Rows(NamedTuple):
    """The rows of a value in each stripe."""

    start: Ints
    stop: Ints
    """`start` to `stop` are computed."""
    keep: Ints
    """The first row that is live once they are."""
    later: Ints
    """The first row that is live in the next stripe; `stop` if none is."""

    @property
    def before(self) -> Ints:
        """The rows that are carried into a stripe."""
        old = np.concatenate(([0], self.stop[:-1]))
        first = np.concatenate(([0], self.later[:-1]))
        return np.maximum(0, old - np.maximum(first, self.keep))

    def part(self, row: Ints) -> Ints:
        """Return the first row that was computed together with `row`; `row` where none was."""
        starts, stops = self._parts
        at = np.searchsorted(starts, row, "right") - 1
        return np.where((at >= 0) & (row < stops[at]), starts[at], row)

    def is_part(self, start: Ints, stop: Ints) -> NDArray[np.bool_]:
        """Test whether `start` to `stop` are all rows that were computed together."""
        starts, stops = self._parts
        at = np.searchsorted(starts, start, "right") - 1
        return (at >= 0) & (starts[at] == start) & (stops[at] == stop)

    @property
    def _parts(self) -> tuple[Ints, Ints]:
        computed = self.stop > self.start
        return self.start[computed], self.stop[computed]


class Cost(NamedTuple):
    """The most live bytes of a chain's inner values, the work, and bytes that are moved."""

    peak: int
    work: int
    weights: int
    """The bytes of values that are read as a whole, in each stripe again."""
    copied: int
    """The bytes of halos, and of slices and concatenations of rows, that are copied."""
    ops: int
    """The calls of kernels in the program, those in a loop once."""


@dataclass(frozen=True)
class Chain:
    """The steps `first` to `last`, in stripes of `height` rows of the last one."""

    first: int
    last: int
    height: Fraction
    carried: frozenset[int] = frozenset()
    """The values whose halos are carried."""
    joined: frozenset[int] = frozenset()
    """The stripes, from 0 on, that are computed together with the next one."""


def lead(net: Network, chain: Chain) -> int:
    """Return how many stripes a chain runs ahead of the first row of its result."""
    due, stripes = {net.steps[chain.last].writes: np.zeros(1)}, 0
    for at in range(chain.last - 1, chain.first - 1, -1):
        v = net.steps[at].writes
        users = (net.steps[user] for user in net.values[v].users if user <= chain.last)
        due[v] = np.max([user.reads[v].due(due[user.writes]) for user in users], axis=0)
        rows = net.values[v].rows
        share = net.steps[chain.last].rows / rows / float(chain.height)
        stripes = max(stripes, ceil(min(float(due[v][0]), rows) * share))
    return stripes


def striped(net: Network, chain: Chain) -> dict[int, Rows]:
    """Return the rows of each value that a chain computes, by stripes."""
    last = net.steps[chain.last]
    ahead = lead(net, chain) if chain.carried else 0
    times = np.arange(-ahead, ceil(last.rows / chain.height)) + 1
    times = np.delete(times, [at for at in chain.joined if at < len(times) - 1])
    none = np.zeros(1, np.int64)
    due = {last.writes: np.minimum(times * float(chain.height), last.rows)}
    stop = last.floor(np.maximum(0, due[last.writes] + 1e-9))
    rows = {last.writes: Rows(np.concatenate((none, stop[:-1])), stop, stop, stop)}
    for at in range(chain.last - 1, chain.first - 1, -1):
        step, v = net.steps[at], net.steps[at].writes
        low, high = np.full(len(times), FAR), np.zeros(len(times), np.int64)
        wanted = np.full(len(times), -np.inf)
        for user in (net.steps[user] for user in net.values[v].users if user <= chain.last):
            reach, (start, stop, *_) = user.reads[v], rows[user.writes]
            runs = stop > start
            low = np.minimum(low, np.where(runs, reach.first[np.where(runs, start, 0)], FAR))
            high = np.maximum(high, np.where(runs, reach.end[stop], 0))
            wanted = np.maximum(wanted, reach.due(due[user.writes]))
        due[v] = np.minimum(wanted, step.rows)
        if v in chain.carried:
            stop = np.maximum(step.floor(np.maximum(due[v] + 1e-9, 0)), step.ceil(high))
            stop = np.maximum.accumulate(stop)
            first = np.minimum.accumulate(low[::-1])[::-1]
            later = np.minimum(np.concatenate((first[1:], stop[-1:])), stop)
            start = np.maximum(np.concatenate((none, stop[:-1])), step.floor(first))
            start = np.minimum(start, stop)
            rows[v] = Rows(start, stop, np.minimum(first, start), later)
        else:
            keep, stop = step.floor(np.minimum(low, high)), step.ceil(high)
            rows[v] = Rows(keep, stop, keep, stop)
    return rows


def reads(net: Network, rows: Mapping[int, Rows], at: int, v: int) -> tuple[Ints, Ints]:
    """Return the first row of a value that a step reads in each stripe, and how many it reads."""
    step = net.steps[at]
    own, reach = rows[step.writes], step.reads[v]
    first = reach.first[np.minimum(own.start, step.rows - 1)]
    return first, np.where(own.stop > own.start, reach.end[own.stop] - first, 0)


class Turns(NamedTuple):
    """Stripes that are alike: `turns` times `period` of them, from `first` on."""

    first: int
    period: int
    turns: int

    @property
    def last(self) -> int:
        return self.first + self.period * self.turns - 1

    @property
    def saved(self) -> int:
        """The number of stripes that a loop saves."""
        return self.period * (self.turns - 1)


PERIODS = (1, 2, 4, 8, 16)
"""The numbers of stripes after which they may be alike: those of parts of a row."""


def turns_of(net: Network, chain: Chain, rows: Mapping[int, Rows]) -> Turns | None:
    """
    Return the most stripes that are alike, up to the rows from which on they compute and read.

    None if there are few. Those of rows in parts differ: they are not in the same tensors.
    """
    places, sizes = list[Ints](), list[Ints]()
    for at in range(chain.first, chain.last + 1):
        of = rows[net.steps[at].writes]
        new = of.stop - of.start
        places += (of.start, of.later)
        sizes += (new, of.stop - of.keep, of.stop - of.later)
        for v in net.steps[at].reads:
            first, count = reads(net, rows, at, v)
            places.append(np.where(new > 0, first, of.start))
            sizes.append(count)
    every, fixed = np.array(places), np.array(sizes)
    best: Turns | None = None
    for period in PERIODS:
        if every.shape[1] < 3 * period:
            break
        moved = every[:, period:] - every[:, :-period]
        same = (moved[:, period:] == moved[:, :-period]).all(0)
        equal = (fixed[:, period:] == fixed[:, :-period]).all(0)
        same &= equal[period:] & equal[:-period]
        first = 0
        for at in (*np.flatnonzero(~same).tolist(), len(same)):
            turns = Turns(first, period, (at - first) // period + 2)
            if at - first >= period and (best is None or turns.saved > best.saved):
                best = turns
            first = at + 1
    return best


def in_parts(net: Network, chain: Chain, rows: Mapping[int, Rows]) -> frozenset[int]:
    """
    Return the carried values whose rows stay in the tensors that they were computed in.

    They are those of which more rows stay than a step reads at once: a step joins what it reads.
    Other halos are copied to the front of new rows.
    """
    parts: set[int] = set()
    for v in chain.carried:
        users = (user for user in net.values[v].users if user <= chain.last)
        most = max(int(reads(net, rows, user, v)[1].max()) for user in users)
        if int((rows[v].stop - rows[v].later).max()) > most:
            parts.add(v)
    return frozenset(parts)


def cost(net: Network, chain: Chain, rows: dict[int, Rows]) -> Cost:
    """Return what a chain costs whose values have these `rows` in each stripe."""
    first, last = chain.first, chain.last
    count = len(rows[net.steps[last].writes].stop)
    loads = np.zeros((last - first + 1, count), np.int64)
    work = weights = moved = ops = 0
    parts = in_parts(net, chain, rows)
    turns = None if parts else turns_of(net, chain, rows)
    written = np.ones(count, bool)
    if turns is not None:
        written[turns.first + turns.period : turns.last + 1] = False
    for at in range(first, last + 1):
        step, of = net.steps[at], rows[net.steps[at].writes]
        new = of.stop - of.start
        work += step.work * int(new.sum()) // step.rows
        weights += step.weights * int((new > 0).sum())
        ops += int((written & (new > 0)).sum())
        sliced = _sliced(net, rows, at, parts)
        loads[at - first] += sliced
        moved += int(sliced.sum())
        if at == last:
            continue
        size, own = net.values[step.writes].row_bytes, at - first
        died = net.last_user(step.writes, last) - first
        if step.writes in parts:
            after = of.stop - of.part(of.later)
            before = np.concatenate(([0], after[:-1]))
            loads[own : died + 1] += (before + new) * size
        else:
            before, after = of.before, of.stop - of.later
            loads[own : died + 1] += (of.stop - of.keep) * size
            joined = (before > 0) & (new > 0)
            loads[own] += np.where(joined, before + (new if net.copies else 0), 0) * size
            loads[died] += np.where(of.later > of.keep, after, 0) * size
            moved += int(np.where(joined, before, 0).sum() + after.sum()) * size
        loads[:own] += before * size
        loads[died + 1 :] += after * size
    for at in range(first, last):
        loads[at - first] -= _taken_over(net, chain, rows, at)
    peak = int(loads.max())
    if turns is not None:
        for at in range(first, last + 1):
            for v in net.steps[at].reads.keys() - rows.keys() - net.steps[at].copied:
                read = reads(net, rows, at, v)[1]
                loads[at - first] += np.where(read < net.values[v].rows, read, 0) * (
                    net.values[v].row_bytes
                )
        end = rows[net.steps[last].writes]
        loads[-1] += (end.stop - end.start) * net.values[net.steps[last].writes].row_bytes
        peak = int(loads.max())
    elif net.copies and not net.steps[last].reduces:
        result = net.values[net.steps[last].writes]
        unborn = 0 if result.is_returned else result.rows  # then its parts are live besides it
        loads += (rows[net.steps[last].writes].stop - unborn) * result.row_bytes
        peak = max(int(loads.max()), result.bytes - net.dying(first, last))
        moved += result.bytes
    return Cost(peak, work, weights, moved, ops)


def _sliced(net: Network, rows: Mapping[int, Rows], at: int, parts: AbstractSet[int]) -> Ints:
    """Return the bytes of slices, and of joined parts, that a step of a chain reads."""
    step = net.steps[at]
    held = np.zeros(len(rows[step.writes].stop), np.int64)
    for v in step.copied:
        first, count = reads(net, rows, at, v)
        of = rows.get(v)
        if of is not None and v in parts:
            start, stop = of.part(first), of.part(first + np.maximum(count - 1, 0))
            is_copy = (start != stop) | (net.copies & ~of.is_part(first, first + count))
        else:
            is_all = count == (net.values[v].rows if of is None else of.stop - of.keep)
            is_copy = ~is_all & net.copies
        held += np.where(is_copy, count, 0) * net.values[v].row_bytes
    return held


def _taken_over(net: Network, chain: Chain, rows: dict[int, Rows], at: int) -> Ints | int:
    """Return the bytes that the result of a step of a chain takes over from an operand."""
    step, own = net.steps[at], rows[net.steps[at].writes]
    size = net.values[step.writes].row_bytes
    for v in step.over & rows.keys():
        of = rows[v]
        is_last = net.last_user(v, chain.last) == at and net.values[v].row_bytes == size
        if v not in chain.carried and is_last and net.values[v].rows == step.rows:
            same = (of.start == own.start) & (of.stop == own.stop)
            return np.where(same, own.stop - own.start, 0) * size
    return 0


def mixes(net: Network, first: int, last: int, parts: int = 6) -> list[frozenset[int]]:
    """Return which values may be carried: all, and those that are dear to compute again."""
    steps = sorted(
        net.steps[first:last], key=lambda step: step.work / max(1, net.values[step.writes].bytes)
    )
    order = [step.writes for step in steps]
    cuts: AbstractSet[int] = {len(order) * i // parts for i in range(parts + 1)}
    return [frozenset(order[cut:]) for cut in sorted(cuts)]
