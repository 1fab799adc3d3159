"""
Place graph bindings: each is computed in the innermost region that encloses all its uses.

    %0 = f(%x);                                 if %c {
    if (%c) { g(%0) } else { %x }        ->       %0 = f(%x); g(%0)
                                                } else { %x }

A use is in a region, or in the value of another binding, and then counts where that binding is
computed. A binding's value ends before every use of it. So when bindings are visited from the
last end to the first, everything that a binding's place depends on is already known.

A *region* is code that may run once, several times or not at all: a function's body, a branch, a
case of a match. One walk over the tree, in the order of the text, finds them, and the uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TypeAlias

from ..text import syntax as ast

EFFECTS = frozenset(
    (
        *("memory.alloc_storage", "memory.alloc_tensor", "memory.kill"),
        *("vm.invoke_tvm_op", "vm.shape_func"),
    )
)
"""Operators that may not be computed anywhere but where they appear in the text."""

User: TypeAlias = ast.Statement | ast.Binding | ast.Body
"""A user of graph bindings: a statement, a binding, or the result of a body."""


@dataclass(slots=True, eq=False, repr=False)
class Region:
    """A region; `owner` is the graph binding whose value contains it, or None."""

    outer: Region | None
    owner: ast.Binding | None
    refs: list[ast.Binding]
    """The bindings that must be computed before what contains the region."""
    parent: Region | None = None
    """The region that encloses this one in the IR, once known."""
    depth: int = 0
    """The number of enclosing regions, once known."""


@dataclass(slots=True, eq=False, repr=False)
class Scopes:
    """The regions of a definition, and the place of each of its bindings that is needed."""

    root: Region = field(default_factory=lambda: Region(None, None, []))
    of: dict[ast.Body, Region] = field(default_factory=dict[ast.Body, Region])
    """By body of a function, branch or case."""
    home: dict[ast.Local, Region] = field(default_factory=dict[ast.Local, Region])
    """The region in which a variable is bound."""
    refs: dict[User, list[ast.Binding]] = field(default_factory=dict[User, "list[ast.Binding]"])
    """The bindings used outside the user's own regions, in order."""
    uses: dict[ast.Binding, list[tuple[Region, ast.Binding | None]]] = field(
        default_factory=lambda: {}
    )
    """
    For each use of a binding, its region and the binding that contains it; bindings are in the
    order in which their values end.
    """
    impure: set[ast.Binding] = field(default_factory=set[ast.Binding])
    """The bindings that may not be computed early: with effects, or calls of functions."""
    reached: int = 0
    """The offset of what is being visited."""
    place: dict[ast.Binding, Region] = field(default_factory=dict[ast.Binding, Region])
    """The region that computes each binding that is needed."""

    def collect(self, definition: ast.Function) -> None:
        """Find the places of the bindings of `definition`."""
        _Walk(self).function_in(self.root, definition)
        place, root = self.place, self.root
        branches = len(self.of) > 1
        for binding in reversed(self.uses):
            if branches:
                self._place(binding)
            elif any(owner is None or owner in place for _, owner in self.uses[binding]):
                place[binding] = root

    def _place(self, binding: ast.Binding) -> None:
        used_in = (r if owner is None else self.place.get(owner) for r, owner in self.uses[binding])
        regions = [r for r in used_in if r is not None and self.settle(r)]  # of needed bindings
        if not regions:
            return
        common = self.place[binding] = reduce(_common, regions)
        # Let the regions between the place and the uses refer to the binding: it is needed before
        # the statement, or the other binding's value, that contains them, so that chains of such
        # bindings cause no recursion.
        for region in regions:
            while region is not common:
                assert region.parent is not None, "the region is in the common one"
                if region.parent is common:
                    region.refs.append(binding)
                region = region.parent

    def settle(self, region: Region) -> bool:
        """Find the enclosing region of `region`; return False if it is in an unused binding."""
        chain: list[tuple[Region, Region]] = []
        while region is not self.root and region.parent is None:
            outer = region.outer if region.owner is None else self.place.get(region.owner)
            if outer is None:
                return False
            chain.append((region, outer))
            region = outer
        for inner, outer in reversed(chain):
            inner.parent, inner.depth = outer, outer.depth + 1
        return True


def _common(a: Region, b: Region) -> Region:
    while a is not b:
        if a.depth < b.depth:
            a, b = b, a
        assert a.parent is not None, "every region is in the function's"
        a = a.parent
    return a


def is_within(region: Region | None, outer: Region) -> bool:
    """Return whether `region` is `outer` or inside it; both are settled."""
    while region is not None and region is not outer:
        region = region.parent
    return region is not None


class _Walk:
    """State at the current expression."""

    def __init__(self, scopes: Scopes):
        self._scopes = scopes
        self._region = scopes.root
        self._owner: ast.Binding | None = None
        self._refs: list[ast.Binding] = []
        self._effects = 0

    def visit(self, expr: ast.Expr) -> None:
        """Visit an expression; those that are each other's first operand cause no recursion."""
        spine: list[tuple[ast.Expr, Sequence[ast.Expr]]] = []
        while needs := ast.operands(expr):
            spine.append((expr, needs[1:]))
            expr = needs[0]
        self._visit(expr)
        for outer, others in reversed(spine):
            for other in others:
                self.visit(other)
            self._visit(outer)

    def _visit(self, expr: ast.Expr) -> None:
        """Visit an expression whose operands are visited."""
        match expr:
            case ast.Call():
                self._effects += not expr.name or expr.name in EFFECTS
            case ast.Node():
                self._effects += expr.binding in self._scopes.impure
                self._scopes.uses[expr.binding].append((self._region, self._owner))
                self._refs.append(expr.binding)
            case ast.Cell():
                self._effects += 1
            case ast.Body():
                self.body(expr)
            case ast.Function():
                self.function_in(self._new_region(), expr)
            case ast.If():
                self._region_body(self._new_region(), expr.then)
                self._region_body(self._new_region(), expr.other)
            case ast.Match():
                for case in expr.cases:
                    region = self._new_region()
                    self._pattern(case.pattern, region)
                    self._region_body(region, case.body)
            case _:
                pass

    # ----------------------------------------------------------------- bodies

    def function_in(self, region: Region, function: ast.Function) -> None:
        home = self._scopes.home
        for param in function.params:
            home[param] = region
        self._region_body(region, function.body)

    def _new_region(self) -> Region:
        return Region(self._region, self._owner, self._refs)

    def _region_body(self, region: Region, body: ast.Body) -> None:
        self._scopes.of[body] = region
        saved = self._region, self._owner, self._refs
        self._region, self._owner, self._refs = region, None, []
        self.body(body)
        self._region, self._owner, self._refs = saved

    def body(self, body: ast.Body) -> None:
        refs, outer = self._scopes.refs, self._refs
        for statement in body.statements:
            if isinstance(statement, ast.Binding):
                self._binding(statement)
                continue
            self._refs = refs[statement] = []
            if statement.local is not None:
                self._scopes.home[statement.local] = self._region
            self.visit(statement.value)
        self._refs = refs[body] = []
        self.visit(body.result)
        self._refs = outer

    def _binding(self, binding: ast.Binding) -> None:
        scopes = self._scopes
        scopes.reached = binding.offset
        outer, effects = (self._owner, self._refs), self._effects
        self._owner, self._refs = binding, scopes.refs.setdefault(binding, [])
        self.visit(binding.value)
        self._owner, self._refs = outer
        if self._effects != effects:
            scopes.impure.add(binding)
        scopes.uses[binding] = []

    def _pattern(self, pattern: ast.Pattern, region: Region) -> None:
        if isinstance(pattern, ast.Variable):
            self._scopes.home[pattern.local] = region
        elif isinstance(pattern, ast.Constructed | ast.Fields):
            for part in pattern.fields or ():
                self._pattern(part, region)
