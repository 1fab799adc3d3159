"""
Plan the memory of slices whose sizes a running program knows: the instruction `pack`.

    lifetimes [0, 2), [1, 4), [2, 5); sizes 64, 100, 64; align 64    ->    192, (0, 64, 0)

The planner is imported with the first plan. Plans are kept for equal sizes. A negative size, which
is an error where the slice is used, counts as 0: the slice may be in an arm that is not taken.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeAlias

from ..errors import MachineError
from ..program.instructions import Pack, Reg

MAX_KEPT = 1 << 18
"""Number of offsets in the plans that are kept."""

NODES = 4000
"""Search nodes for a plan; fewer if many slices are alive together."""

PAIRS_PER_NODE = 14_000
"""Pairs of slices alive together that double the time of a search node."""

MAX_PAIRS = 1 << 20
"""Pairs of slices alive together up to which arms count: the planner visits each pair then."""

Layout: TypeAlias = tuple[int, tuple[int, ...]]
"""The size of an arena, and the offset of each slice."""


def pairs_alive(pack: Pack) -> int:
    """Return the number of pairs of slices whose lifetimes overlap."""
    starts, stops = sorted(pack.lifetimes[::2]), sorted(pack.lifetimes[1::2])
    met = sum(
        bisect_left(starts, stop) - bisect_right(stops, start) - 1 for start, stop in pack.intervals
    )
    return met // 2


def plan(pack: Pack, sizes: Sequence[int]) -> Layout:
    """Plan the slices of `pack` with these sizes; `MachineError` if they have no plan."""
    from ...planning import Arm, Buffer, Infeasible, Interval, Pool, Problem, ProblemError, solve

    pairs = pairs_alive(pack)
    arms: dict[int, list[Arm]] = {}
    if pairs <= MAX_PAIRS:
        for at in range(0, len(pack.arms), 3):
            number, branch, arm = pack.arms[at : at + 3]
            arms.setdefault(number, []).append(Arm(str(branch), str(arm)))
    try:
        problem = Problem(
            tuple(
                Buffer(
                    str(number),
                    Interval(start, stop),
                    max(size, 0),
                    pack.alignment,
                    arms=tuple(arms.get(number, ())),
                )
                for number, ((start, stop), size) in enumerate(
                    zip(pack.intervals, sizes, strict=True)
                )
            ),
            (Pool("arena"),),
        )
        solution = solve(problem, budget=NODES // (1 + pairs // PAIRS_PER_NODE))
    except ProblemError as error:
        total = sum(max(size, 0) for size in sizes)
        text = f"tensors of {total} bytes together have no plan in memory ({error})"
        raise MachineError(text) from error
    assert not isinstance(solution, Infeasible), "an arena without a capacity"
    return solution.height, solution.offsets


@dataclass(eq=False)
class Plans:
    """The plans of a program's packs, by their slices and sizes; the oldest ones are dropped."""

    _kept: OrderedDict[object, Layout] = field(default_factory=OrderedDict[object, Layout])
    _offsets: int = 0
    _lock: Lock = field(default_factory=Lock)

    def of(self, pack: Pack, sizes: tuple[int, ...]) -> Layout:
        """Return the plan of `pack` for these sizes."""
        key = (pack.alignment, pack.lifetimes, pack.arms, sizes)
        with self._lock:
            layout = self._kept.get(key)
            if layout is not None:
                self._kept.move_to_end(key)
                return layout
        layout = plan(pack, sizes)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = layout
                self._offsets += len(sizes)
            while self._offsets > MAX_KEPT and len(self._kept) > 1:
                _, (_, offsets) = self._kept.popitem(last=False)
                self._offsets -= len(offsets)
        return layout


def all_sizes(pack: Pack, given: Iterator[int]) -> tuple[int, ...]:
    """Return the sizes of all slices; `given` are those in registers, in order."""
    return tuple(next(given) if isinstance(size, Reg) else size for size in pack.sizes)
