"""Reference counts are those of plain dicts, and copies do not affect each other."""

from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st

from xrelay.runtime.machine.reference_counts import ReferenceCounts
from xrelay.runtime.program.objects import Data, Object

OBJECTS: list[Object] = [Data(0, ()) for _ in range(12)]
STEPS = st.lists(
    st.tuples(st.sampled_from("changecopyjoin"), st.integers(0, 3), st.integers(0, 11)),
    max_size=120,
)


def counts_of(counts: ReferenceCounts) -> dict[Object, int]:
    """Return the numbers other than 0; changes nothing."""
    found: dict[Object, int] = {}
    for item in OBJECTS:
        counts.change(item, 1)
        number = counts.change(item, -1)
        if number:
            found[item] = number
    return found


@exactly(100)
@given(STEPS)
def test_counts_are_those_of_a_dict(steps: list[tuple[str, int, int]]):
    """Four counts; letters of "change" add or subtract, those of "copy" copy, of "join" join."""
    found = [ReferenceCounts() for _ in range(4)]
    wanted: list[dict[Object, int]] = [{} for _ in range(4)]
    for kind, place, number in steps:
        item, other = OBJECTS[number], (place + 1 + number % 3) % 4
        if kind in "copy":
            found[other], wanted[other] = found[place].copy(), dict(wanted[place])
        elif kind in "join":
            found[place] = found[place].joined(found[other].copy())
            for key, count in wanted[other].items():
                wanted[place][key] = wanted[place].get(key, 0) + count
        elif number % 2 and wanted[place].get(item):
            assert found[place].change(item, -1) == wanted[place][item] - 1
            wanted[place][item] -= 1
        else:
            assert found[place].change(item, 1) == wanted[place].get(item, 0) + 1
            wanted[place][item] = wanted[place].get(item, 0) + 1
    for counts, numbers in zip(found, wanted, strict=True):
        assert counts_of(counts) == {key: count for key, count in numbers.items() if count}


def test_copies_share_what_they_have_in_common():
    counts = ReferenceCounts()
    many: list[Object] = [Data(0, ()) for _ in range(1000)]
    for item in many:
        counts.change(item, 1)
    copies: list[ReferenceCounts] = []
    for item in many[:100]:
        counts = counts.copy()
        counts.change(item, 1)
        copies.append(counts)
    assert sum(copy.unshared for copy in copies) < 200
    assert [copies[0].change(many[0], 1), copies[0].change(many[1], 1)] == [3, 2]
    assert [copies[9].change(many[0], 1), copies[9].change(many[1], 1)] == [3, 3]
