"""Type rules of operators that permute, join, split and pad: unknown dims, and errors."""

from helpers.operators.inferring import error, infer


def test_transpose():
    assert infer("transpose", "?x3xf32") == "3x?xf32"
    assert error("transpose", "2x3xf32", axes=(0,)) == "axes must have 2 entries, but has 1"
    assert error("transpose", "2x3xf32", axes=(0, 2)) == "axes entry must be in [-2, 2), but is 2"
    assert error("transpose", "2x3xf32", axes=(1, -1)) == "duplicate axes entry 1"
    assert infer("transpose", "f32", axes=()) == "f32"


def test_reverse():
    assert infer("reverse", "?xf32") == "?xf32"
    assert error("reverse", "2x3xf32", axis=2) == "axis must be in [-2, 2), but is 2"


def test_concatenate():
    assert infer("concatenate", "?x3xf32 2x?xf32") == "?x3xf32"
    assert infer("concatenate", "2x?xf32 2x3xf32", axis=0) == "4x3xf32"
    assert error("concatenate", "2x3xf32 2x4xf32") == (
        "dim 1 of operand 1 must be 3, as in operands before it, but is 4"
    )
    assert error("concatenate", "2x3xf32 2xf32") == (
        "operand 1 of relay.concatenate must have rank 2, but has rank 1"
    )
    assert error("concatenate", "2xf32 2xi32") == (
        "operands of relay.concatenate must have one element type, but operand 0 has f32 "
        "and operand 1 has i32"
    )
    assert error("concatenate", "") == "relay.concatenate expects at least 1 operand, but got 0"
    assert error("concatenate", "f32 f32") == "axis is 0, but a tensor of rank 0 has no axes"
    assert error("concatenate", "2xf32 2xf32", axis=-2) == "axis must be in [-1, 1), but is -2"
    half = "4611686018427387904xf32"
    assert error("concatenate", f"{half} {half}") == (
        f"dim 0 of the result must be below 2^63, but is {2**63}"
    )


def test_dims_that_are_known_of_some_operands():
    assert infer("concatenate", "2x?x?xf32 2x3x?xf32 2x3x4xf32") == "6x3x4xf32"
    assert error("concatenate", "2x?xf32 2x3xf32 2x4xf32") == (
        "dim 1 of operand 2 must be 3, as in operands before it, but is 4"
    )


def test_stack():
    assert infer("stack", "2x?xf32 ?x3xf32", axis=-1) == "2x3x2xf32"
    assert (
        error("stack", "2xf32 3xf32")
        == "dim 0 of operand 1 must be 2, as in operands before it, but is 3"
    )
    assert error("stack", "2xf32", axis=2) == "axis must be in [-2, 2), but is 2"
    assert error("stack", "") == "relay.stack expects at least 1 operand, but got 0"


def test_split():
    assert infer("split", "?x2xf32", indices_or_sections=2) == "?x2xf32 ?x2xf32"
    assert infer("split", "?xf32", indices_or_sections=(2, 5)) == "2xf32 3xf32 ?xf32"
    assert infer("split", "3xf32", indices_or_sections=()) == "3xf32"
    assert error("split", "7xf32", indices_or_sections=3) == (
        "sections must divide the dim: 3 does not divide 7"
    )
    assert error("split", "7xf32", indices_or_sections=0) == (
        "indices_or_sections must be at least 1, but is 0"
    )
    assert error("split", "?xf32", indices_or_sections=2**40) == (
        f"indices_or_sections must be at most 65536, but is {2**40}"
    )
    assert error("split", "7xf32", indices_or_sections=(4, 2)) == (
        "split points must ascend from 0, but are [4, 2]"
    )
    assert error("split", "7xf32", indices_or_sections=(-1,)) == (
        "split points must ascend from 0, but are [-1]"
    )
    assert error("split", "7xf32", indices_or_sections=(2, 8)) == (
        "split points must be at most 7, but are [2, 8]"
    )
    assert error("split", "7xf32", indices_or_sections=7, axis=1) == (
        "axis must be in [-1, 1), but is 1"
    )
    assert error("split", "7xf32") == (
        "relay.split needs indices_or_sections, an integer or an array of integers"
    )


def test_pad():
    assert infer("nn.pad", "?x3xf32 f32", pad_width=(1, 1, 2, 0)) == "?x5xf32"
    assert error("nn.pad", "2x3xf32 f32", pad_width=(1, 1)) == (
        "pad_width must have 4 entries, but has 2"
    )
    assert error("nn.pad", "3xf32 f32", pad_width=(-1, 0)) == (
        "pad_width must be at least 0, but is -1"
    )
    assert error("nn.pad", "3xf32 1xf32", pad_width=(0, 0)) == (
        "pad_value must have rank 0, but has rank 1"
    )
    assert error("nn.pad", "3xf32 f64", pad_width=(0, 0)) == (
        "operands of relay.nn.pad must have one element type, but operand 0 has f32 "
        "and operand 1 has f64"
    )
    assert error("nn.pad", "3xf32 f32", pad_width=(0, 0), pad_mode="wrap") == (
        'pad_mode must be "constant" or "edge" or "reflect", but is "wrap"'
    )
    assert error("nn.pad", "3xf32 f32", pad_width=(0, 3), pad_mode="reflect") == (
        "pad_width at axis 0 must be below 3 to reflect a dim of 3, but is 3"
    )
    assert error("nn.pad", "0xf32 f32", pad_width=(1, 0), pad_mode="edge") == (
        "cannot edge-pad axis 0: it has 0 elements"
    )
