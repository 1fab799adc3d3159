"""Type rules of elementwise and broadcasting operators: unknown dims, and errors."""

import re

import pytest
from helpers.operators.inferring import error, infer


@pytest.mark.parametrize(
    ("operands", "result"),
    [
        ("?xf32 ?xf32", "?xf32"),
        ("?xf32 4xf32", "4xf32"),
        ("?xf32 1xf32", "?xf32"),
        ("?xf32 0xf32", "0xf32"),
        ("2x?xf32 ?x1xf32", "2x?xf32"),
        ("f32 ?x3xf32", "?x3xf32"),
        ("f32 f32", "f32"),
        ("1x0xf32 5x1xf32", "5x0xf32"),
        ("2x3xbf16 bf16", "2x3xbf16"),
        ("4xindex 4xindex", "4xindex"),
        ("9223372036854775807xi4 1xi4", "9223372036854775807xi4"),
    ],
)
def test_broadcasting(operands: str, result: str):
    assert infer("add", operands) == result
    assert infer("maximum", operands) == result
    dims = re.match(r"([?\d]+x)*", result)
    assert dims is not None
    assert infer("less", operands) == f"{dims[0]}i1"


def test_dims_that_do_not_broadcast():
    message = "dims 2 and 3 at axis -1 do not broadcast together"
    assert error("add", "2xf32 3xf32") == message
    assert error("equal", "2xf32 3xf32") == message
    assert error("less", "3xf32 2xf32") == "dims 3 and 2 at axis -1 do not broadcast together"
    assert error("where", "i1 2xf32 3xf32") == message
    assert error("add", "0x1xf32 4x1xf32") == "dims 0 and 4 at axis -2 do not broadcast together"


def test_operands_of_two_element_types():
    assert error("add", "2xf32 2xi32") == (
        "operands of relay.add must have one element type, but operand 0 has f32 "
        "and operand 1 has i32"
    )
    assert error("less", "2xi64 2xi32") == (
        "operands of relay.less must have one element type, but operand 0 has i64 "
        "and operand 1 has i32"
    )
    assert error("where", "2xi1 2xf32 2xf64") == (
        "x and y of relay.where must have one element type, but they have f32 and f64"
    )


def test_element_types_of_the_wrong_kind():
    assert error("add", "2xi1 2xi1") == (
        "operands of relay.add must have integer or float elements, but has i1"
    )
    assert error("exp", "2xi32") == "the operand of relay.exp must have float elements, but has i32"
    assert error("negative", "i1") == (
        "the operand of relay.negative must have integer or float elements, but has i1"
    )
    assert error("logical_not", "2xi8") == (
        "the operand of relay.logical_not must have i1 elements, but has i8"
    )
    assert error("logical_and", "2xf32 2xf32") == (
        "operands of relay.logical_and must have i1 elements, but has f32"
    )
    assert error("isnan", "2xi32") == (
        "the operand of relay.isnan must have float elements, but has i32"
    )
    assert error("where", "2xi32 2xf32 2xf32") == "condition must have i1 elements, but has i32"
    for name in ("maximum", "multiply", "less", "equal"):
        assert error(name, "2xcomplex<f32> 2xcomplex<f32>") == (
            f"operands of relay.{name} must have integer, float or i1 elements, "
            "but has complex<f32>"
        )
    assert error("abs", "2xnone") == (
        "the operand of relay.abs must have integer or float elements, but has none"
    )


def test_operands_of_the_wrong_number():
    assert error("add", "2xf32") == "relay.add expects 2 operands, but got 1"
    assert error("nn.relu", "2xf32 2xf32") == "relay.nn.relu expects 1 operand, but got 2"
    assert error("nn.relu", "") == "relay.nn.relu expects 1 operand, but got 0"


def test_operands_that_are_no_ranked_tensors():
    assert error("nn.relu", '!test.type<"x">') == (
        'operand 0 of relay.nn.relu must be a tensor, but is !test.type<"x">'
    )
    assert error("add", "2xf32 tensor<*xf32>") == (
        "operand 1 of relay.add must be a tensor, but is tensor<*xf32>"
    )


def test_cast():
    assert infer("cast", "2x?xf32", dtype="int64") == "2x?xi64"
    assert infer("cast", "f32", dtype="bool") == "i1"
    assert error("cast", "2xf32") == "relay.cast needs dtype, an element type"
    assert error("cast", "2xf32", dtype="float5") == (
        "dtype of relay.cast must be the name of a dtype, but is 'float5'"
    )


def test_gelu_and_clip():
    assert error("nn.gelu", "2xf32", approximate="sigmoid") == (
        'approximate must be "none" or "tanh", but is "sigmoid"'
    )
    assert error("clip", "2xi1", a_min=0.0, a_max=1.0) == (
        "the operand of relay.clip must have integer or float elements, but has i1"
    )


def test_a_vector_along_an_axis():
    assert infer("nn.bias_add", "?x?x4xf32 3xf32") == "?x?x4xf32"
    assert infer("nn.prelu", "2x3xf32 ?xf32") == "2x3xf32"
    assert error("nn.bias_add", "2x3xf32 4xf32") == (
        "operand 1 of relay.nn.bias_add has 4 elements, but axis 1 of operand 0 has 3"
    )
    assert error("nn.bias_add", "2x3xf32 3x1xf32") == (
        "operand 1 of relay.nn.bias_add must have rank 1, but has rank 2"
    )
    assert error("nn.bias_add", "2x3xf32 3xf32", axis=5) == "axis must be in [-2, 2), but is 5"
    assert error("nn.bias_add", "f32 3xf32") == "axis is 1, but a tensor of rank 0 has no axes"


def test_broadcast_to():
    assert infer("broadcast_to", "?x1xf32", shape=(4, 5)) == "4x5xf32"
    assert error("broadcast_to", "2x3xf32", shape=(3,)) == (
        "shape must have at least 2 entries, but has 1"
    )
    assert error("broadcast_to", "2xf32", shape=(4, 3)) == (
        "dim 2 at axis -1 does not broadcast to 3"
    )
    assert error("broadcast_to", "2xf32", shape=(-1, 2)) == "shape must be at least 0, but is -1"
    assert error("broadcast_to", "0xf32", shape=(1,)) == "dim 0 at axis -1 does not broadcast to 1"


def test_full():
    assert error("full", "1xf32", shape=(2,)) == "fill_value must have rank 0, but has rank 1"
    assert error("full", "f32", shape=(2, -5)) == "shape must be at least 0, but is -5"
    assert error("full", "f32") == "relay.full needs shape, an array of integers"


def test_tile_and_repeat():
    assert infer("tile", "?x3xf32", reps=(2, 1, 4)) == "2x?x12xf32"
    assert infer("tile", "?xf32", reps=(1,)) == "?xf32"
    assert error("tile", "3xf32", reps=(2, -1)) == "reps must be at least 0, but is -1"
    assert error("tile", "4xf32", reps=(2**62,)) == (
        f"dim 0 of the result must be below 2^63, but is {2**64}"
    )
    assert infer("repeat", "?x3xf32", repeats=2, axis=0) == "?x3xf32"
    assert error("repeat", "3xf32", repeats=0) == "repeats must be at least 1, but is 0"
    assert error("repeat", "3xf32", repeats=2, axis=1) == "axis must be in [-1, 1), but is 1"
    assert error("repeat", "f32", repeats=2) == "axis is 0, but a tensor of rank 0 has no axes"
