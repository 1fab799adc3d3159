"""
Operators that TVM computes in another type or layout than that of their operands: numbers.

Each program agrees with NumPy in the evaluator, in the machine, and in machine code.
"""

# ruff: noqa: E501 (programs)

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.programs.agreement import Array
from helpers.relay.numeric_cases import (
    Case,
    check_case,
    check_machine_code,
    floats,
    ints,
)
from helpers.relay.relay_programs import body_of, error_of
from numpy.lib.stride_tricks import sliding_window_view


def convolved(image: Array, weight: Array, groups: int = 1) -> Array:
    """Convolve an NCHW image with an OIHW weight, group by group."""
    windows = sliding_window_view(image, weight.shape[2:], axis=(2, 3))
    parts = zip(np.split(windows, groups, 1), np.split(weight, groups, 0), strict=True)
    done = [np.einsum("nchwij,ocij->nohw", x, w) for x, w in parts]
    return np.concatenate(done, 1).astype(np.float32)


def spread(image: Array, weight: Array) -> Array:
    """The transpose of a convolution: an NCHW image, an IOHW weight, strides of 1."""
    (n, _, h, w), (_, out, kh, kw) = image.shape, weight.shape
    result = np.zeros((n, out, h + kh - 1, w + kw - 1), np.float32)
    for i in range(kh):
        for j in range(kw):
            result[:, :, i : i + h, j : j + w] += np.einsum(
                "nchw,co->nohw", image, weight[:, :, i, j]
            )
    return result


def blocked(image: Array, block: int) -> Array:
    """NCHW to NCHW4c, for a block of 4."""
    n, c, h, w = image.shape
    return image.reshape(n, c // block, block, h, w).transpose(0, 1, 3, 4, 2)


def joined(image: Array) -> Array:
    """NCHW4c to NCHW."""
    n, c, h, w, block = image.shape
    return image.transpose(0, 1, 4, 2, 3).reshape(n, c * block, h, w)


def depthwise(x: Array, w: Array) -> Array:
    """NHWC, and a weight of (height, width, channels, results of each)."""
    height, width, channels, factor = w.shape
    weight = w.transpose(2, 3, 0, 1).reshape(channels * factor, 1, height, width)
    return convolved(x.transpose(0, 3, 1, 2), weight, channels).transpose(0, 2, 3, 1)


def largest(x: Array) -> tuple[Array, Array]:
    order = np.argsort(-x, axis=-1, kind="stable")[:, :2]
    return np.take_along_axis(x, order, -1), order.astype(np.float32)


IMAGE, NHWC = "%x: Tensor[(2, 4, 5, 5), float32]", "%x: Tensor[(2, 5, 5, 4), float32]"
X, OPEN = "%x: Tensor[(3, 4), float32]", "%x: Tensor[(?, 4), float32]"
GEN, STATE = "%g: Tensor[(10), uint64]", np.array([1, *[0] * 7, 2**63, 0], np.uint64)
WORDS = np.array(
    [0xEE645155FD86327C, 0x33CE7486D9EE2681, 0xEEADE93F4F57B2C5, 0x4EB965C9661BE53A], np.uint64
)
"""The words that TVM 0.16 generates from `STATE`, as recorded."""

CASES = {
    "an integer pads floats": Case(
        X, "nn.pad(%x, 2, pad_width=[[1, 0], [0, 2]])", [floats(3, 4)],
        lambda x: np.pad(x, [(1, 0), (0, 2)], constant_values=2)),
    "a float pads integers": Case(
        "%x: Tensor[(2, 3), int8]", "nn.pad(%x, 2.7f, pad_width=[[1, 0], [0, 2]])", [floats(2, 3).astype(np.int8)],
        lambda x: np.pad(x, [(1, 0), (0, 2)], constant_values=2)),
    "a vector of one pads": Case(
        "%x: Tensor[(2, 3), float32], %v: Tensor[(1), float32]", "nn.pad(%x, %v, pad_width=[[1, 0], [0, 2]])", [floats(2, 3), floats(1)],
        lambda x, v: np.pad(x, [(1, 0), (0, 2)], constant_values=v[0])),
    "widths below 0 cut": Case(
        "%x: Tensor[(4, 5, 2), float32]", "nn.pad(%x, 7f, pad_width=[[-1, 2], [1, -2], [0, 1]])", [floats(4, 5, 2)],
        lambda x: np.pad(x[1:, :-2], [(0, 2), (1, 0), (0, 1)], constant_values=7)),
    "widths below 0 of open dims": Case(
        "%x: Tensor[(?, ?), float32]", "nn.pad(%x, 7f, pad_width=[[-1, 2], [1, -2]])", [floats(4, 5)],
        lambda x: np.pad(x[1:, :-2], [(0, 2), (1, 0)], constant_values=7)),
    "widths that are computed": Case(
        X + ", %w: Tensor[(2, 2), int64]", "dyn.nn.pad(%x, %w, 3, pad_width=[])", [floats(3, 4), np.array([[1, 0], [2, 1]])],
        lambda x, w: np.pad(x, w, constant_values=3)),
    "one_hot along the last axis": Case(
        "%i: Tensor[(2, 2), int32]", "one_hot(%i, 5, 1, depth=3, dtype=\"float32\")", [np.array([[0, 2], [1, 7]], np.int32)],
        lambda i: np.array([[[5, 1, 1], [1, 1, 5]], [[1, 5, 1], [1, 1, 1]]], np.float32)),
    "one_hot of a depth that is a vector": Case(
        "%i: Tensor[(3), int32], %d: Tensor[(1), int64]", "dyn.one_hot(%i, 1, 0, %d, depth=0, dtype=\"int32\")", [ints(0, 1, 2, dtype="int32"), ints(4)],
        lambda i, d: np.eye(3, 4, dtype=np.int32)),
    "zeros and ones of open dims": Case(
        OPEN, "(zeros_like(%x), ones_like(cast(%x, dtype=\"int16\")))", [floats(5, 4)],
        lambda x: (np.zeros_like(x), np.ones(x.shape, np.int16))),
    "the sum of bools": Case(
        X, "sum(greater(%x, 1f), axis=[1])", [floats(3, 4)],
        lambda x: (x > 1).any(1)),
    "indices that are floats": Case(
        X, "topk(%x, k=2, dtype=\"float32\")", [floats(3, 4)], largest),
    "indices alone": Case(
        X, "topk(%x, k=2, ret_type=\"indices\", dtype=\"float32\")", [floats(3, 4)],
        lambda x: largest(x)[1]),
    "values alone": Case(
        X, "topk(%x, k=2, ret_type=\"values\", dtype=\"float32\")", [floats(3, 4)],
        lambda x: largest(x)[0]),
    "words as TVM generates them": Case(
        GEN, "random.threefry_generate(%g, out_shape=[4]).1", [STATE], lambda _: WORDS),
    "uniform numbers": Case(
        GEN, "random.uniform(%g, -1f, 3f, out_shape=[4], out_dtype=\"float32\").1", [STATE],
        lambda _: ((WORDS % 2**32 >> 9) / 2**23 * 4 - 1).astype(np.float32)),
    "uniform numbers of 64 bits": Case(
        GEN, "random.uniform(%g, 0f64, 1f64, out_shape=[2, 2], out_dtype=\"float64\").1", [STATE],
        lambda _: ((WORDS >> 12) / 2**52).reshape(2, 2)),
    "samples": Case(
        GEN + ", %p: Tensor[(3), float32]", "random.multinomial(%g, %p, num_samples=4).1", [STATE, np.array([3, -5, 1], np.float32)],
        lambda _, p: np.where((WORDS % 2**32 >> 9) / 2**23 < 0.75, 0, 2).astype(np.int32)),
    "an order as floats": Case(
        X, "argsort(%x, axis=0, is_ascend=False, dtype=\"float64\")", [floats(3, 4)],
        lambda x: np.argsort(-x, 0, "stable").astype(np.float64)),
    "a slice like a tensor of fewer axes": Case(
        X + ", %v: Tensor[(2), float32]", "slice_like(%x, %v)", [floats(3, 4), floats(2)],
        lambda x, _: x[:2]),
    "where numbers are not 0": Case(
        X + ", %i: Tensor[(4), int8]", "(where(%x, %x, 9f), where(%i, %x, 9f))", [floats(3, 4), ints(0, 1, -1, 2, dtype="int8")],
        lambda x, i: (np.where(x.astype(bool), x, 9).astype(np.float32), np.where(i.astype(bool), x, 9).astype(np.float32))),
    "a shape of floats": Case(
        OPEN, "shape_of(%x, dtype=\"float32\")", [floats(5, 4)],
        lambda x: np.array(x.shape, np.float32)),
    "one number for an open axis": Case(
        "%x: Tensor[(?, ?, 3), float32], %a: Tensor[(1), float32]", "(nn.prelu(%x, %a), nn.bias_add(%x, %a))", [floats(2, 4, 3), floats(1)],
        lambda x, a: (np.where(x > 0, x, x * a), x + a)),
    "one number where its length is open": Case(
        "%x: Tensor[(?, ?, 3), float32], %a: Tensor[(?), float32]", "(nn.prelu(%x, %a), nn.bias_add(%x, %a))", [floats(2, 4, 3), floats(1)],
        lambda x, a: (np.where(x > 0, x, x * a), x + a)),
    "fewer ends than begins": Case(
        "%x: Tensor[(3, 4, 3), float32]", "strided_slice(%x, begin=[1, 1, 1], end=[4, 3], strides=[1], axes=None)", [floats(3, 4, 3)],
        lambda x: x[1:4, 1:3, 1:]),
    "sizes that are computed": Case(
        "%x: Tensor[(1, 1, 2, 2), float32], %s: Tensor[(2), int64], %r: Tensor[(4), float32]",
        "dyn.image.resize2d(%x, %s, %r, size=[], roi=[], method=\"nearest_neighbor\", coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\")",
        [floats(1, 1, 2, 2), ints(4, 6), np.zeros(4, np.float32)],
        lambda x, s, r: x.repeat(2, 2).repeat(3, 3)),
    "a depthwise weight of NHWC": Case(
        NHWC + ", %w: Tensor[(3, 2, 4, 1), float32]", "nn.conv2d(%x, %w, groups=4, channels=4, kernel_size=[3, 2], data_layout=\"NHWC\", kernel_layout=\"HWOI\")",
        [floats(2, 5, 5, 4), floats(3, 2, 4, 1)], depthwise),
    "several results of each channel": Case(
        NHWC + ", %w: Tensor[(3, 2, 4, 3), float32]", "nn.conv2d(%x, %w, groups=4, channels=12, kernel_size=[3, 2], data_layout=\"NHWC\", kernel_layout=\"HWOI\")",
        [floats(2, 5, 5, 4), floats(3, 2, 4, 3)], depthwise),
    "several results of each channel, OIHW": Case(
        IMAGE + ", %w: Tensor[(4, 2, 3, 3), float32]", "nn.conv2d(%x, %w, groups=4, channels=8, kernel_size=[3, 3])",
        [floats(2, 4, 5, 5), floats(4, 2, 3, 3)],
        lambda x, w: convolved(x, w.reshape(8, 1, 3, 3), 4)),
    "HWOI without groups": Case(
        IMAGE + ", %w: Tensor[(3, 2, 6, 4), float32]", "nn.conv2d(%x, %w, kernel_layout=\"HWOI\")", [floats(2, 4, 5, 5), floats(3, 2, 6, 4)],
        lambda x, w: convolved(x, w.transpose(2, 3, 0, 1))),
    "OHWI": Case(
        NHWC + ", %w: Tensor[(6, 3, 2, 4), float32]", "nn.conv2d(%x, %w, data_layout=\"NHWC\", kernel_layout=\"OHWI\", channels=6, kernel_size=[3, 2])",
        [floats(2, 5, 5, 4), floats(6, 3, 2, 4)],
        lambda x, w: convolved(x.transpose(0, 3, 1, 2), w.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1)),
    "blocks": Case(
        "%x: Tensor[(2, 2, 5, 5, 2), float32], %w: Tensor[(2, 2, 3, 2, 2, 3), float32]",
        "nn.conv2d(%x, %w, data_layout=\"NCHW2c\", kernel_layout=\"OIHW2i3o\", out_layout=\"NCHW6c\", channels=6, kernel_size=[3, 2])",
        [blocked(floats(2, 4, 5, 5), 2), floats(2, 2, 3, 2, 2, 3)],
        lambda x, w: blocked(convolved(joined(x), w.transpose(0, 5, 1, 4, 2, 3).reshape(6, 4, 3, 2)), 6)),
    "another order of the result": Case(
        IMAGE + ", %w: Tensor[(6, 4, 3, 2), float32]", "nn.conv2d(%x, %w, out_layout=\"NHWC\")", [floats(2, 4, 5, 5), floats(6, 4, 3, 2)],
        lambda x, w: convolved(x, w).transpose(0, 2, 3, 1)),
    "the transpose of a convolution": Case(
        NHWC + ", %w: Tensor[(3, 2, 6, 4), float32]",
        "nn.conv2d_transpose(%x, %w, channels=6, kernel_size=[3, 2], data_layout=\"NHWC\", kernel_layout=\"HWOI\")",
        [floats(2, 5, 5, 4), floats(3, 2, 6, 4)],
        lambda x, w: spread(x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1)).transpose(0, 2, 3, 1)),
    "a pooling of blocks": Case(
        "%x: Tensor[(1, 2, 4, 4, 2), float32]", "nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2], layout=\"NCHW2c\")", [floats(1, 2, 4, 4, 2)],
        lambda x: x.reshape(1, 2, 2, 2, 2, 2, 2).max((3, 5))),
    "an upsampling of blocks": Case(
        "%x: Tensor[(1, 2, 2, 3, 2), float32]", "nn.upsampling(%x, scale_h=2f, scale_w=2f, layout=\"NCHW2c\")", [floats(1, 2, 2, 3, 2)],
        lambda x: x.repeat(2, 2).repeat(2, 3)),
    "unknown dims are split": Case(
        "%x: Tensor[(?, ?, 4, 5), float32]", "layout_transform(%x, src_layout=\"NCHW\", dst_layout=\"NCHW4c\")", [floats(2, 8, 4, 5)],
        lambda x: blocked(x, 4)),
    "unknown dims are joined": Case(
        "%x: Tensor[(?, ?, 4, 5, 4), float32]", "layout_transform(%x, src_layout=\"NCHW4c\", dst_layout=\"NCHW\")", [floats(2, 2, 4, 5, 4)], joined),
    "a convolution of blocks by another name": Case(
        "%x: Tensor[(1, 1, 4, 4, 4), float32], %w: Tensor[(2, 1, 2, 3, 4, 4), float32]",
        "nn.contrib_conv2d_NCHWc(%x, %w, channels=8, kernel_size=[2, 3], data_layout=\"NCHW4c\", kernel_layout=\"OIHW4i4o\")",
        [floats(1, 1, 4, 4, 4), floats(2, 1, 2, 3, 4, 4)],
        lambda x, w: blocked(convolved(joined(x), w.transpose(0, 5, 1, 4, 2, 3).reshape(8, 4, 2, 3)), 4)),
    "a convolution of volumes of blocks": Case(
        "%x: Tensor[(1, 1, 1, 4, 4, 4), float32], %w: Tensor[(2, 1, 1, 2, 3, 4, 4), float32]",
        "nn.conv3d(%x, %w, channels=8, kernel_size=[1, 2, 3], data_layout=\"NCDHW4c\", kernel_layout=\"OIDHW4i4o\")",
        [floats(1, 1, 1, 4, 4, 4), floats(2, 1, 1, 2, 3, 4, 4)],
        lambda x, w: blocked(convolved(joined(x[:, :, 0]), w[:, :, 0].transpose(0, 5, 1, 4, 2, 3).reshape(8, 4, 2, 3)), 4)[:, :, None]),
    "a deformable convolution in another layout": Case(
        "%x: Tensor[(1, 4, 4, 2), float32]", "nn.deformable_conv2d(%x, zeros(shape=[1, 3, 3, 8], dtype=\"float32\"), ones(shape=[2, 2, 2, 3], dtype=\"float32\"), channels=3, kernel_size=[2, 2], data_layout=\"NHWC\", kernel_layout=\"HWIO\")",
        [floats(1, 4, 4, 2)],
        lambda x: convolved(x.transpose(0, 3, 1, 2), np.ones((3, 2, 2, 2), np.float32)).transpose(0, 2, 3, 1)),
    "an approximation is the operator": Case(X, "fast_tanh(%x)", [floats(3, 4)], np.tanh),
    "a pool of lines of blocks": Case(
        "%x: Tensor[(2, 1, 6, 3), float32]", "nn.max_pool1d(%x, pool_size=[6], layout=\"NCW3c\")", [floats(2, 1, 6, 3)],
        lambda x: x.max(2, keepdims=True)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_numbers_and_text(case: Case) -> None:
    check_case(case)


def test_numbers_in_machine_code(tmp_path: Path) -> None:
    check_machine_code(CASES, tmp_path)


def test_a_depthwise_weight_is_not_moved() -> None:
    lines = body_of(CASES["a depthwise weight of NHWC"].text)
    assert "transpose" not in lines
    assert "relay.reshape %w" in lines


@pytest.mark.parametrize(
    ("params", "body", "message"),
    [
        (X, "nn.pad(%x, %x, pad_width=[[0, 0], [0, 0]])", "nn.pad: pad_value must have rank 0, but has rank 2"),
        (X, "sum(%x, %x)", "sum expects 1 argument, but got 2"),
        (X, "topk((%x, %x), k=1, dtype=\"float32\")", "topk: "),
        (GEN, "random.uniform(%g, 0f, 1f, out_shape=[4], out_dtype=\"int8\")", "random.uniform: out_dtype must be"),
        (GEN + ", %p: Tensor[(?, 3), float32]", "random.multinomial(%g, %p)", "random.multinomial: the shape of the samples must be static"),
        (X, "nn.bias_add(%x, nn.relu(reshape(%x, newshape=[12])))", "nn.bias_add: operand 1 of nn.bias_add has 12 elements, but axis 1 of operand 0 has 4"),
        (IMAGE, "nn.max_pool2d(%x, pool_size=[1, 1], layout=\"NCDHW\")", 'nn.max_pool2d: layout must be "NCHW" or "NHWC", but is "NCDHW"'),
        (IMAGE, "nn.max_pool2d(%x, pool_size=[1, 1], layout=\"NCHW4c\")", "nn.max_pool2d: src_layout has 5 axes, but the tensor has rank 4"),
    ],
)  # fmt: skip
def test_wrong_operands(params: str, body: str, message: str) -> None:
    assert error_of(f"def @main({params}) {{\n{body} }}").partition(": ")[2].startswith(message)
