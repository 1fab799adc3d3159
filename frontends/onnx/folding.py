"""
Fold operators on arrays that are known at compile time.

Shapes in ONNX are tensors; chains such as Shape, Gather, Concat, Reshape are folded here and leave
no operators behind. Large arrays only get new views; other work on weights is left to the pass
`fold-constants`.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, cast

import numpy as np

from ...operators.slicing import as_slice, picked
from .values import Array

FOLD_LIMIT = 1024
"""Maximum number of elements of an operand of a folded operator, views excepted."""

MAKE_LIMIT = 2**26
"""Maximum number of elements of a generated array (a mask, a range of indices)."""

Properties = Mapping[str, Any]
Fold = Callable[[Sequence[Array], Properties], Sequence[Array]]


def reshaped(array: Array, shape: Sequence[int]) -> Array:
    """Reshape `array`; one repeated element stays one repeated element."""
    if array.size > 1 and not any(array.strides):
        return np.broadcast_to(array[(0,) * array.ndim], tuple(shape))
    return array.reshape(tuple(shape))


def _ufunc(function: Callable[..., Any]) -> Fold:
    def fold(arrays: Sequence[Array], _: Properties) -> Sequence[Array]:
        return (np.asarray(function(*arrays)),)

    return fold


def _divide(x: Array, y: Array) -> Array:
    if x.dtype.kind not in "iu":
        return np.asarray(np.divide(x, y))
    quotient = np.abs(x) // np.abs(y)  # rounds toward zero, as C does
    return np.where((x < 0) != (y < 0), -quotient, quotient).astype(x.dtype)


def _reduce(function: Callable[..., Any]) -> Fold:
    def fold(arrays: Sequence[Array], properties: Properties) -> Sequence[Array]:
        (data,) = arrays
        axes = tuple(properties.get("axis", range(data.ndim)))
        keepdims = properties.get("keepdims", False)
        return (np.asarray(function(data, axis=axes, keepdims=keepdims), data.dtype),)

    return fold


def _take(arrays: Sequence[Array], properties: Properties) -> Sequence[Array]:
    data, indices = arrays
    mode = properties.get("mode", "clip")
    return (np.asarray(np.take(data, indices, properties["axis"], mode=mode)),)


def _slice(arrays: Sequence[Array], properties: Properties) -> Sequence[Array]:
    (data,) = arrays
    begin, end, steps = (properties[k] for k in ("begin", "end", "strides"))
    index = [slice(None)] * data.ndim
    for axis, b, e, s in zip(properties["axes"], begin, end, steps, strict=True):
        index[axis] = as_slice(picked(data.shape[axis], b, e, s))
    return (data[tuple(index)],)


def _split(arrays: Sequence[Array], properties: Properties) -> Sequence[Array]:
    how = properties["indices_or_sections"]
    return np.split(arrays[0], how if isinstance(how, int) else list(how), properties["axis"])


def _cast(arrays: Sequence[Array], properties: Properties) -> Sequence[Array]:
    return (arrays[0].astype(cast("np.dtype[Any]", properties["dtype"])),)


VIEWS: Mapping[str, Fold] = {
    "reshape": lambda a, p: (reshaped(a[0], p["newshape"]),),
    "transpose": lambda a, p: (a[0].transpose(p["axes"]),),
    "broadcast_to": lambda a, p: (np.broadcast_to(a[0], p["shape"]),),
    "strided_slice": _slice,
    "split": _split,
}
"""Operators that copy nothing; folded regardless of size."""

ARITHMETIC: Mapping[str, Fold] = {
    "abs": _ufunc(np.abs),
    "add": _ufunc(np.add),
    "cast": _cast,
    "ceil": _ufunc(np.ceil),
    "concatenate": lambda a, p: (np.concatenate(a, p["axis"]),),
    "divide": lambda a, _: (_divide(*a),),
    "equal": _ufunc(np.equal),
    "floor": _ufunc(np.floor),
    "floor_mod": _ufunc(np.mod),
    "greater": _ufunc(np.greater),
    "greater_equal": _ufunc(np.greater_equal),
    "less": _ufunc(np.less),
    "less_equal": _ufunc(np.less_equal),
    "logical_and": _ufunc(np.logical_and),
    "logical_not": _ufunc(np.logical_not),
    "logical_or": _ufunc(np.logical_or),
    "max": _reduce(np.max),
    "maximum": _ufunc(np.maximum),
    "min": _reduce(np.min),
    "minimum": _ufunc(np.minimum),
    "mod": _ufunc(np.fmod),
    "multiply": _ufunc(np.multiply),
    "negative": _ufunc(np.negative),
    "prod": _reduce(np.prod),
    "sqrt": _ufunc(np.sqrt),
    "subtract": _ufunc(np.subtract),
    "sum": _reduce(np.sum),
    "take": _take,
    "where": _ufunc(np.where),
}
"""Operators that are folded on small operands."""


def fold(name: str, arrays: Sequence[Array], properties: Properties) -> Sequence[Array] | None:
    """
    Return the results of operator `name` (without `relay.`) on `arrays`; None if it is not folded.

    Raises `ValueError` or `IndexError` when the operands do not fit.
    """
    rule = VIEWS.get(name)
    if rule is None:
        if any(a.size > FOLD_LIMIT for a in arrays):
            return None
        rule = ARITHMETIC.get(name)
    if rule is None:
        return None
    if name == "broadcast_to" and arrays[0].size != 1 and prod(properties["shape"]) > MAKE_LIMIT:
        return None  # a view now, but a copy when it is reshaped or written
    if name in ("divide", "mod", "floor_mod") and arrays[1].dtype.kind in "iu":
        if not arrays[1].all():
            return None  # the result of division by zero depends on the machine
    with np.errstate(all="ignore"):
        return rule(arrays, properties)
