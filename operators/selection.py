"""Rules of operators that find elements: by rank in an order, by value, or by being nonzero."""

from collections.abc import Sequence
from typing import Literal

from .operands import (
    normalized_axis,
    require_integer,
    require_number,
    require_ordered,
    require_rank,
    require_same_element,
)
from .rules import rule
from .signature import ELEMENTS, Data, Element, Measured, Tensor, measure_data, ranked
from .sizes import SignatureError, Size, measure, require_at_most, require_equal, require_source

INT32 = ELEMENTS["int32"]


@rule("relay.topk")
@rule("relay.dyn.topk", types={"k": Data})
def topk(
    data: Tensor,
    *,
    k: int | Data,
    axis: int = -1,
    ret_type: Literal["both", "values", "indices"],
    is_ascend: bool,
    dtype: Element,
) -> Sequence[Tensor]:
    """Infer the `k` first elements along `axis` in order, and their indices."""
    counts = k.sizes("k") if isinstance(k, Data) else (k,)
    if len(counts) != 1:
        raise SignatureError(f"k must have 1 element, but has {len(counts)}")
    return _topk(data, counts[0], axis, ret_type, dtype)


def _topk(data: Tensor, k: Size, axis: int, ret_type: str, dtype: Element) -> Sequence[Tensor]:
    require_ordered(data.element, "data")
    require_integer(dtype, "indices")
    at = normalized_axis(axis, data.rank)
    dims = list(data.dims)
    dims[at] = measure("topk_length", k, dims[at])
    values, indices = ranked(data.element, tuple(dims)), ranked(dtype, tuple(dims))
    return {"both": (values, indices), "values": (values,), "indices": (indices,)}[ret_type]


@rule("relay.argsort")
def argsort(data: Tensor, *, axis: int = -1, is_ascend: bool = True, dtype: Element) -> Tensor:
    """Infer the indices of the elements of `data` along `axis`, in order."""
    return _topk(data, 0, axis, "indices", dtype)[0]


@rule("relay.sort")
def sort(data: Tensor, *, axis: int = -1, is_ascend: bool = True) -> Tensor:
    """Infer the elements of `data` along `axis`, in order."""
    return _topk(data, 0, axis, "values", INT32)[0]


@rule("relay.scatter_elements")
def scatter_elements(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    *,
    axis: int = 0,
    reduction: Literal["update", "add", "mul", "min", "max", "mean"],
) -> Tensor:
    """Infer the type of `data`, into which `updates`, in the shape of `indices`, are written."""
    require_integer(indices.element, "indices")
    require_ordered(require_same_element((data, updates)), "data and updates of {op}")
    if reduction != "update":
        require_number(data.element, "data of {op}, to be reduced,")
    at = normalized_axis(axis, data.rank)
    for what, tensor in (("indices", indices), ("updates", updates)):
        require_rank(tensor, data.rank, what)
    for dim, (count, update, own) in enumerate(
        zip(indices.dims, updates.dims, data.dims, strict=True)
    ):
        require_equal(update, count, f"dim {dim} of updates must be {{1}}, but is {{0}}")
        if dim != at:
            message = f"dim {dim} of indices must be at most {{1}}, that of data, but is {{0}}"
            require_at_most(count, own, message)
        else:
            require_source(own, count, f"no element of data has an index along axis {dim}")
    return data


@rule("relay.argwhere")
def argwhere(condition: Measured) -> Tensor:
    """Infer one row of i32 for each nonzero element: its index on each axis."""
    if not 1 <= condition.rank <= 5:
        raise SignatureError(f"condition must have rank 1 to 5, but has rank {condition.rank}")
    require_ordered(condition.element, "condition")
    return ranked(INT32, (measure_data("count_nonzero", condition), condition.rank))


@rule("relay.unique")
def unique(data: Tensor, *, sorted: bool = True, return_counts: bool) -> Sequence[Tensor]:
    """Infer vectors as long as `data`, and the number of distinct elements."""
    require_rank(data, 1, "data")
    require_ordered(data.element, "data")
    numbers = Tensor(INT32, data.dims)
    results = (data, numbers, numbers, Tensor(INT32, (1,)))
    return (*results, numbers) if return_counts else results
