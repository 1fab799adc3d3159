"""Signatures of reductions, which remove dims or make them 1."""

from collections.abc import Sequence

from .attributes import element_of, flag_of, optional_ints_of
from .elementwise import ElementCheck
from .operands import (
    normalized_axes,
    require_bool,
    require_float,
    require_integer,
    require_number,
    require_ordered,
)
from .signature import Call, Signature, SignatureError, Tensor


def reduced_axes(call: Call, rank: int) -> tuple[int, ...]:
    """
    Return the axes that `call` reduces, ascending.

    These are the axes in `axis` or, with `exclude`, all others. Without `axis`, all axes are
    reduced whatever `exclude` is; an empty `axis` names none.
    """
    given = optional_ints_of(call, "axis")
    if given is None:
        return tuple(range(rank))
    axes = normalized_axes(given, rank)
    if flag_of(call, "exclude"):
        return tuple(axis for axis in range(rank) if axis not in axes)
    return tuple(sorted(axes))


def _without(data: Tensor, axes: Sequence[int], keepdims: bool) -> tuple[int, ...]:
    dims = enumerate(data.dims)
    if keepdims:
        return tuple(1 if axis in axes else dim for axis, dim in dims)
    return tuple(dim for axis, dim in dims if axis not in axes)


def _require_elements(call: Call, data: Tensor, axes: Sequence[int]) -> None:
    shape = data.dims
    for axis in axes:
        if shape[axis] == 0:
            raise SignatureError(f"{call.name} cannot reduce axis {axis}: it has 0 elements")


def reduction_of(check: ElementCheck, has_identity: bool) -> Signature:
    """
    Return the signature: `data` of such elements without the reduced axes, or with 1 there.

    `has_identity` means that a reduction over no elements has a value, as a sum does.
    """

    def signature(call: Call) -> Sequence[Tensor]:
        (data,) = call.tensors(1)
        check(data.element, f"the operand of {call.name}")
        axes = reduced_axes(call, data.rank)
        if not has_identity:
            _require_elements(call, data, axes)
        return (Tensor(data.element, _without(data, axes, flag_of(call, "keepdims"))),)

    return signature


def arg_reduction(call: Call) -> Sequence[Tensor]:
    """Infer `data` without one axis, or a scalar for all axes, with elements of `dtype`."""
    (data,) = call.tensors(1)
    require_ordered(data.element, f"the operand of {call.name}")
    rank = data.rank
    axes = reduced_axes(call, rank)
    if len(axes) not in (1, rank):
        raise SignatureError(
            f"{call.name} must reduce one axis or all {rank}, but reduces {len(axes)}"
        )
    _require_elements(call, data, axes)
    flag_of(call, "select_last_index")
    dtype = element_of(call, "dtype")
    require_integer(dtype, f"the result of {call.name}")
    return (Tensor(dtype, _without(data, axes, flag_of(call, "keepdims"))),)


SIGNATURES: dict[str, Signature] = {
    "relay.sum": reduction_of(require_number, has_identity=True),
    "relay.prod": reduction_of(require_number, has_identity=True),
    "relay.mean": reduction_of(require_float, has_identity=False),
    "relay.max": reduction_of(require_ordered, has_identity=False),
    "relay.min": reduction_of(require_ordered, has_identity=False),
    "relay.all": reduction_of(require_bool, has_identity=True),
    "relay.any": reduction_of(require_bool, has_identity=True),
    "relay.argmax": arg_reduction,
    "relay.argmin": arg_reduction,
}
