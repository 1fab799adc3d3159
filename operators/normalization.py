"""Rules of operators that normalise a tensor."""

from typing import Annotated

from .operands import (
    normalized_axis,
    require_float,
    require_rank,
    require_same_element,
)
from .rules import AtLeast, rule
from .signature import Tensor
from .sizes import require_equal


@rule("relay.nn.softmax", "relay.nn.log_softmax")
def softmax(data: Tensor, *, axis: int) -> Tensor:
    """Infer the type of the float `data`, which must have axis `axis`."""
    require_float(data.element, "the operand of {op}")
    normalized_axis(axis, data.rank)
    return data


def _require_normalized(data: Tensor, axis: int, **vectors: Tensor) -> None:
    """Check that `vectors` have one element per index of `axis` of the float `data`."""
    require_float(require_same_element((data, *vectors.values())), "operands of {op}")
    axis = normalized_axis(axis, data.rank)
    for name, vector in vectors.items():
        require_rank(vector, 1, name)
        message = f"the dim of {name} must be {{1}}, but is {{0}}"
        require_equal(vector.dims[0], data.dims[axis], message)


@rule("relay.nn.layer_norm")
def layer_norm(
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    *,
    axis: int,
    epsilon: float,
    center: bool,
    scale: bool,
) -> Tensor:
    """Infer the type of `data` from it, `gamma` and `beta`."""
    _require_normalized(data, axis, gamma=gamma, beta=beta)
    return data


@rule("relay.nn.batch_norm")
def batch_norm(
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    moving_mean: Tensor,
    moving_var: Tensor,
    *,
    axis: int,
    epsilon: float,
    center: bool,
    scale: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Infer the types of `data`, `moving_mean` and `moving_var`."""
    _require_normalized(
        data, axis, gamma=gamma, beta=beta, moving_mean=moving_mean, moving_var=moving_var
    )
    return data, moving_mean, moving_var


@rule("relay.nn.lrn")
def lrn(
    data: Tensor,
    *,
    size: Annotated[int, AtLeast(1)],
    axis: int,
    alpha: float,
    beta: float,
    bias: float,
) -> Tensor:
    """Infer the type of the float `data`, which must have axis `axis`."""
    return softmax(data, axis=axis)
