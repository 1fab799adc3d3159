"""
Post-dominators of a dag, with the most general edge kind on the way.

The immediate post-dominator of a node is the first node that all paths from it pass. It is the
least common ancestor, in the tree built so far, of the nodes that use it; each node also
keeps a skip pointer (Myers, "An applicative random-access stack", 1983), so that an ancestor
query takes O(log n) steps. TVM's `DominatorTree` climbs parent by parent, which is quadratic on
two chains that run side by side.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Edge(NamedTuple):
    """A use of a node by `user`; a greater `kind` is more general."""

    user: int
    kind: int


@dataclass
class PostDominatorTree:
    """`parent[n]` is n's immediate post-dominator (None: the exit), `kind[n]` the path's kind."""

    parent: list[int | None]
    kind: list[int]
    depth: list[int]
    skip: list[int | None]
    skip_kind: list[int]


def post_dominators(uses: Sequence[Sequence[Edge] | None], exit_kind: int) -> PostDominatorTree:
    """
    Return the tree of nodes 0, 1, …, each used only by greater ones.

    `uses[n]` is None if n is used outside the dag, or not at all: its parent is then the exit, and
    its kind `exit_kind`. The kind of any other node is the greatest of the edges on the paths from
    it to its parent.
    """
    n = len(uses)
    tree = PostDominatorTree([None] * n, [exit_kind] * n, [0] * n, [None] * n, [exit_kind] * n)
    for node in range(n - 1, -1, -1):
        edges = uses[node]
        if edges:
            ancestor: int | None = edges[0].user
            kind = edges[0].kind
            for edge in edges[1:]:
                ancestor, kind = _join(tree, ancestor, edge.user, max(kind, edge.kind))
            _attach(tree, node, ancestor, kind)
    return tree


def _attach(tree: PostDominatorTree, node: int, parent: int | None, kind: int) -> None:
    if parent is None:
        return
    tree.parent[node], tree.kind[node] = parent, kind
    tree.depth[node] = tree.depth[parent] + 1
    far = tree.skip[parent]
    if far is not None and _span(tree, parent, far) == _span(tree, far, tree.skip[far]):
        tree.skip[node] = tree.skip[far]
        tree.skip_kind[node] = max(kind, tree.skip_kind[parent], tree.skip_kind[far])
    else:
        tree.skip[node], tree.skip_kind[node] = parent, kind


def _span(tree: PostDominatorTree, node: int, ancestor: int | None) -> int:
    return tree.depth[node] - (-1 if ancestor is None else tree.depth[ancestor])


def _join(
    tree: PostDominatorTree, a: int | None, b: int | None, kind: int
) -> tuple[int | None, int]:
    """Return the least common ancestor of `a` and `b` (None: the exit), and the kind up to it."""
    if a is None or b is None:
        return None, kind
    if tree.depth[a] < tree.depth[b]:
        a, b = b, a
    a, kind = _climb(tree, a, tree.depth[b], kind)
    while a != b:
        over_a, over_b = tree.skip[a], tree.skip[b]
        if over_a != over_b:
            kind = max(kind, tree.skip_kind[a], tree.skip_kind[b])
        else:
            over_a, over_b = tree.parent[a], tree.parent[b]
            kind = max(kind, tree.kind[a], tree.kind[b])
        if over_a is None or over_b is None:
            return None, kind
        a, b = over_a, over_b
    return a, kind


def _climb(tree: PostDominatorTree, node: int, depth: int, kind: int) -> tuple[int, int]:
    """Return the ancestor of `node` at `depth`, and the kind up to it."""
    while tree.depth[node] > depth:
        far = tree.skip[node]
        if far is not None and tree.depth[far] >= depth:
            kind, node = max(kind, tree.skip_kind[node]), far
        else:
            near = tree.parent[node]
            assert near is not None, "a node deeper than another has a parent"
            kind, node = max(kind, tree.kind[node]), near
    return node, kind
