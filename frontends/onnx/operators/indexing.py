"""Operators that concatenate, split, select or pad tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..convert.folding import MAX_END
from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import (
    Constant,
    Value,
    dims_of,
    dtype_of,
    has_static_shape,
    rank_of,
    shape_of,
    shape_text,
)
from .rule import Results, Rules, since
from .selection import up_to

INT64 = np.dtype(np.int64)

PAD_MODES = ("constant", "edge", "reflect", "wrap")


def concat(node: Node, b: Builder) -> Value:
    values = node.variadic()
    axis = node.optional_int("axis")
    if axis is None:
        raise node.error("attribute axis is missing")
    axis = node.axis(axis, rank_of(values[0]))
    return values[0] if len(values) == 1 else b.op("concatenate", *values, axis=axis)


def split(node: Node, b: Builder) -> Results:
    """Split into parts of given sizes, or into as many equal ones as there are outputs."""
    x = node.input(0)
    dims = dims_of(x)
    axis = node.axis(node.integer("axis", 0), len(dims))
    total, count = dims[axis], len(node.outputs)
    wanted = node.optional_int("num_outputs")
    if wanted is not None and wanted != count:
        raise node.error(f"attribute num_outputs is {wanted}, but there are {count} outputs")
    if not node.is_known(1):
        sizes = b.vector(1, "split", count)[0]
        return split_at_run_time(x, axis, sizes, b)
    sizes = node.int_list("split", 1)
    if not isinstance(total, int):
        if sizes is None and wanted is not None:
            part = b.op(
                "floor_divide",
                b.op("add", b.size(total), b.scalar(count - 1, INT64)),
                b.scalar(count, INT64),
            )
            return split_at_run_time(x, axis, b.broadcast_to(part, (count,)), b)
        if sizes is None:
            return b.results("split", [x], indices_or_sections=count, axis=axis)
        total = sum(sizes)  # checked when the program runs
    if sizes is None:
        if wanted is None and total % count:
            raise node.error(
                f"the {total} elements of axis {axis} do not divide into {count} equal parts"
            )
        part = -(-total // count)
        sizes = [min(part, max(total - i * part, 0)) for i in range(count)]
    if len(sizes) != count or sum(sizes) != total or any(n < 0 for n in sizes):
        raise node.error(f"split is {sizes}; supported: {count} sizes that sum to {total}")
    return parts_of(x, axis, sizes, b)


def parts_of(x: Value, axis: int, sizes: Sequence[int], b: Builder) -> Sequence[Value]:
    """Split into parts of `sizes`."""
    if len(sizes) == 1:
        return [x]
    if len(set(sizes)) == 1:
        return b.results("split", [x], indices_or_sections=len(sizes), axis=axis)
    points = [sum(sizes[: i + 1]) for i in range(len(sizes) - 1)]
    return b.results("split", [x], indices_or_sections=tuple(points), axis=axis)


def split_at_run_time(x: Value, axis: int, sizes: Value, b: Builder) -> list[Value]:
    """Split into parts of `sizes`, a vector."""
    ends = b.op("cumsum", sizes, axis=0)
    starts, one = b.op("subtract", ends, sizes), b.ints([1])
    (count,) = dims_of(sizes)
    assert isinstance(count, int), "one for each output"
    parts = [(b.slice(starts, 0, i, i + 1), b.slice(ends, 0, i, i + 1)) for i in range(count)]
    return [b.op("dyn.strided_slice", x, *part, one, axes=(axis,)) for part in parts]


def compress(node: Node, b: Builder) -> Value:
    """
    Take the slices where the condition is true, along an axis or of the flattened input.

    What a condition says beyond the last slice is ignored.
    """
    x, condition, axis = node.input(0), node.input(1), node.optional_int("axis")
    if axis is None:
        x, axis = b.op("reshape", x, newshape=(-1,)), 0
    axis = node.axis(axis, rank_of(x))
    count, length = dims_of(condition)[0], dims_of(x)[axis]
    if not (isinstance(count, int) and isinstance(length, int) and count <= length):
        condition = up_to([b.sizes([length])], condition, b)
    places = b.op("argwhere", condition)
    indices = b.op("reshape", places, newshape=(-1,))
    return b.op("take", x, indices, axis=axis, mode="clip")


def slice_(node: Node, b: Builder) -> Value:
    """Slice; ranges are attributes up to opset 9; those that exceed the tensor end at its edge."""
    x = node.input(0)
    rank = rank_of(x)
    starts, ends = b.integers(1, "starts"), b.integers(2, "ends")
    named, steps = b.optional_integers(3, "axes"), b.optional_integers(4, "steps")
    steps = b.scalar(1, INT64) if steps is None else steps
    counts = [n for v in (starts, ends) for n in dims_of(v) if isinstance(n, int)]
    if not counts or not isinstance(named, Constant | None):
        named = b.counting(dims_of(starts)[0]) if named is None else named
        starts, ends, steps = _on_all_axes(named, rank, starts, ends, steps, b)
        axes: Sequence[int] = range(rank)
    else:
        axes = range(counts[0]) if named is None else named.array.tolist()
        axes = node.axes(axes, rank)
    if isinstance(steps, Constant) and rank_of(steps) and steps.array.size != len(axes):
        raise node.error(f"there are {steps.array.size} steps; supported: {len(axes)}")
    steps = b.broadcast_to(steps, (len(axes),))
    is_forward = isinstance(steps, Constant) and steps.array.min(initial=1) > 0
    if not is_forward and not (isinstance(starts, Constant) and starts.array.min(initial=0) >= -1):
        # a slice with a negative step begins at an element, if there is one
        first = b.op("negative", b.sizes([dims_of(x)[axis] for axis in axes]))
        backward = b.op("less", steps, b.scalar_like(0, steps))
        starts = b.op("where", backward, b.op("maximum", starts, first), starts)
    return b.op("dyn.strided_slice", x, starts, ends, steps, axes=axes)


def _on_all_axes(
    axes: Value, rank: int, starts: Value, ends: Value, steps: Value, b: Builder
) -> tuple[Value, Value, Value]:
    """Return the ranges of `axes`, which are not known yet, as ranges of all axes."""
    every = b.constant(np.arange(rank).reshape(rank, 1))
    hit = b.op("equal", every, b.op("floor_mod", axes, b.scalar_like(rank, axes)))
    is_sliced = b.op("any", hit, axis=(1,))

    def spread(numbers: Value, default: int) -> Value:
        chosen = b.op("where", hit, numbers, b.scalar_like(0, numbers))
        chosen = b.op("sum", chosen, axis=(1,))
        return b.op("where", is_sliced, chosen, b.scalar_like(default, chosen))

    return spread(starts, 0), spread(ends, 2**63 - 1), spread(steps, 1)


def gather(node: Node, b: Builder) -> Value:
    """Gather; negative constant indices are normalized, computed ones wrap around."""
    x, indices = node.input(0), node.input(1)
    dims = dims_of(x)
    axis = node.axis(node.integer("axis", 0), len(dims))
    size = dims[axis]
    if not isinstance(indices, Constant) or not isinstance(size, int):
        return b.op("take", x, indices, axis=axis, mode="wrap")
    array = indices.array
    if array.size and not (-size <= array.min() and array.max() < size):
        raise node.error(
            f"an index is {array.min()} or {array.max()}; supported: [{-size}, {size})"
        )
    positive = indices
    if array.size and array.min() < 0:
        positive = b.constant(np.where(array < 0, array + size, array).astype(array.dtype))
    return b.op("take", x, positive, axis=axis, mode="clip")


def pad(node: Node, b: Builder) -> Value:
    """Pad, and crop by negative pads; pads and value are attributes up to opset 10."""
    x = node.input(0)
    rank = rank_of(x)
    if node.opset < 11:
        value: Value = b.scalar_like(node.number("value", 0.0), x)
    else:
        given = node.optional(2)
        value = b.scalar_like(0, x) if given is None else b.reshape(given, ())
    mode = node.choice("mode", "constant", PAD_MODES)
    axes = list(range(rank))
    zero, every = b.scalar(0, INT64), b.scalar(MAX_END, INT64)
    if not node.is_known(3):
        named = b.integers(3, "axes")
        rows = b.op("reshape", b.integers(1, "pads"), newshape=(2, -1))
        before, after = (b.op("take", rows, b.scalar(i, INT64), axis=0) for i in range(2))
        before, after, _ = _on_all_axes(named, rank, before, after, b.scalar(1, INT64), b)
        after = b.op("where", b.op("equal", after, every), zero, after)  # the default, elsewhere
        pads, count = b.joined([before, after]), 2 * rank
    else:
        if node.optional(3) is not None:
            axes = node.axes(node.required_ints(3, "axes"), rank)
        pads, count = b.vector(1, "pads", 2 * len(axes))
    if count != 2 * len(axes):
        raise node.error(f"there are {count} pads; supported: {2 * len(axes)}")
    if axes != list(range(rank)):
        order = [axes.index(i) if i in axes else count for i in range(rank)]
        order += [axes.index(i) + len(axes) if i in axes else count for i in range(rank)]
        padded = b.joined([pads, b.ints([0])])
        pads = b.op("take", padded, b.ints(order), axis=0, mode="clip")
    x = _cropped(node, x, b.op("minimum", pads, zero), b)
    width = b.transpose(b.reshape(b.op("maximum", pads, zero), (2, rank)), (1, 0))
    if mode == "wrap":
        return _wrapped(node, x, width, b)
    return b.op("dyn.nn.pad", x, width, value, pad_mode=mode)


def _cropped(node: Node, x: Value, cuts: Value, b: Builder) -> Value:
    """Return `x` without as many elements as `cuts`, which are not above 0, say."""
    rank = rank_of(x)
    before, after = b.slice(cuts, 0, 0, rank), b.slice(cuts, 0, rank, 2 * rank)
    if isinstance(cuts, Constant):
        for size, *ends in zip(dims_of(x), *cuts.array.reshape(2, rank).tolist(), strict=True):
            if isinstance(size, int) and size + sum(ends) < 0:
                raise node.error(f"pads {ends[0]} and {ends[1]} crop more than {size} elements")
        is_cut = b.op("less", after, b.scalar_like(0, after))
        end = b.op("where", is_cut, after, b.scalar_like(MAX_END, after))
    else:
        end = b.op("add", b.shape(x), after)
    return b.op("dyn.strided_slice", x, b.op("negative", before), end, b.ints([1] * rank))


def _wrapped(node: Node, x: Value, width: Value, b: Builder) -> Value:
    """Pad each axis with elements from its other end, in circles."""
    if not isinstance(width, Constant):
        raise node.error(
            "pads (input 1) is computed at run time; supported for mode wrap: initializers and "
            "constants"
        )
    for axis, (size, (before, after)) in enumerate(zip(shape_of(x), width.array, strict=True)):
        if before or after:
            if size == 0:
                raise node.error("an axis of 0 elements cannot be wrapped; supported: 1 and more")
            b.require_size(before + size + after, "an axis")
            places = np.arange(-before, size + after, dtype=np.int64) % size
            x = b.op("take", x, b.constant(places), axis=axis, mode="clip")
    return x


def trilu(node: Node, b: Builder) -> Value:
    """Keep the part of each matrix above (or below) a diagonal, with 0 elsewhere."""
    x = node.input(0)
    dims = dims_of(x)
    if len(dims) < 2:
        raise node.error(f"the input has rank {len(dims)}; supported: 2 and more")
    upper, (rows, columns), k = node.flag("upper", True), dims[-2:], node.optional(1)
    along = b.op("expand_dims", b.counting(rows), axis=1)
    along = along if k is None else b.op("add", along, b.reshape(k, ()))
    mask = b.op("greater_equal" if upper else "less_equal", b.counting(columns), along)
    return b.op("where", mask, x, b.scalar_like(0, x))


def one_hot(node: Node, b: Builder) -> Value:
    """Build rows of `off` with `on` at an index; a negative index counts from the back."""
    indices, values = node.input(0), node.input(2)
    if rank_of(values) != 1 or (dims_of(values)[0] != 2 and has_static_shape(values)):
        raise node.error(f"the values have shape {shape_text(dims_of(values))}; supported: [2]")
    values = b.reshape(values, (2,))
    axis = node.axis(node.integer("axis", -1), rank_of(indices) + 1)
    depth = b.cast(b.reshape(node.input(1), ()), INT64)
    indices = b.cast(indices, INT64)
    back = b.op("add", indices, depth)
    indices = b.op("where", b.op("less", indices, b.scalar_like(0, indices)), back, indices)
    off, on = (b.reshape(b.slice(values, 0, i, i + 1), ()) for i in range(2))
    if isinstance(depth, Constant):
        b.require_size(int(depth.array), "a row")
    return b.op("dyn.one_hot", indices, on, off, depth, axis=axis, dtype=dtype_of(values))


RULES: Rules = {
    "Compress": since(9, compress),
    "Concat": since(4, concat),
    "Gather": since(1, gather),
    "OneHot": since(9, one_hot),
    "Pad": since(2, pad),
    "Slice": since(1, slice_),
    "Split": since(2, split),
    "Trilu": since(14, trilu),
}
