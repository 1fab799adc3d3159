"""
Order steps so that they hold fewer bytes at the worst moment.

    graph = StepGraph([(), (0,), (0,), (1, 2)], [Held((0,), (1, 2)), Held((1,), (3,)), …])
    schedule(graph, [[64, 128, …]]).order

The given order is cut where all other steps come before or after one; what is between is ordered by
itself, the piece with the highest peak first, until the next piece is below one that cannot be
lowered. Trees are ordered optimally (`quick_orders`), small pieces by an exact search
(`order_search`), larger ones by the best of quick orders, a beam, and exact
searches in windows around the peak. The given order is one of the candidates, so the result is
never worse; nodes are counted, not seconds, so it is the same everywhere.

Sizes come in rows, of several devices or for several shapes: no row's peak rises. (The problem is
NP-complete: Sethi 1975. OLLA, Steiner et al. 2022, solves it as an integer program; Kahn et al. and
"Ordering Chaos", Ahn et al. 2020, as a search in downsets.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..meter import Meter
from .order_search import beam, bound, search
from .quick_orders import by_growth, depth_first, tree_order
from .step_graph import Held, Piece, Spans, StepGraph, cuts

__all__ = ["Held", "Schedule", "StepGraph", "schedule"]

NODES = 400_000
"""The default limit for each row of sizes: how often the cost of a step is computed."""

MAX_ROWS = 4
"""The number of rows, of those whose peak is not proved minimal, that are ordered on their own."""

MAX_BOUND = 256
"""The number of steps up to which the quadratic lower bound is computed."""

MAX_SEARCH = 512
"""The number of steps up to which sets of them are searched as a whole."""

SHARES = (32, 8)
"""The parts of the limit that are spent on a search from the start, and one from the end."""

BEAMS = (2, 8, 32)
"""The number of sets that are kept of each size."""

WINDOWS = (16, 32, 64)
"""The number of steps in the windows around a peak."""

MAX_WINDOWS = 2_000
NODES_PER_WINDOW = 2_000
WINDOW_BEAM = 8


@dataclass(frozen=True)
class Schedule:
    """An order, its peak and that of the given order, and the bound of any, for each row."""

    order: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    bounds: tuple[int, ...]

    @property
    def is_optimal(self) -> bool:
        """True if no order has a lower peak in any row."""
        return self.after == self.bounds

    @property
    def is_better(self) -> bool:
        return self.after != self.before


def schedule(graph: StepGraph, rows: Sequence[Sequence[int]], nodes: int = NODES) -> Schedule:
    """
    Return an order of the steps of `graph` with low peaks, none above that of the given order.

    Each of `rows` has the size of each of the bytes held. Of the orders found, the one is taken
    whose worst ratio to the peaks before is lowest, and among equals the one with the lowest sum.
    """
    given = list(range(len(graph)))
    before = [graph.peak(given, row) for row in rows]
    best, after = given, before
    bounds = [0] * len(rows)

    def consider(order: list[int]) -> None:
        nonlocal best, after
        peaks = [graph.peak(order, row) for row in rows]
        if all(map(int.__le__, peaks, before)) and _ratios(peaks, before) < _ratios(after, before):
            best, after = order, peaks

    if len(rows) > 1:
        consider(_improved(graph, _mixed(rows, before), Meter(nodes))[0])
    tried = 0
    for i, row in enumerate(rows):
        if len(rows) > 1:
            bounds[i] = _quick_bound(graph, row)
        if bounds[i] < after[i] and tried < MAX_ROWS:
            tried += 1
            order, bounds[i] = _improved(graph, row, Meter(nodes))
            consider(order)
    return Schedule(tuple(best), tuple(before), tuple(after), tuple(bounds))


def _ratios(peaks: Sequence[int], before: Sequence[int]) -> tuple[float, float]:
    """Return the worst of the ratios to the peaks before, and their sum."""
    ratios = [peak / most for peak, most in zip(peaks, before, strict=True) if most]
    return max(ratios, default=0.0), sum(ratios)


def _mixed(rows: Sequence[Sequence[int]], peaks: Sequence[int]) -> list[int]:
    """Return sizes that are large if they are a large part of the peak in some rows."""
    unit = 1 << 30
    weighted = [(row, unit // peak) for row, peak in zip(rows, peaks, strict=True) if peak]
    return [
        sum(row[i] * weight for row, weight in weighted) for i in range(len(rows[0]) if rows else 0)
    ]


def _improved(graph: StepGraph, sizes: Sequence[int], meter: Meter) -> tuple[list[int], int]:
    """Return the best order found, and a lower bound on the peak of any."""
    spans = graph.spans(range(len(graph)), sizes)
    lowest = 0
    pieces: list[tuple[int, int, int]] = []
    begin = 0
    for cut in (*cuts(graph), len(graph)):
        if begin < cut:
            pieces.append((max(spans.loads[begin:cut]), begin, cut))
        if cut < len(graph):
            lowest = max(lowest, spans.loads[cut])
        begin = cut + 1
    reached = lowest
    for peak, begin, end in sorted(pieces, key=lambda piece: (-piece[0], piece[1])):
        if peak <= reached:
            break
        piece = spans.piece(begin, end)
        order, proved = _ordered(piece, peak, reached, meter)
        lowest = max(lowest, proved)
        spans.replace(begin, [piece.steps[i] for i in order])
        reached = max(reached, max(spans.loads[begin:end]))
    return spans.order, min(lowest, reached)


def _quick_bound(graph: StepGraph, sizes: Sequence[int]) -> int:
    """Return a lower bound on the peak of every order."""
    if len(graph) <= MAX_BOUND:
        return bound(graph, sizes)
    always = [held.at_start and held.at_end for held in graph.held]
    least = 0
    for step, indices in enumerate(graph.held_by):
        earlier = graph.before[step]
        needed = 0
        for index in indices:
            held = graph.held[index]
            if not always[index] and (
                held.at_start or step in held.first or any(f in earlier for f in held.first)
            ):
                needed += sizes[index] if step in held.first or step in held.last else 0
        least = max(least, needed)
    return least + sum(size for size, is_always in zip(sizes, always, strict=True) if is_always)


@dataclass(eq=False)
class _Best:
    """The best order so far."""

    graph: StepGraph
    sizes: Sequence[int]
    order: list[int]
    peak: int

    def offer(self, order: list[int] | None) -> None:
        if order is None:
            return
        peak = self.graph.peak(order, self.sizes)
        if peak < self.peak:
            self.order, self.peak = order, peak


def _backwards(order: Sequence[int] | None) -> list[int] | None:
    """Return the order of the steps that is `order` of those of the reversed graph."""
    return None if order is None else [len(order) - 1 - step for step in reversed(order)]


def _ordered(piece: Piece, peak: int, enough: int, meter: Meter) -> tuple[list[int], int]:
    """Return a low order of a piece, and a lower bound; a peak of `enough` is low enough."""
    graph, sizes, _ = piece
    backwards = graph.reversed()
    order = tree_order(graph, sizes)
    if order is None:
        order = _backwards(tree_order(backwards, sizes))
    if order is not None:
        return order, graph.peak(order, sizes)
    lowest = _quick_bound(graph, sizes)
    floor = max(lowest, enough)
    best = _Best(graph, sizes, list(range(len(graph))), peak)
    for quick in (by_growth, depth_first):
        if best.peak > floor:
            best.offer(quick(graph, sizes))
        if best.peak > floor:
            best.offer(_backwards(quick(backwards, sizes)))
    if best.peak > floor and len(graph) <= MAX_SEARCH:
        part = meter.part(0)
        for share in SHARES:
            for other in (graph, backwards):
                if best.peak > floor:
                    part.limit += meter.limit // share
                    result = search(other, sizes, best.peak, floor, part)
                    best.offer(_backwards(result.order) if other is backwards else result.order)
                    if result.bound > floor:
                        lowest = floor = result.bound
        part.limit += meter.limit // 4
        for width in BEAMS:
            for other in (graph, backwards):
                if best.peak > floor:
                    order = beam(other, sizes, best.peak, floor, width, part)
                    best.offer(_backwards(order) if other is backwards else order)
        meter.nodes += part.nodes
    if best.peak > floor:
        spans = graph.spans(best.order, sizes)
        lower_windows(spans, floor, meter)
        best.offer(spans.order)
    return best.order, lowest


def lower_windows(spans: Spans, floor: int, meter: Meter) -> None:
    """Lower the peak by ordering the steps around it exactly, as long as that helps."""
    for _ in range(MAX_WINDOWS):
        peak = max(spans.loads, default=0)
        if peak <= floor or meter.is_spent or not _lower_window(spans, peak, floor, meter):
            return


def _lower_window(spans: Spans, peak: int, floor: int, meter: Meter) -> bool:
    """Lower the load at the first step at which it is `peak`, if some window allows it."""
    at, count = spans.loads.index(peak), len(spans.order)
    for width in WINDOWS:
        for start in (at - width // 2, at - width // 8, at - 7 * width // 8):
            begin = max(0, min(start, count - width))
            end = min(count, begin + width)
            piece = spans.piece(begin, end)
            part = meter.part(NODES_PER_WINDOW)
            result = search(piece.graph, piece.sizes, peak, floor, part)
            meter.nodes += part.nodes
            order = result.order
            if order is None and result.bound < peak:
                order = beam(piece.graph, piece.sizes, peak, floor, WINDOW_BEAM, meter)
            if order is not None:
                spans.replace(begin, [piece.steps[i] for i in order])
                return True
    return False
