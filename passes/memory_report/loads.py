"""
The bytes in use in each column, and where they are most.

In a column after branches, segments of different arms exclude each other: what counts is the path
on which most bytes are in use.

    base 64, %u 32 in (0:0), %v 16 in (0:1)     ->     96

Sizes are numbers, or formulas.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

from .model import Segment
from .path_liveness import Arms

MAX_PATHS = 1000
"""The number of paths that are compared in a column; beyond, arms do not exclude each other."""

Weight = tuple[Arms, Any]
"""Bytes in use on the paths through arms."""


class Arithmetic(NamedTuple):
    """The operations on sizes; 0 is one, too."""

    add: Callable[[Any, Any], Any] = operator.add
    sub: Callable[[Any, Any], Any] = operator.sub
    max: Callable[[Any, Any], Any] = max


NUMBERS = Arithmetic()


def most_on_a_path(
    weights: Sequence[Weight], budget: list[int] | None = None, sizes: Arithmetic = NUMBERS
) -> Any:
    """Return the most bytes in use on any path."""
    budget = [MAX_PATHS] if budget is None else budget
    total = reduce(sizes.add, (size for arms, size in weights if not arms), 0)
    for part in _independent([weight for weight in weights if weight[0]]):
        if budget[0] <= 0:
            total = reduce(sizes.add, (size for _, size in part), total)
            continue
        last = max(arm.branch for arms, _ in part for arm in arms)
        inner: Any = 0
        for number in sorted({a.arm for arms, _ in part for a in arms if a.branch == last}):
            budget[0] -= 1
            path = [
                (tuple(a for a in arms if a.branch != last), size)
                for arms, size in part
                if all(a.arm == number for a in arms if a.branch == last)
            ]
            inner = sizes.max(inner, most_on_a_path(path, budget, sizes))
        total = sizes.add(total, inner)
    return total


def _independent(weights: Sequence[Weight]) -> list[list[Weight]]:
    """Return the groups of `weights` that have no branch in common."""
    group_of: dict[int, int] = {}
    groups: dict[int, list[Weight]] = {}
    for weight in weights:
        joined = sorted({group_of[a.branch] for a in weight[0] if a.branch in group_of})
        number = joined[0] if joined else len(group_of) + len(groups)
        members = groups.setdefault(number, [])
        for other in joined[1:]:
            moved = groups.pop(other)
            members += moved
            for arms, _ in moved:
                group_of.update((a.branch, number) for a in arms)
        members.append(weight)
        group_of.update((a.branch, number) for a in weight[0])
    return list(groups.values())


class Peak(NamedTuple):
    """The first column in which the most bytes are in use, and their number."""

    column: int
    size: int


def loads(
    segments: Iterable[Segment],
    columns: int,
    values: Sequence[Any],
    sizes: Arithmetic = NUMBERS,
) -> list[Any]:
    """Return the most bytes in use in each column, for these `values` of the formulas."""
    change: list[Any] = [0] * (columns + 1)
    starts: list[list[Segment]] = [[] for _ in range(columns + 1)]
    for segment in segments:
        if segment.arms:
            starts[segment.start].append(segment)
        else:
            size = values[segment.size]
            change[segment.start] = sizes.add(change[segment.start], size)
            change[segment.stop] = sizes.sub(change[segment.stop], size)
    sums: list[Any] = []
    always: Any = 0
    on_paths: list[Segment] = []
    extra: Any = 0
    for column in range(columns):
        always = sizes.add(always, change[column])
        left = [segment for segment in on_paths if segment.stop > column]
        if starts[column] or len(left) < len(on_paths):
            on_paths = left + starts[column]
            weights = [(s.arms, values[s.size]) for s in on_paths]
            extra = most_on_a_path(weights, sizes=sizes)
        sums.append(sizes.add(always, extra))
    return sums


def peak_of(found: Sequence[int]) -> Peak:
    """Return the peak of the bytes in each column."""
    size = max(found, default=0)
    return Peak(found.index(size) if found else 0, size)
