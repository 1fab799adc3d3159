"""Pools over one, two and three sides, and of a given number of windows: rules and meanings."""

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, NamedTuple, TypeAlias

from .meaning.forms import Folded, Formula, defined
from .meaning.number import Number, Source, clamped, element_or, least
from .operands import require_float, require_number, require_rank, require_same_element
from .rules import AtLeast, Ints, rule
from .signature import Element, Tensor, ranked
from .sizes import SignatureError, require_at_least, require_equal
from .windows import (
    SIDES,
    Layout,
    Padding,
    Pair,
    Steps,
    dims_by_axis,
    of_sides,
    spatial,
    spatial_names,
    window_counts,
)


class Pool(NamedTuple):
    """The attributes of a pool: numbers for each side, and a padding before each and after each."""

    pool_size: Ints
    strides: Ints
    dilation: Ints
    padding: Ints
    layout: str
    ceil_mode: bool


def max_pool(data: Tensor, *, pool: Pool) -> Tensor:
    """Infer `data` with the number of windows in place of its sides."""
    require_number(data.element, "the operand of {op}")
    sizes = dims_by_axis(data, pool.layout, "data")
    windows = dict(zip(spatial_names(pool.layout), pool.pool_size, strict=True))
    steps = pool.strides, pool.padding, pool.dilation, pool.ceil_mode
    sizes |= window_counts(sizes, windows, *steps, may_be_empty=len(windows) == 2)
    return ranked(data.element, tuple(sizes[axis] for axis in pool.layout))


def avg_pool(data: Tensor, *, count_include_pad: bool, pool: Pool) -> Tensor:
    """Infer the type of the maxima."""
    return max_pool(data, pool=pool)


for _n in (1, 2, 3):
    rule(f"relay.nn.max_pool{_n}d", types=of_sides(_n))(max_pool)
    rule(f"relay.nn.avg_pool{_n}d", types=of_sides(_n))(avg_pool)


@rule("relay.nn.global_avg_pool2d", "relay.nn.global_max_pool2d")
def global_pool2d(data: Tensor, *, layout: Layout) -> Tensor:
    """Infer `data` with height and width of 1."""
    require_number(data.element, "the operand of {op}")
    sizes = dims_by_axis(data, layout, "data")
    for side in "HW":
        message = f"the {SIDES[side]} of data must be at least 1, but is {{0}}"
        require_at_least(sizes[side], 1, message)
    return Tensor(data.element, tuple(1 if axis in SIDES else sizes[axis] for axis in layout))


def _area(dims: Sequence[Any], *, layout: str) -> Sequence[Any]:
    return [dims[axis] for axis in spatial(layout)]


def _of_area(index: Sequence[Number], data: Source, *, layout: str) -> Number:
    """data[…, y, x, …] over all rows y and columns x"""
    at = list(index[: len(layout)])
    for axis, cell in zip(spatial(layout), index[len(layout) :], strict=True):
        at[axis] = cell
    return data[at]


def _mean_of_area(total: Number, index: Sequence[Number], data: Source, *, layout: str) -> Number:
    """Divide by the number of cells."""
    height, width = _area(data.dims, layout=layout)
    return _divided(total, height * width)


defined(Folded, "relay.nn.global_max_pool2d", box=_area, by="maximum")(_of_area)
defined(Folded, "relay.nn.global_avg_pool2d", box=_area, finish=_mean_of_area)(_of_area)


def _window(*dims: Any, pool_size: Ints) -> Ints:
    return pool_size


def _cells(other: Callable[[Element], float]) -> Formula:
    def cell(index: Sequence[Number], data: Source, *, pool: Pool) -> Number:
        """data[…, i stride + cell dilation - padding, …] over the cells of window i"""
        at, axes = list(index[: len(pool.layout)]), spatial(pool.layout)
        for i, (axis, cell) in enumerate(zip(axes, index[len(at) :], strict=True)):
            at[axis] = at[axis] * pool.strides[i] + cell * pool.dilation[i] - pool.padding[i]
        return element_or(data, at, axes, other(data.element))

    return cell


def _divided(total: Number, count: Number) -> Number:
    count = count.converted(total.element)
    return total / count if total.is_float else total.apply("quotient", count)


def _mean(
    total: Number, index: Sequence[Number], data: Source, *, pool: Pool, count_include_pad: bool
) -> Number:
    """Divide by the number of cells, those of the padding only if it is included."""
    count, sides = data.integer(1), spatial(pool.layout)
    for i, axis in enumerate(sides):
        before, after = pool.padding[i], pool.padding[len(sides) + i]
        start, dilation = index[axis] * pool.strides[i] - before, pool.dilation[i]
        low, high = (-before, after) if count_include_pad else (0, 0)
        below: list[Number] = []
        for bound in (data.integer(low), data.dims[axis] + high):
            cells = bound - start + (dilation - 1)
            reached = cells.apply("quotient", data.integer(dilation))
            below.append(clamped(reached, data.integer(pool.pool_size[i] + 1)))
        count = count * (below[1] - below[0])
    return _divided(total, count.apply("maximum", data.integer(1)))


_MAX = ("relay.nn.max_pool1d", "relay.nn.max_pool3d")
_AVG = ("relay.nn.avg_pool1d", "relay.nn.avg_pool3d")
defined(Folded, *_MAX, box=_window, by="maximum")(_cells(least))
defined(Folded, *_AVG, box=_window, finish=_mean)(_cells(lambda _: 0))


# ------------------------------------------------------------------------- adaptive


Counts: TypeAlias = Annotated[Ints, AtLeast(1)]


def adaptive_pool(data: Tensor, *, layout: str, output_size: Counts | None) -> Tensor:
    """Infer `data` with sides of `output_size`."""
    require_number(data.element, "the operand of {op}")
    require_rank(data, len(layout), "data")
    dims, axes = list(data.dims), spatial(layout)
    if output_size is not None and len(output_size) != len(axes):
        raise SignatureError(
            f"output_size must have {len(axes)} entries, but has {len(output_size)}"
        )
    for axis, size in zip(axes, output_size or [dims[axis] for axis in axes], strict=True):
        side = SIDES[layout[axis]]
        require_at_least(dims[axis], 1, f"the {side} of data must be at least 1, but is {{0}}")
        dims[axis] = size
    return ranked(data.element, tuple(dims))


for _n in (1, 2, 3):
    _names = f"relay.nn.adaptive_avg_pool{_n}d", f"relay.nn.adaptive_max_pool{_n}d"
    rule(*_names, types=of_sides(_n))(adaptive_pool)


def _longest(dims: Sequence[Any], *, output_size: Ints | None, layout: str) -> Sequence[Any]:
    """Return bounds of the cells of a window, which are as many as the axis has if unknown."""
    sides = [dims[axis] for axis in spatial(layout)]
    return [
        side if not isinstance(side, int) else side // n if side % n == 0 else side // n + 2
        for side, n in zip(sides, output_size or sides, strict=True)
    ]


def _ends(
    index: Sequence[Number], data: Source, layout: str, output_size: Ints | None
) -> Iterator[tuple[int, Number, Number]]:
    """Yield each axis with the first cell of its window, and the one after the last."""
    for i, axis in enumerate(spatial(layout)):
        dim, place = data.dims[axis], index[axis]
        count = dim if output_size is None else data.integer(output_size[i])
        start = (place * dim).apply("quotient", count)
        yield axis, start, ((place + 1) * dim + (count - 1)).apply("quotient", count)


def _adaptive_cells(other: Callable[[Element], float]) -> Formula:
    def cell(
        index: Sequence[Number], data: Source, *, output_size: Ints | None, layout: str
    ) -> Number:
        """data[…, i n / count + cell, …] over the cells before (i + 1) n / count, rounded up"""
        at = list(index[: len(layout)])
        inside = data.integer(0).equals(0)
        ends = _ends(at, data, layout, output_size)
        for (axis, start, stop), cell in zip(ends, index[len(layout) :], strict=True):
            inside, at[axis] = inside & (start + cell < stop), clamped(start + cell, stop)
        return inside.select(data[at], other(data.element))

    return cell


def _adaptive_mean(
    total: Number, index: Sequence[Number], data: Source, *, output_size: Ints | None, layout: str
) -> Number:
    """Divide by the number of cells of its window."""
    count = data.integer(1)
    for _, start, stop in _ends(index, data, layout, output_size):
        count = count * (stop - start)
    return _divided(total, count)


_ADAPTIVE_MAX = [f"relay.nn.adaptive_max_pool{n}d" for n in (1, 2, 3)]
_ADAPTIVE_AVG = [f"relay.nn.adaptive_avg_pool{n}d" for n in (1, 2, 3)]
defined(Folded, *_ADAPTIVE_MAX, box=_longest, by="maximum")(_adaptive_cells(least))
defined(Folded, *_ADAPTIVE_AVG, box=_longest, finish=_adaptive_mean)(_adaptive_cells(lambda _: 0))


# ------------------------------------------------------------------------- gradients


class GradientOfPool(NamedTuple):
    """The attributes of the gradient of a pool of images."""

    pool_size: Pair
    strides: Steps
    padding: Padding
    layout: Layout
    ceil_mode: bool


@rule("relay.nn.max_pool2d_grad")
def max_pool2d_grad(grad: Tensor, data: Tensor, *, pool: GradientOfPool) -> Tensor:
    """Infer the type of `data`; `grad` has that of its pool."""
    result = max_pool(data, pool=Pool(dilation=(1, 1), **pool._asdict()))
    require_float(require_same_element((grad, data)), "operands of {op}")
    require_rank(grad, data.rank, "grad")
    for axis, (dim, count) in enumerate(zip(grad.dims, result.dims, strict=True)):
        require_equal(dim, count, f"dim {axis} of grad must be {{1}}, but is {{0}}")
    return data


@rule("relay.nn.avg_pool2d_grad")
def avg_pool2d_grad(
    grad: Tensor, data: Tensor, *, count_include_pad: bool, pool: GradientOfPool
) -> Tensor:
    """Infer the type of `data`; `grad` has that of its pool."""
    return max_pool2d_grad(grad, data, pool=pool)


def _containing(*dims: Any, pool_size: Ints, strides: Ints) -> Sequence[int]:
    """Return how many windows contain a cell, at most, along each side."""
    return [-(-window // stride) for window, stride in zip(pool_size, strides, strict=True)]


@defined(Folded, "relay.nn.avg_pool2d_grad", box=_containing)
def shared_gradient(
    index: Sequence[Number],
    grad: Source,
    data: Source,
    *,
    pool: GradientOfPool,
    count_include_pad: bool,
) -> Number:
    """grad[…, i, …] / the cells of window i, over the windows that contain the cell"""
    at, inside = list(index[:4]), data.integer(0).equals(0)
    count, axes = data.integer(1), spatial(pool.layout)
    for i, (axis, before) in enumerate(zip(axes, index[4:], strict=True)):
        place, window = at[axis] + pool.padding[i], data.integer(pool.pool_size[i])
        at[axis] = place.apply("quotient", data.integer(pool.strides[i])) - before
        start = at[axis] * pool.strides[i]
        inside = inside & (place - start < window)
        low, high = (
            x.apply("minimum", data.dims[axis] + pool.padding[i]) for x in (start, start + window)
        )
        cells = high - low.apply("maximum", data.integer(pool.padding[i]))
        count = count * (window if count_include_pad else cells.apply("maximum", data.integer(1)))
    share = _divided(element_or(grad, at, axes, 0).widened(), count)
    return inside.select(share, 0)
