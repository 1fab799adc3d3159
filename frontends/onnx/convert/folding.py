"""
Fold operators on arrays that are known at compile time, by their kernels.

Shapes in ONNX are tensors; chains such as Shape, Gather, Concat, Reshape are folded here and leave
no operators behind. Large arrays only get new views; other work on weights is left to the pass
`fold-constants`.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ....dialects.attributes import plain_attributes
from ....dialects.interfaces import Fusible, FusionKind
from ....dialects.relay.dynamic import STATIC_FORMS, StaticForm
from ....dialects.relay.operator import Operator
from ....dialects.tensors import as_tensor, dtype_name, is_static
from ....operators.element_types import wide_dtype
from ....operators.slicing import as_slice, picked
from ....runtime.kernels import KERNELS
from .onnx_values import Array, Constant, Value, dims_of, dtype_of

FOLD_LIMIT = 1 << 13
"""Maximum number of elements of an operand of a folded operator, views excepted."""

RESULT_LIMIT = 1 << 20
"""Maximum number of elements of a result of a folded operator, views excepted."""

MAKE_LIMIT = 2**26
"""Maximum number of elements of a generated array (a mask, a range of indices)."""

MAX_END = 2**63 - 1
"""The end of a slice that ends with the tensor."""

Properties = Mapping[str, Any]
View = Callable[[Sequence[Array], Properties], Sequence[Array]]


def reshaped(array: Array, shape: Sequence[int]) -> Array:
    """Reshape `array`; one repeated element stays one repeated element."""
    if array.size > 1 and not any(array.strides):
        return np.broadcast_to(array[(0,) * array.ndim], tuple(shape))
    return array.reshape(tuple(shape))


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


VIEWS: Mapping[str, View] = {
    "reshape": lambda a, p: (reshaped(a[0], p["newshape"]),),
    "transpose": lambda a, p: (a[0].transpose(p["axes"]),),
    "broadcast_to": lambda a, p: (np.broadcast_to(a[0], p["shape"]),),
    "strided_slice": _slice,
    "split": _split,
}
"""Operators that copy nothing, folded regardless of size; a test holds them against the kernels."""


_STATIC_FORMS = {**STATIC_FORMS, "relay.dyn.reshape": StaticForm("reshape", (0,), {"newshape": 1})}


def static_form(
    name: str, operands: Sequence[Value], properties: Properties
) -> tuple[str, Sequence[Value], Properties]:
    """Return the operator that has as attributes what `name` reads from operands, if known."""
    form = _STATIC_FORMS.get(f"relay.{name}")
    if form is None:
        return name, operands, properties
    read = {key: operands[index] for key, index in form.read.items()}
    lists = {k: v.array.reshape(-1).tolist() for k, v in read.items() if isinstance(v, Constant)}
    if len(lists) < len(read):
        return name, operands, properties
    sizes = {key: n[0] if key in form.scalars else n for key, n in lists.items()}
    return form.operator, [operands[i] for i in form.operands], {**properties, **sizes}


def is_identity(name: str, operands: Sequence[Value], properties: Properties) -> bool:
    """Test whether an operator returns its first operand unchanged, as far as that is known."""
    match name:
        case "strided_slice":
            dims, rows = dims_of(operands[0]), [properties[k] for k in ("begin", "end", "strides")]
            rows.append(properties.get("axes", range(len(dims))))
            if len({*map(len, rows)}) > 1:
                return False  # the type rule reports it
            cuts = zip(*rows, strict=True)
            return all((a, c) == (0, 1) and b in (dims[axis], MAX_END) for a, b, c, axis in cuts)
        case "broadcast_to":
            return dims_of(operands[0]) == tuple(properties["shape"])
        case "reshape":
            dims, shape = dims_of(operands[0]), tuple(properties["newshape"])
            if properties.get("allowzero") or 0 in dims or shape.count(-1) > 1:
                return dims == shape
            pairs = zip(dims, shape, strict=False)
            return len(dims) == len(shape) and all(n in (0, -1, dim) for dim, n in pairs)
        case "nn.pad":
            return not any(properties["pad_width"])
        case "transpose":
            return list(properties["axes"]) == list(range(len(properties["axes"])))
        case "cast":
            return dtype_of(operands[0]) == properties["dtype"]
        case _:
            return False


def fold_view(name: str, arrays: Sequence[Array], properties: Properties) -> Sequence[Array] | None:
    """
    Return views of `arrays` as the results of operator `name`; None if it is not one of `VIEWS`.

    Raises `ValueError` or `IndexError` if the operands do not fit.
    """
    view = VIEWS.get(name)
    if view is None:
        return None
    if name == "broadcast_to" and arrays[0].size != 1 and prod(properties["shape"]) > MAKE_LIMIT:
        return None  # a view now, but a copy when it is reshaped or written
    return view(arrays, properties)


def is_folded(cls: type[Operator], arrays: Sequence[Array]) -> bool:
    """Test whether operator `cls` is computed on `arrays`, if its results are small enough."""
    trait = cls.get_trait(Fusible)
    if cls.name != "relay.cast" and any(wide_dtype(a.dtype.name) != a.dtype.name for a in arrays):
        return False  # kernels do not compute with narrow types
    return (
        trait is not None
        and trait.kind <= FusionKind.COMM_REDUCE  # its work is linear in operands and results
        and 0 < len(arrays)
        and all(array.size <= FOLD_LIMIT for array in arrays)
        and cls.name in KERNELS
    )


def fold(op: Operator, arrays: Sequence[Array]) -> Sequence[Array] | None:
    """
    Return the results of `op` on `arrays`, computed by its kernel; None if they are too large.

    Raises `ValueError` or `IndexError` if the elements do not fit.
    """
    types = [as_tensor(result.type) for result in op.results]
    results: list[Array] = []
    for type in types:
        dtype = None if type is None else dtype_name(type.element_type)
        if type is None or dtype is None or not is_static(type):
            return None
        if prod(type.get_shape()) > RESULT_LIMIT:
            return None
        results.append(np.empty(type.get_shape(), dtype))
    if any(result.size for result in results):
        operands = [np.asarray(array, order="C") for array in arrays]
        with np.errstate(all="ignore"):  # as in the machine: 1 / 0 is inf, without a warning
            KERNELS[op.name](plain_attributes(op), operands, results)()
    return results
