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


@dataclass(frozen=True)
class Loops:
    """The trip counts of all loops, of which some are left out."""

    sizes: Mapping[str, Size]

    def _has(self, loop: str) -> bool:
        if loop in ("o", "c"):
            return self.sizes["g"] == 1 or self.sizes[loop] != 1
        return loop not in ("g", "kh", "kw") or self.sizes[loop] != 1

    def present(self, loops: Sequence[str]) -> list[str]:
        return [*filter(self._has, loops)]

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


def _numbered(axes: Sequence[Sequence[str]]) -> list[list[int]]:
    """Return the numbers of the loops in `axes`, in order."""
    groups: list[list[int]] = []
    for loops in axes:
        first = groups[-1][-1] + 1 if groups else 0
        groups.append(list(range(first, first + len(loops))))
    return groups


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
    loops = Loops(
        {
            "n": b.dim(x, 0),
            "g": groups,
            "o": b.floordiv(of["O"], groups),
            "c": of["I"],
            **{"h": counts[0], "w": counts[1], "kh": of["H"], "kw": of["W"], "i": of.get("o", 1)},
        }
    )
    of_weight: dict[str, Sequence[str]] = dict(WEIGHT_LETTERS)
    if is_packed:
        of_weight |= {"O": ("o",), "o": ("i",)}
    of_filters = ("o", "i") if is_packed else ("g", "o")
    kept = [loops.present(of_filters if axis == "C" else LETTERS[axis]) for axis in layout]
    order = [loop for axis in kept for loop in axis]
    result = range(len(order))
    order += loops.present(("c", "kh", "kw") if layout == "NCHW" else ("kh", "kw", "c"))
    at = {loop: i for i, loop in enumerate(order)}

    def place(loop: str) -> AffineExpr:
        if loop not in sides:
            return AffineExpr.dimension(at[loop])
        return sides[loop].place(at[loop], at.get(f"k{loop}"))

    images, cells = [LETTERS[axis] for axis in layout], [of_weight[axis] for axis in letters]
    x = padded(b, x, axes, list(sides.values()), counts, b.constant(0, element_of(x)))
    factors = loops.split(b, x, images), loops.split(b, weight, cells)
    x_map = [place(loop) for axis in images for loop in loops.present(axis)]
    weight_map = [at[loop] for axis in cells for loop in loops.present(axis)]
    sizes = [loops.sizes[loop] for loop in order[: len(result)]]
    y = contract(b, op, factors, (x_map, weight_map), sizes, result, len(order))
    return [b.collapse(y, _numbered(kept))]


RULES: Mapping[str, Rule] = {"relay.nn.conv2d": conv2d}
