"""
The rows of each value of a chain that are computed, and those that are live, in each stripe.

Rows that two stripes need, a halo, are computed again, or carried: they stay live from one stripe
to the next, and each row is computed once. Where values are carried a chain runs ahead: in the
first stripes only its early steps compute rows, as the first stripe would otherwise have the halos
of the whole chain at once. A stripe may be a part of a row of the result; early steps, which have
more rows, then run more often than late ones. Rows that nothing reads are not computed.

What a step computes depends on later steps alone. So the steps of a chain are added from its last
one on, and what the chain costs is known after each: all chains with one end are read at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..buffers import Ints
from .network import Floats, Network, Step, filled

FAR = 2**40
LATE = 2
"""A ring has more times the rows that a step reads at once."""


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

    @property
    def most(self) -> int:
        """The most rows that are live at once."""
        return int((self.stop - self.keep).max())


class Read(NamedTuple):
    """The rows of a value that a step reads in each stripe; where it does not run, none."""

    start: Ints
    rows: Ints


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
    most: int
    """The peak if all slices are copied."""


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
    early: int = 0
    """
    The steps before this one run for all parts of a row before the others do.

    So what these hold of some parts of a row is not live at the same time.
    """
    is_loop: bool = False
    """
    All stripes are turns of one loop, from above the first row to below the last one.

    Rows that a value does not have are computed in vain, in turns in which it has others.
    """

    @property
    def parts(self) -> int:
        """The parts of a row for which early steps run before the others."""
        return self.height.denominator if self.early > self.first else 1

    def is_lower(self, other: Chain) -> bool:
        """Test whether this has the steps of another chain, in stripes that are not higher."""
        same = replace(self, height=other.height, joined=other.joined, early=other.early) == other
        return same and self.height <= other.height


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


def times_of(net: Network, chain: Chain) -> Ints:
    """Return how many heights of the result are computed after each stripe; joined ones, too."""
    count, parts = ceil(net.steps[chain.last].rows / chain.height), chain.parts
    ahead = lead(net, chain) if chain.carried else 0
    times = np.arange(count - -(-(count + ahead) // parts) * parts, count)
    waits = np.repeat(times[::parts, None], parts - 1, 1)
    return np.hstack((waits, times.reshape(-1, parts) + 1)).flatten()


@dataclass
class Striped:
    """The rows of the values of a chain, and the bytes that are live, in each stripe."""

    net: Network
    chain: Chain
    first: int
    """The first step that was added."""
    loads: Ints
    """The bytes of inner values that are live in each step, from `chain.first` on, and stripe."""
    sliced: Ints
    """Those of slices besides, which are copied if they cannot be where they are needed."""
    due: dict[int, Floats]
    """Of each value up to which row a stripe needs it, also between rows and before the first."""
    alike: dict[int, NDArray[np.bool_]]
    """Of each period, which stripes from 0 on are like those one and two periods later."""
    rows: dict[int, Rows] = field(default_factory=dict[int, Rows])
    rings: set[int] = field(default_factory=set[int])
    """
    The carried values whose rows stay in a ring, into which new rows are copied.

    They are those of which many more rows stay than a step reads at once, such as skips: it reads a
    copy of those that are not new. Other halos are copied to the front of new rows.
    """
    reads: dict[tuple[int, int], Read] = field(default_factory=dict[tuple[int, int], Read])
    """The rows that steps read of values."""
    outer: dict[int, Ints] = field(default_factory=dict[int, Ints])
    """The bytes that a step reads of values from outside, which a loop copies."""
    before: Ints | int = 0
    """The bytes that are carried into a stripe."""
    runs: Ints = field(default_factory=lambda: np.zeros(1, np.int64))
    """The number of steps that run in a stripe."""
    taken: set[int] = field(default_factory=set[int])
    """The steps that write over an operand."""
    work: int = 0
    weights: int = 0
    copied: int = 0

    def add(self) -> None:
        """Add the step before the first one."""
        at = self.first = self.first - 1
        step, value = self.net.steps[at], self.net.steps[at].writes
        is_last = at == self.chain.last
        own = self.rows_of_result() if is_last else self.rows_of(step, self.users(value))
        new, runs = own.stop - own.start, own.stop > own.start
        self.work += step.work * int(new.sum()) // step.rows
        self.weights += step.weights * int(runs.sum())
        self.runs = self.runs + runs
        self.loads[at - self.chain.first] += self.before + np.where(runs, step.scratch, 0)
        places, sizes = [own.start, own.later], [new, own.stop - own.keep, own.stop - own.later]
        if is_last:
            self.rows[value] = own
        else:
            self.hold(at, value, own)
            held = [self.reads[user, value] for user in self.users(value)]
            sizes += [np.where(read.rows > 0, read.start - own.keep, 0) for read in held]
        for v, reach in step.reads.items():
            first = reach.first[np.minimum(own.start, step.rows - 1)]
            read = Read(first, np.where(runs, reach.end[own.stop] - first, 0))
            self.reads[at, v] = read
            places.append(np.where(runs, first, own.start))
            sizes.append(read.rows)
            self.load_slice(at, v)
        self.compare(np.array(places), np.array(sizes))

    def users(self, value: int) -> Sequence[int]:
        return [user for user in self.net.values[value].users if user <= self.chain.last]

    def rows_of_result(self) -> Rows:
        """Return the rows of the result of the chain."""
        step = self.net.steps[self.chain.last]
        stop = step.floor(np.maximum(0, self.due[step.writes] + 1e-9))
        return Rows(np.concatenate(([0], stop[:-1])), stop, stop, stop)

    def due_in(self, user: int) -> Floats:
        """Return up to which row each stripe needs the result of a step; of late ones, early."""
        due, parts = self.due[self.net.steps[user].writes], self.chain.parts
        is_early = self.first < self.chain.early <= user
        return np.append(due[parts - 1 :], due[-1:].repeat(parts - 1)) if is_early else due

    def rows_of(self, step: Step, users: Sequence[int]) -> Rows:
        """Return the rows of the result of a step that `users` need."""
        v, steps = step.writes, self.net.steps
        reads = [self.reads[user, v] for user in users]
        low = np.min([np.where(read.rows > 0, read.start, FAR) for read in reads], 0)
        high = np.max([np.where(read.rows > 0, read.start + read.rows, 0) for read in reads], 0)
        wanted = np.max([steps[u].reads[v].due(self.due_in(u)) for u in users], 0)
        self.due[v] = due = np.minimum(wanted, step.rows)
        if v not in self.chain.carried:
            keep, stop = step.floor(np.minimum(low, high)), step.ceil(high)
            return Rows(keep, stop, keep, stop)
        stop = np.maximum(step.floor(np.maximum(due + 1e-9, 0)), step.ceil(high))
        stop = np.maximum.accumulate(stop)
        first = np.minimum.accumulate(low[::-1])[::-1]
        later = np.minimum(np.concatenate((first[1:], stop[-1:])), stop)
        start = np.maximum(np.concatenate(([0], stop[:-1])), step.floor(first))
        start = np.minimum(start, stop)
        return Rows(start, stop, np.minimum(first, start), later)

    def compare(self, places: Ints, sizes: Ints) -> None:
        """Note which stripes are alike: they have equal sizes, at places that move evenly."""
        for period, alike in self.alike.items():
            moved = places[:, period:] - places[:, :-period]
            equal = (sizes[:, period:] == sizes[:, :-period]).all(0)
            alike &= (moved[:, period:] == moved[:, :-period]).all(0)
            alike &= equal[period:] & equal[:-period]

    def load_slice(self, at: int, v: int, sign: int = 1) -> None:
        """Add the bytes of slices, and of joined parts, that a step reads of a value."""
        net, (first, count), of = self.net, self.reads[at, v], self.rows.get(v)
        is_part = count != (net.values[v].rows if of is None else of.stop - of.keep)
        is_copy = is_part & (net.is_copied(v) or of is None)
        if of is not None and v in self.rings:
            is_copy = ~self.is_new(first, count, of)
            is_copy |= net.is_copied(v) & (count != of.stop - of.start)
        size = net.values[v].row_bytes
        if v in net.steps[at].copied or v in self.rings:
            copied = np.where(is_copy, count, 0) * size
            self.loads[at - self.chain.first] += sign * filled(copied)
            self.copied += sign * int(copied.sum())
            views = np.where(is_part & ~is_copy, count, 0) * size
            self.sliced[at - self.chain.first] += sign * filled(views)
        elif of is None:
            outer = np.where(count < net.values[v].rows, count, 0) * size
            self.outer[at] = self.outer.get(at, 0) + sign * filled(outer)

    def hold(self, at: int, v: int, own: Rows) -> None:
        """Add the bytes of a value that steps added before read."""
        net, users, size = self.net, self.users(v), self.net.values[v].row_bytes
        new, kept = own.stop - own.start, own.stop - own.later
        for user in users:
            self.load_slice(user, v, -1)
        most = max(int(self.reads[user, v].rows.max()) for user in users)
        if v in self.chain.carried and int(kept.max()) > LATE * most:
            self.rings.add(v)
        self.rows[v] = own
        for user in users:
            self.load_slice(user, v)
        made, died = at - self.chain.first, max(users) - self.chain.first
        if v in self.rings:
            before = kept = np.where(own.keep < own.stop, own.most, 0)
            fresh = [u for u in users if self.is_new(*self.reads[u, v][:2], own).any()]
            self.loads[made : max([at, *fresh]) - self.chain.first + 1] += filled(new * size)
            self.loads[made : died + 1] += filled(kept * size)
            self.copied += int(new.sum()) * size
        else:
            before = own.before
            self.loads[made : died + 1] += filled((own.stop - own.keep) * size)
            joined = (before > 0) & (new > 0)
            # a halo is in front of new rows before these are live, unless the whole is a copy
            moving = before + new if net.is_copied(v) else np.maximum(before - new, 0)
            self.loads[made] += filled(np.where(joined, moving, 0) * size)
            self.loads[died] += filled(np.where(own.later > own.keep, kept, 0) * size)
            copied = before + new if net.is_copied(v) else before
            self.copied += int(np.where(joined, copied, 0).sum() + kept.sum()) * size
        self.before = self.before + filled(before * size)
        self.loads[died + 1 :] += filled(kept * size)
        if v not in self.chain.carried:
            self.take_over(v, max(users))

    @staticmethod
    def is_new(first: Ints, count: Ints, of: Rows) -> NDArray[np.bool_]:
        """Test in which stripes rows that are read are computed in the same one."""
        return (of.start <= first) & (first + count <= of.stop)

    def ring(self, v: int, turns: Turns | None) -> int:
        """Return the rows of the ring of a value: in a loop, a multiple of those of a turn."""
        of = self.rows[v]
        moved = int(of.start[turns.first + turns.period] - of.start[turns.first]) if turns else 1
        return -(-of.most // moved) * moved if moved else of.most

    def take_over(self, v: int, user: int) -> None:
        """Let the last user of a value write over it, if it may."""
        step, size = self.net.steps[user], self.net.values[v].row_bytes
        of = self.net.values[step.writes]
        is_free = user < self.chain.last and user not in self.taken and v in step.over
        if is_free and of.row_bytes == size and self.net.values[v].rows == step.rows:
            mine, own = self.rows[v], self.rows[step.writes]
            same = (mine.start == own.start) & (mine.stop == own.stop)
            self.loads[user - self.chain.first] -= filled(
                np.where(same, own.stop - own.start, 0) * size
            )
            self.taken.add(user)

    def turns(self) -> Turns | None:
        """
        Return the most stripes that are alike, up to the rows from which on they compute and read.

        None if there are few.
        """
        best: Turns | None = None
        for period, same in self.alike.items():
            ends = np.concatenate(([-1], np.flatnonzero(~same), [len(same)]))
            longest = int(np.diff(ends).argmax())
            first, count = int(ends[longest]) + 1, int(ends[longest + 1] - ends[longest]) - 1
            turns = Turns(first, period, count // period + 2)
            if count >= period and (best is None or turns.saved > best.saved):
                best = turns
        return best

    @property
    def live(self) -> int:
        """The most bytes of inner values that are live at once; steps before need no fewer."""
        return int(self.loads[self.first - self.chain.first :].max())

    @property
    def is_late(self) -> bool:
        """Test whether the most bytes are live in one of the last two stripes."""
        loads = self.loads[self.first - self.chain.first :].max(0)
        return int(loads.argmax()) >= len(loads) - 2

    def cost(self) -> Cost:
        """Return what the steps that were added cost."""
        net, chain, turns = self.net, self.chain, self.turns()
        last, loads = net.steps[chain.last], self.loads[self.first - chain.first :]
        end, result = self.rows[last.writes], net.values[last.writes]
        peak, copied, written = int(loads.max()), self.copied, np.ones(loads.shape[1], bool)
        wider = self.wider(turns)
        if turns is not None:
            written[turns.first + turns.period : turns.last + 1] = False
            copied += 0 if last.reduces else result.bytes
            for at, outer in self.outer.items():
                copied += int(outer[turns.first : turns.last + 1].sum())
                peak = max(peak, int((loads[at - self.first] + outer).max()))
            of_end = loads[-1] + self.outer.get(chain.last, 0)
            peak = max(peak, int((of_end + (end.stop - end.start) * result.row_bytes).max()))
        elif net.is_copied(last.writes) and not last.reduces:
            unborn = 0 if result.is_returned else result.rows  # then its parts are live besides it
            peak = int((loads.max(0) + (end.stop - unborn) * result.row_bytes).max())
            peak = max(peak, result.bytes - net.dying(self.first, chain.last))
            copied += result.bytes
        most = max(peak, int((loads + self.sliced[self.first - chain.first :]).max())) + wider
        ops = int(self.runs[written].sum())
        return Cost(peak + wider, self.work, self.weights, copied, ops, most)

    def wider(self, turns: Turns | None) -> int:
        """Return how many bytes rings have besides their rows."""
        return sum(
            (self.ring(v, turns) - self.rows[v].most) * self.net.values[v].row_bytes
            for v in self.rings
        )


def striped(net: Network, chain: Chain) -> Iterator[Striped]:
    """Yield the rows of two and more steps before the end of a chain, and at last of all."""
    last, times = net.steps[chain.last], times_of(net, chain)
    times = np.delete(times, [at for at in chain.joined if at < len(times) - 1])
    count, periods = len(times), PERIODS if chain.parts == 1 else (2 * chain.parts - 1,)
    none = np.zeros((chain.last - chain.first + 1, count), np.int64)
    this = Striped(
        net,
        chain,
        chain.last + 1,
        none,
        none.copy(),
        {last.writes: np.minimum(times * float(chain.height), last.rows)},
        {p: np.ones(count - 2 * p, bool) for p in periods if count >= 3 * p},
    )
    this.add()
    while this.first > chain.first:
        this.add()
        yield this


def mixes(net: Network, first: int, last: int, parts: int = 6) -> list[frozenset[int]]:
    """Return which values may be carried: all, and those that are dear to compute again."""
    steps = sorted(
        net.steps[first:last], key=lambda step: step.work / max(1, net.values[step.writes].bytes)
    )
    order = [step.writes for step in steps]
    cuts: AbstractSet[int] = {len(order) * i // parts for i in range(parts + 1)}
    return [frozenset(order[cut:]) for cut in sorted(cuts)]
