"""Post-dominators of random DAGs against their definition: the first node on all paths."""

from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st

from xrelay.passes.analysis.post_dominators import Edge, post_dominators

Uses = list[list[Edge] | None]
EXIT_KIND = 8


@st.composite
def dags(draw: st.DrawFn) -> Uses:
    """Draw users of each node: greater nodes, none, or outside users (None)."""
    size = draw(st.integers(1, 12))
    uses: Uses = []
    for node in range(size):
        users = draw(st.lists(st.integers(node + 1, size), max_size=3)) if node < size else []
        edges = [Edge(user, draw(st.integers(0, 4))) for user in users if user < size]
        # a user after the last node represents an outside use
        uses.append(edges if edges and len(edges) == len(users) else None)
    return uses


def paths(uses: Uses, node: int) -> list[list[tuple[int | None, int]]]:
    """Return every path from `node` to the exit (None), as nodes with the kinds of the edges."""
    edges = uses[node]
    if not edges:
        return [[(None, EXIT_KIND)]]
    return [[(e.user, e.kind), *rest] for e in edges for rest in paths(uses, e.user)]


def expected(uses: Uses, node: int) -> tuple[int | None, int]:
    """The first node on all paths from `node`, and the greatest edge before it."""
    ways = paths(uses, node)
    common = [n for n, _ in ways[0] if n is not None and all(n in dict(way) for way in ways)]
    if not common:
        return None, EXIT_KIND
    first = min(common)
    kind = 0
    for way in ways:
        for n, edge_kind in way:
            kind = max(kind, edge_kind)
            if n == first:
                break
    return first, kind


@exactly(100)
@given(dags())
def test_against_the_definition(uses: Uses):
    tree = post_dominators(uses, EXIT_KIND)
    for node in range(len(uses)):
        parent, kind = expected(uses, node)
        assert tree.parent[node] == parent
        if parent is not None:
            assert tree.kind[node] == kind
        else:
            assert tree.kind[node] == EXIT_KIND


def test_a_diamond():
    uses: Uses = [[Edge(1, 0), Edge(2, 3)], [Edge(3, 1)], [Edge(3, 0)], None]
    tree = post_dominators(uses, EXIT_KIND)
    assert tree.parent == [3, 3, 3, None]
    assert tree.kind == [3, 1, 0, EXIT_KIND]


def test_two_long_chains_meet_fast():
    """A parent-by-parent climb would take 20,000 squared steps."""
    length = 20_000
    uses: Uses = [[Edge(1, 0), Edge(2, 0)]]
    uses += [[Edge(min(n + 2, 2 * length), 0)] for n in range(1, 2 * length)]
    uses.append(None)
    assert post_dominators(uses, EXIT_KIND).parent[0] == 2 * length
