"""Conversion of dense constants to arrays and back, for every element type of NumPy."""

import numpy as np
import pytest
from helpers.programs.programs import parse
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from xdsl.dialects.builtin import bf16, f32

from xrelay.dialects import relay
from xrelay.dialects.attributes import ELEMENT_TYPES
from xrelay.dialects.device import VirtualDeviceAttr, tensor_type
from xrelay.operators.element_types import NUMBER_TYPES
from xrelay.passes.analysis.arrays import Array, array_of, dense_of, numpy_dtype

NAMES = list(NUMBER_TYPES)


def constant(text: str) -> relay.ConstantOp:
    op = parse(f"%0 = relay.constant {text}").body.block.first_op
    assert isinstance(op, relay.ConstantOp)
    return op


@exactly(100)
@given(
    st.sampled_from(NAMES).flatmap(
        lambda name: npst.arrays(np.dtype(name), npst.array_shapes(min_dims=0, min_side=0))
    )
)
def test_there_and_back(array: Array):
    type = tensor_type(ELEMENT_TYPES[array.dtype.name], list(array.shape))
    dense = dense_of(array, type)
    dense.verify()
    again = array_of(dense)
    assert again is not None
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(again, array)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("dense<[1.0, -2.5]> : tensor<2xf32>", np.array([1.0, -2.5], np.float32)),
        ("dense<3> : tensor<2x2xi64>", np.full((2, 2), 3, np.int64)),
        ("dense<true> : tensor<i1>", np.array(True)),
        ("dense<[true, false, true]> : tensor<3xi1>", np.array([True, False, True])),
        ("dense<[-1, 127]> : tensor<2xi8>", np.array([-1, 127], np.int8)),
        ("dense<[0, 255]> : tensor<2xui8>", np.array([0, 255], np.uint8)),
        ("dense<> : tensor<0x4xf64>", np.zeros((0, 4))),
        ("dense<0.5> : tensor<f16>", np.array(0.5, np.float16)),
    ],
)
def test_constants_of_the_text(text: str, wanted: Array):
    array = array_of(constant(text).value)
    assert array is not None
    assert array.dtype == wanted.dtype
    np.testing.assert_array_equal(array, wanted)
    assert array.shape == wanted.shape


def test_an_array_of_a_constant_is_read_only():
    array = array_of(constant("dense<[1.0, 2.0]> : tensor<2xf32>").value)
    assert array is not None
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 3.0


def test_what_numpy_does_not_have():
    assert numpy_dtype(tensor_type(bf16, [2])) is None
    assert array_of(constant("dense<1.0> : tensor<2xbf16>").value) is None


def test_a_device_is_no_part_of_a_constant():
    type = tensor_type(f32, [2], VirtualDeviceAttr("cuda", 0))
    assert dense_of(np.zeros(2, np.float32), type).type == tensor_type(f32, [2])
