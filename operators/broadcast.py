"""Signatures of operators that broadcast tensors as NumPy does."""

from collections.abc import Sequence

from .attributes import int_of, ints_from
from .elementwise import ElementCheck
from .operands import (
    normalized_axis,
    require_bool,
    require_number,
    require_ordered,
    require_rank,
    require_same_element,
)
from .signature import (
    BOOL,
    UNKNOWN,
    Call,
    Element,
    Signature,
    SignatureError,
    Tensor,
    ranked,
)


def broadcast_shapes(shapes: Sequence[Sequence[int]]) -> list[int]:
    """
    Return the shape that `shapes` broadcast to, aligned at the last dim.

    An unknown dim and a known one greater than 1 broadcast to the known one.
    """
    rank = max(map(len, shapes))
    result: list[int] = []
    for axis in range(-rank, 0):
        dims = {s[axis] for s in shapes if len(s) >= -axis} - {1}
        static = dims - {UNKNOWN}
        if len(static) > 1:
            a, b = sorted(static)[:2]
            raise SignatureError(f"dims {a} and {b} at axis {axis} do not broadcast together")
        result.append(
            static.pop() if static else UNKNOWN if dims else 1,
        )
    return result


def _broadcast(tensors: Sequence[Tensor], element: Element) -> Tensor:
    dims = tensors[0].dims
    if any(tensor.dims != dims for tensor in tensors):
        dims = tuple(broadcast_shapes([tensor.dims for tensor in tensors]))
    return Tensor(element, dims)


def broadcast_of(check: ElementCheck) -> Signature:
    """Return the signature: two operands of one such element type, broadcast together."""

    def signature(call: Call) -> Sequence[Tensor]:
        operands = call.tensors(2)
        element = require_same_element(operands, call)
        check(element, f"operands of {call.name}")
        return (_broadcast(operands, element),)

    return signature


def comparison(call: Call) -> Sequence[Tensor]:
    """Infer an i1 result from two operands of one element type, broadcast together."""
    operands = call.tensors(2)
    require_ordered(require_same_element(operands, call), f"operands of {call.name}")
    return (_broadcast(operands, BOOL),)


def where(call: Call) -> Sequence[Tensor]:
    """Infer from an i1 `condition`, and `x` and `y` of one element type; all broadcast."""
    condition, x, y = call.tensors(3)
    require_bool(condition.element, "condition")
    if x.element is not y.element:
        raise SignatureError(
            f"x and y of {call.name} must have one element type, but they have "
            f"{x.element} and {y.element}"
        )
    return (_broadcast((x, y, condition), x.element),)


def along_axis(call: Call) -> Sequence[Tensor]:
    """Infer the type of `data` from it and a vector with one number per index of `axis`."""
    data, vector = operands = call.tensors(2)
    require_number(require_same_element(operands, call), f"operands of {call.name}")
    axis = normalized_axis(int_of(call, "axis"), data.rank)
    require_rank(vector, 1, f"operand 1 of {call.name}")
    if vector.dims[0] != data.dims[axis] and UNKNOWN not in (vector.dims[0], data.dims[axis]):
        raise SignatureError(
            f"operand 1 of {call.name} has {vector.dims[0]} elements, but axis {axis} of "
            f"operand 0 has {data.dims[axis]}"
        )
    return (data,)


def broadcast_to(call: Call) -> Sequence[Tensor]:
    """Infer `data` broadcast to exactly `shape`."""
    (data,) = call.tensors(1)
    shape = ints_from(call, "shape", 0)
    if data.rank > len(shape):
        raise SignatureError(f"shape must have at least {data.rank} entries, but has {len(shape)}")
    for axis, dim in enumerate(data.dims, start=-data.rank):
        if dim not in (1, UNKNOWN, shape[axis]):
            raise SignatureError(f"dim {dim} at axis {axis} does not broadcast to {shape[axis]}")
    return (ranked(data.element, shape),)


_NUMBERS = ("add", "subtract", "divide", "power", "mod", "floor_mod", "floor_divide")
_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")

SIGNATURES: dict[str, Signature] = {
    **dict.fromkeys((f"relay.{name}" for name in _NUMBERS), broadcast_of(require_number)),
    **dict.fromkeys(
        ("relay.multiply", "relay.maximum", "relay.minimum"), broadcast_of(require_ordered)
    ),
    **dict.fromkeys(
        ("relay.logical_and", "relay.logical_or", "relay.logical_xor"), broadcast_of(require_bool)
    ),
    **dict.fromkeys((f"relay.{name}" for name in _COMPARISONS), comparison),
    "relay.where": where,
    "relay.nn.bias_add": along_axis,
    "relay.nn.prelu": along_axis,
    "relay.broadcast_to": broadcast_to,
}
