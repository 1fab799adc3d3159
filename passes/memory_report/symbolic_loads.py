"""
The peak of the bytes in use as a formula: `max(80*n, 64*n + 4*n*n)`.

Of the columns, those whose sum is never above that of another are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import ge

from ...operators.sizes.holds import at_least
from ...operators.sizes.size_expressions import Expr
from ..sizes.sample_sizes import samples_of
from .formulas import Formulas
from .model import Segment

MAX_SHOWN = 3
"""The maximum number of operands of a maximum that is shown."""

MAX_COMPARED = 300
"""The maximum number of sums that are compared with each other; more are only counted."""


def sums(segments: Sequence[Segment], columns: int, formulas: Formulas) -> list[Expr] | None:
    """Return the distinct sums of bytes in use; None if they are not sums of polynomials."""
    change: list[list[tuple[int, Expr]]] = [[] for _ in range(columns + 1)]
    for segment in segments:
        size = formulas.polynomials.get(segment.size)
        if segment.arms or size is None:
            return None
        change[segment.start].append((1, size))
        change[segment.stop].append((-1, size))
    now = Expr.of(0)
    distinct: dict[Expr, None] = {}
    for changes in change[:columns]:
        if not changes:
            continue
        for sign, size in changes:
            now = now + size * sign
        distinct[now] = None
    return list(distinct)


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
