"""Type rules of convolutions and pooling: unknown dims, and errors."""

import pytest
from helpers.operators.inferring import error, infer

IMAGE, FILTER = "1x4x8x8xf32", "6x4x3x3xf32"


def test_dynamic_dims():
    assert infer("nn.conv2d", f"?x4x8x8xf32 {FILTER}") == "?x6x6x6xf32"
    assert infer("nn.conv2d", f"1x?x?x8xf32 {FILTER}") == "1x6x?x6xf32"
    assert infer("nn.conv2d", f"{IMAGE} ?x?x3x?xf32") == "1x?x6x?xf32"
    assert infer("nn.conv2d_transpose", "?x4x?x8xf32 ?x3x2x2xf32") == "?x3x?x9xf32"
    assert infer("nn.conv2d_transpose", "1x4x8x8xf32 4x?x2x2xf32", groups=2) == "1x?x9x9xf32"
    assert infer("nn.max_pool2d", "?x4x?x8xf32", pool_size=(2, 2)) == "?x4x?x7xf32"
    assert infer("nn.global_avg_pool2d", "?x?x?x?xf32") == "?x?x1x1xf32"
    assert infer("nn.upsampling", "1x?x?x8xf32", scale_h=2.0, scale_w=2.0) == "1x?x?x16xf32"


def test_layouts():
    assert error("nn.conv2d", f"{IMAGE} {FILTER}", data_layout="NCHWc") == (
        'data_layout must be "NCHW" or "NHWC", but is "NCHWc"'
    )
    assert error("nn.conv2d", f"{IMAGE} {FILTER}", kernel_layout="HWOI") == (
        'kernel_layout must be "OIHW" or "HWIO" or "OHWI8o" or "OHWI16o" or "OHWI32o" or '
        '"OHWI16o/F23", but is "HWOI"'
    )
    panels = {"data_layout": "NHWC", "kernel_layout": "OHWI8o"}
    assert error("nn.conv2d", "1x8x8x4xf32 2x3x3x4x7xf32", **panels) == (
        "the last dim of a weight in OHWI8o must be 8, but is 7"
    )
    assert error("nn.conv2d", "1x8x8x4xf32 2x3x3x2x8xf32", groups=2, **panels) == (
        "kernel_layout OHWI8o has one group, but groups is 2"
    )
    assert error("nn.conv2d_transpose", f"{IMAGE} {FILTER}", data_layout="NHWC") == (
        'data_layout must be "NCHW", but is "NHWC"'
    )
    assert error("nn.max_pool2d", IMAGE, pool_size=(2, 2), layout="NCW") == (
        'layout must be "NCHW" or "NHWC", but is "NCW"'
    )
    assert error("nn.upsampling", IMAGE, method="bicubic") == (
        'method must be "nearest_neighbor" or "bilinear", but is "bicubic"'
    )


def test_groups():
    assert error("nn.conv2d", "1x64x8x8xf32 6x4x3x3xf32", groups=3) == (
        "groups must divide channels: 3 does not divide 64"
    )
    assert error("nn.conv2d", "1x6x8x8xf32 4x2x3x3xf32", groups=3) == (
        "groups must divide output channels: 3 does not divide 4"
    )
    assert error("nn.conv2d", "1x8x8x8xf32 4x8x3x3xf32", groups=2) == (
        "weight's input channels must be 4, but is 8"
    )
    assert (
        error("nn.conv2d", f"{IMAGE} {FILTER}", groups=0) == "groups must be at least 1, but is 0"
    )
    assert error("nn.conv2d_transpose", f"{IMAGE} {FILTER}", groups=2) == (
        "weight's input channels must be 4, but is 6"
    )
    assert error("nn.conv2d_transpose", "1x3x8x8xf32 3x4x3x3xf32", groups=2) == (
        "groups must divide channels: 2 does not divide 3"
    )


@pytest.mark.parametrize(
    ("attrs", "message"),
    [
        ({"strides": (0, 1)}, "strides must be at least 1, but is 0"),
        ({"strides": (1,)}, "strides must have 2 entries, but has 1"),
        ({"dilation": (1, -2)}, "dilation must be at least 1, but is -2"),
        ({"padding": (1, 1)}, "padding must have 4 entries, but has 2"),
        ({"padding": (0, 0, -1, 0)}, "padding must be at least 0, but is -1"),
    ],
)
def test_numbers_of_windows(attrs: dict[str, tuple[int, ...]], message: str):
    assert error("nn.conv2d", f"{IMAGE} {FILTER}", **attrs) == message
    assert error("nn.conv2d_transpose", f"{IMAGE} 4x2x3x3xf32", **attrs) == message
    assert error("nn.avg_pool2d", IMAGE, pool_size=(2, 2), **attrs) == message


def test_windows_larger_than_the_data():
    assert error("nn.conv2d", "1x4x2x8xf32 6x4x3x3xf32") == (
        "the dilated window's height must be at most that of the padded data, 2, but is 3"
    )
    assert infer("nn.conv2d", "1x4x2x8xf32 6x4x3x3xf32", padding=(0, 0, 1, 0)) == "1x6x1x6xf32"
    assert error("nn.max_pool2d", IMAGE, pool_size=(1, 5), dilation=(1, 2)) == (
        "the dilated window's width must be at most that of the padded data, 8, but is 9"
    )
    assert error("nn.conv2d", "1x4x8x8xf32 6x4x0x3xf32") == (
        "the window's height must be at least 1, but is 0"
    )
    assert error("nn.max_pool2d", IMAGE, pool_size=(0, 1)) == (
        "pool_size must be at least 1, but is 0"
    )
    assert error("nn.global_max_pool2d", "1x4x0x8xf32") == (
        "the height of data must be at least 1, but is 0"
    )


def test_ranks_and_element_types():
    assert error("nn.conv2d", "1x4x8xf32 6x4x3xf32") == "data must have rank 4, but has rank 3"
    assert error("nn.conv2d", "1x4x8x8xf32 f32") == "weight must have rank 4, but has rank 0"
    assert error("nn.max_pool2d", "f32", pool_size=(1, 1)) == (
        "data must have rank 4, but has rank 0"
    )
    assert error("nn.conv2d", "1x4x8x8xf32 6x4x3x3xf16") == (
        "operands of relay.nn.conv2d must have one element type, but operand 0 has f32 "
        "and operand 1 has f16"
    )
    assert error("nn.max_pool2d", "1x4x8x8xi1", pool_size=(1, 1)) == (
        "the operand of relay.nn.max_pool2d must have integer or float elements, but has i1"
    )
    assert (
        error("nn.max_pool2d", IMAGE) == "relay.nn.max_pool2d needs pool_size, an array of integers"
    )


def test_transposed_convolution():
    assert error("nn.conv2d_transpose", "1x4x8x8xf32 4x2x3x3xf32", output_padding=(1, 0)) == (
        "output_padding must be below the larger of stride and dilation, 1, but is 1"
    )
    assert error("nn.conv2d_transpose", "1x4x1x8xf32 4x2x3x3xf32", padding=(2, 0, 2, 0)) == (
        "the result's height must be at least 1, but is -1"
    )


def test_last_windows_of_pooling():
    """As in TVM, with `ceil_mode` the last window may begin after the data."""
    assert infer("nn.max_pool2d", "1x1x5x5xf32", pool_size=(1, 1), strides=(3, 3)) == "1x1x2x2xf32"
    assert (
        infer("nn.max_pool2d", "1x1x5x5xf32", pool_size=(1, 1), strides=(3, 3), ceil_mode=True)
        == "1x1x3x3xf32"
    )


def test_upsampling():
    assert infer("nn.upsampling", "1x2x3x5xf32", scale_h=0.5, scale_w=0.5) == "1x2x2x2xf32"
    for scale in (0.0, -1.0, float("nan"), float("inf")):
        assert error("nn.upsampling", IMAGE, scale_h=scale) == (
            f"scale_h must be above 0 and at most 2^32, but is {scale}"
        )
    assert error("nn.upsampling", "1x2x3xf32") == "data must have rank 4, but has rank 3"
