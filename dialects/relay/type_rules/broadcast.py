"""Type rules of operators that work element by element, with NumPy's broadcasting."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, i1
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ...device import tensor_type
from ...tensors import Tensor
from .operands import tensor_operands


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


def same_as_operand(op: Operation) -> Sequence[Attribute]:
    """One operand; the result is like it."""
    (data,) = tensor_operands(op)
    return (tensor_type(data.element_type, data.shape.data),)


def _common_element_type(op: Operation, operands: Sequence[Tensor]) -> Attribute:
    first = operands[0].element_type
    for i, operand in enumerate(operands):
        if operand.element_type != first:
            raise VerifyException(
                f"operands of {op.name} must have one element type, but operand 0 has "
                f"{first} and operand {i} has {operand.element_type}"
            )
    return first


def broadcast(op: Operation) -> Sequence[Attribute]:
    """All operands of one element type; the result has it, and the broadcast shape."""
    operands = tensor_operands(op)
    element = _common_element_type(op, operands)
    return (tensor_type(element, broadcast_shapes([t.get_shape() for t in operands])),)


def comparison(op: Operation) -> Sequence[Attribute]:
    """As `broadcast`, with i1 elements in the result."""
    operands = tensor_operands(op)
    _common_element_type(op, operands)
    return (tensor_type(i1, broadcast_shapes([t.get_shape() for t in operands])),)
