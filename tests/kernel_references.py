"""
What each operator means, by code that we did not write (onnxruntime, NumPy's own functions) or
straight from its definition, in float64 where the operands are floats.

`REFERENCES[name](attrs, *operands)` gives the result, or a tuple of the results.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
from onnx import TensorProto, helper

Array: TypeAlias = Any
Attrs: TypeAlias = Mapping[str, Any]
Reference: TypeAlias = Callable[..., Any]

onnxruntime.set_default_logger_severity(4)


def onnx_node(op: str, operands: Sequence[Array], attrs: Attrs, opset: int = 20) -> Array:
    """The (first) result of one ONNX operator on float32 operands, by onnxruntime."""
    arrays = [np.asarray(a, np.float32) for a in operands]
    names = [f"i{n}" for n in range(len(arrays))]
    node = helper.make_node(op, names, ["o"], **attrs)
    ins = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
        for name, array in zip(names, arrays, strict=True)
    ]
    out = helper.make_tensor_value_info("o", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", ins, [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 9
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, dict(zip(names, arrays, strict=True)))[0]


def unary(function: Callable[[Array], Array]) -> Reference:
    return lambda attrs, x: function(x)


def scalar(function: Callable[[float], float]) -> Reference:
    """`function` of Python floats on each element."""
    return lambda attrs, x: np.array(
        [function(float(v)) for v in x.reshape(-1)], np.float64
    ).reshape(x.shape)


def binary(function: Callable[[Array, Array], Array]) -> Reference:
    return lambda attrs, a, b: function(a, b)


def c_divide(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return a / b
    quotient = np.abs(a.astype(object)) // np.abs(b.astype(object))
    return (quotient * np.sign(a) * np.sign(b)).astype(a.dtype)


def along(vector: Array, axis: int, rank: int) -> Array:
    return vector.reshape([-1 if i == axis % rank else 1 for i in range(rank)])


def axes_of(attrs: Attrs, rank: int) -> tuple[int, ...]:
    if "axis" not in attrs:
        return tuple(range(rank))
    axes = {axis % rank for axis in attrs["axis"]}
    if attrs["exclude"]:
        axes = set(range(rank)) - axes
    return tuple(sorted(axes))


def reduction(function: Callable[..., Array]) -> Reference:
    return lambda attrs, x: function(x, axis=axes_of(attrs, x.ndim), keepdims=attrs["keepdims"])


def position(best: Callable[[Array], Array]) -> Reference:
    def reference(attrs: Attrs, x: Array) -> Array:
        axes = axes_of(attrs, x.ndim)
        kept = [axis for axis in range(x.ndim) if axis not in axes]
        rows = x.transpose(*kept, *axes).reshape(*(x.shape[k] for k in kept), -1)
        found = np.empty(rows.shape[:-1], np.int64)
        for index in np.ndindex(found.shape):
            hits = np.flatnonzero(rows[index] == best(rows[index]))
            found[index] = hits[-1 if attrs["select_last_index"] else 0]
        if not attrs["keepdims"]:
            return found
        return found.reshape([1 if axis in axes else d for axis, d in enumerate(x.shape)])

    return reference


def softmax(attrs: Attrs, x: Array) -> Array:
    powers = np.exp(x.astype(np.float64))
    return powers / powers.sum(axis=attrs["axis"], keepdims=True)


def layer_norm(attrs: Attrs, x: Array, gamma: Array, beta: Array) -> Array:
    x = x.astype(np.float64)
    axis = attrs["axis"]
    y = (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + attrs["epsilon"])
    y = y * along(gamma, axis, x.ndim) if attrs["scale"] else y
    return y + along(beta, axis, x.ndim) if attrs["center"] else y


def batch_norm(attrs: Attrs, x: Array, *statistics: Array) -> tuple[Array, ...]:
    axis = attrs["axis"]
    gamma, beta, mean, var = (along(s.astype(np.float64), axis, x.ndim) for s in statistics)
    y = (x - mean) / np.sqrt(var + attrs["epsilon"])
    y = y * gamma if attrs["scale"] else y
    y = y + beta if attrs["center"] else y
    return y, statistics[2], statistics[3]


def lrn(attrs: Attrs, x: Array) -> Array:
    axis, size = attrs["axis"], attrs["size"]
    moved = np.moveaxis(x, axis, 0).astype(np.float64)
    y = np.empty_like(moved)
    for i in range(len(moved)):
        first = max(0, i - (size - 1) // 2)
        total = (moved[first : i + math.ceil((size - 1) / 2) + 1] ** 2).sum(0)
        y[i] = moved[i] / (attrs["bias"] + attrs["alpha"] / size * total) ** attrs["beta"]
    return np.moveaxis(y, 0, axis)


def channels_first(attrs: Attrs, key: str, x: Array) -> Array:
    return x.transpose(0, 3, 1, 2) if attrs[key] == "NHWC" else x


def channels_back(attrs: Attrs, key: str, y: Array) -> Array:
    return y.transpose(0, 2, 3, 1) if attrs[key] == "NHWC" else y


def conv2d(attrs: Attrs, x: Array, w: Array) -> Array:
    x = channels_first(attrs, "data_layout", x)
    if attrs["kernel_layout"] == "HWIO":
        w = w.transpose(3, 2, 0, 1)
    options = {
        "strides": attrs["strides"],
        "pads": attrs["padding"],
        "dilations": attrs["dilation"],
        "group": attrs["groups"],
    }
    return channels_back(attrs, "data_layout", onnx_node("Conv", [x, w], options))


def conv2d_transpose(attrs: Attrs, x: Array, w: Array) -> Array:
    options = {
        "strides": attrs["strides"],
        "pads": attrs["padding"],
        "dilations": attrs["dilation"],
        "group": attrs["groups"],
        "output_padding": attrs["output_padding"],
    }
    x = channels_first(attrs, "data_layout", x)
    return channels_back(attrs, "data_layout", onnx_node("ConvTranspose", [x, w], options))


def pool(combine: Callable[[list[Any], int], Any]) -> Reference:
    """Visit each window cell by cell; `combine` gets those inside and the count with padding."""

    def reference(attrs: Attrs, x: Array) -> Array:
        x = channels_first(attrs, "layout", x)
        (kh, kw), (sh, sw), (dh, dw) = attrs["pool_size"], attrs["strides"], attrs["dilation"]
        top, left, bottom, right = attrs["padding"]
        height, width = x.shape[2:]

        def count(extent: int, k: int, s: int, d: int, before: int, after: int) -> int:
            room = extent + before + after - d * (k - 1) - 1
            windows = (math.ceil if attrs["ceil_mode"] else math.floor)(room / s) + 1
            if attrs["ceil_mode"] and (windows - 1) * s >= extent + before:
                windows -= 1  # a window that begins in the padding after is none
            return windows

        rows = count(height, kh, sh, dh, top, bottom)
        columns = count(width, kw, sw, dw, left, right)
        y = np.empty((*x.shape[:2], rows, columns), np.float64)
        for n, c, r, q in np.ndindex(y.shape):
            cells: list[Any] = []
            padded = 0
            for i in range(kh):
                for j in range(kw):
                    a, b = r * sh - top + i * dh, q * sw - left + j * dw
                    padded += a < height + bottom and b < width + right
                    if 0 <= a < height and 0 <= b < width:
                        cells.append(x[n, c, a, b])
            included = attrs.get("count_include_pad", False)
            y[n, c, r, q] = combine(cells, padded if included else len(cells))
        return channels_back(attrs, "layout", y)

    return reference


def global_pool(function: Callable[..., Array]) -> Reference:
    return lambda attrs, x: function(
        x, axis=(2, 3) if attrs["layout"] == "NCHW" else (1, 2), keepdims=True
    )


def pad(attrs: Attrs, x: Array, value: Array) -> Array:
    widths = np.reshape(attrs["pad_width"], (-1, 2))
    if attrs["pad_mode"] == "constant":
        return np.pad(x, widths, constant_values=value) if x.ndim else x
    return np.pad(x, widths, mode=attrs["pad_mode"])


def strided_slice(attrs: Attrs, x: Array) -> Array:
    begin, end = attrs["begin"], attrs["end"]
    strides = attrs.get("strides", (1,))
    strides = strides * len(begin) if len(strides) == 1 else strides
    for i, axis in enumerate(attrs.get("axes", range(len(begin)))):
        n = x.shape[axis]
        if attrs["slice_mode"] == "size":
            first = begin[i] % n
            wanted = list(range(first, n if end[i] < 0 else first + end[i]))
        else:
            wanted = list(range(n))[slice(begin[i], end[i], strides[i])]
        x = np.take(x, np.array(wanted, np.int64), axis)
    return x


def take(attrs: Attrs, x: Array, indices: Array) -> Array:
    axis, batch = attrs.get("axis"), attrs["batch_dims"]
    batch = batch + indices.ndim if batch < 0 else batch
    extent = x.size if axis is None else x.shape[axis]
    if attrs["mode"] == "wrap":
        wanted = indices % extent
    else:
        wanted = np.minimum(np.maximum(indices, 0), extent - 1)
    if not batch:
        return x.reshape(-1)[wanted] if axis is None else np.take(x, wanted, axis)
    assert axis is not None
    rest = axis % x.ndim - batch
    shared = x.shape[:batch]
    y = [np.take(x[i], wanted[i], rest) for i in np.ndindex(shared)]
    return np.array(y).reshape(*shared, *y[0].shape)


def upsampling(attrs: Attrs, x: Array) -> Array:
    first = attrs["layout"].index("H")
    for axis, scale in ((first, attrs["scale_h"]), (first + 1, attrs["scale_w"])):
        extent = round(x.shape[axis] * scale)
        wanted = [math.floor(i * x.shape[axis] / extent + 1e-9) for i in range(extent)]
        x = np.take(x, wanted, axis)
    return x


def same_order(attrs: Attrs, x: Array) -> Array:
    """A reshape: the test compares elements in order, the shape is the sample's."""
    return x


def gelu(attrs: Attrs, x: Array) -> Array:
    return onnx_node("Gelu", [x], {"approximate": attrs["approximate"]})


def split(attrs: Attrs, x: Array) -> tuple[Array, ...]:
    return tuple(np.split(x, attrs["indices_or_sections"], attrs["axis"]))


REFERENCES: dict[str, Reference] = {
    "acos": unary(lambda x: math.pi / 2 - np.arctan2(x, np.sqrt(1 - x * x))),
    "acosh": unary(lambda x: np.log(x + np.sqrt(x * x - 1))),
    "asin": unary(lambda x: np.arctan2(x, np.sqrt(1 - x * x))),
    "asinh": unary(lambda x: np.log(x + np.sqrt(x * x + 1))),
    "atan": unary(lambda x: np.arctan2(x, 1)),
    "atanh": unary(lambda x: np.log((1 + x) / (1 - x)) / 2),
    "abs": unary(np.abs),
    "add": binary(lambda a, b: a + b),
    "all": reduction(np.all),
    "any": reduction(np.any),
    "argmax": position(np.max),
    "argmin": position(np.min),
    "broadcast_to": lambda attrs, x: np.broadcast_to(x, attrs["shape"]),
    "cast": lambda attrs, x: x.astype(attrs["dtype"]),
    "ceil": unary(np.ceil),
    "clip": lambda attrs, x: np.minimum(np.maximum(x, attrs["a_min"]), attrs["a_max"]),
    "concatenate": lambda attrs, *xs: np.concatenate(xs, attrs["axis"]),
    "copy": unary(np.copy),
    "cos": unary(np.cos),
    "cosh": unary(lambda x: (np.exp(x) + np.exp(-x)) / 2),
    "divide": binary(c_divide),
    "equal": binary(lambda a, b: a == b),
    "erf": scalar(math.erf),
    "exp": unary(np.exp),
    "expand_dims": same_order,
    "floor": unary(np.floor),
    "floor_divide": binary(lambda a, b: a // b),
    "floor_mod": binary(lambda a, b: a % b),
    "full": lambda attrs, x: np.full(attrs["shape"], x),
    "greater": binary(lambda a, b: a > b),
    "greater_equal": binary(lambda a, b: a >= b),
    "isfinite": unary(lambda x: abs(x) < math.inf),
    "isinf": unary(lambda x: abs(x) == math.inf),
    "isnan": unary(np.isnan),
    "less": binary(lambda a, b: a < b),
    "less_equal": binary(lambda a, b: a <= b),
    "log": unary(np.log),
    "log2": unary(lambda x: np.log(x) / math.log(2)),
    "log10": unary(lambda x: np.log(x) / math.log(10)),
    "logical_and": binary(lambda a, b: a & b),
    "logical_not": unary(lambda x: ~x),
    "logical_or": binary(lambda a, b: a | b),
    "logical_xor": binary(lambda a, b: a ^ b),
    "max": reduction(np.max),
    "maximum": binary(np.maximum),
    "mean": reduction(np.mean),
    "min": reduction(np.min),
    "minimum": binary(np.minimum),
    "mod": binary(np.fmod),
    "multiply": binary(lambda a, b: a * b),
    "negative": unary(lambda x: -x),
    "nn.avg_pool2d": pool(lambda cells, count: sum(map(float, cells)) / max(count, 1)),
    "nn.batch_flatten": same_order,
    "nn.batch_matmul": lambda attrs, a, b: np.einsum(
        f"{'bki' if attrs['transpose_a'] else 'bik'},{'bjk' if attrs['transpose_b'] else 'bkj'}"
        "->bij",
        np.broadcast_to(wide(a), (max(len(a), len(b)), *a.shape[1:])),
        np.broadcast_to(wide(b), (max(len(a), len(b)), *b.shape[1:])),
    ),
    "nn.batch_norm": batch_norm,
    "nn.bias_add": lambda attrs, x, b: x + along(b, attrs["axis"], x.ndim),
    "nn.conv2d": conv2d,
    "nn.conv2d_transpose": conv2d_transpose,
    "nn.dense": lambda attrs, x, w: np.einsum("...k,uk->...u", wide(x), wide(w)),
    "nn.gelu": gelu,
    "nn.global_avg_pool2d": global_pool(np.mean),
    "nn.global_max_pool2d": global_pool(np.max),
    "nn.layer_norm": layer_norm,
    "nn.leaky_relu": lambda attrs, x: np.where(x > 0, x, attrs["alpha"] * x),
    "nn.log_softmax": lambda attrs, x: np.log(softmax(attrs, x)),
    "nn.lrn": lrn,
    "nn.matmul": lambda attrs, a, b: np.einsum(
        f"{'ki' if attrs['transpose_a'] else 'ik'},{'jk' if attrs['transpose_b'] else 'kj'}->ij",
        wide(a),
        wide(b),
    ),
    "nn.max_pool2d": pool(lambda cells, count: max(cells)),
    "nn.pad": pad,
    "nn.prelu": lambda attrs, x, a: np.where(x > 0, x, along(a, attrs["axis"], x.ndim) * x),
    "nn.relu": unary(lambda x: np.where(x > 0, x, 0)),
    "nn.softmax": softmax,
    "nn.upsampling": upsampling,
    "not_equal": binary(lambda a, b: a != b),
    "power": binary(lambda a, b: a**b),
    "prod": reduction(np.prod),
    "repeat": lambda attrs, x: np.repeat(x, attrs["repeats"], attrs["axis"]),
    "reshape": same_order,
    "reverse": lambda attrs, x: np.flip(x, attrs["axis"]),
    "round": unary(np.round),
    "rsqrt": unary(lambda x: 1 / np.sqrt(x)),
    "sigmoid": scalar(lambda v: 1 / (1 + math.exp(-v))),
    "sign": unary(np.sign),
    "sin": unary(np.sin),
    "sinh": unary(lambda x: (np.exp(x) - np.exp(-x)) / 2),
    "split": split,
    "sqrt": unary(np.sqrt),
    "squeeze": same_order,
    "stack": lambda attrs, *xs: np.stack(xs, attrs["axis"]),
    "strided_slice": strided_slice,
    "subtract": binary(lambda a, b: a - b),
    "sum": reduction(np.sum),
    "take": take,
    "tan": unary(np.tan),
    "tanh": unary(np.tanh),
    "tile": lambda attrs, x: np.tile(x, attrs["reps"]),
    "trunc": unary(lambda x: np.where(x < 0, -np.floor(-x), np.floor(x))),
    "transpose": lambda attrs, x: np.transpose(x, attrs.get("axes")),
    "where": lambda attrs, c, x, y: np.where(c, x, y),
}


def wide(x: Array) -> Array:
    """Element type in which products of the samples are exact or nearly so."""
    return x.astype(np.float64 if x.dtype.kind == "f" else np.int64)
