"""Operators that concatenate, split, select or pad tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..builder import Builder
from ..node import Node
from ..values import Constant, Value, shape_of
from .rule import Results, Rule, Rules, since

PAD_MODES = ("constant", "edge", "reflect")


def concat(node: Node, b: Builder) -> Value:
    values = node.variadic()
    axis = node.optional_int("axis")
    if axis is None:
        raise node.error("attribute axis is missing")
    axis = node.axis(axis, len(shape_of(values[0])))
    return values[0] if len(values) == 1 else b.op("concatenate", *values, axis=axis)


def split(node: Node, b: Builder) -> Results:
    """Split into parts of given sizes, or into as many equal ones as there are outputs."""
    x = node.input(0)
    shape = shape_of(x)
    axis = node.axis(node.integer("axis", 0), len(shape))
    total, count = shape[axis], len(node.outputs)
    sizes = node.int_list("split", 1)
    wanted = node.optional_int("num_outputs")
    if wanted is not None and wanted != count:
        raise node.error(f"attribute num_outputs is {wanted}, but there are {count} outputs")
    if sizes is None:
        if wanted is None and total % count:
            raise node.error(
                f"the {total} elements of axis {axis} do not divide into {count} equal parts"
            )
        part = -(-total // count)
        sizes = [min(part, max(total - i * part, 0)) for i in range(count)]
    if len(sizes) != count or sum(sizes) != total or any(n < 0 for n in sizes):
        raise node.error(f"split is {sizes}; supported: {count} sizes that sum to {total}")
    if count == 1:
        return x
    if len(set(sizes)) == 1:
        return b.results("split", [x], indices_or_sections=count, axis=axis)
    points = [sum(sizes[: i + 1]) for i in range(count - 1)]
    return b.results("split", [x], indices_or_sections=tuple(points), axis=axis)


def slice_by_attributes(node: Node, b: Builder) -> Value:
    """Convert for opsets up to 9, whose ranges are attributes and steps are 1."""
    starts, ends = node.ints("starts"), node.ints("ends")
    if starts is None or ends is None:
        raise node.error("attribute starts or ends is missing")
    return _sliced(node, starts, ends, node.ints("axes"), None, b)


def slice_by_inputs(node: Node, b: Builder) -> Value:
    """Convert from opset 10 on, where the ranges are inputs."""
    return _sliced(
        node,
        node.required_ints(1, "starts"),
        node.required_ints(2, "ends"),
        node.ints_at(3, "axes"),
        node.ints_at(4, "steps"),
        b,
    )


def _sliced(
    node: Node,
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int] | None,
    steps: Sequence[int] | None,
    b: Builder,
) -> Value:
    """Slice; ranges that exceed the tensor end at its edge."""
    x = node.input(0)
    shape = shape_of(x)
    axes = range(len(starts)) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise node.error(
            f"there are {len(starts)} starts, {len(ends)} ends, {len(axes)} axes and "
            f"{len(steps)} steps; supported: equal numbers of each"
        )
    if 0 in steps:
        raise node.error("a step is 0; supported: other integers")
    axes = node.axes(axes, len(shape))
    begins: list[int] = []
    stops: list[int] = []
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        first, last = _clamped(start, end, step, shape[axis])
        begins.append(first)
        # one before the first element: as an index, -1 would be the last one
        stops.append(last if last >= 0 else -shape[axis] - 1)
    whole = all(
        (first, last, step) == (0, shape[axis], 1)
        for axis, first, last, step in zip(axes, begins, stops, steps, strict=True)
    )
    if whole:
        return x
    return b.op(
        "strided_slice",
        x,
        begin=tuple(begins),
        end=tuple(stops),
        strides=tuple(steps),
        axes=tuple(axes),
    )


def _clamped(start: int, end: int, step: int, dim: int) -> tuple[int, int]:
    """
    Return where a slice of an axis of `dim` begins and ends, as ONNX clamps it.

    Unlike in NumPy, a slice with a negative step begins at an element if there is one: at index 0
    when `start` is further back than the axis is long.
    """
    first, last = (bound + dim if bound < 0 else bound for bound in (start, end))
    if step > 0:
        return min(max(first, 0), dim), min(max(last, 0), dim)
    if dim == 0:
        return 0, 0
    return min(max(first, 0), dim - 1), min(max(last, -1), dim - 1)


def gather(node: Node, b: Builder) -> Value:
    """
    Gather; negative indices count from the back: constants are normalized, others wrap around.
    """
    x, indices = node.input(0), node.input(1)
    shape = shape_of(x)
    axis = node.axis(node.integer("axis", 0), len(shape))
    if not isinstance(indices, Constant):
        return b.op("take", x, indices, axis=axis, mode="wrap")
    array, size = indices.array, shape[axis]
    if array.size and not (-size <= array.min() and array.max() < size):
        raise node.error(
            f"an index is {array.min()} or {array.max()}; supported: [{-size}, {size})"
        )
    positive = indices
    if array.size and array.min() < 0:
        positive = b.constant(np.where(array < 0, array + size, array).astype(array.dtype))
    return b.op("take", x, positive, axis=axis, mode="clip")


def pad_by_attributes(node: Node, b: Builder) -> Value:
    """Convert for opsets up to 10, where pads and value are attributes."""
    pads = node.ints("pads")
    if pads is None:
        raise node.error("attribute pads is missing")
    x = node.input(0)
    return _padded(node, x, pads, None, b.scalar_like(node.number("value", 0.0), x), b)


def pad_by_inputs(node: Node, b: Builder) -> Value:
    """Convert from opset 11 on, where pads and value are inputs and may concern only some axes."""
    x = node.input(0)
    value = node.optional(2)
    value = b.scalar_like(0, x) if value is None else b.reshape(value, ())
    return _padded(node, x, node.required_ints(1, "pads"), node.ints_at(3, "axes"), value, b)


def _padded(
    node: Node,
    x: Value,
    pads: Sequence[int],
    axes: Sequence[int] | None,
    value: Value,
    b: Builder,
) -> Value:
    """Pad; negative padding crops."""
    mode = node.choice("mode", "constant", PAD_MODES)
    rank = len(shape_of(x))
    where = list(range(rank)) if axes is None else node.axes(axes, rank)
    if len(pads) != 2 * len(where):
        raise node.error(f"there are {len(pads)} pads; supported: {2 * len(where)}")
    width = [0] * (2 * rank)
    for i, axis in enumerate(where):
        before, after = pads[i], pads[i + len(where)]
        size = shape_of(x)[axis]
        if size + min(before, 0) + min(after, 0) < 0:
            raise node.error(f"pads {before} and {after} crop more than {size} elements")
        x = b.slice(x, axis, max(-before, 0), size - max(-after, 0))
        width[2 * axis : 2 * axis + 2] = max(before, 0), max(after, 0)
    if not any(width):
        return x
    return b.op("nn.pad", x, value, pad_width=tuple(width), pad_mode=mode)


def trilu(node: Node, b: Builder) -> Value:
    """Keep the part of each matrix above (or below) a diagonal, with 0 elsewhere."""
    x = node.input(0)
    shape = shape_of(x)
    if len(shape) < 2:
        raise node.error(f"the input has rank {len(shape)}; supported: 2 and more")
    diagonal = int(node.scalar_at(1, "k") or 0)
    triangle = np.triu if node.flag("upper", True) else np.tril
    b.require_size(max(shape[-2], 1) * max(shape[-1], 1), "the mask")
    mask = b.constant(triangle(np.ones(shape[-2:], np.bool_), diagonal))
    return b.op("where", mask, x, b.scalar_like(0, x))


def one_hot(node: Node, b: Builder) -> Value:
    """Build rows of `off` with `on` at an index; a negative index counts from the back."""
    indices, values = node.input(0), node.input(2)
    depth = node.scalar_at(1, "depth")
    if depth is None or depth < 1 or shape_of(values) != (2,):
        raise node.error(f"depth is {depth}; supported: 1 and more, and two values")
    depth = int(depth)
    b.require_size(depth, "a row")
    shape = shape_of(indices)
    axis = node.axis(node.integer("axis", -1), len(shape) + 1)
    indices = b.cast(indices, np.dtype(np.int64))
    back = b.op("add", indices, b.scalar(depth, np.dtype(np.int64)))
    indices = b.op("where", b.op("less", indices, b.scalar_like(0, indices)), back, indices)
    places = b.constant(np.arange(depth).reshape(depth, *([1] * (len(shape) - axis))))
    hit = b.op("equal", b.reshape(indices, (*shape[:axis], 1, *shape[axis:])), places)
    off, on = (b.reshape(b.slice(values, 0, i, i + 1), ()) for i in range(2))
    return b.op("where", hit, on, off)


RULES: Rules = {
    "Concat": since(4, concat),
    "Gather": since(1, gather),
    "OneHot": since(9, one_hot),
    "Pad": (Rule(pad_by_attributes, 2, 11), Rule(pad_by_inputs, 11)),
    "Slice": (Rule(slice_by_attributes, 1, 10), Rule(slice_by_inputs, 10)),
    "Split": since(2, split),
    "Trilu": since(14, trilu),
}
