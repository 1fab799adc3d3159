"""The two exact searches agree, whatever their order of branching."""

from helpers.programs.random_settings import exactly
from hypothesis import given
from planning.random_problems import plain_problems, rich_problems

from xrelay.planning import Problem
from xrelay.planning.meter import Meter
from xrelay.planning.offsets.bounds import lower_bound
from xrelay.planning.offsets.canonical_search import CanonicalSearch
from xrelay.planning.offsets.core import Core, core_of
from xrelay.planning.offsets.greedy import place_in_order
from xrelay.planning.offsets.lowest_floor_search import LowestFloorSearch
from xrelay.planning.offsets.search import Tables
from xrelay.planning.offsets.sort_keys import by_birth, by_life, by_size


def answers(core: Core, capacity: int) -> set[bool]:
    tables = Tables(core)
    searches = [
        CanonicalSearch(tables, "TWA"),
        CanonicalSearch(tables, "Z"),
        LowestFloorSearch(tables, by_size(core)),
        LowestFloorSearch(tables, by_life(core), lowest_first=True),
        LowestFloorSearch(tables, by_birth(core)[::-1]),
    ]
    found: set[bool] = set()
    for search in searches:
        answer = search.run(capacity, Meter(2000))
        if answer is None:
            continue
        found.add(answer)
        if answer:
            at = search.offsets.tolist()
            for k, near in enumerate(core.conflicts):
                assert at[k] % core.alignment[k] == 0
                assert at[k] + core.body_size[k] <= capacity
                assert core.fixed[k] in (-1, at[k])
                for other, mine, its in near:
                    assert at[k] + mine <= at[other] or at[other] + its <= at[k]
    return found


@given(plain_problems(most=10) | rich_problems())
@exactly(80, 4)
def test_all_searches_agree_from_the_bound_to_a_known_height(problem: Problem):
    core = core_of(problem)
    if core.pools is not None or not core.n_bodies:
        return
    placed = place_in_order(core, by_size(core))
    assert placed is not None
    bound, known = lower_bound(core), placed.heights[0]
    for capacity in (*range(bound, min(bound + 4, known)), known):
        assert len(answers(core, capacity)) <= 1
    assert answers(core, known) <= {True}
