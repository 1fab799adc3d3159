"""Type rules of operators that work element by element, with NumPy's broadcasting."""

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, NoneAttr, i1
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ...tensors import Tensor
from .operands import (
    normalized_axis,
    ranked,
    require_bool,
    require_dim,
    require_dtype,
    require_float,
    require_number,
    require_ordered,
    require_rank,
    require_same_element,
    tensor_operands,
)
from .properties import int_of, ints_from, type_of, word_of

TypeRule = Callable[[Operation], Sequence[Attribute]]
Kind = Callable[[Attribute, str], None]
"""A demand on an element type: `require_float` and its like."""


def broadcast_shapes(shapes: Sequence[Sequence[int]]) -> list[int]:
    """
    The shape that `shapes` broadcast to, aligned at the last dim.

    A dynamic dim against a static one greater than 1 gives the static one.
    """
    rank = max(map(len, shapes))
    result: list[int] = []
    for axis in range(-rank, 0):
        dims = {s[axis] for s in shapes if len(s) >= -axis} - {1}
        static = dims - {DYNAMIC_INDEX}
        if len(static) > 1:
            a, b = sorted(static)[:2]
            raise VerifyException(f"dims {a} and {b} at axis {axis} do not broadcast together")
        result.append(
            static.pop() if static else DYNAMIC_INDEX if dims else 1,
        )
    return result


def like(type: Tensor) -> Tensor:
    """`type` without its device."""
    if isinstance(type.encoding, NoneAttr):
        return type
    return ranked(type.element_type, type.get_shape())


def _broadcast(types: Sequence[Tensor], element_type: Attribute) -> Tensor:
    first = types[0]
    shape = first.shape
    if all(type.shape is shape or type.shape == shape for type in types):
        if first.element_type is element_type and isinstance(first.encoding, NoneAttr):
            return first
        return ranked(element_type, first.get_shape())
    return ranked(element_type, tuple(broadcast_shapes([t.get_shape() for t in types])))


def same_as_operand(op: Operation) -> Sequence[Attribute]:
    """One operand; the result is like it."""
    (data,) = tensor_operands(op, 1)
    return (like(data),)


def same_as_operand_of(kind: Kind) -> TypeRule:
    """One operand of such elements; the result is like it."""

    def rule(op: Operation) -> Sequence[Attribute]:
        (data,) = tensor_operands(op, 1)
        kind(data.element_type, f"the operand of {op.name}")
        return (like(data),)

    return rule


def broadcast_of(kind: Kind) -> TypeRule:
    """Operands of one element type of this kind; the result has it, and the broadcast shape."""

    def rule(op: Operation) -> Sequence[Attribute]:
        operands = tensor_operands(op, 2)
        element = require_same_element(operands, op)
        kind(element, f"operands of {op.name}")
        return (_broadcast(operands, element),)

    return rule


def comparison(op: Operation) -> Sequence[Attribute]:
    """Two operands of one element type; the result has the broadcast shape, and i1 elements."""
    operands = tensor_operands(op, 2)
    require_ordered(require_same_element(operands, op), f"operands of {op.name}")
    return (_broadcast(operands, i1),)


def where(op: Operation) -> Sequence[Attribute]:
    """`condition` of i1, `x` and `y` of one element type, all three broadcast together."""
    condition, x, y = tensor_operands(op, 3)
    require_bool(condition.element_type, "condition")
    if x.element_type != y.element_type:
        raise VerifyException(
            f"x and y of {op.name} must have one element type, but they have "
            f"{x.element_type} and {y.element_type}"
        )
    return (_broadcast((x, y, condition), x.element_type),)


def is_nan(op: Operation) -> Sequence[Attribute]:
    """A float operand; the result has its shape and i1 elements."""
    (data,) = tensor_operands(op, 1)
    require_float(data.element_type, f"the operand of {op.name}")
    return (ranked(i1, data.get_shape()),)


def cast(op: Operation) -> Sequence[Attribute]:
    """The operand's shape, with elements of `dtype`."""
    (data,) = tensor_operands(op, 1)
    dtype = type_of(op, "dtype")
    require_dtype(dtype, "dtype")
    return (ranked(dtype, data.get_shape()),)


def gelu(op: Operation) -> Sequence[Attribute]:
    """A float operand; the result is like it."""
    (data,) = tensor_operands(op, 1)
    require_float(data.element_type, f"the operand of {op.name}")
    word_of(op, "approximate", ("none", "tanh"))
    return (like(data),)


def along_axis(op: Operation) -> Sequence[Attribute]:
    """`data` and a vector of numbers for the dim `axis` of it; the result is like `data`."""
    data, vector = types = tensor_operands(op, 2)
    require_number(require_same_element(types, op), f"operands of {op.name}")
    axis = normalized_axis(int_of(op, "axis"), data.get_num_dims())
    require_rank(vector, 1, f"operand 1 of {op.name}")
    require_dim(
        vector.get_shape()[0],
        data.get_shape()[axis],
        f"the dim of operand 1 of {op.name}, for axis {axis} of operand 0,",
    )
    return (like(data),)


def broadcast_to(op: Operation) -> Sequence[Attribute]:
    """`data` broadcast to exactly `shape`."""
    (data,) = tensor_operands(op, 1)
    shape = ints_from(op, "shape", 0)
    rank = data.get_num_dims()
    if rank > len(shape):
        raise VerifyException(f"shape must have at least {rank} entries, but has {len(shape)}")
    for axis, dim in enumerate(data.get_shape(), start=-rank):
        if dim not in (1, DYNAMIC_INDEX, shape[axis]):
            raise VerifyException(f"dim {dim} at axis {axis} does not broadcast to {shape[axis]}")
    return (ranked(data.element_type, shape),)


def full(op: Operation) -> Sequence[Attribute]:
    """`shape`, of the elements of the scalar `fill_value`."""
    (value,) = tensor_operands(op, 1)
    require_rank(value, 0, "fill_value")
    return (ranked(value.element_type, ints_from(op, "shape", 0)),)
