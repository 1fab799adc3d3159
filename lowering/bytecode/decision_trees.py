"""
Decide which case of a match applies, by decision trees whose equal parts are shared.

    case (Cons(_, Nil), Nil)      place 1: the first field of the data, place 2: the second
    case (_, Cons(x, _))          place 3: the second field of place 1, …
    case _
                                  switch 1 { Cons: switch 3 { Nil:  switch 2 { Nil:  case 0
                                                                               Cons: case 1 }
                                                              else: A }
                                             else: A }
                                  A: switch 2 { Cons: case 1, else: case 2 }

A row is a case and the places that it has still to test. The place to switch on is one that the
first row must test, the one that most rows test; each of its constructors leaves the rows that may
still match (Maranget, "Compiling Pattern Matching to Good Decision Trees", ML 2008). Rows that
remain on several paths lead to one node, so that each case is there once. Where a tree would have
more than `MOST` nodes for each constructor in the patterns, the cases are tested one after the
other instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from ...dialects import relay
from ...dialects.relay.language.match_patterns import ConstructorPattern, VarPattern, subpatterns
from ...operators.records import record

MOST = 4
"""The most nodes of a tree for each constructor in its patterns."""

DATA = 0
"""The place of the value that is matched."""


@record
class Constructors:
    """The data types of a module."""

    tags: dict[tuple[str, str], int]
    """By the names of a data type and of its constructor."""
    counts: Counter[str]
    """The number of constructors of each data type."""

    @staticmethod
    def of(module: ModuleOp) -> Constructors:
        tags = {
            (op.sym_name.data, constructor.constructor.data): tag
            for op in module.ops
            if isinstance(op, relay.TypeDataOp)
            for tag, constructor in enumerate(op.constructors)
        }
        return Constructors(tags, Counter(name for name, _ in tags))


class Place(NamedTuple):
    """A field of another place."""

    parent: int
    field: int


class Test(NamedTuple):
    """A constructor in a pattern."""

    tag: int
    siblings: int
    """The number of constructors of its data type."""
    inner: Sequence[int]
    """The places of the next constructors, in its fields."""


@dataclass
class Case:
    """The constructors and the variables of a pattern, by their places."""

    tests: dict[int, Test] = field(default_factory=dict[int, Test])
    """In an order in which each comes after those around it."""
    outer: list[int] = field(default_factory=list[int])
    """The places of those that are not in the fields of others."""
    variables: list[int] = field(default_factory=list[int])


class Switch(NamedTuple):
    """Continue at a node by the constructor at `place`."""

    place: int
    targets: Sequence[tuple[int, int]]
    """Tags and nodes."""
    default: int | None
    """The node for other constructors; None if there are none."""


class Body(NamedTuple):
    """A case applies."""

    case: int


class Fail(NamedTuple):
    """No case applies."""


Node: TypeAlias = Switch | Body | Fail
Row: TypeAlias = tuple[int, tuple[int, ...]]
Rows: TypeAlias = tuple[Row, ...]


class TooLarge(Exception):
    """A tree has more nodes than it may have."""


@dataclass
class Patterns:
    """The patterns of a match, with numbered places."""

    cases: list[Case]
    places: list[Place] = field(default_factory=lambda: [Place(DATA, 0)])
    """The first one is the data."""

    @staticmethod
    def of(patterns: Sequence[Attribute], constructors: Constructors) -> Patterns:
        specialized = Patterns([])
        numbers: dict[Place, int] = {}
        for pattern in patterns:
            case = Case()
            rest = [(pattern, DATA, case.outer)]
            while rest:
                pattern, place, tests = rest.pop()
                if isinstance(pattern, VarPattern):
                    case.variables.append(place)
                if isinstance(pattern, ConstructorPattern):
                    name = pattern.adt.string_value()
                    tag = constructors.tags[name, pattern.constructor.data]
                    if constructors.counts[name] > 1:
                        tests.append(place)
                        tests = list[int]()
                        case.tests[place] = Test(tag, constructors.counts[name], tests)
                for number, inner in reversed(list(enumerate(subpatterns(pattern)))):
                    child = Place(place, number)
                    if child not in numbers:
                        numbers[child] = len(specialized.places)
                        specialized.places.append(child)
                    rest.append((inner, numbers[child], tests))
            specialized.cases.append(case)
        return specialized

    @property
    def size(self) -> int:
        """The number of constructors in the patterns."""
        return sum(len(case.tests) for case in self.cases)


@dataclass
class Decisions:
    """A graph of nodes without cycles, from `root`."""

    patterns: Patterns
    root: int = 0
    nodes: list[Node] = field(default_factory=list[Node])
    numbers: dict[Rows, int] = field(default_factory=dict[Rows, int])
    rest: list[tuple[int, Rows]] = field(default_factory=list[tuple[int, Rows]])
    """The nodes that are not made yet."""

    @staticmethod
    def of(patterns: Patterns) -> Decisions:
        """Return the decisions of a match."""
        try:
            return Decisions.by_tree(patterns, MOST * (patterns.size + 1))
        except TooLarge:
            return Decisions.by_case(patterns)

    @staticmethod
    def by_tree(patterns: Patterns, most: int) -> Decisions:
        """Return a tree, which tests a place once; raise `TooLarge` if it has over `most` nodes."""
        tree = Decisions(patterns)
        tree.node_of(tuple((i, tuple(case.outer)) for i, case in enumerate(patterns.cases)))
        while tree.rest:
            number, rows = tree.rest.pop()
            tree.nodes[number] = tree._switch(rows)
            if len(tree.nodes) > most:
                raise TooLarge
        return tree

    @staticmethod
    def by_case(patterns: Patterns) -> Decisions:
        """Return nodes that test one case after the other."""
        chain = Decisions(patterns)
        after = chain.node_of(())
        for number, case in reversed(list(enumerate(patterns.cases))):
            node = chain.node_of(((number, ()),))
            for place, test in reversed(case.tests.items()):
                chain.nodes.append(Switch(place, [(test.tag, node)], after))
                node = len(chain.nodes) - 1
            after = node
        chain.root = after
        return chain

    def node_of(self, rows: Rows) -> int:
        """Return the node at which `rows` remain, a new one if it is the first with them."""
        if rows and not rows[0][1]:
            rows = rows[:1]
        number = self.numbers.get(rows)
        if number is None:
            number = self.numbers[rows] = len(self.nodes)
            self.nodes.append(Body(rows[0][0]) if rows else Fail())
            if rows and rows[0][1]:
                self.rest.append((number, rows))
        return number

    def _switch(self, rows: Rows) -> Switch:
        """Return the node that switches on a place of the first row."""
        cases = self.patterns.cases
        tested = Counter(place for _, places in rows for place in places)
        place = max(rows[0][1], key=lambda place: tested[place])  # the first of the best
        tests = [cases[case].tests[place] if place in left else None for case, left in rows]
        kept: dict[int, list[Row]] = {test.tag: [] for test in tests if test is not None}
        others: list[Row] = []
        for (case, left), test in zip(rows, tests, strict=True):
            if test is None:
                for remaining in (*kept.values(), others):
                    remaining.append((case, left))
                continue
            at = left.index(place)
            kept[test.tag].append((case, (*left[:at], *test.inner, *left[at + 1 :])))
        siblings = next(test.siblings for test in tests if test is not None)
        if len(kept) == siblings - 1:
            (last,) = set(range(siblings)) - kept.keys()
            kept[last] = others
        targets = [(tag, self.node_of(tuple(remaining))) for tag, remaining in kept.items()]
        default = None if len(kept) == siblings else self.node_of(tuple(others))
        return Switch(place, targets, default)

    def targets_of(self, number: int) -> list[int]:
        """Return the nodes at which node `number` may continue, the default last."""
        node = self.nodes[number]
        if not isinstance(node, Switch):
            return []
        default = [] if node.default is None else [node.default]
        return [*(target for _, target in node.targets), *default]

    def in_order(self) -> list[int]:
        """Return the nodes that `root` leads to, each before those at which it may continue."""
        ordered: list[int] = []
        seen: set[int] = set()
        rest = [(self.root, False)]
        while rest:
            number, is_done = rest.pop()
            if is_done:
                ordered.append(number)
            elif number not in seen:
                seen.add(number)
                rest.append((number, True))
                rest += ((target, False) for target in self.targets_of(number))
        return ordered[::-1]
