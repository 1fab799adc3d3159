"""Types and their parts."""

from collections.abc import Sequence
from typing import Self

import pytest
from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, TupleType, f32, i1, i32
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition

from xrelay.dialects.device import CPU, device_of, tensor_type, with_device
from xrelay.dialects.relay import AdtType, IncompleteType, RefType
from xrelay.dialects.relay.incomplete import is_incomplete, join, refine
from xrelay.dialects.type_algebra import (
    CompositeType,
    has_more_parts,
    leaves,
    pairs,
    parts,
    rebuild,
    tuple_of,
)

A, B = tensor_type(f32, [4]), tensor_type(i32, [2, 3])
FUNCTION = FunctionType.from_lists([A, i1], [B])
HOLE = IncompleteType()


@irdl_attr_definition
class ListType(ParametrizedAttribute, TypeAttribute, CompositeType):
    """A plug-in's type."""

    name = "test_plugin.list"

    element: Attribute

    @property
    def parts(self) -> tuple[Attribute, ...]:
        return (self.element,)

    def with_parts(self, parts: Sequence[Attribute]) -> Self:
        return type(self)(*parts)


COMPOSITES: list[tuple[Attribute, tuple[Attribute, ...]]] = [
    (tuple_of([A, B]), (A, B)),
    (FUNCTION, (A, i1, B)),
    (RefType(A), (A,)),
    (AdtType("List", [A, B], CPU), (A, B)),
    (ListType(A), (A,)),
]


@pytest.mark.parametrize(("type", "inner"), COMPOSITES, ids=str)
def test_a_type_is_rebuilt_of_its_parts(type: Attribute, inner: tuple[Attribute, ...]):
    assert parts(type) == inner
    assert rebuild(type, inner) is type
    other = rebuild(type, inner[::-1] if len(inner) > 1 else [B])
    assert other != type
    assert rebuild(other, inner) == type


@pytest.mark.parametrize("type", [A, i1, HOLE, TupleType(())])
def test_a_leaf_has_no_parts(type: Attribute):
    assert parts(type) == ()
    assert rebuild(type, ()) is type
    assert list(leaves(type)) == [type]


def test_leaves_come_from_left_to_right():
    type = tuple_of([RefType(FUNCTION), AdtType("Unit"), AdtType("List", [ListType(B)])])
    assert list(leaves(type)) == [A, i1, B, AdtType("Unit"), B]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (tuple_of([A]), tuple_of([A, A])),
        (tuple_of([A]), RefType(A)),
        (FUNCTION, FunctionType.from_lists([A], [i1, B])),
        (AdtType("List", [A]), AdtType("Tree", [A])),
        (AdtType("List", [A]), AdtType("List", [A, A])),
    ],
)
def test_types_of_different_form_have_no_pairs(a: Attribute, b: Attribute):
    assert pairs(a, b) is None


def test_pairs_do_not_mind_devices():
    assert pairs(AdtType("List", [A], CPU), AdtType("List", [B])) == ((A, B),)
    assert pairs(TupleType(()), TupleType(())) == ()


def test_a_plug_ins_type_takes_part():
    declared, known = ListType(tuple_of([HOLE, A])), ListType(tuple_of([B, A]))
    assert is_incomplete(declared)
    assert refine(declared, known) == join(known, declared) == known
    assert device_of(with_device(known, CPU)) == CPU
    assert with_device(with_device(known, CPU), None) == known


@pytest.mark.parametrize("around", [RefType(A), ListType(A), AdtType("List", [A])], ids=str)
def test_dims_inside_references_and_data_types_must_agree(around: Attribute):
    more, less = tensor_type(f32, [4]), tensor_type(f32, [DYNAMIC_INDEX])
    assert refine(less, more) == more
    for inner, outer in ((more, less), (less, more), (tuple_of([more]), tuple_of([less]))):
        assert refine(rebuild(around, [inner]), rebuild(around, [outer])) is None
        assert join(rebuild(around, [inner]), rebuild(around, [outer])) is None


def test_leaves_of_a_deep_type_need_no_stack():
    type: Attribute = HOLE
    for _ in range(5_000):
        type = RefType(type) if isinstance(type, TupleType) else tuple_of([type])
    assert is_incomplete(type)
    assert has_more_parts(type, 5_000)
