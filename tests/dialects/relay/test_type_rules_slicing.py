"""Type rules of slices and gathering: unknown dims, and errors."""

import numpy as np
from helpers.operators.inferring import error, infer
from hypothesis import given
from hypothesis import strategies as st


def test_strided_slice_of_dynamic_dims():
    assert infer("strided_slice", "?x6xf32", begin=(1, 1), end=(3, 3)) == "?x2xf32"
    assert infer("strided_slice", "?x6xf32", begin=(1,), end=(3,), axes=(1,)) == "?x2xf32"


@given(
    st.integers(0, 6),
    st.integers(-9, 9),
    st.integers(-9, 9),
    st.integers(-4, 4).filter(bool),
)
def test_strided_slice_clamps_as_numpy_does(dim: int, begin: int, end: int, stride: int):
    size = np.zeros(dim)[begin:end:stride].size
    assert infer("strided_slice", f"{dim}xf32", begin=(begin,), end=(end,), strides=(stride,)) == (
        f"{size}xf32"
    )


@given(st.integers(0, 6), st.integers(-9, 9), st.integers(-1, 9))
def test_strided_slice_by_size(dim: int, begin: int, size: int):
    rest = np.zeros(dim)[begin:]
    expected = rest.size if size == -1 else rest[:size].size
    assert (
        infer("strided_slice", f"{dim}xf32", begin=(begin,), end=(size,), slice_mode="size")
        == f"{expected}xf32"
    )


def test_strided_slice_that_is_wrong():
    assert error("strided_slice", "5x6xf32", begin=(0, 0, 0), end=(1, 1, 1)) == (
        "begin and end must have at most 2 entries each, but have 3 and 3"
    )
    assert error("strided_slice", "5x6xf32", begin=(0,), end=(1, 1)) == (
        "begin and end must have at most 2 entries each, but have 1 and 2"
    )
    assert error("strided_slice", "5x6xf32", begin=(0,), end=(1,), axes=(0, 1)) == (
        "begin and end must have 2 entries each, but have 1 and 1"
    )
    assert error("strided_slice", "5xf32", begin=(0,), end=(1,), strides=(0,)) == (
        "strides must not be 0"
    )
    assert error("strided_slice", "5xf32", begin=(0,), end=(1,), strides=(1, 1)) == (
        "strides must have at most 1 entries, but has 2"
    )
    assert error("strided_slice", "5xf32", begin=(0,), end=(1,), axes=(1,)) == (
        "axes entry must be in [-1, 1), but is 1"
    )
    assert error("strided_slice", "5x6xf32", begin=(0, 0), end=(1, 1), axes=(0, -2)) == (
        "duplicate axes entry 0"
    )
    assert error("strided_slice", "5xf32", begin=(0,), end=(-2,), slice_mode="size") == (
        "a size must be at least -1, but is -2"
    )
    assert error("strided_slice", "5xf32", begin=(0,), end=(1,), slice_mode="stop") == (
        'slice_mode must be "end" or "size", but is "stop"'
    )


def test_take():
    assert infer("take", "?x6xf32 ?x3xi64", axis=0) == "?x3x6xf32"
    assert infer("take", "?x?xf32 ?xi64") == "?xf32"
    assert infer("take", "?x5xf32 3x2xi64", axis=1, batch_dims=1) == "3x2xf32"
    assert infer("take", "0x6xf32 0xi64", axis=0) == "0x6xf32"
    assert infer("take", "4xf32 index", axis=0) == "f32"


def test_take_that_is_wrong():
    assert error("take", "5x6xf32 2xf32", axis=0) == (
        "indices must have integer elements, but has f32"
    )
    assert error("take", "5x6xf32 2xi1", axis=0) == "indices must have integer elements, but has i1"
    assert error("take", "5x6xf32 2xi64", axis=2) == "axis must be in [-2, 2), but is 2"
    assert error("take", "f32 2xi64", axis=0) == "axis is 0, but a tensor of rank 0 has no axes"
    assert error("take", "5x6xf32 2xi64", axis=0, mode="raise") == (
        'mode must be "clip" or "wrap" or "fast", but is "raise"'
    )
    assert error("take", "5x6xf32 2xi64", batch_dims=1) == (
        "batch_dims must be 0 without axis, but is 1"
    )
    assert error("take", "5x6xf32 5x2xi64", axis=0, batch_dims=1) == (
        "batch_dims must be in [0, 0], but is 1"
    )
    assert error("take", "5x6xf32 5x2xi64", axis=1, batch_dims=-3) == (
        "batch_dims must be in [0, 1], but is -3"
    )
    assert error("take", "5x6xf32 4x2xi64", axis=1, batch_dims=1) == (
        "batch dim 0 of data and indices must be equal, but are 5 and 4"
    )
    assert error("take", "0x6xf32 2xi64", axis=0) == (
        "cannot take elements along an axis of 0 elements"
    )
