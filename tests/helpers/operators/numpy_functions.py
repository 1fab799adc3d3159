"""
NumPy functions with the shapes of the operators' results.

`REFERENCES` have the dtypes of the results too, `SHAPES` the shapes only.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from helpers.operators.inferring import FORMULAS

Reference = Callable[..., Any]


def _same(function: Callable[..., Any]) -> Reference:
    """A NumPy function of arrays only, whose result has the dtype of the first array."""
    return lambda *arrays: np.asarray(function(*arrays)).astype(arrays[0].dtype)


def _told(function: Callable[..., Any]) -> Reference:
    return lambda *arrays: np.asarray(function(*arrays))


def _reduce(function: Callable[..., Any], data: Any, **attrs: Any) -> Any:
    axes: Any = attrs.get("axis")
    if attrs.get("exclude") and axes is not None:
        axes = tuple(i for i in range(data.ndim) if i not in [a % data.ndim for a in axes])
    return np.asarray(function(data, axis=axes, keepdims=attrs.get("keepdims", False))).astype(
        data.dtype
    )


def _arg(function: Callable[..., Any], data: Any, **attrs: Any) -> Any:
    axes: Any = attrs.get("axis")
    if attrs.get("exclude") and axes is not None:
        axes = tuple(i for i in range(data.ndim) if i not in [a % data.ndim for a in axes])
    axis = None if axes is None or len(axes) == data.ndim else axes[0]
    result = function(data, axis=axis, keepdims=attrs.get("keepdims", False))
    return np.asarray(result).astype(attrs.get("dtype", "int32"))


def _batch_matmul(x: Any, y: Any, **attrs: Any) -> Any:
    x = x.swapaxes(1, 2) if attrs.get("transpose_a", False) else x
    y = y.swapaxes(1, 2) if attrs.get("transpose_b", True) else y
    return np.matmul(x, y).astype(attrs.get("out_dtype", x.dtype))


def _matmul(a: Any, b: Any, **attrs: Any) -> Any:
    a = a.T if attrs.get("transpose_a", False) else a
    b = b.T if attrs.get("transpose_b", False) else b
    return np.matmul(a, b).astype(attrs.get("out_dtype", a.dtype))


def _slice(data: Any, begin: Any, end: Any, strides: Any = (), axes: Any = None, **_: Any) -> Any:
    by_size = _.get("slice_mode") == "size"
    for i, axis in enumerate(range(len(begin)) if axes is None else axes):
        if by_size:
            some = slice(None) if end[i] == -1 else slice(end[i])
            data = data[_along(axis, slice(begin[i], None), data)][_along(axis, some, data)]
        else:
            stride = strides[i] if i < len(strides) else 1
            data = data[_along(axis, slice(begin[i], end[i], stride), data)]
    return data


def _along(axis: int, chosen: slice, data: Any) -> tuple[slice, ...]:
    index = [slice(None)] * data.ndim
    index[axis] = chosen
    return tuple(index)


def _take(data: Any, indices: Any, axis: Any = None, batch_dims: int = 0, **_: Any) -> Any:
    if batch_dims == 0:
        return np.take(data, np.zeros_like(indices), axis)
    axis = axis % data.ndim
    batch_dims = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    batches = [_take(d, i, axis - 1, batch_dims - 1) for d, i in zip(data, indices, strict=True)]
    if batches:
        return np.stack(batches)
    shapes = [[1, *x.shape[1:]] for x in (data, indices)]
    shapes[0][axis] = 1  # so that there is an element to take
    data, indices = (np.zeros(shape, int) for shape in shapes)
    return _take(data, indices, axis, batch_dims)[:0]


def _pad(data: Any, value: Any, pad_width: Any, pad_mode: Any = "constant") -> Any:
    width = np.reshape(pad_width, (-1, 2)).astype(int)
    return np.pad(data, width, mode=pad_mode) if data.ndim else data


def _expand(data: Any, axis: int, num_newaxis: int = 1) -> Any:
    at = axis if axis >= 0 else axis + data.ndim + 1
    return np.expand_dims(data, tuple(range(at, at + num_newaxis)))


def _reshape(data: Any, newshape: Any, allowzero: bool = False) -> Any:
    """Reshape with NumPy, resolving Relay's entries from 0, which copies a dim, to -4."""
    rest, entries, shape = list(data.shape), list(newshape), list[int]()
    while entries:
        entry = entries.pop(0)
        if entry == -2:
            shape += rest
            rest = []
        elif entry == -3:
            shape.append(rest.pop(0) * rest.pop(0))
        elif entry == -4:
            shape += np.zeros(rest.pop(0)).reshape(entries.pop(0), entries.pop(0)).shape
        else:
            dim = rest.pop(0) if rest else None
            shape.append(dim if dim is not None and entry == 0 and not allowzero else entry)
    return data.reshape(shape)


def _windows(size: int, pads: int, window: int, stride: int, dilation: int, more: int = 0) -> int:
    """Slide a window over a row of `size` elements."""
    row = np.zeros(size + pads + more)
    reach = (window - 1) * dilation + 1
    return len(np.lib.stride_tricks.sliding_window_view(row, reach)[::stride])


def _to_nchw(layout: str) -> tuple[int, ...]:
    return (0, 1, 2, 3) if layout == "NCHW" else (0, 3, 1, 2)


def _from_nchw(layout: str) -> tuple[int, ...]:
    return (0, 1, 2, 3) if layout == "NCHW" else (0, 2, 3, 1)


def _to_oihw(weight: Any, layout: str) -> Any:
    """Rearrange the weights of a convolution; `OHWI8o` has panels of 8 output channels."""
    match layout:
        case "OIHW":
            return weight
        case "HWIO":
            return weight.transpose(3, 2, 0, 1)
        case _:
            blocks, kh, kw, i, panel = weight.shape
            return weight.transpose(0, 4, 3, 1, 2).reshape(blocks * panel, i, kh, kw)


def _conv2d(data: Any, weight: Any, **attrs: Any) -> Any:
    n, _, h, w = data.transpose(_to_nchw(attrs["data_layout"])).shape
    weight = _to_oihw(weight, attrs["kernel_layout"])
    o, _, kh, kw = weight.shape
    top, left, bottom, right = attrs["padding"]
    (sh, sw), (dh, dw) = attrs["strides"], attrs["dilation"]
    shape = n, o, _windows(h, top + bottom, kh, sh, dh), _windows(w, left + right, kw, sw, dw)
    return np.zeros(shape).transpose(_from_nchw(attrs["data_layout"]))


def _conv2d_transpose(data: Any, weight: Any, **attrs: Any) -> Any:
    """Every element writes a dilated window, `stride` after that of the element before it."""
    n, _, *sizes = data.shape
    _, o, *windows = weight.shape
    result: list[int] = []
    for side in range(len(sizes)):
        reached = [
            i * attrs["strides"][side] + k * attrs["dilation"][side]
            for i in range(sizes[side])
            for k in range(windows[side])
        ]
        cut = attrs["padding"][side] + attrs["padding"][side + len(sizes)]
        result.append(max(reached) + 1 + attrs["output_padding"][side] - cut)
    return np.zeros((n, o * attrs["groups"], *result))


def _slid(sizes: Any, window: Any, attrs: Any, more: Any = (0, 0, 0)) -> list[int]:
    """The numbers of windows along each side."""
    dilation = attrs.get("dilation") or attrs.get("dilations") or (1,) * len(window)
    starts, ends = attrs["padding"][: len(window)], attrs["padding"][len(window) :]
    sides = zip(sizes, window, starts, ends, attrs["strides"], dilation, more, strict=False)
    return [_windows(size, a + b, k, s, d, extra) for size, k, a, b, s, d, extra in sides]


def _pool(data: Any, **attrs: Any) -> Any:
    last = attrs["layout"][-1] == "C"
    n, c, *sizes = (np.moveaxis(data, -1, 1) if last else data).shape
    more = [stride - 1 if attrs["ceil_mode"] else 0 for stride in attrs["strides"]]
    counts = _slid(sizes, attrs["pool_size"], attrs, more)
    return np.zeros((n, *counts, c) if last else (n, c, *counts))


def _conv3d(data: Any, weight: Any, **attrs: Any) -> Any:
    last = attrs["data_layout"][-1] == "C"
    n, _, *sizes = (np.moveaxis(data, -1, 1) if last else data).shape
    o, _, *window = (
        weight.transpose(4, 3, 0, 1, 2) if attrs["kernel_layout"] == "DHWIO" else weight
    ).shape
    counts = _slid(sizes, window, attrs)
    return np.zeros((n, *counts, o) if last else (n, o, *counts))


def _dilation2d(data: Any, weight: Any, **attrs: Any) -> Any:
    last = attrs["data_layout"][-1] == "C"
    n, c, *sizes = (np.moveaxis(data, -1, 1) if last else data).shape
    window = weight.shape[1:] if attrs["kernel_layout"] == "IHW" else weight.shape[:2]
    counts = _slid(sizes, window, attrs)
    return np.zeros((n, *counts, c) if last else (n, c, *counts))


def _adaptive_pool(data: Any, layout: str, output_size: Any = None) -> Any:
    last = layout[-1] == "C"
    n, c, *sizes = (np.moveaxis(data, -1, 1) if last else data).shape
    sizes = output_size or sizes
    return np.zeros((n, *sizes, c) if last else (n, c, *sizes))


def _global_pool2d(data: Any, layout: str) -> Any:
    return data.sum(axis=_to_nchw(layout)[2:], keepdims=True)


def _upsampling(data: Any, *scales: Any, layout: str, **attrs: Any) -> Any:
    letters = [letter for letter in "DHW" if letter in layout]
    given = scales or [attrs[f"scale_{letter.lower()}"] for letter in letters]
    dims = list(data.shape)
    for letter, scale in zip(letters, given, strict=True):
        axis = layout.index(letter)
        dims[axis] = round(dims[axis] * float(scale))
    return np.zeros(dims, data.dtype)


def _slice_like(data: Any, like: Any, axes: Any = None) -> Any:
    along = range(min(data.ndim, like.ndim)) if axes is None else axes
    return data[tuple(slice(like.shape[a] if a in along else None) for a in range(data.ndim))]


def _blocks(sides: Any) -> Any:
    def shaped(data: Any, block_size: int, layout: str = "NCHW", mode: str = "") -> Any:
        n, c, h, w = data.shape if layout == "NCHW" else np.moveaxis(data, -1, 1).shape
        c, h, w = sides(c, h, w, block_size)
        return np.zeros((n, c, h, w) if layout == "NCHW" else (n, h, w, c), data.dtype)

    return shaped


def _space_to_batch(data: Any, block_shape: Any, paddings: Any, **_: Any) -> Any:
    sides = range(len(block_shape))
    pairs = np.reshape(paddings, (-1, 2)).sum(1)
    dims = [(data.shape[1 + i] + pairs[i]) // block_shape[i] for i in sides]
    return np.zeros((len(data) * np.prod(block_shape), *dims, *data.shape[1 + len(dims) :]))


def _batch_to_space(data: Any, block_shape: Any, crops: Any) -> Any:
    sides = range(len(block_shape))
    pairs = np.reshape(crops, (-1, 2)).sum(1)
    dims = [data.shape[1 + i] * block_shape[i] - pairs[i] for i in sides]
    return np.zeros((len(data) // np.prod(block_shape), *dims, *data.shape[1 + len(dims) :]))


def _first(data: Any, *_: Any, **attrs: Any) -> Any:
    return data


def _along_axis(data: Any, vector: Any, axis: int = 1) -> Any:
    shape = [1] * data.ndim
    shape[axis] = -1
    return data + vector.reshape(shape)


def _one_hot(indices: Any, on: Any, off: Any, depth: Any, axis: int, **_: Any) -> Any:
    return np.moveaxis(np.zeros((*indices.shape, int(depth))), -1, axis)


def _topk(data: Any, k: Any, axis: int, ret_type: str, **_: Any) -> Any:
    count = int(np.ravel(k)[0])
    found = np.moveaxis(np.moveaxis(data, axis, 0)[: count if count > 0 else None], 0, axis)
    return [found] * (2 if ret_type == "both" else 1)


def _unique(data: Any, sorted: bool, return_counts: bool) -> Any:
    return [data, data, data, np.zeros(1), *([data] if return_counts else [])]


def _resize2d(data: Any, size: Any, *_: Any, layout: str, **attrs: Any) -> Any:
    n, c, _h, _w = data.transpose(_to_nchw(layout)).shape
    return np.zeros((n, c, *map(int, size))).transpose(_from_nchw(layout))


def _non_max_suppression(data: Any, *_: Any, return_indices: bool, **attrs: Any) -> Any:
    return [data.sum(2), data.sum((1, 2))[:, None]] if return_indices else data


REFERENCES: Mapping[str, Reference] = {
    **{name: _same(getattr(np, name)) for name in ("abs", "negative", "sign", "exp", "log")},
    **{name: _same(getattr(np, name)) for name in ("ceil", "floor", "sqrt", "sin", "cos", "tan")},
    **{name: _same(getattr(np, name)) for name in ("tanh", "copy", "logical_not")},
    **{name: _same(getattr(np, name)) for name in ("sinh", "cosh", "log2", "log10", "trunc")},
    **{f"a{name}": _same(getattr(np, f"arc{name}")) for name in ("sin", "cos", "tan")},
    **{f"a{name}h": _same(getattr(np, f"arc{name}h")) for name in ("sin", "cos")},
    "atanh": _same(lambda x: np.arctanh(x / 2)),
    **{name: _same(getattr(np, name)) for name in ("add", "subtract", "multiply", "divide")},
    **{name: _same(getattr(np, name)) for name in ("maximum", "minimum", "power", "floor_divide")},
    "mod": _same(np.fmod),
    "floor_mod": _same(np.mod),
    "round": lambda x, ties="even": np.round(x).astype(x.dtype),
    **{name: _told(getattr(np, name)) for name in ("isnan", "isfinite", "isinf")},
    **{name: _told(getattr(np, name)) for name in ("logical_and", "logical_or", "logical_xor")},
    **{name: _told(getattr(np, name)) for name in ("equal", "not_equal", "less", "less_equal")},
    **{name: _told(getattr(np, name)) for name in ("greater", "greater_equal", "where")},
    "cast": lambda data, dtype: data.astype(dtype),
    "reinterpret": lambda data, dtype: np.zeros(data.shape, dtype),
    "fixed_point_multiply": lambda data, multiplier, shift: data,
    "full": lambda value, shape: np.full(shape, value),
    "broadcast_to": lambda data, shape: np.broadcast_to(data, shape),
    "tile": lambda data, reps: np.tile(data, reps),
    "repeat": lambda data, repeats, axis=0: np.repeat(data, repeats, axis),
    "reverse": lambda data, axis=0: np.flip(data, axis),
    "slice_like": _slice_like,
    "nn.dilate": lambda data, strides, dilation_value=0.0: np.zeros(
        [d if s == 1 else (d - 1) * s + 1 for d, s in zip(data.shape, strides, strict=True)],
        data.dtype,
    ),
    "nn.depth_to_space": _blocks(lambda c, h, w, b: (c // (b * b), h * b, w * b)),
    "nn.space_to_depth": _blocks(lambda c, h, w, b: (c * b * b, h // b, w // b)),
    **{
        name: partial(_reduce, getattr(np, name))
        for name in ("sum", "mean", "max", "min", "prod", "all", "any")
    },
    "argmax": lambda data, **attrs: _arg(np.argmax, data, **attrs),
    "argmin": lambda data, **attrs: _arg(np.argmin, data, **attrs),
    "nn.dense": lambda x, w, out_dtype=None: (x @ w.T).astype(out_dtype or x.dtype),
    "nn.packed_dense": lambda x, w, out_dtype=None: np.concatenate(
        [(x @ panel).astype(out_dtype or x.dtype) for panel in w], -1
    ),
    "nn.matmul": _matmul,
    "nn.batch_matmul": _batch_matmul,
    "transpose": lambda data, axes=None: np.transpose(data, axes),
    "concatenate": lambda *tensors, axis=0: np.concatenate(tensors, axis),
    "stack": lambda *tensors, axis=0: np.stack(tensors, axis),
    "split": lambda data, indices_or_sections, axis=0: np.split(data, indices_or_sections, axis),
    "nn.pad": _pad,
    "expand_dims": _expand,
    "squeeze": lambda data, axis=None: np.squeeze(data, axis),
    "strided_slice": _slice,
    "take": _take,
    "reshape": _reshape,
}


def _conv1d(data: Any, weight: Any, **attrs: Any) -> Any:
    by_row = attrs.get("data_layout", "NCW") == "NCW"
    row = 2 if attrs.get("kernel_layout", "OIW") == "OIW" else 0
    images = {"NCW": "NCHW", "NWC": "NHWC", "OIW": "OIHW", "WIO": "HWIO"}
    given = {k: images.get(v, v) if isinstance(v, str) else v for k, v in attrs.items()}
    for name in ("strides", "dilation"):
        given[name] = (1, *given.get(name, (1,)))
    left, right = given.get("padding", (0, 0))
    given["padding"] = (0, left, 0, right)
    axis = 2 if by_row else 1
    return np.squeeze(
        _conv2d(np.expand_dims(data, axis), np.expand_dims(weight, row), **given), axis
    )


def _reshape_like(data: Any, like: Any, **attrs: Any) -> Any:
    first, last = attrs.get("lhs_begin", 0), attrs.get("lhs_end")
    middle = like.shape[attrs.get("rhs_begin", 0) : attrs.get("rhs_end")]
    after = () if last is None else data.shape[last:]
    return data.reshape(data.shape[:first] + middle + after)


SHAPES: dict[str, Reference] = {
    **REFERENCES,
    **dict.fromkeys(("rsqrt", "sigmoid", "erf", "clip", "nn.relu", "nn.leaky_relu"), _first),
    **dict.fromkeys(("nn.gelu", "nn.softmax", "nn.log_softmax", "nn.layer_norm", "nn.lrn"), _first),
    "nn.batch_norm": lambda data, gamma, beta, mean, var, **_: [data, mean, var],
    "nn.bias_add": _along_axis,
    "nn.prelu": _along_axis,
    "nn.batch_flatten": lambda data: data.reshape(data.shape[0], int(np.prod(data.shape[1:]))),
    "nn.conv2d": _conv2d,
    **{f"nn.conv{sides}d_transpose": _conv2d_transpose for sides in (1, 2, 3)},
    "nn.conv3d": _conv3d,
    **dict.fromkeys(("nn.instance_norm", "nn.group_norm", "nn.l2_normalize"), _first),
    "nn.nll_loss": lambda predictions, targets, weights, reduction, **_: (
        targets if reduction == "none" else np.zeros(())
    ),
    "nn.space_to_batch_nd": _space_to_batch,
    "nn.batch_to_space_nd": _batch_to_space,
    "nn.mirror_pad": lambda data, pad_width, **_: _pad(data, 0, pad_width, "constant"),
    "nn.conv2d_backward_weight": lambda grad, data, kernel_size, groups, **_: np.zeros(
        (grad.shape[1], data.shape[1] // groups, *kernel_size)
    ),
    "nn.deformable_conv2d": lambda data, offset, weight, **_: np.zeros(
        (data.shape[0], weight.shape[0], *offset.shape[2:])
    ),
    "image.dilation2d": _dilation2d,
    **{f"nn.{kind}_pool2d_grad": lambda grad, data, **_: data for kind in ("max", "avg")},
    **{f"nn.{kind}_pool{n}d": _pool for kind in ("max", "avg") for n in (1, 2, 3)},
    **{f"nn.adaptive_{k}_pool{n}d": _adaptive_pool for k in ("max", "avg") for n in (1, 2, 3)},
    "nn.global_max_pool2d": _global_pool2d,
    "nn.global_avg_pool2d": _global_pool2d,
    **{f"{dyn}nn.upsampling{n}": _upsampling for dyn in ("", "dyn.") for n in ("", "3d")},
    **dict.fromkeys(("zeros", "ones"), lambda shape, dtype: np.zeros(shape)),
    **dict.fromkeys(("dyn.zeros", "dyn.ones"), lambda shape, dtype: np.zeros(shape)),
    "arange": lambda start, stop, step, dtype: np.arange(start.item(), stop.item(), step.item()),
    "argwhere": np.argwhere,
    "cast_like": _first,
    "cumsum": lambda data, axis=None, **_: data if axis is not None else data.reshape(-1),
    "dyn.broadcast_to": np.broadcast_to,
    "dyn.expand_dims": lambda data, axis, num_newaxis: _expand(data, int(axis), num_newaxis),
    "dyn.full": lambda value, shape: np.full(shape, value),
    "dyn.image.resize2d": _resize2d,
    "dyn.nn.pad": lambda data, width, value, pad_mode: _pad(data, value, width, pad_mode),
    "dyn.one_hot": _one_hot,
    "dyn.reshape": lambda data, shape, allowzero: _reshape(data, shape.tolist(), allowzero),
    "dyn.squeeze": lambda data, axis: np.squeeze(data, tuple(axis)),
    "dyn.strided_slice": lambda data, *bounds, **attrs: _slice(
        data, *(numbers.tolist() for numbers in bounds), **attrs
    ),
    "dyn.tile": np.tile,
    "dyn.topk": _topk,
    "full_like": _first,
    "gather": lambda data, indices, axis: indices,
    "gather_nd": lambda data, indices, batch_dims=0, **_: np.zeros(
        indices.shape[1:] + data.shape[batch_dims + indices.shape[0] :]
    ),
    "image.resize2d": _resize2d,
    "ndarray_size": lambda data, dtype: np.array(data.size),
    "nn.conv1d": _conv1d,
    "one_hot": _one_hot,
    "reshape_like": _reshape_like,
    "shape_of": lambda data, dtype: np.array(data.shape),
    "argsort": lambda data, dtype, axis=-1, **_: np.argsort(data, axis),
    "sort": lambda data, axis=-1, **_: np.sort(data, axis),
    "scatter_elements": lambda data, indices, updates, **_: data,
    "topk": _topk,
    "random.threefry_generate": lambda gen, out_shape: [gen, np.zeros(out_shape)],
    "random.threefry_split": lambda gen: [gen, gen],
    "unique": _unique,
    "vision.all_class_non_max_suppression": lambda boxes, scores, *_, **attrs: [
        np.zeros((scores.size, 3)),
        np.zeros(1),
    ],
    "vision.get_valid_counts": lambda data, *_, **attrs: [data.sum((1, 2)), data, data.sum(2)],
    "vision.non_max_suppression": _non_max_suppression,
}
"""Functions whose results have the right shapes; their elements and dtypes do not matter."""
for _name in FORMULAS:
    SHAPES.setdefault(_name, lambda *xs: np.broadcast_arrays(*xs)[0])


def results(function: Reference, operands: Sequence[Any], attrs: Mapping[str, Any]) -> list[Any]:
    """The results of a function, one or several."""
    found = function(*operands, **attrs)
    return [*found] if isinstance(found, list) else [found]
