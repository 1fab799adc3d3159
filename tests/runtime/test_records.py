"""Records are frozen data classes."""

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any

import pytest

from xrelay.operators.records import record


@record
class Point:
    """A point with a label that does not count."""

    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list[str])
    label: str = field(default="", compare=False)

    def moved(self) -> "Point":
        return replace(self, x=self.x + 1)


@dataclass(frozen=True, slots=True)
class DataPoint:
    """The same as a dataclass."""

    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list[str])
    label: str = field(default="", compare=False)


@record(eq=False)
class Thing:
    """Compared by identity."""

    name: str


@record
class Nothing:
    """A record without fields."""


@record
class Named(Point):
    """A record that extends another, with a text of its own."""

    name: str = "?"

    def __repr__(self) -> str:
        return self.name


ARGUMENTS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1,), {}),
    ((1, 2), {}),
    ((1, 2, ["a"]), {}),
    ((1, 2, ["a"], "p"), {}),
    ((), {"y": 5, "x": 1}),
    ((1,), {"label": "p"}),
]


WRONG: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1, 2, [], "", 5), {}),
    ((1,), {"x": 1}),
    ((1,), {"z": 1}),
]


@pytest.mark.parametrize(("values", "named"), ARGUMENTS)
def test_values_are_those_of_a_dataclass(values: tuple[Any, ...], named: dict[str, Any]):
    ours, theirs = Point(*values, **named), DataPoint(*values, **named)
    assert repr(ours) == repr(theirs).removeprefix("Data")
    assert [f.name for f in fields(ours)] == [f.name for f in fields(theirs)]


@pytest.mark.parametrize(("values", "named"), WRONG)
def test_wrong_arguments_are_refused(values: tuple[Any, ...], named: dict[str, Any]):
    for cls in (Point, DataPoint):
        with pytest.raises(TypeError):
            cls(*values, **named)


def test_factories_are_called_for_each():
    assert Point(1).tags is not Point(1).tags


def test_equality_and_hash():
    assert Point(1, label="a") == Point(1, label="b") != Point(2)
    assert Point(1) != DataPoint(1)
    assert Named(1) != Point(1)
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(Nothing())
    assert Thing("a") != Thing("a")
    assert len({Thing("a"), Thing("a")}) == 2
    with pytest.raises(TypeError):
        hash(Point(1))  # a list is in it


def test_records_are_frozen():
    point = Point(1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(FrozenInstanceError):
        del point.x  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(FrozenInstanceError):
        point.other = 2  # pyright: ignore[reportAttributeAccessIssue]
    assert not hasattr(point, "__dict__")


def test_copies():
    point = Point(1, 2, ["a"], "p")
    for copied in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert copied == point
        assert copied.label == "p"
    assert point.moved() == Point(2, 2, ["a"])
    match point:
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_own_text_is_kept():
    assert repr(Named(1)) == "?"
    assert repr(Thing("a")) == "Thing(name='a')"
