"""The signatures of the operators of `demo`: plain Python, without xDSL and NumPy."""

from collections.abc import Sequence

from xrelay.operators.attributes import float_of, optional_ints_of
from xrelay.operators.operands import normalized_axes, product, require_float, require_number
from xrelay.operators.signature import Call, SignatureError, Tensor


def swish(call: Call) -> Sequence[Tensor]:
    """Accept float `data`; the result has its type."""
    (data,) = call.tensors(1)
    require_float(data.element, f"the operand of {call.name}")
    return (data,)


def scaled_tanh(call: Call) -> Sequence[Tensor]:
    """Accept float `data` and a float `scale`; the result has the type of `data`."""
    float_of(call, "scale")
    return swish(call)


def as_rows(call: Call) -> Sequence[Tensor]:
    """Return `data` of shape (…, n) as (product of the other dims, n)."""
    (data,) = call.tensors(1)
    if not data.dims:
        raise SignatureError(f"{call.name} needs a tensor of rank 1 or more, but has rank 0")
    *leading, last = data.dims
    return (Tensor(data.element, (product(leading), last)),)


def min_max(call: Call) -> Sequence[Tensor]:
    """Return two tensors of numbers: `data` without the dims `axes` (default: all)."""
    (data,) = call.tensors(1)
    require_number(data.element, f"the operand of {call.name}")
    given = optional_ints_of(call, "axes")
    axes = normalized_axes(range(data.rank) if given is None else given, data.rank)
    for axis in axes:
        if data.dims[axis] == 0:
            raise SignatureError(f"dim {axis} of {call.name} must be at least 1, but is 0")
    kept = tuple(dim for axis, dim in enumerate(data.dims) if axis not in axes)
    return (Tensor(data.element, kept), Tensor(data.element, kept))
