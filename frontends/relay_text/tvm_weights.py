"""
The weights of operators in TVM's text: the attributes that repeat their shapes, and the reverse.

    nn.conv2d(%x, %w, channels=4, kernel_size=[3, 3])    <->    %w: Tensor[(4, 3, 3, 3), float32]

The reader checks and drops these attributes, and the printer adds them. A weight without a type
gets that which follows from the type of the data and the attributes, as in TVM.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX

from .tvm_layouts import parse_layout

Shape: TypeAlias = Sequence[int]
Values: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Weight:
    """The meaning of attributes for the operands after the first, the weights."""

    names: tuple[str, ...] = ()
    """The attributes that only repeat the shape of a weight."""
    implied: Callable[[Values, Shape], Values] = lambda attrs, weight: {}
    """Returns what they are for the other attributes and the shape of the weight."""
    shape: Callable[[Values, Shape], Shape | None] | None = None
    """Returns the shape of weights for the attributes and the data's; None if it is not known."""
    printed_before: str = ""
    """The attribute before which they are printed."""
    unknown: str | None = None
    """The text of one whose value is unknown; None where it is omitted."""
    operand: int = 1
    """The weight whose shape they repeat."""


IMPLYING = frozenset(("groups", "kernel_layout", "transpose_b"))
"""The attributes that `Weight.implied` reads."""


def _times(size: int, by: int) -> int:
    return DYNAMIC_INDEX if size == DYNAMIC_INDEX else size * by


def _divided(size: int, by: int) -> int:
    return DYNAMIC_INDEX if size == DYNAMIC_INDEX or by < 1 else size // by


def _groups(attrs: Values) -> int:
    return int(attrs.get("groups") or 1)


def _sizes(channels: str) -> Callable[[Values, Shape], Values]:
    """Return the sizes that a weight with these axes of channels, and those of its rank, has."""

    def implied(attrs: Values, weight: Shape) -> Values:
        sides = "DHW"[5 - len(weight) :]
        order = attrs.get("kernel_layout") or f"{channels}{sides}"
        if not 3 <= len(weight) <= 5 or sorted(order) != sorted(f"OI{sides}"):
            return {}
        count, *sizes = (weight[order.index(side)] for side in f"O{sides}")
        count = _times(count, _groups(attrs)) if channels == "IO" else count  # of one group
        return {"channels": count, "kernel_size": tuple(sizes)}

    return implied


def _pair(value: Any) -> tuple[int, int] | None:
    """Return two sizes: a list of two, or one number for both."""
    match value:
        case int():
            return value, value
        case (int() as height, int() as width):
            return height, width
        case _:
            return None


def _kernel(channels: str) -> Callable[[Values, Shape], Shape | None]:
    """Return the shape of a weight over images, whose layout by default is `channels` and `HW`."""

    def shape(attrs: Values, data: Shape) -> Shape | None:
        order = f"{channels}HW"
        layout = parse_layout(attrs.get("kernel_layout") or order)
        image = parse_layout(attrs.get("data_layout") or "NCHW")
        out, kernel = attrs.get("channels"), _pair(attrs.get("kernel_size"))
        if layout is None or image is None or not isinstance(out, int) or kernel is None:
            return None
        if not layout.has_axes(order) or not image.has_axes("NCHW") or len(data) != len(image.axes):
            return None
        own = _times(data[image.axes.index("C")], image.blocks.get("c", 1))
        first, second = (own, out) if channels == "IO" else (out, own)
        sizes = dict(zip(order, (first, _divided(second, _groups(attrs)), *kernel), strict=True))
        return [
            layout.blocks.get(axis) or _divided(sizes[axis], layout.blocks.get(axis.lower(), 1))
            for axis in layout.axes
        ]

    return shape


def _units(is_transposed: bool) -> Callable[[Values, Shape], Values]:
    def implied(attrs: Values, weight: Shape) -> Values:
        axis = 0 if attrs.get("transpose_b", is_transposed) else 1
        return {"units": weight[axis]} if len(weight) == 2 else {}

    return implied


def _rows(attrs: Values, data: Shape) -> Shape | None:
    units = attrs.get("units")
    return [units, data[-1]] if isinstance(units, int) and data else None


def _along_axis(attrs: Values, data: Shape) -> Shape | None:
    axis = attrs.get("axis", 1)
    return [data[axis]] if isinstance(axis, int) and -len(data) <= axis < len(data) else None


_CONV = Weight(("channels", "kernel_size"), _sizes("OI"), printed_before="data_layout")
_TRANSPOSED = replace(_CONV, implied=_sizes("IO"))
_DENSE = Weight(("units",), _units(True), printed_before="out_dtype")
_LAYOUTS = {"kernel_layout": "NCHW", "out_layout": "OIHW"}

WEIGHTS: Mapping[str, Weight] = {
    **dict.fromkeys(("nn.conv1d", "nn.conv3d", "qnn.conv2d"), _CONV),
    "nn.conv2d": replace(_CONV, shape=_kernel("OI")),
    "nn.conv2d_backward_weight": Weight(
        tuple(_LAYOUTS), lambda attrs, weight: _LAYOUTS, printed_before="out_dtype"
    ),
    **dict.fromkeys(
        ("nn.conv1d_transpose", "nn.conv3d_transpose", "qnn.conv2d_transpose"), _TRANSPOSED
    ),
    "nn.conv2d_transpose": replace(_TRANSPOSED, shape=_kernel("IO")),
    "nn.deformable_conv2d": replace(_CONV, operand=2),
    "nn.dense": replace(_DENSE, shape=_rows),
    "qnn.dense": _DENSE,
    "nn.matmul": replace(_DENSE, implied=_units(False), unknown="None"),
    **dict.fromkeys(("nn.batch_norm", "nn.bias_add", "nn.prelu"), Weight(shape=_along_axis)),
}
"""The weights of each operator that has attributes about them."""
