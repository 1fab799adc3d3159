"""Type rules of softmax and normalizations: unknown dims, and errors."""

from helpers.operators.inferring import error, infer


def test_dynamic_dims():
    assert infer("nn.softmax", "?x3xf32") == "?x3xf32"
    assert infer("nn.layer_norm", "2x?xf32 4xf32 ?xf32") == "2x4xf32"
    assert infer("nn.batch_norm", "?x3xf32 3xf32 ?xf32 3xf32 ?xf32") == "?x3xf32 3xf32 ?xf32"
    assert infer("nn.lrn", "?x?x?x?xf32") == "?x?x?x?xf32"


def test_softmax():
    assert error("nn.softmax", "2x3xf32", axis=2) == "axis must be in [-2, 2), but is 2"
    assert error("nn.log_softmax", "f32") == "axis is -1, but a tensor of rank 0 has no axes"
    assert error("nn.softmax", "2xi32") == (
        "the operand of relay.nn.softmax must have float elements, but has i32"
    )


def test_vectors_of_normalizations():
    assert error("nn.layer_norm", "2x4xf32 3xf32 4xf32") == "the dim of gamma must be 4, but is 3"
    assert error("nn.layer_norm", "2x4xf32 4xf32 4x1xf32") == (
        "beta must have rank 1, but has rank 2"
    )
    assert error("nn.batch_norm", "2x3xf32 3xf32 3xf32 2xf32 3xf32") == (
        "the dim of moving_mean must be 3, but is 2"
    )
    assert error("nn.batch_norm", "2x3xf32 3xf32 3xf32 3xf64 3xf32") == (
        "operands of relay.nn.batch_norm must have one element type, but operand 0 has f32 "
        "and operand 3 has f64"
    )
    assert error("nn.batch_norm", "3xf32 3xf32 3xf32 3xf32 3xf32") == (
        "axis must be in [-1, 1), but is 1"
    )
    assert error("nn.layer_norm", "2x4xi32 4xi32 4xi32") == (
        "operands of relay.nn.layer_norm must have float elements, but has i32"
    )


def test_lrn():
    assert error("nn.lrn", "1x3x2x2xf32", size=0) == "size must be at least 1, but is 0"
    assert error("nn.lrn", "1x3x2x2xf32", axis=4) == "axis must be in [-4, 4), but is 4"
