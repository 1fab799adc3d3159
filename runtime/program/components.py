"""
Strongly connected components of a graph, given as the successors of each node, and what is reached.

    a -> b -> c -> b        components: [b, c], then [a]; from b, b and c are reached
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def components(successors: Mapping[Node, Iterable[Node]]) -> list[list[Node]]:
    """
    Return the sets of mutually reachable nodes, each after all that it reaches.

    Nodes of a set are in the order in which they are reached first; successors that are not keys
    of the mapping do not count. (Tarjan's algorithm, with a stack of its own.)
    """
    order: dict[Node, int] = {}
    low: dict[Node, int] = {}
    unassigned: dict[Node, None] = {}
    sets: list[list[Node]] = []
    path: list[tuple[Node, Iterator[Node]]] = []

    def enter(node: Node) -> None:
        order[node] = low[node] = len(order)
        unassigned[node] = None
        path.append((node, iter(successors[node])))

    for start in successors:
        if start not in order:
            enter(start)
        while path:
            node, targets = path[-1]
            for target in targets:
                if target not in order:
                    if target in successors:
                        enter(target)
                        break
                elif target in unassigned:
                    low[node] = min(low[node], order[target])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == order[node]:
                    component: list[Node] = []
                    while not component or component[-1] != node:
                        component.append(unassigned.popitem()[0])
                    sets.append(component[::-1])
    return sets


def reached(starts: Iterable[Node], successors: Mapping[Node, Iterable[Node]]) -> dict[Node, None]:
    """Return `starts` and all nodes that they lead to."""
    nodes = dict.fromkeys(starts)
    pending = [*nodes]
    while pending:
        for other in successors.get(pending.pop(), ()):
            if other not in nodes:
                nodes[other] = None
                pending.append(other)
    return nodes
