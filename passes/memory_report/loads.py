"""
The bytes in use in each column, and where they are most.

In a column after branches, segments of different arms exclude each other: what counts is the path
on which most bytes are in use.

    base 64, %u 32 in (0:0), %v 16 in (0:1)     ->     96

Sizes are numbers, or formulas; the peak of these is shown as `max(80*n, 64*n + 4*n*n)`, without the
columns whose sum is never above that of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from operator import ge
from typing import Any, NamedTuple

from ...operators.sizes.holds import at_least
from ...operators.sizes.size_expressions import Expr
from ...operators.sizes.size_table import compute
from ..sizes.sample_sizes import samples_of
from .formulas import Formulas
from .model import Segment
from .path_liveness import Arms

MAX_PATHS = 1000
"""The number of paths that are compared in a column; beyond, arms do not exclude each other."""

Weight = tuple[Arms, Any]
"""Bytes in use on the paths through arms."""


def most_on_a_path(
    weights: Sequence[Weight], budget: list[int] | None = None, apply: Callable[..., Any] = compute
) -> Any:
    """Return the most bytes in use on any path; `apply` computes sizes."""
    budget, add = [MAX_PATHS] if budget is None else budget, partial(apply, "add")
    total = reduce(add, (size for arms, size in weights if not arms), 0)
    for part in _independent([weight for weight in weights if weight[0]]):
        if budget[0] <= 0:
            total = reduce(add, (size for _, size in part), total)
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
            inner = apply("max", inner, most_on_a_path(path, budget, apply))
        total = add(total, inner)
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
    values: Sequence[Any] | Mapping[int, Any],
    apply: Callable[..., Any] = compute,
) -> list[Any]:
    """Return the most bytes in use in each column, for these `values` of the formulas."""
    change: list[Any] = [0] * (columns + 1)
    starts: list[list[Segment]] = [[] for _ in range(columns + 1)]
    for segment in segments:
        if segment.arms:
            starts[segment.start].append(segment)
        else:
            size = values[segment.size]
            change[segment.start] = apply("add", change[segment.start], size)
            change[segment.stop] = apply("sub", change[segment.stop], size)
    sums: list[Any] = []
    always: Any = 0
    on_paths: list[Segment] = []
    extra: Any = 0
    for column in range(columns):
        always = apply("add", always, change[column])
        left = [segment for segment in on_paths if segment.stop > column]
        if starts[column] or len(left) < len(on_paths):
            on_paths = left + starts[column]
            weights = [(s.arms, values[s.size]) for s in on_paths]
            extra = most_on_a_path(weights, apply=apply)
        sums.append(apply("add", always, extra))
    return sums


def peak_of(found: Sequence[int]) -> Peak:
    """Return the peak of the bytes in each column."""
    size = max(found, default=0)
    return Peak(found.index(size) if found else 0, size)


MAX_SHOWN = 3
"""The maximum number of operands of a maximum that is shown."""

MAX_COMPARED = 300
"""The maximum number of sums that are compared with each other; more are only counted."""


def sums(segments: Sequence[Segment], columns: int, formulas: Formulas) -> list[Expr] | None:
    """Return the distinct sums of bytes in use; None if they are not sums of polynomials."""
    sizes, start = formulas.polynomials, min((s.start for s in segments), default=columns)
    if any(segment.arms or segment.size not in sizes for segment in segments):
        return None
    found = loads(segments, columns, sizes, formulas.sizes.algebra.apply)
    return list(dict.fromkeys(found[start:]))


def largest(candidates: Sequence[Expr]) -> list[Expr]:
    """Return the sums that are not always at most another."""
    values = [*zip(*(sample.sizes for sample in samples_of(candidates)), strict=True)]
    kept: list[int] = []

    def covers(i: int, j: int) -> bool:
        return all(map(ge, values[i], values[j])) and at_least(candidates[i], candidates[j])

    for i in range(len(candidates)):
        if not any(covers(j, i) for j in kept):
            kept = [*(j for j in kept if not covers(i, j)), i]
    return [candidates[i] for i in kept]


def maximum_text(found: Sequence[Expr]) -> str:
    """Return a maximum as text: `64`, `max(80*n, 64*n + 4)`, `max(80*n, …, 7 more)`."""
    if len(found) < 2:
        return str(found[0]) if found else "0"
    shown = [str(size) for size in found[:MAX_SHOWN]]
    if len(found) > MAX_SHOWN:
        shown.append(f"… {len(found) - MAX_SHOWN} more")
    return f"max({', '.join(shown)})"


def peak_text(segments: Sequence[Segment], columns: int, formulas: Formulas) -> str | None:
    """Return the most bytes in use as text; None if it is not a maximum of polynomials."""
    loads = sums(segments, columns, formulas)
    if loads is None:
        return None
    if len(loads) > MAX_COMPARED:
        return f"a maximum of {len(loads):,} sums"
    return maximum_text(largest(loads))
