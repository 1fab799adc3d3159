"""Whatever stands in operands and attributes, an operator is typed or refused with a message."""

from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inferring import OPERATORS
from operator_samples import SAMPLES
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BoolAttr,
    ComplexType,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    NoneType,
    StringAttr,
    TensorType,
    UnitAttr,
    UnrankedTensorType,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.attributes import ELEMENT_TYPES, properties_of
from xrelay.dialects.device import tensor_type
from xrelay.dialects.relay import IncompleteType
from xrelay.dialects.relay.properties import Ints
from xrelay.dialects.tensors import as_tensor

HUGE = 2**63 - 1

DIM = st.one_of(st.integers(0, 5), st.sampled_from([DYNAMIC_INDEX, 1, 1, 64, 2**32, HUGE]))
ELEMENT = st.sampled_from([f32, f32, f32, f64, i1, i32, i64, IndexType(), ComplexType(f32)])
TENSOR = st.builds(tensor_type, ELEMENT, st.lists(DIM, max_size=5))
OPERAND = st.one_of(
    TENSOR,
    TENSOR,
    TENSOR,
    st.just(UnrankedTensorType(f32)),
    st.just(NoneType()),
    st.just(IncompleteType()),
)

INT = st.one_of(st.integers(-6, 6), st.sampled_from([-1, 0, 0, 1, -HUGE - 1, HUGE, 2**40]))
INTS = st.lists(INT, max_size=6)
VALUES = st.one_of(
    INT.map(lambda i: IntegerAttr(i, i64)),
    INTS.map(lambda v: DenseArrayBase.from_list(i64, v)),
    st.floats().map(lambda f: FloatAttr(f, f64)),
    st.sampled_from(["NCHW", "NHWC", "HWIO", "edge", "reflect", "size", ""]).map(StringAttr),
    st.booleans().map(BoolAttr.from_bool),
    st.sampled_from([f32, i32, i1, NoneType(), UnitAttr(), IndexType()]),
)


def likely(name: str, default: Attribute | None) -> st.SearchStrategy[Attribute]:
    """Values of the kind that the property has, more often than others."""
    kind = type(default)
    if default is not None and kind is DenseArrayBase:
        entries = cast(Ints, default).get_values()
        some = st.tuples(*(st.one_of(st.just(entry), INT) for entry in entries))
        return st.one_of(some, some, INTS).map(lambda v: DenseArrayBase.from_list(i64, v))
    if default is not None and kind is IntegerAttr:
        return st.one_of(INT.map(lambda i: IntegerAttr(i, i64)), st.just(default))
    return VALUES


def refusal(make: Callable[[], object]) -> str | None:
    """The message of the `VerifyException` that `make` raises; another exception passes through."""
    try:
        make()
    except VerifyException as e:
        return str(e)
    return None


def attempt(name: str, operands: list[Attribute], properties: Mapping[str, Attribute]) -> None:
    """Build and verify the operator; a `VerifyException` with a message is as good as a result."""
    source = TestOp(result_types=operands)
    cls = OPERATORS[name]
    if any(isinstance(operand, IncompleteType) for operand in operands):
        op = cls.create(
            operands=source.results, result_types=[IncompleteType()], properties=dict(properties)
        )
    else:
        message = refusal(lambda: cls.on(source.results, properties))
        if message is not None:
            assert message
            return
        op = cls.on(source.results, properties)
    for result in op.results:
        tensor = as_tensor(result.type)
        if tensor is not None:
            dims = tensor.get_shape()
            assert all(dim == DYNAMIC_INDEX or 0 <= dim < 2**63 for dim in dims)
    assert refusal(op.verify) != ""


@settings(deadline=None, max_examples=25)
@pytest.mark.parametrize("name", sorted(OPERATORS))
@given(data=st.data())
def test_anything_is_typed_or_refused(name: str, data: st.DataObject):
    operands = data.draw(st.lists(OPERAND, max_size=5))
    definitions = OPERATORS[name].get_irdl_definition().properties
    chosen = data.draw(st.sets(st.sampled_from(sorted(definitions)))) if definitions else set[str]()
    properties = {
        p: data.draw(st.one_of(likely(p, definitions[p].default_value), VALUES))
        for p in sorted(chosen)
    }
    attempt(name, operands, properties)


def _mutated(operands: list[TensorType[Any]], data: st.DataObject) -> list[Attribute]:
    """Operands of a sample, with some dims put at random."""
    result: list[Attribute] = []
    for operand in operands:
        dims = [
            data.draw(DIM) if data.draw(st.integers(0, 4)) == 0 else dim
            for dim in operand.get_shape()
        ]
        if data.draw(st.integers(0, 9)) == 0:
            dims = dims[1:]
        result.append(tensor_type(operand.element_type, dims))
    return result


@settings(deadline=None, max_examples=60)
@pytest.mark.parametrize("name", sorted(OPERATORS))
@given(data=st.data())
def test_samples_with_some_numbers_at_random(name: str, data: st.DataObject):
    sample = data.draw(st.sampled_from([s for s in SAMPLES if s.name == name]))
    types = [tensor_type(ELEMENT_TYPES[d], list(s)) for s, d in sample.operands]
    properties = properties_of(OPERATORS[name], sample.attrs)
    for key, value in properties.items():
        if data.draw(st.booleans()):
            properties[key] = data.draw(likely(key, value))
    attempt(name, _mutated(types, data), properties)


@settings(deadline=None, max_examples=30)
@pytest.mark.parametrize("name", sorted(OPERATORS))
@given(data=st.data())
def test_what_is_unknown_does_not_contradict_what_is_known(name: str, data: st.DataObject):
    """Some dims of a sample made dynamic: the result is the same, or less is known of it."""
    sample = data.draw(st.sampled_from([s for s in SAMPLES if s.name == name]))
    cls = OPERATORS[name]
    types = [
        tensor_type(
            ELEMENT_TYPES[d], [data.draw(st.sampled_from([dim, DYNAMIC_INDEX])) for dim in s]
        )
        for s, d in sample.operands
    ]
    operands = TestOp(result_types=types).results
    properties = properties_of(cls, sample.attrs)
    if message := refusal(lambda: cls.on(operands, properties)):
        assert "squeeze needs axis" in message
        return
    op = cls.on(operands, properties)
    assert len(op.results) == len(sample.results)
    for result, (shape, dtype) in zip(op.results, sample.results, strict=True):
        tensor = as_tensor(result.type)
        assert tensor is not None
        assert tensor.element_type == ELEMENT_TYPES[dtype]
        assert len(tensor.get_shape()) == len(shape)
        for dim, known in zip(tensor.get_shape(), shape, strict=True):
            assert dim in (known, DYNAMIC_INDEX)
