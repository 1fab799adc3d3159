"""Type rules of reshaping operators: unknown dims, and errors."""

from helpers.operators.inferring import error, infer


def reshaped(shape: str, *newshape: int, allowzero: bool = False) -> str:
    return infer("reshape", f"{shape}xf32", newshape=newshape, allowzero=allowzero)[: -len("xf32")]


def refused(shape: str, *newshape: int, allowzero: bool = False) -> str:
    return error("reshape", f"{shape}xf32", newshape=newshape, allowzero=allowzero)


def test_dynamic_dims():
    assert reshaped("?x3x4", 0, -1) == "?x12"
    assert reshaped("?x3x4", -1, 12) == "?x12"
    assert reshaped("?x3x4", -1, 4, 3) == "?x4x3"
    assert reshaped("?x?", 0, 0) == "?x?"
    assert reshaped("?x3", 6) == "6"
    assert reshaped("?x4", -3) == "?"
    assert reshaped("?x4", -4, -1, 2, 0) == "?x2x4"
    assert reshaped("?x4", -2) == "?x4"
    assert infer("nn.batch_flatten", "?x?x4xf32") == "?x?xf32"
    assert infer("nn.batch_flatten", "?x3x4xf32") == "?x12xf32"
    assert infer("expand_dims", "?xf32", axis=0) == "1x?xf32"
    assert infer("squeeze", "?x3xf32", axis=(0,)) == "3xf32"


def test_relay_codes():
    """The examples of Relay's documentation of `reshape`, worked by hand."""
    assert reshaped("2x3x4", 4, 0, 2) == "4x3x2"
    assert reshaped("2x3x4", 2, 0, 0) == "2x3x4"
    assert reshaped("2x3x4", 6, 1, -1) == "6x1x4"
    assert reshaped("2x3x4", 3, -1, 8) == "3x1x8"
    assert reshaped("2x3x4", -1) == "24"
    assert reshaped("2x3x4", -2, 1, 1) == "2x3x4x1x1"
    assert reshaped("2x3x4", -3, 4) == "6x4"
    assert reshaped("2x3x4x5", -3, -3) == "6x20"
    assert reshaped("2x3x4", 0, -3) == "2x12"
    assert reshaped("2x3x4", -3, -2) == "6x4"
    assert reshaped("2x3x4", 2, -4, -1, 3, -2) == "2x1x3x4"


def test_dims_of_zero():
    assert reshaped("0x3", 0, -1) == "0x3"
    assert reshaped("0x3", -1, 3) == "0x3"
    assert reshaped("0x3", 3, 0, allowzero=True) == "3x0"
    assert (
        refused("0x3", -1, 0, allowzero=True)
        == "cannot infer the -1 in newshape: another dimension is 0"
    )
    assert refused("0x3", 3, 3) == "cannot reshape a tensor of 0x3 to 3, 3"


def test_what_does_not_fit():
    assert refused("2x3", 7) == "cannot reshape a tensor of 2x3 to 7"
    assert refused("2x3", 4, -1) == "cannot reshape a tensor of 2x3 to 4, -1"
    assert refused("2x3") == "cannot reshape a tensor of 2x3 to a scalar"
    assert error("reshape", "f32", newshape=(2,)) == "cannot reshape a tensor of a scalar to 2"
    assert refused("2x3", -1, -1) == "newshape must have at most one -1, but entry 1 is another"
    assert refused("2x3", 6, -5) == "newshape entries must be at least -4, but entry 1 is -5"


def test_codes_without_dims():
    assert refused("2x3", 2, 3, 0) == (
        "newshape entry 2 is 0, which needs dim 2 of the operand, but its rank is 2"
    )
    assert refused("2", -3) == (
        "newshape entry 0 is -3, which needs dim 1 of the operand, but its rank is 1"
    )
    assert (
        refused("6", -4, 2) == "newshape entry 0 is -4, which needs two entries after it, but has 1"
    )
    assert refused("6", -4, -1, -1) == (
        "the two entries after -4 must be at least 1, or one of them -1, but are -1 and -1"
    )
    assert refused("6", -4, 4, -1) == "cannot split a dim of 6 into parts of 4"
    assert refused("6", -4, 2, 4) == "cannot split a dim of 6 into 2 times 4"


def test_batch_flatten():
    assert error("nn.batch_flatten", "f32") == "data must have rank at least 1, but has rank 0"
    big = "x".join(["4294967296"] * 3)
    assert error("nn.batch_flatten", f"{big}xf32") == (
        f"dim 1 of the result must be below 2^63, but is {2**64}"
    )


def test_expand_dims():
    assert error("expand_dims", "2x3xf32", axis=3) == "axis must be in [-3, 2], but is 3"
    assert error("expand_dims", "2x3xf32", axis=-4) == "axis must be in [-3, 2], but is -4"
    assert error("expand_dims", "2xf32", axis=0, num_newaxis=2**40) == (
        f"num_newaxis must be in [0, 32], but is {2**40}"
    )
    assert error("expand_dims", "2xf32", axis=0, num_newaxis=-1) == (
        "num_newaxis must be in [0, 32], but is -1"
    )


def test_squeeze():
    assert error("squeeze", "1x2xf32", axis=(1,)) == "dim 1 must be 1 to be squeezed, but is 2"
    assert error("squeeze", "1x1xf32", axis=(0, -2)) == "duplicate axis 0"
    assert error("squeeze", "1x?xf32") == ("squeeze needs axis: dim 1 of the operand is dynamic")
    assert error("squeeze", "f32", axis=(0,)) == "axis is 0, but a tensor of rank 0 has no axes"
