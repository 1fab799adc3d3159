"""What the type rules share: operands, axes and ranks, with errors that say the bound."""

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from ...tensors import Tensor, as_tensor


def tensor_operands(op: Operation) -> list[Tensor]:
    """The operands' types; a rule is asked only when they are complete."""
    types: list[Tensor] = []
    for i, operand in enumerate(op.operands):
        type = as_tensor(operand.type)
        if type is None:
            raise VerifyException(
                f"operand {i} of {op.name} must be a tensor, but is {operand.type}"
            )
        types.append(type)
    return types


def normalized_axis(axis: int, rank: int, what: str = "axis") -> int:
    """`axis` counted from the front; negative ones count from the back."""
    if not -rank <= axis < rank:
        raise VerifyException(f"{what} must be in [{-rank}, {rank}), but is {axis}")
    return axis % rank if rank else 0


def require_rank(type: Tensor, rank: int, what: str) -> None:
    """`type` must have `rank` dims; `what` names it in the error."""
    if type.get_num_dims() != rank:
        raise VerifyException(f"{what} must have rank {rank}, but has rank {type.get_num_dims()}")
