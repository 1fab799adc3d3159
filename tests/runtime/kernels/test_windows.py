"""Convolutions and poolings over many geometries, against onnxruntime."""

from itertools import product
from typing import Any, TypeVar

import numpy as np
import pytest
from helpers.operators.inferring import apply, attributes
from helpers.operators.kernel_references import onnx_node
from helpers.programs.every_case import every
from helpers.programs.random_settings import share

from xrelay.runtime.kernels import KERNELS, convolution, pooling, winograd

Pair = tuple[int, int]


def random(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)


def run(name: str, attrs: dict[str, Any], ins: list[Any], shape: tuple[int, ...]) -> Any:
    out = np.full(shape, np.nan if ins[0].dtype.kind == "f" else 99, ins[0].dtype)
    with np.errstate(all="ignore"):  # as the machine does
        KERNELS[f"relay.{name}"](attributes(name, **attrs), ins, [out])()
    return out


def result_shape(name: str, shape: tuple[int, ...], attrs: dict[str, Any]) -> tuple[int, ...]:
    """The shape of an operator's result on a float32 tensor of `shape`."""
    operand = "x".join(map(str, (*shape, "f32")))
    type: Any = apply(name, operand, **attrs).results[0].type
    return type.get_shape()


def record_calls(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[str]:
    """Return a list that gets `name` whenever that function of `module` is called."""
    calls: list[str] = []
    function = getattr(module, name)

    def recorded(*args: Any) -> Any:
        calls.append(name)
        return function(*args)

    monkeypatch.setattr(module, name, recorded)
    return calls


T = TypeVar("T")


def rotated(cases: list[T], by: int) -> list[T]:
    return cases[by:] + cases[:by]


CONVOLUTIONS = list(
    product(
        [(1, 1, 1), (1, 3, 2), (2, 2, 3), (4, 1, 2)],  # groups, channels in and out of each
        [(1, 1), (3, 2)],  # kernel
        [(1, 1), (2, 3)],  # strides
        [(1, 1), (2, 1)],  # dilation
        [(0, 0, 0, 0), (1, 2, 0, 1), (5, 0, 6, 1)],  # padding; the last has windows outside
    )
)


LIMITS = (1 << 20, 4096, 1)
"""Values of `COLUMNS_SIZE`: one block per image, several, each a row."""


@pytest.mark.ci
@every(
    ("sizes", "kernel", "strides", "dilation", "padding", "limit"),
    [(*conv, way) for k, way in enumerate(LIMITS) for conv in share(rotated(CONVOLUTIONS, k), 5)],
)
def test_conv2d_in_every_layout(
    sizes: tuple[int, int, int],
    kernel: Pair,
    strides: Pair,
    dilation: Pair,
    padding: tuple[int, ...],
    limit: int,
    monkeypatch: pytest.MonkeyPatch,
):
    groups, channels, filters = sizes
    x, w = random(2, groups * channels, 9, 8), random(groups * filters, channels, *kernel)
    options = {"strides": strides, "dilations": dilation, "pads": padding, "group": groups}
    want = onnx_node("Conv", [x, w], options)
    attrs = {"strides": strides, "dilation": dilation, "padding": padding, "groups": groups}
    monkeypatch.setattr(convolution, "COLUMNS_SIZE", limit)
    monkeypatch.setattr(convolution, "WIDE_COLUMNS_SIZE", limit)
    monkeypatch.setattr(convolution, "CELLS_SIZE", 512)
    for layout, kernel_layout in product(["NCHW", "NHWC"], ["OIHW", "HWIO"]):
        data, weight, shape = x, w, want.shape
        if layout == "NHWC":
            data = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
            shape = want.transpose(0, 2, 3, 1).shape
        if kernel_layout == "HWIO":
            weight = np.ascontiguousarray(w.transpose(2, 3, 1, 0))
        layouts = {"data_layout": layout, "kernel_layout": kernel_layout}
        got = run("nn.conv2d", {**attrs, **layouts}, [data, weight], shape)
        got = got.transpose(0, 3, 1, 2) if layout == "NHWC" else got
        np.testing.assert_allclose(got, want, 1e-4, 1e-5)


def test_conv2d_of_half_precision_sums_in_single_precision():
    x, w = np.full((1, 64, 8, 8), 8, np.float16), np.full((2, 64, 3, 3), 8, np.float16)
    x[:, ::2] *= -1  # partial sums leave float16's range, the sum does not
    x[0, 0, 0, 0] = 0.5
    got = run("nn.conv2d", {}, [x, w], (1, 2, 6, 6))
    assert got[0, 0, 0, 0] == 8 * 0.5 + 64
    assert got[0, 1, 3, 3] == 0


TILED = list(
    product(
        [(1, 1), (5, 6)],  # channels in and out
        [(8, 8), (9, 12), (1, 15)],  # size
        [(0, 2, 2, 0), (1, 1, 1, 1), (3, 2, 0, 5)],  # padding
        ["float32", "float64"],
        [1 << 20, 1],  # bytes of a block: all of an image, or one row of tiles
    )
)


@every(("channels", "size", "padding", "dtype", "limit"), TILED)
def test_conv2d_by_winograd(
    channels: Pair,
    size: Pair,
    padding: tuple[int, ...],
    dtype: str,
    limit: int,
    monkeypatch: pytest.MonkeyPatch,
):
    x, w = random(2, channels[0], *size), random(channels[1], channels[0], 3, 3)
    want = onnx_node("Conv", [x, w], {"pads": padding})
    monkeypatch.setattr(winograd, "LEAST_CHANNELS", 1)
    monkeypatch.setattr(winograd, "LEAST_TILES", 1)
    monkeypatch.setattr(winograd, "WEIGHTS_BLOCK", 7)
    monkeypatch.setattr(winograd, "TILES_SIZE", limit)
    monkeypatch.setattr(winograd, "MOST_TILES_SIZE", limit)
    used = record_calls(monkeypatch, winograd, "convolve")
    got = run("nn.conv2d", {"padding": padding}, [x.astype(dtype), w.astype(dtype)], want.shape)
    np.testing.assert_allclose(got, want, 1e-4, 1e-5)
    assert used


def test_conv2d_by_winograd_is_as_accurate_as_by_columns(monkeypatch: pytest.MonkeyPatch):
    x, w = random(1, 64, 30, 31), random(40, 64, 3, 3)
    used = record_calls(monkeypatch, winograd, "convolve")
    ins, shape = [x, w], (1, 40, 30, 31)
    fast = run("nn.conv2d", {"padding": (1, 1, 1, 1)}, ins, shape)
    assert len(used) == 1
    monkeypatch.setattr(winograd, "MOST_WEIGHTS", 0)
    plain = run("nn.conv2d", {"padding": (1, 1, 1, 1)}, ins, shape)
    wide = [array.astype(np.float64) for array in ins]
    exact: Any = run("nn.conv2d", {"padding": (1, 1, 1, 1)}, wide, shape)
    assert len(used) == 1
    errors = [float(np.std(got - exact)) for got in (fast, plain)]
    assert errors[0] < 1.5 * errors[1] < 1e-6 * float(np.abs(exact).max())


@pytest.mark.parametrize("layouts", list(product(["NCHW", "NHWC"], ["OIHW", "HWIO"])))
@pytest.mark.parametrize("groups", [1, 32])
def test_conv2d_reads_its_operands_when_it_runs(layouts: tuple[str, str], groups: int):
    x, w = random(1, 32, 40, 40), random(32, 32 // groups, 3, 3)
    want = onnx_node("Conv", [x, w], {"group": groups})
    data = x if layouts[0] == "NCHW" else np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    weight = w if layouts[1] == "OIHW" else np.ascontiguousarray(w.transpose(2, 3, 1, 0))
    ins = [np.zeros_like(data), np.zeros_like(weight)]
    out = np.zeros(want.shape if layouts[0] == "NCHW" else (1, 38, 38, 32), np.float32)
    attrs = {"groups": groups, "data_layout": layouts[0], "kernel_layout": layouts[1]}
    call = KERNELS["relay.nn.conv2d"](attributes("nn.conv2d", **attrs), ins, [out])
    ins[0][:], ins[1][:] = data, weight
    with np.errstate(all="ignore"):
        call()
    got = out if layouts[0] == "NCHW" else out.transpose(0, 3, 1, 2)
    np.testing.assert_allclose(got, want, 1e-4, 1e-4)


@pytest.mark.parametrize(
    ("attrs", "kernel"),
    [({}, (3, 3)), ({"strides": (2, 1)}, (3, 3)), ({"dilation": (1, 2)}, (3, 3)), ({}, (3, 5))],
)
def test_winograd_is_for_adjacent_windows_of_3x3(
    attrs: dict[str, Any], kernel: Pair, monkeypatch: pytest.MonkeyPatch
):
    x, w = random(1, 32, 60, 60), random(32, 32, *kernel)
    options = {"strides": attrs.get("strides", (1, 1)), "dilations": attrs.get("dilation", (1, 1))}
    want = onnx_node("Conv", [x, w], options)
    used = record_calls(monkeypatch, winograd, "convolve")
    np.testing.assert_allclose(run("nn.conv2d", attrs, [x, w], want.shape), want, 1e-4, 1e-4)
    assert bool(used) == (kernel == (3, 3) and not attrs)


FAR = 10**12


def test_conv2d_of_one_cell_heeds_strides_and_padding_where_the_output_is_like_the_input():
    x, w = random(1, 2, 4, 4), random(3, 2, 1, 1)
    attrs = {"strides": (2, 2), "padding": (2, 2, 2, 2)}
    got = run("nn.conv2d", attrs, [x, w], (1, 3, 4, 4))
    options = {"strides": (2, 2), "pads": (2, 2, 2, 2)}
    np.testing.assert_allclose(got, onnx_node("Conv", [x, w], options), 1e-4, 1e-5)


@pytest.mark.parametrize("groups", [1, 2])
def test_conv2d_far_beyond_the_image_takes_no_memory_for_the_way(groups: int):
    """Windows at -FAR, 0 and FAR, with cells at 0 and FAR: two of them overlap the image."""
    x, w = random(1, 2, 2, 2), random(2, 2 // groups, 2, 1)
    attrs = {
        "strides": (FAR, 1),
        "dilation": (FAR, 1),
        "padding": (FAR, 0, 2 * FAR - 1, 0),
        "groups": groups,
    }
    got = run("nn.conv2d", attrs, [x, w], (1, 2, 3, 2))
    rows = x[:, :, :1]  # cell 1 of window 0, cell 0 of window 1; window 2 has none
    first, second = (
        onnx_node("Conv", [rows, w[:, :, cell : cell + 1]], {"group": groups}) for cell in (1, 0)
    )
    want = np.concatenate([first, second, np.zeros_like(first)], 2)
    np.testing.assert_allclose(got, want, 1e-4, 1e-5)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_pooling_with_windows_and_padding_far_beyond_the_image(dtype: str):
    """Along both axes the first of three windows has no cell inside, the others have all."""
    x = np.array([[[[4, 8], [12, 16]]]], dtype)
    attrs = {"pool_size": (FAR, FAR), "padding": (FAR,) * 4, "strides": (FAR // 2, FAR // 2)}
    inside = np.array([[[[0, 0, 0], [0, 1, 1], [0, 1, 1]]]])
    lowest = -np.inf if dtype == "float32" else -128
    greatest = run("nn.max_pool2d", attrs, [x], inside.shape)
    np.testing.assert_array_equal(greatest, np.where(inside, 16, lowest))
    for included, mean in ((False, 10), (True, np.array(40 / FAR**2).astype(dtype))):
        got = run("nn.avg_pool2d", {**attrs, "count_include_pad": included}, [x], inside.shape)
        np.testing.assert_allclose(got, np.where(inside, mean, 0), 1e-6)


def test_lrn_over_far_more_channels_than_there_are():
    x = random(1, 3, 2, 2)
    got = run("nn.lrn", {"size": FAR, "alpha": float(FAR), "bias": 1.0}, [x], x.shape)
    np.testing.assert_allclose(got, x / (1 + (x**2).sum(1, keepdims=True)) ** 0.75, 1e-5)


TRANSPOSED = [
    (strides, extra, *rest)
    for strides, extra, *rest in product(
        [(1, 1), (3, 2)],
        [(0, 0), (0, 1)],  # output padding, less than the strides
        [1, 2],  # groups
        [(1, 1), (3, 2)],  # kernel
        [(1, 1), (2, 3)],  # dilation
        [(0, 0, 0, 0), (1, 0, 1, 2)],
    )
    if extra[1] < strides[1]
]


@every(("strides", "extra", "groups", "kernel", "dilation", "padding"), TRANSPOSED)
def test_conv2d_transpose(
    strides: Pair,
    extra: Pair,
    groups: int,
    kernel: Pair,
    dilation: Pair,
    padding: tuple[int, ...],
):
    x, w = random(2, 2 * groups, 4, 5), random(2 * groups, 3, *kernel)
    options = {
        "strides": strides,
        "dilations": dilation,
        "pads": padding,
        "group": groups,
        "output_padding": extra,
    }
    want = onnx_node("ConvTranspose", [x, w], options)
    attrs = {
        "strides": strides,
        "dilation": dilation,
        "padding": padding,
        "groups": groups,
        "output_padding": extra,
    }
    got = run("nn.conv2d_transpose", attrs, [x, w], want.shape)
    np.testing.assert_allclose(got, want, 1e-4, 1e-5)


POOLS = [
    *product(
        [(2, 2), (3, 1)],  # window
        [(1, 1), (2, 3)],  # strides
        [(1, 1), (2, 2)],  # dilation
        [(0, 0, 0, 0), (1, 0, 0, 0), (0, 0, 1, 0)],  # padding, smaller than the window
        [False, True],  # ceil_mode
        ["NCHW", "NHWC"],
    )
]
WAYS = [(6, 1 << 20), (100, 1000), (0, 1)]
"""Values of `DENSE` and `PLANES_SIZE`: windows are folded at every place, or axis by axis."""


@pytest.mark.ci
@every(
    ("window", "strides", "dilation", "padding", "ceil", "layout", "dense", "planes_size"),
    [(*pool, *way) for k, way in enumerate(WAYS) for pool in share(rotated(POOLS, k), 7)],
)
def test_pooling(
    window: Pair,
    strides: Pair,
    dilation: Pair,
    padding: tuple[int, ...],
    ceil: bool,
    layout: str,
    dense: int,
    planes_size: int,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(pooling, "DENSE", dense)
    monkeypatch.setattr(pooling, "PLANES_SIZE", planes_size)
    x = random(2, 3, 9, 8)
    options = {
        "kernel_shape": window,
        "strides": strides,
        "dilations": dilation,
        "pads": padding,
        "ceil_mode": int(ceil),
    }
    attrs = {
        "pool_size": window,
        "strides": strides,
        "dilation": dilation,
        "padding": padding,
        "ceil_mode": ceil,
        "layout": layout,
    }
    data = np.ascontiguousarray(x.transpose(0, 2, 3, 1)) if layout == "NHWC" else x
    cases: list[tuple[str, str, bool]] = [("nn.max_pool2d", "MaxPool", False)]
    cases += [("nn.avg_pool2d", "AveragePool", included) for included in (False, True)]
    for name, op, included in cases:
        extra = {"count_include_pad": int(included)} if op == "AveragePool" else {}
        want = onnx_node(op, [x], {**options, **extra})
        if layout == "NHWC":
            want = want.transpose(0, 2, 3, 1)
        if op == "AveragePool":
            attrs = {**attrs, "count_include_pad": included}
        got = run(name, attrs, [data], result_shape(name, data.shape, attrs))
        got = got[tuple(map(slice, want.shape))]  # ONNX: none begins in the padding at the end
        np.testing.assert_allclose(got, want, 1e-5, 1e-6)


@pytest.mark.parametrize("size", [1, 3, 5, 7])
def test_lrn(size: int):
    x = random(2, 6, 3, 3)
    attrs = {"size": size, "alpha": 0.3, "beta": 0.6, "bias": 1.5}
    got = run("nn.lrn", attrs, [x], x.shape)
    np.testing.assert_allclose(got, onnx_node("LRN", [x], attrs), 1e-5)
