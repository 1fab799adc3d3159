"""
Does a `relay.match` cover every value of its data's type?

    match (%x, %y) { (Nil, _), (_, Nil) }     not covered: (Cons(_, _), Cons(_, _))

The algorithm I of Maranget ("Warnings for pattern matching", JFP 17(3), 2007; TVM has the check
in `UnmatchedCases`): the patterns are rows of a matrix, with a column for each part of the value
that is still open. The first column is taken away: for each constructor of its type, if the
column has them all, by the rows that fit it with their fields as new columns; otherwise by the
rows that name none, since one of the constructors that nobody names makes the hardest value. A
matrix without rows is a value that is not covered, one with a row that fits all is covered.

The question is NP-hard: the work is bounded by `FUEL`, and a match that needs more is taken to be
complete. Constructors no value can have (`inhabited.py`) need no case. Nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute

from ..interfaces import Lookup
from .adt import TypeDataOp
from .inhabited import Inhabited
from .language_types import AdtType, TypeVarType
from .patterns import ConstructorPattern, TuplePattern, WildcardPattern, subpatterns

FUEL = 200_000
"""How many patterns are looked at for one match (a fraction of a second)."""

_ANY = WildcardPattern()


@dataclass(frozen=True, eq=False)
class _Type:
    """
    A type whose variables have a meaning.

    It is not substituted into: a type that contains itself at larger arguments would double with
    every constructor of a pattern.
    """

    type: Attribute
    given: Mapping[str, _Type]
    has_values: bool


@dataclass(frozen=True, eq=False)
class _Shape:
    """What a value can be made by: a constructor of a data type, or a tuple (without a name)."""

    name: str | None
    adt: AdtType | None
    fields: Sequence[_Type]

    def pattern(self, fields: Sequence[Attribute]) -> Attribute:
        """The pattern that names it."""
        if self.name is None or self.adt is None:
            return TuplePattern(fields)
        return ConstructorPattern(self.adt.adt, self.name, fields)


_Columns: TypeAlias = "tuple[_Type, _Columns] | None"
_Patterns: TypeAlias = "tuple[Attribute, _Patterns] | None"
_Trail: TypeAlias = "tuple[_Shape | Attribute, _Trail] | None"
"""The columns that were taken away, the last first: by a shape, or the pattern that stood there."""


@dataclass(frozen=True, eq=False)
class _Row:
    """A case: its patterns for the columns, and how many of them do not fit all values."""

    patterns: _Patterns
    choosy: int


@dataclass(frozen=True, eq=False)
class _Matrix:
    rows: Sequence[_Row]
    columns: _Columns
    trail: _Trail

    def uncovered(self) -> Attribute:
        """The pattern of the values that lead here."""
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


class _OutOfFuel(Exception):
    pass


class _Search:
    """Looks for values that are not covered, as long as there is fuel."""

    def __init__(self, lookup: Lookup, fuel: int):
        self._lookup = lookup
        self._inhabited = Inhabited(lookup)
        self._fuel = fuel

    def _spend(self, amount: int) -> None:
        self._fuel -= amount
        if self._fuel < 0:
            raise _OutOfFuel

    def first_uncovered(self, patterns: Sequence[Attribute], type: Attribute) -> Attribute | None:
        """The pattern of values of `type` that none of `patterns` fits."""
        whole = self._type(type, {})
        rows = [_Row((p, None), int(_is_choosy(p))) for p in patterns]
        stack = [_Matrix(rows, (whole, None), None)] if whole.has_values else []
        while stack:
            matrix = stack.pop()
            self._spend(1 + len(matrix.rows))
            if not matrix.rows:
                return matrix.uncovered()
            if all(row.choosy for row in matrix.rows):
                stack += reversed(self._without_first_column(matrix))
        return None

    def _without_first_column(self, matrix: _Matrix) -> list[_Matrix]:
        """Matrices of which one has a value that is not covered if `matrix` has one."""
        assert matrix.columns is not None, "a row that is choosy has a column"
        type, columns = matrix.columns
        named: dict[str | None, list[_Row]] = {}
        others: list[_Row] = []
        for row in matrix.rows:
            assert row.patterns is not None, "a row without patterns is not choosy"
            head, rest = row.patterns
            if _is_choosy(head):
                named.setdefault(_name(head), []).append(row)
            else:
                others.append(_Row(rest, row.choosy))
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
        """`rows`, which all begin with one constructor, with its fields in its place."""
        for row in rows:
            assert row.patterns is not None
            head, rest = row.patterns
            parts = subpatterns(head)
            self._spend(len(parts))
            yield _Row(_joined(parts, rest), row.choosy - 1 + sum(map(_is_choosy, parts)))

    def _by_any(self, rows: Sequence[_Row], count: int) -> Iterator[_Row]:
        """`rows` with `count` more patterns that fit all in front."""
        self._spend(len(rows) * (1 + count))
        for row in rows:
            yield _Row(_joined((_ANY,) * count, row.patterns), row.choosy)

    # ------------------------------------------------------------------- types

    def _type(self, type: Attribute, given: Mapping[str, _Type]) -> _Type:
        """`type`, its variables as given."""
        if isinstance(type, TypeVarType) and type.parameter.data in given:
            return given[type.parameter.data]
        known = {name: arg.has_values for name, arg in given.items()}
        return _Type(type, given, self._inhabited.has_values(type, known))

    def _shapes(self, of: _Type) -> list[_Shape] | None:
        """What values of a type are made by; None when that is not known."""
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
    """The list `rest` with `parts` in front."""
    for part in reversed(parts):
        rest = part, rest
    return rest


def _is_choosy(pattern: Attribute) -> bool:
    """Whether `pattern` says what a value is made by; others fit all."""
    return isinstance(pattern, ConstructorPattern | TuplePattern)


def _name(pattern: Attribute) -> str | None:
    return pattern.constructor.data if isinstance(pattern, ConstructorPattern) else None


def uncovered(
    patterns: Sequence[Attribute],
    type: Attribute,
    lookup: Lookup,
    at_most: int = 4,
    fuel: int = FUEL,
) -> list[Attribute]:
    """
    Patterns, no two of which fit one value, of values of `type` that none of `patterns` fits.

    Empty when there are none, or none was found before the fuel was used up; `patterns` fit
    `type`. Each is as general as it was found: another search may give others.
    """
    found: list[Attribute] = []
    search = _Search(lookup, fuel)
    try:
        while len(found) < at_most:
            value = search.first_uncovered([*patterns, *found], type)
            if value is None:
                break
            found.append(value)
    except _OutOfFuel:
        pass
    return found


SHOWN = 3
"""How many cases that a match does not cover an error shows."""


def missing_cases(patterns: Sequence[Attribute], type: Attribute, lookup: Lookup) -> str | None:
    """`Nil, Leaf(_) and others`: what no case covers; None when all is covered."""
    found = uncovered(patterns, type, lookup, SHOWN + 1)
    if not found:
        return None
    *shown, last = [*map(pattern_text, found[:SHOWN]), *(["others"] if found[SHOWN:] else [])]
    return f"{', '.join(shown)} and {last}" if shown else last


def pattern_text(pattern: Attribute, depth: int = 8) -> str:
    """`Cons(_, Nil)`; what is nested deeper than `depth` is left out."""
    if not _is_choosy(pattern):
        return "_"
    name, parts = _name(pattern) or "", subpatterns(pattern)
    if name and not parts:
        return name
    shown = (pattern_text(p, depth - 1) for p in parts) if depth else ("…",)
    return f"{name}({', '.join(shown)})"
