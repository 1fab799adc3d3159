"""The places and weights of pixels from which images are resized, as formulas."""

from collections.abc import Sequence
from functools import reduce
from operator import add

from .meaning.number import Number
from .vision import Resizing

_SHIFTS = {"round": 0.5, "round_prefer_ceil": 0.5, "round_prefer_floor": -0.5}


def position(how: Resizing, pixel: Number, old: Number, new: Number) -> Number:
    """Return the position of a pixel of `new`, which may be a fraction more, among `old` ones."""
    mode = how.coordinate_transformation_mode
    if mode == "align_corners":
        return pixel * ((old - 1) / (new - 1).apply("maximum", new.constant(1)))
    scale = new / old
    if mode == "asymmetric":
        return pixel / scale
    place = (pixel + 0.5) / scale
    if mode == "tf_half_pixel_for_nn":
        return place
    place = place - 0.5
    return (new > 1).select(place, 0) if mode == "pytorch_half_pixel" else place


def nearest(how: Resizing, pixel: Number, old: Number, new: Number) -> Number:
    """Return the whole number nearest to a position, which may be outside."""
    corners = how.coordinate_transformation_mode == "align_corners"
    mode = how.rounding_method or ("round" if corners else "floor")
    place, shift = position(how, pixel, old, new), _SHIFTS.get(mode)
    place = place if shift is None else place + shift
    return place.math("ceil" if mode in ("ceil", "round_prefer_floor") else "floor")


def offsets(how: Resizing) -> Sequence[int]:
    """Return the pixels that one is interpolated from, relative to that before its position."""
    return (0, 1) if how.method == "linear" else (-1, 0, 1, 2)


def weights(how: Resizing, exact: Number, old: Number) -> Sequence[Number]:
    """Return the weights of the pixels at `offsets` of the position `exact`."""
    floor = exact.math("floor")
    t, excludes = exact - floor, how.method == "cubic" and how.cubic_exclude != 0
    found: list[Number] = []
    for offset in offsets(how):
        weight = _weight(how, offset - t if offset > 0 else t - offset, offset in (-1, 2))
        if excludes:
            pixel = floor + offset
            weight = ((pixel > -1) & (pixel < old)).select(weight, 0)
        found.append(weight)
    total = reduce(add, found) if excludes else None
    return found if total is None else [weight / total for weight in found]


def _weight(how: Resizing, distance: Number, far: bool) -> Number:
    """Return the weight of a pixel at `distance`, which is `far` if it may be above 1."""
    if how.method == "linear":
        return 1 - distance
    a = how.cubic_alpha
    if far:
        return ((distance * a - 5 * a) * distance + 8 * a) * distance - 4 * a
    return (distance * (a + 2) - (a + 3)) * distance * distance + 1
