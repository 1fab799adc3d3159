"""Type rules of reductions: unknown dims, and errors."""

from helpers.operators.inferring import error, infer


def test_dynamic_dims():
    assert infer("sum", "?x3xf32", axis=(0,)) == "3xf32"
    assert infer("sum", "?x3xf32", axis=(1,)) == "?xf32"
    assert infer("max", "?x3xf32", axis=(0,), keepdims=True) == "1x3xf32"
    assert infer("argmax", "?x?xf32", axis=(-1,)) == "?xi32"


def test_absent_axes_are_all_and_no_axes_are_none():
    assert infer("sum", "2x3xf32") == "f32"
    assert infer("sum", "2x3xf32", exclude=True) == "f32"
    assert infer("sum", "2x3xf32", axis=()) == "2x3xf32"
    assert infer("sum", "2x3xf32", axis=(), exclude=True) == "f32"
    assert infer("sum", "2x3x4xf32", axis=(-1, 0)) == "3xf32"


def test_axes_that_are_wrong():
    assert error("sum", "2x3xf32", axis=(2,)) == "axis must be in [-2, 2), but is 2"
    assert error("sum", "2x3xf32", axis=(0, -3)) == "axis must be in [-2, 2), but is -3"
    assert error("sum", "2x3xf32", axis=(1, -1)) == "duplicate axis 1"
    assert error("sum", "f32", axis=(0,)) == "axis is 0, but a tensor of rank 0 has no axes"


def test_nothing_has_a_sum_but_no_greatest():
    assert infer("sum", "0x3xf32", axis=(0,)) == "3xf32"
    assert infer("all", "0xi1") == "i1"
    assert infer("max", "0x3xf32", axis=(1,)) == "0xf32"
    for name in ("max", "min", "mean", "argmax", "argmin"):
        assert error(name, "0x3xf32", axis=(0,)) == (
            f"relay.{name} cannot reduce axis 0: it has 0 elements"
        )


def test_element_types():
    assert error("sum", "2xi1") == (
        "the operand of relay.sum must have integer or float elements, but has i1"
    )
    assert error("mean", "2xi32") == (
        "the operand of relay.mean must have float elements, but has i32"
    )
    assert error("all", "2xf32") == "the operand of relay.all must have i1 elements, but has f32"
    for name in ("max", "argmin"):
        assert error(name, "2xcomplex<f32>") == (
            f"the operand of relay.{name} must have integer, float or i1 elements, "
            "but has complex<f32>"
        )
    assert error("argmax", "2xf32", dtype="float32") == (
        "the result of relay.argmax must have integer elements, but has f32"
    )


def test_argmax_is_over_one_axis_or_all():
    assert infer("argmin", "2x3x4xf32", axis=(0, 1, 2)) == "i32"
    assert infer("argmin", "2x3x4xf32", axis=(0, 2), exclude=True) == "2x4xi32"
    assert error("argmax", "2x3x4xf32", axis=(0, 1)) == (
        "relay.argmax must reduce one axis or all 3, but reduces 2"
    )
    assert error("argmax", "2x3x4xf32", axis=()) == (
        "relay.argmax must reduce one axis or all 3, but reduces 0"
    )
