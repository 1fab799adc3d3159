"""
The operator that computes a part of a result: itself, on the boxes that the part reads.

    rows [8, 16) of  conv2d 3x3, padding 1, of 32 rows   =   conv2d of rows [7, 17), padding 0
    rows [0, 8)                                          =   conv2d of rows [0, 9), padding 1 above

`PARTS` says which attributes change; elementwise operators need no entry.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import NamedTuple, TypeAlias

from ..convolution import Convolution
from ..intervals import Interval
from ..pooling import Pool
from ..transposed_convolution import Transposed
from ..windows import spatial
from .access import Access, Box, Shape, accesses, whole
from .forms import Attributes, Elementwise, Meaning, SameOrder, keywords
from .own_code import kernel_cells, spread_read, windows_read, within


class Part(NamedTuple):
    """The indices `rows` along `axis` of a result, and the dims of the operands and of it."""

    shapes: Sequence[Shape]
    result: Shape
    axis: int
    rows: Interval

    @property
    def dims(self) -> Shape:
        return (*self.result[: self.axis], self.rows.size, *self.result[self.axis + 1 :])


Changes: TypeAlias = Mapping[str, object] | None
"""The attributes that change for a part; None if the operator cannot compute it."""
ChangesFor: TypeAlias = Callable[..., Changes]
"""Returns the changes for a part, and attributes by name, like a formula."""


class OnPart(NamedTuple):
    """The boxes of the operands that a part reads, None of a whole one, and its attributes."""

    boxes: Sequence[Box | None]
    attributes: Attributes


def on_part(
    meaning: Meaning,
    changes: ChangesFor | None,
    given: Attributes,
    part: Part,
    read: Callable[[Box], Sequence[Access]] | None = None,
) -> OnPart | None:
    """
    Return how an operator computes `part`; None if it cannot.

    `changes` is its entry in `PARTS`, or that of a plug-in's definition. `read` returns the
    `accesses` of a box of the result, for callers that know some.
    """
    read = read or (lambda box: accesses(meaning, given, part.shapes, part.result, box))
    if any(0 in shape for shape in part.shapes):
        return None
    full = whole(part.result)
    box = (*full[: part.axis], part.rows, *full[part.axis + 1 :])
    boxes = [
        own.box and _unless_always(own.box, every.box, shape)
        for own, every, shape in zip(read(box), read(full), part.shapes, strict=True)
    ]
    if not boxes or boxes[0] is None:
        return None  # it is all padding
    if isinstance(meaning, SameOrder) and prod(i.size for i in boxes[0]) != prod(part.dims):
        return None
    changes = changes or (_any if isinstance(meaning, Elementwise) else None)
    changed = None if changes is None else changes(part, **keywords(changes, given))
    if changed is None:
        return None
    return OnPart(boxes, {**given, **changed})


def _unless_always(box: Box, every: Box | None, shape: Shape) -> Box:
    """Return `box`, but whole axes where the whole result reads no more than the part."""
    return tuple(
        Interval(0, dim) if every is not None and interval == every[axis] else interval
        for axis, (interval, dim) in enumerate(zip(box, shape, strict=True))
    )


def _slid(
    part: Part, layout: str, cells: Sequence[int], steps: Convolution | Pool
) -> Sequence[int] | None:
    """
    Return the padding that the windows of a part reach; along other sides, only past an end.

    None if they reach nothing else.
    """
    widths, data = list(steps.padding), part.shapes[0]
    for i, side in enumerate(spatial(layout)):
        if side != part.axis and not (isinstance(steps, Pool) and steps.ceil_mode):
            continue
        windows = part.rows if side == part.axis else Interval(0, part.result[side])
        step = steps.strides[i], steps.dilation[i], steps.padding[i]
        start, stop = windows_read(windows, cells[i], *step)
        if stop <= 0 or start >= data[side]:
            return None
        widths[i], widths[i + len(cells)] = max(0, -start), max(0, stop - data[side])
    return tuple(widths)


def _convolution(part: Part, *, conv: Convolution) -> Changes:
    if part.axis not in spatial(conv.data_layout):
        return {} if part.axis == 0 else None
    cells = kernel_cells(part.shapes[1], conv.kernel_layout)
    padding = _slid(part, conv.data_layout, cells, conv)
    return None if padding is None else {"padding": padding}


def _transposed(part: Part, *, conv: Transposed) -> Changes:
    if part.axis not in (sides := spatial(conv.data_layout)):
        return {} if part.axis == 0 else None
    i, dim = sides.index(part.axis), part.shapes[0][part.axis]
    cells, before = part.shapes[1][2 + i], conv.padding[i]
    step = cells, conv.strides[i], conv.dilation[i], before
    read, every = (
        within(*spread_read(rows, *step), dim)
        for rows in (part.rows, Interval(0, part.result[part.axis]))
    )
    read = Interval(0, dim) if read == every else read
    above = part.rows.start + before - read.start * conv.strides[i]
    spread = (read.size - 1) * conv.strides[i] + (cells - 1) * conv.dilation[i] + 1
    below = spread - above - part.rows.size
    if read.size <= 0 or above < 0 or -below >= max(conv.strides[i], conv.dilation[i]):
        return None
    widths, more = list(conv.padding), list(conv.output_padding)
    widths[i], widths[i + len(sides)], more[i] = above, max(0, below), max(0, -below)
    return {"padding": tuple(widths), "output_padding": tuple(more)}


def _pool(part: Part, *, pool: Pool, count_include_pad: bool | None) -> Changes:
    if part.axis not in spatial(pool.layout):
        return {}
    if pool.ceil_mode and count_include_pad:
        return None  # cells past the padding do not count
    padding = _slid(part, pool.layout, pool.pool_size, pool)
    return None if padding is None else {"padding": padding, "ceil_mode": False}


def _pad(part: Part, *, pad_width: Sequence[int], pad_mode: str) -> Changes:
    first, dim = 2 * part.axis, part.shapes[0][part.axis]
    before, after = pad_width[first : first + 2]
    if not before and not after:
        return {}
    if pad_mode != "constant":
        return None
    own = max(0, before - part.rows.start), max(0, part.rows.stop - before - dim)
    return {"pad_width": (*pad_width[:first], *own, *pad_width[first + 2 :])}


def _strided_slice(part: Part, *, begin: Sequence[int], axes: Sequence[int] | None) -> Changes:
    sliced = range(len(begin)) if axes is None else [axis % len(part.result) for axis in axes]
    return None if part.axis in sliced else {}


def _unless_along(part: Part, *, axis: int) -> Changes:
    return None if part.axis == axis % len(part.result) else {}


def _lrn(part: Part, *, axis: int) -> Changes:
    return {} if len(part.result) == 4 and axis % 4 not in (0, part.axis) else None


def _any(part: Part) -> Changes:
    return {}


def _unless_last(part: Part) -> Changes:
    return None if part.axis == len(part.result) - 1 else {}


def _squeeze(part: Part, *, axis: Sequence[int] | None) -> Changes:
    return None if axis is None else {}  # by default it removes an axis of one row, too


def _shaped(part: Part) -> Changes:
    return {"shape": part.dims}


def _reshape(part: Part) -> Changes:
    return {"newshape": part.dims}


def _in_blocks(part: Part, block: float) -> Changes:
    return {} if part.rows.start % block == 0 == part.rows.stop % block else None


def _upsampling(part: Part, *, layout: str, method: str, scale_h: float, scale_w: float) -> Changes:
    scale = {layout.index("H"): scale_h, layout.index("W"): scale_w}.get(part.axis, 1)
    is_copy = scale == 1 or (method == "nearest_neighbor" and float(scale).is_integer())
    return _in_blocks(part, scale) if is_copy else None


def _depth_to_space(part: Part, *, block_size: int, layout: str) -> Changes:
    if part.axis == layout.index("C"):
        return None
    return _in_blocks(part, block_size if part.axis else 1)


def _space_to_depth(part: Part, *, layout: str) -> Changes:
    return None if part.axis == layout.index("C") else {}


PARTS: Mapping[str, ChangesFor] = {
    **{f"nn.conv{sides}d": _convolution for sides in (1, 2, 3)},
    **{f"nn.conv{sides}d_transpose": _transposed for sides in (1, 2, 3)},
    **{f"nn.{kind}_pool{sides}d": _pool for kind in ("max", "avg") for sides in (1, 2, 3)},
    "nn.lrn": _lrn,
    **dict.fromkeys(("nn.softmax", "nn.log_softmax"), _unless_along),
    **dict.fromkeys(("nn.layer_norm", "concatenate"), _unless_along),
    **dict.fromkeys(("nn.dense", "nn.matmul", "nn.batch_matmul"), _any),
    "nn.packed_dense": _unless_last,
    **dict.fromkeys(("sum", "prod", "mean", "max", "min", "all", "any"), _any),
    **dict.fromkeys(("nn.global_max_pool2d", "nn.global_avg_pool2d"), _any),
    **dict.fromkeys(("transpose", "expand_dims", "nn.batch_flatten"), _any),
    **dict.fromkeys(("broadcast_to", "full"), _shaped),
    "reshape": _reshape,
    "squeeze": _squeeze,
    "strided_slice": _strided_slice,
    "nn.pad": _pad,
    "nn.upsampling": _upsampling,
    "nn.depth_to_space": _depth_to_space,
    "nn.space_to_depth": _space_to_depth,
}
"""The changes for parts, by the names of operators without `relay.`."""
