"""
Reference implementations of the operators: third-party code (onnxruntime, Python's arithmetic and
`math`, NumPy in extended precision), or plain loops that follow the definition.

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
from typing import Any, TypeAlias

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


def extended(function: Callable[..., Array]) -> Reference:
    """Apply `function` in NumPy's extended precision."""
    return Reference(lambda attrs, specs, *xs: function(*(x.astype(np.longdouble) for x in xs)))


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


def c_divide(a: int, b: int) -> int:
    """The quotient, rounded toward zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def floor_divide(a: Any, b: Any) -> Any:
    if isinstance(a, int):
        return a // b
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if b == 0:
        return math.nan if a == 0 else math.copysign(math.inf, a) * math.copysign(1, b)
    try:
        return float(Fraction(a) // Fraction(b)) or math.copysign(0, a) * math.copysign(1, b)
    except OverflowError:
        return math.copysign(math.inf, a) * math.copysign(1, b)


def floor_mod(a: Any, b: Any) -> Any:
    if isinstance(a, int):
        return a % b
    if math.isnan(a) or math.isnan(b) or b == 0:
        return math.nan
    return float(Fraction(a) % Fraction(b)) or math.copysign(0, b)


def power(a: int, b: int) -> int:
    """The power; an inverse is truncated to an integer."""
    return a**b if b >= 0 else c_divide(1, a**-b) if abs(a) == 1 else 0


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
    low, high = attrs["a_min"], attrs["a_max"]
    if x.dtype.kind != "f":
        info = np.iinfo(x.dtype)
        low = info.min if low < info.min else min(math.ceil(low), info.max)
        high = info.max if high > info.max else max(math.floor(high), info.min)
    return each(lambda v: v if v != v else min(max(v, low), high)).values(attrs, specs, x)


def cast(attrs: Attrs, specs: Specs, x: Array) -> Array:
    target = specs[0][1]
    if target == "bool":
        return each(lambda v: v != 0).values(attrs, specs, x)
    if target.startswith("float"):
        return each(float).values(attrs, specs, x)
    if x.dtype.kind != "f":
        return each(int).values(attrs, specs, x)
    return each(lambda number: saturated(number, target)).values(attrs, specs, x)


def saturated(number: float, dtype: str) -> int:
    """Return `number` truncated to the nearest integer that `dtype` has; 0 for NaN."""
    info = np.iinfo(dtype)
    if math.isnan(number):
        return 0
    if math.isinf(number):
        return int(info.max if number > 0 else info.min)
    return min(max(int(number), int(info.min)), int(info.max))


def normal(x: Array) -> Array:
    """The normal distribution function."""
    return np.array([(1 + math.erf(v / math.sqrt(2))) / 2 for v in x.reshape(-1)]).reshape(x.shape)


def gelu(attrs: Attrs, specs: Specs, x: Array) -> Array:
    x = x.astype(np.float64)
    if attrs["approximate"] == "none":
        return x * normal(x)
    return x * ((1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))) / 2)


def along(vector: Array, axis: int, rank: int) -> Array:
    return vector.reshape([-1 if i == axis % rank else 1 for i in range(rank)])


def slope(x: Any, a: Any) -> Any:
    return x if x > 0 else a * x


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


def position(sign: int) -> Reference:
    def values(attrs: Attrs, specs: Specs, x: Array) -> Array:
        def find(numbers: list[Any]) -> int:
            best = greatest(sign)(*numbers)
            hits = [i for i, number in enumerate(numbers) if number == best]
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
    return x.transpose(0, 3, 1, 2) if attrs[key] == "NHWC" else x


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
        (kh, kw), (sh, sw), (dh, dw) = attrs["pool_size"], attrs["strides"], attrs["dilation"]
        top, left, bottom, right = attrs["padding"]
        height, width = x.shape[2:]
        for n, c, r, q in np.ndindex(y.shape):
            cells: list[Any] = []
            padded = 0
            for i, j in np.ndindex(kh, kw):
                a, b = r * sh - top + i * dh, q * sw - left + j * dw
                padded += a < height + bottom and b < width + right
                if 0 <= a < height and 0 <= b < width:
                    cells.append(x[n, c, a, b])
            counted = padded if attrs.get("count_include_pad", False) else len(cells)
            y[n, c, r, q] = combine(cells, counted, data.dtype.name)
        return result

    return values


def mean_of(cells: list[Any], count: int, dtype: str) -> Any:
    """The mean, for integers rounded toward zero; 0 for an empty window."""
    if not count:
        return 0
    return math.fsum(cells) / count if dtype.startswith("float") else c_divide(sum(cells), count)


def greatest_of(cells: list[Any], count: int, dtype: str) -> Any:
    """The maximum; the least value of the type for an empty window."""
    if cells:
        return greatest(1)(*cells)
    return -math.inf if dtype.startswith("float") else np.iinfo(dtype).min


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


def upsampling(attrs: Attrs, specs: Specs, x: Array) -> Array:
    first = attrs["layout"].index("H")
    for axis in (first, first + 1):
        extent = specs[0][0][axis]
        x = pick(x, axis, [row * x.shape[axis] // extent for row in range(extent)])
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


def argwhere(attrs: Attrs, specs: Specs, x: Array) -> Array:
    found = [place for place in np.ndindex(x.shape) if x[place] != 0]
    return np.array(found, np.int64).reshape(specs[0][0])


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


def position_of(attrs: Attrs, i: int, old: int, new: int, number: Callable[[float], Any]) -> Any:
    """The position of pixel `i` of `new` among `old` ones, computed in `number`."""
    at, scale, half = number(i), number(new) / number(old), number(0.5)
    match attrs["coordinate_transformation_mode"]:
        case "align_corners":
            return at * (number(old - 1) / number(new - 1)) if new > 1 else number(0)
        case "asymmetric":
            return at / scale
        case "tf_half_pixel_for_nn":
            return (at + half) / scale
        case "pytorch_half_pixel" if new == 1:
            return number(0)
        case _:
            return (at + half) / scale - half


def nearest_pixel(attrs: Attrs, i: int, old: int, new: int) -> int:
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


def pixel_weights(attrs: Attrs, i: int, old: int, new: int) -> Array:
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
            old, new = x.shape[a], specs[0][0][a]
            x = pick(x, a, [nearest_pixel(attrs, i, old, new) for i in range(new)])
        return x
    y = x.astype(np.float64)
    for a in (axis, axis + 1):
        new = specs[0][0][a]
        rows = np.array([pixel_weights(attrs, i, x.shape[a], new) for i in range(new)])
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


same_order = Reference(lambda attrs, specs, x: x.reshape(specs[0][0]), moves=True)

REFERENCES: dict[str, Reference] = {
    "abs": each(abs),
    "acos": extended(np.arccos),
    "acosh": extended(np.arccosh),
    "add": each(operator.add),
    "all": Reference(folded(all)),
    "any": Reference(folded(any)),
    "arange": Reference(arange),
    "argwhere": Reference(argwhere),
    "argmax": position(1),
    "argmin": position(-1),
    "asin": extended(np.arcsin),
    "asinh": extended(np.arcsinh),
    "atan": extended(np.arctan),
    "atanh": extended(np.arctanh),
    "broadcast_to": moved(lambda attrs, x: np.broadcast_to(x, attrs["shape"])),
    "cast": Reference(cast),
    "ceil": rounded(math.ceil),
    "clip": Reference(clip),
    "concatenate": moved(lambda attrs, *xs: np.concatenate(xs, attrs["axis"])),
    "copy": moved(lambda attrs, x: x),
    "cos": extended(np.cos),
    "cosh": extended(np.cosh),
    "divide": by_kind(extended(np.divide), each(c_divide)),
    "equal": each(operator.eq),
    "erf": each(math.erf),
    "exp": extended(np.exp),
    "expand_dims": same_order,
    "floor": rounded(math.floor),
    "floor_divide": each(floor_divide),
    "floor_mod": each(floor_mod),
    "full": moved(lambda attrs, x: np.full(attrs["shape"], x)),
    "greater": each(operator.gt),
    "greater_equal": each(operator.ge),
    "isfinite": each(math.isfinite),
    "isinf": each(math.isinf),
    "isnan": each(math.isnan),
    "less": each(operator.lt),
    "less_equal": each(operator.le),
    "log": extended(np.log),
    "log10": extended(np.log10),
    "log2": extended(np.log2),
    "logical_and": each(lambda a, b: a and b),
    "logical_not": each(operator.not_),
    "logical_or": each(lambda a, b: a or b),
    "logical_xor": each(operator.ne),
    "max": Reference(folded(lambda group: greatest(1)(*group))),
    "maximum": each(greatest(1)),
    "mean": with_terms(folded(lambda group: math.fsum(group) / len(group))),
    "min": Reference(folded(lambda group: greatest(-1)(*group))),
    "minimum": each(greatest(-1)),
    "mod": by_kind(extended(np.fmod), each(lambda a, b: a - c_divide(a, b) * b)),
    "multiply": each(operator.mul),
    "negative": each(operator.neg),
    "nn.avg_pool2d": with_terms(pool(mean_of)),
    "nn.batch_flatten": same_order,
    "nn.batch_matmul": bilinear(batch_matmul),
    "nn.batch_norm": normalized(batch_norm),
    "nn.bias_add": on_axis(operator.add),
    "nn.conv2d": bilinear(conv2d),
    "nn.conv2d_transpose": bilinear(conv2d_transpose),
    "nn.dense": bilinear(dense),
    "nn.gelu": Reference(gelu, lambda attrs, specs, x: np.abs(x.astype(np.float64))),
    "nn.global_avg_pool2d": with_terms(whole_image(mean_of)),
    "nn.global_max_pool2d": Reference(whole_image(greatest_of)),
    "nn.layer_norm": normalized(layer_norm),
    "nn.leaky_relu": Reference(
        lambda attrs, specs, x: each(lambda v: slope(v, attrs["alpha"])).values(attrs, specs, x)
    ),
    "nn.log_softmax": normalized(log_softmax),
    "nn.lrn": Reference(lrn),
    "nn.matmul": bilinear(matmul),
    "nn.max_pool2d": Reference(pool(greatest_of)),
    "nn.pad": moved(pad),
    "nn.prelu": on_axis(slope),
    "nn.relu": each(lambda x: x if x != x else max(x, 0)),
    "nn.softmax": Reference(softmax),
    "nn.upsampling": Reference(upsampling, moves=True),
    "not_equal": each(operator.ne),
    "power": by_kind(extended(np.power), Reference(wrapping_power)),
    "prod": Reference(folded(lambda group: reduce(operator.mul, group, 1))),
    "repeat": moved(repeat),
    "reshape": same_order,
    "reverse": moved(lambda attrs, x: pick(x, attrs["axis"], range(x.shape[attrs["axis"]])[::-1])),
    "round": rounded(round),
    "rsqrt": extended(lambda x: 1 / np.sqrt(x)),
    "sigmoid": extended(lambda x: 1 / (1 + np.exp(-x))),
    "sign": each(lambda x: x if x != x else (x > 0) - (x < 0)),
    "sin": extended(np.sin),
    "sinh": extended(np.sinh),
    "split": Reference(split, moves=True),
    "sqrt": extended(np.sqrt),
    "squeeze": same_order,
    "stack": moved(stack),
    "strided_slice": moved(strided_slice),
    "subtract": each(operator.sub),
    "sum": with_terms(folded(sum)),
    "take": moved(take),
    "tan": extended(np.tan),
    "tanh": extended(np.tanh),
    "tile": moved(tile),
    "trunc": rounded(math.trunc),
    "transpose": moved(transpose),
    "where": moved(lambda attrs, c, x, y: np.where(c, x, y)),
    "image.resize2d": Reference(resize2d, resize2d_terms),
    "one_hot": Reference(one_hot, moves=True),
    "ones": Reference(lambda attrs, specs: np.ones(specs[0][0])),
    "shape_of": Reference(lambda attrs, specs, x: np.array(x.shape)),
    "topk": Reference(topk),
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
