"""
Reference implementations of the operators: third-party code (onnxruntime, Python's arithmetic and
`math`, NumPy in extended precision, mpmath), or plain loops that follow the definition.

`REFERENCES[name].values(attrs, specs, *operands)` computes the results, whose element types and
shapes are `specs`: integers as unbounded Python integers, floats in at least float64. `terms` sums
the magnitudes of the terms instead, for sums with visible rounding errors.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from operator import xor
from typing import Any, TypeAlias

import mpmath  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
from onnx import TensorProto, helper

Array: TypeAlias = Any
Attrs: TypeAlias = Mapping[str, Any]
Specs: TypeAlias = Sequence[tuple[tuple[int, ...], str]]
Compute: TypeAlias = Callable[..., Any]
"""Maps attributes, the results' specs, and operands to one result or a tuple."""

onnxruntime.set_default_logger_severity(4)


@dataclass(frozen=True)
class Reference:
    """The values that an operator computes, and the magnitudes of its terms if it is a sum."""

    values: Compute
    terms: Compute | None = None
    moves: bool = False
    """True if the result's elements are bitwise copies of operands' elements."""


def onnx_node(op: str, operands: Sequence[Array], attrs: Attrs, opset: int = 20) -> Array:
    """Return the first result of an ONNX operator on float32 or int64 operands in onnxruntime."""
    types = {"f": (np.float32, TensorProto.FLOAT), "i": (np.int64, TensorProto.INT64)}
    kinds = [types[np.asarray(a).dtype.kind] for a in operands]
    arrays = [np.asarray(a, dtype) for a, (dtype, _) in zip(operands, kinds, strict=True)]
    names = [f"i{n}" for n in range(len(arrays))]
    node = helper.make_node(op, names, ["o"], **attrs)
    ins = [
        helper.make_tensor_value_info(name, type, array.shape)
        for name, array, (_, type) in zip(names, arrays, kinds, strict=True)
    ]
    out = helper.make_tensor_value_info("o", kinds[0][1], None)
    graph = helper.make_graph([node], "g", ins, [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 9
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return session.run(None, dict(zip(names, arrays, strict=True)))[0]


# -------------------------------------------------------------------- elements


def plain(x: Array) -> Array:
    """The elements as Python numbers: integers of any size, floats of 64 bits."""
    values = np.empty(x.size, object)
    values[:] = x.reshape(-1).tolist()
    return values.reshape(x.shape)


def each(function: Callable[..., Any]) -> Reference:
    """Apply `function`, of Python numbers, to each element or tuple of broadcast elements."""

    def values(attrs: Attrs, specs: Specs, *operands: Array) -> Array:
        shape = specs[0][0]
        alike = [np.broadcast_to(plain(x), shape).reshape(-1) for x in operands]
        found = np.empty(math.prod(shape), object)
        found[:] = [function(*row) for row in zip(*alike, strict=True)]
        return found.reshape(shape)

    return Reference(values)


PRECISION = 120
"""The precision of mpmath in bits."""


def wide(mantissa: int, exponent: int) -> Any:
    """Return `mantissa` times 2 to the `exponent` as an extended float, cut off at 64 bits."""
    excess = max(mantissa.bit_length() - 64, 0)
    size = np.longdouble(np.uint64(abs(mantissa) >> excess))
    return np.ldexp(size if mantissa >= 0 else -size, exponent + excess)


def wide_fraction(x: Fraction) -> Any:
    """Return `x` as an extended float."""
    shift = 80 + max(x.denominator.bit_length() - x.numerator.bit_length(), 0)
    return wide(int((abs(x.numerator) << shift) // x.denominator), -shift) * (1 if x >= 0 else -1)


def nearest(x: Fraction | int, dtype: str) -> float:
    """Round `x` to a float type, halves to even; what rounds to 0 keeps its sign."""
    if x == 0:
        return 0.0
    info = np.finfo(dtype)
    size = abs(Fraction(x))
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    last = max(exponent, int(info.minexp)) - int(info.nmant)
    mantissa = round(size / Fraction(2) ** last)
    if mantissa * Fraction(2) ** last > Fraction(float(info.max)):
        return math.inf if x > 0 else -math.inf
    return math.copysign(math.ldexp(mantissa, last), 1 if x > 0 else -1)


def real(function: Callable[..., Array], precise: Callable[..., Any]) -> Reference:
    """
    Apply `function`, of NumPy, in extended floats; to finite float64 `precise`, of mpmath.

    Results that are 0, infinite or NaN are those of `function`.
    """

    def values(attrs: Attrs, specs: Specs, *xs: Array) -> Array:
        if not specs[0][0]:
            xs = tuple(x.reshape(1) for x in xs)
        alike = np.broadcast_arrays(*xs)
        y = np.array(function(*(x.astype(np.longdouble) for x in alike)), np.longdouble)
        if xs[0].dtype == np.float64:
            ordinary = np.isfinite(y) & (y != 0)
            for x in alike:
                ordinary &= np.isfinite(x)
            with mpmath.workprec(PRECISION):
                for place in zip(*np.nonzero(ordinary), strict=True):
                    exact = precise(*(mpmath.mpf(float(x[place])) for x in alike))
                    mantissa, exponent = map(int, mpmath.mpf(exact).man_exp)
                    y[place] = wide(mantissa if exact > 0 else -mantissa, exponent)
        return y.reshape(specs[0][0])

    return Reference(values)


def by_kind(floats: Reference, integers: Reference) -> Reference:
    def values(attrs: Attrs, specs: Specs, *xs: Array) -> Array:
        chosen = floats if xs[0].dtype.kind == "f" else integers
        return chosen.values(attrs, specs, *xs)

    return Reference(values)


def rounded(function: Callable[[float], int]) -> Reference:
    """Apply `function` to finite floats; keep integers, NaN, infinities and the sign of 0."""

    def one(x: Any) -> Any:
        return math.copysign(function(x), x) if isinstance(x, float) and math.isfinite(x) else x

    return each(one)


def round_ties(attrs: Attrs, specs: Specs, x: Array) -> Array:
    def away(number: float) -> int:
        nearest = math.floor(abs(Fraction(number)) + Fraction(1, 2))
        return nearest if number > 0 else -nearest

    return rounded(round if attrs["ties"] == "even" else away).values(attrs, specs, x)


def exactly(function: Callable[[Any, Any], Any]) -> Reference:
    """Round the exact results of `function`, which are fractions, or floats that need no more."""

    def values(attrs: Attrs, specs: Specs, *xs: Array) -> Array:
        dtype = specs[0][1]

        def one(a: Any, b: Any) -> Any:
            y = function(a, b)
            return nearest(y, dtype) if isinstance(y, Fraction) else y

        return each(one).values(attrs, specs, *xs)

    return Reference(values)


def divided_by_zero(a: float, b: float) -> float:
    """The quotient by a zero, whose sign counts."""
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)


def divide(a: float, b: float) -> float:
    return a / b if b else divided_by_zero(a, b)


def c_divide(a: int, b: int) -> int:
    """The quotient, rounded toward zero; 0 if `b` is."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0


def c_remainder(a: int, b: int) -> int:
    """The remainder of `c_divide`; 0 if `b` is 0."""
    return a - c_divide(a, b) * b if b else 0


def fmod(a: float, b: float) -> float:
    return math.nan if b == 0 or math.isinf(a) else math.fmod(a, b)


def floor_divide(a: Any, b: Any) -> Any:
    """The floor of the quotient, by Python's floats where one number is not finite."""
    if isinstance(a, int):
        return a // b if b else 0
    if b == 0:
        return divided_by_zero(a, b)
    if not math.isfinite(a) or not math.isfinite(b):
        return a // b
    quotient = Fraction(a) // Fraction(b)
    return Fraction(quotient) if quotient else math.copysign(0, a / b)


def floor_mod(a: Any, b: Any) -> Any:
    """The remainder of `floor_divide`; a zero has the sign of `b`."""
    if isinstance(a, int):
        return a % b if b else 0
    if b == 0 or not math.isfinite(a) or not math.isfinite(b):
        return a % b if b else math.nan
    remainder = Fraction(a) % Fraction(b)
    return remainder or math.copysign(0, b)


def power(a: int, b: int) -> int:
    """The power; an inverse is truncated to an integer, and 0 for 0."""
    return a**b if b >= 0 else c_divide(1, a**-b) if abs(a) == 1 else 0


def float_power(a: float, b: float) -> float:
    """The power in float64, by Python."""
    try:
        return math.pow(a, b)
    except ValueError:  # a pole, or not a real number
        if a:
            return math.nan
        return math.copysign(math.inf, a) if b % 2 == 1 else math.inf
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf


def wrapping_power(attrs: Attrs, specs: Specs, a: Array, b: Array) -> Array:
    modulus = 2**64
    return each(lambda x, y: power(x, y) if y < 0 else pow(x, y, modulus)).values(
        attrs, specs, a, b
    )


def greatest(sign: int) -> Callable[..., Any]:
    """The maximum (the minimum if `sign` is -1) of numbers; NaN if one of them is NaN."""

    def of(*numbers: Any) -> Any:
        nan = [x for x in numbers if x != x]
        return nan[0] if nan else sorted(numbers)[-1 if sign > 0 else 0]

    return of


def clip(attrs: Attrs, specs: Specs, x: Array) -> Array:
    """Bounds of floats are rounded to their type first."""
    low, high = attrs["a_min"], attrs["a_max"]
    if x.dtype.kind == "f":
        low, high = (float(np.array(bound).astype(x.dtype)) for bound in (low, high))
    else:
        info = np.iinfo(x.dtype)
        low = info.min if low < info.min else min(math.ceil(low), info.max)
        high = info.max if high > info.max else max(math.floor(high), info.min)
    return each(lambda v: v if v != v else min(max(v, low), high)).values(attrs, specs, x)


def saturated(x: float, dtype: str) -> int:
    """Truncate `x` toward 0, to the bounds of an integer type; NaN is 0."""
    info = np.iinfo(dtype)
    if math.isinf(x):
        return int(info.max if x > 0 else info.min)
    return 0 if x != x else min(max(math.trunc(x), int(info.min)), int(info.max))


def cast(attrs: Attrs, specs: Specs, x: Array) -> Array:
    """Integers wrap around; floats saturate; any number but 0 is true."""
    target = specs[0][1]

    def one(v: Any) -> Any:
        if target == "bool":
            return v != 0
        if not target.startswith("float"):
            return saturated(v, target) if isinstance(v, float) else int(v)
        if isinstance(v, float) and not (v and math.isfinite(v)):
            return v
        return nearest(Fraction(v), target)

    return each(one).values(attrs, specs, x)


def fixed_point_multiply(attrs: Attrs, specs: Specs, x: Array) -> Array:
    """The product with a rational number, rounded, halves up."""
    factor = Fraction(attrs["multiplier"]) * Fraction(2) ** (attrs["shift"] - 31)
    return each(lambda v: math.floor(v * factor + Fraction(1, 2))).values(attrs, specs, x)


def normal(x: Array) -> Array:
    """The normal distribution function."""
    flat = x.reshape(-1)
    return np.array([math.erfc(-float(v) / math.sqrt(2)) / 2 for v in flat]).reshape(x.shape)


def gelu(attrs: Attrs, specs: Specs, x: Array) -> Array:
    if attrs["approximate"] == "none":
        return real(lambda v: v * normal(v), lambda v: v * mpmath.ncdf(v)).values(attrs, specs, x)
    x = x.astype(np.longdouble)
    return x * ((1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))) / 2)


def along(vector: Array, axis: int, rank: int) -> Array:
    return vector.reshape([-1 if i == axis % rank else 1 for i in range(rank)])


def slope(x: Any, a: Any) -> Any:
    return x if x > 0 else a * x


def leaky_relu(attrs: Attrs, specs: Specs, x: Array) -> Array:
    """The slope is rounded to the type of the elements first."""
    a = float(np.array(attrs["alpha"]).astype(x.dtype))
    return each(lambda v: slope(v, a)).values(attrs, specs, x)


def on_axis(function: Callable[..., Any]) -> Reference:
    """Apply `function` to each element and the vector's element at the same index on `axis`."""
    return Reference(
        lambda attrs, specs, x, vector: each(function).values(
            attrs, specs, x, along(vector, attrs["axis"], x.ndim)
        )
    )


# -------------------------------------------------------------------- reductions


def groups(attrs: Attrs, x: Array) -> Iterator[list[Any]]:
    """Yield the elements that are reduced to each element of the result, in order."""
    axes = range(x.ndim)
    if "axis" in attrs:
        axes = [axis % x.ndim for axis in attrs["axis"]]
        if attrs["exclude"]:
            axes = [axis for axis in range(x.ndim) if axis not in axes]
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    order = plain(x).transpose(*kept, *sorted(axes))
    for index in np.ndindex(*(x.shape[axis] for axis in kept)):
        yield order[index].reshape(-1).tolist() if len(kept) < x.ndim else [order[index]]


def folded(function: Callable[[list[Any]], Any]) -> Compute:
    def values(attrs: Attrs, specs: Specs, x: Array) -> Array:
        found = [function(group) for group in groups(attrs, x)]
        result = np.empty(len(found), object)
        result[:] = found
        return result.reshape(specs[0][0])

    return values


def terms_of(group: list[Any]) -> Any:
    """The sum of the terms, without rounding errors."""
    if isinstance(group[0] if group else 0.0, int):
        return sum(group)
    if not all(map(math.isfinite, group)):
        return np.longdouble(sum(x for x in group if not math.isfinite(x)))
    return wide_fraction(sum(map(Fraction, group), Fraction(0)))


def product_of(group: list[Any]) -> Any:
    """The product, without rounding errors."""
    if isinstance(group[0] if group else 0, int):
        return reduce(operator.mul, group, 1)
    sign = math.prod(math.copysign(1, x) for x in group)
    if 0 in group or not all(map(math.isfinite, group)):
        return np.longdouble(
            math.prod(math.copysign(1, x) if x and math.isfinite(x) else x for x in group)
        )
    return np.longdouble(sign) * wide_fraction(
        math.prod(map(abs, map(Fraction, group)), start=Fraction(1))
    )


def position(sign: int) -> Reference:
    def values(attrs: Attrs, specs: Specs, x: Array) -> Array:
        def find(numbers: list[Any]) -> int:
            best = greatest(sign)(*numbers)
            hits = [i for i, x in enumerate(numbers) if x == best or (x != x and best != best)]
            return hits[-1 if attrs["select_last_index"] else 0]

        return folded(find)(attrs, specs, x)

    return Reference(values)


# -------------------------------------------------------------------- sums of products


def factor(x: Array, dtype: str) -> Array:
    """Convert `x` to `dtype`, then to Python integers or float64."""
    x = x.astype(dtype)
    return x.astype(np.float64) if x.dtype.kind == "f" else plain(x)


def bilinear(function: Callable[..., Array]) -> Reference:
    """Apply `function` to two factors in the result's element type."""

    def values(attrs: Attrs, specs: Specs, a: Array, b: Array) -> Array:
        return function(attrs, specs, factor(a, specs[0][1]), factor(b, specs[0][1]))

    def terms(attrs: Attrs, specs: Specs, a: Array, b: Array) -> Array:
        return function(attrs, specs, *(np.abs(x.astype(np.float64)) for x in (a, b)))

    return Reference(values, terms)


def rows_by_rows(a: Array, b: Array) -> Array:
    """The sums of products of each row of `a` with each row of `b`."""
    y = np.zeros((len(a), len(b)), a.dtype)
    for i, j in np.ndindex(y.shape):
        y[i, j] = sum((p * q for p, q in zip(a[i], b[j], strict=True)), a.dtype.type(0))
    return y


def dense(attrs: Attrs, specs: Specs, x: Array, w: Array) -> Array:
    rows = math.prod(x.shape[:-1])
    return rows_by_rows(x.reshape(rows, x.shape[-1]), w).reshape(specs[0][0])


def packed_dense(attrs: Attrs, specs: Specs, x: Array, w: Array) -> Array:
    return dense(attrs, specs, x, w.swapaxes(1, 2).reshape(w.shape[0] * w.shape[2], w.shape[1]))


def matmul(attrs: Attrs, specs: Specs, a: Array, b: Array) -> Array:
    a, b = a.T if attrs["transpose_a"] else a, b if attrs["transpose_b"] else b.T
    rows = int(np.prod(a.shape[:-1]))
    return rows_by_rows(a.reshape(rows, a.shape[-1]), b).reshape(*a.shape[:-1], len(b))


def batch_matmul(attrs: Attrs, specs: Specs, a: Array, b: Array) -> Array:
    y = np.zeros(specs[0][0], a.dtype)
    for n in range(len(y)):
        y[n] = matmul(attrs, specs, a[n % len(a)], b[n % len(b)])
    return y


def channels_first(attrs: Attrs, key: str, x: Array) -> Array:
    return np.moveaxis(x, -1, 1) if attrs[key][-1] == "C" else x


def conv2d(attrs: Attrs, specs: Specs, x: Array, w: Array) -> Array:
    """Loop over the cells of each window, skipping the padding."""
    x = channels_first(attrs, "data_layout", x)
    w = w.transpose(3, 2, 0, 1) if attrs["kernel_layout"] == "HWIO" else w
    if attrs["kernel_layout"] == "OHWI8o":
        w = np.concatenate([panel.transpose(3, 2, 0, 1) for panel in w])
    result = np.zeros(specs[0][0], x.dtype)
    y = channels_first(attrs, "data_layout", result)
    (sh, sw), (dh, dw), (top, left, *_) = (attrs[k] for k in ("strides", "dilation", "padding"))
    filters, channels, kh, kw = w.shape
    for n, o, r, c in np.ndindex(y.shape):
        first = o // (filters // attrs["groups"]) * channels
        for i, j in np.ndindex(kh, kw):
            a, b = r * sh + i * dh - top, c * sw + j * dw - left
            if 0 <= a < x.shape[2] and 0 <= b < x.shape[3]:
                for k in range(channels):
                    y[n, o, r, c] += x[n, first + k, a, b] * w[o, k, i, j]
    return result


def conv2d_transpose(attrs: Attrs, specs: Specs, x: Array, w: Array) -> Array:
    """Add each cell of `x`, weighted, to all cells that it contributes to."""
    y = np.zeros(specs[0][0], x.dtype)
    (sh, sw), (dh, dw), (top, left, *_) = (attrs[k] for k in ("strides", "dilation", "padding"))
    filters = w.shape[1]
    for n, k, r, c in np.ndindex(x.shape):
        first = k // (x.shape[1] // attrs["groups"]) * filters
        for o, i, j in np.ndindex(w.shape[1:]):
            a, b = r * sh + i * dh - top, c * sw + j * dw - left
            if 0 <= a < y.shape[2] and 0 <= b < y.shape[3]:
                y[n, first + o, a, b] += x[n, k, r, c] * w[k, o, i, j]
    return y


def cells_inside(
    attrs: Attrs, place: Sequence[int], window: Sequence[int], sizes: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The cells of the window at `place`, and where they are in the data, without the padding."""
    dilation = attrs.get("dilation") or attrs.get("dilations") or (1,) * len(window)
    for cell in np.ndindex(*window):
        at = tuple(
            i * attrs["strides"][side] + k * dilation[side] - attrs["padding"][side]
            for side, (i, k) in enumerate(zip(place, cell, strict=True))
        )
        if all(0 <= i < size for i, size in zip(at, sizes, strict=True)):
            yield cell, at


def conv3d(attrs: Attrs, specs: Specs, x: Array, w: Array) -> Array:
    """Loop over the cells of each window, skipping the padding."""
    x = channels_first(attrs, "data_layout", x)
    w = w.transpose(4, 3, 0, 1, 2) if attrs["kernel_layout"] == "DHWIO" else w
    result = np.zeros(specs[0][0], x.dtype)
    y = channels_first(attrs, "data_layout", result)
    filters, channels, *window = w.shape
    for n, o, *place in np.ndindex(y.shape):
        first = o // (filters // attrs["groups"]) * channels
        for cell, at in cells_inside(attrs, place, window, x.shape[2:]):
            for k in range(channels):
                y[(n, o, *place)] += x[(n, first + k, *at)] * w[(o, k, *cell)]
    return result


def conv_transpose(attrs: Attrs, specs: Specs, x: Array, w: Array) -> Array:
    """Add each cell of `x`, weighted, to all cells that it contributes to."""
    y, filters = np.zeros(specs[0][0], x.dtype), w.shape[1]
    for n, k, *place in np.ndindex(x.shape):
        first = k // (x.shape[1] // attrs["groups"]) * filters
        for o in range(filters):
            for cell, at in cells_inside(attrs, place, w.shape[2:], y.shape[2:]):
                y[(n, first + o, *at)] += x[(n, k, *place)] * w[(k, o, *cell)]
    return y


def conv2d_backward_weight(attrs: Attrs, specs: Specs, grad: Array, x: Array) -> Array:
    """Add the product of each number of `grad` with each cell of its window."""
    y = np.zeros(specs[0][0], grad.dtype)
    for n, o, *place in np.ndindex(grad.shape):
        first = o // (grad.shape[1] // attrs["groups"]) * y.shape[1]
        for cell, at in cells_inside(attrs, place, y.shape[2:], x.shape[2:]):
            for i in range(y.shape[1]):
                y[(o, i, *cell)] += grad[(n, o, *place)] * x[(n, first + i, *at)]
    return y


def deformable_conv2d(attrs: Attrs, specs: Specs, x: Array, offset: Array, w: Array) -> Array:
    """Interpolate each cell of each window in float64; outside of the image it is 0."""
    x, offset, w = (array.astype(np.float64) for array in (x, offset, w))
    y = np.zeros(specs[0][0])
    height, width = x.shape[2:]
    for n, o, r, c in np.ndindex(y.shape):
        first = o // (w.shape[0] // attrs["groups"]) * w.shape[1]
        for k, i, j in np.ndindex(w.shape[1:]):
            group = (first + k) // (x.shape[1] // attrs["deformable_groups"])
            at = ((group * w.shape[2] + i) * w.shape[3] + j) * 2
            a = r * attrs["strides"][0] + i * attrs["dilation"][0] - attrs["padding"][0]
            b = c * attrs["strides"][1] + j * attrs["dilation"][1] - attrs["padding"][1]
            a, b = a + offset[n, at, r, c], b + offset[n, at + 1, r, c]
            if not (0 <= a < height and 0 <= b < width):
                continue
            for p, q in np.ndindex(2, 2):
                row, column = math.floor(a) + p, math.floor(b) + q
                share = (1 - abs(a - row)) * (1 - abs(b - column))
                pixel = x[n, first + k, min(row, height - 1), min(column, width - 1)]
                y[n, o, r, c] += share * pixel * w[o, k, i, j]
    return y


def dilation2d(attrs: Attrs, specs: Specs, x: Array, w: Array) -> Array:
    """The maxima of the cells of windows of the padded image, plus the weight."""
    dtype = x.dtype
    x = channels_first(attrs, "data_layout", x)
    w = np.moveaxis(w, -1, 0) if attrs["kernel_layout"] == "HWI" else w
    result = np.empty(specs[0][0], dtype)
    y = channels_first(attrs, "data_layout", result)
    top, left, bottom, right = attrs["padding"]
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    unpadded = {**attrs, "padding": (0, 0, 0, 0)}
    for n, c, *place in np.ndindex(y.shape):
        cells = cells_inside(unpadded, place, w.shape[1:], x.shape[2:])
        sums = [x[(n, c, *at)] + w[(c, *cell)] for cell, at in cells]
        y[(n, c, *place)] = np.max(np.array(sums, dtype))
    return result


def pool_grad(is_max: bool) -> Compute:
    def values(attrs: Attrs, specs: Specs, grad: Array, x: Array) -> Array:
        grad, x = (channels_first(attrs, "layout", array.astype(np.float64)) for array in (grad, x))
        result = np.zeros(specs[0][0])
        y = channels_first(attrs, "layout", result)
        window = attrs["pool_size"]
        for n, c, *place in np.ndindex(grad.shape):
            places = [at for _, at in cells_inside(attrs, place, window, x.shape[2:])]
            number = grad[(n, c, *place)]
            if is_max:
                cells = [x[(n, c, *at)] for at in places]
                places = [places[cells.index(max(cells))]] if cells else []
                count = 1
            else:
                count = math.prod(window) if attrs["count_include_pad"] else len(places)
            for at in places:
                y[(n, c, *at)] += number / count
        return result

    return values


# -------------------------------------------------------------------- pooling


def pool(combine: Callable[[list[Any], int, str], Any]) -> Compute:
    """
    Loop over the cells of each window; `combine` receives those inside, how many to count, and the
    element type.
    """

    def values(attrs: Attrs, specs: Specs, data: Array) -> Array:
        x = channels_first(attrs, "layout", plain(data))
        result = np.empty(specs[0][0], object)
        y = channels_first(attrs, "layout", result)
        window, sizes = attrs["pool_size"], x.shape[2:]
        after = attrs["padding"][len(window) :]
        steps = [*zip(*(attrs[name] for name in ("strides", "padding", "dilation")), strict=False)]
        for n, c, *at in np.ndindex(y.shape):
            cells: list[Any] = []
            padded = 0
            for cell in np.ndindex(*window):
                place = [
                    i * stride - before + k * dilation
                    for i, k, (stride, before, dilation) in zip(at, cell, steps, strict=True)
                ]
                sides = [*zip(place, sizes, after, strict=True)]
                padded += all(i < size + end for i, size, end in sides)
                if all(0 <= i < size for i, size, _ in sides):
                    cells.append(x[(n, c, *place)])
            counted = padded if attrs.get("count_include_pad", False) else len(cells)
            y[(n, c, *at)] = combine(cells, counted, data.dtype.name)
        return result

    return values


def mean_of(cells: list[Any], count: int, dtype: str) -> Any:
    """The mean, for integers rounded toward zero; 0 for an empty window."""
    if not count:
        return 0
    return terms_of(cells) / count if dtype.startswith("float") else c_divide(sum(cells), count)


def greatest_of(cells: list[Any], count: int, dtype: str) -> Any:
    """The maximum; the least value of the type for an empty window."""
    if cells:
        return greatest(1)(*cells)
    return -math.inf if dtype.startswith("float") else np.iinfo(dtype).min


def adaptive(combine: Callable[[list[Any], int, str], Any]) -> Compute:
    """The windows of a given number, with Python's fractions."""

    def values(attrs: Attrs, specs: Specs, data: Array) -> Array:
        x = channels_first(attrs, "layout", plain(data))
        result = np.empty(specs[0][0], object)
        y = channels_first(attrs, "layout", result)
        for n, c, *at in np.ndindex(y.shape):
            window = tuple(
                slice(math.floor(Fraction(i * dim, k)), math.ceil(Fraction((i + 1) * dim, k)))
                for i, dim, k in zip(at, x.shape[2:], y.shape[2:], strict=True)
            )
            cells = x[(n, c, *window)].reshape(-1).tolist()
            y[(n, c, *at)] = combine(cells, len(cells), data.dtype.name)
        return result

    return values


def whole_image(combine: Callable[[list[Any], int, str], Any]) -> Compute:
    def values(attrs: Attrs, specs: Specs, data: Array) -> Array:
        x = channels_first(attrs, "layout", plain(data))
        found = np.empty(x.shape[:2], object)
        for index in np.ndindex(found.shape):
            cells = x[index].reshape(-1).tolist()
            found[index] = combine(cells, len(cells), data.dtype.name)
        return found.reshape(specs[0][0])

    return values


def with_terms(compute: Compute) -> Reference:
    """A sum; its terms are computed from the operands' magnitudes."""
    return Reference(
        compute,
        lambda attrs, specs, *xs: compute(
            attrs, specs, *(np.abs(x.astype(np.float64)) for x in xs)
        ),
    )


# -------------------------------------------------------------------- normalization


def below_greatest(x: Array, axis: int) -> Array:
    """Subtract the greatest number, so that no power overflows; their quotients stay."""
    x = x.astype(np.longdouble)
    return x - x.max(axis, keepdims=True, initial=-np.inf)


def softmax(attrs: Attrs, specs: Specs, x: Array) -> Array:
    powers = np.exp(below_greatest(x, attrs["axis"]))
    return powers / powers.sum(attrs["axis"], keepdims=True)


def log_softmax(attrs: Attrs, specs: Specs, x: Array) -> Array:
    x = below_greatest(x, attrs["axis"])
    return x - np.log(np.exp(x).sum(attrs["axis"], keepdims=True))


def layer_norm(attrs: Attrs, specs: Specs, x: Array, gamma: Array, beta: Array) -> Array:
    x = x.astype(np.longdouble)
    axis = attrs["axis"]
    centred = x - x.sum(axis, keepdims=True) / x.shape[axis]
    variance = (centred * centred).sum(axis, keepdims=True) / x.shape[axis]
    y = centred / np.sqrt(variance + attrs["epsilon"])
    y = y * along(gamma, axis, x.ndim) if attrs["scale"] else y
    return y + along(beta, axis, x.ndim) if attrs["center"] else y


def batch_norm(attrs: Attrs, specs: Specs, x: Array, *statistics: Array) -> tuple[Array, ...]:
    vectors = (along(s.astype(np.longdouble), attrs["axis"], x.ndim) for s in statistics)
    gamma, beta, mean, var = vectors
    y = (x - mean) / np.sqrt(var + attrs["epsilon"])
    y = y * gamma if attrs["scale"] else y
    y = y + beta if attrs["center"] else y
    return y, statistics[2], statistics[3]


def normalized(compute: Compute) -> Reference:
    """A normalization of operands of moderate size: its terms are bounded by 100."""
    return Reference(compute, lambda attrs, specs, *xs: tuple(np.full(s, 100.0) for s, _ in specs))


def norm_per_image(attrs: Attrs, specs: Specs, x: Array, gamma: Array, beta: Array) -> Array:
    """Standardize each channel, or group of channels, of each image."""
    if not x.size:
        return x
    axis = attrs["axis"] % x.ndim
    moved = np.moveaxis(x, axis, 1).astype(np.longdouble)
    rows = moved.reshape(len(x), attrs.get("num_groups", moved.shape[1]), -1)
    centred = rows - rows.mean(-1, keepdims=True)
    y = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + attrs["epsilon"])
    y = np.moveaxis(y.reshape(moved.shape), 1, -1)
    y = y * gamma if attrs["scale"] else y
    return np.moveaxis(y + beta if attrs["center"] else y, -1, axis)


def l2_normalize(attrs: Attrs, specs: Specs, x: Array) -> Array:
    wide = x.astype(np.longdouble)
    total = (wide**2).sum(tuple(attrs["axis"]), keepdims=True)
    return wide / np.sqrt(np.maximum(total, attrs["eps"]))


def nll_loss(attrs: Attrs, specs: Specs, x: Array, targets: Array, w: Array) -> Array:
    """As PyTorch defines it."""
    x, losses, weights = x.astype(np.longdouble), np.zeros(targets.shape, np.longdouble), []
    for place in np.ndindex(targets.shape):
        t = int(targets[place])
        if t != attrs["ignore_index"]:
            weights.append(np.longdouble(w[t]))
            losses[place] = -weights[-1] * x[(*place[:1], t, *place[1:])]
    if attrs["reduction"] == "none":
        return losses
    total = losses.sum()
    return np.array(total / np.longdouble(sum(weights)) if attrs["reduction"] == "mean" else total)


def space_to_batch(attrs: Attrs, x: Array) -> Array:
    """NumPy's padding, reshape and transpose, as TensorFlow defines it."""
    blocks, count = attrs["block_shape"], len(attrs["block_shape"])
    width = [(0, 0)] * x.ndim
    width[1 : 1 + count] = np.reshape(attrs["paddings"], (-1, 2)).tolist()
    x = np.pad(x, width, constant_values=np.array(attrs["pad_value"]).astype(x.dtype))
    sides = [part for dim, b in zip(x.shape[1:], blocks, strict=False) for part in (dim // b, b)]
    parts = x.reshape(len(x), *sides, *x.shape[1 + count :])
    order = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2)]
    moved = parts.transpose(*order, *range(2 * count + 1, parts.ndim))
    return moved.reshape(len(x) * math.prod(blocks), *sides[::2], *x.shape[1 + count :])


def batch_to_space(attrs: Attrs, x: Array) -> Array:
    """NumPy's reshape, transpose and slices, as TensorFlow defines it."""
    blocks, count = attrs["block_shape"], len(attrs["block_shape"])
    n, rest = len(x) // math.prod(blocks), x.shape[1 + count :]
    parts = x.reshape(*blocks, n, *x.shape[1:])
    order = [count, *(axis for i in range(count) for axis in (count + 1 + i, i))]
    moved = parts.transpose(*order, *range(2 * count + 1, parts.ndim))
    sides = [dim * b for dim, b in zip(x.shape[1:], blocks, strict=False)]
    crops = np.reshape(attrs["crops"], (-1, 2)).tolist()
    inside = [slice(a, side - b) for side, (a, b) in zip(sides, crops, strict=True)]
    return moved.reshape(n, *sides, *rest)[(slice(None), *inside)]


def mirror_pad(attrs: Attrs, x: Array) -> Array:
    width = np.reshape(attrs["pad_width"], (-1, 2)).tolist()
    mode: Any = attrs["mode"].lower()
    return np.pad(x, width, mode) if x.ndim else x


def lrn(attrs: Attrs, specs: Specs, x: Array) -> Array:
    axis, size = attrs["axis"], attrs["size"]
    moved = np.moveaxis(x, axis, 0).astype(np.longdouble)
    y = np.empty_like(moved)
    for i in range(len(moved)):
        first = max(0, i - math.floor((size - 1) / 2))
        total = (moved[first : i + math.ceil((size - 1) / 2) + 1] ** 2).sum(0)
        y[i] = moved[i] / (attrs["bias"] + attrs["alpha"] / size * total) ** attrs["beta"]
    return np.moveaxis(y, 0, axis)


# -------------------------------------------------------------------- moves


def moved(compute: Callable[..., Any]) -> Reference:
    """An operator that only moves elements."""
    return Reference(lambda attrs, specs, *xs: compute(attrs, *xs), moves=True)


def pick(x: Array, axis: int, wanted: Sequence[int]) -> Array:
    return np.take(x, np.array(wanted, np.int64), axis)


def first_elements(x: Array, like: Array, axes: Sequence[int] | None) -> tuple[slice, ...]:
    along = range(min(x.ndim, like.ndim)) if axes is None else [axis % x.ndim for axis in axes]
    return tuple(slice(like.shape[a] if a in along else None) for a in range(x.ndim))


def depth_to_space(attrs: Attrs, x: Array) -> Array:
    """NumPy's reshape and transpose, as ONNX defines both modes."""
    b, last = attrs["block_size"], attrs["layout"] == "NHWC"
    x = np.moveaxis(x, -1, 1) if last else x
    n, c, h, w = x.shape
    if attrs["mode"] == "DCR":
        y = x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        y = x.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    y = y.reshape(n, c // (b * b), h * b, w * b)
    return np.moveaxis(y, 1, -1) if last else y


def space_to_depth(attrs: Attrs, x: Array) -> Array:
    """NumPy's reshape and transpose, as ONNX defines it."""
    b, last = attrs["block_size"], attrs["layout"] == "NHWC"
    x = np.moveaxis(x, -1, 1) if last else x
    n, c, h, w = x.shape
    y = x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4)
    y = y.reshape(n, c * b * b, h // b, w // b)
    return np.moveaxis(y, 1, -1) if last else y


def dilate(attrs: Attrs, x: Array) -> Array:
    strides = attrs["strides"]
    shape = [d if s == 1 else (d - 1) * s + 1 for d, s in zip(x.shape, strides, strict=True)]
    y = np.full(shape, attrs["dilation_value"]).astype(x.dtype)
    y[tuple(slice(None, None, s) for s in strides)] = x
    return y


def pad(attrs: Attrs, x: Array, value: Array) -> Array:
    for axis, dim in enumerate(x.shape):
        before, after = attrs["pad_width"][2 * axis : 2 * axis + 2]
        places = range(-before, dim + after)
        if attrs["pad_mode"] == "constant":
            sides = [
                np.full((*x.shape[:axis], n, *x.shape[axis + 1 :]), value) for n in (before, after)
            ]
            x = np.concatenate([sides[0], x, sides[1]], axis)
        elif attrs["pad_mode"] == "edge":
            x = pick(x, axis, [min(max(place, 0), dim - 1) for place in places])
        else:
            x = pick(x, axis, [(dim - 1) - abs((dim - 1) - abs(place)) for place in places])
    return x


def strided_slice(attrs: Attrs, x: Array) -> Array:
    begin, end, strides = attrs["begin"], attrs["end"], attrs.get("strides", ())
    for i, axis in enumerate(attrs.get("axes", range(len(begin)))):
        n = x.shape[axis]
        if attrs["slice_mode"] == "size":
            first = min(max(begin[i] + n if begin[i] < 0 else begin[i], 0), n)
            wanted = list(range(first, n if end[i] < 0 else min(n, first + end[i])))
        else:
            step = strides[i] if i < len(strides) else 1
            wanted = np.arange(n)[begin[i] : end[i] : step].tolist()  # TVM clamps as NumPy does
        x = pick(x, axis, wanted)
    return x


def take(attrs: Attrs, x: Array, indices: Array) -> Array:
    axis, batch = attrs.get("axis"), attrs["batch_dims"]
    batch = batch + indices.ndim if batch < 0 else batch
    if axis is None:
        x, axis = x.reshape(-1), 0
    axis, extent = axis % x.ndim, x.shape[axis]

    def wanted(index: int) -> int:
        return index % extent if attrs["mode"] == "wrap" else min(max(index, 0), extent - 1)

    shape = (*x.shape[:axis], *indices.shape[batch:], *x.shape[axis + 1 :])
    y = np.empty(shape, x.dtype)
    for place in np.ndindex(shape):
        stop = axis + indices.ndim - batch
        index = int(indices[(*place[:batch], *place[axis:stop])])
        y[place] = x[(*place[:axis], wanted(index), *place[stop:])]
    return y


def upsampling(attrs: Attrs, specs: Specs, x: Array, *_: Array) -> Array:
    """Scale one side after the other: copy the nearest slices, or interpolate between two."""
    is_nearest = attrs["method"] == "nearest_neighbor"
    mode = attrs.get("coordinate_transformation_mode", "asymmetric")
    if attrs.get("align_corners") and not is_nearest:
        mode = "align_corners"
    for axis, letter in enumerate(attrs["layout"]):
        if letter in "NC":
            continue
        dim, extent = x.shape[axis], specs[0][0][axis]
        places = [
            Fraction((dim - 1) * i, max(extent - 1, 1))
            if mode == "align_corners"
            else Fraction((2 * i + 1) * dim, 2 * extent) - Fraction(1, 2)
            if mode == "half_pixel"
            else Fraction(i * dim, extent)
            for i in range(extent)
        ]
        half = Fraction(1, 2) if mode == "align_corners" else 0
        low = [math.floor(place + (half if is_nearest else 0)) for place in places]
        first, second = (
            pick(x, axis, [min(max(i + more, 0), dim - 1) for i in low]) for more in (0, 1)
        )
        if is_nearest:
            x = first
            continue
        share = np.array([float(place - i) for place, i in zip(places, low, strict=True)])
        share = share.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        x = first * (1 - share) + second * share
    return x


def split(attrs: Attrs, specs: Specs, x: Array) -> tuple[Array, ...]:
    axis, where = attrs["axis"], attrs["indices_or_sections"]
    points = where
    if isinstance(where, int):
        points = [x.shape[axis] // where * i for i in range(1, where)]
    edges = [0, *points, x.shape[axis]]
    return tuple(pick(x, axis, range(a, b)) for a, b in pairwise(edges))


def tile(attrs: Attrs, x: Array) -> Array:
    rank = max(x.ndim, len(attrs["reps"]))
    x = x.reshape((1,) * (rank - x.ndim) + x.shape)
    for axis, reps in enumerate((1,) * (rank - len(attrs["reps"])) + tuple(attrs["reps"])):
        x = pick(x, axis, list(range(x.shape[axis])) * reps)
    return x


def repeat(attrs: Attrs, x: Array) -> Array:
    axis = attrs["axis"]
    return pick(x, axis, [i for i in range(x.shape[axis]) for _ in range(attrs["repeats"])])


def transpose(attrs: Attrs, x: Array) -> Array:
    axes = [axis % x.ndim for axis in attrs.get("axes", range(x.ndim)[::-1])]
    y = np.empty([x.shape[axis] for axis in axes], x.dtype)
    for place in np.ndindex(y.shape):
        origin = [0] * x.ndim
        for axis, index in zip(axes, place, strict=True):
            origin[axis] = index
        y[place] = x[tuple(origin)]
    return y


def stack(attrs: Attrs, *xs: Array) -> Array:
    axis = attrs["axis"] % (xs[0].ndim + 1)
    return np.concatenate([x.reshape(*x.shape[:axis], 1, *x.shape[axis:]) for x in xs], axis)


# -------------------------------------------------------------------- sizes as operands


def at_run_time(reference: Reference, **places: int) -> Reference:
    """The reference of an operator that gets attributes as the operands at these places."""

    def as_static(attrs: Attrs, specs: Specs, *xs: Array) -> Array:
        given = {
            name: tuple(xs[i].reshape(-1).tolist()) if xs[i].ndim else int(xs[i])
            for name, i in places.items()
        }
        others = [x for i, x in enumerate(xs) if i not in places.values()]
        return reference.values({**attrs, **given}, specs, *others)

    return Reference(as_static, reference.terms, reference.moves)


def one_hot(attrs: Attrs, specs: Specs, indices: Array, on: Array, off: Array, *_: Array) -> Array:
    axis = attrs["axis"] % len(specs[0][0])
    y = np.empty(specs[0][0], on.dtype)
    for place in np.ndindex(y.shape):
        index = int(indices[(*place[:axis], *place[axis + 1 :])])
        y[place] = on if index == place[axis] else off
    return y


def arange(attrs: Attrs, specs: Specs, start: Array, stop: Array, step: Array) -> Array:
    numbers = np.empty(specs[0][0], object)
    numbers[:] = [start.item() + i * step.item() for i in range(len(numbers))]
    return numbers


# -------------------------------------------------------------------- selections


def topk(attrs: Attrs, specs: Specs, x: Array, *_: Array) -> Any:
    values, indices = (np.empty(specs[0][0], dtype) for dtype in (x.dtype, object))
    axis = attrs["axis"] % x.ndim
    for place in np.ndindex(*x.shape[:axis], *x.shape[axis + 1 :]):
        row = (*place[:axis], slice(None), *place[axis:])
        numbers = x[row].tolist()
        order = sorted(range(len(numbers)), key=numbers.__getitem__)
        if not attrs["is_ascend"]:
            order = sorted(range(len(numbers)), key=numbers.__getitem__, reverse=True)
        order = order[: values.shape[axis]]
        values[row], indices[row] = x[row][order], order
    return {"both": (values, indices), "values": values, "indices": indices}[attrs["ret_type"]]


def scatter_elements(attrs: Attrs, specs: Specs, x: Array, indices: Array, updates: Array) -> Array:
    """As TVM's reference loops do, in Python numbers; a mean of integers is rounded down."""
    axis, kind, y = attrs["axis"] % x.ndim, attrs["reduction"], x.astype(object)
    counts: dict[tuple[int, ...], int] = {}
    reduce: dict[str, Any] = {"add": operator.add, "mean": operator.add, "mul": operator.mul}
    reduce |= {"min": min, "max": max}
    for place in np.ndindex(indices.shape):
        index, dim = int(indices[place]), x.shape[axis]
        index = min(max(index + dim if index < 0 else index, 0), dim - 1)
        at = (*place[:axis], index, *place[axis + 1 :])
        update = updates[place].item()
        y[at] = update if kind == "update" else reduce[kind](y[at], update)
        counts[at] = counts.get(at, 1) + 1
    if kind == "mean":
        for at, count in counts.items():
            y[at] = y[at] / count if x.dtype.kind == "f" else y[at] // count
    return y


def argwhere(attrs: Attrs, specs: Specs, x: Array) -> Array:
    found = [place for place in np.ndindex(x.shape) if x[place] != 0]
    return np.array(found, np.int64).reshape(specs[0][0])


def _threefry(key: list[int], block: list[int]) -> list[int]:
    """Encrypt a block as the code that TVM generates does, by Python's integers."""
    keys = [*key, reduce(xor, key, 0x1BD11BDAA9FC1A22)]
    rotations = [14, 16, 52, 57, 23, 40, 5, 37, 25, 33, 46, 12, 58, 22, 32, 32]
    for step in range(20):
        if step % 4 == 0:
            block = [word + keys[(step // 4 + i) % 5] for i, word in enumerate(block)]
            block[3] += step // 4
        mixed: list[int] = []
        for a, b, turn in zip(block[::2], block[1::2], rotations[step % 8 * 2 :], strict=False):
            a, b = (a + b) % 2**64, b % 2**64
            mixed += [a, (a + b) % 2**64 ^ (b << turn | b >> 64 - turn) % 2**64]
        block = [mixed[0], mixed[3], mixed[2], mixed[1]]
    return block


def _path_of(words: list[int]) -> tuple[int, int]:
    """Return the path, and the bit of it that is next, as numbers of 128 bits."""
    return words[4] << 64 | words[5], words[8] << 64 | words[9]


def _generator(key: list[int], path: int, counter: int, bit: int) -> Array:
    halves = [n >> shift & 2**64 - 1 for n in (path, counter, bit) for shift in (64, 0)]
    return np.array([*key, *halves], np.uint64)


def threefry_generate(attrs: Attrs, specs: Specs, gen: Array) -> Any:
    words = gen.tolist()
    key, counter, (path, bit) = words[:4], words[7], _path_of(words)
    count = int(np.prod(attrs["out_shape"]))
    if counter + count >= 2**64 - 1:
        key = key if bit else _threefry(key, [2**64 - 1] * 4)
        path, counter, bit = path | bit if bit else 0, 0, bit >> 1 if bit else 1 << 127
    block = [path >> 64, path & 2**64 - 1, 0, counter]
    numbers = [n for i in range(count // 4) for n in _threefry(key, [w + i for w in block])]
    block[3] = (counter + count // 4 * 4) % 2**64
    if count % 4:
        numbers += _threefry(key, list(block))[: count % 4]
    after = (counter + -(-count // 4) * 4) % 2**64
    return _generator(key, path, after, bit), np.array(numbers, np.uint64).reshape(specs[1][0])


def threefry_split(attrs: Attrs, specs: Specs, gen: Array) -> Any:
    words = gen.tolist()
    key, counter, (path, bit) = words[:4], words[6] << 64 | words[7], _path_of(words)
    if not bit:
        key, path, counter, bit = _threefry(key, words[4:8]), 0, 0, 1 << 127
    return tuple(_generator(key, p, counter, bit >> 1) for p in (path, path | bit))


def unique(attrs: Attrs, specs: Specs, x: Array) -> Any:
    numbers = x.tolist()
    values = list(dict.fromkeys(numbers))
    values = sorted(values) if attrs["sorted"] else values
    rest = [0] * (len(numbers) - len(values))
    return (
        np.array(values + rest, x.dtype),
        [*map(numbers.index, values), *rest],
        [*map(values.index, numbers)],
        [len(values)],
        *([[*map(numbers.count, values), *rest]] if attrs["return_counts"] else []),
    )


# -------------------------------------------------------------------- images and boxes


def position_of(attrs: Attrs, i: int, old: int, new: float, number: Callable[[float], Any]) -> Any:
    """The position of pixel `i` of `new` among `old` ones, computed in `number`."""
    at, scale, half = number(i), number(new) / number(old), number(0.5)
    match attrs["coordinate_transformation_mode"]:
        case "align_corners":
            return at * (number(old - 1) / number(new - 1)) if new > 1 else number(0)
        case "asymmetric":
            return at / scale
        case "tf_half_pixel_for_nn":
            return (at + half) / scale
        case "pytorch_half_pixel" if new <= 1:
            return number(0)
        case _:
            return (at + half) / scale - half


def nearest_pixel(attrs: Attrs, i: int, old: int, new: float) -> int:
    at = float(position_of(attrs, i, old, new, np.float32))
    mode = attrs["rounding_method"]
    if mode == "":
        corners = attrs["coordinate_transformation_mode"] == "align_corners"
        mode = "round" if corners else "floor"
    down, up = math.floor(at), math.ceil(at)
    found = {
        "floor": down,
        "ceil": up,
        "round": math.floor(at + 0.5),
        "round_prefer_ceil": math.floor(at + 0.5),
        "round_prefer_floor": math.ceil(at - 0.5),
    }[mode]
    return min(max(found, 0), old - 1)


def pixel_weights(attrs: Attrs, i: int, old: int, new: float) -> Array:
    """The weight of each of `old` pixels in pixel `i` of `new`."""
    at = position_of(attrs, i, old, new, float)
    reach = 1 if attrs["method"] == "linear" else 2
    a = attrs["cubic_alpha"]

    def weight(distance: float) -> float:
        d = abs(distance)
        if reach == 1:
            return max(1 - d, 0.0)
        if d <= 1:
            return (a + 2) * d**3 - (a + 3) * d**2 + 1
        return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0

    weights = np.zeros(old)
    pixels = range(math.floor(at) - reach + 1, math.floor(at) + reach + 1)
    for pixel in pixels:
        inside = 0 <= pixel < old
        if inside or reach == 1 or not attrs["cubic_exclude"]:
            weights[min(max(pixel, 0), old - 1)] += weight(at - pixel)
    return weights / weights.sum() if reach == 2 and attrs["cubic_exclude"] else weights


def resize2d(attrs: Attrs, specs: Specs, x: Array, *_: Array) -> Array:
    axis = attrs["layout"].index("H")
    if attrs["method"] == "nearest_neighbor":
        for a in (axis, axis + 1):
            old, new = x.shape[a], attrs["size"][a - axis]
            x = pick(x, a, [nearest_pixel(attrs, i, old, new) for i in range(int(new))])
        return x
    y = x.astype(np.float64)
    for a in (axis, axis + 1):
        new = attrs["size"][a - axis]
        rows = np.array([pixel_weights(attrs, i, x.shape[a], new) for i in range(int(new))])
        y = np.moveaxis(np.tensordot(rows, y, (1, a)), 0, a)
    return y


def resize2d_terms(attrs: Attrs, specs: Specs, x: Array, *_: Array) -> Array:
    return np.full(specs[0][0], 4 * float(np.abs(x.astype(np.float64)).max(initial=0)))


def get_valid_counts(attrs: Attrs, specs: Specs, x: Array, threshold: Array) -> Any:
    counts, rows, indices = np.zeros(len(x)), np.full(x.shape, -1, x.dtype), -np.ones(x.shape[:2])
    limit = threshold.astype(x.dtype)
    for n, boxes in enumerate(x):
        of_class = attrs["id_index"]
        valid = [
            i
            for i, row in enumerate(boxes)
            if row[attrs["score_index"]] > limit and (of_class < 0 or row[of_class] >= 0)
        ]
        counts[n] = len(valid)
        for to, i in enumerate(valid):
            rows[n, to], indices[n, to] = boxes[i], i
    return counts, rows, indices


def intersection_over_union(a: Sequence[float], b: Sequence[float]) -> float:
    sides = [
        (min(p, r), max(p, r), min(q, s), max(q, s))
        for p, r, q, s in ((a[0], a[2], b[0], b[2]), (a[1], a[3], b[1], b[3]))
    ]
    common = math.prod(max(min(hi, to) - max(lo, from_), 0) for lo, hi, from_, to in sides)
    areas = math.prod(hi - lo for lo, hi, *_ in sides)
    union = areas + math.prod(to - from_ for *_, from_, to in sides) - common
    return common / union if union > 0 else 0


def non_max_suppression(
    attrs: Attrs, specs: Specs, x: Array, counts: Array, indices: Array, most: Array, iou: Array
) -> Any:
    first, score, of_class = attrs["coord_start"], attrs["score_index"], attrs["id_index"]
    found, totals = np.full(indices.shape, -1), np.zeros((len(x), 1))
    kept_rows = np.full(x.shape, -1, x.dtype)
    for n, rows in enumerate(x.astype(np.float64).tolist()):
        order = list(range(min(max(int(counts[n]), 0), len(rows))))
        if iou > 0:
            order.sort(key=lambda i: -rows[i][score])
            order = order[: attrs["top_k"]] if attrs["top_k"] > 0 else order
        kept: list[int] = []
        for place, i in enumerate(order):
            row = rows[i]
            hidden = iou > 0 and any(
                (attrs["force_suppress"] or of_class < 0 or rows[j][of_class] == row[of_class])
                and intersection_over_union(rows[j][first:], row[first:]) >= iou
                for j in kept
            )
            if hidden or (of_class >= 0 and row[of_class] < 0) or 0 < most <= len(kept):
                continue
            to = len(kept) if attrs["invalid_to_bottom"] else place
            kept_rows[n, to] = x[n, i]
            found[n, len(kept)] = indices[n, i]
            kept.append(i)
        totals[n] = len(kept)
    return (found, totals) if attrs["return_indices"] else kept_rows


def all_class_non_max_suppression(
    attrs: Attrs, specs: Specs, boxes: Array, scores: Array, most: Array, iou: Array, least: Array
) -> Any:
    rows: list[tuple[int, int, int]] = []
    for n, c in np.ndindex(scores.shape[:2]):
        left = [i for i, s in enumerate(scores[n, c]) if s > least.astype(scores.dtype)]
        left.sort(key=lambda i: -float(scores[n, c, i]))
        kept: list[int] = []
        for i in left:
            one = boxes[n, i].astype(np.float64).tolist()
            if len(kept) < most and not any(
                intersection_over_union(boxes[n, j].astype(np.float64).tolist(), one) > iou
                for j in kept
            ):
                kept.append(i)
        rows += [(n, c, i) for i in kept]
    table = np.zeros(specs[0][0])
    table[: len(rows)] = np.array(rows).reshape(-1, 3)
    return table, [len(rows)]


def shifted(function: Callable[[int, int], int]) -> Reference:
    """Shift integers by `function`; by the width and more, or a negative number, all bits."""

    def values(attrs: Attrs, specs: Specs, *xs: Array) -> Array:
        bits = xs[0].dtype.itemsize * 8
        return each(lambda x, n: function(x, n if 0 <= n < bits else bits)).values({}, specs, *xs)

    return Reference(values)


def gather(attrs: Attrs, x: Array, indices: Array) -> Array:
    axis = attrs["axis"] % x.ndim
    y = np.empty(indices.shape, x.dtype)
    for place in np.ndindex(y.shape):
        index = min(max(int(indices[place]), 0), x.shape[axis] - 1)
        y[place] = x[(*place[:axis], index, *place[axis + 1 :])]
    return y


def gather_nd(attrs: Attrs, x: Array, indices: Array) -> Array:
    batch, count = attrs["batch_dims"], indices.shape[0]
    y = np.empty((*indices.shape[1:], *x.shape[batch + count :]), x.dtype)
    for place in np.ndindex(indices.shape[1:]):
        at = [min(max(int(indices[(i, *place)]), 0), x.shape[batch + i] - 1) for i in range(count)]
        y[(*place, ...)] = x[(*place[:batch], *at, ...)]
    return y


def running(attrs: Attrs, specs: Specs, x: Array) -> Array:
    """The sums of the numbers before each place, with Python's integers and fractions."""
    shape, dtype = specs[0]
    x = x if attrs.get("axis") is not None else x.reshape(-1)
    axis = (attrs.get("axis") or 0) % x.ndim
    terms = cast({}, [(x.shape, dtype)], x) if x.dtype.kind == "f" else plain(x)
    y = np.empty(shape, object)
    for place in np.ndindex(shape):
        last = place[axis] + (not attrs["exclusive"])
        row = [terms[(*place[:axis], i, *place[axis + 1 :])] for i in range(last)]
        y[place] = math.fsum(row) if dtype.startswith("float") else sum(map(int, row))
    return y


def conv1d(attrs: Attrs, specs: Specs, x: Array, w: Array) -> Array:
    """Loop over the cells of each window, skipping the padding."""
    by_channel = attrs["data_layout"] == "NCW"
    x = x if by_channel else x.transpose(0, 2, 1)
    w = w if attrs["kernel_layout"] == "OIW" else w.transpose(2, 1, 0)
    result = np.zeros(specs[0][0], x.dtype)
    y = result if by_channel else result.transpose(0, 2, 1)
    filters, channels, width = w.shape
    for n, o, c in np.ndindex(y.shape):
        first = o // (filters // attrs["groups"]) * channels
        for i in range(width):
            at = c * attrs["strides"][0] + i * attrs["dilation"][0] - attrs["padding"][0]
            if 0 <= at < x.shape[2]:
                for k in range(channels):
                    y[n, o, c] += x[n, first + k, at] * w[o, k, i]
    return result


same_order = Reference(lambda attrs, specs, x: x.reshape(specs[0][0]), moves=True)

REFERENCES: dict[str, Reference] = {
    "abs": each(abs),
    "acos": real(np.arccos, mpmath.acos),
    "acosh": real(np.arccosh, mpmath.acosh),
    "add": each(operator.add),
    "all": Reference(folded(all)),
    "any": Reference(folded(any)),
    "arange": Reference(arange),
    "argwhere": Reference(argwhere),
    "argmax": position(1),
    "argmin": position(-1),
    "asin": real(np.arcsin, mpmath.asin),
    "asinh": real(np.arcsinh, mpmath.asinh),
    "atan": real(np.arctan, mpmath.atan),
    "atanh": real(np.arctanh, mpmath.atanh),
    "bitwise_and": each(operator.and_),
    "bitwise_not": each(operator.invert),
    "bitwise_or": each(operator.or_),
    "bitwise_xor": each(operator.xor),
    "broadcast_to": moved(lambda attrs, x: np.broadcast_to(x, attrs["shape"])),
    "cast": Reference(cast),
    "fixed_point_multiply": Reference(fixed_point_multiply),
    "reinterpret": Reference(
        lambda attrs, specs, x: np.frombuffer(x.tobytes(), attrs["dtype"]).reshape(x.shape)
    ),
    "cast_like": Reference(lambda attrs, specs, x, like: cast(attrs, specs, x)),
    "ceil": rounded(math.ceil),
    "clip": Reference(clip),
    "concatenate": moved(lambda attrs, *xs: np.concatenate(xs, attrs["axis"])),
    "copy": moved(lambda attrs, x: x),
    "cos": real(np.cos, mpmath.cos),
    "cosh": real(np.cosh, mpmath.cosh),
    "cumsum": Reference(running, lambda attrs, specs, x: running(attrs, specs, np.abs(x))),
    "divide": by_kind(each(divide), each(c_divide)),
    "equal": each(operator.eq),
    "erf": real(np.vectorize(math.erf, [np.longdouble]), mpmath.erf),
    "exp": real(np.exp, mpmath.exp),
    "expand_dims": same_order,
    "floor": rounded(math.floor),
    "floor_divide": exactly(floor_divide),
    "floor_mod": exactly(floor_mod),
    "full": moved(lambda attrs, x: np.full(attrs["shape"], x)),
    "full_like": moved(lambda attrs, x, value: np.full(x.shape, value)),
    "gather": moved(gather),
    "gather_nd": moved(gather_nd),
    "greater": each(operator.gt),
    "greater_equal": each(operator.ge),
    "isfinite": each(math.isfinite),
    "isinf": each(math.isinf),
    "isnan": each(math.isnan),
    "left_shift": shifted(operator.lshift),
    "less": each(operator.lt),
    "less_equal": each(operator.le),
    "log": real(np.log, mpmath.log),
    "log10": real(np.log10, mpmath.log10),
    "log2": real(np.log2, lambda x: mpmath.log(x, 2)),
    "logical_and": each(lambda a, b: a and b),
    "logical_not": each(operator.not_),
    "logical_or": each(lambda a, b: a or b),
    "logical_xor": each(operator.ne),
    "max": Reference(folded(lambda group: greatest(1)(*group))),
    "maximum": each(greatest(1)),
    "mean": with_terms(folded(lambda group: terms_of(group) / len(group))),
    "min": Reference(folded(lambda group: greatest(-1)(*group))),
    "minimum": each(greatest(-1)),
    "mod": by_kind(each(fmod), each(c_remainder)),
    "multiply": each(operator.mul),
    "ndarray_size": Reference(lambda attrs, specs, x: np.array(x.size)),
    "negative": each(operator.neg),
    **{f"nn.avg_pool{sides}d": with_terms(pool(mean_of)) for sides in (1, 2, 3)},
    "nn.batch_flatten": same_order,
    "nn.batch_matmul": bilinear(batch_matmul),
    "nn.batch_norm": normalized(batch_norm),
    "nn.bias_add": on_axis(operator.add),
    "nn.conv1d": bilinear(conv1d),
    "nn.conv2d": bilinear(conv2d),
    "nn.conv2d_backward_weight": bilinear(conv2d_backward_weight),
    "nn.conv3d": bilinear(conv3d),
    "nn.instance_norm": normalized(norm_per_image),
    "nn.group_norm": normalized(norm_per_image),
    "nn.l2_normalize": normalized(l2_normalize),
    "nn.nll_loss": normalized(nll_loss),
    "nn.space_to_batch_nd": moved(space_to_batch),
    "nn.batch_to_space_nd": moved(batch_to_space),
    "nn.mirror_pad": moved(mirror_pad),
    "nn.conv1d_transpose": bilinear(conv_transpose),
    "nn.conv3d_transpose": bilinear(conv_transpose),
    "nn.deformable_conv2d": Reference(
        deformable_conv2d,
        lambda attrs, specs, x, offset, w: deformable_conv2d(
            attrs, specs, np.abs(x), offset, np.abs(w)
        ),
    ),
    "image.dilation2d": Reference(dilation2d),
    **{
        f"nn.{kind}_pool2d_grad": Reference(
            pool_grad(kind == "max"),
            lambda attrs, specs, grad, x, kind=kind: pool_grad(kind == "max")(
                attrs, specs, np.abs(grad), x
            ),
        )
        for kind in ("max", "avg")
    },
    "nn.conv2d_transpose": bilinear(conv2d_transpose),
    "nn.dense": bilinear(dense),
    "nn.gelu": Reference(gelu, lambda attrs, specs, x: np.abs(x.astype(np.float64))),
    "nn.global_avg_pool2d": with_terms(whole_image(mean_of)),
    "nn.global_max_pool2d": Reference(whole_image(greatest_of)),
    "nn.layer_norm": normalized(layer_norm),
    "nn.leaky_relu": Reference(leaky_relu),
    "nn.log_softmax": normalized(log_softmax),
    "nn.lrn": Reference(lrn),
    "nn.matmul": bilinear(matmul),
    "nn.packed_dense": bilinear(packed_dense),
    **{f"nn.max_pool{sides}d": Reference(pool(greatest_of)) for sides in (1, 2, 3)},
    **{f"nn.adaptive_max_pool{n}d": Reference(adaptive(greatest_of)) for n in (1, 2, 3)},
    **{f"nn.adaptive_avg_pool{n}d": with_terms(adaptive(mean_of)) for n in (1, 2, 3)},
    "nn.pad": moved(pad),
    "nn.prelu": on_axis(slope),
    "nn.relu": each(lambda x: x if x != x else max(x, 0)),
    "nn.softmax": Reference(softmax),
    **{
        f"{dyn}nn.upsampling{sides}": normalized(upsampling)
        for dyn in ("", "dyn.")
        for sides in ("", "3d")
    },
    "not_equal": each(operator.ne),
    "power": by_kind(
        real(np.vectorize(float_power, [np.longdouble]), mpmath.power), Reference(wrapping_power)
    ),
    "prod": Reference(folded(product_of)),
    "repeat": moved(repeat),
    "reshape": same_order,
    "reshape_like": Reference(lambda attrs, specs, x, like: x.reshape(specs[0][0]), moves=True),
    "nn.depth_to_space": moved(depth_to_space),
    "nn.space_to_depth": moved(space_to_depth),
    "nn.dilate": moved(dilate),
    "slice_like": moved(lambda attrs, x, like: x[first_elements(x, like, attrs.get("axes"))]),
    "reverse": moved(lambda attrs, x: pick(x, attrs["axis"], range(x.shape[attrs["axis"]])[::-1])),
    "right_shift": shifted(operator.rshift),
    "round": Reference(round_ties),
    "rsqrt": real(lambda x: 1 / np.sqrt(x), lambda x: 1 / mpmath.sqrt(x)),
    "sigmoid": real(lambda x: 1 / (1 + np.exp(-x)), lambda x: 1 / (1 + mpmath.exp(-x))),
    "sign": each(lambda x: x if x != x else (x > 0) - (x < 0)),
    "sin": real(np.sin, mpmath.sin),
    "sinh": real(np.sinh, mpmath.sinh),
    "split": Reference(split, moves=True),
    "sqrt": each(lambda x: math.sqrt(x) if x >= 0 else math.nan),
    "squeeze": same_order,
    "stack": moved(stack),
    "strided_slice": moved(strided_slice),
    "subtract": each(operator.sub),
    "sum": with_terms(folded(terms_of)),
    "take": moved(take),
    "tan": real(np.tan, mpmath.tan),
    "tanh": real(np.tanh, mpmath.tanh),
    "tile": moved(tile),
    "trunc": rounded(math.trunc),
    "transpose": moved(transpose),
    "where": moved(lambda attrs, c, x, y: np.where(c, x, y)),
    "image.resize2d": Reference(resize2d, resize2d_terms),
    "one_hot": Reference(one_hot, moves=True),
    "ones": Reference(lambda attrs, specs: np.ones(specs[0][0])),
    "shape_of": Reference(lambda attrs, specs, x: np.array(x.shape)),
    "argsort": Reference(lambda attrs, specs, x: topk({**attrs, "ret_type": "indices"}, specs, x)),
    "sort": Reference(lambda attrs, specs, x: topk({**attrs, "ret_type": "values"}, specs, x)),
    "scatter_elements": Reference(scatter_elements),
    "topk": Reference(topk),
    "random.threefry_generate": Reference(threefry_generate),
    "random.threefry_split": Reference(threefry_split),
    "unique": Reference(unique),
    "vision.all_class_non_max_suppression": Reference(all_class_non_max_suppression),
    "vision.get_valid_counts": Reference(get_valid_counts),
    "vision.non_max_suppression": Reference(non_max_suppression),
    "zeros": Reference(lambda attrs, specs: np.zeros(specs[0][0])),
}

_AT_RUN_TIME = {
    "dyn.broadcast_to": at_run_time(REFERENCES["broadcast_to"], shape=1),
    "dyn.expand_dims": at_run_time(same_order, axis=1),
    "dyn.full": at_run_time(REFERENCES["full"], shape=1),
    "dyn.image.resize2d": at_run_time(REFERENCES["image.resize2d"], size=1),
    "dyn.nn.pad": at_run_time(REFERENCES["nn.pad"], pad_width=1),
    "dyn.one_hot": at_run_time(REFERENCES["one_hot"], depth=3),
    "dyn.ones": at_run_time(REFERENCES["ones"], shape=0),
    "dyn.reshape": at_run_time(same_order, newshape=1),
    "dyn.squeeze": at_run_time(same_order, axis=1),
    "dyn.strided_slice": at_run_time(REFERENCES["strided_slice"], begin=1, end=2, strides=3),
    "dyn.tile": at_run_time(REFERENCES["tile"], reps=1),
    "dyn.topk": at_run_time(REFERENCES["topk"], k=1),
    "dyn.zeros": at_run_time(REFERENCES["zeros"], shape=0),
}
REFERENCES.update(_AT_RUN_TIME)
