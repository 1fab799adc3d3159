"""The interval map of memory contents, against one entry for each byte."""

from hypothesis import given
from hypothesis import strategies as st

from xrelay.runtime.observe.shadow import Shadow

spans = st.tuples(st.integers(0, 30), st.integers(0, 30))


@given(st.lists(spans), st.lists(spans))
def test_contents_are_those_of_each_byte(
    writes: list[tuple[int, int]], reads: list[tuple[int, int]]
):
    shadow, wanted = Shadow[int](), dict[int, int]()
    for number, (start, stop) in enumerate(writes):
        shadow.set(start, stop, number)
        wanted |= dict.fromkeys(range(start, stop), number)
    for start, stop in reads:
        parts = list(shadow.within(start, stop))
        assert all(first < last for first, last, _ in parts)
        found = [(byte, held) for first, last, held in parts for byte in range(first, last)]
        assert found == [(byte, wanted.get(byte)) for byte in range(start, stop)]
