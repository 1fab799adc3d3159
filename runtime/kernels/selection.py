"""Operators that find elements: by rank in an order, by value, or by being nonzero."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .bind import Array, Attrs, Bind, Thunk, flag, integer, word


def topk(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Sort along `axis`, equal elements by index, and keep as many as the result has."""
    return _in_order(attrs, ins[0], outs, word(attrs, "ret_type"))


def argsort(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Sort along `axis`, equal elements by index, and write the indices."""
    return _in_order(attrs, ins[0], outs, "indices")


def sort(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Sort along `axis`."""
    return _in_order(attrs, ins[0], outs, "values")


def _in_order(attrs: Attrs, data: Array, outs: Sequence[Array], kind: str) -> Thunk:
    x = np.moveaxis(data, integer(attrs, "axis"), -1)
    results = [np.moveaxis(y, integer(attrs, "axis"), -1) for y in outs]
    count, ascend = results[0].shape[-1], flag(attrs, "is_ascend")

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


_REDUCTIONS: Mapping[str, np.ufunc] = {
    **{"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum, "mean": np.add}
}


def scatter_elements(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Write updates over the elements at indices along `axis`, or reduce them, one by one."""
    (x, indices, updates), (y,) = ins, outs
    axis, reduction = integer(attrs, "axis") % x.ndim, word(attrs, "reduction")
    wide = np.dtype(np.float32) if y.dtype == np.float16 and reduction == "mean" else y.dtype

    def write() -> None:
        dim = x.shape[axis]
        along = np.minimum(indices, dim - 1).astype(np.int64)
        np.add(along, dim, along, where=along < 0)
        places = [*np.indices(indices.shape, sparse=True)]
        places[axis] = np.maximum(along, 0)
        at = tuple(places)
        result = x.astype(wide)
        if reduction == "update":
            result[at] = updates  # the last of several for one element stays
        else:
            _REDUCTIONS[reduction].at(result, at, updates.astype(wide))
        if reduction == "mean":
            counts = np.ones(x.shape, np.int64)
            np.add.at(counts, at, 1)
            result = result / counts if wide.kind == "f" else result // counts
        np.copyto(y, result, "unsafe")

    return write


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
    "relay.argsort": argsort,
    "relay.argwhere": argwhere,
    "relay.dyn.topk": topk,
    "relay.scatter_elements": scatter_elements,
    "relay.sort": sort,
    "relay.topk": topk,
    "relay.unique": unique,
}
