"""The names that the nodes of a graph or of a function body can read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from onnx import AttributeProto, GraphProto, NodeProto, ValueInfoProto

from .onnx_data import Datum


@dataclass
class Scope:
    """
    The values of names, so far.

    `used` are the names that are read. `attributes` are those of the function whose body this is.
    A graph that is an attribute reads names of the graph around it, `outer`; a function does not.
    """

    opsets: Mapping[str, int]
    used: frozenset[str]
    attributes: Mapping[str, AttributeProto] = field(default_factory=dict[str, AttributeProto])
    outer: Scope | None = None
    declared: Mapping[str, ValueInfoProto] = field(default_factory=dict[str, ValueInfoProto])
    """The types that the model declares for results."""
    values: dict[str, Datum] = field(default_factory=dict[str, Datum])
    omitted: set[str] = field(default_factory=set[str])
    """The inputs of a function that its call omits."""
    unknown: set[str] = field(default_factory=set[str])
    """The names that have no value because nodes cannot be converted."""

    def find(self, name: str) -> Datum | None:
        """Return the value of `name`, here or in the graphs around; None if it has none."""
        return next((s.values[name] for s in self._enclosing() if name in s.values), None)

    def misses(self, names: Iterable[str]) -> bool:
        """Test whether one of `names` is unknown, here or in the graphs around."""
        return not all(scope.unknown.isdisjoint(names) for scope in self._enclosing())

    def _enclosing(self) -> Iterator[Scope]:
        """Yield this scope, and those of the graphs around."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer


def graphs_of(node: NodeProto) -> Iterator[GraphProto]:
    """Yield the graphs that are attributes of `node`."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.g
        yield from attribute.graphs


def with_inner(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """Yield `nodes` and those of the graphs that are attributes of these."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        yield node
        for graph in graphs_of(node):
            pending.extend(graph.node)


def names_read(nodes: Iterable[NodeProto], outputs: Sequence[str]) -> frozenset[str]:
    """Return the names that `nodes` read, directly or in their graphs, and `outputs`."""
    inner = list(with_inner(nodes))
    graphs = (graph for node in inner for graph in graphs_of(node))
    results = (info.name for graph in graphs for info in graph.output)
    return frozenset(outputs).union(results, *(node.input for node in inner))


def declared_in(graph: GraphProto) -> dict[str, ValueInfoProto]:
    """Return the types that `graph` declares for results, by name."""
    return {info.name: info for info in (*graph.value_info, *graph.output)}


def names_in(graph: GraphProto) -> frozenset[str]:
    """Return the names that the nodes of `graph` read, and those of its outputs."""
    return names_read(graph.node, [info.name for info in graph.output])
