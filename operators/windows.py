"""Windows that slide along one, two or three sides: the checks and counts that rules share."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeAlias

from .operands import require_rank
from .rules import AtLeast, Default, Ints, Length
from .signature import Tensor
from .sizes import Size, require_at_least, require_at_most

Layout: TypeAlias = Literal["NCHW", "NHWC"]
Pair: TypeAlias = Annotated[Ints, Length(2), AtLeast(1)]
"""A number for the height and one for the width."""
Steps: TypeAlias = Annotated[Ints, Length(2), AtLeast(1), Default((1, 1))]
"""Those of strides and dilations, which are 1 by default."""
Padding: TypeAlias = Annotated[Ints, Length(4), AtLeast(0), Default((0, 0, 0, 0))]
"""Elements added at the top, left, bottom and right."""
Groups: TypeAlias = Annotated[int, AtLeast(1), Default(1)]

_LAYOUTS = {1: Literal["NCW", "NWC"], 2: Layout, 3: Literal["NCDHW", "NDHWC"]}


def of_sides(count: int, **layouts: object) -> Mapping[str, object]:
    """Return the types of attributes of an operator whose windows slide along `count` axes."""
    each, none = Annotated[Ints, Length(count), AtLeast(1)], (0,) * 2 * count
    steps = Annotated[each, Default((1,) * count)]
    return {
        **{"pool_size": each, "strides": steps, "dilation": steps},
        "padding": Annotated[Ints, Length(2 * count), AtLeast(0), Default(none)],
        "output_padding": Annotated[Ints, Length(count), AtLeast(0), Default(none[:count])],
        **dict.fromkeys(("layout", "data_layout"), _LAYOUTS[count]),
        **layouts,
    }


SIDES = {"D": "depth", "H": "height", "W": "width"}
"""The axes along which windows slide, by their letters in layouts, in order."""
WINOGRAD = "OHWI16o/F23"
"""
Panels of 3x3 filters w as G w Gᵀ, 4x4, for Winograd's F(2x2, 3x3):

    G = 1 0 0, 1/2 1/2 1/2, 1/2 -1/2 1/2, 0 0 1        w = L u Lᵀ, L = 1 0 0 0, 0 1 -1 0, 0 0 0 1
"""
PANELS = {"OHWI8o": 8, "OHWI16o": 16, "OHWI32o": 32, WINOGRAD: 16}
"""Filters side by side in the last dim of weights (TVM's notation): so many in each panel."""


def spatial_names(layout: str) -> Sequence[str]:
    """Return the letters of the sides in a layout, in order."""
    return [side for side in SIDES if side in layout]


def spatial(layout: str) -> list[int]:
    """Return the axes of depth, height and width in a layout."""
    return [layout.index(side) for side in spatial_names(layout)]


def require_side(size: Size, what: str, side: str) -> None:
    require_at_least(size, 1, f"{what} {side} must be at least 1, but is {{0}}")


def window_counts(
    sizes: Mapping[str, Size],
    windows: Mapping[str, Size],
    strides: Ints,
    padding: Ints,
    dilation: Ints,
    ceil: bool = False,
    may_be_empty: bool = False,
) -> dict[str, Size]:
    """
    Return the number of windows that fit along each side: (size + both - reach) // stride + 1.

    `both` is the padding of both ends; `reach` is `(window - 1) * dilation + 1`. With `ceil`,
    the last window may extend beyond the padded data.
    """
    sides = [side for side in SIDES if side in sizes]
    counts: dict[str, Size] = {}
    for i, side in enumerate(sides):
        size, name, both = sizes[side], SIDES[side], padding[i] + padding[len(sides) + i]
        if not may_be_empty:
            require_at_least(size, 1, f"the {name} of data must be at least 1, but is {{0}}")
        require_side(windows[side], "the window's", name)
        reach = (windows[side] - 1) * dilation[i] + 1
        message = f"the dilated window's {name} must be at most that of the padded data, "
        require_at_most(reach, size + both, message + "{1}, but is {0}")
        rounding = strides[i] - 1 if ceil else 0
        counts[side] = (size + (both - reach + rounding)) // strides[i] + 1
    return counts


def dims_by_axis(tensor: Tensor, layout: str, what: str) -> dict[str, Size]:
    """Return the dim of each axis of a layout."""
    require_rank(tensor, len(layout), what)
    return dict(zip(layout, tensor.dims, strict=True))
