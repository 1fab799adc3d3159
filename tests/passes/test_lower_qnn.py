"""
Quantized operators compute what their definitions say, in exact numbers, and what onnxruntime does.

The machine runs the programs. Quotients of scales that are multiples of 2^-20 are exact in 31
bits, so that results are rounded real numbers.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import Array, run_onnxruntime
from helpers.onnx.onnx_programs import model, value
from helpers.programs.every_case import seeds
from helpers.programs.programs import parse
from onnx import helper

import xrelay
from xrelay.dialects import qnn
from xrelay.passes.lower_qnn import RULES

INTEGERS = ("int8", "uint8", "int16", "int32")


def typed(array: Array) -> str:
    """Return the type of an array in the text of IR."""
    names = {"float32": "f32", "uint8": "ui8", "int8": "i8", "int16": "i16", "int32": "i32"}
    return "x".join([*map(str, array.shape), names[str(array.dtype)]])


def run(op: str, operands: Sequence[Array], result: Array, attributes: str = "") -> Array:
    """Run an operator whose first operands, as many as `result` needs, are arguments."""
    args = [a for a in operands if (a.dtype != np.float32 and a.ndim) or a.size > 8]
    types = [f"tensor<{typed(a)}>" for a in operands]
    lines: list[str] = []
    for i, array in enumerate(operands):
        if not any(array is arg for arg in args):
            lines.append(
                f"%v{i} = relay.constant dense<{np.asarray(array, object).tolist()}> : {types[i]}"
            )
    params = ", ".join(
        f"%v{i}: {types[i]}" for i, a in enumerate(operands) if any(a is arg for arg in args)
    )
    names = ", ".join(f"%v{i}" for i in range(len(operands)))
    returned = f"tensor<{typed(result)}>"
    lines += [
        f"%r = qnn.{op} {names} {{{attributes}}} : ({', '.join(types)}) -> {returned}",
        f"func.return %r : {returned}",
    ]
    text = f"func.func @main({params}) -> {returned} {{\n" + "\n".join(lines) + "\n}"
    return np.asarray(xrelay.compile(parse(text))(*args))


def clamped(number: int, dtype: str) -> int:
    bounds = np.iinfo(dtype)
    return max(bounds.min, min(bounds.max, number))


def rounded(number: Fraction, rounding: str) -> int:
    """Round halves up, or away from zero."""
    if rounding == "UPWARD" or number >= 0:
        return floor(number + Fraction(1, 2))
    return -floor(-number + Fraction(1, 2))


def i32(value: int) -> Array:
    return np.array(value, np.int32)


def f32(value: Any) -> Array:
    return np.array(value, np.float32)


@pytest.mark.parametrize("compute_dtype", ["int64", "float32", "float64"])
@pytest.mark.parametrize("rounding", ["UPWARD", "TONEAREST"])
@seeds(12)
def test_requantize(seed: int, rounding: str, compute_dtype: str):
    rng = np.random.default_rng(seed)
    source, target = rng.choice(["int8", "uint8", "int32"]), rng.choice(INTEGERS)
    limit = 2**18 if source == "int32" else 2**8
    x = rng.integers(-limit, limit, 40).clip(*limits(source)).astype(source)
    denominator = int(rng.choice([1, 2, 8, 64]))
    scale, output = f32(int(rng.integers(1, 40)) / denominator), f32(int(rng.choice([1, 2, 16])))
    zero, output_zero = (int(n) for n in rng.integers(-5, 100, 2))
    result = np.zeros(40, target)
    attributes = f'rounding = "{rounding}", compute_dtype = "{compute_dtype}", out_dtype = '
    operands = [x, scale, i32(zero), output, i32(output_zero)]
    actual = run("requantize", operands, result, attributes + typed(result).split("x")[-1])
    quotient = Fraction(float(scale)) / Fraction(float(output))
    expected = [
        clamped(rounded((int(n) - zero) * quotient + output_zero, rounding), str(target))
        if compute_dtype != "int64"
        else clamped(rounded((int(n) - zero) * quotient, rounding) + output_zero, str(target))
        for n in x
    ]
    np.testing.assert_array_equal(actual, expected)


def limits(dtype: str) -> tuple[int, int]:
    return np.iinfo(dtype).min, np.iinfo(dtype).max


@seeds(20)
def test_requantize_by_any_scales(seed: int):
    """The result of 31 bits differs from the rounded real number near halves only."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-(2**20), 2**20, (4, 30), np.int32)
    scales, output = f32(rng.uniform(1e-4, 0.9, 4)), f32(rng.uniform(0.1, 2))
    operands = [x, scales, i32(0), output, i32(-3)]
    actual = run("requantize", operands, x, "axis = 0, out_dtype = i32")
    for row, scale, numbers in zip(x, scales, actual, strict=True):
        for n, number in zip(row, numbers, strict=True):
            real = int(n) * Fraction(float(scale)) / Fraction(float(output)) - 3
            assert abs(int(number) - real) <= Fraction(1, 2) + abs(real) * Fraction(1, 2**30)


@pytest.mark.parametrize("dtype", INTEGERS[:3])
def test_quantize(dtype: str):
    """Halves are rounded away from zero; infinities are clamped, and NaN is the zero point's 0."""
    x = np.array([0.25, 0.75, -0.25, -0.75, 1e9, -1e9, np.inf, -np.inf, 0, 3.3], np.float32)
    result = np.zeros(10, dtype)
    attributes = f"out_dtype = {typed(result).split('x')[-1]}"
    actual = run("quantize", [x, f32(0.5), i32(5)], result, attributes)
    least, greatest = limits(dtype)
    expected = [6, 7, 4, 3, greatest, least, greatest, least, 5, 12]
    np.testing.assert_array_equal(actual, np.clip(expected, least, greatest))


def test_dequantize():
    x = np.arange(-128, 128, dtype=np.int8).reshape(4, 64)
    scales, zeros = f32([0.5, 0.1, 2, 3]), np.array([1, -2, 3, 4], np.int32)
    result = np.zeros(x.shape, np.float32)
    actual = run("dequantize", [x, scales, zeros], result, "axis = 0")
    expected = (x.astype(np.int64) - zeros[:, None]).astype(np.float32) * scales[:, None]
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("op", ["add", "subtract", "mul"])
@seeds(10)
def test_arithmetic(seed: int, op: str):
    """Within one step of the real number: operands are rounded first, products once."""
    rng = np.random.default_rng(seed)
    dtype = str(rng.choice(["int8", "uint8"]))
    x, y = (rng.integers(*limits(dtype), 60, dtype, endpoint=True) for _ in range(2))
    scales = [f32(s) for s in rng.uniform(0.01, 0.1, 3)]
    zeros = [int(z) for z in rng.integers(0, 50, 3)]
    operands = [x, y]
    for scale, zero in zip(scales, zeros, strict=True):
        operands += [scale, i32(zero)]
    actual = run(op, operands, x)
    a, b = (
        [(int(n) - zero) * Fraction(float(scale)) for n in array]
        for array, scale, zero in zip((x, y), scales, zeros, strict=False)
    )
    function = {"add": Fraction.__add__, "subtract": Fraction.__sub__, "mul": Fraction.__mul__}[op]
    for left, right, number in zip(a, b, actual, strict=True):
        real = function(left, right) / Fraction(float(scales[2])) + zeros[2]
        least, greatest = limits(dtype)
        error = abs(min(max(real, least), greatest) - int(number))
        assert error <= (Fraction(501, 1000) if op == "mul" else 1)


@pytest.mark.parametrize("kernel", [np.int8, np.uint8])
def test_products(kernel: Any):
    """The sums of onnxruntime's integer products."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 255, (1, 4, 7, 6), np.uint8)
    w = rng.integers(*limits(kernel.__name__), (6, 2, 3, 3), kernel)
    zeros = np.array(120, np.uint8), np.array(9, kernel)
    feeds = {"x": x, "w": w, "xz": zeros[0], "wz": zeros[1]}
    attributes: dict[str, Any] = {"pads": [1, 1, 1, 1], "group": 2, "strides": [2, 1]}
    node = helper.make_node("ConvInteger", [*feeds], ["y"], **attributes)
    constants = {name: array for name, array in feeds.items() if name != "x"}
    proto = model([node], {"x": x}, [value("y", np.int32)], constants, 13)
    (expected,) = run_onnxruntime(proto, {"x": x})
    operands = [x, w, i32(120), i32(9), f32(0.5), f32(0.25)]
    text = "strides = array<i64: 2, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 2"
    np.testing.assert_array_equal(run("conv2d", operands, expected, text), expected)
    a, b = x.reshape(7, 24), w.reshape(-1)[:72].reshape(3, 24)
    sums = (a.astype(np.int64) - 120) @ (b.astype(np.int64) - 9).T
    dense = run("dense", [a, b, *operands[2:]], sums.astype(np.int32))
    np.testing.assert_array_equal(dense, sums)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def hardswish(x: Array) -> Array:
    return x * np.clip(x + 3, 0, 6) / 6


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("tanh", np.tanh),
        ("exp", np.exp),
        ("sqrt", np.sqrt),
        ("sigmoid", sigmoid),
        ("hardswish", hardswish),
        ("abs", np.abs),
    ],
)
def test_functions(name: str, function: Callable[[Array], Array]):
    """Within half a step of the function in float64."""
    x = np.arange(0 if name == "sqrt" else -128, 128).astype(np.int8)
    operands = [x, f32(0.03), i32(0), f32(0.02), i32(-10)]
    actual = run(name, operands, x)
    real = function(x.astype(np.float64) * float(f32(0.03))) / float(f32(0.02)) - 10
    assert np.abs(actual - real.clip(-128, 127)).max() <= 0.5001


def test_concatenate():
    x, y = np.array([-4, 7], np.int8), np.array([1, 2, 3], np.int8)
    operands = [x, y, f32(0.5), f32(0.25), i32(1), i32(0), f32(0.25), i32(0)]
    actual = run("concatenate", operands, np.zeros(5, np.int8))
    np.testing.assert_array_equal(actual, [-10, 12, 1, 2, 3])


def test_every_operator_has_a_rule():
    assert {op.name for op in qnn.Qnn.operations} == {*RULES}
