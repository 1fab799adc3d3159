"""Operators that find elements: by rank in an order, by value, or by being nonzero."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .bind import Array, Attrs, Bind, Thunk, flag, integer, word


def topk(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Sort along `axis`, equal elements by index, and keep as many as the result has."""
    x = np.moveaxis(ins[0], integer(attrs, "axis"), -1)
    results = [np.moveaxis(y, integer(attrs, "axis"), -1) for y in outs]
    count = results[0].shape[-1]
    ascend, kind = flag(attrs, "is_ascend"), word(attrs, "ret_type")

    def select() -> None:
        if ascend:
            order = np.argsort(x, axis=-1, kind="stable")
        else:  # reversed twice, so that the first of equal elements is the first
            order = x.shape[-1] - 1 - np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1]
        order = order[..., :count]
        if kind != "indices":
            np.copyto(results[0], np.take_along_axis(x, order, -1))
        if kind != "values":
            np.copyto(results[-1], order, "unsafe")

    return select


def argwhere(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Write the indices of nonzero elements, as many as the result has rows."""
    (x,), (y,) = ins, outs

    def find() -> None:
        count = np.count_nonzero(x)
        if count != len(y):
            raise ValueError(f"{count} elements are not 0, but the result has {len(y)} rows")
        for axis, places in enumerate(np.nonzero(x)):
            np.copyto(y[:, axis], places, "unsafe")

    return find


def unique(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Sort, and list the first of each run of equal elements."""
    (x,) = ins
    ordered = flag(attrs, "sorted")

    def find() -> None:
        found: list[Any] = [
            *np.unique(x, return_index=True, return_inverse=True, return_counts=True)
        ]
        values, first, inverse, counts = found
        if not ordered:
            order = np.argsort(first)
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order))
            values, first, inverse, counts = (
                values[order],
                first[order],
                rank[inverse],
                counts[order],
            )
        results = [values, first, inverse, [len(values)], counts]
        for y, result in zip(outs, results, strict=False):
            y[: len(result)] = result
            y[len(result) :] = 0

    return find


KERNELS: dict[str, Bind] = {
    "relay.argwhere": argwhere,
    "relay.dyn.topk": topk,
    "relay.topk": topk,
    "relay.unique": unique,
}
