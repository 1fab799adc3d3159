"""
The type rules against the result types of the same NumPy functions.

Only shapes and dtypes are compared; the tests of the kernels compare values.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from operator_samples import SAMPLES, Sample, on_each_sample

Reference = Callable[..., Any]


def _same(function: Callable[..., Any]) -> Reference:
    """A NumPy function of arrays only, whose result has the dtype of the first array."""
    return lambda *arrays: np.asarray(function(*arrays)).astype(arrays[0].dtype)


def _told(function: Callable[..., Any]) -> Reference:
    return lambda *arrays: np.asarray(function(*arrays))


def _reduce(function: Callable[..., Any], data: Any, **attrs: Any) -> Any:
    axes: Any = attrs.get("axis")
    if attrs.get("exclude"):
        axes = tuple(i for i in range(data.ndim) if i not in [a % data.ndim for a in axes])
    return np.asarray(function(data, axis=axes, keepdims=attrs.get("keepdims", False))).astype(
        data.dtype
    )


def _arg(function: Callable[..., Any], data: Any, **attrs: Any) -> Any:
    axes: Any = attrs.get("axis")
    if attrs.get("exclude"):
        axes = tuple(i for i in range(data.ndim) if i not in axes)
    axis = None if axes is None else axes[0]
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
    index = [slice(None)] * data.ndim
    for i, axis in enumerate(axes or range(len(begin))):
        index[axis] = slice(begin[i], end[i], strides[i] if i < len(strides) else 1)
    return data[tuple(index)]


def _take(data: Any, indices: Any, axis: Any = None, batch_dims: int = 0, **_: Any) -> Any:
    if batch_dims == 0:
        return np.take(data, indices, axis)
    return np.stack([np.take(d, i, axis - 1) for d, i in zip(data, indices, strict=True)])


def _pad(data: Any, value: Any, pad_width: Any, pad_mode: str = "constant") -> Any:
    width = np.reshape(pad_width, (-1, 2)).astype(int)
    return np.pad(data, width, mode=pad_mode) if data.ndim else data  # pyright: ignore


def _expand(data: Any, axis: int, num_newaxis: int = 1) -> Any:
    at = axis if axis >= 0 else axis + data.ndim + 1
    return np.expand_dims(data, tuple(range(at, at + num_newaxis)))


def _reshape(data: Any, newshape: Any, allowzero: bool = False) -> Any:
    """Reshape with NumPy, resolving Relay's 0, which copies a dim."""
    shape = list(newshape)
    if not allowzero:
        shape = [data.shape[i] if d == 0 else d for i, d in enumerate(shape)]
    return data.reshape(shape)


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
    "round": _same(np.round),
    **{name: _told(getattr(np, name)) for name in ("isnan", "isfinite", "isinf")},
    **{name: _told(getattr(np, name)) for name in ("logical_and", "logical_or", "logical_xor")},
    **{name: _told(getattr(np, name)) for name in ("equal", "not_equal", "less", "less_equal")},
    **{name: _told(getattr(np, name)) for name in ("greater", "greater_equal", "where")},
    "cast": lambda data, dtype: data.astype(dtype),
    "full": lambda value, shape: np.full(shape, value),
    "broadcast_to": lambda data, shape: np.broadcast_to(data, shape),
    "tile": lambda data, reps: np.tile(data, reps),
    "repeat": lambda data, repeats, axis=0: np.repeat(data, repeats, axis),
    "reverse": lambda data, axis=0: np.flip(data, axis),
    **{
        name: partial(_reduce, getattr(np, name))
        for name in ("sum", "mean", "max", "min", "prod", "all", "any")
    },
    "argmax": lambda data, **attrs: _arg(np.argmax, data, **attrs),
    "argmin": lambda data, **attrs: _arg(np.argmin, data, **attrs),
    "nn.dense": lambda x, w, out_dtype=None: (x @ w.T).astype(out_dtype or x.dtype),
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

COVERED = [
    sample
    for sample in SAMPLES
    if sample.name in REFERENCES
    and sample.attrs.get("slice_mode") != "size"
    and min(sample.attrs.get("newshape", ()), default=0) >= -1
]


def _operand(shape: tuple[int, ...], dtype: str) -> Any:
    return np.ones(shape, dtype)


@on_each_sample(COVERED)
def test_numpy_gives_the_inferred_types(sample: Sample):
    operands = [_operand(*operand) for operand in sample.operands]
    results = REFERENCES[sample.name](*operands, **sample.attrs)
    results = results if isinstance(results, list) else [results]
    assert tuple((r.shape, r.dtype.name) for r in results) == sample.results
