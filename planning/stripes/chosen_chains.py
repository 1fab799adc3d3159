"""
The choice of chains, and of their stripes: a path of least cost over the steps of a program.

Its edges are steps, and chains in stripes of some height with some values carried; the peak of a
path is that of its worst edge. The least peak with no more than some work is found by bisection
over the peaks of the edges. Among the paths below a peak, the one of least work is taken; among
these, that which moves the fewest bytes of halos and weights, then that of the fewest ops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import ceil, inf, log
from typing import Literal, NamedTuple

from .network import Network
from .striped import Chain, Striped, mixes, striped, times_of
from .whole_loop import cost_of_loop, loop_of

Which = Literal["all", "lowest", "highest", "powers"]

PARTS = (16, 8, 4, 2)
"""The parts of a row that a stripe may be."""
MARGIN = 1.3
"""A factor of the limit: a chain that needs more with all halos carried is not tried otherwise."""
SLACK = 1.02
"""Without a limit, peaks up to so many times the least are equal: the cheapest is taken."""
SHORT = 3.0
"""The calls a step of a top, a loop and a bottom."""
LONG = 16
"""A chain of more calls a step is long, as its stripes are not alike."""
WIDE = 1.2
"""Without a limit, peaks up to so many times the least are taken if no chain is long then."""
LEAST = Fraction(1, 4)
"""The lowest stripes of which early steps run for all parts of a row first."""
VAIN = 0.02
"""
The work, of that of the whole, of rows beyond the borders of images that `work` does not count.

A chain that is one loop computes them, and has a third to an eighth of the calls.
"""
TRIES = 300_000
"""The steps that are added to chains in all; of each step that ends chains, an equal part."""
FEW = 1_000
"""The least of these parts."""
ENDS = 20
"""The stripes at both ends of a chain of which some are joined."""


class Edge(NamedTuple):
    """A chain and what it costs."""

    chain: Chain
    peak: int
    """The most bytes that are live meanwhile."""
    extra: int
    """The work that is done more than once, less what is not needed."""
    weights: int
    """The bytes of values that are read as a whole more than once."""
    copied: int
    ops: int
    """The kernels that are called, those of a loop once."""
    most: int
    """The peak if all slices are copied."""

    @property
    def code(self) -> float:
        """The calls of kernels, those of a loop once, by step."""
        return self.ops / (self.chain.last - self.chain.first + 1)

    @property
    def moved(self) -> int:
        """The bytes that are read or copied besides those of the whole chain."""
        return self.weights + self.copied


@dataclass(frozen=True)
class Choice:
    """The chains of a program that are computed in stripes."""

    chains: Sequence[Edge]
    peak: int
    extra: int


def edge(this: Striped) -> Edge:
    """Return what the steps of a chain that were added cost."""
    net, chain = this.net, replace(this.chain, first=this.first)
    inner = {step.writes for step in net.steps[chain.first : chain.last]}
    chain = replace(chain, carried=chain.carried & inner)
    if chain.joined:
        later = len(times_of(net, this.chain)) - len(times_of(net, chain))
        chain = replace(chain, joined=frozenset(at - later for at in chain.joined))
    steps, turns = net.steps[chain.first : chain.last + 1], this.turns()
    loop = loop_of(this, turns) if chain.is_loop else None
    own = this.cost() if turns is None or loop is None else cost_of_loop(this, turns, loop)
    around = net.around(chain.first, chain.last)
    extra = own.work - sum(step.work for step in steps)
    weights = own.weights - sum(step.weights for step in steps)
    peak, most = around + own.peak, around + own.most
    return Edge(chain, peak, extra, weights, own.copied, own.ops, most)


def edges(net: Network, below: int, which: Which = "all", mixed: bool = True) -> list[Edge]:
    """
    Return the chains that need less than `below` bytes, if the other steps can do so, too.

    Of the heights of stripes all, the `lowest`, the `highest` that fits, or the `powers` of two,
    which strides divide; without `mixed`, only those that carry all halos.
    """
    edges, loads, inner = list[Edge](), net.loads(), dict[int, float]()
    above, after = {0}, coverable(net, below)
    for last, firsts in enumerate(net.chains):
        arounds = {
            first: around
            for first in (firsts if after[last + 1] else ())
            if first in above
            and (around := net.around(first, last)) < below
            and inner.get(first, 0) + around < MARGIN * below
        }
        chains = _to(net, arounds, inner, last, below, which, mixed) if arounds else []
        edges += chains
        if chains or (last in above and loads[last] < below):
            above.add(last + 1)
    return edges


def coverable(net: Network, below: int) -> list[bool]:
    """
    Return from which steps on fewer than `below` bytes may do, however low stripes are.

    They do not if a step needs more, as do the operands and the result of each chain with it.
    """
    loads, after = net.loads(), [False] * len(net.steps) + [True]
    for last in reversed(range(len(net.steps))):
        if after[last + 1]:
            after[last] |= loads[last] < below
            for first in net.chains[last]:
                after[first] = after[first] or net.around(first, last) < below
    return after


def _to(
    net: Network,
    arounds: Mapping[int, int],
    inner: dict[int, float],
    last: int,
    below: int,
    which: Which,
    mixed: bool,
) -> list[Edge]:
    """
    Return the stripes of chains up to `last` that need less than `below` bytes.

    `arounds` has the first steps of chains, the last one first, and the bytes live throughout;
    `inner` those of inner values that chains need from a first step on, and longer ones, too. Of
    too many, low stripes are tried, and those that carry all halos; `net.cut` says so.
    """
    found, rows, left = list[Edge](), net.steps[last].rows, max(FEW, TRIES // len(net.steps))
    longer = dict(zip(arounds, [*accumulate([*arounds.values()][::-1], min)][-2::-1], strict=False))
    least, live = dict.fromkeys(arounds, inf), dict[int, float]()
    tried: set[int] = {*arounds}
    every, *others = mixes(net, min(arounds), last)
    for carried in [every, *(others if mixed else ())]:
        most = below * (MARGIN if carried is every else 1)
        whole = sorted({Fraction(-(-rows // count)) for count in range(2, rows + 1)})
        if which == "powers":
            whole = [height for height in whole if height.numerator.bit_count() == 1]
        parts = [Fraction(1, count) for count in PARTS] if carried else []
        heights = [*parts[1:], *whole[:2]] if which == "lowest" else [*parts, *whole]
        for height in heights[::-1] if which == "highest" else heights:
            if not tried:
                break
            late = set[int]()
            chain = Chain(min(tried), last, height, carried)
            for this in striped(net, chain):
                left -= 1
                if left < 0:
                    net.cut.add(last)
                    return found
                if this.first not in tried:
                    continue
                one = edge(this)
                least[this.first] = min(least[this.first], one.peak)
                live[this.first] = min(live.get(this.first, inf), one.peak - arounds[this.first])
                if height < 1 and this.is_late:
                    late.add(this.first)
                if one.peak < below:
                    found.append(one)
                    if which == "highest":
                        tried.remove(this.first)  # lower ones cost more
                elif height >= 1 and which != "highest":
                    tried.remove(this.first)  # higher stripes need more
                if this.first in longer and this.live + longer[this.first] >= most:
                    earlier = [first for first in tried if first < this.first]
                    live.update((f, min(live.get(f, inf), this.live)) for f in earlier)
                    if which != "highest":
                        tried.difference_update(earlier)
                    break  # longer chains need no less
            if late:  # padding comes with the last rows that are read, but not if these are one
                ends = replace(chain, joined=frozenset({len(times_of(net, chain)) - 2}))
                found += (
                    one
                    for this in striped(net, ends)
                    if this.first in late and (one := edge(this)).peak < below
                )
        if carried is every and which != "highest":
            inner |= {first: max(inner.get(first, 0), bytes) for first, bytes in live.items()}
        tried = {first for first in arounds if least[first] < MARGIN * below}
    return found


def looped(net: Network, this: Edge, limit: float) -> Edge | None:
    """Return a chain as one loop; None if it cannot be, or needs more than `limit` bytes."""
    chain = replace(this.chain, joined=frozenset(), is_loop=True)
    *_, whole = striped(net, chain)
    steps = net.steps[chain.first : chain.last + 1]
    if any(step.apart for step in steps) or loop_of(whole, whole.turns()) is None:
        return None
    other = edge(whole)
    is_low = other.peak <= limit and other.most <= max(limit, this.most)
    return other if is_low and other.ops < this.ops else None


def joined(net: Network, this: Edge, limit: float) -> Edge:
    """
    Return a chain with as few calls of kernels as `limit` bytes allow.

    Stripes before and after those that are alike compute fewer steps, so that two of them need no
    more than one of the others.
    """
    *_, whole = striped(net, this.chain)
    count, best = whole.loads.shape[1], this
    for at in [*range(min(count - 1, ENDS)), *range(count - 2, max(ENDS, count - ENDS) - 1, -1)]:
        chain = replace(best.chain, joined=best.chain.joined | {at})
        *_, whole = striped(net, chain)
        other = edge(whole)
        is_low = other.peak <= limit and other.most <= max(limit, best.most)
        if is_low and (other.extra, other.ops) <= (best.extra, best.ops):
            best = other
    return best if (best.extra, best.ops) < (this.extra, this.ops) else this


def cheapest(
    loads: Sequence[int], edges: Sequence[Edge], limit: float, extra: float = inf
) -> Choice | None:
    """Return the chains of least work, at most `extra`, so that no step needs more than `limit`."""
    ending: dict[int, list[Edge]] = {}
    for this in edges:
        if this.peak <= limit:
            ending.setdefault(this.chain.last, []).append(this)
    costs: list[tuple[float, int, int]] = [(0, 0, 0)]
    taken: list[Edge | None] = []
    for at, load in enumerate(loads):
        least, by = (costs[at] if load <= limit else (inf, 0, 0)), None
        for this in ending.get(at, ()):
            work, moved, ops = costs[this.chain.first]
            total = work + this.extra, moved + this.moved, ops + this.ops
            if total < least:
                least, by = total, this
        costs.append(least)
        taken.append(by)
    if costs[-1][0] == inf or costs[-1][0] > extra:
        return None
    picked: list[Edge] = []
    at = len(loads)
    while at > 0:
        this = taken[at - 1]
        if this is not None:
            picked.append(this)
        at = at - 1 if this is None else this.chain.first
    return Choice(picked[::-1], peak_of(loads, picked), int(costs[-1][0]))


def peak_of(loads: Sequence[int], chains: Sequence[Edge]) -> int:
    """Return the most bytes that are live in chains, and outside of them."""
    inside = {at for this in chains for at in range(this.chain.first, this.chain.last + 1)}
    outside = (load for at, load in enumerate(loads) if at not in inside)
    return max([*outside, *(this.peak for this in chains)], default=0)


def in_network(net: Network, choice: Choice) -> Choice:
    """Return what chains cost in a network of other numbers of rows, joined stripes apart."""
    chains: list[Edge] = []
    for this in choice.chains:
        *_, whole = striped(net, replace(this.chain, joined=frozenset()))
        chains.append(edge(whole)._replace(chain=this.chain))
    extra = sum(this.extra for this in chains)
    return Choice(chains, peak_of(net.loads(), chains), extra)


def least_peak(loads: Sequence[int], edges: Sequence[Edge], extra: float) -> Choice:
    """Return the chains of the least peak with at most `extra` work."""
    limits = sorted({*loads, *(this.peak for this in edges)})
    best = lowest(limits, lambda limit: cheapest(loads, edges, limit, extra))
    return best or Choice((), max(loads, default=0), 0)


def lowest(limits: Sequence[int], choose: Callable[[int], Choice | None]) -> Choice | None:
    """Return what is chosen within the lowest limit for which something is."""
    best, low, high = None, 0, len(limits) - 1
    while low <= high:
        middle = (low + high) // 2
        choice = choose(limits[middle])
        if choice is not None:
            best, high = choice, middle - 1
        else:
            low = middle + 1
    return best


def choose(
    net: Network, work: float | None = None, peak: int | None = None, code: float | None = None
) -> Choice:
    """
    Return the chains of the least peak, or those of least work if `peak` is reached.

    The work is at most `work` times that of the whole; with `peak` alone, any. A chain has at most
    `code` calls a step; by default, `SHORT` if so many are enough for `peak` at the same work.
    """
    choice, most = chains_of(net, work, peak), SHORT if code is None else code
    limit = max(choice.peak, peak or 0)
    extra = inf if work is None else max(0, (work - 1) * net.work - choice.extra)
    choice = in_loops(net, choice, limit, most, extra + VAIN * net.work)
    if all(this.code <= most for this in choice.chains):
        return choice
    if code is None and (peak is None or choice.peak > peak):
        return choice
    if code is None:
        return short(net, edges(net, limit + 1, mixed=False), limit, most, choice.extra) or choice
    extra, plain = inf if work is None else (work - 1) * net.work, max(net.loads())
    every, count = edges(net, plain, mixed=extra > 0), ceil(log(plain / limit, SLACK))
    limits = [min(plain, int(limit * SLACK**n)) for n in range(1, count + 1)]
    return (
        short(net, every, limit, most, extra)
        or lowest(limits, lambda limit: short(net, every, limit, most, extra))
        or Choice((), plain, 0)
    )


def in_loops(net: Network, choice: Choice, limit: int, code: float, extra: float) -> Choice:
    """
    Return chains of fewer calls: with stripes joined, or else as loops.

    A chain of more than `code` calls a step is a loop, if `extra` work is enough for it.
    """
    chains = list[Edge]()
    for this in choice.chains:
        best = joined(net, this, limit)
        loop = looped(net, this, limit) if best.code > code else None
        if loop is not None and loop.extra - best.extra <= extra:
            extra -= loop.extra - best.extra
            best = loop
        chains.append(best)
    added = sum(this.extra for this in chains)
    return Choice(chains, peak_of(net.loads(), chains), added)


def short(
    net: Network, every: Sequence[Edge], limit: int, code: float, extra: float
) -> Choice | None:
    """
    Return the cheapest chains below a limit of at most `code` calls a step, and `extra` work.

    Stripes of a chain that has more are joined. If these are still too many, none of its lower
    stripes are taken either: they are more at both ends.
    """
    left: list[Edge] = [e for e in every if e.code <= code or e.chain.height >= 1]
    while choice := cheapest(net.loads(), left, limit, extra):
        long = [this for this in choice.chains if this.code > code]
        if not long:
            return choice
        for this in long:
            other, of = joined(net, this, limit), this.chain
            if other.code <= code:
                left[left.index(this)] = other
            else:
                left = [e for e in left if e.code <= code or not e.chain.is_lower(of)]
    return None


def early(net: Network, this: Edge) -> Edge:
    """Return a chain in stripes of parts of rows, with early steps if that needs fewer bytes."""
    best = this
    if LEAST <= this.chain.height < 1:
        for at in range(this.chain.first + 1, this.chain.last):
            *_, whole = striped(net, replace(this.chain, early=at))
            best = min(best, edge(whole), key=lambda one: one.peak)
    return best


def chains_of(net: Network, work: float | None, peak: int | None) -> Choice:
    """Return the chains that are chosen, in stripes of equal heights."""
    loads, plain = net.loads(), max(net.loads(), default=0)
    extra = inf if work is None else (work - 1) * net.work
    if peak is not None and plain <= peak:
        return Choice((), plain, 0)
    if peak is not None:
        carried = cheapest(loads, edges(net, peak + 1, "highest", mixed=False), peak, 0)
        if carried is not None:  # no mix has less work
            return shortened(net, carried, 0, peak, 0)
    free = edges(net, plain, "lowest", mixed=False)
    limit = max(least_peak(loads, free, 0).peak, peak or 0)
    below = min(int(SLACK * limit), plain - 1)
    every = [this for this in free if this.peak <= below] + edges(net, below + 1, mixed=False)
    least = Choice((), plain, 0)
    for most in sorted({extra if peak is None else min(0, extra), extra}):
        if most > 0 and coverable(net, limit)[0]:  # or no work lowers the peak
            every += edges(net, below + 1)
        least = lowered(net, every, most, peak)
        if peak is not None and least.peak <= peak:
            break
    if peak is not None and least.peak > peak:
        return least
    choice = cheapest(loads, every, SLACK * least.peak if peak is None else peak, extra)
    return shortened(net, choice or least, WIDE * least.peak, peak, extra)


def lowered(net: Network, every: list[Edge], extra: float, peak: int | None) -> Choice:
    """Return the chains of the least peak, with early steps, which are added, if above `peak`."""
    least = least_peak(net.loads(), every, extra)
    while peak is None or least.peak > peak:
        worst = (this for this in least.chains if this.peak == least.peak)
        lower = [one for this in worst if (one := early(net, this)) is not this]
        if not lower:
            break
        every += lower
        least = least_peak(net.loads(), every, extra)
    return least


def shortened(net: Network, choice: Choice, wide: float, peak: int | None, extra: float) -> Choice:
    """Return chains that are not long, in stripes that strides divide; `choice` if none fit."""
    if all(this.code <= LONG for this in choice.chains):
        return choice
    loads, limit = net.loads(), int(wide) if peak is None else peak
    low = [e for e in edges(net, limit + 1, "powers", mixed=False) if e.code <= LONG]
    cheap = least_peak(loads, low, extra) if peak is None else cheapest(loads, low, peak, extra)
    return cheap if cheap is not None and cheap.peak <= limit else choice
