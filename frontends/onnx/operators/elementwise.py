"""Operators on single elements, or on pairs of elements with broadcasting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....operators.element_types import ELEMENT_TABLE
from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Constant, Value, dtype_of, is_float, shape_of
from .rule import Convert, Rules, since


def unary(name: str) -> Convert:
    """Return the conversion to the unary operator `name` of `relay`."""

    def convert(node: Node, b: Builder) -> Value:
        return b.op(name, node.input(0))

    return convert


def binary(name: str) -> Convert:
    """Return the conversion to the binary operator `name` of `relay`, with broadcasting."""

    def convert(node: Node, b: Builder) -> Value:
        return b.op(name, node.input(0), _second(node, b))

    return convert


def _second(node: Node, b: Builder) -> Value:
    """Return input 1; in opset 6, `broadcast` aligns it at dim `axis` of input 0."""
    y = node.input(1)
    if node.opset > 6:
        return y
    broadcast, axis = node.flag("broadcast", False), node.optional_int("axis")
    left, right = shape_of(node.input(0)), shape_of(y)
    if not broadcast and left != right:
        raise node.error(
            f"shapes {list(left)} and {list(right)} differ; supported: equal ones, or "
            "attribute broadcast = 1"
        )
    if not broadcast or axis is None:
        return y
    behind = len(left) - node.axis(axis, len(left)) - len(right)
    return b.reshape(y, (*right, *([1] * max(behind, 0))))


def combined(name: str, node: Node, b: Builder) -> Value:
    """Combine all inputs, with broadcasting, by the binary operator `name`."""
    first, *others = node.variadic()
    for other in others:
        first = b.op(name, first, other)
    return first


def variadic(name: str) -> Convert:
    """Return the conversion of one or more inputs, combined by the binary operator `name`."""

    def convert(node: Node, b: Builder) -> Value:
        return combined(name, node, b)

    return convert


def mean(node: Node, b: Builder) -> Value:
    """Compute the mean of the inputs, element by element."""
    total = combined("add", node, b)
    return b.op("divide", total, b.scalar_like(len(node.inputs), total))


def power(node: Node, b: Builder) -> Value:
    """Convert a power; the exponent may have another dtype, the result has that of the base."""
    base, exponent = node.input(0), _second(node, b)
    dtype, other = dtype_of(base), dtype_of(exponent)
    if is_float(other) and not is_float(dtype):
        return b.cast(b.op("power", b.cast(base, other), exponent), dtype)
    return b.op("power", base, b.cast(exponent, dtype))


def mod(node: Node, b: Builder) -> Value:
    """Compute a remainder, with the sign of the dividend (as C's `fmod`) or of the divisor."""
    fmod = node.flag("fmod", False)
    if not fmod and node.opset < 28 and is_float(dtype_of(node.input(0))):
        raise node.error("attribute fmod must be 1 for floats, but is 0")
    return b.op("mod" if fmod else "floor_mod", node.input(0), node.input(1))


def reciprocal(node: Node, b: Builder) -> Value:
    return b.op("divide", b.scalar_like(1, node.input(0)), node.input(0))


def is_inf(node: Node, b: Builder) -> Value:
    """Test which elements are infinite, of either sign or of one."""
    x = node.input(0)
    positive = node.flag("detect_positive", True)
    negative = node.flag("detect_negative", True)
    if not positive and not negative:
        return b.op("less", x, x)  # false everywhere
    if negative:
        x = b.op("abs" if positive else "negative", x)
    return b.op("equal", x, b.scalar_like(np.inf, x))


def _cast(node: Node, b: Builder, dtype: np.dtype[Any]) -> Value:
    """
    Convert the elements to `dtype`; integers of fewer bits than 8 wrap around.

    Floats of 8 bits are limited to the finite numbers, unless `saturate` is 0.
    """
    saturates = node.flag("saturate", True)
    mode = node.choice("round_mode", "up", tuple(_ADDED))
    return converted(b, node.input(0), dtype, saturates, mode)


def converted(
    b: Builder, x: Value, dtype: np.dtype[Any], saturates: bool = True, mode: str = "up"
) -> Value:
    """Return `x` as `dtype`; `saturates` and `mode` are those of floats of 8 bits."""
    row = ELEMENT_TABLE[dtype.name]
    if row.package is None or row.bits == 16 or dtype == dtype_of(x):
        return b.cast(x, dtype)
    if not row.precision:  # by way of signed bytes, which wrap around
        return b.cast(b.cast(x, np.dtype(np.int8)), dtype)
    x = b.cast(x, np.dtype(np.float32))
    if row.precision == 1:
        return _power_of_two(b, x, dtype, saturates, mode)
    if row.precision and row.bits == 8 and saturates:
        numbers = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
        limit = float(numbers[np.isfinite(numbers)].max())
        x = b.op("clip", x, a_min=-limit, a_max=limit)
    return b.cast(x, dtype)


_ADDED = {"up": 2**23 - 1, "nearest": 2**22, "down": 0}
"""The number that rounds a float32 to its exponent when it is added to its bits, by mode."""


def _power_of_two(b: Builder, x: Value, dtype: np.dtype[Any], saturates: bool, mode: str) -> Value:
    """Return float32 numbers as their exponents, which are the bits of the result."""
    bits, byte = np.dtype(np.uint32), np.dtype(np.uint8)
    size = b.op("reinterpret", b.op("abs", x), dtype=bits)
    rounded = b.op("add", size, b.scalar(_ADDED[mode], bits))
    exponent = b.op("right_shift", rounded, b.scalar(23, bits))
    if saturates:
        exponent = b.op("minimum", exponent, b.scalar(254, bits))
    exponent = b.op("where", b.op("isfinite", x), exponent, b.scalar(255, bits))
    return b.op("reinterpret", b.cast(exponent, byte), dtype=dtype)


def cast(node: Node, b: Builder) -> Value:
    return _cast(node, b, node.dtype("to"))


def bit_cast(node: Node, b: Builder) -> Value:
    """Read the bits; a bool has those of an integer of 8."""
    x, dtype = node.input(0), node.dtype("to")
    byte = np.dtype(np.uint8)
    x = b.cast(x, byte) if dtype_of(x) == np.bool_ else x
    return b.op("reinterpret", x, dtype=dtype)


def cast_like(node: Node, b: Builder) -> Value:
    return _cast(node, b, dtype_of(node.input(1)))


def clip(node: Node, b: Builder) -> Value:
    """
    Clip; the bounds are attributes up to opset 10.

    A single bound, or bounds that f64 cannot represent, become a maximum or a minimum.
    """
    x = node.input(0)
    if node.opset < 11:
        bounds = node.optional_float("min"), node.optional_float("max")
        low, high = (None if bound is None else b.scalar_like(bound, x) for bound in bounds)
    else:
        low, high = node.optional(1), node.optional(2)
    if isinstance(low, Constant) and isinstance(high, Constant) and is_float(dtype_of(x)):
        if low.array.size == high.array.size == 1 and low.array <= high.array:
            return b.op("clip", x, a_min=float(low.array.item()), a_max=float(high.array.item()))
    if low is not None:
        x = b.op("maximum", x, low)
    return x if high is None else b.op("minimum", x, high)


def where(node: Node, b: Builder) -> Value:
    condition, choices = node.input(0), [node.input(1), node.input(2)]
    wide = [b.unrounded(value) for value in choices]
    if wide != choices:
        float32 = np.dtype(np.float32)
        chosen = b.op("where", condition, *(b.cast(value, float32) for value in wide))
        return b.rounded(chosen, dtype_of(choices[0]))
    return b.op("where", condition, *choices)


def bit_shift(node: Node, b: Builder) -> Value:
    """Shift the bits of integers."""
    left = node.choice("direction", "", ("LEFT", "RIGHT")) == "LEFT"
    return b.op("left_shift" if left else "right_shift", node.input(0), node.input(1))


_UNARY: Mapping[int, Sequence[str]] = {
    6: ("Abs", "Ceil", "Exp", "Floor", "Log", "Sqrt"),
    7: ("Acos", "Asin", "Atan", "Cos", "Sin", "Tan"),
    9: ("Acosh", "Asinh", "Atanh", "Cosh", "Erf", "Sign", "Sinh"),
    11: ("Round",),
}
"""The unary operators that `relay` has by the same name, in lower case, by their first opset."""

_BINARY: Mapping[int, Mapping[str, str]] = {
    6: {
        **{"Add": "add", "Div": "divide", "Mul": "multiply", "Sub": "subtract"},
        **{"And": "logical_and", "Or": "logical_or", "Xor": "logical_xor"},
        **{"Equal": "equal", "Greater": "greater", "Less": "less"},
    },
    12: {"GreaterOrEqual": "greater_equal", "LessOrEqual": "less_equal"},
    18: {f"Bitwise{name}": f"bitwise_{name.lower()}" for name in ("And", "Or", "Xor")},
}
"""The binary operators of `relay`, by ONNX's names, by their first opset."""

RULES: Rules = {
    **{name: since(v, unary(name.lower())) for v, names in _UNARY.items() for name in names},
    **{name: since(v, binary(to)) for v, names in _BINARY.items() for name, to in names.items()},
    "Cast": since(6, cast),
    "CastLike": since(15, cast_like),
    "BitCast": since(26, bit_cast),
    "BitShift": since(11, bit_shift),
    "BitwiseNot": since(18, unary("bitwise_not")),
    "Clip": since(6, clip),
    "IsInf": since(10, is_inf),
    "IsNaN": since(9, unary("isnan")),
    "Max": since(6, variadic("maximum")),
    "Mean": since(6, mean),
    "Min": since(6, variadic("minimum")),
    "Mod": since(10, mod),
    "Neg": since(6, unary("negative")),
    "Not": since(1, unary("logical_not")),
    "Pow": since(6, power),
    "Reciprocal": since(6, reciprocal),
    "Sum": since(6, variadic("add")),
    "Where": since(9, where),
}
