"""
Exhaustiveness of `relay.match`: do the cases cover every value of the data's type?

    match (%x, %y) { (Nil, _), (_, Nil) }     not covered: (Cons(_, _), Cons(_, _))

This is algorithm I of Maranget, "Warnings for pattern matching", JFP 17(3), 2007 (in TVM:
`UnmatchedCases`). The patterns are the rows of a matrix with one column per unexamined part of the
value. The first column is eliminated. If its patterns name all constructors of its type, there is
one smaller matrix per constructor: the rows that match it, with its fields as new columns.
Otherwise there is one matrix, of the rows that name no constructor, because a value of an unnamed
constructor is the hardest to cover. A matrix without rows is an uncovered value; a matrix with an
irrefutable row is covered.

The problem is NP-hard, so the work is bounded by `MAX_STEPS`; a match that needs more is assumed to
be exhaustive. Constructors without values (`inhabited.py`) need no case. Nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute

from ....operators.records import record
from ...interfaces import Lookup
from .adt import TypeDataOp
from .inhabited import Inhabited
from .language_types import AdtType, TypeVarType
from .match_patterns import ConstructorPattern, TuplePattern, WildcardPattern, subpatterns

MAX_STEPS = 200_000
"""The maximum number of patterns examined for one match (a fraction of a second)."""

_ANY = WildcardPattern()


@record(eq=False)
class _Type:
    """
    A type and the meaning of its type variables.

    Variables are not substituted: a type that contains itself at larger arguments would double in
    size with every constructor of a pattern.
    """

    type: Attribute
    given: Mapping[str, _Type]
    has_values: bool


@record(eq=False)
class _Shape:
    """The outermost form of a value: a constructor of a data type, or a tuple (without a name)."""

    name: str | None
    adt: AdtType | None
    fields: Sequence[_Type]

    def pattern(self, fields: Sequence[Attribute]) -> Attribute:
        """The pattern of values of this shape."""
        if self.name is None or self.adt is None:
            return TuplePattern(fields)
        return ConstructorPattern(self.adt.adt, self.name, fields)


_Columns: TypeAlias = "tuple[_Type, _Columns] | None"
_Patterns: TypeAlias = "tuple[Attribute, _Patterns] | None"
_Trail: TypeAlias = "tuple[_Shape | Attribute, _Trail] | None"
"""The eliminated columns, last first: the shape assumed, or the pattern of the column."""


@record(eq=False)
class _Row:
    """A case: its patterns for the columns, and how many of them are refutable."""

    patterns: _Patterns
    refutable: int


@record(eq=False)
class _Matrix:
    rows: Sequence[_Row]
    columns: _Columns
    trail: _Trail

    def uncovered(self) -> Attribute:
        """The pattern of the values that this matrix stands for."""
        values: list[Attribute] = []
        columns, trail = self.columns, self.trail
        while columns is not None:
            values.append(_ANY)
            columns = columns[1]
        while trail is not None:
            taken, trail = trail
            if isinstance(taken, _Shape):
                taken = taken.pattern([values.pop() for _ in taken.fields])
            values.append(taken)
        (value,) = values
        return value


class _OutOfSteps(Exception):
    pass


class _Search:
    """A search for uncovered values, within a number of steps."""

    def __init__(self, lookup: Lookup, steps: int):
        self._lookup = lookup
        self._inhabited = Inhabited(lookup)
        self._steps = steps

    def _spend(self, amount: int) -> None:
        self._steps -= amount
        if self._steps < 0:
            raise _OutOfSteps

    def first_uncovered(self, patterns: Sequence[Attribute], type: Attribute) -> Attribute | None:
        """A pattern of values of `type` that none of `patterns` matches."""
        whole = self._type(type, {})
        rows = [_Row((p, None), int(_is_refutable(p))) for p in patterns]
        stack = [_Matrix(rows, (whole, None), None)] if whole.has_values else []
        while stack:
            matrix = stack.pop()
            self._spend(1 + len(matrix.rows))
            if not matrix.rows:
                return matrix.uncovered()
            if all(row.refutable for row in matrix.rows):
                stack += reversed(self._without_first_column(matrix))
        return None

    def _without_first_column(self, matrix: _Matrix) -> list[_Matrix]:
        """Matrices of which at least one has an uncovered value if `matrix` has one."""
        assert matrix.columns is not None, "a row that is refutable has a column"
        type, columns = matrix.columns
        named: dict[str | None, list[_Row]] = {}
        others: list[_Row] = []
        for row in matrix.rows:
            assert row.patterns is not None, "a row without patterns is not refutable"
            head, rest = row.patterns
            if _is_refutable(head):
                named.setdefault(_name(head), []).append(row)
            else:
                others.append(_Row(rest, row.refutable))
        if not named:
            return [_Matrix(others, columns, (_ANY, matrix.trail))]
        shapes = self._shapes(type)
        if shapes is None:
            return []  # not known yet what its values are made by
        missing = next((s for s in shapes if s.name not in named), None)
        if missing is not None:
            seen = missing.pattern([_ANY] * len(missing.fields))
            return [_Matrix(others, columns, (seen, matrix.trail))]
        return [
            _Matrix(
                [*self._by_fields(named[shape.name]), *self._by_any(others, len(shape.fields))],
                _joined(shape.fields, columns),
                (shape, matrix.trail),
            )
            for shape in shapes
        ]

    def _by_fields(self, rows: Sequence[_Row]) -> Iterator[_Row]:
        """The rows, which all begin with the same constructor, with its fields in its place."""
        for row in rows:
            assert row.patterns is not None
            head, rest = row.patterns
            parts = subpatterns(head)
            self._spend(len(parts))
            yield _Row(_joined(parts, rest), row.refutable - 1 + sum(map(_is_refutable, parts)))

    def _by_any(self, rows: Sequence[_Row], count: int) -> Iterator[_Row]:
        """The rows with `count` wildcards prepended."""
        self._spend(len(rows) * (1 + count))
        for row in rows:
            yield _Row(_joined((_ANY,) * count, row.patterns), row.refutable)

    # ------------------------------------------------------------------- types

    def _type(self, type: Attribute, given: Mapping[str, _Type]) -> _Type:
        """`type`, with its variables as in `given`."""
        if isinstance(type, TypeVarType) and type.parameter.data in given:
            return given[type.parameter.data]
        known = {name: arg.has_values for name, arg in given.items()}
        return _Type(type, given, self._inhabited.has_values(type, known))

    def _shapes(self, of: _Type) -> list[_Shape] | None:
        """The shapes of the values of a type; None if they are unknown."""
        type = of.type
        if isinstance(type, TupleType):
            self._spend(len(type.types))
            return [_Shape(None, None, [self._type(t, of.given) for t in type.types])]
        if not isinstance(type, AdtType):
            return None
        definition = self._lookup(type.adt.string_value())
        if not isinstance(definition, TypeDataOp) or definition.extern is not None:
            return None
        names = [p.data for p in definition.params]
        given = dict(zip(names, (self._type(t, of.given) for t in type.args), strict=False))
        shapes: list[_Shape] = []
        for constructor in definition.constructors:
            self._spend(1 + len(constructor.fields))
            fields = [self._type(field, given) for field in constructor.fields]
            if all(field.has_values for field in fields):
                shapes.append(_Shape(constructor.constructor.data, type, fields))
        return shapes


def _joined(parts: Sequence[Any], rest: Any) -> Any:
    """The list `rest` with `parts` prepended."""
    for part in reversed(parts):
        rest = part, rest
    return rest


def _is_refutable(pattern: Attribute) -> bool:
    """Test whether some values do not match `pattern`."""
    return isinstance(pattern, ConstructorPattern | TuplePattern)


def _name(pattern: Attribute) -> str | None:
    return pattern.constructor.data if isinstance(pattern, ConstructorPattern) else None


def uncovered(
    patterns: Sequence[Attribute],
    type: Attribute,
    lookup: Lookup,
    at_most: int = 4,
    steps: int = MAX_STEPS,
) -> list[Attribute]:
    """
    Disjoint patterns of values of `type` that none of `patterns` matches.

    Empty if there are none, or none was found within the steps allowed. The patterns are as general
    as the search found them; another search may find others.
    """
    patterns_left: list[Attribute] = []
    search = _Search(lookup, steps)
    try:
        while len(patterns_left) < at_most:
            value = search.first_uncovered([*patterns, *patterns_left], type)
            if value is None:
                break
            patterns_left.append(value)
    except _OutOfSteps:
        pass
    return patterns_left


SHOWN = 3
"""The maximum number of missing cases in an error message."""


def missing_cases(patterns: Sequence[Attribute], type: Attribute, lookup: Lookup) -> str | None:
    """The missing cases in words, `Nil, Leaf(_) and others`; None if there are none."""
    missing = uncovered(patterns, type, lookup, SHOWN + 1)
    if not missing:
        return None
    *shown, last = [*map(pattern_text, missing[:SHOWN]), *(["others"] if missing[SHOWN:] else [])]
    return f"{', '.join(shown)} and {last}" if shown else last


def pattern_text(pattern: Attribute, depth: int = 8) -> str:
    """The text of a pattern, `Cons(_, Nil)`; what is nested deeper than `depth` is left out."""
    if not _is_refutable(pattern):
        return "_"
    name, parts = _name(pattern) or "", subpatterns(pattern)
    if name and not parts:
        return name
    shown = (pattern_text(p, depth - 1) for p in parts) if depth else ("…",)
    return f"{name}({', '.join(shown)})"
