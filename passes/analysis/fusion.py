"""
Groups of operators that become one primitive (TVM's `GraphPartitioner`, v0.10).

Each operator is a node; a group grows from a node to its post-dominator when every operator on
the paths between may join. There are two phases: first groups grow from convolutions, matrix
products, elementwise and broadcasting operators, then from injective ones. Only the last operator
of a group, the root, is used outside of it. A group that would be too large, or have too many
operands and results, does not grow; the node after it begins another one.

An operator that is marked `relay.unfused` is a group of its own; one that is marked `relay.fused`
is in the group of its only user, without what computes its operands, or of its own.

The shapes of a kernel's results are computed before it runs. So an operator whose result shape
depends on the elements of an operand is never in a group with what computes that operand; unless it
only reshapes, it is a group of its own.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.disjoint_set import IntDisjointSet

from ...dialects import relay
from ...dialects.device import VirtualDeviceAttr, device_of
from ...dialects.interfaces import Fusible, FusionKind, ReshapesOnly, has_effects
from ...dialects.tensors import as_tensor, has_dynamic
from ...dialects.type_rules import data_operands
from ...dialects.xdsl_extras.xdsl_internals import operands_of
from .post_dominators import Edge, PostDominatorTree, post_dominators

UNFUSED = "relay.unfused"
"""The attribute of an operator that becomes a kernel of its own."""

FUSED = "relay.fused"
"""The attribute of an operator that is in the kernel of its only user."""


@dataclass
class Graph:
    """The operators of a block in program order, their kinds and their users."""

    ops: list[Operation]
    kinds: list[FusionKind]
    uses: list[list[Edge] | None]
    """The users of each operator; None if it is used other than by operators of the block."""


class Node(NamedTuple):
    """An operator as a user of its operands."""

    number: int
    kind: FusionKind
    type: Attribute
    """The type of its first result."""
    device: VirtualDeviceAttr | None
    """The device of that."""
    data: Sequence[int]
    """The operands whose elements the shape of its result depends on."""


def graph_of(block: Block) -> Graph:
    nodes: dict[Operation, Node] = {}
    for op in block.ops:
        fusible = op.get_trait(Fusible)
        if fusible is not None:
            data, type = data_operands(op), op.results[0].type
            reads = data and any(has_dynamic(result.type) for result in op.results)
            is_marked = UNFUSED in op.attributes or FUSED in op.attributes
            alone = is_marked or (reads and not op.has_trait(ReshapesOnly))
            kind = FusionKind.OPAQUE if alone or has_effects(op) else fusible.kind
            nodes[op] = Node(len(nodes), kind, type, device_of(type), data)
    ops, kinds = list(nodes), [node.kind for node in nodes.values()]
    return Graph(ops, kinds, [_uses(op, nodes) for op in ops])


def _uses(op: Operation, nodes: Mapping[Operation, Node]) -> list[Edge] | None:
    edges = set[Edge]()
    for result in op.results:
        type = result.type
        for use in result.uses:
            user = nodes.get(use.operation)
            if user is None or use.index in user.data:
                return None
            kind = user.kind
            if type is not user.type:
                if device_of(type) != user.device:
                    return None
                if kind is FusionKind.BROADCAST and _same_shape(type, user.type):
                    kind = FusionKind.ELEMWISE
            elif kind is FusionKind.BROADCAST and as_tensor(type) is not None:
                kind = FusionKind.ELEMWISE
            edges.add(Edge(user.number, kind))
    return sorted(edges) or None


def _same_shape(operand: Attribute, result: Attribute) -> bool:
    one, other = as_tensor(operand), as_tensor(result)
    return one is not None and other is not None and one.shape == other.shape


def is_scalar_constant(value: SSAValue) -> bool:
    """Test whether `value` is a constant of rank 0, which moves into the primitives that use it."""
    if not isinstance(value.owner, relay.ConstantOp):
        return False
    type = as_tensor(value.type)
    return type is not None and type.get_num_dims() == 0


@dataclass
class Groups:
    """The groups of operators; each has a kind, a size and a root, its last operator."""

    roots: IntDisjointSet
    kind: list[FusionKind]
    size: list[int]

    @staticmethod
    def singletons(kinds: Sequence[FusionKind]) -> "Groups":
        n = len(kinds)
        return Groups(IntDisjointSet(size=n), list(kinds), [1] * n)

    def find(self, node: int) -> int:
        return self.roots[node]

    def merge(self, child: int, into: int) -> None:
        """Merge two groups; `into`'s root stays the root, the kind is the more general one."""
        child, into = self.find(child), self.find(into)
        if not self.roots.union_left(into, child):
            return
        self.size[into] += self.size[child]
        self.kind[into] = max(self.kind[into], self.kind[child])


class May(NamedTuple):
    """The most general kinds of groups that may join a group."""

    at_sink: FusionKind
    """That of its post-dominator."""
    between: FusionKind
    """Those on the paths to it."""


@dataclass
class Partitioner:
    graph: Graph
    tree: PostDominatorTree
    max_size: int
    max_args: int | None
    groups: Groups = field(init=False)
    operands: list[set[SSAValue]] = field(init=False)
    """The operands of each group, if `max_args` bounds them."""

    def __post_init__(self) -> None:
        self.groups = Groups.singletons(self.graph.kinds)
        self.operands = [
            {operand for operand in operands_of(op) if not is_scalar_constant(operand)}
            for op in (self.graph.ops if self.max_args is not None else ())
        ]

    def run(self) -> Groups:
        for phase in range(2):
            for node in range(len(self.graph.ops)):
                self._fuse(node, phase)
        for node, op in enumerate(self.graph.ops):
            edges = self.graph.uses[node] or ()
            if FUSED in op.attributes and len(edges) == 1:
                self.groups.merge(node, edges[0].user)
        return self.groups

    def _fuse(self, node: int, phase: int) -> None:
        """Merge `node`'s group into that of its post-dominator if all on the way may join."""
        groups, sink = self.groups, self.tree.parent[node]
        if sink is None:
            return
        group, target = groups.find(node), groups.find(sink)
        if group == target:
            return
        may = self._condition(groups.kind[group], self.tree.kind[node], phase)
        if may is None or groups.size[group] + groups.size[target] > self.max_size:
            return
        path = self._path(node, sink, may)
        if path is None:
            return
        joined = {group, target, *map(groups.find, path)}
        if sum(groups.size[g] for g in joined) > self.max_size:
            return
        if self.max_args is not None:
            operands = self._operands_of(joined, target)
            if len(operands) + len(self.graph.ops[target].results) > self.max_args:
                return
            self.operands[target] = operands
        for between in path:
            groups.merge(between, sink)
        groups.merge(node, sink)

    def _operands_of(self, joined: set[int], target: int) -> set[SSAValue]:
        """Return the operands of the group that `joined` become, whose root is that of `target`."""
        inside = {r for root in joined if root != target for r in self.graph.ops[root].results}
        return set[SSAValue]().union(*(self.operands[root] for root in joined)) - inside

    @staticmethod
    def _condition(kind: FusionKind, path: int, phase: int) -> May | None:
        """Return what may join a group of `kind` whose paths to its post-dominator are `path`."""
        if kind is FusionKind.OUT_ELEMWISE_FUSABLE:
            if phase != 0 or path != FusionKind.ELEMWISE:
                return None
            return May(FusionKind.BROADCAST, FusionKind.BROADCAST)
        if kind <= FusionKind.BROADCAST:
            if path > FusionKind.COMM_REDUCE:
                return None
            return May(FusionKind.OUT_ELEMWISE_FUSABLE, FusionKind.INJECTIVE)
        if kind is FusionKind.INJECTIVE and phase == 1:
            return May(FusionKind.INJECTIVE, FusionKind.INJECTIVE)
        return None

    def _path(self, source: int, sink: int, may: May) -> list[int] | None:
        """Return the nodes strictly between `source` and `sink`, if all may join."""
        groups, uses = self.groups, self.graph.uses
        seen, between, pending = {source, sink}, list[int](), deque([source])
        if groups.kind[groups.find(sink)] > may.at_sink:
            return None
        while pending:
            for edge in uses[pending.popleft()] or ():
                if edge.user in seen:
                    continue
                seen.add(edge.user)
                if groups.kind[groups.find(edge.user)] > may.between:
                    return None
                between.append(edge.user)
                pending.append(edge.user)
                if len(between) > self.max_size:
                    return None
        return between


def fusion_groups(
    block: Block, max_size: int, max_args: int | None = None
) -> list[list[Operation]]:
    """
    Group the operators of `block`: each group is in program order, its root last.

    No group has more than `max_size` operators; no group of several has more than `max_args`
    operands and results, where constants of rank 0 do not count.
    """
    graph = graph_of(block)
    exit_kind = int(FusionKind.OPAQUE)
    tree = post_dominators(graph.uses, exit_kind)
    groups = Partitioner(graph, tree, max_size, max_args).run()
    members: dict[int, list[Operation]] = {}
    for node, op in enumerate(graph.ops):
        members.setdefault(groups.find(node), []).append(op)
    return list(members.values())


def single_operators(block: Block) -> list[list[Operation]]:
    """Return a group for each operator of `block`."""
    return [[op] for op in block.ops if op.has_trait(Fusible)]
