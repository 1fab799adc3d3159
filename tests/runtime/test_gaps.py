"""Interval sets, represented by their edges, compared with Python sets."""

from hypothesis import given
from hypothesis import strategies as st

from xrelay.runtime.memory.gaps import cut, join, meets

SPAN = st.tuples(st.integers(0, 20), st.integers(0, 20)).map(sorted)


@given(st.lists(SPAN, max_size=8), SPAN)
def test_cuts_are_those_of_sets(cuts: list[list[int]], asked: list[int]):
    edges, numbers = [2, 18], set(range(2, 18))
    for start, stop in cuts:
        cut(edges, start, stop)
        numbers -= set(range(start, stop))
    assert edges == sorted(set(edges))
    pairs = zip(edges[::2], edges[1::2], strict=True)
    assert {n for start, stop in pairs for n in range(start, stop)} == numbers
    assert meets(edges, *asked) == (not numbers.isdisjoint(range(*asked)))


@given(st.lists(SPAN.filter(lambda span: span[0] < span[1]), max_size=8))
def test_joins_are_those_of_sets(joins: list[list[int]]):
    edges, numbers = list[int](), set[int]()
    for start, stop in joins:
        low, high = join(edges, start, stop)
        numbers |= set(range(start, stop))
        assert numbers.issuperset(range(low, high))
        assert set(range(low, high)).issuperset(range(start, stop))
        assert not {low - 1, high} & numbers
    assert edges == sorted(set(edges))
    pairs = zip(edges[::2], edges[1::2], strict=True)
    assert {n for start, stop in pairs for n in range(start, stop)} == numbers
