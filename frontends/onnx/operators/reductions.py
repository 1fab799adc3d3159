"""Reductions over axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Value, dims_of, dtype_of, rank_of
from .rule import Convert, Rules, since


@dataclass(frozen=True)
class RunTimeAxes:
    """
    Axes that are known when the program runs.

    `chosen` says for each axis of the operand whether it is one of them; `axes` lists them, if
    their number is known.
    """

    chosen: Value
    axes: Value | None


Axes: TypeAlias = tuple[int, ...] | RunTimeAxes


def _reduced(name: str, x: Value, axes: Axes, keepdims: bool, b: Builder) -> Value:
    if not isinstance(axes, RunTimeAxes):
        return b.op(name, x, axis=axes, keepdims=keepdims) if axes else x
    if 0 in dims_of(x) and name in ("max", "min", "mean"):  # of no elements they have no value
        raise b.node.error(
            "axes (input 1) is computed at run time; supported for an input without elements: "
            "initializers and constants"
        )
    x = _reduced_where(axes.chosen, name, x, b)
    return x if keepdims else _squeezed(x, axes, b)


def _reduced_where(chosen: Value, name: str, x: Value, b: Builder) -> Value:
    """Reduce the chosen axes: each becomes two, the first of them 1 if it is, else the second."""
    dims = b.shape(x)
    one = b.scalar_like(1, dims)
    kept, reduced = b.op("where", chosen, one, dims), b.op("where", chosen, dims, one)
    pairs = b.reshape(b.op("stack", kept, reduced, axis=1), (2 * rank_of(x),))
    block = b.op("dyn.reshape", x, pairs, allowzero=True)
    return b.op(name, block, axis=tuple(range(1, 2 * rank_of(x), 2)), keepdims=False)


def _squeezed(x: Value, axes: Axes, b: Builder) -> Value:
    """Remove the reduced dims `axes`, which are 1."""
    if not isinstance(axes, RunTimeAxes):
        return b.op("squeeze", x, axis=axes)
    named = axes.axes
    if named is None:
        named, _ = b.vector(1, "axes")  # an error says why not
    return b.op("dyn.squeeze", x, named)


BuildReduction: TypeAlias = Callable[[Value, Axes, bool, Builder], Value]
"""Builds a reduction of a value over axes, which are kept as 1 or removed."""


def _over_axes(build: BuildReduction, node: Node, b: Builder) -> Value:
    """Build a reduction over the node's axes: all of them when none are given."""
    x = node.input(0)
    rank = rank_of(x)
    keepdims = node.flag("keepdims", True)
    is_noop = node.flag("noop_with_empty_axes", False)
    declared = node.output_rank()
    if node.is_known(1):
        axes = node.int_list("axes", 1) or []
    elif dims_of(node.input(1)) == (0,):
        axes = []
    elif declared == 0 and not keepdims:
        axes = list(range(rank))
    else:
        count = None if declared is None or keepdims else rank - declared
        return build(x, _run_time_axes(rank, count, is_noop, b), keepdims, b)
    if not axes and not is_noop:
        axes = list(range(rank))
    return build(x, tuple(node.axes(axes, rank)), keepdims, b)


def _run_time_axes(rank: int, count: int | None, is_noop: bool, b: Builder) -> RunTimeAxes:
    """Read the axes of a tensor of `rank`: all, if there are none, unless this `is_noop`."""
    named = b.integers(1, "axes")
    (length,) = dims_of(named)
    if isinstance(length, int) or count is not None:
        named, _ = b.vector(1, "axes", count)
    named = b.op("floor_mod", named, b.scalar_like(rank, named))
    every = b.constant(np.arange(rank).reshape(rank, 1))
    chosen = b.op("any", b.op("equal", every, named), axis=(1,))
    if isinstance(dims_of(named)[0], int):
        return RunTimeAxes(chosen, named)
    if not is_noop:
        size = b.size(length)
        chosen = b.op("logical_or", chosen, b.op("equal", size, b.scalar_like(0, size)))
    return RunTimeAxes(chosen, None)


def over_axes(build: BuildReduction) -> Convert:
    """Return the conversion to a reduction that `build` builds."""

    def convert(node: Node, b: Builder) -> Value:
        return _over_axes(build, node, b)

    return convert


def reduction(name: str, before: str = "", after: str = "") -> Convert:
    """Return the conversion to the reduction `name`, between operators on its elements."""

    def build(x: Value, axes: Axes, keep: bool, b: Builder) -> Value:
        if before:
            x = b.op("multiply", x, x) if before == "square" else b.op(before, x)
        y = _reduced(name, x, axes, keep, b)
        return b.op(after, y) if after else y

    return over_axes(build)


def extremum(name: str, of_bools: str) -> Convert:
    """Return the conversion to a maximum or minimum, which becomes any or all for booleans."""

    def build(x: Value, axes: Axes, keep: bool, b: Builder) -> Value:
        return _reduced(of_bools if dtype_of(x) == np.bool_ else name, x, axes, keep, b)

    return over_axes(build)


def _log_sum_exp(x: Value, axes: Axes, keep: bool, b: Builder) -> Value:
    """Build the reduction with the maximum factored out, so that exp cannot overflow."""
    if not axes:
        return x
    peak = _reduced("max", x, axes, True, b)
    total = _reduced("sum", b.op("exp", b.op("subtract", x, peak)), axes, True, b)
    result = b.op("add", b.op("log", total), peak)
    return result if keep else _squeezed(result, axes, b)


def arg(name: str) -> Convert:
    """Return the conversion to the index of an extreme along one axis, as i64."""

    def convert(node: Node, b: Builder) -> Value:
        x = node.input(0)
        axis = node.axis(node.integer("axis", 0), rank_of(x))
        return b.op(
            name,
            x,
            axis=(axis,),
            keepdims=node.flag("keepdims", True),
            select_last_index=node.flag("select_last_index", False),
            dtype=np.dtype(np.int64),
        )

    return convert


RULES: Rules = {
    "ArgMax": since(1, arg("argmax")),
    "ArgMin": since(1, arg("argmin")),
    "ReduceL1": since(1, reduction("sum", before="abs")),
    "ReduceL2": since(1, reduction("sum", before="square", after="sqrt")),
    "ReduceLogSum": since(1, reduction("sum", after="log")),
    "ReduceLogSumExp": since(1, over_axes(_log_sum_exp)),
    "ReduceMax": since(1, extremum("max", "any")),
    "ReduceMean": since(1, reduction("mean")),
    "ReduceMin": since(1, extremum("min", "all")),
    "ReduceProd": since(1, reduction("prod")),
    "ReduceSum": since(1, reduction("sum")),
    "ReduceSumSquare": since(1, reduction("sum", before="square")),
}
