"""
Random operands and attributes for each operator of `relay`, for the tests of kernels.

`case(name, number)` is deterministic: it depends only on the operator's name and the number.
`GENERATORS` draw an operator's operands and attributes; the operator's type rule rejects invalid
ones, and the kernel must compute all that it accepts. Sizes are small, often 0 or 1; windows,
strides and padding may exceed the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import prod
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
from helpers.operators.inferring import FORMULAS, OPERATORS
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.test import TestOp
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.attributes import ELEMENT_TYPES, plain_attributes, properties_of
from xrelay.dialects.device import tensor_type
from xrelay.dialects.tensors import as_tensor
from xrelay.operators.all_rules import RULES
from xrelay.operators.signature import ELEMENTS, Call, SignatureError, Tensor
from xrelay.runtime.kernels.checked import call_on

Array: TypeAlias = Any
Spec: TypeAlias = tuple[tuple[int, ...], str]
"""A tensor's shape and the name of its NumPy dtype."""
Given: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Proposal: TypeAlias = tuple[Sequence[Spec | Given], Mapping[str, Any]]
"""
Operands and attributes, which may be invalid.

An operand that shapes depend on is an array; the elements of the others are drawn later.
"""

FLOATS = ("float16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
DTYPES = ("bool", *FLOATS, *SIGNED, *UNSIGNED)
MOST_ELEMENTS = 2000
"""The maximum number of elements of an operand or result."""


@dataclass(frozen=True)
class Draw:
    """Random choices for a case; most of its operands have the element type `dtype`."""

    rng: np.random.Generator
    dtype: str

    def number(self, least: int, most: int) -> int:
        return int(self.rng.integers(least, most + 1))

    def chance(self, share: float = 0.5) -> bool:
        return bool(self.rng.random() < share)

    def one_of(self, *choices: Any) -> Any:
        return choices[self.number(0, len(choices) - 1)]

    def size(self, most: int = 5) -> int:
        return self.one_of(0, 1, 1, *range(1, most + 1), *range(2, most + 1))

    def shape(self, least: int = 0, most: int = 4) -> tuple[int, ...]:
        return tuple(self.size() for _ in range(self.number(least, most)))

    def axis(self, rank: int) -> int:
        """An axis, counted from either end; 0 if there is none."""
        return self.number(-rank, rank - 1) if rank else 0

    def some_axes(self, rank: int) -> tuple[int, ...]:
        """Distinct axes in any order, each counted from either end."""
        chosen = self.rng.permutation(rank)[: self.number(0, rank)]
        return tuple(int(axis) - self.one_of(0, rank) for axis in chosen)

    def given(self, **attrs: Any) -> dict[str, Any]:
        """Keep each of `attrs` with a high probability; the others have their default."""
        return {name: value for name, value in attrs.items() if self.chance(0.7)}

    def flags(self, *names: str) -> dict[str, bool]:
        return self.given(**{name: self.chance() for name in names})

    def fraction(self, least: float, most: float) -> float:
        """A float that is exact in float16."""
        return float(np.float16(self.rng.uniform(least, most)))


Generator: TypeAlias = Callable[[Draw], Proposal]

# -------------------------------------------------------------------- elements


def one_tensor(draw: Draw) -> Proposal:
    return [(draw.shape(), draw.dtype)], {}


def leaky_relu(draw: Draw) -> Proposal:
    alpha = draw.one_of(0.0, 1.0, draw.fraction(-2, 0), draw.fraction(0, 1), draw.fraction(1, 3))
    return [(draw.shape(), draw.dtype)], draw.given(alpha=alpha)


def round_ties(draw: Draw) -> Proposal:
    return [(draw.shape(), draw.dtype)], draw.given(ties=draw.one_of("even", "away"))


def gelu(draw: Draw) -> Proposal:
    return [(draw.shape(), draw.dtype)], draw.given(approximate=draw.one_of("none", "tanh"))


def clip(draw: Draw) -> Proposal:
    low = draw.one_of(-float("inf"), -300.0, draw.fraction(-9, 5))
    high = draw.one_of(float("inf"), 300.0, 2.0**64, max(low, -9) + 1 + draw.fraction(0, 9))
    return [(draw.shape(), draw.dtype)], {"a_min": low, "a_max": high}


def cast(draw: Draw) -> Proposal:
    return [(draw.shape(), draw.dtype)], {"dtype": draw.one_of(*DTYPES)}


def fixed_point_multiply(draw: Draw) -> Proposal:
    attributes = {"multiplier": draw.number(-(2**31), 2**31 - 1), "shift": draw.number(-31, 3)}
    return [(draw.shape(), "int32")], attributes


def reinterpret(draw: Draw) -> Proposal:
    dtype = np.dtype(draw.dtype)
    alike = [d for d in DTYPES if np.dtype(d).itemsize == dtype.itemsize and d != "bool"]
    return [(draw.shape(), draw.dtype)], {"dtype": draw.one_of(*alike)}


def full(draw: Draw) -> Proposal:
    return [((), draw.dtype)], {"shape": draw.shape()}


def _narrowed(draw: Draw, shape: Sequence[int]) -> tuple[int, ...]:
    """A shape that broadcasts to `shape`: some dims are 1, some of the first are absent."""
    kept = shape[draw.number(0, len(shape)) :] if draw.chance(0.3) else shape
    return tuple(1 if draw.chance(0.3) else dim for dim in kept)


def broadcast(count: int) -> Generator:
    def generate(draw: Draw) -> Proposal:
        shape = draw.shape()
        return [(_narrowed(draw, shape), draw.dtype) for _ in range(count)], {}

    return generate


def where(draw: Draw) -> Proposal:
    shapes = [_narrowed(draw, shape) for shape in [draw.shape()] * 3]
    return list(zip(shapes, ("bool", draw.dtype, draw.dtype), strict=True)), {}


def along_axis(draw: Draw) -> Proposal:
    shape = draw.shape(1)
    axis = draw.axis(len(shape))
    attrs = {} if axis == 1 and draw.chance() else {"axis": axis}
    length = shape[axis] if draw.chance() or draw.chance() else 1
    return [(shape, draw.dtype), ((length,), draw.dtype)], attrs


# -------------------------------------------------------------------- reductions


def reduction(draw: Draw) -> Proposal:
    shape = draw.shape()
    attrs = draw.given(axis=draw.some_axes(len(shape)))
    return [(shape, draw.dtype)], {**attrs, **draw.flags("keepdims", "exclude")}


def position(draw: Draw) -> Proposal:
    shape = draw.shape()
    attrs = draw.given(
        axis=draw.one_of((draw.axis(len(shape)),), draw.some_axes(len(shape))),
        dtype=draw.one_of(*SIGNED, *UNSIGNED),
    )
    return [(shape, draw.dtype)], {
        **attrs,
        **draw.flags("keepdims", "exclude", "select_last_index"),
    }


# -------------------------------------------------------------------- products


def _factors(draw: Draw) -> tuple[tuple[str, str], dict[str, str]]:
    """The element types of two factors, and the attribute for that of their product."""
    if draw.chance(0.6):
        return (draw.dtype, draw.dtype), {}
    other = draw.one_of(draw.dtype, *DTYPES)
    return (draw.dtype, other), {"out_dtype": draw.one_of(*FLOATS, *SIGNED, *UNSIGNED)}


def dense(draw: Draw) -> Proposal:
    (a, b), attrs = _factors(draw)
    k = draw.size(8)
    return [((*draw.shape(0, 3), k), a), ((draw.size(), k), b)], attrs


def packed_dense(draw: Draw) -> Proposal:
    (a, b), attrs = _factors(draw)
    k = draw.size(8)
    return [((*draw.shape(0, 3), k), a), ((draw.size(), k, draw.size()), b)], attrs


def matmul(draw: Draw) -> Proposal:
    (a, b), attrs = _factors(draw)
    attrs = {**attrs, **draw.flags("transpose_a", "transpose_b")}
    n, k, m = draw.size(), draw.size(8), draw.size()
    left = (k, n) if attrs.get("transpose_a") else (*draw.shape(0, 2), n, k)
    right = (m, k) if attrs.get("transpose_b") else (k, m)
    return [(left, a), (right, b)], attrs


def batch_matmul(draw: Draw) -> Proposal:
    (a, b), attrs = _factors(draw)
    attrs = {**attrs, **draw.flags("transpose_a", "transpose_b")}
    n, k, m, batch = draw.size(), draw.size(8), draw.size(), draw.size()
    left = (k, n) if attrs.get("transpose_a", False) else (n, k)
    right = (m, k) if attrs.get("transpose_b", True) else (k, m)
    batches = draw.one_of((batch, batch), (1, batch), (batch, 1))
    return [((batches[0], *left), a), ((batches[1], *right), b)], attrs


# -------------------------------------------------------------------- normalization


def softmax(draw: Draw) -> Proposal:
    shape = draw.shape(1)
    return [(shape, draw.dtype)], draw.given(axis=draw.axis(len(shape)))


def normalization(vectors: int, default_axis: int) -> Generator:
    def generate(draw: Draw) -> Proposal:
        shape = draw.shape(1)
        attrs = draw.given(axis=draw.axis(len(shape)), epsilon=draw.fraction(0.01, 1))
        axis: int = attrs.get("axis", default_axis)
        vector: Spec = ((shape[axis] if axis < len(shape) else 1,), draw.dtype)
        operands: list[Spec] = [(shape, draw.dtype), *[vector] * vectors]
        return operands, {**attrs, **draw.flags("center", "scale")}

    return generate


def lrn(draw: Draw) -> Proposal:
    shape = draw.shape(1)
    attrs = draw.given(
        size=draw.one_of(1, 2, 3, 4, 5, 7, 100),
        axis=draw.axis(len(shape)),
        bias=draw.fraction(0.5, 3),
        alpha=draw.fraction(0, 2),
        beta=draw.fraction(-1, 2),
    )
    return [(shape, draw.dtype)], attrs


# -------------------------------------------------------------------- windows


def _image(channels: int, layout: str, draw: Draw, least: int = 1) -> tuple[int, ...]:
    n, h, w = draw.one_of(0, 1, 1, 1, 2, 2), draw.number(least, 7), draw.number(least, 7)
    return (n, channels, h, w) if layout == "NCHW" else (n, h, w, channels)


def _pair(draw: Draw, most: int) -> tuple[int, int]:
    return draw.one_of((1, 1), (draw.number(1, most), draw.number(1, most)))


def _windows(draw: Draw, cells: Sequence[int], sizes: Sequence[int]) -> dict[str, Any]:
    """
    Strides, dilation and padding of windows of `cells` on an image of `sizes`. Often windows
    exceed the image; often there are as many windows as the image has cells.
    """
    strides = _pair(draw, draw.one_of(2, 9)) if draw.chance(0.7) else (1, 1)
    dilation = _pair(draw, draw.one_of(2, 4, 9)) if draw.chance(0.7) else (1, 1)
    padding = [draw.number(0, draw.one_of(1, 3, 12)) for _ in range(4)]
    if draw.chance(0.3):
        for i in (0, 1):
            reach = (sizes[i] - 1) * strides[i] + (cells[i] - 1) * dilation[i] + 1
            padding[i] = draw.number(0, max(0, reach - sizes[i]))
            padding[i + 2] = max(0, reach - sizes[i] - padding[i])
    attrs = {"strides": strides, "dilation": dilation}
    return {**attrs, **({"padding": tuple(padding)} if draw.chance(0.8) else {})}


def _channels(draw: Draw) -> tuple[int, int, int]:
    """Groups, and input and output channels per group."""
    depthwise = (draw.number(1, 4), 1, draw.number(1, 2))
    return draw.one_of((1, draw.size(3), draw.size(4)), (draw.number(1, 3), 2, 3), depthwise)


def _sizes(data: Sequence[int], layout: str) -> Sequence[int]:
    return data[2:] if layout == "NCHW" else data[1:3]


def conv2d(draw: Draw) -> Proposal:
    (a, b), out_dtype = _factors(draw)
    groups, channels, filters = _channels(draw)
    kernels = ("OIHW", "HWIO", "OHWI8o") if groups == 1 else ("OIHW", "HWIO")
    layout, kernel_layout = draw.one_of("NCHW", "NHWC"), draw.one_of(*kernels)
    cells = draw.one_of((1, 1), _pair(draw, 4))
    data = _image(groups * channels, layout, draw)
    weight = (groups * filters, channels, *cells)
    if kernel_layout == "HWIO":
        weight = (*weight[2:], weight[1], weight[0])
    elif kernel_layout == "OHWI8o":
        weight = (draw.number(1, 2), *cells, channels, 8)
    layouts = {"data_layout": layout, "kernel_layout": kernel_layout, "groups": groups}
    return [(data, a), (weight, b)], {
        **out_dtype,
        **layouts,
        **_windows(draw, cells, _sizes(data, layout)),
    }


def conv2d_transpose(draw: Draw) -> Proposal:
    groups, channels, filters = _channels(draw)
    cells, data = _pair(draw, 4), _image(groups * channels, "NCHW", draw)
    attrs = {"groups": groups, **_windows(draw, cells, data[2:])}
    attrs |= draw.given(output_padding=(draw.number(0, 2), draw.number(0, 2)))
    return [(data, draw.dtype), ((groups * channels, filters, *cells), draw.dtype)], attrs


def pool(*flags: str) -> Generator:
    def generate(draw: Draw) -> Proposal:
        layout = draw.one_of("NCHW", "NHWC")
        cells = draw.one_of((1, 1), _pair(draw, 3), _pair(draw, 20))
        data = _image(draw.number(0, 2), layout, draw, 0)
        attrs = {"layout": layout, "pool_size": cells}
        attrs |= _windows(draw, cells, _sizes(data, layout))
        return [(data, draw.dtype)], {**attrs, **draw.flags("ceil_mode", *flags)}

    return generate


_LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def _spatial(draw: Draw, layout: str, channels: int, sizes: Sequence[int]) -> tuple[int, ...]:
    """The dims of one or two images of `sizes` with some channels, in a layout."""
    n = draw.one_of(0, 1, 1, 1, 2, 2)
    return (n, channels, *sizes) if layout[1] == "C" else (n, *sizes, channels)


def pool_on(sides: int, *flags: str) -> Generator:
    def generate(draw: Draw) -> Proposal:
        layout = draw.one_of(*_LAYOUTS[sides])
        sizes = [draw.number(1, 9 - 2 * sides + 2) for _ in range(sides)]
        steps: dict[str, Any] = draw.given(
            strides=tuple(draw.number(1, 3) for _ in sizes),
            dilation=tuple(draw.number(1, 3) for _ in sizes),
            padding=tuple(draw.number(0, draw.one_of(1, 3)) for _ in (*sizes, *sizes)),
        )
        attrs = {"layout": layout, "pool_size": tuple(draw.number(1, 3) for _ in sizes)}
        operands = [(_spatial(draw, layout, draw.number(0, 2), sizes), draw.dtype)]
        return operands, {**attrs, **steps, **draw.flags("ceil_mode", *flags)}

    return generate


def adaptive_pool(sides: int) -> Generator:
    def generate(draw: Draw) -> Proposal:
        layout = draw.one_of(*_LAYOUTS[sides])
        sizes = [draw.number(1, 9 - 2 * sides + 2) for _ in range(sides)]
        attrs = draw.given(output_size=tuple(draw.number(1, size + 1) for size in sizes))
        operands = [(_spatial(draw, layout, draw.number(0, 2), sizes), draw.dtype)]
        return operands, {"layout": layout, **attrs}

    return generate


def _steps(draw: Draw, sides: int) -> dict[str, Any]:
    """Some strides, padding and dilation of windows over so many sides."""
    return draw.given(
        strides=tuple(draw.number(1, 3) for _ in range(sides)),
        dilation=tuple(draw.number(1, 3) for _ in range(sides)),
        padding=tuple(draw.number(0, 2) for _ in range(2 * sides)),
    )


def conv3d(draw: Draw) -> Proposal:
    (a, b), out_dtype = _factors(draw)
    groups, channels, filters = _channels(draw)
    layout = draw.one_of(*_LAYOUTS[3])
    cells = [draw.number(1, 3) for _ in range(3)]
    weight = (groups * filters, channels, *cells)
    attrs = {"data_layout": layout, "groups": groups, **_steps(draw, 3), **out_dtype}
    if draw.chance():
        attrs["kernel_layout"], weight = "DHWIO", (*cells, channels, groups * filters)
    data = _spatial(draw, layout, groups * channels, [draw.number(1, 5) for _ in cells])
    return [(data, a), (weight, b)], attrs


def conv_transpose(sides: int) -> Generator:
    def generate(draw: Draw) -> Proposal:
        (a, b), out_dtype = _factors(draw)
        groups, channels, filters = _channels(draw)
        cells = [draw.number(1, 3) for _ in range(sides)]
        attrs = {"groups": groups, **_steps(draw, sides), **out_dtype}
        attrs |= draw.given(output_padding=tuple(draw.number(0, 2) for _ in cells))
        sizes = [draw.number(1, 4) for _ in cells]
        data = _spatial(draw, _LAYOUTS[sides][0], groups * channels, sizes)
        return [(data, a), ((groups * channels, filters, *cells), b)], attrs

    return generate


def _window_count(size: int, cells: int, stride: int, dilation: int, padding: int) -> int:
    return max(0, size + padding - (cells - 1) * dilation - 1) // stride + 1


def _of_windows(
    draw: Draw, sizes: Sequence[int], cells: Sequence[int], attrs: Mapping[str, Any]
) -> list[int]:
    """The number of windows along each side."""
    count = len(sizes)
    ones, padding = (1,) * count, attrs.get("padding", (0,) * 2 * count)
    return [
        _window_count(
            size,
            cells[i],
            attrs.get("strides", ones)[i],
            attrs.get("dilation", ones)[i],
            padding[i] + padding[i + count],
        )
        for i, size in enumerate(sizes)
    ]


def conv2d_backward_weight(draw: Draw) -> Proposal:
    (a, b), out_dtype = _factors(draw)
    groups, channels, filters = _channels(draw)
    cells, sizes = _pair(draw, 3), [draw.number(1, 6), draw.number(1, 6)]
    attrs = {"groups": groups, "kernel_size": cells, **_steps(draw, 2), **out_dtype}
    n = draw.number(0, 2)
    grad = (n, groups * filters, *_of_windows(draw, sizes, cells, attrs))
    return [(grad, a), ((n, groups * channels, *sizes), b)], attrs


def deformable_conv2d(draw: Draw) -> Proposal:
    groups, channels, filters = _channels(draw)
    cells, sizes = _pair(draw, 3), [draw.number(1, 5), draw.number(1, 5)]
    moved = draw.one_of(1, groups, max(1, groups * channels))
    attrs = {"groups": groups, "deformable_groups": moved, **_steps(draw, 2)}
    n, dtype = draw.number(0, 2), draw.one_of(*FLOATS)
    windows = _of_windows(draw, sizes, cells, attrs)
    return [
        ((n, groups * channels, *sizes), dtype),
        ((n, 2 * moved * cells[0] * cells[1], *windows), draw.one_of(*FLOATS)),
        ((groups * filters, channels, *cells), dtype),
    ], attrs


def dilation2d(draw: Draw) -> Proposal:
    layout, channels, cells = draw.one_of("NCHW", "NHWC"), draw.size(3), _pair(draw, 3)
    steps = _steps(draw, 2)
    if "dilation" in steps:
        steps["dilations"] = steps.pop("dilation")
    order = draw.one_of("IHW", "HWI")
    weight = (channels, *cells) if order == "IHW" else (*cells, channels)
    data = _spatial(draw, layout, channels, [draw.number(1, 6), draw.number(1, 6)])
    attrs = {"data_layout": layout, "kernel_layout": order, **steps}
    return [(data, draw.dtype), (weight, draw.dtype)], attrs


def pool_grad(*flags: str) -> Generator:
    def generate(draw: Draw) -> Proposal:
        layout, cells = draw.one_of("NCHW", "NHWC"), _pair(draw, 3)
        sizes, steps = [draw.number(1, 6), draw.number(1, 6)], _steps(draw, 2)
        steps.pop("dilation", None)
        data = _spatial(draw, layout, draw.number(0, 2), sizes)
        windows = _of_windows(draw, sizes, cells, steps)
        grad = list(data)
        for axis, count in zip(range(layout.index("H"), 4), windows, strict=False):
            grad[axis] = count
        attrs = {"layout": layout, "pool_size": cells, **steps, **draw.flags(*flags)}
        return [(tuple(grad), draw.dtype), (data, draw.dtype)], attrs

    return generate


def norm_per_image(*, groups: bool = False) -> Generator:
    def generate(draw: Draw) -> Proposal:
        dtype, shape = draw.one_of(*FLOATS), draw.shape(2)
        axis = draw.number(1, len(shape) - 1) - len(shape) * draw.chance()
        attrs: dict[str, Any] = {"axis": axis, **draw.given(epsilon=draw.one_of(1e-3, 0.1))}
        channels = shape[axis]
        if groups:
            attrs["num_groups"] = draw.number(1, max(1, channels))
        vector: Spec = ((channels,), dtype)
        return [(shape, dtype), vector, vector], {**attrs, **draw.flags("center", "scale")}

    return generate


def l2_normalize(draw: Draw) -> Proposal:
    shape = draw.shape(1)
    attrs = {"eps": draw.one_of(1e-3, 0.5), "axis": draw.some_axes(len(shape))}
    return [(shape, draw.one_of(*FLOATS))], attrs


def nll_loss(draw: Draw) -> Proposal:
    dtype, classes, dims = draw.one_of(*FLOATS), draw.number(1, 4), draw.shape(0, 2)
    predictions = (dims[0], classes, *dims[1:]) if dims else (classes,)
    targets = draw.rng.integers(0, classes, dims).astype(draw.one_of(*SIGNED, *UNSIGNED))
    attrs = draw.given(reduction=draw.one_of("none", "sum", "mean"))
    attrs |= draw.given(ignore_index=draw.number(-1, classes))
    return [(predictions, dtype), targets, ((classes,), dtype)], attrs


def space_to_batch(draw: Draw) -> Proposal:
    shape = (draw.size(2), *draw.shape(1, 3))
    count = draw.number(1, len(shape) - 1)
    blocks = tuple(draw.number(1, 3) for _ in range(count))
    paddings: list[int] = []
    for dim, block in zip(shape[1:], blocks, strict=False):
        before = draw.number(0, 2)
        paddings += [before, -(dim + before) % block + draw.one_of(0, block)]
    attrs = {"block_shape": blocks, "paddings": tuple(paddings)}
    return [(shape, draw.dtype)], attrs | draw.given(pad_value=float(draw.number(0, 3)))


def batch_to_space(draw: Draw) -> Proposal:
    shape = draw.shape(1, 3)
    count = draw.number(1, max(1, len(shape)))
    blocks = tuple(draw.number(1, 3) for _ in range(count))
    crops = tuple(draw.number(0, 2) for _ in range(2 * count))
    data = (prod(blocks) * draw.number(0, 2), *shape)
    return [(data, draw.dtype)], {"block_shape": blocks, "crops": crops}


def mirror_pad(draw: Draw) -> Proposal:
    shape = draw.shape()
    width = tuple(draw.number(0, dim) for dim in shape for _ in range(2))
    attrs = draw.given(mode=draw.one_of("SYMMETRIC", "REFLECT"))
    return [(shape, draw.dtype)], {"pad_width": width, **attrs}


def global_pool(draw: Draw) -> Proposal:
    attrs = draw.given(layout=draw.one_of("NCHW", "NHWC"))
    return [(_image(draw.size(3), attrs.get("layout", "NCHW"), draw), draw.dtype)], attrs


def upsampling(sides: int, at: str = "") -> Generator:
    """Scales are attributes, or with `at` operands."""

    def generate(draw: Draw) -> Proposal:
        layout = draw.one_of(*_LAYOUTS[sides])
        scales = {
            f"scale_{letter.lower()}": draw.one_of(1.0, 2.0, 3.0, draw.fraction(0.1, 3))
            for letter in "DHW"[3 - sides :]
        }
        linear = "bilinear" if sides == 2 else "trilinear"
        attrs = draw.given(method=draw.one_of(linear, "nearest_neighbor"))
        if sides == 2:
            attrs |= draw.flags("align_corners")
        else:
            modes = ("half_pixel", "align_corners", "asymmetric")
            attrs |= draw.given(coordinate_transformation_mode=draw.one_of(*modes))
        sizes = [draw.number(0 if sides == 2 and not at else 1, 4) for _ in scales]
        operands: list[Spec | Given] = [(_spatial(draw, layout, draw.size(2), sizes), draw.dtype)]
        if at:
            wide = draw.one_of("float32", "float64")
            operands += [np.array(scale, wide) for scale in scales.values()]
        else:
            attrs |= draw.given(**scales)
        return operands, {"layout": layout, **attrs}

    return generate


# -------------------------------------------------------------------- shapes


def _parts(draw: Draw, dims: Sequence[int]) -> list[int]:
    """Dims with as many elements as `dims`."""
    left, parts = prod(dims), list[int]()
    while left > 1 and draw.chance(0.8):
        part = draw.one_of(*(d for d in range(1, left + 1) if left % d == 0))
        parts.append(part)
        left //= part
    return [*parts, left]


def reshape(draw: Draw) -> Proposal:
    shape = draw.shape()
    if draw.chance(0.3):  # unforeseen combinations: most are rejected
        return [(shape, draw.dtype)], {
            "newshape": tuple(draw.number(-4, 6) for _ in range(draw.number(0, 4))),
            **draw.flags("allowzero"),
        }
    if 0 in shape:
        return [(shape, draw.dtype)], {"newshape": (4, 0, 2), "allowzero": True}
    kept = draw.number(0, len(shape))
    entries = [draw.one_of(0, dim) for dim in shape[:kept]]
    entries += draw.one_of([-2], [-3, -2], [-1], _parts(draw, shape[kept:]), [-4, 1, -1, -2])
    return [(shape, draw.dtype)], {"newshape": tuple(entries)}


def expand_dims(draw: Draw) -> Proposal:
    shape = draw.shape()
    axis = draw.number(-len(shape) - 1, len(shape))
    return [(shape, draw.dtype)], {"axis": axis, **draw.given(num_newaxis=draw.number(0, 3))}


def squeeze(draw: Draw) -> Proposal:
    shape = tuple(draw.one_of(1, draw.size()) for _ in range(draw.number(0, 4)))
    return [(shape, draw.dtype)], draw.given(axis=draw.some_axes(len(shape)))


def transpose(draw: Draw) -> Proposal:
    shape = draw.shape()
    order = [int(axis) for axis in draw.rng.permutation(len(shape))]
    axes = tuple(axis - draw.one_of(0, len(shape)) for axis in order)
    return [(shape, draw.dtype)], draw.given(axes=axes)


def reverse(draw: Draw) -> Proposal:
    shape = draw.shape(1)
    return [(shape, draw.dtype)], draw.given(axis=draw.axis(len(shape)))


def depth_to_space(draw: Draw) -> Proposal:
    block = draw.number(1, 3)
    n, c, h, w = (draw.size(3) for _ in range(4))
    attrs = draw.given(layout=draw.one_of("NCHW", "NHWC"), mode=draw.one_of("DCR", "CDR"))
    channels = c * block * block
    is_last = attrs.get("layout") == "NHWC"
    shape = (n, h, w, channels) if is_last else (n, channels, h, w)
    return [(shape, draw.dtype)], {"block_size": block, **attrs}


def space_to_depth(draw: Draw) -> Proposal:
    block = draw.number(1, 3)
    n, c, h, w = (draw.size(3) for _ in range(4))
    attrs = draw.given(layout=draw.one_of("NCHW", "NHWC"))
    sides = h * block, w * block
    shape = (n, *sides, c) if attrs.get("layout") == "NHWC" else (n, c, *sides)
    return [(shape, draw.dtype)], {"block_size": block, **attrs}


def dilate(draw: Draw) -> Proposal:
    shape = tuple(draw.number(1, 4) for _ in range(draw.number(0, 4)))
    strides = tuple(draw.number(1, 3) for _ in shape)
    value = float(draw.number(0, 2))
    return [(shape, draw.dtype)], {"strides": strides, **draw.given(dilation_value=value)}


def slice_like(draw: Draw) -> Proposal:
    shape = draw.shape(1)
    like = tuple(draw.number(0, dim) for dim in shape)
    attrs = draw.given(axes=tuple(a for a in range(len(shape)) if draw.chance()))
    if not attrs:  # along all axes that both have
        like = like[: draw.number(0, len(like))]
    return [(shape, draw.dtype), (like, draw.one_of(*DTYPES))], attrs


def concatenate(draw: Draw) -> Proposal:
    shape = draw.shape(1)
    attrs = draw.given(axis=draw.axis(len(shape)))
    axis = attrs.get("axis", 0)
    shapes: list[Spec] = []
    for _ in range(draw.number(1, 4)):
        dims = list(shape)
        dims[axis] = draw.size()
        shapes.append((tuple(dims), draw.dtype))
    return shapes, attrs


def stack(draw: Draw) -> Proposal:
    shape = draw.shape(0, 3)
    return [(shape, draw.dtype)] * draw.number(1, 4), draw.given(axis=draw.axis(len(shape) + 1))


def split(draw: Draw) -> Proposal:
    shape = list(draw.shape(1))
    attrs = draw.given(axis=draw.axis(len(shape)))
    sections = draw.number(1, 4)
    points = tuple(sorted(draw.number(0, 6) for _ in range(draw.number(0, 3))))
    where: Any = draw.one_of(sections, points)
    shape[attrs.get("axis", 0)] = draw.number(0, 3) * sections + (where is points) * 3
    return [(tuple(shape), draw.dtype)], {**attrs, "indices_or_sections": where}


def broadcast_to(draw: Draw) -> Proposal:
    shape = draw.shape()
    return [(_narrowed(draw, shape), draw.dtype)], {"shape": shape}


def tile(draw: Draw) -> Proposal:
    reps = tuple(draw.number(0, 3) for _ in range(draw.number(0, 4)))
    return [(draw.shape(0, 3), draw.dtype)], {"reps": reps}


def repeat(draw: Draw) -> Proposal:
    shape = draw.shape(1)
    attrs = {"repeats": draw.number(1, 4), **draw.given(axis=draw.axis(len(shape)))}
    return [(shape, draw.dtype)], attrs


def pad(draw: Draw) -> Proposal:
    shape, mode = draw.shape(), draw.one_of("constant", "edge", "reflect")
    most = [max(dim - 1, 0) if mode == "reflect" else 6 for dim in shape]
    width = tuple(draw.number(0, m) for m in most for _ in ("before", "after"))
    attrs = {"pad_width": width, "pad_mode": mode}
    return [(shape, draw.dtype), ((), draw.dtype)], attrs


def _place(draw: Draw, dim: int) -> int:
    """An index into an axis of `dim`, from either end, slightly or far out of bounds."""
    near = draw.one_of(draw.number(0, dim), draw.number(-dim, dim), draw.number(-dim - 3, dim + 3))
    return draw.one_of(near, near, near, 10**12, -(10**12))


def strided_slice(draw: Draw) -> Proposal:
    shape = draw.shape()
    axes = draw.some_axes(len(shape)) if draw.chance() else None
    count = draw.number(0, len(shape)) if axes is None else len(axes)
    dims = [shape[axis] for axis in (range(count) if axes is None else axes)]
    begin, end = (tuple(_place(draw, dim) for dim in dims) for _ in ("begin", "end"))
    strides = tuple(draw.one_of(1, 1, 2, 3, 9, -1, -1, -2, -9) for _ in dims)
    attrs: dict[str, Any] = {"begin": begin, "end": end}
    attrs |= draw.given(strides=strides[: draw.number(0, count)] if draw.chance() else strides)
    if draw.chance(0.2):
        attrs |= {"slice_mode": "size", "end": tuple(max(place, -1) for place in end)}
    return [(shape, draw.dtype)], attrs if axes is None else {**attrs, "axes": axes}


def take(draw: Draw) -> Proposal:
    shape, of_indices = draw.shape(1), draw.shape(0, 2)
    attrs: dict[str, Any] = draw.given(axis=draw.axis(len(shape)))
    attrs |= draw.given(mode=draw.one_of("clip", "wrap", "fast"))
    batch = draw.number(0, len(of_indices)) if attrs.get("axis", 0) else 0
    of_indices = (*shape[:batch], *of_indices[batch:])
    if batch:
        attrs["batch_dims"] = batch - draw.one_of(0, len(of_indices))
    return [(shape, draw.dtype), (of_indices, draw.one_of(*SIGNED, *UNSIGNED))], attrs


def gather(draw: Draw) -> Proposal:
    shape = draw.shape(1)
    axis = draw.axis(len(shape))
    of_indices = [draw.number(0, dim) for dim in shape]
    of_indices[axis] = draw.size()
    return [(shape, draw.dtype), (tuple(of_indices), draw.one_of(*SIGNED, *UNSIGNED))], {
        "axis": axis
    }


def gather_nd(draw: Draw) -> Proposal:
    shape = draw.shape(1)
    batch = draw.number(0, min(2, len(shape)))
    count = draw.number(0, len(shape) - batch)
    of_indices = (count, *shape[:batch], *draw.shape(0, 2))
    attrs = draw.given(batch_dims=batch, index_rank=count) if not batch else {"batch_dims": batch}
    return [(shape, draw.dtype), (of_indices, draw.one_of(*SIGNED, *UNSIGNED))], attrs


def reshape_like(draw: Draw) -> Proposal:
    before, same, after = (draw.shape(0, 2) for _ in range(3))
    parts = [dim for dim in same if dim > 1] if draw.chance() and 0 not in same else [*same]
    first, last = len(before), len(before) + len(same)
    others = draw.shape(0, 1)
    attrs = {"lhs_begin": first, "lhs_end": last} if before or after else {}
    if others:
        attrs |= {"rhs_begin": len(others)}
    attrs |= {"rhs_end": len(others) + len(parts)} if draw.chance() else {}
    return [((*before, *same, *after), draw.dtype), ((*others, *parts), "int8")], attrs


def cumsum(draw: Draw) -> Proposal:
    shape = draw.shape(1)
    attrs = draw.given(axis=draw.axis(len(shape)), exclusive=draw.chance())
    target = draw.one_of(*FLOATS) if draw.dtype in FLOATS else draw.one_of(*SIGNED, *UNSIGNED)
    return [(shape, draw.dtype)], attrs | draw.given(dtype=target)


def conv1d(draw: Draw) -> Proposal:
    """Draw a convolution of images, of which the height is left out."""
    operands, attrs = conv2d(draw)
    (data, of_data), (weight, of_weight) = (_spec(operand) for operand in operands)
    layout = attrs.get("data_layout", "NCHW")
    order = attrs.get("kernel_layout", "OIHW")
    if len(weight) != 4:
        order, weight = "OIHW", weight[:4]
    data, weight = (
        tuple(dim for dim, side in zip(dims, sides, strict=True) if side != "H")
        for dims, sides in ((data, layout), (weight, order))
    )
    found: dict[str, Any] = {"data_layout": layout.replace("H", "")}
    found["kernel_layout"] = order.replace("H", "")
    found |= {k: attrs[k][1:] for k in ("strides", "dilation") if k in attrs}
    found |= {"padding": attrs["padding"][1::2]} if "padding" in attrs else {}
    found |= {k: attrs[k] for k in ("groups", "out_dtype") if k in attrs}
    return [(data, of_data), (weight, of_weight)], found


# -------------------------------------------------------------------- sizes as operands


def integers(draw: Draw, values: Any) -> Given:
    """Sizes, of i32 if they fit, or i64."""
    array = np.asarray(values, np.int64)
    fits = (np.abs(array) < 2**31).all()
    return array.astype(draw.one_of("int32", "int64") if fits else "int64")


def at_run_time(static: Generator, *names: str, at: int = 1) -> Generator:
    """Make the attributes `names` operands, from index `at`."""

    def generate(draw: Draw) -> Proposal:
        operands, attrs = static(draw)
        attrs = dict(attrs)
        if "strides" in names and "begin" in attrs:
            given = attrs.get("strides", ())
            attrs["strides"] = (*given, *(1,) * (len(attrs["begin"]) - len(given)))
        sizes = [integers(draw, attrs.pop(name, ())) for name in names]
        return [*operands[:at], *sizes, *operands[at:]], attrs

    return generate


def dyn_pad(draw: Draw) -> Proposal:
    operands, attrs = pad(draw)
    width = integers(draw, attrs["pad_width"]).reshape(-1, 2)
    return [operands[0], width, operands[1]], {"pad_mode": attrs["pad_mode"]}


def filled(draw: Draw) -> Proposal:
    return [], {"shape": draw.shape(), "dtype": draw.dtype}


def arange(draw: Draw) -> Proposal:
    def number(most: int) -> Given:
        if draw.dtype in FLOATS:
            return np.asarray(draw.rng.uniform(-most, most)).astype(draw.dtype)
        return np.asarray(draw.number(0 if draw.dtype in UNSIGNED else -most, most), draw.dtype)

    return [number(9), number(40), number(4)], {"dtype": draw.dtype}


def one_hot(draw: Draw) -> Proposal:
    shape = draw.shape(0, 3)
    operands = [(shape, draw.one_of(*SIGNED, *UNSIGNED)), ((), draw.dtype), ((), draw.dtype)]
    axis = draw.axis(len(shape) + 1)
    return operands, {"depth": draw.size(), "axis": axis, "dtype": draw.dtype}


def shape_of(draw: Draw) -> Proposal:
    return [(draw.shape(), draw.dtype)], {"dtype": draw.one_of(*SIGNED, *UNSIGNED)}


# -------------------------------------------------------------------- selections


def topk(draw: Draw) -> Proposal:
    shape = draw.shape(1)
    attrs: dict[str, Any] = draw.given(
        axis=draw.axis(len(shape)), ret_type=draw.one_of("both", "values", "indices")
    )
    attrs |= draw.flags("is_ascend")
    axis: int = attrs.get("axis", -1)
    k = draw.number(-1, 1 + shape[axis])
    return [(shape, draw.dtype)], {**attrs, "k": k, "dtype": draw.one_of(*SIGNED, *UNSIGNED)}


def argsort(draw: Draw) -> Proposal:
    shape = draw.shape(1)
    attrs = draw.given(axis=draw.axis(len(shape))) | draw.flags("is_ascend")
    return [(shape, draw.dtype)], {**attrs, "dtype": draw.one_of(*SIGNED, *UNSIGNED)}


def sort(draw: Draw) -> Proposal:
    operands, attrs = argsort(draw)
    return operands, {key: value for key, value in attrs.items() if key != "dtype"}


def scatter_elements(draw: Draw) -> Proposal:
    shape = draw.shape(1)
    axis = draw.axis(len(shape))
    of_indices = [draw.number(0, dim) for dim in shape]
    of_indices[axis] = draw.size() if shape[axis] else 0
    reduction = draw.one_of("update", "add", "min", "max")
    indices = (tuple(of_indices), draw.one_of(*SIGNED, *UNSIGNED))
    operands = [(shape, draw.dtype), indices, (tuple(of_indices), draw.dtype)]
    return operands, draw.given(axis=axis) | draw.given(
        reduction="update" if draw.dtype == "bool" else reduction
    )


def argwhere(draw: Draw) -> Proposal:
    shape = draw.shape(1, 5)
    keep = draw.rng.random(shape) < draw.one_of(0.0, 0.3, 0.7, 1.0)
    return [np.where(keep, with_edges(draw, shape, draw.dtype), 0).astype(draw.dtype)], {}


def unique(draw: Draw) -> Proposal:
    return [((draw.number(0, 12),), draw.dtype)], draw.flags("sorted", "return_counts")


def _random_state(draw: Draw) -> Array:
    """Return a generator, whose counter or path may be at its end."""
    words = draw.rng.integers(0, 2**64, 10, np.uint64)
    words[6], words[8:] = 0, 0
    if draw.chance():
        words[7] = draw.one_of(0, 7, 2**64 - 3)
    place = draw.number(0, 128)
    if place < 128:
        words[8 + place // 64] = 1 << (63 - place % 64)
    return words


def threefry_generate(draw: Draw) -> Proposal:
    return [_random_state(draw)], {"out_shape": draw.shape(0, 3)}


def threefry_split(draw: Draw) -> Proposal:
    return [_random_state(draw)], {}


# -------------------------------------------------------------------- images and boxes


def resize2d(draw: Draw) -> Proposal:
    attrs: dict[str, Any] = draw.given(
        layout=draw.one_of("NCHW", "NHWC"),
        method=draw.one_of("nearest_neighbor", "linear", "cubic"),
        coordinate_transformation_mode=draw.one_of(
            *("half_pixel", "align_corners", "asymmetric"),
            *("pytorch_half_pixel", "tf_half_pixel_for_nn"),
        ),
        rounding_method=draw.one_of(
            *("", "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
        ),
        cubic_alpha=draw.one_of(-0.5, -0.75),
        cubic_exclude=draw.number(0, 1),
    )
    size = (draw.number(1, 9), draw.number(1, 9))
    layout = attrs.get("layout", "NCHW")
    return [(_image(draw.size(3), layout, draw), draw.dtype)], {"size": size, **attrs}


def dyn_resize2d(draw: Draw) -> Proposal:
    (data, size), attrs = at_run_time(resize2d, "size")(draw)
    if draw.one_of(False, True):  # fractions count for the positions
        assert isinstance(size, np.ndarray), "the elements of an operand"
        size = (size + draw.one_of(0.0, 0.25, 0.6)).astype(draw.one_of("float32", "float64"))
    return [data, size, ((4,), "float32")], attrs


def _boxes(draw: Draw) -> tuple[int, int, int]:
    return draw.number(0, 2), draw.size(8), draw.number(5, 7)


def get_valid_counts(draw: Draw) -> Proposal:
    attrs = draw.given(id_index=draw.number(-1, 4), score_index=draw.number(0, 4))
    return [(_boxes(draw), draw.dtype), ((), draw.one_of(*FLOATS))], attrs


def non_max_suppression(draw: Draw) -> Proposal:
    batch, rows, width = _boxes(draw)
    attrs: dict[str, Any] = draw.given(
        id_index=draw.one_of(-1, draw.number(0, width - 1)),
        score_index=draw.number(0, width - 1),
        coord_start=draw.number(0, width - 4),
        top_k=draw.number(-1, 5),
    )
    attrs |= draw.flags("force_suppress", "return_indices", "invalid_to_bottom")
    operands = [
        ((batch, rows, width), draw.dtype),
        draw.rng.integers(-1, rows + 2, batch).astype(np.int32),
        draw.rng.integers(0, 99, (batch, rows)).astype(np.int32),
        np.asarray(draw.number(-1, 4), draw.one_of(*SIGNED)),
        np.asarray(draw.one_of(0.0, 0.1, 0.3, 0.55, -0.5), draw.one_of("float32", "float64")),
    ]
    return operands, attrs


def all_class_non_max_suppression(draw: Draw) -> Proposal:
    batch, boxes, _ = _boxes(draw)
    operands = [
        ((batch, boxes, 4), draw.dtype),
        ((batch, draw.number(0, 2), boxes), draw.dtype),
        np.asarray(draw.number(0, 5), draw.one_of(*SIGNED)),
        np.asarray(draw.one_of(0.0, 0.1, 0.3, 0.55), draw.one_of("float32", "float64")),
        np.asarray(draw.one_of(-np.inf, -1.2, 0.3), draw.one_of("float32", "float64")),
    ]
    return operands, {}


def _each(names: str, generator: Generator) -> dict[str, Generator]:
    return dict.fromkeys(names.split(), generator)


GENERATORS: dict[str, Generator] = {
    **_each("abs negative sign ceil floor trunc nn.relu copy logical_not", one_tensor),
    **_each("exp log log2 log10 sqrt rsqrt sigmoid erf isnan isfinite isinf", one_tensor),
    **_each("sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh", one_tensor),
    **_each("add subtract multiply divide power mod floor_mod floor_divide", broadcast(2)),
    **_each("maximum minimum logical_and logical_or logical_xor", broadcast(2)),
    **_each("equal not_equal less less_equal greater greater_equal", broadcast(2)),
    **_each("nn.bias_add nn.prelu", along_axis),
    **_each("sum prod mean max min all any", reduction),
    **_each("argmax argmin", position),
    **_each("nn.softmax nn.log_softmax", softmax),
    **_each("nn.global_avg_pool2d nn.global_max_pool2d", global_pool),
    **_each("zeros ones", filled),
    **_each("dyn.zeros dyn.ones", at_run_time(filled, "shape", at=0)),
    "arange": arange,
    "argwhere": argwhere,
    "broadcast_to": broadcast_to,
    "cast": cast,
    "fixed_point_multiply": fixed_point_multiply,
    "reinterpret": reinterpret,
    "clip": clip,
    "concatenate": concatenate,
    "cast_like": lambda draw: (
        [(draw.shape(), draw.dtype), (draw.shape(), draw.one_of(*DTYPES))],
        {},
    ),
    "cumsum": cumsum,
    "dyn.broadcast_to": at_run_time(broadcast_to, "shape"),
    "dyn.expand_dims": at_run_time(expand_dims, "axis"),
    "dyn.full": at_run_time(full, "shape"),
    "dyn.image.resize2d": dyn_resize2d,
    "dyn.nn.pad": dyn_pad,
    "dyn.one_hot": at_run_time(one_hot, "depth", at=3),
    "dyn.reshape": at_run_time(reshape, "newshape"),
    "dyn.squeeze": at_run_time(squeeze, "axis"),
    "dyn.strided_slice": at_run_time(strided_slice, "begin", "end", "strides"),
    "dyn.tile": at_run_time(tile, "reps"),
    "dyn.topk": at_run_time(topk, "k"),
    "expand_dims": expand_dims,
    "full": full,
    "full_like": lambda draw: ([(draw.shape(), draw.dtype), ((), draw.dtype)], {}),
    "gather": gather,
    "gather_nd": gather_nd,
    "image.resize2d": resize2d,
    "ndarray_size": shape_of,
    "round": round_ties,
    "nn.avg_pool2d": pool("count_include_pad"),
    "nn.batch_flatten": one_tensor,
    "nn.batch_matmul": batch_matmul,
    "nn.batch_norm": normalization(4, 1),
    "nn.conv1d": conv1d,
    "nn.conv2d": conv2d,
    "nn.conv2d_transpose": conv2d_transpose,
    "nn.dense": dense,
    "nn.gelu": gelu,
    "nn.layer_norm": normalization(2, -1),
    "nn.leaky_relu": leaky_relu,
    "nn.lrn": lrn,
    "nn.matmul": matmul,
    "nn.packed_dense": packed_dense,
    "nn.instance_norm": norm_per_image(),
    "nn.group_norm": norm_per_image(groups=True),
    "nn.l2_normalize": l2_normalize,
    "nn.nll_loss": nll_loss,
    "nn.space_to_batch_nd": space_to_batch,
    "nn.batch_to_space_nd": batch_to_space,
    "nn.mirror_pad": mirror_pad,
    "nn.conv3d": conv3d,
    "nn.conv1d_transpose": conv_transpose(1),
    "nn.conv3d_transpose": conv_transpose(3),
    "nn.conv2d_backward_weight": conv2d_backward_weight,
    "nn.deformable_conv2d": deformable_conv2d,
    "image.dilation2d": dilation2d,
    "nn.max_pool2d_grad": pool_grad(),
    "nn.avg_pool2d_grad": pool_grad("count_include_pad"),
    "nn.max_pool2d": pool(),
    **{f"nn.max_pool{sides}d": pool_on(sides) for sides in (1, 3)},
    **{f"nn.avg_pool{sides}d": pool_on(sides, "count_include_pad") for sides in (1, 3)},
    **{f"nn.adaptive_max_pool{sides}d": adaptive_pool(sides) for sides in (1, 2, 3)},
    **{f"nn.adaptive_avg_pool{sides}d": adaptive_pool(sides) for sides in (1, 2, 3)},
    "nn.pad": pad,
    "nn.upsampling": upsampling(2),
    "nn.upsampling3d": upsampling(3),
    "dyn.nn.upsampling": upsampling(2, "run time"),
    "dyn.nn.upsampling3d": upsampling(3, "run time"),
    "one_hot": one_hot,
    "repeat": repeat,
    "reshape": reshape,
    "reshape_like": reshape_like,
    "nn.depth_to_space": depth_to_space,
    "nn.space_to_depth": space_to_depth,
    "nn.dilate": dilate,
    "slice_like": slice_like,
    "reverse": reverse,
    "shape_of": shape_of,
    "split": split,
    "squeeze": squeeze,
    "stack": stack,
    "strided_slice": strided_slice,
    "take": take,
    "tile": tile,
    "argsort": argsort,
    "sort": sort,
    "scatter_elements": scatter_elements,
    "topk": topk,
    "transpose": transpose,
    "random.threefry_generate": threefry_generate,
    "random.threefry_split": threefry_split,
    "unique": unique,
    "vision.all_class_non_max_suppression": all_class_non_max_suppression,
    "vision.get_valid_counts": get_valid_counts,
    "vision.non_max_suppression": non_max_suppression,
    "where": where,
}

for _name in FORMULAS:
    GENERATORS.setdefault(_name, broadcast(len(OPERATORS[_name].get_irdl_definition().operands)))

# -------------------------------------------------------------------- elements' values

SUMS = {
    *("sum", "mean", "prod", "nn.dense", "nn.matmul", "nn.batch_matmul", "nn.conv2d"),
    "nn.packed_dense",
    *(
        "cumsum",
        "nn.conv1d",
        "nn.conv2d_transpose",
        "nn.avg_pool2d",
        *("nn.avg_pool1d", "nn.avg_pool3d", "nn.global_avg_pool2d"),
        *("nn.conv3d", "nn.conv1d_transpose", "nn.conv3d_transpose"),
        *("nn.conv2d_backward_weight", "nn.deformable_conv2d"),
        *("nn.max_pool2d_grad", "nn.avg_pool2d_grad", "nn.nll_loss"),
        *(f"{dyn}nn.upsampling{sides}" for dyn in ("", "dyn.") for sides in ("", "3d")),
        *("nn.instance_norm", "nn.group_norm", "nn.l2_normalize"),
        *(f"nn.adaptive_avg_pool{sides}d" for sides in (1, 2, 3)),
        "nn.softmax",
    ),
    *("nn.log_softmax", "nn.layer_norm", "nn.batch_norm", "nn.lrn"),
    *("image.resize2d", "dyn.image.resize2d"),
}
"""
Operators tested on operands of moderate size: a sum with infinite or dominating terms depends on
the order of its terms.
"""
UNORDERED = {"argsort", "scatter_elements", "sort", "topk", "dyn.topk", "unique"}
"""Operators tested without NaN, whose position in the order is unspecified."""


def moderate(draw: Draw, shape: Sequence[int], dtype: str) -> Array:
    """Small values, of both signs if `dtype` is signed; integers are often equal."""
    if dtype == "bool":
        return draw.rng.integers(0, 2, shape).astype(bool)
    if dtype in FLOATS:
        return np.asarray(draw.rng.standard_normal(shape) * 2).astype(dtype)
    return np.asarray(draw.rng.integers(0 if dtype in UNSIGNED else -9, 10, shape)).astype(dtype)


def _edges(dtype: str) -> list[Any]:
    if dtype == "bool":
        return [False, True]
    if dtype in FLOATS:
        info = np.finfo(dtype)
        return [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 0.5, -2.5, info.max, info.tiny]
    return [np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1]


def with_edges(draw: Draw, shape: Sequence[int], dtype: str) -> Array:
    """Replace half of the elements by edge cases of `dtype`: NaN, infinities, extremes, zeros."""
    values, edges = moderate(draw, shape, dtype), np.array(_edges(dtype), dtype)
    chosen = edges[draw.rng.integers(0, len(edges), shape)]
    return np.where(draw.rng.random(shape) < 0.5, chosen, values).astype(dtype)


def elements(draw: Draw, name: str, number: int, spec: Spec, attrs: Mapping[str, Any]) -> Array:
    """Elements of operand `number` for which the result is specified."""
    shape, dtype = spec
    if name.startswith("vision."):
        return np.asarray(np.round(moderate(draw, shape, dtype) * 2) / 2, dtype)  # often equal
    if name in SUMS:
        values = moderate(draw, shape, dtype)
        if name == "nn.batch_norm" and number == 4:  # a variance
            return np.abs(values)
        # The conversion of a negative float to an unsigned integer is unspecified.
        return np.abs(values) if attrs.get("out_dtype") in UNSIGNED else values
    values = with_edges(draw, shape, dtype) if draw.chance() else moderate(draw, shape, dtype)
    if name in UNORDERED and dtype in FLOATS:
        return np.where(np.isnan(values), 0, values).astype(dtype)
    if name == "take" and number == 1 and attrs["mode"] == "fast":
        return np.zeros_like(values)
    return values


# -------------------------------------------------------------------- cases


@dataclass(frozen=True)
class Case:
    """An operator with valid operands; `attrs` are all of its attributes, defaults included."""

    name: str
    number: int
    attrs: Mapping[str, Any]
    operands: Sequence[Array]
    results: Sequence[Spec]
    fixed: frozenset[int] = frozenset()
    """The operands that shapes depend on."""

    @property
    def dtype(self) -> str:
        """The element type of the first operand."""
        return self.operands[0].dtype.name if self.operands else "float32"

    def __str__(self) -> str:
        operands = ", ".join(f"{x.dtype.name}{list(x.shape)}" for x in self.operands)
        return f"case({self.name!r}, {self.number}): relay.{self.name}({operands}) {self.attrs}"


@cache
def _defaults(name: str) -> Mapping[str, Any]:
    return plain_attributes(OPERATORS[name].create())


_DTYPES = {element: dtype for dtype, element in ELEMENTS.items()}


def _spec(operand: Spec | Given) -> Spec:
    return operand if isinstance(operand, tuple) else (operand.shape, operand.dtype.name)


def proposed_call(name: str, operands: Sequence[Spec | Given], attrs: Mapping[str, Any]) -> Call:
    """The call of an operator on a proposal; its rule may read the operands that are arrays."""
    arrays = [
        np.broadcast_to(np.zeros((), operand[1]), operand[0])
        if isinstance(operand, tuple)
        else operand
        for operand in operands
    ]
    return call_on(f"relay.{name}", {**_defaults(name), **attrs}, arrays)


def _inferred(
    name: str, operands: Sequence[Spec | Given], attrs: Mapping[str, Any]
) -> Sequence[Tensor] | None:
    """The results according to the rule; None if it rejects the proposal."""
    try:
        return RULES[f"relay.{name}"](proposed_call(name, operands, attrs))
    except SignatureError:
        return None


def _typed(
    name: str, operands: Sequence[Spec | Given], attrs: Mapping[str, Any]
) -> tuple[Mapping[str, Any], list[Spec]] | None:
    """All attributes, and the results; None if the type rule rejects operands or attributes."""
    inferred = _inferred(name, operands, attrs)
    if inferred is None:
        return None
    cls = OPERATORS[name]
    specs = [_spec(operand) for operand in operands]
    types = [tensor_type(ELEMENT_TYPES[dtype], list(shape)) for shape, dtype in specs]
    try:
        op = cls.on(TestOp(result_types=types).results, properties_of(cls, attrs))
        op.verify()
    except VerifyException:
        return None
    results: list[Spec] = []
    for result, tensor in zip(op.results, inferred, strict=True):
        type = as_tensor(result.type)
        assert type is not None
        dims = tuple(dim for dim in tensor.dims if isinstance(dim, int))
        assert all(
            of_type in (dim, DYNAMIC_INDEX)
            for of_type, dim in zip(type.get_shape(), dims, strict=True)
        )
        results.append((dims, _DTYPES[tensor.element]))
    return plain_attributes(op), results


def _generator(name: str, *numbers: int) -> np.random.Generator:
    return np.random.default_rng([crc32(name.encode()), *numbers])


@lru_cache(400)
def case(name: str, number: int) -> Case:
    """Case `number` of the operator `name` (without `relay.`); its operands are read-only."""
    rng = _generator(name, number)
    for attempt in range(1000):  # each element type twice in a row, in turn
        draw = Draw(rng, DTYPES[(number + attempt // 2 * 5) % len(DTYPES)])
        operands, given = GENERATORS[name](draw)
        typed = _typed(name, operands, given)
        if typed is None:
            continue
        attrs, results = typed
        specs = [_spec(operand) for operand in operands]
        if max(prod(shape) for shape, _ in (*specs, *results)) > MOST_ELEMENTS:
            continue
        values = [
            elements(draw, name, i, operand, attrs) if isinstance(operand, tuple) else operand
            for i, operand in enumerate(operands)
        ]
        for value in values:
            value.setflags(write=False)
        fixed = frozenset(i for i, o in enumerate(operands) if not isinstance(o, tuple))
        return Case(name, number, attrs, values, results, fixed)
    raise AssertionError(f"none of 1000 random cases of relay.{name} is accepted by its type rule")


def other_elements(case: Case) -> list[Array]:
    """Operands like those of a case, with other elements unless shapes depend on them."""
    draw = Draw(_generator(case.name, case.number, 1), case.dtype)
    return [
        x if i in case.fixed else elements(draw, case.name, i, _spec(x), case.attrs)
        for i, x in enumerate(case.operands)
    ]
