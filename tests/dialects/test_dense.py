"""Constants and their bytes."""

import pytest
from xdsl.dialects.builtin import f32, i1

from xrelay.dialects.attributes import ELEMENT_TYPES
from xrelay.dialects.dense import dense, elements, scalar, scalar_value
from xrelay.dialects.device import CPU, tensor_type
from xrelay.operators.element_types import NUMBER_TYPES

PACKED = [*NUMBER_TYPES, "bfloat16"]


def test_a_boolean_is_a_byte_here_and_all_bits_of_one_in_xdsl():
    value = dense(tensor_type(i1, [3]), b"\x01\x00\x02")
    value.verify()
    assert value.data.data == b"\xff\x00\xff"
    assert list(map(bool, value.get_values())) == [True, False, True]
    assert elements(value) == b"\x01\x00\x01"


def test_a_constant_is_on_no_device():
    value = dense(tensor_type(f32, [2], CPU), bytes(8))
    assert value.type == tensor_type(f32, [2])
    assert elements(value) == bytes(8)


@pytest.mark.parametrize("dtype", PACKED)
def test_scalars_of_every_dtype(dtype: str):
    value = scalar(1, dtype)
    assert value is not None
    assert value.type == tensor_type(ELEMENT_TYPES[dtype], [])
    assert list(map(abs, value.get_values())) == [1]
    assert scalar_value(value) == (None if dtype == "bfloat16" else 1)


@pytest.mark.parametrize("dtype", [*sorted(ELEMENT_TYPES.keys() - PACKED), "complex64", ""])
def test_dtypes_without_scalars(dtype: str):
    assert scalar(1, dtype) is None
