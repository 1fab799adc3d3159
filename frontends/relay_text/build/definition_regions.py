"""
The regions of a definition, and the uses of its graph bindings.

    %0 = f(%x);                         the binding 0 is used in both regions of %1's value;
    %1 = if (%c) { %0 } else { g(%0) }  the statement or result that uses %1 needs [%1], %1 needs []

A *region* is code that may run once, several times or not at all: a function's body, a branch, a
case of a match. One walk over the tree, in the order of the text, collects all that is said here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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
class Regions:
    """The regions of one definition."""

    root: Region
    of: dict[ast.Body, Region] = field(default_factory=dict[ast.Body, Region])
    """By body of a function, branch or case."""
    home: dict[ast.Local, Region] = field(default_factory=dict[ast.Local, Region])
    """The region in which a variable is bound."""
    refs: dict[User, list[ast.Binding]] = field(default_factory=dict[User, "list[ast.Binding]"])
    """The bindings used outside the user's own regions, in order."""
    uses: dict[ast.Binding, list[tuple[Region, ast.Binding | None]]] = field(
        default_factory=dict[ast.Binding, "list[tuple[Region, ast.Binding | None]]"]
    )
    """
    For each use of a binding, its region and the binding that contains it; bindings are in the
    order in which their values end.
    """
    impure: set[ast.Binding] = field(default_factory=set[ast.Binding])
    """The bindings that may not be computed early: with effects, or calls of functions."""
    reached: int = 0
    """The offset of what is being visited."""


def regions_of(definition: ast.Function, regions: Regions) -> None:
    """Collect the regions of `definition` in `regions`."""
    walk = _Walk(regions)
    walk.function_in(regions.root, definition)


class _Walk:
    """State at the current expression."""

    def __init__(self, regions: Regions):
        self._regions = regions
        self._region = regions.root
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
                name = expr.callee.name if isinstance(expr.callee, ast.Name) else None
                self._effects += name is None or name in EFFECTS
            case ast.Node():
                self._effects += expr.binding in self._regions.impure
                self._regions.uses[expr.binding].append((self._region, self._owner))
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
        home = self._regions.home
        for param in function.params:
            home[param] = region
        self._region_body(region, function.body)

    def _new_region(self) -> Region:
        return Region(self._region, self._owner, self._refs)

    def _region_body(self, region: Region, body: ast.Body) -> None:
        self._regions.of[body] = region
        saved = self._region, self._owner, self._refs
        self._region, self._owner, self._refs = region, None, []
        self.body(body)
        self._region, self._owner, self._refs = saved

    def body(self, body: ast.Body) -> None:
        refs, outer = self._regions.refs, self._refs
        for statement in body.statements:
            if isinstance(statement, ast.Binding):
                self._binding(statement)
                continue
            self._refs = refs[statement] = []
            if statement.local is not None:
                self._regions.home[statement.local] = self._region
            self.visit(statement.value)
        self._refs = refs[body] = []
        self.visit(body.result)
        self._refs = outer

    def _binding(self, binding: ast.Binding) -> None:
        regions = self._regions
        regions.reached = binding.offset
        owner, refs, effects = self._owner, self._refs, self._effects
        self._owner = binding
        self._refs = regions.refs[binding] = []
        self.visit(binding.value)
        self._owner, self._refs = owner, refs
        if self._effects != effects:
            regions.impure.add(binding)
        regions.uses[binding] = []

    def _pattern(self, pattern: ast.Pattern, region: Region) -> None:
        if isinstance(pattern, ast.Variable):
            self._regions.home[pattern.local] = region
        elif isinstance(pattern, ast.Constructed | ast.Fields):
            for part in pattern.fields or ():
                self._pattern(part, region)
