"""Operators with arbitrary operands and attributes are typed or rejected with a message."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, cast

import pytest
from helpers.operators.inferring import OPERATORS
from helpers.operators.operator_samples import SAMPLES, Sample
from helpers.programs.random_settings import rounds
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

DIMS: tuple[int, ...] = (0, 1, 2, 3, 4, 5, DYNAMIC_INDEX, 1, 1, 64, 2**32, HUGE)
ELEMENTS = (f32, f32, f32, f64, i1, i32, i64, IndexType(), ComplexType(f32))
INTS = (*range(-6, 7), -1, 0, 0, 1, -HUGE - 1, HUGE, 2**40)
FLOATS = (0.0, -0.0, 0.5, -1.0, 3.0, 1e-300, 1e300, math.inf, -math.inf, math.nan)
STRINGS = ("NCHW", "NHWC", "HWIO", "edge", "reflect", "size", "")
TYPES = (f32, i32, i1, NoneType(), UnitAttr(), IndexType())


def operand(random: Random) -> Attribute:
    """Draw an operand type, usually a tensor."""
    kind = random.randrange(6)
    if kind < 3:
        dims: list[int] = random.choices(DIMS, k=random.randrange(6))
        return tensor_type(random.choice(ELEMENTS), dims)
    return (UnrankedTensorType(f32), NoneType(), IncompleteType())[kind - 3]


def ints(random: Random) -> Attribute:
    return DenseArrayBase.from_list(i64, random.choices(INTS, k=random.randrange(7)))


def value(random: Random) -> Attribute:
    """Draw a value of any kind of property."""
    match random.randrange(6):
        case 0:
            return IntegerAttr(random.choice(INTS), i64)
        case 1:
            return ints(random)
        case 2:
            return FloatAttr(random.choice(FLOATS), f64)
        case 3:
            return StringAttr(random.choice(STRINGS))
        case 4:
            return BoolAttr.from_bool(random.choice((False, True)))
        case _:
            return random.choice(TYPES)


def likely(random: Random, default: Attribute | None) -> Attribute:
    """Draw a value, usually of the property's kind."""
    kind = type(default)
    if default is not None and kind is DenseArrayBase:
        if random.randrange(3) == 0:
            return ints(random)
        entries = cast(Ints, default).get_values()
        return DenseArrayBase.from_list(
            i64, [random.choice((entry, random.choice(INTS))) for entry in entries]
        )
    if default is not None and kind is IntegerAttr:
        return random.choice((IntegerAttr(random.choice(INTS), i64), default))
    return value(random)


def refusal(make: Callable[[], object]) -> str | None:
    """Return the message of a `VerifyException` of `make`; propagate other exceptions."""
    try:
        make()
    except VerifyException as e:
        return str(e)
    return None


def attempt(name: str, operands: list[Attribute], properties: Mapping[str, Attribute]) -> None:
    """Build and verify the operator; accept a `VerifyException` with a message."""
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


every_operator = pytest.mark.parametrize("name", sorted(OPERATORS))


def randoms(name: str, count: int) -> Iterator[Random]:
    """Generators, each seeded with the operator's name and the number of the attempt."""
    return (Random(f"{name}/{number}") for number in range(rounds(count, 6)))


def a_sample(name: str, random: Random) -> Sample:
    return random.choice([sample for sample in SAMPLES if sample.name == name])


@every_operator
def test_anything_is_typed_or_refused(name: str):
    definitions = OPERATORS[name].get_irdl_definition().properties
    for random in randoms(name, 50):
        operands = [operand(random) for _ in range(random.randrange(6))]
        chosen = random.sample(sorted(definitions), random.randint(0, len(definitions)))
        properties = {
            p: likely(random, random.choice((definitions[p].default_value, None))) for p in chosen
        }
        attempt(name, operands, properties)


def mutated(operands: list[TensorType[Any]], random: Random) -> list[Attribute]:
    """A sample's operands with some dims replaced at random."""
    result: list[Attribute] = []
    for operand in operands:
        dims = [
            random.choice(DIMS) if random.randrange(5) == 0 else dim for dim in operand.get_shape()
        ]
        if random.randrange(10) == 0:
            dims = dims[1:]
        result.append(tensor_type(operand.element_type, dims))
    return result


@every_operator
def test_samples_with_some_numbers_at_random(name: str):
    for random in randoms(name, 100):
        sample = a_sample(name, random)
        types = [tensor_type(ELEMENT_TYPES[d], list(s)) for s, d in sample.operands]
        properties = properties_of(OPERATORS[name], sample.attrs)
        for key, old in properties.items():
            if random.randrange(2):
                properties[key] = likely(random, old)
        attempt(name, mutated(types, random), properties)


@every_operator
def test_what_is_unknown_does_not_contradict_what_is_known(name: str):
    """With some dims made dynamic, the result type is the same or less specific."""
    cls = OPERATORS[name]
    for random in randoms(name, 40):
        sample = a_sample(name, random)
        types = [
            tensor_type(ELEMENT_TYPES[d], [random.choice((dim, DYNAMIC_INDEX)) for dim in s])
            for s, d in sample.operands
        ]
        operands = TestOp(result_types=types).results
        properties = properties_of(cls, sample.attrs)
        if message := refusal(lambda o=operands, p=properties: cls.on(o, p)):
            assert re.search("needs (axis|index_rank)|length of .* must be known", message)
            continue
        op = cls.on(operands, properties)
        assert len(op.results) == len(sample.results)
        for result, (shape, dtype) in zip(op.results, sample.results, strict=True):
            tensor = as_tensor(result.type)
            assert tensor is not None
            assert tensor.element_type == ELEMENT_TYPES[dtype]
            assert len(tensor.get_shape()) == len(shape)
            for dim, known in zip(tensor.get_shape(), shape, strict=True):
                assert dim in (known, DYNAMIC_INDEX)
