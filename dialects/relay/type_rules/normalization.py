"""Type rules of operators that scale each element by what stands around it."""

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation

from ...tensors import Tensor
from .broadcast import like
from .operands import (
    normalized_axis,
    ranked,
    require_dim,
    require_float,
    require_rank,
    require_same_element,
    tensor_operands,
)
from .properties import int_from, int_of


def softmax(op: Operation) -> Sequence[Attribute]:
    """Float `data` with an axis `axis`; the result is like it."""
    (data,) = tensor_operands(op, 1)
    require_float(data.element_type, f"the operand of {op.name}")
    normalized_axis(int_of(op, "axis"), data.get_num_dims())
    return (like(data),)


def _normalized(op: Operation, operands: Sequence[Tensor], names: Sequence[str]) -> Tensor:
    """`data`, which comes first; the other operands are vectors for its dim `axis`."""
    data, *vectors = operands
    element = require_same_element(operands, op)
    require_float(element, f"operands of {op.name}")
    axis = normalized_axis(int_of(op, "axis"), data.get_num_dims())
    size = data.get_shape()[axis]
    for name, vector in zip(names, vectors, strict=True):
        require_rank(vector, 1, name)
        require_dim(vector.get_shape()[0], size, f"the dim of {name}")
    return data


def layer_norm(op: Operation) -> Sequence[Attribute]:
    """`data`, `gamma`, `beta`; the result is like `data`."""
    return (like(_normalized(op, tensor_operands(op, 3), ("gamma", "beta"))),)


def batch_norm(op: Operation) -> Sequence[Attribute]:
    """`data` and four vectors; the results are like `data`, `moving_mean`, `moving_var`."""
    operands = tensor_operands(op, 5)
    names = ("gamma", "beta", "moving_mean", "moving_var")
    data = _normalized(op, operands, names)
    vector = ranked(data.element_type, operands[3].get_shape())
    return (like(data), vector, ranked(data.element_type, operands[4].get_shape()))


def lrn(op: Operation) -> Sequence[Attribute]:
    """Float `data` with an axis `axis`, a window of `size`; the result is like `data`."""
    (data,) = tensor_operands(op, 1)
    require_float(data.element_type, f"the operand of {op.name}")
    normalized_axis(int_of(op, "axis"), data.get_num_dims())
    int_from(op, "size", 1)
    return (like(data),)
