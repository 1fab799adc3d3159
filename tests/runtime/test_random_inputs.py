"""Values drawn from a seed."""

import numpy as np
import pytest

from xrelay.runtime.calls.random_inputs import (
    random_input,
    random_inputs,
    random_parameter,
    random_parameters,
)
from xrelay.runtime.errors import MachineError
from xrelay.runtime.program.program import Late, Param, TensorSpec


def test_a_value_depends_on_seed_and_name_only():
    spec = TensorSpec("float32", (3, 4))
    first = random_parameter("w", spec, 0)
    np.testing.assert_array_equal(first, random_parameter("w", spec, 0))
    assert not np.array_equal(first, random_parameter("v", spec, 0))
    assert not np.array_equal(first, random_parameter("w", spec, 1))
    both = random_parameters([Late("v", spec), Late("w", spec)], 0)
    np.testing.assert_array_equal(both["w"], first)


def test_weights_are_scaled_by_their_fan_in():
    kernel = random_parameter("w", TensorSpec("float32", (64, 32, 3, 3)), 0)
    assert kernel.dtype == np.float32
    assert kernel.std() == pytest.approx((2 / 288) ** 0.5, rel=0.02)
    assert abs(kernel.mean()) < 0.01


def test_vectors_are_positive():
    vector = random_parameter("var", TensorSpec("float64", (1000,)), 0)
    assert vector.min() >= 0.5
    assert vector.max() <= 1.5
    assert 0.5 <= random_parameter("s", TensorSpec("float32", ()), 0).item() <= 1.5


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int64", "float16", "float32", "float64"]
)
def test_inputs_of_every_kind(dtype: str):
    for shape in [(5, 7), (), (0,)]:
        x = random_input("x", TensorSpec(dtype, shape), 3)
        assert (x.dtype.name, x.shape) == (dtype, shape)
        assert random_parameter("x", TensorSpec(dtype, shape), 3).dtype.name == dtype
    x = random_input("x", TensorSpec(dtype, (500,)), 3)
    if not dtype.startswith("float"):
        assert set(np.unique(x)) == set(range(2 if dtype == "bool" else 10))


def test_what_cannot_be_drawn():
    with pytest.raises(MachineError, match=r"'x', whose shape is dynamic: float32\[\?, 2\]"):
        random_input("x", TensorSpec("float32", (None, 2)), 0)
    with pytest.raises(MachineError, match="'t': it is not a tensor"):
        random_inputs([Param("t", None)], 0)


def test_arrays_that_numpy_does_not_have():
    spec = TensorSpec("float32", (10**18, 0, 6))
    with pytest.raises(MachineError, match=r"'x', float32\[.*\], exceeds NumPy's array size limit"):
        random_input("x", spec, 0)
