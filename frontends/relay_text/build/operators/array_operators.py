"""
Operators of Relay text that index, mask and contract tensors, built from those of the dialect.

    trilu(%x, %k)            elements at least %k columns after the diagonal; 0 elsewhere
    sliding_window(%x, …)    windows along each axis, as the last axes
    cumprod(%x, axis=0)      products of elements 1, 2, 4, … apart: log n operators
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest

from ....einsum import einsum
from ...tvm_layouts import parse_layout
from .call_site import Rule, Site
from .layouts import change_layout
from .operator_formulas import Numbers, array, by_formula, combined

# ----------------------------------------------------------------------------- elements


def _trilu(site: Site, data: Numbers, k: Numbers) -> Numbers:
    if len(dims := data.dims) < 2:
        raise site.problem("expected matrices")
    rows, columns = (array(site, range(n)) for n in dims[-2:])
    distance, diagonal = columns - rows.viewed(-1, 1), k.cast("int64").viewed()
    compare = "greater_equal" if site["upper"] else "less_equal"
    return data.where(distance.call(compare, diagonal), 0)


def _adv_index(site: Site, data: Numbers, *indices: Numbers) -> Numbers:
    """data[i, j, …], of indices that broadcast to one shape."""
    shapes = [index.dims[::-1] for index in indices]
    shape = tuple(max(dims) if 0 not in dims else 0 for dims in zip_longest(*shapes, fillvalue=1))
    same = [index.cast("int64").broadcast_to(shape=shape[::-1]) for index in indices]
    return data.gather_nd(combined(site, "stack", same, 0))


def _sliding_window(site: Site, data: Numbers) -> Numbers:
    dims = data.dims
    axis = site.axis("axis", len(dims))
    windows, strides = (site.integers(n, len(dims) - axis) for n in ("window_shape", "strides"))
    for i, (dim, window, stride) in enumerate(zip(dims[axis:], windows, strides, strict=True)):
        if not (0 < window <= dim and stride > 0):
            raise site.problem(f"windows must be in [1, {dim}], and strides above 0")
        starts = range(0, dim - window + 1, stride)
        places = [start + j for start in starts for j in range(window)]
        data = data.take(array(site, places, (len(starts), window)), axis=axis + 2 * i)
    sides = range(axis, axis + 2 * len(windows), 2)
    return data.permuted(*range(axis), *sides, *(side + 1 for side in sides))


def _cumprod(site: Site, data: Numbers) -> Numbers:
    if site["axis"] is None:
        data = data.viewed(-1)
    dims = data.dims
    axis = 0 if site["axis"] is None else site.axis("axis", len(dims))
    running = data.cast(site["dtype"] or data.dtype)

    def moved(by: int) -> Numbers:
        """Return the products shifted by `by` elements, with ones before them."""
        widths = tuple((by, 0) if i == axis else (0, 0) for i in range(len(dims)))
        kept = running.strided_slice(begin=(0,), end=(dims[axis] - by,), axes=(axis,))
        return kept.call("nn.pad", 1, pad_width=widths)

    if site["exclusive"] and dims[axis]:
        running = moved(1)
    by = 1
    while by < dims[axis]:
        running, by = running * moved(by), 2 * by
    return running


def _invert_permutation(site: Site, data: Numbers) -> Numbers:
    if len(data.shape) != 1:
        raise site.problem("expected a vector")
    return data.argsort(dtype="int64").cast(data.dtype)


def _trunc_divide(site: Site, a: Numbers, b: Numbers) -> Numbers:
    """Build a quotient; that of integers is truncated already."""
    quotient = a / b
    return quotient.trunc() if "float" in quotient.dtype else quotient


def _trunc_mod(site: Site, a: Numbers, b: Numbers) -> Numbers:
    return a.mod(b)


def _scatter(site: Site, data: Numbers, at: Numbers, updates: Numbers) -> Numbers:
    """Build `scatter` or `scatter_add`, which TVM replaced in 0.10 by `scatter_elements`."""
    reduction = "add" if site.name == "scatter_add" else "update"
    return data.scatter_elements(at, updates, axis=site["axis"], reduction=reduction)


def _fifo_buffer(site: Site, data: Numbers, buffer: Numbers) -> Numbers:
    """Append `data` to `buffer`, and drop as many elements at its start."""
    dims = buffer.dims
    axis = site.axis("axis", len(dims))
    begin: int = data.sides(len(dims))[axis]
    joined = combined(site, "concatenate", [buffer, data], axis)
    return joined.strided_slice(begin=(begin,), end=(begin + dims[axis],), axes=(axis,))


def _cross_entropy(site: Site, x: Numbers, y: Numbers) -> Numbers:
    """The mean over the batch of - y log x, or of - y x with logits."""
    count, _ = x.sides(2)
    logs = x if site.name.endswith("_with_logits") else x.log()
    return (logs * y).sum(axis=()).negative() / float(count)


# --------------------------------------------------------------------------- contractions


def _dense_pack(site: Site, data: Numbers, weight: Numbers) -> Numbers:
    """Build `nn.dense` of a weight in blocks."""
    layout = site["weight_layout"]
    parsed = parse_layout(layout) if isinstance(layout, str) else None
    if parsed is None or not parsed.has_axes("NC"):
        raise site.problem(f'weight_layout must have the axes N and C, but is "{layout}"')
    whole = Numbers(site, change_layout(site, weight.value, layout, "NC"))
    return data.call("nn.dense", whole, out_dtype=site["out_dtype"])


def _einsum(site: Site, *operands: Numbers) -> Numbers:
    return einsum(site.problem, str(site["equation"]), operands)


def _fixed_point_multiply(
    site: Site, x: Numbers, y: Numbers, left: Numbers, right: Numbers
) -> Numbers:
    """x 2^l y / 2^(31 + r), of numbers for each index of `axes`; halves are rounded up."""
    dtype, rank = x.dtype, len(x.dims)
    places = site.axes("axes", rank)
    if any(len(value.dims) != len(places) for value in (y, left, right)):
        raise site.problem(f"expected factors and shifts of rank {len(places)}, as there are axes")

    def spread(value: Numbers) -> Numbers:
        dims = dict(zip(places, value.dims, strict=True))
        return value.cast("int64").viewed(*(dims.get(i, 1) for i in range(rank)))

    x, y, left, right = x.cast("int64"), spread(y), spread(left), spread(right)
    x = x.left_shift(left) if site["is_lshift_required"] else x
    shift = (right if site["is_rshift_required"] else right * 0) + 31
    half = (right * 0 + 1).left_shift(shift - 1)
    return (x * y + half).right_shift(shift).cast(dtype)


ARRAYS: Mapping[str, Rule] = {
    "adv_index": by_formula(_adv_index),
    "cumprod": by_formula(_cumprod, axis=None, dtype="", exclusive=False),
    "einsum": by_formula(_einsum, equation=None),
    "fixed_point_multiply_per_axis": by_formula(
        _fixed_point_multiply, is_lshift_required=False, is_rshift_required=False, axes=None
    ),
    "invert_permutation": by_formula(_invert_permutation),
    "nn.contrib_dense_pack": by_formula(
        _dense_pack, weight_layout="NC8n", units=None, out_dtype=""
    ),
    "nn.cross_entropy": by_formula(_cross_entropy),
    "nn.cross_entropy_with_logits": by_formula(_cross_entropy),
    "nn.fifo_buffer": by_formula(_fifo_buffer, axis=0),
    "scatter": by_formula(_scatter, axis=0),
    "scatter_add": by_formula(_scatter, axis=0),
    "sliding_window": by_formula(_sliding_window, axis=0, window_shape=None, strides=None),
    "trilu": by_formula(_trilu, upper=True),
    "trunc_divide": by_formula(_trunc_divide),
    "trunc_mod": by_formula(_trunc_mod),
}
"""The rule of each of these operators, by its TVM name."""
