"""
Operators of the text on signals, sparse matrices and random words, as several of the dialect's.

    dft(%re, %im)                %re · C + %im · S and %im · C - %re · S, of cosines and sines
    stft(%x, %window, …)         frames that are taken from %x, times the window, times C and S
    nn.sparse_dense(%x, …)       the product with the matrix, into which its blocks are scattered
    random.uniform(%g, …)        the first 23 of the low 32 bits of a word, the fraction of a float
                                 in [1, 2); minus 1, times the range
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import cos, pi, prod, sin
from operator import mul

from xdsl.dialects.builtin import DYNAMIC_INDEX

from .call_site import Rule, Site
from .operator_formulas import Numbers, array, by_formula, combined, count_less, number, require_few

# ------------------------------------------------------------------------------- signals


def _waves(like: Numbers, size: int, count: int) -> tuple[Numbers, Numbers]:
    """Return cos and sin of 2 π i k / `size`, for each i below it and each k below `count`."""
    require_few(like.site, size * count)
    turns = [2 * pi * (i * k % size) / size for i in range(size) for k in range(count)]
    cosines, sines = (
        array(like.site, [wave(turn) for turn in turns], (size, count), "float64").cast(like.dtype)
        for wave in (cos, sin)
    )
    return cosines, sines


def _dft(site: Site, re: Numbers, im: Numbers) -> Sequence[Numbers]:
    """The discrete Fourier transform along the last axis."""
    *outer, size = re.dims or (1,)
    re, im = (value.viewed(prod(outer), size) for value in (re, im))
    cosines, sines = _waves(re, size, size)
    if site["inverse"]:
        cosines, sines = cosines / float(size), sines.negative() / float(size)

    def times(x: Numbers, waves: Numbers) -> Numbers:
        return x.call("nn.matmul", waves)

    parts = times(re, cosines) + times(im, sines), times(im, cosines) - times(re, sines)
    return [part.viewed(*outer, size) for part in parts]


def _stft(site: Site, data: Numbers, window: Numbers) -> Numbers:
    """The transform of frames of `n_fft` samples, `hop_length` apart."""
    batch, count = data.sides(2)
    names = ("n_fft", "hop_length", "win_length")
    size, hop, length = (site.integers(name, 1)[0] for name in names)
    if not (0 < size <= count and hop > 0 and length == size):
        raise site.problem(
            f"n_fft must be in [1, {count}] and equal win_length, and hop_length above 0, "
            f"but they are {size}, {length} and {hop}"
        )
    starts = range(0, count - size + 1, hop)
    places = [start + i for start in starts for i in range(size)]
    frames = data.take(array(site, places, (len(starts), size)), axis=1)
    rows = (frames * window).viewed(batch * len(starts), size)
    bins = size // 2 + 1 if site["onesided"] else size
    cosines, sines = _waves(data, size, bins)
    parts = rows.call("nn.matmul", cosines), rows.call("nn.matmul", sines).negative()
    both = [part.viewed(batch, len(starts), bins).permuted(0, 2, 1) for part in parts]
    complex = combined(site, "stack", both, 3)
    return complex / float(size) ** 0.5 if site["normalized"] else complex


# ------------------------------------------------------------------------ sparse matrices


def _rows(indptr: Numbers, count: int) -> Numbers:
    """Build the row of each of `count` elements of a matrix in compressed rows."""
    ends = indptr.cast("int64").strided_slice(begin=(1,), end=(2**31 - 1,))
    return count_less(ends, array(indptr.site, range(count)), or_equal=True)


def _dense_of(blocks: Numbers, indices: Numbers, indptr: Numbers, columns: int) -> Numbers:
    """Build the matrix of so many columns that has the blocks or numbers."""
    site = blocks.site
    count, *block = blocks.dims if len(blocks.shape) == 3 else blocks.sides(1)
    height, width = block or (1, 1)
    rows = indptr.sides(1)[0] - 1
    if not width or columns % width or rows < 0:
        raise site.problem(f"blocks of {block} do not fill {columns} columns")
    across, size = columns // width, height * width
    place = (_rows(indptr, count) * across + indices.cast("int64")).viewed(count, 1)
    empty = number(site, 0, blocks.dtype).full(shape=(rows * across, size))
    at, updates = place.broadcast_to(shape=(count, size)), blocks.viewed(count, size)
    dense = empty.scatter_elements(at, updates, axis=0, reduction="add")
    dense = dense.viewed(rows, across, height, width).permuted(0, 2, 1, 3)
    return dense.viewed(rows * height, columns)


def _sparse_dense(
    site: Site, dense: Numbers, blocks: Numbers, indices: Numbers, indptr: Numbers
) -> Numbers:
    """x Wᵀ, where W is sparse, or x with `sparse_lhs`."""
    sparse = _dense_of(blocks, indices, indptr, dense.sides(2)[-1])
    left, right = (sparse, dense) if site["sparse_lhs"] else (dense, sparse)
    return left.call("nn.dense", right)


def _sparse_add(
    site: Site, dense: Numbers, blocks: Numbers, indices: Numbers, indptr: Numbers
) -> Numbers:
    return dense + _dense_of(blocks, indices, indptr, dense.sides(2)[-1])


def _sparse_transpose(
    site: Site, values: Numbers, indices: Numbers, indptr: Numbers
) -> Sequence[Numbers]:
    """The compressed rows of the transposed square matrix: its elements, by column."""
    (count,), (ends,) = values.sides(1), indptr.sides(1)
    order = indices.argsort(dtype="int64")
    rows = _rows(indptr, count).cast(indices.dtype)
    columns = indices.cast("int64").take(order, axis=0)
    starts = count_less(columns, array(site, range(ends))).cast(indptr.dtype)
    return [values.take(order, axis=0), rows.take(order, axis=0), starts]


def _sparse_reshape(
    site: Site, indices: Numbers, old_shape: Numbers, new_shape: Numbers
) -> Sequence[Numbers]:
    """The indices of the elements, and the shape, of a sparse tensor that is reshaped."""
    old, new = (shape.cast("int64").elements() for shape in (old_shape, new_shape))
    if indices.sides(2)[1] != len(old):
        raise site.problem(f"expected {len(old)} columns of indices, as the shape has dims")
    one = number(site, 1, "int64")
    total, known = reduce(mul, old, one), reduce(mul, new, one)
    new = [(total / known.negative()).where(dim.equal(-1), dim) for dim in new]
    rest, columns = one * 0, list[Numbers]()
    for column, dim in zip(indices.cast("int64").parts(1), old, strict=True):
        rest = rest * dim + column
    for dim in reversed(new):
        columns.insert(0, rest.floor_mod(dim))
        rest = rest.floor_divide(dim)
    made = combined(site, "stack", columns, 1), combined(site, "stack", new, 0)
    return [made[0].cast(indices.dtype), made[1].cast(old_shape.dtype)]


def _sparse_fill_empty_rows(
    site: Site, indices: Numbers, values: Numbers, shape: Numbers, default: Numbers
) -> Sequence[Numbers]:
    """
    Give each empty row of a sparse matrix the element `default_value` in its first column.

    Returns the indices and values, by row, and which rows were empty.
    """
    dtype, columns = indices.dtype, indices.sides(2)[1]
    zero, one = (number(site, value, dtype) for value in (0, 1))
    rows = zero.arange(shape.cast(dtype).part(0, 0), one, dtype=dtype)
    is_own = indices.part(0, 1).expand_dims(axis=1).equal(rows)
    is_empty = is_own.any(axis=(0,)).logical_not()
    first = is_empty.argwhere().cast(dtype)  # a column
    added = first * array(site, [1] + [0] * (columns - 1), (1, columns), dtype)
    fill = first.part(0, 1).cast(values.dtype) * 0 + default
    every = combined(site, "concatenate", [indices, added], 0)
    order = every.part(0, 1).argsort(dtype="int64")
    filled = combined(site, "concatenate", [values, fill], 0).take(order, axis=0)
    return [every.take(order, axis=0), is_empty, filled]


# ------------------------------------------------------------------------- random numbers

_BITS = {"float32": ("uint32", 9, 0x3F800000), "float64": ("uint64", 12, 0x3FF0000000000000)}
"""Of each dtype the words, the bits that are shifted out of them, and the number 1 as a word."""


def _random(gen: Numbers, shape: Sequence[int], dtype: str) -> tuple[Numbers, Numbers]:
    """Build the next generator, and numbers in [0, 1)."""
    if dtype not in _BITS:
        raise gen.site.problem(f'out_dtype must be "float32" or "float64", but is "{dtype}"')
    integer, shift, one = _BITS[dtype]
    fields = gen.call("random.threefry_generate", out_shape=tuple(shape)).fields
    bits = fields[1].cast(integer).right_shift(shift).bitwise_or(one)
    return fields[0], bits.reinterpret(dtype=dtype) - 1


def _uniform(site: Site, gen: Numbers, low: Numbers, high: Numbers) -> Sequence[Numbers]:
    next_gen, share = _random(gen, site.integers("out_shape"), site["out_dtype"])
    low, high = low.cast(share.dtype), high.cast(share.dtype)
    return [next_gen, share * (high - low) + low]


def _normal(site: Site, gen: Numbers, mean: Numbers, scale: Numbers) -> Sequence[Numbers]:
    """sqrt(-2 log(1 - u)) sin(2 π v), of two uniform numbers each (Box and Muller)."""
    next_gen, shares = _random(gen, (2, *site.integers("out_shape")), site["out_dtype"])
    u, v = shares.parts(0)
    normal = ((1.0 - u).log() * -2.0).sqrt() * (v * (2 * pi)).sin()
    return [next_gen, normal * scale.cast(u.dtype) + mean.cast(u.dtype)]


def _multinomial(site: Site, gen: Numbers, weights: Numbers) -> Sequence[Numbers]:
    """Build the least index whose cumulative probability is above a uniform number, by sample."""
    *outer, _ = weights.shape or (0,)
    if DYNAMIC_INDEX in outer:
        raise site.problem("the shape of the samples must be static")
    probs = weights.cast("float32").maximum(0)
    until = (probs / probs.sum(axis=(-1,), keepdims=True)).cumsum(axis=-1)
    next_gen, share = _random(gen, (*outer, site["num_samples"]), "float32")
    above = until.expand_dims(axis=-1) - share.expand_dims(axis=-2)
    nearest = above.where(above.greater(0), 1)
    return [next_gen, nearest.argmin(axis=(-2,), dtype="int32")]


SIGNALS: Mapping[str, Rule] = {
    "dft": by_formula(_dft, inverse=False),
    "nn.sparse_add": by_formula(_sparse_add),
    "nn.sparse_dense": by_formula(_sparse_dense, sparse_lhs=False),
    "nn.sparse_transpose": by_formula(_sparse_transpose),
    "random.multinomial": by_formula(_multinomial, num_samples=1),
    "random.normal": by_formula(_normal, out_shape=(), out_dtype="float32"),
    "random.uniform": by_formula(_uniform, out_shape=(), out_dtype="float32"),
    "sparse_fill_empty_rows": by_formula(_sparse_fill_empty_rows),
    "sparse_reshape": by_formula(_sparse_reshape),
    "stft": by_formula(
        _stft, n_fft=None, hop_length=None, win_length=None, normalized=False, onesided=True
    ),
}
"""The rule of each of these operators, by its TVM name."""
