"""
Operators of the text that are several of the dialect's, on tensors whose shapes are mostly known.

    variance(%x, %m, axis=[1])
    ->
    %d = relay.subtract %x, %m
    %q = relay.multiply %d, %d
    %y = relay.mean %q {axis = array<i64: 1>}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import accumulate, product
from math import prod
from operator import mul
from struct import pack
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from .....dialects.attributes import ELEMENT_TYPES
from .....dialects.dense import constant_tensor, dense, integers
from .....dialects.device import tensor_type
from .....dialects.relay import ConstantOp
from .....operators.element_types import NUMBER_TYPES
from .....operators.signature import MAX_RANK
from .call_site import Attrs, Rule, Site, dtype_of
from .relay_operators import fields_of

Shape: TypeAlias = tuple[int, ...]

# ------------------------------------------------------------------------------- values


def dims_of(site: Site, value: SSAValue) -> Shape:
    """Return the shape of a tensor, which must be known."""
    dims = tuple(site.tensor(value).get_shape())
    if DYNAMIC_INDEX in dims:
        raise site.problem(f"expected a static shape, but the tensor is of {site.text(value)}")
    return dims


def _fixed(site: Site, value: SSAValue, what: str) -> Shape:
    """Return the elements of a constant of integers."""
    constant = constant_tensor(value)
    if constant is None or "int" not in dtype_of(value):
        raise site.problem(f"{what} must be a constant of integers")
    return tuple(integers(constant, prod(dims_of(site, value))))


def array(site: Site, values: Sequence[float], shape: Shape, dtype: str) -> SSAValue:
    """Build a constant, of at most `_MOST` elements."""
    require_few(site, len(values))
    data = pack(f"<{len(values)}{NUMBER_TYPES[dtype].struct}", *values)
    return site.add(ConstantOp(dense(tensor_type(ELEMENT_TYPES[dtype], [*shape]), data)))


def require_few(site: Site, count: int) -> None:
    """Check the number of elements of a constant that an operator needs."""
    if count > _MOST:
        raise site.problem(f"expected at most {_MOST} places to compute, but there are {count}")


_MOST = 2**22
"""The number of elements of a constant above which an operator is refused."""


def _along(site: Site, value: SSAValue, axis: int, rank: int) -> SSAValue:
    """View a vector as a tensor of `rank` whose only other dim than 1 is `axis`."""
    shape = tuple(-1 if i == axis else 1 for i in range(rank))
    return site.value("reshape", value, newshape=shape)


def _positions(site: Site, dims: Shape, axis: int, dtype: str) -> SSAValue:
    """Build the index along `axis`, as a tensor that broadcasts to `dims`."""
    value = array(site, range(dims[axis]), (dims[axis],), "int64")
    return _along(site, site.cast(value, dtype), axis, len(dims))


def _strides(dims: Shape) -> Shape:
    """Return how many elements apart neighbors along each axis are."""
    return tuple(accumulate((*dims[:0:-1],), mul, initial=1))[::-1] if dims else ()


# --------------------------------------------------------------------- reductions, shapes


def _collapsed(site: Site, data: SSAValue, target: Shape) -> SSAValue:
    """Sum `data` along the axes along which a tensor of the shape `target` is broadcast to it."""
    dims = dims_of(site, data)
    padded = (1,) * (len(dims) - len(target)) + target
    axes = tuple(i for i, (d, t) in enumerate(zip(dims, padded, strict=False)) if t == 1 != d)
    kept = tuple(1 if i in axes else d for i, d in enumerate(dims))
    if len(padded) != len(dims) or kept != padded:
        raise site.problem(f"a tensor of {list(target)} does not broadcast to {list(dims)}")
    summed = site.value("sum", data, axis=axes, keepdims=True) if axes else data
    return summed if kept == target else site.value("reshape", summed, newshape=target)


def _collapse_sum_like(site: Site) -> SSAValue:
    data, like = site.values(2)
    site.attributes()
    return _collapsed(site, data, dims_of(site, like))


def _collapse_sum_to(site: Site) -> SSAValue:
    data, shape = site.values(2)
    site.attributes(shape=None, dtype=None)
    return _collapsed(site, data, _fixed(site, shape, "shape"))


def _variance(site: Site) -> SSAValue:
    """The mean of (data - mean)², with `unbiased` of one element less."""
    data, mean = site.values(2)
    attrs = site.attributes(axis=None, keepdims=False, exclude=False, unbiased=False)
    is_unbiased = attrs.pop("unbiased")
    apart = site.value("subtract", data, mean)
    result = site.value("mean", site.value("multiply", apart, apart), **attrs)
    if not is_unbiased:
        return result
    count = prod(dims_of(site, data)) // max(prod(dims_of(site, result)), 1)
    if count < 2:
        raise site.problem("an unbiased variance is of 2 elements at least")
    factor = site.cast(array(site, [count / (count - 1)], (), "float64"), dtype_of(data))
    return site.value("multiply", result, factor)


def _reverse_reshape(site: Site) -> SSAValue:
    """A reshape whose dims and entries are read from back to front."""
    (data,) = site.values(1)
    given = site.attributes(newshape=None, allowzero=False)["newshape"]
    entries = site.integers("newshape", given)
    dims = dims_of(site, data)
    back = site.value("reshape", data, newshape=dims[::-1])
    shape = dims_of(site, site.value("reshape", back, newshape=_reversed(entries)))
    return site.value("reshape", data, newshape=shape[::-1])


def _reversed(entries: Sequence[int]) -> Shape:
    """Return `entries` from back to front, where -4 and the two entries after it stay in order."""
    if -4 not in entries:
        return tuple(entries[::-1])
    at = list(entries).index(-4)
    middle = (-4, *entries[at + 1 : at + 3][::-1])
    return (*_reversed(entries[at + 3 :]), *middle, *entries[:at][::-1])


def _meshgrid(site: Site) -> SSAValue:
    (args,) = site.values(1)
    vectors = fields_of(site.context, "meshgrid", args, site.call.offset)
    indexing = site.attributes(indexing="ij")["indexing"]
    if indexing not in ("ij", "xy"):
        raise site.problem(f'indexing must be "ij" or "xy", but is {indexing!r}')
    order = list(range(len(vectors)))
    if indexing == "xy":
        order[:2] = order[1::-1] if len(order) > 1 else order
    sizes = [prod(dims_of(site, vector)) for vector in vectors]
    shape = tuple(sizes[order.index(i)] for i in range(len(order)))
    made = [
        site.value("broadcast_to", _along(site, vector, order[i], len(order)), shape=shape)
        for i, vector in enumerate(vectors)
    ]
    return site.context.packed(made, site.call.offset, from_operator=True)


def _broadcast_to_like(site: Site) -> SSAValue:
    data, like = site.values(2)
    site.attributes()
    if DYNAMIC_INDEX not in site.tensor(like).get_shape():
        return site.value("broadcast_to", data, shape=dims_of(site, like))
    return site.value("dyn.broadcast_to", data, site.value("shape_of", like, dtype="int64"))


# --------------------------------------------------------------------------- by position


def _sequence_mask(site: Site) -> SSAValue:
    """data[i] where i is less than the valid length, `mask_value` elsewhere."""
    data, lengths = site.values(2)
    attrs = site.attributes(mask_value=0.0, axis=0)
    dims = dims_of(site, data)
    axis = site.axis("axis", attrs["axis"], len(dims))
    if axis > 1 or len(dims) < 2:
        raise site.problem("axis must be 0 or 1 of at least two axes")
    at = _positions(site, dims, axis, dtype_of(lengths))
    is_valid = site.value("less", at, _along(site, lengths, 1 - axis, len(dims)))
    mask = site.cast(array(site, [attrs["mask_value"]], (), "float64"), dtype_of(data))
    return site.value("where", is_valid, data, mask)


def _reverse_sequence(site: Site) -> SSAValue:
    """Take element length - 1 - i of each sequence, or i where that is past its end."""
    data, lengths = site.values(2)
    attrs = site.attributes(seq_axis=1, batch_axis=0)
    dims = dims_of(site, data)
    axis, batch = (site.axis(n, attrs[n], len(dims)) for n in ("seq_axis", "batch_axis"))
    if dims_of(site, lengths) != (dims[batch],):
        raise site.problem(f"expected {dims[batch]} lengths, one for each index of batch_axis")
    at = _positions(site, dims, axis, "int64")
    most = site.scalar(dims[axis], "int64")
    lengths = site.value("minimum", site.cast(lengths, "int64"), most)
    length = _along(site, lengths, batch, len(dims))
    last = site.value("subtract", length, site.scalar(1, "int64"))
    mirrored = site.value("subtract", last, at)
    picked = site.value("where", site.value("less", at, length), mirrored, at)
    indices = site.value("broadcast_to", picked, shape=dims)
    return site.value("gather", data, indices, axis=axis)


def _unravel_index(site: Site) -> SSAValue:
    """index / (product of the dims after i) % dim i, for each axis i."""
    indices, shape = site.values(2)
    site.attributes()
    (rank,), rows, rest = dims_of(site, shape), list[SSAValue](), indices
    if rank > MAX_RANK:
        raise site.problem(f"a shape has at most {MAX_RANK} dims, but there are {rank}")
    for axis in reversed(range(rank)):
        dim = site.value("take", shape, site.scalar(axis, "int64"), axis=0)
        dim = site.cast(dim, dtype_of(indices))
        rows.insert(0, site.value("floor_mod", rest, dim))
        rest = site.value("floor_divide", rest, dim)
    return site.value("stack", site.context.packed(rows, site.call.offset), axis=0)


def _strided_set(site: Site) -> SSAValue:
    """Replace `data[begin:end:strides]` by `value`."""
    data, value, *bounds = site.values(5)
    site.attributes()
    names = ("begin", "end", "strides")
    begin, end, strides = (_fixed(site, v, n) for v, n in zip(bounds, names, strict=True))
    dims, mask = dims_of(site, data), None
    count = max(len(begin), len(end), len(strides))
    if count > len(dims):
        raise site.problem(f"expected at most {len(dims)} bounds, but got {count}")
    begin += (0,) * (count - len(begin))
    end += dims[len(end) : count]
    strides += (1,) * (count - len(strides))
    for axis, dim in enumerate(dims):
        require_few(site, dim)
        chosen = range(dim)
        if axis < len(begin):
            if not strides[axis]:
                raise site.problem("strides must not be 0")
            chosen = chosen[begin[axis] : end[axis] : strides[axis]]
        if dims_of(site, value)[axis : axis + 1] != (len(chosen),):
            raise site.problem(f"dim {axis} of the value must be {len(chosen)}")
        if len(chosen) in (0, dim) and chosen.step == 1:
            continue
        source = [chosen.index(i) if i in chosen else 0 for i in range(dim)]
        value = site.value("take", value, array(site, source, (dim,), "int64"), axis=axis)
        inside = array(site, [i in chosen for i in range(dim)], (dim,), "bool")
        along = _along(site, inside, axis, len(dims))
        mask = along if mask is None else site.value("logical_and", mask, along)
    if 0 in dims_of(site, value):
        return data
    return value if mask is None else site.value("where", mask, value, data)


# ------------------------------------------------------------------------------- scatters


def _flat_index(site: Site, parts: Sequence[SSAValue], strides: Shape) -> SSAValue:
    """Build the sum of the parts of indices times `strides`."""
    terms = [
        site.value("multiply", site.cast(part, "int64"), site.scalar(stride, "int64"))
        for part, stride in zip(parts, strides, strict=True)
    ]
    return reduce(lambda a, b: site.value("add", a, b), terms)


def _sparse_to_dense(site: Site) -> SSAValue:
    """Write `values` at `indices`, one or a row for each, into a tensor of the default value."""
    indices, values, *rest = site.values(3, 4)
    output_shape = site.attributes(output_shape=None)["output_shape"]
    if site.name.startswith("dyn."):
        shape = _fixed(site, rest.pop(), "output_shape")
    else:
        shape = site.integers("output_shape", output_shape)
    default = site.cast(rest[0] if rest else site.scalar(0, "int64"), dtype_of(values))
    dims = dims_of(site, indices)
    count = dims[0] if dims else 1
    rows = site.value("reshape", indices, newshape=(count, *(dims[1:] or (1,))))
    if len(dims) > 2 or dims_of(site, rows)[1] != len(shape):
        raise site.problem(f"indices must have {len(shape)} columns, as output_shape has entries")
    columns = [site.value("take", rows, site.scalar(i, "int64"), axis=1) for i in range(len(shape))]
    flat = site.value("full", default, shape=(prod(shape),))
    updates = site.value("broadcast_to", values, shape=(count,))
    at = _flat_index(site, columns, _strides(shape))
    written = site.value("scatter_elements", flat, at, updates, axis=0)
    return site.value("reshape", written, newshape=shape)


def _scatter_nd(site: Site) -> SSAValue:
    """Write slices of `updates` at the indices along the first axes of `data`."""
    data, indices, updates = site.values(3)
    mode = site.attributes(mode="update")["mode"]
    dims, (count, *_) = site.tensor(data).get_shape(), site.tensor(indices).get_shape()
    if not 0 < count <= len(dims):
        raise site.problem(f"indices of {count} axes, but data has {len(dims)}")
    size = prod(dims[count:])
    if DYNAMIC_INDEX in dims[count:]:
        raise site.problem(f"expected static slices, but data is of {site.text(data)}")
    shape = site.value("shape_of", data, dtype="int64")
    parts, at = site.value("reshape", site.cast(indices, "int64"), newshape=(count, -1, 1)), None
    for axis in range(count):
        number = site.scalar(axis, "int64")
        column = site.value("take", parts, number, axis=0)
        if at is not None:
            at = site.value("multiply", at, site.value("take", shape, number, axis=0))
        at = column if at is None else site.value("add", at, column)
    assert at is not None, "indices have an axis"
    written = site.value(
        "scatter_elements",
        site.value("reshape", data, newshape=(-1, size)),
        site.value("repeat", at, repeats=size, axis=1) if size != 1 else at,
        site.value("reshape", updates, newshape=(-1, size)),
        axis=0,
        reduction=mode,
    )
    return site.value("reshape_like", written, data)


def _matrix_set_diag(site: Site) -> SSAValue:
    """Replace diagonals k1 to k2 of matrices by the rows of `diagonal`, the last one first."""
    data, diagonal = site.values(2)
    attrs = site.attributes(k1=0, k2=0, super_diag_right_align=True, sub_diag_right_align=False)
    first, last = (site.integers(name, attrs[name], 1)[0] for name in ("k1", "k2"))
    dims, rows = dims_of(site, data), dims_of(site, diagonal)
    if len(dims) < 2 or not rows:
        raise site.problem("expected matrices and their diagonals")
    *outer, height, width = dims
    longest = rows[-1]
    require_few(site, height * width)
    source, inside = list[int](), list[bool]()
    for i, j in product(range(height), range(width)):
        k = j - i
        length = min(height + min(k, 0), width - max(k, 0))
        side = "super" if k >= 0 else "sub"
        shift = longest - length if attrs[f"{side}_diag_right_align"] else 0
        at = (last - k) * longest + (i if k >= 0 else j) + shift
        inside.append(first <= k <= last)
        source.append(at if inside[-1] else 0)
    vectors = site.value("reshape", diagonal, newshape=(*outer, (last - first + 1) * longest))
    indices = array(site, source, (height, width), "int64")
    taken = site.value("take", vectors, indices, axis=len(outer))
    mask = array(site, inside, (height, width), "bool")
    return site.value("where", mask, taken, data)


def counted_less(
    site: Site, sequence: SSAValue, values: SSAValue, or_equal: bool = False
) -> SSAValue:
    """
    Count the elements of a sorted sequence along the last axis that are less than each value.

    Both are sorted, with values before or after equal elements; of the place of a value in both
    are subtracted the values before it.
    """
    both = [sequence, values] if or_equal else [values, sequence]
    start = dims_of(site, sequence)[-1] if or_equal else 0

    def places(value: SSAValue) -> SSAValue:
        order = site.value("argsort", value, axis=-1, dtype="int64")
        return site.value("argsort", order, axis=-1, dtype="int64")

    joined = site.value("concatenate", site.context.packed(both, site.call.offset), axis=-1)
    end = start + dims_of(site, values)[-1]
    axis = len(dims_of(site, values)) - 1
    at = site.value("strided_slice", places(joined), begin=(start,), end=(end,), axes=(axis,))
    return site.value("subtract", at, places(values))


def _searchsorted(site: Site) -> SSAValue:
    """Count the elements of each sorted sequence that are less than a value."""
    sequence, values = site.values(2)
    attrs = site.attributes(right=False, dtype="int32")
    dims = dims_of(site, values)
    if len(dims_of(site, sequence)) == 1:
        values = site.value("reshape", values, newshape=(prod(dims),))
    elif dims_of(site, sequence)[:-1] != dims[:-1]:
        raise site.problem("the sequence must have one axis, or those of the values")
    counted = counted_less(site, sequence, values, bool(attrs["right"]))
    return site.cast(site.value("reshape", counted, newshape=dims), attrs["dtype"])


# --------------------------------------------------------------------------------- images


def _resized_lines(site: Site) -> SSAValue:
    """image.resize1d: images of one row."""
    (data,) = site.values(1)
    attrs = _plain_resize(site)
    axis = 1 if attrs["layout"] == "NWC" else 2
    attrs.update(layout={"NCW": "NCHW", "NWC": "NHWC"}.get(attrs["layout"], ""))
    attrs["size"] = (1, *site.integers("size", attrs.get("size"), 1))
    image = site.value("image.resize2d", site.value("expand_dims", data, axis=axis), **attrs)
    return site.value("squeeze", image, axis=(axis,))


def _resized_volumes(site: Site) -> SSAValue:
    """image.resize3d: planes are resized, then the lines through them; all is separable."""
    (data,) = site.values(1)
    attrs = _plain_resize(site)
    shape = dims_of(site, data)
    if len(shape) != 5:
        raise site.problem(f"data must have rank 5, but has rank {len(shape)}")
    n, *dims = shape
    depth, height, width = site.integers("size", attrs.get("size"), 3)
    if attrs["layout"] == "NDHWC":
        d, h, w, c = dims
        attrs["layout"] = "NHWC"
        shapes = (n * d, h, w, c), (n, d, height * width, c), (n, depth, height, width, c)
    else:
        c, d, h, w = dims
        attrs["layout"] = "NCHW"
        shapes = (n, c * d, h, w), (n, c, d, height * width), (n, c, depth, height, width)
    sizes = (height, width), (depth, height * width)
    for shape, size in zip(shapes, sizes, strict=False):
        data = site.value("reshape", data, newshape=shape)
        data = site.value("image.resize2d", data, **{**attrs, "size": size})
    return site.value("reshape", data, newshape=shapes[-1])


def _plain_resize(site: Site) -> Attrs:
    lines = site.name == "image.resize1d"
    attrs = {"layout": "NCW" if lines else "NCDHW", **site.call.attrs}
    attrs.pop("roi", None)
    return attrs


def _affine_grid(site: Site) -> SSAValue:
    """(x, y) of the affine map of each pixel's place in [-1, 1]², as channels."""
    (data,) = site.values(1)
    shape = site.attributes(target_shape=None)["target_shape"]
    height, width = site.integers("target_shape", shape, 2)
    require_few(site, 3 * height * width)
    ys, xs = (
        [-1 + i * (2 / (n - 1)) if n > 1 else -1.0 for i in range(n)] for n in (height, width)
    )
    grid = [*xs * height, *(y for y in ys for _ in xs), *[1.0] * (height * width)]
    places = array(site, grid, (1, 3, height * width), "float64")
    batch = dims_of(site, data)[0]
    mapped = site.value(
        "nn.batch_matmul", data, site.cast(places, dtype_of(data)), transpose_b=False
    )
    return site.value("reshape", mapped, newshape=(batch, 2, height, width))


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
    "broadcast_to_like": _broadcast_to_like,
    "collapse_sum_like": _collapse_sum_like,
    "collapse_sum_to": _collapse_sum_to,
    "contrib_reverse_reshape": _reverse_reshape,
    "dyn.sparse_to_dense": _sparse_to_dense,
    "image.affine_grid": _affine_grid,
    "image.resize1d": _resized_lines,
    "image.resize3d": _resized_volumes,
    "matrix_set_diag": _matrix_set_diag,
    "meshgrid": _meshgrid,
    "reverse_sequence": _reverse_sequence,
    "scatter_nd": _scatter_nd,
    "searchsorted": _searchsorted,
    "sequence_mask": _sequence_mask,
    "sparse_to_dense": _sparse_to_dense,
    "strided_set": _strided_set,
    "unravel_index": _unravel_index,
    "variance": _variance,
}
"""The rule of each of these operators, by its TVM name."""
