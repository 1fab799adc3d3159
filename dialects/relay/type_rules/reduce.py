"""Type rules of reductions: dims that go away, or become 1."""

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ...tensors import Tensor
from .broadcast import Kind, TypeRule
from .operands import normalized_axes, ranked, require_integer, require_ordered, tensor_operands
from .properties import flag_of, optional_ints_of, type_of


def reduced_axes(op: Operation, rank: int) -> tuple[int, ...]:
    """
    The axes that `op` reduces, ascending.

    `axis` absent means all, whatever `exclude` says; empty means none. With `exclude` they
    are the axes not in `axis`.
    """
    given = optional_ints_of(op, "axis")
    if given is None:
        return tuple(range(rank))
    axes = normalized_axes(given, rank)
    if flag_of(op, "exclude"):
        return tuple(axis for axis in range(rank) if axis not in axes)
    return tuple(sorted(axes))


def _without(data: Tensor, axes: Sequence[int], keepdims: bool) -> tuple[int, ...]:
    dims = enumerate(data.get_shape())
    if keepdims:
        return tuple(1 if axis in axes else dim for axis, dim in dims)
    return tuple(dim for axis, dim in dims if axis not in axes)


def _require_elements(op: Operation, data: Tensor, axes: Sequence[int]) -> None:
    shape = data.get_shape()
    for axis in axes:
        if shape[axis] == 0:
            raise VerifyException(
                f"{op.name} has no value over no elements, but dim {axis} of the operand is 0"
            )


def reduction_of(kind: Kind, of_nothing: bool) -> TypeRule:
    """
    `data` of such elements without the reduced axes, or with 1 there (`keepdims`).

    `of_nothing` says whether the operator has a value over no elements, as a sum has.
    """

    def rule(op: Operation) -> Sequence[Attribute]:
        (data,) = tensor_operands(op, 1)
        kind(data.element_type, f"the operand of {op.name}")
        axes = reduced_axes(op, data.get_num_dims())
        if not of_nothing:
            _require_elements(op, data, axes)
        return (ranked(data.element_type, _without(data, axes, flag_of(op, "keepdims"))),)

    return rule


def arg_reduction(op: Operation) -> Sequence[Attribute]:
    """`data` without one axis, or a scalar for the flattened `data`; elements of `dtype`."""
    (data,) = tensor_operands(op, 1)
    require_ordered(data.element_type, f"the operand of {op.name}")
    rank = data.get_num_dims()
    axes = reduced_axes(op, rank)
    if len(axes) not in (1, rank):
        raise VerifyException(
            f"{op.name} must be over one axis or all {rank} of them, but is over {len(axes)}"
        )
    _require_elements(op, data, axes)
    dtype = type_of(op, "dtype")
    require_integer(dtype, f"the result of {op.name}")
    return (ranked(dtype, _without(data, axes, flag_of(op, "keepdims"))),)
