"""
Rules of convolutions.

The image is padded, then one `linalg.generic` multiplies and adds. Its loops are n (images),
g (groups), o (filters of a group; or panels of them, and i: filters of a panel), h, w (windows),
c (channels of a group), kh, kw (cells of a window); the first ones in the order of the result's
dims. Loops over one group, over the one
channel or filter of each of several groups, and over the one cell of a side are left out: so a
depthwise convolution and one of 1x1 windows have no loops of one turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects import relay
from ....dialects.device import tensor_type
from ....operators.windows import WINOGRAD
from ....passes.analysis.arrays import dense_of, numpy_dtype
from ..builder import Builder, Rule, Size, element_of
from ..sums import contract
from ..window_maps import Side, padded

WEIGHT_LETTERS = {"O": ("g", "o"), "I": ("c",), "H": ("kh",), "W": ("kw",)}
"""The loops of an axis of the weights."""

LETTERS = {"N": ("n",), "H": ("h",), "W": ("w",), "C": ("g", "c")}
"""The loops of an axis of the images; those of the result have "o" for "c"."""


@dataclass
class Convolution:
    """A convolution in `data_layout`, whose weight has an axis for each of `weight_axes`."""

    groups: int
    data_layout: str
    weight_axes: Sequence[Sequence[str]]
    """The loops of each axis of the weight, such as (("g", "o"), ("c",), ("kh",), ("kw",))."""
    sizes: Mapping[str, Size]
    """The trip count of each loop."""
    sides: Mapping[str, Side]
    """The windows along "h" and "w"."""
    filters: Sequence[str] = ("g", "o")
    """The loops over the channels of the result."""

    def has(self, loop: str) -> bool:
        if loop == "g":
            return self.groups > 1
        if loop in ("o", "c"):
            return self.groups == 1 or self.sizes[loop] != 1
        return loop not in ("kh", "kw") or self.sizes[loop] != 1

    def present(self, loops: Sequence[str]) -> list[str]:
        return [loop for loop in loops if self.has(loop)]

    def split(self, b: Builder, value: SSAValue, axes: Sequence[Sequence[str]]) -> SSAValue:
        """Return `value` with one axis for each loop in `axes` that is present."""
        groups: list[list[int]] = []
        kept: list[list[str]] = []
        pending: list[int] = []
        for axis, loops in enumerate(axes):
            if loops := self.present(loops):
                groups.append([*pending, axis])
                kept.append(loops)
                pending = []
            elif groups:
                groups[-1].append(axis)
            else:
                pending.append(axis)
        value = b.collapse(value, groups)
        sizes: list[Size] = []
        for dim, loops in zip(b.dims(value), kept, strict=True):
            sizes += [dim] if len(loops) == 1 else [self.sizes[loop] for loop in loops]
        return b.expand(value, _numbered(kept), sizes)

    def apply(self, b: Builder, op: Operation, x: SSAValue, weight: SSAValue) -> SSAValue:
        """Convolve the padded images `x` with `weight`."""
        images = [LETTERS[letter] for letter in self.data_layout]
        results = [
            self.filters if letter == "C" else LETTERS[letter] for letter in self.data_layout
        ]
        order = ("c", "kh", "kw") if self.data_layout == "NCHW" else ("kh", "kw", "c")
        kept = [self.present(axis) for axis in results]
        outer = [loop for axis in kept for loop in axis]
        at = {loop: i for i, loop in enumerate((*outer, *self.present(order)))}

        def place(loop: str) -> AffineExpr:
            if loop not in self.sides:
                return AffineExpr.dimension(at[loop])
            return self.sides[loop].place(at[loop], at.get(f"k{loop}"))

        x = self.split(b, x, images)
        x_map = [place(loop) for axis in images for loop in self.present(axis)]
        weight = self.split(b, weight, self.weight_axes)
        weight_map = [at[loop] for axis in self.weight_axes for loop in self.present(axis)]
        sizes = [self.sizes[loop] for loop in outer]
        y = contract(b, op, (x, weight), (x_map, weight_map), sizes, range(len(outer)), len(at))
        return b.collapse(y, _numbered(kept))


def _numbered(axes: Sequence[Sequence[str]]) -> list[list[int]]:
    """Return the numbers of the loops in `axes`, in order."""
    groups: list[list[int]] = []
    for loops in axes:
        first = groups[-1][-1] + 1 if groups else 0
        groups.append(list(range(first, first + len(loops))))
    return groups


def _zero(b: Builder, value: SSAValue) -> SSAValue:
    return b.constant(0, element_of(value))


TRANSFORMED = "xrelay.transformed"
"""The attribute of the loops that compute filters of transformed ones, their first operand."""


def _filters_of(b: Builder, op: Operation, transformed: SSAValue) -> SSAValue:
    """Return the panels of 3x3 filters L u Lᵀ; see `WINOGRAD`."""
    panels, _, _, channels, width = b.dims(transformed)
    type = tensor_type(element_of(transformed), [3, 3, 4, 4])
    inverse = np.array(((1, 0, 0, 0), (0, 1, -1, 0), (0, 0, 0, 1)), numpy_dtype(type))
    factors = np.multiply.outer(inverse, inverse).swapaxes(1, 2)
    both = b.insert(arith.ConstantOp(dense_of(np.ascontiguousarray(factors), type), type))
    places = (0, 5, 6, 3, 4), (1, 2, 5, 6)
    sizes = [panels, 3, 3, channels, width]
    filters = contract(b, op, (transformed, both), places, sizes, range(5), 7)
    assert isinstance(filters.owner, Operation), "the result of an op"
    filters.owner.attributes[TRANSFORMED] = UnitAttr()
    return filters


def conv2d(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Pad, then multiply and add."""
    assert isinstance(op, relay.convolution.Conv2dOp)
    x, weight = operands
    layout, kernel_layout = op.data_layout.data, op.kernel_layout.data
    groups = op.groups.value.data
    top, left, bottom, right = op.padding.get_values()
    strides, dilation = op.strides.get_values(), op.dilation.get_values()
    is_packed = len(b.dims(weight)) == 5
    if kernel_layout == WINOGRAD:
        weight = _filters_of(b, op, weight)
    letters = "OHWIo" if is_packed else kernel_layout
    of = {letter: b.dim(weight, axis) for axis, letter in enumerate(letters)}
    sides = {
        "h": Side(of["H"], strides[0], dilation[0], top, bottom),
        "w": Side(of["W"], strides[1], dilation[1], left, right),
    }
    axes = [layout.index("H"), layout.index("W")]
    counts = [
        side.count(b, b.dim(x, axis)) for side, axis in zip(sides.values(), axes, strict=True)
    ]
    loops: dict[str, Sequence[str]] = dict(WEIGHT_LETTERS)
    if is_packed:
        loops |= {"O": ("o",), "o": ("i",)}
    filters = of["O"]
    convolution = Convolution(
        groups,
        layout,
        [loops[letter] for letter in letters],
        {
            "n": b.dim(x, 0),
            "g": groups,
            "o": b.floordiv(filters, groups),
            "c": of["I"],
            "h": counts[0],
            "w": counts[1],
            "kh": of["H"],
            "kw": of["W"],
            "i": of.get("o", 1),
        },
        sides,
        ("o", "i") if is_packed else ("g", "o"),
    )
    x = padded(b, x, axes, list(sides.values()), counts, _zero(b, x))
    return [convolution.apply(b, op, x, weight)]


RULES: Mapping[str, Rule] = {
    "relay.nn.conv2d": conv2d,
}
