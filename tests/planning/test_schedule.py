"""Orders of steps: against all topological orders, known results, and never worse than given."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

import pytest
from helpers.programs.every_case import seeds
from helpers.programs.random_settings import rounds

from xrelay.planning.meter import Meter
from xrelay.planning.order.order_search import beam, bound, search
from xrelay.planning.order.quick_orders import by_growth, depth_first, tree_order
from xrelay.planning.order.schedule import Held, StepGraph, schedule
from xrelay.planning.order.step_graph import cuts

HUGE = 10**9
Problem = tuple[StepGraph, list[int]]


def all_orders(graph: StepGraph) -> Iterator[list[int]]:
    """Yield every order of the steps."""

    def extend(order: list[int]) -> Iterator[list[int]]:
        if len(order) == len(graph):
            yield order
        for step in range(len(graph)):
            if step not in order and all(other in order for other in graph.before[step]):
                yield from extend([*order, step])

    return extend([])


def peak_of(graph: StepGraph, order: Sequence[int], sizes: Sequence[int]) -> int:
    """Add up what is held at each time; shares no code with the scheduler."""
    at = {step: time for time, step in enumerate(order)}
    peak = 0
    for time in range(len(order)):
        load = 0
        for held, size in zip(graph.held, sizes, strict=True):
            start = -1 if held.at_start else min((at[s] for s in held.first), default=0)
            stop = len(order) if held.at_end else max((at[s] for s in held.last), default=start)
            load += size * (start <= time <= max(start, stop))
        peak = max(peak, load)
    return peak


def is_valid(graph: StepGraph, order: Sequence[int]) -> bool:
    done: set[int] = set()
    for step in order:
        if step in done or not done.issuperset(graph.before[step]):
            return False
        done.add(step)
    return len(done) == len(graph)


def users(before: Sequence[Sequence[int]], step: int) -> list[int]:
    return [other for other, earlier in enumerate(before) if step in earlier]


def random_graph(rng: Random, count: int, width: int | None = None) -> Problem:
    """Return a graph whose steps have results, and hold other bytes, of a few of them or of all."""
    width = width or count
    before = [
        sorted(rng.sample(range(max(0, i - width), i), min(i, width, rng.choice([0, 1, 1, 2]))))
        for i in range(count)
    ]
    held: list[Held] = []
    for step in range(count):
        last = (step, *users(before, step)) if count < 100 else (step,)
        held.append(Held((step,), last, at_end=rng.random() < 0.1))
        some = tuple(rng.sample(range(count), rng.randint(1, min(3, count))))
        kind = rng.random()
        if kind < 0.2:
            held.append(Held(some, some))
        elif kind < 0.4:
            held.append(Held((), some, at_start=True, at_end=rng.random() < 0.3))
    return StepGraph(before, held), [rng.randint(0, 9) for _ in held]


def random_tree(rng: Random, count: int) -> Problem:
    """Return a tree, or some, in which a step has one successor at most."""
    before: list[list[int]] = [[] for _ in range(count)]
    for step in range(count - 1):
        if rng.random() < 0.9:
            before[rng.randint(step + 1, min(count - 1, step + 20))].append(step)
    held = [Held((step,), (step,)) for step in range(count)]
    for step, earlier in enumerate(before):
        for other in earlier:
            held[other] = Held((other,), (other, step), at_end=rng.random() < 0.2)
    held += [Held((s,), (s,)) for s in range(count) if rng.random() < 0.3]
    held += [Held((), (s,), at_start=True) for s in range(count) if rng.random() < 0.3]
    return StepGraph(before, held), [rng.randint(0, 9) for _ in held]


@seeds(120)
def test_search_and_schedule_find_the_best_of_all_orders(seed: int):
    rng = Random(seed)
    graph, sizes = random_graph(rng, rng.randint(1, 7))
    least = min(peak_of(graph, order, sizes) for order in all_orders(graph))
    for one in (graph, graph.reversed()):
        found = search(one, sizes, HUGE, 0, Meter(HUGE))
        assert found.order is not None
        assert is_valid(one, found.order)
        assert found.bound == peak_of(one, found.order, sizes) == least
        assert bound(one, sizes) <= least
        assert search(one, sizes, least, 0, Meter(HUGE)) == (None, least)
    result = schedule(graph, [sizes])
    assert is_valid(graph, result.order)
    assert result.is_optimal
    assert result.after == (least,) == (peak_of(graph, result.order, sizes),)


@seeds(60)
def test_loads_are_those_of_the_definition(seed: int):
    rng = Random(seed)
    graph, sizes = random_graph(rng, rng.randint(1, 6))
    for order in all_orders(graph):
        assert is_valid(graph, order)
        assert graph.peak(order, sizes) == peak_of(graph, order, sizes)


@seeds(60)
def test_a_piece_has_the_loads_of_the_whole(seed: int):
    """Steps between two positions can be ordered as a problem of their own."""
    rng = Random(seed)
    graph, sizes = random_graph(rng, rng.randint(1, 7))
    spans = graph.spans(rng.choice(list(all_orders(graph))), sizes)
    begin = rng.randrange(len(graph))
    end = rng.randint(begin + 1, len(graph))
    piece = spans.piece(begin, end)
    assert piece.graph.loads(range(end - begin), piece.sizes) == spans.loads[begin:end]
    order = rng.choice(list(all_orders(piece.graph)))
    wanted = piece.graph.loads(order, piece.sizes)
    spans.replace(begin, [piece.steps[i] for i in order])
    assert spans.loads[begin:end] == wanted
    fresh = graph.spans(spans.order, sizes)
    assert (spans.loads, spans.start, spans.stop) == (fresh.loads, fresh.start, fresh.stop)


@seeds(60)
def test_quick_orders_and_beams_are_valid(seed: int):
    rng = Random(seed)
    graph, sizes = random_graph(rng, rng.randint(1, 7))
    least = min(peak_of(graph, order, sizes) for order in all_orders(graph))
    for one in (graph, graph.reversed()):
        assert is_valid(one, by_growth(one, sizes))
        assert is_valid(one, depth_first(one, sizes))
        narrow = beam(one, sizes, HUGE, 0, 1, Meter(HUGE))
        assert narrow is not None
        assert is_valid(one, narrow)
        wide = beam(one, sizes, HUGE, 0, 10_000, Meter(HUGE))
        assert wide is not None
        assert peak_of(one, wide, sizes) == least


@seeds(120)
def test_trees_are_ordered_optimally(seed: int):
    rng = Random(seed)
    graph, sizes = random_tree(rng, rng.randint(1, 7))
    order = tree_order(graph, sizes)
    assert order is not None
    assert is_valid(graph, order)
    least = min(peak_of(graph, order, sizes) for order in all_orders(graph))
    assert peak_of(graph, order, sizes) == least


@pytest.mark.parametrize("seed", range(4))
def test_large_trees_agree_with_the_search(seed: int):
    """Two algorithms that share nothing find the same peak of 22 steps."""
    graph, sizes = random_tree(Random(seed), 22)
    order = tree_order(graph, sizes)
    assert order is not None
    found = search(graph, sizes, HUGE, 0, Meter(HUGE))
    assert found.bound == peak_of(graph, order, sizes)


@pytest.mark.parametrize("depth", [1, 2, 5, 9])
def test_binary_trees_need_one_register_per_level(depth: int):
    """Sethi and Ullman 1970: a full binary tree of unit results needs depth + 2 of them."""
    count = 2 ** (depth + 1) - 1
    first_leaf = 2**depth - 1
    name = {node: count - 1 - node for node in range(count)}  # children before parents
    before: list[list[int]] = [[] for _ in range(count)]
    held: list[Held] = []
    for node in range(count):
        if node < first_leaf:
            before[name[node]] = [name[2 * node + 2], name[2 * node + 1]]
        user = name[(node - 1) // 2] if node else name[0]
        held.append(Held((name[node],), (name[node], user)))
    result = schedule(StepGraph(before, held), [[1] * count])
    assert result.before == (max(2, 2**depth + 1),)
    assert result.after == (depth + 2,)
    assert result.is_optimal


def test_a_chain_has_one_order():
    graph = StepGraph([(), (0,), (1,), (2,)], [Held((i,), (i, i + 1)) for i in range(3)])
    assert cuts(graph) == [0, 1, 2, 3]
    result = schedule(graph, [[3, 5, 4]])
    assert (result.order, result.before, result.after) == ((0, 1, 2, 3), (9,), (9,))
    assert result.is_optimal
    assert not result.is_better


def test_bytes_are_not_held_before_the_first_step():
    graph = StepGraph([(), (0,)], [Held((1,), (0, 1)), Held((0,), (0,))])
    assert search(graph, [5, 3], HUGE, 0, Meter(HUGE)) == ([0, 1], 5)


def test_nothing_to_order():
    result = schedule(StepGraph([], []), [[]])
    assert (result.order, result.after, result.is_optimal) == ((), (0,), True)


def test_an_order_that_is_not_given_is_an_error():
    with pytest.raises(ValueError, match=r"expected steps before 0, but got \[1\]"):
        StepGraph([(1,), ()], [])


@pytest.mark.parametrize("seed", range(2))
def test_large_graphs_are_never_worse_and_the_same_every_time(seed: int):
    graph, sizes = random_graph(Random(seed), 400, width=30)
    result = schedule(graph, [sizes], nodes=6_000)
    assert is_valid(graph, result.order)
    assert result.bounds <= result.after <= result.before
    assert result.after == (peak_of(graph, result.order, sizes),)
    assert schedule(graph, [sizes], nodes=6_000) == result


@seeds(60)
def test_no_row_gets_worse(seed: int):
    rng = Random(seed)
    graph, sizes = random_graph(rng, rng.randint(2, 7))
    rows = [sizes, *([rng.randint(0, 9) for _ in sizes] for _ in range(rng.randint(1, 4)))]
    result = schedule(graph, rows)
    assert is_valid(graph, result.order)
    peaks = [[peak_of(graph, order, row) for row in rows] for order in all_orders(graph)]
    for i, row in enumerate(rows):
        least = min(found[i] for found in peaks)
        assert result.after[i] == peak_of(graph, result.order, row)
        assert result.bounds[i] <= least <= result.after[i] <= result.before[i]


@pytest.mark.ci
def test_more_nodes_are_never_worse():
    """A search that stops early returns a valid order, and a bound that holds."""
    graph, sizes = random_graph(Random(0), 60, width=12)
    *others, most = (schedule(graph, [sizes], nodes=n) for n in (1, 100, 10_000, 400_000))
    for less in others:
        assert is_valid(graph, less.order)
        assert less.bounds[0] <= most.after[0] <= less.after[0] <= less.before[0]


def test_cuts_are_the_steps_that_all_others_come_before_or_after():
    for seed in range(rounds(100, 4)):
        rng = Random(seed)
        graph, _ = random_graph(rng, rng.randint(1, 9))
        above = [{step} for step in range(len(graph))]
        for step, earlier in enumerate(graph.before):
            above[step].update(*(above[other] for other in earlier))
        wanted = [
            c
            for c in range(len(graph))
            if all(step in above[c] or c in above[step] for step in range(len(graph)))
        ]
        assert cuts(graph) == wanted
        assert all(a < b for a, b in pairwise(wanted))
