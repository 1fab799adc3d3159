"""Checks of operands, element types, axes and dims that signatures share."""

from collections.abc import Sequence

from .signature import MAX_RANK, Element, ElementKind, Tensor
from .sizes import UNKNOWN, SignatureError

__all__ = ["MAX_RANK"]


def shape_text(dims: Sequence[int]) -> str:
    """Return `dims` as a type prints them: 2x?x3."""
    return "x".join("?" if d == UNKNOWN else str(d) for d in dims) or "a scalar"


# ------------------------------------------------------------------- operands


def require_rank(tensor: Tensor, rank: int, what: str) -> None:
    """Check that `tensor` has `rank` dims; `what` names it in the error."""
    if tensor.rank != rank:
        raise SignatureError(f"{what} must have rank {rank}, but has rank {tensor.rank}")


def require_same_element(tensors: Sequence[Tensor], call: object = None) -> Element:
    """Return the one element type of `tensors`, the operands."""
    first = tensors[0].element
    for i, tensor in enumerate(tensors):
        if tensor.element is not first:
            raise SignatureError(
                "operands of {op} must have one element type, but operand 0 has "
                f"{first} and operand {i} has {tensor.element}"
            )
    return first


# ------------------------------------------------------------------- elements


def require_float(element: Element, what: str) -> None:
    if element.kind is not ElementKind.FLOAT:
        raise SignatureError(f"{what} must have float elements, but has {element}")


def require_number(element: Element, what: str) -> None:
    if element.kind not in (ElementKind.INTEGER, ElementKind.FLOAT):
        raise SignatureError(f"{what} must have integer or float elements, but has {element}")


def require_ordered(element: Element, what: str) -> None:
    if element.kind is ElementKind.OPAQUE:
        raise SignatureError(f"{what} must have integer, float or i1 elements, but has {element}")


def require_integer(element: Element, what: str) -> None:
    if element.kind is not ElementKind.INTEGER:
        raise SignatureError(f"{what} must have integer elements, but has {element}")


def require_bool(element: Element, what: str) -> None:
    if element.kind is not ElementKind.BOOL:
        raise SignatureError(f"{what} must have i1 elements, but has {element}")


# ------------------------------------------------------------- axes and dims


def normalized_axis(axis: int, rank: int, what: str = "axis") -> int:
    """Return `axis` as a non-negative index; negative axes count from the back."""
    if rank == 0:
        raise SignatureError(f"{what} is {axis}, but a tensor of rank 0 has no axes")
    if not -rank <= axis < rank:
        raise SignatureError(f"{what} must be in [{-rank}, {rank}), but is {axis}")
    return axis % rank


def normalized_axes(axes: Sequence[int], rank: int, what: str = "axis") -> tuple[int, ...]:
    """Return `axes` as non-negative indices, in order; reject duplicates."""
    result = tuple(normalized_axis(axis, rank, what) for axis in axes)
    if len(set(result)) != len(result):
        twice = next(a for i, a in enumerate(result) if a in result[:i])
        raise SignatureError(f"duplicate {what} {twice}")
    return result


def require_dim(dim: int, expected: int, what: str) -> None:
    """Check that `dim` is `expected`, if both are known."""
    if dim != expected and UNKNOWN not in (dim, expected):
        raise SignatureError(f"{what} must be {expected}, but is {dim}")


def known(a: int, b: int) -> int:
    """Return the known one of two equal dims."""
    return b if a == UNKNOWN else a


def product(dims: Sequence[int]) -> int:
    """Return the product of `dims`; unknown if any is."""
    result = 1
    for dim in dims:
        result *= dim
    return result


def divided(dividend: int, divisor: int, what: str, divisor_name: str) -> int:
    """Return `dividend / divisor`, which must have no remainder; `what` names the dividend."""
    if dividend == UNKNOWN or divisor == UNKNOWN:
        return UNKNOWN
    if divisor < 1:
        raise SignatureError(f"{divisor_name} must be at least 1, but is {divisor}")
    if dividend % divisor:
        raise SignatureError(
            f"{divisor_name} must divide {what}: {divisor} does not divide {dividend}"
        )
    return dividend // divisor
