"""
Operators of the text on signals and on sparse matrices, as products with dense ones.

    dft(%re, %im)                %re · C + %im · S and %im · C - %re · S, of cosines and sines
    stft(%x, %window, …)         frames that are taken from %x, times the window, times C and S
    nn.sparse_dense(%x, …)       the product with the matrix, into which its blocks are scattered
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, pi, prod, sin

from xdsl.ir import SSAValue

from .call_site import Rule, Site, dtype_of
from .computed_numbers import Numbers
from .decomposed_operators import array, counted_less, dims_of, require_few

# ------------------------------------------------------------------------------- signals


def _waves(like: Numbers, size: int, count: int) -> tuple[Numbers, Numbers]:
    """Return cos and sin of 2 π i k / `size`, for each i below it and each k below `count`."""
    require_few(like.site, size * count)
    turns = [2 * pi * (i * k % size) / size for i in range(size) for k in range(count)]
    waves = ([wave(turn) for turn in turns] for wave in (cos, sin))
    cosines, sines = (
        Numbers(like.site, array(like.site, wave, (size, count), "float64")).cast(
            dtype_of(like.value)
        )
        for wave in waves
    )
    return cosines, sines


def _dft(site: Site) -> SSAValue:
    """The discrete Fourier transform along the last axis."""
    values = site.values(2)
    inverse = bool(site.attributes(inverse=False)["inverse"])
    *outer, size = dims_of(site, values[0]) or (1,)
    re, im = (Numbers(site, value).viewed(prod(outer), size) for value in values)
    cosines, sines = _waves(re, size, size)
    if inverse:
        cosines, sines = cosines / float(size), sines.call("negative") / float(size)

    def times(x: Numbers, waves: Numbers) -> Numbers:
        return x.call("nn.matmul", waves)

    parts = times(re, cosines) + times(im, sines), times(im, cosines) - times(re, sines)
    spectra = [part.viewed(*outer, size).value for part in parts]
    return site.context.packed(spectra, site.call.offset, from_operator=True)


def _stft(site: Site) -> SSAValue:
    """The transform of frames of `n_fft` samples, `hop_length` apart."""
    data, window = (Numbers(site, value) for value in site.values(2))
    attrs = site.attributes(
        n_fft=None, hop_length=None, win_length=None, normalized=False, onesided=True
    )
    batch, count = dims_of(site, data.value)
    names = ("n_fft", "hop_length", "win_length")
    size, hop, length = (site.integers(name, attrs[name], 1)[0] for name in names)
    if not (0 < size <= count and hop > 0 and length == size):
        raise site.problem(
            f"n_fft must be in [1, {count}] and equal win_length, and hop_length above 0, "
            f"but they are {size}, {length} and {hop}"
        )
    starts = range(0, count - size + 1, hop)
    places = [start + i for start in starts for i in range(size)]
    frames = data.call(
        "take", Numbers(site, array(site, places, (len(starts), size), "int64")), axis=1
    )
    rows = (frames * window).viewed(batch * len(starts), size)
    bins = size // 2 + 1 if attrs["onesided"] else size
    cosines, sines = _waves(data, size, bins)
    parts = rows.call("nn.matmul", cosines), rows.call("nn.matmul", sines).call("negative")
    both = [part.viewed(batch, len(starts), bins).permuted(0, 2, 1).value for part in parts]
    complex = Numbers(
        site, site.value("stack", site.context.packed(both, site.call.offset), axis=3)
    )
    return (complex / float(size) ** 0.5 if attrs["normalized"] else complex).value


# ------------------------------------------------------------------------ sparse matrices


def _rows(site: Site, indptr: SSAValue, count: int) -> SSAValue:
    """Build the row of each of `count` elements of a matrix in compressed rows."""
    at = array(site, range(count), (count,), "int64")
    ends = site.value("strided_slice", site.cast(indptr, "int64"), begin=(1,), end=(2**31 - 1,))
    return counted_less(site, ends, at, or_equal=True)


def _dense_of(site: Site, parts: Sequence[SSAValue], columns: int) -> Numbers:
    """Build the matrix of so many columns that has `parts`: blocks or numbers, indices, starts."""
    blocks, indices, indptr = parts
    count, *block = dims_of(site, blocks)
    height, width = block or (1, 1)
    rows = dims_of(site, indptr)[0] - 1
    if columns % width or len(block) not in (0, 2) or rows < 0:
        raise site.problem(f"blocks of {block} do not fill {columns} columns")
    across = columns // width
    place = Numbers(site, _rows(site, indptr, count)) * across
    place = (place + Numbers(site, indices).cast("int64")).viewed(count, 1)
    updates = Numbers(site, blocks).viewed(count, height * width)
    empty = site.value(
        "full", site.scalar(0, dtype_of(blocks)), shape=(rows * across, height * width)
    )
    at = place.call("broadcast_to", shape=(count, height * width))
    dense = Numbers(site, empty).call("scatter_elements", at, updates, axis=0, reduction="add")
    dense = dense.viewed(rows, across, height, width).permuted(0, 2, 1, 3)
    return dense.viewed(rows * height, columns)


def _sparse_dense(site: Site) -> SSAValue:
    """x Wᵀ, where W is sparse, or x with `sparse_lhs`."""
    dense, *parts = site.values(4)
    sparse_lhs = site.attributes(sparse_lhs=False)["sparse_lhs"]
    sparse = _dense_of(site, parts, dims_of(site, dense)[-1])
    both = (sparse.value, dense) if sparse_lhs else (dense, sparse.value)
    return site.value("nn.dense", *both)


def _sparse_add(site: Site) -> SSAValue:
    dense, *parts = site.values(4)
    site.attributes()
    return (Numbers(site, dense) + _dense_of(site, parts, dims_of(site, dense)[-1])).value


def _sparse_transpose(site: Site) -> SSAValue:
    """The compressed rows of the transposed square matrix: its elements, by column."""
    values, indices, indptr = site.values(3)
    site.attributes()
    (count,), (ends,) = dims_of(site, values), dims_of(site, indptr)
    order = site.value("argsort", indices, dtype="int64")
    rows = site.cast(_rows(site, indptr, count), dtype_of(indices))
    sorted_parts = [site.value("take", part, order, axis=0) for part in (values, rows)]
    starts = array(site, range(ends), (ends,), "int64")
    columns = site.value("take", site.cast(indices, "int64"), order, axis=0)
    sorted_parts.append(site.cast(counted_less(site, columns, starts), dtype_of(indptr)))
    return site.context.packed(sorted_parts, site.call.offset, from_operator=True)


def _sparse_reshape(site: Site) -> SSAValue:
    """The indices of the elements, and the shape, of a sparse tensor that is reshaped."""
    indices, *shapes = (Numbers(site, value).cast("int64") for value in site.values(3))
    site.attributes()

    def parts(value: Numbers, axis: int) -> list[Numbers]:
        count = dims_of(site, value.value)[axis]
        numbers = (Numbers(site, array(site, [i], (), "int64")) for i in range(count))
        return [value.call("take", number, axis=axis) for number in numbers]

    one = Numbers(site, site.scalar(1, "int64"))
    old, new = (parts(shape, 0) for shape in shapes)
    total, known = one, one
    for dim in old:
        total = total * dim
    for dim in new:
        known = known * dim
    new = [(total / known.call("negative")).where(dim.call("equal", -1), dim) for dim in new]
    rest = one * 0
    for column, dim in zip(parts(indices, 1), old, strict=True):
        rest = rest * dim + column
    columns = list[SSAValue]()
    for dim in reversed(new):
        columns.insert(0, rest.call("floor_mod", dim).value)
        rest = rest.call("floor_divide", dim)
    dims = [dim.value for dim in new]
    made = [
        site.value("stack", site.context.packed(columns, site.call.offset), axis=1),
        site.value("stack", site.context.packed(dims, site.call.offset), axis=0),
    ]
    made = [site.cast(value, dtype_of(arg)) for value, arg in zip(made, site.args, strict=False)]
    return site.context.packed(made, site.call.offset, from_operator=True)


def _sparse_fill_empty_rows(site: Site) -> SSAValue:
    """
    Give each empty row of a sparse matrix the element `default_value` in its first column.

    Returns the indices and values, by row, and which rows were empty.
    """
    indices, values, shape, default = (Numbers(site, value) for value in site.values(4))
    site.attributes()
    dtype = dtype_of(indices.value)
    zero, one = (Numbers(site, site.scalar(number, dtype)) for number in (0, 1))
    count = shape.cast(dtype).call("take", zero.cast("int64"), axis=0)
    rows = zero.call("arange", count, one, dtype=dtype)
    own = indices.call("take", zero.cast("int64"), axis=1)
    is_own = own.call("expand_dims", axis=1).call("equal", rows)
    is_empty = is_own.call("any", axis=(0,)).call("logical_not")
    first = is_empty.call("argwhere").cast(dtype)  # a column
    columns = dims_of(site, indices.value)[1]
    added = first * Numbers(site, array(site, [1] + [0] * (columns - 1), (1, columns), dtype))
    fill = first.call("take", zero.cast("int64"), axis=1).cast(dtype_of(values.value)) * 0 + default

    def joined(a: Numbers, b: Numbers) -> Numbers:
        both = site.context.packed([a.value, b.value], site.call.offset)
        return Numbers(site, site.value("concatenate", both, axis=0))

    every = joined(indices, added)
    order = every.call("take", zero.cast("int64"), axis=1).call("argsort", dtype="int64")
    sorted_parts = [part.call("take", order, axis=0) for part in (every, joined(values, fill))]
    results = [sorted_parts[0].value, is_empty.value, sorted_parts[1].value]
    return site.context.packed(results, site.call.offset, from_operator=True)


SIGNALS: Mapping[str, Rule] = {
    "dft": _dft,
    "nn.sparse_add": _sparse_add,
    "nn.sparse_dense": _sparse_dense,
    "nn.sparse_transpose": _sparse_transpose,
    "sparse_fill_empty_rows": _sparse_fill_empty_rows,
    "sparse_reshape": _sparse_reshape,
    "stft": _stft,
}
"""The rule of each of these operators, by its TVM name."""
