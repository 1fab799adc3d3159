"""Resizing of images."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from ..memory.scratch import scratch
from .bind import Array, Attrs, Bind, Thunk, integer, number, sequence, widen_half, word

COORDINATES: Mapping[str, Callable[[Array, int, float], Array]] = {
    "half_pixel": lambda x, old, new: (x + 0.5) / _scale(x, old, new) - 0.5,
    "align_corners": lambda x, old, new: (
        x * (x.dtype.type(old - 1) / x.dtype.type(max(new - 1, 1)))
    ),
    "asymmetric": lambda x, old, new: x / _scale(x, old, new),
    "pytorch_half_pixel": lambda x, old, new: (
        (x + 0.5) / _scale(x, old, new) - 0.5 if new > 1 else x * 0
    ),
    "tf_half_pixel_for_nn": lambda x, old, new: (x + 0.5) / _scale(x, old, new),
}
"""Map pixels `x` of `new` to positions among `old` pixels."""

ROUNDINGS: Mapping[str, Callable[[Array], Array]] = {
    "round": lambda x: np.floor(x + 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def _scale(x: Array, old: int, new: float) -> float:
    return x.dtype.type(new) / x.dtype.type(old)


def _positions(attrs: Attrs, old: int, new: float) -> Array:
    """
    Return the position of each of `new` pixels, which may be a fraction more, among `old` ones.

    To choose the nearest pixel it is computed in float32, as in onnxruntime.
    """
    nearest = word(attrs, "method") == "nearest_neighbor"
    pixels = np.arange(int(new), dtype=np.float32 if nearest else np.float64)
    return COORDINATES[word(attrs, "coordinate_transformation_mode")](pixels, old, new)


def nearest(attrs: Attrs, old: int, new: float) -> Array:
    """Return the index of the pixel nearest to each of `new` pixels."""
    mode = word(attrs, "coordinate_transformation_mode")
    rounding = word(attrs, "rounding_method") or ("round" if mode == "align_corners" else "floor")
    places = ROUNDINGS[rounding](_positions(attrs, old, new))
    return np.clip(places, 0, old - 1).astype(np.intp)


def cubic_weights(t: Array, a: float) -> list[Array]:
    """Return the weights of four pixels, of which the second is `t` before the position."""
    s = 1 - t
    return [
        ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a,
        ((a + 2) * t - (a + 3)) * t * t + 1,
        ((a + 2) * s - (a + 3)) * s * s + 1,
        ((a * (s + 1) - 5 * a) * (s + 1) + 8 * a) * (s + 1) - 4 * a,
    ]


def taps(attrs: Attrs, old: int, new: float) -> list[tuple[Array, Array]]:
    """Return the pixels that each of `new` pixels is interpolated from, and their weights."""
    at = _positions(attrs, old, new)
    first = np.floor(at)
    t = at - first
    if word(attrs, "method") == "linear":
        places, weights = [first, first + 1], [1 - t, t]
    else:
        places = [first + i for i in range(-1, 3)]
        weights = cubic_weights(t, number(attrs, "cubic_alpha"))
        if integer(attrs, "cubic_exclude"):
            weights = [
                np.where((0 <= p) & (p < old), w, 0) for p, w in zip(places, weights, strict=True)
            ]
            total = sum(weights)
            weights = [w / total for w in weights]
    return [
        (np.clip(p, 0, old - 1).astype(np.intp), w) for p, w in zip(places, weights, strict=True)
    ]


def _interpolate(attrs: Attrs, x: Array, y: Array, axis: int, new: float) -> Thunk:
    """Return a thunk that resizes `axis` of `x` to that of `y`, of `new` pixels."""
    part = scratch(y.shape, y.dtype)
    steps: list[Thunk] = [partial(y.fill, 0)]
    for places, weights in taps(attrs, x.shape[axis], new):
        along = weights.astype(y.dtype).reshape(-1, *[1] * (y.ndim - axis - 1))
        steps += [
            partial(np.take, x, places, axis, part, "clip"),
            partial(np.multiply, part, along, part),
            partial(np.add, y, part, y),
        ]
    return sequence(*steps)


def resize2d(
    attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array], size: Sequence[float] = ()
) -> Thunk:
    """Resize rows, then columns; `size` is that of the result unless it has fractions."""
    x, (y,) = ins[0], outs
    h = word(attrs, "layout").index("H")
    tall = scratch((*x.shape[:h], y.shape[h], *x.shape[h + 1 :]), x.dtype)
    size = size or y.shape[h : h + 2]
    if word(attrs, "method") == "nearest_neighbor":
        rows, columns = (nearest(attrs, x.shape[h + i], size[i]) for i in range(2))
        return sequence(
            partial(np.take, x, rows, h, tall, "clip"),
            partial(np.take, tall, columns, h + 1, y, "clip"),
        )
    return sequence(
        _interpolate(attrs, x, tall, h, size[0]), _interpolate(attrs, tall, y, h + 1, size[1])
    )


def sized(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Resize to the size of the result; fractions of the operand `size` are read at each run."""
    x, size = ins[:2]
    if size.dtype.kind != "f":
        return widen_half(resize2d)(attrs, [x], outs)

    def run() -> None:
        widen_half(partial(resize2d, size=size.tolist()))(attrs, [x], outs)()

    return run


KERNELS: dict[str, Bind] = {
    "relay.dyn.image.resize2d": sized,
    "relay.image.resize2d": widen_half(resize2d),
}
