"""
The regions of a definition, and the uses of its graph bindings.

    %0 = f(%x);                         the binding 0 is used in both regions of %1's value;
    %1 = if (%c) { %0 } else { g(%0) }  the statement or result that uses %1 needs [%1], %1 needs []

A *region* is code that may run once, several times or not at all: a function's body, a branch, a
case of a match. One walk over the tree, in the order of the text, collects all that is said here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

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
        _VISIT[expr.__class__](self, expr)

    # ----------------------------------------------------------------- bodies

    def function_in(self, region: Region, function: ast.Function) -> None:
        home = self._regions.home
        for param in function.params:
            home[param] = region
        self._region_body(region, function.body)

    def function(self, function: ast.Function) -> None:
        self.function_in(self._new_region(), function)

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

    # ------------------------------------------------------------ expressions

    def leaf(self, expr: ast.Expr) -> None:
        pass

    def node(self, node: ast.Node) -> None:
        binding = node.binding
        self._effects += binding in self._regions.impure
        self._regions.uses[binding].append((self._region, self._owner))
        self._refs.append(binding)

    def call(self, call: ast.Call) -> None:
        """Visit a call; those that are each other's first argument cause no recursion."""
        spine = [call]
        while call.args and isinstance(call.callee, ast.Name):
            first = call.args[0]
            if not isinstance(first, ast.Call):
                self.visit(first)
                break
            spine.append(call := first)
        while spine:
            call = spine.pop()
            args = call.args[1:]
            if not isinstance(call.callee, ast.Name):
                self.visit(call.callee)
                args = call.args
                self._effects += 1
            elif call.callee.name in EFFECTS:
                self._effects += 1
            for arg in args:
                self.visit(arg)

    def tuple(self, tuple: ast.Tuple) -> None:
        for part in tuple.fields:
            self.visit(part)

    def projection(self, expr: ast.Expr) -> None:
        while isinstance(expr, ast.Projection):
            expr = expr.tuple
        self.visit(expr)

    def if_(self, expr: ast.If) -> None:
        self.visit(expr.condition)
        self._region_body(self._new_region(), expr.then)
        self._region_body(self._new_region(), expr.other)

    def match(self, match: ast.Match) -> None:
        self.visit(match.data)
        for case in match.cases:
            region = self._new_region()
            self._pattern(case.pattern, region)
            self._region_body(region, case.body)

    def _pattern(self, pattern: ast.Pattern, region: Region) -> None:
        if isinstance(pattern, ast.Variable):
            self._regions.home[pattern.local] = region
        elif isinstance(pattern, ast.Constructed | ast.Fields):
            for part in pattern.fields or ():
                self._pattern(part, region)

    def cell(self, cell: ast.RefCreate | ast.RefRead | ast.RefWrite) -> None:
        self._effects += 1
        self.visit(cell.value if isinstance(cell, ast.RefCreate) else cell.ref)
        if isinstance(cell, ast.RefWrite):
            self.visit(cell.value)


_VISIT: Mapping[type, Callable[[_Walk, Any], None]] = {
    **dict.fromkeys((ast.Use, ast.Global, ast.Scalar, ast.Dense, ast.Name), _Walk.leaf),
    **dict.fromkeys((ast.RefCreate, ast.RefRead, ast.RefWrite), _Walk.cell),
    ast.Node: _Walk.node,
    ast.Call: _Walk.call,
    ast.Tuple: _Walk.tuple,
    ast.Projection: _Walk.projection,
    ast.Body: _Walk.body,
    ast.If: _Walk.if_,
    ast.Function: _Walk.function,
    ast.Match: _Walk.match,
}
