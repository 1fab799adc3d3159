"""Checks of operands, element types and axes that rules share."""

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from .rules import AtLeast, Ints
from .signature import Data, Element, ElementKind, Tensor
from .sizes import Shape, SignatureError, require_at_least


def shape_text(dims: Shape) -> str:
    """Return `dims` as a type prints them: 2x?x3."""
    return "x".join(str(d) if isinstance(d, int) else "?" for d in dims) or "a scalar"


StatedDims: TypeAlias = Annotated[Ints, AtLeast(0)] | Data
"""Dims that an attribute states, or the elements of an operand."""


def shape_from(shape: Ints | Data, what: str = "shape") -> Shape:
    """Return the dims that `shape` states; the elements of an operand must not be negative."""
    if not isinstance(shape, Data):
        return shape
    message = f"an element of {what} must be at least 0, but is {{0}}"
    return tuple(require_at_least(size, 0, message) for size in shape.sizes(what))


# ------------------------------------------------------------------- operands


def require_rank(tensor: Tensor, rank: int, what: str) -> None:
    """Check that `tensor` has `rank` dims; `what` names it in the error."""
    if tensor.rank != rank:
        raise SignatureError(f"{what} must have rank {rank}, but has rank {tensor.rank}")


def require_same_element(tensors: Sequence[Tensor]) -> Element:
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


# ----------------------------------------------------------------------- axes


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
