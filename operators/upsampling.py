"""Operators that scale images and volumes: rules and meanings."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import isfinite
from typing import Literal, TypeAlias

from .meaning.forms import ByIndex, defined
from .meaning.number import FLOAT64, INT64, Number, Source, clamped
from .operands import require_float, require_rank
from .rules import Work, rule
from .signature import Data, ElementKind, Tensor, measure_data, ranked
from .sizes import SignatureError, Size, measure, require_at_least
from .windows import Layout, spatial

Layout3d: TypeAlias = Literal["NCDHW", "NDHWC"]
Method: TypeAlias = Literal["nearest_neighbor", "bilinear"]
Method3d: TypeAlias = Literal["nearest_neighbor", "trilinear"]
Mode: TypeAlias = Literal["half_pixel", "align_corners", "asymmetric"]


_OPERANDS: Mapping[str, object] = dict.fromkeys(("scale_d", "scale_h", "scale_w"), Data)


def _scaled(size: Size, scale: float | Data, name: str) -> Size:
    if isinstance(scale, Data):
        if scale.rank or scale.element.kind is not ElementKind.FLOAT:
            raise SignatureError(f"{name} must be a scalar float, but is {scale.tensor}")
        scaled = measure_data("rounded_product", size, scale)
        return require_at_least(scaled, 0, f"a dim times {name} must be at least 0, but is {{0}}")
    if not (isfinite(scale) and 0 < scale <= 2**32):
        raise SignatureError(f"{name} must be above 0 and at most 2^32, but is {scale}")
    whole = float(scale).is_integer()
    return size * int(scale) if whole else measure("rounded_product", size, scale)


def _upsampled(
    data: Tensor, layout: str, method: str, scales: Mapping[str, float | Data]
) -> Tensor:
    """Infer `data` with its sides times the scales, rounded."""
    require_rank(data, len(layout), "data")
    if method != "nearest_neighbor":
        require_float(data.element, f"data, with method {method},")
    dims, is_read = list(data.dims), any(isinstance(scale, Data) for scale in scales.values())
    for side, scale in scales.items():
        axis = layout.index(side)
        if is_read:  # the meaning reads an element even where the scale is 0
            require_at_least(dims[axis], 1, f"axis {axis} of data must be at least 1, but is {{0}}")
        dims[axis] = _scaled(dims[axis], scale, f"scale_{side.lower()}")
    return ranked(data.element, tuple(dims))


@rule("relay.nn.upsampling", work=Work.LINEAR)
@rule("relay.dyn.nn.upsampling", work=Work.LINEAR, types=_OPERANDS)
def upsampling(
    data: Tensor,
    *,
    scale_h: float | Data = 1.0,
    scale_w: float | Data = 1.0,
    layout: Layout,
    method: Method,
    align_corners: bool,
) -> Tensor:
    """Infer `data` with height and width times `scale_h` and `scale_w`, rounded."""
    return _upsampled(data, layout, method, {"H": scale_h, "W": scale_w})


@rule("relay.nn.upsampling3d", work=Work.LINEAR)
@rule("relay.dyn.nn.upsampling3d", work=Work.LINEAR, types=_OPERANDS)
def upsampling3d(
    data: Tensor,
    *,
    scale_d: float | Data = 1.0,
    scale_h: float | Data = 1.0,
    scale_w: float | Data = 1.0,
    layout: Layout3d,
    method: Method3d,
    coordinate_transformation_mode: Mode,
) -> Tensor:
    """Infer `data` with depth, height and width times the scales, rounded."""
    return _upsampled(data, layout, method, {"D": scale_d, "H": scale_h, "W": scale_w})


def _place(i: Number, dim: Number, size: Number, mode: str) -> Number:
    """Return where the index `i` of `size` is among `dim` elements, with fractions."""
    at, count, total = (x.converted(FLOAT64) for x in (i, dim, size))
    if mode == "align_corners":
        return at * ((count - 1) / (total - 1).apply("maximum", total.constant(1)))
    return (at + 0.5) * (count / total) - 0.5 if mode == "half_pixel" else at * (count / total)


def _between(
    index: Sequence[Number],
    data: Source,
    scales: Sequence[Number | float],
    layout: str,
    is_nearest: bool,
    mode: str,
) -> Number:
    """Return the element nearest to a place, or interpolate linearly along each side."""
    ends: list[list[tuple[int, Number, Number | None]]] = []
    for axis, scale in zip(spatial(layout), scales, strict=True):
        dim, i = data.dims[axis], index[axis]
        factor = scale.converted(FLOAT64) if isinstance(scale, Number) else scale
        size = (dim.converted(FLOAT64) * factor).math("round").converted(INT64)
        if is_nearest and mode == "asymmetric":
            ends.append([(axis, (i * dim).apply("quotient", size), None)])
            continue
        place = _place(i, dim, size, mode)
        # TVM rounds down what is barely below an index to that index
        low = (place + ((0.5 if mode == "align_corners" else 1e-5) if is_nearest else 0)).math(
            "floor"
        )
        first, share = low.converted(INT64), place - low
        ends.append([(axis, clamped(first, dim), None if is_nearest else 1 - share)])
        if not is_nearest:
            ends[-1].append((axis, clamped(first + 1, dim), share))
    total: Number | None = None
    for corner in product(*ends):
        at = list(index)
        for axis, place, _ in corner:
            at[axis] = place
        if is_nearest:
            return data[at]
        term = data[at].converted(FLOAT64)
        for *_, share in corner:
            term = term * share
        total = term if total is None else total + term
    assert total is not None, "there are corners"
    return total.converted(data.element)


@defined(ByIndex, "relay.nn.upsampling", "relay.dyn.nn.upsampling")
def upsampled(
    index: Sequence[Number],
    data: Source,
    *scales: Source,
    scale_h: float | None,
    scale_w: float | None,
    layout: str,
    method: str,
    align_corners: bool,
) -> Number:
    """data[…, i h / H, j w / W, …], where the result is H x W; bilinear: between the pixels"""
    is_nearest = method == "nearest_neighbor"
    mode = "align_corners" if align_corners and not is_nearest else "asymmetric"
    factors = [scale[[]] for scale in scales] or [scale_h or 1.0, scale_w or 1.0]
    return _between(index, data, factors, layout, is_nearest, mode)


@defined(ByIndex, "relay.nn.upsampling3d", "relay.dyn.nn.upsampling3d")
def upsampled_volumes(
    index: Sequence[Number],
    data: Source,
    *scales: Source,
    scale_d: float | None,
    scale_h: float | None,
    scale_w: float | None,
    layout: str,
    method: str,
    coordinate_transformation_mode: str,
) -> Number:
    """data[…, i d / D, …], at the places of the mode; trilinear: between the elements"""
    factors = [scale[[]] for scale in scales]
    factors = factors or [scale_d or 1.0, scale_h or 1.0, scale_w or 1.0]
    is_nearest = method == "nearest_neighbor"
    return _between(index, data, factors, layout, is_nearest, coordinate_transformation_mode)
