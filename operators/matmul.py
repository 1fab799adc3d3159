"""Rules and meanings of matrix products."""

from collections.abc import Sequence
from typing import Any

from .meaning.forms import Folded, defined
from .meaning.number import Number, Source, clamped
from .operands import require_number, require_rank, require_same_element
from .rules import Work, rule
from .signature import Element, Tensor, ranked
from .sizes import Shape, SignatureError, Size, broadcast, require_equal

_REDUCED = "the reduced dims must be equal, but are {0} and {1}"


def product_element(operands: Sequence[Tensor], out_dtype: Element | None) -> Element:
    """
    Return the element type of a sum of products: `out_dtype`, or that of the operands.

    With `out_dtype`, the operands' number types may differ (u8 times i8).
    """
    for i, operand in enumerate(operands):
        require_number(operand.element, f"operand {i} of {{op}}")
    if out_dtype is None:
        return require_same_element(operands)
    require_number(out_dtype, "the result of {op}")
    return out_dtype


def weighted(x: Number, w: Number, out_dtype: Element | None) -> Number:
    """Return a product as a term of a sum."""
    element = out_dtype or x.element
    return x.converted(element).widened() * w.converted(element).widened()


def _depth(data: Sequence[Any], weight: Sequence[Any]) -> Sequence[Any]:
    return data[-1:]


@rule("relay.nn.dense", work=Work.PRODUCTS)
def dense(data: Tensor, weight: Tensor, *, out_dtype: Element | None) -> Tensor:
    """Infer (…, units) from `data` (…, k) and `weight` (units, k)."""
    element = product_element((data, weight), out_dtype)
    require_rank(weight, 2, "weight")
    units, k = weight.dims
    if not data.dims:
        raise SignatureError("data must have rank at least 1, but has rank 0")
    require_equal(data.dims[-1], k, _REDUCED)
    return Tensor(element, (*data.dims[:-1], units))


@defined(Folded, "relay.nn.dense", box=_depth)
def rows_by_rows(
    index: Sequence[Number], data: Source, weight: Source, *, out_dtype: Element | None
) -> Number:
    """data[…, k] weight[j, k] over all k"""
    *rows, unit, k = index
    return weighted(data[[*rows, k]], weight[[unit, k]], out_dtype)


def _rows_and_columns(
    a: Shape, b: Shape, transpose_a: bool, transpose_b: bool
) -> tuple[Size, Size]:
    n, k = reversed(a) if transpose_a else a
    k_too, m = reversed(b) if transpose_b else b
    require_equal(k, k_too, _REDUCED)
    return n, m


@rule("relay.nn.packed_dense", work=Work.PRODUCTS)
def packed_dense(data: Tensor, panels: Tensor, *, out_dtype: Element | None) -> Tensor:
    """Infer (…, p * w) from `data` (…, k) and `panels` (p, k, w)."""
    element = product_element((data, panels), out_dtype)
    require_rank(panels, 3, "panels")
    count, k, width = panels.dims
    if not data.dims:
        raise SignatureError("data must have rank at least 1, but has rank 0")
    require_equal(data.dims[-1], k, _REDUCED)
    return ranked(element, (*data.dims[:-1], count * width))


@defined(Folded, "relay.nn.packed_dense", box=_depth)
def rows_by_panels(
    index: Sequence[Number], data: Source, panels: Source, *, out_dtype: Element | None
) -> Number:
    """data[…, k] panels[j / w, k, j % w] over all k"""
    (*rows, unit, k), width = index, panels.dims[2]
    panel, column = unit.apply("quotient", width), unit.apply("remainder", width)
    return weighted(data[[*rows, k]], panels[[panel, k, column]], out_dtype)


@rule("relay.nn.matmul", work=Work.PRODUCTS)
def matmul(
    a: Tensor, b: Tensor, *, transpose_a: bool, transpose_b: bool, out_dtype: Element | None
) -> Tensor:
    """Infer (…, n, m) from `a` (…, n, k) and `b` (k, m), either one optionally transposed."""
    element = product_element((a, b), out_dtype)
    if transpose_a or a.rank < 2:
        require_rank(a, 2, "a")
    require_rank(b, 2, "b")
    *rest, n, k = a.dims
    return Tensor(element, (*rest, *_rows_and_columns((n, k), b.dims, transpose_a, transpose_b)))


@rule("relay.nn.batch_matmul", work=Work.PRODUCTS)
def batch_matmul(
    x: Tensor, y: Tensor, *, transpose_a: bool, transpose_b: bool, out_dtype: Element | None
) -> Tensor:
    """Infer (b, n, m) from `x` (b, n, k) and `y` (b, k, m), transposed or not; a 1 broadcasts."""
    element = product_element((x, y), out_dtype)
    require_rank(x, 3, "x")
    require_rank(y, 3, "y")
    dims = _rows_and_columns(x.dims[1:], y.dims[1:], transpose_a, transpose_b)
    message = "batches must be equal or 1, but are {0} and {1}"
    return Tensor(element, (broadcast(x.dims[0], y.dims[0], message), *dims))


def _columns(a: Sequence[Any], b: Sequence[Any], *, transpose_a: bool) -> Sequence[Any]:
    return [a[-2 if transpose_a else -1]]


@defined(Folded, "relay.nn.matmul", "relay.nn.batch_matmul", box=_columns)
def rows_by_columns(
    index: Sequence[Number],
    a: Source,
    b: Source,
    *,
    transpose_a: bool,
    transpose_b: bool,
    out_dtype: Element | None,
) -> Number:
    """a[…, i, k] b[…, k, j] over all k"""
    *batch, row, column, k = index
    places = [k, row] if transpose_a else [row, k], [column, k] if transpose_b else [k, column]
    x, y = (
        source[[*map(clamped, batch, source.dims[:-2]), *place]]
        for source, place in zip((a, b), places, strict=True)
    )
    return weighted(x, y, out_dtype)
