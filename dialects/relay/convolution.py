"""Convolutions over one, two and three axes."""

from xdsl.irdl import irdl_op_definition, operand_def

from .incomplete import AnyTensor
from .matmul import SumOfProducts
from .operator import OutFusable
from .properties import int_prop, ints_prop, string_prop


@irdl_op_definition
class Conv2dOp(SumOfProducts):
    """
    Convolve the images `data` with the filters `weight` (a cross-correlation).

    ```mlir
    %y = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>}
      : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x8xf32>
    ```

    `data_layout` is "NCHW" or "NHWC", `kernel_layout` "OIHW" or "HWIO", where I counts the
    input channels of one group, or "OHWI32o" (or 8, 16): panels of 32 filters side by side, for
    one group. `padding` is (top, left, bottom, right), of zeros.
    """

    name = "relay.nn.conv2d"

    data = operand_def(AnyTensor)
    weight = operand_def(AnyTensor)
    strides = ints_prop((1, 1))
    padding = ints_prop((0, 0, 0, 0))
    dilation = ints_prop((1, 1))
    groups = int_prop(1)
    data_layout = string_prop("NCHW")
    kernel_layout = string_prop("OIHW")


@irdl_op_definition
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

    name = "relay.nn.conv1d"

    data = operand_def(AnyTensor)
    weight = operand_def(AnyTensor)
    strides = ints_prop((1,))
    padding = ints_prop((0, 0))
    dilation = ints_prop((1,))
    groups = int_prop(1)
    data_layout = string_prop("NCW")
    kernel_layout = string_prop("OIW")


@irdl_op_definition
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

    name = "relay.nn.conv2d_transpose"

    data = operand_def(AnyTensor)
    weight = operand_def(AnyTensor)
    strides = ints_prop((1, 1))
    padding = ints_prop((0, 0, 0, 0))
    output_padding = ints_prop((0, 0))
    dilation = ints_prop((1, 1))
    groups = int_prop(1)
    data_layout = string_prop("NCHW")
    kernel_layout = string_prop("IOHW")


@irdl_op_definition
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

    name = "relay.nn.conv3d"

    data = operand_def(AnyTensor)
    weight = operand_def(AnyTensor)
    strides = ints_prop((1, 1, 1))
    padding = ints_prop((0,) * 6)
    dilation = ints_prop((1, 1, 1))
    groups = int_prop(1)
    data_layout = string_prop("NCDHW")
    kernel_layout = string_prop("OIDHW")


@irdl_op_definition
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

    name = "relay.nn.conv1d_transpose"

    data = operand_def(AnyTensor)
    weight = operand_def(AnyTensor)
    strides = ints_prop((1,))
    padding = ints_prop((0, 0))
    output_padding = ints_prop((0,))
    dilation = ints_prop((1,))
    groups = int_prop(1)
    data_layout = string_prop("NCW")
    kernel_layout = string_prop("IOW")


@irdl_op_definition
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

    name = "relay.nn.conv3d_transpose"

    data = operand_def(AnyTensor)
    weight = operand_def(AnyTensor)
    strides = ints_prop((1, 1, 1))
    padding = ints_prop((0,) * 6)
    output_padding = ints_prop((0, 0, 0))
    dilation = ints_prop((1, 1, 1))
    groups = int_prop(1)
    data_layout = string_prop("NCDHW")
    kernel_layout = string_prop("IODHW")


@irdl_op_definition
class Conv2dBackwardWeightOp(SumOfProducts):
    """
    Sum the products of `grad`, of a `conv2d`, and of the cells of `data` that each weight meets.

    ```mlir
    %w = relay.nn.conv2d_backward_weight %g, %x {kernel_size = array<i64: 3, 3>}
      : (tensor<1x16x6x6xf32>, tensor<1x3x8x8xf32>) -> tensor<16x3x3x3xf32>
    ```

    The layouts are NCHW and OIHW; the other attributes are those of the convolution.
    """

    name = "relay.nn.conv2d_backward_weight"

    grad = operand_def(AnyTensor)
    data = operand_def(AnyTensor)
    strides = ints_prop((1, 1))
    padding = ints_prop((0, 0, 0, 0))
    dilation = ints_prop((1, 1))
    groups = int_prop(1)
    kernel_size = ints_prop()


@irdl_op_definition
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

    name = "relay.nn.deformable_conv2d"

    data = operand_def(AnyTensor)
    offset = operand_def(AnyTensor)
    weight = operand_def(AnyTensor)
    strides = ints_prop((1, 1))
    padding = ints_prop((0, 0, 0, 0))
    dilation = ints_prop((1, 1))
    deformable_groups = int_prop(1)
    groups = int_prop(1)
    data_layout = string_prop("NCHW")
    kernel_layout = string_prop("OIHW")


@irdl_op_definition
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

    name = "relay.image.dilation2d"

    data = operand_def(AnyTensor)
    weight = operand_def(AnyTensor)
    strides = ints_prop((1, 1))
    padding = ints_prop((0, 0, 0, 0))
    dilations = ints_prop((1, 1))
    data_layout = string_prop("NCHW")
    kernel_layout = string_prop("IHW")
