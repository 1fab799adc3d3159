"""
The access relations of operators without a formula: the box of each operand that a part needs.

    max_pool2d 3x3, padding 1, rows [4, 8) of the result     ->    rows [3, 9) of the operand

A function gets the dims of the operands, the part of the result and, by name, attributes. A box may
be empty: then nothing is read.

`OWN_CODE` has the reason why each has no formula; see `forms.Opaque`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TypeAlias

from ..convolution import Convolution
from ..pooling import Pool
from ..rules import Ints
from ..slicing import cuts, picked
from ..transposed_convolution import Transposed
from ..windows import PANELS, WINOGRAD, spatial
from .access import Box, Interval, Shape, whole
from .forms import MEANINGS, Opaque

Reads: TypeAlias = Callable[..., Sequence[Box]]


def within(start: int, stop: int, dim: int) -> Interval:
    """Return the indices in `[start, stop)` that an axis of `dim` elements has."""
    return Interval(max(start, 0), min(stop, dim))


def _replaced(box: Box, intervals: Mapping[int, Interval]) -> Box:
    return tuple(intervals.get(axis, interval) for axis, interval in enumerate(box))


def windows_read(part: Interval, cells: int, stride: int, dilation: int, before: int) -> Interval:
    """Return the places of the windows `part`; the data's first element is at 0."""
    reach = (cells - 1) * dilation + 1
    return Interval(part.start * stride - before, (part.stop - 1) * stride - before + reach)


def _slid(
    shape: Shape, part: Box, layout: str, cells: Sequence[int], steps: Convolution | Pool
) -> Iterator[tuple[int, Interval]]:
    for i, axis in enumerate(spatial(layout)):
        step = steps.strides[i], steps.dilation[i], steps.padding[i]
        yield axis, within(*windows_read(part[axis], cells[i], *step), shape[axis])


def _conv2d(shapes: Sequence[Shape], part: Box, *, conv: Convolution) -> Sequence[Box]:
    data, weight = shapes
    channels, filters = conv.data_layout.index("C"), conv.kernel_layout.index("O")
    cells = kernel_cells(weight, conv.kernel_layout)
    box = dict(_slid(data, part, conv.data_layout, cells, conv))
    if conv.kernel_layout in PANELS:
        return _replaced(whole(data), {**box, 0: part[0]}), whole(weight)
    outputs, inputs = weight[filters] // conv.groups, data[channels] // conv.groups
    first, last = part[channels].start // outputs, (part[channels].stop - 1) // outputs
    box |= {0: part[0], channels: Interval(first * inputs, (last + 1) * inputs)}
    return _replaced(part, box), _replaced(whole(weight), {filters: part[channels]})


def kernel_cells(weight: Shape, layout: str) -> Sequence[int]:
    """Return the sides of the filters `weight`."""
    return (3, 3) if layout == WINOGRAD else [weight[axis] for axis in spatial(layout)]


def _pool2d(shapes: Sequence[Shape], part: Box, *, pool: Pool) -> Sequence[Box]:
    return [_replaced(part, dict(_slid(shapes[0], part, pool.layout, pool.pool_size, pool)))]


def spread_read(part: Interval, cells: int, stride: int, dilation: int, before: int) -> Interval:
    """Return the places of elements that a transposed convolution adds up in the part."""
    start, stop = part.start + before, part.stop + before
    return Interval(-(((cells - 1) * dilation - start) // stride), (stop - 1) // stride + 1)


def _transposed(shapes: Sequence[Shape], part: Box, *, conv: Transposed) -> Sequence[Box]:
    data, weight = shapes
    box = {0: part[0]}
    for i, axis in enumerate(spatial(conv.data_layout)):
        step = conv.strides[i], conv.dilation[i], conv.padding[i]
        box[axis] = within(*spread_read(part[axis], weight[2 + i], *step), data[axis])
    return _replaced(whole(data), box), whole(weight)


def _concatenate(shapes: Sequence[Shape], part: Box, *, axis: int) -> Sequence[Box]:
    axis %= len(part)
    ends = accumulate(shape[axis] for shape in shapes)
    starts = [end - shape[axis] for end, shape in zip(ends, shapes, strict=True)]
    reads = [
        within(part[axis].start - start, part[axis].stop - start, shape[axis])
        for start, shape in zip(starts, shapes, strict=True)
    ]
    return [_replaced(part, {axis: read}) for read in reads]


def _strided_slice(
    shapes: Sequence[Shape],
    part: Box,
    *,
    begin: Ints,
    end: Ints,
    strides: Ints | None,
    axes: Ints | None,
    slice_mode: str,
) -> Sequence[Box]:
    box = dict[int, Interval]()
    steps = cuts(len(part), begin, end, strides, axes, slice_mode)
    for axis, first, last, stride, by_size in steps:
        indices = picked(shapes[0][axis], first, last, stride, by_size)
        ends = [indices[part[axis].start], indices[part[axis].stop - 1]]
        box[axis] = Interval(min(ends), max(ends) + 1)
    return [_replaced(part, box)]


def _pad(
    shapes: Sequence[Shape], part: Box, *, pad_width: Sequence[int], pad_mode: str
) -> Sequence[Box]:
    box = list[Interval]()
    for axis, (interval, dim) in enumerate(zip(part, shapes[0], strict=True)):
        start, stop = (end - pad_width[2 * axis] for end in interval)
        if pad_mode != "constant" and not 0 <= start < stop <= dim:
            box.append(Interval(0, dim))
        else:
            box.append(within(start, stop, dim))
    return tuple(box), ()


READS: Mapping[str, Reads] = {
    "nn.conv2d": _conv2d,
    **dict.fromkeys(("nn.max_pool2d", "nn.avg_pool2d"), _pool2d),
    "concatenate": _concatenate,
    "strided_slice": _strided_slice,
    "nn.pad": _pad,
    **{f"nn.conv{sides}d_transpose": _transposed for sides in (1, 2, 3)},
}
"""The access relations, by the names of operators without `relay.`."""


_WINDOWS = "several algorithms, chosen by shape: a formula would be a riddle beside them"
_MOVES = "copies of whole slices, where a formula would copy element by element"
_SORTS = "sorts, or selects one after the other"

OWN_CODE: Mapping[str, str] = {
    **dict.fromkeys(("nn.conv2d", "nn.max_pool2d", "nn.avg_pool2d"), _WINDOWS),
    **dict.fromkeys(("image.resize2d", "dyn.image.resize2d"), _WINDOWS),
    **dict.fromkeys(("argmax", "argmin"), "a reduction whose state is two numbers"),
    **dict.fromkeys(("concatenate", "stack", "split"), _MOVES),
    **dict.fromkeys(("strided_slice", "dyn.strided_slice"), _MOVES),
    **dict.fromkeys(("nn.pad", "dyn.nn.pad"), _MOVES),
    **dict.fromkeys(("zeros", "ones", "dyn.zeros", "dyn.ones"), "one number, filled in"),
    **dict.fromkeys(("dyn.full", "dyn.broadcast_to"), "elements of an operand are the shape"),
    "scatter_elements": "writes elements one after the other, some over others",
    "random.threefry_generate": "rounds of one block after the other",
    "random.threefry_split": "a key of one block or of another, by a bit of the operand",
    "nn.max_pool2d_grad": "adds each number where the maximum of a window is",
    "shape_of": "a vector of dims, which are not elements",
    **dict.fromkeys(("argsort", "sort", "topk", "dyn.topk", "unique", "argwhere"), _SORTS),
    **dict.fromkeys(("vision.get_valid_counts", "vision.non_max_suppression"), _SORTS),
    "vision.all_class_non_max_suppression": _SORTS,
}

MEANINGS.update({f"relay.{name}": Opaque(reason) for name, reason in OWN_CODE.items()})
for _name, _reads in READS.items():
    MEANINGS[f"relay.{_name}"].reads = _reads
