"""
Types of weights that nothing states, from the type of the data and the attributes, as in TVM.

    fn (%x: Tensor[(1, 3, 8, 8), float32], %w) { nn.conv2d(%x, %w, channels=4, kernel_size=[3, 3]) }
    ->
    %w: Tensor[(4, 3, 3, 3), float32]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from ....dialects.device import tensor_type
from ....dialects.relay.unification import IncompleteType, Unifier
from ....dialects.tensors import as_tensor
from ..tvm_layouts import parse_layout

Shape: TypeAlias = Sequence[int]
ShapeOf: TypeAlias = Callable[[Shape, Mapping[str, Any]], Shape | None]
"""Returns the shape of an operator's weights for that of its data; None if it does not follow."""


@dataclass(frozen=True)
class Weights:
    """The weights of one call, some of which had no type when it was read."""

    operator: str
    data: SSAValue
    weights: Sequence[SSAValue]
    attrs: Mapping[str, Any]

    def infer(self, types: Unifier) -> bool:
        """Give a type to those that have none yet; return whether there were any."""
        data = as_tensor(types.shallow(self.data.type))
        if data is None:
            return False
        shape = _SHAPES[self.operator](data.get_shape(), self.attrs)
        unknown = [
            w.type for w in self.weights if isinstance(types.shallow(w.type), IncompleteType)
        ]
        if shape is None or not unknown:
            return False
        type = tensor_type(data.element_type, list(shape))
        return all([types.unify(weight, type) for weight in unknown])


def has_weights(operator: str) -> bool:
    """Test whether the types of an operator's operands after the first can follow from that."""
    return operator in _SHAPES


def _pair(value: Any) -> tuple[int, int] | None:
    """Return two sizes: a list of two, or one number for both."""
    match value:
        case int():
            return value, value
        case (int() as height, int() as width):
            return height, width
        case _:
            return None


def _divided(size: int, by: int) -> int:
    return DYNAMIC_INDEX if size == DYNAMIC_INDEX or by < 1 else size // by


def _convolution(
    data: Shape, attrs: Mapping[str, Any], order: str, own: Callable[[int, int, int], Shape]
) -> Shape | None:
    """Return the shape of a weight whose layout is `order` by default; `own` are its channels."""
    layout = parse_layout(attrs.get("kernel_layout") or order)
    image = parse_layout(attrs.get("data_layout") or "NCHW")
    channels, kernel = attrs.get("channels"), _pair(attrs.get("kernel_size"))
    if layout is None or image is None or not isinstance(channels, int) or kernel is None:
        return None
    if not layout.has_axes(order) or not image.has_axes("NCHW") or len(data) != len(image.axes):
        return None
    count = data[image.axes.index("C")]
    count = count if count == DYNAMIC_INDEX else count * image.blocks.get("c", 1)
    outer, inner = own(count, channels, int(attrs.get("groups") or 1))
    sizes = dict(zip(order, (outer, inner, *kernel), strict=True))
    return [
        layout.blocks.get(axis) or _divided(sizes[axis], layout.blocks.get(axis.lower(), 1))
        for axis in layout.axes
    ]


def _conv2d(data: Shape, attrs: Mapping[str, Any]) -> Shape | None:
    return _convolution(data, attrs, "OIHW", lambda own, out, groups: (out, _divided(own, groups)))


def _conv2d_transpose(data: Shape, attrs: Mapping[str, Any]) -> Shape | None:
    return _convolution(data, attrs, "IOHW", lambda own, out, groups: (own, _divided(out, groups)))


def _dense(data: Shape, attrs: Mapping[str, Any]) -> Shape | None:
    units = attrs.get("units")
    return [units, data[-1]] if isinstance(units, int) and data else None


def _along_axis(data: Shape, attrs: Mapping[str, Any]) -> Shape | None:
    axis = attrs.get("axis", 1)
    return [data[axis]] if isinstance(axis, int) and -len(data) <= axis < len(data) else None


_SHAPES: Mapping[str, ShapeOf] = {
    "nn.batch_norm": _along_axis,
    "nn.bias_add": _along_axis,
    "nn.conv2d": _conv2d,
    "nn.conv2d_transpose": _conv2d_transpose,
    "nn.dense": _dense,
    "nn.prelu": _along_axis,
}
