"""
Exhaustiveness of `relay.match` against brute force: all values of a type up to a depth.

A value is represented like a pattern without variables, by constructors and tuples, with `None`
for parts that have no constructors or are deeper than any pattern.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

import pytest
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import TupleType, i32
from xdsl.ir import Attribute

from xrelay.dialects.device import tensor_type
from xrelay.dialects.relay import (
    AdtType,
    ConstructorPattern,
    RefType,
    TuplePattern,
    TypeDataOp,
    TypeVarType,
    VarPattern,
    WildcardPattern,
)
from xrelay.dialects.relay.language.exhaustiveness import Inhabited, pattern_text, uncovered
from xrelay.dialects.relay.language.language_types import substituted
from xrelay.dialects.relay.language.match_patterns import subpatterns

TENSOR = tensor_type(i32, [])
ANY = WildcardPattern()

Definitions: TypeAlias = Mapping[str, TypeDataOp]


def defined(*ops: TypeDataOp) -> Definitions:
    return {op.sym_name.data: op for op in ops}


def tuple_of(*types: Any) -> TupleType:
    return TupleType(types)


LIST = TypeDataOp(
    "List",
    ["A"],
    [("Nil", []), ("Cons", [TypeVarType("A"), AdtType("List", [TypeVarType("A")])])],
)
TYPES = defined(
    LIST,
    TypeDataOp("Color", [], [("Red", []), ("Green", []), ("Blue", [])]),
    TypeDataOp("Option", ["A"], [("Some", [TypeVarType("A")]), ("None", [])]),
    TypeDataOp("Never", [], []),
    TypeDataOp("Loop", [], [("Again", [AdtType("Loop")])]),
    TypeDataOp("Store", [], [], extern=True),
    TypeDataOp(
        "Nest",
        ["A"],
        [
            ("Flat", [TypeVarType("A")]),
            ("Deeper", [AdtType("Nest", [tuple_of(TypeVarType("A"), TypeVarType("A"))])]),
        ],
    ),
)
INTS = AdtType("List", [TENSOR])
COLOR, NEVER, LOOP = AdtType("Color"), AdtType("Never"), AdtType("Loop")


def con(name: str, *fields: Attribute, of: str = "List") -> ConstructorPattern:
    return ConstructorPattern(of, name, fields)


def tup(*fields: Attribute) -> TuplePattern:
    return TuplePattern(fields)


def missing(patterns: Sequence[Attribute], type: Attribute) -> list[str]:
    return [pattern_text(p) for p in uncovered(patterns, type, TYPES.get)]


NIL, CONS = con("Nil"), con("Cons", ANY, ANY)
RED, GREEN, BLUE = (con(name, of="Color") for name in ("Red", "Green", "Blue"))


# ------------------------------------------------------------------- by example


@pytest.mark.parametrize(
    ("patterns", "type", "expected"),
    [
        ([NIL, CONS], INTS, []),
        ([CONS], INTS, ["Nil"]),
        ([NIL, con("Cons", ANY, NIL)], INTS, ["Cons(_, Cons(_, _))"]),
        ([], INTS, ["_"]),
        ([VarPattern(INTS)], INTS, []),
        ([RED], COLOR, ["Green", "Blue"]),
        ([tup(NIL, ANY), tup(ANY, NIL)], tuple_of(INTS, INTS), ["(Cons(_, _), Cons(_, _))"]),
        (
            [tup(RED, GREEN)],
            tuple_of(COLOR, COLOR),
            ["(Green, _)", "(Blue, _)", "(Red, Red)", "(Red, Blue)"],
        ),
        ([tup(ANY, VarPattern(TENSOR))], tuple_of(TENSOR, TENSOR), []),
        ([tup()], tuple_of(), []),
        ([], TENSOR, ["_"]),
    ],
)
def test_what_is_not_covered(
    patterns: list[Attribute], type: Attribute, expected: list[str]
) -> None:
    assert missing(patterns, type) == expected


@pytest.mark.parametrize(
    ("patterns", "type", "expected"),
    [
        ([], NEVER, []),
        ([], LOOP, []),
        ([], tuple_of(TENSOR, NEVER), []),
        ([], RefType(NEVER), []),
        ([], AdtType("Store"), ["_"]),
        ([ANY], AdtType("Store"), []),
        ([con("None", of="Option")], AdtType("Option", [NEVER]), []),
        ([con("None", of="Option")], AdtType("Option", [LOOP]), []),
        ([con("Some", ANY, of="Option")], AdtType("Option", [NEVER]), ["None"]),
        ([NIL], AdtType("List", [NEVER]), []),
        ([], AdtType("Nest", [NEVER]), []),
        ([], AdtType("Nest", [TENSOR]), ["_"]),
    ],
)
def test_what_no_value_can_be_needs_no_case(
    patterns: list[Attribute], type: Attribute, expected: list[str]
) -> None:
    assert missing(patterns, type) == expected


def test_what_is_not_known_is_taken_to_be_covered() -> None:
    assert missing([con("A", of="Nowhere")], AdtType("Nowhere")) == []


def test_a_type_that_contains_itself_at_larger_arguments() -> None:
    pattern: Attribute = con("Flat", ANY, of="Nest")
    for _ in range(200):  # at the end the argument is a tuple of 2**200
        pattern = con("Deeper", pattern, of="Nest")
    flat = con("Flat", ANY, of="Nest")
    assert missing([flat, pattern], AdtType("Nest", [TENSOR]))[0] == "Deeper(Flat(_))"
    deeper = con("Deeper", ANY, of="Nest")
    assert missing([flat, pattern, deeper], AdtType("Nest", [TENSOR])) == []


# ------------------------------------------------------------------- the bounds


def test_patterns_may_be_deep() -> None:
    pattern: Attribute = ANY
    for _ in range(5_000):
        pattern = ConstructorPattern("List", "Cons", [ANY, pattern])
    assert missing([NIL, pattern], INTS)[0] == "Cons(_, Nil)"
    assert missing([NIL, pattern, CONS], INTS) == []


def test_a_type_may_have_many_constructors() -> None:
    names = [f"C{i}" for i in range(2000)]
    types = defined(TypeDataOp("Many", [], [(name, [TENSOR]) for name in names]))
    cases = [con(name, ANY, of="Many") for name in names]
    assert uncovered(cases, AdtType("Many"), types.get) == []
    assert uncovered(cases[1:], AdtType("Many"), types.get) == cases[:1]


def pigeons(holes: int) -> tuple[list[Attribute], Attribute, Definitions]:
    """There is one more pigeon than holes, and each case matches two pigeons in one hole."""
    names = [f"Hole{i}" for i in range(holes)]
    types = defined(TypeDataOp("Hole", [], [(name, []) for name in names]))
    type = tuple_of(*[AdtType("Hole")] * (holes + 1))

    def case(first: int, second: int, name: str) -> Attribute:
        there = con(name, of="Hole")
        return tup(*(there if i in (first, second) else ANY for i in range(holes + 1)))

    pairs = [(i, j) for i in range(holes + 1) for j in range(i)]
    return [case(i, j, name) for i, j in pairs for name in names], type, types


def test_the_work_is_bounded() -> None:
    patterns, type, types = pigeons(4)
    assert uncovered(patterns, type, types.get) == []
    assert uncovered(patterns[1:], type, types.get) != []
    assert uncovered(patterns[1:], type, types.get, steps=100) == []
    patterns, type, types = pigeons(12)
    assert uncovered(patterns, type, types.get) == []


# ---------------------------------------------------------------- brute force

Value: TypeAlias = Any
"""`(constructor or "", fields)`, or None for a part that is not inspected."""


def height(type: Attribute, types: Definitions, limit: int) -> bool:
    """Return whether `type` has a value of at most `limit` constructors in a row."""
    match type:
        case TupleType():
            return all(height(t, types, limit) for t in type.types)
        case AdtType() if types[type.adt.string_value()].extern is None:
            definition = types[type.adt.string_value()]
            names = [c.constructor.data for c in definition.constructors]
            return limit > 0 and any(
                all(height(t, types, limit - 1) for t in definition.field_types(n, type.args.data))
                for n in names
            )
        case RefType():
            return height(type.contents, types, limit)
        case _:
            return True


def values(type: Attribute, types: Definitions, depth: int) -> Iterator[Value]:
    """Yield all values of `type`, truncated at `depth`."""
    if not depth or not isinstance(type, TupleType | AdtType):
        if height(type, types, 6):
            yield None
        return
    if isinstance(type, TupleType):
        parts = [list(values(t, types, depth - 1)) for t in type.types]
        yield from (("", fields) for fields in product(*parts))
        return
    definition = types[type.adt.string_value()]
    if definition.extern is not None:
        yield None
    for constructor in definition.constructors:
        name = constructor.constructor.data
        fields = definition.field_types(name, type.args.data)
        parts = [list(values(t, types, depth - 1)) for t in fields]
        yield from ((name, found) for found in product(*parts))


def fits(pattern: Attribute, value: Value) -> bool:
    if isinstance(pattern, WildcardPattern | VarPattern):
        return True
    name = pattern.constructor.data if isinstance(pattern, ConstructorPattern) else ""
    return value[0] == name and all(
        fits(p, v) for p, v in zip(subpatterns(pattern), value[1], strict=True)
    )


@st.composite
def definitions(draw: st.DrawFn) -> Definitions:
    """Draw mutually recursive types `T0`, `T1[A]`, `T2` with tensors and tuples."""
    variable = TypeVarType("A")

    def field(depth: int = 0) -> Attribute:
        match draw(st.integers(0, 6 if depth < 2 else 3)):
            case 0:
                return TENSOR
            case 1:
                return variable
            case 2:
                return AdtType("T0")
            case 3:
                return AdtType("T2")
            case 4:
                return RefType(AdtType("T0"))
            case 5:
                return AdtType("T1", [field(depth + 1)])
            case _:
                return tuple_of(field(depth + 1), field(depth + 1))

    ops: list[TypeDataOp] = []
    for name, params in (("T0", []), ("T1", ["A"]), ("T2", [])):
        made = [
            (f"{name}C{i}", [field() for _ in range(draw(st.integers(0, 2)))])
            for i in range(draw(st.integers(0, 3)))
        ]
        if not params:
            made = [(n, [substituted(f, {"A": TENSOR}) for f in fields]) for n, fields in made]
        ops.append(TypeDataOp(name, params, made, extern=not made and draw(st.booleans())))
    return defined(*ops)


def patterns(types: Definitions, type: Attribute, depth: int) -> st.SearchStrategy[Attribute]:
    """Draw patterns that match `type`."""
    anything: list[Attribute] = [ANY, VarPattern(type)]
    choices: list[st.SearchStrategy[Attribute]] = [st.sampled_from(anything)]
    if depth and isinstance(type, TupleType):
        fields = [patterns(types, t, depth - 1) for t in type.types]
        choices = [choices[0], st.tuples(*fields).map(lambda f: TuplePattern(f))]
    if depth and isinstance(type, AdtType):
        definition = types[type.adt.string_value()]
        for constructor in definition.constructors:
            name = constructor.constructor.data
            parts = [
                patterns(types, t, depth - 1) for t in definition.field_types(name, type.args.data)
            ]
            made = st.tuples(*parts).map(lambda f, n=name: ConstructorPattern(type.adt, n, f))
            choices += [made, made]
    return st.one_of(choices)


DEPTH = 3


@exactly(100)
@given(st.data())
def test_against_all_values(data: st.DataObject) -> None:
    types = data.draw(definitions())
    type = data.draw(
        st.sampled_from(
            [
                AdtType("T0"),
                AdtType("T1", [AdtType("T2")]),
                tuple_of(AdtType("T2"), AdtType("T0")),
                TENSOR,
            ]
        )
    )
    cases = data.draw(st.lists(patterns(types, type, DEPTH), max_size=6))
    left = [v for v in values(type, types, DEPTH + 1) if not any(fits(c, v) for c in cases)]
    found = uncovered(cases, type, types.get, at_most=3)
    assert bool(found) == bool(left)
    for i, pattern in enumerate(found):
        assert any(fits(pattern, v) for v in left), "no value that is not covered fits"
        everywhere = [v for v in values(type, types, DEPTH + 1) if fits(pattern, v)]
        assert not any(fits(c, v) for v in everywhere for c in (*cases, *found[:i]))
    if len(found) < 3:
        assert all(any(fits(p, v) for p in found) for v in left), "there is another one"


@exactly(200)
@given(definitions())
def test_which_types_have_values(types: Definitions) -> None:
    inhabited = Inhabited(types.get)
    for type in (AdtType("T0"), AdtType("T2"), AdtType("T1", [AdtType("T0")])):
        expected = height(type, types, 6)
        assert inhabited.has_values(type, {}) == expected
