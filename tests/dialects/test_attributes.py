"""Properties of operators as plain Python values, and back."""

from typing import Any

import pytest
from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    NoneType,
    StringAttr,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.attributes import (
    ELEMENT_TYPES,
    attribute_of,
    plain_attributes,
    plain_value,
    properties_of,
)
from xrelay.dialects.relay.convolution import Conv2dOp
from xrelay.dialects.relay.elementwise import ClipOp, ReluOp
from xrelay.dialects.relay.rearrange import SplitOp
from xrelay.dialects.relay.reduce import SumOp
from xrelay.dialects.tensors import dtype_name


@pytest.mark.parametrize(
    ("attr", "expected"),
    [
        (IntegerAttr(-3, i64), -3),
        (IntegerAttr(7, i8), 7),
        (IntegerAttr.from_index_int_value(5), 5),
        (BoolAttr.from_bool(True), True),
        (BoolAttr.from_bool(False), False),
        (IntegerAttr(-1, i1), True),
        (FloatAttr(0.5, f64), 0.5),
        (FloatAttr(0.1, f64), 0.1),
        (FloatAttr(float("inf"), f64), float("inf")),
        (StringAttr("NCHW"), "NCHW"),
        (DenseArrayBase.from_list(i64, [1, -2]), (1, -2)),
        (DenseArrayBase.from_list(i64, []), ()),
        (f32, "float32"),
        (i1, "bool"),
        (i32, "int32"),
    ],
)
def test_plain_values(attr: Attribute, expected: object):
    plain = plain_attributes(TestOp(properties={"a": attr}))
    assert plain == {"a": expected}
    assert type(plain["a"]) is type(expected)


def test_attributes_that_are_no_properties_are_left_out():
    op = TestOp(properties={"a": IntegerAttr(1, i64)}, attributes={"note": StringAttr("x")})
    assert plain_attributes(op) == {"a": 1}


def test_segment_sizes_are_left_out():
    sizes = DenseArrayBase.from_list(i32, [1, 0])
    op = TestOp(properties={"operandSegmentSizes": sizes, "resultSegmentSizes": sizes})
    assert plain_attributes(op) == {}


@pytest.mark.parametrize("attr", [ArrayAttr([f32]), NoneType()])
def test_what_has_no_plain_value(attr: Attribute):
    with pytest.raises(VerifyException) as info:
        plain_attributes(TestOp(properties={"a": attr}))
    assert str(info.value) == (
        f"a of test.op must be an integer, float, string, array or element type, but is {attr}"
    )


def test_defaults_are_there_and_absent_options_are_not():
    assert plain_attributes(SumOp.create()) == {"keepdims": False, "exclude": False}
    assert plain_attributes(Conv2dOp.create()) == {
        "strides": (1, 1),
        "padding": (0, 0, 0, 0),
        "dilation": (1, 1),
        "groups": 1,
        "data_layout": "NCHW",
        "kernel_layout": "OIHW",
    }


def test_properties_by_what_the_operator_takes():
    assert properties_of(SumOp, {"axis": [0, 1], "keepdims": 1}) == {
        "axis": DenseArrayBase.from_list(i64, [0, 1]),
        "keepdims": BoolAttr.from_bool(True),
    }
    assert properties_of(ClipOp, {"a_min": 0, "a_max": 6.5}) == {
        "a_min": FloatAttr(0.0, f64),
        "a_max": FloatAttr(6.5, f64),
    }
    assert properties_of(SplitOp, {"indices_or_sections": 1}) == {
        "indices_or_sections": IntegerAttr(1, i64)
    }
    assert properties_of(SplitOp, {"indices_or_sections": (0,)}) == {
        "indices_or_sections": DenseArrayBase.from_list(i64, [0])
    }
    assert properties_of(Conv2dOp, {"out_dtype": "float16", "data_layout": "NHWC"}) == {
        "out_dtype": ELEMENT_TYPES["float16"],
        "data_layout": StringAttr("NHWC"),
    }


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"axes": (1,)},
            "relay.sum has no attribute axes (its attributes: axis, keepdims, exclude)",
        ),
        ({"axis": 1}, "axis of relay.sum must be a list of integers, but is 1"),
        ({"axis": (1.5,)}, "axis of relay.sum must be a list of integers, but is (1.5,)"),
        ({"axis": "1"}, "axis of relay.sum must be a list of integers, but is '1'"),
        ({"axis": None}, "axis of relay.sum must be a list of integers, but is None"),
        ({"axis": (2**63,)}, f"axis of relay.sum must be a list of integers, but is ({2**63},)"),
        ({"keepdims": 2}, "keepdims of relay.sum must be a bool, but is 2"),
    ],
)
def test_values_that_an_operator_does_not_take(values: dict[str, Any], message: str):
    with pytest.raises(VerifyException) as info:
        properties_of(SumOp, values)
    assert str(info.value) == message


def test_an_operator_without_attributes():
    assert properties_of(ReluOp, {}) == {}
    with pytest.raises(VerifyException, match=r"relay\.nn\.relu has no attribute alpha") as info:
        properties_of(ReluOp, {"alpha": 1.0})
    assert str(info.value).endswith("(its attributes: none)")


def test_names_of_element_types():
    for name, type in ELEMENT_TYPES.items():
        assert dtype_name(type) == name


@pytest.mark.parametrize(
    ("value", "attr"),
    [
        (True, BoolAttr.from_bool(True)),
        (-3, IntegerAttr(-3, i64)),
        (2**63, None),
        (0.5, FloatAttr(0.5, f64)),
        ("NCHW", StringAttr("NCHW")),
        ((1, 2), DenseArrayBase.from_list(i64, [1, 2])),
        ([], DenseArrayBase.from_list(i64, [])),
        ((1, True), None),
        ((1, 0.5), None),
        (None, None),
    ],
)
def test_attributes_by_the_class_of_the_value(value: object, attr: Attribute | None):
    assert attribute_of(value) == attr
    if attr is not None and not isinstance(value, list):
        assert plain_value(attr) == value
