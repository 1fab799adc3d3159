"""Type rules of matrix products: unknown dims, and errors."""

from helpers.operators.inferring import error, infer


def test_dynamic_dims():
    assert infer("nn.dense", "?x4xf32 5x4xf32") == "?x5xf32"
    assert infer("nn.dense", "2x?xf32 5x4xf32") == "2x5xf32"
    assert infer("nn.dense", "2x4xf32 ?x4xf32") == "2x?xf32"
    assert infer("nn.matmul", "?x?xf32 ?x?xf32", transpose_a=True) == "?x?xf32"
    assert infer("nn.batch_matmul", "?x2x4xf32 3x5x4xf32") == "3x2x5xf32"
    assert infer("nn.batch_matmul", "1x2x4xf32 ?x5x4xf32") == "?x2x5xf32"
    assert infer("nn.batch_matmul", "?x2x4xf32 1x5x4xf32") == "?x2x5xf32"
    assert infer("nn.batch_matmul", "3x2x4xf32 ?x5x4xf32") == "3x2x5xf32"


def test_dims_that_are_summed_over():
    message = "the reduced dims must be equal, but are {} and {}"
    assert error("nn.dense", "2x3xf32 5x4xf32") == message.format(3, 4)
    assert error("nn.matmul", "2x3xf32 4x5xf32") == message.format(3, 4)
    assert error("nn.matmul", "2x3xf32 3x5xf32", transpose_a=True) == message.format(2, 3)
    assert error("nn.matmul", "2x3xf32 3x5xf32", transpose_b=True) == message.format(3, 5)
    assert error("nn.batch_matmul", "1x2x3xf32 1x3x5xf32") == message.format(3, 5)


def test_batches():
    assert infer("nn.batch_matmul", "0x2x4xf32 1x5x4xf32") == "0x2x5xf32"
    assert error("nn.batch_matmul", "2x2x4xf32 3x5x4xf32") == (
        "batches must be equal or 1, but are 2 and 3"
    )


def test_ranks():
    assert error("nn.dense", "f32 5x4xf32") == "data must have rank at least 1, but has rank 0"
    assert error("nn.dense", "2x4xf32 4xf32") == "weight must have rank 2, but has rank 1"
    assert error("nn.matmul", "4xf32 4x5xf32") == "a must have rank 2, but has rank 1"
    assert error("nn.batch_matmul", "1x2x4xf32 5x4xf32") == "y must have rank 3, but has rank 2"


def test_element_types():
    assert error("nn.dense", "2x4xf32 5x4xf64") == (
        "operands of relay.nn.dense must have one element type, but operand 0 has f32 "
        "and operand 1 has f64"
    )
    assert infer("nn.dense", "2x4xui8 5x4xi8", out_dtype="int32") == "2x5xi32"
    assert error("nn.dense", "2x4xi1 5x4xi1") == (
        "operand 0 of relay.nn.dense must have integer or float elements, but has i1"
    )
    assert error("nn.dense", "2x4xi8 5x4xi8", out_dtype="bool") == (
        "the result of relay.nn.dense must have integer or float elements, but has i1"
    )
