"""
What the type rules share: operands, elements, axes and dims, with errors that say the bound.

A dim is an int, `DYNAMIC_INDEX` (`?`) when it is not known; arithmetic on `?` gives `?`.
"""

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerType
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ...device import tensor_type
from ...tensors import Tensor, as_tensor, bits_of, dtype_name

MAX_RANK = 32
"""The most dims an operator may add up to by a number (NumPy 1's limit)."""


@lru_cache(maxsize=4096)
def ranked(element_type: Attribute, dims: tuple[int, ...]) -> Tensor:
    """The tensor type without device of these dims; equal ones are one object."""
    for axis, dim in enumerate(dims):
        if dim >= 2**63:
            raise VerifyException(f"dim {axis} of the result must be below 2^63, but is {dim}")
    return tensor_type(element_type, list(dims))


def shape_text(dims: Sequence[int]) -> str:
    """`dims` as a type prints them: 2x?x3."""
    return "x".join("?" if d == DYNAMIC_INDEX else str(d) for d in dims) or "a scalar"


# ------------------------------------------------------------------- operands


def tensor_operands(op: Operation, count: int | None = None) -> list[Tensor]:
    """The operands' types, `count` of them; a rule is asked only when they are complete."""
    types: list[Tensor] = []
    for i, operand in enumerate(op.operands):
        type = as_tensor(operand.type)
        if type is None:
            raise VerifyException(
                f"operand {i} of {op.name} must be a tensor, but is {operand.type}"
            )
        types.append(type)
    if count is not None and len(types) != count:
        operands = "operand" if count == 1 else "operands"
        raise VerifyException(f"{op.name} takes {count} {operands}, but has {len(types)}")
    return types


def require_rank(type: Tensor, rank: int, what: str) -> None:
    """`type` must have `rank` dims; `what` names it in the error."""
    if type.get_num_dims() != rank:
        raise VerifyException(f"{what} must have rank {rank}, but has rank {type.get_num_dims()}")


def require_same_element(types: Sequence[Tensor], op: Operation) -> Attribute:
    """The element type that all of `types`, the operands of `op`, have."""
    first = types[0].element_type
    for i, type in enumerate(types):
        if type.element_type is not first and type.element_type != first:
            raise VerifyException(
                f"operands of {op.name} must have one element type, but operand 0 has "
                f"{first} and operand {i} has {type.element_type}"
            )
    return first


# ------------------------------------------------------------------- elements


def is_bool(element_type: Attribute) -> bool:
    return bits_of(element_type) == 1


def is_integer(element_type: Attribute) -> bool:
    """An integer wider than a bit, or index."""
    kind = type(element_type)
    return (kind is IntegerType or kind is IndexType) and not is_bool(element_type)


def is_float(element_type: Attribute) -> bool:
    return (
        not isinstance(element_type, IntegerType | IndexType) and bits_of(element_type) is not None
    )


def require_float(element_type: Attribute, what: str) -> None:
    if not is_float(element_type):
        raise VerifyException(f"{what} must have float elements, but has {element_type}")


def require_number(element_type: Attribute, what: str) -> None:
    if is_bool(element_type) or bits_of(element_type) is None:
        raise VerifyException(f"{what} must have integer or float elements, but has {element_type}")


def require_ordered(element_type: Attribute, what: str) -> None:
    if bits_of(element_type) is None:
        raise VerifyException(
            f"{what} must have integer, float or i1 elements, but has {element_type}"
        )


def require_integer(element_type: Attribute, what: str) -> None:
    if not is_integer(element_type):
        raise VerifyException(f"{what} must have integer elements, but has {element_type}")


def require_bool(element_type: Attribute, what: str) -> None:
    if not is_bool(element_type):
        raise VerifyException(f"{what} must have i1 elements, but has {element_type}")


def require_dtype(element_type: Attribute, what: str) -> None:
    """`what`, a property, must be a type that elements can have."""
    if dtype_name(element_type) is None:
        raise VerifyException(
            f"{what} must be an integer, index or float type, but is {element_type}"
        )


# ------------------------------------------------------------- axes and dims


def normalized_axis(axis: int, rank: int, what: str = "axis") -> int:
    """`axis` counted from the front; negative ones count from the back."""
    if rank == 0:
        raise VerifyException(f"{what} is {axis}, but a tensor of rank 0 has no axes")
    if not -rank <= axis < rank:
        raise VerifyException(f"{what} must be in [{-rank}, {rank}), but is {axis}")
    return axis % rank


def normalized_axes(axes: Sequence[int], rank: int, what: str = "axis") -> tuple[int, ...]:
    """`axes` counted from the front, in their order; none may be given twice."""
    result = tuple(normalized_axis(axis, rank, what) for axis in axes)
    if len(set(result)) != len(result):
        twice = next(a for i, a in enumerate(result) if a in result[:i])
        raise VerifyException(f"{what} {twice} is given twice")
    return result


def require_dim(dim: int, expected: int, what: str) -> None:
    """`dim` must be `expected`, as far as both are known."""
    if dim != expected and DYNAMIC_INDEX not in (dim, expected):
        raise VerifyException(f"{what} must be {expected}, but is {dim}")


def known(a: int, b: int) -> int:
    """Of two dims that are equal, the one that is known."""
    return b if a == DYNAMIC_INDEX else a


def product(dims: Sequence[int]) -> int:
    """The elements of `dims`; `?` if one of them is `?`."""
    result = 1
    for dim in dims:
        if dim == DYNAMIC_INDEX:
            return DYNAMIC_INDEX
        result *= dim
    return result


def divided(dividend: int, divisor: int, what: str, divisor_name: str) -> int:
    """`dividend / divisor`, which must leave no rest; `what` names the dividend."""
    if dividend == DYNAMIC_INDEX or divisor == DYNAMIC_INDEX:
        return DYNAMIC_INDEX
    if divisor < 1:
        raise VerifyException(f"{divisor_name} must be at least 1, but is {divisor}")
    if dividend % divisor:
        raise VerifyException(
            f"{divisor_name} must divide {what}: {divisor} does not divide {dividend}"
        )
    return dividend // divisor
