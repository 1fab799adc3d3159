"""Convolutions over one, two and three axes."""

from collections.abc import Sequence

from xdsl.dialects.builtin import f32
from xdsl.irdl import operand_def, traits_def

from ...operators.windows import WINOGRAD
from ...operators.winograd_blocks import PANEL, scratch_shapes
from ..device import tensor_type
from ..interfaces import NeedsScratch
from ..tensors import Tensor, as_tensor, is_static
from .incomplete import AnyTensor
from .matmul import SumOfProducts
from .operator import OutFusable, operator
from .properties import int_prop, ints_prop, string_prop


def _scratch(op: "Conv2dOp", parts: int) -> Sequence[Tensor]:
    """Return the types of the transformed cells and the products of Winograd's algorithm."""
    layouts = op.data_layout.data, op.kernel_layout.data
    result, weight = as_tensor(op.result.type), as_tensor(op.weight.type)
    if layouts != ("NHWC", WINOGRAD) or result is None or weight is None or not is_static(result):
        return ()
    (images, height, width, filters), channels = result.get_shape(), weight.get_shape()[3]
    steps = {*op.strides.get_values(), *op.dilation.get_values()}
    if result.element_type != f32 or steps != {1} or channels % PANEL or 0 in result.get_shape():
        return ()
    shapes = scratch_shapes(images, height, width, channels, filters, parts)
    return [tensor_type(f32, list(shape)) for shape in shapes]


@operator("relay.nn.conv2d")
class Conv2dOp(SumOfProducts):
    """
    Convolve the images `data` with the filters `weight` (a cross-correlation).

    ```mlir
    %y = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>}
      : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x8xf32>
    ```

    `data_layout` is "NCHW" or "NHWC", `kernel_layout` "OIHW" or "HWIO", where I counts the
    input channels of one group, or "OHWI32o" (or 8, 16): panels of 32 filters side by side, for
    one group; in "OHWI16o/F23" they are 4x4, transformed from 3x3 by Winograd's F(2x2, 3x3).
    `padding` is (top, left, bottom, right), of zeros.
    """

    data = operand_def(AnyTensor)
    weight = operand_def(AnyTensor)
    strides = ints_prop((1, 1))
    padding = ints_prop((0, 0, 0, 0))
    dilation = ints_prop((1, 1))
    groups = int_prop(1)
    data_layout = string_prop("NCHW")
    kernel_layout = string_prop("OIHW")

    traits = traits_def(NeedsScratch(_scratch))


@operator("relay.nn.conv1d")
class Conv1dOp(SumOfProducts):
    """
    Convolve the lines `data` with the filters `weight` (a cross-correlation).

    ```mlir
    %y = relay.nn.conv1d %x, %w {padding = array<i64: 1, 1>}
      : (tensor<1x3x8xf32>, tensor<16x3x3xf32>) -> tensor<1x16x8xf32>
    ```

    `data_layout` is "NCW" or "NWC", `kernel_layout` "OIW" or "WIO", where I counts the input
    channels of one group. `padding` is (left, right), of zeros.
    """

    data_layout = string_prop("NCW")
    kernel_layout = string_prop("OIW")


@operator("relay.nn.conv2d_transpose")
class Conv2dTransposeOp(OutFusable):
    """
    Spread each pixel of `data` over the result, weighted by `weight`: the transpose of `conv2d`.

    ```mlir
    %y = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>}
      : (tensor<1x16x4x4xf32>, tensor<16x3x2x2xf32>) -> tensor<1x3x8x8xf32>
    ```

    The dims of `weight` are (input channels, output channels of one group, height, width).
    `padding` (top, left, bottom, right) is cut off the result; `output_padding` is added at
    its bottom and right.
    """

    data = operand_def(AnyTensor)
    weight = operand_def(AnyTensor)
    strides = ints_prop((1, 1))
    padding = ints_prop((0, 0, 0, 0))
    output_padding = ints_prop((0, 0))
    dilation = ints_prop((1, 1))
    groups = int_prop(1)
    data_layout = string_prop("NCHW")
    kernel_layout = string_prop("IOHW")


@operator("relay.nn.conv3d")
class Conv3dOp(SumOfProducts):
    """
    Convolve the volumes `data` with the filters `weight` (a cross-correlation).

    ```mlir
    %y = relay.nn.conv3d %x, %w {padding = array<i64: 1, 1, 1, 1, 1, 1>}
      : (tensor<1x3x4x8x8xf32>, tensor<16x3x3x3x3xf32>) -> tensor<1x16x4x8x8xf32>
    ```

    `data_layout` is "NCDHW" or "NDHWC", `kernel_layout` "OIDHW" or "DHWIO", where I counts the
    input channels of one group. `padding` is (front, top, left, back, bottom, right), of zeros.
    """

    data_layout = string_prop("NCDHW")
    kernel_layout = string_prop("OIDHW")


@operator("relay.nn.conv1d_transpose")
class Conv1dTransposeOp(SumOfProducts):
    """
    Spread each cell of `data` over the result, weighted by `weight`: the transpose of `conv1d`.

    ```mlir
    %y = relay.nn.conv1d_transpose %x, %w {strides = array<i64: 2>}
      : (tensor<1x16x4xf32>, tensor<16x3x2xf32>) -> tensor<1x3x8xf32>
    ```

    The dims of `weight` are (input channels, output channels of one group, width). `padding`
    (left, right) is cut off the result; `output_padding` is added at its right.
    """


@operator("relay.nn.conv3d_transpose")
class Conv3dTransposeOp(SumOfProducts):
    """
    Spread each cell of `data` over the result, weighted by `weight`: the transpose of `conv3d`.

    ```mlir
    %y = relay.nn.conv3d_transpose %x, %w {strides = array<i64: 2, 2, 2>}
      : (tensor<1x16x4x4x4xf32>, tensor<16x3x2x2x2xf32>) -> tensor<1x3x8x8x8xf32>
    ```

    The dims of `weight` are (input channels, output channels of one group, depth, height, width).
    `padding` (front, top, left, back, bottom, right) is cut off the result; `output_padding` is
    added at its back, bottom and right.
    """


@operator("relay.nn.conv2d_backward_weight")
class Conv2dBackwardWeightOp(SumOfProducts):
    """
    Sum the products of `grad`, of a `conv2d`, and of the cells of `data` that each weight meets.

    ```mlir
    %w = relay.nn.conv2d_backward_weight %g, %x {kernel_size = array<i64: 3, 3>}
      : (tensor<1x16x6x6xf32>, tensor<1x3x8x8xf32>) -> tensor<16x3x3x3xf32>
    ```

    The layouts are NCHW and OIHW; the other attributes are those of the convolution.
    """


@operator("relay.nn.deformable_conv2d")
class DeformableConv2dOp(SumOfProducts):
    """
    Convolve the images `data` with `weight`, whose cells are moved by `offset`, by fractions, too.

    ```mlir
    %y = relay.nn.deformable_conv2d %x, %o, %w
      : (tensor<1x3x8x8xf32>, tensor<1x18x6x6xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x6x6xf32>
    ```

    The channels of `offset` are, for each of `deformable_groups` and each cell, the numbers that
    are added to its row and column. Between pixels, data is interpolated; outside, it is 0.
    """


@operator("relay.image.dilation2d")
class Dilation2dOp(OutFusable):
    """
    Take the maximum of each window of the images `data` plus `weight` (a grey-scale dilation).

    ```mlir
    %y = relay.image.dilation2d %x, %w
      : (tensor<1x3x8x8xf32>, tensor<3x3x3xf32>) -> tensor<1x3x6x6xf32>
    ```

    `kernel_layout` is "IHW" or "HWI", where I counts the channels. `padding` is (top, left,
    bottom, right), of zeros.
    """
