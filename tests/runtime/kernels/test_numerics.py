"""Edge cases of element types: rounding, overflow, NaN, integers."""

import math
from typing import Any

import numpy as np
import pytest
from helpers.operators.inferring import attributes

from xrelay.runtime.kernels import KERNELS


def run(name: str, *ins: Any, out: str | None = None, shape: Any = None, **attrs: Any) -> Any:
    """The operator's single result, by default of the first operand's type."""
    operands = [np.asarray(x) for x in ins]
    shape = operands[0].shape if shape is None else shape
    result = np.full(shape, 99, out or operands[0].dtype)
    with np.errstate(all="ignore"):
        KERNELS[f"relay.{name}"](attributes(name, **attrs), operands, [result])()
    return result


def test_clip_keeps_nan_and_integers_inside_their_type():
    x = np.array([np.nan, -np.inf, np.inf, 0.25], np.float32)
    np.testing.assert_array_equal(run("clip", x, a_min=-1.0, a_max=1.0), [np.nan, -1, 1, 0.25])
    small = np.array([-128, -3, 0, 3, 127], np.int8)
    assert run("clip", small, a_min=-1e9, a_max=1e9).tolist() == small.tolist()
    assert run("clip", small, a_min=-2.5, a_max=2.5).tolist() == [-2, -2, 0, 2, 2]
    assert run("clip", small, a_min=-math.inf, a_max=0.0).tolist() == [-128, -3, 0, 0, 0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int64"])
def test_relu_and_clip_of_large_arrays(dtype: str):
    x = np.random.default_rng(0).integers(0, 200, (3, 7, 401)).astype(dtype)
    if x.dtype.kind == "f":
        x.reshape(-1)[:3] = np.nan, np.inf, -np.inf
        x[1] *= -1
    np.testing.assert_array_equal(run("nn.relu", x), np.where(x < 0, 0, x))
    clipped = np.where(x < 3, 3, np.where(x > 50, 50, x))
    np.testing.assert_array_equal(run("clip", x, a_min=3.0, a_max=50.0), clipped)


def test_relu_and_its_kin_pass_nan_on():
    x = np.array([np.nan, -2, 0, 3], np.float32)
    np.testing.assert_array_equal(run("nn.relu", x), [np.nan, 0, 0, 3])
    np.testing.assert_array_equal(run("nn.leaky_relu", x, alpha=2.0), [np.nan, -4, 0, 3])
    np.testing.assert_array_equal(run("nn.leaky_relu", x, alpha=0.0), [np.nan, 0, 0, 3])
    np.testing.assert_array_equal(run("nn.leaky_relu", x, alpha=-0.5), [np.nan, 1, 0, 3])
    np.testing.assert_array_equal(run("maximum", x, x[::-1].copy()), [np.nan, 0, 0, np.nan])


def test_sums_of_half_precision_do_not_overflow_on_the_way():
    x = np.array([60000, 60000, -60000, -59990], np.float16)
    exact = float(np.sum(x.astype(np.float64)))
    assert run("sum", x, shape=()) == np.float16(exact)
    assert run("mean", x, shape=()) == np.float16(exact / 4)
    assert run("prod", np.array([4096, 4096, 2**-14, 2**-10], np.float16), shape=()) == 1
    ones = np.ones((1, 4096), np.float16)
    assert run("nn.dense", ones, ones, shape=(1, 1)) == 4096
    assert (
        run("nn.global_avg_pool2d", np.full((1, 1, 300, 300), 2.0, np.float16), shape=(1,) * 4) == 2
    )


def test_softmax_of_large_values():
    x = np.array([[1000.0, 1000.0, -1000.0]], np.float32)
    np.testing.assert_array_equal(run("nn.softmax", x), [[0.5, 0.5, 0]])
    np.testing.assert_allclose(
        run("nn.log_softmax", x), [[math.log(0.5), math.log(0.5), math.log(0.5) - 2000]]
    )


def test_argmax_takes_the_first_or_last_of_equals():
    x = np.array([[1, 3, 3], [2, 2, 2]], np.float32)
    assert run("argmax", x, out="int32", shape=(2,), axis=(1,)).tolist() == [1, 0]
    last = run("argmax", x, out="int32", shape=(2,), axis=(1,), select_last_index=True)
    assert last.tolist() == [2, 2]
    assert run("argmin", x, out="int32", shape=()) == 0


def test_take_clips_and_wraps():
    x, at = np.array([10, 20, 30]), np.array([-1, 0, 2, 3, 7])
    assert run("take", x, at, shape=(5,)).tolist() == [10, 10, 30, 30, 30]
    assert run("take", x, at, shape=(5,), mode="wrap").tolist() == [30, 10, 30, 10, 20]
    huge = np.array([2**40, -(2**40)])
    assert run("take", x, huge, shape=(2,)).tolist() == [30, 10]


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8"])
def test_max_pool_with_padding_never_chooses_it(dtype: str):
    lowest: Any = {"float32": -np.inf, "int8": -128, "uint8": 0}[dtype]
    x = np.full((1, 1, 2, 2), lowest, dtype)
    y = run("nn.max_pool2d", x, shape=(1, 1, 3, 3), pool_size=(2, 2), padding=(1, 1, 1, 1))
    assert (y == lowest).all()
