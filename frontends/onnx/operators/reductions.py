"""Reductions over axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..builder import Builder
from ..node import Node
from ..values import Value, dtype_of, is_float, shape_of
from .rule import Convert, Rules, since

Axes: TypeAlias = tuple[int, ...]


def _reduced(name: str, x: Value, axes: Axes, keepdims: bool, b: Builder) -> Value:
    return b.op(name, x, axis=axes, keepdims=keepdims) if axes else x


BuildReduction: TypeAlias = Callable[[Value, Axes, bool, Builder], Value]
"""Builds a reduction of a value over axes, which are kept as 1 or removed."""


def _over_axes(build: BuildReduction, node: Node, b: Builder) -> Value:
    """Build a reduction over the node's axes: all of them when none are given."""
    x = node.input(0)
    rank = len(shape_of(x))
    keepdims = node.flag("keepdims", True)
    is_noop = node.flag("noop_with_empty_axes", False)
    axes = node.int_list("axes", 1) or ([] if is_noop else list(range(rank)))
    return build(x, tuple(node.axes(axes, rank)), keepdims, b)


def over_axes(build: BuildReduction) -> Convert:
    """Return the conversion to a reduction that `build` builds."""

    def convert(node: Node, b: Builder) -> Value:
        return _over_axes(build, node, b)

    return convert


def reduction(name: str) -> Convert:
    """Return the conversion to the reduction `name` of `relay`."""
    return over_axes(lambda x, axes, keep, b: _reduced(name, x, axes, keep, b))


def extremum(name: str, of_bools: str) -> Convert:
    """Return the conversion to a maximum or minimum, which becomes any or all for booleans."""

    def build(x: Value, axes: Axes, keep: bool, b: Builder) -> Value:
        return _reduced(of_bools if dtype_of(x) == np.bool_ else name, x, axes, keep, b)

    return over_axes(build)


def reduce_mean(node: Node, b: Builder) -> Value:
    x = node.input(0)
    if not is_float(dtype_of(x)):
        raise node.error(f"the input has dtype {dtype_of(x)}; supported: floats")
    return _over_axes(lambda x, axes, keep, b: _reduced("mean", x, axes, keep, b), node, b)


def _l1(x: Value, axes: Axes, keep: bool, b: Builder) -> Value:
    return _reduced("sum", b.op("abs", x), axes, keep, b)


def _sum_square(x: Value, axes: Axes, keep: bool, b: Builder) -> Value:
    return _reduced("sum", b.op("multiply", x, x), axes, keep, b)


def _l2(x: Value, axes: Axes, keep: bool, b: Builder) -> Value:
    return b.op("sqrt", _sum_square(x, axes, keep, b))


def _log_sum(x: Value, axes: Axes, keep: bool, b: Builder) -> Value:
    return b.op("log", _reduced("sum", x, axes, keep, b))


def _log_sum_exp(x: Value, axes: Axes, keep: bool, b: Builder) -> Value:
    """Build the reduction with the maximum factored out, so that exp cannot overflow."""
    if not axes:
        return x
    peak = b.op("max", x, axis=axes, keepdims=True)
    total = b.op("sum", b.op("exp", b.op("subtract", x, peak)), axis=axes, keepdims=True)
    result = b.op("add", b.op("log", total), peak)
    shape = shape_of(x)
    left = [1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes]
    return b.reshape(result, left)


def arg(name: str) -> Convert:
    """Return the conversion to the index of an extreme along one axis, as i64."""

    def convert(node: Node, b: Builder) -> Value:
        x = node.input(0)
        axis = node.axis(node.integer("axis", 0), len(shape_of(x)))
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
    "ReduceL1": since(1, over_axes(_l1)),
    "ReduceL2": since(1, over_axes(_l2)),
    "ReduceLogSum": since(1, over_axes(_log_sum)),
    "ReduceLogSumExp": since(1, over_axes(_log_sum_exp)),
    "ReduceMax": since(1, extremum("max", "any")),
    "ReduceMean": since(1, reduce_mean),
    "ReduceMin": since(1, extremum("min", "all")),
    "ReduceProd": since(1, reduction("prod")),
    "ReduceSum": since(1, reduction("sum")),
    "ReduceSumSquare": since(1, over_axes(_sum_square)),
}
