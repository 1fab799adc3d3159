"""Operators of the text that reduce, reshape, place and resize, as several of the dialect's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import accumulate, product
from math import prod
from operator import add, mul

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from .....operators.signature import MAX_RANK
from .call_site import Rule, Site
from .operator_formulas import (
    Numbers,
    Shape,
    array,
    by_formula,
    combined,
    constant_integers,
    count_less,
    number,
    require_few,
)

# --------------------------------------------------------------------- reductions, shapes


def _collapsed(site: Site, data: Numbers, target: Shape) -> Numbers:
    """Sum `data` along the axes along which a tensor of the shape `target` is broadcast to it."""
    dims = data.dims
    padded = (1,) * (len(dims) - len(target)) + target
    axes = tuple(i for i, (d, t) in enumerate(zip(dims, padded, strict=False)) if t == 1 != d)
    kept = tuple(1 if i in axes else d for i, d in enumerate(dims))
    if len(padded) != len(dims) or kept != padded:
        raise site.problem(f"a tensor of {list(target)} does not broadcast to {list(dims)}")
    summed = data.sum(axis=axes, keepdims=True) if axes else data
    return summed if kept == target else summed.viewed(*target)


def _collapse_sum_like(site: Site, data: Numbers, like: Numbers) -> Numbers:
    return _collapsed(site, data, like.dims)


def _collapse_sum_to(site: Site, data: Numbers, target: Numbers) -> Numbers:
    return _collapsed(site, data, constant_integers(target, "shape"))


def _variance(site: Site, data: Numbers, mean: Numbers) -> Numbers:
    """The mean of (data - mean)², with `unbiased` of one element less."""
    apart = data - mean
    result = (apart * apart).mean(
        axis=site["axis"], keepdims=site["keepdims"], exclude=site["exclude"]
    )
    if not site["unbiased"]:
        return result
    count = prod(data.dims) // max(prod(result.dims), 1)
    if count < 2:
        raise site.problem("an unbiased variance is of 2 elements at least")
    return result * number(site, count / (count - 1), "float64").cast(data.dtype)


def _reverse_reshape(site: Site, data: Numbers) -> Numbers:
    """A reshape whose dims and entries are read from back to front."""
    entries = site.integers("newshape")
    back = data.viewed(*data.dims[::-1]).viewed(*_reversed(entries))
    return data.viewed(*back.dims[::-1])


def _reversed(entries: Sequence[int]) -> Shape:
    """Return `entries` from back to front, where -4 and the two entries after it stay in order."""
    if -4 not in entries:
        return tuple(entries[::-1])
    at = list(entries).index(-4)
    middle = (-4, *entries[at + 1 : at + 3][::-1])
    return (*_reversed(entries[at + 3 :]), *middle, *entries[:at][::-1])


def _meshgrid(site: Site, *vectors: Numbers) -> Sequence[Numbers]:
    indexing, rank = site.choice("indexing", "ij", "xy"), len(vectors)
    order = [1, 0, *range(2, rank)] if indexing == "xy" and rank > 1 else range(rank)
    shape = tuple(prod(vectors[i].dims) for i in order)  # swapping is its own inverse
    spread = zip(vectors, order, strict=True)
    return [vector.along(axis, rank).broadcast_to(shape=shape) for vector, axis in spread]


def _broadcast_to_like(site: Site, data: Numbers, like: Numbers) -> Numbers:
    if DYNAMIC_INDEX not in like.shape:
        return data.broadcast_to(shape=like.dims)
    return data.call("dyn.broadcast_to", like.shape_of(dtype="int64"))


# --------------------------------------------------------------------------- by position


def _sequence_mask(site: Site, data: Numbers, lengths: Numbers) -> Numbers:
    """data[i] where i is less than the valid length, `mask_value` elsewhere."""
    dims, rank = data.dims, len(data.dims)
    axis = site.axis("axis", rank)
    if axis > 1 or rank < 2:
        raise site.problem("axis must be 0 or 1 of at least two axes")
    is_valid = lengths.counted(dims[axis]).along(axis, rank).less(lengths.along(1 - axis, rank))
    return data.where(is_valid, number(site, site["mask_value"], "float64").cast(data.dtype))


def _reverse_sequence(site: Site, data: Numbers, lengths: Numbers) -> Numbers:
    """Take element length - 1 - i of each sequence, or i where that is past its end."""
    dims, rank = data.dims, len(data.dims)
    axis, batch = site.axis("seq_axis", rank), site.axis("batch_axis", rank)
    if lengths.dims != (dims[batch],):
        raise site.problem(f"expected {dims[batch]} lengths, one for each index of batch_axis")
    at = array(site, range(dims[axis])).along(axis, rank)
    length = lengths.cast("int64").minimum(dims[axis]).along(batch, rank)
    picked = (length - 1 - at).where(at.less(length), at)
    return data.gather(picked.broadcast_to(shape=dims), axis=axis)


def _unravel_index(site: Site, indices: Numbers, shape: Numbers) -> Numbers:
    """index / (product of the dims after i) % dim i, for each axis i."""
    (rank,), rows = shape.sides(1), list[Numbers]()
    if rank > MAX_RANK:
        raise site.problem(f"a shape has at most {MAX_RANK} dims, but there are {rank}")
    for axis in reversed(range(rank)):
        dim = shape.part(axis, 0).cast(indices.dtype)
        rows.insert(0, indices.floor_mod(dim))
        indices = indices.floor_divide(dim)
    return combined(site, "stack", rows, 0)


def _strided_set(
    site: Site, data: Numbers, value: Numbers, begin: Numbers, end: Numbers, strides: Numbers
) -> Numbers:
    """Replace `data[begin:end:strides]` by `value`."""
    dims, rank, mask = data.dims, len(data.dims), None
    begins, ends = constant_integers(begin, "begin"), constant_integers(end, "end")
    steps = constant_integers(strides, "strides")
    count = max(len(begins), len(ends), len(steps))
    if count > rank:
        raise site.problem(f"expected at most {rank} bounds, but got {count}")
    if 0 in steps:
        raise site.problem("strides must not be 0")
    begins += (0,) * (count - len(begins))
    ends += dims[len(ends) : count]
    steps += (1,) * (count - len(steps))
    for axis, dim in enumerate(dims):
        require_few(site, dim)
        chosen = range(dim)
        if axis < count:
            chosen = chosen[begins[axis] : ends[axis] : steps[axis]]
        if value.dims[axis : axis + 1] != (len(chosen),):
            raise site.problem(f"dim {axis} of the value must be {len(chosen)}")
        if len(chosen) in (0, dim) and chosen.step == 1:
            continue
        source = array(site, [chosen.index(i) if i in chosen else 0 for i in range(dim)])
        value = value.take(source, axis=axis)
        inside = array(site, [i in chosen for i in range(dim)], dtype="bool").along(axis, rank)
        mask = inside if mask is None else mask & inside
    if 0 in value.dims:
        return data
    return value if mask is None else value.where(mask, data)


# ------------------------------------------------------------------------------- scatters


def _sparse_to_dense(
    site: Site, indices: Numbers, values: Numbers, default: Numbers | None = None
) -> Numbers:
    """Write `values` at `indices`, one or a row for each, into a tensor of the default value."""
    return _written(indices, values, default, site.integers("output_shape"))


def _dyn_sparse_to_dense(
    site: Site, indices: Numbers, values: Numbers, default: Numbers, shape: Numbers | None = None
) -> Numbers:
    """Build `sparse_to_dense` of a shape that is the last operand; the default may be omitted."""
    last, first = (default, None) if shape is None else (shape, default)
    return _written(indices, values, first, constant_integers(last, "output_shape"))


def _written(indices: Numbers, values: Numbers, default: Numbers | None, shape: Shape) -> Numbers:
    site, dims = indices.site, indices.dims
    default = (number(site, 0, "int64") if default is None else default).cast(values.dtype)
    count = dims[0] if dims else 1
    rows = indices.viewed(count, *(dims[1:] or (1,)))
    if len(dims) > 2 or rows.dims[1] != len(shape):
        raise site.problem(f"indices must have {len(shape)} columns, as output_shape has entries")
    if not shape:
        raise site.problem("output_shape must have an entry")
    strides = tuple(accumulate(shape[:0:-1], mul, initial=1))[::-1]
    columns = [column.cast("int64") for column in rows.parts(1)]
    terms = [column * stride for column, stride in zip(columns, strides, strict=True)]
    flat = default.full(shape=(prod(shape),))
    updates = values.broadcast_to(shape=(count,))
    return flat.scatter_elements(reduce(add, terms), updates, axis=0).viewed(*shape)


def _scatter_nd(site: Site, data: Numbers, indices: Numbers, updates: Numbers) -> Numbers:
    """Write slices of `updates` at the indices along the first axes of `data`."""
    dims, count = data.shape, next(iter(indices.shape), 0)
    if not 0 < count <= len(dims):
        raise site.problem(f"indices of {count} axes, but data has {len(dims)}")
    size = prod(dims[count:])
    if DYNAMIC_INDEX in dims[count:]:
        raise site.problem(f"expected static slices, but data is of {site.text(data.value)}")
    shape, at = data.shape_of(dtype="int64"), None
    columns = indices.cast("int64").viewed(count, -1, 1)
    for axis in range(count):
        column = columns.part(axis, 0)
        at = column if at is None else at * shape.part(axis, 0) + column
    assert at is not None, "indices have an axis"
    at = at.repeat(repeats=size, axis=1) if size != 1 else at
    rows, values = data.viewed(-1, size), updates.viewed(-1, size)
    return rows.scatter_elements(at, values, axis=0, reduction=site["mode"]).reshape_like(data)


def _matrix_set_diag(site: Site, data: Numbers, diagonal: Numbers) -> Numbers:
    """Replace diagonals k1 to k2 of matrices by the rows of `diagonal`, the last one first."""
    (first,), (last,) = site.integers("k1", 1), site.integers("k2", 1)
    if len(data.dims) < 2 or not diagonal.dims:
        raise site.problem("expected matrices and their diagonals")
    *outer, height, width = data.dims
    longest = diagonal.dims[-1]
    require_few(site, height * width)
    source, inside = list[int](), list[bool]()
    for i, j in product(range(height), range(width)):
        k = j - i
        length = min(height + min(k, 0), width - max(k, 0))
        side = "super" if k >= 0 else "sub"
        shift = longest - length if site[f"{side}_diag_right_align"] else 0
        at = (last - k) * longest + (i if k >= 0 else j) + shift
        inside.append(first <= k <= last)
        source.append(at if inside[-1] else 0)
    vectors = diagonal.viewed(*outer, (last - first + 1) * longest)
    taken = vectors.take(array(site, source, (height, width)), axis=len(outer))
    return taken.where(array(site, inside, (height, width), "bool"), data)


def _searchsorted(site: Site, sequence: Numbers, values: Numbers) -> Numbers:
    """Count the elements of each sorted sequence that are less than a value."""
    dims = values.dims
    if len(sequence.dims) == 1:
        values = values.viewed(prod(dims))
    elif sequence.dims[:-1] != dims[:-1]:
        raise site.problem("the sequence must have one axis, or those of the values")
    return count_less(sequence, values, bool(site["right"])).viewed(*dims).cast(site["dtype"])


# --------------------------------------------------------------------------------- images


def _resized_lines(site: Site, data: Numbers) -> Numbers:
    """image.resize1d: images of one row."""
    axis = 1 if site["layout"] == "NWC" else 2
    layout = {"NCW": "NCHW", "NWC": "NHWC"}.get(site["layout"], "")
    attrs = {**site.given, "layout": layout, "size": (1, *site.integers("size", 1))}
    return data.expand_dims(axis=axis).call("image.resize2d", **attrs).squeeze(axis=(axis,))


def _resized_volumes(site: Site, data: Numbers) -> Numbers:
    """image.resize3d: planes are resized, then the lines through them; all is separable."""
    n, *dims = data.sides(5)
    depth, height, width = site.integers("size", 3)
    if site["layout"] == "NDHWC":
        d, h, w, c = dims
        layout = "NHWC"
        shapes = (n * d, h, w, c), (n, d, height * width, c), (n, depth, height, width, c)
    else:
        c, d, h, w = dims
        layout = "NCHW"
        shapes = (n, c * d, h, w), (n, c, d, height * width), (n, c, depth, height, width)
    sizes = (height, width), (depth, height * width)
    for shape, size in zip(shapes, sizes, strict=False):
        attrs = {**site.given, "layout": layout, "size": size}
        data = data.viewed(*shape).call("image.resize2d", **attrs)
    return data.viewed(*shapes[-1])


_RESIZE = dict.fromkeys(
    (
        *("size", "roi", "method", "coordinate_transformation_mode", "rounding_method"),
        *("cubic_alpha", "cubic_exclude", "extrapolation_value", "out_dtype"),
    )
)
"""The attributes that are those of `image.resize2d`."""


def _affine_grid(site: Site, data: Numbers) -> Numbers:
    """(x, y) of the affine map of each pixel's place in [-1, 1]², as channels."""
    height, width = site.integers("target_shape", 2)
    require_few(site, 3 * height * width)
    ys, xs = (
        [-1 + i * (2 / (n - 1)) if n > 1 else -1.0 for i in range(n)] for n in (height, width)
    )
    grid = [*xs * height, *(y for y in ys for _ in xs), *[1.0] * (height * width)]
    places = array(site, grid, (1, 3, height * width), "float64").cast(data.dtype)
    mapped = data.call("nn.batch_matmul", places, transpose_b=False)
    return mapped.viewed(data.dims[0], 2, height, width)


def _unhinted(site: Site) -> SSAValue:
    """Return the operand of a hint to other compilers and passes, and say so."""
    (value,) = site.values(1)
    site.remark(f"{site.name} has no meaning here, and is dropped")
    return value


_HINTS = ("checkpoint", "compiler_begin", "compiler_end", "stop_fusion", "cast_hint")
HINTS: Mapping[str, Rule] = {
    **{f"annotation.{name}": _unhinted for name in _HINTS},
    "debug": _unhinted,
}
"""The hints that have no meaning here, which are dropped."""

DECOMPOSED: Mapping[str, Rule] = {
    "broadcast_to_like": by_formula(_broadcast_to_like),
    "collapse_sum_like": by_formula(_collapse_sum_like),
    "collapse_sum_to": by_formula(_collapse_sum_to, shape=None, dtype=None),
    "contrib_reverse_reshape": by_formula(_reverse_reshape, newshape=None, allowzero=False),
    "dyn.sparse_to_dense": by_formula(_dyn_sparse_to_dense, output_shape=None),
    "image.affine_grid": by_formula(_affine_grid, target_shape=None),
    "image.resize1d": by_formula(_resized_lines, layout="NCW", **_RESIZE),
    "image.resize3d": by_formula(_resized_volumes, layout="NCDHW", **_RESIZE),
    "matrix_set_diag": by_formula(
        _matrix_set_diag, k1=0, k2=0, super_diag_right_align=True, sub_diag_right_align=False
    ),
    "meshgrid": by_formula(_meshgrid, indexing="ij"),
    "reverse_sequence": by_formula(_reverse_sequence, seq_axis=1, batch_axis=0),
    "scatter_nd": by_formula(_scatter_nd, mode="update"),
    "searchsorted": by_formula(_searchsorted, right=False, dtype="int32"),
    "sequence_mask": by_formula(_sequence_mask, mask_value=0.0, axis=0),
    "sparse_to_dense": by_formula(_sparse_to_dense, output_shape=None),
    "strided_set": by_formula(_strided_set),
    "unravel_index": by_formula(_unravel_index),
    "variance": by_formula(_variance, axis=None, keepdims=False, exclude=False, unbiased=False),
}
"""The rule of each of these operators, by its TVM name."""
