"""Signatures of reductions: dims that go away, or become 1."""

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
    The axes that `call` reduces, ascending.

    `axis` absent means all, whatever `exclude` says; empty means none. With `exclude` they
    are the axes not in `axis`.
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
            raise SignatureError(
                f"{call.name} has no value over no elements, but dim {axis} of the operand is 0"
            )


def reduction_of(check: ElementCheck, of_nothing: bool) -> Signature:
    """
    `data` of such elements without the reduced axes, or with 1 there (`keepdims`).

    `of_nothing` says whether the operator has a value over no elements, as a sum has.
    """

    def signature(call: Call) -> Sequence[Tensor]:
        (data,) = call.tensors(1)
        check(data.element, f"the operand of {call.name}")
        axes = reduced_axes(call, data.rank)
        if not of_nothing:
            _require_elements(call, data, axes)
        return (Tensor(data.element, _without(data, axes, flag_of(call, "keepdims"))),)

    return signature


def arg_reduction(call: Call) -> Sequence[Tensor]:
    """`data` without one axis, or a scalar for the flattened `data`; elements of `dtype`."""
    (data,) = call.tensors(1)
    require_ordered(data.element, f"the operand of {call.name}")
    rank = data.rank
    axes = reduced_axes(call, rank)
    if len(axes) not in (1, rank):
        raise SignatureError(
            f"{call.name} must be over one axis or all {rank} of them, but is over {len(axes)}"
        )
    _require_elements(call, data, axes)
    flag_of(call, "select_last_index")
    dtype = element_of(call, "dtype")
    require_integer(dtype, f"the result of {call.name}")
    return (Tensor(dtype, _without(data, axes, flag_of(call, "keepdims"))),)


SIGNATURES: dict[str, Signature] = {
    "relay.sum": reduction_of(require_number, of_nothing=True),
    "relay.prod": reduction_of(require_number, of_nothing=True),
    "relay.mean": reduction_of(require_float, of_nothing=False),
    "relay.max": reduction_of(require_ordered, of_nothing=False),
    "relay.min": reduction_of(require_ordered, of_nothing=False),
    "relay.all": reduction_of(require_bool, of_nothing=True),
    "relay.any": reduction_of(require_bool, of_nothing=True),
    "relay.argmax": arg_reduction,
    "relay.argmin": arg_reduction,
}
